//! Expectations over all outputs, in place of the best one.

use crate::problem::sparse::SparseVec;

/// What a [`Problem`](crate::Problem) tells of distributions over outputs, for exponentiated gradient
/// steps ([`Solver::ExponentiatedGradient`](crate::Solver::ExponentiatedGradient)).
///
/// A distribution over the outputs of example i is given by potentials θ, one for each of the things
/// that an output may have (a node with its label, an edge with its labels, …):
///
/// ```text
/// p(y) ∝ exp θ(y),   θ(y) the sum of the potentials of all that y has
/// ```
///
/// How many there are, and what each is for, is the problem's own affair. They need not be the parts:
/// a chain has parts for the edges of every position, and the same potentials for all positions. `W`
/// is the problem's workspace.
///
/// ```
/// # use maxmargin::doc::toy;
/// use maxmargin::{Problem, ProblemExt, SparseVec};
///
/// let chain = toy();
/// let expectations = chain.expectations().unwrap();
/// let (mut workspace, mut mean) = (chain.workspace(), SparseVec::new());
/// // Without potentials all labellings are equally likely: half of the labels are wrong.
/// let theta = vec![0.0; expectations.potentials(0)];
/// let loss = expectations.expect(0, &theta, &mut workspace, &mut mean);
/// assert!((loss - 0.5).abs() < 1e-15);
/// assert!(chain.check_point(0, &mean, loss, 1e-15).is_ok());
/// ```
pub trait Expectations<W>: Sync {
    /// Number of potentials of example `i`.
    fn potentials(&self, i: usize) -> usize;

    /// Adds `scale`·Hᵢ(·; w) to potentials: for every output, θ(y) grows by `scale` times loss and
    /// score, but for a constant. The workspace is [prepared](crate::problem::Parts::prepare) for `i` and `w`.
    fn add_values(&self, i: usize, w: &[f64], workspace: &W, scale: f64, theta: &mut [f64]);

    /// Writes the expected part vector E pᵢ(y) under p(y) ∝ exp θ(y), normalised, to `parts`, which
    /// comes empty, and returns the expected loss. What the workspace is prepared for must stay.
    fn expect(&self, i: usize, theta: &[f64], workspace: &mut W, parts: &mut SparseVec) -> f64;
}

/// Turns potentials of a few outcomes into their probabilities; returns the logarithm of what they
/// were divided by.
pub(crate) fn softmax(values: &mut [f64]) -> f64 {
    let largest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mut sum = 0.0;
    for value in values.iter_mut() {
        *value = (*value - largest).exp();
        sum += *value;
    }
    values.iter_mut().for_each(|value| *value /= sum);
    largest + sum.ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_potentials_do_not_overflow() {
        let mut values = [1000.0, 1000.0, -1000.0];
        assert!((softmax(&mut values) - 1000.0 - 2f64.ln()).abs() < 1e-12);
        assert_eq!(values, [0.5, 0.5, 0.0]);
    }
}
