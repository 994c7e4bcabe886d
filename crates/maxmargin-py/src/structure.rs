//! Structures that are defined in Python.

use crate::dual::Dual;
use crate::error::value_error;
use crate::fit::{Curve, Rule, curve, follow, not_interrupted, parse, parse_settings};
use crate::oracle::{Features, Methods, Question, push};
use crate::path::Path;
use crate::session::{ErrorOf, Session};
use crate::supervise::supervised;
use crate::{history, report};
use maxmargin::problem::{
    Abilities, Batched, BrokenLaw, CheckOptions, CheckPoints, Search, check_with_outputs,
};
use maxmargin::{
    Audit, Blocks, Bounds, Certificate, HeldOutError, Interrupt, LambdaFold, PathSettings,
    PointCheck, Problem, Quality, Settings, SlackRescaled, Solution, SparseVec, audit,
    choose_lambda, scale_lambda,
};
use maxmargin_io::{Claim, ProblemRole};
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::collections::VecDeque;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::Instant;

/// A problem whose oracle is a Python object.
///
/// An exception ends the run: it is kept, the interrupt is raised, and from then on every oracle
/// answers with the truth, which is always a corner.
pub(crate) struct PyProblem {
    /// Has the method `corner(i, w, augmented)`, which gives φ(xᵢ, ŷ) as indices and values, and the
    /// loss of ŷ; and `corners(first, last, w)`, which gives those of several examples, with the loss.
    adapter: Py<PyAny>,
    /// The methods of the structure, where they are called from here.
    methods: Option<Methods>,
    truths: Vec<SparseVec>,
    weights: Vec<f64>,
    dim: usize,
    bounds: Option<Bounds>,
    quality: Quality,
    failure: Mutex<Option<PyErr>>,
    interrupt: Interrupt,
}

/// An output, as far as training needs it.
#[derive(Clone, Default)]
pub(crate) struct Corner {
    psi: SparseVec,
    loss: f64,
}

/// Answers to oracle calls that were announced, in the order of the calls.
pub(crate) type Announced = VecDeque<(usize, Corner)>;

/// φ of an output as indices and values, and its loss.
type Described<'py> = (PyReadonlyArray1<'py, i64>, PyReadonlyArray1<'py, f64>, f64);

impl PyProblem {
    fn fails(&self) -> bool {
        self.failure.lock().map_or(true, |failure| failure.is_some())
    }

    fn fail(&self, error: PyErr) {
        if let Ok(mut failure) = self.failure.lock() {
            failure.get_or_insert(error);
        }
        self.interrupt.raise();
    }

    fn answer(&self, i: usize, w: &[f64], augmented: bool, y: &mut Corner) {
        y.psi.clear();
        y.loss = 0.0;
        if self.fails() {
            return;
        }
        let answer = Python::attach(|py| self.ask(py, i, w, augmented, y));
        if let Err(error) = answer {
            y.psi.clear();
            y.loss = 0.0;
            self.fail(error);
        }
    }

    fn ask(
        &self,
        py: Python<'_>,
        i: usize,
        w: &[f64],
        augmented: bool,
        y: &mut Corner,
    ) -> PyResult<()> {
        if let Some(methods) = &self.methods {
            let (truth, dim) = (&self.truths[i], self.dim);
            let question = Question { example: i, w, is_augmented: augmented, truth, dim };
            y.loss = methods.ask(py, &self.adapter, question, &mut y.psi)?;
            return Ok(());
        }
        let arguments = (i, PyArray1::from_slice(py, w), augmented);
        let answer = self.adapter.bind(py).call_method1("corner", arguments)?;
        self.describe(i, answer.extract()?, y)
    }

    /// Asks for the answers to several oracle calls in one go.
    fn ask_all(&self, py: Python<'_>, examples: Range<usize>, w: &[f64]) -> PyResult<Announced> {
        let arguments = (examples.start, examples.end, PyArray1::from_slice(py, w));
        let answers = self.adapter.bind(py).call_method1("corners", arguments)?;
        let describe = |(i, answer): (usize, PyResult<Bound<'_, PyAny>>)| {
            let mut corner = Corner::default();
            self.describe(i, answer?.extract()?, &mut corner)?;
            Ok((i, corner))
        };
        examples.zip(answers.try_iter()?).map(describe).collect()
    }

    /// Makes an output of its features and its loss.
    fn describe(&self, i: usize, output: Described<'_>, y: &mut Corner) -> PyResult<()> {
        let (indices, values, loss) = output;
        push(&mut y.psi, (indices, values), -1.0, self.dim)?;
        for &(feature, value) in self.truths[i].entries() {
            y.psi.push(feature, value);
        }
        y.psi.normalise();
        y.loss = loss;
        Ok(())
    }
}

impl Problem for PyProblem {
    type Output = Corner;
    type Workspace = Announced;

    fn examples(&self) -> usize {
        self.truths.len()
    }

    fn dim(&self) -> usize {
        self.dim
    }

    fn workspace(&self) -> Announced {
        Announced::new()
    }

    fn oracle(&self, i: usize, w: &[f64], announced: &mut Announced, y: &mut Corner) {
        match announced.pop_front() {
            Some((example, corner)) if example == i => *y = corner,
            _ => {
                announced.clear();
                self.answer(i, w, true, y);
            }
        }
    }

    fn decode(&self, i: usize, w: &[f64], _: &mut Announced, y: &mut Corner) {
        self.answer(i, w, false, y);
    }

