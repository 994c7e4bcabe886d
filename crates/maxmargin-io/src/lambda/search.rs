//! The search for λ, the same for the command line and for Python.

use super::{LambdaError, Measure};
use crate::examples::Examples;
use crate::training::Training;
use maxmargin::{
    GroupBounds, HeldOutError, Interrupt, LambdaFold, LambdaScale, Rng, Settings, TriedLambda,
    choose_lambda,
};
use serde::{Deserialize, Serialize};

/// With fewer examples than this, every one of them is held out once, because a tenth of them is too few to choose
/// λ.
const FEW: usize = 2000;

/// The number of folds for few examples.
const FOLDS: usize = 3;

/// If there are many examples, one in this many is held out.
const ONE_IN: usize = 10;

/// How a λ was chosen by its errors on held-out data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LambdaSearch {
    /// The measure of the errors.
    pub measure: Measure,
    /// The number of parts of the examples, each of which was left out once. It is 1 if only one part was left out,
    /// and 0 if separate data were used to measure the errors.
    pub folds: usize,
    /// The scale of features and losses, and the λ at which the search began.
    pub scale: LambdaScale,
    /// The λ that were tried with their errors, from the largest down.
    pub curve: Vec<TriedLambda>,
    /// The oracle calls of all trainings together.
    pub oracle_calls: u64,
}

impl Training {
    /// Chooses λ by `measure` on `validation`, or on parts of the examples, one after the other. Returns λ and how
    /// it was chosen. Calls `watch` with every λ that is tried.
    ///
    /// # Errors
    /// If examples or bounds do not fit the specification, if there are fewer than two examples, or if the search
    /// is interrupted.
    pub fn choose_lambda(
        &self,
        bounds: &GroupBounds,
        validation: Option<&Examples>,
        measure: Measure,
        settings: &Settings,
        interrupt: &Interrupt,
        watch: impl FnMut(&TriedLambda),
    ) -> Result<(f64, LambdaSearch), LambdaError> {
        let scale = self.scale_lambda(bounds, settings.seed)?;
        let n = self.examples.len();
        let (parts, folds) = match validation {
            Some(own) => (vec![(self.examples.clone(), own.clone())], 0),
            None if n < 2 => return Err(LambdaError::TooFew),
            None => self.parts(settings.seed),
        };
        let (mut problems, mut spec) = (Vec::new(), self.spec.clone());
        for (train, rest) in parts {
            let around = scale.lambda * n as f64 / train.len().max(1) as f64;
            // A problem that is made for one λ is made again for every other λ that is tried.
            spec.fix_lambda(around);
            problems.push((spec.problem(train, bounds)?, around, rest));
        }
        let labels = &self.origin.labels;
        let mut errors: Vec<_> = problems
            .iter()
            .map(|(problem, _, rest)| {
                let role = problem.role();
                move |w: &[f64]| {
                    let (spec, w) = role.in_model(&self.spec, w);
                    let found = measure.error(&spec, &w, rest, labels, settings.threads);
                    found.unwrap_or(HeldOutError { error: f64::NAN, of: 0 })
                }
            })
            .collect();
        let mut all: Vec<LambdaFold<'_>> = problems
            .iter()
            .zip(&mut errors)
            .map(|((problem, around, _), error)| LambdaFold {
                problem: problem.blocks(),
                around: *around,
                error,
            })
            .collect();
        let found = choose_lambda(&mut all, scale.lambda, settings, interrupt, watch)?;
        if interrupt.is_raised() {
            return Err(LambdaError::Interrupted);
        }
        let (curve, oracle_calls) = (found.tried, found.oracle_calls);
        Ok((found.lambda, LambdaSearch { measure, folds, scale, curve, oracle_calls }))
    }

    /// Examples to train on, each with the rest to measure on, and the number of folds.
    fn parts(&self, seed: u64) -> (Vec<(Examples, Examples)>, usize) {
        let n = self.examples.len();
        let mut order: Vec<usize> = (0..n).collect();
        Rng::new(seed).shuffle(&mut order);
        let (folds, of) = if n < FEW { (FOLDS.min(n), FOLDS.min(n)) } else { (1, ONE_IN) };
        let part = |fold: usize| {
            let mut out = vec![false; n];
            order.iter().skip(fold).step_by(of).for_each(|&i| out[i] = true);
            (self.examples.select(|i| !out[i]), self.examples.select(|i| out[i]))
        };
        ((0..folds).map(part).collect(), folds)
    }
}
