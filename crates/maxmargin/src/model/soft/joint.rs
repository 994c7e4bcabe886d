//! Factors over many variables, given by patterns (SOFT-15, Appendix D).
//!
//! The dual of such a block is never listed by joint states. It is kept as compact variables: the masses of its
//! patterns and of the states of its variables. Scores, features and messages depend only on these. Its oracle is a
//! search through the sets of patterns that fit ([`Patterns::maximise`]).

use super::layout::{Block, Layout, Side};
use crate::inference::pattern_search::PatternScratch;
use crate::inference::patterns::Patterns;
use crate::problem::sparse::SparseVec;

/// The additional data of a block of patterns, compared with a block of joint states. The parts of such a block are
/// its patterns, and then the states of its variables, one variable after the other.
#[derive(Debug, Clone)]
pub(super) struct Joint {
    pub(super) patterns: Patterns,
    /// The true states of its variables.
    truth: Vec<u32>,
    /// For each state of its variables, the place of the true state of the same variable among the states of all
    /// variables.
    truth_of: Vec<usize>,
}

impl Joint {
    pub(super) fn new(patterns: &Patterns, truth: Vec<u32>) -> Self {
        let places = truth.iter().enumerate().flat_map(|(slot, &state)| {
            std::iter::repeat_n(patterns.start(slot) + state as usize, patterns.states(slot))
        });
        Self { patterns: patterns.clone(), truth_of: places.collect(), truth }
    }

    /// Number of parts.
    pub(super) fn size(&self) -> usize {
        self.patterns.len() + self.patterns.all_states()
    }

    /// The parts of these states of its variables.
    pub(super) fn parts<'s>(&'s self, states: &'s [u32]) -> impl Iterator<Item = usize> + 's {
        let counted = self.patterns.counted(states).iter().map(|&pattern| pattern as usize);
        let own = states.iter().enumerate();
        let place = |slot: usize| self.patterns.len() + self.patterns.start(slot);
        counted.chain(own.map(move |(slot, &state)| place(slot) + state as usize))
    }

    /// If part `at` is a state of a variable, the part of the true state of this variable; otherwise `at`.
    pub(super) fn true_part(&self, at: usize) -> usize {
        at.checked_sub(self.patterns.len())
            .map_or(at, |own| self.patterns.len() + self.truth_of[own])
    }

    pub(super) fn truth(&self) -> &[u32] {
        &self.truth
    }

    pub(super) fn truth_parts(&self) -> impl Iterator<Item = usize> + '_ {
        self.parts(&self.truth)
    }

    /// Returns the largest value of a joint state, and appends its states to `y`. `values` has the values of all
    /// parts.
    pub(super) fn maximise(
        &self,
        values: &[f64],
        scratch: &mut PatternScratch,
        y: &mut Vec<u32>,
    ) -> f64 {
        let (patterns, own) = values.split_at(self.patterns.len());
        self.patterns.maximise(own, patterns, None, scratch, |_, state| y.push(state))
    }

    /// Checks a necessary condition for masses of parts to be those of a mixture of joint states, to `slack`.
    pub(super) fn check(&self, parts: &SparseVec, slack: f64) -> Result<(), String> {
        let mut masses = vec![0.0; self.size()];
        for &(at, mass) in parts.entries() {
            let Some(own) = usize::try_from(at).ok().and_then(|at| masses.get_mut(at)) else {
                return Err(format!("it has the part {at} of {}", self.size()));
            };
            if mass < -slack || mass.is_nan() {
                return Err(format!("the part {at} has the mass {mass}"));
            }
            *own += mass;
        }
        let (patterns, states) = masses.split_at(self.patterns.len());
        let start = |slot| self.patterns.start(slot);
        for slot in 0..self.patterns.variables() {
            let sum: f64 = states[start(slot)..start(slot + 1)].iter().sum();
            if (sum - 1.0).abs() > slack {
                return Err(format!("the masses of its variable {slot} sum to {sum}"));
            }
        }
        for (pattern, (row, &mass)) in self.patterns.rows().iter().zip(patterns).enumerate() {
            let own = row.iter().enumerate();
            let own =
                own.filter_map(|(slot, state)| Some(states[start(slot) + (*state)? as usize]));
            if mass > own.fold(1.0, f64::min) + slack {
                return Err(format!(
                    "pattern {pattern} has the mass {mass}, more than a state of it"
                ));
            }
        }
        Ok(())
    }
}

impl Layout {
    /// The block of patterns behind a block, if it is one.
    #[inline]
    pub(super) fn joint(&self, block: &Block) -> Option<&Joint> {
        block.joint.map(|at| &self.joints[at as usize])
    }

    /// The message that part `at` of a block of patterns reads, if it is the state of a variable.
    pub(super) fn message_of_part(&self, block: &Block, joint: &Joint, at: usize) -> Option<usize> {
        // The messages of the variables of a factor follow each other.
        let first: &Side = self.sides.get(block.sides.start)?;
        Some(first.message + at.checked_sub(joint.patterns.len())?)
    }
}
