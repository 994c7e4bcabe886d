//! An exact pass that is cut: the run ends at once, and its certificate claims only what is known.
//!
//! The oracle of these problems counts its calls and raises the interrupt in one of them, so nothing here
//! depends on the clock.

use crate::checkpoints::{every_baseline, every_method};
use crate::common::bits::{fingerprint, random_chain, timeless};
use crate::common::chains::any_chain;
use crate::common::factor_graphs::any_binary_graphs;
use crate::common::problems::Watched;
use crate::common::{Rows, assert_close, assert_proven, audit_of, bcfw, cases};
use maxmargin::inference::Inference;
use maxmargin::{
    Average, Checkpoint, CheckpointEvery, Interrupt, Problem, Quality, Settings, SettingsRecord,
    Solution, Solver, Status, Trainer,
};
use proptest::prelude::*;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// What a run leaves behind that was interrupted in its oracle call number `call`, without any grace.
struct Interrupted {
    solution: Solution,
    /// The number of oracle calls that were made.
    calls: u64,
    rows: Rows,
}

fn interrupted<P: Problem>(problem: P, settings: &Settings, call: u64) -> Interrupted {
    let (interrupt, calls) = (Interrupt::with_grace(Duration::ZERO), AtomicU64::new(0));
    let watched =
        Watched { inner: problem, on_oracle: raise_in(call, &interrupt, &calls), bounds: None };
    let mut rows = Rows::default();
    let trainer = Trainer::new(settings.clone()).interrupt(interrupt.clone()).observe(&mut rows);
    let solution = trainer.train(&watched).unwrap();
    Interrupted { solution, calls: calls.load(Ordering::Relaxed), rows }
}

/// Raises the interrupt in oracle call number `call`.
fn raise_in(call: u64, interrupt: &Interrupt, calls: &AtomicU64) -> impl Fn(usize) + Sync {
    move |_| {
        if calls.fetch_add(1, Ordering::Relaxed) + 1 == call {
            interrupt.raise();
        }
    }
}

/// Trains from a checkpoint on, if there is one, until call number `call`. Returns the solution and the last
/// checkpoint. Checkpoints make oracle calls of their own, which count too.
fn leg<P: Problem>(
    problem: P,
    settings: &Settings,
    call: u64,
    from: Option<&[u8]>,
) -> (Solution, Vec<u8>) {
    let (interrupt, calls) = (Interrupt::with_grace(Duration::ZERO), AtomicU64::new(0));
    let watched =
        Watched { inner: problem, on_oracle: raise_in(call, &interrupt, &calls), bounds: None };
    let mut kept = Vec::new();
    let mut keep = |checkpoint: &Checkpoint<'_>| {
        kept = checkpoint.to_bytes("");
        Ok(())
    };
    let mut trainer = Trainer::new(settings.clone())
        .interrupt(interrupt.clone())
        .checkpoint(CheckpointEvery::Passes(1), &mut keep);
    if let Some(bytes) = from {
        trainer = trainer.resume(Checkpoint::from_bytes(bytes).unwrap());
    }
    let solution = trainer.train(&watched).unwrap();
    (solution, kept)
}

/// Asserts that a solution claims no more than an audit finds. The dual is known exactly.
#[track_caller]
fn assert_claims_no_more<P: Problem>(problem: &P, settings: &Settings, solution: &Solution) {
    let (stated, audit) = (solution.certificate, audit_of(problem, solution));
    let (found, scale) = (audit.certificate, audit.certificate.primal.abs().max(1.0));
    assert_eq!(audit.infeasible, None);
    assert_close(stated.dual, found.dual, 1e-12, scale);
    assert_eq!(stated.gap, stated.primal - stated.dual);
    assert!(stated.gap >= 0.0, "{stated:?}");
    assert!(stated.primal <= found.primal + 1e-12 * scale, "{stated:?}, but {found:?}");
    if settings.weights_from_dual() {
        let largest = solution.weights.iter().fold(1.0f64, |most, w| most.max(w.abs()));
        assert!(audit.weight_residual <= 1e-12 * largest, "{:e}", audit.weight_residual);
    }
}

/// Settings of all methods on one thread, so that no other call is under way when the interrupt comes.
fn all_methods() -> Vec<Settings> {
    let auto = Settings { tolerance: 0.0, max_passes: 8, gap_every: 3, ..Settings::default() };
    let all = every_method().into_iter().chain(every_baseline()).chain([auto]);
    // The oracle that counts its calls knows no expectations.
    all.filter(|settings| settings.method.solver() != Solver::ExponentiatedGradient)
        .map(|settings| Settings { threads: 1, ..settings })
        .collect()
}

