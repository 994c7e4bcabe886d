//! `maxmargin path`

use super::train::{on_ctrl_c, write_file};
use crate::args::PathArgs;
use crate::chain::{self, Vocabulary};
use crate::output;
use crate::screen::Screen;
use anyhow::{Context as _, Result};
use maxmargin::model::chain::Chain;
use maxmargin::observe::{Control, Totals};
use maxmargin::{
    Breakpoint, DualPoint, Path as LambdaPath, PathSettings, Problem as _, Settings, Solution,
    audit, regularization_path_with,
};
use maxmargin_io::{LabelRule, Model};
use maxmargin_report::{Facts, Plot, Prose, Report, Series, XAxis, YAxis, format_number};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::Path;
use std::process::ExitCode;

pub(super) fn run(args: &PathArgs) -> Result<ExitCode> {
    let inputs = [Some(&args.data), args.validation.as_ref()].into_iter().flatten();
    let outputs = [&args.output, &args.report].into_iter().flatten();
    output::check(inputs.map(Path::new), outputs.map(std::path::PathBuf::as_path))?;
    let training = Settings {
        seed: args.seed,
        threads: args.threads,
        max_passes: u64::MAX,
        ..Settings::default()
    };
    let (epsilon, kappa, lambda_min) = (args.epsilon, args.kappa, args.lambda_min);
    let (kappa, heuristic) = (Some(kappa), false);
    let settings = PathSettings { epsilon, kappa, lambda_min, heuristic, training };
    settings.check()?;

    let screen = Screen::new(args.talk.quiet);
    let mut data = chain::read_train(&args.data, args.format)?;
    let names =
        Vocabulary { labels: &data.labels, attributes: &data.attributes, format: data.format };
    let validation = args.validation.as_ref();
    let validation =
        validation.map(|v| names.read(v, args.format, LabelRule::Count)).transpose()?;
    let (shape, loss) =
        (chain::shape(&args.model, &data)?, chain::loss(&args.model, &data.labels)?);
    let sequences = std::mem::take(&mut data.sequences);
    let problem = Chain::new(shape, sequences, &loss)?;

    screen.say(format!(
        "{} examples, {} features, epsilon {epsilon}",
        problem.examples(),
        shape.dim()
    ));
    screen.say(format!(
        "{:>12} {:>10} {:>12} {:>8} {:>10}",
        "lambda", "gap", "calls", "seconds", "error"
    ));
    let mut rows: Vec<Row> = Vec::new();
    let mut best: Option<Best> = None;
    let path =
        regularization_path_with(&problem, &settings, &on_ctrl_c(&screen)?, |b, w, point| {
            let error = validation.as_ref().map(|v| chain::errors_of(&shape, w, v).hamming());
            screen.say(line(b, error));
            rows.push(Row { breakpoint: b.clone(), error });
            if best.as_ref().is_none_or(|best| error.is_none() || error < best.error) {
                let (weights, point) = (w.to_vec(), point.clone());
                best = Some(Best { at: rows.len() - 1, error, weights, point });
            }
            Control::Continue
        })?;
    let best = best.context("the path has no breakpoint")?;
    if let Some(file) = &args.output {
        let solution = best.solution(&problem, &path, args.threads)?;
        let trained = Settings {
            lambda: Some(solution.lambda),
            tolerance: settings.tolerance(),
            ..settings.training.clone()
        };
        Model::new(&data, shape, loss, trained, solution).save(file)?;
    }
    if let Some(file) = &args.report {
        write_file(file, page(&path, &rows, &best, &args.data).to_html().as_bytes())?;
    }
    match args.talk {
        talk if talk.json => super::print_json(&to_json(&path, &rows, &best))?,
        talk if talk.quiet => {}
        _ => super::print(&in_words(&path, &rows, &best))?,
    }
    Ok(ExitCode::SUCCESS)
}

/// A breakpoint and its validation error.
struct Row {
    breakpoint: Breakpoint,
    error: Option<f64>,
}

/// The breakpoint with the least validation error, or the last one.
struct Best {
    at: usize,
    error: Option<f64>,
    weights: Vec<f64>,
    point: DualPoint,
}

