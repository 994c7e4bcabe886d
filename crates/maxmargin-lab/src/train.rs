//! `maxmargin-lab dlpw`: trains by DLPW. All that is known of the result is its hard objective.

use anyhow::{Context as _, Result};
use clap::Args;
use maxmargin::observe::Control;
use maxmargin::{Certificate, DualPoint, Interrupt, Quality, Settings, Solution, Status};
use maxmargin_command::lab::{
    ModelArgs, Relaxation, Screen, TalkArgs, Trained, check_files, format_parser, on_ctrl_c, print,
    print_json, write_file,
};
use maxmargin_io::Format;
use maxmargin_lab::dlpw::{DlpwRow, DlpwSettings, dlpw_watched};
use maxmargin_report::{
    Fact, Facts, Plot, Prose, Report, Series, XAxis, YAxis, format_number, format_seconds,
};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

#[derive(Debug, Args)]
pub(crate) struct DlpwArgs {
    /// Training data: sets of labels or factor graphs
    data: String,
    /// Where to write the model; it has no dual point
    #[arg(short, long, value_name = "MODEL")]
    output: Option<PathBuf>,
    /// Data to test the model on
    #[arg(long, value_name = "DATA")]
    test: Option<String>,
    /// Layout of the data, where it cannot be told from the data
    #[arg(long, value_parser = format_parser(), value_name = "FORMAT")]
    format: Option<Format>,
    /// Regularization strength [default: 1/n]
    #[arg(long, value_name = "NUMBER")]
    lambda: Option<f64>,
    /// Replaces every maximum by a soft one, at this temperature
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    temperature: Option<f64>,
    /// Passes over the data
    #[arg(long, value_name = "N", default_value_t = DlpwSettings::PASSES)]
    #[arg(value_parser = clap::value_parser!(u64).range(1..))]
    max_passes: u64,
    /// Begin no pass after so many seconds
    #[arg(long, value_name = "SECONDS")]
    max_seconds: Option<f64>,
    /// Seed of the order of examples
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Write the hard objective after each pass as JSON lines
    #[arg(long, value_name = "FILE.jsonl")]
    trace: Option<PathBuf>,
    /// Write a self-contained report with a plot of the hard objective
    #[arg(long, value_name = "FILE.html")]
    report: Option<PathBuf>,
    #[command(flatten)]
    model: ModelArgs,
    #[command(flatten)]
    talk: TalkArgs,
}

pub(crate) fn run(args: &DlpwArgs) -> Result<ExitCode> {
    let inputs = [Some(&args.data), args.test.as_ref()].into_iter().flatten().map(Path::new);
    let outputs = [&args.output, &args.trace, &args.report].into_iter().flatten();
    check_files(inputs, outputs.map(PathBuf::as_path))?;
    let screen = Screen::new(args.talk.quiet);
    let interrupt = on_ctrl_c(&screen)?;
    let settings = Settings {
        lambda: args.lambda,
        max_passes: args.max_passes,
        max_seconds: args.max_seconds,
        seed: args.seed,
        ..Settings::default()
    };
    let relaxation = Relaxation {
        data: &args.data,
        test: args.test.as_deref(),
        format: args.format,
        model: &args.model,
        lambda: args.lambda,
    };
    let mut rows = Vec::new();
    let trained = relaxation.train(&settings, |problem| {
        let own = DlpwSettings {
            passes: args.max_passes,
            max_seconds: args.max_seconds,
            temperature: args.temperature,
            seed: args.seed,
        };
        let mut table = Table::new(&screen);
        let found = dlpw_watched(problem, &own, |row| {
            table.add(row);
            if interrupt.is_raised() { Control::Stop } else { Control::Continue }
        })?;
        table.finish();
        rows = found.history;
        solution(found.weights, &rows, problem.lambda(), args.max_passes, &interrupt)
    })?;
    if let Some(path) = &args.output {
        trained.model.save(path)?;
    }
    if let Some(path) = &args.trace {
        write_file(path, trace(&trained, &rows).as_bytes())?;
    }
    if let Some(path) = &args.report {
        write_file(path, report(args, &trained, &rows).to_html().as_bytes())?;
    }
    conclude(args, &trained)?;
    match &args.output {
        Some(path) => screen.say(format!("model written to {}", path.display())),
        None => screen.say("the model was not kept\nhint: name a file with -o MODEL"),
    }
    Ok(ExitCode::SUCCESS)
}

/// The table of passes, whose rows get rarer.
struct Table<'a> {
    screen: &'a Screen,
    next: f64,
    unsaid: Option<DlpwRow>,
}

impl<'a> Table<'a> {
    /// Rows get rarer by this factor.
    const GROWTH: f64 = 1.25;

    fn new(screen: &'a Screen) -> Self {
        Self { screen, next: 1.0, unsaid: None }
    }

    fn add(&mut self, row: &DlpwRow) {
        if row.pass == 1 {
            let heads = format!("{:>7} {:>14} {:>9}", "pass", "hard objective", "seconds");
            self.screen.say(heads);
        }
        self.unsaid = Some(*row);
        let pass = row.pass as f64;
        if pass >= self.next {
            self.finish();
            self.next = (pass * Self::GROWTH).max(pass + 1.0);
        }
    }

