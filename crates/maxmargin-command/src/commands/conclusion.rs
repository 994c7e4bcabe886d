//! What a training has come to, in words and in JSON.

use super::soft;
use super::train::Test;
use crate::args::TalkArgs;
use crate::kind::kernel::{SupportSize, support_size};
use crate::screen::wrapped;
use anyhow::Result;
use maxmargin::{Quality, Validation};
use maxmargin_io::{ErrorCounts, LambdaSource, Model, Unknown};
use maxmargin_report::format_significant;
use serde_json::json;
use std::fmt::Write as _;

/// Prints the result: one JSON object, or the certificate in words.
pub(super) fn conclude(model: &Model, test: Option<&Test>, talk: TalkArgs) -> Result<()> {
    if talk.json {
        let (meta, c, t) = (&model.meta, &model.meta.certificate, &model.meta.totals);
        let test = test.map(|Test { errors, .. }| {
            json!({"hamming": errors.parts.share(), "zero_one": errors.examples.share()})
        });
        let validation = meta.validation.map(|v| {
            let held_out = meta.held_out.is_some();
            json!({"error": v.error, "pass": v.pass, "checks": v.checks, "held_out": held_out})
        });
        let mut json = json!({
            "status": meta.status, "primal": c.primal, "dual": c.dual, "gap": c.gap,
            "quality": c.quality, "problem": model.solved_problem(),
            "lambda": c.lambda, "lambda_source": meta.lambda_source, "n": meta.n, "d": meta.d, "passes": t.passes,
            "oracle_calls": t.oracle_calls, "seconds": t.seconds,
            "oracle_seconds": t.oracle_seconds, "seed": meta.settings.seed, "test": test,
            "validation": validation,
        });
        if let Some(missed) = c.missed {
            json["missed"] = missed.into();
        }
        if let Some(LambdaSource::Auto(search)) = &meta.lambda_source {
            json["lambda_curve"] = json!(search.curve);
        }
        if let Some(soft) = meta.spec.soft() {
            let (hard, (most, rms)) = (soft.hard_objective, soft.violation);
            json["soft"] = json!({
                "rho": soft.rho, "rho_scale": soft.rho_scale, "messages": soft.messages, "hard_objective": hard,
                "violation": {"largest": most, "rms": rms},
            });
        }
        if let Some(theory) = &meta.theory {
            json["theory"] = json!(theory);
        }
        if let Some(size) = support_size(model) {
            json["support"] = json!({"inputs": size.inputs, "parts": size.parts});
        }
        return super::print_json(&json);
    }
    if talk.quiet {
        return Ok(());
    }
    let mut text =
        certificate_in_words(model) + &support_in_words(model) + &validation_in_words(model);
    text.push_str(&theory_in_words(model));
    if let Some(test) = test {
        text.push_str(&errors_in_words(&test.errors));
        text.push_str(&unknowns(&test.data.unknown, model));
    }
    super::print(&wrapped(&text))
}

/// How many errors are made on test data, for people.
pub(crate) fn errors_in_words(errors: &ErrorCounts) -> String {
    let ErrorCounts { parts, examples } = errors;
    format!(
        "On the test data {:.2} % of {} {} and {:.2} % of {} {} are wrong.\n",
        100.0 * parts.share(),
        parts.all,
        parts.what,
        100.0 * examples.share(),
        examples.all,
        examples.what
    )
}

/// What the certificate says, for people.
pub(crate) fn certificate_in_words(model: &Model) -> String {
    let why = model.meta.status.explain();
    format!("Training ended because {why}.\n{}", bounds_in_words(model))
}

