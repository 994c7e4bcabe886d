//! A recipe carried out: the problem as the engine sees it, and the truth about it.

use crate::common::graphs::{NeverSolves, Structure};
use crate::common::multilabels::LabelCase;
use crate::common::problems::{Careless, Enumerated, EnumeratedBlock, Spoiled, ViaPsi};
use crate::data::{Data, SoftCase};

use crate::recipe::{Lp, Recipe};
use crate::truth::{Explicit, Polytope, Truth};
use maxmargin::inference::Inference;
use maxmargin::inference::{LinearProgram, LpError, SimplexMethod, SolveLp};
use maxmargin::kernel::{JointProblem, Kernel, Kernelised, NodeInputs};
use maxmargin::model::factor_graph::StateLoss;
use maxmargin::model::soft::{SoftError, SoftGraph};
use maxmargin::{Blocks, Bounded, Enumerable, Problem, Rng, SlackRescaled, SparseVec};
use std::sync::Arc;

pub(crate) struct Instance {
    pub(crate) problem: Box<dyn Blocks + Send>,
    pub(crate) truth: Truth,
}

/// Gives up on some programs, as their numbers will have it.
#[derive(Debug)]
struct SometimesSolves;

impl SometimesSolves {
    fn check(lp: &LinearProgram) -> Result<(), LpError> {
        let bits = lp.objective.iter().fold(0u64, |bits, x| bits.rotate_left(9) ^ x.to_bits());
        match Rng::new(bits).below(3) {
            0 => Err(LpError { solver: "lazy", why: "it is late".into() }),
            _ => Ok(()),
        }
    }
}

impl SolveLp for SometimesSolves {
    fn solve(&self, lp: &LinearProgram, x: &mut Vec<f64>) -> Result<(), LpError> {
        Self::check(lp)?;
        SimplexMethod.solve(lp, x)
    }
    fn solve_dual(&self, lp: &LinearProgram, y: &mut Vec<f64>) -> Result<(), LpError> {
        Self::check(lp)?;
        SimplexMethod.solve_dual(lp, y)
    }
}

fn lp_solver(lp: Lp) -> Arc<dyn SolveLp> {
    match lp {
        Lp::Simplex => Arc::new(SimplexMethod),
        Lp::Never => Arc::new(NeverSolves),
        Lp::Sometimes => Arc::new(SometimesSolves),
    }
}

fn told(error: impl std::fmt::Display) -> String {
    error.to_string()
}

impl Recipe {
    /// Number of weights, without a kernel.
    pub(crate) fn dim(&self) -> usize {
        match &self.data {
            Data::Chain(case) => case.dim(),
            Data::Binary(case) => case.x(0).len(),
            Data::Multiclass(case) => case.x(0).len() * case.classes,
            Data::Labels(case) => case.shape.dim(),
            Data::Graphs(case) => case.dim(),
            Data::Potts(case) => case.shape.dim(),
            Data::Tree(case) => case.shape.dim(),
            Data::Matching(case) => case.shape.attributes,
            Data::Segments(case) => case.shape.dim(),
            Data::Soft(case) => soft(case).map_or(0, |problem| problem.dim()),
            Data::Plain(case) | Data::Careless(case) | Data::Spoiled(case, _) => case.dim,
            Data::Joint(case) => case.explicit().rows.len(),
        }
    }

    /// Builds the problem, and writes down the truth about it.
    ///
    /// # Errors
    /// What a constructor has said that refuses the recipe.
    pub(crate) fn build(&self) -> Result<Instance, String> {
        let problem = self.problem()?;
        let (mut data, mut explicit) = (self.data.clone(), None);
        if let Some(kernel) = self.kernel {
            explicit = Some(data.make_explicit(kernel));
        }
        if let Data::Joint(case) = &data {
            explicit = Some(case.explicit());
        }
        let dense = data.enumerate()?;
        let dense = if self.slack { rescaled(dense) } else { dense };
        let relaxed = if self.slack { None } else { data.polytopes() };
        let bounds = problem.bounds().cloned();
        if let Some(asked) = self.bounds.as_ref().filter(|bounds| !bounds.are_none()) {
            let kept = bounds.as_ref().expect("bounds were asked for");
            let tighter = |(at, (&low, &high)): (usize, (&f64, &f64))| {
                kept.lower()[at] >= low && kept.upper()[at] <= high
            };
            let mut all = asked.lower().iter().zip(asked.upper()).enumerate();
            assert!(all.all(tighter), "{kept:?} allows more than {asked:?}");
        }
        assert_eq!(problem.dim(), dense.dim, "the number of weights");
        assert_eq!(problem.examples(), dense.blocks.len(), "the number of examples");
        let shares = self.shares(&dense);
        Ok(Instance { problem, truth: Truth { dense, shares, bounds, explicit, relaxed } })
    }

