//! Early stopping: the result is the best model on held-out data, with its own true certificate.

use crate::common::bits::{fingerprint, random_chain, timeless};
use crate::common::{Rows, assert_proven, bcfw, cases, watch};
use maxmargin::observe::{JsonLines, Table};
use maxmargin::{
    Average, Checkpoint, CheckpointEvery, Direction, Order, Problem, Settings, SettingsRecord,
    Solution, Solver, Status, TrainError, Trainer, train,
};
use proptest::prelude::*;

/// Settings of every kind of loop, with and without an average.
fn every_method() -> Vec<Settings> {
    let base = Settings { tolerance: 0.0, max_passes: 30, gap_every: 2, ..bcfw() };
    let (order, direction) = (Order::Gap, Direction::Corrective);
    vec![
        SettingsRecord { average: Average::Weighted, ..base.record() }.settings().unwrap(),
        SettingsRecord { solver: Solver::FrankWolfe, ..base.record() }.settings().unwrap(),
        SettingsRecord { order, direction, ..base.record() }.settings().unwrap(),
        SettingsRecord { order, direction, average: Average::Weighted, ..base.record() }
            .settings()
            .unwrap(),
        base,
    ]
}

/// Trains with errors that are given in advance, check by check. The last one is repeated.
fn told<P: Problem>(problem: &P, settings: &Settings, errors: &[f64]) -> (Solution, Rows) {
    let (mut rows, mut at) = (Rows::default(), 0);
    let mut error = |_: &[f64]| {
        at += 1;
        errors[(at - 1).min(errors.len() - 1)]
    };
    let trainer = Trainer::new(settings.clone()).observe(&mut rows).validate(&mut error);
    (trainer.train(problem).unwrap(), rows)
}

fn with_patience(settings: &Settings, patience: u64) -> Settings {
    Settings { patience: Some(patience), ..settings.clone() }
}

/// Passes from one check to the next.
fn stride(settings: &Settings) -> u64 {
    if settings.record().solver == Solver::FrankWolfe { 1 } else { settings.gap_every }
}

#[test]
fn the_best_is_returned_as_it_was() {
    let problem = random_chain(40, 3, 1);
    for settings in every_method() {
        for (errors, patience, best, checks) in [
            (&[0.5, 0.4, 0.3, 0.3, 0.35][..], 2, 3, 5), // an equal error is no improvement …
            (&[0.5, 0.4, 0.45, 0.39, 0.4, 0.4, 0.4], 3, 4, 7),
            (&[0.1, 0.2, 0.2], 1, 1, 2),
            (&[-3.0, -4.0, -3.5, -3.5], 2, 2, 4), // any number will do
        ] {
            let (found, Rows(rows)) = told(&problem, &with_patience(&settings, patience), errors);
            assert_eq!(found.status, Status::Patience);
            assert_proven(&problem, &settings, &found);
            let validation = found.validation.unwrap();
            assert_eq!(validation.checks, checks);
            assert_eq!(found.totals.passes, checks * stride(&settings));
            let least = errors.iter().copied().fold(f64::INFINITY, f64::min);
            assert_eq!(validation.error, least);

            // … but is as good, and kept if its gap is smaller.
            let gap_at = |check: u64| {
                let at = rows.iter().filter(|(row, _)| row.gap.is_some());
                at.map(|(row, _)| row.gap.unwrap()).nth(check as usize - 1).unwrap()
            };
            let equals: Vec<u64> =
                (1..=checks).filter(|&c| errors[c as usize - 1] == least).collect();
            let kept = equals.into_iter().reduce(|a, b| if gap_at(b) < gap_at(a) { b } else { a });
            let kept = kept.unwrap();
            assert!(kept >= best);
            assert_eq!(validation.pass, kept * stride(&settings));
            let there = Settings { max_passes: validation.pass, ..settings.clone() };
            let stopped = train(&problem, &there).unwrap();
            if settings.weights_from_dual() {
                assert_eq!(fingerprint(&found), fingerprint(&stopped), "{settings:?}");
            } else {
                // The weights are the same. Later passes may have raised the bound.
                assert_eq!(found.weights, stopped.weights, "{settings:?}");
                assert_eq!(found.certificate.primal, stopped.certificate.primal);
                assert!(found.certificate.dual >= stopped.certificate.dual);
            }
        }
    }
}

