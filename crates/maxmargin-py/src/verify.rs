//! The proof of a model, computed again.

use crate::examples::Examples;
use crate::problem::{UseProblem, text, with_problem};
use maxmargin::{Audit, Certificate, DualPoint, Problem, Settings, audit};
use maxmargin_io::{Beside, FactorTraining, Fingerprint, Model};
use std::borrow::Cow;

/// Numbers that were computed twice in different orders agree to this, relative to their size.
pub(crate) const ROUNDING: f64 = 1e-9;

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
        let audit = audit(problem, lambda, &weights, dual, ROUNDING, threads).map_err(text)?;
        let soft = match (beside, model.meta.spec.soft()) {
            (Beside::Soft(problem), Some(claimed)) => {
                let (hard, violation) =
                    (problem.hard_objective(&weights), problem.violation(&weights).0);
                differences([
                    ("lambda of the soft problem", claimed.lambda, lambda),
                    ("hard objective", claimed.hard_objective, hard),
                    ("largest violation", claimed.violation.0, violation),
                ])
            }
            _ => Vec::new(),
        };
        Ok((audit, soft))
    }
}

/// Which of some numbers are not what was claimed, which NaN never is.
fn differences(all: [(&str, f64, f64); 3]) -> Vec<String> {
    let agree = |claimed: f64, found: f64| {
        (claimed - found).abs() <= ROUNDING * (1.0 + claimed.abs() + found.abs())
    };
    let wrong = all.into_iter().filter(|(_, claimed, found)| !agree(*claimed, *found));
    let words =
        |what, claimed, found| format!("the {what} is claimed to be {claimed}, but is {found}");
    wrong.map(|(what, claimed, found)| words(what, claimed, found)).collect()
}

/// Everything that speaks against a claim about weights, given what an audit has found. The weights of
/// some methods are not made of the dual point, which is a bound all the same.
pub(crate) fn against(
    claimed: &Certificate,
    settings: &Settings,
    weights: &[f64],
    audit: &Audit,
) -> Vec<String> {
    if let Some((example, why)) = &audit.infeasible {
        return vec![format!("the dual point is not feasible: in example {example}, {why}")];
    }
    let mut findings = Vec::new();
    let scale = weights.iter().fold(1.0, |most: f64, w| most.max(w.abs()));
    if settings.weights_from_dual() && audit.weight_residual > ROUNDING * scale {
        let residual = audit.weight_residual;
        findings.push(format!("the weights differ by {residual:e} from those of the dual point"));
    }
    let found = &audit.certificate;
    findings.extend(differences([
        ("primal", claimed.primal, found.primal),
        ("dual", claimed.dual, found.dual),
        ("gap", claimed.gap, found.gap),
    ]));
    findings
}

/// Everything that speaks against what a model claims; nothing if it holds.
///
/// # Errors
/// A model without a dual point, or data that do not fit it at all.
pub(crate) fn findings(
    model: &Model,
    mut examples: Examples,
    fingerprint: Fingerprint,
    threads: usize,
) -> Result<Vec<String>, String> {
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
        return Ok(vec![format!("the data are not those it was trained on: {claim}")]);
    }
    let auditor = Auditor { model, dual, threads };
    let (audit, soft) = with_problem(&meta.spec, examples, &meta.bounds, auditor)?;
    let mut findings = against(&meta.certificate, &meta.settings, &model.weights, &audit);
    findings.extend(soft);
    Ok(findings)
}
