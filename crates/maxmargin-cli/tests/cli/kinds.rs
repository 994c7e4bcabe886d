//! Models of all kinds, from training to predictions.

use crate::common::Desk;

/// Six rows with two labels, in LIBSVM's layout.
const PAIRS: &str = "\
+1 1:1 2:0.5
-1 1:-1 3:2
+1 2:1
-1 3:1
+1 1:0.5 2:2
-1 2:-1 3:0.5
";

/// Rows with three labels.
const THREE: &str = "\
1 1:1 4:0.2
2 2:1
3 3:1 4:-1
1 1:2
2 2:1 3:0.2
3 3:2
";

/// Rows with sets of labels.
const SETS: &str = "\
1,2 1:1 2:1 9:1
1 1:1 9:1
2,3 2:1 3:1 9:1
 3:0.5 9:1
3 3:1 9:1
";

/// A ring and a pair of variables.
const GRAPHS: &str = concat!(
    r#"{"variables": [{"states": 2, "truth": 0}, {"states": 2, "truth": 1}, {"states": 2, "truth": 1}], "#,
    r#""factors": [{"template": "pixel", "variables": [0], "attributes": {"dark": 1}}, "#,
    r#"{"template": "pixel", "variables": [1], "attributes": {"light": 1}}, "#,
    r#"{"template": "edge", "variables": [0, 1], "attributes": {"bias": 1}}, "#,
    r#"{"template": "edge", "variables": [1, 2], "attributes": {"bias": 1}}, "#,
    r#"{"template": "edge", "variables": [2, 0], "attributes": {"bias": 0.1}}]}"#,
    "\n",
    r#"{"variables": [{"states": 2, "truth": 0}, {"states": 2, "truth": 0}], "#,
    r#""factors": [{"template": "pixel", "variables": [0], "attributes": {"dark": 1}}, "#,
    r#"{"template": "edge", "variables": [0, 1], "attributes": {"bias": 1}}]}"#,
    "\n"
);

fn desk() -> Desk {
    let desk = Desk::new();
    for (name, text) in
        [("pairs.svm", PAIRS), ("three.svm", THREE), ("sets.svm", SETS), ("graphs.jsonl", GRAPHS)]
    {
        desk.write(name, text);
    }
    desk
}

#[test]
fn the_format_says_which_model_is_meant() {
    let desk = desk();
    for (data, kind) in [
        ("pets.crf", "chain"),
        ("pairs.svm", "binary"),
        ("three.svm", "multiclass"),
        ("sets.svm", "multilabel"),
        ("graphs.jsonl", "factor-graph"),
    ] {
        desk.run(&format!("train {data} -q -o x.model")).ok();
        assert_eq!(desk.model("x.model").meta.spec.kind(), kind);
        let verified = desk.run(&format!("verify x.model {data}"));
        assert_eq!(verified.code, 0, "{data}: {}", verified.transcript());
    }
}

#[test]
fn every_kind_is_trained_tested_and_shown() {
    let desk = desk();
    insta::assert_snapshot!(desk.session(
        "train pairs.svm --test pairs.svm -o pairs.model
         evaluate pairs.model pairs.svm
         predict pairs.model pairs.svm
         predict pairs.model pairs.svm --confidence
         dump pairs.model --top 2
         train three.svm --test three.svm -q -o three.model
         evaluate three.model three.svm
         predict three.model three.svm --n-best 2
         train sets.svm --lambda 0.01 --direction corrective --test sets.svm -q -o sets.model
         evaluate sets.model sets.svm
         predict sets.model sets.svm
         predict sets.model sets.svm --n-best 2
         predict sets.model sets.svm --confidence
         dump sets.model --top 1
         train graphs.jsonl --lambda 0.01 --order gap -q -o graphs.model
         evaluate graphs.model graphs.jsonl
         predict graphs.model graphs.jsonl
         dump graphs.model --top 1"
    ));
}

#[test]
fn options_of_other_kinds_are_refused() {
    let desk = desk();
    desk.write("costs.txt", "1 2 5\n2 7 1\n");
    desk.run("train pairs.svm -q -o pairs.model").ok();
    desk.run("train sets.svm -q -o sets.model").ok();
    insta::assert_snapshot!(desk.session(
        "train pairs.svm --template chunking
         train pairs.svm --pairs tree
         train pairs.svm --lower 0
         train pairs.svm --model chain
         train pairs.svm --positive maybe
         train pairs.svm --bias inf
         train three.svm --model binary
         train three.svm --costs costs.txt
         train three.svm --costs missing.txt
         train pets.crf --model factor-graph
         train pets.crf --rescaling slack
         train graphs.jsonl --rescaling slack
         train sets.svm --inference max-sum
         train sets.svm --frequent-labels 0
         train graphs.jsonl --label-weight a=1
         train graphs.jsonl --format libsvm
         predict pairs.model pairs.svm --rules bio
         evaluate pairs.model graphs.jsonl"
    ));
}

#[test]
fn what_a_model_is_told_stays_with_it() {
    let desk = desk();
    desk.write("costs.txt", "# a mistake that hurts\n1 2 5\n\n3 1 0.5\n");
    for (data, options) in [
        ("pairs.svm", "--positive -1 --bias 0"),
        ("pairs.svm", "--model multiclass"),
        ("three.svm", "--costs costs.txt --rescaling slack --bias 2"),
        ("three.svm", "--lambda auto --patience 3"),
        ("sets.svm", "--pairs tree --loss hamming --label-weight 1=2"),
        ("sets.svm", "--pairs none --frequent-labels 2"),
        ("sets.svm", "--rescaling slack"),
        ("sets.svm", "--inference lp --lower pairs=0 --average weighted"),
        ("graphs.jsonl", "--inference lp --loss hamming --upper template.0=0.5"),
        ("ocr-small", "--model multiclass --tolerance 0.1"),
    ] {
        desk.run(&format!("train {data} -q -o x.model {options}")).ok();
        for verb in ["verify", "evaluate", "predict"] {
            let run = desk.run(&format!("{verb} x.model {data}"));
            assert_eq!(run.code, 0, "{data} {options}: {}", run.transcript());
        }
    }
    insta::assert_snapshot!(desk.session(
        "train sets.svm --frequent-labels 2 -q -o some.model
         evaluate some.model sets.svm
         train sets.svm --inference lp --order gap -o lp.model
         verify lp.model sets.svm"
    ));
}

#[test]
fn checkpoints_and_paths_know_all_kinds() {
    let desk = desk();
    desk.run("train three.svm -q --max-passes 2 --tolerance 0 --checkpoint c.ckpt").ok();
    desk.run("train three.svm -q --tolerance 1e-4 --resume c.ckpt -o resumed.model").ok();
    desk.run("train three.svm -q --tolerance 1e-4 -o whole.model").ok();
    let (resumed, whole) = (desk.model("resumed.model"), desk.model("whole.model"));
    assert_eq!(resumed.weights, whole.weights);
    desk.run("train three.svm -q --max-passes 2 --tolerance 0 --checkpoint d.ckpt").ok();
    let other = desk.run("train three.svm -q --tolerance 1e-4 --bias 0 --resume d.ckpt");
    assert!(other.stderr.contains("begun with another option for the model"), "{}", other.stderr);

    desk.run("path sets.svm -q -p sets.path --validation sets.svm").ok();
    desk.run("pick sets.path --lambda 0.5 -q -o picked.model").ok();
    assert_eq!(desk.model("picked.model").meta.spec.kind(), "multilabel");
}
