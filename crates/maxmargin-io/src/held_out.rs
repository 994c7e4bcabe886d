//! Chooses the examples of a data set that are kept back for validation.

use maxmargin::Rng;
use serde::{Deserialize, Serialize};

/// A random share of the examples that is kept back from training for validation.
///
/// The choice depends only on the seed and the number of examples, in every version. A model that was trained
/// without these examples states this choice, so it can be verified on the rest of its data.
///
/// ```
/// use maxmargin_io::HeldOut;
///
/// let held_out = HeldOut { seed: 1, one_in: 10 };
/// let marks = held_out.marks(626);
/// assert_eq!(marks.iter().filter(|out| **out).count(), 63);
/// assert_eq!(marks, held_out.marks(626));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HeldOut {
    /// Seed of the choice.
    pub seed: u64,
    /// One in this many examples is held out, rounded upwards.
    pub one_in: usize,
}

impl HeldOut {
    /// For each of `n` examples, whether it is held out. If `one_in` is 0, none is.
    ///
    /// ```
    /// let held_out = maxmargin_io::HeldOut { seed: 1, one_in: 3 };
    /// assert_eq!(held_out.marks(6), [false, true, false, false, false, true]); // for ever
    /// ```
    pub fn marks(&self, n: usize) -> Vec<bool> {
        let mut order: Vec<usize> = (0..n).collect();
        Rng::new(self.seed).shuffle(&mut order);
        let mut out = vec![false; n];
        let count = if self.one_in == 0 { 0 } else { n.div_ceil(self.one_in) };
        order[..count].iter().for_each(|&i| out[i] = true);
        out
    }
}
