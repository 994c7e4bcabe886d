//! Regularization paths against grids (2016).

use super::claims::Findings;
use super::lab::{DataSet, HORSES, Lab, OCR_LARGE, OCR_SMALL};
use anyhow::{Result, bail};
use maxmargin::observe::Control;
use maxmargin::{
    Blocks, Breakpoint, GridSettings, GridStart, GroupBounds, Path, PathSettings, Settings,
    TrainError, lambda_grid_with, regularization_path_with,
};
use maxmargin_command::lab::{Method, on_ctrl_c, processor_seconds, read_training};
use maxmargin_report::{Plot, Series, Table, XAxis, YAxis, format_number, slug};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::time::Instant;

/// The gap that paths guarantee, as in the paper; a larger one makes fewer breakpoints.
fn epsilon(lab: &Lab<'_>) -> f64 {
    lab.or_quick(0.1, 0.3)
}

/// A path or a grid.
#[derive(Clone)]
enum Plan {
    Path { kappa: Option<f64>, heuristic: bool },
    Grid(GridStart),
}

struct Named {
    name: String,
    plan: Plan,
    training: Settings,
}

/// What has come of a plan.
#[derive(Serialize, Deserialize)]
struct Followed {
    name: String,
    points: Vec<Point>,
    largest_gap: f64,
    /// Whether it was stopped because it took too long.
    stopped: bool,
}

/// A breakpoint, or a value of a grid.
#[derive(Serialize, Deserialize)]
struct Point {
    lambda: f64,
    gap: f64,
    /// Oracle calls and seconds so far.
    calls: u64,
    seconds: f64,
}

impl Followed {
    fn new(name: String, path: &Path, stopped: bool) -> Self {
        let point = |b: &Breakpoint| Point {
            lambda: b.certificate.lambda,
            gap: b.certificate.gap,
            calls: b.oracle_calls,
            seconds: b.seconds,
        };
        let points = path.breakpoints.iter().map(point).collect();
        Self { name, points, largest_gap: path.largest_gap(), stopped }
    }
}

/// When a path that takes too long is stopped.
#[derive(Clone, Copy)]
enum Limit {
    /// After so many seconds of all of them; what one does not take is left to the others. A path that was stopped is
    /// followed anew the next time.
    Together(f64),
    /// After so many seconds on a core, for each.
    Each(f64),
}

/// Plans about to be followed.
struct Follow<'a> {
    plans: Vec<Named>,
    lambda_min: f64,
    limit: Limit,
    lab: &'a Lab<'a>,
    /// The name of the data, and what tells them from others.
    data: (&'a str, Value),
}

impl Follow<'_> {
    /// Follows them on a problem.
    fn run(self, problem: &dyn Blocks) -> Result<Vec<Followed>> {
        let interrupt = on_ctrl_c(self.lab.screen)?;
        let (mut all, start, count) = (Vec::new(), Instant::now(), self.plans.len());
        for Named { name, plan, training } in self.plans {
            let (lambda_min, epsilon) = (self.lambda_min, epsilon(self.lab));
            let conditions = json!({
                "plan": name, "lambda_min": lambda_min, "epsilon": epsilon, "training": training,
                "data": self.data.1,
            });
            if let Some(found) = self.lab.find(self.data.0, &name, &conditions) {
                all.push(found);
                continue;
            }
            if self.lab.finished_only {
                self.lab.miss();
                continue;
            }
            let (limit, seconds): (f64, fn(Instant) -> f64) = match self.limit {
                Limit::Each(limit) => (limit, |begin| {
                    processor_seconds().unwrap_or_else(|| begin.elapsed().as_secs_f64())
                }),
                Limit::Together(limit) => {
                    let left = limit - start.elapsed().as_secs_f64();
                    (left / (count - all.len()) as f64, |begin| begin.elapsed().as_secs_f64())
                }
            };
            let begin = Instant::now();
            let before = seconds(begin);
            let mut stopped = false;
            let watch = |_: &Breakpoint, _: &[f64], _: &maxmargin::DualPoint| {
                stopped = seconds(begin) - before > limit;
                if stopped { Control::Stop } else { Control::Continue }
            };
            let path: Result<Path, TrainError> = match plan {
                Plan::Path { kappa, heuristic } => {
                    let settings = PathSettings { epsilon, kappa, lambda_min, heuristic, training };
                    regularization_path_with(problem, &settings, &interrupt, watch)
                }
                Plan::Grid(start) => {
                    let defaults = GridSettings::default();
                    let lambda_min = lambda_min.max(defaults.lambda_min);
                    let settings =
                        GridSettings { epsilon, lambda_min, start, training, ..defaults };
                    lambda_grid_with(problem, &settings, &interrupt, watch)
                }
            };
            let path = path?;
            if interrupt.is_raised() {
                bail!("interrupted");
            }
            self.lab.screen.say(format!(
                "{name}: {} values of lambda, down to {:.3e}",
                path.breakpoints.len(),
                path.breakpoints.last().map_or(f64::NAN, |last| last.certificate.lambda)
            ));
            let followed = Followed::new(name, &path, stopped);
            // One that was stopped may depend on how long the others took.
            if !stopped || matches!(self.limit, Limit::Each(_)) {
                self.lab.keep(self.data.0, &followed.name, &conditions, &followed)?;
            }
            all.push(followed);
        }
        Ok(all)
    }
}

