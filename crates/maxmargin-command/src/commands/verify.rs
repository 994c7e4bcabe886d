//! `maxmargin verify`

use crate::args::VerifyArgs;
use crate::kind::{self, Vocabulary, kind_of};
use crate::screen::{Screen, wrapped};
use anyhow::{Result, bail};
use maxmargin::{Audit, Average, PointCheck, Quality, Settings};
use maxmargin_io::{LabelRule, Model, Verdict};
use maxmargin_report::format_significant;
use serde_json::json;
use std::fmt::Write as _;
use std::process::ExitCode;

pub(super) fn run(args: &VerifyArgs) -> Result<ExitCode> {
    let screen = Screen::new(false);
    screen.busy(format!("reading {}", args.model.display()));
    let model = kind::load(&args.model)?;
    let Verdict { audit, findings } = match &model.dual {
        Some(_) => verdict(&model, args, &screen)?,
        None => without_dual_point(&model, args)?,
    };
    screen.done();
    match args.json {
        true => print_json(&model, audit.as_ref(), &findings)?,
        false => super::print(&to_text(&model, audit.as_ref(), &findings))?,
    }
    let is_proven = audit.is_some_and(|audit| audit.certificate.quality != Quality::Unproven);
    // Nobody can expect a heuristic to find the outputs again that a dual point is made of.
    let claims_proof =
        matches!(model.meta.certificate.quality, Quality::Exact | Quality::UpperBound);
    let holds = findings.is_empty() && (is_proven || !claims_proof);
    Ok(if holds { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The model held against the data.
fn verdict(model: &Model, args: &VerifyArgs, screen: &Screen) -> Result<Verdict> {
    screen.reading(&args.data);
    let (names, spec) = (Vocabulary::of(model), &model.meta.spec);
    let data = kind_of(spec)?.read(&names, &args.data, args.format, LabelRule::Strict)?;
    screen.busy("recomputing the certificate");
    let noun = spec.nouns().examples;
    Ok(model.verify(data.examples, data.fingerprint, noun, args.threads)?)
}

/// What a model without a dual point says against itself.
///
/// # Errors
/// It says nothing against itself: then nothing more can be checked.
fn without_dual_point(model: &Model, args: &VerifyArgs) -> Result<Verdict> {
    let name = args.model.display();
    let findings = model.contradictions();
    if !findings.is_empty() {
        return Ok(Verdict { audit: None, findings });
    }
    if let Some(from) = &model.meta.from_path {
        let c = &model.meta.certificate;
        bail!(
            "{name}: the gap {} is the bound of the path at lambda {}, and cannot be checked again: models \
             taken out of a path file never have a dual point\n\
             it was taken out of {from}\n\
             hint: `maxmargin train DATA --lambda {} -o MODEL` trains one that can be verified",
            c.gap,
            c.lambda,
            c.lambda
        );
    }
    bail!(
        "{name}: the model was saved without its dual point, so its gap cannot be checked\n\
         hint: train without --no-dual"
    );
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
        if claimed.missed.is_some() || found.missed.is_some() {
            let cell = |c: Option<f64>| c.map_or_else(|| "-".to_owned(), |c| format!("{c:.15}"));
            let (claimed, found) = (cell(claimed.missed), cell(found.missed));
            let _ = writeln!(text, "{:<8}{claimed:>22}{found:>22}", "missed");
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
    let weights = match (settings.weights_from_dual(), model.meta.pruned) {
        (_, Some(pruning)) => format!("{} of the weights were set to zero", pruning.zeroed),
        (true, None) => "the weights are its own".to_owned(),
        (false, None) => format!("the weights are not made of it ({})", method(settings)),
    };
    let optimum = match found {
        Quality::UpperBound => "of the optimum of the relaxed problem",
        _ => "of the optimum",
    };
    let is_unfinished = claimed.quality == Quality::Unfinished;
    let gap = match audit {
        Some(audit) if is_unfinished => audit.certificate.gap,
        _ => claimed.gap,
    };
    let gap = format_significant(gap, 4);
    // What is claimed was confirmed, and what is not claimed can still be found.
    let missed = audit.and_then(|audit| audit.certificate.missed);
    let missed = missed.map(|found| claimed.missed.map_or(found, |claimed| claimed.max(found)));
    let verdict = match found {
        Quality::Unproven => {
            "The figures are as claimed, but they are UNPROVEN: the dual point satisfies \
             conditions that are necessary, and no outputs were found that make it up."
                .to_owned()
        }
        _ if is_unfinished => format!(
            "The claim holds as far as it goes: training ended before its exact pass was done. The dual \
             point is {point}, {weights}, and now the objective is shown to be within {gap} {optimum} \
             on these data."
        ),
        _ => match missed {
            Some(missed) => format!(
                "The claim holds: the dual point is {point}, {weights}, and the objective is at least {:.6} and at most \
                 {:.6}, which is within {} {optimum} on these data.",
                claimed.primal,
                claimed.primal + missed,
                format_significant(claimed.gap + missed, 4)
            ),
            None => format!(
                "The claim holds: the dual point is {point}, {weights}, and the objective is within {gap} \
                 {optimum} on these data."
            ),
        },
    };
    let mut text = format!("problem {}\nquality {found}\n", model.solved_problem());
    text.push_str(&wrapped(&verdict));
    if !matches!(found, Quality::Exact | Quality::Unproven) && (missed.is_none() || is_unfinished) {
        text.push_str(&wrapped(&format!("Note that {}.", found.explain())));
    }
    text
}

/// The method, and the average if it returns one.
fn method(settings: &Settings) -> String {
    let solver = settings.method.solver();
    match settings.method.average() {
        Average::None => solver.to_string(),
        average => format!("{solver}, average {average}"),
    }
}

fn print_json(model: &Model, audit: Option<&Audit>, findings: &[String]) -> Result<()> {
    let found = audit.map_or(Quality::Unproven, |audit| audit.certificate.quality);
    super::print_json(&json!({
        "holds": findings.is_empty(),
        "proven": findings.is_empty() && found != Quality::Unproven,
        "findings": findings,
        "claimed": model.meta.certificate,
        "recomputed": audit.map(|audit| audit.certificate),
        "problem": model.solved_problem(),
        "point": audit.map(|audit| audit.point),
        "quality": found,
        "weight_residual": audit.map(|audit| audit.weight_residual),
    }))
}
