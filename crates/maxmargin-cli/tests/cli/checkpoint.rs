//! `--checkpoint` and `--resume`: whatever cuts a run short, and whenever, it comes to the same end.

use crate::common::{Desk, Run, until};
use maxmargin::Rng;
use maxmargin::observe::Totals;
use maxmargin_io::Model;
use serde_json::Value;
use std::fs;
use std::io::Read as _;
use std::process::Command;
use std::time::Duration;

/// Everything in a model but the time it took, bit by bit.
fn bits(model: &Model) -> (Vec<u64>, String) {
    let Totals { passes, visits, oracle_calls, drift, cache, .. } = model.meta.totals;
    let rest = (&model.dual, &model.meta.certificate, model.meta.status, model.meta.validation);
    let numbers = model.weights.iter().map(|w| w.to_bits()).collect();
    (numbers, format!("{rest:?} {passes} {visits} {oracle_calls} {drift:?} {cache:?}"))
}

/// Runs a training again and again, killed after ever longer times, until it comes to its end.
fn killed_again_and_again(desk: &Desk, train: &str, rng: &mut Rng) -> usize {
    let _ = fs::remove_file(desk.path("run.ckpt"));
    for kills in 0.. {
        // Killed before the first checkpoint, a run has left none, and is begun again.
        let file = if desk.path("run.ckpt").exists() { "--resume" } else { "--checkpoint" };
        let mut child = desk.command(&format!("{train} {file} run.ckpt")).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(rng.below(60 * (kills + 1)) as u64));
        child.kill().unwrap();
        let output = child.wait_with_output().unwrap();
        if output.status.success() {
            return kills;
        }
        assert_eq!(output.status.code(), None, "{}", String::from_utf8_lossy(&output.stderr));
    }
    unreachable!()
}

#[test]
fn a_run_killed_at_random_moments_ends_with_the_same_bits() {
    let desk = Desk::new();
    let mut rng = Rng::new(u64::from(std::process::id()));
    for options in [
        "--order gap --direction corrective --gap-every 4",
        "--order gap --direction staged --lambda 0.1",
        "--order permutation --average weighted --cache on",
        "--solver fw",
        "--order gap --direction pairwise --average weighted --patience 2 --gap-every 2",
    ] {
        let train = format!("train ocr-small -q --tolerance 0 --max-passes 20 {options}");
        desk.run(&format!("{train} -o whole.model")).ok();
        let train = format!("{train} -o pieces.model --checkpoint-every 2");
        let kills = killed_again_and_again(&desk, &train, &mut rng);
        let (whole, pieces) = (desk.model("whole.model"), desk.model("pieces.model"));
        assert_eq!(bits(&pieces), bits(&whole), "{options}, killed {kills} times");
        assert_eq!(pieces.meta.settings, whole.meta.settings);
    }
}

