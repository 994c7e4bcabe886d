//! Situations that once made a certificate false, or could.

use crate::common::factor_graphs::any_graphs;
use crate::common::problems::{Enumerated, EnumeratedBlock, Stubborn};
use crate::common::{Rows, assert_bounded, bcfw, cases, qp, watch};
use maxmargin::ProblemExt as _;
use maxmargin::doc::toy;
use maxmargin::inference::Inference;
use maxmargin::model::LabelledRows;
use maxmargin::model::factor_graph::{FactorGraph, Graphs, StateLoss};
use maxmargin::model::multilabel::{Hamming as LabelHamming, Multilabel, MultilabelShape};
use maxmargin::observe::{Control, Event};
use maxmargin::problem::{Abilities, Parts, Target};
use maxmargin::{
    Average, Block, Checkpoint, CheckpointEvery, DualPoint, PointCheck, Problem, Quality, Rng,
    Settings, SettingsRecord, SlackRescaled, Solution, Solver, SparseVec, TrainError, Trainer,
    audit, train,
};
use proptest::prelude::*;

/// Two examples with two wrong outputs each.
fn sound() -> Enumerated {
    let block = |psi: [f64; 2], other: [f64; 2]| EnumeratedBlock {
        weight: 1.0,
        corners: vec![(vec![0.0, 0.0], 0.0), (psi.to_vec(), 1.0), (other.to_vec(), 0.5)],
    };
    let blocks = vec![block([1.0, 0.5], [0.5, -0.5]), block([-0.5, 1.0], [0.25, 0.75])];
    Enumerated { dim: 2, blocks }
}

/// A problem whose `scatter` is half of what it should be.
struct HalfScatter(Enumerated);

impl Problem for HalfScatter {
    type Output = usize;
    type Workspace = ();
    fn examples(&self) -> usize {
        self.0.examples()
    }
    fn dim(&self) -> usize {
        self.0.dim()
    }
    fn workspace(&self) {}
    fn oracle(&self, i: usize, w: &[f64], workspace: &mut (), y: &mut usize) {
        self.0.oracle(i, w, workspace, y);
    }
    fn decode(&self, i: usize, w: &[f64], workspace: &mut (), y: &mut usize) {
        self.0.decode(i, w, workspace, y);
    }
    fn loss(&self, i: usize, y: &usize) -> f64 {
        self.0.loss(i, y)
    }
    fn psi(&self, i: usize, y: &usize, psi: &mut SparseVec) {
        self.0.psi(i, y, psi);
    }
    fn abilities(&self) -> Abilities<'_, (), usize> {
        Abilities { parts: Some(self), ..Abilities::none() }
    }
}

impl Parts for HalfScatter {
    fn parts(&self, i: usize, y: &usize, parts: &mut SparseVec) {
        self.0.parts(i, y, parts);
    }
    fn truth_parts(&self, _: usize, _: &mut SparseVec) {}
    fn score(&self, i: usize, w: &[f64], workspace: &(), parts: &SparseVec) -> f64 {
        self.0.score(i, w, workspace, parts)
    }
    fn norm_sq(&self, i: usize, workspace: &mut (), parts: &SparseVec) -> f64 {
        self.0.norm_sq(i, workspace, parts)
    }
    fn scatter(&self, i: usize, scale: f64, parts: &SparseVec, target: Target<'_>) {
        self.0.scatter(i, 0.5 * scale, parts, target);
    }
}

#[test]
fn a_scatter_that_is_off_by_half_ends_in_a_contradiction() {
    let problem = HalfScatter(sound());
    for solver in [Solver::BlockCoordinate, Solver::FrankWolfe, Solver::NSlack, Solver::OneSlack] {
        let settings = Settings {
            method: solver.into(),
            lambda: Some(2.0),
            max_passes: 50,
            ..Settings::default()
        };
        let error = train(&problem, &settings).unwrap_err();
        let TrainError::Contradiction { primal, dual } = error else { panic!("{error}") };
        assert!(dual > primal);
        let text = error.to_string();
        for word in [&primal.to_string(), &dual.to_string(), "scatter", "oracle", "truth"] {
            assert!(text.contains(word), "{word} is missing in {text}");
        }
    }
    // An audit of a good solution with the wrong problem notices it too.
    let good = train(&problem.0, &Settings { lambda: Some(2.0), ..bcfw() }).unwrap();
    let half: Vec<f64> = good.weights.iter().map(|w| 0.5 * w).collect();
    let found = audit(&problem, 2.0, &half, &good.dual, 1e-9, 1);
    assert!(matches!(found, Err(TrainError::Contradiction { .. })), "{found:?}");
}

