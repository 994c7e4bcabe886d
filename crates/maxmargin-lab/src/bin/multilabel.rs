//! Multi-label models on real data: do labels that know of each other predict better than labels on
//! their own?
//!
//! ```text
//! cargo run --release -p maxmargin-lab -F benchmarks --bin multilabel -- [DATA] [TOLERANCE] [SECONDS] [FOLDS]
//! ```
//!
//! DATA is `yeast`, `reuters` (its 30 most frequent labels) or `all`, the default. Every model is trained for a few λ
//! to the TOLERANCE (0.01 unless given), for at most SECONDS (600) each; the λ in **bold** is the one of the best micro
//! F1 on a fifth of the training data when trained on the rest, in the mean over FOLDS (1, at most 5) ways to choose
//! that fifth. µs/call are of the oracle, table of scores included; halves are examples whose oracle answers with a
//! fractional corner at the end.

use anyhow::{Context as _, Result, bail};
use flate2::read::GzDecoder;
use maxmargin::ProblemExt as _;
use maxmargin::evaluate::LabelSetScores;
use maxmargin::inference::Inference;
use maxmargin::model::LabelledRows;
use maxmargin::model::multilabel::{Hamming, LabelSet, Multilabel, MultilabelShape};
use maxmargin::{Problem as _, Settings, Solution, train};
use maxmargin_lab::{fastest, shared_data};
use std::collections::BTreeSet;
use std::io::Read as _;

fn main() -> Result<()> {
    let mut args = std::env::args().skip(1);
    let data = args.next().unwrap_or_else(|| "all".to_owned());
    let tolerance = args.next().map_or(Ok(0.01), |text| text.parse()).context("TOLERANCE")?;
    let seconds = args.next().map_or(Ok(600.0), |text| text.parse()).context("SECONDS")?;
    let folds = args.next().map_or(Ok(1), |text| text.parse()).context("FOLDS")?;
    let settings = Settings { tolerance, max_seconds: Some(seconds), ..Settings::default() };
    let settings = Settings { max_passes: u64::MAX, ..settings };
    let yeast = || run("yeast", 14, &[1e-1, 3e-2, 1e-2, 3e-3, 1e-3, 3e-4], folds, &settings);
    let reuters = || run("reuters21578", 30, &[1e-2, 3e-3, 1e-3, 3e-4, 1e-4], folds, &settings);
    match data.as_str() {
        "yeast" => yeast(),
        "reuters" => reuters(),
        "all" => yeast().and_then(|()| reuters()),
        other => bail!("{other}: no such data; there are yeast, reuters and all"),
    }
}

fn run(
    name: &str,
    labels: usize,
    lambdas: &[f64],
    folds: usize,
    settings: &Settings,
) -> Result<()> {
    let Some((train, test)) = read(name, labels)? else { return Ok(()) };
    let attributes = train.attribute_bound().max(test.attribute_bound());
    let complete = || MultilabelShape::complete(labels, attributes);
    let mut shapes = vec![
        ("independent", MultilabelShape::independent(labels, attributes), Inference::Auto),
        ("tree", MultilabelShape::tree(labels, attributes, &train), Inference::Auto),
        ("complete", complete(), Inference::Auto),
    ];
    if labels <= 20 {
        shapes.push(("complete", complete(), Inference::RoofDuality)); // what the relaxation costs
    }
    let (n, per_row) = (train.len(), cardinality(&train));
    println!("\n## {name}\n");
    println!(
        "{n} examples to train on, {} to test; {attributes} attributes (the last is constant), \
         {labels} labels, {per_row:.2} per example.\n",
        test.len()
    );
    println!(
        "| model | oracle | λ | status | objective | gap | calls/n | seconds | µs/call | halves | Hamming | \
         subset | micro F1 | macro F1 | example F1 |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|");
    let in_fold = |i: usize, fold: usize| i % 5 == fold;
    for (kind, shape, inference) in shapes {
        let build = |data: &LabelledRows| {
            Multilabel::new(shape.clone(), data.clone(), &Hamming::default(), inference)
        };
        let (all, test) = (build(&train)?, build(&test)?);
        let mut parts = Vec::new();
        for fold in 0..folds.min(5) {
            let rest = build(&train.select(|i| !in_fold(i, fold)))?;
            parts.push((rest, build(&train.select(|i| in_fold(i, fold)))?));
        }
        let mut rows = Vec::new();
        for &lambda in lambdas {
            let settings = Settings { lambda: Some(lambda), ..settings.clone() };
            let mut judged = 0.0;
            for (rest, dev) in &parts {
                judged += scores(dev, &fit(rest, &settings)?.weights).micro().f1();
            }
            let solution = fit(&all, &settings)?;
            rows.push((judged, lambda, cells(&all, &solution, &scores(&test, &solution.weights))));
        }
        let best = rows.iter().map(|row| row.0).fold(0.0, f64::max);
        for (judged, lambda, cells) in rows {
            let mark = if judged == best { "**" } else { "" };
            println!("| {kind} | {} | {mark}{lambda:e}{mark} | {cells} |", all.inference());
        }
    }
    Ok(())
}

