//! Block-coordinate Frank-Wolfe for structural SVMs (2013).

use super::claims::{Findings, Rule, When};
use super::lab::{CONLL, LINKS, Lab, OCR_LARGE, OCR_SMALL};
use anyhow::Result;

const METHODS: &str = "auto,bcfw+uniform,bcfw+uniform+weighted,fw,ssg,ssg+weighted,1-slack,eg";

/// OCR at three λ; chunking, with test errors; matchings.
pub(super) fn figure_1(lab: &Lab<'_>) -> Result<Findings> {
    let mut findings = Findings::default();
    lab.note(
        "The gap is computed after every pass. Claims are judged after equal numbers of own passes, without \
         the calls of gap checks, as the paper plots them. OCR small stands for OCR large at the same λ·n. The papers' online-EG and cutting planes are `eg` and `1-slack` here; \
         `auto` takes part for the sake of its dual, which tells how far the others are.",
    );
    let options = |test: &str, lambdas: &str, methods: &str, seeds: u32, passes: u32| {
        format!(
            "{test} --methods {methods} --lambdas {lambdas} --seeds {seeds} --budget {passes} \
             --gap-every 1 --tolerance 1e-6"
        )
    };
    let (seeds, passes) = lab.or_quick((10, 60), (2, 20));
    // The same λ·n on both: 62.5, 6.25 and 1.
    let small = (OCR_SMALL, "0.1,0.01,0.001597444089456869");
    let large = (OCR_LARGE, "0.01,0.001,0.00015997440409534474");
    for (ocr, lambdas) in lab.or_quick(vec![small, large], vec![small]) {
        if let Some(race) = lab.race(&ocr, &options(ocr.test, lambdas, METHODS, seeds, passes))? {
            findings.add(&race, &ocr_rules());
        }
    }
    // 1/n.
    let lambda = "0.00011190689346463742";
    let few = "auto,bcfw+uniform,bcfw+uniform+weighted,fw,ssg+weighted";
    let (methods, seeds, passes) = lab.or_quick((METHODS, 10, 30), (few, 1, 5));
    if let Some(race) = lab.race(&CONLL, &options(CONLL.test, lambda, methods, seeds, passes))? {
        findings.add(&race, &conll_rules());
    }
    let (seeds, passes) = lab.or_quick((10, 50), (1, 4));
    if let Some(race) = lab.race(&LINKS, &options(LINKS.test, "0.001", METHODS, seeds, passes))? {
        findings.add(&race, &matching_rules());
    }
    Ok(findings)
}

const STOCHASTIC: &[&str] = &["bcfw+uniform", "bcfw+uniform+weighted", "ssg", "ssg+weighted"];
const BATCH: &[&str] = &["fw", "1-slack"];

fn ocr_rules() -> Vec<Rule> {
    let rule = Rule {
        source: "Figure 1a",
        claim: "For large λ stochastic methods reach a considerably lower objective than batch ones",
        column: "subopt",
        when: When::OwnPasses,
        better: STOCHASTIC,
        worse: BATCH,
        pairs: false,
        lambda: Some(0),
    };
    vec![
        Rule {
            source: "Figure 1c",
            claim: "For small λ even batch methods reach a lower objective earlier than SSG",
            when: When::Passes(5.0),
            better: BATCH,
            worse: &["ssg"],
            lambda: Some(2),
            ..rule
        },
        Rule {
            source: "Figure 1a–c",
            claim: "BCFW achieves a low objective at every λ: below FW, cutting planes and SSG",
            better: &["bcfw+uniform", "bcfw+uniform+weighted"],
            worse: &["fw", "1-slack", "ssg", "ssg+weighted"],
            lambda: None,
            ..rule
        },
        Rule {
            source: "Section 6",
            claim: "BCFW-wavg dominates, most strikingly in the first few passes",
            when: When::Passes(3.0),
            better: &["bcfw+uniform+weighted"],
            worse: &["bcfw+uniform", "fw", "1-slack", "ssg", "ssg+weighted", "eg"],
            lambda: None,
            ..rule
        },
        Rule {
            source: "Section 6",
            claim: "Weighted averages of the iterates help the test error significantly",
            column: "test",
            better: &["bcfw+uniform+weighted", "ssg+weighted"],
            worse: &["bcfw+uniform", "ssg"],
            pairs: true,
            lambda: None,
            ..rule
        },
        rule,
    ]
}

fn conll_rules() -> Vec<Rule> {
    let rule = Rule {
        source: "Figure 1d",
        claim: "BCFW has a low objective after the first passes already",
        column: "subopt",
        when: When::Passes(2.0),
        better: &["bcfw+uniform", "bcfw+uniform+weighted"],
        worse: &["fw", "1-slack", "ssg", "ssg+weighted", "eg"],
        pairs: false,
        lambda: None,
    };
    vec![
        Rule {
            source: "Figure 1e",
            claim: "SSG-wavg does surprisingly well on the test error: no worse than BCFW",
            column: "test",
            when: When::OwnPasses,
            better: &["ssg+weighted"],
            worse: &["bcfw+uniform", "bcfw+uniform+weighted"],
            ..rule
        },
        rule,
    ]
}

fn matching_rules() -> Vec<Rule> {
    vec![Rule {
        source: "Figure 1f",
        claim: "On matchings BCFW reaches a lower objective than FW, cutting planes and SSG",
        column: "subopt",
        when: When::OwnPasses,
        better: &["bcfw+uniform", "bcfw+uniform+weighted"],
        worse: &["fw", "1-slack", "ssg", "ssg+weighted"],
        pairs: false,
        lambda: None,
    }]
}
