//! `maxmargin-lab dlpw`

use crate::common::{Desk, GRAPHS, Run, SETS, until};
use std::io::Read as _;
use std::process::Command;

fn desk() -> Desk {
    let desk = Desk::new();
    desk.write("sets.svm", SETS);
    desk.write("graphs.jsonl", GRAPHS);
    desk
}

#[test]
fn trains_and_says_what_is_known() {
    let desk = desk();
    insta::assert_snapshot!(desk.session(
        "dlpw graphs.jsonl --max-passes 20 --lambda 0.05 --test graphs.jsonl -o d.model
         dlpw sets.svm --temperature 0.1 --max-passes 20 --lambda 0.05"
    ));
}

#[test]
fn refuses_what_has_no_meaning() {
    let desk = desk();
    insta::assert_snapshot!(desk.session(
        "dlpw sets.svm --temperature 0
         dlpw sets.svm --order gap
         dlpw sets.svm --training soft
         dlpw sets.svm --rho 1
         dlpw sets.svm --lower 0
         dlpw sets.svm --kernel rbf
         dlpw sets.svm --rescaling slack
         dlpw sets.svm --lambda 0
         dlpw sets.svm --max-passes 0
         dlpw sets.svm --max-seconds 0
         dlpw sets.svm -o sets.svm
         dlpw pets.crf"
    ));
}

/// The command uses such a model like any other, and cannot prove anything of it.
#[test]
fn its_models_are_models_without_a_proof() {
    let desk = desk();
    desk.run("dlpw graphs.jsonl -q --max-passes 20 --lambda 0.05 -o d.model").ok();
    let [data, model, out] =
        ["graphs.jsonl", "d.model", "out.txt"].map(|name| desk.path(name).display().to_string());
    let error = maxmargin_command::run(&["verify", &model, &data]).unwrap_err().to_string();
    assert!(error.contains("without its dual point"), "{error}");
    maxmargin_command::run(&["predict", &model, &data, "-o", &out]).unwrap();
    assert_eq!(desk.read("out.txt"), "[0,1,1]\n[0,0]\n");
    let found = desk.model("d.model");
    assert!(found.dual.is_none() && found.meta.spec.training().unwrap().is_decoding());
    assert_eq!(found.meta.certificate.gap, found.meta.certificate.primal);
    assert_eq!(found.solved_problem(), "relaxation of the structured SVM with margin rescaling");
    assert!(found.contradictions().is_empty(), "{:?}", found.contradictions());
}

/// DLPW proves nothing, but its objective can be followed like those of the others.
#[test]
fn shows_its_objective() {
    let desk = desk();
    let train = "dlpw graphs.jsonl -q --max-passes 20 --lambda 0.05";
    desk.run(&format!("{train} --report r.html --trace t.jsonl -o d.model")).ok();
    let page = desk.read("r.html");
    assert!(page.contains("without a certificate") && page.contains("Hard objective"));
    assert!(!page.contains("Duality gap") && !page.contains("solver auto"));
    let trace = desk.read("t.jsonl");
    let lines: Vec<serde_json::Value> =
        trace.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((&lines[0]["event"], lines.len()), (&"start".into(), 22));
    let json = desk.run(&format!("{train} --json")).ok().json();
    assert_eq!(json["hard_objective"], lines[20]["second"]);
    assert!(json["gap"].is_null() && json["dual"].is_null() && json["primal"].is_null());
}

/// The optimum over the LP relaxation is below what it finds, and not far.
#[test]
fn comes_near_the_relaxation() {
    let desk = desk();
    for data in ["sets.svm", "graphs.jsonl"] {
        let [path, lp] = [data, "lp.model"].map(|name| desk.path(name).display().to_string());
        let options =
            ["-q", "--lambda", "0.1", "--tolerance", "1e-4", "--training", "lp", "-o", &lp];
        maxmargin_command::run(&[&["train", &path], &options[..]].concat()).unwrap();
        let relaxed = desk.model("lp.model").meta.certificate;
        for smooth in ["", "--temperature 0.1"] {
            let run =
                desk.run(&format!("dlpw {data} --lambda 0.1 --max-passes 200 {smooth} --json"));
            let found = run.ok().json();
            let objective = found["hard_objective"].as_f64().unwrap();
            assert!(relaxed.dual <= objective && objective <= relaxed.primal + 0.2, "{found}");
            assert_eq!(found["passes"], 200);
        }
    }
}

#[test]
fn makes_fifty_passes() {
    let desk = desk();
    desk.run("dlpw sets.svm -q -o s.model").ok();
    assert_eq!(desk.model("s.model").meta.totals.passes, 50);
}

#[test]
fn ctrl_c_ends_it_with_its_model() {
    let desk = desk();
    let mut child = desk
        .command("dlpw sets.svm --max-passes 1000000000000 --lambda 0.01 --json -o s.model")
        .spawn()
        .unwrap();
    let mut talk = until(&mut child, "hard objective");
    let pid = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
    let mut rest = String::new();
    talk.read_to_string(&mut rest).unwrap();
    assert!(rest.contains("model written to s.model"), "{rest}");
    let result = Run::of(child.wait_with_output().unwrap()).interrupted().json();
    assert_eq!(result["status"], "interrupted");
    assert_eq!(desk.model("s.model").meta.status.name(), "interrupted");
}
