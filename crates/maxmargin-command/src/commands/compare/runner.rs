//! Runs methods on one problem, and keeps their traces.
//!
//! Runs are made one after the other unless the user wants them side by side: they share the machine then, which
//! changes their seconds but nothing else. Methods that the clock steers would choose otherwise, so they run on their
//! own in any case. A trace says whether its run was on its own, and a comparison of runs on their own does not use
//! others.

use super::method::Method;
use super::processor::Stopwatch;
use crate::commands::session::error_of;
use crate::kind::Labelled;
use crate::screen::{Interrupted, Screen, on_ctrl_c};
use anyhow::{Context as _, Result, bail};
use maxmargin::observe::{Control, End, Event, Record};
use maxmargin::{GroupBounds, Settings, Status, Trainer};
use maxmargin_io::{
    BuiltProblem, Fingerprint, ProblemRole, Spec, Training, atomic_write, map_side_by_side,
};
use maxmargin_report::format_significant;
use serde::{Deserialize, Serialize};
use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

/// What is to be run.
pub(super) struct Race {
    pub(super) methods: Vec<Method>,
    /// Empty for 1/n.
    pub(super) lambdas: Vec<f64>,
    pub(super) seeds: u64,
    /// Effective passes that a run may take, if they are what is limited.
    pub(super) passes: Option<f64>,
    /// Threads of each run.
    pub(super) threads: usize,
    /// Runs that are made side by side.
    pub(super) jobs: usize,
    /// Where the traces go.
    pub(super) traces: PathBuf,
    /// Other folders in which traces are looked for.
    pub(super) elsewhere: Vec<PathBuf>,
    /// Whether only runs of before count, and none is made.
    pub(super) finished_only: bool,
}

/// What has come of it.
#[derive(Default)]
pub struct Results {
    /// Number of examples, and of features.
    pub n: usize,
    pub(super) d: usize,
    pub runs: Vec<Run>,
    /// Methods that do not apply, and why.
    pub skipped: Vec<(String, String)>,
    /// How many runs are missing, if only finished ones are asked for.
    pub missing: usize,
    /// How many runs were found from before.
    pub(super) reused: usize,
    /// How many runs were made side by side, those from before included; 1 if each was on its own.
    pub(super) side_by_side: usize,
}

/// One run of one method.
pub struct Run {
    /// What the method is called.
    pub method: String,
    pub(super) lambda: f64,
    pub(super) seed: u64,
    /// Its trace, pass by pass.
    pub rows: Vec<Row>,
    /// How it ended.
    pub end: End,
    /// The file of the trace, in its folder.
    pub(super) trace: String,
}

/// A row of a trace: the state after a pass, and errors where the gap is known.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Row {
    #[serde(flatten)]
    /// The state after a pass.
    pub record: Record,
    /// Share of wrong labels in the training data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) train_error: Option<f64>,
    /// Share of wrong labels in the test data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::commands) test_error: Option<f64>,
    /// What the order took the gap for before it was known, where block gaps are asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub known_gap: Option<f64>,
    /// Seconds that the run has had a core so far, gap checks included and measuring errors not. They do not depend on
    /// what else the machine does. Only of runs on one thread, where the system tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub processor_seconds: Option<f64>,
    /// The gap of every block, where the settings ask for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block_gaps: Option<Vec<f64>>,
}

/// The first line of a trace: everything that its run depends on. A trace is used again if this is
/// the same.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Header {
    method: String,
    version: String,
    data: Fingerprint,
    test: Option<Fingerprint>,
    model: Spec,
    bounds: GroupBounds,
    settings: Settings,
    /// How many runs were made side by side with this one, itself included.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    side_by_side: usize,
}

