//! The share of joints of a pose that are found.

use super::ratio;

/// The share of detected joints (PDJ). A joint counts as found if its distance from the true place is at
/// most a fraction of the person's size, which usually is the diameter of the torso.
///
/// ```
/// use maxmargin::evaluate::DetectedJoints;
///
/// let mut found = DetectedJoints::new(2, 0.2);
/// found.add(0, 3.0, 20.0); // 3 away, torso 20: found, because 3 ≤ 0.2·20
/// found.add(1, 5.0, 20.0);
/// found.add(1, 1.0, 20.0);
/// assert_eq!((found.share(), found.share_of(1)), (2.0 / 3.0, 0.5));
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct DetectedJoints {
    fraction: f64,
    /// For each joint, how many were found, and how many there are.
    counts: Vec<(u64, u64)>,
}

impl DetectedJoints {
    /// Creates an empty count for this number of joints, which must be found within this fraction of the
    /// size.
    pub fn new(joints: usize, fraction: f64) -> Self {
        Self { fraction, counts: vec![(0, 0); joints] }
    }

    /// Adds a joint that was predicted at this distance from its true place, of a person of this size.
    ///
    /// # Panics
    /// If there is no such joint.
    pub fn add(&mut self, joint: usize, distance: f64, size: f64) {
        let (found, all) = &mut self.counts[joint];
        *all += 1;
        *found += u64::from(distance <= self.fraction * size);
    }

    /// The share of all joints that were found, or 0 if there are none.
    pub fn share(&self) -> f64 {
        let sums = self.counts.iter().fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
        ratio(sums.0, sums.1)
    }

    /// The share of one joint that was found.
    pub fn share_of(&self, joint: usize) -> f64 {
        ratio(self.counts[joint].0, self.counts[joint].1)
    }
}
