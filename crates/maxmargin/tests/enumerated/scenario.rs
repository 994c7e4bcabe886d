//! One case: a random problem, random settings, and a random way to train.

use crate::forge::forge;
use crate::instance::Instance;
use crate::judge::{Judge, Verdict};
use crate::options::{draw_accuracy, draw_settings};
use crate::paths::{follow_grid, follow_path};
use crate::recipe::{Lp, Recipe, log_uniform, pick};
use crate::tally::Tally;
use maxmargin::observe::{Control, Event, Observer, Record, WarmStart};
use maxmargin::{
    Checkpoint, CheckpointEvery, DualPoint, Quality, Rng, Settings, Solution, Solver, Step,
    TrainError, Trainer,
};

pub(crate) const WAYS: [&str; 6] = ["cold", "warm start", "resume", "patience", "path", "grid"];

/// Everything about a case, in words.
#[derive(Default)]
pub(crate) struct Notes(pub(crate) Vec<String>);

impl Notes {
    pub(crate) fn say(&mut self, what: impl FnOnce() -> String) {
        self.0.push(what());
    }
}

/// Draws a case from a seed, trains, and holds the result against the truth.
pub(crate) fn case(seed: u64, tally: &mut Tally, notes: &mut Notes) -> Verdict {
    let mut rng = Rng::new(seed);
    let lambda = log_uniform(&mut rng, -4.0, 2.0);
    let (recipe, instance) = settle(Recipe::draw(&mut rng, lambda), &mut rng, tally);
    let way = pick(
        &mut rng,
        &["cold", "cold", "cold", "warm start", "warm start", "warm start", "resume", "resume"],
    );
    let way =
        if rng.below(5) == 0 { pick(&mut rng, &["patience", "path", "path", "grid"]) } else { way };
    let mut settings = draw_settings(&mut rng, lambda);
    let has_to_start = way == "warm start" || way == "path";
    while has_to_start && !settings.solver.starts_anywhere() && rng.below(20) > 0 {
        settings = draw_settings(&mut rng, lambda);
    }
    if recipe.takes_accuracy() && settings.solver == Solver::BlockCoordinate {
        draw_accuracy(&mut settings);
    }
    notes.say(|| format!("{way}, {settings:?}"));
    notes.say(|| format!("{recipe:?}"));
    tally.count("kinds", recipe.data.kind());
    tally.count("wrappers", recipe.wrapper());
    tally.count("decoders", format!("{}: {}", recipe.data.kind(), recipe.decoder()));
    tally.count("ways", way);
    let Ok(settings) = settings.settings() else {
        tally.count("refused by training", "settings");
        return Ok(());
    };
    let mut scene = Scene { recipe, instance, settings, rng, tally, notes };
    match way {
        "cold" => scene.cold(),
        "warm start" => scene.warm_start(),
        "resume" => scene.resume(),
        "patience" => scene.patience(),
        "grid" => follow_grid(&mut scene),
        _ => follow_path(&mut scene),
    }
}

/// Builds a recipe, and changes what its constructors refuse.
fn settle(mut recipe: Recipe, rng: &mut Rng, tally: &mut Tally) -> (Recipe, Instance) {
    loop {
        match recipe.build() {
            Ok(instance) => return (recipe, instance),
            Err(why) => {
                let digits = |c: char| c.is_ascii_digit() || c == '-' || c == '.';
                tally.count("refused by constructors", why.replace(digits, ""));
                if recipe.search {
                    recipe.search = false;
                    recipe.slack = recipe.data.is_enumerable();
                } else if recipe.bounds.is_some() {
                    recipe.bounds = None;
                } else if recipe.kernel.is_some() {
                    recipe.kernel = None;
                } else {
                    let other = recipe.variant(rng);
                    (recipe.inference, recipe.graph_inference) =
                        (other.inference, other.graph_inference);
                }
            }
        }
    }
}

pub(crate) struct Scene<'a> {
    pub(crate) recipe: Recipe,
    pub(crate) instance: Instance,
    pub(crate) settings: Settings,
    pub(crate) rng: Rng,
    pub(crate) tally: &'a mut Tally,
    pub(crate) notes: &'a mut Notes,
}

/// What a run tells on the way.
#[derive(Debug, Default)]
struct Watch {
    rows: Vec<Record>,
    warm_start: Option<WarmStart>,
}

impl Observer for Watch {
    fn event(&mut self, event: Event<'_>) -> Control {
        match event {
            Event::Start(start) => self.warm_start.clone_from(&start.warm_start),
            Event::Pass { record, .. } => self.rows.push(record.clone()),
            _ => {}
        }
        Control::Continue
    }
}