    fn problem(&self) -> Result<Box<dyn Blocks + Send>, String> {
        let bounds = if self.bounded { None } else { self.bounds.clone() };
        match &self.data {
            Data::Chain(case) => self.with_inputs(case.build().with_bounds(bounds)),
            Data::Binary(case) => self.enumerable(case.binary()),
            Data::Multiclass(case) => self.with_inputs(case.multiclass()),
            Data::Labels(case) => {
                let problem = case.try_build(self.inference).map_err(told)?;
                self.with_inputs(problem.with_bounds(bounds).with_solver(lp_solver(self.lp)))
            }
            Data::Graphs(case) => {
                let problem = case.try_build(self.inference).map_err(told)?;
                let problem = problem.with_bounds(bounds).with_solver(lp_solver(self.lp));
                self.enumerable(problem)
            }
            Data::Potts(case) => {
                let problem = case.try_build(self.graph_inference).map_err(told)?;
                let problem = problem.with_bounds(bounds).map_err(told)?;
                self.searched(problem.with_solver(lp_solver(self.lp)))
            }
            Data::Tree(case) => self.searched(case.build().with_bounds(bounds).map_err(told)?),
            Data::Matching(case) => self.searched(case.build().with_bounds(bounds)),
            Data::Segments(case) => self.searched(case.build().with_bounds(bounds)),
            Data::Soft(case) => Ok(self.wrapped(soft(case).map_err(told)?)),
            Data::Plain(case) => self.searched(case.clone()),
            Data::Careless(case) => self.searched(Careless(case.clone())),
            Data::Spoiled(case, best) => {
                Ok(self.wrapped(Spoiled { inner: case.clone(), best: *best }))
            }
            Data::Joint(case) => {
                Ok(self.wrapped(JointProblem::new(case.clone(), 1 << 16).map_err(told)?))
            }
        }
    }

    fn with_inputs<P>(&self, problem: P) -> Result<Box<dyn Blocks + Send>, String>
    where
        P: NodeInputs + Enumerable + Problem<Output: 'static, Workspace: 'static> + Send + 'static,
    {
        match self.kernel {
            None => self.enumerable(problem),
            Some(kernel) => Ok(Box::new(Kernelised::new(problem, kernel, 1 << 16).map_err(told)?)),
        }
    }

    fn enumerable<P>(&self, problem: P) -> Result<Box<dyn Blocks + Send>, String>
    where
        P: Enumerable + Problem<Output: 'static, Workspace: 'static> + Send + 'static,
    {
        match self.slack && !self.search {
            true => Ok(self.wrapped(SlackRescaled::new(problem))),
            false => self.searched(problem),
        }
    }

    fn searched<P>(&self, problem: P) -> Result<Box<dyn Blocks + Send>, String>
    where
        P: Problem<Output: 'static, Workspace: 'static> + Send + 'static,
    {
        match self.slack {
            true => Ok(self.wrapped(SlackRescaled::by_search(problem).map_err(told)?)),
            false => Ok(self.wrapped(problem)),
        }
    }

    fn wrapped<P>(&self, problem: P) -> Box<dyn Blocks + Send>
    where
        P: Problem<Output: 'static, Workspace: 'static> + Send + 'static,
    {
        match &self.bounds {
            Some(bounds) if self.bounded => Box::new(Bounded::new(problem, bounds.clone())),
            _ if self.via_psi => Box::new(ViaPsi(problem)),
            _ => Box::new(problem),
        }
    }

    fn shares(&self, dense: &Enumerated) -> Vec<f64> {
        match &self.data {
            // All blocks of a graph have its weight, and count as one.
            Data::Soft(case) => {
                let total: f64 = case.graphs.graphs.iter().map(|graph| graph.weight).sum();
                dense.blocks.iter().map(|block| block.weight / total).collect()
            }
            _ => (0..dense.blocks.len()).map(|i| dense.share(i)).collect(),
        }
    }
}

