//! What the cases have found wrong, each on its own.

use crate::common::problems::{Careless, Enumerated, EnumeratedBlock};
use maxmargin::kernel::{Kernel, Kernelised};
use maxmargin::model::chain::{Chain, ChainShape, Hamming, Sequences};
use maxmargin::model::matching::{Gold, LinkLoss, Matching, MatchingShape, Pairs};
use maxmargin::model::tree::{State, Tree, TreeExamples, TreeLoss, TreeNode, TreeShape};
use maxmargin::{
    Average, Block, Checkpoint, CheckpointEvery, DualPoint, Problem, Quality, Rng, Settings,
    SettingsRecord, Solution, Solver, Step, TrainError, Trainer, audit, regularization_path, train,
};

fn audited<P: Problem>(problem: &P, solution: &Solution) -> Quality {
    let Solution { lambda, weights, dual, .. } = solution;
    let found = audit(problem, *lambda, weights, dual, 1e-9, 1).unwrap();
    assert_eq!(found.infeasible, None);
    found.certificate.quality
}

/// Three outputs in one dimension: the truth, one that scores better and costs little, and one that
/// costs much.
fn three_outputs() -> Enumerated {
    let corners = vec![(vec![0.0], 0.0), (vec![-1.0], 0.5), (vec![2.0], 1.0)];
    Enumerated { dim: 1, blocks: vec![EnumeratedBlock { weight: 1.0, corners }; 2] }
}

/// Mistakes cost with a kernel what they cost without.
#[test]
fn kernels_keep_the_costs_of_tokens() {
    let mut data = Sequences::new();
    for (attribute, cost) in [(0, 0.0), (1, 3.0), (2, 1.0)] {
        data.push_weighted_token([(attribute, 1.0)], attribute % 2, cost).unwrap();
    }
    data.end_sequence(1.0).unwrap();
    let chain = Chain::new(ChainShape::new(2, 3), data, &Hamming::default()).unwrap();
    let kernelised = Kernelised::new(chain.clone(), Kernel::Linear, 0).unwrap();
    for y in [vec![1, 1, 0], vec![0, 0, 0], vec![0, 1, 1], vec![1, 0, 1]] {
        assert_eq!(kernelised.loss(0, &y), chain.loss(0, &y));
    }
}

/// What a heuristic overlooks may lie above what it has found, and so may the dual value. That is no
/// contradiction.
#[test]
fn a_heuristic_does_not_contradict_itself() {
    let mut rng = Rng::new(3);
    let mut number = || 4.0 * rng.unit_f64() - 2.0;
    for seed in 0..50 {
        let block = |number: &mut dyn FnMut() -> f64| {
            let mut corner = || (vec![number(), number()], number().abs());
            let corners = vec![(vec![0.0; 2], 0.0), corner(), corner(), corner(), corner()];
            EnumeratedBlock { weight: 1.0, corners }
        };
        let blocks = (0..3).map(|_| block(&mut number)).collect();
        let problem = Careless(Enumerated { dim: 2, blocks });
        let base = Settings { lambda: Some(0.1), tolerance: 0.0, seed, ..Settings::default() };
        let (max_passes, gap_every) = (50, 1);
        let base = Settings { max_passes, gap_every, ..base };
        for (solver, average, step) in [
            (Solver::AdaGrad, Average::Weighted, Step::LineSearch),
            (Solver::Subgradient, Average::None, Step::LineSearch),
            (Solver::BlockCoordinate, Average::Uniform, Step::Fixed),
        ] {
            let settings =
                SettingsRecord { solver, average, step, ..base.record() }.settings().unwrap();
            let solution = train(&problem, &settings).unwrap();
            let c = solution.certificate;
            assert!(c.gap >= 0.0 && c.quality == Quality::Heuristic);
            assert!(c.primal <= problem.0.primal(0.1, &solution.weights) + 1e-9, "{c:?}");
        }
    }
}

/// A problem that checks no points, and a point of a larger one.
#[test]
fn features_that_do_not_exist_are_refused() {
    let problem = three_outputs();
    let mut point = DualPoint::at_truth(&problem);
    point.blocks[1] = Block { parts: [(7, 1.0)].into_iter().collect(), loss: 0.5 };
    let found = audit(&problem, 1.0, &[0.0], &point, 1e-9, 1).unwrap();
    assert_eq!(found.infeasible, Some((1, "it has features that do not exist".to_owned())));
    let error = Trainer::new(Settings::default()).start_from(point).train(&problem).unwrap_err();
    assert!(matches!(error, TrainError::Start { example: 1, .. }), "{error}");
}

