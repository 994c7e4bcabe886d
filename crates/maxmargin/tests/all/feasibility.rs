//! An audit notices invalid dual points and never panics.

use crate::common::bcfw;
use crate::common::chains::{CaseSequence, CaseToken, ChainCase, any_chain};
use crate::common::rows::{CaseRow, RowsCase};
use crate::common::{audit_of, cases};
use maxmargin::ProblemExt as _;
use maxmargin::model::chain::{Chain, FeatureGroups, Hamming};
use maxmargin::{Block, PointCheck, Problem, Settings, Solution, SparseVec, audit, train};
use proptest::prelude::*;

/// Two sequences of lengths 3 and 1 over three labels.
fn case(transition: bool) -> ChainCase {
    let token = |label| CaseToken { attributes: vec![(label, 1.0)], label, cost: 1.0 };
    let sequence = |labels: &[u32]| CaseSequence {
        weight: 1.0,
        tokens: labels.iter().map(|&label| token(label)).collect(),
    };
    ChainCase {
        labels: 3,
        attributes: 3,
        groups: FeatureGroups { transition, ..FeatureGroups::default() },
        scale: 1.0,
        loss: Hamming::default(),
        sequences: vec![sequence(&[0, 1, 2]), sequence(&[1])],
    }
}

fn solved(chain: &Chain) -> Solution {
    train(chain, &Settings { max_passes: 5, tolerance: 0.0, ..bcfw() }).unwrap()
}

fn parts(chain: &Chain, i: usize, y: &[u32]) -> SparseVec {
    let mut parts = SparseVec::new();
    chain.parts(i, &y.to_vec(), &mut parts);
    parts
}

/// The complaint of an audit about a solution whose first block is replaced.
fn complaint(chain: &Chain, parts: SparseVec, loss: f64) -> String {
    let mut solution = solved(chain);
    assert_eq!(audit_of(chain, &solution).infeasible, None);
    solution.dual.blocks[0] = Block { parts: parts.into(), loss };
    let (block, why) = audit_of(chain, &solution).infeasible.expect("a complaint");
    assert_eq!(block, 0);
    why
}

#[test]
fn a_negative_mass_is_noticed() {
    for transition in [true, false] {
        let chain = case(transition).build();
        let (a, b) = ([0, 1, 1], [1, 2, 0]);
        let mut mixed = parts(&chain, 0, &a);
        mixed.add_scaled(1.0, &parts(&chain, 0, &a));
        mixed.add_scaled(-1.0, &parts(&chain, 0, &b));
        let loss = 2.0 * chain.loss(0, &a.to_vec()) - chain.loss(0, &b.to_vec());
        assert!(complaint(&chain, mixed, loss).contains("negative"));
    }
}

#[test]
fn masses_that_do_not_sum_to_one_are_noticed() {
    for transition in [true, false] {
        let chain = case(transition).build();
        let mut half = parts(&chain, 0, &[0, 1, 1]);
        half.scale(0.5);
        let why = complaint(&chain, half, 0.5 * chain.loss(0, &vec![0, 1, 1]));
        assert!(why.contains("sum to"), "{why}");
        let why = complaint(&chain, SparseVec::new(), 0.0);
        assert!(why.contains("sum to"), "{why}");
    }
}

#[test]
fn edges_that_disagree_with_their_nodes_are_noticed() {
    let chain = case(true).build();
    // The parts of a labelling are node, edge, node, edge, node.
    let (a, b) = (parts(&chain, 0, &[0, 1, 1]), parts(&chain, 0, &[0, 1, 2]));
    let entries = a.entries().iter().zip(b.entries()).enumerate();
    let mixed = entries.map(|(at, (a, b))| if at % 2 == 0 { *a } else { *b }).collect();
    let why = complaint(&chain, mixed, chain.loss(0, &vec![0, 1, 1]));
    assert!(why.contains("differ"), "{why}");
    // Without edges.
    let nodes = a.entries().iter().copied().step_by(2).collect();
    let why = complaint(&chain, nodes, chain.loss(0, &vec![0, 1, 1]));
    assert!(why.contains("edges"), "{why}");
}

#[test]
fn a_wrong_loss_is_noticed() {
    for transition in [true, false] {
        let chain = case(transition).build();
        let y = vec![0, 1, 1];
        let why = complaint(&chain, parts(&chain, 0, &y), chain.loss(0, &y) + 1e-9);
        assert!(why.contains("loss"), "{why}");
    }
}

/// Invalid masses and losses must not prove anything: a dual value that comes with a complaint must not
/// lie above the optimum.
#[test]
fn an_infeasible_point_proves_nothing() {
    let chain = case(true).build();
    let mut solution = solved(&chain);
    let best = solution.certificate.primal;
    solution.dual.blocks[0].loss = 1e6;
    let audit = audit_of(&chain, &solution);
    assert!(audit.infeasible.is_some());
    assert!(audit.certificate.dual <= best, "{:?}", audit.certificate);
    assert!(audit.certificate.gap > 0.0, "{:?}", audit.certificate);
}

#[test]
fn a_changed_weight_is_noticed() {
    let chain = case(true).build();
    let mut solution = solved(&chain);
    solution.weights[4] += 0.25;
    let audit = audit_of(&chain, &solution);
    assert_eq!(audit.infeasible, None);
    assert!((audit.weight_residual - 0.25).abs() < 1e-12);
    // The gap of other weights with the same dual point is still a bound.
    assert!(audit.certificate.gap > solution.certificate.gap - 1e-12);
}

