//! What an exact pass reads of each block, and the sums over all blocks.

use super::exact_pass::Kept;
use crate::dual::Shares;
use crate::error::TrainError;

/// What else an exact pass may have found out about a block, in one number.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) enum Told {
    #[default]
    Nothing,
    /// The loss of the corner that the oracle found, which is invalid.
    WrongLoss,
    /// How much larger the hinge can be.
    Missed,
}

/// What an exact pass finds out about one block.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct BlockReading {
    /// max_y Hᵢ(y; w).
    pub(crate) hinge: f64,
    /// The block's gap cᵢ/C (max_y Hᵢ(y; w) − Hᵢ(μᵢ; w)), which is ≥ 0.
    pub(crate) gap: f64,
    /// The size of the losses and scores that hinge and gap are made of: rounding errors are relative
    /// to it.
    pub(super) size: f64,
    pub(super) told: Told,
    pub(super) number: f64,
    /// Whether the corner that the oracle found scored below the truth, which an exact oracle never allows.
    pub(crate) failed: bool,
    /// Whether the oracle was called at all. It was not if the pass was cut before.
    pub(crate) is_read: bool,
}

impl BlockReading {
    /// The loss of the corner that the oracle found, if that loss is invalid.
    pub(super) fn wrong_loss(&self) -> Option<f64> {
        (self.told == Told::WrongLoss).then_some(self.number)
    }

    /// How much larger the hinge can be, if the oracle is a heuristic that knows, and its loss is valid.
    fn missed(&self) -> Option<f64> {
        (self.told == Told::Missed).then_some(self.number)
    }
}

/// The readings of all blocks, summed up in their order. A run keeps one number for every example, which is its gap.
#[derive(Debug, Clone, Default)]
pub(crate) struct Readings {
    gaps: Vec<f64>,
    calls: u64,
    failures: u64,
    risk: f64,
    size: f64,
    missed: f64,
    /// Blocks of which it is not known what the oracle may have missed.
    unknown: u64,
    /// The first block whose numbers are not finite, and the first whose loss is not valid.
    not_finite: Option<usize>,
    wrong: Option<(usize, f64)>,
}

impl Readings {
    /// Forgets all readings.
    pub(crate) fn clear(&mut self) {
        let mut gaps = std::mem::take(&mut self.gaps);
        gaps.clear();
        *self = Self { gaps, ..Self::default() };
    }

    pub(super) fn reserve(&mut self, blocks: usize) {
        self.gaps.reserve_exact(blocks);
    }

    /// Adds the reading of the next block, which has this share of the risk.
    pub(super) fn add(&mut self, share: f64, reading: &BlockReading) {
        let i = self.gaps.len();
        self.gaps.push(reading.gap);
        self.calls += u64::from(reading.is_read);
        self.failures += u64::from(reading.failed);
        self.risk += share * reading.hinge;
        self.size += share * reading.size;
        match reading.missed() {
            Some(missed) => self.missed += share * missed,
            None => self.unknown += 1,
        }
        if !(reading.hinge + reading.gap).is_finite() {
            self.not_finite.get_or_insert(i);
        }
        if let Some(loss) = reading.wrong_loss() {
            self.wrong.get_or_insert((i, loss));
        }
    }

    /// Adds the readings of answers.
    pub(crate) fn add_all<T: Kept>(&mut self, shares: &Shares, answers: &[T]) {
        shares.iter().zip(answers).for_each(|(share, answer)| self.add(share, &answer.reading()));
    }

    /// The gap of every block, 0 where the oracle was not called.
    pub(crate) fn gaps(&self) -> &[f64] {
        &self.gaps
    }

    pub(crate) fn into_gaps(self) -> Vec<f64> {
        self.gaps
    }

    /// How many oracles were called.
    pub(crate) fn calls(&self) -> u64 {
        self.calls
    }

    /// How many of them found less than the truth, or than the block's own point.
    pub(crate) fn failures(&self) -> u64 {
        self.failures
    }

    /// Whether all oracles were called.
    pub(crate) fn are_whole(&self) -> bool {
        self.calls == self.gaps.len() as u64
    }

    /// Σᵢ cᵢ/C · max_y Hᵢ(y; w).
    pub(crate) fn risk(&self) -> f64 {
        self.risk
    }

    /// The size of the numbers that the risk is made of.
    pub(crate) fn size(&self) -> f64 {
        self.size
    }

    /// How much larger the risk can be, if every oracle knows what it may have missed. (A search with a decoder that is
    /// itself a heuristic knows no bound.)
    pub(crate) fn missed(&self) -> Option<f64> {
        (self.unknown == 0 && self.missed.is_finite()).then_some(self.missed)
    }

    /// Refuses readings that are not finite, and losses that are not valid.
    pub(crate) fn check(&self) -> Result<(), TrainError> {
        match (self.not_finite, self.wrong) {
            (Some(example), _) => Err(TrainError::NotFinite { example }),
            (None, Some((example, loss))) => Err(TrainError::Loss { example, loss }),
            (None, None) => Ok(()),
        }
    }
}
