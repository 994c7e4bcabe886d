//! Training first checks a few examples of a user's problem, and warns about broken laws.

use crate::common::broken::{Broken, Mistake};
use crate::common::chains::tieless_chain;
use crate::common::problems::{Enumerated, EnumeratedBlock, Watched};
use crate::common::{bcfw, cases};
use maxmargin::doc::toy;
use maxmargin::model::chain::Chain;
use maxmargin::observe::{Control, Event, JsonLines, Table};
use maxmargin::{
    Checkpoint, CheckpointEvery, Problem, Settings, Solution, Status, TrainError, Trainer, train,
};
use proptest::prelude::*;
use std::sync::atomic::{AtomicU64, Ordering};

fn settings() -> Settings {
    Settings { max_passes: 3, tolerance: 0.0, threads: 1, ..bcfw() }
}

fn broken(mistake: Mistake) -> Broken<Chain> {
    Broken::new(toy(), mistake)
}

#[track_caller]
fn trained(mistake: Mistake) -> Solution {
    train(&broken(mistake), &settings()).unwrap()
}

#[test]
fn mistakes_that_make_certificates_false_are_reported() {
    for (mistake, words) in [
        (Mistake::Scatter, "scattering the parts"),
        (Mistake::NormSq, "norm_sq of"),
        (Mistake::Score, "the score of"),
        (Mistake::AlwaysTruth, "every answer of the oracle was the truth"),
        (Mistake::OnlyTruth, "returns anything but the truth"),
        (Mistake::ForgetsTheLoss, "the oracle's answer has the value"),
        (Mistake::Minimises, "does the oracle minimise?"),
    ] {
        let warnings = trained(mistake).warnings;
        assert!(
            warnings.iter().any(|warning| warning.contains(words)),
            "{mistake:?}: {warnings:?}"
        );
    }
    assert_eq!(trained(Mistake::None).warnings, [""; 0]);
}

/// Observers receive a warning after the start and before the first pass.
#[test]
fn observers_see_warnings() {
    let mut order = Vec::new();
    let mut watch = |event: Event<'_>| {
        order.push(match event {
            Event::Start(_) => "start",
            Event::Warning { .. } => "warning",
            Event::Pass { .. } => "pass",
            _ => "other",
        });
        Control::Continue
    };
    let (mut table, mut lines) = (Table::new(Vec::new()), JsonLines::new(Vec::new()));
    let solution = Trainer::new(Settings { max_passes: 1, ..settings() })
        .observe(&mut watch)
        .observe(&mut table)
        .observe(&mut lines)
        .train(&broken(Mistake::AlwaysTruth))
        .unwrap();
    assert_eq!(order, ["start", "warning", "pass", "other"]);
    let text = String::from_utf8(table.finish().unwrap()).unwrap();
    // The table folds long lines.
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains(&format!("warning: {}", solution.warnings[0])), "{text}");
    assert!(text.contains("\nwarning: "), "{text}");
    let text = String::from_utf8(lines.finish().unwrap()).unwrap();
    let second: serde_json::Value = serde_json::from_str(text.lines().nth(1).unwrap()).unwrap();
    assert_eq!(second["event"], "warning");
    assert_eq!(second["message"], solution.warnings[0]);
}

#[test]
fn an_observer_may_stop_at_a_warning() {
    let mut strict = |event: Event<'_>| match event {
        Event::Warning { .. } => Control::Stop,
        _ => Control::Continue,
    };
    let trainer = Trainer::new(settings()).observe(&mut strict);
    let solution = trainer.train(&broken(Mistake::AlwaysTruth)).unwrap();
    assert_eq!((solution.status, solution.totals.visits), (Status::Stopped, 0));
}

/// The number of oracle calls in training, and the number that the run reports.
fn calls(problem: &impl Problem, counter: &AtomicU64) -> (u64, u64) {
    counter.store(0, Ordering::Relaxed);
    let totals = train(problem, &settings()).unwrap().totals;
    (counter.load(Ordering::Relaxed), totals.oracle_calls)
}

#[test]
fn the_check_is_cheap_and_not_counted() {
    let counter = AtomicU64::new(0);
    let count = |_: usize| {
        counter.fetch_add(1, Ordering::Relaxed);
    };
    let own = Watched { inner: broken(Mistake::None), on_oracle: count, bounds: None };
    let (made, counted) = calls(&own, &counter);
    assert_eq!(made, counted + 9); // for three examples at three weight vectors
}

#[test]
fn models_of_the_library_are_not_checked() {
    let counter = AtomicU64::new(0);
    let count = |_: usize| {
        counter.fetch_add(1, Ordering::Relaxed);
    };
    let (made, counted) =
        calls(&Watched { inner: toy(), on_oracle: count, bounds: None }, &counter);
    assert_eq!(made, counted);
}

#[test]
fn the_check_changes_nothing_about_the_run() {
    let ours = train(&broken(Mistake::None), &settings()).unwrap();
    let theirs = train(&toy(), &settings()).unwrap();
    assert_eq!(ours.weights, theirs.weights);
    assert_eq!(ours.totals.oracle_calls, theirs.totals.oracle_calls);
}

#[test]
fn warm_starts_and_resumed_runs_are_not_checked() {
    let problem = broken(Mistake::AlwaysTruth);
    let mut last = Vec::new();
    let mut keep = |checkpoint: &Checkpoint<'_>| {
        last = checkpoint.to_bytes("");
        Ok(())
    };
    let trainer = Trainer::new(settings()).checkpoint(CheckpointEvery::Passes(1), &mut keep);
    let first = trainer.train(&problem).unwrap();
    assert_eq!(first.warnings.len(), 1);
    let again = Trainer::new(settings()).start_from(first.dual).train(&problem).unwrap();
    assert_eq!(again.warnings, [""; 0]);
    let resumed = Trainer::new(Settings { max_passes: 5, ..settings() })
        .resume(Checkpoint::from_bytes(&last).unwrap());
    assert_eq!(resumed.train(&problem).unwrap().warnings, [""; 0]);
}

/// Features whose squares overflow are an error of training, and are reported as such.
#[test]
fn checked_problems_still_fail_to_train_if_they_are_invalid() {
    let block =
        EnumeratedBlock { weight: 1.0, corners: vec![(vec![0.0], 0.0), (vec![1e200], 1.0)] };
    assert!(train(&Enumerated { dim: 1, blocks: vec![block] }, &settings()).is_err());
}

proptest! {
    #![proptest_config(cases(48))]

    #[test]
    fn sound_problems_cause_no_warnings(case in tieless_chain()) {
        let problem = Broken::new(case.build(), Mistake::None);
        prop_assert_eq!(train(&problem, &settings()).unwrap().warnings, Vec::<String>::new());
    }

    #[test]
    fn a_few_calls_suffice_to_find_mistakes(case in tieless_chain()) {
        for mistake in [Mistake::AlwaysTruth, Mistake::Minimises, Mistake::Scatter] {
            let problem = Broken::new(case.build(), mistake);
            let mut warned = false;
            let mut watch = |event: Event<'_>| {
                warned |= matches!(event, Event::Warning { .. });
                Control::Continue
            };
            let found = Trainer::new(settings()).observe(&mut watch).train(&problem);
            prop_assert!(warned, "{:?}", mistake);
            // A run that ignores the warning may end with a contradiction.
            let contradicts = matches!(found, Err(TrainError::Contradiction { .. }));
            prop_assert!(contradicts || !found.unwrap().warnings.is_empty(), "{:?}", mistake);
        }
    }
}
