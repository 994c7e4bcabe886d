//! Code that paths and grids share: trainings in sequence, and the record of them.

use super::breakpoints::{Breakpoint, Path, PathKind};
use super::settings::at;
use super::side_by_side::side_by_side;
use crate::dual::DualPoint;
use crate::error::TrainError;
use crate::observe::Control;
use crate::problem::Blocks;
use crate::run::Interrupt;
use crate::run::{Beginning, Finished};
use crate::settings::{Caching, Settings, SettingsRecord, Solver};
use crate::trainer::Trainer;

/// Trains one problem at one λ after another.
pub(super) struct Trainings<'a> {
    problem: &'a dyn Blocks,
    settings: Settings,
    interrupt: &'a Interrupt,
    /// Whether a problem that is made for one λ is made anew at every λ.
    remakes: bool,
}

impl<'a> Trainings<'a> {
    pub(super) fn new(
        problem: &'a dyn Blocks,
        settings: &Settings,
        interrupt: &'a Interrupt,
    ) -> Self {
        Self { problem, settings: settings.clone(), interrupt, remakes: false }
    }

    /// Makes problems that are [made for one λ](crate::problem::AtLambda) anew at every λ. The weights of one λ then say
    /// nothing about other λ, so this is for grids and not for paths.
    pub(super) fn remaking(self) -> Self {
        Self { remakes: true, ..self }
    }

    /// How many trainings that do not depend on each other may run side by side. Trainings that look at the clock
    /// would go otherwise if they shared the machine.
    pub(super) fn side_by_side(&self) -> usize {
        let looks_at_clock =
            self.settings.max_seconds.is_some() || self.settings.record().cache == Caching::Auto;
        match self.settings.checked() {
            Ok(checked) if !looks_at_clock => checked.thread_count(),
            _ => 1,
        }
    }

    /// Trains at all of `lambdas`, side by side, each from the truth.
    pub(super) fn at_all(
        &self,
        lambdas: &[f64],
        tolerance: f64,
    ) -> Vec<Result<Finished, TrainError>> {
        side_by_side(lambdas.len(), self.side_by_side(), |of, threads| {
            let settings = Settings { threads, ..at(&self.settings, lambdas[of], tolerance) };
            let point = Some(DualPoint::at_truth(self.problem));
            let beginning = Beginning { point, follows_own_run: true, ..Beginning::default() };
            self.run(settings, beginning)
        })
    }

    fn run(&self, settings: Settings, beginning: Beginning) -> Result<Finished, TrainError> {
        let lambda = settings.lambda.filter(|_| self.remakes);
        let own = lambda.and_then(|lambda| self.problem.at_lambda(lambda));
        let problem = own.as_deref().unwrap_or(self.problem);
        Trainer::new(settings).interrupt(self.interrupt.clone()).run(problem, beginning)
    }

    /// Trains at `lambda`. The first choice of `auto` is kept for all following λ.
    pub(super) fn at(
        &mut self,
        lambda: f64,
        tolerance: f64,
        beginning: Beginning,
    ) -> Result<Finished, TrainError> {
        let finished = self.run(at(&self.settings, lambda, tolerance), beginning)?;
        if let Some(choice) = &finished.solution.choice {
            let (order, direction, cache) = (choice.order, choice.direction, choice.cache);
            let solver = Solver::BlockCoordinate;
            let given = self.settings.record();
            self.settings =
                SettingsRecord { solver, order, direction, cache, ..given }.settings()?;
        }
        Ok(finished)
    }
}

/// Records breakpoints, and passes them to the watcher.
pub(super) struct Recorder<W> {
    path: Path,
    /// The weights of the last breakpoint.
    weights: Vec<f64>,
    watch: W,
}

impl<W: FnMut(&Breakpoint, &[f64], &DualPoint) -> Control> Recorder<W> {
    pub(super) fn new(kind: PathKind, epsilon: f64, dim: usize, watch: W) -> Self {
        let path = Path {
            kind,
            epsilon,
            dim,
            breakpoints: Vec::new(),
            lowest: 0.0,
            audit_calls: 0,
            audit_seconds: 0.0,
        };
        Self { path, weights: vec![0.0; dim], watch }
    }

    /// Adds a breakpoint whose weights have the squared length `norm_sq`, and which took `extra` seconds
    /// in addition to its training. Until [`down_to`](Self::down_to) is called, the path ends at this λ.
    pub(super) fn add(&mut self, finished: &Finished, norm_sq: f64, extra: f64) -> Control {
        let Finished { solution, known } = finished;
        let Self { path, weights, watch } = self;
        let before = path.breakpoints.last().map_or((0, 0.0), |b| (b.oracle_calls, b.seconds));
        let new = solution.weights.iter().zip(weights.iter()).enumerate();
        let changes =
            new.filter(|(_, (new, old))| new != old).map(|(at, (&new, _))| (at as u32, new));
        let certificate = solution.certificate;
        let breakpoint = Breakpoint {
            certificate,
            // ℓ − λ⟨v, w⟩, for D = ℓ + λ/2 ‖w‖² − λ⟨v, w⟩; without bounds v is w.
            growth: certificate.dual - 0.5 * certificate.lambda * norm_sq,
            estimated_gap: match path.kind {
                PathKind::Heuristic => known.block_gaps.iter().sum(),
                _ => certificate.gap,
            },
            oracle_calls: before.0 + known.calls,
            seconds: before.1 + known.seconds + extra,
            status: solution.status,
            changes: changes.collect(),
        };
        path.audit_calls += solution.totals.oracle_calls - known.calls;
        path.audit_seconds += solution.totals.seconds - known.seconds;
        path.lowest = certificate.lambda;
        let control = watch(&breakpoint, &solution.weights, &solution.dual);
        path.breakpoints.push(breakpoint);
        weights.copy_from_slice(&solution.weights);
        control
    }

    /// The breakpoint added last.
    pub(super) fn last(&self) -> Option<&Breakpoint> {
        self.path.breakpoints.last()
    }

    /// Extends the path down to `lowest`.
    pub(super) fn down_to(&mut self, lowest: f64) {
        self.path.lowest = lowest;
    }

    pub(super) fn finish(self) -> Path {
        self.path
    }
}
