//! Train, write, read, verify and predict never disagree: on random tiny problems of every kind, by every method.

use super::Task;
use super::draw::Draw;
use super::tasks::{KINDS, draw_bounds, draw_task, is_same_at_every_lambda};
use maxmargin::{
    Average, Caching, Certificate, Checkpoint, CheckpointEvery, Direction, Order, PathSettings,
    Quality, Settings, SettingsRecord, Solution, Solver, Status, Step, TrainError, Trainer,
    regularization_path,
};
use maxmargin_io::{Model, PathFile, ProblemError, Round, Training, TrainingPlan};

/// What an input has come to: the kind of model and the way it was trained, unless its parts do not go together.
pub(crate) type Came = Option<(&'static str, &'static str)>;

/// The ways to train.
pub(crate) const WAYS: [&str; 4] = ["cold", "warm start", "resume", "path"];

/// Rounding errors of objectives that were computed in different ways, relative to their size.
const ROUNDING: f64 = 1e-7;

/// Why nothing was trained.
enum Refusal {
    Problem,
    Training(TrainError),
}

impl From<ProblemError> for Refusal {
    fn from(_: ProblemError) -> Self {
        Self::Problem
    }
}

impl From<TrainError> for Refusal {
    fn from(error: TrainError) -> Self {
        Self::Training(error)
    }
}

impl Refusal {
    /// Errors that a problem or settings may well get. Any other is a failure.
    fn check(&self) {
        match self {
            Self::Problem => {}
            Self::Training(
                TrainError::Settings(_)
                | TrainError::Unsuited { .. }
                | TrainError::NoFeatures
                | TrainError::BoundsWithoutZero { .. },
            ) => {}
            Self::Training(error) => panic!("{error}"),
        }
    }
}

/// A problem, and how its models come to be.
struct Scene {
    task: Task,
    plan: TrainingPlan,
}

impl Scene {
    fn training(&self) -> Training {
        let (origin, spec, examples) = self.task.clone();
        Training { spec, examples, origin }
    }

