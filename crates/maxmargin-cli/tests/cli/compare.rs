//! `maxmargin compare`

use crate::common::{Desk, keys, mask};
use serde_json::Value;

/// Two methods, two values of λ, two seeds, by oracle calls: the same on every machine.
const COMPARE: &str = "compare pets.crf --test pets.crf --methods fw,bcfw+gap --lambdas 0.1,0.01 \
                       --seeds 2 --budget 40 --tolerance 1e-3";

/// Who is faster depends on the machine.
fn without_times(text: &str) -> String {
    let line = |line: &str| match line.split_once(", least time") {
        Some((calls, _)) => format!("{calls}."),
        None => mask(line),
    };
    text.lines().map(|text| line(text) + "\n").collect()
}

#[test]
fn shows_who_wins() {
    let desk = Desk::new();
    let run = desk.run(COMPARE).ok();
    insta::assert_snapshot!(without_times(&run.stdout));
    insta::assert_snapshot!(run.stderr, @"In compare: report.html to look at, summary.md, summary.json, traces, and figures.");
    assert_eq!(
        desk.files("compare"),
        ["figures", "report.html", "summary.json", "summary.md", "traces"]
    );
    assert_eq!(desk.read("compare/summary.md"), run.stdout);
    assert_eq!(desk.files("compare/traces").len(), 8);
    // At two λ, against passes and seconds, six quantities.
    assert_eq!(desk.files("compare/figures").len(), 2 * 2 * 6);
    assert!(desk.read("compare/figures/gap-passes_lambda-1e-1.svg").starts_with("<svg"));
    let page = desk.read("compare/report.html");
    for text in ["Who wins at λ = 0.01", "Convergence at λ = 0.1", "bcfw+gap", "Test error"] {
        assert!(page.contains(text), "{text}");
    }
}

#[test]
fn traces_tell_what_was_run_and_what_happened() {
    let desk = Desk::new();
    desk.run(COMPARE).ok();
    let trace = desk.read("compare/traces/bcfw+gap_lambda-1e-2_seed-2.jsonl");
    let lines: Vec<Value> = trace.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let (first, last) = (&lines[0], &lines[lines.len() - 1]);
    assert_eq!((&first["event"], &first["settings"]["order"]), (&"run".into(), &"gap".into()));
    assert_eq!((&first["settings"]["seed"], &first["settings"]["threads"]), (&2.into(), &1.into()));
    assert_eq!(last["event"], "end");
    let rows = || lines[1..lines.len() - 1].iter();
    assert!(rows().all(|row| row["event"] == "pass"));
    assert!(rows().all(|row| row.get("gap").is_some() == row.get("train_error").is_some()));
    assert!(
        rows().any(|row| row["test_error"].is_f64() && row["test_error"] == row["train_error"])
    );
}

/// What does not depend on time.
fn calls(result: &Value) -> Vec<(String, u64, f64)> {
    let runs = |method: &Value| -> Vec<(String, u64, f64)> {
        let name = method["method"].as_str().unwrap();
        let run = |run: &Value| {
            (name.to_owned(), run["oracle_calls"].as_u64().unwrap(), run["gap"].as_f64().unwrap())
        };
        method["runs"].as_array().unwrap().iter().map(run).collect()
    };
    let lambdas = result["lambdas"].as_array().unwrap().iter();
    lambdas.flat_map(|at| at["methods"].as_array().unwrap()).flat_map(runs).collect()
}

