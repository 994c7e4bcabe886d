//! Checks everything that a model states against its data.

use crate::claim::Claim;
use crate::examples::Examples;
use crate::fingerprint::Fingerprint;
use crate::model::Model;
use crate::problem::ProblemError;
use crate::problem_role::ProblemRole;
use maxmargin::{Audit, Blocks, Certificate, DualPoint, TrainError, audit};
use std::borrow::Cow;
use thiserror::Error;

/// The result of checking a model; see [`Model::verify_on`].
///
/// ```
/// assert!(maxmargin_io::Verdict::default().findings.is_empty());
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Verdict {
    /// The certificate, computed again, if this was possible.
    pub audit: Option<Audit>,
    /// Everything that contradicts the model. It is empty if all its claims hold.
    pub findings: Vec<String>,
}

/// Why a model could not be checked on data.
///
/// ```
/// use maxmargin_io::VerifyError;
///
/// let error = VerifyError::from(maxmargin::TrainError::NoExamples);
/// assert_eq!(error.to_string(), "the problem has no examples");
/// ```
#[derive(Debug, Error)]
pub enum VerifyError {
    /// The data do not make a problem for the model.
    #[error(transparent)]
    Problem(#[from] ProblemError),
    /// The certificate cannot be computed.
    #[error(transparent)]
    Audit(#[from] TrainError),
}

impl Model {
    /// The weights of the problem that was trained, whose attributes may have been scaled.
    pub(crate) fn trained_weights(&self) -> Cow<'_, [f64]> {
        let Some(scaling) = &self.meta.scaling else { return Cow::Borrowed(&self.weights) };
        let mut weights = self.weights.clone();
        scaling.from_raw(&self.meta.spec, &mut weights);
        Cow::Owned(weights)
    }

    /// The examples of the training, selected from all examples: without those held out, and scaled in the same
    /// way. If the examples are not those of the training, the error says so in words.
    pub(crate) fn trained_examples(
        &self,
        mut examples: Examples,
        fingerprint: Fingerprint,
        noun: &str,
    ) -> Result<Examples, String> {
        if let Some(held_out) = self.meta.held_out {
            // The certificate is about the examples of the training.
            examples = examples.split(held_out).0;
        }
        match self.other_data(examples.len(), noun, fingerprint) {
            Some(other) => Err(other),
            None => {
                let scaled = self.meta.scaling.as_ref().and_then(|own| own.apply(&examples));
                Ok(scaled.unwrap_or(examples))
            }
        }
    }

    /// Computes the certificate again on labelled examples, and compares everything that the model states with it,
    /// with the examples and with each other. `noun` is the name of the examples in the plural.
    ///
    /// Examples that were [held out](crate::ModelMeta::held_out) from the training are left out here, too.
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
    /// let model = Model::new(&data, ChainSpec { shape, loss, kernel: None, rescaling: Default::default() }, settings, solution);
    /// let verdict = model.verify(data.sequences.into(), data.fingerprint, "sequences", 1)?;
    /// assert!(verdict.findings.is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If examples do not fit the model, or if numbers are not finite.
    pub fn verify(
        &self,
        examples: Examples,
        fingerprint: Fingerprint,
        noun: &str,
        threads: usize,
    ) -> Result<Verdict, VerifyError> {
        let seen = examples.seen_names();
        let examples = match self.trained_examples(examples, fingerprint, noun) {
            Ok(examples) => examples,
            Err(other) => {
                let findings = [vec![other], self.contradictions()].concat();
                return Ok(Verdict { audit: None, findings });
            }
        };
        let problem = self.meta.spec.problem(examples, &self.meta.bounds)?;
        let missed = |found: &Certificate, weights: &[f64]| problem.missed(found, weights, threads);
        let mut verdict = self.verdict(problem.blocks(), problem.role(), missed, threads)?;
        verdict.findings.extend(seen.map(|seen| self.name_findings(&seen)).unwrap_or_default());
        Ok(verdict)
    }

    /// The objective of the weights on any labelled examples, at the λ of the training.
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
    /// let model = Model::new(&data, ChainSpec { shape, loss, kernel: None, rescaling: Default::default() }, settings, solution);
    /// let objective = model.objective(data.sequences.into(), 1)?;
    /// assert!((objective - model.meta.certificate.primal).abs() < 1e-12);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If examples do not fit the model, if numbers are not finite, or if the model has a kernel.
    pub fn objective(&self, mut examples: Examples, threads: usize) -> Result<f64, VerifyError> {
        if let Some(scaled) = self.meta.scaling.as_ref().and_then(|own| own.apply(&examples)) {
            examples = scaled;
        }
        let problem = self.meta.spec.problem(examples, &self.meta.bounds)?;
        let (blocks, lambda) = (problem.blocks(), self.meta.certificate.lambda);
        let truth = DualPoint::at_truth(blocks);
        let audit = audit(blocks, lambda, &self.trained_weights(), &truth, 0.0, threads)?;
        Ok(audit.certificate.primal)
    }

    /// Says in words how data of `n` examples differ from the training data, if they do. A certificate is about the
    /// training data only.
    ///
    /// If a part of the data was [held out](crate::ModelMeta::held_out), `n` is the number of the other examples.
    /// If the training data had no fingerprint, only the number of examples is compared.
    pub fn other_data(&self, n: usize, examples: &str, fingerprint: Fingerprint) -> Option<String> {
        let meta = &self.meta;
        let is_known = meta.fingerprint != Fingerprint::default();
        (n != meta.n || (is_known && fingerprint != meta.fingerprint)).then(|| {
            format!(
                "the data are not those the model was trained on: {n} {examples} with the \
                 fingerprint {fingerprint}, not {} with {}",
                meta.n, meta.fingerprint
            )
        })
    }

    /// Computes the certificate again, on the problem that [`spec`](crate::ModelMeta::spec), bounds and training
    /// data make, and compares everything that the model states with it and with each other.
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
    /// use maxmargin_io::ProblemRole;
    ///
    /// let mut model = Model::new(&data, ChainSpec { shape, loss, kernel: None, rescaling: Default::default() }, settings, solution);
    /// assert!(model.verify_on(&chain, ProblemRole::Plain, 1)?.findings.is_empty());
    /// model.weights[0] += 1.0;
    /// assert!(!model.verify_on(&chain, ProblemRole::Plain, 1)?.findings.is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the sizes of the problem and the model differ, or if numbers are not finite.
    pub fn verify_on(
        &self,
        problem: &dyn Blocks,
        role: ProblemRole<'_>,
        threads: usize,
    ) -> Result<Verdict, TrainError> {
        self.verdict(problem, role, |_, _| None, threads)
    }

    /// The findings of [`verify_on`](Self::verify_on). `missed` returns an upper bound of what decoding may have
    /// missed at some weights.
    fn verdict(
        &self,
        problem: &dyn Blocks,
        role: ProblemRole<'_>,
        missed: impl FnOnce(&Certificate, &[f64]) -> Option<f64>,
        threads: usize,
    ) -> Result<Verdict, TrainError> {
        let Some(dual) = &self.dual else {
            let mut findings = vec!["the model has no dual point to check its gap with".to_owned()];
            findings.extend(self.contradictions());
            return Ok(Verdict { audit: None, findings });
        };
        let weights = match (role, self.meta.spec.kernel()) {
            (ProblemRole::Kernel(inputs), Some(own)) => {
                let Some(weights) = inputs.again(&own.support, &self.weights) else {
                    let why = "the model has coefficients of inputs that are not in the data";
                    let findings = [vec![why.to_owned()], self.contradictions()].concat();
                    return Ok(Verdict { audit: None, findings });
                };
                Cow::Owned(weights)
            }
            _ => self.trained_weights(),
        };
        let claim = Claim { weights: &weights, ..self.claim() };
        if let Some(why) = problem.bounds().and_then(|bounds| claim.out_of_bounds(bounds)) {
            // Weights out of bounds make all claims void, so nothing is computed again.
            let mut findings = vec![why];
            findings.extend(self.contradictions());
            findings.dedup();
            return Ok(Verdict { audit: None, findings });
        }
        let lambda = self.meta.certificate.lambda;
        let mut audit = audit(problem, lambda, &weights, dual, Claim::ROUNDING, threads)?;
        // This depends only on the weights, whatever the quality of the dual point.
        let c = &mut audit.certificate;
        c.missed = c.missed.or_else(|| missed(c, &weights));
        let mut findings = self.findings(&weights, &audit);
        if let ProblemRole::Soft(problem) = role {
            findings.extend(self.soft_findings(problem));
        }
        findings.extend(self.lambda_contradiction());
        findings.extend(self.name_contradictions());
        Ok(Verdict { audit: Some(audit), findings })
    }
}
