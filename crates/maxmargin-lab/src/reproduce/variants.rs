//! The eight variants of Osokin et al. (2016): order × cache × direction.

use super::claims::{Findings, Rule, When};
use super::lab::{CONLL, DataSet, HORSES, Lab, OCR_LARGE, OCR_SMALL, POSES};
use anyhow::Result;

const UNIFORM: &str = "bcfw+uniform";
const GAP: &str = "bcfw+gap";
const UNIFORM_CACHE: &str = "bcfw+uniform+cache+cache-corners=50";
const GAP_CACHE: &str = "bcfw+gap+cache+cache-corners=50";
const UNIFORM_PAIRWISE: &str = "bcfw+uniform+pairwise";
const GAP_PAIRWISE: &str = "bcfw+gap+pairwise";
const UNIFORM_PAIRWISE_CACHE: &str = "bcfw+uniform+pairwise+cache+cache-corners=50";
const GAP_PAIRWISE_CACHE: &str = "bcfw+gap+pairwise+cache+cache-corners=50";

const WITH_GAP: &[&str] = &[GAP, GAP_CACHE, GAP_PAIRWISE, GAP_PAIRWISE_CACHE];
const WITHOUT_GAP: &[&str] = &[UNIFORM, UNIFORM_CACHE, UNIFORM_PAIRWISE, UNIFORM_PAIRWISE_CACHE];
const WITH_CACHE: &[&str] = &[UNIFORM_CACHE, GAP_CACHE, UNIFORM_PAIRWISE_CACHE, GAP_PAIRWISE_CACHE];
const WITHOUT_CACHE: &[&str] = &[UNIFORM, GAP, UNIFORM_PAIRWISE, GAP_PAIRWISE];
const PAIRWISE: &[&str] =
    &[UNIFORM_PAIRWISE, GAP_PAIRWISE, UNIFORM_PAIRWISE_CACHE, GAP_PAIRWISE_CACHE];
const PLAIN: &[&str] = &[UNIFORM, GAP, UNIFORM_CACHE, GAP_CACHE];

/// What is run on a data set: its λ, from the largest down, and the passes to which the paper plots it.
struct Plan {
    set: DataSet,
    lambdas: &'static str,
    passes: u32,
}

/// The λ of the paper, or those with the same λ·n.
const OCR_LAMBDAS: (&str, &str) = ("0.1,0.001,0.0001", "1,0.01,0.001");
/// 1000, 100 and 0.1 divided by 147².
const HORSE_LAMBDAS: &str = "0.046277,0.0046277,0.0000046277";
const CONLL_LAMBDAS: &str = "0.1,0.01,0.0001";
const POSE_LAMBDAS: &str = "1,0.1,0.01";

/// One λ for each data set.
pub(super) fn figure_3(lab: &Lab<'_>) -> Result<Findings> {
    let plan = |set, lambdas, passes| Plan { set, lambdas, passes };
    race(
        lab,
        vec![
            plan(OCR_SMALL, "0.01", 2000),
            plan(OCR_LARGE, "0.001", 2000),
            plan(HORSES, "0.0046277", 2000),
            plan(POSES, "0.1", 700),
        ],
    )
}

/// Three λ each.
pub(super) fn figure_5(lab: &Lab<'_>) -> Result<Findings> {
    lab.note("OCR small stands for OCR large at the same λ·n: 1, 0.01 and 0.001 instead of 0.1, 0.001 and 0.0001.");
    let plan = |set, lambdas, passes| Plan { set, lambdas, passes };
    race(
        lab,
        vec![
            plan(OCR_SMALL, OCR_LAMBDAS.1, 2000),
            plan(OCR_LARGE, OCR_LAMBDAS.0, 2000),
            plan(HORSES, HORSE_LAMBDAS, 2000),
            plan(CONLL, CONLL_LAMBDAS, 70),
        ],
    )
}

/// Slow oracles.
pub(super) fn figure_6(lab: &Lab<'_>) -> Result<Findings> {
    lab.note("HorseSeg-large (25,438 images) has no counterpart here.");
    race(lab, vec![Plan { set: POSES, lambdas: POSE_LAMBDAS, passes: 700 }])
}

fn race(lab: &Lab<'_>, plans: Vec<Plan>) -> Result<Findings> {
    let mut findings = Findings::default();
    let (seeds, gap_every) = lab.or_quick((5, 10), (1, 4));
    lab.note(format!(
        "Exact gaps are computed every {gap_every} passes for all methods, and their calls and their time count. \
         Claims about calls are judged after equal numbers of counted calls. The cache has 50 corners per block, as \
         in the paper, which had 20 on LSP."
    ));
    let several = plans.len() > 1;
    for Plan { set, lambdas, passes } in plans {
        // Quickly, only what takes seconds. Decoding poses takes long.
        let is_pose = set.name == POSES.name;
        if lab.quick && several && ![OCR_SMALL.name, HORSES.name].contains(&set.name) {
            continue;
        }
        let (passes, lambdas) = match lab.quick {
            true if is_pose => (8, "0.1"),
            true => (25, lambdas),
            false => (passes, lambdas),
        };
        let methods = [WITHOUT_CACHE, WITH_CACHE].concat().join(",");
        let options = format!(
            "--methods {methods} --lambdas {lambdas} --seeds {seeds} --budget {passes} \
             --gap-every {gap_every} --tolerance 1e-6"
        );
        if let Some(race) = lab.race(&set, &options)? {
            findings.add(&race, &rules(&set));
        }
    }
    Ok(findings)
}

fn rules(set: &DataSet) -> Vec<Rule> {
    let rule = |claim, when, better, worse| Rule {
        source: "Section 5.1",
        claim,
        column: "gap",
        when,
        better,
        worse,
        pairs: true,
        lambda: None,
    };
    let mut rules = vec![
        rule(
            "Gap sampling always converges faster, in oracle calls",
            When::Calls,
            WITH_GAP,
            WITHOUT_GAP,
        ),
        rule(
            "Gap sampling always converges faster, in time",
            When::SameTime,
            WITH_GAP,
            WITHOUT_GAP,
        ),
        rule("Caching always helps in oracle calls", When::Calls, WITH_CACHE, WITHOUT_CACHE),
        rule(
            "Pairwise steps lead to smaller gaps, the more so the larger λ",
            When::Calls,
            PAIRWISE,
            PLAIN,
        ),
    ];
    // What the paper says of time is about fast and slow oracles, of which these are its examples.
    if [OCR_SMALL.name, OCR_LARGE.name].contains(&set.name) {
        let claim =
            "The overhead of a cache is significant where oracles are fast: no gain in time";
        rules.push(rule(claim, When::SameTime, WITHOUT_CACHE, WITH_CACHE));
    } else if set.name == POSES.name {
        let claim = "The overhead of a cache is negligible where oracles are slow: a gain in time";
        rules.push(rule(claim, When::SameTime, WITH_CACHE, WITHOUT_CACHE));
    }
    rules
}
