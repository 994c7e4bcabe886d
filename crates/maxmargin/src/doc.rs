//! Small problems for documentation examples.

use crate::inference::Inference;
use crate::kernel::{JointKernel, JointProblem};
use crate::model::LabelledRows;
use crate::model::chain::{Chain, ChainShape, Hamming, Sequences};
use crate::model::factor_graph::{self, FactorGraph, Graphs};
use crate::model::multilabel::{Multilabel, MultilabelShape};
use crate::model::potts::{self, Potts, PottsGraphs, PottsShape};
use crate::model::soft::SoftGraph;
use crate::model::tree::{State, Tree, TreeExamples, TreeLoss, TreeNode, TreeShape};

/// Two points, each of which has to say on which side it is, with a joint kernel.
#[allow(clippy::missing_panics_doc)]
pub fn joint_points() -> JointProblem<impl JointKernel> {
    struct Points([f64; 2]);

    impl JointKernel for Points {
        fn examples(&self) -> usize {
            2
        }
        fn outputs(&self, _: usize) -> usize {
            2
        }
        fn truth(&self, i: usize) -> usize {
            usize::from(self.0[i] > 0.0)
        }
        fn loss(&self, i: usize, y: usize) -> f64 {
            f64::from(u8::from(y != self.truth(i)))
        }
        fn kernel(&self, (i, y): (usize, usize), (j, z): (usize, usize)) -> f64 {
            if y == z { self.0[i] * self.0[j] } else { 0.0 }
        }
    }

    JointProblem::new(Points([-1.0, 2.0]), 0).expect("a valid kernel")
}

/// Four short sequences over two labels.
#[allow(clippy::missing_panics_doc)]
pub fn toy() -> Chain {
    let mut data = Sequences::new();
    for sequence in [&[0u32, 1, 0][..], &[1, 1], &[0, 0, 1, 1], &[1]] {
        for (t, &label) in sequence.iter().enumerate() {
            let attributes = [(label, 1.0), (2 + t as u32 % 2, 0.5)];
            data.push_token(attributes, label).expect("finite values");
        }
        data.end_sequence(1.0).expect("a sequence with tokens");
    }
    Chain::new(ChainShape::new(2, 4), data, &Hamming::default()).expect("a valid chain")
}

/// Four rings of three variables with two states, decoded by roof duality.
#[allow(clippy::missing_panics_doc)]
pub fn rings() -> FactorGraph {
    let mut data = Graphs::new();
    for truth in [[0, 0, 1], [1, 1, 1], [1, 0, 1], [0, 0, 0]] {
        for state in truth {
            let v = data.push_variable(2, state).expect("a valid variable");
            let attributes = [(0, f64::from(state) - 0.4), (1, 1.0)];
            data.push_factor(0, &[v], attributes).expect("a valid factor");
        }
        for pair in [[0, 1], [1, 2], [0, 2]] {
            data.push_factor(1, &pair, [(0, 1.0)]).expect("a valid factor");
        }
        data.end_graph(1.0).expect("a graph with variables");
    }
    let (shape, loss) = (data.shape().expect("a shape"), factor_graph::StateLoss::default());
    FactorGraph::new(shape, data, loss, Inference::RoofDuality).expect("valid graphs")
}

/// Three examples with three labels, all pairs of which have weights.
#[allow(clippy::missing_panics_doc)]
pub fn labels() -> Multilabel {
    let mut data = LabelledRows::new();
    for (x, labels) in [([1.0, 0.0], &[0][..]), ([0.0, 1.0], &[1]), ([1.0, 1.0], &[0, 1, 2])] {
        data.push([(0, x[0]), (1, x[1]), (2, 1.0)], labels, 1.0).expect("a valid row");
    }
    let shape = MultilabelShape::complete(3, 3);
    Multilabel::new(shape, data, &Hamming::default(), Inference::Auto).expect("a valid problem")
}

/// The rings under soft constraints.
#[allow(clippy::missing_panics_doc)]
pub fn soft_pictures(lambda: f64) -> SoftGraph {
    let rings = rings();
    let loss = factor_graph::StateLoss::default();
    SoftGraph::of_graphs(rings.shape(), rings.data(), loss, lambda, 1.0).expect("valid graphs")
}

/// Three pictures of 3 × 2 pixels with two labels, dark and bright.
#[allow(clippy::missing_panics_doc)]
pub fn patches() -> Potts {
    let mut data = PottsGraphs::new();
    for bright in [[0, 1, 1, 0, 1, 0], [0, 0, 1, 0, 1, 1], [1, 1, 1, 0, 0, 0]] {
        for (at, label) in bright.into_iter().enumerate() {
            let noise = 0.6 * ((7 * at + 3) % 5) as f64 / 4.0;
            let attributes = [(0, f64::from(label) - noise), (1, 1.0)];
            data.push_node(attributes, label, 1.0).expect("a valid node");
        }
        for (a, b) in potts::grid_edges(3, 2, false) {
            data.push_edge(a, b, [(0, 1.0)]).expect("a valid edge");
        }
        data.end_graph(1.0).expect("a graph with nodes");
    }
    let (shape, loss) = (PottsShape::new(2, 2, 1), potts::NodeLoss::HAMMING);
    Potts::new(shape, data, loss, potts::PottsInference::Auto).expect("valid graphs")
}

/// Three examples of two parts on a grid of 4 × 3 places; the second has two kinds.
#[allow(clippy::missing_panics_doc)]
pub fn limbs() -> Tree {
    let nodes = vec![TreeNode::root(1, 1), TreeNode::root(2, 1).child_of(0)];
    let mut data = TreeExamples::new(TreeShape::new(nodes, 1.0).expect("a tree"));
    for at in 0..3u32 {
        let mut maps = vec![0.0; 2 * 12];
        maps[at as usize] = 1.0;
        maps[12 + at as usize + 5] = 1.0;
        let below = State { kind: at % 2, x: at + 1, y: 1 };
        let truth = vec![State { kind: 0, x: at, y: 0 }, below];
        data.push(4, 3, maps, truth, &[], 1.0, 1.0).expect("a valid example");
    }
    Tree::new(data, TreeLoss::default()).expect("a valid problem")
}
