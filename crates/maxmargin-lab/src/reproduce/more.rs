//! What the papers state without a figure of its own, and the figure of the technical report of 2012.

use super::claims::{Findings, Rule, When};
use super::lab::{CONLL, Lab, OCR_LARGE, OCR_SMALL};
use anyhow::Result;
use maxmargin_command::lab::{AtLambda, Comparison, Group, Run, Spread, by_lambda};
use maxmargin_report::format_number;
use std::fmt::Write as _;

/// Fixed steps against line search, stochastic methods against batch ones (2012).
pub(super) fn report_2012(lab: &Lab<'_>) -> Result<Findings> {
    let mut findings = Findings::default();
    lab.note(
        "The gap is computed after every pass; claims are judged after equal numbers of own passes. The paper's \
         subgradients averaged from half of the steps on are `ssg+weighted` here, whose weights grow with the step.",
    );
    let methods =
        "bcfw+uniform,bcfw+uniform+fixed,fw,fw+fixed,1-slack,ssg,ssg+average=uniform,ssg+weighted";
    let options = |test: &str, lambda: &str, seeds: u32, passes: u32| {
        format!(
            "{test} --methods {methods} --lambdas {lambda} --seeds {seeds} --budget {passes} --gap-every 1 \
             --tolerance 1e-6"
        )
    };
    let (ocr, lambda, seeds, passes) = match lab.quick {
        false => (OCR_LARGE, "0.01", 5, 300),
        true => {
            lab.note("OCR small at λ = 0.1 instead of OCR large at 0.01, for the same λ·n.");
            (OCR_SMALL, "0.1", 1, 40)
        }
    };
    if let Some(race) = lab.race(&ocr, &options("", lambda, seeds, passes))? {
        findings.add(&race, &rules_2012());
    }
    let (seeds, passes) = lab.or_quick((5, 60), (1, 4));
    if let Some(race) = lab.race(&CONLL, &options(CONLL.test, "0.001", seeds, passes))? {
        let mut rules = rules_2012();
        rules.push(Rule { source: "Figure 1d", column: "test", ..stochastic() });
        findings.add(&race, &rules);
    }
    Ok(findings)
}

fn stochastic() -> Rule {
    Rule {
        source: "Figure 1b, c",
        claim: "Stochastic Frank-Wolfe with line search outperforms the other stochastic methods",
        column: "primal",
        when: When::OwnPasses,
        better: &["bcfw+uniform"],
        worse: &["bcfw+uniform+fixed", "ssg", "ssg+average=uniform", "ssg+weighted"],
        pairs: false,
        lambda: None,
    }
}

fn rules_2012() -> Vec<Rule> {
    vec![
        Rule {
            source: "Figure 1a",
            claim: "Stochastic Frank-Wolfe is near the optimum where batch methods are not",
            worse: &["fw", "fw+fixed", "1-slack"],
            ..stochastic()
        },
        stochastic(),
        Rule {
            source: "Section 7",
            claim: "Line search helps in the first passes already",
            when: When::Passes(3.0),
            worse: &["bcfw+uniform+fixed"],
            ..stochastic()
        },
    ]
}

/// The median over seeds of a column where the gap is at most `gap` first, if all runs get there.
fn reached(group: &Group<'_>, gap: f64, column: &str) -> Option<f64> {
    let found = group.when(gap, column);
    if found.len() < group.runs.len() {
        None
    } else {
        Spread::of(found).map(|spread| spread.median)
    }
}

