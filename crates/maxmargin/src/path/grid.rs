//! Trains at every λ of a grid: the baseline of a path.
//!
//! Cold trainings run side by side on as many threads as the settings say, and the result does not depend on their
//! number. A warm training begins where the one before has ended, so that warm trainings have to wait for each other;
//! each of them uses all threads for itself.

use super::breakpoints::{Breakpoint, Path};
use super::record::{Recorder, Trainings};
use super::settings::{GridSettings, GridStart};
use crate::certificate::check_problem;
use crate::dual::DualPoint;
use crate::dual::length_sq;
use crate::error::TrainError;
use crate::observe::Control;
use crate::problem::Blocks;
use crate::run::Beginning;
use crate::run::{Interrupt, Solution};

/// Trains at every λ of a grid, from the largest to the smallest, each to the gap ε.
///
/// Trainings that start [cold](GridStart::Cold) run side by side on as many threads as the settings say, unless the
/// clock limits or steers them. The seconds of a breakpoint are those of all trainings so far, also where they ran side
/// by side and shared the machine; whoever compares seconds uses one thread.
///
/// The result has the form of a [`Path`], so that the two can be compared, but it has weights for its own
/// λ only.
///
/// ```
/// # use maxmargin::doc::toy;
/// use maxmargin::{GridSettings, GridStart, lambda_grid};
///
/// let settings = GridSettings { start: GridStart::WarmPrimal, ..GridSettings::default() };
/// let grid = lambda_grid(&toy(), &settings)?;
/// assert_eq!(grid.breakpoints.len(), 31);
/// assert!(grid.largest_gap() <= grid.epsilon);
/// assert!(grid.weights_at(0.25).is_some() && grid.weights_at(0.3).is_none());
/// # Ok::<(), maxmargin::TrainError>(())
/// ```
///
/// # Errors
/// If the settings or the problem are invalid, or if a number is not finite.
pub fn lambda_grid(problem: &dyn Blocks, settings: &GridSettings) -> Result<Path, TrainError> {
    lambda_grid_with(problem, settings, &Interrupt::new(), |_, _, _| Control::Continue)
}

/// Like [`lambda_grid`], but calls `watch` with every λ, its weights and its dual point. If `watch`
/// stops, or an interrupt is raised, the grid ends there. A limit that ends one training does not end the
/// others.
///
/// ```
/// # use maxmargin::doc::toy;
/// use maxmargin::observe::Control;
/// use maxmargin::{GridSettings, Interrupt, lambda_grid_with};
///
/// let settings = GridSettings { lambda_max: 1.0, ..GridSettings::default() };
/// let mut lambdas = Vec::new();
/// lambda_grid_with(&toy(), &settings, &Interrupt::new(), |breakpoint, _, _| {
///     lambdas.push(breakpoint.certificate.lambda);
///     if lambdas.len() == 3 { Control::Stop } else { Control::Continue }
/// })?;
/// assert_eq!(lambdas, [1.0, 0.5, 0.25]);
/// # Ok::<(), maxmargin::TrainError>(())
/// ```
///
/// # Errors
/// The same as for [`lambda_grid`].
pub fn lambda_grid_with(
    problem: &dyn Blocks,
    settings: &GridSettings,
    interrupt: &Interrupt,
    watch: impl FnMut(&Breakpoint, &[f64], &DualPoint) -> Control,
) -> Result<Path, TrainError> {
    settings.check()?;
    check_problem(problem)?;
    let mut recorder = Recorder::new(settings.start.into(), settings.epsilon, problem.dim(), watch);
    let mut trainings = Trainings::new(problem, &settings.training, interrupt).remaking();
    let mut last: Option<Solution> = None;
    let lambdas = settings.lambdas();
    // The first training decides what `auto` does in the others.
    let is_cold = settings.start == GridStart::Cold;
    let (first, rest) =
        lambdas.split_at(if is_cold { 1.min(lambdas.len()) } else { lambdas.len() });
    for &lambda in first {
        let point = last.map(|Solution { dual, lambda: old, .. }| match settings.start {
            GridStart::Cold => DualPoint::at_truth(problem),
            GridStart::WarmPrimal => dual.rescaled(problem, lambda / old),
            GridStart::WarmDual => dual,
        });
        let beginning = Beginning { point, follows_own_run: true, ..Beginning::default() };
        let finished = trainings.at(lambda, settings.epsilon, beginning)?;
        let length = length_sq(problem, &finished.solution.weights);
        if recorder.add(&finished, length, 0.0) == Control::Stop || interrupt.is_raised() {
            return Ok(recorder.finish());
        }
        last = Some(finished.solution);
    }
    // Chunk by chunk, so that memory holds only as many solutions as there are threads.
    for lambdas in rest.chunks(trainings.side_by_side()) {
        for finished in trainings.at_all(lambdas, settings.epsilon) {
            let finished = finished?;
            let length = length_sq(problem, &finished.solution.weights);
            if recorder.add(&finished, length, 0.0) == Control::Stop || interrupt.is_raised() {
                return Ok(recorder.finish());
            }
        }
    }
    Ok(recorder.finish())
}
