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
    Blocks, GroupBounds, Interrupt, PathSettings, Settings, SettingsRecord, TrainError,
    TriedLambda, regularization_path_with,
};
use maxmargin_io::{
    Examples, FactorGraphDataset, Fingerprint, Format, HeldOut, LabelPairs, LambdaSource, Measure,
    Model as ModelFile, Origin, PathFile, ProblemRole, Scaling, SoftRounds, SoftSpec, Spec,
    Training, TrainingPlan,
};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::time::Instant;

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

pub(crate) fn curve(tried: &[TriedLambda]) -> Curve {
    tried.iter().map(|tried| (tried.lambda, tried.error)).collect()
}

/// How λ is to be found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Rule {
    Given,
    PerExample,
    Scale,
    /// By a measure, or by that of the task.
    Auto(Option<Measure>),
}

impl Rule {
    pub(crate) fn parse(rule: &str, measure: Option<&str>) -> PyResult<Self> {
        let measure = measure.map(|name| name.parse().map_err(value_error)).transpose()?;
        match (rule, measure) {
            ("auto", measure) => Ok(Self::Auto(measure)),
            (_, Some(_)) => Err(value_error("measure has a meaning only with lam='auto'")),
            ("given", None) => Ok(Self::Given),
            ("1/n", None) => Ok(Self::PerExample),
            ("scale", None) => Ok(Self::Scale),
            _ => Err(value_error(format!("there is no rule {rule:?} for lam"))),
        }
    }
}

