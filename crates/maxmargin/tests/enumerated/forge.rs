//! Dual points that are not what they seem.

use crate::instance::Instance;
use crate::recipe::Recipe;
use maxmargin::inference::Inference;
use maxmargin::model::potts::PottsInference;
use maxmargin::{Block, DualPoint, Rng, SparseVec};

/// Changes a dual point, in words that are returned. It may still be feasible.
pub(crate) fn forge(
    point: &mut DualPoint,
    recipe: &Recipe,
    built: &Instance,
    rng: &mut Rng,
) -> &'static str {
    let at = rng.below(point.blocks.len());
    let other = rng.below(point.blocks.len());
    let by = rng.unit_f64() - 0.5;
    let block = &mut point.blocks[at];
    match rng.below(9) {
        0 if !block.parts.is_empty() => {
            let change = rng.below(block.parts.len());
            let entries = block.parts.iter().enumerate();
            block.parts = entries
                .map(|(entry, (id, mass))| (id, if entry == change { mass + by } else { mass }))
                .collect();
            "a mass"
        }
        1 => {
            block.loss += by;
            "a loss"
        }
        2 => {
            *block = Block { loss: by.abs(), ..Block::default() };
            "a loss without parts"
        }
        3 => {
            point.blocks.swap(at, other);
            "swapped blocks"
        }
        4 => {
            block.parts.scale(1.0 + by);
            block.loss *= 1.0 + by;
            "a scaled block"
        }
        5 => {
            *point = point.rescaled(&*built.problem, by.abs());
            "less mass"
        }
        6 => {
            // Mass moves from one part to another, so that sums stay.
            let mut entries: Vec<_> = block.parts.iter().collect();
            if let [first, .., last] = entries.as_mut_slice() {
                first.1 -= by.abs();
                last.1 += by.abs();
            }
            block.parts = entries.into_iter().collect();
            "moved mass"
        }
        7 => {
            point.blocks.iter_mut().for_each(|block| block.loss *= 2.0);
            "doubled losses"
        }
        _ => {
            let relaxed = Recipe {
                inference: Inference::Lp,
                graph_inference: PottsInference::Lp,
                lp: crate::recipe::Lp::Simplex,
                ..recipe.clone()
            };
            let problem = match relaxed.build() {
                Ok(relaxed) => relaxed.problem,
                Err(_) => return "nothing",
            };
            let size = 10f64.powi(rng.below(4) as i32 - 1);
            let mut w: Vec<f64> =
                (0..problem.dim()).map(|_| size * (2.0 * rng.unit_f64() - 1.0)).collect();
            if let Some(bounds) = problem.bounds() {
                w.iter_mut().enumerate().for_each(|(at, w)| *w = bounds.clip(at, *w));
            }
            let (mut worker, mut parts) = (problem.worker(), SparseVec::new());
            worker.find_corner(at, &w);
            let loss = worker.describe(at, &mut parts);
            point.blocks[at] = Block { parts: parts.into(), loss };
            "a corner of the relaxation"
        }
    }
}
