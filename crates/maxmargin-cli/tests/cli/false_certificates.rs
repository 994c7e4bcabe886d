//! No combination of trainings, decoders, rescalings and losses makes the command state a bound that a
//! training without tricks disproves.

use crate::common::{Desk, Run};
use maxmargin::{Block, Rng};
use serde_json::Value;
use std::fmt::Write as _;

const TIGHT: &str = "--lambda 0.01 --tolerance 1e-4 --max-passes 3000 --solver bcfw --order gap \
                     --direction corrective --cache on -q --json";

/// Complete graphs of four variables with features that pull in all directions.
fn loopy_graphs(seed: u64) -> String {
    graphs(seed, 4, 2, &[(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)], "")
}

/// Pairs of variables with three states, whose mistakes cost different amounts.
fn costly_pairs(seed: u64) -> String {
    graphs(seed, 2, 3, &[(0, 1)], r#", "cost": 0.5"#)
}

fn graphs(seed: u64, size: usize, states: usize, edges: &[(usize, usize)], cost: &str) -> String {
    let (mut rng, mut text) = (Rng::new(seed), String::new());
    for _ in 0..4 {
        let truths: Vec<usize> = (0..size).map(|_| rng.below(states)).collect();
        let variables = truths.iter().enumerate().map(|(v, truth)| {
            let cost = if v == 0 { cost } else { "" };
            format!(r#"{{"states": {states}, "truth": {truth}{cost}}}"#)
        });
        let variables: Vec<String> = variables.collect();
        let mut value = || 4.0 * rng.unit_f64() - 2.0;
        let own = (0..size).map(|v| factor("u", &v.to_string(), value())).collect::<Vec<_>>();
        let pairs = edges.iter().map(|(a, b)| factor("e", &format!("{a}, {b}"), value()));
        let factors: Vec<String> = own.into_iter().chain(pairs).collect();
        let (variables, factors) = (variables.join(", "), factors.join(", "));
        let _ = writeln!(text, r#"{{"variables": [{variables}], "factors": [{factors}]}}"#);
    }
    text
}

fn factor(template: &str, variables: &str, value: f64) -> String {
    format!(
        r#"{{"template": "{template}", "variables": [{variables}], "attributes": {{"a": {value}, "b": 1}}}}"#
    )
}

/// Rows with sets of four labels.
fn sets(seed: u64) -> String {
    let (mut rng, mut text) = (Rng::new(seed), String::new());
    for _ in 0..6 {
        let labels = (1..=4).filter(|_| rng.below(2) == 1).map(|k| k.to_string());
        let labels = labels.collect::<Vec<_>>().join(",");
        let values = (1..=3).map(|a| format!("{a}:{}", 2.0 * rng.unit_f64() - 1.0));
        let _ = writeln!(text, "{labels} {}", values.collect::<Vec<_>>().join(" "));
    }
    text
}

fn number(json: &Value, name: &str) -> f64 {
    json[name].as_f64().unwrap_or_else(|| panic!("{name} is missing in {json}"))
}

/// Holds what a run says against the primal of a training from scratch, which bounds the optimum.
fn holds(run: &Run, honest: &Value, what: &str) {
    if run.code != 0 {
        assert!(run.stderr.contains("not feasible"), "{what}: {}", run.stderr);
        return;
    }
    let json = run.json();
    assert_eq!(json["quality"], "exact", "{what}");
    let (dual, above) = (number(&json, "dual"), number(honest, "primal"));
    assert!(dual <= above + 1e-9, "{what}: dual {dual} lies above the primal {above}");
    let (primal, below) = (number(&json, "primal"), number(honest, "dual"));
    assert!(primal >= below - 1e-9, "{what}: primal {primal} lies below the dual {below}");
}

#[test]
fn a_warm_start_from_a_relaxation_keeps_to_the_exact_problem() {
    let (mut refused, mut trained) = (0, 0);
    for seed in 0..12 {
        let desk = Desk::new();
        desk.write("data.jsonl", loopy_graphs(seed));
        desk.write("data.svm", sets(seed));
        for (data, exact) in [("data.jsonl", ""), ("data.svm", "--pairs complete")] {
            let lp =
                desk.run(&format!("train {data} {exact} --training lp {TIGHT} -o lp.model")).ok();
            assert_eq!(lp.json()["quality"], "upper-bound");
            let honest = desk.run(&format!("train {data} {exact} {TIGHT}")).ok().json();
            let warm = format!("train {data} {exact} --warm-start lp.model {TIGHT} -o warm.model");
            let warm = desk.run(&warm);
            holds(&warm, &honest, &format!("{data}, seed {seed}"));
            match warm.code {
                0 => {
                    trained += 1;
                    desk.run(&format!("verify warm.model {data}")).ok();
                }
                _ => refused += 1,
            }
        }
    }
    assert!(trained > 0, "{refused} starts were refused, and none was taken");
}

#[test]
fn a_warm_start_across_rescalings_keeps_to_its_problem() {
    for seed in 0..12 {
        let desk = Desk::new();
        desk.write("data.jsonl", costly_pairs(seed));
        for (from, to) in [("margin", "slack"), ("slack", "margin")] {
            desk.run(&format!("train data.jsonl --rescaling {from} {TIGHT} -o a.model")).ok();
            let to = format!("train data.jsonl --rescaling {to} {TIGHT}");
            let honest = desk.run(&to).ok().json();
            let warm = desk.run(&format!("{to} --warm-start a.model -o b.model"));
            holds(&warm, &honest, &format!("{to}, seed {seed}"));
            if warm.code == 0 {
                desk.run("verify b.model data.jsonl").ok();
            }
        }
    }
}

#[test]
fn a_forged_point_without_parts_is_noticed_under_slack_rescaling() {
    let desk = Desk::new();
    desk.write("data.jsonl", costly_pairs(1));
    desk.run(&format!("train data.jsonl --rescaling slack {TIGHT} -o a.model")).ok();
    let mut model = desk.model("a.model");
    model.weights.iter_mut().for_each(|w| *w = 0.0);
    for block in &mut model.dual.as_mut().unwrap().blocks {
        *block = Block { loss: 1.0, ..Block::default() };
    }
    model.meta.certificate.primal = 1.0;
    model.meta.certificate.dual = 1.0;
    model.meta.certificate.gap = 0.0;
    model.save(desk.path("b.model")).unwrap();
    let run = desk.run("verify b.model data.jsonl");
    assert_eq!(run.code, 1, "{}", run.transcript());
    assert!(
        run.stdout.contains("not feasible") || run.stderr.contains("lies above"),
        "{}",
        run.stdout
    );
}

#[test]
fn every_verb_says_what_a_certificate_is_worth() {
    let desk = Desk::new();
    desk.write("data.jsonl", loopy_graphs(3));
    desk.write("data.svm", sets(3));
    let quick = "--lambda 0.05 --max-passes 30 --solver bcfw --order permutation --direction pairwise \
                 --cache off";
    insta::assert_snapshot!(desk.session(&format!(
        "train data.jsonl --training lp {quick} -o lp.model
         verify lp.model data.jsonl
         dump lp.model --top 0
         train data.jsonl --inference max-product {quick} -o heuristic.model
         verify heuristic.model data.jsonl
         train data.svm --pairs complete --training soft {quick} -o soft.model
         verify soft.model data.svm
         train data.jsonl --rescaling slack {quick} --average weighted -o slack.model
         verify slack.model data.jsonl"
    )));
}
