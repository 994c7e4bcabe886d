//! What is true of a tiny problem, by trying out all outputs and by an interior point method.

use crate::common::graphs::Structure;
use crate::common::problems::Enumerated;
use crate::common::{dot, norm_sq};
use clarabel::algebra::CscMatrix;
use clarabel::solver::{
    DefaultSettingsBuilder, DefaultSolver, IPSolver, NonnegativeConeT, SupportedConeT,
};
use maxmargin::Bounds;

/// All that can be said about a problem without its own oracle.
#[derive(Debug)]
pub(crate) struct Truth {
    /// Every ψ and loss written out; with a kernel, in explicit features.
    pub(crate) dense: Enumerated,
    /// The weight of each example, divided by their sum.
    pub(crate) shares: Vec<f64>,
    pub(crate) bounds: Option<Bounds>,
    /// What takes the weights of a kernel to those of explicit features.
    pub(crate) explicit: Option<Explicit>,
    /// The relaxation that a decoder may solve in place of the problem.
    pub(crate) relaxed: Option<Vec<Polytope>>,
}

/// Explicit features of the inputs of a kernel: those of input m are row m of a factor of its Gram
/// matrix.
#[derive(Debug)]
pub(crate) struct Explicit {
    pub(crate) rows: Vec<Vec<f64>>,
    pub(crate) labels: usize,
}

/// The local polytope of an example: φ and loss of every mass, and φ of the truth.
#[derive(Debug)]
pub(crate) struct Polytope {
    pub(crate) structure: Structure,
    pub(crate) columns: Vec<(Vec<f64>, f64)>,
    pub(crate) truth: Vec<f64>,
}

impl Truth {
    /// The weights of explicit features; without a kernel, the weights as they are.
    pub(crate) fn explicit(&self, w: &[f64]) -> Vec<f64> {
        let Some(Explicit { rows, labels }) = &self.explicit else { return w.to_vec() };
        let inputs = rows.len() * labels;
        let mut explicit = vec![0.0; inputs];
        for (row, beta) in rows.iter().zip(w[..inputs].chunks_exact(*labels)) {
            for (out, x) in explicit.chunks_exact_mut(*labels).zip(row) {
                out.iter_mut().zip(beta).for_each(|(out, b)| *out += x * b);
            }
        }
        explicit.extend_from_slice(&w[inputs..]);
        explicit
    }

    /// P(w) by brute force, with explicit weights.
    pub(crate) fn primal(&self, lambda: f64, w: &[f64]) -> f64 {
        let hinge = |i: usize| {
            let all =
                (0..self.dense.blocks[i].corners.len()).map(|y| self.dense.augmented(i, y, w));
            all.fold(f64::NEG_INFINITY, f64::max)
        };
        let risk: f64 = (0..self.shares.len()).map(|i| self.shares[i] * hinge(i)).sum();
        0.5 * lambda * norm_sq(w) + risk
    }

    /// The size of the numbers that P(w) is made of.
    pub(crate) fn scale(&self, lambda: f64, w: &[f64]) -> f64 {
        let largest = |i: usize| {
            let corners = self.dense.blocks[i].corners.iter();
            let size = |(psi, loss): &(Vec<f64>, f64)| {
                loss.abs() + psi.iter().zip(w).map(|(x, w)| (x * w).abs()).sum::<f64>()
            };
            corners.map(size).fold(0.0, f64::max)
        };
        let risk: f64 = (0..self.dense.blocks.len()).map(|i| self.shares[i] * largest(i)).sum();
        1.0 + 0.5 * lambda * norm_sq(w) + risk
    }

    /// An upper bound of the optimum, as tight as the interior point method is precise: the objective
    /// of the weights that it has found.
    pub(crate) fn optimum(&self, lambda: f64) -> f64 {
        let mut program = Program::new(self.dense.dim, lambda, self.bounds.as_ref());
        for (i, block) in self.dense.blocks.iter().enumerate() {
            let slack = program.variables(&[self.shares[i]]);
            for (psi, loss) in &block.corners {
                program.push(psi.iter().map(|x| -x), *loss, &[(slack, 1.0)]);
            }
        }
        let (w, _) = program.solve();
        self.primal(lambda, &w).min(self.primal_at_rest(lambda))
    }

