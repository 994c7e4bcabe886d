//! `maxmargin train`

use super::conclusion::conclude;
use super::figures::{make_folder, write_figures};
use super::resume::{Note, Resumed, Saver};
use super::session::{ErrorOf, SessionIo, error_of};
use super::{lambda, scaling, session, soft, validation};
use crate::args::{Lambda, ModelArgs, SettingsArgs, TrainArgs};
use crate::kind::tested::Look;
use crate::kind::{self, Labelled, Vocabulary, kind_of};
use crate::output;
use crate::report::{self, Sources, Trace};
use crate::screen::Screen;
use anyhow::{Context as _, Result, anyhow, bail};
use maxmargin::{
    Caching, Direction, DualPoint, Settings, SettingsError, SettingsRecord, Solver, Status,
    TrainError,
};
use maxmargin_io::{
    ErrorCounts, HeldOut, LabelRule, LambdaSource, Model, Origin, ProblemRole, SaveError, Spec,
    Template, Training, TrainingPlan, atomic_write, default_settings,
};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

pub(super) fn run(args: &TrainArgs) -> Result<ExitCode> {
    // The program hands over to Python before arguments are read.
    if args.cluster.is_some() {
        bail!("--cluster works with the program maxmargin alone");
    }
    let mut settings = settings(&args.settings)?;
    soft::check(args)?;
    let resumed = Resumed::read(args, &mut settings)?;
    let checkpoint = check_files(args)?;
    let screen = Screen::new(args.talk.quiet);
    screen.reading(&args.data);
    let data = kind::read_training(&args.data, args.format, &args.model, settings.threads)?;
    run_on(args, data, settings, resumed, checkpoint, &screen)
}