    /// Says the last row, unless that is done.
    fn finish(&mut self) {
        if let Some(DlpwRow { pass, seconds, hard_objective }) = self.unsaid.take() {
            self.screen.say(format!("{pass:>7} {hard_objective:>14.6} {seconds:>8.2}s"));
        }
    }
}

/// The result as that of a training. The hard objective is an upper bound, and 0 the only lower bound that is known.
fn solution(
    weights: Vec<f64>,
    rows: &[DlpwRow],
    lambda: f64,
    max_passes: u64,
    interrupt: &Interrupt,
) -> Result<Solution> {
    let last = rows.last().context("no pass was made: --max-seconds left no time for one")?;
    let (primal, quality) = (last.hard_objective, Quality::UpperBound);
    let status = match last.pass < max_passes {
        false => Status::MaxPasses,
        true if interrupt.is_raised() => Status::Interrupted,
        true => Status::MaxSeconds,
    };
    let certificate = Certificate { lambda, primal, dual: 0.0, gap: primal, quality, missed: None };
    let no_point = DualPoint { blocks: Vec::new() };
    let mut solution = Solution::new(weights, no_point, certificate, status);
    (solution.totals.passes, solution.totals.seconds) = (last.pass, last.seconds);
    Ok(solution)
}

/// A line for the start, one for each pass, and one for the end. The hard objective is called `second`, as in the
/// traces of soft training.
fn trace(trained: &Trained, rows: &[DlpwRow]) -> String {
    let meta = &trained.model.meta;
    let start = json!({
        "event": "start", "method": "dlpw", "n": meta.n, "d": meta.d,
        "lambda": meta.certificate.lambda, "settings": meta.settings,
    });
    let pass = |row: &DlpwRow| {
        json!({
            "event": "pass", "pass": row.pass, "seconds": row.seconds,
            "second": row.hard_objective,
        })
    };
    let end = json!({ "event": "end", "status": meta.status, "totals": meta.totals });
    let lines = [start].into_iter().chain(rows.iter().map(pass)).chain([end]);
    lines.map(|line| format!("{line}\n")).collect()
}

/// What is known afterwards, for people.
fn in_words(trained: &Trained) -> String {
    format!(
        "Training ended because {}.\n\
         The hard objective, over the LP relaxation, is at most {:.6}. How far that is from the\n\
         optimum is not known: this training has no certificate.\n",
        trained.model.meta.status.explain(),
        trained.model.meta.certificate.primal
    )
}

fn conclude(args: &DlpwArgs, trained: &Trained) -> Result<()> {
    let Trained { model, test, .. } = trained;
    if args.talk.json {
        let test = test
            .as_ref()
            .map(|(errors, _)| json!({"hamming": errors.parts.share(), "zero_one": errors.examples.share()}));
        let (meta, totals) = (&model.meta, &model.meta.totals);
        return print_json(&json!({
            "status": meta.status, "hard_objective": meta.certificate.primal,
            "quality": Quality::Unproven, "lambda": meta.certificate.lambda, "n": meta.n,
            "d": meta.d, "passes": totals.passes, "seconds": totals.seconds, "seed": args.seed,
            "test": test,
        }));
    }
    if args.talk.quiet {
        return Ok(());
    }
    let tested = test.as_ref().map_or("", |(_, words)| words);
    print(&(in_words(trained) + tested))
}

fn report(args: &DlpwArgs, trained: &Trained, rows: &[DlpwRow]) -> Report {
    let Trained { model, what, test } = trained;
    let meta = &model.meta;
    let lambda = format_number(meta.certificate.lambda);
    let objective = format_number(meta.certificate.primal);
    let mut facts = Facts::new("Result")
        .fact(Fact::new("Status", meta.status.name()).hint(meta.status.explain()))
        .fact(Fact::new("Hard objective", objective).hint("without a certificate"))
        .fact(("λ", lambda.as_str()))
        .fact(("Examples", format_number(meta.n as f64).as_str()))
        .fact(("Features", format_number(meta.d as f64).as_str()))
        .fact(("Passes", format_number(meta.totals.passes as f64).as_str()))
        .fact(("Time", format_seconds(meta.totals.seconds).as_str()));
    let mut words = Prose::new("Result in words").paragraph(in_words(trained));
    if let Some((errors, told)) = test {
        let wrong = format!("{:.2} %", 100.0 * errors.parts.share());
        facts = facts.fact(("Test error", wrong.as_str()));
        words = words.paragraph(told);
    }
    let series = Series::new("dlpw")
        .column("passes", rows.iter().map(|row| row.pass as f64))
        .column("seconds", rows.iter().map(|row| row.seconds))
        .column("hard", rows.iter().map(|row| row.hard_objective));
    let plot = Plot::new("Convergence")
        .x(XAxis::new("passes", "Passes"))
        .x(XAxis::new("seconds", "Seconds"))
        .y(YAxis::new("hard", "Hard objective"))
        .series(series);
    Report::new(format!("DLPW on {}", args.data))
        .subtitle(format!("{what}, {} features; λ = {lambda}", format_number(meta.d as f64)))
        .footer(format!("maxmargin {}; training data {}", meta.version, meta.fingerprint))
        .with(words)
        .with(facts)
        .with(plot)
}
