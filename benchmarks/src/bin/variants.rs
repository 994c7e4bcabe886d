//! Oracle calls and seconds to a gap, for every order, direction and cache that compete:
//!
//! ```text
//! cargo run --release -p maxmargin-benchmarks --bin variants -- [SEEDS] [SECONDS] [PAGE.html]
//! ```
//!
//! Medians over the seeds (5 unless given); a run that takes longer than SECONDS (20 unless given) is
//! stopped, and its missing figures are shown as `–`. The page draws the gap against oracle calls and
//! time, for the first seed.

use anyhow::{Context as _, Result};
use maxmargin::model::chain::Chain;
use maxmargin::observe::{Control, Event};
use maxmargin::{Caching, Direction, Order, Problem as _, Settings, Solver, Trainer};
use maxmargin_benchmarks::{chain, conll, median, peak_memory, time_passes};
use maxmargin_report::{Plot, Report, Series, XAxis, YAxis};

fn main() -> Result<()> {
    let mut args = std::env::args().skip(1);
    let seeds: u64 = args.next().map_or(Ok(5), |text| text.parse()).context("SEEDS: a number")?;
    let limit: f64 = args.next().map_or(Ok(20.0), |text| text.parse()).context("SECONDS")?;
    let mut race =
        Race { seeds, limit, page: Report::new("Variants of block-coordinate Frank-Wolfe") };
    let large = chain("ocr-large", None)?;
    step_overhead(&large)?;
    for (data, chain) in [("ocr-small", &chain("ocr-small", None)?), ("ocr-large", &large)] {
        for lambda in [0.1, 0.01, 0.001, 1.0 / chain.examples() as f64] {
            race.run(data, chain, lambda, [0.1, 0.01, 0.001])?;
        }
    }
    if let Some(conll) = conll()? {
        race.run("CoNLL-2000", &conll, 0.001, [0.1, 0.01, 0.002])?;
    }
    if let Some(path) = args.next() {
        std::fs::write(&path, race.page.to_html()).context(path)?;
    }
    Ok(())
}

/// What a step costs beside its oracle call: passes of the dearest variant against plain ones.
fn step_overhead(chain: &Chain) -> Result<()> {
    let base = Settings {
        lambda: Some(0.001),
        solver: Solver::BlockCoordinate,
        tolerance: 0.0,
        max_passes: 40,
        threads: 1,
        ..Settings::default()
    };
    let (order, direction, cache) = (Order::Gap, Direction::Pairwise, Caching::On);
    let plain = median(&time_passes(chain, &base)?.passes);
    let other = median(&time_passes(chain, &Settings { order, direction, cache, ..base })?.passes);
    println!("A pass over ocr-large at λ = 0.001 (medians of 40): plain {plain:.4} s, gap-sampled");
    println!("pairwise with cache {other:.4} s, ratio {:.2}.", other / plain);
    if let Some(bytes) = peak_memory() {
        println!("Peak memory of both: {} MB.", bytes >> 20);
    }
    Ok(())
}

struct Race {
    seeds: u64,
    limit: f64,
    page: Report,
}

impl Race {
    /// Runs all variants on one problem to the last of three gaps.
    fn run(&mut self, data: &str, chain: &Chain, lambda: f64, gaps: [f64; 3]) -> Result<()> {
        let (seeds, limit, [a, b, c]) = (self.seeds, self.limit, gaps);
        println!("\n### {data}, λ = {lambda:.3e}, {seeds} seeds, at most {limit} s each\n");
        println!(
            "| variant | calls/n to {a} | to {b} | to {c} | seconds to {a} | to {b} | to {c} |"
        );
        println!("|---|---|---|---|---|---|---|");
        let mut plot = Plot::new(format!("{data}, λ = {lambda:.3e}"))
            .x(XAxis::new("calls", "Oracle calls / n").log())
            .x(XAxis::new("seconds", "Seconds").log())
            .y(YAxis::new("gap", "Duality gap").log());
        for (name, settings) in variants() {
            let settings = Settings {
                lambda: Some(lambda),
                tolerance: c,
                max_passes: u64::MAX,
                max_seconds: Some(limit),
                threads: 1,
                ..settings
            };
            let curves: Vec<Curve> = (1..=seeds)
                .map(|seed| curve(chain, &Settings { seed, ..settings.clone() }))
                .collect::<Result<_>>()?;
            println!("| {name} | {} |", cells(&curves, gaps));
            let first = &curves[0];
            plot = plot.series(
                Series::new(name.replace('*', ""))
                    .column("calls", first.iter().map(|row| row[0]))
                    .column("seconds", first.iter().map(|row| row[1]))
                    .column("gap", first.iter().map(|row| row[2])),
            );
        }
        self.page.push(plot);
        Ok(())
    }
}

/// Effective passes, seconds and the gap at every exact pass.
type Curve = Vec<[f64; 3]>;

fn curve(chain: &Chain, settings: &Settings) -> Result<Curve> {
    let mut rows = Curve::new();
    let mut watch = |event: Event<'_>| {
        if let Event::Pass { record, .. } = event
            && let Some(gap) = record.gap
        {
            rows.push([record.effective_passes, record.seconds, gap]);
        }
        Control::Continue
    };
    Trainer::new(settings.clone()).observe(&mut watch).train(chain)?;
    Ok(rows)
}

/// Calls and seconds of the first row at or below each gap, medians over the seeds.
fn cells(curves: &[Curve], gaps: [f64; 3]) -> String {
    let cell = |column: usize, gap: f64, digits: usize| {
        let reached = |curve: &Curve| curve.iter().find(|row| row[2] <= gap).map(|row| row[column]);
        match curves.iter().map(reached).collect::<Option<Vec<f64>>>() {
            Some(found) => format!("{:.digits$}", median(&found)),
            None => "–".to_owned(),
        }
    };
    let calls = gaps.map(|gap| cell(0, gap, 0));
    let seconds = gaps.map(|gap| cell(1, gap, 2));
    calls.into_iter().chain(seconds).collect::<Vec<_>>().join(" | ")
}

/// The eight of Osokin et al. (2016), corrective steps, and what is chosen without being asked.
fn variants() -> Vec<(String, Settings)> {
    let mut all = Vec::new();
    let solver = Solver::BlockCoordinate;
    for direction in [Direction::FrankWolfe, Direction::Pairwise, Direction::Corrective] {
        for order in [Order::Uniform, Order::Gap] {
            for (cache, with) in [(Caching::Off, ""), (Caching::On, ", cache")] {
                let settings = Settings { solver, order, direction, cache, ..Settings::default() };
                all.push((format!("{direction}, {order}{with}"), settings));
            }
        }
    }
    all.push(("**auto**".to_owned(), Settings::default()));
    all
}
