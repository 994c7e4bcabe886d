//! Features of blocks, term by term: scores, sums and lengths.

use super::SoftGraph;
use crate::model::soft::layout::{Block, States, Term};
use crate::problem::sparse::{Sink, SparseVec};

impl SoftGraph {
    /// ⟨w, φ(y)⟩ of all states of a block, without messages.
    pub(super) fn features(&self, block: &Block, w: &[f64], scores: &mut Vec<f64>) {
        scores.clear();
        scores.resize(block.states as usize, 0.0);
        let (scores, _) = scores.split_at_mut(block.scored as usize);
        for term in &self.layout.terms[block.terms.clone()] {
            let (row, weights) = (self.layout.row(term), &w[term.start..]);
            match term.states {
                States::Only(state) => {
                    scores[state as usize] += row.dot_strided(weights, term.stride, 0);
                }
                States::Marked(marks) => {
                    let score = row.dot_strided(weights, term.stride, 0);
                    let marked = scores.iter_mut().zip(&self.layout.marks[marks as usize]);
                    marked.filter(|(_, mark)| **mark).for_each(|(own, _)| *own += score);
                }
                States::Diagonal => {
                    for (a, value) in row.pairs() {
                        if let Some(score) = scores.get_mut(a as usize) {
                            *score += value * weights[a as usize * term.stride];
                        }
                    }
                }
                States::Every => {
                    for (a, value) in row.pairs() {
                        let own = &weights[a as usize * term.stride..][..scores.len()];
                        scores.iter_mut().zip(own).for_each(|(score, w)| *score += value * w);
                    }
                }
            }
        }
    }

    /// Adds `scale` · Σ mass · φ(y), without messages.
    pub(in crate::model::soft) fn scatter_features(
        &self,
        i: usize,
        scale: f64,
        masses: &[f64],
        to: &mut [f64],
    ) {
        let mut parts = SparseVec::new();
        let masses = masses.iter().enumerate().filter(|(_, mass)| **mass != 0.0);
        masses.for_each(|(state, &mass)| parts.push(state as u64, mass));
        self.scatter_terms(i, scale, &parts, to);
    }

    pub(super) fn scatter_terms<S: Sink + ?Sized>(
        &self,
        i: usize,
        scale: f64,
        parts: &SparseVec,
        sink: &mut S,
    ) {
        let block = &self.layout.blocks[i];
        let inside = parts.entries().iter().take_while(|(at, _)| *at < u64::from(block.scored));
        let scored = &parts.entries()[..inside.count()];
        for term in &self.layout.terms[block.terms.clone()] {
            for (a, value) in self.layout.row(term).pairs() {
                let start = term.start + a as usize * term.stride;
                let mut add = |at, mass: f64| sink.add(start + at, scale * value * mass);
                self.each_feature(term, a, scored, &mut add);
            }
        }
    }

    /// Calls `take` with each state of which attribute `a` is a feature in a term: its place among the weights of the
    /// attribute, and its mass.
    pub(super) fn each_feature(
        &self,
        term: &Term,
        a: u32,
        entries: &[(u64, f64)],
        mut take: impl FnMut(usize, f64),
    ) {
        for &(state, mass) in entries {
            let place = match term.states {
                States::Every => Some(state as usize),
                States::Only(only) => (u64::from(only) == state).then_some(0),
                States::Marked(marks) => {
                    self.layout.marks[marks as usize][state as usize].then_some(0)
                }
                States::Diagonal => (u64::from(a) == state).then_some(0),
            };
            if let Some(place) = place {
                take(place, mass);
            }
        }
    }

    /// The squared length of Σ mass · features of a term.
    pub(super) fn term_norm_sq(&self, term: &Term, entries: &[(u64, f64)]) -> f64 {
        match term.states {
            States::Every => {
                term.norm_sq * entries.iter().map(|(_, mass)| mass * mass).sum::<f64>()
            }
            States::Only(_) | States::Marked(_) => {
                // All states with features share their weights.
                let mut sum = 0.0;
                self.each_feature(term, 0, entries, |_, mass| sum += mass);
                term.norm_sq * sum * sum
            }
            States::Diagonal => {
                let mut sum = 0.0;
                for (a, value) in self.layout.row(term).pairs() {
                    self.each_feature(term, a, entries, |_, mass| sum += (value * mass).powi(2));
                }
                sum
            }
        }
    }
}
