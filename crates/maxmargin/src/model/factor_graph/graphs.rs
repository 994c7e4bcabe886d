//! Labelled factor graphs in index form, for training and prediction.

use super::shape::{GraphShape, Template};
use crate::inference::patterns::Patterns;
use crate::model::InputError;
use crate::model::rows::{Row, Rows};
use std::ops::Range;

/// Factor graphs: variables with states, of which one is true, and factors over one or more of them.
///
/// A factor has sparse real-valued attributes and a *template*, which says which weights score it. All
/// factors of one template share their weights. Variables are numbered from 0 in each graph. Templates
/// and attributes are plain indices; the code that reads files handles names.
///
/// ```
/// use maxmargin::model::factor_graph::Graphs;
///
/// let mut data = Graphs::new();
/// let pixel = |data: &mut Graphs, brightness: f64, truth| {
///     let v = data.push_variable(2, truth)?;
///     data.push_factor(0, &[v], [(0, brightness), (1, 1.0)])?; // template 0: a pixel by itself
///     Ok::<_, maxmargin::model::InputError>(v)
/// };
/// let (a, b) = (pixel(&mut data, 0.2, 0)?, pixel(&mut data, 0.7, 1)?);
/// data.push_factor(1, &[a, b], [(0, 1.0)])?;                   // template 1: neighbours
/// data.end_graph(1.0)?;
/// assert_eq!((data.len(), data.graph(0).variables()), (1, 2));
/// assert_eq!(data.graph(0).truth(), [0, 1]);
/// # Ok::<(), maxmargin::model::InputError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Graphs {
    starts: Vec<Start>,
    states: Vec<u32>,
    truth: Vec<u32>,
    /// One cost per variable, or empty while every cost is 1.
    costs: Vec<f64>,
    templates: Vec<u32>,
    scopes: Vec<u32>,
    scope_starts: Vec<usize>,
    /// The attributes of each factor.
    rows: Rows,
    /// The factors that are given by patterns, in order, with these.
    patterns: Vec<(usize, Patterns)>,
    /// One weight per graph, or empty while every weight is 1.
    weights: Vec<f64>,
}

/// The first variable and the first factor of a graph.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Start {
    variable: usize,
    factor: usize,
}

impl Default for Graphs {
    fn default() -> Self {
        Self::new()
    }
}

/// Appends to a list that is left empty as long as all values are 1. `len` is the number of values so
/// far.
fn push_unless_ones(list: &mut Vec<f64>, len: usize, value: f64) {
    if value != 1.0 && list.is_empty() {
        list.resize(len, 1.0);
    }
    if value != 1.0 || !list.is_empty() {
        list.push(value);
    }
}

impl Graphs {
    /// An empty collection.
    pub fn new() -> Self {
        Self {
            starts: vec![Start::default()],
            states: Vec::new(),
            truth: Vec::new(),
            costs: Vec::new(),
            templates: Vec::new(),
            scopes: Vec::new(),
            scope_starts: vec![0],
            rows: Rows::default(),
            patterns: Vec::new(),
            weights: Vec::new(),
        }
    }

    /// Adds a variable with the given number of states to the open graph, and returns its number.
    ///
    /// ```
    /// let mut data = maxmargin::model::factor_graph::Graphs::new();
    /// assert_eq!((data.push_variable(2, 0)?, data.push_variable(5, 4)?), (0, 1));
    /// assert!(data.push_variable(2, 2).is_err());
    /// # Ok::<(), maxmargin::model::InputError>(())
    /// ```
    ///
    /// # Errors
    /// If there are no states, or if the true state does not exist.
    pub fn push_variable(&mut self, states: u32, truth: u32) -> Result<u32, InputError> {
        self.push_weighted_variable(states, truth, 1.0)
    }

    /// Like [`push_variable`](Self::push_variable), but with the cost of a mistake at this variable. For
    /// example, the cost of a superpixel may be its area.
    ///
    /// ```
    /// let mut data = maxmargin::model::factor_graph::Graphs::new();
    /// assert_eq!(data.push_weighted_variable(3, 0, 2.5), Ok(0));
    /// let error = data.push_weighted_variable(3, 0, -1.0).unwrap_err().to_string();
    /// assert_eq!(error, "the cost of a mistake is -1; a finite number ≥ 0 is needed");
    /// ```
    ///
    /// # Errors
    /// The same as for [`push_variable`](Self::push_variable), and if the cost is negative, NaN or
    /// infinite.
    pub fn push_weighted_variable(
        &mut self,
        states: u32,
        truth: u32,
        cost: f64,
    ) -> Result<u32, InputError> {
        if states == 0 {
            return Err(InputError::structure("a variable needs at least one state"));
        }
        if truth >= states {
            let message =
                format!("the true state is {truth}, but the variable has only {states} states");
            return Err(InputError::Structure(message));
        }
        InputError::check_not_negative("the cost of a mistake", cost)?;
        push_unless_ones(&mut self.costs, self.states.len(), cost);
        self.states.push(states);
        self.truth.push(truth);
        Ok(self.open_variables() as u32 - 1)
    }

