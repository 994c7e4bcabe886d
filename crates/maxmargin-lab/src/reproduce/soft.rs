//! Soft constraints (2015), on sets of labels.

use super::claims::Findings;
use super::kept::number;
use super::lab::{DataSet, Lab, REUTERS, YEAST, YEAST_CONSTANT};
use anyhow::Result;
use maxmargin::evaluate::LabelSetScores;
use maxmargin::inference::Inference;
use maxmargin::model::LabelledRows;
use maxmargin::model::multilabel::Multilabel;
use maxmargin::model::soft::SoftGraph;
use maxmargin::observe::{Control, Event};
use maxmargin::{Rng, Settings, Trainer};
use maxmargin_cli::lab::{LabelSets, Method};
use maxmargin_io::{MultilabelSpec, Spec};
use maxmargin_lab::dlpw::{DlpwRow, DlpwSettings, dlpw};
use maxmargin_report::{Plot, Series, XAxis, YAxis, format_number, slug};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::cell::RefCell;
use std::fmt::Write as _;

/// Regularization: the paper chose it by cross-validation and does not state it.
const LAMBDA: f64 = 0.01;

/// Test data are decoded on all cores.
const ALL_CORES: usize = 0;

/// A row of a run.
#[derive(Clone, Copy, Serialize, Deserialize)]
struct Row {
    epochs: f64,
    seconds: f64,
    /// The objective that is trained, and its dual; not of DLPW.
    primal: Option<f64>,
    dual: Option<f64>,
    /// That of the LP relaxation.
    #[serde(deserialize_with = "number")]
    hard: f64,
    #[serde(deserialize_with = "number")]
    test: f64,
}

#[derive(Serialize, Deserialize)]
struct Run {
    name: String,
    rows: Vec<Row>,
    /// Micro F1 of the last weights on the test data.
    #[serde(deserialize_with = "number")]
    f1: f64,
}

/// A multi-label data set.
struct Labels<'a> {
    lab: &'a Lab<'a>,
    name: String,
    /// What tells the data from others.
    own: Value,
    spec: MultilabelSpec,
    train: LabelledRows,
    test: LabelledRows,
    limits: Limits,
}

/// When runs end.
#[derive(Clone, Copy)]
struct Limits {
    epochs: u64,
    seconds: f64,
    /// Of training over linear programs, which is slow.
    lp_seconds: f64,
    tolerance: f64,
    gap_every: u64,
}

/// A method that minimises the soft objective.
#[derive(Clone, Copy, PartialEq)]
enum SoftMethod {
    /// Algorithm 1 of the paper: blocks drawn uniformly, exact line search.
    Algorithm1,
    Auto,
}

impl SoftMethod {
    fn name(self) -> &'static str {
        if self == Self::Auto { "auto" } else { "Algorithm 1" }
    }
}

/// ρ in the paper's units. Its Hamming loss may be the share of wrong labels or their number. With k labels, the
/// number at λ and ρ is the share at kλ and kρ, with weights and messages k times as large.
#[derive(Clone, Copy)]
struct Rho {
    rho: f64,
    counts_labels: bool,
}

impl Rho {
    const fn share(rho: f64) -> Self {
        Self { rho, counts_labels: false }
    }

    const fn number(rho: f64) -> Self {
        Self { rho, counts_labels: true }
    }

    /// For a loss that is the share of wrong labels.
    fn value(self, labels: usize) -> f64 {
        if self.counts_labels { self.rho * labels as f64 } else { self.rho }
    }

    fn name(self, labels: usize) -> String {
        match self.counts_labels {
            true => format!("ρ = {}·{labels}", self.rho),
            false => format!("ρ = {}", self.rho),
        }
    }
}

impl<'a> Labels<'a> {
    fn read(lab: &'a Lab<'a>, set: &DataSet, limits: Limits) -> Result<Option<Self>> {
        let Some(args) = lab.args(set, set.test)? else { return Ok(None) };
        let LabelSets { spec, train, test } = LabelSets::read(&args)?;
        lab.note(format!(
            "λ = {LAMBDA} (the paper's was chosen by cross-validation and is not stated), one seed, one \
             thread. The penalty is inside the mean over examples, as in the paper's Algorithm 1. ρ = r·k is \
             ρ = r with a loss that counts wrong labels, on k labels. Seconds are those of the training thread \
             on a core, gap checks included."
        ));
        let whole: Spec = spec.clone().into();
        let own = json!({ "train": train.1, "test": test.1, "model": whole });
        let (train, test) = (train.0, test.0);
        Ok(Some(Self { lab, name: set.name.to_owned(), own, spec, train, test, limits }))
    }

