//! Weights that several joint states share.

use super::shape::Template;
use crate::model::rows::{Row, add_scores, scatter_row};
use crate::problem::sparse::Sink;
use crate::util::names::named_enum;

named_enum! {
    /// Which joint states of a [`Template`] have weights, and which share them.
    ///
    /// ```
    /// use maxmargin::model::factor_graph::{Template, Tie};
    ///
    /// // A segmentation into 21 classes: a weight for the score of each class, and one for disagreement.
    /// let single = Template { states: vec![21], attributes: 21, tie: Tie::Diagonal, ..Template::default() };
    /// let pair = Template { states: vec![21, 21], attributes: 1, tie: Tie::Differ, ..Template::default() };
    /// assert_eq!(single.dim() + pair.dim(), 22);
    /// ```
    #[derive(Default)]
    Tie("tie") {
        /// Every joint state has a weight for every attribute.
        #[default]
        Free = "free",
        /// One weight per attribute, for the joint states in which all variables have the same state. The others
        /// have no features.
        Agree = "agree",
        /// One weight per attribute, for the joint states in which not all variables have the same state.
        Differ = "differ",
        /// One weight per attribute, and attribute k is a feature of joint state k, or of pattern k, only.
        Diagonal = "diagonal",
    }
}

impl Tie {
    /// Whether every joint state has weights of its own.
    pub(crate) fn is_free(&self) -> bool {
        *self == Self::Free
    }
}

/// How the weights of a template make scores.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Weighting {
    Free,
    /// The joint states that are marked share a weight, and the others have none.
    Marked(Vec<bool>),
    Diagonal,
}

impl Weighting {
    pub(crate) fn of(template: &Template) -> Self {
        let marked = |agree| {
            let joint = 0..template.joint_states();
            Self::Marked(joint.map(|state| agrees(&template.states, state) == agree).collect())
        };
        match template.tie {
            // Without attributes there are no weights to share, and no table of joint states is needed.
            _ if template.attributes == 0 => Self::Free,
            // Patterns have no states to compare; `Compiled` refuses such templates.
            Tie::Agree | Tie::Differ if template.patterns > 0 => Self::Free,
            Tie::Free => Self::Free,
            Tie::Agree => marked(true),
            Tie::Differ => marked(false),
            Tie::Diagonal => Self::Diagonal,
        }
    }

    /// Adds the scores of all joint states.
    pub(super) fn add_scores(&self, weights: &[f64], row: Row<'_>, scores: &mut [f64]) {
        match self {
            Self::Free => add_scores(weights, row, scores),
            Self::Marked(marks) => {
                let score = row.dot_strided(weights, 1, 0);
                scores
                    .iter_mut()
                    .zip(marks)
                    .filter(|(_, mark)| **mark)
                    .for_each(|(s, _)| *s += score);
            }
            Self::Diagonal => {
                for (a, value) in row.pairs() {
                    if let Some(score) = scores.get_mut(a as usize) {
                        *score += value * weights[a as usize];
                    }
                }
            }
        }
    }

    /// Adds `scale` · Σ mass · features to a sink, whose first place is that of the first weight. `state` returns
    /// the joint state of a part. There are `states` joint states.
    pub(super) fn scatter<S: Sink + ?Sized>(
        &self,
        states: usize,
        row: Row<'_>,
        scale: f64,
        masses: &[(u64, f64)],
        state: impl Fn(u64) -> usize,
        sink: &mut S,
    ) {
        match self {
            Self::Free => scatter_row(states, row, scale, masses, state, sink),
            Self::Marked(marks) => {
                let marked = masses.iter().filter(|(id, _)| marks[state(*id)]);
                let mass = scale * marked.map(|(_, mass)| mass).sum::<f64>();
                row.pairs().for_each(|(a, value)| sink.add(a as usize, mass * value));
            }
            Self::Diagonal => {
                for (a, value) in row.pairs() {
                    let own = masses.iter().filter(|(id, _)| state(*id) == a as usize);
                    own.for_each(|(_, mass)| sink.add(a as usize, scale * mass * value));
                }
            }
        }
    }
}

/// Whether all variables have the same state in a joint state.
fn agrees(states: &[usize], mut joint: usize) -> bool {
    let mut all = states.iter().rev().map(|&count| {
        let own = joint % count;
        joint /= count;
        own
    });
    let first = all.next();
    all.all(|own| Some(own) == first)
}
