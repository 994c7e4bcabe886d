//! The whole state of a run, kept so that it can go on later as if it had never stopped.
//!
//! What makes the next step is saved with its exact bits, and nothing is computed anew that could
//! come out differently: w has drifted a little from the sum of its blocks, a distance measured
//! today may be rounded otherwise tomorrow. Everything is borrowed from the run and written down as
//! it is, so that keeping a checkpoint changes nothing and copies nothing.

use crate::active::Memory;
use crate::average::Averager;
use crate::bounds::bounds_in_force;
use crate::cache::CacheStats;
use crate::certificate::Certificate;
use crate::coarse::Coarse;
use crate::dual::{Block, Drift};
use crate::error::TrainError;
use crate::face::FaceSteps;
use crate::observe::{Choice, StepSizes, Totals};
use crate::order::{Order, Picker};
use crate::problem::Blocks;
use crate::quality::Quality;
use crate::rng::Rng;
use crate::run::{Bound, Check};
use crate::settings::{Settings, SettingsError};
use crate::sparse::SparseVec;
use crate::validate::Judge;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::io;
use thiserror::Error;
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

/// The first bytes of every checkpoint; the line ends show where a transfer has changed them.
const MAGIC: [u8; 8] = *b"mmckpt\r\n";

/// The version of the layout: one more with every change of what a checkpoint holds. The test
/// `the_layout_is_pinned` tells when that is due.
const LAYOUT: u32 = 6;

/// Magic and version before the content, its length and a check sum after it.
const HEAD: usize = MAGIC.len() + size_of::<u32>();
const TAIL: usize = 2 * size_of::<u64>();

/// A run at a standstill: all that is needed to go on to the very bits of a run that was never
/// stopped.
///
/// A [`Trainer`](crate::Trainer) [hands them out](crate::Trainer::checkpoint) as it goes and
/// [takes one](crate::Trainer::resume) to go on from. What is inside is opaque, belongs to one
/// version of this library, and survives only as [bytes](Self::to_bytes).
///
/// ```
/// # use maxmargin::doc::toy;
/// use maxmargin::{Checkpoint, CheckpointEvery, Settings, Trainer, train};
///
/// let settings = Settings { tolerance: 0.0, max_passes: 30, ..Settings::default() };
/// let mut kept = Vec::new();
/// let mut keep = |checkpoint: &Checkpoint<'_>| {
///     kept.push(checkpoint.to_bytes("first try")); // to a file, in earnest
///     Ok(())
/// };
/// let trainer = Trainer::new(settings.clone());
/// let whole = trainer.checkpoint(CheckpointEvery::Passes(7), &mut keep).train(&toy())?;
///
/// let checkpoint = Checkpoint::from_bytes(&kept[1])?;
/// assert_eq!((checkpoint.totals().passes, checkpoint.note()), (14, "first try"));
/// let resumed = Trainer::new(settings).resume(checkpoint).train(&toy())?;
/// assert_eq!(resumed.weights, whole.weights); // bit by bit
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Checkpoint<'a> {
    #[serde(skip)]
    pub(crate) note: String,
    pub(crate) signature: u64,
    pub(crate) settings: Cow<'a, Settings>,
    pub(crate) stage: Stage,
    /// w, or what it is clipped from.
    pub(crate) w: Cow<'a, [f64]>,
    pub(crate) blocks: Cow<'a, [Block]>,
    pub(crate) dual: f64,
    pub(crate) norm_sq: f64,
    #[serde(with = "TotalsByPlace")]
    pub(crate) totals: Totals,
    pub(crate) steps: StepSizes,
    pub(crate) choice: Option<Cow<'a, Choice>>,
    pub(crate) judge: Cow<'a, Judge>,
    pub(crate) bound: Option<Cow<'a, Bound>>,
    /// Of the oracle that has found the corners.
    pub(crate) quality: Quality,
    /// The parts of the block-coordinate loop; batch methods have none.
    pub(crate) parts: Option<Parts<'a>>,
}

/// Where in its loop a run stands.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) enum Stage {
    /// In a pass of which so many visits are done; with none of them, it has not begun.
    Pass { visits: usize },
    /// After a pass that is yet to be reported, with its gap if that was due.
    PassDone { early: bool, check: Option<Check> },
}

