//! Early stopping: a validator judges the weights on held-out data, and the best ones are kept.
//!
//! With patience, the weights and the dual point that did best are kept as they were at their exact pass,
//! with that pass's certificate, so that the result is proven like any other. A run whose last weights have
//! converged but whose best weights have not ends with the status `patience`: `converged` is a statement
//! about the result.

use crate::certificate::Certificate;
use crate::certificate::is_point;
use crate::dual::{Block, DualPoint};
use crate::observe::Validation;
use crate::problem::Blocks;
use crate::run::fits::is_count;

/// Measures how wrong weights are on held-out data. Any closure `FnMut(&[f64]) -> f64` is one.
///
/// Smaller is better; the unit is up to the validator. It is called at every exact gap pass, with the
/// weights that would be returned there: with averaging, the averaged ones. Its time does not count as
/// training time. A value that is not finite ends the run with an error.
///
/// ```
/// # use maxmargin::doc::toy;
/// use maxmargin::{Problem, ProblemExt, Settings, Status, Trainer};
///
/// let (training, held_out) = (toy(), toy()); // in earnest, two different ones
/// let mut error = |w: &[f64]| {
///     let (mut workspace, mut y) = (held_out.workspace(), Vec::new());
///     let loss = |i: usize| {
///         held_out.prepare(i, w, &mut workspace);
///         held_out.decode(i, w, &mut workspace, &mut y);
///         held_out.loss(i, &y)
///     };
///     (0..held_out.examples()).map(loss).sum()
/// };
/// let settings =
///     Settings { patience: Some(3), gap_every: 1, tolerance: 0.0, ..Settings::default() };
/// let solution = Trainer::new(settings).validate(&mut error).train(&training)?;
/// assert_eq!(solution.status, Status::Patience);
/// assert_eq!(solution.validation.unwrap().error, 0.0);
/// # Ok::<(), maxmargin::TrainError>(())
/// ```
pub trait Validator {
    /// The error of `weights`, a finite number. Called on the thread that trains.
    fn error(&mut self, weights: &[f64]) -> f64;
}

impl<F: FnMut(&[f64]) -> f64> Validator for F {
    fn error(&mut self, weights: &[f64]) -> f64 {
        self(weights)
    }
}

/// Keeps the validation errors, and the best model so far.
#[derive(Debug, Clone, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Judge {
    checks: u64,
    /// The number of checks in a row that were not better than the best.
    since: u64,
    last: Option<(f64, u64)>,
    best: Option<Best>,
}

/// The best model so far, with its own proof.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Best {
    error: f64,
    pass: u64,
    #[cfg_attr(feature = "serde", serde(with = "crate::run::checkpoint::CertificateByPlace"))]
    pub(crate) certificate: Certificate,
    weights: Vec<f64>,
    pub(super) blocks: Vec<Block>,
}

impl Best {
    pub(crate) fn into_point(self) -> (Vec<f64>, DualPoint) {
        (self.weights, DualPoint { blocks: self.blocks })
    }
}

impl Judge {
    /// Whether the best model is one of the problem.
    #[cfg_attr(not(feature = "checkpoint"), allow(dead_code))]
    pub(super) fn fits(&self, problem: &dyn Blocks) -> bool {
        self.best.as_ref().is_none_or(|best| {
            let (n, d) = (problem.examples(), problem.dim());
            best.weights.len() == d
                && best.blocks.len() == n
                && best.weights.iter().all(|w| w.is_finite())
                && (0..).zip(&best.blocks).all(|(i, block)| is_point(problem, i, block))
        }) && is_count(self.checks)
            && is_count(self.since)
    }

    /// Records the error after `pass`. If the best model is to be kept and this is it, keeps its weights and its dual
    /// point; among equals, the one with the smallest gap.
    pub(crate) fn note(
        &mut self,
        error: f64,
        pass: u64,
        certificate: Certificate,
        model: Option<(&[f64], &[Block])>,
    ) {
        self.checks += 1;
        self.last = Some((error, pass));
        let Some((weights, blocks)) = model else { return };
        let (better, as_good) = match &self.best {
            None => (true, true),
            Some(best) => {
                let proof = certificate.gap < best.certificate.gap;
                (error < best.error, error == best.error && proof)
            }
        };
        self.since = if better { 0 } else { self.since + 1 };
        if better || as_good {
            let (weights, blocks) = (weights.to_vec(), blocks.to_vec());
            self.best = Some(Best { error, pass, certificate, weights, blocks });
        }
    }

    /// Whether `patience` checks in a row brought no improvement.
    pub(crate) fn is_out_of_patience(&self, patience: Option<u64>) -> bool {
        patience.is_some_and(|patience| self.since >= patience)
    }

    /// The validation of the result: of the best model if one was kept, otherwise of the last.
    pub(crate) fn validation(&self) -> Option<Validation> {
        let best = self.best.as_ref().map(|best| (best.error, best.pass));
        let (error, pass) = best.or(self.last)?;
        Some(Validation { error, pass, checks: self.checks })
    }

    pub(crate) fn into_best(self) -> Option<Best> {
        self.best
    }
}
