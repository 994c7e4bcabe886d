//! The proof of a model, computed again.

use crate::error::WorkError;
use maxmargin::Quality;
use maxmargin_io::{Examples, Fingerprint, Model, Verdict};

/// Everything that speaks against what a model claims, nothing if it holds; and what the certificate was
/// shown to be worth.
///
/// # Errors
/// A model without a dual point that says nothing against itself, or data that do not fit it at all.
pub(crate) fn findings(
    model: &Model,
    examples: Examples,
    fingerprint: Fingerprint,
    threads: usize,
) -> Result<(Vec<String>, Quality), WorkError> {
    if model.dual.is_none() {
        return Ok((without_dual_point(model)?, Quality::Unproven));
    }
    let Verdict { audit, findings } = model.verify(examples, fingerprint, "examples", threads)?;
    Ok((findings, audit.map_or(Quality::Unproven, |audit| audit.certificate.quality)))
}

/// What a model without a dual point says against itself.
fn without_dual_point(model: &Model) -> Result<Vec<String>, WorkError> {
    let findings = model.contradictions();
    match &model.meta.from_path {
        _ if !findings.is_empty() => Ok(findings),
        Some(from) => Err(WorkError::TakenOutOfPath(*from)),
        None => Err(WorkError::NoDualPoint),
    }
}