#[test]
fn a_part_that_does_not_exist_is_noticed() {
    let chain = case(true).build();
    // The parts of the long sequence are not parts of the short one.
    let mut solution = solved(&chain);
    solution.dual.blocks[1].parts = parts(&chain, 0, &[0, 1, 2]).into();
    let (block, why) = audit_of(&chain, &solution).infeasible.expect("a complaint");
    assert!(block == 1 && why.contains("does not exist"), "{why}");
    // Edges are not parts of a chain without transitions.
    let without = case(false).build();
    let why = complaint(&without, parts(&chain, 0, &[0, 1, 2]), 0.0);
    assert!(why.contains("does not exist"), "{why}");
}

#[test]
fn non_finite_numbers_are_noticed() {
    let chain = case(true).build();
    let good = solved(&chain);
    let refused = |solution: &Solution| {
        let (w, dual) = (&solution.weights, &solution.dual);
        match audit(&chain, solution.lambda, w, dual, 1e-9, 1) {
            Err(_) => true,
            Ok(audit) => audit.infeasible.is_some(),
        }
    };
    assert!(!refused(&good));
    for bad in [f64::NAN, f64::INFINITY] {
        let mut solution = good.clone();
        solution.dual.blocks[0].loss = bad;
        assert!(refused(&solution));
        let mut solution = good.clone();
        solution.dual.blocks[0].parts.scale(bad);
        assert!(refused(&solution));
        let mut solution = good.clone();
        solution.weights[0] = bad;
        assert!(refused(&solution));
    }
    let mut solution = good.clone();
    solution.dual.blocks.pop();
    assert!(refused(&solution));
    let mut solution = good.clone();
    solution.weights.push(0.0);
    assert!(refused(&solution));
    for lambda in [0.0, -1.0, f64::NAN] {
        assert!(audit(&chain, lambda, &good.weights, &good.dual, 1e-9, 1).is_err());
    }
}

/// A NaN as slack must not make everything feasible.
#[test]
fn a_nan_slack_excuses_nothing() {
    let chain = case(true).build();
    let mut solution = solved(&chain);
    solution.dual.blocks[0].parts.scale(2.0);
    let audit = audit(&chain, solution.lambda, &solution.weights, &solution.dual, f64::NAN, 1);
    assert!(audit.is_err() || audit.unwrap().infeasible.is_some());
}

proptest! {
    #![proptest_config(cases(64))]

    /// An audit of any coordinates, in any order and with any values, returns an answer and does not
    /// panic.
    #[test]
    fn no_dual_point_makes_an_audit_panic(
        case in any_chain(),
        raw in proptest::collection::vec(
            (0u64..8, any::<bool>(), 0u64..7, 0u64..7, -2.0..2.0f64), 0..8),
        sorted in any::<bool>(),
        loss in -1.0..1.0f64,
    ) {
        let chain = case.build();
        let id = |(t, edge, y, z): (u64, bool, u64, u64)| t << 33 | u64::from(edge) << 32 | y << 16 | z;
        let mut parts = SparseVec::new();
        for (t, edge, y, z, value) in raw {
            parts.push(id((t, edge, if edge { y } else { 0 }, z)), value);
        }
        if sorted {
            parts.normalise();
        }
        let mut solution = solved(&chain);
        solution.dual.blocks[0] = Block { parts: parts.into(), loss };
        let result = audit(&chain, solution.lambda, &solution.weights, &solution.dual, 1e-9, 1);
        prop_assert!(result.is_err() || result.unwrap().infeasible.is_some());
    }
}

/// The masses of classes and of the wrong label must belong to a distribution.
#[test]
fn masses_of_classes_are_checked() {
    let row = |label| CaseRow { weight: 1.0, attributes: vec![(0, 1.0)], label };
    let costs = Some(vec![vec![0.0, 2.0], vec![1.0, 0.0]]);
    let rows = vec![row(0), row(1)];
    let case = RowsCase { classes: 2, attributes: 1, bias: None, costs, rows };
    let (multiclass, binary) = (case.multiclass(), case.binary());
    let why =
        |problem: &dyn Fn(&SparseVec, f64) -> Result<PointCheck, String>, masses: &[f64], loss| {
            let parts: SparseVec = (0..).zip(masses.iter().copied()).collect();
            problem(&parts, loss).err().unwrap_or_default()
        };
    let classes = |parts: &SparseVec, loss| multiclass.check_point(0, parts, loss, 1e-9);
    assert_eq!(why(&classes, &[0.75, 0.25], 0.5), "");
    assert_eq!(why(&classes, &[0.75, 0.25], 0.25), "its loss is stated as 0.25, but is 0.5");
    assert_eq!(why(&classes, &[0.75, 0.5], 1.0), "the masses sum to 1.25, not to 1");
    assert_eq!(why(&classes, &[1.25, -0.25], -0.5), "a mass is negative: -2.5e-1");
    let missing = why(&classes, &[0.5, 0.0, 0.5], 0.0);
    assert_eq!(missing, "it has a part that does not exist: 2");
    assert_eq!(why(&classes, &[], 0.0), "the masses sum to 0, not to 1");
    let wrong = |parts: &SparseVec, loss| binary.check_point(0, parts, loss, 1e-9);
    assert_eq!(why(&wrong, &[], 0.0) + &why(&wrong, &[1.0], 1.0), "");
    let outside = "the mass of the wrong label is 1.5, not between 0 and 1";
    assert_eq!(why(&wrong, &[1.5], 1.5), outside);
    assert!(why(&wrong, &[-0.5], -0.5).contains("-0.5, not between"));
    assert_eq!(why(&wrong, &[0.5], 0.75), "its loss is stated as 0.75, but is 0.5");
    assert_eq!(why(&wrong, &[0.5, 0.5], 0.5), "it has a part that does not exist: 1");
}
