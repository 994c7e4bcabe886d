//! Factor graphs without scores: variables, their states, and the sets of variables that are scored
//! together.

mod build;
mod labelled;

use super::patterns::Patterns;
use super::topology_error::TopologyError;
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