#[test]
fn every_gap_comes_with_an_error_of_the_weights_that_would_be_returned() {
    let problem = random_chain(40, 3, 1);
    for settings in every_method() {
        let mut seen = Vec::new();
        let mut rows = Rows::default();
        let mut error = |w: &[f64]| {
            seen.push(w.to_vec());
            seen.len() as f64
        };
        let trainer = Trainer::new(settings.clone()).observe(&mut rows).validate(&mut error);
        let solution = trainer.train(&problem).unwrap();
        let mut checks = 0u32;
        for (row, _) in &rows.0 {
            assert_eq!(row.validation.is_some(), row.gap.is_some());
            if let Some(error) = row.validation {
                checks += 1;
                assert_eq!(error, f64::from(checks));
                let there = Settings { max_passes: row.pass, ..settings.clone() };
                let weights = train(&problem, &there).unwrap().weights;
                assert_eq!(weights, seen[checks as usize - 1], "{settings:?}");
            }
        }
        // Without patience, validation changes nothing.
        let (plain, _) = watch(&problem, &settings);
        assert_eq!(fingerprint(&solution), fingerprint(&plain));
        assert_eq!(timeless(&solution.totals), timeless(&plain.totals));
        let last = solution.validation.map(|last| (last.error, last.pass, last.checks));
        assert_eq!(last, Some((f64::from(checks), 30, checks.into())));
        assert_eq!(plain.validation, None);
    }
}

#[test]
fn limits_return_the_best_as_well() {
    let problem = random_chain(40, 3, 1);
    for settings in every_method() {
        let patient = with_patience(&settings, 100);
        let (found, _) = told(&problem, &patient, &[0.5, 0.1, 0.2]);
        assert_eq!(found.status, Status::MaxPasses);
        let validation = found.validation.unwrap();
        assert_eq!((validation.error, validation.pass), (0.1, 2 * stride(&settings)));
        assert_proven(&problem, &settings, &found);

        // In the middle of a pass there is one more check, which may be the best.
        let limited = Settings { max_oracle_calls: Some(490), ..patient };
        let errors: Vec<f64> = (0..40).map(|check| 0.9f64.powi(check)).collect();
        let (found, Rows(rows)) = told(&problem, &limited, &errors);
        assert_eq!(found.status, Status::MaxOracleCalls);
        assert_eq!(rows.last().unwrap().0.validation, Some(found.validation.unwrap().error));
        assert_eq!(rows.last().unwrap().0.gap, Some(found.certificate.gap));
        assert_proven(&problem, &settings, &found);
    }
}

#[test]
fn a_converged_run_says_what_is_true_of_its_result() {
    let problem = random_chain(40, 3, 1);
    for settings in every_method() {
        let settings =
            Settings { lambda: Some(0.5), tolerance: 0.05, max_passes: 2000, ..settings };
        let patient = with_patience(&settings, 10_000);
        let (found, Rows(rows)) = told(&problem, &patient, &[0.1, 0.2]);
        assert_eq!(found.status, Status::Patience, "the best is an earlier one");
        assert!(rows.last().unwrap().0.gap.unwrap() <= 0.05 && found.certificate.gap > 0.05);
        assert_proven(&problem, &settings, &found);

        let mut error = 1.0;
        let mut better = |_: &[f64]| {
            error *= 0.9;
            error
        };
        let trainer = Trainer::new(patient).validate(&mut better);
        let found = trainer.train(&problem).unwrap();
        assert_eq!(found.status, Status::Converged);
        assert!(found.certificate.gap <= 0.05);
        assert_eq!(fingerprint(&found), fingerprint(&train(&problem, &settings).unwrap()));
    }
}

#[test]
fn non_finite_validation_errors_are_rejected() {
    let problem = maxmargin::doc::toy();
    for wrong in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let mut error = |_: &[f64]| wrong;
        let found = Trainer::new(bcfw()).validate(&mut error).train(&problem).unwrap_err();
        assert!(matches!(found, TrainError::Validation { .. }), "{found}");
    }
    let found = train(&problem, &with_patience(&bcfw(), 3)).unwrap_err();
    assert_eq!(found, TrainError::NoValidator);
}