    fn primal_at_rest(&self, lambda: f64) -> f64 {
        let rest = |at: usize| self.bounds.as_ref().map_or(0.0, |bounds| bounds.clip(at, 0.0));
        self.primal(lambda, &(0..self.dense.dim).map(rest).collect::<Vec<_>>())
    }

    /// As [`optimum`](Self::optimum), of the relaxed problem.
    pub(crate) fn relaxed_optimum(&self, lambda: f64) -> Option<f64> {
        let polytopes = self.relaxed.as_ref()?;
        let mut program = Program::new(self.dense.dim, lambda, self.bounds.as_ref());
        let mut firsts = Vec::new();
        for (i, polytope) in polytopes.iter().enumerate() {
            program.reward(self.shares[i], &polytope.truth);
            firsts.push(polytope.constrain(&mut program, self.shares[i], None));
        }
        let (w, multipliers) = program.solve();
        let hinges = polytopes.iter().zip(firsts).enumerate();
        let risk: f64 = hinges
            .map(|(i, (polytope, first))| {
                self.shares[i] * polytope.bound(&w, &multipliers[first..])
            })
            .sum();
        Some(0.5 * lambda * norm_sq(&w) + risk)
    }

    /// The objective of the relaxed problem at explicit weights: a bound from above, as tight as the
    /// interior point method is precise.
    pub(crate) fn relaxed_primal(&self, lambda: f64, w: &[f64]) -> Option<f64> {
        let hinge = |(i, polytope): (usize, &Polytope)| {
            let mut program = Program::new(0, 1.0, None);
            polytope.constrain(&mut program, 1.0, Some(w));
            let (_, multipliers) = program.solve();
            self.shares[i] * polytope.bound(w, &multipliers)
        };
        let risk: f64 = self.relaxed.as_ref()?.iter().enumerate().map(hinge).sum();
        Some(0.5 * lambda * norm_sq(w) + risk)
    }
}

impl Polytope {
    /// Adds the multipliers of the polytope's equations to a program, and that they bound the scores of
    /// all masses: at weights that are variables, or at given ones.
    fn constrain(&self, program: &mut Program, share: f64, at: Option<&[f64]>) -> usize {
        let equations = self.structure.equations();
        let costs: Vec<f64> = equations.iter().map(|(_, right)| share * right).collect();
        let first = program.variables(&costs);
        let mut terms = vec![Vec::new(); self.columns.len()];
        for (row, (entries, _)) in equations.iter().enumerate() {
            entries.iter().for_each(|&(column, x)| terms[column].push((first + row, x)));
        }
        for ((phi, loss), terms) in self.columns.iter().zip(&terms) {
            match at {
                None => program.push(phi.iter().copied(), *loss, terms),
                Some(w) => program.push([], loss + dot(phi, w), terms),
            }
        }
        first
    }

    /// A bound of the hinge from above: with any messages at all, the sum of the best states of all
    /// variables and all factors on their own.
    fn bound(&self, w: &[f64], multipliers: &[f64]) -> f64 {
        let mut scores: Vec<f64> =
            self.columns.iter().map(|(phi, loss)| dot(phi, w) + loss).collect();
        let variables = self.structure.states.len();
        // The first equations are sums, whose multipliers are what is bounded here.
        for (row, (entries, _)) in self.structure.equations().iter().enumerate().skip(variables) {
            entries.iter().for_each(|&(column, x)| scores[column] -= x * multipliers[row]);
        }
        let offsets = self.structure.offsets();
        let best = |table: &[usize]| {
            scores[table[0]..table[1]].iter().copied().fold(f64::NEG_INFINITY, f64::max)
        };
        offsets.windows(2).map(best).sum::<f64>() - dot(w, &self.truth)
    }
}

