//! Labellings of a topology: their joint states, scores and parts.

use super::{Link, Topology};
use crate::inference::pattern_search::PatternScratch;
use crate::problem::sparse::SparseVec;

impl Topology {
    /// The joint state of a factor under a labelling, which is the index of its score in the table.
    ///
    /// ```
    /// let graph = maxmargin::inference::Topology::new([2, 3, 3], [[2, 0]])?;
    /// assert_eq!(graph.joint_state(0, &[1, 0, 2]), 2 * 2 + 1);
    /// # Ok::<(), maxmargin::inference::TopologyError>(())
    /// ```
    ///
    /// # Panics
    /// If there is no such factor, or if it is given by patterns; if the labelling is too short.
    pub fn joint_state(&self, factor: usize, labelling: &[u32]) -> usize {
        let add =
            |joint, &v: &u32| joint * self.states(v as usize) + labelling[v as usize] as usize;
        self.scope(factor).iter().fold(0, add)
    }

    /// The score of a labelling.
    ///
    /// ```
    /// let graph = maxmargin::inference::Topology::new([2, 2], [[0, 1]])?;
    /// let scores = [0.0, 1.0,  0.5, 0.0,  0.0, 0.0, 2.0, 0.0];
    /// assert_eq!(graph.value(&scores, &[1, 0]), 1.0 + 0.5 + 2.0);
    /// # Ok::<(), maxmargin::inference::TopologyError>(())
    /// ```
    ///
    /// # Panics
    /// If there are too few scores or states.
    pub fn value(&self, scores: &[f64], labelling: &[u32]) -> f64 {
        let nodes = labelling.iter().enumerate().map(|(v, &y)| scores[self.nodes[v] + y as usize]);
        let tables = (0..self.factors()).map(|c| self.factor_value(c, scores, labelling));
        nodes.sum::<f64>() + tables.sum::<f64>()
    }

    /// The score of a factor under a labelling.
    #[inline]
    pub(crate) fn factor_value(&self, factor: usize, scores: &[f64], labelling: &[u32]) -> f64 {
        match self.patterns(factor) {
            None => scores[self.tables[factor] + self.joint_state(factor, labelling)],
            Some(patterns) => {
                let scope = self.scope(factor);
                patterns.value(&scores[self.table(factor)], |slot| labelling[scope[slot] as usize])
            }
        }
    }

    /// Adds the score of a factor to each state of the variable in `slot`, while the other variables have the states of
    /// a labelling.
    pub(crate) fn add_factor_values(
        &self,
        link: Link,
        scores: &[f64],
        labelling: &[u32],
        row: &mut [f64],
    ) {
        let (factor, slot) = (link.factor as usize, link.slot as usize);
        let scope = self.scope(factor);
        let Some(patterns) = self.patterns(factor) else {
            let stride = self.stride(factor, slot);
            let now = labelling[scope[slot] as usize] as usize;
            let base = self.tables[factor] + self.joint_state(factor, labelling) - now * stride;
            let column = scores[base..].iter().step_by(stride);
            row.iter_mut().zip(column).for_each(|(sum, score)| *sum += score);
            return;
        };
        let own = &scores[self.table(factor)];
        for (state, sum) in (0..).zip(row) {
            let of = |at: usize| if at == slot { state } else { labelling[scope[at] as usize] };
            *sum += patterns.value(own, of);
        }
    }

    /// An upper bound of the difference between two scores of a factor, under any two labellings.
    pub(crate) fn spread(&self, factor: usize, scores: &[f64]) -> f64 {
        let own = &scores[self.table(factor)];
        if self.patterns(factor).is_some() {
            return own.iter().map(|score| score.abs()).sum();
        }
        let most = own.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        most - own.iter().copied().fold(f64::INFINITY, f64::min)
    }

    /// Appends the part vector of a labelling: 1 at each of its states, joint states and patterns.
    ///
    /// ```
    /// use maxmargin::SparseVec;
    /// let graph = maxmargin::inference::Topology::new([2, 2], [[0, 1]])?;
    /// let mut parts = SparseVec::new();
    /// graph.push_parts(&[1, 0], &mut parts);
    /// assert_eq!(parts.entries(), [(1, 1.0), (2, 1.0), (6, 1.0)]);
    /// # Ok::<(), maxmargin::inference::TopologyError>(())
    /// ```
    ///
    /// # Panics
    /// If the labelling is too short.
    pub fn push_parts(&self, labelling: &[u32], parts: &mut SparseVec) {
        let states = &labelling[..self.variables()];
        for (start, &state) in self.nodes.iter().zip(states) {
            parts.push(*start as u64 + u64::from(state), 1.0);
        }
        for c in 0..self.factors() {
            match self.patterns(c) {
                None => parts.push((self.tables[c] + self.joint_state(c, labelling)) as u64, 1.0),
                Some(patterns) => {
                    let scope = self.scope(c);
                    let counted = patterns.counted_for(|slot| labelling[scope[slot] as usize]);
                    let place = |&pattern: &u32| self.tables[c] as u64 + u64::from(pattern);
                    counted.iter().map(place).for_each(|at| parts.push(at, 1.0));
                }
            }
        }
    }

    /// Changes a labelling such that it has the state, joint state or pattern whose score is at `at`.
    pub(crate) fn touch(&self, at: usize, labelling: &mut [u32]) {
        if at < self.node_size() {
            let v = self.nodes.partition_point(|&start| start <= at) - 1;
            labelling[v] = (at - self.nodes[v]) as u32;
            return;
        }
        let factor = self.tables.partition_point(|&start| start <= at) - 1;
        let mut joint = at - self.tables[factor];
        if let Some(patterns) = self.patterns(factor) {
            let (own, scope) = (vec![0.0; patterns.all_states()], self.scope(factor));
            let mut wanted = vec![0.0; patterns.len()];
            wanted[joint] = 1.0;
            patterns.maximise(
                &own,
                &wanted,
                None,
                &mut PatternScratch::default(),
                |slot, state| {
                    labelling[scope[slot] as usize] = state;
                },
            );
            return;
        }
        for &v in self.scope(factor).iter().rev() {
            let states = self.states(v as usize);
            labelling[v as usize] = (joint % states) as u32;
            joint /= states;
        }
    }
}