    /// A run that was made before, or a new one.
    fn kept(
        &self,
        name: String,
        settings: &Settings,
        run: impl FnOnce(&str) -> Result<Run>,
    ) -> Result<Run> {
        let conditions = json!({ "run": name, "settings": settings, "data": self.own });
        if let Some(found) = self.lab.find(&self.name, &name, &conditions) {
            return Ok(found);
        }
        self.lab.screen.say(format!("{}: {name}", self.name));
        let found = run(&name)?;
        self.lab.keep(&self.name, &name, &conditions, &found)?;
        Ok(found)
    }

    fn settings(&self, seconds: f64) -> Settings {
        let Limits { epochs, tolerance, gap_every, .. } = self.limits;
        Settings {
            lambda: Some(LAMBDA),
            tolerance,
            max_passes: epochs,
            max_seconds: Some(seconds),
            gap_every,
            threads: 1,
            ..Settings::default()
        }
    }

    fn soft_graph(&self, rho: f64) -> Result<SoftGraph> {
        let MultilabelSpec { shape, loss, .. } = &self.spec;
        Ok(SoftGraph::of_labels(shape, &self.train, loss, LAMBDA, rho)?)
    }

    fn test_error(&self, w: &[f64]) -> f64 {
        self.spec.errors(w, &self.test, ALL_CORES).map_or(f64::NAN, |errors| errors.parts.share())
    }

    /// Micro F1 on the test data, if there are any.
    fn f1(&self, w: &[f64]) -> Result<f64> {
        if self.test.is_empty() {
            return Ok(f64::NAN);
        }
        let MultilabelSpec { shape, loss, .. } = &self.spec;
        let mut scores = LabelSetScores::new(shape.labels);
        let test = Multilabel::new(shape.clone(), self.test.clone(), loss, Inference::Auto)?;
        for (i, predicted) in test.predict(w).iter().enumerate() {
            scores.add(self.test.labels(i), predicted);
        }
        Ok(scores.micro().f1())
    }

    fn soft(&self, method: SoftMethod, rho: Rho) -> Result<Run> {
        let labels = self.spec.shape.labels;
        let base = self.settings(self.limits.seconds);
        let settings = match method {
            SoftMethod::Algorithm1 => Method::parse("bcfw+uniform", &base)?.settings,
            SoftMethod::Auto => base,
        };
        let name = format!("soft by {}, {}", method.name(), rho.name(labels));
        self.kept(name, &settings, |name| {
            let problem = self.soft_graph(rho.value(labels))?;
            let judge =
                |w: &[f64]| (problem.hard_objective(w), self.test_error(problem.weights(w)));
            let (rows, weights) = self.train(&problem, &settings, judge)?;
            let f1 = self.f1(problem.weights(&weights))?;
            Ok(Run { name: name.to_owned(), rows, f1 })
        })
    }

    /// Over linear programs, or whatever solves them.
    fn relaxed(&self, inference: Inference) -> Result<Run> {
        let is_lp = inference == Inference::Lp;
        let seconds = if is_lp { self.limits.lp_seconds } else { self.limits.seconds };
        let settings = Settings { max_passes: u64::MAX, ..self.settings(seconds) };
        self.kept(format!("auto, oracle {inference}"), &settings, |name| {
            let MultilabelSpec { shape, loss, .. } = &self.spec;
            let problem = Multilabel::new(shape.clone(), self.train.clone(), loss, inference)?;
            let judge = |w: &[f64]| (f64::NAN, self.test_error(w));
            let (mut rows, weights) = self.train(&problem, &settings, judge)?;
            // What it trains is the hard objective.
            rows.iter_mut().for_each(|row| row.hard = row.primal.unwrap_or(f64::NAN));
            Ok(Run { name: name.to_owned(), rows, f1: self.f1(&weights)? })
        })
    }

