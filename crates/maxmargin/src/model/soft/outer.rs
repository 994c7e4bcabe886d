//! Loops around soft training that make the constraints hard.

use super::problem::{SoftError, SoftGraph};
use crate::run::Solution;
use crate::settings::Settings;
use crate::trainer::Trainer;

/// Trains with one ρ after the other. Each run starts at the result of the last one. With decreasing ρ,
/// the results approach those of the problem over the LP relaxation; most of the time is spent on the
/// first ρ.
///
/// ```
/// # use maxmargin::doc::soft_pictures;
/// use maxmargin::model::soft::anneal;
/// use maxmargin::Settings;
///
/// let soft = soft_pictures(0.05);
/// let settings = Settings { tolerance: 1e-3, ..Settings::default() };
/// let (soft, solution) = anneal(soft, &[1.0, 0.1, 0.01], &settings)?;
/// assert_eq!(soft.rho(), 0.01);
/// assert!(soft.hard_objective(&solution.weights) < solution.certificate.primal);
/// # Ok::<(), maxmargin::model::soft::SoftError>(())
/// ```
///
/// # Errors
/// If there is no ρ, if a ρ is not positive, or if training refuses the settings.
pub fn anneal(
    mut problem: SoftGraph,
    rhos: &[f64],
    settings: &Settings,
) -> Result<(SoftGraph, Solution), SoftError> {
    let settings = Settings { lambda: Some(problem.lambda()), ..settings.clone() };
    let mut last: Option<Solution> = None;
    for &rho in rhos {
        problem = problem.with_rho(rho)?;
        let mut trainer = Trainer::new(settings.clone());
        if let Some(before) = last {
            trainer = trainer.start_from(before.dual);
        }
        last = Some(trainer.train(&problem)?);
    }
    let solution = last.ok_or(SoftError::NotPositive { name: "the number of rhos", value: 0.0 })?;
    Ok((problem, solution))
}

/// The result of [`train_augmented`].
///
/// ```
/// # use maxmargin::doc::soft_pictures;
/// use maxmargin::model::soft::train_augmented;
///
/// let found = train_augmented(soft_pictures(0.05), &Default::default(), 5, 0.0)?;
/// assert_eq!(found.rounds, 5);
/// # Ok::<(), maxmargin::model::soft::SoftError>(())
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Augmented {
    /// The problem, with the multipliers of the last round.
    pub problem: SoftGraph,
    /// The solution of the last round.
    pub solution: Solution,
    /// The number of rounds.
    pub rounds: usize,
    /// The largest remaining disagreement.
    pub violation: f64,
}

/// Trains by the augmented Lagrangian: after each round of soft training, the messages are added to the
/// multipliers. In the limit variables and factors agree, at any ρ, and the solution is that of the
/// problem over the LP relaxation. Training ends after `most_rounds` rounds, or when variables and
/// factors agree within `close`.
///
/// ```
/// # use maxmargin::doc::soft_pictures;
/// use maxmargin::Settings;
/// use maxmargin::model::soft::train_augmented;
///
/// let settings = Settings { tolerance: 1e-7, max_passes: 100_000, ..Settings::default() };
/// let found = train_augmented(soft_pictures(0.05), &settings, 100, 1e-3)?;
/// assert!(found.violation <= 1e-3);
/// # Ok::<(), maxmargin::model::soft::SoftError>(())
/// ```
///
/// # Errors
/// If `most_rounds` is 0, or if training refuses the settings.
pub fn train_augmented(
    mut problem: SoftGraph,
    settings: &Settings,
    most_rounds: usize,
    close: f64,
) -> Result<Augmented, SoftError> {
    let settings = Settings { lambda: Some(problem.lambda()), ..settings.clone() };
    let mut start = None;
    for rounds in 1..=most_rounds {
        let mut trainer = Trainer::new(settings.clone());
        if let Some(point) = start.take() {
            trainer = trainer.start_from(point);
        }
        let solution = trainer.train(&problem)?;
        let (violation, _) = problem.violation(&solution.weights);
        if violation <= close || rounds == most_rounds {
            return Ok(Augmented { problem, solution, rounds, violation });
        }
        problem.absorb(&solution.weights);
        start = Some(problem.with_losses(&solution.dual));
    }
    Err(SoftError::NotPositive { name: "the number of rounds", value: 0.0 })
}
