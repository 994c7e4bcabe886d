//! A factor graph in name form.

use crate::error::quote;
use maxmargin::model::factor_graph::Patterns;

/// A factor graph as it stands in a file: templates and attributes are names.
///
/// ```
/// use maxmargin_io::{RawFactor, RawFactorGraph, RawVariable};
///
/// let mut graph = RawFactorGraph::default();
/// graph.variables.push(RawVariable { states: 2, truth: Some(1), cost: 1.0 });
/// graph.factors.push(RawFactor {
///     template: "pixel".into(),
///     variables: vec![0],
///     attributes: vec![("brightness".into(), 0.7)],
///     patterns: None,
/// });
/// assert_eq!(graph.weight, 1.0);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct RawFactorGraph {
    /// The example weight, positive and finite; 1 by default.
    pub weight: f64,
    /// The variables, at least one.
    pub variables: Vec<RawVariable>,
    /// The factors.
    pub factors: Vec<RawFactor>,
}

impl Default for RawFactorGraph {
    fn default() -> Self {
        Self { weight: 1.0, variables: Vec::new(), factors: Vec::new() }
    }
}

/// A variable of a [`RawFactorGraph`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RawVariable {
    /// Number of states, at least 1.
    pub states: u32,
    /// The true state, from 0, if it is known.
    pub truth: Option<u32>,
    /// The cost of a mistake, finite and at least 0.
    pub cost: f64,
}

/// A factor of a [`RawFactorGraph`].
#[derive(Debug, Clone, PartialEq)]
pub struct RawFactor {
    /// The name of its template.
    pub template: String,
    /// Its variables, from 0, no two the same.
    pub variables: Vec<u32>,
    /// Its attributes with their values, no two of one name.
    pub attributes: Vec<(String, f64)>,
    /// Its patterns, if it is given by some instead of a table.
    pub patterns: Option<Patterns>,
}

/// A part of a graph that is not valid.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Wrong {
    /// The field, like `factors[2].template`; empty for the graph as a whole.
    pub(super) field: String,
    pub(super) expected: String,
    pub(super) found: String,
}

impl Wrong {
    pub(super) fn new(
        field: impl Into<String>,
        expected: impl Into<String>,
        found: impl Into<String>,
    ) -> Self {
        Self { field: field.into(), expected: expected.into(), found: found.into() }
    }
}

impl RawFactorGraph {
    /// Checks the conditions that the types do not ensure.
    pub(super) fn check(&self) -> Result<(), Wrong> {
        if !(self.weight > 0.0 && self.weight.is_finite()) {
            let found = self.weight.to_string();
            return Err(Wrong::new("weight", "a positive finite number", found));
        }
        if self.variables.is_empty() {
            return Err(Wrong::new("variables", "at least one variable", "none"));
        }
        for (v, variable) in self.variables.iter().enumerate() {
            let RawVariable { states, truth, cost } = *variable;
            let wrong = |field, expected: &str, found: String| {
                Err(Wrong::new(format!("variables[{v}].{field}"), expected, found))
            };
            if states == 0 {
                return wrong("states", "at least one state", "0".into());
            }
            if let Some(truth) = truth.filter(|&truth| truth >= states) {
                return wrong("truth", &format!("a state below {states}"), truth.to_string());
            }
            if !(cost >= 0.0 && cost.is_finite()) {
                return wrong("cost", "a finite number, at least 0", cost.to_string());
            }
        }
        for (c, factor) in self.factors.iter().enumerate() {
            factor.check(c, &self.variables)?;
        }
        Ok(())
    }
}

impl RawFactor {
    fn check(&self, at: usize, variables: &[RawVariable]) -> Result<(), Wrong> {
        let field = |field: String| format!("factors[{at}].{field}");
        if self.variables.is_empty() {
            return Err(Wrong::new(field("variables".into()), "at least one variable", "none"));
        }
        for (slot, &v) in self.variables.iter().enumerate() {
            let wrong = |expected: String| {
                Err(Wrong::new(field(format!("variables[{slot}]")), expected, v.to_string()))
            };
            if v as usize >= variables.len() {
                return wrong(format!("a variable below {}", variables.len()));
            }
            if self.variables[..slot].contains(&v) {
                return wrong("each variable once".into());
            }
        }
        if let Some(patterns) = &self.patterns {
            let states = self.variables.iter().map(|&v| variables[v as usize].states);
            let states: Vec<usize> = states.map(|states| states as usize).collect();
            if !patterns.fits(&states) {
                let expected = format!("patterns for variables with {states:?} states");
                return Err(Wrong::new(field("patterns".into()), expected, "others"));
            }
        }
        let mut names = std::collections::HashSet::new();
        for (name, value) in &self.attributes {
            let place = || field(format!("attributes.{}", quote(name)));
            if !names.insert(name) {
                return Err(Wrong::new(place(), "each attribute once", "it again"));
            }
            if !value.is_finite() {
                return Err(Wrong::new(place(), "a finite number", value.to_string()));
            }
        }
        Ok(())
    }
}
