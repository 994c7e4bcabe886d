//! The layout of the weights of factor graphs.

use super::tie::Tie;
use std::ops::Range;

/// A kind of factor: all factors of one template share their weights.
///
/// ```
/// use maxmargin::model::factor_graph::{Template, Tie};
/// let edge = Template { states: vec![2, 3], attributes: 4, ..Template::default() };
/// assert_eq!((edge.joint_states(), edge.dim()), (6, 24));
/// assert_eq!(Template { tie: Tie::Differ, ..edge }.dim(), 4);
///
/// let region = Template { patterns: 2, attributes: 4, ..Template::default() };
/// assert_eq!((region.joint_states(), region.dim()), (2, 8));
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct Template {
    /// Numbers of states of its variables, in order. Empty for a template of patterns, which may be over any variables.
    pub states: Vec<usize>,
    /// Number of patterns of a factor that is given by patterns, or 0.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "is_none"))]
    pub patterns: usize,
    /// Number of attributes.
    pub attributes: usize,
    /// Which joint states share weights.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Tie::is_free"))]
    pub tie: Tie,
}

/// Whether a template has no patterns.
#[cfg(feature = "serde")]
fn is_none(patterns: &usize) -> bool {
    *patterns == 0
}

impl Template {
    /// Number of joint states of its variables, or of its patterns.
    pub fn joint_states(&self) -> usize {
        if self.patterns > 0 { self.patterns } else { self.states.iter().product() }
    }

    /// Number of weights: one per attribute and joint state, or one per attribute if joint states share them.
    pub fn dim(&self) -> usize {
        self.attributes * if self.tie.is_free() { self.joint_states() } else { 1 }
    }
}

/// The shape of a factor graph's weights: its templates, one block of weights after the other.
///
/// In a block, the weights of all joint states of an attribute are side by side. Joint states are numbered such
/// that the last variable changes fastest. A template of patterns has a weight for each pattern and attribute. A
/// template whose joint states share weights has one weight per attribute.
///
/// ```
/// use maxmargin::model::factor_graph::{GraphShape, Template};
///
/// let node = Template { states: vec![3], attributes: 10, ..Template::default() };
/// let edge = Template { states: vec![3, 3], attributes: 2, ..Template::default() };
/// let shape = GraphShape { templates: vec![node, edge] };
/// assert_eq!((shape.dim(), shape.block(1)), (48, 30..48));
/// let w = vec![0.0; shape.dim()];
/// let repelling = w[shape.block(1)][1 * 9 + 2 * 3 + 2]; // attribute 1, both variables in state 2
/// # let _ = repelling;
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct GraphShape {
    /// The templates.
    pub templates: Vec<Template>,
}

impl GraphShape {
    /// Number of weights.
    pub fn dim(&self) -> usize {
        self.templates.iter().map(Template::dim).sum()
    }

    /// The range of the weights of a template. The weight of attribute `a` with joint state `s` is at `a
    /// * joint_states + s` in it; at `a` if joint states share weights.
    ///
    /// ```
    /// use maxmargin::model::factor_graph::{GraphShape, Template};
    /// let pair = Template { states: vec![2, 2], attributes: 3, ..Template::default() };
    /// let shape = GraphShape { templates: vec![pair.clone(), pair] };
    /// assert_eq!((shape.block(0), shape.block(1)), (0..12, 12..24));
    /// ```
    ///
    /// # Panics
    /// If there is no such template.
    pub fn block(&self, template: usize) -> Range<usize> {
        let start = self.templates[..template].iter().map(Template::dim).sum();
        start..start + self.templates[template].dim()
    }
}
