//! Audits of dual points of trees, valid and invalid.

use crate::common::trees::{TreeCase, any_tree};
use crate::common::{audit_of, bcfw, cases};
use maxmargin::ProblemExt as _;
use maxmargin::model::tree::{State, Tree, TreeExamples, TreeLoss, TreeNode, TreeShape};
use maxmargin::{Block, PointCheck, Problem, Rng, Settings, SparseVec, train};
use proptest::prelude::*;

/// The point of a distribution over some outputs.
fn mixture(case: &TreeCase, tree: &Tree, i: usize, rng: &mut Rng) -> (SparseVec, f64) {
    let outputs = case.outputs(i);
    let count = 1 + rng.below(4);
    let shares: Vec<f64> = (0..count).map(|_| 0.05 + rng.unit_f64()).collect();
    let total: f64 = shares.iter().sum();
    let (mut point, mut loss) = (SparseVec::new(), 0.0);
    for share in shares.iter().map(|share| share / total) {
        let y = &outputs[rng.below(outputs.len())];
        let mut parts = SparseVec::new();
        tree.parts(i, y, &mut parts);
        point.add_scaled(share, &parts);
        loss += share * tree.loss(i, y);
    }
    (point, loss)
}

proptest! {
    #![proptest_config(cases(128))]

    #[test]
    fn points_of_distributions_pass(case in any_tree(3, 3), seed in any::<u64>()) {
        let (tree, mut rng) = (case.build(), Rng::new(seed));
        for i in 0..case.data.len() {
            for _ in 0..4 {
                let (parts, loss) = mixture(&case, &tree, i, &mut rng);
                let found = tree.check_point(i, &parts, loss, 1e-12);
                prop_assert_eq!(found, Ok(PointCheck::Feasible));
            }
        }
    }

    /// The masses of all nodes depend on each other, so no single mass can be changed.
    #[test]
    fn points_with_a_changed_mass_are_rejected(
        case in any_tree(3, 2), seed in any::<u64>(), change in 0.01..2.0f64, up in any::<bool>()
    ) {
        let (tree, mut rng) = (case.build(), Rng::new(seed));
        let (mut parts, loss) = mixture(&case, &tree, 0, &mut rng);
        // A part of the mixture, or of any other output.
        let outputs = case.outputs(0);
        let mut others = SparseVec::new();
        tree.parts(0, &outputs[rng.below(outputs.len())], &mut others);
        let from = if rng.below(2) == 0 { parts.clone() } else { others };
        let (at, _) = from.entries()[rng.below(from.len())];
        parts.add_scaled(1.0, &[(at, if up { change } else { -change })].into_iter().collect());
        prop_assert!(tree.check_point(0, &parts, loss, 1e-6).is_err());
    }

    #[test]
    fn wrong_losses_and_unknown_parts_are_noticed(case in any_tree(3, 2), seed in any::<u64>()) {
        let (tree, mut rng) = (case.build(), Rng::new(seed));
        let (parts, loss) = mixture(&case, &tree, 0, &mut rng);
        for wrong in [loss + 1e-3, loss - 1e-3, f64::NAN] {
            prop_assert!(tree.check_point(0, &parts, wrong, 1e-6).is_err());
        }
        let mut beyond = parts.clone();
        beyond.add_scaled(1.0, &[(u64::MAX, 0.5)].into_iter().collect());
        prop_assert!(tree.check_point(0, &beyond, loss, 1e-6).is_err());
        let none: SparseVec = [(0, f64::INFINITY)].into_iter().collect();
        prop_assert!(tree.check_point(0, &none, 0.0, 1e-6).is_err());
        prop_assert!(tree.check_point(0, &SparseVec::new(), 0.0, 1e-6).is_err());
    }
}

/// A node with a parent, on a grid of 4 × 1.
fn pair() -> Tree {
    let nodes = vec![TreeNode::root(2, 1), TreeNode::root(1, 1).child_of(0)];
    let mut data = TreeExamples::new(TreeShape::new(nodes, 1.0).unwrap());
    let maps = vec![0.0, 0.5, 1.0, 0.0, 0.0, 0.0, 0.2, 0.8];
    let truth = vec![State { kind: 0, x: 2, y: 0 }, State { kind: 0, x: 3, y: 0 }];
    data.push(4, 1, maps, truth, &[], 2.0, 1.0).unwrap();
    Tree::new(data, TreeLoss { kind_cost: 0.5 }).unwrap()
}

#[test]
fn complaints_say_what_is_wrong() {
    let tree = pair();
    let settings = Settings { max_passes: 5, tolerance: 0.0, ..bcfw() };
    let solution = train(&tree, &settings).unwrap();
    assert_eq!(audit_of(&tree, &solution).infeasible, None);
    // The block, with something added to one mass.
    let complaint = |at: u64, change: f64, loss: f64| {
        let mut solution = solution.clone();
        let Block { parts, loss: own } = &solution.dual.blocks[0];
        let (mut parts, own) = (parts.unpacked(), *own);
        parts.add_scaled(1.0, &[(at, change)].into_iter().collect());
        solution.dual.blocks[0] = Block { parts: parts.into(), loss: own + loss };
        audit_of(&tree, &solution).infeasible.expect("a complaint").1
    };
    let says = |at: u64, change: f64, what: &str| {
        let why = complaint(at, change, 0.0);
        assert!(why.contains(what), "{why}");
    };
    // Two kinds at four places, and then four places below each of these.
    says(0, 1.5, "the masses of node 0 sum to");
    says(0, -3.0, "a mass of node 0 is negative");
    says(8, 0.5, "the masses of node 1 and its parent differ by");
    says(40, 0.5, "it has a part that does not exist: 40");
    let why = complaint(0, 0.0, 1.0);
    assert!(why.contains("its loss is stated as"), "{why}");
}

/// With a single place the check is complete: the loss is that of the kinds, up to rounding.
#[test]
fn trees_of_labels_are_checked_in_full() {
    let nodes = vec![TreeNode::root(2, 1), TreeNode::root(3, 0).child_of(0).rigid()];
    let mut data = TreeExamples::new(TreeShape::new(nodes, 1.0).unwrap());
    data.push(1, 1, vec![0.7], vec![State::default(); 2], &[], 1.0, 1.0).unwrap();
    let tree = Tree::new(data, TreeLoss::LABELS).unwrap();
    let y = vec![State { kind: 1, x: 0, y: 0 }, State { kind: 2, x: 0, y: 0 }];
    let (mut parts, mut truth) = (SparseVec::new(), SparseVec::new());
    tree.parts(0, &y, &mut parts);
    tree.truth_parts(0, &mut truth);
    parts.scale(0.25);
    parts.add_scaled(0.75, &truth);
    assert_eq!(tree.check_point(0, &parts, 0.25, 1e-12), Ok(PointCheck::Feasible));
    for loss in [0.2, 0.2499, 0.2501, 0.3] {
        assert!(tree.check_point(0, &parts, loss, 1e-6).is_err());
    }
}