impl Stage {
    /// Where every run begins.
    pub(crate) const START: Self = Self::Pass { visits: 0 };
}

/// What the block-coordinate loop keeps from visit to visit.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Parts<'a> {
    pub(crate) picker: Cow<'a, Picker>,
    pub(crate) rng: Cow<'a, Rng>,
    pub(crate) averager: Option<Cow<'a, Averager>>,
    pub(crate) memory: Option<Cow<'a, Memory>>,
    pub(crate) coarse: Option<Cow<'a, Coarse>>,
    pub(crate) face: Option<Cow<'a, FaceSteps>>,
}

/// Examples whose outputs go into the signature of a problem, and how many outputs at least.
const SIGNED_EXAMPLES: usize = 16;
const SIGNED_OUTPUTS: usize = 64;

/// With a kernel, the length of so many weights goes into the signature: those of a few inputs.
const SIGNED_WEIGHTS: usize = 256;

/// A number that tells problems apart: by the weights of their examples, by the parts and features of
/// their true outputs, by their bounds, by the parts and losses of a few outputs of a few examples, and by the lengths of weights. So it notices other losses, another rescaling and another
/// kernel, too.
pub(crate) fn signature(problem: &dyn Blocks) -> u64 {
    struct Hash(Xxh3);
    impl Hash {
        fn add(&mut self, feature: usize, value: f64) {
            self.0.update(&(feature as u64).to_le_bytes());
            self.0.update(&value.to_le_bytes());
        }
    }
    let (mut hash, mut truth, mut features) =
        (Hash(Xxh3::new()), SparseVec::new(), SparseVec::new());
    for i in 0..problem.examples() {
        truth.clear();
        problem.truth_parts(i, &mut truth);
        hash.add(truth.len(), problem.weight(i));
        truth.entries().iter().for_each(|&(part, mass)| hash.add(part as usize, mass));
        features.clear();
        problem.scatter(i, 1.0, &truth, (&mut features).into());
        features.entries().iter().for_each(|&(feature, value)| hash.add(feature as usize, value));
    }
    let (mut some, mut worker) = (vec![0.0; problem.dim()], problem.worker());
    let mut parts = SparseVec::new();
    // The outputs with the largest losses, and some others.
    let n = problem.examples();
    for round in 0..SIGNED_OUTPUTS.div_ceil(n.min(SIGNED_EXAMPLES)) as u64 {
        for i in (0..n).step_by(n.div_ceil(SIGNED_EXAMPLES)) {
            match round {
                0 => worker.find_corner(i, &some),
                _ => worker.predict(i, &some),
            }
            let loss = worker.describe(i, &mut parts);
            hash.add(parts.len(), loss);
            parts.entries().iter().for_each(|&(part, mass)| hash.add(part as usize, mass));
        }
        let mut rng = Rng::new(round);
        some.iter_mut().for_each(|w| *w = rng.unit_f64() - 0.5);
        if let Some(bounds) = bounds_in_force(problem) {
            bounds.clip_all(&mut some);
        }
    }
    // Features of different kernels look alike, but their lengths differ.
    some.fill(0.0);
    some.iter_mut().take(SIGNED_WEIGHTS).zip(1u32..).for_each(|(w, at)| *w = f64::from(at).sqrt());
    if let Some(length) = problem.weights_norm_sq(&some) {
        hash.add(some.len(), length);
    }
    for bounds in bounds_in_force(problem).into_iter().flat_map(|b| [b.lower(), b.upper()]) {
        bounds.iter().enumerate().for_each(|(feature, &bound)| hash.add(feature, bound));
    }
    hash.0.digest()
}

/// [`Totals`] with every field in its place: bytes without names cannot leave one out.
#[derive(Serialize, Deserialize)]
#[serde(remote = "Totals")]
struct TotalsByPlace {
    passes: u64,
    visits: u64,
    oracle_calls: u64,
    seconds: f64,
    oracle_seconds: f64,
    gap_seconds: f64,
    oracle_failures: u64,
    drift: Drift,
    cache: Option<CacheStats>,
}

