//! Hard objective and test error against time.

use super::LAMBDA;
use super::runs::{Labels, Limits, Rho, Run, SoftMethod};
use super::table::{best, last, seconds_to, series, table};
use crate::reproduce::claims::Findings;
use crate::reproduce::lab::{DataSet, Lab, REUTERS, YEAST, YEAST_CONSTANT};
use anyhow::Result;
use maxmargin::inference::Inference;
use maxmargin_report::{Plot, XAxis, YAxis, slug};

/// Hard objective and test error against time.
pub(in crate::reproduce) fn figure_2(lab: &Lab<'_>) -> Result<Findings> {
    let mut findings = Findings::default();
    lab.note("MSRC-21 is not at hand; GLPK is `lp`, and `roof-duality` solves the same relaxation by one flow.");
    let sets = lab.or_quick(vec![YEAST, YEAST_CONSTANT, REUTERS], vec![YEAST, YEAST_CONSTANT]);
    for set in sets {
        let limits = Limits {
            epochs: u64::MAX,
            seconds: lab.or_quick(300.0, 4.0),
            lp_seconds: lab.or_quick(3600.0, 6.0),
            tolerance: 1e-6,
            gap_every: 1,
        };
        let Some(data) = Labels::read(lab, &set, limits)? else { continue };
        lab.note(format!(
            "At most {} seconds for each run, {} for `lp`.",
            limits.seconds, limits.lp_seconds
        ));
        let rhos = [
            Rho::number(10.0),
            Rho::number(1.0),
            Rho::share(10.0),
            Rho::number(0.1),
            Rho::share(1.0),
            Rho::share(0.1),
        ];
        let mut runs = Vec::new();
        for method in [SoftMethod::Algorithm1, SoftMethod::Auto] {
            for rho in lab.or_quick(&rhos[..], &rhos[1..3]) {
                runs.push(data.soft(method, *rho)?);
            }
        }
        let soft_runs = runs.len();
        for inference in [Inference::Lp, Inference::RoofDuality] {
            runs.push(data.relaxed(inference)?);
        }
        runs.push(data.dlpw("DLPW", None)?);
        runs.push(data.dlpw("DLPW, smoothed", Some(0.1))?);
        let mut plot = Plot::new(format!("{}: against time", set.name))
            .x(XAxis::new("seconds", "Seconds").log())
            .y(YAxis::new("hard", "Hard objective").log())
            .y(YAxis::new("test", "Test error"));
        for run in &runs {
            plot = plot.series(series(run));
        }
        findings.add_plot(&format!("2-{}", slug(set.name)), plot);
        table(&mut findings, set.name, &runs);
        let best = best(&runs);
        let time = |run: &Run| seconds_to(run, best, 0.1);
        let show =
            |time: Option<f64>| time.map_or_else(|| "never".to_owned(), |s| format!("{s:.2} s"));
        let (soft, others) = runs.split_at(soft_runs);
        let fastest = soft.iter().filter_map(time).fold(f64::INFINITY, f64::min);
        let told: Vec<String> =
            runs.iter().map(|run| format!("{} {}", run.name, show(time(run)))).collect();
        against_lp(&mut findings, &set, (fastest, soft), others.first(), (time, &told.join(", ")));
        let errors: Vec<f64> = soft.iter().filter_map(last).map(|row| row.test).collect();
        let (low, high) = errors
            .iter()
            .fold((f64::INFINITY, 0.0f64), |(low, high), &e| (low.min(e), high.max(e)));
        findings.claim(
            "Figure 2, bottom",
            "Test performance is insensitive to ρ (here: errors within a tenth of each other)",
            format!("{}, λ = {LAMBDA}", set.name),
            format!("test errors from {:.2} to {:.2} %", 100.0 * low, 100.0 * high),
            (!errors.is_empty()).then_some(high <= 1.1 * low),
        );
    }
    Ok(findings)
}

/// What the paper says of the speed of soft training: as fast as training over linear programs on Yeast, where these are
/// small, and up to two orders of magnitude faster elsewhere.
fn against_lp(
    findings: &mut Findings,
    set: &DataSet,
    (fastest, soft): (f64, &[Run]),
    lp: Option<&Run>,
    (time, told): (impl Fn(&Run) -> Option<f64>, &str),
) {
    let is_yeast = [YEAST.name, YEAST_CONSTANT.name].contains(&set.name);
    let (claim, least) = match is_yeast {
        true => (
            "Soft training is competitive with training over linear programs (here: half as fast)",
            0.5,
        ),
        false => (
            "Soft training is up to two orders of magnitude faster than training over linear programs (here: at \
             least 100 times)",
            100.0,
        ),
    };
    let end = |run: &Run| last(run).map(|row| row.seconds);
    let arrived = lp.and_then(&time);
    // A run that did not arrive takes longer than it was given.
    let ratio = arrived.or_else(|| lp.and_then(end)).map(|lp| lp / fastest);
    let longest = soft.iter().filter_map(end).fold(0.0, f64::max);
    let holds = match (ratio, arrived) {
        (Some(ratio), _) if ratio >= least => Some(true),
        // Soft training may have been ended before it was slower than that.
        (Some(ratio), Some(lp)) if ratio > 0.0 || longest * least >= lp => Some(false),
        _ => None,
    };
    let bound = if arrived.is_none() { "more than " } else { "" };
    let speed = ratio.filter(|ratio| *ratio > 0.0);
    let speed =
        speed.map_or_else(String::new, |speed| format!("{bound}{speed:.2} times as fast; "));
    let measured = format!("{speed}time to within 10 % of the best hard objective: {told}");
    findings.claim("Figure 2, top", claim, format!("{}, λ = {LAMBDA}", set.name), measured, holds);
}