/// Between which bounds the optimum lies, for people.
pub(super) fn bounds_in_words(model: &Model) -> String {
    let c = &model.meta.certificate;
    if let Some(own) = model.meta.spec.soft()
        && c.quality != Quality::Unfinished
    {
        return soft::in_words(c, own);
    }
    let share = if c.primal > 0.0 { 100.0 * c.gap / c.primal } else { 0.0 };
    let is_bounded = !model.meta.bounds.is_empty() || model.meta.spec.bounds_weights();
    let within = if is_bounded { "in bounds" } else { "whatsoever" };
    let gap = format_significant(c.gap, 4);
    let gap = format!("{gap} of the optimum ({share:.2} % of the objective)");
    match c.quality {
        Quality::Exact => format!(
            "The objective is {:.6}. No weights {within} can bring it below {:.6}, \
             so these are within {gap}.\n",
            c.primal, c.dual,
        ),
        Quality::UpperBound => format!(
            "Decoding was relaxed: the objective is at most {:.6}, which is that of the relaxed \
             problem. No weights {within} can bring the relaxed one below {:.6}, so these are within \
             {gap} of the relaxed problem.\n",
            c.primal, c.dual,
        ),
        Quality::Heuristic => match c.missed {
            Some(missed) => {
                let (bound, proven) = (c.primal + missed, c.gap + missed);
                let within_bound = format_significant(proven, 4);
                format!(
                    "Decoding was a heuristic: the objective is at least {:.6} and at most {bound:.6}, and no weights \
                     {within} can bring it below {:.6}. So these are within {within_bound} of the optimum ({:.2} % of the \
                     objective); by what was found, within {gap}.\n",
                    c.primal,
                    c.dual,
                    100.0 * proven / bound.max(f64::MIN_POSITIVE),
                )
            }
            None => format!(
                "Decoding was a heuristic: the objective is at least {:.6}, and no weights {within} can \
                 bring it below {:.6}. What was found is within {gap}, \
                 but the true distance may be larger.\n",
                c.primal, c.dual,
            ),
        },
        Quality::Unfinished => format!(
            "There was no time to compute the distance to the optimum: the objective is at least \
             {:.6}, and the bound that training has reached is {:.6}. `maxmargin verify MODEL DATA` \
             computes the distance in full.\n",
            c.primal, c.dual,
        ),
        Quality::Unproven => format!(
            "The objective was computed as {:.6} and its bound as {:.6}, but an oracle has failed: \
             neither is proven, and the distance to the optimum is unknown.\n",
            c.primal, c.dual,
        ),
    }
}

/// What a model with a kernel is a sum over, for people.
pub(crate) fn support_in_words(model: &Model) -> String {
    support_size(model).map_or_else(String::new, |SupportSize { inputs, parts }| {
        format!("The model is a sum over {inputs} inputs, with {parts} support parts.\n")
    })
}

/// The constants of the rate theorems, and how the steps have gone, for people, if they were asked for.
fn theory_in_words(model: &Model) -> String {
    let (meta, totals) = (&model.meta, &model.meta.totals);
    let Some(theory) = &meta.theory else { return String::new() };
    let mut text = format!(
        "The longest feature difference that oracles have found is R = {:.4}, and the largest loss L = {:.4}. So \
         the curvature of all blocks together is at most {:.4}, the sum over the blocks at most {:.4}, and the gap at \
         w = 0 is {:.4}.\n",
        theory.radius,
        theory.largest_loss,
        theory.curvature,
        theory.block_curvature,
        theory.start_gap,
    );
    let bound = format_significant(theory.gap_bound(meta.n, totals.visits), 4);
    let _ = writeln!(
        text,
        "With plain steps in uniform order, the best expected gap within {} visits is at most {bound}; a line \
         search forgets the start after {} of them.",
        totals.visits, theory.forgotten_after,
    );
    if let Some(cache) = totals.cache {
        let _ = writeln!(
            text,
            "Remembered corners have saved {} of {} oracle calls ({} by the local criterion, {} by the global one), and \
             {} steps took all mass from a corner.",
            cache.hits,
            cache.hits + cache.misses,
            cache.local_hits,
            cache.hits - cache.local_hits,
            cache.drops,
        );
    }
    text
}

/// How the model has done in validation, for people, if it was validated.
pub(crate) fn validation_in_words(model: &Model) -> String {
    let Some(Validation { error, pass, checks, .. }) = model.meta.validation else {
        return String::new();
    };
    let share = format!("{:.2} % of the {}", 100.0 * error, model.meta.spec.nouns().parts);
    match model.meta.settings.patience {
        None => format!("The validation error is {share}.\n"),
        Some(_) => format!(
            "The model is that of pass {pass}, with the least validation error in {checks} checks: \
             {share}.\n"
        ),
    }
}

/// What of the data the model did not know, if anything.
pub(super) fn unknowns(unknown: &Unknown, model: &Model) -> String {
    let mut text = String::new();
    // Words in columns look like labels without attributes to a model that has no template.
    let lacks_attributes = model.meta.format.is_sequences()
        && unknown.all_attributes == 0
        && unknown.tokens > 0
        && !model.attributes.is_empty();
    if lacks_attributes {
        text.push_str(
            "No token has any attribute, so the predictions do not depend on the data.\n",
        );
    }
    if unknown.attributes > 0 {
        let _ = writeln!(
            text,
            "{} of {} attributes are unknown to the model and were ignored.",
            unknown.attributes, unknown.all_attributes
        );
    }
    if unknown.labels > 0 {
        let _ = writeln!(
            text,
            "{} of {} labels are unknown to the model and count as errors.",
            unknown.labels, unknown.tokens
        );
    }
    let none_of = |unknown, all| all > 0 && unknown == all;
    if lacks_attributes
        || none_of(unknown.attributes, unknown.all_attributes)
        || none_of(unknown.labels, unknown.tokens)
    {
        text.push_str("hint: are these the right data for the model, in the right --format?\n");
    }
    text
}
