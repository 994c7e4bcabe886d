//! The regularization path: weights that are ε-good for *every* λ, by finitely many solutions.
//!
//! As λ falls to ρλ with w kept (and the mass on other outputs than the truth scaled by ρ), the gap
//! grows by exactly (1 − ρ)Δ, where Δ = ℓ − λ‖w‖². So a solution with gap g at λ is ε-good down to
//! ρλ with ρ = 1 − (ε − g)/Δ, and there the next one is trained, warm. Where Δ ≤ ε − g, it is ε-good
//! for all smaller λ, and the path is at its end.

use crate::crew::Crew;
use crate::dual::{Block, DualPoint, DualState};
use crate::error::{TrainError, check_problem};
use crate::observe::Control;
use crate::problem::Problem;
use crate::settings::{Settings, SettingsError};
use crate::status::Status;
use crate::sums::norm_sq;
use crate::trainer::{Interrupt, Trainer};
use serde::{Deserialize, Serialize};

/// What a regularization path is to be.
///
/// ```
/// use maxmargin::PathSettings;
///
/// assert_eq!(PathSettings::default().epsilon, 0.1);
/// assert!(PathSettings { kappa: 1.5, ..PathSettings::default() }.check().is_err());
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PathSettings {
    /// The duality gap that is guaranteed at every λ. Default: 0.1.
    pub epsilon: f64,
    /// The share of ε to which each breakpoint is solved. A smaller one makes fewer but dearer
    /// breakpoints. Default: 0.9.
    pub kappa: f64,
    /// Where the path may end, if it is not ε-good for all smaller λ before. Default: 1e-5.
    pub lambda_min: f64,
    /// How each breakpoint is trained; λ and the tolerance are seen to.
    pub training: Settings,
}

impl Default for PathSettings {
    fn default() -> Self {
        Self { epsilon: 0.1, kappa: 0.9, lambda_min: 1e-5, training: Settings::default() }
    }
}

impl PathSettings {
    /// Judges every value.
    ///
    /// # Errors
    /// The first setting that is out of range.
    pub fn check(&self) -> Result<(), SettingsError> {
        let range = |name, value: f64, good: bool, expected| {
            if good { Ok(()) } else { Err(SettingsError::Range { name, value, expected }) }
        };
        let positive = |value: f64| value > 0.0 && value.is_finite();
        range("epsilon", self.epsilon, positive(self.epsilon), "a positive finite number")?;
        range("kappa", self.kappa, self.kappa > 0.0 && self.kappa < 1.0, "between 0 and 1")?;
        range(
            "lambda_min",
            self.lambda_min,
            positive(self.lambda_min),
            "a positive finite number",
        )?;
        self.at(1.0).check().map(|_| ())
    }

    fn at(&self, lambda: f64) -> Settings {
        let tolerance = self.kappa * self.epsilon;
        Settings { lambda: Some(lambda), tolerance, ..self.training.clone() }
    }
}

/// Where the path has a new solution.
#[derive(Debug, Clone, PartialEq)]
pub struct Breakpoint {
    /// The λ it was trained at.
    pub lambda: f64,
    /// Its exact gap there.
    pub gap: f64,
    /// Oracle calls of the whole path so far, decoding calls of the start included.
    pub oracle_calls: u64,
    /// Seconds of training so far.
    pub seconds: f64,
    /// Why its training ended; the guarantee holds only where all have converged.
    pub status: Status,
    /// The weights that are not as at the breakpoint before, with their new values.
    changes: Vec<(u32, f64)>,
}

/// A regularization path: ε-good weights for every λ from [`lowest`](Self::lowest) upwards.
///
/// ```
/// # use maxmargin::doc::toy;
/// use maxmargin::{PathSettings, regularization_path};
///
/// let path = regularization_path(&toy(), &PathSettings::default())?;
/// assert!(path.is_guaranteed());
/// let w = path.weights_at(0.05).unwrap();
/// // Its duality gap at λ = 0.05 is at most 0.1, as it is for every other λ.
/// # assert!(w.iter().all(|x| x.is_finite()));
/// # Ok::<(), maxmargin::TrainError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Path {
    /// The gap that is guaranteed.
    pub epsilon: f64,
    /// Breakpoints, λ descending.
    pub breakpoints: Vec<Breakpoint>,
    dim: usize,
    lowest: f64,
}

