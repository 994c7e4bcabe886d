//! `maxmargin train`

use super::resume::{Note, Resumed, Saver};
use super::{lambda, validation};
use crate::args::{Lambda, SettingsArgs, TalkArgs, TrainArgs};
use crate::kind::{self, Kind, Labelled, Training, UseProblem, Vocabulary, with_training};
use crate::output;
use crate::report::{self, Trace};
use crate::screen::Screen;
use anyhow::{Context as _, Result, anyhow, bail};
use maxmargin::evaluate::SequenceErrors;
use maxmargin::observe::{JsonLines, Table, Thinned};
use maxmargin::{
    Caching, Checkpoint, Direction, DualPoint, GroupBounds, Interrupt, Problem, Quality, Settings,
    SettingsError, Solution, Solver, Status, TrainError, Trainer, Validation,
};
use maxmargin_io::{HeldOut, LabelRule, Model, Origin, SaveError, Unknown, atomic_write};
use serde_json::json;
use std::fmt::Write as _;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::OnceLock;

pub(super) fn run(args: &TrainArgs) -> Result<ExitCode> {
    let mut settings = settings(&args.settings)?;
    let resumed = Resumed::read(args, &mut settings)?;
    let checkpoint = check_files(args)?;
    let training = kind::read_training(&args.data, args.format, &args.model)?;
    with_training!(training, data => run_on(args, data, settings, resumed, checkpoint))
}

