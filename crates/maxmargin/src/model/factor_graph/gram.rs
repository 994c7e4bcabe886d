//! Lengths of part vectors in feature space.
//!
//! Factors of one template share its weights, so ‖Bp‖² is a sum over templates and joint states: for
//! each, the squared length of Σ mass · attributes over the factors in that state. If there are few
//! factors with many attributes, their inner products are computed once. Otherwise the attributes are
//! added up.

use super::compiled::Compiled;
use super::graphs::Graphs;
use super::shape::GraphShape;
use crate::problem::sparse::SparseVec;

/// A table of inner products may have this many entries per attribute entry of its factors.
const ENTRIES_PER_ATTRIBUTE: usize = 4;

/// Marks factors whose inner products are not kept.
const NONE: usize = usize::MAX;

/// The inner products of factors of one template, for each example in which they are worth keeping.
#[derive(Debug, Clone, Default)]
pub(super) struct Grams {
    products: Vec<f64>,
    /// For each factor, its number among the factors of its template in its example, and the position of
    /// its products with these factors up to itself.
    places: Vec<(u32, usize)>,
    /// The number of the first joint state of each template, if the joint states of all templates are
    /// numbered in order.
    states: Vec<usize>,
}

/// Scratch memory for [`Grams::norm_sq`].
#[derive(Debug, Clone, Default)]
pub(super) struct NormScratch {
    /// For each template and joint state, 1 + the index of the latest entry with it, or 0.
    latest: Vec<u32>,
    entries: Vec<Entry>,
    feature_sums: Vec<f64>,
}

/// A factor in a joint state, linked to the entry before it of the same template and state.
#[derive(Debug, Clone, Copy)]
struct Entry {
    factor: usize,
    state: usize,
    before: u32,
    value: f64,
}

impl Grams {
    pub(super) fn new(shape: &GraphShape, data: &Graphs) -> Self {
        let mut grams = Self { states: vec![0], ..Self::default() };
        for template in &shape.templates {
            grams.states.push(grams.states[grams.states.len() - 1] + template.joint_states());
        }
        let mut members: Vec<Vec<usize>> = vec![Vec::new(); shape.templates.len()];
        let widest = shape.templates.iter().map(|template| template.attributes).max();
        let mut dense = vec![0.0; widest.unwrap_or(0)];
        for graph in data.iter() {
            members.iter_mut().for_each(Vec::clear);
            for at in graph.factor_range() {
                let own = &mut members[data.factor(at).template as usize];
                grams.places.push((own.len() as u32, NONE));
                own.push(at);
            }
            for own in &members {
                let entries: usize =
                    own.iter().map(|&at| data.factor(at).attributes.attributes.len()).sum();
                if own.len() * (own.len() + 1) / 2 <= ENTRIES_PER_ATTRIBUTE * (entries + own.len())
                {
                    grams.push(data, own, &mut dense);
                }
            }
        }
        grams
    }

    /// Adds the products of some factors. `dense` is all zeros before and after.
    fn push(&mut self, data: &Graphs, factors: &[usize], dense: &mut [f64]) {
        for (number, &at) in factors.iter().enumerate() {
            self.places[at].1 = self.products.len();
            let own = data.factor(at).attributes;
            own.pairs().for_each(|(a, value)| dense[a as usize] += value);
            for &other in &factors[..=number] {
                let terms = data.factor(other).attributes.pairs();
                self.products.push(terms.map(|(a, value)| value * dense[a as usize]).sum());
            }
            own.pairs().for_each(|(a, _)| dense[a as usize] = 0.0);
        }
    }

    /// ‖Bᵢp‖² of a part vector.
    pub(super) fn norm_sq(
        &self,
        data: &Graphs,
        graph: &Compiled,
        parts: &SparseVec,
        scratch: &mut NormScratch,
    ) -> f64 {
        let NormScratch { latest, entries, .. } = scratch;
        latest.resize(self.states[self.states.len() - 1], 0);
        entries.clear();
        // List the factors with their states, and link those of the same template and state.
        graph.for_each_table(parts, |table, own| {
            for &place in table.factors {
                let factor = place.factor;
                let first = self.states[data.factor(factor).template as usize];
                for &(id, value) in own {
                    let state = first + place.state(id as usize - table.range.start);
                    entries.push(Entry { factor, state, before: latest[state], value });
                    latest[state] = entries.len() as u32;
                }
            }
        });
        // Add the lengths, from inner products or from features.
        let mut total = 0.0;
        for at in 0..scratch.entries.len() {
            let entry = scratch.entries[at];
            if self.places[entry.factor].1 != NONE {
                total += self.by_products(&scratch.entries, entry);
            } else if scratch.latest[entry.state] as usize == at + 1 {
                total += scratch.by_features(data, at as u32 + 1);
            }
        }
        for entry in &scratch.entries {
            scratch.latest[entry.state] = 0;
        }
        total
    }

    /// The terms of an entry with itself and with all entries linked before it.
    fn by_products(&self, entries: &[Entry], entry: Entry) -> f64 {
        let (own, row) = self.places[entry.factor];
        let mut sum = 0.0;
        let mut other = entry.before;
        while other != 0 {
            let earlier = entries[other as usize - 1];
            let (number, other_row) = self.places[earlier.factor];
            let product =
                if number <= own { row + number as usize } else { other_row + own as usize };
            sum += earlier.value * self.products[product];
            other = earlier.before;
        }
        entry.value * (2.0 * sum + entry.value * self.products[row + own as usize])
    }
}

impl NormScratch {
    /// The squared length of all entries linked from entry `from` (counted from 1) backwards.
    fn by_features(&mut self, data: &Graphs, from: u32) -> f64 {
        let (entries, sums) = (&self.entries, &mut self.feature_sums);
        let linked = || {
            let entry = |at: u32| (at != 0).then(|| entries[at as usize - 1]);
            std::iter::successors(entry(from), move |found| entry(found.before))
        };
        for entry in linked() {
            for (a, value) in data.factor(entry.factor).attributes.pairs() {
                if a as usize >= sums.len() {
                    sums.resize(a as usize + 1, 0.0);
                }
                sums[a as usize] += value * entry.value;
            }
        }
        let attributes = linked().flat_map(|entry| data.factor(entry.factor).attributes.attributes);
        attributes.map(|&a| std::mem::take(&mut sums[a as usize])).map(|sum| sum * sum).sum()
    }
}
