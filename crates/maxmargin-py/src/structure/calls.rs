//! What Python calls to train, check and verify a structure of its own.

use super::{BoundArrays, Corner, Described, Posed, PyProblem};
use crate::dual::Dual;
use crate::error::value_error;
use crate::fit::{Curve, Rule, curve, follow, not_interrupted, parse, parse_settings};
use crate::oracle::Features;
use crate::path::Path;
use crate::session::Session;
use crate::supervise::supervised;
use crate::{history, report};
use maxmargin::problem::{BrokenLaw, CheckOptions, check_with_outputs};
use maxmargin::{
    Audit, Blocks, Certificate, HeldOutError, LambdaFold, PathSettings, Problem, Quality, Settings,
    Solution, audit, choose_lambda, scale_lambda,
};
use maxmargin_io::{Claim, ProblemRole};
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::path::PathBuf;
use std::time::Instant;

/// What is known of a run, as JSON.
pub(crate) fn describe(
    solution: &Solution,
    settings: &Settings,
    problem: &dyn Blocks,
    in_words: &str,
) -> String {
    serde_json::json!({
        "solver": settings.method.solver(), "examples": problem.examples(), "features": problem.dim(),
        "certificate": solution.certificate, "status": solution.status,
        "problem": in_words,
        "totals": solution.totals, "choice": solution.choice, "validation": solution.validation,
        "warnings": solution.warnings,
    })
    .to_string()
}

/// Weights, dual point, history, and what is known of the run.
pub(crate) type Fitted<'py> = (Bound<'py, PyArray1<f64>>, Dual, Bound<'py, PyDict>, String);

/// Trains a structure that is defined in Python.
#[pyfunction]
#[pyo3(signature = (adapter, truths, weights, dim, settings, bounds=None, quality="exact",
                    start=None, validator=None, callback=None, rule="given", rescaling="margin"))]
#[expect(clippy::too_many_arguments, reason = "called from one place, by name")]
pub(crate) fn fit_structure<'py>(
    py: Python<'py>,
    adapter: Py<PyAny>,
    truths: Vec<Features<'py>>,
    weights: Vec<f64>,
    dim: usize,
    settings: &str,
    bounds: BoundArrays,
    quality: &str,
    start: Option<&Dual>,
    validator: Option<Py<PyAny>>,
    callback: Option<&Bound<'py, PyAny>>,
    rule: &str,
    rescaling: &str,
) -> PyResult<Fitted<'py>> {
    let mut settings = parse_settings(settings)?;
    let begun = Instant::now();
    let problem = PyProblem::new(adapter, truths, weights, dim, bounds, quality)?;
    let posed = Posed::new(problem, rescaling)?;
    settings.spend(begun.elapsed());
    let (blocks, problem) = (posed.blocks(), posed.own());
    if Rule::parse(rule, None)? == Rule::Scale {
        let seed = settings.seed;
        let begun = Instant::now();
        let found = supervised(py, None, &problem.interrupt, |_| Ok(scale_lambda(blocks, seed)?));
        settings.spend(begun.elapsed());
        settings.lambda = Some(problem.conclude(found)?.lambda);
    }
    let given = settings.clone();
    // A point of the first examples will do: the others start at the truth.
    let start = start.filter(|start| start.point.blocks.len() <= problem.truths.len());
    let interrupt = problem.interrupt.clone();
    let result = supervised(py, callback, &interrupt, |reporter| {
        let error = validator.map(|validator| problem.error(validator));
        let start = start.map(|start| {
            ProblemRole::Plain.start(blocks, settings.lambda, start.lambda, &start.point)
        });
        let (interrupt, rows) = (interrupt.clone(), Vec::new());
        let mut session = Session { settings, error, interrupt, reporter, exact: false, rows };
        let solution = session.run(blocks, ProblemRole::Plain, start)?;
        Ok((solution, session.rows))
    });
    let (solution, rows) = problem.conclude(result)?;
    let about = describe(&solution, &given, blocks, posed.in_words());
    let weights = PyArray1::from_vec(py, solution.weights);
    let dual = Dual { lambda: solution.lambda, point: solution.dual };
    Ok((weights, dual, history::columns(py, &rows)?, about))
}

