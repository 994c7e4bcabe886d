//! How well the joints of a pose are found.

use super::ratio;

/// The share of detected joints (PDJ): a joint counts as found if it is no further from its true place
/// than a fraction of the person's size, the diameter of the torso as a rule.
///
/// ```
/// use maxmargin::evaluate::DetectedJoints;
///
/// let mut found = DetectedJoints::new(2, 0.2);
/// found.add(0, 3.0, 20.0); // 3 away, torso 20: found, for 3 ≤ 0.2·20
/// found.add(1, 5.0, 20.0);
/// found.add(1, 1.0, 20.0);
/// assert_eq!((found.share(), found.share_of(1)), (2.0 / 3.0, 0.5));
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct DetectedJoints {
    fraction: f64,
    /// By joint: how many were found, of how many.
    counts: Vec<(u64, u64)>,
}

impl DetectedJoints {
    /// Nothing yet, of so many joints, to be found within this fraction of the size.
    pub fn new(joints: usize, fraction: f64) -> Self {
        Self { fraction, counts: vec![(0, 0); joints] }
    }

    /// Takes in a joint that was predicted at some distance from its true place, of a person of some
    /// size.
    ///
    /// # Panics
    /// If there is no such joint.
    pub fn add(&mut self, joint: usize, distance: f64, size: f64) {
        let (found, all) = &mut self.counts[joint];
        *all += 1;
        *found += u64::from(distance <= self.fraction * size);
    }

    /// The share of all joints that were found; 0 without any.
    pub fn share(&self) -> f64 {
        let sums = self.counts.iter().fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
        ratio(sums.0, sums.1)
    }

    /// The share of one joint.
    pub fn share_of(&self, joint: usize) -> f64 {
        ratio(self.counts[joint].0, self.counts[joint].1)
    }
}
