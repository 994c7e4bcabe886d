//! `maxmargin train`

use crate::common::{Desk, keys};
use serde_json::{Value, json};

#[test]
fn prints_a_table_and_the_certificate() {
    let desk = Desk::new();
    insta::assert_snapshot!(desk.session(
        "train pets.crf -o pets.model
         train tags.hmm -o tags.model --test tags.hmm
         train pets.crf --solver fw --test pets.crf
         train pets.crf --test tags.hmm
         train ocr-small --max-passes 3"
    ));
}

#[test]
fn says_nothing_when_quiet() {
    let desk = Desk::new();
    let run = desk.run("train pets.crf -o pets.model --quiet --test pets.crf").ok();
    assert_eq!((run.stdout.as_str(), run.stderr.as_str()), ("", ""));
    assert_eq!(desk.files(""), ["pets.crf", "pets.model", "tags.hmm"]);
}

#[test]
fn json_has_the_promised_keys() {
    let desk = Desk::new();
    let promised = [
        "d",
        "dual",
        "gap",
        "lambda",
        "lambda_source",
        "n",
        "oracle_calls",
        "oracle_seconds",
        "passes",
        "primal",
        "problem",
        "quality",
        "seconds",
        "seed",
        "status",
        "test",
        "validation",
    ];
    let run = desk.run("train ocr-small --max-passes 3 --json --lambda 1/n").ok();
    let result = run.json();
    assert_eq!(keys(&result), promised);
    assert_eq!((&result["test"], &result["validation"]), (&Value::Null, &Value::Null));
    assert_eq!((&result["n"], &result["d"]), (&json!(626), &json!(4082)));
    assert_eq!(result["lambda"], json!(1.0 / 626.0));
    assert_eq!((&result["passes"], &result["seed"]), (&json!(3), &json!(1)));
    assert_eq!(result["status"], "max-passes");
    assert_eq!(result["oracle_calls"], json!(4 * 626), "three passes and the certificate");
    let number = |name: &str| result[name].as_f64().unwrap();
    assert!(number("gap") > 0.0 && number("seconds") >= 0.0 && number("oracle_seconds") >= 0.0);
    assert!((number("primal") - number("dual") - number("gap")).abs() < 1e-12);
    assert!(run.stderr.contains("626 examples"), "talk goes to standard error: {}", run.stderr);

    let run = desk.run("train ocr-small --max-passes 3 --test ocr-small:test --json -q -o m").ok();
    assert_eq!(run.stderr, "");
    let result = run.json();
    assert_eq!(keys(&result), promised);
    assert_eq!(keys(&result["test"]), ["hamming", "zero_one"]);
    // The model says the same of itself when it is evaluated.
    let evaluated = desk.run("evaluate m ocr-small:test --json").ok().json();
    for measure in ["hamming", "zero_one"] {
        assert_eq!(result["test"][measure], evaluated[measure], "{measure}");
        assert!(result["test"][measure].as_f64().is_some_and(|error| error > 0.0));
    }
}

#[test]
fn the_same_seed_gives_the_same_bits_on_any_number_of_threads() {
    let desk = Desk::new();
    let train = |options: &str| {
        // What `auto` is made of, by name: its choice of a cache would depend on the clock.
        let named = "--order gap --direction staged";
        desk.run(&format!("train ocr-small --max-passes 30 {named} -q -o x.model {options}")).ok();
        desk.model("x.model")
    };
    let first = train("--seed 7 --threads 1");
    for options in ["--seed 7 --threads 1", "--seed 7 --threads 2", "--seed 7"] {
        let again = train(options);
        assert_eq!(again.weights, first.weights, "{options}");
        assert_eq!(again.meta.certificate, first.meta.certificate, "{options}");
        assert_eq!(again.dual, first.dual, "{options}");
    }
    assert_ne!(train("--seed 8").weights, first.weights);
}

#[test]
fn writes_a_trace_and_a_report() {
    let desk = Desk::new();
    desk.run(
        "train pets.crf -q --solver bcfw --max-passes 25 --tolerance 0 --trace t.jsonl --report r.html",
    )
        .ok();
    assert_eq!(desk.files(""), ["pets.crf", "r.html", "t.jsonl", "tags.hmm"]);
    let trace = desk.read("t.jsonl");
    let events: Vec<Value> =
        trace.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(events.len(), 1 + 25 + 1);
    assert_eq!(events[0]["event"], "start");
    assert_eq!(events[0]["settings"]["max_passes"], 25);
    for (pass, event) in (1..).zip(&events[1..26]) {
        assert_eq!((&event["event"], &event["pass"]), (&json!("pass"), &json!(pass)));
        assert_eq!(event["gap"].is_number(), pass % 10 == 0 || pass == 25, "{event}");
    }
    assert_eq!(events[26]["event"], "end");
    assert_eq!(events[26]["status"], "max-passes");
    let report = desk.read("r.html");
    assert!(report.contains("maxmargin on pets.crf") && report.contains("Transition weights"));
}

#[test]
fn writes_the_figures_of_its_report() {
    let desk = Desk::new();
    // With a report and without, once more over what is there.
    for options in ["--report r.html", "--solver bcfw"] {
        desk.run(&format!("train pets.crf -q --max-passes 25 --figures some/where {options}")).ok();
        let files = desk.files("some/where");
        let expected = ["convergence_gap-passes.svg", "convergence_gap-seconds.svg"];
        assert_eq!(files[..2], expected, "{files:?}");
        for file in files {
            assert!(desk.read(&format!("some/where/{file}")).ends_with("</svg>"), "{file}");
        }
    }
    let run = desk.run("train pets.crf -q --tolerance 0 --figures pets.crf/plots");
    assert!(run.stderr.contains("pets.crf/plots: the folder cannot be made"), "{}", run.stderr);
}

#[test]
fn reads_standard_input_and_other_layouts() {
    let desk = Desk::new();
    let stdin = desk.read("pets.crf");
    let run = desk.run_on(&stdin, "train - -q -o stdin.model").ok();
    assert_eq!(run.stdout, "");
    desk.run("train pets.crf -q -o file.model").ok();
    assert_eq!(desk.model("stdin.model").weights, desk.model("file.model").weights);

    desk.write("words.conll", "the DT B\ndog NN I\n\nbarks VB O\n");
    let result = desk.run("train words.conll --format conll --json").ok().json();
    assert_eq!(result["n"], 2);
}

#[test]
fn an_existing_model_is_replaced() {
    let desk = Desk::with_model("--seed 1");
    let before = desk.model("pets.model");
    desk.run("train pets.crf -q -o pets.model --seed 2").ok();
    assert_ne!(desk.model("pets.model").weights, before.weights);
    assert_eq!(desk.files(""), ["pets.crf", "pets.model", "tags.hmm"]);
}