/// The laws of a problem that a structure breaks: name, first example, number of examples, message.
type BrokenLaws = Vec<(&'static str, usize, usize, String)>;

/// Holds a structure that is defined in Python against the laws of a problem. `outputs` has the further
/// outputs of every example.
///
/// Python's lock is kept, so that ctrl-C is an exception in whatever the structure is doing.
#[pyfunction]
#[pyo3(signature = (adapter, truths, dim, outputs, examples, weights, seed, bounds=None,
                    quality="exact"))]
#[expect(clippy::too_many_arguments, reason = "called from one place, by name")]
pub(crate) fn check_structure(
    adapter: Py<PyAny>,
    truths: Vec<Features<'_>>,
    dim: usize,
    outputs: Vec<Vec<Described<'_>>>,
    examples: usize,
    weights: usize,
    seed: u64,
    bounds: BoundArrays,
    quality: &str,
) -> PyResult<BrokenLaws> {
    let ones = vec![1.0; truths.len()];
    let problem = PyProblem::new(adapter, truths, ones, dim, bounds, quality)?;
    let mut known = Vec::with_capacity(outputs.len());
    for (i, outputs) in outputs.into_iter().enumerate() {
        let mut corners = vec![Corner::default(); outputs.len()];
        for (corner, output) in corners.iter_mut().zip(outputs) {
            problem.describe(i, output, corner)?;
        }
        known.push(corners);
    }
    let options = CheckOptions { examples, weights, seed };
    let take = |i: usize| known.get_mut(i).map(std::mem::take).unwrap_or_default();
    let broken = problem.conclude(Ok(check_with_outputs(&problem, &options, take)))?;
    let describe = |b: BrokenLaw| (b.law.name(), b.example, b.examples, b.message);
    Ok(broken.into_iter().map(describe).collect())
}

/// A page about the training of a structure that is defined in Python: `about` is what `fit_structure` says of the
/// run, and `history` has its columns.
#[pyfunction]
pub(crate) fn structure_report(
    title: &str,
    about: &str,
    history: &Bound<'_, PyDict>,
) -> PyResult<String> {
    Ok(report::structure_page(&parse("about", about)?, &history::records(history)?, title))
}

/// Writes a page to a file, under a temporary name first.
#[pyfunction]
pub(crate) fn write_page(path: PathBuf, page: &str) -> PyResult<()> {
    report::write(&path, page)
}

/// Chooses λ for a structure that is defined in Python: the λ, and all that were tried with their errors.
#[pyfunction]
#[pyo3(signature = (adapter, truths, weights, dim, settings, examples, validator, bounds=None,
                    quality="exact", rescaling="margin"))]
#[expect(clippy::too_many_arguments, reason = "called from one place, by name")]
pub(crate) fn choose_structure_lambda(
    py: Python<'_>,
    adapter: Py<PyAny>,
    truths: Vec<Features<'_>>,
    weights: Vec<f64>,
    dim: usize,
    settings: &str,
    examples: usize,
    validator: Py<PyAny>,
    bounds: BoundArrays,
    quality: &str,
    rescaling: &str,
) -> PyResult<(f64, Curve)> {
    let settings = parse_settings(settings)?;
    let problem = PyProblem::new(adapter, truths, weights, dim, bounds, quality)?;
    let posed = Posed::new(problem, rescaling)?;
    let (blocks, problem) = (posed.blocks(), posed.own());
    let (interrupt, n) = (problem.interrupt.clone(), problem.truths.len());
    let result = supervised(py, None, &interrupt, |_| {
        let around = scale_lambda(blocks, settings.seed)?.lambda;
        // λ falls with the number of examples, of which there are fewer here.
        let all = around * n as f64 / examples.max(1) as f64;
        let (mut error, of) = (problem.error(validator), examples.saturating_sub(n).max(1) as u64);
        let mut error = |w: &[f64]| HeldOutError { error: error(w, ProblemRole::Plain), of };
        let mut folds = [LambdaFold { problem: blocks, around, error: &mut error }];
        Ok(choose_lambda(&mut folds, all, &settings, &interrupt, |_| {})?)
    });
    let choice = problem.conclude(result)?;
    not_interrupted(&interrupt)?;
    Ok((choice.lambda, curve(&choice.tried)))
}

