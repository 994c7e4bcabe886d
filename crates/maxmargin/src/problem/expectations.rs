//! Expectations over all outputs, which replace the maximum in exponentiated gradient steps.

use crate::problem::sparse::SparseVec;

/// Expectations under distributions over the outputs of a [`Problem`](crate::Problem), for exponentiated
/// gradient steps ([`Solver::ExponentiatedGradient`](crate::Solver::ExponentiatedGradient)).
///
/// A distribution over the outputs of example i is given by potentials θ, one for each element that an
/// output may have (a node with its label, an edge with its labels, …):
///
/// ```text
/// p(y) ∝ exp θ(y),   θ(y) the sum of the potentials of all that y has
/// ```
///
/// The problem decides how many potentials there are and what each of them belongs to. They may differ
/// from the parts: a chain has separate parts for the edges at each position, but shares potentials
/// between all positions. `W` is the problem's workspace.
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

    /// Adds `scale`·Hᵢ(·; w) to the potentials: up to a constant, θ(y) of every output grows by `scale`
    /// times its loss and score. The workspace is [prepared](crate::problem::Parts::prepare) for `i` and
    /// `w`.
    fn add_values(&self, i: usize, w: &[f64], workspace: &W, scale: f64, theta: &mut [f64]);

    /// Writes the expected part vector E pᵢ(y) under p(y) ∝ exp θ(y) to `parts`, normalised, and returns
    /// the expected loss. `parts` is empty when the method is called. The method must keep the workspace
    /// prepared.
    fn expect(&self, i: usize, theta: &[f64], workspace: &mut W, parts: &mut SparseVec) -> f64;
}

/// Turns potentials into probabilities, and returns the logarithm of the normalising constant.
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