impl Path {
    /// The smallest λ it holds for; 0 if the last solution is ε-good for all smaller ones.
    pub fn lowest(&self) -> f64 {
        self.lowest
    }

    /// Whether every breakpoint has converged, so that the gap is at most ε everywhere.
    pub fn is_guaranteed(&self) -> bool {
        self.breakpoints.iter().all(|b| b.status == Status::Converged)
    }

    /// The index of the breakpoint whose weights serve `lambda`.
    pub fn piece(&self, lambda: f64) -> Option<usize> {
        if !(lambda >= self.lowest && lambda > 0.0 && lambda.is_finite()) {
            return None;
        }
        // Pieces are closed above; larger λ than the first share the first solution, scaled.
        let later = self.breakpoints.iter().skip(1).take_while(|b| b.lambda >= lambda);
        Some(later.count())
    }

    /// ε-good weights for `lambda`; none if that is not a positive number or below the path.
    pub fn weights_at(&self, lambda: f64) -> Option<Vec<f64>> {
        let piece = self.piece(lambda)?;
        let mut w = vec![0.0; self.dim];
        for breakpoint in &self.breakpoints[..=piece] {
            breakpoint.changes.iter().for_each(|&(at, value)| w[at as usize] = value);
        }
        let first = self.breakpoints[0].lambda;
        if lambda > first {
            w.iter_mut().for_each(|w| *w *= first / lambda);
        }
        Some(w)
    }
}

/// Follows the regularization path of a problem.
///
/// # Errors
/// Settings or a problem that make no sense, or numbers that are not finite.
pub fn regularization_path<P: Problem>(
    problem: &P,
    settings: &PathSettings,
) -> Result<Path, TrainError> {
    regularization_path_with(problem, settings, &Interrupt::new(), |_, _, _| Control::Continue)
}

/// As [`regularization_path`], telling `watch` of every breakpoint, its weights and its dual point.
/// An observer that stops, or an interrupt, ends the path at what it has come to.
///
/// # Errors
/// As [`regularization_path`].
pub fn regularization_path_with<P: Problem>(
    problem: &P,
    settings: &PathSettings,
    interrupt: &Interrupt,
    mut watch: impl FnMut(&Breakpoint, &[f64], &DualPoint) -> Control,
) -> Result<Path, TrainError> {
    settings.check()?;
    check_problem(problem)?;
    let start = Start::of(problem, settings)?;
    let (dim, epsilon) = (problem.dim(), settings.epsilon);
    let mut path = Path { epsilon, breakpoints: Vec::new(), dim, lowest: start.lambda };
    let mut old = vec![0.0; dim];
    let mut next = Some(start);
    while let Some(Start { lambda, weights, point, gap, calls, seconds, status }) = next.take() {
        let before = path.breakpoints.last().map_or((0, 0.0), |b| (b.oracle_calls, b.seconds));
        let changed = weights.iter().zip(&old).enumerate().filter(|(_, (new, old))| new != old);
        let changes = changed.map(|(at, (&new, _))| (at as u32, new)).collect();
        let breakpoint = Breakpoint {
            lambda,
            gap,
            oracle_calls: before.0 + calls,
            seconds: before.1 + seconds,
            status,
            changes,
        };
        let control = watch(&breakpoint, &weights, &point);
        path.breakpoints.push(breakpoint);

        let shares = crate::dual::Shares::new(problem);
        let loss: f64 = shares.iter().zip(&point.blocks).map(|(c, block)| c * block.loss).sum();
        let growth = loss - lambda * norm_sq(&weights);
        let room = epsilon - gap;
        if status != Status::Converged || control == Control::Stop || interrupt.is_raised() {
            path.lowest = lambda;
            break;
        }
        if growth <= room {
            path.lowest = 0.0;
            break;
        }
        let ratio = 1.0 - room / growth;
        let smaller = ratio * lambda;
        path.lowest = smaller;
        if smaller < settings.lambda_min {
            break;
        }
        old.copy_from_slice(&weights);
        next = Some(Start::trained(
            problem,
            settings,
            smaller,
            point.rescaled(problem, ratio),
            interrupt,
        )?);
    }
    Ok(path)
}

