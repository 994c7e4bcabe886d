//! The proof of a model, computed again.

use crate::examples::Examples;
use crate::problem::{UseProblem, text, with_problem};
use maxmargin::{Audit, DualPoint, Problem, Quality, audit};
use maxmargin_io::{Beside, Claim, FactorTraining, Fingerprint, Model};
use std::borrow::Cow;

struct Auditor<'m> {
    model: &'m Model,
    dual: &'m DualPoint,
    threads: usize,
}

impl UseProblem for Auditor<'_> {
    /// With what speaks against the claims about soft constraints.
    type Result = (Audit, Vec<String>);

    fn go_with<P: Problem>(self, problem: &P, beside: Beside<'_>) -> Result<Self::Result, String> {
        let Self { model, dual, threads } = self;
        let lambda = model.meta.certificate.lambda;
        let weights = match (beside, model.meta.spec.kernel()) {
            (Beside::Inputs(inputs), Some(own)) => {
                let weights = inputs.again(&own.support, &model.weights);
                weights
                    .ok_or("the model has coefficients of inputs that are not in the data")?
                    .into()
            }
            _ => Cow::Borrowed(model.weights.as_slice()),
        };
        let audit =
            audit(problem, lambda, &weights, dual, Claim::ROUNDING, threads).map_err(text)?;
        let soft = match beside {
            Beside::Soft(problem) => model.soft_findings(problem),
            _ => Vec::new(),
        };
        Ok((audit, soft))
    }
}

/// Everything that speaks against what a model claims, nothing if it holds; and what the certificate was
/// shown to be worth.
///
/// # Errors
/// A model without a dual point, or data that do not fit it at all.
pub(crate) fn findings(
    model: &Model,
    mut examples: Examples,
    fingerprint: Fingerprint,
    threads: usize,
) -> Result<(Vec<String>, Quality), String> {
    let dual = model.dual.as_ref().ok_or_else(|| match model.meta.spec.training() {
        Some(FactorTraining::Dlpw { .. }) => {
            "DLPW proves nothing that could be checked; training=\"soft\" comes with a certificate"
        }
        _ => "the model was saved without its dual point",
    })?;
    let meta = &model.meta;
    if let Some(held_out) = meta.held_out {
        examples = examples.split(held_out).0;
    }
    let n = examples.len();
    if n != meta.n || fingerprint != meta.fingerprint {
        let claim = format!(
            "{n} examples with the fingerprint {fingerprint}, not {} with {}",
            meta.n, meta.fingerprint
        );
        let finding = format!("the data are not those it was trained on: {claim}");
        return Ok((vec![finding], Quality::Unproven));
    }
    let auditor = Auditor { model, dual, threads };
    let (audit, soft) = with_problem(&meta.spec, examples, &meta.bounds, auditor)?;
    let mut findings = model.claim().findings(&audit);
    findings.extend(soft);
    Ok((findings, audit.certificate.quality))
}
