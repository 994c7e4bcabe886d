//! The LP relaxation of a factor graph.
//!
//! A labelling is replaced by *marginals*: masses μ_v(y_v) of the states of each variable and μ_c(y_c) of
//! the joint states of each factor. They must be consistent where they meet,
//!
//! ```text
//! μ ≥ 0,    Σ_y μ_v(y) = 1,    Σ_{y_c with y_v = y} μ_c(y_c) = μ_v(y)   for v in c,
//! ```
//!
//! and the set of all consistent marginals is the *local polytope*. Every labelling is a corner of it,
//! and on a forest there are no other corners. In general there are others, with fractional masses, so
//! the largest value Σ θ·μ over the polytope is an upper bound of the score of the best labelling. Its
//! dual,
//!
//! ```text
//! min over δ of  Σ_v max_y (θ_v(y) + Σ_{c∋v} δ_cv(y)) + Σ_c max_{y_c} (θ_c(y_c) − Σ_{v∈c} δ_cv(y_v)),
//! ```
//!
//! is an upper bound at *any* δ.
//!
//! A factor that is given by patterns has masses of patterns instead, and [flows](super::pattern_flow) that have
//! these masses as marginals. Its part of the polytope is the same as with all of its joint states, which may be
//! very many.

use super::labelling::Labelling;
use super::lp::{LinearProgram, LpError, SolveLp};
use super::pattern_flow;
use super::pattern_search::PatternScratch;
use super::patterns::Patterns;
use super::polytope_repair::Repair;
use super::topology::{Topology, argmax};
use crate::problem::sparse::SparseVec;

/// The largest common denominator that is tried for the masses of a corner.
const MOST_DENOMINATOR: u32 = 64;

/// The size that costs are scaled to. The tolerances of solvers are absolute, and those for costs are not
/// tight.
const LARGEST_COST: f64 = 16384.0;

/// The largest error of the masses of a solver.
const SOLVER_ERROR: f64 = 1e-6;

/// Solves relaxations. It reuses its memory.
///
/// ```
/// use maxmargin::inference::algorithms::LocalPolytope;
/// use maxmargin::inference::SimplexMethod;
/// use maxmargin::inference::Labelling;
/// use maxmargin::inference::Topology;
///
/// // Three variables, no two of which like to be in the same state: two pairs at best.
/// let triangle = Topology::new([2; 3], [[0, 1], [1, 2], [0, 2]])?;
/// let mut scores = vec![0.0; triangle.size()];
/// for factor in 0..3 {
///     scores[triangle.table(factor)].copy_from_slice(&[0.0, 1.0, 1.0, 0.0]);
/// }
/// let (mut polytope, mut corner) = (LocalPolytope::default(), Labelling::default());
/// let value = polytope.maximise(&SimplexMethod, &triangle, &scores, &mut corner)?;
/// assert_eq!(value, 3.0); // all three, with one half on each state
/// assert!(corner.is_fractional());
/// assert_eq!(polytope.bound(&SimplexMethod, &triangle, &scores)?, 3.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct LocalPolytope {
    lp: LinearProgram,
    /// The masses of all parts, and then the flows of patterns.
    masses: Vec<f64>,
    counts: Vec<u32>,
    deltas: Vec<f64>,
    repair: Repair,
}

impl LocalPolytope {
    /// Finds a corner of the local polytope with the largest score, and returns that score. The masses
    /// are consistent up to rounding, even if those of the solver are less accurate.
    ///
    /// # Errors
    /// The solver has failed.
    ///
    /// # Panics
    /// If there are too few scores.
    pub fn maximise(
        &mut self,
        solver: &dyn SolveLp,
        graph: &Topology,
        scores: &[f64],
        corner: &mut Labelling,
    ) -> Result<f64, LpError> {
        self.build(graph, scores);
        solver.solve(&self.lp, &mut self.masses)?;
        corner.states.clear();
        corner.marginals.clear();
        let nodes = |v: usize| argmax(&self.masses[graph.node(v)]);
        corner.states.extend((0..graph.variables()).map(|v| nodes(v).0 as u32));
        if (0..graph.variables()).all(|v| nodes(v).1 >= 1.0 - SOLVER_ERROR) {
            return Ok(graph.value(scores, &corner.states));
        }
        if !self.snap() {
            self.repair.run(graph, &mut self.masses);
        }
        let parts = self.masses[..graph.size()].iter().enumerate();
        for (at, &mass) in parts.filter(|(_, mass)| **mass > 0.0) {
            corner.marginals.push(at as u64, mass);
        }
        Ok(corner.marginals.dot_dense(scores))
    }