/// Whether an error is an answer that a problem or settings may well get.
pub(crate) fn is_refusal(error: &TrainError) -> bool {
    matches!(
        error,
        TrainError::Settings(_)
            | TrainError::Unsuited { .. }
            | TrainError::Start { .. }
            | TrainError::Size { .. }
            | TrainError::Resume { .. }
            | TrainError::ResumeSetting { .. }
            | TrainError::BoundsWithoutZero { .. }
    )
}

pub(crate) fn sort_of(error: &TrainError) -> String {
    match error {
        TrainError::Settings(_) => "settings".to_owned(),
        TrainError::Unsuited { solver, .. } => format!("unsuited solver {solver}"),
        TrainError::Start { .. } => "point to start from".to_owned(),
        TrainError::Size { .. } => "size of a point".to_owned(),
        TrainError::Resume { .. } => "checkpoint of another problem".to_owned(),
        TrainError::ResumeSetting { .. } => "checkpoint of other settings".to_owned(),
        TrainError::BoundsWithoutZero { .. } => "bounds without zero".to_owned(),
        other => other.to_string(),
    }
}

impl Scene<'_> {
    fn cold(&mut self) -> Verdict {
        let settings = self.settings.clone();
        let mut watch = Watch::default();
        let result = Trainer::new(settings).observe(&mut watch).train(&*self.instance.problem);
        self.judge(result, &watch, true)
    }

    fn patience(&mut self) -> Verdict {
        let patience = Some(1 + self.rng.below(3) as u64);
        self.settings = Settings { patience, ..self.settings.clone() };
        let (mut watch, mut chance) = (Watch::default(), Rng::new(self.settings.seed));
        let mut error = |_: &[f64]| chance.below(4) as f64;
        let result = Trainer::new(self.settings.clone())
            .observe(&mut watch)
            .validate(&mut error)
            .train(&*self.instance.problem);
        self.judge(result, &watch, true)
    }

    fn warm_start(&mut self) -> Verdict {
        let point = self.foreign_point();
        let settings = self.settings.clone();
        let mut watch = Watch::default();
        let trainer = Trainer::new(settings).start_from(point).observe(&mut watch);
        let result = trainer.train(&*self.instance.problem);
        if let Some(start) = &watch.warm_start {
            let what = match (start.taken, start.refused) {
                (0, 0) => "at the truth",
                (_, 0) => "taken",
                (0, _) => "refused",
                _ => "taken in part",
            };
            self.tally.count("warm starts", what);
        }
        self.judge(result, &watch, false)
    }

    /// The dual point of a variant of the problem, at some λ, perhaps forged.
    fn foreign_point(&mut self) -> DualPoint {
        let lambda = self.settings.lambda.unwrap_or(1.0);
        let mut other = self.recipe.variant(&mut self.rng);
        let built = match other.build() {
            Ok(built) => built,
            Err(_) => {
                other = self.recipe.clone();
                other.build().expect("it was built before")
            }
        };
        let their_lambda = match self.rng.below(3) {
            0 => lambda * log_uniform(&mut self.rng, -1.0, 2.0),
            _ => lambda,
        };
        let theirs = draw_settings(&mut self.rng, their_lambda);
        let trained = theirs.settings().map(|theirs| Trainer::new(theirs).train(&*built.problem));
        let point = match trained {
            Ok(Ok(solution)) => solution.dual,
            _ => DualPoint::at_truth(&*built.problem),
        };
        let shrinks = their_lambda > lambda && self.rng.below(2) == 0;
        let mut point = match shrinks {
            true => point.rescaled(&*self.instance.problem, lambda / their_lambda),
            false => point,
        };
        self.notes.say(|| format!("start from {other:?} at {their_lambda}: {point:?}"));
        if self.rng.below(2) == 0 {
            let what = forge(&mut point, &self.recipe, &built, &mut self.rng);
            self.tally.count("forgeries", what);
            self.notes.say(|| format!("forged ({what}): {point:?}"));
        }
        point
    }

    fn resume(&mut self) -> Verdict {
        let every = CheckpointEvery::Passes(1 + self.rng.below(3) as u64);
        let (mut kept, settings) = (Vec::new(), self.settings.clone());
        let mut keep = |checkpoint: &Checkpoint<'_>| {
            kept.push(checkpoint.to_bytes(""));
            Ok(())
        };
        let mut watch = Watch::default();
        let begun = Trainer::new(settings)
            .observe(&mut watch)
            .checkpoint(every, &mut keep)
            .train(&*self.instance.problem);
        self.judge(begun, &watch, true)?;
        if kept.is_empty() {
            return Ok(());
        }
        let bytes = kept.swap_remove(self.rng.below(kept.len()));
        let checkpoint = Checkpoint::from_bytes(&bytes).map_err(|error| error.to_string())?;
        self.settings.max_passes += 1 + self.rng.below(30) as u64;
        self.settings.max_oracle_calls = None;
        let mut is_own = true;
        // Of an oracle that overlooks outputs nobody knows whether the losses are still the same.
        let is_careless = self.recipe.data.is_careless() || self.recipe.search;
        if !is_careless && self.rng.below(3) == 0 {
            let other = self.recipe.variant(&mut self.rng);
            if let Ok(built) = other.build() {
                self.notes.say(|| format!("resumed with {other:?}"));
                (self.recipe, self.instance, is_own) = (other, built, false);
            }
        }
        let mut watch = Watch::default();
        let resumed = Trainer::new(self.settings.clone())
            .observe(&mut watch)
            .resume(checkpoint)
            .train(&*self.instance.problem);
        let outcome = if resumed.is_ok() { "went on" } else { "refused" };
        let with = if is_own { "the same problem" } else { "a variant" };
        self.tally.count("resumes", format!("{with}: {outcome}"));
        if is_own && let Err(error) = &resumed {
            return Err(format!("the same problem cannot be resumed: {error}"));
        }
        self.judge(resumed, &watch, is_own)
    }

    /// Holds a result and what was told on the way against the truth.
    fn judge(
        &mut self,
        result: Result<Solution, TrainError>,
        watch: &Watch,
        is_own: bool,
    ) -> Verdict {
        let solution = match result {
            Ok(solution) => solution,
            Err(error) if is_refusal(&error) => {
                self.tally.count("refused by training", sort_of(&error));
                return Ok(());
            }
            Err(error) => return Err(error.to_string()),
        };
        let (c, kind) = (solution.certificate, self.recipe.data.kind());
        self.tally.count("trained", "runs");
        let by_name = self.settings.record();
        self.tally.count("solvers", by_name.solver);
        self.tally.count("qualities", format!("{kind}: {}", c.quality));
        if by_name.solver == Solver::BlockCoordinate {
            self.tally.count("directions", by_name.direction);
            self.tally.count("orders", by_name.order);
            self.tally.count("caches", by_name.cache);
            if by_name.gap_steps {
                self.tally.count("gap steps", "taken");
            }
            if by_name.oracle_share < 1.0 {
                self.tally.count("accuracies", "a share");
            }
            if by_name.oracle_slack > 0.0 {
                self.tally.count("accuracies", "a slack");
            }
        }
        if c.missed.is_some() {
            self.tally.count("missed", "stated");
        }
        let judge = Judge::new(&self.instance.truth, solution.lambda);
        let tolerance = self.settings.tolerance_at(c.dual);
        let found = judge.solution(&*self.instance.problem, &solution, tolerance)?;
        let precision = if judge.is_imprecise(&solution.weights) { "imprecise" } else { "precise" };
        self.tally.count("optimum", precision);
        // A run that goes on with another problem may have met a failing solver before.
        if c.quality == Quality::Unproven && is_own && self.recipe.lp == Lp::Simplex {
            return Err(format!("{c:?}, but no solver has failed"));
        }
        // An exact oracle never fails; but that of a variant may have.
        let promised = self.instance.problem.quality();
        if is_own && promised == Quality::Exact && c.quality != promised {
            return Err(format!("{c:?}, but the oracle is exact: {:?}", solution.totals));
        }
        let audited = found.certificate.quality;
        if audited > c.quality {
            self.tally
                .count("audits that show less", format!("{kind}: {} as {audited}", c.quality));
            // A heuristic may well not find the outputs that a point is made of, and neither may one that
            // searches in the coefficients of a kernel.
            let may_miss = c.quality == Quality::Heuristic
                || self.recipe.kernel.is_some()
                || self.recipe.lp != Lp::Simplex;
            if is_own && !may_miss {
                return Err(format!("the audit cannot prove {c:?}: {found:?}"));
            }
        }
        let mut before = f64::NEG_INFINITY;
        // Weights that are made of the dual point come with the dual value of that point.
        let settings = &self.settings;
        let may_fall = settings.weights_from_dual()
            && (settings.record().step == Step::Fixed
                || settings.method.solver() == Solver::Subgradient);
        for row in &watch.rows {
            judge
                .dual(row.dual, c.quality, f64::INFINITY)
                .map_err(|why| format!("{row:?}: {why}"))?;
            let slack = 1e-9 * (1.0 + row.dual.abs());
            if !may_fall && row.dual < before - slack {
                return Err(format!("the dual falls from {before} in {row:?}"));
            }
            before = before.max(row.dual);
            if row.gap.is_some_and(|gap| gap < 0.0) {
                return Err(format!("a gap is negative in {row:?}"));
            }
        }
        Ok(())
    }
}