/// A few of them, which differ in what a check does.
fn few_methods() -> Vec<Settings> {
    let n = all_methods().len();
    let picked = all_methods().into_iter().enumerate();
    picked.filter(|(at, _)| at % 17 == 0 || at + 21 >= n).map(|(_, settings)| settings).collect()
}

#[test]
fn the_run_ends_at_once_wherever_the_interrupt_comes() {
    let problem = maxmargin::doc::toy();
    for settings in all_methods() {
        let batch = settings.record().batch.unwrap_or(8).max(1) as u64;
        let mut cut = 0;
        let whole = interrupted(problem.clone(), &settings, u64::MAX).calls;
        for call in [1, 2, 3, 5, 6, 7, 8, 9, 14, 15, 18, 22, 23, 26] {
            // An interrupt during the last call of all has nothing to cut.
            if call >= whole {
                continue;
            }
            let Interrupted { solution, calls, rows, .. } =
                interrupted(problem.clone(), &settings, call);
            assert_eq!(solution.status, Status::Interrupted, "{settings:?}");
            // A batch method that is cut in a pass has not begun it, and predictions count as calls too.
            let counted = solution.totals.oracle_calls;
            let counts = match settings.method.solver() {
                Solver::Perceptron => counted >= calls,
                solver if solver.is_batch() => counted <= calls,
                _ => counted == calls,
            };
            assert!(counts, "{counted} of {calls} calls are counted: {settings:?}");
            // A batch of visits is finished.
            assert!(calls < call + batch, "{calls} calls after {call}: {settings:?}");
            assert_eq!(solution.certificate.quality, Quality::Unfinished, "{settings:?}");
            assert_claims_no_more(&problem, &settings, &solution);
            assert_eq!(rows.0.last().unwrap().0.gap, None, "no row has a gap that is not known");
            cut += 1;
        }
        assert!(cut > 3, "{settings:?}");
    }
}

/// The part of the gap that was read counts. With one thread, blocks are read in turn.
#[test]
fn what_was_read_of_the_gap_counts() {
    let problem = maxmargin::doc::toy();
    let n = problem.examples() as u64;
    let settings = Settings { tolerance: 0.0, gap_every: 1, threads: 1, ..bcfw() };
    // One visit to each block, then the exact pass.
    let mut last = -1.0;
    for call in n + 1..2 * n {
        let Interrupted { solution, .. } = interrupted(problem.clone(), &settings, call);
        let found = audit_of(&problem, &solution);
        let read: f64 = found.block_gaps[..(call - n) as usize].iter().sum();
        assert_close(solution.certificate.gap, read, 1e-12, 1.0);
        assert!(solution.certificate.gap >= last);
        last = solution.certificate.gap;
    }
    assert!(last > 0.0);
}

#[test]
fn a_gap_that_is_not_known_has_not_converged() {
    let problem = maxmargin::doc::toy();
    for settings in few_methods() {
        let settings = Settings { tolerance: 1e3, ..settings };
        let Interrupted { solution, .. } = interrupted(problem.clone(), &settings, 1);
        assert_eq!(solution.status, Status::Interrupted, "{settings:?}");
    }
}

#[test]
fn a_run_goes_on_from_a_cut_check_as_if_nothing_had_happened() {
    let problem = random_chain(11, 3, 5);
    let mut cut = 0;
    for settings in few_methods() {
        let (whole, _) = leg(problem.clone(), &settings, u64::MAX, None);
        for call in [4, 12, 17, 23, 25, 36, 37, 45, 47, 58, 70, 71] {
            let (solution, kept) = leg(problem.clone(), &settings, call, None);
            cut += u32::from(solution.certificate.quality == Quality::Unfinished);
            if solution.status != Status::Interrupted {
                continue;
            }
            let (resumed, _) = leg(problem.clone(), &settings, u64::MAX, Some(&kept));
            assert!(fingerprint(&resumed) == fingerprint(&whole), "call {call}: {settings:?}");
            assert_eq!(
                timeless(&resumed.totals),
                timeless(&whole.totals),
                "call {call}: {settings:?}"
            );
        }
    }
    assert!(cut > 100, "{cut} checks were cut");
}

