//! `maxmargin path`, and warm starts.

use crate::common::{Desk, keys};
use serde_json::Value;

#[test]
fn follows_the_path_and_keeps_the_best_model() {
    let desk = Desk::new();
    let run = desk
        .run("path pets.crf --validation pets.crf --epsilon 0.05 -o best.model --report p.html --json -q")
        .ok();
    let result: Value = serde_json::from_str(&run.stdout).unwrap();
    let expected = ["best", "breakpoints", "epsilon", "guaranteed", "lowest"];
    assert_eq!(keys(&result), expected);
    assert_eq!(result["guaranteed"], true);
    let points = result["breakpoints"].as_array().unwrap();
    assert!(points.iter().all(|point| point["gap"].as_f64().unwrap() <= 0.05));
    let lambda = |point: &Value| point["lambda"].as_f64().unwrap();
    assert!(points.windows(2).all(|pair| lambda(&pair[0]) > lambda(&pair[1])));
    assert!(desk.read("p.html").contains("Along the path"));
    assert_eq!(desk.model("best.model").meta.certificate.lambda, lambda(&result["best"]));
    desk.run("verify best.model pets.crf").ok();
}

#[test]
fn says_in_words_what_is_guaranteed() {
    let desk = Desk::new();
    let run = desk.run("path pets.crf --lambda-min 0.1").ok();
    assert!(run.stdout.contains("breakpoints: the duality gap is at most 0.1 for every lambda"));
    assert!(run.stderr.contains("lambda"));
}

#[test]
fn refuses_what_makes_no_sense() {
    let desk = Desk::new();
    for (options, expected) in [
        ("--epsilon 0", "epsilon is 0; it must be a positive finite number"),
        ("--kappa 1.5", "kappa is 1.5; it must be between 0 and 1"),
        ("--lambda-min -1", "lambda_min is -1; it must be a positive finite number"),
    ] {
        let run = desk.run(&format!("path pets.crf {options}"));
        assert!(run.stderr.contains(expected), "{}", run.stderr);
        assert_ne!(run.code, 0);
    }
}

#[test]
fn a_warm_start_goes_on_from_a_model_of_the_same_data() {
    let desk = Desk::new();
    desk.run("train pets.crf -q --lambda 0.1 --tolerance 1e-6 -o first.model").ok();
    let calls = |name: &str| desk.model(name).meta.totals.oracle_calls;
    for lambda in ["0.1", "0.05", "0.3"] {
        let options = format!("--lambda {lambda} --tolerance 1e-6 -o next.model");
        desk.run(&format!("train pets.crf -q --warm-start first.model {options}")).ok();
        desk.run("verify next.model pets.crf").ok();
        if lambda == "0.1" {
            assert!(calls("next.model") < calls("first.model"));
        }
    }
    let run = desk.run("train tags.hmm --warm-start first.model");
    assert!(run.stderr.contains("the model was trained on other data"), "{}", run.stderr);
    desk.run("train pets.crf -q --no-dual -o slim.model").ok();
    let run = desk.run("train pets.crf --warm-start slim.model");
    assert!(run.stderr.contains("without its dual point"), "{}", run.stderr);
}

#[test]
fn lambda_is_chosen_on_data_held_out() {
    let desk = Desk::new();
    let run = desk.run("train ocr-small --lambda auto --max-passes 1 -o a.model").ok();
    assert!(run.stderr.contains("labels held out"));
    assert!(run.stderr.contains("lambda auto: "), "{}", run.stderr);
    let lambda = desk.model("a.model").meta.certificate.lambda;
    assert!((1e-3..1.0).contains(&lambda), "{lambda}");
    let run = desk.run("train pets.crf -q --lambda auto --validation pets.crf --json").ok();
    assert!(run.json()["lambda"].as_f64().unwrap() > 0.0);
}
