//! Makes models smaller: weights that matter little become zero, and the certificate states the cost.

use crate::claim::Claim;
use crate::examples::Examples;
use crate::fingerprint::Fingerprint;
use crate::model::Model;
use crate::verify::VerifyError;
use maxmargin::{Audit, Blocks, Bounds, DualPoint, TrainError, audit};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use thiserror::Error;

/// Which weights a pruned model keeps. Sizes are absolute values of the weights of the problem that was trained,
/// whose attributes may have been scaled.
///
/// ```
/// assert_ne!(maxmargin_io::Prune::Keep(0.5), maxmargin_io::Prune::Cost(0.5));
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Prune {
    /// The weights of at least this size.
    Below(f64),
    /// The largest weights: this share of those that are not zero.
    Keep(f64),
    /// As few weights as the search finds such that the objective rises by at most this share of it.
    Cost(f64),
}

/// How a model was pruned; see [`Model::prune`].
///
/// ```
/// use maxmargin_io::Pruning;
///
/// let text = r#"{"below":0.5,"zeroed":7,"kept":3,"primal":1.25}"#;
/// assert_eq!(serde_json::from_str::<Pruning>(text)?.zeroed, 7);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pruning {
    /// All weights that became zero were smaller than this.
    pub below: f64,
    /// The number of weights that became zero.
    pub zeroed: usize,
    /// The number of weights that are not zero.
    pub kept: usize,
    /// The objective before pruning. The objective of the pruned weights is in the certificate.
    pub primal: f64,
}

/// Why a model cannot be pruned.
///
/// ```
/// let error = maxmargin_io::PruneError::Kernel;
/// assert!(error.to_string().contains("kernel"));
/// ```
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum PruneError {
    /// A rule with a number that is out of range.
    #[error("{name} is {value}; it must be {expected}")]
    Range {
        /// The name of the number.
        name: &'static str,
        /// Its value.
        value: f64,
        /// What it must be.
        expected: &'static str,
    },
    /// The model has a kernel.
    #[error("a model with a kernel keeps inputs, not weights, and cannot be pruned")]
    Kernel,
    /// The model has soft constraints.
    #[error("a model with soft constraints has messages beside its weights, and cannot be pruned")]
    Soft,
    /// There is no dual point, which the proof of the pruned model needs.
    #[error(
        "pruning needs the dual point of the model, to prove what it costs; keep it when saving"
    )]
    NoDualPoint,
    /// A claim of the model does not hold before pruning.
    #[error("the model does not hold on these data: {0}")]
    Refuted(String),
    /// The certificate cannot be computed.
    #[error(transparent)]
    Verify(#[from] VerifyError),
}

impl From<TrainError> for PruneError {
    fn from(error: TrainError) -> Self {
        Self::Verify(error.into())
    }
}

impl Model {
    /// The same model with its small weights at zero, and with its own certificate. The objective of the pruned
    /// weights is computed again on the examples of the training; the dual bound stays the same.
    ///
    /// The model keeps its dual point, so [`verify`](Self::verify) can check it like any other. Weights whose
    /// bounds exclude zero are not changed.
    ///
    /// ```
    /// # use maxmargin::model::chain::{Chain, ChainShape, Hamming};
    /// # use maxmargin::{Settings, train};
    /// # use maxmargin_io::{ChainSpec, Format, Lines, Model, open_reader, read_training};
    /// # let lines = Lines::from_reader("pets.txt", "noun\tcat\nverb\tpurrs\n".as_bytes())?;
    /// # let data = read_training(open_reader(lines, Some(Format::Crfsuite))?)?;
    /// # let shape = ChainShape::new(data.labels.len(), data.attributes.len());
    /// # let loss = Hamming::default();
    /// # let chain = Chain::new(shape, data.sequences.clone(), &loss)?;
    /// # let settings = Settings::default();
    /// # let solution = train(&chain, &settings)?;
    /// use maxmargin_io::Prune;
    ///
    /// let model = Model::new(&data, ChainSpec { shape, loss, kernel: None, rescaling: Default::default() }, settings, solution);
    /// let examples = || data.sequences.clone().into();
    /// let small = model.prune(examples(), data.fingerprint, "sequences", Prune::Keep(0.5), 1)?;
    /// let pruning = small.meta.pruned.unwrap();
    /// assert!(small.meta.certificate.primal >= pruning.primal);
    /// assert!(small.verify(examples(), data.fingerprint, "sequences", 1)?.findings.is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If a rule is out of range, if the model cannot be pruned, or if the data are not those of its training.
    pub fn prune(
        &self,
        examples: Examples,
        fingerprint: Fingerprint,
        noun: &str,
        rule: Prune,
        threads: usize,
    ) -> Result<Self, PruneError> {
        check_rule(rule)?;
        if self.meta.spec.kernel().is_some() {
            return Err(PruneError::Kernel);
        }
        if self.meta.spec.soft().is_some() {
            return Err(PruneError::Soft);
        }
        let dual = self.dual.as_ref().ok_or(PruneError::NoDualPoint)?;
        let examples = match self.trained_examples(examples, fingerprint, noun) {
            Ok(examples) => examples,
            Err(other) => return Err(PruneError::Refuted(other)),
        };
        let built =
            self.meta.spec.problem(examples, &self.meta.bounds).map_err(VerifyError::from)?;
        let problem = built.blocks();
        let weights = self.trained_weights();
        let search = Search { problem, dual, lambda: self.meta.certificate.lambda, threads };
        let mut before = search.audit(&weights)?;
        built.state_missed(&mut before.certificate, &weights, threads);
        if let Some(finding) = self.findings(&weights, &before).into_iter().next() {
            return Err(PruneError::Refuted(finding));
        }
        let order = prunable(&weights, problem.bounds());
        let (zeroed, after) = search.choose(&weights, &order, rule, &before)?;
        let mut model = self.with_zeros(&order[..zeroed], &weights, &before, after);
        let pruned = model.trained_weights().into_owned();
        built.state_missed(&mut model.meta.certificate, &pruned, threads);
        Ok(model)
    }