    /// Trains in a way that `run` knows.
    fn train(
        &self,
        plan: &TrainingPlan,
        settings: &mut Settings,
        mut run: impl FnMut(&Settings, Round<'_>) -> Result<Solution, TrainError>,
    ) -> Option<Model> {
        let mut training = self.training();
        training.fix_lambda(settings);
        let settings = &*settings;
        let trained =
            training.train(plan, settings, |round| run(settings, round).map_err(Refusal::from));
        trained.map_err(|refusal| refusal.check()).ok()
    }

    fn train_plainly(&self, plan: &TrainingPlan, settings: &mut Settings) -> Option<Model> {
        self.train(plan, settings, |settings, round| {
            let trainer = Trainer::new(settings.clone());
            let trainer = match round.start {
                Some(start) => trainer.start_from(start),
                None => trainer,
            };
            trainer.train(round.problem)
        })
    }

    /// The model is the same after it was written and read, and the data confirm all that it states.
    fn hold_to_account(&self, model: &Model, draw: &mut Draw<'_>) {
        let (origin, _, examples) = &self.task;
        let again =
            Model::from_bytes(&model.to_bytes().expect("a model")).expect("what was written");
        assert_eq!(&again, model);
        let verdict = again.verify(examples.clone(), origin.fingerprint, "examples", 1);
        let verdict = verdict.expect("data that fit");
        assert!(verdict.findings.is_empty(), "{:?}", verdict.findings);
        let errors = |threads| again.meta.spec.errors(&again.weights, examples, threads).ok();
        let alone = format!("{:?}", errors(1));
        // Starting threads takes as long as all the rest.
        if draw.once_in(16) {
            assert_eq!(alone, format!("{:?}", errors(3)));
        }
    }
}

/// No lower bound of one run exceeds an upper bound of another.
fn bound_each_other(one: &Certificate, other: &Certificate) {
    let are_bounds = |c: &Certificate| matches!(c.quality, Quality::Exact | Quality::UpperBound);
    if one.lambda != other.lambda || one.quality != other.quality || !are_bounds(one) {
        return;
    }
    for (low, high) in [(one.dual, other.primal), (other.dual, one.primal)] {
        assert!(low <= high + ROUNDING * (1.0 + high.abs()), "{one:?} {other:?}");
    }
}

/// Random settings, most of which have a meaning.
fn draw_settings(draw: &mut Draw<'_>) -> SettingsRecord {
    let solver: Solver = match draw.once_in(2) {
        true => Solver::BlockCoordinate,
        false => draw.pick_name(Solver::NAMES),
    };
    let mut settings = SettingsRecord {
        solver,
        lambda: Some(0.001 * (1 + draw.below(256)) as f64),
        tolerance: draw.pick(&[0.0, 1e-8, 0.01, 0.1]),
        max_passes: 1 + draw.below(24) as u64,
        gap_every: draw.pick(&[1, 2, 10]),
        seed: draw.below(256) as u64,
        threads: if draw.once_in(24) { 2 } else { 1 },
        block_gaps: draw.once_in(4),
        diagnose: draw.once_in(16),
        ..SettingsRecord::default()
    };
    let averages = ["none", "none", "uniform", "weighted"];
    match solver {
        Solver::BlockCoordinate => {
            settings.order = draw.pick_name(Order::NAMES);
            settings.direction = draw.pick_name(Direction::NAMES);
            settings.cache = draw.pick(&[Caching::Off, Caching::On, Caching::Exhaust]);
            settings.average = draw.pick_name(&averages);
            settings.batch = draw.once_in(4).then(|| draw.below(5));
            settings.gap_steps = draw.once_in(6);
            settings.cache_corners = draw.pick(&[10, 10, 1, 0]);
            settings.gap_power = draw.pick(&[1.0, 1.0, 2.0]);
            if settings.direction == Direction::FrankWolfe {
                settings.step = draw.pick(&[Step::LineSearch, Step::Fixed, Step::Short]);
            }
            if draw.once_in(8) {
                settings.oracle_share = 0.5;
            }
        }
        Solver::Auto => settings.average = draw.pick_name(&averages),
        Solver::FrankWolfe => settings.step = draw.pick(&[Step::LineSearch, Step::Fixed]),
        Solver::Subgradient => settings.average = draw.pick_name(Average::NAMES),
        _ => {}
    }
    settings
}

/// Whether the clock has no say in a run.
fn repeats(settings: &SettingsRecord) -> bool {
    settings.solver != Solver::Auto && settings.cache != Caching::Auto
}

/// Tells in a failure what was trained.
struct Scenery<'a>(&'a str, &'a str, &'a SettingsRecord, &'a Scene);

impl Drop for Scenery<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let Self(kind, way, settings, Scene { task: (_, spec, _), plan }) = self;
            eprintln!("{kind}, {way}: {spec:?}\n{settings:?}\n{:?}", plan.bounds);
        }
    }
}

/// See [`super::agree`].
pub(super) fn agree(bytes: &[u8]) -> Came {
    let draw = &mut Draw::new(bytes);
    let (kind, way) = (draw.pick(&KINDS), draw.pick(&WAYS));
    let record = draw_settings(draw);
    let mut settings = record.settings().ok()?;
    let scene = Scene {
        task: draw_task(draw, kind),
        plan: TrainingPlan { bounds: draw_bounds(draw), ..TrainingPlan::default() },
    };
    let _scenery = Scenery(kind, way, &record, &scene);
    match way {
        "path" => follow_path(&scene, settings)?,
        "resume" => resume(&scene, &mut settings, repeats(&record), draw)?,
        "warm start" => warm_start(&scene, &mut settings, draw)?,
        _ => {
            let model = scene.train_plainly(&scene.plan, &mut settings)?;
            scene.hold_to_account(&model, draw);
            let mut others = draw_settings(draw).settings().ok()?;
            others.lambda = settings.lambda;
            if let Some(other) = scene.train_plainly(&scene.plan, &mut others) {
                bound_each_other(&model.meta.certificate, &other.meta.certificate);
            }
        }
    }
    Some((kind, way))
}

/// Starts from a model at the same λ or at another, perhaps of other data.
fn warm_start(scene: &Scene, settings: &mut Settings, draw: &mut Draw<'_>) -> Option<()> {
    let mut first = draw_settings(draw).settings().ok()?;
    if draw.once_in(2) {
        first.lambda = settings.lambda;
    }
    let from = scene.train_plainly(&scene.plan, &mut first)?;
    let start = Some((from.meta.certificate.lambda, from.dual.clone()?));
    let plan = TrainingPlan { start, ..scene.plan.clone() };
    let model = scene.train_plainly(&plan, settings)?;
    scene.hold_to_account(&model, draw);
    bound_each_other(&model.meta.certificate, &from.meta.certificate);
    Some(())
}

