//! `maxmargin path`

mod page;
mod words;

pub(super) use words::Outcome;

use super::figures::{make_folder, write_figures};
use super::scaling;
use super::session::error_of;
use super::train::{as_option, write_file};
use crate::args::PathArgs;
use crate::kind::{self, Vocabulary, kind_of};
use crate::output;
use crate::screen::{Screen, on_ctrl_c};
use anyhow::{Context as _, Result, bail};
use maxmargin::observe::Control;
use maxmargin::{
    Blocks, Breakpoint, DualPoint, GridSettings, Interrupt, Path as LambdaPath, PathSettings,
    Settings, Solution, TrainError, audit, lambda_grid_with, regularization_path_with,
};
use maxmargin_io::{LabelRule, PathFile, ProblemRole, Training};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

pub(super) fn run(args: &PathArgs) -> Result<ExitCode> {
    let inputs = [Some(&args.data), args.validation.as_ref()].into_iter().flatten();
    let outputs = [&args.output, &args.path_file, &args.report].into_iter().flatten();
    output::check(inputs.map(Path::new), outputs.map(PathBuf::as_path))?;
    args.figures.as_deref().map(make_folder).transpose()?;
    if args.data == "-" && args.validation.as_deref() == Some("-") {
        bail!("training and validation data cannot both come from standard input");
    }
    scaling::refuse(&args.model, "path")?;
    if args.model.kernel.is_given() {
        bail!(
            "paths are of weights, and a model with a --kernel has coefficients of inputs instead\n\
             hint: `maxmargin train DATA --kernel NAME --lambda auto` tries one lambda after the other"
        );
    }
    if matches!(args.model.soft.training, Some(name) if !name.is_by_decoding()) {
        if args.grid.is_none() {
            bail!(
                "with --training soft, messages keep their price at every lambda, so no weights serve all \
                 lambdas between two\nhint: --grid warm-primal trains at the lambdas of a grid"
            );
        }
        if args.path_file.is_some() {
            bail!(
                "--path-file keeps weights for every lambda, and soft training has messages besides\n\
                 hint: --output keeps the best model"
            );
        }
    }
    let plan = Plan::new(args)?;
    let screen = Screen::new(args.talk.quiet);
    screen.reading(&args.data);
    let data = kind::read_training(&args.data, args.format, &args.model, args.threads)?;
    scaling::warn(&args.model, &data, &screen, "path");
    run_on(args, &plan, data, &screen)
}

