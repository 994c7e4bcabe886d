//! Factors over many variables that are given by a few patterns.
//!
//! A table of scores for k variables has an entry for each of their joint states, which is hopeless for large k.
//! But the score of a *high-order potential* often depends only on which of a few patterns a labelling fits:
//!
//! ```text
//! θ_c(y_c) = Σ_p s_p · [y_c fits p]              every pattern that fits counts
//! θ_c(y_c) = s_p for the first p that fits       0 if none does
//! ```
//!
//! Such a factor has one score per pattern, and one mass per pattern in part space; the joint states are never listed.
//! Everything else follows from an acyclic graph whose paths are the joint states. A path reads one variable after
//! the other, and each of its nodes is the set of patterns that still fit. The best joint state is a longest path.
//! The convex hull of all joint states is the set of flows through the graph, so a relaxation is as tight as with
//! the whole table.

use crate::util::names::named_enum;
use std::collections::HashMap;
use std::sync::Arc;
use thiserror::Error;

/// The largest number of patterns of a factor. Sets of patterns are stored as the bits of one word.
const MOST_PATTERNS: usize = 64;

/// The largest number of steps from a set of patterns to the next, over all variables of a factor.
const MOST_STEPS: usize = 1 << 20;

named_enum! {
    /// Which of the patterns that a labelling fits count.
    ///
    /// ```
    /// use maxmargin::model::factor_graph::Counting;
    /// assert_eq!("first".parse(), Ok(Counting::First));
    /// ```
    #[derive(Default)]
    Counting("counting") {
        /// All of them count: the score is a sum.
        #[default]
        All = "all",
        /// Only the first of them counts: if scores fall from pattern to pattern, the score is a maximum.
        First = "first",
    }
}

/// Why patterns are refused.
///
/// ```
/// use maxmargin::model::factor_graph::{Counting, Patterns};
///
/// let error = Patterns::new(&[2, 2], [[Some(0), Some(2)]], Counting::All).unwrap_err();
/// assert_eq!(error.to_string(), "pattern 0 has the state 2 for its variable 1, which has 2 states");
/// ```
#[derive(Debug, Error, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum PatternError {
    /// A factor without variables.
    #[error("patterns need at least one variable")]
    NoVariables,
    /// No pattern, or more than 64.
    #[error("there are {found} patterns; 1 to {MOST_PATTERNS} are possible")]
    Number {
        /// How many there are.
        found: usize,
    },
    /// A pattern for another number of variables.
    #[error("pattern {pattern} has {found} states, but the factor has {variables} variables")]
    Length {
        /// Its index.
        pattern: usize,
        /// How many states it has.
        found: usize,
        /// The number of variables.
        variables: usize,
    },
    /// A state that its variable does not have.
    #[error(
        "pattern {pattern} has the state {state} for its variable {variable}, which has {states} states"
    )]
    State {
        /// The index of the pattern.
        pattern: usize,
        /// The place of the variable in the factor.
        variable: usize,
        /// The state.
        state: u32,
        /// How many there are.
        states: usize,
    },
    /// The same pattern twice.
    #[error("patterns {first} and {second} are the same")]
    Twice {
        /// The index of the first.
        first: usize,
        /// The index of the other.
        second: usize,
    },
    /// Patterns that overlap in too many ways.
    #[error("the patterns overlap in too many ways: more than {MOST_STEPS} steps are needed")]
    Overlaps,
}

/// A few patterns for the states of some variables. A clone shares its memory with the original.
///
/// A pattern has a state for each variable, or `None` if any state fits.
///
/// ```
/// use maxmargin::model::factor_graph::{Counting, Patterns};
///
/// // Three pixels that all belong to the same object, or all but perhaps the last.
/// let rows = [vec![Some(1); 3], vec![Some(1), Some(1), None]];
/// let patterns = Patterns::new(&[2, 2, 2], rows, Counting::First)?;
/// assert_eq!((patterns.len(), patterns.variables()), (2, 3));
/// assert_eq!(patterns.counted(&[1, 1, 1]), [0]);
/// assert_eq!(patterns.counted(&[1, 1, 0]), [1]);
/// assert_eq!(patterns.counted(&[0, 1, 1]), [0u32; 0]);
/// # Ok::<(), maxmargin::model::factor_graph::PatternError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Patterns(pub(super) Arc<Compiled>);

