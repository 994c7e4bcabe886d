//! Factor graphs in index form, with the names behind them.

use super::raw::{RawFactor, RawFactorGraph, RawVariable, Wrong};
use super::reader::FactorGraphReader;
use crate::error::{DataError, quote};
use crate::fingerprint::{Fingerprint, Fingerprinter};
use crate::mapping::LabelRule;
use crate::names::Names;
use maxmargin::model::factor_graph::{GraphShape, Graphs, Template, Tie};
use std::fmt;
use thiserror::Error;

/// The names of templates and of their attributes, and the states of their variables.
///
/// ```
/// let names = maxmargin_io::FactorGraphNames::default();
/// assert_eq!(names.shape().dim(), 0);
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FactorGraphNames {
    /// Names of the templates.
    pub templates: Names,
    /// By template, names of its attributes.
    pub attributes: Vec<Names>,
    /// By template, the numbers of states of its variables. Empty for a template of patterns.
    pub states: Vec<Vec<usize>>,
    /// By template, the number of patterns of its factors, or 0.
    pub patterns: Vec<usize>,
}

/// What a template has weights for: the numbers of states of its variables, or a number of patterns.
#[derive(Debug, Clone, PartialEq)]
struct Scored {
    states: Vec<usize>,
    patterns: usize,
}

impl Scored {
    fn of(factor: &RawFactor, variables: &[RawVariable]) -> Self {
        let states = factor.variables.iter().map(|&v| variables[v as usize].states as usize);
        match &factor.patterns {
            Some(patterns) => Self { states: Vec::new(), patterns: patterns.len() },
            None => Self { states: states.collect(), patterns: 0 },
        }
    }

    fn field(&self) -> &'static str {
        if self.patterns > 0 { "patterns" } else { "variables" }
    }
}

impl fmt::Display for Scored {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.patterns {
            0 => write!(f, "variables with {:?} states", self.states),
            patterns => write!(f, "{patterns} patterns"),
        }
    }
}

impl FactorGraphNames {
    /// The shape of the weights that goes with these names.
    pub fn shape(&self) -> GraphShape {
        let template = |t: usize| Template {
            states: self.states[t].clone(),
            patterns: self.patterns[t],
            attributes: self.attributes[t].len(),
            tie: Tie::Free,
        };
        GraphShape { templates: (0..self.templates.len()).map(template).collect() }
    }

    /// The shape of the weights, with joint states that share weights in some templates.
    ///
    /// ```
    /// use maxmargin::model::factor_graph::Tie;
    /// use maxmargin_io::{FactorGraphReader, Lines, read_factor_graphs};
    ///
    /// let text = r#"{"variables": [{"states": 2, "truth": 1}],
    ///  "factors": [{"template": "own", "variables": [0], "attributes": {"0": 0.2, "1": 0.8}}]}"#;
    /// let text = text.replace('\n', "");
    /// let lines = Lines::from_reader("example", std::io::Cursor::new(text.into_bytes()))?;
    /// let names = read_factor_graphs(FactorGraphReader::new(lines))?.names;
    /// assert_eq!(names.tied_shape(&[("own".to_owned(), Tie::Diagonal)])?.dim(), 2);
    /// assert!(names.tied_shape(&[("other".to_owned(), Tie::Differ)]).is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If a template does not exist, or if the attributes of a diagonal template are not the numbers of its joint
    /// states, from 0 on and in this order.
    pub fn tied_shape(&self, ties: &[(String, Tie)]) -> Result<GraphShape, TieError> {
        let mut shape = self.shape();
        for (name, tie) in ties {
            let Some(at) = self.templates.get(name) else {
                let known = self.templates.iter().collect::<Vec<_>>().join(", ");
                return Err(TieError::Unknown { template: name.clone(), known });
            };
            let mut numbered = self.attributes[at as usize].iter().enumerate();
            let wrong = numbered.find(|(number, attribute)| *attribute != number.to_string());
            if let (Tie::Diagonal, Some((number, attribute))) = (tie, wrong) {
                let (template, attribute) = (name.clone(), attribute.to_owned());
                return Err(TieError::Diagonal { template, number, attribute });
            }
            if self.patterns[at as usize] > 0 && matches!(tie, Tie::Agree | Tie::Differ) {
                return Err(TieError::Patterns { template: name.clone(), tie: *tie });
            }
            shape.templates[at as usize].tie = *tie;
        }
        Ok(shape)
    }

    /// Adds a new template, unless it is known.
    fn add_template(&mut self, name: &str, scored: &Scored) {
        if self.templates.get(name).is_none() {
            self.templates.intern(name);
            self.attributes.push(Names::new());
            self.states.push(scored.states.clone());
            self.patterns.push(scored.patterns);
        }
    }
}