    fn loss(&self, _i: usize, y: &Corner) -> f64 {
        y.loss
    }

    fn psi(&self, _i: usize, y: &Corner, psi: &mut SparseVec) {
        psi.assign(&y.psi);
    }

    fn weight(&self, i: usize) -> f64 {
        self.weights[i]
    }

    fn quality(&self) -> Quality {
        self.quality
    }

    fn bounds(&self) -> Option<&Bounds> {
        self.bounds.as_ref()
    }

    fn abilities(&self) -> Abilities<'_, Announced, Corner> {
        Abilities { points: Some(self), batched: Some(self), ..Abilities::none() }
    }
}

impl Batched for PyProblem {
    fn announce(&self, examples: Range<usize>, w: &[f64], announced: &mut Announced) {
        announced.clear();
        // One by one, they are asked when their turn comes.
        let one_by_one = self.methods.as_ref().is_some_and(|methods| !methods.has_batches());
        if self.fails() || one_by_one {
            return;
        }
        match Python::attach(|py| self.ask_all(py, examples, w)) {
            Ok(answers) => *announced = answers,
            Err(error) => self.fail(error),
        }
    }
}

impl CheckPoints for PyProblem {
    fn check_point(
        &self,
        _i: usize,
        parts: &SparseVec,
        _loss: f64,
        _slack: f64,
    ) -> Result<PointCheck, String> {
        let last = parts.entries().last().map(|(feature, _)| *feature);
        match last.filter(|feature| *feature >= self.dim as u64) {
            Some(feature) => Err(format!("it has a feature that does not exist: {feature}")),
            None => Ok(PointCheck::Unproven),
        }
    }
}

/// Lower and upper bounds, one per weight.
pub(crate) type BoundArrays = Option<(Vec<f64>, Vec<f64>)>;

impl PyProblem {
    pub(crate) fn new(
        adapter: Py<PyAny>,
        truths: Vec<Features<'_>>,
        weights: Vec<f64>,
        dim: usize,
        bounds: BoundArrays,
        quality: &str,
    ) -> PyResult<Self> {
        let mut vectors = Vec::with_capacity(truths.len());
        for features in truths {
            let mut vector = SparseVec::new();
            push(&mut vector, features, 1.0, dim)?;
            vector.normalise();
            vectors.push(vector);
        }
        let bounds = bounds.map(|(lower, upper)| Bounds::new(lower, upper)).transpose();
        let methods = Python::attach(|py| Methods::of(adapter.bind(py)))?;
        Ok(Self {
            adapter,
            methods,
            truths: vectors,
            weights,
            dim,
            bounds: bounds.map_err(value_error)?,
            quality: quality.parse().map_err(value_error)?,
            failure: Mutex::default(),
            interrupt: Interrupt::new(),
        })
    }

    /// The error of weights, as a Python function tells it; its exception ends the run.
    fn error(&self, validator: Py<PyAny>) -> ErrorOf<'_> {
        Box::new(move |w: &[f64], _: ProblemRole<'_>| {
            let error = Python::attach(|py| {
                validator.bind(py).call1((PyArray1::from_slice(py, w),))?.extract::<f64>()
            });
            error.unwrap_or_else(|error| {
                self.fail(error);
                f64::NAN
            })
        })
    }

    /// The exception that has ended the run, if there was one.
    pub(crate) fn failure(&self) -> Option<PyErr> {
        self.failure.lock().ok().and_then(|mut failure| failure.take())
    }

    pub(crate) fn interrupt(&self) -> &Interrupt {
        &self.interrupt
    }

    /// The exception that has ended the run, or its result.
    pub(crate) fn conclude<R>(&self, result: PyResult<R>) -> PyResult<R> {
        match self.failure() {
            Some(error) => Err(error),
            None => result,
        }
    }
}

/// A problem of a structure, with one of the ways in which the loss enters.
pub(crate) enum Posed {
    /// Larger losses need larger margins.
    Margin(Box<PyProblem>),
    /// Larger losses multiply violations. The structure decodes at several weights of the loss.
    Slack(Box<SlackRescaled<PyProblem, Search>>),
}

impl Posed {
    /// # Errors
    /// A way that is not known or that the structure's decoding does not allow, or what the structure raises.
    pub(crate) fn new(problem: PyProblem, rescaling: &str) -> PyResult<Self> {
        match rescaling {
            "margin" => Ok(Self::Margin(Box::new(problem))),
            "slack" => {
                let posed = SlackRescaled::by_search(problem).map_err(value_error)?;
                // The largest loss of each example was asked for.
                posed.inner().conclude(Ok(()))?;
                Ok(Self::Slack(Box::new(posed)))
            }
            _ => Err(value_error(format!(
                "rescaling is {rescaling:?}; known are 'margin' and 'slack'"
            ))),
        }
    }

    fn blocks(&self) -> &dyn Blocks {
        match self {
            Self::Margin(problem) => &**problem,
            Self::Slack(problem) => &**problem,
        }
    }

    /// The structure.
    fn own(&self) -> &PyProblem {
        match self {
            Self::Margin(problem) => problem,
            Self::Slack(problem) => problem.inner(),
        }
    }

    fn in_words(&self) -> &'static str {
        match self {
            Self::Margin(_) => "structured SVM with margin rescaling",
            Self::Slack(_) => "structured SVM with slack rescaling",
        }
    }
}

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
