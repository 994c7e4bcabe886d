//! Soft constraints against training over linear programs and DLPW, on sets of labels: the hard
//! objective (that of the LP relaxation) against time.
//!
//! ```text
//! cargo run --release -p maxmargin-benchmarks --bin soft -- [DATA] [LAMBDA] [SECONDS] [PAGE.html]
//! ```
//!
//! DATA is `yeast` (the default) or `reuters` (its 30 most frequent labels), LAMBDA 0.01 unless given;
//! each method has SECONDS (30). The table has the seconds to within 10, 1 and 0.1 % of the best hard
//! objective that any of them has found, and how well the last weights predict on the test data.

use anyhow::{Context as _, Result, bail};
use maxmargin::evaluate::LabelSetScores;
use maxmargin::inference::Inference;
use maxmargin::model::LabelledRows;
use maxmargin::model::multilabel::{Hamming, Multilabel, MultilabelShape};
use maxmargin::model::soft::{DlpwSettings, SoftGraph, dlpw};
use maxmargin::observe::{Control, Event};
use maxmargin::{Settings, Trainer};
use maxmargin_benchmarks::shared_data;
use maxmargin_io::{LabelRule, Lines, open_row_reader, read_rows, read_rows_with};
use maxmargin_report::{Plot, Report, Series, XAxis, YAxis};
use std::cell::RefCell;

fn main() -> Result<()> {
    let mut args = std::env::args().skip(1);
    let name = args.next().unwrap_or_else(|| "yeast".to_owned());
    let lambda = args.next().map_or(Ok(0.01), |text| text.parse()).context("LAMBDA")?;
    let seconds = args.next().map_or(Ok(30.0), |text| text.parse()).context("SECONDS")?;
    let (file, labels) = match name.as_str() {
        "yeast" => ("yeast", 14),
        "reuters" => ("reuters21578", 30),
        other => bail!("{other}: no such data; there are yeast and reuters"),
    };
    let Some(race) = Race::new(file, labels, lambda, seconds)? else { return Ok(()) };
    let results = race.run()?;
    race.print(&name, &results);
    if let Some(path) = args.next() {
        let page = Report::new(format!("Soft constraints on {name}")).with(plot(&results, lambda));
        std::fs::write(&path, page.to_html()).context(path)?;
    }
    Ok(())
}

/// A method: its name, seconds and hard objectives, and its last weights.
struct Run {
    name: String,
    curve: Vec<[f64; 2]>,
    weights: Vec<f64>,
}

struct Race {
    shape: MultilabelShape,
    train: LabelledRows,
    test: LabelledRows,
    lambda: f64,
    seconds: f64,
}

impl Race {
    fn new(file: &str, labels: usize, lambda: f64, seconds: f64) -> Result<Option<Self>> {
        let path = |part: &str| shared_data().join(format!("{file}_{part}.svm.gz"));
        if !path("train").is_file() {
            eprintln!("skipped: {file} is not at hand ({} is missing)", path("train").display());
            return Ok(None);
        }
        let open = |part: &str| -> Result<_> {
            let format = Some(maxmargin_io::Format::Multilabel);
            Ok(open_row_reader(Lines::open(path(part))?, format)?)
        };
        let data = read_rows(open("train")?)?.with_most_frequent_labels(labels);
        let test = read_rows_with(open("test")?, &data.labels, &data.attributes, LabelRule::Count)?;
        let mut known = LabelledRows::new();
        for (row, own) in test.rows.iter() {
            let own: Vec<u32> = own.iter().copied().filter(|l| (*l as usize) < labels).collect();
            known.push(row.pairs(), &own, 1.0)?;
        }
        let shape = MultilabelShape::complete(labels, data.attributes.len());
        Ok(Some(Self { shape, train: data.rows, test: known, lambda, seconds }))
    }

    fn settings(&self) -> Settings {
        Settings {
            lambda: Some(self.lambda),
            tolerance: 1e-6,
            max_passes: u64::MAX,
            max_seconds: Some(self.seconds),
            gap_every: 2,
            threads: 1,
            ..Settings::default()
        }
    }

    fn soft_graph(&self, rho: f64) -> Result<SoftGraph> {
        let loss = Hamming::default();
        Ok(SoftGraph::of_labels(&self.shape, &self.train, &loss, self.lambda, rho)?)
    }

