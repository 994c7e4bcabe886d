//! Runs of soft training and of what it is compared with.

use super::LAMBDA;
use crate::reproduce::kept::number;
use crate::reproduce::lab::{DataSet, Lab};
use anyhow::Result;
use maxmargin::evaluate::LabelSetScores;
use maxmargin::inference::Inference;
use maxmargin::model::LabelledRows;
use maxmargin::model::multilabel::Multilabel;
use maxmargin::model::soft::SoftGraph;
use maxmargin::observe::{Control, Event};
use maxmargin::{Settings, Trainer};
use maxmargin_command::lab::{LabelSets, Method, processor_seconds};
use maxmargin_io::{MultilabelSpec, Spec};
use maxmargin_lab::dlpw::{DlpwRow, DlpwSettings, dlpw};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::cell::RefCell;

/// Test data are decoded on all cores.
const ALL_CORES: usize = 0;

/// A row of a run.
#[derive(Clone, Copy, Serialize, Deserialize)]
pub(super) struct Row {
    pub(super) epochs: f64,
    pub(super) seconds: f64,
    /// The objective that is trained, and its dual; not of DLPW.
    pub(super) primal: Option<f64>,
    pub(super) dual: Option<f64>,
    /// That of the LP relaxation.
    #[serde(deserialize_with = "number")]
    pub(super) hard: f64,
    #[serde(deserialize_with = "number")]
    pub(super) test: f64,
}

#[derive(Serialize, Deserialize)]
pub(super) struct Run {
    pub(super) name: String,
    pub(super) rows: Vec<Row>,
    /// Micro F1 of the last weights on the test data.
    #[serde(deserialize_with = "number")]
    pub(super) f1: f64,
}

/// A multi-label data set.
pub(super) struct Labels<'a> {
    pub(super) lab: &'a Lab<'a>,
    pub(super) name: String,
    /// What tells the data from others.
    pub(super) own: Value,
    pub(super) spec: MultilabelSpec,
    pub(super) train: LabelledRows,
    pub(super) test: LabelledRows,
    pub(super) limits: Limits,
}

/// When runs end.
#[derive(Clone, Copy)]
pub(super) struct Limits {
    pub(super) epochs: u64,
    pub(super) seconds: f64,
    /// Of training over linear programs, which is slow.
    pub(super) lp_seconds: f64,
    pub(super) tolerance: f64,
    pub(super) gap_every: u64,
}

/// A method that minimises the soft objective.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum SoftMethod {
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
pub(super) struct Rho {
    pub(super) rho: f64,
    pub(super) counts_labels: bool,
}

impl Rho {
    pub(super) const fn share(rho: f64) -> Self {
        Self { rho, counts_labels: false }
    }

    pub(super) const fn number(rho: f64) -> Self {
        Self { rho, counts_labels: true }
    }

    /// For a loss that is the share of wrong labels.
    pub(super) fn value(self, labels: usize) -> f64 {
        if self.counts_labels { self.rho * labels as f64 } else { self.rho }
    }

    pub(super) fn name(self, labels: usize) -> String {
        match self.counts_labels {
            true => format!("ρ = {}·{labels}", self.rho),
            false => format!("ρ = {}", self.rho),
        }
    }
}

impl<'a> Labels<'a> {
    pub(super) fn read(lab: &'a Lab<'a>, set: &DataSet, limits: Limits) -> Result<Option<Self>> {
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
        (settings, seconds): (&Settings, f64),
        run: impl FnOnce(&str) -> Result<Run>,
    ) -> Result<Run> {
        let conditions = json!({
            "run": name, "settings": settings, "seconds": seconds, "data": self.own,
        });
        if let Some(found) = self.lab.find(&self.name, &name, &conditions) {
            return Ok(found);
        }
        if self.lab.finished_only {
            self.lab.miss();
            return Ok(Run { name, rows: Vec::new(), f1: f64::NAN });
        }
        self.lab.screen.say(format!("{}: {name}", self.name));
        let found = run(&name)?;
        self.lab.keep(&self.name, &name, &conditions, &found)?;
        Ok(found)
    }

