//! `--patience`: early stopping on validation error, with the best model and its own certificate.

use crate::common::{Desk, keys};
use maxmargin::Status;
use serde_json::Value;

const TRAIN: &str = "train ocr-small --lambda 0.01 --tolerance 0 --gap-every 3";

#[test]
fn the_best_model_is_kept_with_its_own_certificate() {
    let desk = Desk::new();
    for options in ["", "--average weighted", "--solver fw"] {
        let train = match options.contains("fw") {
            true => TRAIN.replace("--gap-every 3", ""),
            false => TRAIN.to_owned(),
        };
        let files = "-o x.model --trace t.jsonl --report r.html --json -q";
        let train = format!("{train} {options} --validation ocr-small:test --patience 2 {files}");
        let result = desk.run(&train).ok().json();
        assert_eq!(result["status"], "patience", "{options}");
        assert_eq!(keys(&result["validation"]), ["checks", "error", "held_out", "pass"]);
        assert_eq!(result["validation"]["held_out"], false);

        let trace = desk.read("t.jsonl");
        let events: Vec<Value> =
            trace.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let rows: Vec<&Value> =
            events.iter().filter(|e| e["event"] == "pass" && e["gap"].is_number()).collect();
        let error = |row: &Value| row["validation"].as_f64().unwrap();
        let least = rows.iter().map(|row| error(row)).fold(f64::INFINITY, f64::min);
        assert_eq!(result["validation"]["error"], least);
        assert_eq!(result["validation"]["checks"], rows.len());
        let best = rows.iter().rfind(|row| error(row) == least).unwrap();
        assert_eq!(best["pass"], result["validation"]["pass"]);
        assert_eq!(best["primal"], result["primal"]);
        // Later passes may have found a better bound than the one that was known then.
        assert!(result["gap"].as_f64() <= best["gap"].as_f64(), "{result} {best}");
        assert_eq!(rows.len() - 1 - rows.iter().position(|row| error(row) == least).unwrap(), 2);

        desk.run("verify x.model ocr-small").ok();
        let evaluated = desk.run("evaluate x.model ocr-small:test --json").ok().json();
        assert_eq!(evaluated["hamming"], least, "of the model that was written");
        assert!(desk.read("r.html").contains("Validation error"));
    }
}

#[test]
fn a_tenth_is_held_out_where_no_data_are_named() {
    let desk = Desk::new();
    let run = desk.run(&format!("{TRAIN} --patience 2 -o x.model")).ok();
    let said =
        "63 of 626 sequences are held out to validate on; the model is trained on the others";
    assert!(run.stderr.contains(said), "{}", run.stderr);
    assert!(run.stdout.contains("with the least validation error in "), "{}", run.stdout);
    let meta = desk.model("x.model").meta;
    assert_eq!((meta.n, meta.status), (563, Status::Patience));
    desk.run("verify x.model ocr-small").ok();
    let dump = desk.run("dump x.model").ok();
    assert!(dump.stdout.contains("held out      one example in 10 of the data, seed 1"));

    // Another seed holds other sequences out.
    let other = desk.run(&format!("{TRAIN} --patience 2 --seed 2 -q -o y.model --json")).ok();
    assert_eq!(other.json()["validation"]["held_out"], true);
    desk.run("verify y.model ocr-small").ok();
    for (options, refused) in [
        ("--patience 2 --max-passes 1", false),
        ("--patience 2 --seed 2", true),
        ("--max-passes 1", true),
    ] {
        let run = desk.run(&format!("{TRAIN} {options} --warm-start x.model -q"));
        let said = "x.model: the model was trained on another part of the data";
        assert_eq!((run.code == 1, run.stderr.contains(said)), (refused, refused), "{options}");
    }
}

#[test]
fn lambda_and_patience_share_what_is_held_out() {
    let desk = Desk::new();
    let train = "train ocr-small --lambda auto --patience 2 --tolerance 0 -o x.model";
    let run = desk.run(&format!("{train} --max-passes 40")).ok();
    assert_eq!(run.stderr.matches("held out to validate on").count(), 1, "{}", run.stderr);
    assert!(run.stderr.contains("lambda auto: "), "{}", run.stderr);
    let meta = desk.model("x.model").meta;
    assert_eq!(meta.n, 563);
    assert!(meta.held_out.is_some() && meta.validation.is_some());
    desk.run("verify x.model ocr-small").ok();
}

#[test]
fn without_patience_the_error_is_only_told() {
    let desk = Desk::new();
    let train = "train ocr-small --solver bcfw --tolerance 0 --max-passes 6 --gap-every 2";
    let run = desk.run(&format!("{train} --validation ocr-small:test -o x.model")).ok();
    assert!(run.stderr.contains("gap  error  ≈oracle"), "{}", run.stderr);
    assert!(run.stdout.contains("The validation error is "), "{}", run.stdout);
    desk.run(&format!("{train} -q -o y.model")).ok();
    let (x, y) = (desk.model("x.model"), desk.model("y.model"));
    assert_eq!((x.weights, x.meta.status), (y.weights, y.meta.status));
    assert_eq!((x.meta.validation.unwrap().pass, y.meta.validation), (6, None));
}

#[test]
fn senseless_options_are_refused() {
    let desk = Desk::new();
    desk.write("one.crf", "NN\tw=cat\nVB\tw=purrs\n");
    desk.write("s.toml", "patience = 0\n");
    insta::assert_snapshot!(desk.session(
        "train pets.crf --patience 0
         train pets.crf --patience few
         train one.crf --patience 3
         train one.crf --lambda auto
         train pets.crf --settings s.toml
         train pets.crf --patience 3 --validation nosuch.crf
         train - --validation -
         train pets.crf --validation tags.hmm -o tags.hmm"
    ));
}