/// A solution at which the path goes on.
struct Start {
    lambda: f64,
    weights: Vec<f64>,
    point: DualPoint,
    gap: f64,
    calls: u64,
    seconds: f64,
    status: Status,
}

impl Start {
    /// The first one: all mass on the outputs of the largest loss is good enough for λ so large that
    /// the features hardly matter.
    fn of<P: Problem>(problem: &P, settings: &PathSettings) -> Result<Self, TrainError> {
        let begin = std::time::Instant::now();
        let n = problem.examples();
        let checked = settings.at(1.0).check()?;
        let mut crew = Crew::new(problem, checked.thread_count());
        let zero = vec![0.0; problem.dim()];
        let mut blocks = vec![Block::default(); n];
        crew.for_each(&mut blocks, |i, scratch, block| {
            scratch.find_corner(problem, i, &zero);
            scratch.describe_corner(problem, i);
            (block.loss, block.parts) = (scratch.corner.loss, scratch.corner.parts.clone());
        });
        let point = DualPoint { blocks };
        let mean = point.weights(problem, 1.0);
        // θᵢ: how far the best output is above the truth under these weights.
        let mut above = vec![0.0; n];
        crew.for_each(&mut above, |i, scratch, above: &mut f64| {
            problem.prepare(i, &mean, &mut scratch.workspace);
            problem.decode(i, &mean, &mut scratch.workspace, &mut scratch.corner.y);
            scratch.describe_corner(problem, i);
            scratch.parts.clear();
            problem.truth_parts(i, &mut scratch.parts);
            scratch.step.parts.assign_difference(&scratch.corner.parts, &scratch.parts);
            *above = problem.score(i, &mean, &scratch.workspace, &scratch.step.parts).max(0.0);
        });
        let shares = crate::dual::Shares::new(problem);
        let theta: f64 = shares.iter().zip(&above).map(|(share, above)| share * above).sum();
        let lambda = (norm_sq(&mean) + theta) / (settings.kappa * settings.epsilon);
        if !lambda.is_finite() {
            return Err(TrainError::Overflow);
        }
        // Features that tell nothing apart need no more regularization than the least.
        let lambda = lambda.max(settings.lambda_min);
        let mut state = DualState::new(problem, lambda, point, &mut crew);
        let mut readings = Vec::new();
        crate::certificate::exact_pass(
            problem,
            &mut crew,
            &state.shares,
            &state.blocks,
            &state.w,
            &mut readings,
        );
        let gap = crate::certificate::from_readings(
            problem.quality(),
            &state.shares,
            lambda,
            state.norm_sq,
            state.dual,
            &readings,
        )?
        .gap;
        state.rebuild(&mut crew);
        let (weights, point) = state.into_point();
        let (calls, seconds) = (3 * n as u64, begin.elapsed().as_secs_f64());
        Ok(Self { lambda, weights, point, gap, calls, seconds, status: Status::Converged })
    }

    /// The next one, trained from the one before.
    fn trained<P: Problem>(
        problem: &P,
        settings: &PathSettings,
        lambda: f64,
        point: DualPoint,
        interrupt: &Interrupt,
    ) -> Result<Self, TrainError> {
        let solution = Trainer::new(settings.at(lambda))
            .start_from(point)
            .interrupt(interrupt.clone())
            .train(problem)?;
        let (gap, status) = (solution.certificate.gap, solution.status);
        let (weights, point, totals) = (solution.weights, solution.dual, solution.totals);
        let (calls, seconds) = (totals.oracle_calls, totals.seconds);
        Ok(Self { lambda, weights, point, gap, calls, seconds, status })
    }
}
