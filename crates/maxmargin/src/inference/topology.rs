//! Factor graphs without scores: variables, their states, and the sets of variables that are scored
//! together.

use super::pattern_search::PatternScratch;
use super::patterns::Patterns;
use super::topology_error::{MOST_JOINT_STATES, TopologyError};
use crate::problem::sparse::SparseVec;
use std::ops::Range;

/// The structure of a factor graph: a labelling y gives each variable v a state, and its score is
///
/// ```text
/// Σ_v θ_v(y_v) + Σ_c θ_c(y_c)
/// ```
///
/// with one term for each variable and one for each *factor* c, which is a set of two or more variables.
/// All scores are stored in one slice θ, whose layout the topology defines: first the states of each
/// variable, then, for each factor, the joint states of its variables, in which the state of the last
/// variable changes fastest. The same indices are the coordinates of the part vector of a labelling.
///
/// A factor that is given by [`Patterns`] has one score per pattern instead. Its part vector has a 1 for each pattern
/// that counts.
///
/// ```
/// use maxmargin::inference::Topology;
///
/// // A variable with three states and two with two, on a chain.
/// let chain = Topology::new([3, 2, 2], [[0, 1], [1, 2]])?;
/// assert_eq!((chain.size(), chain.node(1), chain.table(0)), (17, 3..5, 7..13));
/// assert!(chain.is_forest() && !chain.is_binary_pairwise());
///
/// let mut scores = vec![0.0; chain.size()];
/// scores[chain.node(0)][2] = 1.0;
/// scores[chain.table(0)][2 * 2 + 1] = 0.5; // states 2 and 1 of variables 0 and 1
/// assert_eq!(chain.value(&scores, &[2, 1, 0]), 1.5);
/// # Ok::<(), maxmargin::inference::TopologyError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Topology {
    /// The index of the first score of each variable, and the number of scores of all variables.
    nodes: Vec<usize>,
    /// The variables of all factors, one factor after the other.
    scopes: Vec<u32>,
    scope_starts: Vec<usize>,
    /// The index of the first score of each factor, and the number of all scores.
    tables: Vec<usize>,
    /// For each variable, the factors that contain it.
    links: Vec<Link>,
    link_starts: Vec<usize>,
    /// The index of the message of each entry of `scopes`. A message has one number per state.
    messages: Vec<usize>,
    forest: Option<Vec<Link>>,
    /// The patterns of factors that have some, in the order of these factors.
    patterns: Vec<(u32, Patterns)>,
}

/// A factor, and the place of one variable in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Link {
    pub(crate) factor: u32,
    pub(crate) slot: u32,
}

impl Topology {
    /// Creates a graph from the numbers of states of its variables and the variables of its factors.
    ///
    /// # Errors
    /// If a variable has no states, or if a factor is too small or too large or contains a variable that
    /// does not exist.
    pub fn new<S: AsRef<[u32]>>(
        states: impl IntoIterator<Item = usize>,
        factors: impl IntoIterator<Item = S>,
    ) -> Result<Self, TopologyError> {
        Self::with_patterns(states, factors.into_iter().map(|scope| (scope, None)))
    }

    /// Creates a graph in which some factors are given by patterns. Such a factor may have a single variable.
    ///
    /// ```
    /// use maxmargin::inference::Topology;
    /// use maxmargin::model::factor_graph::{Counting, Patterns};
    ///
    /// let same = [[Some(0); 9], [Some(1); 9]];
    /// let patterns = Patterns::new(&[2; 9], same, Counting::All)?;
    /// let all: Vec<u32> = (0..9).collect();
    /// let graph = Topology::with_patterns([2; 9], [(all, Some(&patterns))])?;
    /// assert_eq!((graph.table(0), graph.size()), (18..20, 20));
    /// assert_eq!(graph.value(&[vec![0.0; 18], vec![3.0, 4.0]].concat(), &[1; 9]), 4.0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// The same as for [`new`](Self::new), and if the numbers of states of patterns and of their variables differ.
    pub fn with_patterns<'p, S: AsRef<[u32]>>(
        states: impl IntoIterator<Item = usize>,
        factors: impl IntoIterator<Item = (S, Option<&'p Patterns>)>,
    ) -> Result<Self, TopologyError> {
        let mut nodes = vec![0];
        for (variable, states) in states.into_iter().enumerate() {
            if states == 0 {
                return Err(TopologyError::NoStates { variable });
            }
            nodes.push(nodes[variable] + states);
        }
        let mut graph = Self {
            tables: vec![nodes[nodes.len() - 1]],
            nodes,
            scopes: Vec::new(),
            scope_starts: vec![0],
            links: Vec::new(),
            link_starts: Vec::new(),
            messages: vec![0],
            forest: None,
            patterns: Vec::new(),
        };
        for (scope, patterns) in factors {
            graph.push_factor(scope.as_ref(), patterns)?;
        }
        graph.find_links();
        graph.forest = graph.find_forest();
        Ok(graph)
    }

