//! The relaxation of a labelled graph over the local polytope, for any number of labels.
//!
//! Nodes have masses x_v(y) ≥ 0 of labels that sum to one, and the ends of an edge disagree with a mass
//! that is possible for two such nodes. Given the masses of nodes, the best disagreement is known: the
//! smallest one if disagreement costs, the largest one if it pays. So the relaxation is a linear program
//! in x,
//!
//! ```text
//! max  Σ_v ⟨θ_v, x_v⟩ − Σ_{(u,v)} c_uv·d_uv
//!
//! d = Σ_y max(0, x_u(y) − x_v(y))          where c ≥ 0
//! d = 1 − Σ_y max(0, x_u(y) + x_v(y) − 1)    where c < 0
//! ```
//!
//! Linear programs are slow, and if all costs are ≥ 0, most nodes do not need one. Compare one label y
//! with all the others: find the set U that maximises
//!
//! ```text
//! F(U) = Σ_{v∈U} D_v − Σ_{u∈U, v∉U} c_uv,       D_v = θ_v(y) − max_{z≠y} θ_v(z),
//! ```
//!
//! which is a minimum cut. Some best point of the *relaxation* has the label y on all of U (Kovtun's
//! persistency, which holds for fractional points too): if any point x is changed to have y on U, then
//! with z = x(y) its value changes by at least
//!
//! ```text
//! Σ_U (1 − z_v)·D_v + Σ_{u,v∈U} c_uv·|z_u − z_v| − Σ_{u∈U, v∉U} c_uv·(1 − z_u) = ∫₀¹ F(U) − F(U ∖ S_t) dt ≥ 0,
//! ```
//!
//! where S_t are the nodes of U with z < t. Nodes that are decided in this way are added to the scores of
//! their neighbours. Labels take turns until none decides any more nodes. The remaining nodes form
//! connected pieces, each of which is a small linear program.

use super::labels::NodeLabels;
use super::search::{Network, Task};
use crate::inference::local_polytope::{common_denominator, scale_costs};
use crate::inference::lp::{LinearProgram, LpError, SolveLp};
use crate::util::sort;

/// Masses below this are rounding errors of the solver.
const LEAST_MASS: f64 = 1e-9;

/// An edge between two open nodes, with the cost of their disagreement.
#[derive(Debug, Clone, Copy)]
struct Link {
    ends: (u32, u32),
    cost: f64,
}

/// The memory of relaxations, which is reused.
#[derive(Debug, Default)]
pub(super) struct Relaxation {
    /// Scores of labels, including the edges to neighbours that are decided.
    scores: Vec<f64>,
    masses: Vec<f64>,
    is_open: Vec<bool>,
    is_new: Vec<bool>,
    ties: Vec<f64>,
    capacities: Vec<(f64, f64)>,
    /// The piece of each open node, identified by one of its nodes.
    pieces: Vec<u32>,
    nodes: Vec<u32>,
    links: Vec<Link>,
    /// The index of each node in its piece.
    places: Vec<u32>,
    lp: LinearProgram,
    solution: Vec<f64>,
}

impl Relaxation {
    /// Writes a best corner to `y`. Returns `false` if a number is not finite or if the solver has
    /// failed.
    pub(super) fn maximise(
        &mut self,
        solver: &dyn SolveLp,
        task: Task<'_>,
        network: &mut Network,
        y: &mut NodeLabels,
    ) -> bool {
        if task.scores.iter().chain(task.costs).any(|number| !number.is_finite()) {
            return false;
        }
        let n = task.nodes();
        self.scores.clear();
        self.scores.extend_from_slice(task.scores);
        self.masses.clear();
        self.masses.resize(task.scores.len(), 0.0);
        self.is_open.clear();
        self.is_open.resize(n, true);
        if task.costs.iter().all(|cost| *cost >= 0.0) && !self.settle(task, network) {
            return false;
        }
        if self.solve_pieces(solver, task).is_err() {
            return false;
        }
        y.assign(task, &self.masses);
        true
    }

    /// Decides all nodes for which a minimum cut proves one label best. Returns `false` if a number is
    /// too large.
    fn settle(&mut self, task: Task<'_>, network: &mut Network) -> bool {
        let k = task.labels;
        let (mut idle, mut open) = (0, task.nodes());
        for label in (0..k).cycle() {
            // The cut minimises −F: open nodes are tied with −D_v.
            self.ties.clear();
            let rows = self.scores.chunks_exact(k).zip(&self.is_open);
            self.ties.extend(rows.map(|(row, is_open)| {
                let others = row.iter().enumerate().filter(|(at, _)| *at != label);
                let best = others.map(|(_, score)| *score).fold(f64::NEG_INFINITY, f64::max);
                if *is_open { best - row[label] } else { 0.0 }
            }));
            self.capacities.clear();
            let is_open = |v: u32| self.is_open[v as usize];
            self.capacities.extend(task.edges.iter().zip(task.costs).map(|(&(a, b), &cost)| {
                let cost = if is_open(a) && is_open(b) { cost } else { 0.0 };
                (cost, cost)
            }));
            if !network.cut(&self.ties, task.edges, &self.capacities, false) {
                return false;
            }
            // The other nodes are on the source's side, which is as small as possible.
            let settled = self.take(label, task, network);
            open -= settled;
            idle = if settled > 0 { 0 } else { idle + 1 };
            if open == 0 || idle == k {
                break;
            }
        }
        true
    }

