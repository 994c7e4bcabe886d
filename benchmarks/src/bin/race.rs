//! Our side of the race against LIBLINEAR, which `benchmarks/liblinear.py` runs:
//!
//! ```text
//! race export FILE               # the built-in handwritten letters, one by one, in LIBSVM's format
//! race optimum FILE C            # LIBLINEAR's objective at the optimum, from below and from above
//! race time FILE C TARGET        # seconds until the objective is at most TARGET·(1 + 1e-6)
//! ```
//!
//! Rows with two labels make a binary problem (the second label is positive), others a multiclass
//! one; without bias, λ = 1/(C·n), and all that is left to `auto`. The answer is one JSON object.

use anyhow::{Context as _, Result, bail};
use maxmargin::model::binary::{Binary, BinaryShape};
use maxmargin::model::multiclass::{ClassLoss, Multiclass, MulticlassShape};
use maxmargin::observe::{Control, Event};
use maxmargin::{Problem, Settings, Solution, Trainer};
use maxmargin_benchmarks::cpu_seconds;
use maxmargin_io::{Format, RawSequence, RowData, Source, read_rows, write_libsvm};
use std::fs::File;
use std::io::{BufWriter, Write as _};

/// Relative to the objective.
const CLOSE_ENOUGH: f64 = 1e-6;
const OPTIMAL: f64 = 1e-9;

/// Seconds that are timed at least, in so many runs at most.
const LEAST: f64 = 0.3;
const MOST_RUNS: u32 = 200;

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match args[..] {
        ["export", file] => export(file),
        ["optimum", file, c] => {
            let (solution, _) = run(file, c.parse().context("C")?, None)?;
            let (lambda, proof) = (solution.lambda, solution.certificate);
            println!(r#"{{"below": {}, "above": {}}}"#, proof.dual / lambda, proof.primal / lambda);
            Ok(())
        }
        ["time", file, c, target] => {
            let target = target.parse().context("TARGET")?;
            let (solution, cpu) = run(file, c.parse().context("C")?, Some(target))?;
            println!(
                r#"{{"seconds": {}, "cpu": {cpu}, "objective": {}, "visits": {}}}"#,
                solution.totals.seconds,
                solution.certificate.primal / solution.lambda,
                solution.totals.visits,
            );
            Ok(())
        }
        _ => bail!("usage: race export FILE | race optimum FILE C | race time FILE C TARGET"),
    }
}

fn export(file: &str) -> Result<()> {
    let letters = read_rows(Source::resolve("ocr-small")?.open_rows(None)?)?;
    let mut to = BufWriter::new(File::create(file)?);
    let mut raw = RawSequence::new();
    for (row, labels) in letters.rows.iter() {
        raw.clear();
        raw.push_token(labels.first().map(u32::to_string).as_deref());
        row.pairs().for_each(|(a, value)| raw.push_attribute(&(a + 1).to_string(), value));
        write_libsvm(&mut to, &raw, Format::Libsvm)?;
    }
    Ok(to.flush()?)
}

/// The solution, and the processor's seconds that training took.
fn run(file: &str, c: f64, target: Option<f64>) -> Result<(Solution, f64)> {
    let RowData { rows, labels, attributes, .. } =
        read_rows(Source::resolve(file)?.open_rows(Some(Format::Libsvm))?)?;
    let lambda = 1.0 / (c * rows.len() as f64);
    if labels.len() == 2 {
        train(&Binary::new(BinaryShape::new(attributes.len()), rows, 1)?, lambda, target)
    } else {
        let shape = MulticlassShape::new(labels.len(), attributes.len());
        train(&Multiclass::new(shape, rows, ClassLoss::ZeroOne)?, lambda, target)
    }
}

/// Trains until the primal is near the target, or the gap proves that it is near the optimum.
fn train<P: Problem>(problem: &P, lambda: f64, target: Option<f64>) -> Result<(Solution, f64)> {
    let mut watch = |event: Event<'_>| {
        let Event::Pass { record, .. } = event else { return Control::Continue };
        let (Some(primal), Some(gap)) = (record.primal, record.gap) else {
            return Control::Continue;
        };
        let done = match target {
            None => gap <= OPTIMAL * primal,
            Some(target) => primal <= lambda * target * (1.0 + CLOSE_ENOUGH),
        };
        if done { Control::Stop } else { Control::Continue }
    };
    let settings = Settings {
        lambda: Some(lambda),
        // Known gaps that promise this much make it look at the exact ones.
        tolerance: target.map_or(1e-3 * OPTIMAL, |target| CLOSE_ENOUGH * lambda * target),
        max_passes: u64::MAX,
        threads: 1,
        ..Settings::default()
    };
    // The system counts in ticks of some milliseconds, so short runs are made several times.
    let (begin, mut runs) = (cpu_seconds(), 0);
    loop {
        let solution = Trainer::new(settings.clone()).observe(&mut watch).train(problem)?;
        let (spent, least) = (cpu_seconds() - begin, if target.is_some() { LEAST } else { 0.0 });
        runs += 1;
        if spent >= least || runs == MOST_RUNS {
            return Ok((solution, spent / f64::from(runs)));
        }
    }
}