    /// Returns an upper bound of the score of every labelling, from a dual solution of the relaxation. It
    /// equals the value of the relaxation up to the precision of the solver, and is never below it.
    ///
    /// # Errors
    /// The solver has failed.
    ///
    /// # Panics
    /// If there are too few scores.
    pub fn bound(
        &mut self,
        solver: &dyn SolveLp,
        graph: &Topology,
        scores: &[f64],
    ) -> Result<f64, LpError> {
        let scale = self.build(graph, scores);
        solver.solve_dual(&self.lp, &mut self.masses)?;
        // The multipliers of the rows that make factors and variables agree are the δ. For rows that are
        // left out, δ is 0.
        self.deltas.clear();
        self.deltas.resize(graph.messages_size(), 0.0);
        let mut multipliers = self.masses[graph.variables()..].iter();
        for factor in 0..graph.factors() {
            for slot in 0..graph.scope(factor).len() {
                let range = graph.message(factor, slot);
                for delta in &mut self.deltas[range.start + usize::from(slot > 0)..range.end] {
                    *delta = scale * multipliers.next().copied().unwrap_or_default();
                }
            }
        }
        Ok(dual_bound(graph, scores, &self.deltas))
    }

    /// Builds the program, and returns the number that scores were divided by. Subtracting its largest
    /// score from a table keeps the best corners and makes numbers smaller.
    fn build(&mut self, graph: &Topology, scores: &[f64]) -> f64 {
        let lp = &mut self.lp;
        lp.clear();
        let tables = (0..graph.variables()).map(|v| (graph.node(v), false));
        let factors = (0..graph.factors()).map(|c| (graph.table(c), graph.patterns(c).is_some()));
        for (range, has_patterns) in tables.chain(factors) {
            // The masses of patterns do not sum to 1.
            let most = match has_patterns {
                true => 0.0,
                false => scores[range.clone()].iter().copied().fold(f64::NEG_INFINITY, f64::max),
            };
            lp.objective.extend(scores[range].iter().map(|score| score - most));
        }
        lp.objective.resize(graph.size() + pattern_flow::size(graph), 0.0);
        let scale = scale_costs(&mut lp.objective);

        for v in 0..graph.variables() {
            lp.push_row(graph.node(v).map(|at| (at as u32, 1.0)), 1.0);
        }
        let mut flows = graph.size();
        for factor in 0..graph.factors() {
            if let Some(patterns) = graph.patterns(factor) {
                pattern_flow::push_marginals(lp, graph, factor, patterns, flows);
                flows += patterns.step_count();
                continue;
            }
            for (slot, &v) in graph.scope(factor).iter().enumerate() {
                let (stride, node) = (graph.stride(factor, slot), graph.node(v as usize));
                let states = node.len();
                // For all variables but the first, one row follows from the others.
                for y in usize::from(slot > 0)..states {
                    let table = graph.table(factor).enumerate();
                    let own = table.filter(move |(joint, _)| joint / stride % states == y);
                    let entries = own.map(|(_, at)| (at as u32, 1.0));
                    lp.push_row(entries.chain([((node.start + y) as u32, -1.0)]), 0.0);
                }
            }
        }
        // `bound` does not need the multipliers of these rows, so they come last.
        pattern_flow::push_flows(lp, graph);
        scale
    }

    /// Makes the masses exact if they have a small common denominator, as those of most corners do.
    /// Returns whether the exact masses are consistent, which is checked in whole numbers.
    fn snap(&mut self) -> bool {
        let Some(denominator) = common_denominator(&self.masses) else { return false };
        let d = f64::from(denominator);
        self.counts.clear();
        self.counts.extend(self.masses.iter().map(|mass| (mass * d).round().max(0.0) as u32));
        let counts = &self.counts;
        // All coefficients are 1 or −1, and all right sides 0 or 1. The rows that are left out follow from the others.
        let is_kept = |(row, right): (&[(u32, f64)], f64)| {
            let terms = row.iter().map(|&(at, sign)| sign as i64 * i64::from(counts[at as usize]));
            terms.sum::<i64>() == right as i64 * i64::from(denominator)
        };
        if !self.lp.rows().all(is_kept) {
            return false;
        }
        let exact = counts.iter().map(|&count| f64::from(count) / d);
        self.masses.iter_mut().zip(exact).for_each(|(mass, exact)| *mass = exact);
        true
    }
}

/// Scales costs such that the largest has a suitable size for solvers, and returns the number that they
/// were divided by.
pub(crate) fn scale_costs(costs: &mut [f64]) -> f64 {
    let largest = costs.iter().fold(0.0f64, |most, cost| most.max(cost.abs()));
    let scale = if largest > 0.0 { largest / LARGEST_COST } else { 1.0 };
    costs.iter_mut().for_each(|cost| *cost /= scale);
    scale
}

/// Returns the smallest d ≥ 2 such that all masses are multiples of 1/d up to errors of the solver, if
/// there is a small one.
pub(crate) fn common_denominator(masses: &[f64]) -> Option<u32> {
    let near = |mass: f64, d: f64| (mass * d - (mass * d).round()).abs() <= d * SOLVER_ERROR;
    let fits = |d: &u32| masses.iter().all(|&mass| near(mass, f64::from(*d)));
    (2..=MOST_DENOMINATOR).find(fits)
}