/// min λ/2 ‖w‖² + ⟨c, (w, x)⟩ where all of some linear functions of w and x are at most 0. The variable
/// is √λ·w, so that λ may be of any size.
struct Program {
    dim: usize,
    root: f64,
    bounds: Option<Bounds>,
    costs: Vec<f64>,
    /// Rows, columns and entries of a matrix, and the right sides.
    triplets: (Vec<usize>, Vec<usize>, Vec<f64>),
    right: Vec<f64>,
}

impl Program {
    fn new(dim: usize, lambda: f64, bounds: Option<&Bounds>) -> Self {
        let (root, costs) = (lambda.sqrt(), vec![0.0; dim]);
        let triplets = (Vec::new(), Vec::new(), Vec::new());
        let mut program =
            Self { dim, root, bounds: bounds.cloned(), costs, triplets, right: Vec::new() };
        for feature in 0..dim {
            let Some(bounds) = bounds else { break };
            for (sign, bound) in [(-1.0, -bounds.lower()[feature]), (1.0, bounds.upper()[feature])]
            {
                if bound.is_finite() {
                    program.entry(feature, sign);
                    program.right.push(root * bound);
                }
            }
        }
        program
    }

    /// Adds variables with these costs; the first of their numbers.
    fn variables(&mut self, costs: &[f64]) -> usize {
        self.costs.extend_from_slice(costs);
        self.costs.len() - costs.len() - self.dim
    }

    /// Takes `share`·⟨w, φ⟩ off the objective.
    fn reward(&mut self, share: f64, phi: &[f64]) {
        self.costs.iter_mut().zip(phi).for_each(|(cost, x)| *cost -= share * x / self.root);
    }

    fn entry(&mut self, column: usize, value: f64) {
        if value != 0.0 {
            self.triplets.0.push(self.right.len());
            self.triplets.1.push(column);
            self.triplets.2.push(value);
        }
    }

    /// Adds ⟨w, φ⟩ + `constant` ≤ Σ of the given multiples of other variables.
    fn push(&mut self, phi: impl IntoIterator<Item = f64>, constant: f64, above: &[(usize, f64)]) {
        for (feature, x) in phi.into_iter().enumerate() {
            self.entry(feature, x / self.root);
        }
        above.iter().for_each(|&(at, x)| self.entry(self.dim + at, -x));
        self.right.push(-constant);
    }

    /// Weights and other variables of a solution, which keep bounds but may violate other rows by a
    /// little; a bad one if the method fails.
    fn solve(self) -> (Vec<f64>, Vec<f64>) {
        let (variables, rows) = (self.costs.len(), self.right.len());
        let diagonal: Vec<usize> = (0..self.dim).collect();
        let quadratic = CscMatrix::new_from_triplets(
            variables,
            variables,
            diagonal.clone(),
            diagonal,
            vec![1.0; self.dim],
        );
        let (i, j, x) = self.triplets;
        let matrix = CscMatrix::new_from_triplets(rows, variables, i, j, x);
        let settings = DefaultSettingsBuilder::default()
            .verbose(false)
            .tol_gap_abs(1e-10)
            .tol_gap_rel(1e-10)
            .tol_feas(1e-10)
            .max_iter(100)
            .build()
            .expect("sensible settings");
        let cones: [SupportedConeT<f64>; 1] = [NonnegativeConeT(rows)];
        let solver =
            DefaultSolver::new(&quadratic, &self.costs, &matrix, &self.right, &cones, settings);
        let mut solver = solver.expect("a program of matching sizes");
        solver.solve();
        let mut w = solver.solution.x;
        let mut others = w.split_off(self.dim);
        others.iter_mut().for_each(|x| *x = if x.is_finite() { *x } else { 0.0 });
        for (at, w) in w.iter_mut().enumerate() {
            *w = if w.is_finite() { *w / self.root } else { 0.0 };
            *w = self.bounds.as_ref().map_or(*w, |bounds| bounds.clip(at, *w));
        }
        (w, others)
    }
}
