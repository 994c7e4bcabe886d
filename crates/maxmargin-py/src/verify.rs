//! The proof of a model, computed again.

use crate::examples::Examples;
use crate::problem::{UseProblem, text, with_problem};
use maxmargin::{Audit, Certificate, DualPoint, Problem, Settings, audit};
use maxmargin_io::{Fingerprint, Model};

/// Numbers that were computed twice in different orders agree to this, relative to their size.
pub(crate) const ROUNDING: f64 = 1e-9;

struct Auditor<'m> {
    model: &'m Model,
    dual: &'m DualPoint,
    threads: usize,
}

impl UseProblem for Auditor<'_> {
    type Result = Audit;

    fn go<P: Problem>(self, problem: &P) -> Result<Audit, String> {
        let Self { model, dual, threads } = self;
        let lambda = model.meta.certificate.lambda;
        audit(problem, lambda, &model.weights, dual, ROUNDING, threads).map_err(text)
    }
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
    for (what, claimed, found) in [
        ("primal", claimed.primal, found.primal),
        ("dual", claimed.dual, found.dual),
        ("gap", claimed.gap, found.gap),
    ] {
        let agree = (claimed - found).abs() <= ROUNDING * (1.0 + claimed.abs() + found.abs());
        if !agree {
            findings.push(format!("the {what} is claimed to be {claimed}, but is {found}"));
        }
    }
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
    let dual = model.dual.as_ref().ok_or("the model was saved without its dual point")?;
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
    let audit = with_problem(&meta.spec, examples, &meta.bounds, auditor)?;
    Ok(against(&meta.certificate, &meta.settings, &model.weights, &audit))
}
