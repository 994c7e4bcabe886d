//! The examples and weights that a check uses.

use crate::problem::bounds::Bounds;
use crate::util::rng::Rng;

/// Weights, and their name in messages.
pub(super) struct Place {
    pub(super) name: &'static str,
    pub(super) weights: Vec<f64>,
}

impl Place {
    /// w = 0, or the weights nearest to it within the bounds.
    pub(super) fn origin(bounds: Option<&Bounds>, dim: usize) -> Self {
        let weights = within(bounds, 0.0, &vec![0.0; dim]);
        let is_zero = weights.iter().all(|w| *w == 0.0);
        let name = if is_zero { "at w = 0" } else { "at the weights nearest to 0" };
        Self { name, weights }
    }

    /// `factor` times a vector, and the negative of that.
    pub(super) fn pair(bounds: Option<&Bounds>, factor: f64, vector: &[f64]) -> [Self; 2] {
        let name = "at random weights";
        [factor, -factor].map(|factor| Self { name, weights: within(bounds, factor, vector) })
    }

    /// `factor` times a sum of feature differences ψ, which makes the truth score high.
    pub(super) fn near_truth(bounds: Option<&Bounds>, factor: f64, psi: &[f64]) -> Self {
        let name = "at weights that favour the truth";
        Self { name, weights: within(bounds, factor, psi) }
    }
}

/// Picks `some` of the indices below `all`, spread from the first to the last.
pub(super) fn spread(all: usize, some: usize) -> Vec<usize> {
    let some = some.min(all);
    match some {
        0 => Vec::new(),
        1 => vec![0],
        // The product may not fit into 64 bits.
        _ => (0..some as u128)
            .map(|k| (k * (all as u128 - 1) / (some as u128 - 1)) as usize)
            .collect(),
    }
}

/// Independent normal numbers (Box and Muller).
pub(super) fn normals(rng: &mut Rng, count: usize) -> Vec<f64> {
    let mut numbers = Vec::with_capacity(count + 1);
    while numbers.len() < count {
        // 1 − u is never 0.
        let length = (-2.0 * (1.0 - rng.unit_f64()).ln()).sqrt();
        let (sin, cos) = (std::f64::consts::TAU * rng.unit_f64()).sin_cos();
        numbers.extend([length * cos, length * sin]);
    }
    numbers.truncate(count);
    numbers
}

/// `factor` times `vector`, within the bounds.
fn within(bounds: Option<&Bounds>, factor: f64, vector: &[f64]) -> Vec<f64> {
    let mut weights: Vec<f64> = vector.iter().map(|x| factor * x).collect();
    if let Some(bounds) = bounds {
        bounds.clip_all(&mut weights);
    }
    weights
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn examples_are_spread_from_the_first_to_the_last() {
        assert_eq!(spread(3, 50), [0, 1, 2]);
        assert_eq!(spread(101, 3), [0, 50, 100]);
        assert_eq!(spread(7, 1), [0]);
        assert_eq!(spread(0, 3), [0; 0]);
    }

    #[test]
    fn normals_have_variance_one() {
        let numbers = normals(&mut Rng::new(1), 9999);
        let mean = numbers.iter().sum::<f64>() / 9999.0;
        let variance = numbers.iter().map(|x| x * x).sum::<f64>() / 9999.0;
        assert!(mean.abs() < 0.05 && (variance - 1.0).abs() < 0.05, "{mean} {variance}");
    }
}