    /// Adds a factor over `variables` of the open graph, with its attributes `(index, value)`. Values of
    /// a repeated attribute are added up.
    ///
    /// ```
    /// let mut data = maxmargin::model::factor_graph::Graphs::new();
    /// let (a, b) = (data.push_variable(2, 0)?, data.push_variable(3, 1)?);
    /// data.push_factor(0, &[b, a], [(0, 1.0), (7, -0.5)])?;
    /// assert!(data.push_factor(0, &[a, a], []).is_err());
    /// # Ok::<(), maxmargin::model::InputError>(())
    /// ```
    ///
    /// # Errors
    /// If a variable does not exist or is repeated, or if a value is NaN or infinite. The factor is not
    /// added then.
    pub fn push_factor(
        &mut self,
        template: u32,
        variables: &[u32],
        attributes: impl IntoIterator<Item = (u32, f64)>,
    ) -> Result<(), InputError> {
        if variables.is_empty() {
            return Err(InputError::structure("a factor needs at least one variable"));
        }
        let known = self.open_variables();
        for (at, &variable) in variables.iter().enumerate() {
            if variable as usize >= known {
                let message =
                    format!("variable {variable} does not exist; the graph has {known} so far");
                return Err(InputError::Structure(message));
            }
            if variables[..at].contains(&variable) {
                let message = format!("variable {variable} is in the factor twice");
                return Err(InputError::Structure(message));
            }
        }
        self.rows.push(attributes)?;
        self.templates.push(template);
        self.scopes.extend_from_slice(variables);
        self.scope_starts.push(self.scopes.len());
        Ok(())
    }

    /// Adds a factor that is given by patterns. Its attributes have a weight for each pattern instead of one for
    /// each joint state, so it may be over many variables. Factors of one template must have the same number of
    /// patterns, but may be over any variables.
    ///
    /// ```
    /// use maxmargin::model::factor_graph::{Counting, Graphs, Patterns};
    ///
    /// let mut data = Graphs::new();
    /// let pixels = (0..30).map(|_| data.push_variable(2, 1)).collect::<Result<Vec<_>, _>>()?;
    /// let same = Patterns::new(&[2; 30], [[Some(0); 30], [Some(1); 30]], Counting::All)?;
    /// data.push_pattern_factor(0, &pixels, &same, [(0, 1.0)])?;
    /// data.end_graph(1.0)?;
    /// assert_eq!(data.shape()?.dim(), 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// The same as for [`push_factor`](Self::push_factor), and if the numbers of states of the patterns and of the
    /// variables differ.
    #[cfg(feature = "unstable")]
    pub fn push_pattern_factor(
        &mut self,
        template: u32,
        variables: &[u32],
        patterns: &Patterns,
        attributes: impl IntoIterator<Item = (u32, f64)>,
    ) -> Result<(), InputError> {
        self.push_any_factor(template, variables, Some(patterns), attributes)
    }

    fn push_any_factor(
        &mut self,
        template: u32,
        variables: &[u32],
        patterns: Option<&Patterns>,
        attributes: impl IntoIterator<Item = (u32, f64)>,
    ) -> Result<(), InputError> {
        let Some(patterns) = patterns else {
            return self.push_factor(template, variables, attributes);
        };
        let first = self.starts.last().map_or(0, |start| start.variable);
        let states = |slot: usize| {
            self.states.get(first + variables[slot] as usize).map(|&count| count as usize)
        };
        let fits = |slot| states(slot).is_none_or(|count| count == patterns.states(slot));
        if patterns.variables() != variables.len() || !(0..variables.len()).all(fits) {
            return Err(InputError::structure(
                "the patterns are for variables with other numbers of states",
            ));
        }
        self.push_factor(template, variables, attributes)?;
        self.patterns.push((self.templates.len() - 1, patterns.clone()));
        Ok(())
    }

