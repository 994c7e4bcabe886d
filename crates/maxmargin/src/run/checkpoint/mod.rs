//! The whole state of a run, saved so that it can continue later as if it had never stopped.
//!
//! A checkpoint is the state, not a recipe for it. w has drifted a little from the sum of its blocks,
//! distances of atoms were measured long ago, the next block is drawn already: all of it is saved with its
//! exact bits, and nothing is recomputed that could come out differently. Everything is borrowed from the
//! run and written as it stands, so that a checkpoint copies nothing and changes nothing.
//!
//! The bytes have no names in them and belong to one version of the layout, which a test pins. The caller's
//! note travels with them; the command line puts the trace so far into it, so that reports of resumed runs
//! are whole. `run/drive.rs` says at which moments checkpoints are made.

#[cfg(feature = "serde")]
mod by_place;
pub(crate) mod envelope;
mod keeper;
#[cfg(feature = "checkpoint")]
mod same_settings;
mod signature;

#[cfg(feature = "serde")]
pub(crate) use by_place::CertificateByPlace;
#[cfg(feature = "checkpoint")]
pub use keeper::CheckpointEvery;
pub(crate) use keeper::Keeper;
pub(crate) use signature::signature;

use super::Check;
use super::checks::Bound;
use super::drive::Stage;
use super::early_stopping::Judge;
use crate::dual::Block;
use crate::observe::{Choice, StepSizes, Totals};
use crate::problem::Quality;
use crate::run::bytes::{append, from_bytes};
use crate::settings::SettingsRecord;
use envelope::{Envelope, HEAD, TAIL};
use std::borrow::Cow;
use thiserror::Error;

/// The version of the layout. Increase it with every change of what a checkpoint holds; the test
/// `the_layout_is_pinned` fails when that is due.
const LAYOUT: u32 = 15;

/// The first bytes of every checkpoint. Their line ends reveal a transfer that has changed them.
const ENVELOPE: Envelope = Envelope { magic: *b"mmckpt\r\n", layout: LAYOUT };

/// A stopped run: everything needed to continue to the very bits of a run that was never stopped.
///
/// A [`Trainer`](crate::Trainer) [hands them out](crate::Trainer::checkpoint) during a run and [continues
/// from one](crate::Trainer::resume). The content is opaque, belongs to one version of this library, and
/// is stored only as [bytes](Self::to_bytes).
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
#[derive(Debug, Clone)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Checkpoint<'a> {
    #[cfg_attr(feature = "serde", serde(skip))]
    pub(crate) note: String,
    pub(crate) signature: u64,
    pub(crate) settings: Cow<'a, SettingsRecord>,
    pub(crate) stage: Stage<Check>,
    /// w, or with bounds the v that it is clipped from.
    pub(crate) w: Cow<'a, [f64]>,
    pub(crate) blocks: Cow<'a, [Block]>,
    pub(crate) dual: f64,
    pub(crate) norm_sq: f64,
    #[cfg_attr(feature = "serde", serde(with = "by_place::TotalsByPlace"))]
    pub(crate) totals: Totals,
    pub(crate) steps: StepSizes,
    pub(crate) choice: Option<Cow<'a, Choice>>,
    pub(crate) judge: Cow<'a, Judge>,
    pub(crate) bound: Option<Cow<'a, Bound>>,
    /// The quality of the oracle that has found the corners.
    pub(crate) quality: Quality,
    /// An estimate of the primal, for the row that is not reported yet.
    pub(crate) estimate: Option<f64>,
    /// What the method has [saved](super::session::Method::save).
    pub(crate) method: Cow<'a, [u8]>,
}

impl Checkpoint<'_> {
    /// The settings of the run by name, with what `auto` started with filled in.
    pub fn settings(&self) -> &SettingsRecord {
        &self.settings
    }

    /// What the run took so far.
    pub fn totals(&self) -> &Totals {
        &self.totals
    }

    /// The note that the caller stored with the [bytes](Self::to_bytes), such as the name of the data.
    pub fn note(&self) -> &str {
        &self.note
    }

    /// The checkpoint as bytes, with a note of the caller's own.
    ///
    /// They contain their version and a check sum, so [`from_bytes`](Self::from_bytes) refuses damaged
    /// ones.
    ///
    /// # Panics
    /// Never: everything in a checkpoint can be written down.
    pub fn to_bytes(&self, note: &str) -> Vec<u8> {
        let numbers = self.w.len() + 2 * self.blocks.iter().map(|b| b.parts.len()).sum::<usize>();
        let mut bytes =
            Vec::with_capacity(HEAD + TAIL + numbers * size_of::<f64>() + self.method.len());
        ENVELOPE.begin(&mut bytes);
        let bytes = append(&(note, self), bytes);
        ENVELOPE.seal(bytes)
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
    /// The bytes are something else, of another version, cut short or damaged.
    pub fn from_bytes(bytes: &[u8]) -> Result<Checkpoint<'static>, CheckpointError> {
        let content = ENVELOPE.open(bytes)?;
        // Bytes with the right check sum were written by us, and can be read if the layout is the same.
        let (note, checkpoint): (String, Checkpoint<'static>) =
            from_bytes(content).ok_or(CheckpointError::Damaged)?;
        Ok(Checkpoint { note, ..checkpoint })
    }
}

/// What is wrong with the bytes of a checkpoint.
///
/// ```
/// use maxmargin::{Checkpoint, CheckpointError};
///
/// let error = Checkpoint::from_bytes(b"mmckpt\r\n\x0f\0\0\0").unwrap_err();
/// assert_eq!(error, CheckpointError::Damaged);
/// assert_eq!(error.to_string(), "a maxmargin checkpoint, but cut short or damaged");
/// ```
#[derive(Debug, Error, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum CheckpointError {
    /// Something else altogether.
    #[error("not a maxmargin checkpoint")]
    Foreign,
    /// A layout that this version does not know.
    #[error(
        "a checkpoint of another version of maxmargin (layout {found}; this one reads {reads})"
    )]
    Layout {
        /// The version of its layout.
        found: u32,
        /// The version that this library reads.
        reads: u32,
    },
    /// A part is missing, or has changed.
    #[error("a maxmargin checkpoint, but cut short or damaged")]
    Damaged,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doc::toy;
    use crate::model::LabelledRows;
    use crate::model::binary::{Binary, BinaryShape};
    use crate::problem::Blocks;
    use crate::{
        BlockAverage, BlockCoordinate, BlockStep, Caching, Interrupt, Order, Settings, Trainer,
    };
    use xxhash_rust::xxh3::xxh3_64;

    /// If this fails, what a checkpoint holds has changed: add one to `LAYOUT`, so that older
    /// ones are refused, and pin the new sum. The state of a run that has not begun contains no rounding,
    /// so nothing else can change the sum.
    #[test]
    fn the_layout_is_pinned() {
        let all = BlockCoordinate {
            order: Order::Gap,
            step: BlockStep::Corrective,
            cache: Caching::On,
            average: BlockAverage::Weighted,
            ..BlockCoordinate::default()
        };
        let full = Settings { method: all.into(), ..Settings::default() };
        let kept = [first_bytes(&toy(), full), first_bytes(&two(), Settings::default())];
        let pinned = kept.map(|bytes| (LAYOUT, bytes.len(), xxh3_64(&bytes)));
        assert_eq!(pinned, PINNED);
    }

    /// A chain with memory, and a problem whose blocks are simplices.
    const PINNED: [(u32, usize, u64); 2] =
        [(15, 1939, 13_537_344_878_234_747_164), (15, 435, 18_177_018_973_345_939_965)];

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
