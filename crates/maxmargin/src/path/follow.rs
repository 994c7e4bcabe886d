//! Follows the path from breakpoint to breakpoint.

use super::breakpoints::{Breakpoint, Path, PathKind};
use super::record::{Recorder, Trainings};
use super::settings::PathSettings;
use super::start::first;
use crate::certificate::check_problem;
use crate::dual::Workers;
use crate::dual::length_sq;
use crate::dual::{DualPoint, Shares};
use crate::error::TrainError;
use crate::observe::Control;
use crate::observe::Status;
use crate::problem::Blocks;
use crate::run::Interrupt;
use crate::run::{Beginning, Finished};
use std::time::Instant;

/// Follows the regularization path of a problem.
///
/// The path is that of one problem, whose features are the same at every λ. A problem that is [made for one
/// λ](crate::problem::AtLambda), as one of soft constraints, is taken as it is; a [grid](crate::lambda_grid) makes it
/// anew at every λ.
///
/// ```
/// # use maxmargin::doc::toy;
/// use maxmargin::{PathSettings, regularization_path};
///
/// let path = regularization_path(&toy(), &PathSettings::default())?;
/// for b in &path.breakpoints {
///     println!("λ {}: gap {}, {} oracle calls", b.certificate.lambda, b.certificate.gap, b.oracle_calls);
/// }
/// assert_eq!(path.lowest, 0.0); // the last solution is good enough for all smaller λ
/// # Ok::<(), maxmargin::TrainError>(())
/// ```
///
/// # Errors
/// If the settings or the problem are invalid, or if a number is not finite. The path needs Lᵢ(yᵢ) = 0,
/// which is checked if the problem hands out its [truth](crate::problem::Truths).
pub fn regularization_path(
    problem: &dyn Blocks,
    settings: &PathSettings,
) -> Result<Path, TrainError> {
    regularization_path_with(problem, settings, &Interrupt::new(), |_, _, _| Control::Continue)
}

/// Like [`regularization_path`], but calls `watch` with every breakpoint, its weights and its dual point.
/// If `watch` stops, or an interrupt is raised, the path ends there.
///
/// ```
/// # use maxmargin::doc::toy;
/// use maxmargin::observe::Control;
/// use maxmargin::{Interrupt, PathSettings, regularization_path_with};
///
/// let settings = PathSettings::default();
/// let path = regularization_path_with(&toy(), &settings, &Interrupt::new(), |breakpoint, _, _| {
///     if breakpoint.certificate.lambda < 1.0 { Control::Stop } else { Control::Continue }
/// })?;
/// assert!(path.breakpoints.iter().rev().skip(1).all(|b| b.certificate.lambda >= 1.0));
/// # Ok::<(), maxmargin::TrainError>(())
/// ```
///
/// # Errors
/// The same as for [`regularization_path`].
pub fn regularization_path_with(
    problem: &dyn Blocks,
    settings: &PathSettings,
    interrupt: &Interrupt,
    watch: impl FnMut(&Breakpoint, &[f64], &DualPoint) -> Control,
) -> Result<Path, TrainError> {
    settings.check()?;
    check_problem(problem)?;
    let kind = if settings.heuristic { PathKind::Heuristic } else { PathKind::Exact };
    let mut recorder = Recorder::new(kind, settings.epsilon, problem.dim(), watch);
    let mut trainings = Trainings::new(problem, &settings.training, interrupt);
    let threads = settings.training.checked()?.thread_count();
    let mut workers = settings.heuristic.then(|| Workers::new(problem, threads));

    let (mut here, mut extra) = (first(problem, settings)?, 0.0);
    loop {
        // Record the solution at this λ.
        let length = length_sq(problem, &here.solution.weights);
        let control = recorder.add(&here, length, extra);
        let ended = !matches!(here.solution.status, Status::Converged | Status::Estimated);
        if ended || control == Control::Stop || interrupt.is_raised() {
            break;
        }
        // Find the smallest λ down to which it is ε-good.
        let begin = Instant::now();
        let step = match &mut workers {
            None => Step::exact(settings.epsilon, recorder.last()),
            Some(workers) => Step::heuristic(settings.epsilon, problem, &mut here, workers),
        };
        let lambda = here.solution.lambda;
        match step {
            Step::Nowhere => break,
            Step::ToZero => {
                recorder.down_to(0.0);
                break;
            }
            Step::By(ratio) => {
                let smaller = ratio * lambda;
                recorder.down_to(smaller);
                if smaller < settings.lambda_min {
                    break;
                }
                // Train there, with the same weights at first.
                let beginning = Beginning {
                    point: Some(here.solution.dual.rescaled(problem, ratio)),
                    block_gaps: settings.heuristic.then_some(here.known.block_gaps),
                    trusting: settings.heuristic,
                    follows_own_run: true,
                    is_checked: false,
                    unproven: false,
                };
                extra = begin.elapsed().as_secs_f64();
                here = trainings.at(smaller, settings.tolerance(), beginning)?;
            }
        }
    }
    Ok(recorder.finish())
}