    fn run(&self) -> Result<Vec<Run>> {
        let mut runs = Vec::new();
        for rho in [1.0, 1e-2, 1e-3, 1e-4, 1e-5] {
            runs.push(self.soft(rho)?);
        }
        for inference in [Inference::RoofDuality, Inference::Lp] {
            runs.push(self.relaxed(inference)?);
        }
        for (name, temperature) in [("DLPW", None), ("DLPW, smoothed", Some(0.1))] {
            let max_seconds = Some(self.seconds);
            let settings = DlpwSettings { epochs: u64::MAX, max_seconds, temperature, seed: 1 };
            let found = dlpw(&self.soft_graph(1.0)?, &settings)?;
            let curve = found.history.iter().map(|row| [row.seconds, row.hard_objective]).collect();
            runs.push(Run { name: name.to_owned(), curve, weights: found.weights });
        }
        Ok(runs)
    }

    fn soft(&self, rho: f64) -> Result<Run> {
        let problem = self.soft_graph(rho)?;
        // The objective is computed where validation is, which the clock leaves out.
        let hard = RefCell::new(Vec::new());
        let mut judge = |w: &[f64]| {
            let objective = problem.hard_objective(w);
            hard.borrow_mut().push(objective);
            objective
        };
        let mut seconds = Vec::new();
        let mut watch = |event: Event<'_>| {
            if let Event::Pass { record, .. } = event
                && record.gap.is_some()
            {
                seconds.push(record.seconds);
            }
            Control::Continue
        };
        let solution = Trainer::new(self.settings())
            .observe(&mut watch)
            .validate(&mut judge)
            .train(&problem)?;
        let curve = seconds.iter().zip(hard.borrow().iter()).map(|(&s, &g)| [s, g]).collect();
        let weights = problem.weights(&solution.weights).to_vec();
        Ok(Run { name: format!("soft, ρ = {rho}"), curve, weights })
    }

    fn relaxed(&self, inference: Inference) -> Result<Run> {
        let problem = Multilabel::new(
            self.shape.clone(),
            self.train.clone(),
            &Hamming::default(),
            inference,
        )?;
        let mut curve = Vec::new();
        let mut watch = |event: Event<'_>| {
            if let Event::Pass { record, .. } = event
                && let Some(primal) = record.primal
            {
                curve.push([record.seconds, primal]);
            }
            Control::Continue
        };
        let solution = Trainer::new(self.settings()).observe(&mut watch).train(&problem)?;
        Ok(Run { name: format!("auto, oracle {inference}"), curve, weights: solution.weights })
    }

    fn print(&self, name: &str, runs: &[Run]) {
        let best = runs.iter().flat_map(|run| &run.curve).map(|p| p[1]).fold(f64::MAX, f64::min);
        println!(
            "{name}, λ = {}, at most {} s each; best hard objective {best:.6}\n",
            self.lambda, self.seconds
        );
        println!(
            "| method | s to 10 % | to 1 % | to 0.1 % | last objective | Hamming | micro F1 |"
        );
        println!("|---|---|---|---|---|---|---|");
        for Run { name, curve, weights } in runs {
            let to = |share: f64| {
                let reached = curve.iter().find(|point| point[1] <= best * (1.0 + share));
                reached.map_or_else(|| "–".to_owned(), |point| format!("{:.3}", point[0]))
            };
            let scores = self.scores(weights);
            println!(
                "| {name} | {} | {} | {} | {:.6} | {:.4} | {:.4} |",
                to(0.1),
                to(0.01),
                to(0.001),
                curve.last().map_or(f64::NAN, |point| point[1]),
                scores.hamming(),
                scores.micro().f1()
            );
        }
    }

    fn scores(&self, w: &[f64]) -> LabelSetScores {
        let mut scores = LabelSetScores::new(self.shape.labels);
        let (shape, loss) = (self.shape.clone(), Hamming::default());
        if let Ok(test) = Multilabel::new(shape, self.test.clone(), &loss, Inference::Auto) {
            for (i, predicted) in test.predict(w).iter().enumerate() {
                scores.add(self.test.labels(i), predicted);
            }
        }
        scores
    }
}

fn plot(runs: &[Run], lambda: f64) -> Plot {
    let mut plot = Plot::new(format!("Hard objective against time, λ = {lambda}"))
        .note("The objective of the LP relaxation, which all methods approach from above.")
        .x(XAxis::new("seconds", "Seconds").log())
        .y(YAxis::new("hard", "Hard objective").log());
    for run in runs {
        plot = plot.series(
            Series::new(run.name.clone())
                .column("seconds", run.curve.iter().map(|point| point[0].max(1e-3)))
                .column("hard", run.curve.iter().map(|point| point[1])),
        );
    }
    plot
}