#[test]
fn tables_and_traces_show_validation_errors() {
    let problem = maxmargin::doc::toy();
    let settings = Settings { max_passes: 2, gap_every: 2, tolerance: 0.0, ..bcfw() };
    let (mut table, mut lines) = (Table::new(Vec::new()), JsonLines::new(Vec::new()));
    let mut error = |_: &[f64]| 0.25;
    let trainer = Trainer::new(with_patience(&settings, 9)).validate(&mut error);
    trainer.observe(&mut table).observe(&mut lines).train(&problem).unwrap();
    let text = String::from_utf8(table.finish().unwrap()).unwrap();
    let rows: Vec<&str> = text.lines().collect();
    let headings: Vec<&str> = rows[2].split_whitespace().rev().take(4).collect();
    assert_eq!(headings, ["seconds", "≈oracle", "error", "gap"], "{text}");
    assert!(!rows[4].contains("0.2500") && rows[5].contains(" 0.2500 "), "{text}");
    assert!(text.ends_with("validation error 0.2500 after pass 2 (1 checks)\n"), "{text}");
    let text = String::from_utf8(lines.finish().unwrap()).unwrap();
    let events: Vec<serde_json::Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(events[0]["validates"], true);
    assert!(events[1].get("validation").is_none());
    assert_eq!(events[2]["validation"], 0.25);
    let end = &events.last().unwrap()["validation"];
    assert_eq!((&end["error"], &end["pass"], &end["checks"]), (&0.25.into(), &2.into(), &1.into()));
}

/// An error that depends on the weights alone, and has its minimum during the run.
fn distance_from(norm: f64) -> impl FnMut(&[f64]) -> f64 {
    move |w: &[f64]| (w.iter().map(|w| w * w).sum::<f64>().sqrt() - norm).abs()
}

proptest! {
    #![proptest_config(cases(40))]

    /// The best model so far is part of a checkpoint.
    #[test]
    fn a_run_with_patience_may_be_stopped_anywhere(
        method in 0usize..5,
        patience in 1u64..5,
        norm in 0.0..3.0f64,
        stops in prop::collection::vec(1u64..200, 1..4),
    ) {
        let problem = random_chain(20, 3, 7);
        let settings = with_patience(&every_method()[method], patience);
        let mut error = distance_from(norm);
        let whole = Trainer::new(settings.clone()).validate(&mut error).train(&problem).unwrap();
        let mut bytes: Option<Vec<u8>> = None;
        for (most, seed) in stops.iter().cycle().zip(0..) {
            let mut next = Vec::new();
            let mut keep = |checkpoint: &Checkpoint<'_>| {
                next = checkpoint.to_bytes("");
                Ok(())
            };
            let checkpoint = bytes.as_ref().map(|bytes| Checkpoint::from_bytes(bytes).unwrap());
            let done = checkpoint.as_ref().map_or(0, |c| c.totals().oracle_calls);
            let limited = Settings { max_oracle_calls: Some(done + most), ..settings.clone() };
            let mut error = distance_from(norm);
            let mut trainer = Trainer::new(limited)
                .validate(&mut error)
                .checkpoint(CheckpointEvery::Passes(1 + seed % 3), &mut keep);
            if let Some(checkpoint) = checkpoint {
                trainer = trainer.resume(checkpoint);
            }
            let found = trainer.train(&problem).unwrap();
            if found.status != Status::MaxOracleCalls {
                prop_assert_eq!(fingerprint(&found), fingerprint(&whole));
                prop_assert_eq!(found.validation, whole.validation);
                prop_assert_eq!(found.status, whole.status);
                prop_assert_eq!(timeless(&found.totals), timeless(&whole.totals));
                break;
            }
            bytes = Some(next);
        }
    }
}

/// On resuming, the number of checks may change, but patience cannot be switched on or off.
#[test]
fn patience_may_change_on_resuming_but_not_vanish() {
    let problem = random_chain(20, 3, 7);
    let settings = with_patience(&every_method()[4], 2);
    let mut kept = Vec::new();
    let mut keep = |checkpoint: &Checkpoint<'_>| {
        kept.push(checkpoint.to_bytes(""));
        Ok(())
    };
    let mut error = distance_from(0.0);
    let trainer = Trainer::new(settings.clone()).validate(&mut error);
    let found = trainer.checkpoint(CheckpointEvery::Passes(1), &mut keep).train(&problem).unwrap();
    assert_eq!(found.status, Status::Patience);
    let resume = |settings: &Settings| {
        let mut error = distance_from(0.0);
        let trainer = Trainer::new(settings.clone()).validate(&mut error);
        let checkpoint = Checkpoint::from_bytes(kept.last().unwrap()).unwrap();
        trainer.resume(checkpoint).train(&problem)
    };
    let longer = with_patience(&settings, 4);
    let further = resume(&longer).unwrap();
    let mut error = distance_from(0.0);
    let whole = Trainer::new(longer).validate(&mut error).train(&problem).unwrap();
    assert_eq!(fingerprint(&further), fingerprint(&whole));
    assert_eq!(further.validation, whole.validation);
    let error = resume(&Settings { patience: None, ..settings }).unwrap_err();
    assert!(matches!(error, TrainError::ResumeSetting { name, .. } if name == "patience"));
}