    /// Gives the label to all open nodes on the sink's side, and returns their number.
    fn take(&mut self, label: usize, task: Task<'_>, network: &Network) -> usize {
        let k = task.labels;
        self.is_new.clear();
        let open = self.is_open.iter().enumerate();
        self.is_new.extend(open.map(|(v, open)| *open && !network.is_on_source_side(v)));
        let mut count = 0;
        for v in (0..self.is_new.len()).filter(|&v| self.is_new[v]) {
            self.is_open[v] = false;
            self.masses[v * k + label] = 1.0;
            count += 1;
        }
        if count > 0 {
            for (&(a, b), cost) in task.edges.iter().zip(task.costs) {
                for (from, to) in [(a as usize, b as usize), (b as usize, a as usize)] {
                    if self.is_new[from] && self.is_open[to] {
                        self.scores[to * k + label] += cost;
                    }
                }
            }
        }
        count
    }

    /// Finds masses for all nodes that are still open, piece by piece.
    fn solve_pieces(&mut self, solver: &dyn SolveLp, task: Task<'_>) -> Result<(), LpError> {
        let n = task.nodes();
        self.pieces.clear();
        // Find the connected pieces of open nodes.
        self.pieces.extend(0..n as u32);
        self.links.clear();
        for (&(a, b), &cost) in task.edges.iter().zip(task.costs) {
            if cost != 0.0 && self.is_open[a as usize] && self.is_open[b as usize] {
                self.links.push(Link { ends: (a, b), cost });
                let (a, b) = (root(&mut self.pieces, a), root(&mut self.pieces, b));
                self.pieces[a.max(b) as usize] = a.min(b);
            }
        }
        for v in 0..n as u32 {
            root(&mut self.pieces, v); // every node now points to the first node of its piece
        }
        self.nodes.clear();
        self.nodes.extend((0..n as u32).filter(|&v| self.is_open[v as usize]));
        let pieces = std::mem::take(&mut self.pieces);
        let piece = |v: u32| pieces[v as usize];
        let mut nodes = std::mem::take(&mut self.nodes);
        let mut links = std::mem::take(&mut self.links);
        // Solve piece by piece.
        sort::by_key(&mut nodes, |&v| piece(v));
        sort::by_key(&mut links, |link| piece(link.ends.0));
        self.places.resize(n, 0);
        let mut rest = links.as_slice();
        let mut result = Ok(());
        for own in nodes.chunk_by(|&a, &b| piece(a) == piece(b)) {
            let end = rest.partition_point(|link| piece(link.ends.0) <= piece(own[0]));
            let (inside, others) = rest.split_at(end);
            rest = others;
            result = result.and_then(|()| self.solve_piece(solver, task.labels, own, inside));
        }
        (self.pieces, self.nodes, self.links) = (pieces, nodes, links);
        result
    }

    fn solve_piece(
        &mut self,
        solver: &dyn SolveLp,
        k: usize,
        nodes: &[u32],
        links: &[Link],
    ) -> Result<(), LpError> {
        for (place, &v) in nodes.iter().enumerate() {
            self.places[v as usize] = place as u32;
        }
        self.build(k, nodes, links);
        solver.solve(&self.lp, &mut self.solution)?;
        let size = nodes.len() * k;
        if self.solution.len() < size {
            let why = format!("{} masses for {size}", self.solution.len());
            return Err(LpError { solver: "given", why });
        }
        // The disagreements follow from the masses, so only the masses of each node have to be
        // consistent.
        let found = &mut self.solution[..size];
        if let Some(denominator) = common_denominator(found) {
            let d = f64::from(denominator);
            found.iter_mut().for_each(|mass| *mass = (*mass * d).round().max(0.0) / d);
        }
        for (row, &v) in found.chunks_exact_mut(k).zip(nodes) {
            row.iter_mut().for_each(|mass| *mass = if *mass < LEAST_MASS { 0.0 } else { *mass });
            let sum: f64 = row.iter().sum();
            let own = &mut self.masses[v as usize * k..][..k];
            own.iter_mut().zip(row).for_each(|(own, mass)| *own = *mass / sum);
        }
        Ok(())
    }

    /// Builds the program of a piece. Its variables are the masses of the nodes, then two per link and
    /// label: the positive and the negative part of the value of the row.
    fn build(&mut self, k: usize, nodes: &[u32], links: &[Link]) {
        let Self { lp, scores, places, .. } = self;
        lp.clear();
        for (place, &v) in nodes.iter().enumerate() {
            let row = &scores[v as usize * k..][..k];
            let most = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            lp.objective.extend(row.iter().map(|score| score - most));
            lp.push_row((place * k..(place + 1) * k).map(|at| (at as u32, 1.0)), 1.0);
        }
        for link in links {
            let at = |v: u32, label: usize| places[v as usize] * k as u32 + label as u32;
            let (sign, right) = if link.cost > 0.0 { (-1.0, 0.0) } else { (1.0, 1.0) };
            for label in 0..k {
                let first = lp.objective.len() as u32;
                lp.objective.extend([-link.cost.abs(), 0.0]);
                let ends = [(at(link.ends.0, label), 1.0), (at(link.ends.1, label), sign)];
                lp.push_row(ends.into_iter().chain([(first, -1.0), (first + 1, 1.0)]), right);
            }
        }
        scale_costs(&mut lp.objective);
    }
}

/// Returns the first node of the piece of `v`, and makes the nodes on the way point to it.
fn root(pieces: &mut [u32], mut v: u32) -> u32 {
    let mut top = v;
    while pieces[top as usize] != top {
        top = pieces[top as usize];
    }
    while pieces[v as usize] != top {
        v = std::mem::replace(&mut pieces[v as usize], top);
    }
    top
}
