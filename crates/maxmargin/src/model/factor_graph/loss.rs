//! The loss of a factor graph.

/// Hamming loss: the share (or the sum) of the costs of all variables in a wrong state.
///
/// ```text
/// L(y) = Σ_v c_v · [y_v is wrong] / Σ_v c_v          without the division if not normalised
/// ```
///
/// The costs c_v are part of the data. They are 1 by default. If all costs of a graph are 0, its loss is
/// always 0.
///
/// ```
/// use maxmargin::model::factor_graph::StateLoss;
/// assert!(StateLoss::default().normalised);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
pub struct StateLoss {
    /// Whether the loss is divided by the sum of the costs, so that it is at most 1. Default: yes.
    pub normalised: bool,
}

impl Default for StateLoss {
    fn default() -> Self {
        Self { normalised: true }
    }
}
