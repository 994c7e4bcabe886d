//! Access to the blocks of a soft problem one by one, for the methods of `maxmargin-lab`, which do not
//! use the engine.

use super::layout::Side;
use super::problem::SoftGraph;
use std::ops::Range;

impl SoftGraph {
    /// The blocks of this problem: the variables and factors of all examples.
    ///
    /// # Panics
    /// If a factor is given by patterns: its states cannot be listed.
    #[doc(hidden)]
    pub fn blocks(&self) -> SoftBlocks<'_> {
        assert!(!self.has_patterns(), "the states of patterns cannot be listed");
        SoftBlocks(self)
    }
}

/// The variables and factors of all examples. Each is a maximum over states in the hard objective g(w,
/// δ).
///
/// Messages and multipliers are separate here: δ does not include multipliers and is not scaled.
#[doc(hidden)]
#[derive(Debug, Clone, Copy)]
pub struct SoftBlocks<'p>(&'p SoftGraph);

/// The meeting of a factor and one of its variables, seen from one of the two.
#[doc(hidden)]
#[derive(Debug, Clone, Copy)]
pub struct Meeting(Side);

impl Meeting {
    /// The messages of the meeting, one for each state of the variable.
    pub fn messages(&self) -> Range<usize> {
        self.0.message..self.0.message + self.0.states as usize
    }

    /// The message that a state of the block reads. The states of a factor are joint states.
    pub fn message_of(&self, state: usize) -> usize {
        self.0.message_of(state)
    }
}

impl<'p> SoftBlocks<'p> {
    /// Number of examples.
    pub fn examples(self) -> usize {
        self.0.layout.examples.len()
    }

    /// Number of weights, without messages.
    pub fn dim(self) -> usize {
        self.0.layout.dim
    }

    /// Number of messages.
    pub fn messages(self) -> usize {
        self.0.layout.messages
    }

    /// The blocks of the variables of an example.
    pub fn variables(self, example: usize) -> Range<usize> {
        let start = self.0.layout.examples[example].start;
        start..start + self.0.layout.variables[example]
    }

    /// The blocks of the factors of an example.
    pub fn factors(self, example: usize) -> Range<usize> {
        self.variables(example).end..self.0.layout.examples[example].end
    }

    /// The weight of an example, 1 on average.
    pub fn weight(self, example: usize) -> f64 {
        self.0.relative_weight(example)
    }

    /// The true state of a block.
    pub fn truth(self, block: usize) -> usize {
        self.0.layout.blocks[block].truth as usize
    }

    /// The meetings of a block: of a variable with its factors, or of a factor with its variables.
    pub fn meetings(self, block: usize) -> impl Iterator<Item = Meeting> + 'p {
        let layout = &self.0.layout;
        layout.sides[layout.blocks[block].sides.clone()].iter().copied().map(Meeting)
    }

    /// Computes θ(y) of all states of a block with their losses and messages, at the weights `scale` · w.
    pub fn scores(
        self,
        block: usize,
        w: &[f64],
        scale: f64,
        messages: &[f64],
        scores: &mut Vec<f64>,
    ) {
        self.0.scaled_theta(&self.0.layout.blocks[block], w, scale, messages, scores);
    }

    /// Adds `scale` · Σ mass · φ(y) over the states of a block.
    pub fn add_features(self, block: usize, scale: f64, masses: &[f64], to: &mut [f64]) {
        self.0.scatter_features(block, scale, masses, to);
    }

    /// The hard objective g(w, δ).
    pub fn hard_objective(self, w: &[f64], messages: &[f64]) -> f64 {
        self.0.hard_objective_at(w, messages)
    }
}
