//! Methods that call all oracles at one w and then act on all answers together, batch Frank-Wolfe among
//! them.
//!
//! Batch Frank-Wolfe (Algorithm 2 of Lacoste-Julien et al., 2013) is the batch subgradient method with step
//! γ/λ, because the direction of w is −1/λ times a subgradient of the primal. Since all oracles are called
//! at one w, every pass knows its exact gap.

use crate::certificate::{Answer, Certificate, Kept as _};
use crate::dual::{DualState, Pace, Stride, length_sq};
use crate::error::TrainError;
use crate::observe::Status;
use crate::run::bytes::{Saved, to_bytes};
use crate::run::drive::PassEnd;
use crate::run::fits::{Fits, Fitting};
use crate::run::session::{Checked, Method, restored};
use crate::run::{Check, Run};

/// What a batch method does with the answers of all oracles.
pub(super) trait Round<'p>: Saved + Clone {
    /// Rebuilds what a checkpoint leaves out.
    fn prepare(&mut self, run: &Run<'p, '_>);

    /// Moves the blocks of the state, given all answers and their certificate. Returns false if a limit
    /// has ended the round early.
    fn round(
        &mut self,
        run: &mut Run<'p, '_>,
        answers: &[Answer],
        proof: &Certificate,
    ) -> Result<bool, TrainError>;

    /// Whether a limit can end a round early.
    const CAN_BE_CUT: bool;
}

/// A batch method. A pass acts on the answers of the pass before and then calls all oracles, so that a run
/// can end at a w whose gap is known.
#[derive(Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Batch<M> {
    method: M,
    /// The certificate of the last answers, until a round has used them.
    pending: Option<Proof>,
    #[cfg_attr(feature = "serde", serde(skip))]
    answers: Vec<Answer>,
    /// The check of the last answers, until someone has asked for it.
    #[cfg_attr(feature = "serde", serde(skip))]
    found: Option<Check>,
}

#[derive(Debug, Clone, Copy)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct Proof(
    #[cfg_attr(feature = "serde", serde(with = "crate::run::checkpoint::CertificateByPlace"))]
    Certificate,
);

impl<M> Batch<M> {
    pub(super) fn new<'p>(run: &Run<'p, '_>, mut method: M) -> Self
    where
        M: Round<'p>,
    {
        method.prepare(run);
        Self { method, pending: None, answers: Vec::new(), found: None }
    }

    pub(super) fn resume<'p>(run: &Run<'p, '_>, saved: &[u8]) -> Result<Self, TrainError>
    where
        M: Round<'p> + Fits,
    {
        let mut batch: Self = restored(run, saved)?;
        batch.method.prepare(run);
        Ok(batch)
    }

    /// Calls all oracles at the current w; their answers give the step as well as the exact gap. Returns a
    /// status instead if the run is to end before all of them have answered.
    fn ask(&mut self, run: &mut Run<'_, '_>) -> Result<Result<Check, Status>, TrainError> {
        let drift = run.rebuild();
        self.answers.resize_with(run.examples(), Answer::default);
        let cut = run.all_oracles(&mut self.answers, |problem, state, i, scratch, answer| {
            answer.read(problem, (&state.shares, &state.blocks, &state.w), i, scratch);
        });
        if let Some(status) = cut {
            self.answers.clear();
            return Ok(Err(status));
        }
        run.readings.clear();
        run.readings.add_all(&run.state.shares, &self.answers);
        run.totals.oracle_failures += run.readings.failures();
        let certificate = run.certificate_of_readings(None)?;
        let second = run.second_objective(None);
        let drift = Some(drift);
        Ok(Ok(Check { certificate, drift, second, average_dual: None, validation: None }))
    }
}

impl<M: Fits> Fits for Batch<M> {
    fn fits(&self, to: &Fitting<'_>) -> bool {
        // What is pending was found in a pass.
        self.method.fits(to) && (self.pending.is_none() || to.passes > 0)
    }
}