fn fit(problem: &Multilabel, settings: &Settings) -> Result<Solution> {
    Ok(train(problem, settings)?)
}

fn cells(problem: &Multilabel, solution: &Solution, found: &LabelSetScores) -> String {
    let (c, t) = (&solution.certificate, &solution.totals);
    let mut workspace = problem.workspace();
    let mut y = LabelSet::default();
    let some: Vec<usize> = (0..problem.examples()).step_by(problem.examples() / 100).collect();
    let call = fastest(5, || {
        for &i in &some {
            problem.prepare(i, &solution.weights, &mut workspace);
            problem.oracle(i, &solution.weights, &mut workspace, &mut y);
        }
    }) / some.len() as f64;
    let fractional = (0..problem.examples()).filter(|&i| {
        problem.prepare(i, &solution.weights, &mut workspace);
        problem.oracle(i, &solution.weights, &mut workspace, &mut y);
        y.is_fractional()
    });
    let halves = fractional.count() as f64 / problem.examples() as f64;
    format!(
        "{} | {:.4} | {:.1e} | {:.0} | {:.1} | {:.1} | {:.1} % | {:.4} | {:.4} | {:.4} | {:.4} | {:.4}",
        solution.status,
        c.primal,
        c.gap,
        t.oracle_calls as f64 / problem.examples() as f64,
        t.seconds,
        1e6 * call,
        100.0 * halves,
        found.hamming(),
        found.subset_accuracy(),
        found.micro().f1(),
        found.macro_f1(),
        found.example_f1()
    )
}

fn scores(problem: &Multilabel, w: &[f64]) -> LabelSetScores {
    let mut scores = LabelSetScores::new(problem.shape().labels);
    for (i, predicted) in problem.predict(w).iter().enumerate() {
        scores.add(problem.data().labels(i), predicted);
    }
    scores
}

fn cardinality(data: &LabelledRows) -> f64 {
    data.iter().map(|(_, labels)| labels.len()).sum::<usize>() as f64 / data.len() as f64
}

/// Training and test data, with the most frequent labels of the former, and an attribute more that is
/// always 1.
fn read(name: &str, labels: usize) -> Result<Option<(LabelledRows, LabelledRows)>> {
    let mut parts = Vec::new();
    for part in ["train", "test"] {
        let path = shared_data().join(format!("{name}_{part}.svm.gz"));
        if !path.is_file() {
            eprintln!("skipped: {name} is not at hand ({} is missing)", path.display());
            return Ok(None);
        }
        let mut text = String::new();
        GzDecoder::new(std::fs::File::open(&path)?).read_to_string(&mut text)?;
        parts.push(text.lines().map(parse).collect::<Result<Vec<_>>>()?);
    }
    let bound = parts.iter().flatten().flat_map(|row| &row.1).map(|entry| entry.0 + 1).max();
    let constant = bound.unwrap_or(0);
    let mut counts = vec![0; 1 + *parts[0].iter().flat_map(|row| &row.0).max().unwrap_or(&0)];
    parts[0].iter().flat_map(|row| &row.0).for_each(|&label| counts[label] += 1);
    let mut frequent: Vec<usize> = (0..counts.len()).collect();
    frequent.sort_by_key(|&label| std::cmp::Reverse(counts[label]));
    frequent.truncate(labels);
    let mut data = parts.iter().map(|rows| {
        let mut data = LabelledRows::new();
        for (own, attributes) in rows {
            let number = |label: &usize| frequent.iter().position(|known| known == label);
            let own: BTreeSet<u32> = own.iter().filter_map(number).map(|at| at as u32).collect();
            let own: Vec<u32> = own.into_iter().collect(); // some labels come twice in Reuters
            data.push(attributes.iter().copied().chain([(constant, 1.0)]), &own, 1.0)?;
        }
        Ok::<_, anyhow::Error>(data)
    });
    Ok(data.next().transpose()?.zip(data.next().transpose()?))
}

/// Labels and attributes of a line `labels index:value …`.
type Line = (Vec<usize>, Vec<(u32, f64)>);

fn parse(line: &str) -> Result<Line> {
    let mut fields = line.split_whitespace().peekable();
    let first = fields.next_if(|field| !field.contains(':')).unwrap_or("");
    let labels = first.split(',').filter(|text| !text.is_empty()).map(|text| Ok(text.parse()?));
    let entry = |field: &str| {
        let (index, value) = field.split_once(':').context("index:value")?;
        Ok((index.parse::<u32>()? - 1, value.parse()?))
    };
    Ok((labels.collect::<Result<_>>()?, fields.map(entry).collect::<Result<_>>()?))
}
