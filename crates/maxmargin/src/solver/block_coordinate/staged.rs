//! The first stage of the direction `staged`: plain steps in permuted order, as long as they pay.
//!
//! Plain steps run until the block gaps have fallen to a fifth of those of the first pass, for three passes
//! at least, and longer if the tolerance is near. Corrective steps then start from the point reached: what
//! a block still has of its starting point becomes one atom, the rest another, and nothing is lost. Keeping
//! all corners of the first stage was slower: blocks had more atoms and no use for them. The rule looks at
//! gaps alone, so that runs repeat.

use crate::run::fits::Fitting;

/// Plain steps are cheaper than corrective ones, and as good while most corners are new. (Since all blocks go on together
/// after passes of corrective steps, plain steps down to a tenth take more oracle calls and as much time: on OCR at
/// λ = 0.01 twice the calls. Three passes take fewer calls yet, and more time at coarse gaps.)
const FINE_SHARE: f64 = 0.2;

/// The fewest passes of plain steps.
const LEAST_PASSES: u64 = 3;

/// The most passes of plain steps.
const MOST_PASSES: u64 = 200;

/// If the gap is within this many times the tolerance, plain steps may finish the run ([`MOST_TIMES_AS_LONG`] limits
/// that).
const NEAR_TOLERANCE_FACTOR: f64 = 4.0;

/// Near the tolerance, plain steps may take at most this many times the passes that it took to get near.
const MOST_TIMES_AS_LONG: u64 = 2;

/// The block gaps and starting points during the first stage.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct PlainStage {
    /// The gap that each block had when it was visited last.
    gaps: Vec<f64>,
    /// The sum of these after the first pass.
    first: Option<f64>,
    /// The number of passes until only [`FINE_SHARE`] of that was left.
    fine_after: Option<u64>,
    /// The share of its starting point that each block still has.
    left: Vec<f64>,
}

impl PlainStage {
    pub(crate) fn new(n: usize) -> Self {
        Self { gaps: vec![0.0; n], first: None, fine_after: None, left: vec![1.0; n] }
    }

    pub(crate) fn fits(&self, to: &Fitting<'_>) -> bool {
        to.are_of_blocks(&self.gaps) && to.are_of_blocks(&self.left)
    }

    /// Records the gap that an oracle call has found in block `i`.
    pub(crate) fn note(&mut self, i: usize, gap: f64) {
        self.gaps[i] = gap.max(0.0);
    }

    /// Records a step of block `i` of size `gamma`, towards its starting point or another corner.
    pub(crate) fn follow(&mut self, i: usize, gamma: f64, towards_first: bool) {
        self.left[i] *= 1.0 - gamma;
        if towards_first {
            self.left[i] += gamma;
        }
    }

    /// The share of its starting point that each block still has, or somewhat less.
    pub(crate) fn left(&self) -> &[f64] {
        &self.left
    }

    /// Records that block `i` keeps a share of its point. The rest may be any point, of which nothing is known.
    pub(crate) fn keep(&mut self, i: usize, share: f64) {
        self.left[i] *= share;
    }

    /// The last known gap of every block.
    pub(crate) fn gaps(&self) -> &[f64] {
        &self.gaps
    }

    /// The gap of all blocks together after a pass, a little out of date.
    pub(crate) fn known_gap(&self) -> f64 {
        self.gaps.iter().sum()
    }

    /// Whether the first stage is over, at the end of a pass of a run with this tolerance.
    pub(crate) fn is_done(&mut self, passes: u64, tolerance: f64) -> bool {
        let known = self.known_gap();
        let first = *self.first.get_or_insert(known);
        if known > FINE_SHARE * first {
            return passes >= MOST_PASSES;
        }
        let fine_after = *self.fine_after.get_or_insert(passes);
        let near =
            known <= NEAR_TOLERANCE_FACTOR * tolerance && passes < MOST_TIMES_AS_LONG * fine_after;
        passes >= MOST_PASSES || passes >= LEAST_PASSES && !near
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_stage_ends_at_a_tenth_of_the_first_gap_or_after_the_most_passes() {
        let mut stage = PlainStage::new(2);
        stage.note(0, 3.0);
        stage.note(1, 1.0);
        assert!(!stage.is_done(1, 0.0));
        stage.note(0, -1e-18);
        assert!(!stage.is_done(2, 0.0));
        assert!(stage.clone().is_done(MOST_PASSES, 0.0));
        stage.note(1, 0.4);
        assert!(!stage.is_done(LEAST_PASSES - 1, 0.0));
        assert!(stage.is_done(LEAST_PASSES, 0.0));
        assert_eq!(stage.gaps(), [0.0, 0.4]);
    }

    #[test]
    fn plain_steps_finish_the_run_near_the_tolerance() {
        let mut stage = PlainStage::new(1);
        for (gap, passes) in [(8.0, 1), (0.8, 30)] {
            stage.note(0, gap);
            assert!(!stage.is_done(passes, 0.2));
        }
        assert!(!stage.is_done(59, 0.2));
        assert!(stage.clone().is_done(60, 0.2), "it takes too long");
        assert!(stage.is_done(31, 0.19), "it is too far");
    }
}