#[derive(Debug, PartialEq)]
pub(super) struct Compiled {
    rows: Vec<Vec<Option<u32>>>,
    counting: Counting,
    /// For each variable, the place of its first state, if the states of all variables are numbered in order. The
    /// last entry is the number of all states.
    starts: Vec<usize>,
    pub(super) layers: Vec<Layer>,
    /// A node is a set of patterns that fit the variables read so far. For each variable, this is the place of the
    /// first node before it among all nodes. The last entry is the place of the first node behind the last
    /// variable.
    pub(super) nodes: Vec<usize>,
    /// For each node behind the last variable, the patterns that count.
    pub(super) ends: Vec<Vec<u32>>,
}

/// The steps that read one variable: `next[node * states + state]` is a node before the next variable.
#[derive(Debug, PartialEq)]
pub(super) struct Layer {
    pub(super) states: usize,
    pub(super) next: Vec<u32>,
}

/// A step from a set of patterns to the next: the variable, its state, and the nodes, numbered over all variables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PatternStep {
    pub(crate) slot: usize,
    pub(crate) state: usize,
    pub(crate) from: usize,
    pub(crate) to: usize,
}

impl Patterns {
    /// Creates patterns for variables with these numbers of states.
    ///
    /// # Errors
    /// If there are no patterns or variables, or too many patterns; if a pattern does not fit the variables; if two
    /// patterns are equal; if the patterns overlap in too many ways.
    pub fn new<R: AsRef<[Option<u32>]>>(
        states: &[usize],
        rows: impl IntoIterator<Item = R>,
        counting: Counting,
    ) -> Result<Self, PatternError> {
        let rows: Vec<Vec<Option<u32>>> =
            rows.into_iter().map(|row| row.as_ref().to_vec()).collect();
        check(states, &rows)?;
        let mut starts = vec![0];
        states.iter().for_each(|states| starts.push(starts[starts.len() - 1] + states));
        let mut compiled =
            Compiled { rows, counting, starts, layers: vec![], nodes: vec![0], ends: vec![] };
        compiled.build(states)?;
        Ok(Self(Arc::new(compiled)))
    }

    /// Number of patterns.
    #[allow(clippy::len_without_is_empty, reason = "there is always a pattern")]
    pub fn len(&self) -> usize {
        self.0.rows.len()
    }

    /// Number of variables.
    pub fn variables(&self) -> usize {
        self.0.layers.len()
    }

    /// Whether these are the numbers of states of the variables.
    pub fn fits(&self, states: &[usize]) -> bool {
        self.0.layers.iter().map(|layer| layer.states).eq(states.iter().copied())
    }

    /// The patterns.
    pub fn rows(&self) -> &[Vec<Option<u32>>] {
        &self.0.rows
    }

    /// Which of the patterns that fit count.
    pub fn counting(&self) -> Counting {
        self.0.counting
    }

    /// The patterns that count for these states of the variables, in order.
    ///
    /// # Panics
    /// If there are too few states, or a state that its variable does not have.
    pub fn counted(&self, states: &[u32]) -> &[u32] {
        self.counted_for(|slot| states[slot])
    }

    /// The patterns that count for the states that `state` has for each variable.
    pub(crate) fn counted_for(&self, state: impl Fn(usize) -> u32) -> &[u32] {
        let mut node = 0;
        for (slot, layer) in self.0.layers.iter().enumerate() {
            node = layer.next[node * layer.states + state(slot) as usize] as usize;
        }
        &self.0.ends[node]
    }

    /// The score of the states that `state` has for each variable.
    pub(crate) fn value(&self, scores: &[f64], state: impl Fn(usize) -> u32) -> f64 {
        self.counted_for(state).iter().map(|&pattern| scores[pattern as usize]).sum()
    }

    /// Number of states of the variable in `slot`.
    pub(crate) fn states(&self, slot: usize) -> usize {
        self.0.layers[slot].states
    }

