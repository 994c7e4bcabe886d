//! Everything that a model states, held against its data.

use crate::claim::Claim;
use crate::examples::Examples;
use crate::fingerprint::Fingerprint;
use crate::model::Model;
use crate::problem::ProblemError;
use crate::problem_role::ProblemRole;
use maxmargin::{Audit, Blocks, Certificate, DualPoint, TrainError, audit};
use std::borrow::Cow;
use thiserror::Error;

/// What was found out about a model; see [`Model::verify_on`].
///
/// ```
/// assert!(maxmargin_io::Verdict::default().findings.is_empty());
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Verdict {
    /// The certificate, computed again, where that was possible.
    pub audit: Option<Audit>,
    /// Everything that speaks against the model; nothing if what it states holds.
    pub findings: Vec<String>,
}

/// Why a model could not be held against data.
///
/// ```
/// use maxmargin_io::VerifyError;
///
/// let error = VerifyError::from(maxmargin::TrainError::NoExamples);
/// assert_eq!(error.to_string(), "the problem has no examples");
/// ```
#[derive(Debug, Error)]
pub enum VerifyError {
    /// The data make no problem of the model.
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

    /// What the model was trained on, out of all examples: without those held out, and scaled as then. If they are
    /// others, the error says so in words.
    pub(crate) fn trained_examples(
        &self,
        mut examples: Examples,
        fingerprint: Fingerprint,
        noun: &str,
    ) -> Result<Examples, String> {
        if let Some(held_out) = self.meta.held_out {
            // The certificate is about what the model was trained on.
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

    /// Computes the certificate again on labelled examples, which `noun` names in the plural, and holds all
    /// that the model states against it, against the examples and against each other.
    ///
    /// Examples that were [held out](crate::ModelMeta::held_out) of the training are left out here, too.
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
    /// Examples that do not fit the model, or numbers that are not finite.
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
    /// Examples that do not fit the model, numbers that are not finite, or a model with a kernel.
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

    /// Whether data of `n` examples are others than the model was trained on, in words. A certificate
    /// is about the data the model was trained on, and says nothing of others.
    ///
    /// Of data of which a part was [held out](crate::ModelMeta::held_out), `n` counts the rest. A model that was trained
    /// on data without a fingerprint is asked about their number only.
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

    /// Computes the certificate again, on the problem that [`spec`](crate::ModelMeta::spec), bounds
    /// and training data make, and holds all that the model states against it and against each other.
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
    /// A problem of another size than the model's, or numbers that are not finite.
    pub fn verify_on(
        &self,
        problem: &dyn Blocks,
        role: ProblemRole<'_>,
        threads: usize,
    ) -> Result<Verdict, TrainError> {
        self.verdict(problem, role, |_, _| None, threads)
    }

    /// What [`verify_on`](Self::verify_on) finds, where `missed` knows what decoding may have missed at some weights.
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
            // Nothing is claimed of weights out of bounds, so that there is nothing to recompute.
            let mut findings = vec![why];
            findings.extend(self.contradictions());
            findings.dedup();
            return Ok(Verdict { audit: None, findings });
        }
        let lambda = self.meta.certificate.lambda;
        let mut audit = audit(problem, lambda, &weights, dual, Claim::ROUNDING, threads)?;
        // Known of the weights alone, whatever the dual point is worth.
        let c = &mut audit.certificate;
        c.missed = c.missed.or_else(|| missed(c, &weights));
        let mut findings = claim.findings(&audit);
        if let ProblemRole::Soft(problem) = role {
            findings.extend(self.soft_findings(problem));
        }
        findings.extend(self.lambda_contradiction());
        findings.extend(self.name_contradictions());
        Ok(Verdict { audit: Some(audit), findings })
    }
}
