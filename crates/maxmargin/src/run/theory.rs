//! Measures the constants of the rate theorems, for runs that are asked to.
//!
//! This takes oracle calls of its own. They do not count and do not change anything, so that a run goes the same way
//! with and without them.

use super::Run;
use crate::dual::Workers;
use crate::observe::Theory;
use crate::settings::{Average, Caching, Direction, Order, Solver};

/// What has been measured of every block so far: the largest ‖ψᵢ(y)‖² and the largest loss.
#[derive(Debug, Clone, Default)]
pub(super) struct Measured {
    lengths: Vec<f64>,
    losses: Vec<f64>,
}

impl Run<'_, '_> {
    /// Looks at the corners that oracles find at the current w, and the first time at those of w = 0 as well.
    pub(super) fn measure(&mut self) {
        if !self.settings.diagnose {
            return;
        }
        let Self { problem, state, workers, clock, measured, .. } = self;
        clock.exclude(|| {
            let seen = measured.get_or_insert_with(|| {
                let zeros = vec![0.0; problem.examples()];
                let mut first = Measured { lengths: zeros.clone(), losses: zeros };
                look(workers, *problem, &vec![0.0; problem.dim()], &mut first);
                first
            });
            look(workers, *problem, &state.w, seen);
        });
    }

    /// The constants as far as they are known.
    pub(super) fn theory(&self) -> Option<Theory> {
        let measured = self.measured.as_ref()?;
        let (shares, lambda) = (&self.state.shares, self.state.lambda);
        let largest = |values: &[f64]| values.iter().copied().fold(0.0, f64::max);
        let lengths = || shares.iter().zip(&measured.lengths);
        let diameter: f64 = lengths().map(|(share, length)| 2.0 * share * length.sqrt()).sum();
        let block_curvature =
            lengths().map(|(share, length)| 4.0 * share * share * length).sum::<f64>() / lambda;
        let start_gap = shares.iter().zip(&measured.losses).map(|(share, loss)| share * loss).sum();
        let n = self.examples() as f64;
        let forgotten_after = match block_curvature > 0.0 {
            true => (2.0 * n * f64::ln(start_gap / block_curvature)).max(0.0).ceil(),
            false => 0.0,
        };
        Some(Theory {
            radius: largest(&measured.lengths).sqrt(),
            largest_loss: largest(&measured.losses),
            curvature: diameter * diameter / lambda,
            block_curvature,
            start_gap,
            forgotten_after,
        })
    }

    /// A bound on the expectation of the best gap so far, if a theorem applies to the method.
    pub(super) fn gap_bound(&self) -> Option<f64> {
        let (s, theory) = (&self.settings, self.theory()?);
        let steps_forward = matches!(s.direction, Direction::FrankWolfe | Direction::Best);
        match s.solver {
            // As with a single block. A pass computes the gap before it moves.
            Solver::FrankWolfe => {
                let one = Theory { block_curvature: theory.curvature, ..theory };
                Some(one.gap_bound(1, self.totals.visits / self.examples() as u64))
            }
            Solver::BlockCoordinate
                if s.order == Order::Uniform
                    && steps_forward
                    && s.cache == Caching::Off
                    && !s.asks_for_less()
                    && s.average == Average::None
                    && s.batch_size() == 1 =>
            {
                Some(theory.gap_bound(self.examples(), self.totals.visits))
            }
            _ => None,
        }
    }
}

/// Notes the lengths of the corners that oracles find at `w`, and their losses.
fn look(
    workers: &mut Workers<'_>,
    problem: &dyn crate::problem::Blocks,
    w: &[f64],
    seen: &mut Measured,
) {
    let mut found = vec![(0.0, 0.0); seen.lengths.len()];
    workers.for_each(&mut found, |i, scratch, found: &mut (f64, f64)| {
        scratch.find_corner(i, w);
        scratch.describe_corner(i);
        scratch.parts.clear();
        problem.truth_parts(i, &mut scratch.parts);
        scratch.step.parts.assign_difference(&scratch.corner.parts, &scratch.parts);
        *found = (scratch.worker.norm_sq(i, &scratch.step.parts), scratch.corner.loss);
    });
    for (i, (length, loss)) in found.into_iter().enumerate() {
        seen.lengths[i] = seen.lengths[i].max(length);
        seen.losses[i] = seen.losses[i].max(loss);
    }
}
