//! Joint kernels that are computed in Python.

use crate::dual::Dual;
use crate::error::value_error;
use crate::fit::{Rule, parse, parse_settings};
use crate::history;
use crate::session::Session;
use crate::structure::{Fitted, describe, findings};
use crate::supervise::supervised;
use maxmargin::kernel::{JointKernel, JointProblem};
use maxmargin::{Certificate, Interrupt, audit, scale_lambda};
use maxmargin_io::{Claim, ProblemRole};
use numpy::{PyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use std::time::Instant;

/// The problem that was solved, for people.
const IN_WORDS: &str = "structured SVM with margin rescaling and a joint kernel";

/// The kernel values of all outputs of all examples with each other.
struct Table {
    /// Row by row.
    values: Vec<f64>,
    /// The place of each example's first output, and the number of all.
    starts: Vec<usize>,
    truths: Vec<usize>,
    losses: Vec<f64>,
    weights: Vec<f64>,
}

impl JointKernel for Table {
    fn examples(&self) -> usize {
        self.truths.len()
    }

    fn outputs(&self, i: usize) -> usize {
        self.starts[i + 1] - self.starts[i]
    }

    fn truth(&self, i: usize) -> usize {
        self.truths[i]
    }

    fn loss(&self, i: usize, y: usize) -> f64 {
        self.losses[self.starts[i] + y]
    }

    fn kernel(&self, (i, y): (usize, usize), (j, z): (usize, usize)) -> f64 {
        let all = self.losses.len();
        self.values[(self.starts[i] + y) * all + self.starts[j] + z]
    }

    fn weight(&self, i: usize) -> f64 {
        self.weights[i]
    }
}

/// The examples as Python describes them: the number of outputs of each, which one is true, the losses of all outputs, and the
/// weights of the examples.
pub(crate) type Listed = (Vec<usize>, Vec<usize>, Vec<f64>, Vec<f64>);

/// All values are there, so none is kept twice.
const CACHE_BYTES: usize = 0;

fn problem_of(
    table: &PyReadonlyArray2<'_, f64>,
    (counts, truths, losses, weights): Listed,
) -> PyResult<JointProblem<Table>> {
    let mut starts = vec![0];
    counts.iter().for_each(|count| starts.push(starts[starts.len() - 1] + count));
    let all = losses.len();
    let examples = [counts.len(), truths.len(), weights.len()];
    if table.as_array().dim() != (all, all) || starts.last() != Some(&all) {
        return Err(value_error("the kernel values do not fit the outputs"));
    }
    if examples.iter().any(|count| *count != examples[0]) {
        return Err(value_error("outputs, truths and weights are needed for each example"));
    }
    let values: Vec<f64> = table.as_array().iter().copied().collect();
    let table = Table { values, starts, truths, losses, weights };
    JointProblem::new(table, CACHE_BYTES).map_err(value_error)
}

/// Trains on outputs that a kernel compares as wholes.
#[pyfunction]
#[pyo3(signature = (table, listed, settings, start=None, callback=None, rule="given"))]
pub(crate) fn fit_joint_kernel<'py>(
    py: Python<'py>,
    table: PyReadonlyArray2<'py, f64>,
    listed: Listed,
    settings: &str,
    start: Option<&Dual>,
    callback: Option<&Bound<'py, PyAny>>,
    rule: &str,
) -> PyResult<Fitted<'py>> {
    let mut settings = parse_settings(settings)?;
    let problem = problem_of(&table, listed)?;
    let interrupt = Interrupt::new();
    if Rule::parse(rule, None)? == Rule::Scale {
        let (begun, seed) = (Instant::now(), settings.seed);
        let found = supervised(py, None, &interrupt, |_| Ok(scale_lambda(&problem, seed)?));
        settings.spend(begun.elapsed());
        settings.lambda = Some(found?.lambda);
    }
    let given = settings.clone();
    let start = start.filter(|start| start.point.blocks.len() <= problem.data().examples());
    let (solution, rows) = supervised(py, callback, &interrupt, |reporter| {
        let start = start.map(|start| {
            ProblemRole::Plain.start(&problem, settings.lambda, start.lambda, &start.point)
        });
        let (interrupt, rows) = (interrupt.clone(), Vec::new());
        let mut session =
            Session { settings, error: None, interrupt, reporter, exact: false, rows };
        let solution = session.run(&problem, ProblemRole::Plain, start)?;
        Ok((solution, session.rows))
    })?;
    let about = describe(&solution, &given, &problem, IN_WORDS);
    let weights = PyArray1::from_vec(py, solution.weights);
    let dual = Dual { lambda: solution.lambda, point: solution.dual };
    Ok((weights, dual, history::columns(py, &rows)?, about))
}

/// What speaks against the certificate of coefficients of a joint kernel.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "called from one place, by name")]
pub(crate) fn verify_joint_kernel(
    py: Python<'_>,
    table: PyReadonlyArray2<'_, f64>,
    listed: Listed,
    coefficients: Vec<f64>,
    dual: &Dual,
    certificate: &str,
    settings: &str,
    threads: usize,
) -> PyResult<(Vec<String>, &'static str)> {
    let certificate: Certificate = parse("certificate", certificate)?;
    let settings = parse_settings(settings)?;
    let problem = problem_of(&table, listed)?;
    let weights = &coefficients;
    let claim = Claim { certificate, settings: &settings, status: None, weights, is_pruned: false };
    let found = py.detach(|| {
        audit(&problem, certificate.lambda, weights, &dual.point, Claim::ROUNDING, threads)
    });
    let found = found.map_err(value_error)?;
    Ok((findings(&claim, &found, dual), found.certificate.quality.name()))
}
