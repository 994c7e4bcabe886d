//! How accurate the oracle of each visit has to be.
//!
//! An answer has to cover a share ν of the block's gap (Lacoste-Julien et al., 2013, App. C), or its additive error
//! has to stay within the schedule of their first version (2012, Section 6).

use super::aim::curvature_of;
use crate::dual::{DualState, Pace, Scratch};
use crate::problem::{Accuracy, Blocks};
use crate::run::Run;
use crate::run::fits::Fitting;
use crate::settings::{SettingsRecord, Step};

/// What the visits ask their oracles for.
#[derive(Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) enum Accuracies {
    /// The maximum.
    Exact,
    /// The share ν of the block's gap.
    Share(f64),
    /// The factor δ of the schedule, and the largest curvature 4cᵢ²‖ψᵢ(y)‖²/(λC²) that each block has seen. The
    /// oracle of a block that has seen none is asked for the maximum.
    Schedule { slack: f64, curvatures: Vec<f64> },
}

impl Accuracies {
    pub(super) fn new(settings: &SettingsRecord, n: usize) -> Self {
        match (settings.oracle_share, settings.oracle_slack) {
            (share, _) if share < 1.0 => Self::Share(share),
            (_, slack) if slack > 0.0 => Self::Schedule { slack, curvatures: vec![0.0; n] },
            _ => Self::Exact,
        }
    }

    pub(super) fn fits(&self, to: &Fitting<'_>) -> bool {
        match self {
            Self::Exact => true,
            Self::Share(share) => *share > 0.0 && *share < 1.0,
            Self::Schedule { slack, curvatures } => {
                *slack > 0.0
                    && slack.is_finite()
                    && to.are_of_blocks(curvatures)
                    && curvatures.iter().all(|curvature| *curvature >= 0.0)
            }
        }
    }

    /// Whether oracles may find less than the maximum without having failed.
    pub(super) fn allow_less(&self) -> bool {
        !matches!(self, Self::Exact)
    }

    /// Calls the oracle of block `i` in visit `k`, counted from 0; the corner is in the scratch.
    pub(super) fn call(&mut self, run: &mut Run<'_, '_>, i: usize, k: u64) {
        let problem = run.problem;
        let asked = match self {
            Self::Exact => return run.oracle(i),
            Self::Share(share) => {
                let (state, scratch) = run.state_and_scratch();
                Accuracy::Share { share: *share, above: value_of_point(problem, state, scratch, i) }
            }
            Self::Schedule { curvatures, .. } if curvatures[i] == 0.0 => Accuracy::Exact,
            Self::Schedule { slack, curvatures } => {
                let pace = Pace { rule: Step::Fixed, k, blocks: run.examples() };
                let gamma = pace.fixed().unwrap_or_default();
                let error = 0.5 * *slack * gamma * curvatures[i];
                Accuracy::Within(error / run.state.shares.of(i))
            }
        };
        run.oracle_within(i, asked);
        if let Self::Schedule { curvatures, .. } = self {
            let (state, scratch) = run.state_and_scratch();
            curvatures[i] = curvatures[i].max(curvature_of(problem, state, scratch, i));
        }
    }
}

/// The loss-augmented score Hᵢ(μᵢ; w) of the block's own point. The worker is prepared for it.
fn value_of_point(
    problem: &dyn Blocks,
    state: &DualState<'_>,
    scratch: &mut Scratch<'_>,
    i: usize,
) -> f64 {
    let Scratch { worker, step, parts, point, .. } = scratch;
    let block = &state.blocks[i];
    worker.prepare(i, &state.w);
    parts.clear();
    problem.truth_parts(i, parts);
    step.parts.assign_difference(block.parts.read(point), parts);
    block.loss + worker.score(i, &state.w, &step.parts)
}