/// [`Certificate`] with every field in its place.
#[derive(Serialize, Deserialize)]
#[serde(remote = "Certificate")]
pub(crate) struct CertificateByPlace {
    lambda: f64,
    primal: f64,
    dual: f64,
    gap: f64,
    quality: Quality,
}

impl Checkpoint<'_> {
    /// The settings of the run.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// What the run has taken so far.
    pub fn totals(&self) -> &Totals {
        &self.totals
    }

    /// What the caller has put down with the [bytes](Self::to_bytes), such as the name of the data.
    pub fn note(&self) -> &str {
        &self.note
    }

    /// The checkpoint as bytes, with a note of the caller's own.
    ///
    /// They know their version and have a check sum, so that [`from_bytes`](Self::from_bytes) refuses
    /// what is not whole.
    ///
    /// # Panics
    /// Never: everything in a checkpoint can be written down.
    pub fn to_bytes(&self, note: &str) -> Vec<u8> {
        let numbers = self.w.len() + 2 * self.blocks.iter().map(|b| b.parts.len()).sum::<usize>();
        let mut bytes = Vec::with_capacity(HEAD + TAIL + numbers * size_of::<f64>());
        bytes.extend(MAGIC);
        bytes.extend(LAYOUT.to_le_bytes());
        let mut bytes = postcard::to_extend(&(note, self), bytes).expect("plain data");
        bytes.extend(((bytes.len() - HEAD) as u64).to_le_bytes());
        bytes.extend(xxh3_64(&bytes).to_le_bytes());
        bytes
    }

    /// Reads what [`to_bytes`](Self::to_bytes) has written.
    ///
    /// ```
    /// use maxmargin::Checkpoint;
    ///
    /// let error = Checkpoint::from_bytes(b"something else").unwrap_err();
    /// assert_eq!(error.to_string(), "not a maxmargin checkpoint");
    /// ```
    ///
    /// # Errors
    /// It is something else, of another version, cut short or damaged.
    pub fn from_bytes(bytes: &[u8]) -> Result<Checkpoint<'static>, CheckpointError> {
        let rest = bytes.strip_prefix(&MAGIC).ok_or(CheckpointError::Foreign)?;
        let (version, rest) = rest.split_first_chunk().ok_or(CheckpointError::Damaged)?;
        match u32::from_le_bytes(*version) {
            LAYOUT => {}
            found => return Err(CheckpointError::Layout { found }),
        }
        let (rest, sum) = rest.split_last_chunk().ok_or(CheckpointError::Damaged)?;
        let (content, length) = rest.split_last_chunk().ok_or(CheckpointError::Damaged)?;
        let whole = u64::from_le_bytes(*length) == content.len() as u64;
        let summed = &bytes[..bytes.len() - size_of::<u64>()];
        if !whole || u64::from_le_bytes(*sum) != xxh3_64(summed) {
            return Err(CheckpointError::Damaged);
        }
        // What has the right sum was written by us, and can be read if the layout is the same.
        let (note, checkpoint): (String, Checkpoint<'static>) =
            postcard::from_bytes(content).map_err(|_| CheckpointError::Damaged)?;
        Ok(Checkpoint { note, ..checkpoint })
    }

    /// Refuses to go on with settings that would have led elsewhere; training does the same.
    ///
    /// ```
    /// # use maxmargin::doc::toy;
    /// use maxmargin::{Checkpoint, CheckpointEvery, Settings, Trainer};
    ///
    /// let settings = Settings { max_passes: 3, tolerance: 0.0, ..Settings::default() };
    /// let mut keep = |checkpoint: &Checkpoint<'_>| {
    ///     let longer = Settings { max_passes: 9, ..settings.clone() };
    ///     assert!(checkpoint.check_settings(&longer).is_ok());
    ///     let other = Settings { seed: 7, ..settings.clone() };
    ///     let error = checkpoint.check_settings(&other).unwrap_err();
    ///     assert_eq!(error.to_string(), "the run was begun with seed 1 and cannot go on with 7");
    ///     Ok(())
    /// };
    /// let trainer = Trainer::new(settings.clone());
    /// trainer.checkpoint(CheckpointEvery::Passes(1), &mut keep).train(&toy())?;
    /// # Ok::<(), maxmargin::TrainError>(())
    /// ```
    ///
    /// # Errors
    /// Settings that make no sense, or the first that is not as it was and is no mere limit.
    pub fn check_settings(&self, now: &Settings) -> Result<(), TrainError> {
        // What `auto` starts with depends on the problem, which is the same.
        let simplices = self.settings.order == Order::Lazy;
        self.check_resolved(&now.check()?.resolved(simplices))
    }

    /// As [`check_settings`](Self::check_settings), after `auto` has put in what it starts with.
    pub(crate) fn check_resolved(&self, now: &Settings) -> Result<(), TrainError> {
        // Limits may change, and what has no influence on the result; patience by its number only.
        let bound = |settings: &Settings| {
            let free = Settings::default();
            Settings {
                tolerance: free.tolerance,
                max_passes: free.max_passes,
                max_oracle_calls: free.max_oracle_calls,
                max_seconds: free.max_seconds,
                patience: settings.patience.map(|_| 1),
                threads: free.threads,
                block_gaps: free.block_gaps,
                ..settings.clone()
            }
        };
        let Some(name) = first_difference(&bound(&self.settings), &bound(now)) else {
            return Ok(());
        };
        let value = |settings: &Settings| match serde_json::to_value(settings).ok()?.get(&name)? {
            Value::Null => None,
            Value::String(text) => Some(text.clone()),
            other => Some(other.to_string()),
        };
        let (then, now) = (value(&self.settings), value(now));
        Err(TrainError::ResumeSetting { name, then, now })
    }
}