    /// Trains; `judge` tells the hard objective and the test error of weights. The rows, and the weights.
    fn train(
        &self,
        problem: &impl maxmargin::Problem,
        settings: &Settings,
        judge: impl Fn(&[f64]) -> (f64, f64),
    ) -> Result<(Vec<Row>, Vec<f64>)> {
        // Both are measured where validation is, whose time does not count.
        let measured = RefCell::new(None);
        let (start, judging) = (cpu_seconds(), RefCell::new(0.0));
        let mut validate = |w: &[f64]| {
            let before = cpu_seconds();
            let (hard, test) = judge(w);
            *measured.borrow_mut() = Some((hard, test));
            if let (Some(before), Some(now)) = (before, cpu_seconds()) {
                *judging.borrow_mut() += now - before;
            }
            test
        };
        let mut rows = Vec::new();
        let mut watch = |event: Event<'_>| {
            if let Event::Pass { record, .. } = event
                && let Some((hard, test)) = measured.borrow_mut().take()
            {
                let (primal, dual) = (record.primal, Some(record.dual));
                let epochs = record.effective_passes;
                let cpu = cpu_seconds().zip(start).map(|(now, start)| now - start);
                let seconds = cpu.map_or(record.seconds, |cpu| cpu - *judging.borrow());
                rows.push(Row { epochs, seconds, primal, dual, hard, test });
            }
            Control::Continue
        };
        let trainer = Trainer::new(settings.clone()).observe(&mut watch).validate(&mut validate);
        let weights = trainer.train(problem)?.weights;
        Ok((rows, weights))
    }

    fn dlpw(&self, name: &str, temperature: Option<f64>) -> Result<Run> {
        let settings = self.settings(self.limits.seconds);
        self.kept(name.to_owned(), &settings, |name| self.run_dlpw(name, temperature))
    }

    fn run_dlpw(&self, name: &str, temperature: Option<f64>) -> Result<Run> {
        let max_seconds = Some(self.limits.seconds);
        let settings = DlpwSettings { passes: u64::MAX, max_seconds, temperature, seed: 1 };
        let found = dlpw(&self.soft_graph(1.0)?, &settings)?;
        let test = self.test_error(&found.weights);
        let last = found.history.len().saturating_sub(1);
        let row = |(at, row): (usize, &DlpwRow)| Row {
            epochs: at as f64 + 1.0,
            seconds: row.seconds,
            primal: None,
            dual: None,
            hard: row.hard_objective,
            // Only that of the last weights is known.
            test: if at == last { test } else { f64::NAN },
        };
        let rows = found.history.iter().enumerate().map(row).collect();
        Ok(Run { name: name.to_owned(), rows, f1: self.f1(&found.weights)? })
    }
}

/// Seconds for which this thread has had a core, where the system tells. They do not depend on what else the machine does.
fn cpu_seconds() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    Some(1e-9 * text.split_whitespace().next()?.parse::<f64>().ok()?)
}

fn series(run: &Run) -> Series {
    let rows = || run.rows.iter();
    let known = |x: f64| (!x.is_nan()).then_some(x);
    Series::new(run.name.as_str())
        .column("epochs", rows().map(|row| row.epochs))
        .column("seconds", rows().map(|row| row.seconds.max(1e-3)))
        .column("primal", rows().map(|row| row.primal))
        .column("dual", rows().map(|row| row.dual))
        .column("hard", rows().map(|row| known(row.hard)))
        .column("test", rows().map(|row| known(row.test)))
}

/// The least hard objective of all.
fn best(runs: &[Run]) -> f64 {
    let hard = runs.iter().flat_map(|run| &run.rows).map(|row| row.hard);
    hard.filter(|hard| hard.is_finite()).fold(f64::INFINITY, f64::min)
}

/// Seconds until the hard objective is within a share of the best.
fn seconds_to(run: &Run, best: f64, share: f64) -> Option<f64> {
    run.rows.iter().find(|row| row.hard <= best * (1.0 + share)).map(|row| row.seconds)
}

fn last(run: &Run) -> Option<&Row> {
    run.rows.last()
}

fn table(findings: &mut Findings, name: &str, runs: &[Run]) {
    let best = best(runs);
    let _ = write!(
        findings.details,
        "\n## {name}, best hard objective {}\n\n| Method | Time to 10 % | to 1 % | to 0.1 % | Own \
         objective | Hard objective | Test error | Micro F1 |\n|---|---|---|---|---|---|---|---|\n",
        format_number(best)
    );
    for run in runs {
        let to = |share| {
            seconds_to(run, best, share).map_or_else(|| "–".to_owned(), |s| format!("{s:.2} s"))
        };
        let Some(row) = last(run) else { continue };
        let _ = writeln!(
            findings.details,
            "| {} | {} | {} | {} | {} | {} | {:.2} % | {:.2} % |",
            run.name,
            to(0.1),
            to(0.01),
            to(0.001),
            row.primal.map_or_else(|| "–".to_owned(), format_number),
            format_number(row.hard),
            100.0 * row.test,
            100.0 * run.f1
        );
    }
}

