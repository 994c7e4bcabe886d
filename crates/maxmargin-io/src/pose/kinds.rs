//! Kinds of joints, which differ in the position of a joint relative to its parent.

use super::reader::Pose;
use super::simulation::PoseSimulation;
use maxmargin::model::tree::{TreeNode, TreeShape};
use maxmargin::sort;
use serde::{Deserialize, Serialize};

/// Kinds of joints (mixture types), which differ in the position of a joint relative to its parent. They are the
/// clusters of these positions in training data, found by Lloyd's algorithm.
///
/// ```
/// use maxmargin_io::{Joint, Pose, PoseKinds, PoseSimulation};
///
/// let person = |x: f64| Pose {
///     name: "someone".to_owned(),
///     joints: vec![Joint::default(), Joint { x, y: 10.0, flag: 0.0 }],
/// };
/// let people = [person(-5.0), person(5.0), person(4.0)];
/// let kinds = PoseKinds::fit(&people, &[None, Some(0)], 2, &PoseSimulation::default());
/// assert_eq!(kinds.anchors(1).len(), 2); // one cluster to the left, one to the right
/// assert!(kinds.anchors(1)[0].0 < 0.0 && kinds.anchors(1)[1].0 > 0.0);
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PoseKinds {
    pub(super) parents: Vec<Option<usize>>,
    /// For every joint, the centres of its clusters, in steps of the grid. The root has (0, 0).
    pub(super) anchors: Vec<Vec<(f64, f64)>>,
    /// Whether joints have maps that are read at the place of their parent.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) arc_maps: bool,
}

impl PoseKinds {
    /// Finds this number of kinds for every joint. Roots have one kind.
    ///
    /// # Panics
    /// If there are no people, or if the numbers of parents and joints differ.
    pub fn fit(
        people: &[Pose],
        parents: &[Option<usize>],
        kinds: usize,
        simulation: &PoseSimulation,
    ) -> Self {
        let placed: Vec<Vec<(f64, f64)>> =
            people.iter().map(|pose| simulation.place(pose).0).collect();
        let anchors = parents.iter().enumerate().map(|(joint, parent)| match parent {
            None => vec![(0.0, 0.0)],
            Some(parent) => {
                let way = |at: &Vec<(f64, f64)>| {
                    let (from, to) = (at[*parent], at[joint]);
                    (to.0 - from.0, to.1 - from.1)
                };
                clusters(&placed.iter().map(way).collect::<Vec<_>>(), kinds.max(1))
            }
        });
        let anchors = anchors.collect();
        Self { parents: parents.to_vec(), anchors, arc_maps: false }
    }

    /// The same kinds, with maps that are read at the place of the parent or without: a map for each kind of the joint
    /// says how much the image there looks like an arc of that kind. Kinds are then the types of arcs of Osokin et al.
    /// (2016), and these maps their image-dependent pairwise terms.
    ///
    /// ```
    /// use maxmargin_io::{Lines, PoseKinds, PoseSimulation, read_poses};
    ///
    /// let text = "a\t0,0,0\t10,30,0\nb\t0,0,0\t-10,30,0\n";
    /// let people = read_poses(Lines::from_reader("people.tsv", text.as_bytes())?)?;
    /// let kinds = PoseKinds::fit(&people, &[None, Some(0)], 2, &PoseSimulation::default());
    /// let shape = kinds.with_arc_maps(true).shape(4.0);
    /// assert_eq!(shape.nodes()[1].parent_maps, 2);
    /// # Ok::<(), maxmargin_io::DataError>(())
    /// ```
    #[must_use]
    pub fn with_arc_maps(self, arc_maps: bool) -> Self {
        Self { arc_maps, ..self }
    }

    /// The centres of a joint's clusters.
    pub fn anchors(&self, joint: usize) -> &[(f64, f64)] {
        &self.anchors[joint]
    }

    /// The tree of joints, each with one map per kind, and one more per kind at the place of the parent if it has
    /// [these](Self::with_arc_maps); `unit` is what deformations are divided by.
    ///
    /// # Panics
    /// If the parents form a cycle.
    pub fn shape(&self, unit: f64) -> TreeShape {
        self.try_shape(unit).expect("a tree of joints")
    }

    /// The same tree, or `None` if the parents do not form a tree, which is possible if they come from a file.
    pub(crate) fn try_shape(&self, unit: f64) -> Option<TreeShape> {
        if self.parents.len() != self.anchors.len() {
            return None;
        }
        let node = |(parent, anchors): (&Option<usize>, &Vec<(f64, f64)>)| {
            let node = TreeNode::root(anchors.len(), anchors.len());
            match parent {
                None => node,
                Some(parent) => {
                    let arc_maps = if self.arc_maps { anchors.len() } else { 0 };
                    let node = node.child_of(*parent).with_anchors(anchors.clone());
                    node.with_parent_maps(arc_maps)
                }
            }
        };
        let nodes = self.parents.iter().zip(&self.anchors).map(node).collect();
        TreeShape::new(nodes, unit).ok()
    }

    pub(super) fn kind(&self, joint: usize, way: (f64, f64)) -> usize {
        nearest(&self.anchors[joint], way)
    }
}

fn away((x, y): (f64, f64), (u, v): (f64, f64)) -> f64 {
    (x - u).powi(2) + (y - v).powi(2)
}

fn nearest(centres: &[(f64, f64)], point: (f64, f64)) -> usize {
    let closer = |best: usize, at: usize| {
        if away(centres[at], point) < away(centres[best], point) { at } else { best }
    };
    (0..centres.len()).fold(0, closer)
}

/// The centres of this number of clusters. Lloyd's algorithm starts from points that are far from each other.
fn clusters(points: &[(f64, f64)], count: usize) -> Vec<(f64, f64)> {
    let mean = |points: &mut dyn Iterator<Item = (f64, f64)>| {
        let sum = points.fold((0.0, 0.0, 0.0), |s, p| (s.0 + p.0, s.1 + p.1, s.2 + 1.0));
        (sum.2 > 0.0).then(|| (sum.0 / sum.2, sum.1 / sum.2))
    };
    let mut centres: Vec<_> = mean(&mut points.iter().copied()).into_iter().collect();
    while centres.len() < count {
        let gap = |point: &(f64, f64)| away(centres[nearest(&centres, *point)], *point);
        let furthest = points.iter().copied().max_by(|a, b| gap(a).total_cmp(&gap(b)));
        centres.extend(furthest);
    }
    if count > 1 {
        centres[0] = centres[1]; // the mean was only there to begin with
    }
    for _ in 0..50 {
        let own: Vec<usize> = points.iter().map(|&point| nearest(&centres, point)).collect();
        for (at, centre) in centres.iter_mut().enumerate() {
            let mut members =
                points.iter().zip(&own).filter(|(_, own)| **own == at).map(|(point, _)| *point);
            *centre = mean(&mut members).unwrap_or(*centre);
        }
    }
    sort::by(&mut centres, |a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    centres
}