fn one() -> usize {
    1
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
fn is_one(number: &usize) -> bool {
    *number == 1
}

#[derive(Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
enum Line {
    Run(Box<Header>),
    Pass(Box<Row>),
    End(Box<End>),
}

/// Runs everything that has not been run before.
pub(super) fn run(
    race: &Race,
    data: Training,
    test: Option<&Labelled>,
    bounds: &GroupBounds,
    screen: &Screen,
) -> Result<Results> {
    let own = match race.lambdas.is_empty() {
        true => vec![data.scale_lambda(bounds, Settings::default().seed)?.lambda],
        false => race.lambdas.to_vec(),
    };
    let Training { examples, origin, spec } = data;
    let folder = &race.traces;
    std::fs::create_dir_all(folder)
        .with_context(|| format!("{}: the folder cannot be made", folder.display()))?;
    let train = examples.clone();
    let lambdas = &own[..];
    screen.count("runs", lambdas.len() as u64 * race.methods.len() as u64 * race.seeds);
    // Problems that are made for one λ are made anew for each.
    let by_lambda = spec.soft().is_some();
    let parts: Vec<&[f64]> = if by_lambda { lambdas.chunks(1).collect() } else { vec![lambdas] };
    let mut results = Results { side_by_side: 1, ..Results::default() };
    let mut kept = Some(examples);
    for (at, lambdas) in parts.iter().enumerate() {
        let mut settings = Settings { lambda: lambdas.first().copied(), ..Settings::default() };
        let examples = if at + 1 < parts.len() { kept.clone() } else { kept.take() };
        let examples = examples.context("the data are kept for the last problem")?;
        let mut data = Training { examples, origin: origin.clone(), spec: spec.clone() };
        data.fix_lambda(&mut settings);
        let Training { examples, spec, .. } = data;
        let errors = |w: &[f64], role: ProblemRole<'_>| {
            let error = |examples| error_of(&spec, role, w, examples, race.threads);
            (error(&train), test.map(|test| error(&test.examples)))
        };
        let header = Header {
            method: String::new(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            data: origin.fingerprint,
            test: test.map(|test| test.fingerprint),
            model: spec.clone(),
            bounds: bounds.clone(),
            settings: Settings::default(),
            side_by_side: 1,
        };
        let problem = spec.problem(examples, bounds)?;
        let stop = AtomicBool::new(false);
        let runner =
            Runner { race, problem: &problem, header, errors: &errors, screen, stop: &stop };
        runner.run(lambdas, &mut results)?;
    }
    screen.done();
    Ok(results)
}

/// The errors of weights on training and test data.
type Errors<'a> = &'a (dyn Fn(&[f64], ProblemRole<'_>) -> (f64, Option<f64>) + Sync);

/// A race about to begin.
struct Runner<'a> {
    race: &'a Race,
    problem: &'a BuiltProblem,
    header: Header,
    errors: Errors<'a>,
    screen: &'a Screen,
    /// Whether no more runs are to begin.
    stop: &'a AtomicBool,
}

/// A run that is to be made.
#[derive(Clone, Copy)]
struct Task<'a> {
    method: &'a Method,
    lambda: f64,
    seed: u64,
    /// How many are made side by side with it, itself included.
    side_by_side: usize,
}

/// What has come of a task.
enum Outcome {
    /// A run, how many were made side by side with it, and whether it was found from before.
    Run { run: Box<Run>, side_by_side: usize, is_reused: bool },
    /// The method does not apply.
    Failed(anyhow::Error),
    /// The user has interrupted the run.
    Interrupted,
    /// Nobody needs it any more.
    Left,
}

impl Runner<'_> {
    /// Runs all methods on the problem. The results are in the order of the tasks, whichever ends first.
    fn run(self, lambdas: &[f64], results: &mut Results) -> Result<()> {
        let blocks = self.problem.blocks();
        (results.n, results.d) = (blocks.examples(), blocks.dim());
        let tasks: Vec<Task<'_>> = self.tasks(lambdas);
        let mut outcomes: Vec<Outcome> = tasks.iter().map(|_| Outcome::Left).collect();
        let (together, alone): (Vec<usize>, Vec<usize>) =
            (0..tasks.len()).partition(|&at| tasks[at].side_by_side > 1);
        for (jobs, some) in [(self.race.jobs, together), (1, alone)] {
            let work = |(): &mut (), at: usize| self.one(&tasks[some[at]]);
            let found = map_side_by_side(some.len(), jobs, || (), work);
            some.iter().zip(found).for_each(|(&at, outcome)| outcomes[at] = outcome);
        }
        let is_interrupted = outcomes.iter().any(|found| matches!(found, Outcome::Interrupted));
        for (task, outcome) in tasks.iter().zip(outcomes) {
            results.add(task, outcome)?;
        }
        if is_interrupted {
            self.screen.done();
            bail!(Interrupted(format!(
                "interrupted; {} runs are done and kept\n\
                 hint: the same command goes on with the others",
                results.runs.len()
            )));
        }
        Ok(())
    }

    fn tasks<'t>(&'t self, lambdas: &[f64]) -> Vec<Task<'t>> {
        let mut tasks = Vec::new();
        for &lambda in lambdas {
            for method in &self.race.methods {
                let side_by_side = if method.looks_at_clock() { 1 } else { self.race.jobs };
                let seeds = 1..=self.race.seeds;
                tasks.extend(seeds.map(|seed| Task { method, lambda, seed, side_by_side }));
            }
        }
        tasks
    }

    /// Finds a run that was done before, or does it.
    fn one(&self, task: &Task<'_>) -> Outcome {
        if self.stop.load(Ordering::Relaxed) {
            return Outcome::Left;
        }
        let outcome = self.find_or_train(task).unwrap_or_else(Outcome::Failed);
        let ends = match &outcome {
            Outcome::Failed(_) => task.method.wanted,
            outcome => matches!(outcome, Outcome::Interrupted),
        };
        self.stop.fetch_or(ends, Ordering::Relaxed);
        self.screen.counted(matches!(&outcome, Outcome::Run { is_reused: false, .. }));
        outcome
    }

    fn find_or_train(&self, task: &Task<'_>) -> Result<Outcome> {
        let &Task { method: Method { name, settings, .. }, lambda, seed, side_by_side } = task;
        let shown = format_significant(lambda, 4);
        self.screen.tell(format!("{name}, lambda {shown}, seed {seed}"));
        let n = self.problem.blocks().examples() as f64;
        let settings = Settings {
            lambda: Some(lambda),
            seed,
            max_oracle_calls: self.race.passes.map(|passes| (passes * n).ceil() as u64),
            ..settings.clone()
        };
        let header = Header { method: name.clone(), settings, side_by_side, ..self.header.clone() };
        let trace = format!("{name}_lambda-{lambda:e}_seed-{seed}.jsonl");
        let path = self.race.traces.join(&trace);
        let others = self.race.elsewhere.iter().map(|folder| folder.join(&trace));
        let mut places = std::iter::once(path.clone()).chain(others);
        let found = places.find_map(|path| read(&path, &header));
        let of = |rows, end| Box::new(Run { method: name.clone(), lambda, seed, rows, end, trace });
        if let Some((rows, end, side_by_side)) = found {
            return Ok(Outcome::Run { run: of(rows, end), side_by_side, is_reused: true });
        }
        if self.race.finished_only {
            return Ok(Outcome::Left);
        }
        let (rows, end) = self.train(&header)?;
        if end.status == Status::Interrupted {
            return Ok(Outcome::Interrupted);
        }
        write(&path, header, &rows, &end)?;
        Ok(Outcome::Run { run: of(rows, end), side_by_side, is_reused: false })
    }

    fn train(&self, Header { method, settings, .. }: &Header) -> Result<(Vec<Row>, End)> {
        let role = self.problem.role();
        let (mut rows, mut end, mut known_gap) = (Vec::new(), None, None);
        // A validation comes right before the row that it belongs to.
        let measured = Cell::new(None);
        let stopwatch = Stopwatch::start(settings.threads);
        let mut validate = |w: &[f64]| {
            let errors = stopwatch.pause(|| (self.errors)(w, role));
            measured.set(Some(errors));
            errors.1.unwrap_or(errors.0)
        };
        let mut watch = |event: Event<'_>| {
            match event {
                Event::Pass { record, block_gaps } => {
                    if let Some(gap) = record.gap {
                        let (pass, seed) = (record.pass, settings.seed);
                        let gap = format_significant(gap, 3);
                        let what = format!("{method}, seed {seed}, pass {pass}, gap {gap}");
                        self.screen.tell_soon(what);
                    }
                    let errors = measured.take().filter(|_| record.gap.is_some());
                    rows.push(Row {
                        record: record.clone(),
                        train_error: errors.map(|(train, _)| train),
                        test_error: errors.and_then(|(_, test)| test),
                        known_gap: known_gap.take(),
                        processor_seconds: record.gap.and_then(|_| stopwatch.seconds()),
                        block_gaps: block_gaps.map(<[f64]>::to_vec),
                    });
                }
                Event::Estimate { gap } => known_gap = Some(gap),
                Event::End(found) => end = Some(found.clone()),
                _ => {}
            }
            Control::Continue
        };
        Trainer::new(settings.clone())
            .interrupt(on_ctrl_c(self.screen)?)
            .observe(&mut watch)
            .validate(&mut validate)
            .train(self.problem.blocks())?;
        Ok((rows, end.context("the run has no end")?))
    }
}

