//! What the blocks of a dual point are shown to be: feasible, feasible for the relaxation, or unproven.

use crate::certificate::membership::{Membership, find_outputs};
use crate::dual::Workers;
use crate::dual::{Block, DualPoint};
use crate::problem::Blocks;
use crate::problem::quality::PointCheck;
use crate::problem::sparse::SparseVec;
use crate::util::rounding::ROUNDING;
use thiserror::Error;

/// The search for outputs compares sums over features, whose rounding errors are larger than those of
/// single masses.
const SLACK_OF_SUMS: f64 = 10.0;

/// About how many blocks of a checkpoint are searched for outputs.
const SEARCHED: usize = 16;

/// Why a block is not a point of a problem.
#[derive(Debug, Clone, PartialEq, Error)]
pub(crate) enum Infeasible {
    /// It does not have the form of a point: its parts are wrong, or its loss does not fit them.
    #[error("{0}")]
    Malformed(String),
    /// It has the right form, but no outputs make it up.
    #[error("no convex combination of {what} is nearer to it than {by:.1e}")]
    Outside {
        /// What the oracle returns.
        what: &'static str,
        /// The relative distance.
        by: f64,
    },
}

/// Checks every block of a point with as many blocks as the problem has examples. If a check shows less
/// than the quality of the oracle needs, searches for outputs that make up the block.
pub(crate) fn check_points(
    problem: &dyn Blocks,
    workers: &mut Workers<'_>,
    point: &DualPoint,
    slack: f64,
) -> Vec<Result<PointCheck, Infeasible>> {
    check_blocks(problem, workers, &point.blocks, slack, 1)
}

/// As [`check_points`], but searches for the outputs of one block in `every` only.
fn check_blocks(
    problem: &dyn Blocks,
    workers: &mut Workers<'_>,
    blocks: &[Block],
    slack: f64,
    every: usize,
) -> Vec<Result<PointCheck, Infeasible>> {
    let needed = problem.quality().needed_of_point();
    let mut verdicts = vec![Ok(PointCheck::Unproven); blocks.len()];
    workers.for_each(&mut verdicts, |i, scratch, verdict| {
        let block = &blocks[i];
        *verdict = check_block(problem, i, block, slack).map_err(Infeasible::Malformed);
        if i % every != 0 || !matches!(verdict, Ok(shown) if *shown > needed) {
            return;
        }
        let slack = SLACK_OF_SUMS * slack.max(ROUNDING);
        match find_outputs(problem, i, block, slack, scratch) {
            Membership::Inside => *verdict = Ok(needed),
            Membership::Outside(by) => {
                *verdict = Err(Infeasible::Outside { what: noun(needed), by });
            }
            Membership::Unknown => {}
        }
    });
    verdicts
}

fn noun(needed: PointCheck) -> &'static str {
    if needed == PointCheck::Feasible { "outputs" } else { "corners of the relaxation" }
}

fn check_block(
    problem: &dyn Blocks,
    i: usize,
    block: &Block,
    slack: f64,
) -> Result<PointCheck, String> {
    if !block.loss.is_finite() || !block.parts.is_finite() {
        return Err("a number is not finite".to_owned());
    }
    if !block.parts.is_normalised() {
        return Err("its parts are not sorted".to_owned());
    }
    let parts = block.parts.unpacked();
    let shown = problem.check_point(i, &parts, block.loss, slack)?;
    // A check that shows nothing may not have looked at the parts.
    let mut terms = SparseVec::new();
    problem.scatter(i, 1.0, &parts, (&mut terms).into());
    let dim = problem.dim() as u64;
    match terms.entries().iter().any(|&(feature, _)| feature >= dim) {
        true => Err("it has features that do not exist".to_owned()),
        false => Ok(shown),
    }
}

/// Whether a block has the form of a point of the problem, as far as a check without a search for outputs can say.
pub(crate) fn is_point(problem: &dyn Blocks, i: usize, block: &Block) -> bool {
    check_block(problem, i, block, ROUNDING).is_ok()
}

/// The first block that is not a point of the problem, and why. Only a few blocks are searched for
/// outputs: a resumed run has made its points itself, unless the problem has changed.
pub(crate) fn first_misfit(
    problem: &dyn Blocks,
    workers: &mut Workers<'_>,
    blocks: &[Block],
) -> Option<(usize, String)> {
    let every = blocks.len().div_ceil(SEARCHED).max(1);
    let verdicts = check_blocks(problem, workers, blocks, ROUNDING, every);
    let mut misfits = verdicts.into_iter().enumerate();
    misfits.find_map(|(example, verdict)| Some((example, verdict.err()?.to_string())))
}