/// Labels without and with a threshold of their own: the paper does not say which it had, and it matters.
const SETS: [DataSet; 2] = [YEAST, YEAST_CONSTANT];

/// Objectives against epochs, for several ρ.
pub(super) fn figure_1(lab: &Lab<'_>) -> Result<Findings> {
    let mut findings = Findings::default();
    for set in SETS {
        objectives(lab, &set, &mut findings)?;
    }
    Ok(findings)
}

/// Objectives of one data set against epochs, and against ρ at the end.
fn objectives(lab: &Lab<'_>, set: &DataSet, findings: &mut Findings) -> Result<()> {
    let limits = Limits {
        epochs: lab.or_quick(300, 15),
        seconds: lab.or_quick(600.0, 10.0),
        lp_seconds: 0.0,
        tolerance: 1e-6,
        gap_every: 5,
    };
    let Some(data) = Labels::read(lab, set, limits)? else { return Ok(()) };
    let labels = data.spec.shape.labels;
    let all = [
        Rho::number(10.0),
        Rho::number(1.0),
        Rho::share(10.0),
        Rho::number(0.1),
        Rho::share(1.0),
        Rho::share(0.1),
    ];
    let rhos = lab.or_quick(&all[..], &all[1..5]);
    let soft = |&rho: &Rho| data.soft(SoftMethod::Algorithm1, rho);
    let mut runs = rhos.iter().map(soft).collect::<Result<Vec<Run>>>()?;
    runs.push(data.relaxed(Inference::RoofDuality)?);
    let optimum = best(&runs);
    let mut plot = Plot::new(format!("{}: objectives against epochs", set.name))
        .x(XAxis::new("epochs", "Epochs").log())
        .x(XAxis::new("seconds", "Seconds").log())
        .y(YAxis::together(
            "Objectives",
            [("primal", "soft primal"), ("dual", "soft dual"), ("hard", "hard")],
        )
        .guide("best hard", optimum))
        .y(YAxis::new("hard", "Hard objective").log().guide("best hard", optimum));
    for run in &runs {
        plot = plot.series(series(run));
    }
    findings.add_plot(&format!("1-left-{}", slug(set.name)), plot);
    let ends: Vec<(f64, f64, f64)> = rhos
        .iter()
        .zip(&runs)
        .filter_map(|(&rho, run)| {
            last(run).and_then(|row| Some((rho.value(labels), row.primal?, row.hard)))
        })
        .collect();
    let plot = Plot::new(format!("{}: objectives at the end against ρ", set.name))
        .x(XAxis::new("rho", "ρ").log())
        .y(YAxis::together("Objective", [("soft", "soft"), ("hard", "hard")])
            .guide("best hard", optimum))
        .series(
            Series::new("end")
                .column("rho", ends.iter().map(|end| end.0))
                .column("soft", ends.iter().map(|end| end.1))
                .column("hard", ends.iter().map(|end| end.2)),
        );
    findings.add_plot(&format!("1-right-{}", slug(set.name)), plot);
    table(findings, set.name, &runs);
    let on = format!("{}, λ = {LAMBDA}", set.name);
    let apart = |end: &(f64, f64, f64)| (end.2 - end.1).abs() / end.2;
    let told: Vec<String> =
        ends.iter().map(|end| format!("ρ = {}: {:.1} %", end.0, 100.0 * apart(end))).collect();
    let tenth = Rho::number(0.1).value(labels);
    let small: Vec<&(f64, f64, f64)> = ends.iter().filter(|end| end.0 <= tenth).collect();
    findings.claim(
        "Figure 1",
        format!(
            "For ρ ≤ 0.1 (here {tenth}) the soft objective and the constrained one are practically \
             indistinguishable (here: within 1 %)"
        ),
        on.as_str(),
        format!("apart at the end by {}", told.join(", ")),
        (!small.is_empty()).then(|| small.iter().all(|end| apart(end) < 0.01)),
    );
    let told: Vec<String> =
        ends.iter().map(|end| format!("ρ = {}: {}", end.0, format_number(end.2))).collect();
    let one = ends.iter().find(|end| end.0 == Rho::number(1.0).value(labels));
    let least = ends.iter().map(|end| end.2).fold(f64::INFINITY, f64::min);
    findings.claim(
        "Figure 1",
        format!(
            "ρ = 1 (here {labels}) works well across budgets (here: the least hard objective at the end, within \
             1 %)"
        ),
        on,
        format!(
            "hard objective {}; the optimum is at most {}",
            told.join(", "),
            format_number(optimum)
        ),
        one.map(|one| one.2 <= 1.01 * least),
    );
    Ok(())
}

