//! The events of a run.

use super::{Record, Status, Totals, Validation};
use crate::certificate::Certificate;
use crate::problem::Quality;
use crate::settings::{Caching, Direction, Order, SettingsRecord};

/// An event of a run.
///
/// A run sends one `Start`, then a `Pass` after each pass, then one `End`; with the solver `auto`, a
/// `Choice` comes before the first `Pass`. Each `Warning` follows the `Start`. The last `Pass` carries
/// the gap of the last weights, which are the result unless validation has found better ones before. A
/// run that ends while its gap is unknown sends one more row with the gap, or without it if there is no time
/// to compute it. A run that fails sends no
/// `End`. A resumed run sends a `Start` and its `Choice` again, and then continues where its checkpoint
/// was.
///
/// ```
/// # use maxmargin::doc::toy;
/// use maxmargin::observe::{Control, Event};
/// use maxmargin::{Settings, Trainer};
///
/// let mut log = Vec::new();
/// let mut watch = |event: Event<'_>| {
///     log.push(match event {
///         Event::Start(start) => format!("{} examples", start.n),
///         Event::Pass { record, .. } => format!("pass {}", record.pass),
///         Event::Choice(choice) => format!("order {}", choice.order),
///         Event::End(end) => end.status.to_string(),
///         _ => "something new".to_owned(),
///     });
///     Control::Continue
/// };
/// let settings = Settings { max_passes: 2, tolerance: 0.0, ..Settings::default() };
/// Trainer::new(settings).observe(&mut watch).train(&toy())?;
/// assert_eq!(log, ["4 examples", "order gap", "pass 1", "pass 2", "max-passes"]);
/// # Ok::<(), maxmargin::TrainError>(())
/// ```
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum Event<'a> {
    /// The run begins.
    Start(&'a Start),
    /// A pass is done.
    Pass {
        /// The state after it, with the duality gap when that was due.
        record: &'a Record,
        /// The gap of every block, if the gap is known and the settings ask for it.
        block_gaps: Option<&'a [f64]>,
    },
    /// An exact pass is due, and the settings ask for the gaps of blocks: this is the gap that an order
    /// which follows block gaps assumes until then.
    Estimate {
        /// The sum of the last known gaps of all blocks.
        gap: f64,
    },
    /// The solver `auto` has decided, after the first pass.
    Choice(&'a Choice),
    /// The problem breaks one of the [laws](crate::problem::Law) that certificates rest on. A
    /// [check](crate::problem::Abilities::is_trusted) of a few examples has found this.
    Warning {
        /// A description of the broken law.
        message: &'a str,
    },
    /// The run is over.
    End(&'a End),
}

/// The facts of a run at its start.
///
/// ```
/// # use maxmargin::doc::toy;
/// use maxmargin::observe::{Control, Event};
/// use maxmargin::{Settings, Trainer};
///
/// let mut lambda = 0.0;
/// let mut watch = |event: Event<'_>| {
///     if let Event::Start(start) = event { lambda = start.lambda; }
///     Control::Continue
/// };
/// Trainer::new(Settings::default()).observe(&mut watch).train(&toy())?;
/// assert_eq!(lambda, 0.25); // 1/n, as none was set
/// # Ok::<(), maxmargin::TrainError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Start {
    /// Number of examples.
    pub n: usize,
    /// Number of features.
    pub d: usize,
    /// The regularization strength λ in force.
    pub lambda: f64,
    /// What the oracle promises, and therefore what kind of bound the gaps of this run are. It is written
    /// to files only if it is not exact.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Quality::is_exact"))]
    pub quality: Quality,
    /// All settings by name, with what `auto` starts with filled in.
    pub settings: SettingsRecord,
    /// Whether a validation error comes with every gap.
    #[cfg_attr(feature = "serde", serde(default))]
    pub validates: bool,
    /// The passes that were done before, if a checkpoint is resumed.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub resumed: Option<u64>,
    /// How much of the dual point to start from was taken over.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub warm_start: Option<WarmStart>,
}

/// How much of the dual point to [start from](crate::Trainer::start_from) was taken over.
///
/// A block is taken over if it is a point of the problem that is trained. Other blocks, for instance
/// those of a relaxation of the problem, start at the truth.
///
/// ```
/// # use maxmargin::doc::toy;
/// use maxmargin::observe::{Control, Event};
/// use maxmargin::{Settings, Trainer, train};
///
/// let first = train(&toy(), &Settings::default())?;
/// let mut taken = None;
/// let mut watch = |event: Event<'_>| {
///     if let Event::Start(start) = event { taken = start.warm_start.clone(); }
///     Control::Continue
/// };
/// Trainer::new(Settings::default()).start_from(first.dual).observe(&mut watch).train(&toy())?;
/// assert_eq!(taken.unwrap().refused, 0);
/// # Ok::<(), maxmargin::TrainError>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct WarmStart {
    /// Blocks that were taken over, not counting those that are at the truth anyway.
    pub taken: u64,
    /// Blocks that start at the truth because they are not points of the problem.
    pub refused: u64,
    /// Why the first of these was refused.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub reason: Option<String>,
}

/// The choice of the solver `auto`, and its reason.
///
/// ```
/// # use maxmargin::doc::toy;
/// use maxmargin::{Caching, Direction, Settings, train};
///
/// let choice = train(&toy(), &Settings::default())?.choice.unwrap();
/// // All examples share few features, so remembered corners are used to the full.
/// assert_eq!((choice.direction, choice.cache), (Direction::Corrective, Caching::Exhaust));
/// println!("{}", choice.reason);
/// # Ok::<(), maxmargin::TrainError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Choice {
    /// The order of blocks.
    pub order: Order,
    /// The direction of steps.
    pub direction: Direction,
    /// Whether corners are kept and used again.
    pub cache: Caching,
    /// The size of batches, or 0 if it adapts.
    #[cfg_attr(feature = "serde", serde(default = "one"))]
    pub batch: usize,
    /// The reason, as a sentence.
    pub reason: String,
}

/// Before there were batches, blocks were visited one by one.
#[cfg(feature = "serde")]
fn one() -> usize {
    1
}

/// The result of a run: the [`Solution`](crate::Solution) without its vectors.
///
/// ```
/// # use maxmargin::doc::toy;
/// use maxmargin::observe::{Control, Event};
/// use maxmargin::{Settings, Trainer};
///
/// let mut last = None;
/// let mut watch = |event: Event<'_>| {
///     if let Event::End(end) = event { last = Some(end.clone()); }
///     Control::Continue
/// };
/// let solution = Trainer::new(Settings::default()).observe(&mut watch).train(&toy())?;
/// let end = last.unwrap();
/// assert_eq!((end.status, end.certificate), (solution.status, solution.certificate));
/// # Ok::<(), maxmargin::TrainError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct End {
    /// Why it ended.
    pub status: Status,
    /// The certificate of the result.
    pub certificate: Certificate,
    /// The work and time of the run.
    pub totals: Totals,
    /// The result on held-out data, if there were any.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub validation: Option<Validation>,
}
