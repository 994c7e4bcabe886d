//! Bounds on whole groups of weights, as users state them.

use crate::problem::bounds::{Bounds, BoundsError};
use std::collections::BTreeMap;
use std::ops::Range;

/// The name that stands for all groups.
const ALL: &str = "all";

/// Lower and upper bounds by the name of a group of features; `all` stands for every group.
///
/// ```
/// use maxmargin::GroupBounds;
/// use maxmargin::model::chain::ChainShape;
///
/// let mut stated = GroupBounds::default();
/// stated.lower.insert("transition".into(), 0.0);
/// stated.upper.insert("all".into(), 2.0);
/// let shape = ChainShape::new(2, 4);
/// let bounds = stated.resolve(&shape.named_groups(), shape.dim())?.unwrap();
/// assert_eq!((bounds.clip(8, -1.0), bounds.clip(0, -1.0), bounds.clip(0, 3.0)), (0.0, -1.0, 2.0));
///
/// stated.lower.insert("transitions".into(), 0.0);
/// let error = stated.resolve(&shape.named_groups(), shape.dim()).unwrap_err().to_string();
/// assert!(error.starts_with("there is no group `transitions`; there are emission, transition"));
/// # Ok::<(), maxmargin::BoundsError>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
pub struct GroupBounds {
    /// Lower bounds.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "BTreeMap::is_empty"))]
    pub lower: BTreeMap<String, f64>,
    /// Upper bounds.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "BTreeMap::is_empty"))]
    pub upper: BTreeMap<String, f64>,
}

impl GroupBounds {
    /// Whether nothing is bounded.
    pub fn is_empty(&self) -> bool {
        self.lower.is_empty() && self.upper.is_empty()
    }

    /// Returns the bounds of `dim` weights in these groups, or `None` if nothing is bounded.
    ///
    /// # Errors
    /// If a group does not exist or has no weights, or if no number lies within its bounds.
    pub fn resolve(
        &self,
        groups: &[(&str, Range<usize>)],
        dim: usize,
    ) -> Result<Option<Bounds>, BoundsError> {
        if self.is_empty() {
            return Ok(None);
        }
        let mut bounds = Bounds::none(dim);
        let lower = self.lower.iter().map(|(name, &at)| (name, at, f64::INFINITY));
        let upper = self.upper.iter().map(|(name, &at)| (name, f64::NEG_INFINITY, at));
        for (name, lower, upper) in lower.chain(upper) {
            let range = if name == ALL {
                0..dim
            } else {
                let known = groups.iter().find(|(group, range)| group == name && !range.is_empty());
                known.map(|(_, range)| range.clone()).ok_or_else(|| {
                    let known = groups.iter().filter(|(_, range)| !range.is_empty());
                    let names = known.map(|(group, _)| *group).chain([ALL]);
                    let known = names.collect::<Vec<_>>().join(", ");
                    BoundsError::Group { name: name.clone(), known }
                })?
            };
            bounds = bounds.with(range, lower, upper)?;
        }
        Ok(Some(bounds))
    }
}
