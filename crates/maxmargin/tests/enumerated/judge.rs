//! Holds what a run claims against the truth.

use crate::truth::Truth;
use maxmargin::{Audit, Blocks, Certificate, DualPoint, Quality, Solution, Status, audit};
use std::cell::OnceCell;

/// Of sums of a few numbers.
const EXACT: f64 = 1e-8;
/// Of an interior point method.
const NEAR: f64 = 1e-7;
/// Of an interior point method for linear programs.
const LINEAR: f64 = 1e-6;

/// The truth at one λ.
pub(crate) struct Judge<'a> {
    truth: &'a Truth,
    lambda: f64,
    optimum: OnceCell<f64>,
    relaxed_optimum: OnceCell<Option<f64>>,
}

pub(crate) type Verdict = Result<(), String>;

fn hold(is_so: bool, what: impl FnOnce() -> String) -> Verdict {
    if is_so { Ok(()) } else { Err(what()) }
}

impl<'a> Judge<'a> {
    pub(crate) fn new(truth: &'a Truth, lambda: f64) -> Self {
        let (optimum, relaxed_optimum) = (OnceCell::new(), OnceCell::new());
        Self { truth, lambda, optimum, relaxed_optimum }
    }

    /// An upper bound of the optimum.
    pub(crate) fn optimum(&self) -> f64 {
        *self.optimum.get_or_init(|| self.truth.optimum(self.lambda))
    }

    fn relaxed_optimum(&self) -> Option<f64> {
        *self.relaxed_optimum.get_or_init(|| self.truth.relaxed_optimum(self.lambda))
    }

    /// What no dual value may exceed that comes with this quality.
    fn ceiling(&self, quality: Quality) -> Option<f64> {
        match quality {
            Quality::Exact | Quality::Heuristic => Some(self.optimum()),
            Quality::UpperBound => self.relaxed_optimum(),
            Quality::Unfinished | Quality::Unproven => None,
        }
    }

    /// Holds a certificate of some weights against the truth.
    pub(crate) fn certificate(&self, c: &Certificate, weights: &[f64]) -> Verdict {
        let w = self.truth.explicit(weights);
        let (primal, scale) =
            (self.truth.primal(self.lambda, &w), self.truth.scale(self.lambda, &w));
        let slack = EXACT * scale;
        hold(c.lambda == self.lambda, || format!("{c:?} is for another λ than {}", self.lambda))?;
        hold(c.gap >= 0.0 && c.gap == c.primal - c.dual, || format!("{c:?} has a wrong gap"))?;
        let off = c.primal - primal;
        let told = || format!("{c:?}, but P(w) is {primal} (scale {scale})");
        match c.quality {
            Quality::Exact => hold(off.abs() <= slack, told)?,
            Quality::UpperBound => {
                hold(off >= -slack, told)?;
                if let Some(relaxed) = self.truth.relaxed_primal(self.lambda, &w) {
                    hold((c.primal - relaxed).abs() <= LINEAR * scale, || {
                        format!("{c:?}, but the relaxed P(w) is {relaxed} (scale {scale})")
                    })?;
                }
            }
            Quality::Heuristic => {
                hold(off <= slack, told)?;
                if let Some(missed) = c.missed {
                    hold(missed >= 0.0 && off + missed >= -slack, told)?;
                }
            }
            Quality::Unfinished | Quality::Unproven => {}
        }
        self.dual(c.dual, c.quality, scale).map_err(|why| format!("{c:?}: {why}"))?;
        if let Some(proven) = c.proven_gap() {
            // The optimum is known from above alone, so that it may lie lower than this by its imprecision.
            let slack = slack + NEAR * scale.min(1.0 + self.optimum().abs());
            hold(primal - self.optimum() <= proven + slack, || {
                format!(
                    "{c:?} proves {proven}, but P(w) is {primal} and the optimum {}",
                    self.optimum()
                )
            })?;
        }
        // No optimum lies above any primal value, however precise the interior point method is.
        if matches!(c.quality, Quality::Exact | Quality::Heuristic) {
            hold(c.dual <= primal + slack, told)?;
        }
        self.bounds(weights)
    }

    /// Whether the interior point method has found a worse point than these weights.
    pub(crate) fn is_imprecise(&self, weights: &[f64]) -> bool {
        let w = self.truth.explicit(weights);
        self.optimum() > self.truth.primal(self.lambda, &w) + NEAR * (1.0 + self.optimum().abs())
    }

    /// Holds a dual value against the optimum.
    pub(crate) fn dual(&self, dual: f64, quality: Quality, scale: f64) -> Verdict {
        let Some(ceiling) = self.ceiling(quality) else { return Ok(()) };
        let slack = NEAR * scale.min(1.0 + ceiling.abs());
        hold(dual <= ceiling + slack, || {
            format!("the dual value {dual} lies above the optimum {ceiling} ({quality})")
        })
    }

    fn bounds(&self, weights: &[f64]) -> Verdict {
        let Some(bounds) = &self.truth.bounds else { return Ok(()) };
        let outside = |(at, &w): (usize, &f64)| bounds.clip(at, w) != w;
        match weights.iter().enumerate().find(|&pair| outside(pair)) {
            Some((at, w)) => Err(format!("weight {at} is {w}, outside its bounds")),
            None => Ok(()),
        }
    }

    /// Holds a solution against the truth, and against an audit of its own. Returns that.
    pub(crate) fn solution(
        &self,
        problem: &dyn Blocks,
        solution: &Solution,
        tolerance: f64,
    ) -> Result<Audit, String> {
        let c = &solution.certificate;
        self.certificate(c, &solution.weights)?;
        if solution.status == Status::Converged {
            hold(c.gap <= tolerance, || format!("{c:?} has not converged to {tolerance}"))?;
        }
        let found = self.audit(problem, &solution.weights, &solution.dual)?;
        let a = &found.certificate;
        // What a heuristic overlooks may be known from the dual point. An oracle that has turned out to be one has not
        // been asked again since then.
        let is_same = c.quality == problem.quality() && c.quality != Quality::Unproven;
        if is_same || matches!(c.quality, Quality::Exact | Quality::UpperBound) {
            let w = self.truth.explicit(&solution.weights);
            let slack = EXACT * self.truth.scale(self.lambda, &w);
            let agree = (a.primal - c.primal).abs() <= slack && (a.dual - c.dual).abs() <= slack;
            hold(agree, || format!("the run says {c:?}, the audit says {found:?}"))?;
        }
        Ok(found)
    }

    /// An audit that has been held against the truth itself.
    pub(crate) fn audit(
        &self,
        problem: &dyn Blocks,
        weights: &[f64],
        dual: &DualPoint,
    ) -> Result<Audit, String> {
        let found = audit(problem, self.lambda, weights, dual, 1e-9, 1)
            .map_err(|error| format!("the audit fails: {error}"))?;
        self.certificate(&found.certificate, weights).map_err(|why| format!("audit: {why}"))?;
        Ok(found)
    }
}
