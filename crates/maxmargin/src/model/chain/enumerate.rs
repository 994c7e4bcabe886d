//! All labellings of a sequence, for short chains.

use super::problem::Chain;
use crate::problem::slack_rescaled::Enumerable;

/// Practical for short sequences over few labels: a sequence of T tokens has Kᵀ labellings.
impl Enumerable for Chain {
    fn for_each_output(&self, i: usize, visit: &mut dyn FnMut(&Vec<u32>)) {
        let labels = self.shape().labels as u32;
        let mut y = vec![0; self.data().sequence(i).len()];
        loop {
            visit(&y);
            // Count up; the first label changes fastest.
            let Some(t) = y.iter().position(|&label| label + 1 < labels) else { return };
            y[t] += 1;
            y[..t].fill(0);
        }
    }
}
