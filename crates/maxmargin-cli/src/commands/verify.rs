//! `maxmargin verify`

use crate::args::VerifyArgs;
use crate::chain::Vocabulary;
use anyhow::{Result, bail};
use maxmargin::model::chain::Chain;
use maxmargin::{Audit, audit};
use maxmargin_io::{Fingerprint, LabelRule, Model};
use serde_json::json;
use std::fmt::Write as _;
use std::process::ExitCode;

/// Numbers that were computed twice in different orders agree to this, relative to their size.
const ROUNDING: f64 = 1e-9;

pub(super) fn run(args: &VerifyArgs) -> Result<ExitCode> {
    let model = Model::load(&args.model)?;
    let Some(dual) = &model.dual else {
        bail!(
            "{}: the model was saved without its dual point, so its gap cannot be checked\n\
             hint: train without --no-dual",
            args.model.display()
        );
    };
    let data = Vocabulary::of(&model).read(&args.data, args.format, LabelRule::Strict)?;
    let fingerprint = data.fingerprint;
    if data.sequences.len() != model.meta.n {
        bail!(
            "{}: {} sequences, but the model was trained on {}\n\
             hint: a certificate is about the data the model was trained on",
            args.data,
            data.sequences.len(),
            model.meta.n
        );
    }
    let chain = Chain::new(model.meta.shape, data.sequences, &model.meta.loss)?;
    let lambda = model.meta.certificate.lambda;
    let audit = audit(&chain, lambda, &model.weights, dual, ROUNDING, args.threads)?;
    let findings = findings(&model, fingerprint, &audit);
    match args.json {
        true => print_json(&model, &audit, &findings)?,
        false => super::print(&to_text(&model, &audit, &findings))?,
    }
    Ok(if findings.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Everything that speaks against the claim.
fn findings(model: &Model, fingerprint: Fingerprint, audit: &Audit) -> Vec<String> {
    let mut findings = Vec::new();
    if fingerprint != model.meta.fingerprint {
        findings.push(format!(
            "the data are not those the model was trained on: their fingerprint is {fingerprint}, \
             not {}",
            model.meta.fingerprint
        ));
    }
    if let Some((example, why)) = &audit.infeasible {
        findings.push(format!("the dual point is not feasible: in example {example}, {why}"));
        return findings; // its value means nothing
    }
    let scale = model.weights.iter().fold(1.0, |most: f64, w| most.max(w.abs()));
    if audit.weight_residual > ROUNDING * scale {
        findings.push(format!(
            "the weights differ by {:e} from those of the dual point",
            audit.weight_residual
        ));
    }
    let (claimed, found) = (&model.meta.certificate, &audit.certificate);
    for (what, claimed, found) in [
        ("primal", claimed.primal, found.primal),
        ("dual", claimed.dual, found.dual),
        ("gap", claimed.gap, found.gap),
    ] {
        let allowed = ROUNDING * (1.0 + claimed.abs() + found.abs());
        // Written so that NaN does not pass.
        if !((claimed - found).abs() <= allowed) {
            findings.push(format!("the {what} is claimed to be {claimed}, but is {found}"));
        }
    }
    findings
}

fn to_text(model: &Model, audit: &Audit, findings: &[String]) -> String {
    let (claimed, found) = (&model.meta.certificate, &audit.certificate);
    let mut text = format!("{:<8}{:>22}{:>22}\n", "", "claimed", "recomputed");
    for (what, claimed, found) in [
        ("primal", claimed.primal, found.primal),
        ("dual", claimed.dual, found.dual),
        ("gap", claimed.gap, found.gap),
    ] {
        let _ = writeln!(text, "{what:<8}{claimed:>22.15}{found:>22.15}");
    }
    if findings.is_empty() {
        let _ = writeln!(
            text,
            "The claim holds: the dual point is feasible, the weights are its own, and the\n\
             objective is within {:.3e} of the optimum on these data.",
            found.gap
        );
    } else {
        text.push_str("The claim does NOT hold:\n");
        findings.iter().for_each(|finding| {
            let _ = writeln!(text, "- {finding}");
        });
    }
    text
}

fn print_json(model: &Model, audit: &Audit, findings: &[String]) -> Result<()> {
    super::print_json(&json!({
        "holds": findings.is_empty(),
        "findings": findings,
        "claimed": model.meta.certificate,
        "recomputed": audit.certificate,
        "weight_residual": audit.weight_residual,
    }))
}
