//! The options of `maxmargin train`, and the settings file.

use crate::common::{Desk, chain};
use maxmargin::{
    Average, Caching, Direction, Order, Settings, SettingsRecord, Solver, Status, Step,
};

/// Trains the pets with `options`; the settings and the status that the model remembers.
fn settings(desk: &Desk, options: &str) -> (Settings, Status) {
    desk.run(&format!("train pets.crf -q -o x.model {options}")).ok();
    let meta = desk.model("x.model").meta;
    (meta.settings, meta.status)
}

#[test]
fn every_option_is_understood() {
    let desk = Desk::new();
    let (settings, _) = settings(
        &desk,
        "--format crfsuite --test pets.crf --lambda 0.25 --solver bcfw --order uniform \
         --step fixed --average weighted --tolerance 1e-3 --max-passes 40 --max-oracle-calls 5000 \
         --max-seconds 60 --gap-every 4 --seed 9 --threads 1 --trace t.jsonl --report r.html \
         --without first,last --loss hamming --label-weight NN=2 --label-weight VB=0.5",
    );
    let expected = SettingsRecord {
        lambda: Some(0.25),
        solver: Solver::BlockCoordinate,
        order: Order::Uniform,
        step: Step::Fixed,
        average: Average::Weighted,
        tolerance: 1e-3,
        max_passes: 40,
        max_oracle_calls: Some(5000),
        max_seconds: Some(60.0),
        gap_every: 4,
        seed: 9,
        threads: 1,
        ..SettingsRecord::default()
    }
    .settings()
    .unwrap();
    assert_eq!(settings, expected);
    let mut model = desk.model("x.model");
    assert_eq!(model.meta.certificate.lambda, 0.25);
    let spec = chain(&mut model);
    let groups = &spec.shape.groups;
    assert!(!groups.first && !groups.last && groups.bias);
    assert!(!spec.loss.normalised);
    assert_eq!(spec.loss.label_weights, [1.0, 2.0, 0.5]);
}

/// Options that each give a model of their own.
const OPTIONS: &[&str] = &[
    "--solver auto",
    "--solver fw",
    "--solver fw --step fixed --max-passes 30",
    "--solver bcfw",
    "--order uniform",
    "--order permutation",
    "--order cyclic",
    "--order lazy",
    "--step line-search",
    "--step fixed --max-passes 30",
    "--step short",
    "--average none",
    "--average weighted --max-passes 30",
    "--loss hamming",
    "--label-weight NN=3",
    "--without emission",
    "--without transition,bias,first,last",
    "--order gap --gap-power 0.5",
    "--order max-gap --direction pairwise",
    "--order curvature --max-passes 30",
    "--order gap-curvature --direction pairwise",
    "--preset gaps-fast",
    "--preset gaps-slow --cache-factor 0.5 --cache-nu 0.1 --cache-corners 3",
    "--solver ssg --order uniform --max-passes 30",
    "--order uniform --diagnose",
    "--direction fw",
    "--direction away --cache on",
    "--direction pairwise --cache off",
    "--direction pairwise --cache auto",
    "--direction corrective --cache exhaust",
    "--direction staged",
    "--direction best --order uniform",
    "--direction corrective --cache on --cache-bytes 1000",
    "--lower 0 --upper 0.5",
    "--lower transition=-0.1,first=0 --upper=emission=0.25 --direction corrective",
    "--lower 0.1 --upper 0.2 --solver fw --max-passes 30",
    "--lower=-inf --upper inf",
    "--average uniform --max-passes 30",
    "--solver ssg",
    "--solver ssg --max-oracle-calls 7",
    "--solver ssg --average uniform --order cyclic",
    "--solver ssg --average weighted",
    "--solver ssg --average half --max-passes 7",
    "--solver adagrad --rate 2 --average half",
    "--solver perceptron --max-passes 5",
    "--solver n-slack",
    "--solver 1-slack",
    "--solver eg --order uniform --max-passes 30",
    "--solver n-slack --lower 0 --upper 0.5",
];

#[test]
fn every_name_of_every_option_gives_a_model_that_verifies() {
    let desk = Desk::new();
    for options in OPTIONS {
        settings(&desk, options);
        let verified = desk.run("verify x.model pets.crf");
        assert_eq!(verified.code, 0, "{options}: {}", verified.transcript());
    }
}

#[test]
fn no_name_is_left_out() {
    for (option, names) in [
        ("--solver", Solver::NAMES),
        ("--order", Order::NAMES),
        ("--direction", Direction::NAMES),
        ("--step", Step::NAMES),
        ("--average", Average::NAMES),
        ("--cache", Caching::NAMES),
    ] {
        for name in names {
            let is_given =
                |options: &&str| format!("{options} ").contains(&format!("{option} {name} "));
            assert!(OPTIONS.iter().any(is_given), "`{option} {name}` is missing in OPTIONS");
        }
    }
}

