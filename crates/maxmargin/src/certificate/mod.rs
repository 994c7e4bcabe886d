//! Primal, dual and gap of any solution: the proof that comes with a model.
//!
//! P(w) − D(α) bounds the suboptimality of any w, for any feasible α. `exact_pass` calls all oracles at one
//! w and computes the numbers. `audit` recomputes them from nothing but the problem, λ, the weights and the
//! dual point. `check_points` and `membership` show that a dual point is a mixture of outputs. What the
//! numbers prove depends on the oracle and on the point, so the certificate carries a quality: see
//! `docs/decisions/0006-certificates-state-their-quality.md`.

mod audit;
mod check_points;
mod check_problem;
mod exact_pass;
mod least_squares_cone;
mod membership;
mod readings;

pub use audit::{Audit, audit};
pub(crate) use check_points::{Infeasible, check_points, first_misfit, is_point};
pub(crate) use check_problem::check_problem;
pub(crate) use exact_pass::{
    Answer, ExactCorner, Kept, exact_pass, exact_pass_until, from_readings, from_some_readings,
    read_answers,
};
pub(crate) use readings::Readings;

use crate::error::TrainError;
use crate::problem::quality::Quality;
use crate::util::rounding::{LEAST_ROUNDING, ROUNDING};

/// How good a solution provably is: P(w) − P* ≤ gap, whatever the optimum P* may be.
///
/// The proof rests on exact oracles; with others, [`quality`](Self::quality) says what kind of
/// bound the gap is.
///
/// ```
/// # use maxmargin::doc::toy;
/// use maxmargin::{Settings, train};
///
/// let proof = train(&toy(), &Settings { tolerance: 1e-3, ..Settings::default() })?.certificate;
/// assert!(proof.gap <= 1e-3);
/// assert_eq!(proof.gap, proof.primal - proof.dual);
/// # Ok::<(), maxmargin::TrainError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct Certificate {
    /// The regularization strength λ it is for.
    pub lambda: f64,
    /// The primal objective P(w) = λ/2 ‖w‖² + Σᵢ cᵢ/C max_y Hᵢ(y; w).
    pub primal: f64,
    /// The dual objective D(α) = ℓ − λ/2 ‖Aα‖² (see [`Bounds`](crate::Bounds) where the weights have
    /// any), a lower bound on every primal value.
    pub dual: f64,
    /// primal − dual, which is never negative. A primal value that lies below the dual one by rounding is
    /// stated as the dual one; if it lies below it by more, the run ends with
    /// [`TrainError::Contradiction`]. (A heuristic may also overlook outputs and find a primal value below
    /// the bound of another dual point. The bound then is the better statement of both.)
    pub gap: f64,
    /// What the other numbers prove: what the oracle promises, as far as it has kept its promise and
    /// the dual point supports it. It is written to files only where it is not exact.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Quality::is_exact"))]
    pub quality: Quality,
    /// How much larger than `gap` the true gap can be, because oracles may have missed the maximum. It is known if the
    /// oracle is a heuristic that measures it (see [`OracleWithin`](crate::problem::OracleWithin)), and `None` with any
    /// other oracle. P(w) − P* ≤ gap + missed then holds as firmly as P(w) − P* ≤ gap with an exact oracle.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub missed: Option<f64>,
}

impl Certificate {
    /// What P(w) − P* is proven to be at most: the gap, and what oracles may have missed. Returns `None` if nothing is
    /// proven of the problem itself, as with a relaxation or with a heuristic that does not know what it missed.
    ///
    /// ```
    /// # use maxmargin::doc::toy;
    /// use maxmargin::{Settings, train};
    ///
    /// let proof = train(&toy(), &Settings::default())?.certificate;
    /// assert_eq!(proof.proven_gap(), Some(proof.gap)); // the oracle of chains is exact
    /// # Ok::<(), maxmargin::TrainError>(())
    /// ```
    pub fn proven_gap(&self) -> Option<f64> {
        match self.quality {
            Quality::Exact => Some(self.gap),
            Quality::Heuristic => Some(self.gap + self.missed?),
            _ => None,
        }
    }

    /// The same certificate with the dual value of another point, if that is larger.
    pub(crate) fn with_bound(self, bound: f64) -> Result<Self, TrainError> {
        let Self { mut primal, dual, .. } = self;
        let dual = dual.max(bound);
        let is_known = matches!(self.quality, Quality::Exact | Quality::UpperBound);
        if is_known && dual - primal > LEAST_ROUNDING + ROUNDING * (primal.abs() + dual.abs()) {
            return Err(TrainError::Contradiction { primal, dual });
        }
        // A heuristic may have missed the hinge; the true objective lies above the bound nevertheless.
        primal = primal.max(dual);
        Ok(Self { primal, dual, gap: primal - dual, ..self })
    }
}

#[cfg(test)]
mod tests;
