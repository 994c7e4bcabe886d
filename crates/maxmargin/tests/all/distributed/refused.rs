//! What shards and their coordinator refuse: commits out of turn, damaged checkpoints, and numbers without a meaning.

use super::{Cluster, equal_rows};
use maxmargin::distributed::{
    Change, Coordinator, Effort, Mixture, Proposal, ShardSolver, Way, Whole,
};
use maxmargin::{Block, Interrupt, Settings, TrainError, doc};

#[test]
fn commits_are_made_once_and_only_in_their_round() {
    let problems = equal_rows::<2>();
    let whole = Whole { lambda: 1.0, total_weight: 2.0 };
    let mut cluster = Cluster::new(&problems, whole, &Settings::default());
    let proposals = cluster.propose(1);
    let mixtures = cluster.coordinator.step(&proposals).unwrap();
    let shard = &mut cluster.shards[0];
    assert!(shard.commit(1, &mixtures[0]).unwrap());
    let (sum, point) = (shard.sum().to_vec(), shard.point());
    // The same commit again, and one that comes late.
    assert!(!shard.commit(1, &mixtures[0]).unwrap());
    assert!(!shard.commit(0, &mixtures[0]).unwrap());
    assert_eq!((shard.sum(), shard.point()), (&*sum, point));
    // One without a proposal, and one whose round was given up.
    let effort = Effort::among(2, 1);
    let refused = |result: Result<bool, TrainError>| result.unwrap_err().to_string();
    let told = refused(shard.commit(2, &mixtures[0]));
    assert_eq!(told, "there is no proposal of round 2 to commit");
    shard.propose(2, &sum, effort).unwrap();
    shard.fence(3);
    assert_eq!(refused(shard.commit(2, &mixtures[0])), told);
    let told = shard.propose(2, &sum, effort).unwrap_err().to_string();
    assert_eq!(told, "round 2 is over; the next one is 3 or later");
    // Shares that are not those of a mixture, after which the right ones still count.
    shard.propose(3, &sum, effort).unwrap();
    for newest in [-0.1, 1.1, f64::NAN] {
        shard.commit(3, &Mixture { shares: vec![newest], keep: 2 }).unwrap_err();
    }
    shard.commit(3, &Mixture { shares: vec![0.1; 3], keep: 2 }).unwrap_err(); // there are two points
    assert!(shard.commit(3, &Mixture { shares: vec![0.5], keep: 2 }).unwrap());
}

#[test]
fn damaged_checkpoints_and_those_of_other_examples_are_refused() {
    let problems = equal_rows::<2>();
    let whole = Whole { lambda: 1.0, total_weight: 2.0 };
    let settings = Settings::default();
    let mut cluster = Cluster::new(&problems, whole, &settings);
    cluster.go_round(2);
    let bytes = cluster.shards[0].to_bytes();
    let restore = |bytes: &[u8]| {
        ShardSolver::restore(&problems[0], whole, &settings, Interrupt::new(), bytes)
    };
    let back = restore(&bytes).unwrap();
    assert_eq!((back.sum(), back.loss()), (cluster.shards[0].sum(), cluster.shards[0].loss()));
    for cut in 0..bytes.len() {
        restore(&bytes[..cut]).unwrap_err();
    }
    for at in 0..bytes.len() {
        let mut damaged = bytes.clone();
        damaged[at] ^= 0x10;
        restore(&damaged).unwrap_err();
    }
    let other = doc::labels();
    let whole = Whole { lambda: 1.0, total_weight: 100.0 };
    let told = ShardSolver::restore(&other, whole, &settings, Interrupt::new(), &bytes);
    assert!(told.unwrap_err().to_string().contains("it is of other examples"));
}

#[test]
fn what_makes_no_sense_is_refused() {
    let problem = doc::toy();
    let new = |whole, settings: &Settings| {
        ShardSolver::new(&problem, whole, settings, Interrupt::new()).map(|_| ())
    };
    let settings = Settings::default();
    for lambda in [0.0, -1.0, f64::NAN] {
        new(Whole { lambda, total_weight: 4.0 }, &settings).unwrap_err();
    }
    for total_weight in [0.0, 3.0, f64::NAN, f64::INFINITY] {
        new(Whole { lambda: 1.0, total_weight }, &settings).unwrap_err();
    }
    let whole = Whole { lambda: 1.0, total_weight: 4.0 };
    let fw = Settings { method: maxmargin::Solver::FrankWolfe.into(), ..settings.clone() };
    assert!(new(whole, &fw).unwrap_err().to_string().contains("does not train in shards"));
    let mut shard = ShardSolver::new(&problem, whole, &settings, Interrupt::new()).unwrap();
    let effort = Effort::among(1, 1);
    shard.propose(1, &[0.0; 3], effort).unwrap_err();
    shard.propose(1, &[f64::NAN; 18], effort).unwrap_err();
    for caution in [0.5, f64::NAN, f64::INFINITY] {
        shard.propose(1, &[0.0; 18], Effort { passes: 1, caution }).unwrap_err();
    }
    shard.check(&[0.0; 19]).unwrap_err();
    let mut coordinator = Coordinator::new(1.0, vec![0.0; 3], None);
    for change in [
        Change { at: None, values: vec![0.0; 2] },
        Change { at: None, values: vec![f64::NAN; 3] },
        Change { at: Some(vec![3]), values: vec![1.0] },
        Change { at: Some(vec![1, 1]), values: vec![1.0, 2.0] },
        Change { at: Some(vec![1]), values: vec![] },
    ] {
        let ways = vec![Way { change, loss: 0.0 }];
        coordinator.step(&[Proposal { ways, ..Proposal::default() }]).unwrap_err();
    }
    coordinator.add_up([(&[1.0, 2.0][..], 0.0)]).unwrap_err();
    coordinator.add_up([(&[1.0, 2.0, f64::NAN][..], 0.0)]).unwrap_err();
    coordinator.add_up([(&[1.0, 2.0, 3.0][..], f64::NAN)]).unwrap_err();
    assert_eq!(coordinator.sum(), [0.0; 3]);
    let _: Vec<Block> = shard.point().blocks;
}