/// The solvers of the paper.
const SOLVERS: [&str; 2] = ["bcfw+gap", "bcfw+gap+pairwise+cache"];

fn training(solver: &str) -> Result<Settings> {
    let base = Settings { max_passes: u64::MAX, threads: 1, ..Settings::default() };
    Ok(Method::parse(solver, &base)?.settings)
}

/// Follows plans on a data set, if it is at hand.
fn follow(
    lab: &Lab<'_>,
    set: &DataSet,
    plans: Vec<Named>,
    findings: &mut Findings,
) -> Result<Option<Journeys>> {
    let Some(args) = lab.args(set, "")? else { return Ok(None) };
    let mut lambda_min = lab.or_quick(2f64.powi(-15), 2f64.powi(-6));
    if set.name == OCR_LARGE.name {
        // Below 1/n each breakpoint takes ever more calls.
        lambda_min = 2f64.powi(-12);
        lab.note(format!("{} down to λ = 2⁻¹² only, which is 1.5/n.", set.name));
    }
    if lab.quick {
        let epsilon = epsilon(lab);
        lab.note(format!("ε = {epsilon} instead of 0.1, and down to λ = {lambda_min} only."));
    }
    let limit = lab.or_quick(Limit::Each(3600.0), Limit::Together(90.0));
    let count = plans.len();
    let data = read_training(&args)?;
    let own = json!({ "fingerprint": data.origin.fingerprint, "model": data.spec });
    let plans = Follow { plans, lambda_min, limit, lab, data: (set.name, own) };
    let n = data.examples.len() as f64;
    let problem = data.spec.problem(data.examples, &GroupBounds::default())?;
    let followed = plans.run(problem.blocks())?;
    show(findings, set.name, n, &followed, epsilon(lab));
    for one in followed.iter().filter(|one| one.stopped) {
        lab.note(format!("{}, {} was stopped because it took too long.", set.name, one.name));
    }
    // A path that was cut short tells nothing of the λ that matter.
    let is_whole = followed.len() == count && !followed.iter().any(|one| one.stopped);
    Ok(Some(Journeys { n, followed, is_whole }))
}

/// What has come of some plans on a data set.
struct Journeys {
    /// Number of examples.
    n: f64,
    followed: Vec<Followed>,
    /// Whether all of them have come to their end.
    is_whole: bool,
}

/// Curves, and a table.
fn show(findings: &mut Findings, data: &str, n: f64, followed: &[Followed], epsilon: f64) {
    let mut plot = Plot::new(format!("{data}: work from the largest λ downwards"))
        .note("Lines run from right to left: what it took to get down to each λ.")
        .x(XAxis::new("lambda", "λ").log())
        .y(YAxis::new("passes", "Effective passes so far").log())
        .y(YAxis::new("seconds", "Seconds so far").log())
        .y(YAxis::new("gap", "True duality gap").log().guide("ε", epsilon));
    let mut table = Table::new(format!("{data}: paths and grids"))
        .text_column("Method")
        .number_column("Values of λ")
        .number_column("Passes")
        .number_column("Time")
        .number_column("Largest true gap")
        .number_column("Down to λ");
    let mut text = format!(
        "\n## {data}, ε = {epsilon}\n\n| Method | Values of λ | Passes | Time | Largest true gap | \
         Down to λ |\n|---|---|---|---|---|---|\n"
    );
    for Followed { name, points, largest_gap, .. } in followed {
        let rows = || points.iter();
        plot = plot.series(
            Series::new(name.as_str())
                .column("lambda", rows().map(|point| point.lambda))
                .column("passes", rows().map(|point| point.calls as f64 / n))
                .column("seconds", rows().map(|point| point.seconds))
                .column("gap", rows().map(|point| point.gap)),
        );
        let Some(last) = points.last() else { continue };
        let cells = [
            name.clone(),
            points.len().to_string(),
            format!("{:.0}", last.calls as f64 / n),
            format!("{:.2} s", last.seconds),
            format_number(*largest_gap),
            format!("{:.1e}", last.lambda),
        ];
        let _ = writeln!(text, "| {} |", cells.join(" | "));
        table = table.row(cells);
    }
    findings.details += &text;
    findings.add_plot(&slug(data), plot);
    findings.sections.push(table.into());
}

