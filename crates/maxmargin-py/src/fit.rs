//! Training, and following a regularization path.

use crate::alphabet::Alphabet;
use crate::error::{WorkError, value_error};
use crate::examples::AnyData;
use crate::history;
use crate::model::Model;
use crate::path::Path;
use crate::predict::error;
use crate::session::{ErrorOf, Session};
use crate::supervise::supervised;
use maxmargin::kernel::Support;
use maxmargin::observe::Control;
use maxmargin::{
    Blocks, GroupBounds, Interrupt, LambdaChoice, PathSettings, Settings, SettingsRecord,
    choose_lambda, regularization_path_with,
};
use maxmargin_io::{
    Examples, FactorGraphDataset, Fingerprint, Format, HeldOut, Model as ModelFile, Origin,
    PathFile, ProblemRole, SoftRounds, SoftSpec, Spec, Training, TrainingPlan,
};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::borrow::Cow;

/// A structured argument.
pub(crate) fn parse<T: serde::de::DeserializeOwned>(what: &str, json: &str) -> PyResult<T> {
    serde_json::from_str(json).map_err(|error| {
        // Where it is in the JSON tells nothing to those who have never seen that.
        let (text, place) = (error.to_string(), (error.line(), error.column()));
        let place = format!(" at line {} column {}", place.0, place.1);
        value_error(format!("{what}: {}", text.trim_end_matches(&place)))
    })
}

/// The settings of a run, which Python gives by name.
pub(crate) fn parse_settings(json: &str) -> PyResult<Settings> {
    let record: SettingsRecord = parse("settings", json)?;
    record.settings().map_err(value_error)
}

/// The λ that were tried with their errors.
pub(crate) type Curve = Vec<(f64, f64)>;

pub(crate) fn curve(choice: &LambdaChoice) -> Curve {
    choice.tried.iter().map(|tried| (tried.lambda, tried.error)).collect()
}

/// What is trained on what.
fn training(
    spec: &str,
    data: AnyData<'_>,
    labels: &Alphabet,
    attributes: &Alphabet,
    format: &str,
) -> PyResult<Training> {
    let template = match &data {
        AnyData::Sequences(data) => data.template.clone(),
        _ => None,
    };
    let factor_graph_names = match &data {
        AnyData::FactorGraphs(data) => Some(data.names.clone()),
        _ => None,
    };
    let (examples, fingerprint) = data.take()?;
    let format: Format = format.parse().map_err(value_error)?;
    let origin = match factor_graph_names {
        Some(names) => {
            Origin::from(&FactorGraphDataset { graphs: Default::default(), names, fingerprint })
        }
        None => {
            let (labels, attributes) = (labels.names.clone(), attributes.names.clone());
            Origin { labels, attributes, format, fingerprint, template }
        }
    };
    Ok(Training { spec: parse("spec", spec)?, examples, origin })
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
    let mut settings = parse_settings(settings)?;
    let rounds = rounds.map_or_else(SoftRounds::default, |(rhos, most)| SoftRounds { rhos, most });
    let held_out = held_out.map(|(seed, one_in)| HeldOut { seed, one_in });
    let mut training = training(spec, data, labels, attributes, format)?;
    let bounds: GroupBounds = parse("bounds", bounds)?;
    let validation = match (validation, held_out) {
        (Some(data), _) => Some(data.take()?.0),
        (None, Some(_)) if training.examples.len() < 2 => {
            return Err(value_error("validation needs at least two examples, or data of its own"));
        }
        (None, Some(held_out)) => {
            let (rest, out) = training.examples.split(held_out);
            training.examples = rest;
            Some(out)
        }
        (None, None) => None,
    };
    let start = start.map(|model| &model.inner);
    let start = start
        .filter(|model| fits(model, &training.spec, training.origin.fingerprint, held_out))
        .and_then(|model| model.dual.clone().map(|point| (model.meta.certificate.lambda, point)));
    let plan = TrainingPlan { bounds, rounds, start };
    let interrupt = Interrupt::new();
    let mut tried = None;
    if choose {
        let choice = supervised(py, None, &interrupt, |_| {
            choose_on(&training, validation.as_ref(), &plan.bounds, &settings, &interrupt)
        })?;
        not_interrupted(&interrupt)?;
        settings.lambda = Some(choice.lambda);
        tried = Some(curve(&choice));
    }
    training.fix_lambda(&mut settings);
    let spec = training.spec.clone();
    let (mut inner, rows) = supervised(py, callback, &interrupt, |reporter| {
        let error = validation.as_ref().map(|data| error_on(&spec, data));
        let (own, interrupt) = (settings.clone(), interrupt.clone());
        let mut session =
            Session { settings: own, error, interrupt, reporter, exact, rows: Vec::new() };
        let model = training
            .train(&plan, &settings, |round| session.run(round.problem, round.role, round.start))?;
        Ok((model, session.rows))
    })?;
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
fn choose_on(
    training: &Training,
    validation: Option<&Examples>,
    bounds: &GroupBounds,
    settings: &Settings,
    interrupt: &Interrupt,
) -> Result<LambdaChoice, WorkError> {
    let (spec, examples) = (&training.spec, &training.examples);
    let lowest = 0.1 / examples.len().max(1) as f64;
    let (train, out) = match validation {
        Some(own) => (examples.clone(), Cow::Borrowed(own)),
        None if examples.len() < 2 => return Err(WorkError::TooFewExamples),
        None => {
            let (rest, out) = examples.split(HeldOut { seed: settings.seed, one_in: ONE_IN });
            (rest, Cow::Owned(out))
        }
    };
    let problem = spec.problem(train, bounds)?;
    let mut error = error_on(spec, &out);
    let (blocks, role) = (problem.blocks(), problem.role());
    Ok(choose_lambda(blocks, settings, lowest, interrupt, |_, w| error(w, role))?)
}

/// The error of the weights of a problem on some data.
fn error_on<'a>(spec: &'a Spec, data: &'a Examples) -> ErrorOf<'a> {
    Box::new(move |w, role| {
        let (spec, w) = role.in_model(spec, w);
        error(&spec, &w, data).unwrap_or(f64::NAN)
    })
}

/// Follows the path of a problem.
pub(crate) fn follow(
    problem: &dyn Blocks,
    settings: &PathSettings,
    interrupt: &Interrupt,
) -> Result<maxmargin::Path, WorkError> {
    let watch = |_: &_, _: &_, _: &_| Control::Continue;
    Ok(regularization_path_with(problem, settings, interrupt, watch)?)
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
    let bounds: GroupBounds = parse("bounds", bounds)?;
    let Training { spec, examples, origin } = training(spec, data, labels, attributes, format)?;
    let n = examples.len();
    let interrupt = Interrupt::new();
    let path = supervised(py, None, &interrupt, |_| {
        let problem = spec.problem(examples, &bounds)?;
        match problem.role() {
            ProblemRole::Plain => follow(problem.blocks(), &settings, &interrupt),
            ProblemRole::Kernel(_) | ProblemRole::Soft(_) => Err(WorkError::NoPath),
        }
    })?;
    let mut file = PathFile::new(origin, spec, n, settings.training, path);
    file.meta.bounds = bounds;
    Ok(Path { path: file.path.clone(), file: Some(file) })
}
