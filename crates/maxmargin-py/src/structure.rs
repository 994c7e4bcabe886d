//! Structures that are defined in Python.

mod calls;

pub(crate) use calls::*;

use crate::error::value_error;
use crate::oracle::{Features, Methods, Question, push};
use crate::session::ErrorOf;
use maxmargin::problem::{Abilities, Batched, CheckPoints, Search};
use maxmargin::{
    Blocks, Bounds, Interrupt, PointCheck, Problem, Quality, SlackRescaled, SparseVec,
};
use maxmargin_io::ProblemRole;
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Mutex;

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
