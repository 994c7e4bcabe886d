//! Random small trees of parts, and dense versions of everything about them from the formulas.

use super::graphs::numbers;
use super::minus;
use super::problems::{Enumerated, EnumeratedBlock};
use maxmargin::Rng;
use maxmargin::model::tree::{State, Tree, TreeExamples, TreeLoss, TreeNode, TreeShape};
use proptest::prelude::*;

/// A small tree with its examples.
#[derive(Debug, Clone)]
pub struct TreeCase {
    pub shape: TreeShape,
    pub data: TreeExamples,
    pub loss: TreeLoss,
}

impl TreeCase {
    pub fn build(&self) -> Tree {
        Tree::new(self.data.clone(), self.loss).unwrap()
    }

    /// All states of all nodes.
    pub fn outputs(&self, i: usize) -> Vec<Vec<State>> {
        let (width, height) = self.data.grid(i);
        let mut all = vec![Vec::new()];
        for node in self.shape.nodes() {
            let states = (0..node.kinds * width * height).map(|at| {
                let place = at % (width * height);
                State {
                    kind: (at / (width * height)) as u32,
                    x: (place % width) as u32,
                    y: (place / width) as u32,
                }
            });
            let states: Vec<State> = states.collect();
            let longer = |y: &Vec<State>| {
                states.iter().map(|&state| [y.as_slice(), &[state]].concat()).collect::<Vec<_>>()
            };
            all = all.iter().flat_map(longer).collect();
        }
        all
    }

    pub fn phi(&self, i: usize, y: &[State]) -> Vec<f64> {
        let mut phi = Vec::new();
        let (width, _) = self.data.grid(i);
        for (node, own) in self.shape.nodes().iter().enumerate() {
            let state = y[node];
            for kind in 0..own.kinds as u32 {
                for map in 0..own.maps {
                    let value = self.data.map(i, node, map)[state.place(width)];
                    phi.push(if state.kind == kind { f64::from(value) } else { 0.0 });
                }
            }
            phi.extend((0..own.kinds as u32).map(|kind| f64::from(state.kind == kind)));
            let Some(parent) = own.parent else { continue };
            for kind in 0..own.kinds as u32 {
                for above in 0..self.shape.nodes()[parent].kinds as u32 {
                    phi.push(f64::from(state.kind == kind && y[parent].kind == above));
                }
            }
            for kind in (0..own.kinds).filter(|_| own.deforms) {
                let on = f64::from(state.kind as usize == kind);
                let (ax, ay) = own.anchors.get(kind).copied().unwrap_or((0.0, 0.0));
                let dx = (f64::from(state.x) - f64::from(y[parent].x) - ax) / self.shape.unit();
                let dy = (f64::from(state.y) - f64::from(y[parent].y) - ay) / self.shape.unit();
                phi.extend([dx * dx, dy * dy, dx, dy].map(|value| -on * value));
            }
            for kind in 0..own.kinds as u32 {
                for map in 0..own.parent_maps {
                    let value = self.data.map(i, node, own.maps + map)[y[parent].place(width)];
                    phi.push(if state.kind == kind { f64::from(value) } else { 0.0 });
                }
            }
        }
        phi
    }

    pub fn loss(&self, i: usize, y: &[State]) -> f64 {
        let terms = y.iter().zip(self.data.truth(i)).zip(self.data.shares(i));
        let term = |((a, b), share): ((&State, &State), &f64)| {
            let (dx, dy) = (f64::from(a.x) - f64::from(b.x), f64::from(a.y) - f64::from(b.y));
            let away = (dx * dx + dy * dy) / self.data.scale(i).powi(2);
            share * (away + if a.kind == b.kind { 0.0 } else { self.loss.kind_cost }).min(1.0)
        };
        terms.map(term).sum()
    }

    pub fn psi(&self, i: usize, y: &[State]) -> Vec<f64> {
        minus(&self.phi(i, self.data.truth(i)), &self.phi(i, y))
    }

    /// The same problem with every ψ and loss written out.
    pub fn enumerate(&self) -> Enumerated {
        let block = |i: usize| {
            let outputs = self.outputs(i);
            let corners = outputs.iter().map(|y| (self.psi(i, y), self.loss(i, y))).collect();
            EnumeratedBlock { weight: self.data.weight(i), corners }
        };
        let blocks = (0..self.data.len()).map(block).collect();
        Enumerated { dim: self.shape.dim(), blocks }
    }

    /// Weights that training could reach.
    pub fn weights(&self, kind: usize, seed: u64) -> Vec<f64> {
        let mut w = numbers(kind, self.shape.dim(), seed);
        for node in 0..self.shape.nodes().len() {
            for first in self.shape.deformation(node).step_by(4) {
                w[first..first + 2].iter_mut().for_each(|w| *w = w.abs());
            }
        }
        w
    }
}

/// Trees of up to three nodes on small grids.
pub fn any_tree(most_nodes: usize, most_side: usize) -> impl Strategy<Value = TreeCase> {
    any::<u64>().prop_map(move |seed| {
        let mut rng = Rng::new(seed);
        let n = 1 + rng.below(most_nodes);
        // Parents may come before or after their children.
        let turn = rng.below(n);
        let nodes: Vec<TreeNode> = (0..n)
            .map(|at| {
                let (kinds, maps) = (1 + rng.below(2), rng.below(3));
                let node = TreeNode::root(kinds, maps);
                let number = (at + turn) % n;
                if number == 0 || rng.below(6) == 0 {
                    return node;
                }
                let parent = (rng.below(number) + n - turn) % n;
                let anchors = (0..kinds)
                    .map(|_| (rng.below(3) as f64 - 1.0, 2.0 * rng.unit_f64() - 1.0))
                    .collect();
                let node = match rng.below(4) {
                    0 => node.child_of(parent).rigid(),
                    1 => node.child_of(parent),
                    _ => node.child_of(parent).with_anchors(anchors),
                };
                node.with_parent_maps((seed >> (at + 7)) as usize % 3)
            })
            .collect();
        let shape = TreeShape::new(nodes, 0.5 + rng.unit_f64()).unwrap();
        let mut data = TreeExamples::new(shape.clone());
        for _ in 0..1 + rng.below(2) {
            let (width, height) = (1 + rng.below(most_side), 1 + rng.below(2));
            let maps: usize = shape.nodes().iter().map(|node| node.maps + node.parent_maps).sum();
            let whole = rng.below(2) == 0;
            let value = |rng: &mut Rng| match whole {
                true => rng.below(3) as f32,
                false => rng.unit_f64() as f32 - 0.5,
            };
            let maps = (0..maps * width * height).map(|_| value(&mut rng)).collect();
            let truth = shape.nodes().iter().map(|node| State {
                kind: rng.below(node.kinds) as u32,
                x: rng.below(width) as u32,
                y: rng.below(height) as u32,
            });
            let truth = truth.collect();
            let weights: Vec<f64> = (0..n).map(|_| 0.5 + rng.unit_f64()).collect();
            let weights = if rng.below(2) == 0 { weights } else { Vec::new() };
            let scale = 0.5 + 2.0 * rng.unit_f64();
            data.push(width, height, maps, truth, &weights, scale, 0.5 + rng.unit_f64()).unwrap();
        }
        let loss = TreeLoss { kind_cost: [0.0, 0.3, 1.0][rng.below(3)] };
        TreeCase { shape, data, loss }
    })
}