impl<'p, M: Round<'p>> Method<'p> for Batch<M> {
    fn pass(&mut self, run: &mut Run<'p, '_>, _done: usize) -> Result<PassEnd, TrainError> {
        if let Some(Proof(proof)) = self.pending {
            if self.answers.is_empty() {
                // The checkpoint does not hold the answers. Their calls were counted before.
                let totals = run.totals;
                let asked = self.ask(run)?;
                run.totals = totals;
                if let Err(status) = asked {
                    return Ok(PassEnd::Limit { status, visits: 0 });
                }
            }
            // Undo a round that was cut short, so that a resumed run does all of it.
            let before = M::CAN_BE_CUT.then(|| (run.snapshot(), self.method.clone()));
            let done = self.method.round(run, &self.answers, &proof)?;
            if let (false, Some((snapshot, method))) = (done, before) {
                run.roll_back(snapshot);
                self.method = method;
                self.method.prepare(run);
            } else {
                self.pending = None;
            }
        }
        if let Some(status) = run.limit() {
            return Ok(PassEnd::Limit { status, visits: 0 });
        }
        let check = match self.ask(run)? {
            Ok(check) => check,
            Err(status) => return Ok(PassEnd::Limit { status, visits: 0 }),
        };
        run.totals.passes += 1;
        self.pending = Some(Proof(check.certificate));
        self.found = Some(check);
        Ok(PassEnd::Full)
    }

    fn check(&mut self, run: &mut Run<'p, '_>) -> Result<Option<Checked<'p>>, TrainError> {
        let check = match self.found.take() {
            Some(check) => Some(check),
            None => run.check()?,
        };
        Ok(check.map(|check| (check, None)))
    }

    fn result(&mut self, _: &mut Run<'p, '_>) -> Result<Option<DualState<'p>>, TrainError> {
        Ok(None)
    }

    fn knows_gap(&self) -> bool {
        true
    }

    fn save(&self) -> Vec<u8> {
        to_bytes(self)
    }
}

/// Batch Frank-Wolfe: all blocks move by the same γ along their own directions.
#[derive(Debug, Clone, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct FrankWolfe {
    /// The direction of w.
    #[cfg_attr(feature = "serde", serde(skip))]
    direction: Vec<f64>,
}

impl Fits for FrankWolfe {
    fn fits(&self, _: &Fitting<'_>) -> bool {
        true
    }
}

impl Round<'_> for FrankWolfe {
    const CAN_BE_CUT: bool = false;

    fn prepare(&mut self, run: &Run<'_, '_>) {
        direction_room(&mut self.direction, run.problem.dim());
    }

    fn round(
        &mut self,
        run: &mut Run<'_, '_>,
        answers: &[Answer],
        _: &Certificate,
    ) -> Result<bool, TrainError> {
        let pace = Pace { rule: run.settings.step, k: run.totals.passes - 1, blocks: 1 };
        let Stride { gamma, .. } = BatchStep::By(pace).take(run, answers, &mut self.direction)?;
        run.totals.visits += answers.len() as u64;
        run.note_step(gamma, 1.0);
        Ok(true)
    }
}

/// How far all blocks move towards the corners that an exact pass has found.
#[derive(Debug, Clone, Copy)]
pub(super) enum BatchStep {
    /// By a rule.
    By(Pace),
    /// As far as the dual rises.
    LineSearch,
}

impl BatchStep {
    /// Moves all blocks of the state by the same γ towards their corners. `direction` is scratch memory for the
    /// direction of w.
    pub(super) fn take(
        self,
        run: &mut Run<'_, '_>,
        answers: &[Answer],
        direction: &mut [f64],
    ) -> Result<Stride, TrainError> {
        let pace = match self {
            Self::By(pace) => pace,
            Self::LineSearch => Pace::EXACT,
        };
        // Add up the slopes and the directions of all blocks, and move w as far as the rule says.
        let (problem, state) = (run.problem, &mut run.state);
        let slope: f64 = answers.iter().map(|answer| answer.reading.gap).sum();
        let rates: Vec<f64> = state.shares.iter().map(|share| -share / state.lambda).collect();
        let stride = if let Some(clipped) = &mut state.clipped {
            let way = clipped.new_way();
            for (i, answer) in answers.iter().enumerate() {
                problem.scatter(i, rates[i], &answer.step.parts, (&mut *way).into());
            }
            let stride = clipped.stride(state.lambda, slope, 1.0, pace);
            if let Some(Stride { gamma, .. }) = stride {
                clipped.go(gamma, &mut state.w);
            }
            stride
        } else {
            direction.fill(0.0);
            for (i, answer) in answers.iter().enumerate() {
                problem.scatter(i, rates[i], &answer.step.parts, (&mut *direction).into());
            }
            let stride = pace.stride(slope, state.lambda * length_sq(problem, direction), 1.0);
            if let Some(Stride { gamma, .. }) = stride {
                let w = state.w.iter_mut().zip(direction.iter());
                w.for_each(|(w, change)| *w += gamma * change);
            }
            stride
        };
        // Move the blocks and D by the same step.
        let stride = stride.ok_or(TrainError::Overflow)?;
        for (i, answer) in answers.iter().enumerate() {
            state.move_block(i, &answer.step, &answer.corner, stride.gamma);
        }
        state.dual += stride.gain;
        Ok(stride)
    }
}

/// Makes room for a direction of `d` weights.
pub(super) fn direction_room(direction: &mut Vec<f64>, d: usize) {
    direction.resize(d, 0.0);
}
