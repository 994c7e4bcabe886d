//! Mixtures of the points of a block.

use crate::dual::Block;
use crate::problem::SparseVec;

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
            block.parts.scale(rest);
            block.loss *= rest;
            for (share, point) in others {
                block.parts.add_scaled(share, &point.parts);
                block.loss += share * point.loss;
            }
            if rest == 0.0 {
                drop_zeros(&mut block.parts);
            }
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
