//! The loss of a labelled graph.

use super::graphs::PottsGraph;

/// Hamming loss: the share of nodes with a wrong label, possibly weighted by node or balanced by class.
///
/// ```text
/// L(y) = Σᵥ costᵥ·[yᵥ is wrong],     costᵥ = aᵥ / Σᵤ aᵤ                      not balanced
///                                    costᵥ = aᵥ / (C·Σ_{u of v's label} aᵤ)     balanced
/// ```
///
/// where aᵥ is the weight of a node, or 1, and C is the number of labels that occur in the graph's truth
/// (with a positive weight). So L = 1 if all labels are wrong. If the loss is balanced, a small object
/// counts as much as the large background around it.
///
/// ```
/// use maxmargin::model::potts::{PottsGraphs, NodeLoss};
///
/// let mut data = PottsGraphs::new();
/// for (label, area) in [(0, 60.0), (0, 20.0), (1, 20.0)] {
///     data.push_node([], label, area)?;
/// }
/// data.end_graph(1.0)?;
/// let costs = |loss: NodeLoss| loss.costs(data.graph(0));
/// assert_eq!(costs(NodeLoss::HAMMING), [1.0 / 3.0; 3]);
/// assert_eq!(costs(NodeLoss::default()), [0.375, 0.125, 0.5]); // weighted and balanced
/// # Ok::<(), maxmargin::model::InputError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
pub struct NodeLoss {
    /// Whether nodes count by their weights. Default: yes.
    pub weighted: bool,
    /// Whether all labels of the truth count the same. Default: yes.
    pub balanced: bool,
}

impl Default for NodeLoss {
    fn default() -> Self {
        Self { weighted: true, balanced: true }
    }
}

impl NodeLoss {
    /// The share of nodes with a wrong label.
    pub const HAMMING: Self = Self { weighted: false, balanced: false };

    /// The cost of a wrong label at each node of a graph.
    pub fn costs(&self, graph: PottsGraph<'_>) -> Vec<f64> {
        let labels = graph.labels();
        let weight = |v: usize| if self.weighted { graph.node_weight(v) } else { 1.0 };
        let class = |label: u32| if self.balanced { label as usize } else { 0 };
        let mut sums = vec![0.0; labels.iter().map(|&label| class(label) + 1).max().unwrap_or(0)];
        for (v, &label) in labels.iter().enumerate() {
            sums[class(label)] += weight(v);
        }
        let present = sums.iter().filter(|sum| **sum > 0.0).count() as f64;
        let cost = |(v, &label): (usize, &u32)| match weight(v) {
            weight if weight > 0.0 => weight / (present * sums[class(label)]),
            _ => 0.0,
        };
        labels.iter().enumerate().map(cost).collect()
    }
}