#[test]
fn a_failing_oracle_lowers_the_quality() {
    let block = |psi: f64| EnumeratedBlock {
        weight: 1.0,
        corners: vec![(vec![0.0], 0.0), (vec![psi], 1.0)],
    };
    let problem = Stubborn(Enumerated { dim: 1, blocks: vec![block(1.0), block(10.0)] });
    assert_eq!(problem.quality(), Quality::Exact);
    for solver in [Solver::Auto, Solver::BlockCoordinate, Solver::FrankWolfe, Solver::Subgradient] {
        let settings = Settings {
            method: solver.into(),
            lambda: Some(0.01),
            max_passes: 30,
            ..Settings::default()
        };
        let solution = train(&problem, &settings).unwrap();
        assert!(solution.totals.oracle_failures > 0, "{solver}");
        assert_eq!(solution.certificate.quality, Quality::Heuristic, "{solver}");
    }
}

/// Complete graphs of four variables with random features.
fn rings(seed: u64, inference: Inference) -> FactorGraph {
    let (mut rng, mut data) = (Rng::new(seed), Graphs::new());
    let value = |rng: &mut Rng| 4.0 * rng.unit_f64() - 2.0;
    for _ in 0..3 {
        for v in 0..4 {
            data.push_variable(2, rng.below(2) as u32).unwrap();
            data.push_factor(0, &[v], [(0, value(&mut rng)), (1, 1.0)]).unwrap();
        }
        for (a, b) in [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)] {
            data.push_factor(1, &[a, b], [(0, value(&mut rng)), (1, 1.0)]).unwrap();
        }
        data.end_graph(1.0).unwrap();
    }
    FactorGraph::new(data.shape().unwrap(), data, StateLoss::default(), inference).unwrap()
}

fn tightly() -> Settings {
    Settings { lambda: Some(0.01), tolerance: 1e-5, max_passes: 3000, ..bcfw() }
}

/// Trains from a start. Returns the numbers of blocks that were taken over and refused, and the solution.
fn warm<P: Problem>(problem: &P, start: DualPoint) -> Result<(u64, u64, Solution), TrainError> {
    let mut seen = None;
    let mut watch = |event: Event<'_>| {
        if let Event::Start(start) = event {
            seen = start.warm_start.clone();
        }
        Control::Continue
    };
    let trainer = Trainer::new(tightly()).observe(&mut watch).start_from(start);
    let solution = trainer.train(problem)?;
    let seen = seen.unwrap();
    assert_eq!(seen.reason.is_some(), seen.refused > 0);
    Ok((seen.taken, seen.refused, solution))
}

#[test]
fn blocks_of_a_relaxation_start_at_the_truth() {
    // With these data, the optimum of the relaxation lies above that of the problem.
    let solve = |seed: u64, inference| {
        let problem = rings(seed, inference);
        let solution = train(&problem, &tightly()).unwrap();
        (problem, solution)
    };
    let is_loose = |seed: &u64| {
        let (loose, cold) = (solve(*seed, Inference::Lp).1, solve(*seed, Inference::Enumerate).1);
        assert_eq!(loose.certificate.quality, Quality::UpperBound);
        loose.certificate.dual > cold.certificate.primal + 1e-3
    };
    // Seed 10 is the first of these. Should it no longer be, the others are tried.
    let seed = std::iter::once(10).chain(0..50).find(is_loose).unwrap();
    let (relaxed, loose) = solve(seed, Inference::Lp);
    let (exact, cold) = solve(seed, Inference::Enumerate);

    // Blocks that are mixtures of outputs are taken over; the others start at the truth.
    for whole in 0..3 {
        let mut start = loose.dual.clone();
        start.blocks[whole] = cold.dual.blocks[whole].clone();
        let (taken, refused, solution) = match warm(&exact, start) {
            Ok(found) => found,
            Err(error) => panic!("block {whole} could have been taken over: {error}"),
        };
        assert_eq!(taken + refused, 3);
        assert!(taken >= 1);
        assert_eq!(solution.certificate.quality, Quality::Exact);
        assert!(solution.certificate.dual <= cold.certificate.primal + 1e-9);
    }
    if let Ok((_, refused, _)) = warm(&exact, loose.dual.clone()) {
        assert!(refused > 0, "not all blocks can be made of outputs");
    }

    // In the other direction everything is taken over, because outputs are points of the relaxation.
    let (taken, refused, _) = warm(&relaxed, cold.dual.clone()).unwrap();
    assert!(taken > 0 && refused == 0);

    // An audit says what the point of the relaxation proves for the exact problem.
    let found = audit(&exact, 0.01, &cold.weights, &loose.dual, 1e-9, 1).unwrap();
    assert!(found.infeasible.unwrap().1.contains("no convex combination of outputs"));
}