    /// The place of the first state of the variable in `slot`, if the states of all variables are numbered in order.
    pub(crate) fn start(&self, slot: usize) -> usize {
        self.0.starts[slot]
    }

    /// Number of states of all variables together.
    pub(crate) fn all_states(&self) -> usize {
        self.0.starts[self.variables()]
    }

    /// Number of sets of patterns between two variables, and of those before the first and behind the last.
    pub(crate) fn nodes(&self) -> usize {
        self.0.nodes[self.variables()] + self.0.ends.len()
    }

    /// The patterns that count at a node, if it is behind the last variable.
    pub(crate) fn counted_at(&self, node: usize) -> &[u32] {
        let ends = self.0.nodes[self.variables()];
        node.checked_sub(ends).map_or(&[], |end| &self.0.ends[end])
    }

    /// All steps, those of the first variable first.
    pub(crate) fn steps(&self) -> impl Iterator<Item = PatternStep> + '_ {
        self.0.layers.iter().enumerate().flat_map(move |(slot, layer)| {
            let (here, there) = (self.0.nodes[slot], self.0.nodes[slot + 1]);
            layer.next.iter().enumerate().map(move |(at, &next)| PatternStep {
                slot,
                state: at % layer.states,
                from: here + at / layer.states,
                to: there + next as usize,
            })
        })
    }

    /// Number of steps.
    pub(crate) fn step_count(&self) -> usize {
        self.0.layers.iter().map(|layer| layer.next.len()).sum()
    }
}

fn check(states: &[usize], rows: &[Vec<Option<u32>>]) -> Result<(), PatternError> {
    if states.is_empty() {
        return Err(PatternError::NoVariables);
    }
    if !(1..=MOST_PATTERNS).contains(&rows.len()) {
        return Err(PatternError::Number { found: rows.len() });
    }
    for (pattern, row) in rows.iter().enumerate() {
        if row.len() != states.len() {
            let (found, variables) = (row.len(), states.len());
            return Err(PatternError::Length { pattern, found, variables });
        }
        for (variable, (state, &states)) in row.iter().zip(states).enumerate() {
            if let Some(state) = state.filter(|&state| state as usize >= states) {
                return Err(PatternError::State { pattern, variable, state, states });
            }
        }
        if let Some(first) = rows[..pattern].iter().position(|other| other == row) {
            return Err(PatternError::Twice { first, second: pattern });
        }
    }
    Ok(())
}

impl Compiled {
    /// Finds all sets of patterns that may still fit before each variable, and the steps between them.
    fn build(&mut self, states: &[usize]) -> Result<(), PatternError> {
        let mut sets = vec![u64::MAX >> (MOST_PATTERNS - self.rows.len())];
        let mut steps = 0usize;
        for (slot, &states) in states.iter().enumerate() {
            steps = steps.saturating_add(sets.len().saturating_mul(states));
            if steps > MOST_STEPS {
                return Err(PatternError::Overlaps);
            }
            let fitting: Vec<u64> = (0..states as u32).map(|y| self.fitting(slot, y)).collect();
            let (mut numbers, mut later) = (HashMap::new(), Vec::new());
            let mut next = Vec::with_capacity(sets.len() * states);
            for set in &sets {
                for fitting in &fitting {
                    let number = *numbers.entry(set & fitting).or_insert_with(|| {
                        later.push(set & fitting);
                        later.len() - 1
                    });
                    next.push(number as u32);
                }
            }
            self.layers.push(Layer { states, next });
            self.nodes.push(self.nodes[slot] + sets.len());
            sets = later;
        }
        let most = if self.counting == Counting::First { 1 } else { MOST_PATTERNS };
        let bits = |set: u64| (0..MOST_PATTERNS as u32).filter(move |bit| set >> bit & 1 == 1);
        self.ends = sets.into_iter().map(|set| bits(set).take(most).collect()).collect();
        Ok(())
    }

    /// The patterns that a state of a variable fits.
    fn fitting(&self, slot: usize, state: u32) -> u64 {
        let fits = |row: &Vec<Option<u32>>| row[slot].is_none_or(|own| own == state);
        self.rows.iter().rev().fold(0, |set, row| set << 1 | u64::from(fits(row)))
    }
}