/// The name of the first setting in which two differ.
fn first_difference(a: &Settings, b: &Settings) -> Option<String> {
    if a == b {
        return None;
    }
    let fields = |settings| match serde_json::to_value(settings) {
        Ok(Value::Object(fields)) => fields,
        _ => Map::new(),
    };
    let (a, b) = (fields(a), fields(b));
    let different = a.iter().find(|(name, value)| b.get(*name) != Some(*value));
    // What JSON does not show to be different is so all the same.
    Some(different.map_or_else(|| "settings".to_owned(), |(name, _)| name.clone()))
}

/// What is wrong with the bytes of a checkpoint.
///
/// ```
/// use maxmargin::{Checkpoint, CheckpointError};
///
/// let error = Checkpoint::from_bytes(b"mmckpt\r\n\x06\0\0\0").unwrap_err();
/// assert_eq!(error, CheckpointError::Damaged);
/// assert_eq!(error.to_string(), "a maxmargin checkpoint, but cut short or damaged");
/// ```
#[derive(Debug, Error, Clone, PartialEq, Eq)]
pub enum CheckpointError {
    /// Something else altogether.
    #[error("not a maxmargin checkpoint")]
    Foreign,
    /// A layout that this version does not know.
    #[error(
        "a checkpoint of another version of maxmargin (layout {found}; this one reads {LAYOUT})"
    )]
    Layout {
        /// The version of its layout.
        found: u32,
    },
    /// A part is missing, or has changed.
    #[error("a maxmargin checkpoint, but cut short or damaged")]
    Damaged,
}

/// How often a run hands out a checkpoint. It is always at the end of a pass, and once more when the
/// run ends, for whatever reason but an error.
///
/// ```
/// # use maxmargin::doc::toy;
/// use maxmargin::{Checkpoint, CheckpointEvery, Settings, Trainer};
///
/// let mut passes = Vec::new();
/// let mut keep = |checkpoint: &Checkpoint<'_>| {
///     passes.push(checkpoint.totals().passes);
///     Ok(())
/// };
/// let settings = Settings { tolerance: 0.0, max_passes: 8, ..Settings::default() };
/// Trainer::new(settings).checkpoint(CheckpointEvery::Passes(3), &mut keep).train(&toy())?;
/// assert_eq!(passes, [3, 6, 8]);
/// # Ok::<(), maxmargin::TrainError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum CheckpointEvery {
    /// After so many passes, at least one.
    Passes(u64),
    /// After so many seconds of training.
    Seconds(f64),
}

