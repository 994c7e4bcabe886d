//! A run of the general method under the common loop, and its checkpoints.

use super::method::State;
use super::step::Stepper;
use super::{Domain, ProductError, ProductRecord, ProductSettings, ProductSolution, Smooth};
use crate::observe::{Control, Status};
use crate::run::bytes::{append, from_bytes};
use crate::run::checkpoint::envelope::Envelope;
use crate::run::drive::{Drive, PassEnd, Stage, drive};
use crate::solver::Picker;
use crate::util::rng::Rng;
use std::io;

/// The first bytes of a checkpoint, and the version of what follows.
const ENVELOPE: Envelope = Envelope { magic: *b"mmprod\r\n", layout: 1 };

/// An observer that sees x after each pass at which all gaps are computed, and that can end the run.
type Watch<'a> = &'a mut dyn FnMut(&ProductRecord, &[f64]) -> Control;

/// A sink for checkpoints.
type Sink<'a> = &'a mut dyn FnMut(&[u8]) -> io::Result<()>;

/// Configures and starts a run of the general method. [`minimise`](super::minimise) is its short form.
///
/// A run can write a checkpoint after each pass at which all gaps are computed. A run that resumes from a
/// checkpoint has the same bits as a run that was never stopped.
///
/// ```
/// use maxmargin::product::{L1Ball, LeastSquares, Minimiser, ProductSettings, minimise};
///
/// let f = || LeastSquares::distance_to(vec![2.0, 1.0, -0.5]);
/// let blocks = || [L1Ball::new(3, 1.0).into()];
/// let long = ProductSettings { gap_every: 1, tolerance: 0.0, max_passes: 9, ..Default::default() };
/// let short = ProductSettings { max_passes: 4, ..long.clone() };
///
/// let mut last = Vec::new();
/// let mut keep = |bytes: &[u8]| { last = bytes.to_vec(); Ok(()) };
/// Minimiser::new(short).checkpoint(&mut keep).minimise(&mut f(), &mut blocks())?;
/// let resumed = Minimiser::new(long.clone()).resume(&last).minimise(&mut f(), &mut blocks())?;
/// assert_eq!(resumed, minimise(&mut f(), &mut blocks(), &long)?);
/// # Ok::<(), maxmargin::product::ProductError>(())
/// ```
#[derive(Default)]
pub struct Minimiser<'a> {
    settings: ProductSettings,
    watch: Option<Watch<'a>>,
    sink: Option<Sink<'a>>,
    checkpoint: Option<&'a [u8]>,
}

impl<'a> Minimiser<'a> {
    /// Creates a run with these settings, which [`minimise`](Self::minimise) checks.
    pub fn new(settings: ProductSettings) -> Self {
        Self { settings, ..Self::default() }
    }

    /// Adds an observer that sees x after each pass at which all gaps are computed, and that can end the
    /// run.
    #[must_use]
    pub fn observe(mut self, watch: Watch<'a>) -> Self {
        self.watch = Some(watch);
        self
    }

    /// Hands a checkpoint to `sink` after each pass at which all gaps are computed.
    #[cfg(feature = "checkpoint")]
    #[must_use]
    pub fn checkpoint(mut self, sink: Sink<'a>) -> Self {
        self.sink = Some(sink);
        self
    }

    /// Resumes from a checkpoint of the same function, blocks and settings. Only the tolerance and the
    /// number of passes may differ.
    #[cfg(feature = "checkpoint")]
    #[must_use]
    pub fn resume(mut self, checkpoint: &'a [u8]) -> Self {
        self.checkpoint = Some(checkpoint);
        self
    }

    /// Minimises f over a product of blocks.
    ///
    /// # Errors
    /// The same as for [`minimise`](super::minimise), and if a checkpoint is damaged, does not fit, or
    /// cannot be written.
    pub fn minimise<F: Smooth>(
        self,
        f: &mut F,
        blocks: &mut [Domain],
    ) -> Result<ProductSolution, ProductError> {
        let Self { settings, watch, sink, checkpoint } = self;
        settings.check()?;
        let mut state = State::new(f, blocks)?;
        let (n, d) = (state.ranges.len(), state.x.len());
        // Start from scratch, or from a checkpoint.
        let fresh = Saved {
            settings: settings.clone(),
            x: state.x.clone(),
            gaps: state.gaps.clone(),
            picker: Picker::new(settings.order, n, 1.0),
            rng: Rng::new(settings.seed),
            stepper: Stepper::new(settings.step, n),
            passes: 0,
            visits: 0,
            oracle_calls: 0,
        };
        let saved = match checkpoint {
            None => fresh,
            Some(bytes) => Saved::read(bytes, &fresh)?,
        };
        let Saved { x, gaps, picker, rng, mut stepper, passes, visits, oracle_calls, .. } = saved;
        stepper.prepare(d);
        (state.x, state.gaps, state.oracle_calls) = (x, gaps, oracle_calls);
        // Checkpoints are made right after f was synchronised with x.
        state.f.begin(&state.x);
        let run = ProductRun { state, settings, watch, sink, picker, rng, stepper, passes, visits };
        drive(run, Stage::START)
    }
}

/// Everything that the next step depends on.
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct Saved {
    settings: ProductSettings,
    x: Vec<f64>,
    gaps: Vec<f64>,
    picker: Picker,
    rng: Rng,
    stepper: Stepper,
    passes: u64,
    visits: u64,
    oracle_calls: u64,
}