/// Effective passes to the last λ that is at least `lambda`.
fn passes_to(one: &Followed, lambda: f64, n: f64) -> Option<f64> {
    let reached = one.points.iter().find(|point| point.lambda <= lambda * (1.0 + 1e-9));
    reached.map(|point| point.calls as f64 / n)
}

/// A λ that all of them have reached.
fn common(followed: &[Followed]) -> f64 {
    let last = |one: &Followed| one.points.last().map(|point| point.lambda);
    followed.iter().filter_map(last).fold(0.0, f64::max)
}

fn named(solver: &str, plan: &Plan) -> Result<Named> {
    let what = match plan {
        Plan::Path { kappa, heuristic } => {
            let kind = if *heuristic { "heuristic path" } else { "path" };
            kappa.map_or_else(|| kind.to_owned(), |kappa| format!("{kind}, κ = {kappa}"))
        }
        Plan::Grid(GridStart::Cold) => "grid".to_owned(),
        Plan::Grid(start) => format!("grid, {start}"),
    };
    Ok(Named {
        name: format!("{what} ({solver})"),
        plan: plan.clone(),
        training: training(solver)?,
    })
}

const EXACT: Plan = Plan::Path { kappa: None, heuristic: false };
const HEURISTIC: Plan = Plan::Path { kappa: None, heuristic: true };

/// Path against grids, on horses.
pub(super) fn figure_4(lab: &Lab<'_>) -> Result<Findings> {
    let mut findings = Findings::default();
    let set = match lab.data_has(&HORSES) {
        true => HORSES,
        false => {
            lab.note("OCR small instead of horses, which are not at hand.");
            OCR_SMALL
        }
    };
    let plans = [EXACT, Plan::Grid(GridStart::Cold), Plan::Grid(GridStart::WarmPrimal)];
    let plans = plans.iter().map(|plan| named(SOLVERS[1], plan)).collect::<Result<_>>()?;
    if let Some(journeys) = follow(lab, &set, plans, &mut findings)? {
        against_grid(&mut findings, "Section 5.2", set.name, &journeys, SOLVERS[1]);
    }
    Ok(findings)
}

/// What the paper says of paths and grids.
fn against_grid(
    findings: &mut Findings,
    source: &'static str,
    data: &str,
    &Journeys { n, ref followed, is_whole: whole }: &Journeys,
    solver: &str,
) {
    let lambda = common(followed);
    let find = |what: &str| {
        let name = format!("{what} ({solver})");
        followed.iter().find(|one| one.name == name).and_then(|one| passes_to(one, lambda, n))
    };
    let (path, heuristic) = (find("path"), find("heuristic path"));
    let (cold, warm) = (find("grid"), find("grid, warm-primal"));
    let show = |x: Option<f64>| x.map_or_else(|| "–".to_owned(), |x| format!("{x:.0}"));
    let measured = format!(
        "passes down to λ = {}: path {}, heuristic path {}, grid {}, warm grid {}",
        format_number(lambda),
        show(path),
        show(heuristic),
        show(cold),
        show(warm)
    );
    let on = format!("{data}, {solver}");
    findings.claim(
        source,
        "Warm start speeds up the grid",
        on.as_str(),
        measured.as_str(),
        cold.zip(warm).filter(|_| whole).map(|(cold, warm)| warm < cold),
    );
    findings.claim(
        source,
        "The path costs about as much as the grid (here: at most twice), and has weights for every λ",
        on.as_str(),
        measured.as_str(),
        path.zip(cold).filter(|_| whole).map(|(path, cold)| path <= 2.0 * cold),
    );
    if heuristic.is_some() {
        findings.claim(
            source,
            "The heuristic path takes less than the exact one",
            on,
            measured,
            path.zip(heuristic).filter(|_| whole).map(|(path, heuristic)| heuristic < path),
        );
    }
}