fn run_on(args: &PathArgs, plan: &Plan, data: Training, screen: &Screen) -> Result<ExitCode> {
    let Training { examples, origin, mut spec } = data;
    // A problem that is made for one lambda is made anew for every other one.
    spec.fix_lambda(1.0);
    let spec = spec;
    let (names, kind) = (Vocabulary::of_origin(&origin), kind_of(&spec)?);
    let read = |data: &String| kind.read(&names, data, args.format, LabelRule::Count);
    let validation = args.validation.as_ref().map(read).transpose()?;
    let error = |w: &[f64]| {
        let data = validation.as_ref()?;
        Some(error_of(&spec, ProblemRole::Plain, w, &data.examples, args.threads))
    };
    let bounds = kind::bounds(&args.model, &spec)?;
    let n = examples.len();
    let kept = (spec.soft().is_some() && args.output.is_some()).then(|| examples.clone());
    let problem = spec.problem(examples, &bounds)?;
    let (outcome, best) = walk(problem.blocks(), args, plan, screen, &error)?;
    screen.busy("writing the results");
    if let Some(file) = &args.output {
        let (mut own, at) = (spec.clone(), outcome.best());
        own.fix_lambda(at.certificate.lambda);
        let problem = kept.map_or(Ok(problem), |examples| own.problem(examples, &bounds))?;
        let solution = best.solution(problem.blocks(), at, args.threads)?;
        let trained = Settings {
            lambda: Some(solution.lambda),
            tolerance: plan.tolerance(),
            ..plan.training().clone()
        };
        let solved = maxmargin_io::Outcome::new(solution, problem.role());
        let mut model = solved.into_model(origin.clone(), own, trained);
        model.meta.n = n;
        model.meta.bounds = bounds.clone();
        model.save(file)?;
    }
    if let Some(file) = &args.path_file {
        let (training, path) = (plan.training().clone(), outcome.path.clone());
        let mut whole = PathFile::new(origin, spec, n, training, path);
        whole.meta.bounds = bounds;
        whole.save(file)?;
    }
    let page = || page::page(&outcome, &args.data, &args.line);
    if let Some(file) = &args.report {
        write_file(file, page().to_html().as_bytes())?;
    }
    if let Some(folder) = &args.figures {
        write_figures(folder, &page().figures())?;
    }
    screen.done();
    outcome.print(args.talk)?;
    let written = [("model", &args.output), ("path", &args.path_file), ("report", &args.report)];
    for (what, file) in written {
        if let Some(file) = file {
            screen.say(format!("{what} written to {}", file.display()));
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Follows a path: the path, and its best weights. `error` is that of weights on
/// validation data, if there are any.
fn walk(
    problem: &dyn Blocks,
    args: &PathArgs,
    plan: &Plan,
    screen: &Screen,
    error: &dyn Fn(&[f64]) -> Option<f64>,
) -> Result<(Outcome, Best)> {
    let (n, d, epsilon) = (problem.examples(), problem.dim(), args.epsilon);
    screen.say(format!("{n} examples, {d} features, epsilon {epsilon}"));
    screen.say(words::HEAD.trim_end());
    screen.busy(plan.in_words());
    let mut errors = Vec::new();
    let mut so_far = Vec::new();
    let mut best: Option<Best> = None;
    let mut rows = words::Thinning::default();
    let path = plan.follow(problem, &on_ctrl_c(screen)?, |b, w, point| {
        let error = error(w);
        so_far.push((b.seconds, b.certificate.lambda));
        screen.follow(plan.in_words(), &so_far, plan.lowest(), plan.ends_at_lowest());
        if let Some(row) = rows.row(b, error) {
            screen.say(row.trim_end());
        }
        errors.extend(error);
        if best.as_ref().is_none_or(|best| error.is_none() || error < best.error) {
            best = Some(Best { error, weights: w.to_vec(), point: point.clone() });
        }
        Control::Continue
    })?;
    let rest = rows.end();
    if !rest.is_empty() {
        screen.say(rest.trim_end());
    }
    let best = best.context("the path has no breakpoint")?;
    Ok((Outcome::new(path, (!errors.is_empty()).then_some(errors)), best))
}

/// A path or a grid that is to be followed.
enum Plan {
    Path(PathSettings),
    Grid(GridSettings),
}

impl Plan {
    /// What the options ask for, judged before any data are read.
    fn new(args: &PathArgs) -> Result<Self> {
        let (seed, threads) = (args.seed, args.threads);
        let training = Settings { seed, threads, max_passes: u64::MAX, ..Settings::default() };
        let epsilon = args.epsilon;
        let plan = match args.grid {
            None => {
                let (kappa, heuristic) = (args.kappa, args.heuristic);
                let lambda_min = args.lambda_min.unwrap_or(PathSettings::default().lambda_min);
                Self::Path(PathSettings { epsilon, kappa, lambda_min, heuristic, training })
            }
            Some(start) => {
                let grid = GridSettings::default();
                let lambda_min = args.lambda_min.unwrap_or(grid.lambda_min);
                let lambda_max = args.lambda_max.unwrap_or(grid.lambda_max);
                Self::Grid(GridSettings { epsilon, lambda_max, lambda_min, start, training })
            }
        };
        match &plan {
            Self::Path(settings) => settings.check(),
            Self::Grid(settings) => settings.check(),
        }
        .map_err(as_option)?;
        Ok(plan)
    }

    fn follow(
        &self,
        problem: &dyn Blocks,
        interrupt: &Interrupt,
        watch: impl FnMut(&Breakpoint, &[f64], &DualPoint) -> Control,
    ) -> Result<LambdaPath, TrainError> {
        match self {
            Self::Path(settings) => regularization_path_with(problem, settings, interrupt, watch),
            Self::Grid(settings) => lambda_grid_with(problem, settings, interrupt, watch),
        }
    }

    fn in_words(&self) -> &'static str {
        match self {
            Self::Path(_) => "path",
            Self::Grid(_) => "grid",
        }
    }

    /// The λ at which it ends at the latest.
    fn lowest(&self) -> f64 {
        match self {
            Self::Path(settings) => settings.lambda_min,
            Self::Grid(settings) => settings.lambda_min,
        }
    }

    /// Whether it goes as far as it may.
    fn ends_at_lowest(&self) -> bool {
        matches!(self, Self::Grid(_))
    }

    fn training(&self) -> &Settings {
        match self {
            Self::Path(settings) => &settings.training,
            Self::Grid(settings) => &settings.training,
        }
    }

    /// The gap to which each breakpoint is solved.
    fn tolerance(&self) -> f64 {
        match self {
            Self::Path(settings) => settings.tolerance(),
            Self::Grid(settings) => settings.epsilon,
        }
    }
}

/// The breakpoint with the least validation error, or the last one.
struct Best {
    error: Option<f64>,
    weights: Vec<f64>,
    point: DualPoint,
}

impl Best {
    /// It as a solution of its own, with a certificate from scratch.
    fn solution(self, problem: &dyn Blocks, at: &Breakpoint, threads: usize) -> Result<Solution> {
        let Self { weights, point, .. } = self;
        let lambda = at.certificate.lambda;
        let certificate = audit(problem, lambda, &weights, &point, 1e-9, threads)?.certificate;
        let mut solution = Solution::new(weights, point, certificate, at.status);
        (solution.totals.oracle_calls, solution.totals.seconds) = (at.oracle_calls, at.seconds);
        Ok(solution)
    }
}
