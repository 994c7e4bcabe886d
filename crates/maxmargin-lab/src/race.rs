//! Orders, directions and caches against each other on one problem.

use crate::median;
use anyhow::Result;
use maxmargin::observe::{Control, Event};
use maxmargin::{
    BlockCoordinate, BlockStep, Caching, Direction, Order, Problem, Settings, Status, Trainer,
};
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
    /// Runs all variants on one problem to each of three gaps, every time from the start as one would
    /// who asks for that gap, and prints a table and what to read off it.
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
        let mut table = Vec::new();
        for (name, settings) in variants() {
            let settings = Settings {
                lambda: Some(lambda),
                max_passes: u64::MAX,
                max_seconds: Some(limit),
                threads: 1,
                ..settings
            };
            let runs: Vec<Vec<Curve>> = (1..=seeds)
                .map(|seed| to_each_gap(problem, &Settings { seed, ..settings.clone() }, gaps))
                .collect::<Result<_>>()?;
            println!("| {name} | {} |", cells(&runs, gaps));
            if let Some(finest) = runs[0].last() {
                plot = plot.series(
                    Series::new(name.replace('*', ""))
                        .column("calls", finest.iter().map(|row| row[0]))
                        .column("seconds", finest.iter().map(|row| row[1]))
                        .column("gap", finest.iter().map(|row| row[2])),
                );
            }
            table.push((name, [0, 1, 2].map(|at| reached(&runs, at, gaps[at], 1))));
        }
        println!("\n{}", verdict(&table, gaps));
        self.page.push(plot);
        Ok(())
    }
}

/// Effective passes, seconds, the gap, and the share of the time in oracles at every exact pass.
type Curve = Vec<[f64; 4]>;

/// A run to each of the gaps, the largest first, up to one that takes too long.
fn to_each_gap<P: Problem>(problem: &P, settings: &Settings, gaps: [f64; 3]) -> Result<Vec<Curve>> {
    let mut curves = Vec::new();
    for tolerance in gaps {
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
        let settings = Settings { tolerance, ..settings.clone() };
        let solution = Trainer::new(settings).observe(&mut watch).train(problem)?;
        curves.push(rows);
        if solution.status != Status::Converged {
            break;
        }
    }
    Ok(curves)
}

/// A column of where the run to the gap number `at` has ended, the median over the seeds; none unless all
/// have come there.
fn reached(runs: &[Vec<Curve>], at: usize, gap: f64, column: usize) -> Option<f64> {
    let end =
        |run: &Vec<Curve>| run.get(at)?.last().filter(|row| row[2] <= gap).map(|row| row[column]);
    runs.iter().map(end).collect::<Option<Vec<f64>>>().map(|found| median(&found))
}

fn cells(runs: &[Vec<Curve>], gaps: [f64; 3]) -> String {
    let cell = |column: usize, at: usize, digits: usize| {
        let found = reached(runs, at, gaps[at], column);
        found.map_or_else(|| "–".to_owned(), |found| format!("{found:.digits$}"))
    };
    let calls = [0, 1, 2].map(|at| cell(0, at, 0));
    let seconds = [0, 1, 2].map(|at| cell(1, at, 3));
    let last = |column: usize| {
        let ends = runs.iter().filter_map(|run| run.last()?.last());
        median(&ends.map(|row| row[column]).collect::<Vec<_>>())
    };
    let ends = [format!("{:.0} %", 100.0 * last(3)), format!("{:.1e}", last(2))];
    calls.into_iter().chain(seconds).chain(ends).collect::<Vec<_>>().join(" | ")
}

/// The seconds of auto, the last in the table, against the best of the others and against plain BCFW, the
/// first.
fn verdict(table: &[(String, [Option<f64>; 3])], gaps: [f64; 3]) -> String {
    let [others @ .., (_, auto)] = table else { return String::new() };
    let lines = (0..3).map(|at| {
        let fixed = others.iter().filter_map(|(name, seconds)| Some((seconds[at]?, name)));
        let best = fixed.min_by(|a, b| a.0.total_cmp(&b.0));
        let ratio = |other: f64| match auto[at] {
            Some(auto) => format!("{:.2}", auto / other),
            None => "–".to_owned(),
        };
        let best = best.map_or("– (none came there)".to_owned(), |(seconds, name)| {
            format!("{} of the best ({name})", ratio(seconds))
        });
        let plain =
            others[0].1[at].map_or("– of".to_owned(), |plain| format!("{} of", ratio(plain)));
        format!("- to {}: auto takes {best}, {plain} plain BCFW ({})", gaps[at], others[0].0)
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// The eight of Osokin et al. (2016), corrective steps, and what is chosen without being asked.
fn variants() -> Vec<(String, Settings)> {
    let mut all = Vec::new();
    let plain = BlockCoordinate::default();
    for (direction, step) in [
        (Direction::FrankWolfe, plain.step),
        (Direction::Pairwise, BlockStep::Pairwise),
        (Direction::Corrective, BlockStep::Corrective),
    ] {
        for order in [Order::Uniform, Order::Gap] {
            for (cache, with) in [(Caching::Off, ""), (Caching::On, ", cache")] {
                let method = BlockCoordinate { order, step, cache, ..plain.clone() }.into();
                let settings = Settings { method, ..Settings::default() };
                all.push((format!("{direction}, {order}{with}"), settings));
            }
        }
    }
    all.push(("**auto**".to_owned(), Settings::default()));
    all
}
