//! Runs methods one after the other on one problem, and keeps their traces.

use super::method::Method;
use crate::commands::session::error_of;
use crate::kind::Labelled;
use crate::screen::{Screen, on_ctrl_c};
use anyhow::{Context as _, Result, bail};
use maxmargin::observe::{Control, End, Event, Record};
use maxmargin::{Blocks, GroupBounds, Settings, Status, Trainer};
use maxmargin_io::{BuiltProblem, Fingerprint, ProblemRole, Spec, Training, atomic_write};
use serde::{Deserialize, Serialize};
use std::cell::Cell;
use std::path::{Path, PathBuf};

/// What is to be run.
pub(super) struct Race {
    pub(super) methods: Vec<Method>,
    /// Empty for 1/n.
    pub(super) lambdas: Vec<f64>,
    pub(super) seeds: u64,
    /// Effective passes that a run may take, if they are what is limited.
    pub(super) passes: Option<f64>,
    /// Where the traces go.
    pub(super) traces: PathBuf,
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
    /// How many runs were found from before.
    pub(super) reused: usize,
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
}

#[derive(Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
enum Line {
    Run(Box<Header>),
    Pass(Box<Row>),
    End(End),
}

/// Runs everything that has not been run before.
pub(super) fn run(
    race: &Race,
    data: Training,
    test: Option<&Labelled>,
    bounds: &GroupBounds,
    screen: &Screen,
) -> Result<Results> {
    let Training { examples, origin, spec } = data;
    let folder = &race.traces;
    std::fs::create_dir_all(folder)
        .with_context(|| format!("{}: the folder cannot be made", folder.display()))?;
    let train = examples.clone();
    let own = [1.0 / examples.len().max(1) as f64];
    let lambdas = if race.lambdas.is_empty() { &own[..] } else { &race.lambdas };
    screen.count("runs", lambdas.len() as u64 * race.methods.len() as u64 * race.seeds);
    // Problems that are made for one λ are made anew for each.
    let by_lambda = spec.soft().is_some();
    let parts: Vec<&[f64]> = if by_lambda { lambdas.chunks(1).collect() } else { vec![lambdas] };
    let (mut results, mut kept) = (Results::default(), Some(examples));
    for (at, lambdas) in parts.iter().enumerate() {
        let mut settings = Settings { lambda: lambdas.first().copied(), ..Settings::default() };
        let examples = if at + 1 < parts.len() { kept.clone() } else { kept.take() };
        let examples = examples.context("the data are kept for the last problem")?;
        let mut data = Training { examples, origin: origin.clone(), spec: spec.clone() };
        data.fix_lambda(&mut settings);
        let Training { examples, spec, .. } = data;
        let errors = |w: &[f64], role: ProblemRole<'_>| {
            let error = |examples| error_of(&spec, role, w, examples);
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
        };
        let results = &mut results;
        let runner = Runner { race, lambdas, header, errors: &errors, screen, results };
        runner.run(&spec.problem(examples, bounds)?)?;
    }
    screen.done();
    Ok(results)
}

/// The errors of weights on training and test data.
type Errors<'a> = &'a dyn Fn(&[f64], ProblemRole<'_>) -> (f64, Option<f64>);

/// A race about to begin.
struct Runner<'a> {
    race: &'a Race,
    /// Those of the race that this problem is for.
    lambdas: &'a [f64],
    header: Header,
    errors: Errors<'a>,
    screen: &'a Screen,
    results: &'a mut Results,
}

