//! Trains at one λ after the other: the baseline of a path.

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
    let mut trainings = Trainings::new(problem, &settings.training, interrupt);
    let mut last: Option<Solution> = None;
    for lambda in settings.lambdas() {
        let point = last.map(|Solution { dual, lambda: old, .. }| match settings.start {
            GridStart::Cold => DualPoint::at_truth(problem),
            GridStart::WarmPrimal => dual.rescaled(problem, lambda / old),
            GridStart::WarmDual => dual,
        });
        let beginning = Beginning { point, follows_own_run: true, ..Beginning::default() };
        let finished = trainings.at(lambda, settings.epsilon, beginning)?;
        let length = length_sq(problem, &finished.solution.weights);
        if recorder.add(&finished, length, 0.0) == Control::Stop || interrupt.is_raised() {
            break;
        }
        last = Some(finished.solution);
    }
    Ok(recorder.finish())
}
