//! Training of multi-label models and factor graphs where decoding is hard.

use crate::common::{Desk, GRAPHS, SETS, examples};
use crate::kinds::REGIONS;
use maxmargin::model::soft::RhoScale;
use maxmargin_io::{Model, SoftSpec};

/// So that no choice is left to the clock.
const BY_NAME: &str = "--solver bcfw --order permutation --direction pairwise --cache off";

fn desk() -> Desk {
    let desk = Desk::new();
    desk.write("sets.svm", SETS);
    desk.write("graphs.jsonl", GRAPHS);
    desk
}

fn soft(model: &Model) -> &SoftSpec {
    model.meta.spec.soft().unwrap()
}

#[test]
fn every_training_has_its_words() {
    let desk = desk();
    let train = format!("{BY_NAME} --lambda 0.05");
    insta::assert_snapshot!(desk.session(&format!(
        "train sets.svm --training soft {train} --test sets.svm -o s.model
         evaluate s.model sets.svm
         predict s.model sets.svm
         dump s.model --top 1
         verify s.model sets.svm
         train sets.svm --training exact {train}
         train sets.svm --training lp {train} -o lp.model
         verify lp.model sets.svm
         train graphs.jsonl --training soft --rho 0.5 --smooth 0.01 --inference max-product {train} -o g.model
         predict g.model graphs.jsonl
         verify g.model graphs.jsonl
         train graphs.jsonl --training soft --rho-schedule 1,0.1 --inference lp {train} -o a.model
         verify a.model graphs.jsonl"
    )));
}

#[test]
fn options_without_meaning_are_refused() {
    let desk = desk();
    insta::assert_snapshot!(desk.session(
        "train sets.svm --training hard
         train sets.svm --training soft --rho 0
         train sets.svm --training soft --rho nan
         train sets.svm --training soft --rho 1 --rho-schedule 1,0.1
         train sets.svm --training soft --rho-schedule 1,-1
         train sets.svm --training soft --multipliers 0
         train sets.svm --rho 1
         train sets.svm --training lp --rho 1
         train sets.svm --training lp --inference enumerate
         train sets.svm --training exact --inference lp
         train sets.svm --training lp --smooth 1
         train sets.svm --training dlpw
         train sets.svm --rho-scale sum
         train sets.svm --training soft --rho-scale mean
         train sets.svm --training soft --kernel rbf
         train sets.svm --training soft --rescaling slack
         train sets.svm --training soft --multipliers 3 --checkpoint c.ckpt
         train pets.crf --training soft
         path sets.svm --training soft
         path sets.svm --training soft --grid cold --path-file p.path
         train graphs.jsonl --tie edge=same
         train graphs.jsonl --tie edges=differ
         train graphs.jsonl --tie pixel=diagonal
         train sets.svm --tie edge=differ"
    ));
}

/// The augmented Lagrangian comes to the optimum over the LP relaxation, which the LP oracle finds too;
/// a small rho comes near it.
#[test]
fn soft_training_leads_to_the_relaxation() {
    let desk = desk();
    for (data, bias) in [("sets.svm", "--bias 0"), ("graphs.jsonl", "")] {
        let train = format!("train {data} -q --lambda 0.1 --max-passes 300 {bias} {BY_NAME}");
        desk.run(&format!("{train} --training lp --tolerance 1e-6 -o lp.model")).ok();
        let relaxed = desk.model("lp.model").meta.certificate.primal;
        desk.run(&format!("{train} --training soft --multipliers 30 --tolerance 1e-6 -o m.model"))
            .ok();
        let model = desk.model("m.model");
        let found = soft(&model);
        assert!(found.violation.0 < 1e-2, "{data}: {:?}", found.violation);
        assert!((found.hard_objective - relaxed).abs() < 2e-3, "{data}: {}", found.hard_objective);
        desk.run(&format!("verify m.model {data}")).ok();

        let mut last = f64::INFINITY;
        for rho in ["1", "0.01"] {
            let out = "-o r.model";
            desk.run(&format!("{train} --training soft --rho {rho} --tolerance 1e-4 {out}")).ok();
            let (model, above) = (desk.model("r.model"), relaxed - 1e-4);
            let found = soft(&model);
            assert!(found.hard_objective >= above && found.violation.0 < last);
            last = found.violation.0;
        }
    }
}

