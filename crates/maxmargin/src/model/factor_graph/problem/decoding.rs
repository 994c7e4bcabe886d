//! What a factor graph computes at given weights: predictions, scores of single states, bounds of the hinge, and
//! the best completion of a labelling that is partly known.

use super::{FactorGraph, FactorGraphWorkspace};
use crate::inference::labelling::Labelling;
use crate::inference::local_search::LocalSearch;
use crate::inference::message_bound::MessageBound;
use crate::model::factor_graph::compiled::Compiled;
use crate::problem::quality::Quality;
use crate::problem::sparse::SparseVec;
use crate::problem::{Parts as _, Problem as _};

impl FactorGraph {
    /// Predicts the states of all variables of all graphs.
    ///
    /// ```
    /// use maxmargin::inference::Inference;
    /// use maxmargin::model::factor_graph::{FactorGraph, Graphs, StateLoss};
    ///
    /// let mut data = Graphs::new();
    /// data.push_variable(3, 0)?;
    /// data.push_factor(0, &[0], [(0, 1.0)])?;
    /// data.end_graph(1.0)?;
    /// let graphs = FactorGraph::new(data.shape()?, data, StateLoss::default(), Inference::Auto)?;
    /// assert_eq!(graphs.predict(&[0.5, 0.0, 2.0]), [[2]]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// If there are too few weights.
    pub fn predict(&self, w: &[f64]) -> Vec<Vec<u32>> {
        let (mut workspace, mut y) = (self.workspace(), Labelling::default());
        let mut predict = |i| {
            self.prepare(i, w, &mut workspace);
            self.decode(i, w, &mut workspace, &mut y);
            y.states.clone()
        };
        (0..self.examples()).map(&mut predict).collect()
    }

    /// The scores of the states of each variable of graph `i`, by the factors of that variable alone.
    ///
    /// ```
    /// # use maxmargin::doc::rings;
    /// use maxmargin::Problem;
    ///
    /// let problem = rings(); // three variables with two states
    /// let scores = problem.state_scores(0, &vec![0.0; problem.dim()], &mut problem.workspace());
    /// assert_eq!(scores, [[0.0, 0.0]; 3]);
    /// ```
    ///
    /// # Panics
    /// If there are too few weights.
    pub fn state_scores(
        &self,
        i: usize,
        w: &[f64],
        workspace: &mut FactorGraphWorkspace,
    ) -> Vec<Vec<f64>> {
        self.prepare(i, w, workspace);
        let topology = &self.graphs[i].topology;
        (0..topology.variables()).map(|v| workspace.scores[topology.node(v)].to_vec()).collect()
    }

    /// An upper bound of the hinge of graph `i`, max_y L(y) − ⟨w, ψ(y)⟩. If decoding is exact, it is the hinge
    /// itself; if the relaxation is solved, it is the hinge of the relaxation; otherwise it is a bound of the
    /// relaxation by messages. So the bound also holds for heuristics, which may find less than the hinge.
    ///
    /// ```
    /// # use maxmargin::doc::rings;
    /// use maxmargin::Problem;
    ///
    /// let problem = rings();
    /// let w = vec![0.0; problem.dim()];
    /// let bound = problem.hinge_bound(0, &w, &mut problem.workspace());
    /// assert!((bound - 1.0).abs() < 1e-12); // the largest loss, if all scores are 0
    /// ```
    ///
    /// # Panics
    /// If there are too few weights.
    pub fn hinge_bound(&self, i: usize, w: &[f64], workspace: &mut FactorGraphWorkspace) -> f64 {
        self.prepare(i, w, workspace);
        let Compiled { topology, inference, .. } = &self.graphs[i];
        let truth = topology.value(&workspace.scores, self.data.graph(i).truth());
        if inference.quality() < Quality::Heuristic {
            let mut y = Labelling::default();
            self.oracle(i, w, workspace, &mut y);
            let mut parts = SparseVec::new();
            y.add_parts(topology, &mut parts);
            return (self.loss(i, &y) + parts.dot_dense(&workspace.scores) - truth).max(0.0);
        }
        self.for_each_right(i, |place, cost| workspace.scores[place] -= cost);
        let all: f64 = self.costs(i).iter().sum();
        let bound = MessageBound::default().bound(topology, &workspace.scores);
        (all + bound - truth).max(0.0)
    }

    /// Writes the best states of graph `i` to `y`, among those that are allowed: `allowed` has one entry
    /// for each state of each variable, and at least one state of each variable must be allowed.
    ///
    /// The inference method is that of the problem. If it is a heuristic, the states are good ones, but maybe not
    /// the best.
    ///
    /// ```
    /// # use maxmargin::doc::rings;
    /// use maxmargin::Problem;
    /// use maxmargin::model::factor_graph::Labelling;
    ///
    /// let problem = rings(); // three variables with two states
    /// let w = vec![0.0; problem.dim()];
    /// let (mut workspace, mut y) = (problem.workspace(), Labelling::default());
    /// let allowed = [false, true,  true, false,  true, true];
    /// problem.complete(0, &w, &allowed, &mut workspace, &mut y);
    /// assert_eq!(y.states[..2], [1, 0]);
    /// ```
    ///
    /// # Panics
    /// If there are too few weights or entries.
    pub fn complete(
        &self,
        i: usize,
        w: &[f64],
        allowed: &[bool],
        workspace: &mut FactorGraphWorkspace,
        y: &mut Labelling,
    ) {
        self.prepare(i, w, workspace);
        let topology = &self.graphs[i].topology;
        // The penalty of a state that is not allowed is larger than all other scores together.
        let spread = |own: &[f64]| {
            let most = own.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            most - own.iter().copied().fold(f64::INFINITY, f64::min)
        };
        let nodes = (0..topology.variables()).map(|v| topology.node(v));
        let scores = &workspace.scores;
        let tables = (0..topology.factors()).map(|factor| topology.spread(factor, scores));
        let cost = 1.0 + 2.0 * nodes.map(|own| spread(&scores[own])).chain(tables).sum::<f64>();
        for (score, _) in workspace.scores.iter_mut().zip(allowed).filter(|(_, allowed)| !**allowed)
        {
            *score -= cost;
        }
        self.run(i, workspace, y);
        y.marginals.clear();
        for v in 0..topology.variables() {
            let node = topology.node(v);
            if !allowed[node.start + y.states[v] as usize] {
                let best = node.clone().filter(|&at| allowed[at]);
                let best =
                    best.max_by(|&a, &b| workspace.scores[a].total_cmp(&workspace.scores[b]));
                y.states[v] = best.map_or(y.states[v], |at| (at - node.start) as u32);
            }
        }
        LocalSearch::default().improve(topology, &workspace.scores, &mut y.states);
    }
}