#[test]
fn killed_before_its_first_checkpoint_a_run_has_left_none() {
    let desk = Desk::new();
    let endless = "train ocr-small --tolerance 0 --max-passes 100000 -o x.model";
    let mut child = desk.command(&format!("{endless} --checkpoint run.ckpt")).spawn().unwrap();
    until(&mut child, "oracle calls");
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(desk.files(""), ["pets.crf", "tags.hmm"]);
    insta::assert_snapshot!(desk.session("train ocr-small --resume run.ckpt"), @r"
    $ maxmargin train ocr-small --resume run.ckpt
    error: run.ckpt: there is no such checkpoint
    hint: a run that is cut short before its first checkpoint leaves none; begin it again with --checkpoint run.ckpt
    [exit code 1]
    ");
}

#[test]
fn ctrl_c_leaves_a_checkpoint_to_go_on_from() {
    let desk = Desk::new();
    let train = "train ocr-small --order gap --direction corrective --tolerance 0";
    let options = "--max-passes 100000 --json --checkpoint run.ckpt -o x.model";
    let mut child = desk.command(&format!("{train} {options}")).spawn().unwrap();
    let mut talk = until(&mut child, "    10 ");
    let pid = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
    let mut rest = String::new();
    talk.read_to_string(&mut rest).unwrap();
    assert!(rest.contains("hint: go on with --resume run.ckpt"), "{rest}");
    let result = Run::of(child.wait_with_output().unwrap()).interrupted().json();
    assert_eq!(result["status"], "interrupted");
    assert_eq!(desk.files(""), ["pets.crf", "run.ckpt", "tags.hmm", "x.model"]);

    let passes = result["passes"].as_u64().unwrap() + 3;
    let run = desk.run(&format!("{train} --max-passes {passes} --resume run.ckpt -o a.model")).ok();
    assert!(run.stderr.contains("resumed after "), "{}", run.stderr);
    desk.run(&format!("{train} --max-passes {passes} -q -o b.model")).ok();
    assert_eq!(bits(&desk.model("a.model")), bits(&desk.model("b.model")));
}

#[test]
fn a_run_that_has_ended_can_be_taken_further() {
    let desk = Desk::new();
    let train = "train ocr-small -q --order gap --direction corrective --lambda 0.1";
    desk.run(&format!("{train} --tolerance 0.1 --checkpoint run.ckpt -o x.model")).ok();
    // With the same limits it is at its end already.
    desk.run(&format!("{train} --tolerance 0.1 --resume run.ckpt -o same.model")).ok();
    assert_eq!(bits(&desk.model("same.model")), bits(&desk.model("x.model")));
    let run = desk.run(&format!("{train} --tolerance 0.01 --resume run.ckpt -o y.model --json"));
    assert_eq!(run.ok().json()["status"], "converged");
    desk.run("verify y.model ocr-small").ok();
    assert!(
        desk.model("y.model").meta.totals.oracle_calls
            > desk.model("x.model").meta.totals.oracle_calls
    );
}

#[test]
fn the_trace_and_the_report_of_a_resumed_run_are_whole() {
    let desk = Desk::new();
    let train = "train pets.crf -q --solver bcfw --tolerance 0 --gap-every 4";
    desk.run(&format!("{train} --max-passes 6 --checkpoint run.ckpt")).ok();
    let files = "--trace t.jsonl --report r.html";
    desk.run(&format!("{train} --max-passes 10 --resume run.ckpt {files}")).ok();
    let trace = desk.read("t.jsonl");
    let events: Vec<Value> =
        trace.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let starts: Vec<&Value> = events.iter().filter(|e| e["event"] == "start").collect();
    assert_eq!((starts.len(), &starts[1]["resumed"]), (2, &6.into()));
    let rows: Vec<&Value> = events.iter().filter(|e| e["event"] == "pass").collect();
    let passes: Vec<u64> = rows.iter().map(|row| row["pass"].as_u64().unwrap()).collect();
    assert_eq!(passes, (1..=10).collect::<Vec<_>>());
    let seconds: Vec<f64> = rows.iter().map(|row| row["seconds"].as_f64().unwrap()).collect();
    assert!(seconds.windows(2).all(|pair| pair[0] <= pair[1]), "{seconds:?}");
    let gaps: Vec<bool> = rows.iter().map(|row| row["gap"].is_number()).collect();
    assert_eq!(gaps.iter().filter(|gap| **gap).count(), 3, "after 4, 8 and 10 passes: {gaps:?}");
    assert!(desk.read("r.html").contains("Convergence"));
}

#[test]
fn lambda_is_not_chosen_again() {
    let desk = Desk::new();
    let train = "train ocr-small --lambda auto --tolerance 0";
    desk.run(&format!("{train} --max-passes 2 --checkpoint run.ckpt -q -o x.model")).ok();
    let run = desk.run(&format!("{train} --max-passes 4 --resume run.ckpt -o y.model")).ok();
    assert!(!run.stderr.contains("lambda auto"), "{}", run.stderr);
    let lambda = |name: &str| desk.model(name).meta.certificate.lambda;
    assert_eq!(lambda("x.model"), lambda("y.model"));
    let run = desk.run("train ocr-small --tolerance 0 --max-passes 4 --resume run.ckpt");
    let why = "the run was begun with --lambda auto, not with --lambda scale";
    assert!(run.stderr.contains(why), "{}", run.stderr);
}

#[test]
fn a_checkpoint_that_cannot_be_written_does_not_cost_the_model() {
    let desk = Desk::new();
    fs::create_dir(desk.path("folder")).unwrap();
    let mut child = desk
        .command(
            "train ocr-small --tolerance 0 --max-passes 100000 \
             --checkpoint folder/run.ckpt --checkpoint-every 1000s -o x.model",
        )
        .spawn()
        .unwrap();
    let mut talk = until(&mut child, "oracle calls");
    fs::remove_dir(desk.path("folder")).unwrap();
    let pid = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
    let mut rest = String::new();
    talk.read_to_string(&mut rest).unwrap();
    let run = Run::of(child.wait_with_output().unwrap());
    assert_eq!(run.code, 1, "{rest}");
    assert!(rest.contains("warning: folder/run.ckpt: cannot be written: "), "{rest}");
    assert!(rest.contains("error: folder/run.ckpt: cannot be written: "), "{rest}");
    desk.run("verify x.model ocr-small").ok();
}

#[test]
fn unsuitable_checkpoints_are_refused_with_a_reason() {
    let desk = Desk::new();
    let train = "train pets.crf -q --solver bcfw --max-passes 4 --tolerance 0";
    desk.run(&format!("{train} --checkpoint run.ckpt -o pets.model")).ok();
    let bytes = fs::read(desk.path("run.ckpt")).unwrap();
    desk.write("torn.ckpt", &bytes[..bytes.len() - 100]);
    desk.write("stub.ckpt", &bytes[..5]);
    desk.write("empty.ckpt", "");
    let mut changed = bytes.clone();
    changed[bytes.len() / 2] ^= 1;
    desk.write("changed.ckpt", &changed);
    let mut later = bytes.clone();
    later[8] = 99;
    desk.write("later.ckpt", &later);
    let same = "train pets.crf --solver bcfw --resume run.ckpt";
    insta::assert_snapshot!(desk.session(&format!(
        "train pets.crf --checkpoint run.ckpt
         train pets.crf --resume nosuch.ckpt
         train pets.crf --resume torn.ckpt
         train pets.crf --resume stub.ckpt
         train pets.crf --resume empty.ckpt
         train pets.crf --resume changed.ckpt
         train pets.crf --resume later.ckpt
         train pets.crf --resume pets.model
         train pets.crf --resume pets.crf
         train tags.hmm --solver bcfw --resume run.ckpt
         {same} --order cyclic
         {same} --lambda 0.1
         {same} --lambda auto
         {same} --seed 2
         {same} --average weighted
         {same} --gap-every 3
         {same} --patience 3
         {same} --without first
         {same} --loss normalised-hamming
         {same} --label-weight NN=2
         {same} --transition-scale 2
         {same} --checkpoint-every 0
         {same} --checkpoint-every 5m
         {same} --checkpoint pets.model
         train pets.crf --checkpoint-every 5
         train pets.crf --checkpoint pets.crf
         train pets.crf --checkpoint x.model -o x.model
         train pets.crf --checkpoint nosuch/run.ckpt
         train pets.crf --solver auto --resume run.ckpt"
    )));
    // None of these has harmed it.
    assert_eq!(fs::read(desk.path("run.ckpt")).unwrap(), bytes);
    desk.run(&format!("{same} -q --tolerance 0 --max-passes 5 --threads 1")).ok();
    let new = "--checkpoint other.ckpt --checkpoint-every 2s";
    desk.run(&format!("{same} -q --tolerance 0 --max-passes 6 {new}")).ok();
    assert!(desk.path("other.ckpt").exists());
}