    fn settings(&self) -> Settings {
        let Limits { epochs, tolerance, gap_every, .. } = self.limits;
        Settings {
            lambda: Some(LAMBDA),
            tolerance,
            max_passes: epochs,
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

    pub(super) fn soft(&self, method: SoftMethod, rho: Rho) -> Result<Run> {
        let labels = self.spec.shape.labels;
        let (base, seconds) = (self.settings(), self.limits.seconds);
        let settings = match method {
            SoftMethod::Algorithm1 => Method::parse("bcfw+uniform", &base)?.settings,
            SoftMethod::Auto => base,
        };
        let name = format!("soft by {}, {}", method.name(), rho.name(labels));
        self.kept(name, (&settings, seconds), |name| {
            let problem = self.soft_graph(rho.value(labels))?;
            let judge =
                |w: &[f64]| (problem.hard_objective(w), self.test_error(problem.weights(w)));
            let (rows, weights) = self.train(&problem, (&settings, seconds), judge)?;
            let f1 = self.f1(problem.weights(&weights))?;
            Ok(Run { name: name.to_owned(), rows, f1 })
        })
    }

    /// Over linear programs, or whatever solves them.
    pub(super) fn relaxed(&self, inference: Inference) -> Result<Run> {
        let is_lp = inference == Inference::Lp;
        let seconds = if is_lp { self.limits.lp_seconds } else { self.limits.seconds };
        let settings = Settings { max_passes: u64::MAX, ..self.settings() };
        self.kept(format!("auto, oracle {inference}"), (&settings, seconds), |name| {
            let MultilabelSpec { shape, loss, .. } = &self.spec;
            let problem = Multilabel::new(shape.clone(), self.train.clone(), loss, inference)?;
            let judge = |w: &[f64]| (f64::NAN, self.test_error(w));
            let (mut rows, weights) = self.train(&problem, (&settings, seconds), judge)?;
            // What it trains is the hard objective.
            rows.iter_mut().for_each(|row| row.hard = row.primal.unwrap_or(f64::NAN));
            Ok(Run { name: name.to_owned(), rows, f1: self.f1(&weights)? })
        })
    }

    /// Trains, at most so many seconds on a core: the clock would cut runs short where other programs run, too. `judge`
    /// tells the hard objective and the test error of weights. The rows, and the weights.
    fn train(
        &self,
        problem: &impl maxmargin::Problem,
        (settings, limit): (&Settings, f64),
        judge: impl Fn(&[f64]) -> (f64, f64),
    ) -> Result<(Vec<Row>, Vec<f64>)> {
        // Both are measured where validation is, whose time does not count.
        let measured = RefCell::new(None);
        let (start, judging) = (processor_seconds(), RefCell::new(0.0));
        let mut validate = |w: &[f64]| {
            let before = processor_seconds();
            let (hard, test) = judge(w);
            *measured.borrow_mut() = Some((hard, test));
            if let (Some(before), Some(now)) = (before, processor_seconds()) {
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
                let cpu = processor_seconds().zip(start).map(|(now, start)| now - start);
                let seconds = cpu.map_or(record.seconds, |cpu| cpu - *judging.borrow());
                rows.push(Row { epochs, seconds, primal, dual, hard, test });
                if seconds > limit {
                    return Control::Stop;
                }
            }
            Control::Continue
        };
        let trainer = Trainer::new(settings.clone()).observe(&mut watch).validate(&mut validate);
        let weights = trainer.train(problem)?.weights;
        Ok((rows, weights))
    }

    pub(super) fn dlpw(&self, name: &str, temperature: Option<f64>) -> Result<Run> {
        let asked = (&self.settings(), self.limits.seconds);
        self.kept(name.to_owned(), asked, |name| self.run_dlpw(name, temperature))
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