/// Paths at several κ.
pub(super) fn figure_7(lab: &Lab<'_>) -> Result<Findings> {
    let mut findings = Findings::default();
    let kappas =
        lab.or_quick(&[0.1, 0.3, 0.5, 0.7, 0.9, 0.95, 0.99][..], &[0.1, 0.5, 0.9, 0.99][..]);
    let solvers = lab.or_quick(&SOLVERS[..], &SOLVERS[1..]);
    let mut plans = Vec::new();
    for solver in solvers {
        for heuristic in [false, true] {
            for &kappa in kappas {
                plans.push(named(solver, &Plan::Path { kappa: Some(kappa), heuristic })?);
            }
        }
    }
    let Some(journeys) = follow(lab, &OCR_SMALL, plans, &mut findings)? else {
        return Ok(findings);
    };
    let Journeys { n, followed, is_whole: whole } = journeys;
    let lambda = common(&followed);
    for solver in solvers {
        let find = |heuristic: &str, kappa: f64| {
            let name = format!("{heuristic}path, κ = {kappa} ({solver})");
            followed.iter().find(|one| one.name == name)
        };
        let passes = |kappa: f64| find("", kappa).and_then(|one| passes_to(one, lambda, n));
        let told: Vec<String> = kappas
            .iter()
            .filter_map(|&kappa| Some(format!("κ = {kappa}: {:.0}", passes(kappa)?)))
            .collect();
        // The best of those that are neither too small nor near 1.
        let inner = kappas.iter().filter(|kappa| (0.5..0.95).contains(*kappa));
        let middle = inner.filter_map(|&kappa| passes(kappa)).min_by(f64::total_cmp);
        let (low, high) = (passes(0.1), passes(0.99));
        findings.claim(
            "Figure 7a",
            "Too small (< 0.5) and too large (≈ 1) κ make slower paths",
            format!("OCR small, {solver}"),
            format!("passes down to λ = {}: {}", format_number(lambda), told.join(", ")),
            low.zip(middle)
                .zip(high)
                .filter(|_| whole)
                .map(|((low, middle), high)| middle < low && middle < high),
        );
        let gaps: Vec<(f64, f64)> = kappas
            .iter()
            .filter_map(|&kappa| Some((kappa, find("heuristic ", kappa)?.largest_gap)))
            .collect();
        let told: Vec<String> = gaps
            .iter()
            .map(|(kappa, gap)| format!("κ = {kappa}: {}", format_number(*gap)))
            .collect();
        let beyond = |gap: f64| gap > epsilon(lab) * (1.0 + 1e-6);
        let last = gaps.last().map(|(_, gap)| beyond(*gap));
        let early = gaps.iter().filter(|(kappa, _)| *kappa <= 0.7).all(|(_, gap)| !beyond(*gap));
        findings.claim(
            "Figure 7b",
            "Heuristic paths miss ε for large κ, and keep it up to κ = 0.7",
            format!("OCR small, {solver}"),
            format!("largest true gap {}", told.join(", ")),
            last.filter(|_| whole).map(|last| last && early),
        );
    }
    Ok(findings)
}

/// Exact and heuristic paths against grids.
pub(super) fn figure_8(lab: &Lab<'_>) -> Result<Findings> {
    let mut findings = Findings::default();
    let sets = lab.or_quick(vec![OCR_SMALL, HORSES, OCR_LARGE], vec![OCR_SMALL]);
    for set in sets {
        let mut plans = Vec::new();
        for solver in SOLVERS {
            let all =
                [EXACT, HEURISTIC, Plan::Grid(GridStart::Cold), Plan::Grid(GridStart::WarmPrimal)];
            for plan in &all {
                plans.push(named(solver, plan)?);
            }
        }
        if let Some(journeys) = follow(lab, &set, plans, &mut findings)? {
            for solver in SOLVERS {
                against_grid(&mut findings, "Figure 8", set.name, &journeys, solver);
            }
        }
    }
    Ok(findings)
}