fn run_on(
    args: &TrainArgs,
    mut data: Training,
    mut settings: Settings,
    resumed: Option<Resumed>,
    checkpoint: Option<&Path>,
    screen: &Screen,
) -> Result<ExitCode> {
    args.pictures.check(&data.spec)?;
    if let Some(columns) = data.origin.template.as_ref().and_then(Template::describe) {
        screen.say(columns);
    }
    if let Some(pairs) = kind::pairs_in_words(&data.spec, &args.model) {
        screen.say(pairs);
    }
    let bounds = kind::bounds(&args.model, &data.spec)?;
    let mut note = Note::new(&data);
    let test = read_other(args.test.as_ref(), args, &data)?;
    let validation = validation::prepare(args, settings.patience, settings.seed, &mut data)?;
    let held_out = validation.as_ref().and_then(|validation| validation.held_out);
    let start = args.warm_start.as_deref().filter(|_| resumed.is_none());
    let start = start.map(|path| read_start(path, &data.origin, held_out)).transpose()?;
    let rounds = soft::rounds(&args.model.soft);
    let scaling = scaling::apply(&args.model, &mut data, &bounds, screen)?;
    say_constants(&data.spec, &args.model, screen);
    let mut plan = TrainingPlan { bounds, start, rounds, lambda_source: None, scaling };
    let nouns = data.spec.nouns();
    let mut validation = validation.map(|validation| validation.data);
    if let (Some(scaling), Some(own)) = (&plan.scaling, &mut validation)
        && let Some(scaled) = scaling.apply(&own.examples)
    {
        own.examples = scaled;
    }
    if let (Some(_), Some(out)) = (held_out, &validation) {
        screen.say(format!(
            "{} of {} {} are held out to validate on; the model is trained on the others",
            out.examples.len(),
            note.examples,
            nouns.examples
        ));
    }
    note.held_out = held_out;
    note.validation = validation.as_ref().map(|data| data.fingerprint);
    if let Some(resumed) = &resumed {
        resumed.check(&note, settings.patience.is_some(), nouns.examples)?;
        plan.lambda_source = Some(resumed.lambda_source().clone());
    } else {
        let finding = lambda::Finding {
            rule: lambda::rule(&args.settings, &settings),
            measure: args.settings.measure,
            plan: &plan,
            data: &data,
            validation: validation.as_ref(),
            settings: &settings,
            screen,
        };
        let begun = Instant::now();
        let (lambda, source) = finding.find()?;
        if matches!(source, LambdaSource::Auto(_)) {
            settings.spend(begun.elapsed());
        }
        (settings.lambda, plan.lambda_source) = (Some(lambda), Some(source));
    }
    note.lambda_source = plan.lambda_source.clone();
    let curve = lambda::curve(plan.lambda_source.as_ref(), settings.lambda);
    data.fix_lambda(&mut settings);
    let (from, earlier) = resumed.map_or_else(Default::default, Resumed::into_parts);
    let mut saver = checkpoint.map(|path| Saver::new(path, args, note, &earlier, screen));
    let mut trace =
        Trace::of(&earlier).with_blocks(args.report.is_some() || args.figures.is_some());
    let spec = data.spec.clone();
    let error = validation.map(|data| {
        let (spec, threads) = (&spec, settings.threads);
        move |w: &[f64], role: ProblemRole<'_>| error_of(spec, role, w, &data.examples, threads)
    });
    let io = SessionIo {
        lines: None,
        error: error.as_ref().map(|error| error as ErrorOf<'_>),
        saver: saver.as_mut(),
        checkpoint: from,
    };
    let mut model = match &args.trace {
        None => session::train(data, &plan, &settings, screen, &mut trace, io)?,
        Some(path) => atomic_write(path, |to| {
            to.write_all(earlier.as_bytes())?;
            let io = SessionIo { lines: Some(to), ..io };
            session::train(data, &plan, &settings, screen, &mut trace, io)
                .with_context(|| format!("while writing {}", path.display()))
        })?,
    };
    model.meta.held_out = held_out;
    if args.no_dual {
        model.dual = None;
    }
    // Whoever ends the program during the test keeps the model.
    if let Some(path) = &args.output {
        screen.busy(format!("writing {}", path.display()));
        model.save(path)?;
    }
    if test.is_some() {
        screen.busy("testing the model");
    }
    let test = test.map(|data| Test::new(&model, data, settings.threads)).transpose()?;
    if args.report.is_some() || args.figures.is_some() {
        screen.busy("drawing the report");
        let named = test.as_ref().zip(args.test.as_deref());
        let sources = Sources {
            about: &args.data,
            trace: Some(&trace),
            curve: curve.as_ref(),
            test: named.map(|(test, name)| (&test.data, name)),
            look: Look { pictures: &args.pictures, seed: settings.seed, threads: settings.threads },
            line: &args.line,
        };
        let page = report::page(&model, &sources)?;
        if let Some(path) = &args.report {
            write_file(path, page.to_html().as_bytes())?;
        }
        if let Some(folder) = &args.figures {
            write_figures(folder, &page.figures())?;
        }
    }
    screen.done();
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

/// Tells the values of constant features that follow the length of attributes.
fn say_constants(spec: &Spec, args: &ModelArgs, screen: &Screen) {
    let own_bias = match spec {
        Spec::Binary(own) => own.shape.bias,
        Spec::Multiclass(own) => own.shape.bias,
        _ => None,
    };
    let transitions = spec.transition_scale().filter(|_| args.fits_transition_scale());
    let bias = own_bias.filter(|_| args.fits_bias());
    for (what, value) in [("transitions have", transitions), ("the bias has", bias)] {
        if let Some(value) = value.filter(|value| *value != 1.0) {
            let value = lambda::short(value);
            screen.say(format!("{what} the value {value}, by the length of attributes"));
        }
    }
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
    args.figures.as_deref().map(make_folder).transpose()?;
    if data().filter(|name| *name == "-").count() > 1 {
        bail!("only one of training, test and validation data can come from standard input");
    }
    Saver::check_target(args)?;
    Ok(checkpoint)
}

/// Reads other labelled data than the training data, if they are named. Test data are read before the
/// training, so that a mistake in them shows at once.
pub(super) fn read_other(
    other: Option<&String>,
    args: &TrainArgs,
    data: &Training,
) -> Result<Option<Labelled>> {
    let (names, kind) = (Vocabulary::of_origin(&data.origin), kind_of(&data.spec)?);
    let read = |other: &String| kind.read(&names, other, args.format, LabelRule::Count);
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
pub(super) struct Test {
    pub(super) data: Labelled,
    pub(super) errors: ErrorCounts,
}

impl Test {
    /// Has the model predict `data` on so many threads.
    pub(super) fn new(model: &Model, data: Labelled, threads: usize) -> Result<Self> {
        let errors = model.meta.spec.errors(&model.weights, &data.examples, threads)?;
        Ok(Self { data, errors })
    }
}

/// The parts of the block-coordinate loop. Who sets one of them wants that loop, and not `auto`, which
/// would choose them.
const PARTS: [&str; 7] =
    ["order", "direction", "cache", "step", "gap_steps", "oracle_share", "oracle_slack"];

/// The settings of the file, if there is one, with the options given on the command line.
fn settings(args: &SettingsArgs) -> Result<Settings> {
    let mut settings = match &args.settings {
        None => default_settings().record(),
        Some(path) => {
            let name = path.display();
            let text = std::fs::read_to_string(path).with_context(|| name.to_string())?;
            let told = |error: toml::de::Error| anyhow!("{name}: {}", error.to_string().trim_end());
            let mut settings: SettingsRecord = toml::from_str(&text).map_err(told)?;
            let given: toml::Table = toml::from_str(&text).map_err(told)?;
            if !given.contains_key("solver") && PARTS.iter().any(|part| given.contains_key(*part)) {
                settings.solver = Solver::BlockCoordinate;
            }
            if !given.contains_key("tolerance") && !given.contains_key("relative_tolerance") {
                let own = default_settings();
                (settings.tolerance, settings.relative_tolerance) =
                    (own.tolerance, own.relative_tolerance);
            } else if !given.contains_key("tolerance") {
                settings.tolerance = 0.0;
            }
            let judged = settings.settings().and_then(|settings| settings.check());
            judged.with_context(|| name.to_string())?;
            settings
        }
    };
    macro_rules! take {
        ($($field:ident),*) => { $( if let Some(value) = args.$field { settings.$field = value; } )* };
    }
    if let Some(preset) = args.preset {
        preset.set(&mut settings);
    }
    take!(
        solver,
        order,
        gap_power,
        direction,
        cache,
        cache_factor,
        cache_nu,
        cache_corners,
        cache_bytes,
        oracle_share,
        oracle_slack,
        step,
        average,
        rate,
        max_passes,
        gap_every,
        seed,
        threads
    );
    settings.gap_steps |= args.gap_steps;
    let parts = [
        args.order.is_some(),
        args.direction.is_some(),
        args.cache.is_some(),
        args.step.is_some(),
        args.gap_steps,
        args.oracle_share.is_some(),
        args.oracle_slack.is_some(),
    ];
    if parts.contains(&true) && args.solver.is_none() && settings.solver == Solver::Auto {
        settings.solver = Solver::BlockCoordinate;
    }
    if let Some(tolerance) = args.tolerance {
        tolerance.set(&mut settings);
    }
    match args.lambda {
        Some(Lambda::Value(lambda)) => settings.lambda = Some(lambda),
        // Found later, when the data are there.
        Some(Lambda::Auto | Lambda::Scale | Lambda::PerExample) => settings.lambda = None,
        None => {}
    }
    settings.diagnose |= args.diagnose;
    settings.batch = args.batch.or(settings.batch);
    settings.max_oracle_calls = args.max_oracle_calls.or(settings.max_oracle_calls);
    settings.max_seconds = args.max_seconds.or(settings.max_seconds);
    settings.patience = args.patience.or(settings.patience);
    check_given(args, settings.solver)?;
    let settings = settings.settings().map_err(as_option)?;
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
            (args.cache_factor.is_some(), "--cache-factor"),
            (args.cache_nu.is_some(), "--cache-nu"),
            (args.cache_corners.is_some(), "--cache-corners"),
            (args.cache_bytes.is_some(), "--cache-bytes"),
            (args.gap_steps, "--gap-steps"),
            (args.oracle_share.is_some(), "--oracle-share"),
            (args.oracle_slack.is_some(), "--oracle-slack"),
            (args.batch.is_some(), "--batch"),
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
    for (given, option) in [
        (args.gap_power.is_some(), "--gap-power"),
        (args.cache_factor.is_some(), "--cache-factor"),
        (args.cache_nu.is_some(), "--cache-nu"),
        (args.cache_corners.is_some(), "--cache-corners"),
        (args.cache_bytes.is_some(), "--cache-bytes"),
        (args.gap_steps, "--gap-steps"),
        (args.oracle_share.is_some(), "--oracle-share"),
        (args.oracle_slack.is_some(), "--oracle-slack"),
        (args.batch.is_some(), "--batch"),
    ] {
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

/// Writes a file as a whole, or not at all.
pub fn write_file(path: &Path, content: &[u8]) -> Result<()> {
    atomic_write(path, |to| {
        to.write_all(content).map_err(|reason| SaveError { path: path.into(), reason })
    })?;
    Ok(())
}
