//! A shard of a training on several machines: some of the examples, and a thread that holds the solver of their
//! blocks.

use crate::alphabet::Alphabet;
use crate::dual::Dual;
use crate::error::value_error;
use crate::examples::AnyData;
use crate::fit::{parse, parse_settings, training};
use crate::oracle::Features;
use crate::structure::{BoundArrays, PyProblem};
use maxmargin::distributed::{Effort, Mixture, ShardReading, ShardSolver, Whole};
use maxmargin::{Blocks, Bounds, GroupBounds, Interrupt, Settings, scale_lambda};
use maxmargin_io::{ProblemRole, Training};
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How often signals are looked at while the solver works.
const PATIENCE: Duration = Duration::from_millis(50);

/// What a shard learns from.
enum Source {
    Training(Box<Training>, GroupBounds),
    Structure(Box<PyProblem>),
}

/// Work for the thread of a solver, and where it tells that the work is done.
struct Job {
    work: Box<dyn FnOnce(&mut ShardSolver<'_>) + Send>,
    done: Sender<Option<PyErr>>,
}

/// Some of the examples of a training. It is first asked about these, and then started.
#[pyclass(module = "maxmargin._maxmargin", frozen)]
pub(crate) struct Shard {
    source: Mutex<Option<Source>>,
    jobs: Mutex<Option<Sender<Job>>>,
    interrupt: Interrupt,
}

/// A change of the weights (places, if it is sparse, and values), and the change of the loss.
type ProposedWay<'py> = (Option<Bound<'py, PyArray1<u32>>>, Bound<'py, PyArray1<f64>>, f64);

/// Ways, what an exact pass has read, and oracle calls so far.
type Proposed<'py> = (Vec<ProposedWay<'py>>, Reading, u64);

/// Weights, loss, and the round of the last commit.
type State<'py> = (Bound<'py, PyArray1<f64>>, f64, u64);

/// Risk, gap, size, failures, quality, whether all examples were read, and what heuristics may have missed.
pub(crate) type Reading = (f64, f64, f64, u64, String, bool, Option<f64>);

/// Examples, features, total weight, sum of squared weights, a λ that fits the scale of these examples, if there
/// is a seed to draw some of them by, and bounds on all weights.
type About = (usize, usize, f64, f64, Option<f64>, BoundArrays);

#[pymethods]
impl Shard {
    /// A shard of data of any kind.
    #[new]
    fn new(
        spec: &str,
        data: AnyData<'_>,
        labels: &Alphabet,
        attributes: &Alphabet,
        format: &str,
        bounds: &str,
    ) -> PyResult<Self> {
        let training = training(spec, data, labels, attributes, format)?;
        if training.spec.kernel().is_some() || training.spec.soft().is_some() {
            let text = "kernels and soft constraints do not train on a cluster";
            return Err(value_error(text));
        }
        let source = Source::Training(Box::new(training), parse("bounds", bounds)?);
        Ok(Self::of(source, Interrupt::with_grace(Duration::MAX)))
    }

    /// A shard of examples of a structure that is defined in Python.
    #[staticmethod]
    #[pyo3(signature = (adapter, truths, weights, dim, bounds=None, quality="exact"))]
    fn of_structure(
        adapter: Py<PyAny>,
        truths: Vec<Features<'_>>,
        weights: Vec<f64>,
        dim: usize,
        bounds: BoundArrays,
        quality: &str,
    ) -> PyResult<Self> {
        let problem = PyProblem::new(adapter, truths, weights, dim, bounds, quality)?;
        let interrupt = problem.interrupt().clone();
        Ok(Self::of(Source::Structure(Box::new(problem)), interrupt))
    }

