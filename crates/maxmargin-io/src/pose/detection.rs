//! Decides which joints of people are found.

use super::simulation::SimulatedPoses;
use maxmargin::evaluate::DetectedJoints;
use maxmargin::model::tree::State;

impl SimulatedPoses {
    /// A joint is found if it is at most this share of the torso away from its place.
    ///
    /// ```
    /// assert_eq!(maxmargin_io::SimulatedPoses::NEAR, 0.2);
    /// ```
    pub const NEAR: f64 = 0.2;

    /// Returns the people for which `keep` returns `true`.
    #[must_use]
    pub fn select(&self, keep: impl Fn(usize) -> bool) -> Self {
        let kept = || (0..self.torsos.len()).filter(|i| keep(*i));
        Self {
            torsos: kept().map(|i| self.torsos[i]).collect(),
            frames: kept().map(|i| self.frames[i]).collect(),
            examples: self.examples.select(&keep),
        }
    }

    /// Whether a joint of person `i` that was predicted in `state` is found.
    ///
    /// # Panics
    /// If there is no such person or joint.
    pub fn is_found(&self, i: usize, joint: usize, state: &State) -> bool {
        self.distance(i, joint, state) <= Self::NEAR * self.torsos[i]
    }

    /// Which joints are found, given the predicted states of all people.
    ///
    /// ```
    /// use maxmargin_io::{Lines, PoseKinds, PoseSimulation, read_poses};
    ///
    /// let text = "a\t0,0,0\t10,30,0\nb\t0,0,0\t-10,30,0\n";
    /// let people = read_poses(Lines::from_reader("people.tsv", text.as_bytes())?)?;
    /// let simulation = PoseSimulation::default();
    /// let kinds = PoseKinds::fit(&people, &[None, Some(0)], 2, &simulation);
    /// let data = simulation.simulate(&people, &kinds, (0, 1), 4.0)?;
    /// let truth: Vec<_> = (0..2).map(|i| data.examples.truth(i).to_vec()).collect();
    /// assert_eq!(data.detected(&truth).share(), 1.0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// If there are more people or joints than here.
    pub fn detected(&self, predicted: &[Vec<State>]) -> DetectedJoints {
        let mut found = DetectedJoints::new(self.examples.shape().nodes().len(), Self::NEAR);
        for (i, states) in predicted.iter().enumerate() {
            for (joint, state) in states.iter().enumerate() {
                found.add(joint, self.distance(i, joint, state), self.torsos[i]);
            }
        }
        found
    }

    fn distance(&self, i: usize, joint: usize, state: &State) -> f64 {
        let truth = &self.examples.truth(i)[joint];
        let away = |a: u32, b: u32| f64::from(a) - f64::from(b);
        away(state.x, truth.x).hypot(away(state.y, truth.y))
    }
}