/// The dual of the relaxation at `deltas`, which is an upper bound of the score of every labelling, for
/// any `deltas`. There is one number for each factor, each of its variables and each state of the
/// variable, in this order.
///
/// ```
/// use maxmargin::inference::algorithms::dual_bound;
/// use maxmargin::inference::Topology;
///
/// let graph = Topology::new([2, 2], [[0, 1]])?;
/// let scores = [0.0, 1.0,  0.0, 0.0,  5.0, 0.0, 0.0, 0.0];
/// assert_eq!(dual_bound(&graph, &scores, &[0.0; 4]), 6.0);
/// assert_eq!(dual_bound(&graph, &scores, &[1.0, 0.0, 0.0, 0.0]), 5.0); // the best labelling's
/// # Ok::<(), maxmargin::inference::TopologyError>(())
/// ```
///
/// # Panics
/// If there are too few scores or deltas.
pub fn dual_bound(graph: &Topology, scores: &[f64], deltas: &[f64]) -> f64 {
    let mut shifted = scores[..graph.size()].to_vec();
    let (mut scratch, mut taken, mut bound) = (PatternScratch::default(), Vec::new(), 0.0);
    for factor in 0..graph.factors() {
        let patterns = graph.patterns(factor);
        taken.clear();
        for (slot, &v) in graph.scope(factor).iter().enumerate() {
            let own = &deltas[graph.message(factor, slot)];
            let node = &mut shifted[graph.node(v as usize)];
            node.iter_mut().zip(own).for_each(|(score, delta)| *score += delta);
            match patterns {
                Some(_) => taken.extend(own.iter().map(|delta| -delta)),
                None => graph.for_each_state(factor, slot, |at, y| shifted[at] -= own[y]),
            }
        }
        bound += match patterns {
            Some(patterns) => {
                let table = &scores[graph.table(factor)];
                patterns.maximise(&taken, table, None, &mut scratch, |_, _| {})
            }
            None => argmax(&shifted[graph.table(factor)]).1,
        };
    }
    let nodes = (0..graph.variables()).map(|v| argmax(&shifted[graph.node(v)]).1);
    nodes.sum::<f64>() + bound
}

/// Checks that masses are a point of the local polytope, to `slack` in every mass. For masses of patterns, it
/// checks a necessary condition: no pattern has a larger mass than any of its states.
///
/// ```
/// use maxmargin::SparseVec;
/// use maxmargin::inference::algorithms::check_consistency;
/// use maxmargin::inference::Topology;
///
/// let graph = Topology::new([2, 2], [[0, 1]])?;
/// let mut masses = SparseVec::new();
/// graph.push_parts(&[1, 0], &mut masses);
/// assert_eq!(check_consistency(&graph, &masses, 0.0), Ok(()));
/// masses.scale(0.5);
/// assert!(check_consistency(&graph, &masses, 0.0).is_err());
/// # Ok::<(), maxmargin::inference::TopologyError>(())
/// ```
///
/// # Errors
/// Returns a description of what is violated.
pub fn check_consistency(graph: &Topology, masses: &SparseVec, slack: f64) -> Result<(), String> {
    if !masses.is_finite() {
        return Err("a mass is not finite".to_owned());
    }
    // Collect the masses, and refuse negative ones.
    let mut dense = vec![0.0; graph.size()];
    for &(at, mass) in masses.entries() {
        let Some(entry) = usize::try_from(at).ok().and_then(|at| dense.get_mut(at)) else {
            return Err(format!("it has a part that does not exist: {at}"));
        };
        if mass < -slack {
            return Err(format!("a mass is negative: {mass:e}"));
        }
        *entry += mass;
    }
    for v in 0..graph.variables() {
        let sum: f64 = dense[graph.node(v)].iter().sum();
        if (sum - 1.0).abs() > slack {
            return Err(format!("the masses of variable {v} sum to {sum}, not to 1"));
        }
    }
    let mut left = Vec::new();
    for factor in 0..graph.factors() {
        if let Some(patterns) = graph.patterns(factor) {
            check_patterns(graph, factor, patterns, &dense, slack)?;
            continue;
        }
        for (slot, &v) in graph.scope(factor).iter().enumerate() {
            left.clear();
            left.extend_from_slice(&dense[graph.node(v as usize)]);
            graph.for_each_state(factor, slot, |at, y| left[y] -= dense[at]);
            if let Some(y) = left.iter().position(|left| left.abs() > slack) {
                let off = left[y];
                return Err(format!(
                    "state {y} of variable {v} and its factor {factor} differ by {off:e}"
                ));
            }
        }
    }
    Ok(())
}

fn check_patterns(
    graph: &Topology,
    factor: usize,
    patterns: &Patterns,
    masses: &[f64],
    slack: f64,
) -> Result<(), String> {
    let (scope, own) = (graph.scope(factor), &masses[graph.table(factor)]);
    for (pattern, (row, &mass)) in patterns.rows().iter().zip(own).enumerate() {
        let states = row.iter().zip(scope).filter_map(|(state, v)| Some((*v as usize, (*state)?)));
        let masses = states.map(|(v, state)| masses[graph.node(v).start + state as usize]);
        if mass > masses.fold(1.0, f64::min) + slack {
            return Err(format!(
                "pattern {pattern} of factor {factor} has the mass {mass}, more than one of its states"
            ));
        }
    }
    Ok(())
}