    fn push_factor(
        &mut self,
        scope: &[u32],
        patterns: Option<&Patterns>,
    ) -> Result<(), TopologyError> {
        let (factor, variables) = (self.factors(), self.variables());
        if scope.len() < 2 && patterns.is_none() {
            return Err(TopologyError::Arity { factor, arity: scope.len() });
        }
        let mut size = 1usize;
        for (at, &variable) in scope.iter().enumerate() {
            if variable as usize >= variables {
                return Err(TopologyError::Variable { factor, variable, variables });
            }
            if scope[..at].contains(&variable) {
                return Err(TopologyError::Twice { factor, variable });
            }
            let states = self.states(variable as usize);
            size = size.saturating_mul(states);
            self.messages.push(self.messages[self.messages.len() - 1] + states);
        }
        if let Some(patterns) = patterns {
            let states = |slot| self.states(scope[slot] as usize);
            let fits = |slot| patterns.states(slot) == states(slot);
            if patterns.variables() != scope.len() || !(0..scope.len()).all(fits) {
                return Err(TopologyError::Patterns { factor });
            }
            size = patterns.len();
            self.patterns.push((factor as u32, patterns.clone()));
        }
        if size > MOST_JOINT_STATES {
            return Err(TopologyError::Size { factor });
        }
        self.scopes.extend_from_slice(scope);
        self.scope_starts.push(self.scopes.len());
        self.tables.push(self.tables[factor] + size);
        Ok(())
    }

    fn find_links(&mut self) {
        self.link_starts = vec![0; self.variables() + 1];
        for &variable in &self.scopes {
            self.link_starts[variable as usize + 1] += 1;
        }
        for v in 0..self.variables() {
            self.link_starts[v + 1] += self.link_starts[v];
        }
        let mut next = self.link_starts.clone();
        self.links = vec![Link { factor: 0, slot: 0 }; self.scopes.len()];
        for factor in 0..self.factors() {
            for slot in 0..self.scope(factor).len() {
                let variable = self.scope(factor)[slot] as usize;
                self.links[next[variable]] = Link { factor: factor as u32, slot: slot as u32 };
                next[variable] += 1;
            }
        }
    }

    /// Returns the factors in an order in which each is reached from one variable (its parent) and leads
    /// to variables that were not reached before. Returns `None` if the graph has a cycle.
    fn find_forest(&self) -> Option<Vec<Link>> {
        let mut order: Vec<Link> = Vec::with_capacity(self.factors());
        let mut reached = vec![false; self.variables()];
        let mut used = vec![false; self.factors()];
        let mut queue = Vec::new();
        for root in 0..self.variables() {
            if std::mem::replace(&mut reached[root], true) {
                continue;
            }
            // Breadth-first search from each root.
            queue.clear();
            queue.push(root);
            let mut head = 0;
            while let Some(&variable) = queue.get(head) {
                head += 1;
                for &link in self.links(variable) {
                    if std::mem::replace(&mut used[link.factor as usize], true) {
                        continue;
                    }
                    order.push(link);
                    for (slot, &other) in self.scope(link.factor as usize).iter().enumerate() {
                        if slot == link.slot as usize {
                            continue;
                        }
                        if std::mem::replace(&mut reached[other as usize], true) {
                            return None; // a second path to the same variable: a cycle
                        }
                        queue.push(other as usize);
                    }
                }
            }
        }
        Some(order)
    }

    /// Number of variables.
    pub fn variables(&self) -> usize {
        self.nodes.len() - 1
    }

    /// Number of factors.
    pub fn factors(&self) -> usize {
        self.scope_starts.len() - 1
    }

    /// Number of states of a variable, which must exist.
    pub fn states(&self, variable: usize) -> usize {
        self.nodes[variable + 1] - self.nodes[variable]
    }

    /// The variables of a factor, which must exist.
    ///
    /// ```
    /// let graph = maxmargin::inference::Topology::new([2, 2, 3], [[2, 0]])?;
    /// assert_eq!((graph.scope(0), graph.states(2)), (&[2, 0][..], 3));
    /// # Ok::<(), maxmargin::inference::TopologyError>(())
    /// ```
    pub fn scope(&self, factor: usize) -> &[u32] {
        &self.scopes[self.scope_starts[factor]..self.scope_starts[factor + 1]]
    }

    /// The range of the scores of a variable, state by state.
    pub fn node(&self, variable: usize) -> Range<usize> {
        self.nodes[variable]..self.nodes[variable + 1]
    }

    /// The patterns of a factor that is given by some.
    #[inline]
    pub(crate) fn patterns(&self, factor: usize) -> Option<&Patterns> {
        if self.patterns.is_empty() {
            return None;
        }
        let found = self.patterns.binary_search_by_key(&(factor as u32), |own| own.0);
        found.ok().map(|at| &self.patterns[at].1)
    }