#[test]
fn a_start_without_a_feasible_block_is_refused() {
    let exact = rings(1, Inference::Enumerate);
    let mut half = DualPoint::at_truth(&exact);
    for (i, block) in half.blocks.iter_mut().enumerate() {
        // All masses are a half, and every pair disagrees: consistent, but far from every labelling.
        let nodes = (0..8).map(|part| (part, 0.5));
        let pairs = (0..6).flat_map(|pair| [(9 + 4 * pair, 0.5), (10 + 4 * pair, 0.5)]);
        let parts: SparseVec = nodes.chain(pairs).collect();
        *block = Block { parts: parts.into(), loss: 0.5 };
        assert_eq!(
            exact.check_point(i, &block.parts.unpacked(), 0.5, 1e-9),
            Ok(PointCheck::Relaxed)
        );
    }
    let error = warm(&exact, half).unwrap_err();
    assert!(matches!(error, TrainError::Start { example: 0, .. }), "{error}");
}

#[test]
fn checkpoints_of_relaxations_and_of_other_rescalings_are_refused() {
    fn stop<P: Problem>(problem: &P) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut keep = |checkpoint: &Checkpoint<'_>| {
            bytes = checkpoint.to_bytes("");
            Ok(())
        };
        let settings = Settings { max_passes: 4, tolerance: 0.0, ..tightly() };
        let trainer = Trainer::new(settings).checkpoint(CheckpointEvery::Passes(1), &mut keep);
        trainer.train(problem).unwrap();
        bytes
    }
    fn go_on<P: Problem>(problem: &P, bytes: &[u8]) -> Result<Solution, TrainError> {
        let checkpoint = Checkpoint::from_bytes(bytes).unwrap();
        Trainer::new(Settings { tolerance: 0.0, ..tightly() }).resume(checkpoint).train(problem)
    }
    let (relaxed, exact) = (rings(1, Inference::Lp), rings(1, Inference::Enumerate));
    let error = go_on(&exact, &stop(&relaxed)).unwrap_err().to_string();
    assert!(error.contains("its decoding was upper-bound") || error.contains("others"), "{error}");
    assert!(go_on(&exact, &stop(&exact)).is_ok());

    // The parts of such a problem are its features, so it differs in its losses only.
    struct Through(Enumerated, f64);
    impl Problem for Through {
        type Output = usize;
        type Workspace = ();
        fn examples(&self) -> usize {
            self.0.examples()
        }
        fn dim(&self) -> usize {
            self.0.dim()
        }
        fn workspace(&self) {}
        fn oracle(&self, i: usize, w: &[f64], workspace: &mut (), y: &mut usize) {
            let scaled: Vec<f64> = w.iter().map(|w| w / self.1).collect();
            self.0.oracle(i, &scaled, workspace, y);
        }
        fn decode(&self, i: usize, w: &[f64], workspace: &mut (), y: &mut usize) {
            self.0.decode(i, w, workspace, y);
        }
        fn loss(&self, i: usize, y: &usize) -> f64 {
            self.1 * self.0.loss(i, y)
        }
        fn psi(&self, i: usize, y: &usize, psi: &mut SparseVec) {
            self.0.psi(i, y, psi);
        }
    }
    let bytes = stop(&Through(sound(), 1.0));
    assert!(go_on(&Through(sound(), 1.0), &bytes).is_ok());
    let error = go_on(&Through(sound(), 2.0), &bytes).unwrap_err().to_string();
    assert!(error.contains("its losses"), "{error}");
}