/// Why joint states of a template cannot share weights.
#[derive(Debug, Error, Clone, PartialEq)]
#[non_exhaustive]
pub enum TieError {
    /// A template that the data do not have.
    #[error("there is no template {template:?}; the data have {known}")]
    Unknown {
        /// Its name.
        template: String,
        /// The templates of the data.
        known: String,
    },
    /// An attribute that is not the number of its joint state.
    #[error(
        "attribute {number} of template {template:?} is {attribute:?}; the attributes of a diagonal template are the \
         numbers of joint states, from \"0\" on and in this order, and the first factor has to list all of them"
    )]
    Diagonal {
        /// The template.
        template: String,
        /// The place of the attribute.
        number: usize,
        /// The attribute.
        attribute: String,
    },
    /// A template of patterns, which has no joint states to compare.
    #[error(
        "template {template:?} has patterns, whose weights may be free or diagonal, but not {:?}",
        tie.name()
    )]
    Patterns {
        /// The template.
        template: String,
        /// The tie that was asked for.
        tie: Tie,
    },
}

/// Factor graphs to train on, in index form.
///
/// ```
/// use maxmargin::inference::Inference;
/// use maxmargin::model::factor_graph::{FactorGraph, StateLoss};
/// use maxmargin_io::{FactorGraphReader, Lines, read_factor_graphs};
///
/// let text = r#"{"variables": [{"states": 2, "truth": 1}],
///  "factors": [{"template": "t", "variables": [0], "attributes": {"a": 1, "b": 0.5}}]}"#;
/// let text = text.replace('\n', "");
/// let lines = Lines::from_reader("example", std::io::Cursor::new(text.into_bytes()))?;
/// let data = read_factor_graphs(FactorGraphReader::new(lines))?;
/// assert_eq!((data.graphs.len(), data.names.shape().dim()), (1, 4));
/// let shape = data.names.shape();
/// let problem = FactorGraph::new(shape, data.graphs, StateLoss::default(), Inference::Auto)?;
/// # let _ = problem;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct FactorGraphDataset {
    /// The graphs.
    pub graphs: Graphs,
    /// The names behind them.
    pub names: FactorGraphNames,
    /// Fingerprint of the graphs in name form.
    pub fingerprint: Fingerprint,
}

/// Factor graphs for a trained model, in index form.
///
/// ```
/// use maxmargin_io::{FactorGraphReader, LabelRule, Lines, read_factor_graphs, read_factor_graphs_with};
///
/// let reader = |text: &'static str| {
///     Ok::<_, maxmargin_io::DataError>(FactorGraphReader::new(Lines::from_reader("g", text.as_bytes())?))
/// };
/// let seen = r#"{"variables": [{"states": 2, "truth": 1}], "factors": [{"template": "t", "variables": [0], "attributes": {"a": 1}}]}"#;
/// let new = r#"{"variables": [{"states": 2}], "factors": [{"template": "t", "variables": [0], "attributes": {"b": 1}}]}"#;
/// let names = read_factor_graphs(reader(seen)?)?.names;
/// let data = read_factor_graphs_with(reader(new)?, &names, LabelRule::Ignore)?;
/// assert_eq!((data.unknown_attributes, data.attributes), (1, 1));
/// # Ok::<(), maxmargin_io::DataError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct FactorGraphEvalData {
    /// The graphs. If true states are ignored, they are 0.
    pub graphs: Graphs,
    /// Occurrences of attributes that the model does not know; they were left out.
    pub unknown_attributes: u64,
    /// Occurrences of attributes, known or not.
    pub attributes: u64,
    /// Fingerprint of the graphs in name form.
    pub fingerprint: Fingerprint,
}

/// Reads all graphs for training. Templates and attributes are numbered in the order of their first occurrence. The
/// variables of a template have the numbers of states that its first factor has.
///
/// # Errors
/// If the reader fails, if a variable has no true state, if factors of one template are over variables with
/// different numbers of states, or if the input has no graphs.
pub fn read_factor_graphs(mut reader: FactorGraphReader) -> Result<FactorGraphDataset, DataError> {
    let (mut graphs, mut names) = (Graphs::new(), FactorGraphNames::default());
    let mut fingerprinter = Fingerprinter::for_factor_graphs();
    let mut raw = RawFactorGraph::default();
    while reader.read(&mut raw)? {
        fingerprinter.add_factor_graph(&raw);
        let result = add(&mut graphs, &raw, LabelRule::Strict, |at, factor, scored, row| {
            names.add_template(&factor.template, scored);
            let template = known_template(&names, at, factor, scored)?;
            let alphabet = &mut names.attributes[template as usize];
            row.extend(
                factor.attributes.iter().map(|(name, value)| (alphabet.intern(name), *value)),
            );
            Ok(template)
        });
        result.map_err(|wrong| reader.wrong(wrong))?;
    }
    if graphs.is_empty() {
        return Err(empty(&reader));
    }
    Ok(FactorGraphDataset { graphs, names, fingerprint: fingerprinter.finish() })
}