    /// Whether a factor is given by patterns.
    pub(crate) fn has_patterns(&self) -> bool {
        !self.patterns.is_empty()
    }

    /// The range of the scores of a factor, joint state by joint state, or pattern by pattern.
    pub fn table(&self, factor: usize) -> Range<usize> {
        self.tables[factor]..self.tables[factor + 1]
    }

    /// Number of the scores of single variables, which come before those of factors.
    pub(crate) fn node_size(&self) -> usize {
        self.tables[0]
    }

    /// Number of all scores.
    pub fn size(&self) -> usize {
        self.tables[self.factors()]
    }

    /// Whether the graph has no cycles.
    ///
    /// ```
    /// use maxmargin::inference::Topology;
    /// assert!(Topology::new([2; 4], [vec![0, 1, 2], vec![2, 3]])?.is_forest());
    /// assert!(!Topology::new([2; 3], [[0, 1], [1, 2], [2, 0]])?.is_forest());
    /// # Ok::<(), maxmargin::inference::TopologyError>(())
    /// ```
    pub fn is_forest(&self) -> bool {
        self.forest.is_some()
    }

    /// Whether sum-product finds the marginals: the graph has no cycles, and all factors have tables.
    pub(crate) fn has_exact_marginals(&self) -> bool {
        self.is_forest() && !self.has_patterns()
    }

    /// Whether every variable in a factor has two states, and every factor a table over two variables.
    ///
    /// ```
    /// use maxmargin::inference::Topology;
    /// assert!(Topology::new([2, 2, 5], [[0, 1]])?.is_binary_pairwise());
    /// assert!(!Topology::new([2, 2, 5], [[0, 2]])?.is_binary_pairwise());
    /// # Ok::<(), maxmargin::inference::TopologyError>(())
    /// ```
    pub fn is_binary_pairwise(&self) -> bool {
        !self.has_patterns()
            && (0..self.factors()).all(|c| self.scope(c).len() == 2)
            && self.scopes.iter().all(|&v| self.states(v as usize) == 2)
    }

    /// Number of labellings, or `None` if it is larger than `most`.
    ///
    /// ```
    /// let graph = maxmargin::inference::Topology::new([3, 3, 2], [[0, 1]])?;
    /// assert_eq!((graph.labellings(100), graph.labellings(17)), (Some(18), None));
    /// # Ok::<(), maxmargin::inference::TopologyError>(())
    /// ```
    pub fn labellings(&self, most: usize) -> Option<usize> {
        let times = |count: usize, v| count.checked_mul(self.states(v)).filter(|&c| c <= most);
        (0..self.variables()).try_fold(1, times)
    }

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

    /// The factors that contain a variable.
    pub(crate) fn links(&self, variable: usize) -> &[Link] {
        &self.links[self.link_starts[variable]..self.link_starts[variable + 1]]
    }

    /// Factors and their parents, those near the roots first, if the graph is a forest.
    pub(crate) fn forest(&self) -> Option<&[Link]> {
        self.forest.as_deref()
    }

    /// The distance in the table of a factor between two neighbouring states of the variable in `slot`.
    pub(crate) fn stride(&self, factor: usize, slot: usize) -> usize {
        let states = self.scope(factor)[slot + 1..].iter().map(|&v| self.states(v as usize));
        // It has no meaning for patterns, whose joint states may be too many to count.
        states.fold(1, usize::saturating_mul)
    }

    /// The range of the message between a factor and its variable in `slot`, with one number per state.
    pub(crate) fn message(&self, factor: usize, slot: usize) -> Range<usize> {
        let at = self.scope_starts[factor] + slot;
        self.messages[at]..self.messages[at + 1]
    }

    /// The total size of all messages.
    pub(crate) fn messages_size(&self) -> usize {
        self.messages[self.scopes.len()]
    }

    /// Calls `visit` for each joint state of a factor, with its index and with the state of the variable
    /// in `slot`.
    #[inline]
    pub(crate) fn for_each_state(
        &self,
        factor: usize,
        slot: usize,
        mut visit: impl FnMut(usize, usize),
    ) {
        let states = self.states(self.scope(factor)[slot] as usize);
        let stride = self.stride(factor, slot);
        for (block, at) in self.table(factor).step_by(stride).enumerate() {
            let state = block % states;
            (at..at + stride).for_each(|at| visit(at, state));
        }
    }
}

/// Returns the index of the first largest number, and the number. NaN counts as the largest, so that it is noticed.
pub(crate) fn argmax(values: &[f64]) -> (usize, f64) {
    let mut best = (0, f64::NEG_INFINITY);
    for (at, &value) in values.iter().enumerate() {
        if value > best.1 || value.is_nan() && !best.1.is_nan() {
            best = (at, value);
        }
    }
    best
}