impl Runner<'_> {
    /// Runs all methods on a problem.
    fn run(mut self, problem: &BuiltProblem) -> Result<()> {
        let blocks = problem.blocks();
        (self.results.n, self.results.d) = (blocks.examples(), blocks.dim());
        for &lambda in self.lambdas {
            for method in &self.race.methods {
                for seed in 1..=self.race.seeds {
                    let skipped = |(name, _): &(String, String)| *name == method.name;
                    let known = (self.results.runs.len(), self.results.reused);
                    if !self.results.skipped.iter().any(skipped) {
                        self.one((blocks, problem.role()), method, lambda, seed)?;
                    }
                    let now = (self.results.runs.len(), self.results.reused);
                    self.screen.counted(now.0 > known.0 && now.1 == known.1);
                }
            }
        }
        Ok(())
    }

    /// Finds a run that was done before, or does it.
    fn one(
        &mut self,
        (problem, role): (&dyn Blocks, ProblemRole<'_>),
        method: &Method,
        lambda: f64,
        seed: u64,
    ) -> Result<()> {
        let name = &method.name;
        self.screen.tell(format!("{name}, lambda {lambda:.3e}, seed {seed}"));
        let calls = |passes: f64| (passes * problem.examples() as f64).ceil() as u64;
        let settings = Settings {
            lambda: Some(lambda),
            seed,
            max_oracle_calls: self.race.passes.map(calls),
            ..method.settings.clone()
        };
        let header = Header { method: name.clone(), settings, ..self.header.clone() };
        let trace = format!("{name}_lambda-{lambda:e}_seed-{seed}.jsonl");
        let path = self.race.traces.join(&trace);
        let (rows, end) = match read(&path, &header) {
            Some(found) => {
                self.results.reused += 1;
                found
            }
            None => match self.train(problem, role, &header) {
                Ok(found) => {
                    if found.1.status == Status::Interrupted {
                        self.screen.done();
                        bail!(
                            "interrupted; {} runs are done and kept\n\
                             hint: the same command goes on with the others",
                            self.results.runs.len()
                        );
                    }
                    write(&path, header, &found.0, &found.1)?;
                    found
                }
                Err(error) if method.wanted => {
                    return Err(error.context(format!("method {name}")));
                }
                Err(error) => {
                    self.results.skipped.push((name.clone(), format!("{error:#}")));
                    return Ok(());
                }
            },
        };
        self.results.runs.push(Run { method: name.clone(), lambda, seed, rows, end, trace });
        Ok(())
    }

    fn train(
        &self,
        problem: &dyn Blocks,
        role: ProblemRole<'_>,
        Header { method, settings, .. }: &Header,
    ) -> Result<(Vec<Row>, End)> {
        let (mut rows, mut end, mut known_gap) = (Vec::new(), None, None);
        // A validation comes right before the row that it belongs to.
        let measured = Cell::new(None);
        let mut validate = |w: &[f64]| {
            let errors = (self.errors)(w, role);
            measured.set(Some(errors));
            errors.1.unwrap_or(errors.0)
        };
        let mut watch = |event: Event<'_>| {
            match event {
                Event::Pass { record, block_gaps } => {
                    if let Some(gap) = record.gap {
                        let (pass, seed) = (record.pass, settings.seed);
                        let what = format!("{method}, seed {seed}, pass {pass}, gap {gap:.2e}");
                        self.screen.tell_soon(what);
                    }
                    let errors = measured.take().filter(|_| record.gap.is_some());
                    rows.push(Row {
                        record: record.clone(),
                        train_error: errors.map(|(train, _)| train),
                        test_error: errors.and_then(|(_, test)| test),
                        known_gap: known_gap.take(),
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
            .train(problem)?;
        Ok((rows, end.context("the run has no end")?))
    }
}

fn write(path: &Path, header: Header, rows: &[Row], end: &End) -> Result<()> {
    atomic_write(path, |to| -> Result<()> {
        let lines = std::iter::once(Line::Run(Box::new(header)))
            .chain(rows.iter().map(|row| Line::Pass(Box::new(row.clone()))))
            .chain([Line::End(end.clone())]);
        for line in lines {
            serde_json::to_writer(&mut *to, &line)?;
            to.write_all(b"\n")?;
        }
        Ok(())
    })
}

/// The trace of a run that was done before under the same conditions, if it is there and whole.
fn read(path: &Path, expected: &Header) -> Option<(Vec<Row>, End)> {
    let text = std::fs::read_to_string(path).ok()?;
    let mut lines = text.lines().map(|line| serde_json::from_str::<Line>(line).ok());
    match lines.next()?? {
        Line::Run(header) if *header == *expected => {}
        _ => return None,
    }
    let mut rows = Vec::new();
    for line in lines {
        match line? {
            Line::Pass(row) => rows.push(*row),
            Line::End(end) => return Some((rows, end)),
            Line::Run(_) => return None,
        }
    }
    None
}
