//! Training, and following a regularization path.

use crate::alphabet::Alphabet;
use crate::error::value_error;
use crate::examples::{AnyData, Examples};
use crate::history;
use crate::model::Model;
use crate::path::Path;
use crate::predict::error;
use crate::problem::{UseProblem, text, with_problem};
use crate::session::{ErrorOf, Search, Session, run_rounds};
use crate::supervise::supervised;
use maxmargin::kernel::Support;
use maxmargin::observe::Control;
use maxmargin::{
    GroupBounds, Interrupt, LambdaChoice, PathSettings, Problem, Settings, regularization_path_with,
};
use maxmargin_io::{
    FactorGraphDataset, Fingerprint, Format, HeldOut, Model as ModelFile, Origin, PathFile,
    ProblemRole, SoftRounds, SoftSpec, Spec,
};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::borrow::Cow;

/// What is trained on what.
struct Task {
    spec: Spec,
    examples: Examples,
    origin: Origin,
    bounds: GroupBounds,
}

/// A structured argument.
pub(crate) fn parse<T: serde::de::DeserializeOwned>(what: &str, json: &str) -> PyResult<T> {
    serde_json::from_str(json).map_err(|error| {
        // Where it is in the JSON tells nothing to those who have never seen that.
        let (text, place) = (error.to_string(), (error.line(), error.column()));
        let place = format!(" at line {} column {}", place.0, place.1);
        value_error(format!("{what}: {}", text.trim_end_matches(&place)))
    })
}

/// The λ that were tried with their errors.
pub(crate) type Curve = Vec<(f64, f64)>;

pub(crate) fn curve(choice: &LambdaChoice) -> Curve {
    choice.tried.iter().map(|tried| (tried.lambda, tried.error)).collect()
}

impl Task {
    fn new(
        spec: &str,
        data: AnyData<'_>,
        labels: &Alphabet,
        attributes: &Alphabet,
        format: &str,
        bounds: &str,
    ) -> PyResult<Self> {
        let template = match &data {
            AnyData::Sequences(data) => data.template.clone(),
            _ => None,
        };
        let graph_names = match &data {
            AnyData::Graphs(data) => Some(data.names.clone()),
            _ => None,
        };
        let (examples, fingerprint) = data.take()?;
        let format: Format = format.parse().map_err(value_error)?;
        let origin = match graph_names {
            Some(names) => {
                Origin::from(&FactorGraphDataset { graphs: Default::default(), names, fingerprint })
            }
            None => {
                let (labels, attributes) = (labels.names.clone(), attributes.names.clone());
                Origin { labels, attributes, format, fingerprint, template }
            }
        };
        Ok(Self { spec: parse("spec", spec)?, examples, origin, bounds: parse("bounds", bounds)? })
    }
}

/// Whether a model was trained on these data, so that its dual point is one of this problem.
fn fits(
    model: &ModelFile,
    spec: &Spec,
    fingerprint: Fingerprint,
    held_out: Option<HeldOut>,
) -> bool {
    let meta = &model.meta;
    before(&meta.spec) == before(spec)
        && meta.fingerprint == fingerprint
        && meta.held_out == held_out
}

/// What was known of a model before it was trained.
fn before(spec: &Spec) -> Spec {
    let mut spec = spec.clone();
    if let Some(own) = spec.kernel_mut() {
        own.support = Support::default();
    }
    if let Some(own) = spec.soft_mut() {
        let smoothing = own.smoothing;
        *own = SoftSpec { smoothing, ..SoftSpec::new(own.rho) };
    }
    spec.fix_lambda(0.0);
    spec
}

/// Trains. Returns the model, the history, and how λ was chosen if that was asked for.
#[pyfunction]
#[pyo3(signature = (spec, data, labels, attributes, format, settings, bounds, held_out=None,
                    validation=None, start=None, callback=None, rounds=None, exact=false,
                    choose=false))]
#[expect(clippy::too_many_arguments, reason = "called from one place, by name")]
pub(crate) fn fit<'py>(
    py: Python<'py>,
    spec: &str,
    data: AnyData<'py>,
    labels: &Alphabet,
    attributes: &Alphabet,
    format: &str,
    settings: &str,
    bounds: &str,
    held_out: Option<(u64, usize)>,
    validation: Option<AnyData<'py>>,
    start: Option<&Model>,
    callback: Option<&Bound<'py, PyAny>>,
    rounds: Option<(Vec<f64>, usize)>,
    exact: bool,
    choose: bool,
) -> PyResult<(Model, Bound<'py, PyDict>, Option<Curve>)> {
    let mut settings: Settings = parse("settings", settings)?;
    let rounds = rounds.map_or_else(SoftRounds::default, |(rhos, most)| SoftRounds { rhos, most });
    let held_out = held_out.map(|(seed, one_in)| HeldOut { seed, one_in });
    let Task { mut spec, mut examples, origin, bounds } =
        Task::new(spec, data, labels, attributes, format, bounds)?;
    let validation = match (validation, held_out) {
        (Some(data), _) => Some(data.take()?.0),
        (None, Some(_)) if examples.len() < 2 => {
            return Err(value_error("validation needs at least two examples, or data of its own"));
        }
        (None, Some(held_out)) => {
            let (rest, out) = examples.split(held_out);
            examples = rest;
            Some(out)
        }
        (None, None) => None,
    };
    let start = start.map(|model| &model.inner);
    let start = start.filter(|model| fits(model, &spec, origin.fingerprint, held_out));
    let start = start
        .and_then(|model| model.dual.clone().map(|point| (model.meta.certificate.lambda, point)));
    let n = examples.len();
    let interrupt = Interrupt::new();
    let mut tried = None;
    if choose {
        let choice = supervised(py, None, &interrupt, |_| {
            choose_lambda(&spec, &examples, validation.as_ref(), &bounds, &settings, &interrupt)
        })?;
        not_interrupted(&interrupt)?;
        settings.lambda = Some(choice.lambda);
        tried = Some(curve(&choice));
    }
    fix_lambda(&mut spec, &mut settings, n);
    let (mut inner, rows) = supervised(py, callback, &interrupt, |reporter| {
        let error = validation.as_ref().map(|data| error_on(&spec, data));
        let session =
            Session { settings, start, error, interrupt: interrupt.clone(), reporter, exact };
        run_rounds(session, &rounds, spec.clone(), examples, &bounds, origin)
    })?;
    inner.meta.n = n;
    inner.meta.bounds = bounds;
    inner.meta.held_out = held_out;
    let columns = history::columns(py, &rows)?;
    Ok((Model { inner, rows }, columns, tried))
}

