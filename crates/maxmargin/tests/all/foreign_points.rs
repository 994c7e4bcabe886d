//! Points from elsewhere: which blocks are taken over, and why others are refused.

use crate::common::bcfw;
use crate::common::problems::{Enumerated, EnumeratedBlock};
use maxmargin::ProblemExt as _;
use maxmargin::model::LabelledRows;
use maxmargin::model::chain::{Chain, ChainShape, Hamming, Sequences};
use maxmargin::model::multiclass::{ClassLoss, CostMatrix, Multiclass, MulticlassShape};
use maxmargin::observe::{Control, Event, WarmStart};
use maxmargin::{
    Block, Checkpoint, CheckpointEvery, DualPoint, Problem, Quality, Settings, Solver, SparseVec,
    TrainError, Trainer, audit, forward_problem,
};

/// Examples with the truth and one other output each, given by its ψ and its loss.
fn pairs(outputs: &[(f64, f64)]) -> Enumerated {
    let block = |&(psi, loss): &(f64, f64)| EnumeratedBlock {
        weight: 1.0,
        corners: vec![(vec![0.0], 0.0), (vec![psi], loss)],
    };
    Enumerated { dim: 1, blocks: outputs.iter().map(block).collect() }
}

/// A share of the other output of example `i`.
fn share(problem: &Enumerated, i: usize, share: f64) -> Block {
    let mut parts = SparseVec::new();
    problem.parts(i, &1, &mut parts);
    parts.scale(share);
    Block { parts: parts.into(), loss: share * problem.loss(i, &1) }
}

/// The report of a run about the point that it starts from.
fn start<P: Problem>(problem: &P, blocks: Vec<Block>) -> Result<WarmStart, TrainError> {
    let mut seen = None;
    let mut watch = |event: Event<'_>| {
        if let Event::Start(start) = event {
            seen = start.warm_start.clone();
        }
        Control::Continue
    };
    let trainer = Trainer::new(Settings { lambda: Some(1.0), ..bcfw() });
    trainer.start_from(DualPoint { blocks }).observe(&mut watch).train(problem)?;
    Ok(seen.unwrap())
}

/// Blocks at the truth do not count as taken over. Blocks that are not mixtures of outputs are refused,
/// with a reason for the first.
#[test]
fn blocks_that_are_taken_over_and_refused_are_counted() {
    let problem = pairs(&[(1.0, 1.0); 5]);
    let (inside, outside) = (|i| share(&problem, i, 0.5), |i| share(&problem, i, 1.5));
    let truth = |_| Block::default();

    let all = start(&problem, (0..5).map(inside).collect()).unwrap();
    assert_eq!((all.taken, all.refused, all.reason), (5, 0, None));
    let some = start(&problem, vec![truth(0), inside(1), truth(2), inside(3), truth(4)]).unwrap();
    assert_eq!((some.taken, some.refused, some.reason), (2, 0, None));
    let none = start(&problem, (0..5).map(truth).collect()).unwrap();
    assert_eq!((none.taken, none.refused, none.reason), (0, 0, None));

    let blocks = vec![truth(0), outside(1), inside(2), outside(3), outside(4)];
    let mixed = start(&problem, blocks).unwrap();
    assert_eq!((mixed.taken, mixed.refused), (1, 3));
    let reason = mixed.reason.unwrap();
    let expected = "in example 1, no convex combination of outputs is nearer to it than ";
    assert!(reason.starts_with(expected), "{reason}");

    // The point is refused, because only the truth is left, where every run starts.
    let blocks = vec![truth(0), truth(1), outside(2), truth(3), outside(4)];
    let error = start(&problem, blocks).unwrap_err();
    assert!(matches!(error, TrainError::Start { example: 2, .. }), "{error}");
}

/// A problem that claims that its oracle solves a relaxation.
struct Relaxed(Enumerated);

impl Problem for Relaxed {
    type Output = usize;
    type Workspace = ();

    forward_problem!(self.0, workspace, except[quality]);

    fn quality(&self) -> Quality {
        Quality::UpperBound
    }
}

/// A relaxation may return corners that are not outputs.
#[test]
fn messages_mention_the_corners_of_a_relaxation() {
    let problem = Relaxed(pairs(&[(1.0, 1.0); 2]));
    let blocks = vec![share(&problem.0, 0, 0.5), share(&problem.0, 1, 1.5)];
    let found = start(&problem, blocks).unwrap();
    assert_eq!((found.taken, found.refused), (1, 1));
    let reason = found.reason.unwrap();
    assert!(reason.contains("no convex combination of corners of the relaxation"), "{reason}");
}

/// Rows of three classes, and one row of a fourth class whose mistakes have the given cost.
fn rare(cost: f64) -> Multiclass {
    let mut data = LabelledRows::new();
    for i in 0..100u32 {
        let class = if i == 1 { 3 } else { i % 3 };
        data.push([(i % 5, 1.0), (5, 0.1 * f64::from(i % 7))], &[class], 1.0).unwrap();
    }
    let mut costs = vec![vec![1.0; 4]; 4];
    costs[3] = vec![cost; 4];
    (0..4).for_each(|class| costs[class][class] = 0.0);
    let loss = ClassLoss::Costs(CostMatrix::new(costs).unwrap());
    Multiclass::new(MulticlassShape::new(4, 6), data, loss).unwrap()
}