/// Hard objective and test error against time.
pub(super) fn figure_2(lab: &Lab<'_>) -> Result<Findings> {
    let mut findings = Findings::default();
    lab.note("MSRC-21 is not at hand; GLPK is `lp`, and `roof-duality` solves the same relaxation by one flow.");
    let sets = lab.or_quick(vec![YEAST, YEAST_CONSTANT, REUTERS], vec![YEAST, YEAST_CONSTANT]);
    for set in sets {
        let limits = Limits {
            epochs: u64::MAX,
            seconds: lab.or_quick(300.0, 4.0),
            lp_seconds: lab.or_quick(3600.0, 6.0),
            tolerance: 1e-6,
            gap_every: 1,
        };
        let Some(data) = Labels::read(lab, &set, limits)? else { continue };
        lab.note(format!(
            "At most {} seconds for each run, {} for `lp`.",
            limits.seconds, limits.lp_seconds
        ));
        let rhos = [
            Rho::number(10.0),
            Rho::number(1.0),
            Rho::share(10.0),
            Rho::number(0.1),
            Rho::share(1.0),
            Rho::share(0.1),
        ];
        let mut runs = Vec::new();
        for method in [SoftMethod::Algorithm1, SoftMethod::Auto] {
            for rho in lab.or_quick(&rhos[..], &rhos[1..3]) {
                runs.push(data.soft(method, *rho)?);
            }
        }
        let soft_runs = runs.len();
        for inference in [Inference::Lp, Inference::RoofDuality] {
            runs.push(data.relaxed(inference)?);
        }
        runs.push(data.dlpw("DLPW", None)?);
        runs.push(data.dlpw("DLPW, smoothed", Some(0.1))?);
        let mut plot = Plot::new(format!("{}: against time", set.name))
            .x(XAxis::new("seconds", "Seconds").log())
            .y(YAxis::new("hard", "Hard objective").log())
            .y(YAxis::new("test", "Test error"));
        for run in &runs {
            plot = plot.series(series(run));
        }
        findings.add_plot(&format!("2-{}", slug(set.name)), plot);
        table(&mut findings, set.name, &runs);
        let best = best(&runs);
        let time = |run: &Run| seconds_to(run, best, 0.1);
        let show =
            |time: Option<f64>| time.map_or_else(|| "never".to_owned(), |s| format!("{s:.2} s"));
        let (soft, others) = runs.split_at(soft_runs);
        let fastest = soft.iter().filter_map(time).fold(f64::INFINITY, f64::min);
        let told: Vec<String> =
            runs.iter().map(|run| format!("{} {}", run.name, show(time(run)))).collect();
        against_lp(&mut findings, &set, (fastest, soft), others.first(), (time, &told.join(", ")));
        let errors: Vec<f64> = soft.iter().filter_map(last).map(|row| row.test).collect();
        let (low, high) = errors
            .iter()
            .fold((f64::INFINITY, 0.0f64), |(low, high), &e| (low.min(e), high.max(e)));
        findings.claim(
            "Figure 2, bottom",
            "Test performance is insensitive to ρ (here: errors within a tenth of each other)",
            format!("{}, λ = {LAMBDA}", set.name),
            format!("test errors from {:.2} to {:.2} %", 100.0 * low, 100.0 * high),
            (!errors.is_empty()).then_some(high <= 1.1 * low),
        );
    }
    Ok(findings)
}