impl Saved {
    /// Reads a checkpoint, and checks that it fits the settings and sizes of a `fresh` run.
    fn read(bytes: &[u8], fresh: &Self) -> Result<Self, ProductError> {
        let refused = |why: String| ProductError::Checkpoint { why };
        let content = ENVELOPE.open(bytes).map_err(|error| refused(error.to_string()))?;
        let damaged = || refused("it is cut short or damaged".to_owned());
        let saved: Self = from_bytes(content).ok_or_else(damaged)?;
        let ProductSettings { tolerance, max_passes, .. } = fresh.settings;
        if (ProductSettings { tolerance, max_passes, ..saved.settings.clone() }) != fresh.settings {
            return Err(refused("it was made with other settings".to_owned()));
        }
        let fits = saved.x.len() == fresh.x.len()
            && saved.gaps.len() == fresh.gaps.len()
            && saved.picker.fits(fresh.gaps.len())
            && saved.stepper.fits(&fresh.stepper);
        if !fits {
            return Err(refused("it was made for other blocks".to_owned()));
        }
        Ok(saved)
    }
}

/// The general method as a method of the common loop.
struct ProductRun<'a, 'f, F> {
    state: State<'f, F>,
    settings: ProductSettings,
    watch: Option<Watch<'a>>,
    sink: Option<Sink<'a>>,
    picker: Picker,
    rng: Rng,
    stepper: Stepper,
    passes: u64,
    visits: u64,
}

impl<F: Smooth> ProductRun<'_, '_, F> {
    /// The exact gaps of all blocks.
    fn look_at_all(&mut self) -> Result<ProductRecord, ProductError> {
        let gap = self.state.look_at_all()?;
        self.picker.refresh(self.state.gaps.iter().copied());
        let value = self.state.f.value(&self.state.x);
        if !value.is_finite() {
            return Err(ProductError::Value(value));
        }
        let (pass, oracle_calls) = (self.passes, self.state.oracle_calls);
        Ok(ProductRecord { pass, oracle_calls, value, gap })
    }
}

impl<F: Smooth> Drive for ProductRun<'_, '_, F> {
    type Check = ProductRecord;
    type Outcome = ProductSolution;
    type Error = ProductError;

    fn pass(&mut self, _done: usize) -> Result<PassEnd, ProductError> {
        let n = self.state.ranges.len();
        self.passes += 1;
        for visit in 0..n {
            // If no block is known to have a gap, the pass ends and all blocks are checked.
            let Some(i) = self.picker.next(&mut self.rng) else { break };
            let gap = self.state.look(i)?;
            self.picker.update(i, gap);
            if gap > 0.0 {
                self.state.step(i, gap, &mut self.stepper, self.visits)?;
            }
            self.visits += 1;
            if self.picker.ends_sweep(n, visit + 1) {
                break;
            }
        }
        Ok(PassEnd::Full)
    }

    fn is_last_pass(&self) -> bool {
        self.passes >= self.settings.max_passes
    }

    fn is_check_due(&self) -> bool {
        self.passes.is_multiple_of(self.settings.gap_every)
    }

    fn check(&mut self) -> Result<Option<ProductRecord>, ProductError> {
        self.look_at_all().map(Some)
    }

    fn recall(&mut self, _: &ProductRecord) -> Result<(), ProductError> {
        Ok(())
    }

    fn verdict(&self, check: &ProductRecord) -> Option<Status> {
        let tolerance = self.settings.tolerance;
        (tolerance > 0.0 && check.gap <= tolerance).then_some(Status::Converged)
    }

    fn is_checkpoint_due(&self) -> bool {
        self.is_check_due()
    }

    fn keep(&mut self, stage: Stage<&ProductRecord>) -> Result<(), ProductError> {
        // The numbers that f keeps up to date drift from visit to visit. Only a check corrects them.
        let Stage::PassDone { check: Some(_), .. } = stage else { return Ok(()) };
        let Some(sink) = &mut self.sink else { return Ok(()) };
        let saved = Saved {
            settings: self.settings.clone(),
            x: self.state.x.clone(),
            gaps: self.state.gaps.clone(),
            picker: self.picker.clone(),
            rng: self.rng.clone(),
            stepper: self.stepper.clone(),
            passes: self.passes,
            visits: self.visits,
            oracle_calls: self.state.oracle_calls,
        };
        let mut bytes = Vec::new();
        ENVELOPE.begin(&mut bytes);
        let kept = sink(&ENVELOPE.seal(append(&saved, bytes)));
        kept.map_err(|error| ProductError::Checkpoint { why: error.to_string() })
    }

    fn report(&mut self, check: Option<&ProductRecord>) -> Option<Status> {
        let check = check?;
        let control = self.watch.as_mut().map(|watch| watch(check, &self.state.x));
        self.verdict(check).or((control == Some(Control::Stop)).then_some(Status::Stopped))
    }

    /// There is no limit of time, so no check is ever cut.
    fn finish_cut(mut self) -> Result<ProductSolution, ProductError> {
        let check = self.look_at_all()?;
        self.finish(Status::Stopped, check)
    }

    fn finish(self, status: Status, check: ProductRecord) -> Result<ProductSolution, ProductError> {
        let State { x, gaps: block_gaps, oracle_calls, .. } = self.state;
        let ProductRecord { value, gap, .. } = check;
        let passes = self.passes;
        Ok(ProductSolution { x, value, gap, block_gaps, status, passes, oracle_calls })
    }
}