impl Best {
    /// It as a solution of its own, with a certificate from scratch.
    fn solution(&self, problem: &Chain, path: &LambdaPath, threads: usize) -> Result<Solution> {
        let breakpoint = &path.breakpoints[self.at];
        let lambda = breakpoint.certificate.lambda;
        let audit = audit(problem, lambda, &self.weights, &self.point, 1e-9, threads)?;
        let totals = Totals {
            oracle_calls: breakpoint.oracle_calls,
            seconds: breakpoint.seconds,
            ..Totals::default()
        };
        Ok(Solution {
            weights: self.weights.clone(),
            dual: self.point.clone(),
            lambda,
            certificate: audit.certificate,
            status: breakpoint.status,
            totals,
            choice: None,
        })
    }
}

fn line(b: &Breakpoint, error: Option<f64>) -> String {
    let error = error.map_or_else(|| "–".to_owned(), |error| format!("{error:.4}"));
    let (lambda, gap, calls, seconds) =
        (b.certificate.lambda, b.certificate.gap, b.oracle_calls, b.seconds);
    format!("{lambda:>12.4e} {gap:>10.6} {calls:>12} {seconds:>7.2}s {error:>10}")
}

fn in_words(path: &LambdaPath, rows: &[Row], best: &Best) -> String {
    let mut text = String::new();
    let from = match path.lowest {
        0.0 => "every lambda".to_owned(),
        lowest => format!("every lambda from {lowest:.4e} upwards"),
    };
    let (count, gap) = (rows.len(), path.epsilon);
    let _ = match path.is_guaranteed() {
        true => writeln!(text, "{count} breakpoints: the duality gap is at most {gap} for {from}."),
        false => writeln!(text, "{count} breakpoints, the last of which did not converge."),
    };
    if let Some(error) = best.error {
        let lambda = rows[best.at].breakpoint.certificate.lambda;
        let _ = writeln!(text, "The least validation error is {error:.4}, at lambda {lambda:.4e}.");
    }
    text
}

fn to_json(path: &LambdaPath, rows: &[Row], best: &Best) -> Value {
    let points: Vec<Value> = rows
        .iter()
        .map(|Row { breakpoint: b, error }| {
            json!({
                "lambda": b.certificate.lambda, "gap": b.certificate.gap, "oracle_calls": b.oracle_calls,
                "seconds": b.seconds, "status": b.status, "validation": error,
            })
        })
        .collect();
    json!({
        "epsilon": path.epsilon, "guaranteed": path.is_guaranteed(), "lowest": path.lowest,
        "best": {"lambda": rows[best.at].breakpoint.certificate.lambda, "validation": best.error},
        "breakpoints": points,
    })
}

fn page(path: &LambdaPath, rows: &[Row], best: &Best, data: &str) -> Report {
    let column = |value: fn(&Breakpoint) -> f64| rows.iter().map(move |row| value(&row.breakpoint));
    let series = Series::new("path")
        .column("lambda", column(|b| b.certificate.lambda))
        .column("gap", column(|b| b.certificate.gap))
        .column("calls", column(|b| b.oracle_calls as f64))
        .column("error", rows.iter().map(|row| row.error));
    let mut plot = Plot::new("Along the path").x(XAxis::new("lambda", "λ").log());
    if best.error.is_some() {
        plot = plot.y(YAxis::new("error", "Validation error"));
    }
    let plot = plot
        .y(YAxis::new("gap", "Duality gap at the breakpoints").guide("ε", path.epsilon))
        .y(YAxis::new("calls", "Oracle calls so far").log())
        .series(series);
    let lambda = rows[best.at].breakpoint.certificate.lambda;
    let mut facts = Facts::new("Result")
        .fact(("Breakpoints", rows.len().to_string().as_str()))
        .fact(("Guaranteed gap", format_number(path.epsilon).as_str()))
        .fact(("Lowest λ", format_number(path.lowest).as_str()));
    if let Some(error) = best.error {
        facts = facts
            .fact(("Best λ", format_number(lambda).as_str()))
            .fact(("Least validation error", format!("{:.2} %", 100.0 * error).as_str()));
    }
    Report::new(format!("Regularization path of {data}"))
        .with(Prose::new("In words").paragraph(in_words(path, rows, best)))
        .with(facts)
        .with(plot)
}
