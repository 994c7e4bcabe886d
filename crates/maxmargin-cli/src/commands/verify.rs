//! `maxmargin verify`

use crate::args::VerifyArgs;
use crate::kind::{self, Beside, Kind, Labelled, UseProblem, Vocabulary, with_kind};
use anyhow::{Result, bail};
use maxmargin::{Audit, Average, DualPoint, PointCheck, Problem, Quality, Settings, audit};
use maxmargin_io::{Claim, FactorTraining, LabelRule, Model};
use serde_json::json;
use std::borrow::Cow;
use std::fmt::Write as _;
use std::process::ExitCode;

pub(super) fn run(args: &VerifyArgs) -> Result<ExitCode> {
    let model = kind::load(&args.model)?;
    let Some(dual) = &model.dual else {
        if let Some(FactorTraining::Dlpw { .. }) = model.meta.spec.training() {
            bail!(
                "{}: the model was trained by {}, which proves nothing that could be checked\n\
                 hint: --training soft comes with a certificate",
                args.model.display(),
                model.meta.spec.training().map_or("", FactorTraining::name)
            );
        }
        bail!(
            "{}: the model was saved without its dual point, so its gap cannot be checked\n\
             hint: train without --no-dual; models taken out of a path file never have one",
            args.model.display()
        );
    };
    let bounds = kind::resolve(&model.meta.bounds, &model.meta.spec)?;
    let names = Vocabulary::of(&model);
    let (audit, findings) = with_kind!(&model.meta.spec, K, spec => {
        let mut data = K::read(&names, spec, &args.data, args.format, LabelRule::Strict)?;
        if let Some(held_out) = model.meta.held_out {
            // The certificate is about what it was trained on.
            let out = held_out.marks(K::count(&data.examples));
            data.examples = K::select(&data.examples, &|i| !out[i]);
        }
        match other_data::<K>(&model, &data) {
            Some(finding) => (None, vec![finding]),
            None => {
                let auditor = Auditor { model: &model, dual, threads: args.threads };
                match K::with_problem(spec, data.examples, bounds, auditor)? {
                    Some(Found { audit, soft }) => {
                        let mut findings = model.claim().findings(&audit);
                        findings.extend(soft);
                        (Some(audit), findings)
                    }
                    None => (None, vec![OTHER_INPUTS.to_owned()]),
                }
            }
        }
    });
    match args.json {
        true => print_json(&model, audit.as_ref(), &findings)?,
        false => super::print(&to_text(&model, audit.as_ref(), &findings))?,
    }
    Ok(if findings.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

struct Auditor<'m> {
    model: &'m Model,
    dual: &'m DualPoint,
    threads: usize,
}

const OTHER_INPUTS: &str = "the model has coefficients of inputs that are not in the data";

impl UseProblem for Auditor<'_> {
    /// None if the weights belong to inputs that the data have not.
    type Result = Option<Found>;

    fn go_with<P: Problem>(self, problem: &P, beside: Beside<'_>) -> Result<Option<Found>> {
        let Self { model, dual, threads } = self;
        let lambda = model.meta.certificate.lambda;
        let weights = match (beside, model.meta.spec.kernel()) {
            (Beside::Inputs(inputs), Some(own)) => {
                let Some(weights) = inputs.again(&own.support, &model.weights) else {
                    return Ok(None);
                };
                Cow::Owned(weights)
            }
            _ => Cow::Borrowed(&model.weights),
        };
        let audit = audit(problem, lambda, &weights, dual, Claim::ROUNDING, threads)?;
        let soft = match beside {
            Beside::Soft(problem) => model.soft_findings(problem),
            _ => Vec::new(),
        };
        Ok(Some(Found { audit, soft }))
    }
}

/// What was found in the data.
struct Found {
    audit: Audit,
    /// What speaks against the claims about soft constraints.
    soft: Vec<String>,
}

/// A certificate is about the data the model was trained on, and says nothing of others.
fn other_data<K: Kind>(model: &Model, data: &Labelled<K::Examples>) -> Option<String> {
    let (n, fingerprint) = (K::count(&data.examples), data.fingerprint);
    let meta = &model.meta;
    (n != meta.n || fingerprint != meta.fingerprint).then(|| {
        format!(
            "the data are not those the model was trained on: {n} {} with the fingerprint \
             {fingerprint}, not {} with {}",
            K::NOUNS.examples,
            meta.n,
            meta.fingerprint
        )
    })
}

fn to_text(model: &Model, audit: Option<&Audit>, findings: &[String]) -> String {
    let claimed = &model.meta.certificate;
    let mut text = String::new();
    if let Some(Audit { certificate: found, .. }) = audit {
        let _ = writeln!(text, "{:<8}{:>22}{:>22}", "", "claimed", "recomputed");
        for (what, claimed, found) in [
            ("primal", claimed.primal, found.primal),
            ("dual", claimed.dual, found.dual),
            ("gap", claimed.gap, found.gap),
        ] {
            let _ = writeln!(text, "{what:<8}{claimed:>22.15}{found:>22.15}");
        }
    }
    if findings.is_empty() {
        text.push_str(&conclusion(model, audit));
    } else {
        text.push_str("The claim does NOT hold:\n");
        findings.iter().for_each(|finding| {
            let _ = writeln!(text, "- {finding}");
        });
    }
    text
}

/// What an audit without findings has shown: no more than it was able to check.
fn conclusion(model: &Model, audit: Option<&Audit>) -> String {
    let (claimed, settings) = (&model.meta.certificate, &model.meta.settings);
    let point = audit.map_or(PointCheck::Unproven, |audit| audit.point);
    let found = audit.map_or(Quality::Unproven, |audit| audit.certificate.quality);
    let mut text = format!("Problem: {}.\n", model.solved_problem());
    if found == Quality::Unproven {
        let _ = writeln!(
            text,
            "The figures are as claimed, but they are unproven: the dual point satisfies conditions\n\
             that are necessary, and no outputs were found that make it up."
        );
        return text;
    }
    let weights = match settings.weights_from_dual() {
        true => "the weights are its own".to_owned(),
        false => format!("the weights are not made of it ({})", method(settings)),
    };
    let gap = format!("{:.3e} of the optimum on these data", claimed.gap);
    let _ = writeln!(
        text,
        "The claim holds: the dual point is {point}, {weights}, and\nthe objective is within {gap}."
    );
    if !found.is_exact() {
        let _ = writeln!(text, "Quality {found}: {}.", found.explain());
    }
    text
}

/// The method, and the average if it returns one.
fn method(settings: &Settings) -> String {
    match settings.average {
        Average::None => settings.solver.to_string(),
        average => format!("{}, average {average}", settings.solver),
    }
}

fn print_json(model: &Model, audit: Option<&Audit>, findings: &[String]) -> Result<()> {
    super::print_json(&json!({
        "holds": findings.is_empty(),
        "findings": findings,
        "claimed": model.meta.certificate,
        "recomputed": audit.map(|audit| audit.certificate),
        "problem": model.solved_problem(),
        "point": audit.map(|audit| audit.point),
        "quality": audit.map(|audit| audit.certificate.quality),
        "weight_residual": audit.map(|audit| audit.weight_residual),
    }))
}
