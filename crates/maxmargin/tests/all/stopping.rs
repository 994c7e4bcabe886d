//! Every way to end a run, and its certificate.

use crate::common::bcfw;
use crate::common::problems::Watched;
use crate::common::{Rows, assert_certified, assert_proven, watch};
use maxmargin::model::chain::Chain;
use maxmargin::observe::{Control, Event};
use maxmargin::{
    Average, Interrupt, Problem, Settings, SettingsRecord, Solution, Solver, Status, Trainer, train,
};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

fn toy() -> Chain {
    maxmargin::doc::toy()
}

/// Settings of every method, with a limit that is never reached in these tests.
fn every_method(tolerance: f64) -> Vec<Settings> {
    let base = Settings { tolerance, max_passes: 40, gap_every: 3, threads: 1, ..bcfw() };
    vec![
        base.clone(),
        SettingsRecord { average: Average::Weighted, ..base.record() }.settings().unwrap(),
        SettingsRecord { solver: Solver::FrankWolfe, ..base.record() }.settings().unwrap(),
    ]
}

fn expect<P: Problem>(problem: &P, settings: &Settings, solution: &Solution, status: Status) {
    assert_eq!(solution.status, status);
    assert_proven(problem, settings, solution);
}

#[test]
fn a_run_ends_when_it_has_converged() {
    for settings in every_method(0.2) {
        let (solution, Rows(rows)) = watch(&toy(), &settings);
        expect(&toy(), &settings, &solution, Status::Converged);
        assert!(solution.certificate.gap <= 0.2 && solution.totals.passes < 40);
        let reached = rows.iter().position(|(r, _)| r.gap.is_some_and(|gap| gap <= 0.2));
        assert_eq!(reached, Some(rows.len() - 1), "it stops at the first gap within tolerance");
        assert_eq!(rows.last().unwrap().0.gap, Some(solution.certificate.gap));
    }
}

#[test]
fn converged_within_a_share_of_the_objective() {
    let one_slack = Settings { method: Solver::OneSlack.into(), ..Settings::default() };
    let others = [one_slack, Settings::default()];
    for base in every_method(0.0).into_iter().chain(others) {
        let base = Settings { tolerance: 0.0, gap_every: 3, threads: 1, max_passes: 1000, ..base };
        let relative = Settings { relative_tolerance: 0.1, ..base.clone() };
        let (solution, Rows(rows)) = watch(&toy(), &relative);
        expect(&toy(), &relative, &solution, Status::Converged);
        let within = |gap: f64, primal: f64| gap <= 0.1 * primal * (1.0 + 1e-12);
        let certificate = solution.certificate;
        assert!(within(certificate.gap, certificate.primal), "{certificate:?}");
        let reached =
            rows.iter().position(|(r, _)| r.gap.is_some_and(|g| within(g, r.primal.unwrap())));
        assert_eq!(reached, Some(rows.len() - 1), "it stops at the first gap within tolerance");
        // The larger one of both tolerances counts.
        let both = Settings { tolerance: 1e3, ..relative };
        assert!(train(&toy(), &both).unwrap().totals.passes <= solution.totals.passes);
    }
}

#[test]
fn a_run_ends_after_max_passes() {
    for settings in every_method(1e-12) {
        for max_passes in [1, 2, 5] {
            let solution = train(&toy(), &Settings { max_passes, ..settings.clone() }).unwrap();
            expect(&toy(), &settings, &solution, Status::MaxPasses);
            assert_eq!(solution.totals.passes, max_passes);
        }
    }
}

#[test]
fn tolerance_zero_never_stops() {
    // With one label, the start is the optimum, with a gap of exactly 0.
    let mut data = maxmargin::model::chain::Sequences::new();
    data.push_token([(0, 1.0)], 0).unwrap();
    data.end_sequence(1.0).unwrap();
    let shape = maxmargin::model::chain::ChainShape::new(1, 1);
    let chain = Chain::new(shape, data, &Default::default()).unwrap();
    for settings in every_method(0.0) {
        let solution = train(&chain, &settings).unwrap();
        expect(&chain, &settings, &solution, Status::MaxPasses);
        assert_eq!(solution.certificate.gap, 0.0);
        let solution = train(&chain, &Settings { tolerance: 1e-300, ..settings.clone() }).unwrap();
        expect(&chain, &settings, &solution, Status::Converged);
    }
}

#[test]
fn a_run_ends_after_max_oracle_calls_even_within_a_pass() {
    let n = toy().examples() as u64;
    for settings in every_method(0.0) {
        for most in [1, 3, 4, 5, 6, 11, 16, 17, 18, 19, 30] {
            let settings = Settings { max_oracle_calls: Some(most), ..settings.clone() };
            let solution = train(&toy(), &settings).unwrap();
            expect(&toy(), &settings, &solution, Status::MaxOracleCalls);
            let calls = solution.totals.oracle_calls;
            // The final certificate needs one more pass, and batch steps are whole passes.
            assert!((most..most + 2 * n).contains(&calls), "{calls} calls, {most} allowed");
            if settings.record().solver == Solver::BlockCoordinate && most < 3 * n {
                assert_eq!((solution.totals.visits, calls), (most, most + n));
            }
        }
    }
}