/// Refuses to go on with a λ that a ctrl-C has kept from being the best.
pub(crate) fn not_interrupted(interrupt: &Interrupt) -> PyResult<()> {
    match interrupt.is_raised() {
        true => Err(PyKeyboardInterrupt::new_err("interrupted while lam was being chosen")),
        false => Ok(()),
    }
}

/// One example in this many is held out to choose λ by, where no other data are given.
const ONE_IN: usize = 10;

/// Chooses λ by the error on `validation`, or on a random tenth of the examples.
fn choose_lambda(
    spec: &Spec,
    examples: &Examples,
    validation: Option<&Examples>,
    bounds: &GroupBounds,
    settings: &Settings,
    interrupt: &Interrupt,
) -> Result<LambdaChoice, String> {
    let lowest = 0.1 / examples.len().max(1) as f64;
    let held_out = HeldOut { seed: settings.seed, one_in: ONE_IN };
    let (train, out) = match validation {
        Some(own) => (examples.clone(), Cow::Borrowed(own)),
        None if examples.len() < 2 => {
            return Err("lam=\"auto\" needs at least two examples, or data to validate on".into());
        }
        None => {
            let (rest, out) = examples.split(held_out);
            (rest, Cow::Owned(out))
        }
    };
    let search = Search { settings, lowest, error: error_on(spec, &out), interrupt };
    with_problem(spec, train, bounds, search)
}

/// The error of the weights of a problem on some data.
fn error_on<'a>(spec: &'a Spec, data: &'a Examples) -> ErrorOf<'a> {
    Box::new(move |w, beside| error_beside(spec, w, beside, data).unwrap_or(f64::NAN))
}

/// Tells a problem that is made for one λ which one it is.
fn fix_lambda(spec: &mut Spec, settings: &mut Settings, n: usize) {
    let lambda = settings.lambda.unwrap_or(1.0 / n.max(1) as f64);
    if spec.fix_lambda(lambda) {
        settings.lambda = Some(lambda);
    }
}

/// The error of the weights of a problem, which are not those of its model where it has a kernel.
fn error_beside(
    spec: &Spec,
    w: &[f64],
    beside: ProblemRole<'_>,
    examples: &Examples,
) -> Result<f64, String> {
    let Some(inputs) = beside.inputs() else { return error(spec, w, examples) };
    let (support, weights) = inputs.keep(w);
    let mut spec = spec.clone();
    if let Some(own) = spec.kernel_mut() {
        own.support = support;
    }
    error(&spec, &weights, examples)
}

/// A path about to be followed, on whatever problem.
pub(crate) struct Follow<'a> {
    pub(crate) settings: PathSettings,
    pub(crate) interrupt: &'a Interrupt,
}

impl UseProblem for Follow<'_> {
    type Result = maxmargin::Path;

    fn go_with<P: Problem>(
        self,
        problem: &P,
        beside: ProblemRole<'_>,
    ) -> Result<maxmargin::Path, String> {
        let Self { settings, interrupt } = self;
        if !matches!(beside, ProblemRole::Plain) {
            return Err(
                "paths are of weights, which models with a kernel or soft training have not; \
                        give several lam to fit, or leave kernel and training out"
                    .to_owned(),
            );
        }
        regularization_path_with(problem, &settings, interrupt, |_, _, _| Control::Continue)
            .map_err(text)
    }
}

/// Follows the regularization path.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "called from one place, by name")]
pub(crate) fn follow_path(
    py: Python<'_>,
    spec: &str,
    data: AnyData<'_>,
    labels: &Alphabet,
    attributes: &Alphabet,
    format: &str,
    settings: &str,
    bounds: &str,
) -> PyResult<Path> {
    let settings: PathSettings = parse("settings", settings)?;
    let Task { spec, examples, origin, bounds } =
        Task::new(spec, data, labels, attributes, format, bounds)?;
    let n = examples.len();
    let interrupt = Interrupt::new();
    let training = settings.training.clone();
    let path = supervised(py, None, &interrupt, |_| {
        with_problem(&spec, examples, &bounds, Follow { settings, interrupt: &interrupt })
    })?;
    let mut file = PathFile::new(origin, spec, n, training, path);
    file.meta.bounds = bounds;
    Ok(Path { path: file.path.clone(), file: Some(file) })
}
