//! Orders, directions and caches against each other on one problem.

use crate::median;
use anyhow::Result;
use maxmargin::observe::{Control, Event};
use maxmargin::{Caching, Direction, Order, Problem, Settings, Solver, Trainer};
use maxmargin_report::{Plot, Report, Series, XAxis, YAxis};

/// A race over some seeds, each run with a limit in seconds.
#[derive(Debug)]
pub struct Race {
    /// How many.
    pub seeds: u64,
    /// The limit.
    pub limit: f64,
    /// Where the curves are drawn.
    pub page: Report,
}

impl Race {
    /// Runs all variants on one problem to the last of three gaps, and prints a table.
    ///
    /// # Errors
    /// As training.
    pub fn run<P: Problem>(
        &mut self,
        data: &str,
        problem: &P,
        lambda: f64,
        gaps: [f64; 3],
    ) -> Result<()> {
        let (seeds, limit, [a, b, c]) = (self.seeds, self.limit, gaps);
        println!("\n### {data}, λ = {lambda:.3e}, {seeds} seeds, at most {limit} s each\n");
        println!(
            "| variant | calls/n to {a} | to {b} | to {c} | seconds to {a} | to {b} | to {c} | \
             in oracles | last gap |"
        );
        println!("|---|---|---|---|---|---|---|---|---|");
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
                .map(|seed| curve(problem, &Settings { seed, ..settings.clone() }))
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

/// Effective passes, seconds, the gap, and the share of the time in oracles at every exact pass.
type Curve = Vec<[f64; 4]>;

fn curve<P: Problem>(problem: &P, settings: &Settings) -> Result<Curve> {
    let mut rows = Curve::new();
    let mut watch = |event: Event<'_>| {
        if let Event::Pass { record, .. } = event
            && let Some(gap) = record.gap
        {
            let share = record.oracle_seconds / record.seconds;
            rows.push([record.effective_passes, record.seconds, gap, share]);
        }
        Control::Continue
    };
    Trainer::new(settings.clone()).observe(&mut watch).train(problem)?;
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
    let last = |column: usize| {
        let values = curves.iter().filter_map(|curve| curve.last()).map(|row| row[column]);
        median(&values.collect::<Vec<_>>())
    };
    let ends = [format!("{:.0} %", 100.0 * last(3)), format!("{:.1e}", last(2))];
    calls.into_iter().chain(seconds).chain(ends).collect::<Vec<_>>().join(" | ")
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
