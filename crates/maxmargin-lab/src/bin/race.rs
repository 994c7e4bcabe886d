//! Our side of the race against LIBLINEAR, which `benchmarks/liblinear.py` runs:
//!
//! ```text
//! race export FILE               # the built-in handwritten letters, one by one, in LIBSVM's format
//! race optimum FILE C            # LIBLINEAR's objective at the optimum, from below and from above
//! race time FILE C TARGET        # seconds until the objective is at most TARGET·(1 + 1e-6), with
//!                                # the loosest of some tolerances that leads there
//! ```
//!
//! Rows with two labels make a binary problem (the second label is positive), others a multiclass
//! one; without bias, λ = 1/(C·n), and all that is left to `auto`. The answer is one JSON object.

use anyhow::{Context as _, Result, bail};
use maxmargin::model::binary::{Binary, BinaryShape};
use maxmargin::model::multiclass::{ClassLoss, Multiclass, MulticlassShape};
use maxmargin::observe::{Control, Event};
use maxmargin::{Problem, Settings, Solution, Trainer};
use maxmargin_io::{Format, RawSequence, RowData, Source, read_rows, write_libsvm};
use maxmargin_lab::cpu_seconds;
use std::fs::File;
use std::io::{BufWriter, Write as _};

/// Relative to the objective.
const CLOSE_ENOUGH: f64 = 1e-6;
const OPTIMAL: f64 = 1e-9;

/// Tolerances to try, relative to the target; the last must do, for a gap is no less than what is
/// left of the primal.
const TOLERANCES: [f64; 9] = [1e-2, 3e-3, 1e-3, 3e-4, 1e-4, 3e-5, 1e-5, 3e-6, 1e-6];

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

/// Trains to the optimum; or to the target, with the loosest tolerance that does it, and timed.
fn train<P: Problem>(problem: &P, lambda: f64, target: Option<f64>) -> Result<(Solution, f64)> {
    let Some(target) = target else {
        let is_done = |primal: f64, gap: f64| gap <= OPTIMAL * primal;
        return Ok((train_once(problem, lambda, 1e-3 * OPTIMAL, is_done)?, 0.0));
    };
    let enough = lambda * target * (1.0 + CLOSE_ENOUGH);
    let once = |tolerance| train_once(problem, lambda, tolerance, |primal, _| primal <= enough);
    for factor in TOLERANCES {
        let tolerance = factor * lambda * target;
        if once(tolerance)?.certificate.primal > enough {
            continue;
        }
        // Short runs are made several times, for the clock is coarse.
        let (begin, mut runs) = (cpu_seconds(), 0);
        loop {
            let solution = once(tolerance)?;
            let spent = cpu_seconds() - begin;
            runs += 1;
            if spent >= LEAST || runs == MOST_RUNS {
                return Ok((solution, spent / f64::from(runs)));
            }
        }
    }
    bail!("the target {target} was not reached")
}

/// Trains until `is_done` says of an exact primal value and gap that it is, or to the tolerance.
fn train_once<P: Problem>(
    problem: &P,
    lambda: f64,
    tolerance: f64,
    is_done: impl Fn(f64, f64) -> bool,
) -> Result<Solution> {
    let mut watch = |event: Event<'_>| match event {
        Event::Pass { record, .. } => match (record.primal, record.gap) {
            (Some(primal), Some(gap)) if is_done(primal, gap) => Control::Stop,
            _ => Control::Continue,
        },
        _ => Control::Continue,
    };
    let max_passes = u64::MAX;
    let lambda = Some(lambda);
    let settings = Settings { lambda, tolerance, max_passes, threads: 1, ..Settings::default() };
    Ok(Trainer::new(settings).observe(&mut watch).train(problem)?)
}