impl Data {
    fn enumerate(&self) -> Result<Enumerated, String> {
        Ok(match self {
            Self::Chain(case) => case.enumerate(),
            Self::Binary(case) => case.enumerate_binary(),
            Self::Multiclass(case) => case.enumerate(),
            Self::Labels(case) => case.enumerate(),
            Self::Graphs(case) => case.enumerate(),
            Self::Potts(case) => case.enumerate(),
            Self::Tree(case) => case.enumerate(),
            Self::Matching(case) => case.enumerate(),
            Self::Segments(case) => case.enumerate(),
            Self::Soft(case) => enumerate_soft(case, &soft(case).map_err(told)?),
            Self::Plain(case) | Self::Careless(case) | Self::Spoiled(case, _) => case.clone(),
            Self::Joint(case) => case.enumerate(),
        })
    }

    /// Puts explicit features in place of inputs, so that no kernel is needed.
    fn make_explicit(&mut self, kernel: Kernel) -> Explicit {
        match self {
            Self::Chain(case) => {
                let tokens = case.sequences.iter_mut().flat_map(|sequence| &mut sequence.tokens);
                let rows = explicit_rows(kernel, tokens.map(|token| &mut token.attributes));
                case.attributes = rows.len();
                Explicit { rows, labels: case.labels }
            }
            Self::Multiclass(case) => {
                let inputs = case.rows.iter_mut().map(|row| &mut row.attributes);
                let rows = explicit_rows(kernel, inputs);
                case.attributes = rows.len();
                Explicit { rows, labels: case.classes }
            }
            Self::Labels(case) => {
                let rows = explicit_rows(kernel, case.rows.iter_mut().map(|row| &mut row.0));
                case.shape.attributes = rows.len();
                Explicit { rows, labels: case.shape.labels }
            }
            other => panic!("there is no kernel for {}", other.kind()),
        }
    }

    /// The local polytopes of a relaxation.
    fn polytopes(&self) -> Option<Vec<Polytope>> {
        let all = |count: usize, polytope: &dyn Fn(usize) -> Polytope| {
            Some((0..count).map(polytope).collect())
        };
        match self {
            Self::Labels(case) => all(case.rows.len(), &|i| label_polytope(case, i)),
            Self::Graphs(case) => all(case.graphs.len(), &|i| Polytope {
                structure: case.structure(i),
                columns: case.part_features(i).into_iter().zip(case.part_losses(i)).collect(),
                truth: case.phi(i, &case.truth(i)),
            }),
            Self::Potts(case) => all(case.graphs.len(), &|i| Polytope {
                structure: case.structure(i),
                columns: case.columns(i),
                truth: case.phi(i, &case.truth(i)),
            }),
            _ => None,
        }
    }
}

/// Slack rescaling: every ψ(y) times L(y).
fn rescaled(mut dense: Enumerated) -> Enumerated {
    for (psi, loss) in dense.blocks.iter_mut().flat_map(|block| &mut block.corners) {
        psi.iter_mut().for_each(|x| *x *= *loss);
    }
    dense
}

/// Labels as variables with two states, of which the second has features, and pairs as factors.
fn label_polytope(case: &LabelCase, i: usize) -> Polytope {
    let (n, truth) = (case.shape.labels as u32, &case.rows[i].1);
    let mut columns = Vec::new();
    for label in 0..n {
        let others = truth.iter().copied().filter(|&other| other != label);
        let with: Vec<u32> = others.clone().chain([label]).collect();
        let without: Vec<u32> = others.collect();
        columns.push((case.phi(i, &[]), case.loss(i, &without)));
        columns.push((case.phi(i, &[label]), case.loss(i, &with)));
    }
    let singles = case.shape.labels * case.shape.attributes;
    for pair in 0..case.shape.pairs.len() {
        columns.extend((0..4).map(|joint| {
            let mut phi = case.phi(i, &[]);
            phi[singles + pair] = f64::from(joint == 3);
            (phi, 0.0)
        }));
    }
    let factors = case.shape.pairs.iter().map(|&(a, b)| vec![a, b]).collect();
    let structure = Structure { states: vec![2; n as usize], factors };
    Polytope { structure, columns, truth: case.phi(i, truth) }
}

fn soft(case: &SoftCase) -> Result<SoftGraph, SoftError> {
    let graphs = case.graphs.build(Inference::MaxProduct);
    let loss = StateLoss { normalised: case.graphs.normalised };
    let (shape, data) = (graphs.shape(), graphs.data());
    let mut problem = SoftGraph::of_graphs(shape, data, loss, case.lambda, case.rho)?;
    if let Some(smoothing) = case.smoothing {
        problem = problem.smoothed(smoothing)?;
    }
    if let Some(seed) = case.multipliers {
        let Err(SoftError::Multipliers { needed, .. }) =
            problem.clone().with_multipliers(vec![f64::NAN])
        else {
            panic!("what is no number is no multiplier");
        };
        let mut rng = Rng::new(seed);
        let multipliers = (0..needed).map(|_| rng.unit_f64() - 0.5).collect();
        problem = problem.with_multipliers(multipliers)?;
    }
    Ok(problem)
}

