//! Methods to compare with: the same table, the same certificate, the same verification.

use crate::common::Desk;

#[test]
fn baselines_are_trained_verified_and_shown() {
    let desk = Desk::new();
    insta::assert_snapshot!(desk.session(
        "train pets.crf --solver ssg --average weighted --max-passes 20 -o ssg.model
         verify ssg.model pets.crf
         train pets.crf --solver 1-slack --lambda 0.1 --tolerance 1e-3 -o planes.model
         verify planes.model pets.crf
         train pets.crf --solver perceptron --max-passes 10 -q -o perceptron.model
         verify perceptron.model pets.crf"
    ));
    desk.run("train pets.crf --solver adagrad --max-passes 10 -q -o adagrad.model").ok();
    let shown = desk.run("dump adagrad.model").ok().stdout;
    assert!(shown.contains("solver adagrad, order permutation, rate 0.1, average none"), "{shown}");
}

/// Bounds are kept by all of them, and checked with the rest.
#[test]
fn baselines_keep_bounds() {
    let desk = Desk::new();
    for solver in ["ssg", "ssg --average half", "adagrad", "perceptron", "n-slack", "1-slack", "eg"]
    {
        let options = format!("--solver {solver} --lower 0 --upper 0.3 --max-passes 20");
        desk.run(&format!("train pets.crf -q {options} -o held.model")).ok();
        // Bounds are on what weights add to scores, up to a rounding.
        let weights = desk.model("held.model").scoring_weights().into_owned();
        assert!(weights.iter().all(|w| (0.0..0.3 + 1e-12).contains(w)), "{solver}: {weights:?}");
        assert!(weights.iter().any(|w| *w > 0.0), "{solver}");
        desk.run("verify held.model pets.crf").ok();
    }
}

/// Weights that a dual point did not make are judged by their objective.
#[test]
fn tampering_with_weights_shows_in_the_objective() {
    let desk = Desk::new();
    desk.run("train pets.crf --solver adagrad --max-passes 10 -q -o pets.model").ok();
    let mut model = desk.model("pets.model");
    model.weights[0] += 0.5;
    model.save(desk.path("pets.model")).unwrap();
    let run = desk.run("verify pets.model pets.crf");
    assert_eq!(run.code, 1);
    assert!(run.stdout.contains("- the primal is claimed to be"), "{}", run.stdout);
    assert!(!run.stdout.contains("from those of the dual point"), "{}", run.stdout);
}

#[test]
fn options_of_other_methods_are_refused() {
    let desk = Desk::new();
    desk.write("rows.svm", "1 1:1\n2 2:1\n1,2,3 1:1 2:1\n");
    desk.run("train pets.crf -q -o pets.model").ok();
    insta::assert_snapshot!(desk.session(
        "train pets.crf --solver sgd
         train pets.crf --solver ssg --order gap
         train pets.crf --solver ssg --step fixed
         train pets.crf --solver perceptron --average half
         train pets.crf --solver n-slack --gap-every 3
         train pets.crf --solver eg --cache-bytes 100
         train pets.crf --solver bcfw --average half
         train pets.crf --solver bcfw --rate 2
         train pets.crf --solver adagrad --rate 0
         train pets.crf --solver ssg --warm-start pets.model
         train rows.svm --solver eg"
    ));
}
