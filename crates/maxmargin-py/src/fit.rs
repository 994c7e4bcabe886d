//! Training, and following a regularization path.

use crate::alphabet::Alphabet;
use crate::error::value_error;
use crate::examples::{AnyData, Examples};
use crate::history;
use crate::model::Model;
use crate::path::Path;
use crate::predict::error;
use crate::problem::{UseProblem, text, with_problem};
use crate::session::{ErrorOf, Rounds, Session, run_rounds};
use crate::supervise::supervised;
use maxmargin::kernel::Support;
use maxmargin::observe::Control;
use maxmargin::{
    GroupBounds, Interrupt, PathSettings, Problem, Settings, regularization_path_with,
};
use maxmargin_io::{
    Beside, FactorTraining, Fingerprint, Format, GraphDataset, HeldOut, Model as ModelFile, Origin,
    PathFile, SoftSpec, Spec,
};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// What is trained on what.
struct Task {
    spec: Spec,
    examples: Examples,
    origin: Origin,
    bounds: GroupBounds,
}

/// A structured argument.
pub(crate) fn parse<T: serde::de::DeserializeOwned>(what: &str, json: &str) -> PyResult<T> {
    serde_json::from_str(json).map_err(|error| value_error(format!("{what}: {error}")))
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
        let graph_names = match &data {
            AnyData::Graphs(data) => Some(data.names.clone()),
            _ => None,
        };
        let (examples, fingerprint) = data.take()?;
        let format: Format = format.parse().map_err(value_error)?;
        let origin = match graph_names {
            Some(names) => {
                Origin::from(&GraphDataset { graphs: Default::default(), names, fingerprint })
            }
            None => {
                let (labels, attributes) = (labels.names.clone(), attributes.names.clone());
                Origin { labels, attributes, format, fingerprint, template: None }
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
    if let Some(FactorTraining::Dlpw { lambda, .. }) = spec.training_mut() {
        *lambda = 0.0;
    }
    spec
}

/// Trains. Returns the model and the history.
#[pyfunction]
#[pyo3(signature = (spec, data, labels, attributes, format, settings, bounds, held_out=None,
                    validation=None, start=None, callback=None, rounds=None, exact=false))]
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
) -> PyResult<(Model, Bound<'py, PyDict>)> {
    let mut settings: Settings = parse("settings", settings)?;
    let rounds = rounds.map_or_else(Rounds::default, |(rhos, most)| Rounds { rhos, most });
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
    fix_lambda(&mut spec, &mut settings, n);
    let interrupt = Interrupt::new();
    let (mut inner, rows) = supervised(py, callback, &interrupt, |reporter| {
        let error = validation.map(|data| {
            let spec = spec.clone();
            let error = move |w: &[f64], beside: Beside<'_>| {
                error_beside(&spec, w, beside, &data).unwrap_or(f64::NAN)
            };
            Box::new(error) as ErrorOf<'_>
        });
        let session =
            Session { settings, start, error, interrupt: interrupt.clone(), reporter, exact };
        run_rounds(session, &rounds, spec, examples, &bounds, |spec, settings, solution| {
            ModelFile::new(origin, spec, settings, solution)
        })
    })?;
    inner.meta.n = n;
    inner.meta.bounds = bounds;
    inner.meta.held_out = held_out;
    let columns = history::columns(py, &rows)?;
    Ok((Model { inner, rows }, columns))
}

/// Tells a problem that is made for one λ which one it is.
fn fix_lambda(spec: &mut Spec, settings: &mut Settings, n: usize) {
    let lambda = settings.lambda.unwrap_or(1.0 / n.max(1) as f64);
    match spec.training_mut() {
        Some(FactorTraining::Soft(soft)) => soft.lambda = lambda,
        Some(FactorTraining::Dlpw { lambda: own, .. }) => *own = lambda,
        _ => return,
    }
    settings.lambda = Some(lambda);
}

/// The error of the weights of a problem, which are not those of its model where it has a kernel.
fn error_beside(
    spec: &Spec,
    w: &[f64],
    beside: Beside<'_>,
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
        beside: Beside<'_>,
    ) -> Result<maxmargin::Path, String> {
        let Self { settings, interrupt } = self;
        if !matches!(beside, Beside::Nothing) {
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
