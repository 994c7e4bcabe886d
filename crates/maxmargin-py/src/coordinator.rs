//! What combines the proposals of shards, and makes a model of what they come to.

use crate::alphabet::Alphabet;
use crate::columns::Input;
use crate::dual::Dual;
use crate::error::{file_error, value_error};
use crate::examples::AnyData;
use crate::fit::{parse, parse_settings};
use crate::model::Model;
use crate::shard::Reading;
use crate::structure::BoundArrays;
use maxmargin::distributed::{Change, Coordinator as Inner, Proposal, ShardReading, Way};
use maxmargin::{Bounds, Certificate, DualPoint, GroupBounds, Solution, Status};
use maxmargin_io::{
    Fingerprinter, Format, LambdaSource, Origin, Outcome, ProblemRole, RawSequence,
    ReadSequences as _, Template,
};
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;

/// What knows the weights of a training in shards.
#[pyclass(module = "maxmargin._maxmargin")]
pub(crate) struct Coordinator {
    inner: Inner,
}

/// A way that a shard proposes, as it says itself.
type ProposedWay<'py> = (Option<PyReadonlyArray1<'py, u32>>, PyReadonlyArray1<'py, f64>, f64);

#[pymethods]
impl Coordinator {
    #[new]
    fn new(lambda_: f64, dim: usize, bounds: BoundArrays) -> PyResult<Self> {
        let bounds = bounds.map(|(lower, upper)| Bounds::new(lower, upper)).transpose();
        let bounds = bounds.map_err(value_error)?;
        Ok(Self { inner: Inner::new(lambda_, vec![0.0; dim], bounds) })
    }

    fn sum<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_slice(py, self.inner.sum())
    }

    fn weights<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_vec(py, self.inner.weights())
    }

    fn dual(&self) -> f64 {
        self.inner.dual()
    }

    fn add_up(&mut self, shards: Vec<(PyReadonlyArray1<'_, f64>, f64)>) -> PyResult<()> {
        let mut sums = Vec::with_capacity(shards.len());
        for (sum, loss) in &shards {
            sums.push((sum.as_slice()?, *loss));
        }
        self.inner.add_up(sums).map_err(value_error)
    }

    fn forget(&mut self) {
        self.inner.forget();
    }

    /// Takes the best step that the ways of all shards allow; returns for each shard the shares of its points, the
    /// latest first, and how many of them it keeps.
    fn step(&mut self, proposals: Vec<Vec<ProposedWay<'_>>>) -> PyResult<Vec<(Vec<f64>, usize)>> {
        let mut own = Vec::with_capacity(proposals.len());
        for proposal in &proposals {
            let mut ways = Vec::with_capacity(proposal.len());
            for (at, values, loss) in proposal {
                let at = at.as_ref().map(|at| at.as_slice().map(<[u32]>::to_vec)).transpose()?;
                let change = Change { at, values: values.as_slice()?.to_vec() };
                ways.push(Way { change, loss: *loss });
            }
            own.push(Proposal { ways, ..Proposal::default() });
        }
        let mixtures = self.inner.step(&own).map_err(value_error)?;
        Ok(mixtures.into_iter().map(|mixture| (mixture.shares, mixture.keep)).collect())
    }

    /// The certificate of the weights that were added up last, or of others, as JSON.
    #[pyo3(signature = (readings, weights=None))]
    fn certificate(
        &self,
        readings: Vec<Reading>,
        weights: Option<PyReadonlyArray1<'_, f64>>,
    ) -> PyResult<String> {
        let mut own = Vec::with_capacity(readings.len());
        for (risk, gap, size, failures, quality, is_whole, missed) in readings {
            let quality = quality.parse().map_err(value_error)?;
            own.push(ShardReading { risk, gap, size, failures, quality, is_whole, missed });
        }
        let certificate = match weights {
            None => self.inner.certificate(&own),
            Some(weights) => self.inner.certificate_of(weights.as_slice()?, &own),
        };
        let certificate = certificate.map_err(value_error)?;
        serde_json::to_string(&certificate).map_err(value_error)
    }
}

/// The fingerprint of data, which are used up.
#[pyfunction]
pub(crate) fn fingerprint_of(data: AnyData<'_>) -> PyResult<String> {
    Ok(data.take()?.1.to_string())
}

/// The fingerprint of the sequences of several files, one after the other, as if they were one. Nothing of them is
/// kept.
#[pyfunction]
pub(crate) fn fingerprint_files(py: Python<'_>, inputs: Vec<Input>) -> PyResult<String> {
    py.detach(|| {
        let (mut fingerprinter, mut sequence) = (Fingerprinter::new(), RawSequence::new());
        for input in inputs {
            let mut reader = input.open()?;
            while reader.read(&mut sequence).map_err(file_error)? {
                fingerprinter.add(&sequence);
            }
        }
        Ok(fingerprinter.finish().to_string())
    })
}

/// Labels, attributes, format, fingerprint (none if nobody has read all data in order), and the template that a model
/// keeps.
type OriginNames<'py> =
    (PyRef<'py, Alphabet>, PyRef<'py, Alphabet>, String, Option<String>, Option<String>);

/// The model that shards have come to.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "called from one place, by name")]
pub(crate) fn model_of_shards(
    spec: &str,
    names: OriginNames<'_>,
    settings: &str,
    bounds: &str,
    weights: PyReadonlyArray1<'_, f64>,
    duals: Vec<PyRef<'_, Dual>>,
    certificate: &str,
    status: &str,
    totals: (u64, u64, f64),
) -> PyResult<Model> {
    let (labels, attributes, format, fingerprint, template) = names;
    let fingerprint =
        fingerprint.map_or(Ok(Default::default()), |own| own.parse()).map_err(value_error)?;
    let template: Option<Template> =
        template.map(|template| parse("template", &template)).transpose()?;
    let format: Format = format.parse().map_err(value_error)?;
    let (labels, attributes) = (labels.names.clone(), attributes.names.clone());
    let origin = Origin { labels, attributes, format, fingerprint, template };
    let certificate: Certificate = parse("certificate", certificate)?;
    let bounds: GroupBounds = parse("bounds", bounds)?;
    let settings = parse_settings(settings)?;
    let status: Status = parse("status", &format!("\"{status}\""))?;
    let blocks: Vec<_> = duals.iter().flat_map(|dual| dual.point.blocks.iter().cloned()).collect();
    let n = blocks.len();
    let (dual, weights) = (DualPoint { blocks }, weights.as_slice()?.to_vec());
    let mut solution = Solution::new(weights, dual, certificate, status);
    let (passes, oracle_calls, seconds) = totals;
    let totals = &mut solution.totals;
    (totals.passes, totals.oracle_calls, totals.seconds) = (passes, oracle_calls, seconds);
    let outcome = Outcome::new(solution, ProblemRole::Plain);
    let mut inner = outcome.into_model(origin, parse("spec", spec)?, settings);
    inner.meta.n = n;
    inner.meta.bounds = bounds;
    inner.meta.lambda_source = Some(LambdaSource::Given);
    Ok(Model { inner, rows: Vec::new() })
}
