//! Factor graphs in part space: masses on states and joint states. The scores of an example have the layout of its
//! topology, and a factor's weights start where the block of its template starts.

use super::{FactorGraph, FactorGraphWorkspace};
use crate::inference::labelling::Labelling;
use crate::problem::parts::scatter_into;
use crate::problem::sparse::{Sink, SparseVec};
use crate::problem::{Parts, Target};

/// A sink that shifts features by `start`.
struct Shifted<'s, S: ?Sized> {
    sink: &'s mut S,
    start: usize,
}

impl<S: Sink + ?Sized> Sink for Shifted<'_, S> {
    #[inline]
    fn add(&mut self, feature: usize, value: f64) {
        self.sink.add(self.start + feature, value);
    }
}

impl FactorGraph {
    /// Adds `scale` · Σ mass · φ(part) to a sink.
    pub(super) fn scatter_into<S: Sink + ?Sized>(
        &self,
        i: usize,
        scale: f64,
        parts: &SparseVec,
        sink: &mut S,
    ) {
        self.graphs[i].for_each_table(parts, |table, own| {
            let (states, first) = (table.range.len(), table.range.start);
            for &place in table.factors {
                let factor = self.data.factor(place.factor);
                let (start, weighting) = &self.blocks[factor.template as usize];
                let mut sink = Shifted { sink: &mut *sink, start: *start };
                let state = |id: u64| place.state(id as usize - first);
                weighting.scatter(states, factor.attributes, scale, own, state, &mut sink);
            }
        });
    }
}

impl Parts for FactorGraph {
    fn prepare(&self, i: usize, w: &[f64], workspace: &mut FactorGraphWorkspace) {
        let graph = &self.graphs[i];
        workspace.scores.clear();
        workspace.scores.resize(graph.topology.size(), 0.0);
        for table in graph.tables() {
            let scores = &mut workspace.scores[table.range.clone()];
            for &place in table.factors {
                let factor = self.data.factor(place.factor);
                let (start, weighting) = &self.blocks[factor.template as usize];
                let weights = &w[*start..];
                if place.is_flipped() {
                    workspace.flipped.clear();
                    workspace.flipped.resize(scores.len(), 0.0);
                    weighting.add_scores(weights, factor.attributes, &mut workspace.flipped);
                    let own = |state| workspace.flipped[place.state(state)];
                    (0..).zip(&mut *scores).for_each(|(state, score)| *score += own(state));
                } else {
                    weighting.add_scores(weights, factor.attributes, scores);
                }
            }
        }
    }

    fn parts(&self, i: usize, y: &Labelling, parts: &mut SparseVec) {
        y.add_parts(&self.graphs[i].topology, parts);
    }

    fn truth_parts(&self, i: usize, parts: &mut SparseVec) {
        self.graphs[i].topology.push_parts(self.data.graph(i).truth(), parts);
    }

    fn score(&self, _: usize, _: &[f64], ws: &FactorGraphWorkspace, parts: &SparseVec) -> f64 {
        parts.dot_dense(&ws.scores)
    }

    fn norm_sq(&self, i: usize, workspace: &mut FactorGraphWorkspace, parts: &SparseVec) -> f64 {
        if self.is_free {
            return self.grams.norm_sq(&self.data, &self.graphs[i], parts, &mut workspace.norm);
        }
        // Inner products of factors do not take into account that joint states share weights.
        let sums = &mut workspace.sums;
        sums.clear();
        self.scatter_into(i, 1.0, parts, sums);
        sums.normalise();
        sums.norm_sq()
    }

    fn scatter(&self, i: usize, scale: f64, parts: &SparseVec, target: Target<'_>) {
        scatter_into!(target, sink => self.scatter_into(i, scale, parts, sink));
    }
}