    /// The model with these weights at zero.
    fn with_zeros(&self, zeros: &[usize], trained: &[f64], before: &Audit, after: Audit) -> Self {
        let mut model = self.clone();
        // Use the weights of the training, because a bias may also include means of other attributes.
        let mut pruned = trained.to_vec();
        zeros.iter().for_each(|&feature| pruned[feature] = 0.0);
        if let Some(scaling) = &self.meta.scaling {
            scaling.to_raw(&self.meta.spec, &mut pruned);
        }
        model.weights = pruned;
        let earlier = self.meta.pruned;
        let largest = zeros.last().map_or(0.0, |&feature| trained[feature].abs().next_up());
        model.meta.certificate = after.certificate;
        model.meta.pruned = Some(Pruning {
            below: earlier.map_or(largest, |own| own.below.max(largest)),
            zeroed: zeros.len() + earlier.map_or(0, |own| own.zeroed),
            kept: model.weights.iter().filter(|w| **w != 0.0).count(),
            primal: earlier.map_or(before.certificate.primal, |own| own.primal),
        });
        model
    }
}

fn check_rule(rule: Prune) -> Result<(), PruneError> {
    let (name, value, fits, expected) = match rule {
        Prune::Below(size) => ("below", size, size >= 0.0, "a finite number, at least 0"),
        Prune::Keep(share) => ("keep", share, (0.0..=1.0).contains(&share), "a share from 0 to 1"),
        Prune::Cost(share) => ("cost", share, share >= 0.0, "a finite number, at least 0"),
    };
    match fits && value.is_finite() {
        true => Ok(()),
        false => Err(PruneError::Range { name, value, expected }),
    }
}

/// The weights that may become zero, the smallest first; equal ones stay in their order.
fn prunable(weights: &[f64], bounds: Option<&Bounds>) -> Vec<usize> {
    let may_be_zero = |feature: usize| {
        bounds.is_none_or(|own| own.lower()[feature] <= 0.0 && own.upper()[feature] >= 0.0)
    };
    let mut order: Vec<usize> =
        (0..weights.len()).filter(|&at| weights[at] != 0.0 && may_be_zero(at)).collect();
    order.sort_by(|&a, &b| weights[a].abs().total_cmp(&weights[b].abs()).then(a.cmp(&b)));
    order
}

/// The search for the weights to prune.
struct Search<'a> {
    problem: &'a dyn Blocks,
    dual: &'a DualPoint,
    lambda: f64,
    threads: usize,
}

impl Search<'_> {
    fn audit(&self, weights: &[f64]) -> Result<Audit, TrainError> {
        audit(self.problem, self.lambda, weights, self.dual, Claim::ROUNDING, self.threads)
    }

    /// The audit of the weights with the first `zeroed` of `order` at zero.
    fn without(
        &self,
        weights: &[f64],
        order: &[usize],
        zeroed: usize,
    ) -> Result<Audit, TrainError> {
        let mut pruned = Cow::Borrowed(weights);
        for &feature in &order[..zeroed] {
            pruned.to_mut()[feature] = 0.0;
        }
        self.audit(&pruned)
    }

    /// The number of weights that become zero by a rule, and the audit of the resulting weights.
    fn choose(
        &self,
        weights: &[f64],
        order: &[usize],
        rule: Prune,
        before: &Audit,
    ) -> Result<(usize, Audit), TrainError> {
        let count = match rule {
            Prune::Below(size) => order.partition_point(|&at| weights[at].abs() < size),
            Prune::Keep(share) => {
                let nonzero = weights.iter().filter(|w| **w != 0.0).count();
                let kept = (share * nonzero as f64).ceil() as usize;
                nonzero.saturating_sub(kept).min(order.len())
            }
            Prune::Cost(share) => {
                let most = before.certificate.primal + share * before.certificate.primal.abs();
                return self.fewest(weights, order, most, before);
            }
        };
        Ok((count, self.without(weights, order, count)?))
    }

    /// The largest number of zeros that halving finds with an objective of at most `most`. The objective need not
    /// rise with every weight, so more zeros might be possible. The result is that of a computation.
    fn fewest(
        &self,
        weights: &[f64],
        order: &[usize],
        most: f64,
        before: &Audit,
    ) -> Result<(usize, Audit), TrainError> {
        let (mut good, mut found, mut bad) = (0, before.clone(), order.len() + 1);
        // An error of a hundredth of all weights is small enough.
        while bad - good > 1 + order.len() / 100 {
            let middle = good + (bad - good) / 2;
            let tried = self.without(weights, order, middle)?;
            match tried.certificate.primal <= most {
                true => (good, found) = (middle, tried),
                false => bad = middle,
            }
        }
        Ok((good, found))
    }
}

#[cfg(test)]
mod tests;
