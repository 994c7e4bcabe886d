//! Random small factor graphs, and the simplest methods to decode them.

use super::qp;
use clarabel::algebra::CscMatrix;
use maxmargin::Rng;
use maxmargin::inference::Topology;
use maxmargin::inference::{LinearProgram, LpError, SolveLp};
use proptest::collection::vec;
use proptest::prelude::*;

/// A structure in the simplest form: numbers of states, and sets of variables.
#[derive(Debug, Clone)]
pub struct Structure {
    pub states: Vec<usize>,
    pub factors: Vec<Vec<u32>>,
}

impl Structure {
    pub fn topology(&self) -> Topology {
        Topology::new(self.states.iter().copied(), &self.factors).unwrap()
    }

    /// All labellings, in lexicographic order.
    pub fn labellings(&self) -> Vec<Vec<u32>> {
        let mut all = vec![Vec::new()];
        for &states in &self.states {
            let longer = |y: &Vec<u32>| {
                let y = y.clone();
                (0..states as u32).map(move |state| y.iter().copied().chain([state]).collect())
            };
            all = all.iter().flat_map(longer).collect();
        }
        all
    }

    /// The first index of each table of scores, variables first, then factors, and the end of all.
    pub fn offsets(&self) -> Vec<usize> {
        let tables =
            self.factors.iter().map(|c| c.iter().map(|&v| self.states[v as usize]).product());
        let mut offsets = vec![0];
        for size in self.states.iter().copied().chain(tables) {
            offsets.push(offsets[offsets.len() - 1] + size);
        }
        offsets
    }

    /// The places of a labelling's scores.
    pub fn places(&self, y: &[u32]) -> Vec<usize> {
        let (offsets, n) = (self.offsets(), self.states.len());
        let nodes = y.iter().enumerate().map(|(v, &state)| offsets[v] + state as usize);
        let tables = self.factors.iter().enumerate().map(|(c, scope)| {
            let joint = scope
                .iter()
                .fold(0, |joint, &v| joint * self.states[v as usize] + y[v as usize] as usize);
            offsets[n + c] + joint
        });
        nodes.chain(tables).collect()
    }

    pub fn value(&self, scores: &[f64], y: &[u32]) -> f64 {
        self.places(y).into_iter().map(|at| scores[at]).sum()
    }

    /// The largest score of all labellings.
    pub fn best(&self, scores: &[f64]) -> f64 {
        let all = self.labellings();
        all.iter().map(|y| self.value(scores, y)).fold(f64::NEG_INFINITY, f64::max)
    }

    /// The equations of the local polytope, term by term from the definition.
    pub fn equations(&self) -> Vec<(Vec<(usize, f64)>, f64)> {
        let (offsets, n) = (self.offsets(), self.states.len());
        let mut rows = Vec::new();
        for (v, &states) in self.states.iter().enumerate() {
            rows.push(((0..states).map(|y| (offsets[v] + y, 1.0)).collect(), 1.0));
        }
        for (c, scope) in self.factors.iter().enumerate() {
            let local = Structure {
                states: scope.iter().map(|&v| self.states[v as usize]).collect(),
                factors: Vec::new(),
            };
            let joint_states = local.labellings();
            for (slot, &v) in scope.iter().enumerate() {
                for y in 0..self.states[v as usize] {
                    let mut row = vec![(offsets[v as usize] + y, -1.0)];
                    for (joint, states) in joint_states.iter().enumerate() {
                        if states[slot] as usize == y {
                            row.push((offsets[n + c] + joint, 1.0));
                        }
                    }
                    rows.push((row, 0.0));
                }
            }
        }
        rows
    }

    /// The value of the relaxation over the local polytope, by an interior point method.
    pub fn relaxed(&self, scores: &[f64]) -> f64 {
        let size = scores.len();
        let scale = scores.iter().fold(1e-300f64, |most, score| most.max(score.abs()));
        let costs: Vec<f64> = scores.iter().map(|score| -score / scale).collect();
        let none = CscMatrix::zeros((size, size));
        let x = qp::minimise(&none, &costs, &self.equations(), 1e-9);
        x.iter().zip(scores).map(|(x, score)| x * score).sum()
    }
}

/// Any small structure: cycles, factors of two and three variables, several over the same ones,
/// single states, variables without factors.
pub fn any_structure() -> impl Strategy<Value = Structure> {
    vec(1usize..=3, 1..=5)
        .prop_flat_map(|states| {
            let n = states.len();
            let all: Vec<u32> = (0..n as u32).collect();
            let factor = proptest::sample::subsequence(all, 2.min(n)..=3.min(n)).prop_shuffle();
            let factors = if n < 2 { Just(Vec::new()).boxed() } else { vec(factor, 0..=5).boxed() };
            (Just(states), factors)
        })
        .prop_map(|(states, factors)| Structure { states, factors })
}

/// Structures without cycles.
pub fn any_forest() -> impl Strategy<Value = Structure> {
    (vec(1usize..=3, 1..=6), any::<u64>()).prop_map(|(states, seed)| {
        let (mut rng, mut factors) = (Rng::new(seed), Vec::new());
        let mut v = 1;
        while v < states.len() {
            // A factor over one earlier variable and one or two new ones, or no factor.
            let new = (1 + rng.below(2)).min(states.len() - v);
            let mut scope: Vec<u32> = (v..v + new).map(|v| v as u32).collect();
            scope.push(rng.below(v) as u32);
            rng.shuffle(&mut scope);
            if rng.below(5) > 0 {
                factors.push(scope);
            }
            v += new;
        }
        Structure { states, factors }
    })
}

/// Graphs with two states per variable and two variables per factor.
pub fn any_binary_pairwise() -> impl Strategy<Value = Structure> {
    (2usize..=6, any::<u64>()).prop_map(|(n, seed)| {
        let (mut rng, mut factors) = (Rng::new(seed), Vec::new());
        for i in 0..n as u32 {
            for j in 0..i {
                for _ in 0..[0, 1, 1, 2][rng.below(4)] {
                    factors.push(if rng.below(2) == 0 { vec![i, j] } else { vec![j, i] });
                }
            }
        }
        Structure { states: vec![2; n], factors }
    })
}

/// Numbers of several kinds: real, zero, small whole numbers (with many ties), huge, and of very
/// different sizes.
pub fn numbers(kind: usize, count: usize, seed: u64) -> Vec<f64> {
    let mut rng = Rng::new(seed);
    let mut draw = || match kind {
        0 => 4.0 * rng.unit_f64() - 2.0,
        1 => 0.0,
        2 => rng.below(3) as f64 - 1.0,
        3 => 1e12 * (2.0 * rng.unit_f64() - 1.0),
        _ => (2.0 * rng.unit_f64() - 1.0) * 10f64.powi(rng.below(12) as i32 - 6),
    };
    (0..count).map(|_| draw()).collect()
}

pub const KINDS: std::ops::Range<usize> = 0..5;

/// The size of the terms of a score.
pub fn magnitude(scores: &[f64]) -> f64 {
    1.0 + scores.iter().map(|x| x.abs()).sum::<f64>()
}

/// A solver of linear programs that always fails.
#[derive(Debug)]
pub struct NeverSolves;

impl SolveLp for NeverSolves {
    fn solve(&self, _: &LinearProgram, _: &mut Vec<f64>) -> Result<(), LpError> {
        Err(LpError { solver: "lazy", why: "it is late".into() })
    }

    fn solve_dual(&self, _: &LinearProgram, _: &mut Vec<f64>) -> Result<(), LpError> {
        Err(LpError { solver: "lazy", why: "it is late".into() })
    }
}