impl CheckpointEvery {
    fn check(self) -> Result<(), SettingsError> {
        let name = "checkpoint_every";
        match self {
            Self::Passes(0) => {
                Err(SettingsError::Range { name, value: 0.0, expected: "at least 1" })
            }
            Self::Seconds(value) if !(value >= 0.0 && value.is_finite()) => {
                let expected = "a finite number of seconds, at least 0";
                Err(SettingsError::Range { name, value, expected })
            }
            _ => Ok(()),
        }
    }
}

/// Where checkpoints go: it must put them away before it returns.
pub(crate) type Sink<'a> = &'a mut dyn FnMut(&Checkpoint<'_>) -> io::Result<()>;

/// Hands out checkpoints when they are due.
pub(crate) struct Keeper<'a> {
    every: CheckpointEvery,
    sink: Sink<'a>,
    /// Seconds of training at the last one.
    last: f64,
}

impl<'a> Keeper<'a> {
    pub(crate) fn new(every: CheckpointEvery, sink: Sink<'a>) -> Self {
        Self { every, sink, last: 0.0 }
    }

    /// Judges the interval; a resumed run counts on from `seconds`.
    pub(crate) fn begin(&mut self, seconds: f64) -> Result<(), SettingsError> {
        self.last = seconds;
        self.every.check()
    }

    /// Whether one is due after so many passes and seconds.
    pub(crate) fn is_due(&self, passes: u64, seconds: f64) -> bool {
        match self.every {
            CheckpointEvery::Passes(n) => passes.is_multiple_of(n),
            CheckpointEvery::Seconds(most) => seconds - self.last >= most,
        }
    }

    pub(crate) fn keep(&mut self, checkpoint: &Checkpoint<'_>) -> Result<(), TrainError> {
        self.last = checkpoint.totals.seconds;
        (self.sink)(checkpoint).map_err(|error| TrainError::Checkpoint { why: error.to_string() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doc::toy;
    use crate::model::LabelledRows;
    use crate::model::binary::{Binary, BinaryShape};
    use crate::{Average, Caching, Direction, Interrupt, Order, Solver, Trainer};

    /// If this fails, what a checkpoint holds has changed: make `LAYOUT` one more, so that older
    /// ones are refused, and pin the new sum. The state of a run that has not begun has no rounding
    /// in it, so that nothing else can make the sum another.
    #[test]
    fn the_layout_is_pinned() {
        let full = Settings {
            solver: Solver::BlockCoordinate,
            order: Order::Gap,
            direction: Direction::Corrective,
            cache: Caching::On,
            average: Average::Weighted,
            ..Settings::default()
        };
        let kept = [first_bytes(&toy(), full), first_bytes(&two(), Settings::default())];
        let pinned = kept.map(|bytes| (LAYOUT, bytes.len(), xxh3_64(&bytes)));
        assert_eq!(pinned, PINNED);
    }

    /// A chain with memory, and a problem whose blocks are simplices.
    const PINNED: [(u32, usize, u64); 2] =
        [(6, 1236, 7_537_077_409_002_679_643), (6, 333, 6_992_302_138_133_197_564)];

    /// The checkpoint of a run that has not begun.
    fn first_bytes(problem: &dyn Blocks, settings: Settings) -> Vec<u8> {
        let interrupt = Interrupt::new();
        interrupt.raise();
        let mut bytes = Vec::new();
        let mut keep = |checkpoint: &Checkpoint<'_>| {
            let totals = Totals { seconds: 0.0, oracle_seconds: 0.0, ..checkpoint.totals };
            bytes = Checkpoint { totals, ..checkpoint.clone() }.to_bytes("");
            Ok(())
        };
        let trainer = Trainer::new(settings).interrupt(interrupt);
        trainer.checkpoint(CheckpointEvery::Passes(1), &mut keep).train(problem).unwrap();
        bytes
    }

    /// Two rows, one of them positive.
    fn two() -> Binary {
        let mut data = LabelledRows::new();
        data.push([(0, 1.0)], &[1], 1.0).unwrap();
        data.push([(0, -2.0)], &[0], 1.0).unwrap();
        Binary::new(BinaryShape::new(1), data, 1).unwrap()
    }
}
