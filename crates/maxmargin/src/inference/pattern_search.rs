//! Searches for the best joint state of a factor that is given by patterns: the longest path through the sets of
//! [patterns](super::patterns) that still fit.

use super::patterns::Patterns;

/// Scratch memory of searches.
#[derive(Debug, Clone, Default)]
pub(crate) struct PatternScratch {
    /// For each node, the best value of a path from the first variable to it.
    before: Vec<f64>,
    /// For each node, the best value of a path from it to the end.
    after: Vec<f64>,
}

impl Patterns {
    /// Returns the largest value of a joint state, which is the sum of the scores of the patterns that count and of
    /// `own`, the scores of the states of each variable, one variable after the other. Calls `take` with each
    /// variable and its state; at ties, these states are the lexicographically first ones. If `fixed` has a
    /// variable and a state, the variable keeps that state.
    pub(crate) fn maximise(
        &self,
        own: &[f64],
        scores: &[f64],
        fixed: Option<(usize, usize)>,
        scratch: &mut PatternScratch,
        mut take: impl FnMut(usize, u32),
    ) -> f64 {
        self.look_back(own, scores, fixed, scratch);
        let mut node = 0;
        for (slot, layer) in self.0.layers.iter().enumerate() {
            let best = scratch.after[self.0.nodes[slot] + node];
            let is_best = |state: &usize| {
                let value = self.step_value(slot, node, *state, own, scratch);
                value == best || value.is_nan() && best.is_nan()
            };
            let mut states = allowed(slot, layer.states, fixed);
            let first = states.start;
            let chosen = states.find(is_best).unwrap_or(first);
            take(slot, chosen as u32);
            node = layer.next[node * layer.states + chosen] as usize;
        }
        scratch.after[0]
    }

    /// Writes to `out`, for each state of each variable, the largest value of a joint state with it.
    pub(crate) fn max_marginals(
        &self,
        own: &[f64],
        scores: &[f64],
        scratch: &mut PatternScratch,
        out: &mut [f64],
    ) {
        self.look_back(own, scores, None, scratch);
        scratch.before.clear();
        scratch.before.resize(self.nodes(), f64::NEG_INFINITY);
        scratch.before[0] = 0.0;
        out.fill(f64::NEG_INFINITY);
        for step in self.steps() {
            let place = self.start(step.slot) + step.state;
            let value = scratch.before[step.from] + own[place];
            let before = &mut scratch.before[step.to];
            *before = before.max(value);
            out[place] = out[place].max(value + scratch.after[step.to]);
        }
    }

    /// The value of the best path to the end that starts at a node before the variable in `slot` and goes through a
    /// state of it.
    fn step_value(
        &self,
        slot: usize,
        node: usize,
        state: usize,
        own: &[f64],
        scratch: &PatternScratch,
    ) -> f64 {
        let layer = &self.0.layers[slot];
        let next = self.0.nodes[slot + 1] + layer.next[node * layer.states + state] as usize;
        own[self.start(slot) + state] + scratch.after[next]
    }

    /// Fills in the best value from each node to the end.
    fn look_back(
        &self,
        own: &[f64],
        scores: &[f64],
        fixed: Option<(usize, usize)>,
        scratch: &mut PatternScratch,
    ) {
        scratch.after.clear();
        scratch.after.resize(self.nodes(), f64::NEG_INFINITY);
        let ends = self.0.nodes[self.variables()];
        for (end, counted) in self.0.ends.iter().enumerate() {
            scratch.after[ends + end] = counted.iter().map(|&p| scores[p as usize]).sum();
        }
        for (slot, layer) in self.0.layers.iter().enumerate().rev() {
            for node in 0..layer.next.len() / layer.states {
                let mut best = f64::NEG_INFINITY;
                for state in allowed(slot, layer.states, fixed) {
                    let value = self.step_value(slot, node, state, own, scratch);
                    best = if is_better(value, best) { value } else { best };
                }
                scratch.after[self.0.nodes[slot] + node] = best;
            }
        }
    }
}

/// The states that a variable may have.
fn allowed(slot: usize, states: usize, fixed: Option<(usize, usize)>) -> std::ops::Range<usize> {
    match fixed {
        Some((variable, state)) if variable == slot => state..state + 1,
        _ => 0..states,
    }
}

/// Treats NaN as better than any number, so that it is noticed.
fn is_better(value: f64, best: f64) -> bool {
    value > best || value.is_nan() && !best.is_nan()
}