    /// Closes the open graph and gives it an example weight.
    ///
    /// ```
    /// let mut data = maxmargin::model::factor_graph::Graphs::new();
    /// assert!(data.end_graph(1.0).is_err());
    /// data.push_variable(2, 0)?;
    /// data.end_graph(2.0)?; // counts twice
    /// assert_eq!((data.len(), data.weight(0)), (1, 2.0));
    /// # Ok::<(), maxmargin::model::InputError>(())
    /// ```
    ///
    /// # Errors
    /// If no variable was added since the last call, or if the weight is not positive and finite. The
    /// graph stays open then.
    pub fn end_graph(&mut self, weight: f64) -> Result<(), InputError> {
        if self.open_variables() == 0 {
            return Err(InputError::structure("a graph needs at least one variable"));
        }
        InputError::check_weight(weight)?;
        push_unless_ones(&mut self.weights, self.starts.len() - 1, weight);
        self.starts.push(Start { variable: self.states.len(), factor: self.templates.len() });
        Ok(())
    }

    /// Number of variables added since the last graph was closed.
    pub fn open_variables(&self) -> usize {
        self.states.len() - self.starts.last().map_or(0, |start| start.variable)
    }

    /// Number of closed graphs.
    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// Whether there is no closed graph.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The closed graph with index `i`, which must be below [`len`](Self::len).
    pub fn graph(&self, i: usize) -> Graph<'_> {
        Graph { data: self, start: self.starts[i], end: self.starts[i + 1] }
    }

    /// All closed graphs in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Graph<'_>> {
        (0..self.len()).map(|i| self.graph(i))
    }

    /// Example weight of graph `i`, which must be below [`len`](Self::len).
    pub fn weight(&self, i: usize) -> f64 {
        if self.weights.is_empty() { 1.0 } else { self.weights[i] }
    }

    /// Returns the graphs for whose index `keep` returns `true`, in the same order.
    ///
    /// ```
    /// let mut data = maxmargin::model::factor_graph::Graphs::new();
    /// for truth in [0, 1, 0] {
    ///     data.push_variable(2, truth)?;
    ///     data.end_graph(1.0)?;
    /// }
    /// let some = data.select(|i| i != 0);
    /// assert_eq!((some.len(), some.graph(0).truth()), (2, &[1][..]));
    /// # Ok::<(), maxmargin::model::InputError>(())
    /// ```
    #[must_use]
    pub fn select(&self, keep: impl Fn(usize) -> bool) -> Self {
        let mut selected = Self::new();
        for (i, graph) in self.iter().enumerate().filter(|(i, _)| keep(*i)) {
            // The data were checked when they were added.
            for (v, (&states, &truth)) in graph.states().iter().zip(graph.truth()).enumerate() {
                let _ = selected.push_weighted_variable(states, truth, graph.cost(v));
            }
            for factor in graph.factors() {
                let pairs = factor.attributes.pairs();
                let (template, own) = (factor.template, factor.patterns);
                let _ = selected.push_any_factor(template, factor.variables, own, pairs);
            }
            let _ = selected.end_graph(self.weight(i));
        }
        selected
    }

    /// Returns the shape of the closed graphs. Each template has the numbers of states of its first
    /// factor, or as many patterns, and as many attributes as occur.
    ///
    /// ```
    /// use maxmargin::model::factor_graph::{Graphs, Template};
    ///
    /// let mut data = Graphs::new();
    /// for states in [3, 2] {
    ///     data.push_variable(states, 0)?;
    /// }
    /// data.push_factor(0, &[1, 0], [(4, 1.0)])?;
    /// data.end_graph(1.0)?;
    /// let shape = data.shape()?;
    /// assert_eq!(shape.templates, [Template { states: vec![2, 3], attributes: 5, ..Template::default() }]);
    /// assert_eq!(shape.dim(), 5 * 6);
    /// # Ok::<(), maxmargin::model::InputError>(())
    /// ```
    ///
    /// # Errors
    /// If factors of one template have variables with different numbers of states, or different numbers of patterns.
    pub fn shape(&self) -> Result<GraphShape, InputError> {
        let mut templates: Vec<Template> = Vec::new();
        for graph in self.iter() {
            for factor in graph.factors() {
                let at = factor.template as usize;
                if at >= templates.len() {
                    templates.resize_with(at + 1, Template::default);
                }
                let template = &mut templates[at];
                let found = graph.scored_by(&factor);
                let expected = (template.states.clone(), template.patterns);
                if expected == (Vec::new(), 0) {
                    (template.states, template.patterns) = found;
                } else if expected != found {
                    let (at, found, expected) =
                        (factor.template, Scored(&found), Scored(&expected));
                    let message = format!(
                        "template {at} is used for {found}, and before that for {expected}"
                    );
                    return Err(InputError::Structure(message));
                }
                let most = factor.attributes.attributes.iter().max();
                let bound = most.map_or(0, |&attribute| attribute as usize + 1);
                template.attributes = template.attributes.max(bound);
            }
        }
        Ok(GraphShape { templates })
    }
}