/// The next λ of a path after a breakpoint.
enum Step {
    /// λ is multiplied by this ρ < 1.
    By(f64),
    /// The solution is good for all smaller λ.
    ToZero,
    /// The gap leaves no room. Inexact decoding at the start can cause this.
    Nowhere,
}

impl Step {
    /// Chooses the step from the room between the gap and ε, and from the growth of the gap.
    fn new(room: f64, growth: f64) -> Self {
        match growth <= room {
            _ if room <= 0.0 => Self::Nowhere,
            true => Self::ToZero,
            false => Self::By(1.0 - room / growth),
        }
    }

    fn exact(epsilon: f64, breakpoint: Option<&Breakpoint>) -> Self {
        breakpoint.map_or(Self::Nowhere, |b| Self::new(epsilon - b.certificate.gap, b.growth))
    }

    /// Chooses the step from the known gaps of the blocks, and updates them: gᵢ ← gᵢ + (1 − ρ)δᵢ.
    /// Negative δᵢ count as 0, so block gaps never fall here and no block is forgotten.
    fn heuristic(
        epsilon: f64,
        problem: &dyn Blocks,
        here: &mut Finished,
        workers: &mut Workers<'_>,
    ) -> Self {
        let mut growths = block_growths(problem, &here.solution, workers);
        growths.iter_mut().for_each(|growth| *growth = growth.max(0.0));
        let gaps = &mut here.known.block_gaps;
        let step = Self::new(epsilon - gaps.iter().sum::<f64>(), growths.iter().sum());
        if let Self::By(ratio) = step {
            for (gap, growth) in gaps.iter_mut().zip(&growths) {
                *gap += (1.0 - ratio) * growth;
            }
        }
        step
    }
}

/// δᵢ = ℓᵢ − λ⟨w, wᵢ⟩ = cᵢ/C Hᵢ(μᵢ; w) of every block, without any oracle call.
fn block_growths(
    problem: &dyn Blocks,
    solution: &crate::run::Solution,
    workers: &mut Workers<'_>,
) -> Vec<f64> {
    let shares = Shares::new(problem);
    let mut growths = vec![0.0; solution.dual.blocks.len()];
    workers.for_each(&mut growths, |i, scratch, growth| {
        let block = &solution.dual.blocks[i];
        scratch.parts.clear();
        problem.truth_parts(i, &mut scratch.parts);
        block.parts.unpack(&mut scratch.point);
        scratch.step.parts.assign_difference(&scratch.point, &scratch.parts);
        scratch.parts.clear();
        problem.scatter(i, 1.0, &scratch.step.parts, (&mut scratch.parts).into());
        *growth = shares.of(i) * (block.loss + scratch.parts.dot_dense(&solution.weights));
    });
    growths
}