/// Reads all graphs for a model with the given names. With [`LabelRule::Ignore`], true states are ignored;
/// otherwise every variable needs one.
///
/// # Errors
/// If the reader fails, if a true state is missing, if the model does not know a template or knows it for other
/// numbers of states, or if the input has no graphs.
pub fn read_factor_graphs_with(
    mut reader: FactorGraphReader,
    names: &FactorGraphNames,
    rule: LabelRule,
) -> Result<FactorGraphEvalData, DataError> {
    let (mut graphs, mut unknown, mut all) = (Graphs::new(), 0, 0);
    let mut fingerprinter = Fingerprinter::for_factor_graphs();
    let mut raw = RawFactorGraph::default();
    while reader.read(&mut raw)? {
        fingerprinter.add_factor_graph(&raw);
        let result = add(&mut graphs, &raw, rule, |at, factor, scored, row| {
            let template = known_template(names, at, factor, scored)?;
            let alphabet = &names.attributes[template as usize];
            let known = |(name, value): &(String, f64)| Some((alphabet.get(name)?, *value));
            row.extend(factor.attributes.iter().filter_map(known));
            all += factor.attributes.len() as u64;
            unknown += (factor.attributes.len() - row.len()) as u64;
            Ok(template)
        });
        result.map_err(|wrong| reader.wrong(wrong))?;
    }
    if graphs.is_empty() {
        return Err(empty(&reader));
    }
    let fingerprint = fingerprinter.finish();
    Ok(FactorGraphEvalData { graphs, unknown_attributes: unknown, attributes: all, fingerprint })
}

fn empty(reader: &FactorGraphReader) -> DataError {
    DataError::NoGraphs { file: reader.file().into(), lines: reader.line_number() }
}

/// The index of a factor's template, if it is known and fits.
fn known_template(
    names: &FactorGraphNames,
    at: usize,
    factor: &RawFactor,
    scored: &Scored,
) -> Result<u32, Wrong> {
    let Some(template) = names.templates.get(&factor.template) else {
        let expected = format!("one of the {} templates of the model", names.templates.len());
        let field = format!("factors[{at}].template");
        return Err(Wrong::new(field, expected, quote(&factor.template)));
    };
    let (own, name) = (template as usize, quote(&factor.template));
    let expected = Scored { states: names.states[own].clone(), patterns: names.patterns[own] };
    if expected != *scored {
        let field = format!("factors[{at}].{}", scored.field());
        let expected = format!("{expected}, as template {name} has elsewhere");
        let found = match scored.patterns {
            0 => format!("{:?}", scored.states),
            patterns => patterns.to_string(),
        };
        return Err(Wrong::new(field, expected, found));
    }
    Ok(template)
}

/// Adds a graph. `look_up` returns the template of a factor and fills in its attributes.
fn add(
    to: &mut Graphs,
    raw: &RawFactorGraph,
    rule: LabelRule,
    mut look_up: impl FnMut(usize, &RawFactor, &Scored, &mut Vec<(u32, f64)>) -> Result<u32, Wrong>,
) -> Result<(), Wrong> {
    // The reader has already checked everything for which a graph can be refused.
    let refused =
        |error: maxmargin::model::InputError| Wrong::new("", "a factor graph", error.to_string());
    for (v, variable) in raw.variables.iter().enumerate() {
        let truth = match (rule, variable.truth) {
            (LabelRule::Ignore, _) => 0,
            (_, Some(truth)) => truth,
            (_, None) => {
                let expected = "the true state, which training and evaluation need";
                return Err(Wrong::new(format!("variables[{v}].truth"), expected, "nothing"));
            }
        };
        to.push_weighted_variable(variable.states, truth, variable.cost).map_err(refused)?;
    }
    let mut row = Vec::new();
    for (at, factor) in raw.factors.iter().enumerate() {
        row.clear();
        let scored = Scored::of(factor, &raw.variables);
        let template = look_up(at, factor, &scored, &mut row)?;
        let (variables, attributes) = (&factor.variables, row.iter().copied());
        let added = match &factor.patterns {
            None => to.push_factor(template, variables, attributes),
            Some(patterns) => to.push_pattern_factor(template, variables, patterns, attributes),
        };
        added.map_err(refused)?;
    }
    to.end_graph(raw.weight).map_err(refused)
}