/// A view of one graph of a [`Graphs`].
///
/// ```
/// use maxmargin::model::factor_graph::Graphs;
///
/// let mut data = Graphs::new();
/// data.push_variable(3, 2)?;
/// data.push_factor(0, &[0], [(1, 0.5)])?;
/// data.end_graph(1.0)?;
/// let graph = data.graph(0);
/// assert_eq!((graph.states(), graph.truth()), (&[3][..], &[2][..]));
/// let factor = graph.factors().next().unwrap();
/// assert_eq!((factor.template, factor.variables), (0, &[0][..]));
/// assert_eq!(factor.attributes.pairs().collect::<Vec<_>>(), [(1, 0.5)]);
/// # Ok::<(), maxmargin::model::InputError>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Graph<'a> {
    data: &'a Graphs,
    start: Start,
    end: Start,
}

/// A factor of a [`Graph`].
///
/// ```
/// let mut data = maxmargin::model::factor_graph::Graphs::new();
/// data.push_variable(2, 0)?;
/// data.push_factor(3, &[0], [(1, 0.5)])?;
/// data.end_graph(1.0)?;
/// let factor = data.graph(0).factors().next().unwrap();
/// assert_eq!((factor.template, factor.variables), (3, &[0][..]));
/// # Ok::<(), maxmargin::model::InputError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Factor<'a> {
    /// The template, which says which weights score it.
    pub template: u32,
    /// Its variables, one or more.
    pub variables: &'a [u32],
    /// Its attributes.
    pub attributes: Row<'a>,
    /// Its patterns, if it is given by some.
    pub(crate) patterns: Option<&'a Patterns>,
}

/// The numbers of states of variables, or a number of patterns, in words.
pub(super) struct Scored<'a>(pub(super) &'a (Vec<usize>, usize));

impl std::fmt::Display for Scored<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            (states, 0) => write!(f, "variables with {states:?} states"),
            (_, patterns) => write!(f, "{patterns} patterns"),
        }
    }
}

impl<'a> Graph<'a> {
    fn range(&self) -> Range<usize> {
        self.start.variable..self.end.variable
    }

    /// Number of variables, at least 1.
    pub fn variables(&self) -> usize {
        self.range().len()
    }

    /// Numbers of states of the variables.
    pub fn states(&self) -> &'a [u32] {
        &self.data.states[self.range()]
    }

    /// True states of the variables.
    pub fn truth(&self) -> &'a [u32] {
        &self.data.truth[self.range()]
    }

    /// The cost of a mistake at variable `v`, which must exist.
    pub fn cost(&self, v: usize) -> f64 {
        let costs = &self.data.costs;
        if costs.is_empty() { 1.0 } else { costs[self.start.variable + v] }
    }

    /// The factors in the order they were added.
    pub fn factors(&self) -> impl ExactSizeIterator<Item = Factor<'a>> + use<'a> {
        let (data, range) = (self.data, self.start.factor..self.end.factor);
        range.map(move |factor| data.factor(factor))
    }

    /// The range of its factors among those of all graphs.
    pub(super) fn factor_range(&self) -> Range<usize> {
        self.start.factor..self.end.factor
    }

    /// The range of its variables among those of all graphs.
    pub(super) fn variable_range(&self) -> Range<usize> {
        self.range()
    }

    /// What a factor has weights for: the numbers of states of its variables, or the number of its patterns.
    pub(super) fn scored_by(&self, factor: &Factor<'_>) -> (Vec<usize>, usize) {
        let states = |v: &u32| self.states()[*v as usize] as usize;
        match factor.patterns {
            Some(patterns) => (Vec::new(), patterns.len()),
            None => (factor.variables.iter().map(states).collect(), 0),
        }
    }
}

impl Graphs {
    /// The factor with this index among those of all graphs.
    #[inline]
    pub(super) fn factor(&self, at: usize) -> Factor<'_> {
        Factor {
            template: self.templates[at],
            variables: &self.scopes[self.scope_starts[at]..self.scope_starts[at + 1]],
            attributes: self.rows.row(at),
            patterns: self.patterns_of(at),
        }
    }

    fn patterns_of(&self, factor: usize) -> Option<&Patterns> {
        if self.patterns.is_empty() {
            return None;
        }
        let found = self.patterns.binary_search_by_key(&factor, |own| own.0);
        found.ok().map(|at| &self.patterns[at].1)
    }
}