/// However short the time is, it is over when the exact pass begins.
#[test]
fn the_time_limit_cuts_an_exact_pass() {
    let problem = maxmargin::doc::toy();
    for settings in few_methods() {
        let settings = Settings { max_seconds: Some(1e-9), ..settings };
        let hasty = Interrupt::with_grace(Duration::ZERO);
        let trainer = Trainer::new(settings.clone()).interrupt(hasty);
        let solution = trainer.train(&problem).unwrap();
        assert_eq!(solution.status, Status::MaxSeconds);
        assert_eq!(solution.certificate.quality, Quality::Unfinished);
        assert_claims_no_more(&problem, &settings, &solution);

        let patient = Interrupt::with_grace(Duration::MAX);
        let solution = Trainer::new(settings.clone()).interrupt(patient).train(&problem).unwrap();
        assert_eq!(solution.status, Status::MaxSeconds);
        assert_proven(&problem, &settings, &solution);
    }
}

#[test]
fn endless_grace_leaves_every_pass_whole() {
    let problem = maxmargin::doc::toy();
    for settings in few_methods() {
        let interrupt = Interrupt::with_grace(Duration::MAX);
        interrupt.raise();
        let trainer = Trainer::new(settings.clone()).interrupt(interrupt);
        let solution = trainer.train(&problem).unwrap();
        assert_eq!(solution.status, Status::Interrupted);
        assert_proven(&problem, &settings, &solution);
    }
}

/// The best model has a certificate of its own, from a pass that was not cut.
#[test]
fn the_best_model_keeps_its_whole_certificate() {
    let problem = maxmargin::doc::toy();
    let base = Settings { tolerance: 0.0, gap_every: 1, threads: 1, ..bcfw() };
    let n = problem.examples() as u64;
    for patience in [None, Some(100)] {
        let settings = Settings { patience, ..base.clone() };
        let (interrupt, calls) = (Interrupt::with_grace(Duration::ZERO), AtomicU64::new(0));
        // In the second exact pass.
        let raise = raise_in(3 * n + 2, &interrupt, &calls);
        let watched = Watched { inner: problem.clone(), on_oracle: raise, bounds: None };
        let mut error = |_: &[f64]| 0.5;
        let trainer = Trainer::new(settings.clone()).interrupt(interrupt.clone());
        let solution = trainer.validate(&mut error).train(&watched).unwrap();
        assert_eq!(solution.status, Status::Interrupted);
        if patience.is_some() {
            assert_eq!(solution.validation.unwrap().pass, 1);
            assert_proven(&problem, &settings, &solution);
            assert_eq!(solution.certificate.quality, Quality::Exact);
        } else {
            assert_eq!(solution.validation, None, "these weights were not validated");
            assert_claims_no_more(&problem, &settings, &solution);
        }
    }
}

proptest! {
    #![proptest_config(cases(40))]

    /// Against the definition: the objective of every output of every example.
    #[test]
    fn the_primal_is_a_lower_bound(case in any_chain(), call in 1..60u64, average in 0..2usize) {
        let average = [Average::None, Average::Weighted][average];
        let base = Settings { tolerance: 0.0, max_passes: 6, gap_every: 1, threads: 1, ..bcfw() };
        let settings = SettingsRecord { average, ..base.record() }.settings().unwrap();
        let (problem, all) = (case.build(), case.enumerate());
        let Interrupted { solution, .. } = interrupted(problem.clone(), &settings, call);
        let primal = all.primal(solution.lambda, &solution.weights);
        let stated = solution.certificate;
        prop_assert!(stated.primal <= primal + 1e-9 * (1.0 + primal.abs()));
        prop_assert!(stated.dual <= stated.primal);
    }

    /// A relaxation stays one, and a pass that was cut claims no more of it than a whole one.
    #[test]
    fn relaxations_claim_no_more_either(case in any_binary_graphs(), call in 1..20u64) {
        let settings = Settings {
            tolerance: 0.0, max_passes: 3, gap_every: 1, threads: 1,
            method: Solver::BlockCoordinate.into(), ..Settings::default()
        };
        let Interrupted { solution, .. } = interrupted(case.build(Inference::Lp), &settings, call);
        let relaxed = case.relaxed_primal(solution.lambda, &solution.weights);
        prop_assert!(solution.certificate.primal <= relaxed + 1e-6 * (1.0 + relaxed.abs()));
    }
}