/// What the paper says of the speed of soft training: as fast as training over linear programs on Yeast, where these are
/// small, and up to two orders of magnitude faster elsewhere.
fn against_lp(
    findings: &mut Findings,
    set: &DataSet,
    (fastest, soft): (f64, &[Run]),
    lp: Option<&Run>,
    (time, told): (impl Fn(&Run) -> Option<f64>, &str),
) {
    let is_yeast = [YEAST.name, YEAST_CONSTANT.name].contains(&set.name);
    let (claim, least) = match is_yeast {
        true => (
            "Soft training is competitive with training over linear programs (here: half as fast)",
            0.5,
        ),
        false => (
            "Soft training is up to two orders of magnitude faster than training over linear programs (here: at \
             least 100 times)",
            100.0,
        ),
    };
    let end = |run: &Run| last(run).map(|row| row.seconds);
    let arrived = lp.and_then(&time);
    // A run that did not arrive takes longer than it was given.
    let ratio = arrived.or_else(|| lp.and_then(end)).map(|lp| lp / fastest);
    let longest = soft.iter().filter_map(end).fold(0.0, f64::max);
    let holds = match (ratio, arrived) {
        (Some(ratio), _) if ratio >= least => Some(true),
        // Soft training may have been ended before it was slower than that.
        (Some(ratio), Some(lp)) if ratio > 0.0 || longest * least >= lp => Some(false),
        _ => None,
    };
    let bound = if arrived.is_none() { "more than " } else { "" };
    let speed = ratio.filter(|ratio| *ratio > 0.0);
    let speed =
        speed.map_or_else(String::new, |speed| format!("{bound}{speed:.2} times as fast; "));
    let measured = format!("{speed}time to within 10 % of the best hard objective: {told}");
    findings.claim("Figure 2, top", claim, format!("{}, λ = {LAMBDA}", set.name), measured, holds);
}

/// The loss of soft training against the number of examples.
pub(super) fn figure_3(lab: &Lab<'_>) -> Result<Findings> {
    let mut findings = Findings::default();
    for set in SETS {
        difference(lab, &set, &mut findings)?;
    }
    Ok(findings)
}

/// How far the soft optimum of one data set is from the hard one, against the number of examples.
fn difference(lab: &Lab<'_>, set: &DataSet, findings: &mut Findings) -> Result<()> {
    let limits = Limits {
        epochs: 300,
        seconds: lab.or_quick(120.0, 7.0),
        lp_seconds: 0.0,
        tolerance: 1e-3,
        gap_every: 5,
    };
    let Some(whole) = Labels::read(lab, set, limits)? else { return Ok(()) };
    let sizes = lab.or_quick(&[50, 100, 200, 400, 800, 1500][..], &[50, 150, 450][..]);
    let draws = lab.or_quick(10, 1);
    lab.note(format!(
        "{draws} random subsets of each size, each trained to a gap of {}.",
        limits.tolerance
    ));
    for rho in [Rho::number(1.0), Rho::share(1.0)] {
        growth(lab, &whole, rho, (sizes, draws), findings)?;
    }
    Ok(())
}

/// The distance at one ρ, against the number of examples.
fn growth(
    lab: &Lab<'_>,
    whole: &Labels<'_>,
    rho: Rho,
    (sizes, draws): (&[usize], u64),
    findings: &mut Findings,
) -> Result<()> {
    let name = format!("{}, {}", whole.name, rho.name(whole.spec.shape.labels));
    let mut points = Vec::new();
    for &size in sizes {
        let mut lost = 0.0;
        // There is only one way to draw all of them.
        let draws = if size < whole.train.len() { draws } else { 1 };
        for draw in 1..=draws {
            let mut order: Vec<usize> = (0..whole.train.len()).collect();
            Rng::new(draw).shuffle(&mut order);
            let mut keep = vec![false; order.len()];
            order.iter().take(size).for_each(|&i| keep[i] = true);
            let part = Labels {
                lab,
                name: format!("{}, {size} examples, draw {draw}", whole.name),
                own: json!({ "whole": whole.own, "examples": size, "draw": draw }),
                spec: whole.spec.clone(),
                train: whole.train.select(|i| keep[i]),
                test: LabelledRows::new(),
                limits: whole.limits,
            };
            let soft = part.soft(SoftMethod::Auto, rho)?;
            let hard = part.relaxed(Inference::RoofDuality)?;
            let end = |run: &Run| last(run).map_or(f64::NAN, |row| row.hard);
            lost += (end(&soft) - end(&hard)) / draws as f64;
        }
        points.push((size as f64, lost));
    }
    let plot = Plot::new(format!("{name}: hard objective of soft weights above the optimum"))
        .x(XAxis::new("x", "Examples").log())
        .y(YAxis::new("y", "Difference").log())
        .series(Series::xy("difference", points.iter().copied()));
    findings.add_plot(&format!("3-{}", slug(&name)), plot);
    let told: Vec<String> =
        points.iter().map(|(size, lost)| format!("M = {size}: {}", format_number(*lost))).collect();
    let growth = points.first().zip(points.last());
    findings.claim(
        "Figure 3",
        "The difference in objectives grows much slower than linearly with the number of examples",
        format!("{name}, λ = {LAMBDA}"),
        told.join(", "),
        growth.map(|(a, b)| b.1 / a.1 < 0.5 * b.0 / a.0),
    );
    Ok(())
}