/// Every state of every block, by what the problem itself says of it.
fn enumerate_soft(case: &SoftCase, problem: &SoftGraph) -> Enumerated {
    let mut states = Vec::new();
    for i in 0..case.graphs.graphs.len() {
        let Structure { states: of, factors } = case.graphs.structure_apart(i);
        let tables = factors.iter().map(|scope| scope.iter().map(|&v| of[v as usize]).product());
        states.extend(of.iter().copied().chain(tables));
    }
    let block = |(i, &states): (usize, &usize)| {
        let corner = |state: u32| {
            let (mut psi, mut dense, y) = (SparseVec::new(), vec![0.0; problem.dim()], vec![state]);
            problem.psi(i, &y, &mut psi);
            psi.entries().iter().for_each(|&(at, x)| dense[at as usize] += x);
            (dense, problem.loss(i, &y))
        };
        let corners = (0..states as u32).map(corner).collect();
        EnumeratedBlock { weight: problem.weight(i), corners }
    };
    Enumerated { dim: problem.dim(), blocks: states.iter().enumerate().map(block).collect() }
}

/// Replaces inputs by explicit features with the same kernel: the rows of a factor of the Gram
/// matrix of all distinct inputs, in the order of their first appearance. Returns these rows.
fn explicit_rows<'a>(
    kernel: Kernel,
    inputs: impl Iterator<Item = &'a mut Vec<(u32, f64)>>,
) -> Vec<Vec<f64>> {
    let inputs: Vec<&mut Vec<(u32, f64)>> = inputs.collect();
    let most = inputs.iter().flat_map(|row| row.iter()).map(|&(a, _)| a as usize + 1).max();
    let dense = |row: &[(u32, f64)]| {
        let mut dense = vec![0.0; most.unwrap_or(0)];
        row.iter().for_each(|&(a, x)| dense[a as usize] += x);
        dense
    };
    let mut distinct: Vec<Vec<f64>> = Vec::new();
    let mut numbers = Vec::new();
    for row in &inputs {
        let row = dense(row);
        let known = distinct.iter().position(|other| *other == row);
        numbers.push(known.unwrap_or(distinct.len()));
        if known.is_none() {
            distinct.push(row);
        }
    }
    let rows = factor(distinct.len(), |a, b| entry_of(kernel, &distinct[a], &distinct[b]));
    for (input, number) in inputs.into_iter().zip(numbers) {
        *input = (0..).zip(rows[number].iter().copied()).filter(|(_, x)| *x != 0.0).collect();
    }
    rows
}

/// The kernel of two inputs, from its definition.
pub(crate) fn entry_of(kernel: Kernel, a: &[f64], b: &[f64]) -> f64 {
    let product = || a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let distance_sq = || a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>();
    match kernel {
        Kernel::Linear => product(),
        Kernel::Polynomial { degree, gamma, constant } => {
            (gamma * product() + constant).powi(degree as i32)
        }
        Kernel::Rbf { gamma } => (-gamma * distance_sq()).exp(),
    }
}

/// The rows of an L with LLᵀ = K, for a K that may be singular: column by column, always from the input
/// of which most is left.
pub(crate) fn factor(n: usize, entry: impl Fn(usize, usize) -> f64) -> Vec<Vec<f64>> {
    let mut rows = vec![vec![0.0; n]; n];
    let mut left: Vec<f64> = (0..n).map(|i| entry(i, i)).collect();
    let enough = 1e-15 * left.iter().copied().fold(0.0, f64::max);
    for column in 0..n {
        let pivot = (0..n).max_by(|&a, &b| left[a].total_cmp(&left[b])).unwrap_or(0);
        if left[pivot] <= enough {
            break;
        }
        let root = left[pivot].sqrt();
        for i in 0..n {
            let before: f64 = (0..column).map(|k| rows[i][k] * rows[pivot][k]).sum();
            rows[i][column] = (entry(i, pivot) - before) / root;
            left[i] -= rows[i][column].powi(2);
        }
        left[pivot] = 0.0;
    }
    rows
}
