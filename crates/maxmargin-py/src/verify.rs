//! The proof of a model, computed again.

use crate::examples::Examples;
use crate::problem::{UseProblem, text, with_problem};
use maxmargin::{Problem, Quality};
use maxmargin_io::{Fingerprint, Model, ProblemRole, Verdict};

struct Auditor<'m> {
    model: &'m Model,
    threads: usize,
}

impl UseProblem for Auditor<'_> {
    type Result = Verdict;

    fn go_with<P: Problem>(self, problem: &P, beside: ProblemRole<'_>) -> Result<Verdict, String> {
        self.model.verify_on(problem, beside, self.threads).map_err(text)
    }
}

/// Everything that speaks against what a model claims, nothing if it holds; and what the certificate was
/// shown to be worth.
///
/// # Errors
/// A model without a dual point that says nothing against itself, or data that do not fit it at all.
pub(crate) fn findings(
    model: &Model,
    mut examples: Examples,
    fingerprint: Fingerprint,
    threads: usize,
) -> Result<(Vec<String>, Quality), String> {
    if model.dual.is_none() {
        return Ok((without_dual_point(model)?, Quality::Unproven));
    }
    let meta = &model.meta;
    let seen = examples.seen_names();
    if let Some(held_out) = meta.held_out {
        examples = examples.split(held_out).0;
    }
    if let Some(other) = model.other_data(examples.len(), "examples", fingerprint) {
        return Ok(([vec![other], model.contradictions()].concat(), Quality::Unproven));
    }
    let auditor = Auditor { model, threads };
    let Verdict { audit, mut findings } =
        with_problem(&meta.spec, examples, &meta.bounds, auditor)?;
    findings.extend(seen.map(|seen| model.name_findings(&seen)).unwrap_or_default());
    Ok((findings, audit.map_or(Quality::Unproven, |audit| audit.certificate.quality)))
}

/// What a model without a dual point says against itself.
fn without_dual_point(model: &Model) -> Result<Vec<String>, String> {
    let findings = model.contradictions();
    match &model.meta.from_path {
        _ if !findings.is_empty() => Ok(findings),
        Some(from) => Err(format!(
            "the model was taken out of {from}; its gap is the bound of the path, which has no dual \
             point to check it with"
        )),
        None => Err("the model was saved without its dual point".to_owned()),
    }
}