#[test]
fn every_verb_knows_soft_training() {
    let desk = desk();
    let train = format!("train sets.svm -q --training soft --lambda 0.05 {BY_NAME}");
    desk.run(&format!("{train} --tolerance 1e-6 --report r.html --trace t.jsonl -o whole.model"))
        .ok();
    let page = desk.read("r.html");
    assert!(page.contains("Soft and hard objective") && page.contains("Largest violation"));
    assert!(desk.read("t.jsonl").contains("\"second\":"));
    desk.run(&format!("{train} --tolerance 0 --max-passes 2 --checkpoint c.ckpt")).ok();
    desk.run(&format!("{train} --tolerance 1e-6 --resume c.ckpt -o resumed.model")).ok();
    assert_eq!(desk.model("resumed.model").weights, desk.model("whole.model").weights);
    let other = desk.run(&format!("{train} --rho 2 --resume c.ckpt"));
    assert!(other.stderr.contains("begun with another option"), "{}", other.stderr);
    desk.run(&format!("{train} --warm-start whole.model --tolerance 1e-6")).ok();
    desk.run("train sets.svm -q --training soft --patience 3 -o p.model").ok();
    desk.run("verify p.model sets.svm").ok();
    let other = "train sets.svm -q --training soft --solver bcfw --cache off --lambda 1/n";
    desk.run(&format!("{other} --tolerance 0 --max-passes 2 --checkpoint d.ckpt")).ok();
    desk.run(&format!("{other} --tolerance 1e-4 --resume d.ckpt -o own.model")).ok();
    assert_eq!(soft(&desk.model("own.model")).lambda, 0.2); // 1/5, with five rows
    let json = desk.run(&format!("{train} --json")).ok().json();
    assert!(json["soft"]["hard_objective"].as_f64().unwrap() > 0.0);
    assert_eq!((&json["n"], &json["soft"]["rho"]), (&5.into(), &1.0.into()));
    // Three labels and pairs, in five rows: two messages at each end of a pair.
    assert_eq!(json["soft"]["messages"], 5 * 3 * 2 * 2);
}

/// A penalty inside the mean is that of the sum divided by the number of examples, if these count the same.
#[test]
fn rho_has_two_scales() {
    let desk = desk();
    let train = format!("train sets.svm -q --training soft --lambda 0.05 {BY_NAME}");
    desk.run(&format!("{train} --rho 1 -o inside.model")).ok();
    desk.run(&format!("{train} --rho 0.2 --rho-scale sum -o beside.model")).ok();
    let (inside, beside) = (desk.model("inside.model"), desk.model("beside.model"));
    assert_eq!(inside.weights, beside.weights); // five rows
    assert_eq!(soft(&beside).rho_in_words(), "rho 0.2 (sum)");
    for name in ["inside", "beside"] {
        desk.run(&format!("verify {name}.model sets.svm")).ok();
    }
    // A model from before there was a choice has the sum.
    let mut old = serde_json::to_value(&beside.meta.spec).unwrap();
    old["training"]["soft"].as_object_mut().unwrap().remove("rho_scale").unwrap();
    let old: maxmargin_io::Spec = serde_json::from_value(old).unwrap();
    let multipliers = Vec::new();
    assert_eq!(old.soft(), Some(&SoftSpec { multipliers, ..soft(&beside).clone() }));
}

/// The problem is made for one lambda, and made anew for others.
#[test]
fn lambda_is_chosen_and_a_grid_is_trained() {
    let desk = desk();
    let data = SETS.repeat(4);
    desk.write("many.svm", data);
    desk.run("train many.svm -q --training soft --lambda auto -o auto.model").ok();
    desk.run("verify auto.model many.svm").ok();
    let grid =
        "path many.svm -q --training soft --grid warm-primal --lambda-min 0.1 --lambda-max 1";
    desk.run(&format!("{grid} --epsilon 0.01 --validation sets.svm -o grid.model")).ok();
    let model = desk.model("grid.model");
    assert_eq!(soft(&model).lambda, model.meta.certificate.lambda);
    assert!(model.meta.certificate.gap <= 0.01);
    desk.run("verify grid.model many.svm").ok();
}