/// Follows the regularization path of a structure that is defined in Python.
#[pyfunction]
#[pyo3(signature = (adapter, truths, weights, dim, settings, bounds=None, quality="exact",
                    rescaling="margin"))]
#[expect(clippy::too_many_arguments, reason = "called from one place, by name")]
pub(crate) fn follow_structure_path(
    py: Python<'_>,
    adapter: Py<PyAny>,
    truths: Vec<Features<'_>>,
    weights: Vec<f64>,
    dim: usize,
    settings: &str,
    bounds: BoundArrays,
    quality: &str,
    rescaling: &str,
) -> PyResult<Path> {
    let settings: PathSettings = parse("settings", settings)?;
    let problem = PyProblem::new(adapter, truths, weights, dim, bounds, quality)?;
    let posed = Posed::new(problem, rescaling)?;
    let (blocks, problem) = (posed.blocks(), posed.own());
    let interrupt = problem.interrupt.clone();
    let result = supervised(py, None, &interrupt, |_| follow(blocks, &settings, &interrupt));
    Ok(Path { path: problem.conclude(result)?, file: None })
}

/// What speaks against the certificate of a structure that is defined in Python.
#[pyfunction]
#[pyo3(signature = (adapter, truths, weights, dim, coefficients, dual, certificate, settings,
                    threads, bounds=None, quality="exact", rescaling="margin"))]
#[expect(clippy::too_many_arguments, reason = "called from one place, by name")]
pub(crate) fn verify_structure(
    py: Python<'_>,
    adapter: Py<PyAny>,
    truths: Vec<Features<'_>>,
    weights: Vec<f64>,
    dim: usize,
    coefficients: Vec<f64>,
    dual: &Dual,
    certificate: &str,
    settings: &str,
    threads: usize,
    bounds: BoundArrays,
    quality: &str,
    rescaling: &str,
) -> PyResult<(Vec<String>, &'static str)> {
    let certificate: Certificate = parse("certificate", certificate)?;
    let settings = parse_settings(settings)?;
    let problem = PyProblem::new(adapter, truths, weights, dim, bounds, quality)?;
    let posed = Posed::new(problem, rescaling)?;
    let (blocks, problem) = (posed.blocks(), posed.own());
    let weights = &coefficients;
    let claim = Claim { certificate, settings: &settings, status: None, weights, is_pruned: false };
    if let Some(why) = problem.bounds().and_then(|bounds| claim.out_of_bounds(bounds)) {
        return Ok((vec![why], Quality::Unproven.name()));
    }
    let found = py.detach(|| {
        audit(blocks, certificate.lambda, &coefficients, &dual.point, Claim::ROUNDING, threads)
    });
    let found = problem.conclude(found.map_err(value_error))?;
    Ok((findings(&claim, &found, dual), found.certificate.quality.name()))
}

/// What speaks against a claim about a dual point.
pub(crate) fn findings(claim: &Claim<'_>, found: &Audit, dual: &Dual) -> Vec<String> {
    let mut findings = claim.findings(found);
    let (own, stated) = (dual.lambda, claim.certificate.lambda);
    if own != stated {
        findings.push(format!(
            "the dual point is for lambda {own}, but the certificate is for lambda {stated}"
        ));
    }
    findings
}