/// Sets of labels, all pairs of which have weights.
fn sets(count: usize) -> Multilabel {
    let mut data = LabelledRows::new();
    for (labels, value) in [(&[0u32, 2][..], 0.5), (&[1], -1.0), (&[0, 1, 2], 0.25)] {
        data.push([(0, value), (1, 1.0)], labels, 1.0).unwrap();
    }
    let shape = MultilabelShape::complete(count, 2);
    Multilabel::new(shape, data, &LabelHamming::default(), Inference::Enumerate).unwrap()
}

#[test]
fn points_under_slack_rescaling_are_checked_against_all_outputs() {
    let problem = SlackRescaled::new(sets(3));
    let solution = train(&problem, &tightly()).unwrap();
    let found = audit(&problem, 0.01, &solution.weights, &solution.dual, 1e-9, 1).unwrap();
    assert_eq!((found.infeasible, found.point), (None, PointCheck::Feasible));
    assert_eq!(found.certificate.quality, Quality::Exact);

    // Losses without parts.
    let forged = DualPoint { blocks: vec![Block { loss: 0.9, ..Block::default() }; 3] };
    let zero = vec![0.0; problem.dim()];
    let found = audit(&problem, 0.01, &zero, &forged, 1e-9, 1);
    assert!(found.is_err() || found.unwrap().infeasible.is_some());

    // Parts that no output has.
    let unknown = Block { parts: [(1 << 40, 0.5)].into_iter().collect(), loss: 0.1 };
    let forged = DualPoint { blocks: vec![unknown; 3] };
    let found = audit(&problem, 0.01, &zero, &forged, 1e-9, 1).unwrap();
    assert!(found.infeasible.unwrap().1.contains("does not exist"));

    // A point of the same problem under margin rescaling.
    let margin = train(&sets(3), &tightly()).unwrap();
    let cold = solution.certificate;
    if let Ok((_, _, solution)) = warm(&problem, margin.dual) {
        assert!(solution.certificate.dual <= cold.primal + 1e-9);
    }
}

#[test]
fn an_average_is_certified_by_the_best_bound() {
    let problem = toy();
    for average in [Average::Uniform, Average::Weighted] {
        let settings = SettingsRecord {
            average,
            gap_every: 1,
            tolerance: 0.0,
            max_passes: 25,
            ..bcfw().record()
        }
        .settings()
        .unwrap();
        let (solution, Rows(rows)) = watch(&problem, &settings);
        assert_bounded(&problem, &solution);
        let mut best = 0.0f64;
        for (row, _) in &rows {
            let (iterate, own) = (row.iterate_dual.unwrap(), row.average_dual.unwrap());
            best = best.max(iterate).max(own);
            assert!((row.dual - best).abs() < 1e-12, "{} is not the best bound {best}", row.dual);
        }
        let (last, _) = rows.last().unwrap();
        assert_eq!(solution.certificate.dual, last.dual);
        assert!(last.dual > last.average_dual.unwrap(), "the iterate is ahead of its average");
        // The stored point proves this bound.
        let w = solution.dual.weights(&problem, solution.lambda);
        let proof = audit(&problem, solution.lambda, &w, &solution.dual, 1e-12, 1).unwrap();
        assert!((proof.certificate.dual - last.dual).abs() < 1e-12);
    }
    let plain = watch(&problem, &bcfw()).1;
    assert!(plain.0.iter().all(|(row, _)| row.iterate_dual.is_none()));
}

proptest! {
    #![proptest_config(cases(40))]

    /// The certificate of an exact run that starts from a point of a relaxation agrees with the optimum.
    #[test]
    fn warm_starts_across_decoders_state_true_bounds(case in any_graphs(), lambda in 0.01..1.0f64) {
        let settings = Settings { lambda: Some(lambda), tolerance: 1e-6, max_passes: 300, ..bcfw() };
        let loose = train(&case.build(Inference::Lp), &settings).unwrap();
        let exact = case.build(Inference::Enumerate);
        let optimum = qp::solve(&case.enumerate(), lambda);
        match Trainer::new(settings).start_from(loose.dual).train(&exact) {
            Err(error) => prop_assert!(matches!(error, TrainError::Start { .. }), "{}", error),
            Ok(solution) => {
                let c = solution.certificate;
                prop_assert_eq!(c.quality, Quality::Exact);
                prop_assert!(c.dual <= optimum.above + 1e-7, "{:?} {:?}", c, optimum);
                assert_bounded(&exact, &solution);
            }
        }
    }
}
