//! Mixtures of the points of a block.

use crate::dual::Block;
use crate::problem::SparseVec;

/// Whether these can be the shares of at most `points` points in a mixture, of which the present point keeps the rest.
pub(super) fn is_mixture(shares: &[f64], points: usize) -> bool {
    let whole: f64 = shares.iter().sum();
    shares.len() <= points && shares.iter().all(|share| *share >= 0.0) && whole <= 1.0 + 1e-9
}

/// A mixture, seen as a mixture of its first point and of the rest.
pub(super) struct Rest {
    /// The share of the first point.
    pub(super) newest: f64,
    /// The shares that the other points have of the rest; the present point has what is left of it.
    pub(super) others: Vec<f64>,
}

/// A rest with less mass than this is rounding.
const LEAST_REST: f64 = 1e-12;

impl Rest {
    /// The rest is a point of its own, which blocks remember. So its shares are exact, however little mass it has: they
    /// must not be differences of numbers close to 1.
    pub(super) fn of(shares: &[f64]) -> Self {
        let [newest, others @ ..] = shares else { return Self { newest: 0.0, others: Vec::new() } };
        let whole: f64 = shares.iter().sum();
        let rest = (1.0 - whole).max(0.0) + others.iter().sum::<f64>();
        if rest < LEAST_REST {
            return Self { newest: 1.0, others: Vec::new() };
        }
        let others = others.iter().map(|share| share / rest).collect();
        Self { newest: newest / (newest + rest), others }
    }
}

/// Mixes the points of block `i` into its present point, which keeps the rest of the mass.
pub(super) fn mix(block: &mut Block, points: &[(f64, &Vec<Block>)], i: usize) {
    // A block that has not moved keeps its very bits.
    let others = || points.iter().map(|(share, blocks)| (*share, &blocks[i]));
    let others: Vec<(f64, &Block)> = others().filter(|(_, point)| *point != block).collect();
    let moved: f64 = others.iter().map(|(share, _)| share).sum();
    match others[..] {
        [] => {}
        [(1.0, point)] => block.clone_from(point),
        _ => {
            let rest = (1.0 - moved).max(0.0);
            let mut parts = block.parts.unpacked();
            parts.scale(rest);
            block.loss *= rest;
            for (share, point) in others {
                parts.add_scaled(share, &point.parts.unpacked());
                block.loss += share * point.loss;
            }
            if rest == 0.0 {
                drop_zeros(&mut parts);
            }
            block.parts.assign(&parts);
        }
    }
}

/// Forgets parts without mass.
fn drop_zeros(parts: &mut SparseVec) {
    let mut left = SparseVec::with_capacity(parts.len());
    let with_mass = parts.entries().iter().filter(|(_, mass)| *mass != 0.0);
    with_mass.for_each(|&(part, mass)| left.push(part, mass));
    left.normalise();
    *parts = left;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rest_of_a_mixture_is_a_point_however_small_it_is() {
        let Rest { newest, others } = Rest::of(&[0.5, 0.25, 0.0]);
        assert_eq!((newest, others), (0.5, vec![0.5, 0.0]));
        let tiny = 1e-11;
        let Rest { newest, others } = Rest::of(&[1.0 - tiny, tiny]);
        assert!((newest - 1.0).abs() < 2.0 * tiny && others[0] <= 1.0 && others[0] > 0.99);
        assert_eq!(Rest::of(&[1.0, 1e-14]).newest, 1.0);
        assert_eq!(Rest::of(&[]).newest, 0.0);
        assert_eq!(Rest::of(&[0.0, 0.5]).others, [0.5]);
    }
}
