//! The best labelling of a small factor graph, by trying them all.
//!
//! Variables are set one after the other, and the score of a factor is added when the last of its
//! variables is set. So labellings with the same beginning share the work, and no sum is ever undone.

use super::topology::{Link, Topology, argmax};

/// Enumerates labellings. It reuses its memory.
///
/// ```
/// use maxmargin::inference::algorithms::Enumerate;
/// use maxmargin::inference::Topology;
///
/// // Three variables, no two of which like to be in the same state.
/// let triangle = Topology::new([2; 3], [[0, 1], [1, 2], [0, 2]])?;
/// let mut scores = vec![0.0; triangle.size()];
/// for factor in 0..3 {
///     scores[triangle.table(factor)].copy_from_slice(&[0.0, 1.0, 1.0, 0.0]);
/// }
/// let mut labelling = Vec::new();
/// assert_eq!(Enumerate::default().maximise(&triangle, &scores, &mut labelling), 2.0);
/// assert_eq!(labelling, [0, 0, 1]);
/// # Ok::<(), maxmargin::inference::TopologyError>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Enumerate {
    /// For each variable, the factors that are complete when it is set, with its place in them, and the stride of its
    /// state if they are tables.
    closing: Vec<(usize, Link)>,
    closing_starts: Vec<usize>,
    /// Scores of the states of each variable, given the states of the variables before it.
    rows: Vec<f64>,
    /// The score of all variables before each variable.
    sums: Vec<f64>,
    states: Vec<u32>,
}

impl Enumerate {
    /// Writes the best labelling to `labelling`, the lexicographically first one at ties, and returns its
    /// score.
    ///
    /// The work grows with the number of labellings, which [`Topology::labellings`] returns.
    ///
    /// # Panics
    /// If there are too few scores.
    pub fn maximise(&mut self, graph: &Topology, scores: &[f64], labelling: &mut Vec<u32>) -> f64 {
        labelling.clear();
        labelling.resize(graph.variables(), 0);
        let mut best = f64::NEG_INFINITY;
        if labelling.is_empty() {
            return 0.0;
        }
        self.walk(graph, scores, |states, before, last| {
            let (state, value) = argmax(last);
            let total = before + value;
            if total > best || total.is_nan() && !best.is_nan() {
                best = total;
                labelling.copy_from_slice(states);
                labelling[states.len() - 1] = state as u32;
            }
        });
        best
    }

    /// Returns the `n` best labellings with their scores, best first, and in lexicographic order at ties.
    /// The list is shorter if there are fewer labellings.
    ///
    /// ```
    /// use maxmargin::inference::algorithms::Enumerate;
    /// use maxmargin::inference::Topology;
    ///
    /// let graph = Topology::new([2, 2], [[0, 1]])?;
    /// let scores = [0.0, 1.0, 0.0, 0.5, /* of both */ 2.0, 0.0, 0.0, 2.0];
    /// let best = Enumerate::default().n_best(&graph, &scores, 2);
    /// assert_eq!(best, [(3.5, vec![1, 1]), (2.0, vec![0, 0])]);
    /// # Ok::<(), maxmargin::inference::TopologyError>(())
    /// ```
    ///
    /// # Panics
    /// If there are too few scores.
    pub fn n_best(&mut self, graph: &Topology, scores: &[f64], n: usize) -> Vec<(f64, Vec<u32>)> {
        let mut best: Vec<(f64, Vec<u32>)> = Vec::new();
        if graph.variables() == 0 {
            return vec![(0.0, Vec::new()); n.min(1)];
        }
        self.walk(graph, scores, |states, before, last| {
            for (state, value) in (0..).zip(last) {
                let total = before + value;
                let place = best.partition_point(|(known, _)| known.total_cmp(&total).is_ge());
                if place >= n {
                    continue;
                }
                let mut labelling = if best.len() == n { best.pop() } else { None }
                    .map_or_else(Vec::new, |(_, memory)| memory);
                labelling.clear();
                labelling.extend_from_slice(&states[..states.len() - 1]);
                labelling.push(state);
                best.insert(place, (total, labelling));
            }
        });
        best
    }

    /// Calls `leaf` for all states of all variables but the last, in lexicographic order, with the score
    /// of these variables and with the score that each state of the last variable adds. There must be at
    /// least one variable.
    fn walk(
        &mut self,
        graph: &Topology,
        scores: &[f64],
        mut leaf: impl FnMut(&[u32], f64, &[f64]),
    ) {
        let n = graph.variables();
        self.prepare(graph);
        self.fill_row(graph, scores, 0);
        let mut v = 0;
        loop {
            if v + 1 == n {
                leaf(&self.states, self.sums[v], &self.rows[graph.node(v)]);
                // Back to the last variable that has a state left to try.
                loop {
                    self.states[v] = 0;
                    let Some(before) = v.checked_sub(1) else { return };
                    v = before;
                    self.states[v] += 1;
                    if (self.states[v] as usize) < graph.states(v) {
                        break;
                    }
                }
            }
            let value = self.rows[graph.node(v).start + self.states[v] as usize];
            self.sums[v + 1] = self.sums[v] + value;
            v += 1;
            self.fill_row(graph, scores, v);
        }
    }

    fn prepare(&mut self, graph: &Topology) {
        let n = graph.variables();
        self.rows.clear();
        self.rows.resize(graph.node_size(), 0.0);
        self.sums.clear();
        self.sums.resize(n, 0.0);
        self.states.clear();
        self.states.resize(n, 0);
        self.closing.clear();
        self.closing_starts.clear();
        for v in 0..n {
            self.closing_starts.push(self.closing.len());
            for link in graph.links(v) {
                let factor = link.factor as usize;
                if graph.scope(factor).iter().all(|&other| other as usize <= v) {
                    self.closing.push((graph.stride(factor, link.slot as usize), *link));
                }
            }
        }
        self.closing_starts.push(self.closing.len());
    }

    /// Adds up the score of each state of variable `v`, given the variables before it.
    fn fill_row(&mut self, graph: &Topology, scores: &[f64], v: usize) {
        let row = &mut self.rows[graph.node(v)];
        row.copy_from_slice(&scores[graph.node(v)]);
        for &(stride, link) in &self.closing[self.closing_starts[v]..self.closing_starts[v + 1]] {
            let factor = link.factor as usize;
            if graph.patterns(factor).is_some() {
                graph.add_factor_values(link, scores, &self.states, row);
                continue;
            }
            let base = graph.table(factor).start + graph.joint_state(factor, &self.states);
            let column = scores[base..].iter().step_by(stride);
            row.iter_mut().zip(column).for_each(|(sum, score)| *sum += score);
        }
    }
}