impl Results {
    fn add(&mut self, task: &Task<'_>, outcome: Outcome) -> Result<()> {
        let name = &task.method.name;
        if self.skipped.iter().any(|(skipped, _)| skipped == name) {
            return Ok(());
        }
        match outcome {
            Outcome::Run { run, side_by_side, is_reused } => {
                self.runs.push(*run);
                self.reused += usize::from(is_reused);
                self.side_by_side = self.side_by_side.max(side_by_side);
            }
            Outcome::Failed(error) if task.method.wanted => {
                return Err(error.context(format!("method {name}")));
            }
            Outcome::Failed(error) => self.skipped.push((name.clone(), format!("{error:#}"))),
            Outcome::Left => self.missing += 1,
            Outcome::Interrupted => {}
        }
        Ok(())
    }
}

fn write(path: &Path, header: Header, rows: &[Row], end: &End) -> Result<()> {
    atomic_write(path, |to| -> Result<()> {
        let lines = std::iter::once(Line::Run(Box::new(header)))
            .chain(rows.iter().map(|row| Line::Pass(Box::new(row.clone()))))
            .chain([Line::End(Box::new(end.clone()))]);
        for line in lines {
            serde_json::to_writer(&mut *to, &line)?;
            to.write_all(b"\n")?;
        }
        Ok(())
    })
}

/// The trace of a run that was done before under the same conditions, if it is there and whole, and how many were
/// made side by side with it. Whoever makes runs side by side takes one that was on its own, or with others.
fn read(path: &Path, expected: &Header) -> Option<(Vec<Row>, End, usize)> {
    let text = std::fs::read_to_string(path).ok()?;
    let mut lines = text.lines().map(|line| serde_json::from_str::<Line>(line).ok());
    let Line::Run(header) = lines.next()?? else { return None };
    let own = header.side_by_side;
    let expected_of_it = if expected.side_by_side > 1 { own } else { 1 };
    if *header != (Header { side_by_side: expected_of_it, ..expected.clone() }) {
        return None;
    }
    let mut rows = Vec::new();
    for line in lines {
        match line? {
            Line::Pass(row) => rows.push(*row),
            Line::End(end) => return Some((rows, *end, own)),
            Line::Run(_) => return None,
        }
    }
    None
}