fn run_on<K: Kind>(
    args: &TrainArgs,
    mut data: Training<K>,
    mut settings: Settings,
    resumed: Option<Resumed>,
    checkpoint: Option<&Path>,
) -> Result<ExitCode> {
    let screen = Screen::new(args.talk.quiet);
    let bounds = kind::bounds(&args.model, &data.spec.clone().into())?;
    let mut note = Note::new(&data);
    let test = read_other(args.test.as_ref(), args, &data)?;
    let validation = validation::prepare(args, settings.patience, settings.seed, &mut data)?;
    let held_out = validation.as_ref().and_then(|validation| validation.held_out);
    let start = args.warm_start.as_deref().filter(|_| resumed.is_none());
    let start = start.map(|path| read_start(path, &data.origin, held_out)).transpose()?;
    let task = Task { bounds, start };
    let validation = validation.map(|validation| validation.data);
    if let (Some(_), Some(out)) = (held_out, &validation) {
        screen.say(format!(
            "{} of {} {} are held out to validate on; the model is trained on the others",
            K::count(&out.examples),
            note.examples,
            K::NOUNS.examples
        ));
    }
    note.held_out = held_out;
    note.validation = validation.as_ref().map(|data| data.fingerprint);
    note.lambda_auto = args.settings.lambda == Some(Lambda::Auto);
    if let Some(resumed) = &resumed {
        resumed.check(&note, settings.patience.is_some(), K::NOUNS.examples)?;
    } else if note.lambda_auto {
        let choice = lambda::choose(&task, &data, validation.as_ref(), &settings, &screen)?;
        settings.lambda = Some(choice);
    }
    let (from, earlier) = resumed.map_or_else(Default::default, Resumed::into_parts);
    let mut saver = checkpoint.map(|path| Saver::new(path, args, note, &earlier, &screen));
    let mut trace = Trace::of(&earlier);
    let spec = data.spec.clone();
    let error = validation.map(|data| {
        let spec = &spec;
        move |w: &[f64]| K::errors(spec, w, &data.examples).hamming()
    });
    let company = Company {
        lines: None,
        error: error.as_ref().map(|error| error as ErrorOf<'_>),
        saver: saver.as_mut(),
        checkpoint: from,
    };
    let mut model = match &args.trace {
        None => task.train(data, &settings, &screen, &mut trace, company)?,
        Some(path) => atomic_write(path, |to| {
            to.write_all(earlier.as_bytes())?;
            let company = Company { lines: Some(to), ..company };
            task.train(data, &settings, &screen, &mut trace, company)
                .with_context(|| format!("while writing {}", path.display()))
        })?,
    };
    model.meta.held_out = held_out;
    let test: Option<Test<K>> =
        test.map(|data| Test { errors: K::errors(&spec, &model.weights, &data.examples), data });
    if args.no_dual {
        model.dual = None;
    }
    if let Some(path) = &args.output {
        model.save(path)?;
    }
    if let Some(path) = &args.report {
        let page = report::page(&model, &spec, &trace, test.as_ref(), &args.data).to_html();
        write_file(path, page.as_bytes())?;
    }
    conclude(&model, test.as_ref(), args.talk)?;
    match &args.output {
        Some(path) => screen.say(format!("model written to {}", path.display())),
        None => screen.say("the model was not kept\nhint: name a file with -o MODEL"),
    }
    if let Some(saver) = saver {
        if model.meta.status == Status::Interrupted {
            screen.say(format!("hint: go on with --resume {}", saver.path.display()));
        }
        saver.finish()?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Refuses files that cannot be read or written together; where checkpoints are to go.
fn check_files(args: &TrainArgs) -> Result<Option<&Path>> {
    let data = || [Some(&args.data), args.test.as_ref(), args.validation.as_ref()];
    let data = || data().into_iter().flatten();
    let checkpoint = args.checkpoint.as_deref().or(args.resume.as_deref());
    let inputs = data()
        .map(Path::new)
        .chain(args.warm_start.as_deref())
        .chain(args.resume.as_deref().filter(|path| checkpoint != Some(*path)))
        .chain(args.settings.settings.as_deref());
    let outputs = [&args.output, &args.trace, &args.report].into_iter().flatten();
    output::check(inputs, outputs.map(PathBuf::as_path).chain(checkpoint))?;
    if data().filter(|name| *name == "-").count() > 1 {
        bail!("only one of training, test and validation data can come from standard input");
    }
    Saver::check_target(args)?;
    Ok(checkpoint)
}

/// Reads other labelled data than the training data, if they are named. Test data are read before the
/// training, so that a mistake in them shows at once.
pub(super) fn read_other<K: Kind>(
    other: Option<&String>,
    args: &TrainArgs,
    data: &Training<K>,
) -> Result<Option<Labelled<K::Examples>>> {
    let names = Vocabulary::of_origin(&data.origin);
    let read = |other: &String| K::read(&names, &data.spec, other, args.format, LabelRule::Count);
    other.map(read).transpose()
}

/// Reads a model to start from, and makes sure that it was trained on the same data.
fn read_start(path: &Path, data: &Origin, held_out: Option<HeldOut>) -> Result<(f64, DualPoint)> {
    let model = Model::load(path)?;
    let name = path.display();
    if model.meta.fingerprint != data.fingerprint || model.attributes != data.attributes {
        bail!(
            "{name}: the model was trained on other data\n\
             hint: a warm start goes on from the dual point, which belongs to the training data"
        );
    }
    if model.meta.held_out != held_out {
        bail!(
            "{name}: the model was trained on another part of the data\n\
             hint: whether a part is held out depends on --patience without --validation, and \
             which on --seed"
        );
    }
    let Some(dual) = model.dual else {
        bail!("{name}: the model was saved without its dual point\nhint: train without --no-dual");
    };
    Ok((model.meta.certificate.lambda, dual))
}

/// Test data, and how the model does on them.
pub(crate) struct Test<K: Kind> {
    pub(crate) data: Labelled<K::Examples>,
    pub(crate) errors: SequenceErrors,
}

/// The table shows a row when the passes have grown by this factor; the trace has them all.
const TABLE_GROWTH: f64 = 1.25;

/// How a model is learned from data.
#[derive(Default)]
pub(super) struct Task {
    pub(super) bounds: GroupBounds,
    /// The λ and the dual point of a model to start from.
    pub(super) start: Option<(f64, DualPoint)>,
}

/// The error of weights on some data.
type ErrorOf<'a> = &'a dyn Fn(&[f64]) -> f64;

/// What takes part in a training, all of it optional.
#[derive(Default)]
pub(super) struct Company<'a> {
    /// A file for JSON lines.
    pub(super) lines: Option<&'a mut dyn Write>,
    /// The error of weights on validation data.
    pub(super) error: Option<ErrorOf<'a>>,
    pub(super) saver: Option<&'a mut Saver>,
    /// Where to go on from.
    pub(super) checkpoint: Option<Checkpoint<'static>>,
}

impl Task {
    /// Trains, watched by the screen, the trace, and whoever comes along.
    pub(super) fn train<K: Kind>(
        &self,
        data: Training<K>,
        settings: &Settings,
        screen: &Screen,
        trace: &mut Trace,
        company: Company<'_>,
    ) -> Result<Model> {
        let Training { examples, origin, spec } = data;
        let bounds = kind::resolve(&self.bounds, &spec.clone().into())?;
        let session = Session { start: self.start.as_ref(), settings, screen, trace, company };
        let solution = K::with_problem(&spec, examples, bounds, session)?;
        let mut model = Model::new(origin, spec, settings.clone(), solution);
        model.meta.bounds = self.bounds.clone();
        Ok(model)
    }
}

/// A training about to begin, on whatever problem.
struct Session<'a, 'c> {
    start: Option<&'a (f64, DualPoint)>,
    settings: &'a Settings,
    screen: &'a Screen,
    trace: &'a mut Trace,
    company: Company<'c>,
}

impl UseProblem for Session<'_, '_> {
    type Result = Solution;

    fn go<P: Problem>(self, problem: &P) -> Result<Solution> {
        let Self { start, settings, screen, trace, company } = self;
        let Company { lines, error, saver, checkpoint } = company;
        let mut error = error.map(|error| move |w: &[f64]| error(w));
        let mut table = Thinned::new(TABLE_GROWTH, Table::new(screen.clone()));
        let mut bar = screen.clone();
        let mut lines = lines.map(JsonLines::new);
        let mut trainer = Trainer::new(settings.clone())
            .interrupt(on_ctrl_c(screen)?)
            .observe(trace)
            .observe(&mut table)
            .observe(&mut bar);
        if let Some(lines) = &mut lines {
            trainer = trainer.observe(lines);
        }
        if let Some(error) = &mut error {
            trainer = trainer.validate(error);
        }
        let every = saver.as_ref().map(|saver| saver.every);
        let mut kept = saver.as_ref().map(|saver| JsonLines::new(saver.lines.clone()));
        let mut save = saver.map(|saver| |checkpoint: &Checkpoint<'_>| saver.save(checkpoint));
        if let (Some(every), Some(kept), Some(save)) = (every, &mut kept, &mut save) {
            trainer = trainer.observe(kept).checkpoint(every, save);
        }
        if let Some(checkpoint) = checkpoint {
            trainer = trainer.resume(checkpoint);
        }
        if let Some((old, point)) = start {
            // At a smaller λ the weights are kept, at a larger one the dual variables.
            let lambda = settings.lambda.unwrap_or(1.0 / problem.examples() as f64);
            let start = match lambda < *old {
                true => point.rescaled(problem, lambda / old),
                false => point.clone(),
            };
            trainer = trainer.start_from(start);
        }
        let solution = trainer.train(problem);
        screen.done();
        let solution = solution?;
        if let Some(lines) = lines {
            lines.finish().context("the trace could not be written")?;
        }
        Ok(solution)
    }
}

/// The parts of the block-coordinate loop. Who sets one of them wants that loop, and not `auto`, which
/// would choose them.
const PARTS: [&str; 4] = ["order", "direction", "cache", "step"];

/// The settings of the file, if there is one, with the options given on the command line.
fn settings(args: &SettingsArgs) -> Result<Settings> {
    let mut settings = match &args.settings {
        None => Settings::default(),
        Some(path) => {
            let name = path.display();
            let text = std::fs::read_to_string(path).with_context(|| name.to_string())?;
            let mut settings: Settings = toml::from_str(&text)
                .map_err(|error| anyhow!("{name}: {}", error.to_string().trim_end()))?;
            let given: toml::Table = toml::from_str(&text)?;
            if !given.contains_key("solver") && PARTS.iter().any(|part| given.contains_key(*part)) {
                settings.solver = Solver::BlockCoordinate;
            }
            settings.check().with_context(|| name.to_string())?;
            settings
        }
    };
    macro_rules! take {
        ($($field:ident),*) => { $( if let Some(value) = args.$field { settings.$field = value; } )* };
    }
    take!(
        solver,
        order,
        gap_power,
        direction,
        cache,
        cache_bytes,
        step,
        average,
        rate,
        tolerance,
        max_passes,
        gap_every,
        seed,
        threads
    );
    let parts =
        [args.order.is_some(), args.direction.is_some(), args.cache.is_some(), args.step.is_some()];
    if parts.contains(&true) && args.solver.is_none() && settings.solver == Solver::Auto {
        settings.solver = Solver::BlockCoordinate;
    }
    match args.lambda {
        Some(Lambda::Value(lambda)) => settings.lambda = Some(lambda),
        // Chosen later, when the data are there.
        Some(Lambda::Auto) => settings.lambda = None,
        None => {}
    }
    settings.max_oracle_calls = args.max_oracle_calls.or(settings.max_oracle_calls);
    settings.max_seconds = args.max_seconds.or(settings.max_seconds);
    settings.patience = args.patience.or(settings.patience);
    check_given(args, settings.solver)?;
    settings.check().map_err(as_option)?;
    Ok(settings)
}

/// Refuses options that mean nothing to a solver, even where they say what is so anyway.
fn check_given(args: &SettingsArgs, solver: Solver) -> Result<()> {
    if solver == Solver::FrankWolfe {
        for (given, option) in [
            (args.order.is_some(), "--order"),
            (args.average.is_some_and(|a| a != maxmargin::Average::None), "--average"),
            (args.gap_every.is_some(), "--gap-every"),
            (args.gap_power.is_some(), "--gap-power"),
            (args.direction.is_some_and(|d| d != Direction::FrankWolfe), "--direction"),
            (args.cache.is_some_and(|c| c != Caching::Off), "--cache"),
            (args.cache_bytes.is_some(), "--cache-bytes"),
        ] {
            if given {
                bail!(
                    "{option} has no meaning with --solver fw, which moves all blocks at once\n\
                     hint: leave it out, or use --solver bcfw"
                );
            }
        }
    }
    if solver.is_batch() && args.gap_every.is_some() {
        bail!(
            "--gap-every has no meaning with --solver {solver}, which knows its gap after every pass\n\
             hint: leave it out"
        );
    }
    let follows_gaps = matches!(solver, Solver::Auto | Solver::BlockCoordinate);
    for (given, option) in
        [(args.gap_power.is_some(), "--gap-power"), (args.cache_bytes.is_some(), "--cache-bytes")]
    {
        if given && !follows_gaps {
            bail!("{option} has no meaning with --solver {solver}\nhint: leave it out");
        }
    }
    Ok(())
}

/// Names the option as it is written on the command line.
pub(super) fn as_option(error: impl Into<TrainError>) -> anyhow::Error {
    let option = |name: &str| format!("--{}", name.replace('_', "-"));
    match error.into() {
        TrainError::Settings(SettingsError::Range { name, value, expected }) => {
            anyhow!("{} is {value}; it must be {expected}", option(name))
        }
        TrainError::ResumeSetting { name, then, now } => {
            TrainError::ResumeSetting { name: option(&name), then, now }.into()
        }
        other => other.into(),
    }
}

pub(super) fn write_file(path: &Path, content: &[u8]) -> Result<()> {
    atomic_write(path, |to| {
        to.write_all(content).map_err(|reason| SaveError { path: path.into(), reason })
    })?;
    Ok(())
}

/// The first ctrl-C ends the training with a certified model, the second ends the program.
pub(super) fn on_ctrl_c(screen: &Screen) -> Result<Interrupt> {
    // There is one ctrl-C for the whole program, whoever asks for it.
    static INTERRUPT: OnceLock<Interrupt> = OnceLock::new();
    if let Some(interrupt) = INTERRUPT.get() {
        return Ok(interrupt.clone());
    }
    let interrupt = INTERRUPT.get_or_init(Interrupt::new).clone();
    let (handle, screen) = (interrupt.clone(), screen.clone());
    ctrlc::set_handler(move || {
        if handle.is_raised() {
            std::process::exit(130);
        }
        handle.raise();
        screen.say("interrupted: computing the certificate (again to quit at once)");
    })
    .context("cannot listen for ctrl-C")?;
    Ok(interrupt)
}

/// Prints the result: one JSON object, or the certificate in words.
pub(super) fn conclude<K: Kind>(
    model: &Model,
    test: Option<&Test<K>>,
    talk: TalkArgs,
) -> Result<()> {
    if talk.json {
        let (meta, c, t) = (&model.meta, &model.meta.certificate, &model.meta.totals);
        let test =
            test.map(|t| json!({"hamming": t.errors.hamming(), "zero_one": t.errors.zero_one()}));
        let validation = meta.validation.map(|v| {
            let held_out = meta.held_out.is_some();
            json!({"error": v.error, "pass": v.pass, "checks": v.checks, "held_out": held_out})
        });
        return super::print_json(&json!({
            "status": meta.status, "primal": c.primal, "dual": c.dual, "gap": c.gap,
            "lambda": c.lambda, "n": meta.n, "d": meta.d, "passes": t.passes,
            "oracle_calls": t.oracle_calls, "seconds": t.seconds,
            "oracle_seconds": t.oracle_seconds, "seed": meta.settings.seed, "test": test,
            "validation": validation,
        }));
    }
    if talk.quiet {
        return Ok(());
    }
    let mut text = certificate_in_words(model) + &validation_in_words(model);
    if let Some(test) = test {
        let e = &test.errors;
        let _ = writeln!(
            text,
            "On the test data {:.2} % of {} {} and {:.2} % of {} {} are wrong.",
            100.0 * e.hamming(),
            e.tokens,
            K::NOUNS.labels,
            100.0 * e.zero_one(),
            e.sequences,
            K::NOUNS.examples
        );
        text.push_str(&unknowns(&test.data.unknown));
    }
    super::print(&text)
}

/// What the certificate says, for people.
pub(crate) fn certificate_in_words(model: &Model) -> String {
    let why = model.meta.status.explain();
    format!("Training ended because {why}.\n{}", bounds_in_words(model))
}

/// Between which bounds the optimum lies, for people.
pub(super) fn bounds_in_words(model: &Model) -> String {
    let c = &model.meta.certificate;
    let share = if c.primal > 0.0 { 100.0 * c.gap / c.primal } else { 0.0 };
    let within = if model.meta.bounds.is_empty() { "whatsoever" } else { "in bounds" };
    let gap = format!("{:.3e} of the optimum ({share:.2} % of the objective)", c.gap);
    match c.quality {
        Quality::Exact => format!(
            "The objective is {:.6}. No weights {within} can bring it below {:.6},\n\
             so these are within {gap}.\n",
            c.primal, c.dual,
        ),
        Quality::UpperBound => format!(
            "Decoding was relaxed: the objective is at most {:.6}, which is that of the relaxed\n\
             problem. No weights {within} can bring the relaxed one below {:.6}, so these are within\n\
             {gap} of the relaxed problem.\n",
            c.primal, c.dual,
        ),
        Quality::Heuristic => format!(
            "Decoding was a heuristic: the objective is at least {:.6}, and no weights {within} can\n\
             bring it below {:.6}. What was found is within {gap},\n\
             but the true distance may be larger.\n",
            c.primal, c.dual,
        ),
    }
}

/// How the model has done in validation, for people, if it was validated.
pub(crate) fn validation_in_words(model: &Model) -> String {
    let Some(Validation { error, pass, checks }) = model.meta.validation else {
        return String::new();
    };
    let share = format!("{:.2} % of the labels", 100.0 * error);
    match model.meta.settings.patience {
        None => format!("The validation error is {share}.\n"),
        Some(_) => format!(
            "The model is that of pass {pass}, with the least validation error in {checks} checks: \
             {share}.\n"
        ),
    }
}

/// What of the data the model did not know, if anything.
pub(super) fn unknowns(unknown: &Unknown) -> String {
    let mut text = String::new();
    if unknown.attributes > 0 {
        let _ = writeln!(
            text,
            "{} of {} attributes are unknown to the model and were ignored.",
            unknown.attributes, unknown.all_attributes
        );
    }
    if unknown.labels > 0 {
        let _ = writeln!(
            text,
            "{} of {} labels are unknown to the model and count as errors.",
            unknown.labels, unknown.tokens
        );
    }
    let none_of = |unknown, all| all > 0 && unknown == all;
    if none_of(unknown.attributes, unknown.all_attributes)
        || none_of(unknown.labels, unknown.tokens)
    {
        text.push_str("hint: are these the right data for the model, in the right --format?\n");
    }
    text
}