/// What is trained on what.
pub(crate) fn training(
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

/// Whether the dual point of a model may serve as a start on its data and more that follow: it has the same kind of
/// outputs with as many labels, so that parts mean the same. Blocks that do not fit after all start at the truth.
fn extends(model: &ModelFile, spec: &Spec, n: usize) -> bool {
    let own = &model.meta.spec;
    own.kind() == spec.kind()
        && own.labels() == spec.labels()
        && spec.soft().is_none()
        && model.meta.held_out.is_none()
        && model.dual.as_ref().is_some_and(|point| point.blocks.len() <= n)
}

/// What was known of a model before it was trained.
fn before(spec: &Spec) -> Spec {
    let mut spec = spec.clone();
    if let Some(own) = spec.kernel_mut() {
        own.support = Support::default();
    }
    if let Some(own) = spec.soft_mut() {
        let SoftSpec { smoothing, rho_scale, .. } = *own;
        *own = SoftSpec { smoothing, rho_scale, ..SoftSpec::new(own.rho) };
    }
    spec.fix_lambda(0.0);
    spec
}

/// Trains. Returns the model, the history, and how λ was chosen if that was asked for.
#[pyfunction]
#[pyo3(signature = (spec, data, labels, attributes, format, settings, bounds, held_out=None,
                    validation=None, start=None, callback=None, rounds=None, exact=false,
                    rule="given", measure=None, standardise="never",
                    fit_constants=false, more=false, lambda_factor=1.0))]
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
    rule: &str,
    measure: Option<&str>,
    standardise: &str,
    fit_constants: bool,
    more: bool,
    lambda_factor: f64,
) -> PyResult<(Model, Bound<'py, PyDict>, Option<Curve>)> {
    let mut settings = parse_settings(settings)?;
    let rounds = rounds.map_or_else(SoftRounds::default, |(rhos, most)| SoftRounds { rhos, most });
    let held_out = held_out.map(|(seed, one_in)| HeldOut { seed, one_in });
    let mut training = training(spec, data, labels, attributes, format)?;
    let bounds: GroupBounds = parse("bounds", bounds)?;
    let mut validation = match (validation, held_out) {
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
    let scaling = scale(standardise, &mut training, validation.as_mut(), &bounds)?;
    // The value that the specification has is for attributes in their own units.
    if fit_constants && scaling.is_some() {
        training.fit_bias();
        training.fit_transition_scale();
    }
    let start = start
        .filter(|model| match more {
            true => extends(model, &training.spec, training.examples.len()),
            false => fits(model, &training.spec, training.origin.fingerprint, held_out),
        })
        .and_then(|model| model.dual.clone().map(|point| (model.meta.certificate.lambda, point)));
    let mut plan = TrainingPlan { bounds, rounds, start, lambda_source: None, scaling };
    let interrupt = Interrupt::new();
    let rule = Rule::parse(rule, measure)?;
    let begun = Instant::now();
    let found = supervised(py, None, &interrupt, |_| {
        find_lambda(rule, &training, validation.as_ref(), &plan.bounds, &settings, &interrupt)
    })?;
    not_interrupted(&interrupt)?;
    settings.spend(begun.elapsed());
    let (mut lambda, mut source) = found;
    if let LambdaSource::Scale(scale) = &mut source {
        // Losses that count more, by their class, have to weigh more against the regularizer, too.
        scale.lambda *= lambda_factor;
        lambda = Some(scale.lambda);
    }
    settings.lambda = lambda.or(settings.lambda);
    let tried = match &source {
        LambdaSource::Auto(search) => Some(curve(&search.curve)),
        _ => None,
    };
    plan.lambda_source = Some(source);
    training.fix_lambda(&mut settings);
    let spec = training.spec.clone();
    let (mut inner, rows) = supervised(py, callback, &interrupt, |reporter| {
        let error = validation.as_ref().map(|data| error_on(&spec, data, settings.threads));
        let (own, interrupt) = (settings.clone(), interrupt.clone());
        let mut session =
            Session { settings: own, error, interrupt, reporter, exact, rows: Vec::new() };
        let model = training.train(&plan, &settings, |round| {
            let (problem, role) = (round.problem, round.role);
            session.settings = round.settings;
            match session.run(problem, role, round.start) {
                // No block of the old point fits, as where new data have brought other pairs of labels.
                Err(WorkError::Train(TrainError::Start { .. })) if more => {
                    session.run(problem, role, None)
                }
                found => found,
            }
        })?;
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

/// Scales the attributes of all examples if that is asked for, or pays.
fn scale(
    when: &str,
    training: &mut Training,
    validation: Option<&mut Examples>,
    bounds: &GroupBounds,
) -> PyResult<Option<Scaling>> {
    let possible = bounds.is_empty() && training.spec.kernel().is_none();
    match when {
        "always" if !possible => {
            return Err(value_error("standardise=True does not go with bounds or a kernel"));
        }
        "always" | "auto" if possible => {}
        _ => return Ok(None),
    }
    let Some(scaling) = Scaling::of(&training.examples) else { return Ok(None) };
    let scaling = scaling.centred(&training.examples, &training.spec);
    if when == "auto" && !scaling.is_needed(&training.examples) {
        return Ok(None);
    }
    for examples in std::iter::once(&mut training.examples).chain(validation) {
        if let Some(scaled) = scaling.apply(examples) {
            *examples = scaled;
        }
    }
    Ok(Some(scaling))
}

/// Finds λ by a rule; none if the settings have it.
fn find_lambda(
    rule: Rule,
    training: &Training,
    validation: Option<&Examples>,
    bounds: &GroupBounds,
    settings: &Settings,
    interrupt: &Interrupt,
) -> Result<(Option<f64>, LambdaSource), WorkError> {
    Ok(match rule {
        Rule::Given => (None, LambdaSource::Given),
        Rule::PerExample => (None, LambdaSource::PerExample),
        Rule::Scale => {
            let scale = training.scale_lambda(bounds, settings.seed)?;
            (Some(scale.lambda), LambdaSource::Scale(scale))
        }
        Rule::Auto(measure) => {
            let measure = match measure {
                Some(measure) => match measure.misfit(&training.spec) {
                    Some(what) => return Err(WorkError::Measure(measure, what)),
                    None => measure,
                },
                None => Measure::of(&training.spec, &training.origin.labels),
            };
            let watch = |_: &TriedLambda| {};
            let (lambda, search) =
                training.choose_lambda(bounds, validation, measure, settings, interrupt, watch)?;
            (Some(lambda), LambdaSource::Auto(search))
        }
    })
}

/// The error of the weights of a problem on some data.
fn error_on<'a>(spec: &'a Spec, data: &'a Examples, threads: usize) -> ErrorOf<'a> {
    Box::new(move |w, role| {
        let (spec, w) = role.in_model(spec, w);
        error(&spec, &w, data, threads).unwrap_or(f64::NAN)
    })
}

/// The pairs of labels that pay with this number of labels.
#[pyfunction]
pub(crate) fn label_pairs(labels: usize) -> &'static str {
    LabelPairs::for_labels(labels).name()
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