/// Goes on from a checkpoint, to the same result as without it.
fn resume(
    scene: &Scene,
    settings: &mut Settings,
    repeats: bool,
    draw: &mut Draw<'_>,
) -> Option<()> {
    let every = CheckpointEvery::Passes(1 + draw.below(4) as u64);
    let mut kept: Vec<Vec<u8>> = Vec::new();
    let whole = scene.train(&scene.plan, settings, |settings, round| {
        let mut keep = |checkpoint: &Checkpoint<'_>| {
            kept.push(checkpoint.to_bytes(""));
            Ok(())
        };
        Trainer::new(settings.clone()).checkpoint(every, &mut keep).train(round.problem)
    })?;
    let bytes = kept.swap_remove(draw.below(kept.len().min(256)));
    let resumed = scene.train(&scene.plan, settings, |settings, round| {
        let checkpoint = Checkpoint::from_bytes(&bytes).expect("a checkpoint");
        Trainer::new(settings.clone()).resume(checkpoint).train(round.problem)
    });
    let resumed = resumed.expect("the same problem goes on");
    scene.hold_to_account(&resumed, draw);
    bound_each_other(&whole.meta.certificate, &resumed.meta.certificate);
    if repeats {
        let bits = |model: &Model| model.weights.iter().map(|w| w.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(&whole), bits(&resumed));
        assert_eq!(whole.dual, resumed.dual);
    }
    Some(())
}

/// Follows a path to its end. Its models are as good as it says, which other trainings confirm.
fn follow_path(scene: &Scene, mut settings: Settings) -> Option<()> {
    let (origin, spec, examples) = scene.task.clone();
    if !is_same_at_every_lambda(&spec) {
        return None;
    }
    settings.max_passes = 1000;
    settings.tolerance = 1e-3;
    let problem = spec.problem(examples.clone(), &scene.plan.bounds).ok()?;
    let path = PathSettings {
        epsilon: 0.3,
        lambda_min: 0.05,
        training: settings.clone(),
        ..PathSettings::default()
    };
    let path = match regularization_path(problem.blocks(), &path) {
        Ok(path) => path,
        Err(error) => {
            Refusal::Training(error).check();
            return None;
        }
    };
    let is_kernel = spec.kernel().is_some();
    if is_kernel {
        // A path keeps no support, so that there is no file.
        return Some(());
    }
    let is_exact = problem.blocks().quality().is_exact();
    let (n, is_guaranteed) = (examples.len(), path.is_guaranteed());
    let mut file = PathFile::new(origin, spec, n, settings.clone(), path);
    file.meta.bounds = scene.plan.bounds.clone();
    let bytes = file.to_bytes().expect("a path");
    let file = PathFile::from_bytes(&bytes).expect("what was written");
    assert_eq!(bytes, file.to_bytes().expect("a path"));
    let lambda = settings.lambda.filter(|lambda| *lambda >= file.path.lowest)?;
    let model = file.model_at(lambda)?;
    let claimed = model.meta.certificate;
    assert!(model.contradictions().is_empty(), "{:?}", model.contradictions());
    if is_exact {
        let found = model.objective(examples, 1).expect("data that fit");
        let size = ROUNDING * (1.0 + found.abs());
        // Above the first breakpoint the primal is an upper bound.
        let first = file.path.breakpoints.first()?.certificate.lambda;
        let is_known = lambda <= first;
        let beyond = found - claimed.primal;
        assert!(beyond <= size && (beyond >= -size || !is_known), "{claimed:?}, but {found}");
        let optimum = scene.train_plainly(&scene.plan, &mut settings)?.meta.certificate;
        assert!(optimum.dual <= found + size, "{optimum:?}, but {found}");
        let is_promised = is_guaranteed && model.meta.status == Status::Converged;
        let beyond = found - optimum.primal - claimed.gap;
        assert!(!is_promised || beyond <= size, "{claimed:?} and {optimum:?}, but {found}");
    }
    Some(())
}
