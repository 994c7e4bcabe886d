//! Training, and following a regularization path.

use crate::alphabet::Alphabet;
use crate::error::value_error;
use crate::examples::{AnyData, Examples};
use crate::history;
use crate::model::Model;
use crate::path::Path;
use crate::predict::error;
use crate::problem::{UseProblem, text, with_problem};
use crate::supervise::{Reporter, supervised};
use maxmargin::observe::{Control, Event, Record};
use maxmargin::{
    DualPoint, GroupBounds, Interrupt, PathSettings, Problem, Settings, Solution, Trainer,
    regularization_path_with,
};
use maxmargin_io::{
    Fingerprint, Format, GraphDataset, HeldOut, Model as ModelFile, Origin, PathFile, Spec,
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

/// The dual point to start from, for a problem whose λ is `lambda`: at a smaller λ the weights are
/// kept, at a larger one the dual variables.
pub(crate) fn start_at<P: Problem>(
    problem: &P,
    (old, point): (f64, DualPoint),
    lambda: Option<f64>,
) -> DualPoint {
    let lambda = lambda.unwrap_or(1.0 / problem.examples() as f64);
    match lambda < old {
        true => point.rescaled(problem, lambda / old),
        false => point,
    }
}

/// The error of weights on some data.
pub(crate) type ErrorOf<'a> = Box<dyn FnMut(&[f64]) -> f64 + Send + 'a>;

/// A training about to begin, on whatever problem.
pub(crate) struct Session<'a> {
    pub(crate) settings: Settings,
    pub(crate) start: Option<(f64, DualPoint)>,
    pub(crate) error: Option<ErrorOf<'a>>,
    pub(crate) interrupt: Interrupt,
    pub(crate) reporter: &'a Reporter,
}

impl UseProblem for Session<'_> {
    type Result = (Solution, Vec<Record>);

    fn go<P: Problem>(self, problem: &P) -> Result<Self::Result, String> {
        let Self { settings, start, mut error, interrupt, reporter } = self;
        let mut rows = Vec::new();
        let mut watch = |event: Event<'_>| match event {
            Event::Pass { record, .. } => {
                rows.push(record.clone());
                reporter.tell(record)
            }
            _ => Control::Continue,
        };
        let lambda = settings.lambda;
        let mut trainer = Trainer::new(settings).interrupt(interrupt).observe(&mut watch);
        if let Some(error) = &mut error {
            trainer = trainer.validate(error);
        }
        if let Some(start) = start {
            trainer = trainer.start_from(start_at(problem, start, lambda));
        }
        let solution = trainer.train(problem).map_err(text)?;
        Ok((solution, rows))
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
    meta.spec == *spec && meta.fingerprint == fingerprint && meta.held_out == held_out
}

/// Trains. Returns the model and the history.
#[pyfunction]
#[pyo3(signature = (spec, data, labels, attributes, format, settings, bounds, held_out=None,
                    validation=None, start=None, callback=None))]
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
) -> PyResult<(Model, Bound<'py, PyDict>)> {
    let settings: Settings = parse("settings", settings)?;
    let held_out = held_out.map(|(seed, one_in)| HeldOut { seed, one_in });
    let Task { spec, mut examples, origin, bounds } =
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
    let interrupt = Interrupt::new();
    let (solution, rows) = supervised(py, callback, &interrupt, |reporter| {
        let error = validation.map(|data| {
            let spec = &spec;
            let error = move |w: &[f64]| error(spec, w, &data).unwrap_or(f64::NAN);
            Box::new(error) as ErrorOf<'_>
        });
        let session = Session {
            settings: settings.clone(),
            start,
            error,
            interrupt: interrupt.clone(),
            reporter,
        };
        with_problem(&spec, examples, &bounds, session)
    })?;
    let mut inner = ModelFile::new(origin, spec, settings, solution);
    inner.meta.bounds = bounds;
    inner.meta.held_out = held_out;
    let columns = history::columns(py, &rows)?;
    Ok((Model { inner, rows }, columns))
}

/// A path about to be followed, on whatever problem.
pub(crate) struct Follow<'a> {
    pub(crate) settings: PathSettings,
    pub(crate) interrupt: &'a Interrupt,
}

impl UseProblem for Follow<'_> {
    type Result = maxmargin::Path;

    fn go<P: Problem>(self, problem: &P) -> Result<maxmargin::Path, String> {
        let Self { settings, interrupt } = self;
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