/// The signature of a checkpoint contains few losses. If it misses one that has changed, the check of the
/// point still finds it.
#[test]
fn a_checkpoint_whose_point_does_not_fit_is_refused() {
    let mut bytes = Vec::new();
    let mut keep = |checkpoint: &Checkpoint<'_>| {
        bytes = checkpoint.to_bytes("");
        Ok(())
    };
    let settings = Settings { lambda: Some(1.0), max_passes: 1, tolerance: 0.0, ..bcfw() };
    let trainer = Trainer::new(settings.clone()).checkpoint(CheckpointEvery::Passes(1), &mut keep);
    trainer.train(&rare(1.0)).unwrap();
    let go_on = |problem: &Multiclass| {
        let settings = Settings { max_passes: 2, ..settings.clone() };
        Trainer::new(settings).resume(Checkpoint::from_bytes(&bytes).unwrap()).train(problem)
    };
    assert!(go_on(&rare(1.0)).is_ok());
    let error = go_on(&rare(2.0)).unwrap_err();
    let TrainError::Resume { why } = &error else { panic!("{error}") };
    assert!(why.starts_with("in example 1, its loss is stated as "), "{why}");
}

/// A user's problem that cannot check points is recognised by the largest loss of every example.
#[test]
fn a_checkpoint_is_refused_where_the_loss_of_any_example_has_changed() {
    let mut outputs = vec![(1.0, 1.0); 100];
    let settings = Settings { lambda: Some(10.0), max_passes: 1, tolerance: 0.0, ..bcfw() };
    let mut bytes = Vec::new();
    let mut keep = |checkpoint: &Checkpoint<'_>| {
        bytes = checkpoint.to_bytes("");
        Ok(())
    };
    let trainer = Trainer::new(settings.clone());
    trainer.checkpoint(CheckpointEvery::Passes(1), &mut keep).train(&pairs(&outputs)).unwrap();
    let go_on = |outputs: &[(f64, f64)]| {
        let trainer = Trainer::new(Settings { max_passes: 5, ..settings.clone() });
        trainer.resume(Checkpoint::from_bytes(&bytes).unwrap()).train(&pairs(outputs))
    };
    assert!(go_on(&outputs).is_ok());
    for example in [1, 50, 99] {
        outputs[example].1 = 0.25;
        let error = go_on(&outputs).unwrap_err();
        assert!(matches!(error, TrainError::Resume { .. }), "example {example}: {error}");
        outputs[example].1 = 1.0;
    }
}

/// A chain with forty sequences of two tokens, in which mistakes of one example cost more.
fn costly(example: usize, cost: f64) -> Chain {
    let mut data = Sequences::new();
    for i in 0..40usize {
        let own = if i == example { cost } else { 1.0 };
        for label in [i as u32 % 2, 1 - i as u32 % 2] {
            data.push_weighted_token([(i as u32 % 3, 1.0)], label, own).unwrap();
        }
        data.end_sequence(1.0).unwrap();
    }
    Chain::new(ChainShape::new(2, 3), data, &Hamming { normalised: false, ..Hamming::default() })
        .unwrap()
}

/// Methods keep their own corners in a checkpoint. In any case, the point that a resumed run returns
/// belongs to the problem that it was resumed with, or the run is refused.
#[test]
fn no_method_keeps_the_losses_of_another_problem() {
    for solver in ["ssg", "adagrad", "n-slack", "1-slack", "fw", "bcfw", "eg"] {
        let solver: Solver = solver.parse().unwrap();
        let settings = Settings {
            method: solver.into(),
            lambda: Some(0.5),
            max_passes: 2,
            tolerance: 0.0,
            ..Settings::default()
        };
        let mut bytes = Vec::new();
        let mut keep = |checkpoint: &Checkpoint<'_>| {
            bytes = checkpoint.to_bytes("");
            Ok(())
        };
        let trainer = Trainer::new(settings.clone());
        trainer.checkpoint(CheckpointEvery::Passes(1), &mut keep).train(&costly(1, 5.0)).unwrap();
        let changed = costly(1, 1.0);
        let longer = Settings { max_passes: 3, ..settings };
        let checkpoint = Checkpoint::from_bytes(&bytes).unwrap();
        match Trainer::new(longer).resume(checkpoint).train(&changed) {
            Err(error) => assert!(matches!(error, TrainError::Resume { .. }), "{solver}: {error}"),
            Ok(found) => {
                let audit = audit(&changed, 0.5, &found.weights, &found.dual, 1e-9, 1).unwrap();
                assert_eq!(audit.infeasible, None, "{solver}");
                assert!(audit.certificate.dual >= found.certificate.dual - 1e-9, "{solver}");
            }
        }
    }
}