#[test]
fn bounds_are_kept_and_stay_with_the_model() {
    let desk = Desk::new();
    settings(&desk, "--lower emission=0,all=-0.2 --upper 0.25 --tolerance 1e-6");
    let mut model = desk.model("x.model");
    let emission = chain(&mut model).shape.emission();
    let bounds = -0.2 - 1e-12..0.25 + 1e-12;
    assert!(model.scoring_weights().iter().all(|w| bounds.contains(w)));
    assert!(model.weights[emission].iter().all(|&w| w >= 0.0));
    assert_eq!(model.meta.bounds.lower["emission"], 0.0);
    assert_eq!(model.meta.bounds.upper["all"], 0.25);

    insta::assert_snapshot!(desk.session(
        "train pets.crf --lower 1 --upper 0
         train pets.crf --lower nan
         train pets.crf --lower inf
         train pets.crf --upper big
         train pets.crf --lower transitions=0
         train pets.crf --lower last=0 --without last
         train pets.crf --lower 0 --tolerance 1e-3 --max-passes 200"
    ));
}

#[test]
fn limits_end_the_run_with_a_status() {
    let desk = Desk::new();
    for (options, status) in [
        ("--tolerance 0.5", Status::Converged),
        ("--tolerance 0 --max-passes 5", Status::MaxPasses),
        ("--tolerance 0 --max-oracle-calls 10", Status::MaxOracleCalls),
        ("--tolerance 0 --max-passes 100000000 --max-seconds 0.01", Status::MaxSeconds),
    ] {
        assert_eq!(settings(&desk, options).1, status, "{options}");
        desk.run("verify x.model pets.crf").ok();
    }
}

#[test]
fn a_settings_file_is_read_and_options_win() {
    let desk = Desk::new();
    desk.write("s.toml", "lambda = 0.5\norder = \"cyclic\"\nmax_passes = 7\ntolerance = 0\n");
    let expected = SettingsRecord {
        lambda: Some(0.5),
        order: Order::Cyclic,
        max_passes: 7,
        tolerance: 0.0,
        solver: Solver::BlockCoordinate, // for one of its parts is set
        ..SettingsRecord::default()
    }
    .settings()
    .unwrap();
    assert_eq!(settings(&desk, "--settings s.toml").0, expected);
    let (both, status) = settings(&desk, "--settings s.toml --max-passes 3 --lambda 2");
    assert_eq!(both, Settings { lambda: Some(2.0), max_passes: 3, ..expected });
    assert_eq!(status, Status::MaxPasses);
}

#[test]
fn wrong_settings_files_are_refused() {
    let desk = Desk::new();
    for (name, text) in [
        ("misspelt", "lamda = 1\n"),
        ("solver", "seed = 3\nsolver = \"sgd\"\n"),
        ("type", "max_passes = \"many\"\n"),
        ("range", "max_passes = 0\n"),
        ("syntax", "lambda 1\n"),
        ("cyclic", "order = \"cyclic\"\n"),
    ] {
        desk.write(&format!("{name}.toml"), text);
    }
    insta::assert_snapshot!(desk.session(
        "train pets.crf --settings misspelt.toml -o x.model
         train pets.crf --settings solver.toml
         train pets.crf --settings type.toml
         train pets.crf --settings range.toml --max-passes 3
         train pets.crf --settings syntax.toml
         train pets.crf --settings nosuch.toml
         train pets.crf --settings cyclic.toml --solver fw
         train pets.crf --settings cyclic.toml --gap-every 0"
    ));
    assert!(!desk.path("x.model").exists());
}

#[test]
fn help_names_every_verb_and_option() {
    let desk = Desk::new();
    insta::assert_snapshot!(desk.session(
        "--version
         --help
         train -h
         train --help chain
         train --help all"
    ));
}

/// A preset is what its parts are, and options change parts of it.
#[test]
fn presets_stand_for_their_parts() {
    let desk = Desk::new();
    let (preset, _) = settings(&desk, "--preset gaps-slow");
    let parts = "--order gap --direction pairwise --cache on --cache-corners 50";
    assert_eq!(preset, settings(&desk, parts).0);
    let (other, _) = settings(&desk, "--preset gaps-slow --order uniform --cache-corners 7");
    assert_eq!(
        other,
        settings(&desk, "--order uniform --direction pairwise --cache on --cache-corners 7").0
    );
    assert_eq!(settings(&desk, "--preset gaps-fast").0, settings(&desk, "--order gap").0);
    let told = desk.run("train pets.crf -q --solver fw --cache-nu 0.5").stderr;
    assert!(told.contains("--cache-nu has no meaning with --solver fw"), "{told}");
}

/// The constants are told in words, in JSON and in the model file, and they change nothing.
#[test]
fn a_diagnosis_is_told() {
    let desk = Desk::new();
    let run = |options: &str| desk.run(&format!("train pets.crf --lambda 0.1 {options}")).ok();
    let plain = run("--order uniform --json -q").json();
    let told = run("--order uniform --diagnose --json -q").json();
    assert_eq!(plain["gap"], told["gap"]);
    assert_eq!(plain["oracle_calls"], told["oracle_calls"]);
    assert!(plain["theory"].is_null() && told["theory"]["radius"].as_f64().unwrap() > 0.0);
    let words = run("--order gap --direction pairwise --diagnose").stdout;
    assert!(words.contains("The longest feature difference"), "{words}");
    assert!(words.replace('\n', " ").contains("steps took all mass"), "{words}");
}