#[test]
fn bounds_and_shared_weights_go_with_soft_training() {
    let desk = desk();
    let train = format!("train graphs.jsonl -q --training soft --lambda 0.05 {BY_NAME}");
    desk.run(&format!("{train} --lower template.1=0 -o bounded.model")).ok();
    desk.run("verify bounded.model graphs.jsonl").ok();
    let free = desk.run(&format!("{train} --json")).ok().json();
    let tied = desk.run(&format!("{train} --tie edge=differ --json -o tied.model")).ok().json();
    // The four joint states of an edge have one weight.
    assert_eq!(free["d"].as_u64().unwrap() - tied["d"].as_u64().unwrap(), 3);
    for verb in ["verify", "predict", "evaluate"] {
        desk.run(&format!("{verb} tied.model graphs.jsonl")).ok();
    }
    assert!(desk.run("dump tied.model").ok().stdout.contains("edge:bias at differ"));
    let exact = desk
        .run(&format!("train graphs.jsonl -q --tie edge=differ --lambda 0.05 {BY_NAME} --json"));
    let hard = tied["soft"]["hard_objective"].as_f64().unwrap();
    assert!(exact.ok().json()["dual"].as_f64().unwrap() <= hard + 1e-9);
}

#[test]
fn labelled_graphs_are_trained_softly() {
    let desk = desk();
    desk.write("images.txt", REGIONS);
    let train = format!("train images.txt --format superpixels -q --json --lambda 0.01 {BY_NAME}");
    let exact = desk.run(&format!("{train} --tolerance 1e-6")).ok().json();
    let soft = desk.run(&format!("{train} --training soft --rho 0.01 --tolerance 1e-4 -o s.model"));
    let hard = soft.ok().json()["soft"]["hard_objective"].as_f64().unwrap();
    // Two labels that attract each other: the relaxation is exact.
    let (dual, primal) = (exact["dual"].as_f64().unwrap(), exact["primal"].as_f64().unwrap());
    assert!(hard >= dual - 1e-9 && hard <= 1.1 * primal, "{hard} against {primal}");
    for verb in ["verify", "predict", "evaluate"] {
        desk.run(&format!("{verb} s.model images.txt --format superpixels")).ok();
    }
    let refused = desk.run(&format!("{train} --training lp"));
    assert!(refused.stderr.contains("--graph-inference lp"), "{}", refused.stderr);
}

/// Orders and directions can be compared on soft problems too, which are made anew for each lambda.
#[test]
fn methods_are_compared_on_soft_problems() {
    let desk = desk();
    let compare = "compare graphs.jsonl --training soft --rho 0.5 --budget 300 --out c --json -q \
                   --methods bcfw,bcfw+gap+pairwise --seeds 2 --tolerance 1e-9";
    let json = desk.run(&format!("{compare} --lambdas 0.1,0.05,0.1")).ok().json();
    let primals: Vec<f64> = json["lambdas"]
        .as_array()
        .unwrap()
        .iter()
        .map(|at| at["best_dual"].as_f64().unwrap())
        .collect();
    assert_eq!(primals.len(), 2, "a lambda that is named twice is run once: {json}");
    for (lambda, best) in ["0.1", "0.05"].iter().zip(&primals) {
        let train = format!("train graphs.jsonl --training soft --rho 0.5 {BY_NAME}");
        let json =
            desk.run(&format!("{train} -q --json --tolerance 1e-6 --lambda {lambda}")).ok().json();
        assert!((json["dual"].as_f64().unwrap() - best).abs() < 1e-5, "{json}, {best}");
    }
    let again = desk.run(&format!("{compare} --lambdas 0.05")).ok().json();
    assert_eq!(again["reused"], 4);
    let run = desk.run("compare graphs.jsonl --training soft --multipliers 3");
    assert!(run.stderr.contains("single runs"), "{}", run.stderr);
}