    /// What has to be known of the examples before the start.
    #[pyo3(signature = (seed=None))]
    fn about(&self, py: Python<'_>, seed: Option<u64>) -> PyResult<About> {
        py.detach(|| match &*lock(&self.source) {
            None => Err(value_error("the shard has been started")),
            Some(Source::Structure(problem)) => {
                let scale = seed.map(|seed| scale_lambda(&**problem, seed)).transpose();
                let scale = problem.conclude(scale.map_err(value_error))?;
                Ok(about(&**problem, scale.map(|scale| scale.lambda)))
            }
            Some(Source::Training(training, bounds)) => {
                let scale = seed.map(|seed| training.scale_lambda(bounds, seed));
                let scale = scale.transpose().map_err(value_error)?;
                let examples = training.examples.clone();
                let problem = training.spec.problem(examples, bounds).map_err(value_error)?;
                Ok(about(problem.blocks(), scale.map(|scale| scale.lambda)))
            }
        })
    }

    /// Starts the solver at the truth, or where `saved` says.
    #[pyo3(signature = (settings, lambda_, total_weight, saved=None))]
    fn start(
        &self,
        py: Python<'_>,
        settings: &str,
        lambda_: f64,
        total_weight: f64,
        saved: Option<Vec<u8>>,
    ) -> PyResult<()> {
        let settings = parse_settings(settings)?;
        let whole = Whole { lambda: lambda_, total_weight };
        let Some(source) = lock(&self.source).take() else {
            return Err(value_error("the shard has been started"));
        };
        let (jobs, received) = channel();
        let (ready, started) = channel();
        let interrupt = self.interrupt.clone();
        let how = How { whole, settings, saved, interrupt };
        std::thread::spawn(move || live(source, &how, &ready, &received));
        match py.detach(move || started.recv()) {
            Ok(Ok(())) => {
                *lock(&self.jobs) = Some(jobs);
                Ok(())
            }
            Ok(Err((error, source))) => {
                *lock(&self.source) = source;
                Err(error)
            }
            Err(_) => Err(panicked()),
        }
    }

    fn propose<'py>(
        &self,
        py: Python<'py>,
        round: u64,
        sum: PyReadonlyArray1<'py, f64>,
        passes: usize,
        shards: usize,
    ) -> PyResult<Proposed<'py>> {
        let sum = sum.as_slice()?.to_vec();
        let effort = Effort::among(shards, passes);
        let found = self.ask(py, move |solver| solver.propose(round, &sum, effort))?;
        let found = found.map_err(value_error)?;
        let ways = found.ways.into_iter().map(|way| {
            let at = way.change.at.map(|at| PyArray1::from_vec(py, at));
            (at, PyArray1::from_vec(py, way.change.values), way.loss)
        });
        Ok((ways.collect(), told(&found.reading), found.oracle_calls))
    }

    fn commit(&self, py: Python<'_>, round: u64, shares: Vec<f64>, keep: usize) -> PyResult<bool> {
        let mixture = Mixture { shares, keep };
        self.ask(py, move |solver| solver.commit(round, &mixture))?.map_err(value_error)
    }

    fn fence(&self, py: Python<'_>, round: u64) -> PyResult<()> {
        self.ask(py, move |solver| solver.fence(round))
    }

    fn state<'py>(&self, py: Python<'py>) -> PyResult<State<'py>> {
        let (sum, loss, round) =
            self.ask(py, |solver| (solver.sum().to_vec(), solver.loss(), solver.round()))?;
        Ok((PyArray1::from_vec(py, sum), loss, round))
    }

    fn check(&self, py: Python<'_>, sum: PyReadonlyArray1<'_, f64>) -> PyResult<Reading> {
        let sum = sum.as_slice()?.to_vec();
        let read = self.ask(py, move |solver| solver.check(&sum))?.map_err(value_error)?;
        Ok(told(&read))
    }

    fn dual(&self, py: Python<'_>, lambda_: f64) -> PyResult<Dual> {
        Ok(Dual { lambda: lambda_, point: self.ask(py, |solver| solver.point())? })
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = self.ask(py, |solver| solver.to_bytes())?;
        Ok(PyBytes::new(py, &bytes))
    }
}

impl Shard {
    fn of(source: Source, interrupt: Interrupt) -> Self {
        Self { source: Mutex::new(Some(source)), jobs: Mutex::default(), interrupt }
    }