#[test]
fn goes_on_where_it_was_and_repeats_itself() {
    let desk = Desk::new();
    let first = desk.run(&format!("{COMPARE} --json -q")).ok().json();
    assert_eq!(first["reused"], 0);
    assert_eq!(
        keys(&first),
        [
            "budget",
            "d",
            "data",
            "gap_every",
            "lambdas",
            "model",
            "n",
            "reused",
            "seeds",
            "side_by_side",
            "skipped",
            "test",
            "threads",
            "tolerance",
            "version"
        ]
    );
    let name = "compare/traces/fw_lambda-1e-1_seed-1.jsonl";
    let (kept, whole) = (desk.read("compare/traces/fw_lambda-1e-1_seed-2.jsonl"), desk.read(name));
    // A trace without its end is not used.
    desk.write(name, &whole[..whole.len() - 20]);
    let again = desk.run(&format!("{COMPARE} --json -q")).ok().json();
    assert_eq!(again["reused"], 7);
    assert_eq!(calls(&again), calls(&first));
    assert_eq!(desk.read("compare/traces/fw_lambda-1e-1_seed-2.jsonl"), kept);
    // Other settings and other data make other runs.
    let other = desk.run(&format!("{COMPARE} --json -q --loss normalised-hamming")).ok().json();
    assert_eq!(other["reused"], 0);
    let tags = COMPARE.replace("pets.crf", "tags.hmm");
    assert_eq!(desk.run(&format!("{tags} --json -q")).ok().json()["reused"], 0);
    let run = desk.run(&tags).ok();
    assert!(run.stderr.contains("8 of 8 runs were there already"), "{}", run.stderr);
}

#[test]
fn runs_side_by_side_find_the_same_and_say_that_they_shared_the_machine() {
    let desk = Desk::new();
    let alone = desk.run(&format!("{COMPARE} --json --out alone")).ok().json();
    let together = desk.run(&format!("{COMPARE} --json --out both --jobs 3")).ok().json();
    assert_eq!(calls(&together), calls(&alone));
    assert_eq!((&alone["side_by_side"], &together["side_by_side"]), (&1.into(), &3.into()));
    let says = |folder: &str| desk.read(&format!("{folder}/summary.md")).contains("side by side");
    assert_eq!((says("alone"), says("both")), (false, true));

    // Times of runs that shared the machine are not used where runs are to be on their own.
    let alone_again = desk.run(&format!("{COMPARE} --json --out both")).ok().json();
    assert_eq!((&alone_again["reused"], &alone_again["side_by_side"]), (&0.into(), &1.into()));
    // Whoever does not mind takes them all.
    let mixed = desk.run(&format!("{COMPARE} --json --out both --jobs 2")).ok().json();
    assert_eq!((&mixed["reused"], &mixed["side_by_side"]), (&8.into(), &1.into()));
}

#[test]
fn methods_that_the_clock_steers_run_on_their_own() {
    let desk = Desk::new();
    desk.run("compare pets.crf --methods auto,bcfw --seeds 2 --budget 5 --jobs 2 -q").ok();
    let side_by_side = |method: &str| {
        let lambda = desk.files("compare/traces")[0].split('_').nth(1).unwrap().to_owned();
        let trace = desk.read(&format!("compare/traces/{method}_{lambda}_seed-2.jsonl"));
        let header: Value = serde_json::from_str(trace.lines().next().unwrap()).unwrap();
        header["side_by_side"].as_u64()
    };
    assert_eq!((side_by_side("auto"), side_by_side("bcfw")), (None, Some(2)));
}

#[test]
fn all_methods_meet_at_the_same_optimum() {
    let desk = Desk::new();
    let command =
        "compare pets.crf --lambdas 0.1 --seeds 1 --budget 2000 --tolerance 1e-3 --json -q";
    let result = desk.run(command).ok().json();
    let at = &result["lambdas"][0];
    let methods = at["methods"].as_array().unwrap();
    assert!(methods.len() >= 10);
    let best = at["best_dual"].as_f64().unwrap();
    for method in methods {
        let number = |key: &str| method[key]["median"].as_f64().unwrap();
        let (primal, dual, gap) = (number("primal"), number("dual"), number("gap"));
        assert!(dual <= best + 1e-9 && best <= primal + 1e-9, "{method}");
        assert!((primal - dual - gap).abs() < 1e-9, "{method}");
    }
    // Others, and averages, may need more than that.
    let fast = ["auto", "fw", "bcfw", "n-slack", "1-slack"];
    for method in methods {
        let name = method["method"].as_str().unwrap();
        if fast.iter().any(|fast| name.starts_with(fast)) && !name.ends_with("+weighted") {
            assert_eq!(method["runs"][0]["status"], "converged", "{method}");
        }
    }
}