/// The output with the largest loss need not be one of those that a point is made of.
#[test]
fn a_search_does_not_end_with_its_first_output() {
    let problem = three_outputs();
    let block = Block { parts: [(0, 0.5)].into_iter().collect(), loss: 0.25 };
    let point = DualPoint { blocks: vec![block; 2] };
    let weights = point.weights(&problem, 1.0);
    let found = audit(&problem, 1.0, &weights, &point, 1e-9, 1).unwrap();
    assert_eq!((found.infeasible, found.certificate.quality), (None, Quality::Exact));
}

/// Features that cancel out leave rounding errors, which are not to be taken for features.
#[test]
fn rounding_errors_are_no_features() {
    let shape = TreeShape::new(vec![TreeNode::root(1, 0)], 1.0).unwrap();
    let mut data = TreeExamples::new(shape);
    let truth = vec![State { kind: 0, x: 1, y: 1 }];
    data.push(3, 2, Vec::new(), truth, &[], 1.5, 1.0).unwrap();
    let tree = Tree::new(data, TreeLoss { kind_cost: 0.0 }).unwrap();
    for max_passes in 1..30 {
        let (solver, tolerance) = (Solver::ExponentiatedGradient, 0.0);
        let settings =
            Settings { method: solver.into(), tolerance, max_passes, ..Settings::default() };
        let solution = train(&tree, &settings).unwrap();
        assert_eq!(audited(&tree, &solution), Quality::Exact);
    }
}

/// The truth may have more links than a prediction may, and score above it: the max oracle knows the
/// truth too, and has not failed.
#[test]
fn a_prediction_below_the_truth_is_no_failure() {
    let mut data = Pairs::new();
    data.push_link(0, 0, [(0, -1.0)], Gold::Sure).unwrap();
    data.push_link(0, 1, [(0, 2.0), (1, 1.0)], Gold::Sure).unwrap();
    data.push_link(1, 1, [(1, 0.5)], Gold::Possible).unwrap();
    data.end_pair(2, 2, 1.0).unwrap();
    let problem = Matching::new(MatchingShape::new(2), data, LinkLoss::default()).unwrap();
    let solver = Solver::Perceptron;
    let settings =
        Settings { method: solver.into(), tolerance: 0.0, max_passes: 20, ..Settings::default() };
    let solution = train(&problem, &settings).unwrap();
    assert_eq!(solution.totals.oracle_failures, 0);
    assert_eq!(solution.certificate.quality, Quality::Exact);
}

fn checkpoint<P: Problem>(problem: &P, settings: &Settings) -> Checkpoint<'static> {
    let mut kept = Vec::new();
    let mut keep = |checkpoint: &Checkpoint<'_>| {
        kept = checkpoint.to_bytes("");
        Ok(())
    };
    let trainer = Trainer::new(settings.clone());
    trainer.checkpoint(CheckpointEvery::Passes(1), &mut keep).train(problem).unwrap();
    Checkpoint::from_bytes(&kept).unwrap()
}

fn is_refused<P: Problem>(problem: &P, settings: &Settings, checkpoint: Checkpoint<'static>) {
    let error = Trainer::new(settings.clone()).resume(checkpoint).train(problem).unwrap_err();
    assert!(matches!(error, TrainError::Resume { .. }), "{error}");
}

/// The features of two kernels are numbered in the same way, but are not the same.
#[test]
fn a_checkpoint_belongs_to_its_kernel() {
    let settings = Settings { tolerance: 0.0, max_passes: 5, ..Settings::default() };
    let with = |kernel| Kernelised::new(maxmargin::doc::toy(), kernel, 0).unwrap();
    let kept = checkpoint(&with(Kernel::Linear), &settings);
    is_refused(&with(Kernel::Rbf { gamma: 0.5 }), &settings, kept);
}

/// Another loss, with which the worst output costs as much as before.
#[test]
fn a_checkpoint_belongs_to_its_losses() {
    let problem = three_outputs();
    let mut other = problem.clone();
    other.blocks.iter_mut().for_each(|block| block.corners[1].1 = 0.1);
    let settings = Settings { tolerance: 0.0, max_passes: 20, ..Settings::default() };
    let kept = checkpoint(&problem, &settings);
    is_refused(&other, &settings, kept);
}

#[test]
fn a_path_that_is_unproven_is_not_guaranteed() {
    let mut path = regularization_path(&maxmargin::doc::toy(), &Default::default()).unwrap();
    assert!(path.is_guaranteed());
    path.breakpoints[0].certificate.quality = Quality::Unproven;
    assert!(!path.is_guaranteed());
}
