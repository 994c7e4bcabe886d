//! All labellings of a sequence, for chains that are short.

use super::problem::Chain;
use crate::problem::slack_rescaled::Enumerable;

/// A sequence of T tokens has Kᵀ labellings: for short sequences over few labels.
impl Enumerable for Chain {
    fn for_each_output(&self, i: usize, visit: &mut dyn FnMut(&Vec<u32>)) {
        let labels = self.shape().labels as u32;
        let mut y = vec![0; self.data().sequence(i).len()];
        loop {
            visit(&y);
            // Counts up, the first label fastest.
            let Some(t) = y.iter().position(|&label| label + 1 < labels) else { return };
            y[t] += 1;
            y[..t].fill(0);
        }
    }
}