/// Own oracle calls to ε, for every method (2013, Table 1).
pub(super) fn calls_to_gap(lab: &Lab<'_>) -> Result<Findings> {
    const GAPS: [f64; 4] = [1.0, 0.1, 0.01, 0.001];
    let mut findings = Findings::default();
    lab.note(
        "Table 1 has rates; here are own oracle calls, without those of gap checks, to the first check with a gap \
         of at most ε. Checks come after every pass, so calls are multiples of n, rounded up. OCR small has the λ·n \
         of OCR large at 0.01, 0.001 and 1/n.",
    );
    let methods = "bcfw+uniform,bcfw+uniform+weighted,fw,1-slack,n-slack,eg";
    let (seeds, passes) = lab.or_quick((5, 1000), (1, 60));
    let options = format!(
        "--methods {methods} --lambdas 0.1,0.01,0.001597444089456869 --seeds {seeds} --budget {passes} \
         --gap-every 1 --tolerance 0.001"
    );
    let Some(race) = lab.race(&OCR_SMALL, &options)? else { return Ok(findings) };
    let (mut fewer, mut cases, n) = (0, 0, race.results.n as f64);
    let mut told = Vec::new();
    for at in by_lambda(&race.results) {
        let _ = write!(
            findings.details,
            "\n## Own oracle calls to a gap of ε, λ = {}\n\n| Method | {} |\n|---|{}\n",
            format_number(at.lambda),
            GAPS.map(|gap| format!("ε = {gap}")).join(" | "),
            "---|".repeat(GAPS.len())
        );
        let calls = |group: &Group<'_>, gap| reached(group, gap, "own_passes").map(|p| p * n);
        for group in &at.groups {
            let cells = GAPS.map(|gap| {
                calls(group, gap).map_or_else(|| "–".to_owned(), |calls| format!("{calls:.0}"))
            });
            let _ = writeln!(findings.details, "| {} | {} |", group.method, cells.join(" | "));
        }
        let find = |name: &str| at.groups.iter().find(|group| group.method == name);
        for gap in GAPS {
            let Some(own) = find("bcfw+uniform").and_then(|group| calls(group, gap)) else {
                continue;
            };
            for other in ["fw", "1-slack", "n-slack", "eg"] {
                cases += 1;
                // A method that did not get there needs more than all that were allowed.
                let theirs = find(other).and_then(|group| calls(group, gap));
                fewer += usize::from(theirs.is_none_or(|theirs| own < theirs));
            }
            told.push(format!("λ = {}, ε = {gap}: {own:.0}", format_number(at.lambda)));
        }
    }
    findings.count(
        "Table 1",
        "Block-coordinate Frank-Wolfe needs fewer oracle calls to ε than batch Frank-Wolfe, cutting planes and EG",
        "OCR small",
        format!("calls of bcfw+uniform: {}; all are in the tables", told.join(", ")),
        (fewer, cases),
    );
    Ok(findings)
}

/// Pairwise steps at large λ: work for each further digit of the gap (2016, Section 3.2).
pub(super) fn linear_rate(lab: &Lab<'_>) -> Result<Findings> {
    let mut findings = Findings::default();
    let methods = ["bcfw+gap", "bcfw+gap+pairwise"];
    let (seeds, passes) = lab.or_quick((5, 2000), (1, 300));
    lab.note(
        "OCR small at λ = 1, which has the λ·n of OCR large at 0.1, the largest λ of the paper.",
    );
    let options = format!(
        "--methods {} --lambdas 1 --seeds {seeds} --budget {passes} --gap-every 5 --tolerance 1e-9",
        methods.join(",")
    );
    let Some(race) = lab.race(&OCR_SMALL, &options)? else { return Ok(findings) };
    let all = by_lambda(&race.results);
    for (method, is_linear) in methods.into_iter().zip([false, true]) {
        let group = all.first().and_then(|at| at.groups.iter().find(|g| g.method == method));
        let Some(group) = group else { continue };
        let digits: Vec<(i32, f64)> = (1..=9)
            .map_while(|digit| Some((digit, reached(group, 10f64.powi(-digit), "passes")?)))
            .collect();
        let steps: Vec<f64> = digits.windows(2).map(|pair| pair[1].1 - pair[0].1).collect();
        let told: Vec<String> =
            digits.iter().map(|(digit, passes)| format!("10^-{digit}: {passes:.0}")).collect();
        // Linear: a further digit costs about the same. Sublinear: it costs more and more, or is not reached.
        let (early, late) = steps.split_at(steps.len() / 2);
        let most = |steps: &[f64]| steps.iter().copied().fold(0.0, f64::max);
        let same = digits.len() >= 7 && most(late) <= 3.0 * most(early);
        findings.claim(
            "Section 3.2",
            match is_linear {
                true => "Pairwise steps converge linearly: a further digit costs about the same (at most 3 times)",
                false => "Plain steps converge sublinearly: a further digit costs ever more",
            },
            "OCR small, λ = 1",
            format!("{method}, passes to gaps of {}", told.join(", ")),
            (digits.len() > 2).then_some(same == is_linear),
        );
    }
    findings.add(&race, &[]);
    Ok(findings)
}