    /// Lets the solver's thread do something, and listens to ctrl-C meanwhile.
    fn ask<R: Send + 'static>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut ShardSolver<'_>) -> R + Send + 'static,
    ) -> PyResult<R> {
        let answer = Arc::new(Mutex::new(None));
        let place = Arc::clone(&answer);
        let work = Box::new(move |solver: &mut ShardSolver<'_>| {
            *lock(&place) = Some(work(solver));
        });
        let (done, told) = channel();
        let told = Mutex::new(told);
        match &*lock(&self.jobs) {
            None => return Err(value_error("the shard has not been started")),
            Some(jobs) => jobs.send(Job { work, done }).map_err(|_| panicked())?,
        }
        let mut pressed = None;
        let failure = loop {
            match py.detach(|| lock(&told).recv_timeout(PATIENCE)) {
                Ok(failure) => break failure,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err(panicked()),
            }
            if let Err(error) = py.check_signals() {
                pressed.get_or_insert(error);
            }
        };
        if let Some(error) = failure.or(pressed) {
            return Err(error);
        }
        lock(&answer).take().ok_or_else(panicked)
    }
}

fn told(read: &ShardReading) -> Reading {
    let quality = read.quality.name().to_owned();
    (read.risk, read.gap, read.size, read.failures, quality, read.is_whole, read.missed)
}

fn about(problem: &dyn Blocks, scale: Option<f64>) -> About {
    let n = problem.examples();
    let squares = (0..n).map(|i| problem.weight(i) * problem.weight(i)).sum();
    let arrays = |bounds: &Bounds| (bounds.lower().to_vec(), bounds.upper().to_vec());
    (n, problem.dim(), problem.total_weight(), squares, scale, problem.bounds().map(arrays))
}

/// How a solver starts.
struct How {
    whole: Whole,
    settings: Settings,
    saved: Option<Vec<u8>>,
    interrupt: Interrupt,
}

/// Whether a solver has started; if not, why, and the source again if it is still good.
type Started = Result<(), (PyErr, Option<Source>)>;

/// The life of a solver's thread.
fn live(source: Source, how: &How, ready: &Sender<Started>, jobs: &Receiver<Job>) {
    // Nobody waits for an answer any more if sending fails.
    let refuse = |error: PyErr, source| {
        let _ = ready.send(Err((error, source)));
    };
    match source {
        Source::Structure(problem) => {
            let began = begin(&*problem, how);
            match problem.conclude(began.map_err(value_error)) {
                Ok(mut solver) => {
                    let _ = ready.send(Ok(()));
                    work_off(&mut solver, jobs, || problem.failure());
                }
                Err(error) => refuse(error, None),
            }
        }
        Source::Training(training, bounds) => {
            let examples = training.examples.clone();
            let built = match training.spec.problem(examples, &bounds) {
                Ok(built) => built,
                Err(error) => return refuse(value_error(error), None),
            };
            debug_assert!(matches!(built.role(), ProblemRole::Plain));
            match begin(built.blocks(), how) {
                Ok(mut solver) => {
                    drop(training);
                    let _ = ready.send(Ok(()));
                    work_off(&mut solver, jobs, || None);
                }
                Err(error) => {
                    refuse(value_error(error), Some(Source::Training(training, bounds)));
                }
            }
        }
    }
}

fn begin<'p>(
    problem: &'p dyn Blocks,
    How { whole, settings, saved, interrupt }: &How,
) -> Result<ShardSolver<'p>, maxmargin::TrainError> {
    match saved {
        None => ShardSolver::new(problem, *whole, settings, interrupt.clone()),
        Some(bytes) => ShardSolver::restore(problem, *whole, settings, interrupt.clone(), bytes),
    }
}

/// Does one job after the other, until nobody can ask for any more.
fn work_off(
    solver: &mut ShardSolver<'_>,
    jobs: &Receiver<Job>,
    failure: impl Fn() -> Option<PyErr>,
) {
    while let Ok(Job { work, done }) = jobs.recv() {
        work(solver);
        let _ = done.send(failure());
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn panicked() -> PyErr {
    PyRuntimeError::new_err("the solver of the shard has panicked; this is a bug")
}
