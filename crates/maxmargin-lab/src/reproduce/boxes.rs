//! Weights with bounds (2016, Appendix H).

use super::claims::{Findings, Rule, When};
use super::lab::{DataSet, HORSES, Lab, OCR_SMALL};
use anyhow::Result;
use maxmargin_command::lab::{Comparison, Run};
use maxmargin_report::format_number;

/// Each with the step of Algorithms 8 and 9, and with the exact line search.
const SHORT: &[&str] = &["bcfw+uniform+short", "bcfw+gap+short", "fw+short"];
const EXACT: &[&str] = &["bcfw+uniform", "bcfw+gap", "fw"];

/// The step g/λ‖v − v_s‖² of Algorithms 8 and 9 against the exact line search along the clipped weights.
pub(super) fn steps(lab: &Lab<'_>) -> Result<Findings> {
    let mut findings = Findings::default();
    lab.note(
        "The paper takes γ = gᵢ/λ‖vᵢ − vₛ‖², as if no weight were at its bound. This program walks along the dual, which \
         is piecewise quadratic, to its exact maximum. Pairwise weights of horses are not negative, as in the paper; OCR \
         small has bounds at 0 from below for all weights, which is no experiment of the paper.",
    );
    let (seeds, passes) = lab.or_quick((5, 500), (1, 30));
    let methods = [EXACT, SHORT].concat().join(",");
    let plans: [(DataSet, &str); 2] = [
        (HORSES, "--lambdas 0.046277,0.0046277,0.0000046277"),
        (OCR_SMALL, "--lambdas 1,0.01,0.001 --lower 0"),
    ];
    for (set, own) in plans {
        let options = format!(
            "--methods {methods} {own} --seeds {seeds} --budget {passes} --gap-every 5 --tolerance 1e-9"
        );
        let Some(race) = lab.race(&set, &options)? else { continue };
        let rule = Rule {
            source: "Appendix H",
            claim: "An exact line search brings more than the step of Algorithms 8 and 9 (ours: the paper does not say so)",
            column: "gap",
            when: When::Calls,
            better: EXACT,
            worse: SHORT,
            pairs: true,
            lambda: None,
        };
        let never_falls = never_falls(&race);
        findings.add(&race, &[rule]);
        let on = race.summary.conditions.data.clone();
        let (told, counts) = never_falls;
        let claim = "With the step of Algorithms 8 and 9 the dual never falls";
        findings.count("Appendix H", claim, on, told, counts);
    }
    Ok(findings)
}

/// In how many of the runs with short steps the dual never falls, up to rounding.
fn never_falls(race: &Comparison) -> (String, (usize, usize)) {
    let is_short = |run: &&Run| SHORT.contains(&run.method.as_str());
    let (mut holds, mut all, mut most) = (0, 0, 0.0f64);
    for run in race.results.runs.iter().filter(is_short) {
        let pairs = run.rows.windows(2).map(|pair| pair[0].record.dual - pair[1].record.dual);
        let fall = pairs.fold(0.0, f64::max);
        let size = run.rows.last().map_or(1.0, |row| 1.0 + row.record.dual.abs());
        all += 1;
        holds += usize::from(fall <= 1e-9 * size);
        most = most.max(fall);
    }
    (
        format!("largest fall from one pass to the next in {all} runs: {}", format_number(most)),
        (holds, all),
    )
}
