//! `maxmargin compare`

pub(crate) mod curves;
pub(crate) mod method;
mod on_screen;
pub(crate) mod page;
pub(crate) mod processor;
pub(crate) mod runner;
pub(crate) mod summary;

use super::figures::write_figures;
use super::scaling;
use super::train::{as_option, write_file};
use super::{print, print_json};
use crate::args::{Budget, CompareArgs};
use crate::kind::{self, Vocabulary, kind_of};
use crate::screen::Screen;
use anyhow::{Context as _, Result, bail};
use maxmargin::Settings;
use maxmargin_io::{LabelRule, Training, thread_count};
use runner::{Race, Results};
use serde_json::json;
use std::io::{self, IsTerminal as _};
use std::process::ExitCode;
use summary::{Conditions, Summary};

pub(super) fn run(args: &CompareArgs) -> Result<ExitCode> {
    let screen = Screen::new(args.talk.quiet);
    let comparison = compare(args, &screen)?;
    let Comparison { summary, results } = &comparison;
    screen.busy("drawing the report");
    let markdown = summary.to_markdown();
    let folder = &args.out;
    write_file(&folder.join("summary.md"), markdown.as_bytes())?;
    write_file(&folder.join("summary.json"), &serde_json::to_vec_pretty(summary)?)?;
    let html = page::page(summary, results, &args.line).to_html();
    write_file(&folder.join("report.html"), html.as_bytes())?;
    write_figures(&folder.join("figures"), &page::figures(results))?;
    screen.done();
    match args.talk {
        talk if talk.json => {
            let mut value = serde_json::to_value(summary)?;
            value["reused"] = json!(results.reused);
            print_json(&value)?;
        }
        talk if talk.quiet => {}
        // For people; what reads it from a pipe reads the file as it is.
        _ if io::stdout().is_terminal() => print(&summary.to_text())?,
        _ => print(&markdown)?,
    }
    if results.reused > 0 {
        let (reused, all) = (results.reused, results.runs.len());
        screen.say(format!("{reused} of {all} runs were there already"));
    }
    screen.say(format!(
        "In {}: report.html to look at, summary.md, summary.json, traces, and figures.",
        folder.display()
    ));
    Ok(ExitCode::SUCCESS)
}

/// Runs, and what they show.
pub struct Comparison {
    /// What they show.
    pub summary: Summary,
    /// The runs.
    pub results: Results,
}

/// Runs everything that is asked for, as far as it has not been run before; writes the traces.
fn compare(args: &CompareArgs, screen: &Screen) -> Result<Comparison> {
    race_on(args, race(args)?, screen)
}

/// Runs everything that is asked for like `compare`, but leaves out methods that the data do not allow. None if only
/// finished runs are asked for, and there are none.
pub fn compare_what_applies(args: &CompareArgs, screen: &Screen) -> Result<Option<Comparison>> {
    let mut race = race(args)?;
    race.methods.iter_mut().for_each(|method| method.wanted = false);
    let traces = std::iter::once(&race.traces).chain(&race.elsewhere);
    if race.finished_only && !traces.into_iter().any(|folder| folder.is_dir()) {
        return Ok(None);
    }
    let comparison = race_on(args, race, screen)?;
    Ok(Some(comparison).filter(|comparison| !comparison.results.runs.is_empty()))
}

fn race_on(args: &CompareArgs, race: Race, screen: &Screen) -> Result<Comparison> {
    screen.reading(&args.data);
    let data = kind::read_training(&args.data, args.format, &args.model, args.threads)?;
    scaling::warn(&args.model, &data, screen, "compare");
    compare_on(args, &race, data, screen)
}

/// What the options ask for, judged before any data are read.
fn race(args: &CompareArgs) -> Result<Race> {
    if args.seeds == 0 {
        bail!("--seeds is 0; it must be at least 1");
    }
    scaling::refuse(&args.model, "compare")?;
    if args.data == "-" && args.test.as_deref() == Some("-") {
        bail!("training and test data cannot both come from standard input");
    }
    let soft = &args.model.soft;
    if soft.rho_schedule.is_some() || soft.multipliers.is_some() {
        bail!("methods are compared in single runs: --rho-schedule and --multipliers have several");
    }
    let (passes, max_seconds) = match args.budget {
        Budget::Passes(passes) => (Some(passes), None),
        Budget::Seconds(seconds) => (None, Some(seconds)),
    };
    let jobs = thread_count(args.jobs);
    if args.jobs != 1 && max_seconds.is_some() {
        bail!(
            "--jobs {} runs methods side by side, which makes each of them slower, but --budget limits seconds\n\
             hint: limit effective passes, as in --budget 50",
            args.jobs
        );
    }
    let base = Settings {
        tolerance: args.tolerance,
        gap_every: args.gap_every,
        threads: args.threads,
        max_passes: u64::MAX,
        max_seconds,
        ..Settings::default()
    };
    base.check().map_err(as_option)?;
    for &lambda in &args.lambdas {
        Settings { lambda: Some(lambda), ..base.clone() }.check().context("--lambdas")?;
    }
    let methods = method::methods(&args.methods, &base)?;
    let mut lambdas: Vec<f64> = Vec::new();
    for &lambda in &args.lambdas {
        // One that comes twice is run once: twice the same would count as two seeds.
        if !lambdas.contains(&lambda) {
            lambdas.push(lambda);
        }
    }
    let seeds = args.seeds;
    let (threads, traces) = (args.threads, args.out.join("traces"));
    let (elsewhere, finished_only) = (args.elsewhere.clone(), args.finished_only);
    Ok(Race { methods, lambdas, seeds, passes, threads, jobs, traces, elsewhere, finished_only })
}

fn compare_on(
    args: &CompareArgs,
    race: &Race,
    data: Training,
    screen: &Screen,
) -> Result<Comparison> {
    let (names, kind) = (Vocabulary::of_origin(&data.origin), kind_of(&data.spec)?);
    let read = |test| kind.read(&names, test, args.format, LabelRule::Count);
    let test = args.test.as_deref().map(read).transpose()?;
    let mut conditions = Conditions {
        data: args.data.clone(),
        test: args.test.clone(),
        model: kind.describe(),
        seeds: args.seeds,
        budget: args.budget.to_string(),
        tolerance: args.tolerance,
        gap_every: args.gap_every,
        threads: args.threads,
        side_by_side: 1,
        version: env!("CARGO_PKG_VERSION"),
    };
    let bounds = kind::bounds(&args.model, &data.spec)?;
    let results = runner::run(race, data, test.as_ref(), &bounds, screen)?;
    if results.runs.is_empty() && !args.finished_only {
        bail!("none of the methods applies to {}", args.data);
    }
    conditions.side_by_side = results.side_by_side;
    Ok(Comparison { summary: Summary::new(conditions, &results), results })
}