/// If the limit falls between two passes, the second has not begun.
#[test]
fn a_pass_without_a_visit_has_not_begun() {
    let n = toy().examples() as u64;
    let settings = Settings { tolerance: 0.0, gap_every: 100, threads: 1, ..bcfw() };
    for most in 1..=3 * n {
        let settings = Settings { max_oracle_calls: Some(most), ..settings.clone() };
        let (solution, Rows(rows)) = watch(&toy(), &settings);
        assert_eq!(solution.totals.passes, most.div_ceil(n), "after {most} visits");
        assert_eq!(rows.last().unwrap().0.pass, most.div_ceil(n));
    }
}

#[test]
fn a_run_ends_after_max_seconds() {
    let slow = Watched {
        inner: toy(),
        on_oracle: |_: usize| std::thread::sleep(Duration::from_millis(1)),
        bounds: None,
    };
    for settings in every_method(0.0) {
        let settings =
            Settings { max_seconds: Some(0.01), max_passes: 1_000_000, ..settings.clone() };
        let solution = train(&slow, &settings).unwrap();
        expect(&slow, &settings, &solution, Status::MaxSeconds);
    }
}

#[test]
fn an_observer_stops_a_run() {
    for settings in every_method(0.0) {
        for last in [1, 2, 3, 4] {
            let mut stop = |event: Event<'_>| match event {
                Event::Pass { record, .. } if record.pass >= last => Control::Stop,
                _ => Control::Continue,
            };
            let trainer = Trainer::new(settings.clone()).observe(&mut stop);
            let solution = trainer.train(&toy()).unwrap();
            expect(&toy(), &settings, &solution, Status::Stopped);
            assert_eq!(solution.totals.passes, last);
        }
    }
}

/// A stop at the start counts as a stop by an observer, and does not raise the caller's interrupt.
#[test]
fn an_observer_stops_a_run_at_its_start() {
    for settings in every_method(0.0) {
        let interrupt = Interrupt::new();
        let mut stop = |_: Event<'_>| Control::Stop;
        let trainer = Trainer::new(settings).interrupt(interrupt.clone()).observe(&mut stop);
        let solution = trainer.train(&toy()).unwrap();
        assert_certified(&toy(), &solution);
        assert_eq!(solution.totals.visits, 0);
        assert_eq!(solution.status, Status::Stopped);
        assert!(!interrupt.is_raised(), "the handle may serve other runs");
    }
}

/// All observers see every event, even if the first has asked to stop.
#[test]
fn every_observer_sees_the_end() {
    let (mut ends, mut starts) = (0, 0);
    let mut stop = |event: Event<'_>| match event {
        Event::Pass { .. } => Control::Stop,
        _ => Control::Continue,
    };
    let mut count = |event: Event<'_>| {
        starts += u32::from(matches!(event, Event::Start(_)));
        ends += u32::from(matches!(event, Event::End(_)));
        Control::Continue
    };
    let trainer = Trainer::new(Settings { tolerance: 0.0, ..bcfw() });
    trainer.observe(&mut stop).observe(&mut count).train(&toy()).unwrap();
    assert_eq!((starts, ends), (1, 1));
}

#[test]
fn interrupts_end_runs_before_and_within_a_pass() {
    for settings in every_method(0.0) {
        for call in [0, 1, 5, 14] {
            let (interrupt, calls) = (Interrupt::new(), AtomicU64::new(0));
            let raise = |_: usize| {
                if calls.fetch_add(1, Ordering::Relaxed) + 1 == call {
                    interrupt.raise();
                }
            };
            let problem = Watched { inner: toy(), on_oracle: raise, bounds: None };
            if call == 0 {
                interrupt.raise();
            }
            let trainer = Trainer::new(settings.clone()).interrupt(interrupt.clone());
            let solution = trainer.train(&problem).unwrap();
            assert_eq!(calls.load(Ordering::Relaxed), solution.totals.oracle_calls);
            expect(&problem, &settings, &solution, Status::Interrupted);
            assert!(solution.totals.oracle_calls < call + 9);
        }
    }
}

/// A run whose gap is within the tolerance has converged, whatever else ended it.
#[test]
fn within_the_tolerance_is_converged() {
    let interrupt = Interrupt::new();
    interrupt.raise();
    let settings = Settings { tolerance: 1e3, ..bcfw() };
    let solution = Trainer::new(settings.clone()).interrupt(interrupt).train(&toy()).unwrap();
    expect(&toy(), &settings, &solution, Status::Converged);
}
