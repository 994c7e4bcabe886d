//! How far a block moves.

use super::{ProductError, ProductStep, Smooth};
use std::ops::Range;

/// A step rule with its state.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Stepper {
    rule: ProductStep,
    /// The estimated curvature of f along each block, per squared length. 0 means unknown.
    curvatures: Vec<f64>,
    /// x after a trial step.
    #[cfg_attr(feature = "serde", serde(skip))]
    trial: Vec<f64>,
}

/// A block, its direction, and the gap along it.
pub(super) struct Towards<'a> {
    pub(super) block: usize,
    pub(super) range: Range<usize>,
    pub(super) direction: &'a [f64],
    /// −⟨direction, ∇ᵢf⟩ > 0.
    pub(super) gap: f64,
}

/// The bound on the curvature shrinks by this factor before each visit.
const SHRINK: f64 = 0.9;
/// The bound grows by this factor if f lies above it.
const GROW: f64 = 2.0;
/// The largest number of trials in one visit. After that, only rounding errors are left.
const MOST_TRIALS: u32 = 60;

impl Stepper {
    /// Whether it is for the same blocks as another.
    pub(super) fn fits(&self, other: &Self) -> bool {
        self.curvatures.len() == other.curvatures.len()
    }

    pub(super) fn new(rule: ProductStep, blocks: usize) -> Self {
        let tries = rule == ProductStep::Backtracking;
        let curvatures = if tries { vec![0.0; blocks] } else { Vec::new() };
        Self { rule, curvatures, trial: Vec::new() }
    }

    /// Makes room for points of this size.
    pub(super) fn prepare(&mut self, dim: usize) {
        self.trial.resize(dim, 0.0);
    }

    /// The step along `way` at visit `k`, from 0 to 1.
    pub(super) fn size(
        &mut self,
        f: &impl Smooth,
        x: &[f64],
        way: &Towards<'_>,
        n: usize,
        k: u64,
    ) -> Result<f64, ProductError> {
        let block = way.block;
        match self.rule {
            ProductStep::Fixed => {
                let n = n as f64;
                Ok(2.0 * n / (k as f64 + 2.0 * n))
            }
            ProductStep::Exact => {
                let curvature = f
                    .curvature(x, way.range.clone(), way.direction)
                    .ok_or(ProductError::NoCurvature)?;
                if curvature.is_nan() || curvature < 0.0 {
                    return Err(ProductError::NotConvex { block, curvature });
                }
                Ok(best(way.gap, curvature))
            }
            ProductStep::Backtracking => self.backtrack(f, x, way),
        }
    }

    fn backtrack(
        &mut self,
        f: &impl Smooth,
        x: &[f64],
        way: &Towards<'_>,
    ) -> Result<f64, ProductError> {
        let (block, gap) = (way.block, way.gap);
        let length_sq: f64 = way.direction.iter().map(|d| d * d).sum();
        self.trial.copy_from_slice(x);
        let here = f.value(x);
        let bound = &mut self.curvatures[block];
        // The first bound allows a full step.
        *bound = if *bound > 0.0 { SHRINK * *bound } else { gap / length_sq };
        for _ in 0..MOST_TRIALS {
            let curvature = *bound * length_sq;
            let gamma = best(gap, curvature);
            for ((t, x), d) in self.trial[way.range.clone()]
                .iter_mut()
                .zip(&x[way.range.clone()])
                .zip(way.direction)
            {
                *t = x + gamma * d;
            }
            let there = f.value(&self.trial);
            // Outside its domain f may be infinite; a shorter step may stay inside.
            if there <= here - gamma * gap + 0.5 * gamma * gamma * curvature {
                return Ok(gamma);
            }
            *bound *= GROW;
        }
        match here.is_finite() {
            // The possible gain is smaller than rounding errors.
            true => Ok(0.0),
            false => Err(ProductError::NotFinite { what: "value", block }),
        }
    }
}

fn best(gap: f64, curvature: f64) -> f64 {
    if gap < curvature { gap / curvature } else { 1.0 }
}
