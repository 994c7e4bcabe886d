//! Checks a dual point to start from, and takes over the blocks that are points of the problem.

use crate::certificate::{Infeasible, check_points};
use crate::dual::{DualPoint, Workers};
use crate::error::TrainError;
use crate::observe::WarmStart;
use crate::problem::Blocks;
use crate::util::rounding::ROUNDING;

/// Takes over the blocks of a point that are points of the problem. A block that is not shown to be
/// feasible starts at the truth.
///
/// # Errors
/// A point of the wrong size or form, or one without a single block to take over.
pub(crate) fn take_over(
    problem: &dyn Blocks,
    workers: &mut Workers<'_>,
    point: DualPoint,
) -> Result<(DualPoint, WarmStart), TrainError> {
    if point.blocks.len() != problem.examples() {
        let (found, expected) = (point.blocks.len(), problem.examples());
        return Err(TrainError::Size { what: "dual blocks", found, expected });
    }
    // Keep the blocks that are shown to be feasible, and put the others at the truth.
    let needed = problem.quality().needed_of_point();
    let verdicts = check_points(problem, workers, &point, ROUNDING);
    let truth = DualPoint::at_truth(problem);
    let (mut taken, mut refused, mut first_refusal) = (0, 0, None);
    let mut blocks = point.blocks;
    for (example, (block, verdict)) in blocks.iter_mut().zip(verdicts).enumerate() {
        let why = match verdict {
            Ok(shown) if shown <= needed => {
                taken += u64::from(*block != truth.blocks[example]);
                continue;
            }
            Ok(_) => "no outputs were found that make up its point".to_owned(),
            Err(Infeasible::Malformed(why)) => return Err(TrainError::Start { example, why }),
            Err(outside) => outside.to_string(),
        };
        block.clone_from(&truth.blocks[example]);
        refused += 1;
        first_refusal.get_or_insert((example, why));
    }
    match first_refusal {
        Some((example, why)) if taken == 0 => Err(TrainError::Start { example, why }),
        first_refusal => {
            let reason = first_refusal.map(|(example, why)| format!("in example {example}, {why}"));
            Ok((DualPoint { blocks }, WarmStart { taken, refused, reason }))
        }
    }
}
