//! Oracle calls and processor seconds that methods take on one data set, to the tolerance that is asked for:
//!
//! ```text
//! cargo run --release -p maxmargin-lab -F benchmarks --bin solvers -- DATA [OPTIONS]
//! ```
//!
//! DATA and options of the model are those of `maxmargin train`. A method is written as `compare` writes it:
//! `bcfw+gap+corrective`. Figures are medians over the seeds. A run that has not converged after `--limit` seconds
//! of the processor is shown as `–`, with the gap of its last certificate.

use anyhow::{Context as _, Result};
use clap::Parser;
use maxmargin::observe::{Control, Event};
use maxmargin::{GroupBounds, Settings, Solver, Status, Trainer};
use maxmargin_command::lab::{Method, ModelArgs, format_parser, read_training_of};
use maxmargin_io::{Format, Training};
use maxmargin_lab::{cpu_seconds, median};

#[derive(Parser)]
struct Args {
    /// Training data
    data: String,
    #[arg(long, value_parser = format_parser())]
    format: Option<Format>,
    /// Methods; all solvers unless given
    #[arg(long, value_delimiter = ',', default_values = Solver::NAMES)]
    methods: Vec<String>,
    /// Regularization; by the scale of features and losses unless given
    #[arg(long, value_delimiter = ',')]
    lambdas: Vec<f64>,
    /// The gap to reach, or with % the share of the objective
    #[arg(long, default_value = "1%")]
    tolerance: String,
    #[arg(long, default_value_t = 1)]
    seeds: u64,
    /// Processor seconds that a run may take
    #[arg(long, default_value_t = 60.0)]
    limit: f64,
    #[command(flatten)]
    model: ModelArgs,
}

fn main() -> Result<()> {
    let args = Args::parse();
    let (tolerance, relative_tolerance) = match args.tolerance.strip_suffix('%') {
        Some(share) => (0.0, share.parse::<f64>().context("the tolerance")? / 100.0),
        None => (args.tolerance.parse().context("the tolerance")?, 0.0),
    };
    let base = Settings {
        tolerance,
        relative_tolerance,
        max_passes: u64::MAX,
        threads: 1,
        ..Settings::default()
    };
    let data = read_training_of(&args.data, args.format, &args.model)?;
    let lambdas = match args.lambdas.is_empty() {
        true => vec![data.scale_lambda(&GroupBounds::default(), 1)?.lambda],
        false => args.lambdas.clone(),
    };
    println!("| λ | method | calls | calls/n | seconds | last gap |\n|---|---|---|---|---|---|");
    for lambda in lambdas {
        let mut data = data.clone();
        let mut base = Settings { lambda: Some(lambda), ..base.clone() };
        data.fix_lambda(&mut base);
        let Training { spec, examples, .. } = data;
        let built = spec.problem(examples, &GroupBounds::default())?;
        let n = built.blocks().examples() as f64;
        for name in &args.methods {
            let runs: Vec<Run> = (1..=args.seeds)
                .map(|seed| {
                    let settings = Settings { seed, ..Method::parse(name, &base)?.settings };
                    run(built.blocks(), settings, args.limit)
                })
                .collect::<Result<_>>()
                .unwrap_or_else(|error| {
                    eprintln!("{name}: {error:#}");
                    Vec::new()
                });
            if runs.is_empty() {
                continue;
            }
            let middle = |part: fn(&Run) -> f64| median(&runs.iter().map(part).collect::<Vec<_>>());
            let (calls, gap) = (middle(|run| run.calls), middle(|run| run.gap));
            let (each, seconds) = (calls / n, middle(|run| run.seconds));
            match runs.iter().all(|run| run.is_done) {
                true => println!(
                    "| {lambda:.3e} | {name} | {calls:.0} | {each:.1} | {seconds:.3} | {gap:.2e} |"
                ),
                false => println!(
                    "| {lambda:.3e} | {name} | – ({calls:.0}) | – | – ({seconds:.1}) | {gap:.2e} |"
                ),
            }
        }
    }
    Ok(())
}

/// What a run took.
struct Run {
    calls: f64,
    seconds: f64,
    gap: f64,
    is_done: bool,
}

fn run(problem: &dyn maxmargin::Blocks, settings: Settings, limit: f64) -> Result<Run> {
    let begin = cpu_seconds();
    let mut watch = |event: Event<'_>| match event {
        Event::Pass { .. } if cpu_seconds() - begin > limit => Control::Stop,
        _ => Control::Continue,
    };
    let solution = Trainer::new(settings).observe(&mut watch).train(problem)?;
    Ok(Run {
        calls: solution.totals.oracle_calls as f64,
        seconds: cpu_seconds() - begin,
        gap: solution.certificate.gap,
        is_done: solution.status == Status::Converged,
    })
}