#[test]
fn every_kind_of_model_can_be_compared_on() {
    let desk = Desk::new();
    desk.write("rows.svm", "a 1:1 2:0.5\nb 1:-1\na 2:1\nb 1:-1 2:-0.5\n");
    desk.write("sets.svm", "0 1:1\n1 2:1\n0,1 1:1 2:1\n 3:1\n");
    for data in ["rows.svm --format libsvm --model binary", "sets.svm --format multilabel"] {
        let run =
            desk.run(&format!("compare {data} --methods auto --seeds 1 --budget 1s --json -q"));
        assert_eq!(run.ok().json()["lambdas"][0]["methods"][0]["method"], "auto");
    }
}

#[test]
fn refuses_what_makes_no_sense() {
    let desk = Desk::new();
    insta::assert_snapshot!(desk.session(
        "compare
         compare pets.crf --methods bcwf
         compare pets.crf --methods bcfw+pair
         compare pets.crf --methods bcfw+gap+uniform
         compare pets.crf --methods fw+cyclic
         compare pets.crf --methods bcfw+gap-every=0
         compare pets.crf --methods bcfw+colour=1
         compare pets.crf --lambdas 0.1,-1
         compare pets.crf --lambdas many
         compare pets.crf --seeds 0
         compare pets.crf --budget 0
         compare pets.crf --budget 10m
         compare pets.crf --budget 10s --jobs 2
         compare pets.crf --jobs -1
         compare pets.crf --tolerance -1
         compare pets.crf --gap-every 0
         compare pets.crf --out pets.crf
         compare pets.crf --test nosuch.crf
         compare - --test -
         compare nosuch.crf"
    ));
    assert_eq!(desk.files(""), ["pets.crf", "tags.hmm"]);
}

#[test]
fn a_winner_is_named_however_short_the_budget_is() {
    let desk = Desk::new();
    let run =
        desk.run("compare pets.crf --methods fw,bcfw,perceptron --seeds 1 --budget 1 --json").ok();
    let at_end = &run.json()["lambdas"][0]["at_end"];
    let gaps = |run: &Value| -> Vec<(f64, String)> {
        let methods = run["lambdas"][0]["methods"].as_array().unwrap();
        let one = |m: &Value| (m["gap"]["median"].as_f64().unwrap(), m["method"].to_string());
        methods.iter().map(one).collect()
    };
    let least = gaps(&run.json()).into_iter().min_by(|a, b| a.0.total_cmp(&b.0)).unwrap();
    assert_eq!(at_end["least_gap"]["value"].as_f64(), Some(least.0));
    assert_eq!(at_end["least_gap"]["method"].to_string(), least.1);
    assert!(desk.read("compare/summary.md").contains("At the end of the budget the winner is `"));
    assert!(desk.read("compare/report.html").contains("At the end of the budget the winner is"));
}

/// The perceptron knows nothing of λ: its gap grows while the others fall.
#[test]
fn curves_off_the_scale_are_hidden_with_a_note() {
    let desk = Desk::new();
    let methods = "bcfw,bcfw+gap,bcfw+pairwise,perceptron";
    desk.run(&format!(
        "compare pets.crf -q --methods {methods} --seeds 1 --budget 60 --lambdas 10"
    ))
    .ok();
    let page = desk.read("compare/report.html");
    assert!(page.contains("Off the scale and switched off: <code>perceptron</code>"));
    assert!(page.contains("\"name\":\"perceptron\",\"off\":true"));
    assert!(!page.contains("\"name\":\"bcfw\",\"off\":true"));
}