/// Predictions may be made in another way than training was.
#[test]
fn predictions_are_made_as_asked() {
    let desk = desk();
    desk.run("train graphs.jsonl -q --training soft --lambda 0.01 --solver bcfw -o g.model").ok();
    desk.run("train pets.crf -q -o c.model").ok();
    let exact = desk.run("predict g.model graphs.jsonl --inference enumerate").ok().stdout;
    for name in ["auto", "lp", "max-product"] {
        let found = desk.run(&format!("predict g.model graphs.jsonl --inference {name}")).ok();
        assert_eq!(found.stdout, exact, "{name}");
        desk.run(&format!("evaluate g.model graphs.jsonl --inference {name}")).ok();
    }
    insta::assert_snapshot!(desk.session(
        "predict g.model graphs.jsonl --inference max-sum
         evaluate g.model graphs.jsonl --inference best
         predict c.model pets.crf --inference lp"
    ));
}

#[test]
fn states_are_shown_true_and_predicted() {
    let desk = desk();
    desk.write("many.jsonl", GRAPHS.repeat(6).replacen("\"truth\": 1", "\"truth\": 0", 11));
    let train = format!("train graphs.jsonl -q --lambda 0.01 {BY_NAME} --report r.html");
    desk.run(&format!("{train} --test graphs.jsonl")).ok();
    let page = desk.read("r.html");
    assert_eq!(examples(&page), ["Graph 1", "Graph 2"]);
    assert!(page.contains("<circle class=\"k1\"") && !page.contains("x2: true"));
    desk.run(&format!("{train} --test many.jsonl")).ok();
    let page = desk.read("r.html");
    assert_eq!(examples(&page).len(), 12);
    assert!(page.contains("2 of 3 wrong") && page.contains("x2: true 0, predicted 1."));
    // Variables of larger graphs are listed.
    let long = |truth: usize| {
        let one = format!(r#"{{"states": 2, "truth": {truth}}}"#);
        let factor = r#"{"template": "pixel", "variables": [0], "attributes": {"dark": 1}}"#;
        format!(r#"{{"variables": [{}], "factors": [{factor}]}}"#, vec![one; 70].join(", "))
    };
    desk.write("long.jsonl", format!("{}\n{}\n", long(0), long(1)));
    desk.run(&format!("{train} --test long.jsonl")).ok();
    let page = desk.read("r.html");
    assert!(page.contains("x70<small>0</small>") && !page.contains("<circle"));
}

#[test]
fn tampering_is_noticed() {
    let desk = desk();
    desk.run(&format!("train sets.svm -q --training soft --multipliers 2 {BY_NAME} -o s.model"))
        .ok();
    desk.run("verify s.model sets.svm").ok();
    let change = |change: &dyn Fn(&mut SoftSpec)| {
        let mut model = desk.model("s.model");
        change(model.meta.spec.soft_mut().unwrap());
        model.save(desk.path("changed.model")).unwrap();
        let run = desk.run("verify changed.model sets.svm");
        assert_eq!(run.code, 1, "{}", run.transcript());
        run.stdout + &run.stderr
    };
    for (text, found) in [
        ("the hard objective is claimed", change(&|soft| soft.hard_objective -= 0.01)),
        ("the largest violation is claimed", change(&|soft| soft.violation.0 = 0.0)),
        ("the lambda of the soft problem", change(&|soft| soft.lambda *= 2.0)),
        ("does NOT hold", change(&|soft| soft.rho *= 2.0)),
        ("does NOT hold", change(&|soft| soft.rho_scale = RhoScale::Sum)),
        ("does NOT hold", change(&|soft| soft.multipliers[0] += 0.1)),
        ("multipliers are given", change(&|soft| soft.multipliers.truncate(1))),
        ("rho or smoothing", change(&|soft| soft.rho = -1.0)),
        ("not a finite number", change(&|soft| soft.multipliers[0] = f64::NAN)),
        ("30 dual blocks, where 31 are stated", change(&|soft| soft.blocks += 1)),
    ] {
        assert!(found.contains(text), "{text:?} is not in {found}");
    }
}

/// The point of a soft model has a block more than there are examples.
#[test]
fn a_soft_model_is_no_start_for_another_training() {
    let desk = desk();
    desk.run(&format!("train sets.svm --training soft {BY_NAME} --lambda 0.5 -q -o s.model")).ok();
    for options in ["--lambda 0.05", "--lambda 0.5", "--lambda 5"] {
        let run = desk.run(&format!("train sets.svm --warm-start s.model {options} -q -o b.model"));
        assert_eq!(run.code, 1, "{}", run.transcript());
        assert!(run.stderr.contains("dual blocks"), "{}", run.stderr);
    }
}