/// Pairwise steps against away steps and the best of all directions.
pub(super) fn directions(lab: &Lab<'_>) -> Result<Findings> {
    let mut findings = Findings::default();
    let (seeds, passes) = lab.or_quick((5, 1000), (1, 60));
    let options = format!(
        "--methods bcfw+gap,bcfw+gap+pairwise,bcfw+gap+away,bcfw+gap+best --lambdas 1,0.01,0.001 --seeds {seeds} \
         --budget {passes} --gap-every 10 --tolerance 1e-9"
    );
    let Some(race) = lab.race(&OCR_SMALL, &options)? else { return Ok(findings) };
    let (mut told, mut holds, mut cases) = (Vec::new(), 0, 0);
    for at in by_lambda(&race.results) {
        let gap = |name: &str| gap_at_equal_calls(&at, name);
        if let (Some(pairwise), Some(best)) = (gap("bcfw+gap+pairwise"), gap("bcfw+gap+best")) {
            cases += 1;
            holds += usize::from(best > 0.5 * pairwise);
            told.push(format!(
                "λ = {}: pairwise {}, best {}",
                format_number(at.lambda),
                format_number(pairwise),
                format_number(best)
            ));
        }
    }
    findings.count(
        "Section 3.2",
        "The best of Frank-Wolfe, away and pairwise directions brings no more than pairwise steps (here: not half \
         the gap)",
        "OCR small",
        told.join("; "),
        (holds, cases),
    );
    findings.add(&race, &[]);
    Ok(findings)
}

/// The gap of a method after as many passes as all methods have made.
fn gap_at_equal_calls(at: &AtLambda<'_>, name: &str) -> Option<f64> {
    let ends = at.groups.iter().filter_map(|group| group.last("passes"));
    let most = ends.map(|spread| spread.median).fold(f64::INFINITY, f64::min);
    let group = at.groups.iter().find(|group| group.method == name)?;
    Some(group.until("passes", 1.000_001 * most, "gap")?.median)
}

/// The memory of active sets and caches (2016, Section 5.1).
pub(super) fn memory(lab: &Lab<'_>) -> Result<Findings> {
    let mut findings = Findings::default();
    let (seeds, passes) = lab.or_quick((5, 300), (1, 40));
    let options = format!(
        "--methods bcfw+gap+cache,bcfw+gap+pairwise,bcfw+gap+pairwise+cache --lambdas 1,0.01,0.001 --seeds {seeds} \
         --budget {passes} --gap-every 10 --tolerance 1e-9"
    );
    let Some(race) = lab.race(&OCR_SMALL, &options)? else { return Ok(findings) };
    let _ = write!(
        findings.details,
        "\n## Corners in memory at the end\n\n| Method | λ | Corners with mass per block | Idle ones | MB | Last gap |\n|---|---|---|---|---|---|\n"
    );
    let (mut told, mut fewer, mut cases) = (Vec::new(), 0, 0);
    for at in by_lambda(&race.results) {
        let lambda = format_number(at.lambda);
        let kept = |name: &str| kept(&race, &at, name);
        for group in &at.groups {
            let Some(Kept { active, idle, bytes }) = kept(group.method) else { continue };
            let gap = group.last("gap").map_or(f64::NAN, |spread| spread.median);
            let _ = writeln!(
                findings.details,
                "| {} | {lambda} | {active:.1} | {idle:.1} | {:.1} | {} |",
                group.method,
                bytes / 1e6,
                format_number(gap)
            );
        }
        let (plain, cached) = (kept("bcfw+gap+pairwise"), kept("bcfw+gap+pairwise+cache"));
        if let (Some(plain), Some(cached)) = (plain, cached) {
            cases += 1;
            fewer += usize::from(cached.active < plain.active);
            told.push(format!(
                "λ = {lambda}: {:.1} with a cache, and {:.1} idle ones; {:.1} without",
                cached.active, cached.idle, plain.active
            ));
        }
    }
    findings.count(
        "Section 5.1",
        "A cache limits the memory of pairwise steps, because active sets do not grow where it is hit",
        "OCR small",
        format!("corners with mass per block: {}", told.join("; ")),
        (fewer, cases),
    );
    findings.add(&race, &[]);
    Ok(findings)
}

/// What blocks remember at the end of runs: corners with mass and idle ones of a block, and the bytes of all.
struct Kept {
    active: f64,
    idle: f64,
    bytes: f64,
}

/// What the runs of a method remember at their end, if it is known.
fn kept(race: &Comparison, at: &AtLambda<'_>, name: &str) -> Option<Kept> {
    let group = at.groups.iter().find(|group| group.method == name)?;
    let n = race.results.n as f64;
    let all = group.runs.iter().filter_map(|run: &&Run| run.end.totals.cache);
    let active = Spread::of(all.clone().map(|cache| cache.active as f64 / n))?;
    let idle = Spread::of(all.clone().map(|cache| (cache.corners - cache.active) as f64 / n))?;
    let bytes = Spread::of(all.map(|cache| cache.bytes as f64))?;
    Some(Kept { active: active.median, idle: idle.median, bytes: bytes.median })
}
