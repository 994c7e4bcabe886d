//! Graphs, trees and matchings, whose specifications also define how their features are made.

use super::{FactorTraining, Rescaling, Spec};
use crate::alignment::AlignmentFeatures;
use crate::model::ModelError;
use crate::pose::{PoseKinds, PoseSimulation};
use maxmargin::model::matching::{LinkLoss, MatchingShape};
use maxmargin::model::potts::{NodeLoss, PottsInference, PottsShape};
use maxmargin::model::tree::{TreeLoss, TreeShape};
use serde::{Deserialize, Serialize};

/// Labels of the nodes of graphs: see [`maxmargin::model::potts`].
///
/// ```
/// use maxmargin::model::potts::{PottsInference, NodeLoss, PottsShape};
/// use maxmargin_io::{PottsSpec, Spec};
///
/// let (shape, loss) = (PottsShape::new(2, 45, 5), NodeLoss::default());
/// let inference = PottsInference::Auto;
/// let widths = Some(vec![Some(0.1), None]); // none inside is infinite
/// let training = Default::default();
/// let spec = Spec::from(PottsSpec { shape, loss, inference, widths, training, rescaling: Default::default() });
/// assert_eq!((spec.kind(), spec.attributes()), ("graph", 50));
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PottsSpec {
    /// The shape of the weights.
    pub shape: PottsShape,
    /// The loss it was trained for.
    pub loss: NodeLoss,
    /// How labels are found.
    pub inference: PottsInference,
    /// The widths of [`SuperpixelFeatures`](crate::SuperpixelFeatures), in which `None` means infinity. The whole
    /// entry is `None` if the features were made elsewhere, so that none of our files can provide them.
    pub widths: Option<Vec<Option<f64>>>,
    /// How its weights are found.
    #[serde(default, skip_serializing_if = "FactorTraining::is_decoding")]
    pub training: FactorTraining,
    /// How the loss enters. Slack rescaling searches with the decoder: see [`maxmargin::SlackRescaled`].
    #[serde(default, skip_serializing_if = "Rescaling::is_margin")]
    pub rescaling: Rescaling,
}

/// Trees of joints on simulated score maps: see [`maxmargin::model::tree`].
///
/// ```
/// use maxmargin_io::{Lines, PoseKinds, PoseSimulation, Spec, TreeSpec, read_poses};
///
/// let text = "a\t0,0,0\t10,30,0\nb\t0,0,0\t-10,30,0\n";
/// let people = read_poses(Lines::from_reader("people.tsv", text.as_bytes())?)?;
/// let simulation = PoseSimulation::default();
/// let kinds = PoseKinds::fit(&people, &[None, Some(0)], 2, &simulation);
/// let (shape, loss) = (kinds.shape(4.0), Default::default());
/// let (kinds, simulation) = (Some(kinds), Some(simulation));
/// let spec = Spec::from(TreeSpec { shape, loss, kinds, simulation, rescaling: Default::default() });
/// assert_eq!(spec.kind(), "tree");
/// # Ok::<(), maxmargin_io::DataError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TreeSpec {
    /// The shape of the weights.
    pub shape: TreeShape,
    /// The loss it was trained for.
    pub loss: TreeLoss,
    /// The kinds of each joint, for trees of joints.
    pub kinds: Option<PoseKinds>,
    /// How score maps are simulated. `None` if they were made elsewhere, so that none of our files can provide
    /// them.
    pub simulation: Option<PoseSimulation>,
    /// How the loss enters. Slack rescaling searches with the decoder: see [`maxmargin::SlackRescaled`].
    #[serde(default, skip_serializing_if = "Rescaling::is_margin")]
    pub rescaling: Rescaling,
}

/// Links between words: see [`maxmargin::model::matching`].
///
/// ```
/// use maxmargin::model::matching::{LinkLoss, MatchingShape};
/// use maxmargin_io::{AlignmentFeatures, MatchingSpec, Spec};
///
/// let features = AlignmentFeatures::default();
/// let (shape, loss) = (MatchingShape::new(features.attributes()), LinkLoss::default());
/// let features = Some(features);
/// let spec = Spec::from(MatchingSpec { shape, loss, features, rescaling: Default::default() });
/// assert_eq!((spec.kind(), spec.dim()), ("matching", 27));
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MatchingSpec {
    /// The shape of the weights.
    pub shape: MatchingShape,
    /// The loss it was trained for.
    pub loss: LinkLoss,
    /// How attributes are made of words. `None` if they were made elsewhere, so that none of our files can provide
    /// them.
    pub features: Option<AlignmentFeatures>,
    /// How the loss enters. Slack rescaling searches with the decoder: see [`maxmargin::SlackRescaled`].
    #[serde(default, skip_serializing_if = "Rescaling::is_margin")]
    pub rescaling: Rescaling,
}

impl TreeSpec {
    /// Refuses specifications that training never writes: with kinds of another tree, or with a simulation that
    /// does not fit into memory.
    pub(super) fn check(&self) -> Result<(), ModelError> {
        let (Some(kinds), Some(simulation)) = (&self.kinds, &self.simulation) else {
            return match self.kinds.is_some() || self.simulation.is_some() {
                true => Err(ModelError::content("kinds of joints and simulation come together")),
                false => Ok(()),
            };
        };
        simulation.check().map_err(|why| ModelError::content(format!("its simulation: {why}")))?;
        match kinds.try_shape(self.shape.unit()).as_ref() == Some(&self.shape) {
            true => Ok(()),
            false => Err(ModelError::content("the kinds of joints are not those of the tree")),
        }
    }
}

impl From<PottsSpec> for Spec {
    fn from(spec: PottsSpec) -> Self {
        Self::Potts(spec)
    }
}

impl From<TreeSpec> for Spec {
    fn from(spec: TreeSpec) -> Self {
        Self::Tree(Box::new(spec))
    }
}

impl From<MatchingSpec> for Spec {
    fn from(spec: MatchingSpec) -> Self {
        Self::Matching(Box::new(spec))
    }
}

impl TryFrom<Spec> for PottsSpec {
    type Error = Spec;

    fn try_from(spec: Spec) -> Result<Self, Spec> {
        if let Spec::Potts(own) = spec { Ok(own) } else { Err(spec) }
    }
}

impl TryFrom<Spec> for TreeSpec {
    type Error = Spec;

    fn try_from(spec: Spec) -> Result<Self, Spec> {
        if let Spec::Tree(own) = spec { Ok(*own) } else { Err(spec) }
    }
}

impl TryFrom<Spec> for MatchingSpec {
    type Error = Spec;

    fn try_from(spec: Spec) -> Result<Self, Spec> {
        if let Spec::Matching(own) = spec { Ok(*own) } else { Err(spec) }
    }
}
