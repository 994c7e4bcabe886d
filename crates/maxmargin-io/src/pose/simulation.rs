//! Score maps like those of a detector: noisy peaks, including peaks where there is nothing.

use super::kinds::PoseKinds;
use super::reader::{Joint, Pose};
use crate::side_by_side::map_side_by_side;
use maxmargin::Rng;
use maxmargin::model::InputError;
use maxmargin::model::tree::{State, TreeExamples};
use serde::{Deserialize, Serialize};

/// How score maps are simulated.
///
/// A person is scaled so that the longer side of the box around all joints takes up `fill` of the grid,
/// and put in the middle. Every joint has one map per kind. A map is, place by place, Gaussian noise,
/// and the largest of some peaks of the form height · exp(−distance²/2r²):
///
/// * one at the true place, off by some Gaussian `jitter`, as high as a uniform number from `heights`; in
///   the map of the true kind in full, in the others times `wrong_kind`; with the probability `missed`
///   it is not there at all;
/// * one at the true place of the joint's mirror image (left and right look alike), times `mirror`;
/// * `distractors` at random places, the same in the maps of all kinds, times `mirror` as well.
///
/// If kinds have [maps of arcs](PoseKinds::with_arc_maps), each joint has as many maps again, drawn in the same way around the
/// place of its parent: the map of its true kind has the full peak.
///
/// The same seed gives the same maps, person by person. The number of a person decides which random numbers it
/// gets.
///
/// ```
/// use maxmargin_io::PoseSimulation;
/// let easy = PoseSimulation { distractors: 0, missed: 0.0, ..PoseSimulation::default() };
/// assert_eq!((easy.side, easy.seed), (32, 1));
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PoseSimulation {
    /// Places on each side of the grid. Default: 32.
    pub side: usize,
    /// The share of the grid that the person takes up. Default: 0.8.
    pub fill: f64,
    /// Standard deviation of the noise. Default: 0.1.
    pub noise: f64,
    /// The radius r of peaks, in steps. Default: 1.5.
    pub radius: f64,
    /// Standard deviation of the place of a peak, in steps. Default: 0.7.
    pub jitter: f64,
    /// The least and the largest height of a peak. Default: 0.5, 1.
    pub heights: (f64, f64),
    /// The height in maps of wrong kinds. Default: 0.6.
    pub wrong_kind: f64,
    /// The height at the mirror image, and of distractors. Default: 0.8.
    pub mirror: f64,
    /// The probability that a joint is missed. Default: 0.1.
    pub missed: f64,
    /// Number of distractors. Default: 2.
    pub distractors: usize,
    /// The distance from which on a place has the full loss, as a share of the torso. Default: 0.5.
    pub wrong_at: f64,
    /// The seed. Default: 1.
    pub seed: u64,
}

impl Default for PoseSimulation {
    fn default() -> Self {
        Self {
            side: 32,
            fill: 0.8,
            noise: 0.1,
            radius: 1.5,
            jitter: 0.7,
            heights: (0.5, 1.0),
            wrong_kind: 0.6,
            mirror: 0.8,
            missed: 0.1,
            distractors: 2,
            wrong_at: 0.5,
            seed: 1,
        }
    }
}

/// The true states, the maps and the frame of one person.
struct Drawn {
    truth: Vec<State>,
    maps: Vec<f32>,
    frame: (f64, f64, f64),
}

/// People with simulated maps.
///
/// See [`PoseSimulation::simulate`].
#[derive(Debug, Clone)]
pub struct SimulatedPoses {
    /// One example per person.
    pub examples: TreeExamples,
    /// For every person, the size of the torso in steps of the grid.
    pub torsos: Vec<f64>,
    /// For every person, the number of pixels per step, and the place in the image where the grid begins.
    pub frames: Vec<(f64, f64, f64)>,
}

/// The largest numbers of places on each side of a grid and of distractors. With more of them, the maps of one
/// person would take gigabytes or hours.
const MOST_PLACES: usize = 1024;
const MOST_DISTRACTORS: usize = 10_000;

impl PoseSimulation {
    /// Refuses numbers with which maps cannot be made, or do not fit into memory.
    pub(crate) fn check(&self) -> Result<(), String> {
        if !(1..=MOST_PLACES).contains(&self.side) {
            return Err(format!("a grid of {} places, not 1 to {MOST_PLACES}", self.side));
        }
        if self.distractors > MOST_DISTRACTORS {
            return Err(format!("{} distractors, not 0 to {MOST_DISTRACTORS}", self.distractors));
        }
        let numbers = [
            self.fill,
            self.noise,
            self.radius,
            self.jitter,
            self.heights.0,
            self.heights.1,
            self.wrong_kind,
            self.mirror,
            self.missed,
            self.wrong_at,
        ];
        match numbers.iter().all(|number| number.is_finite()) {
            true => Ok(()),
            false => Err("a number that is not finite".to_owned()),
        }
    }

    /// Makes the maps of some people, given the tree of joints, their kinds, and the two joints at the ends of the
    /// torso.
    ///
    /// ```
    /// use maxmargin_io::{Lines, PoseKinds, PoseSimulation, read_poses};
    ///
    /// let text = "a\t0,0,0\t10,30,0\nb\t0,0,0\t-10,30,0\n";
    /// let people = read_poses(Lines::from_reader("people.tsv", text.as_bytes())?)?;
    /// let simulation = PoseSimulation::default();
    /// let kinds = PoseKinds::fit(&people, &[None, Some(0)], 2, &simulation);
    /// let data = simulation.simulate(&people, &kinds, (0, 1), 4.0)?;
    /// assert_eq!((data.examples.len(), data.examples.grid(0)), (2, (32, 32)));
    /// assert_ne!(data.examples.truth(0)[1].kind, data.examples.truth(1)[1].kind);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If these numbers make maps that are not finite.
    ///
    /// # Panics
    /// If the numbers of joints of people and of the tree differ.
    pub fn simulate(
        &self,
        people: &[Pose],
        kinds: &PoseKinds,
        torso: (usize, usize),
        unit: f64,
    ) -> Result<SimulatedPoses, InputError> {
        self.simulate_from(0, people, kinds, torso, unit)
    }

    /// The same for people of whom the first has the number `first`. So some of the people have the same maps as
    /// they have among all people, and two parts of the people have no noise in common.
    ///
    /// ```
    /// use maxmargin_io::{Lines, PoseKinds, PoseSimulation, read_poses};
    ///
    /// let text = "a\t0,0,0\t10,30,0\nb\t0,0,0\t-10,30,0\n";
    /// let people = read_poses(Lines::from_reader("people.tsv", text.as_bytes())?)?;
    /// let simulation = PoseSimulation::default();
    /// let kinds = PoseKinds::fit(&people, &[None, Some(0)], 2, &simulation);
    /// let all = simulation.simulate(&people, &kinds, (0, 1), 4.0)?;
    /// let last = simulation.simulate_from(1, &people[1..], &kinds, (0, 1), 4.0)?;
    /// assert_eq!(last.examples, all.examples.select(|i| i == 1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If these numbers make maps that are not finite.
    ///
    /// # Panics
    /// If the numbers of joints of people and of the tree differ.
    pub fn simulate_from(
        &self,
        first: usize,
        people: &[Pose],
        kinds: &PoseKinds,
        torso: (usize, usize),
        unit: f64,
    ) -> Result<SimulatedPoses, InputError> {
        let mut data = SimulatedPoses {
            examples: TreeExamples::new(kinds.shape(unit)),
            torsos: Vec::new(),
            frames: Vec::new(),
        };
        // People do not depend on each other, so they are drawn in parallel.
        let draw = |(): &mut (), i: usize| self.draw(first + i, &people[i], kinds);
        let drawn = map_side_by_side(people.len(), 0, || (), draw);
        for (pose, Drawn { truth, maps, frame }) in people.iter().zip(drawn) {
            let (a, b) = (&pose.joints[torso.0], &pose.joints[torso.1]);
            let size = (a.distance(b) / frame.0).max(1.0);
            let side = self.side;
            data.examples.push(side, side, maps, truth, &[], self.wrong_at * size, 1.0)?;
            data.torsos.push(size);
            data.frames.push(frame);
        }
        Ok(data)
    }

    /// Draws the maps of the person with this number.
    fn draw(&self, number: usize, pose: &Pose, kinds: &PoseKinds) -> Drawn {
        let mut rng = Rng::new(self.seed.wrapping_mul(1_000_003).wrapping_add(number as u64));
        let (places, frame) = self.place(pose);
        let truth: Vec<State> = (0..places.len())
            .map(|joint| {
                let kind = kinds.parents[joint].map_or(0, |parent| {
                    let (from, to) = (places[parent], places[joint]);
                    kinds.kind(joint, (to.0 - from.0, to.1 - from.1))
                });
                let step = |at: f64| at.round().clamp(0.0, (self.side - 1) as f64) as u32;
                State { kind: kind as u32, x: step(places[joint].0), y: step(places[joint].1) }
            })
            .collect();
        let mut maps = Vec::new();
        for (joint, state) in truth.iter().enumerate() {
            let mirror = mirror(joint, places.len()).map(|other| places[other]);
            let count = kinds.anchors[joint].len();
            let kind = state.kind as usize;
            self.maps(&mut rng, places[joint], mirror, kind, count, &mut maps);
            if let Some(parent) = kinds.parents[joint].filter(|_| kinds.arc_maps) {
                let mirror = self::mirror(parent, places.len()).map(|other| places[other]);
                self.maps(&mut rng, places[parent], mirror, kind, count, &mut maps);
            }
        }
        Drawn { truth, maps, frame }
    }

    /// Where the joints of a person are on the grid; pixels per step, and where the grid begins.
    pub(super) fn place(&self, pose: &Pose) -> (Vec<(f64, f64)>, (f64, f64, f64)) {
        let bounds = |of: fn(&Joint) -> f64| {
            let values = pose.joints.iter().map(of);
            values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
                (low.min(value), high.max(value))
            })
        };
        let (x, y) = (bounds(|joint| joint.x), bounds(|joint| joint.y));
        let longest = (x.1 - x.0).max(y.1 - y.0).max(1e-9);
        let middle = 0.5 * (self.side as f64 - 1.0);
        let step = longest / (self.fill * (self.side as f64 - 1.0)).max(1e-9);
        let start = (0.5 * (x.0 + x.1) - middle * step, 0.5 * (y.0 + y.1) - middle * step);
        let place = |joint: &Joint| ((joint.x - start.0) / step, (joint.y - start.1) / step);
        (pose.joints.iter().map(place).collect(), (step, start.0, start.1))
    }

    /// Appends the maps of one joint.
    fn maps(
        &self,
        rng: &mut Rng,
        place: (f64, f64),
        mirror: Option<(f64, f64)>,
        kind: usize,
        kinds: usize,
        into: &mut Vec<f32>,
    ) {
        // The place of each peak, and its height in maps of the right kind and of others.
        let mut peaks: Vec<((f64, f64), f64, f64)> = Vec::new();
        let height =
            |rng: &mut Rng| self.heights.0 + (self.heights.1 - self.heights.0) * rng.unit_f64();
        let near = |rng: &mut Rng, (x, y): (f64, f64)| {
            (x + self.jitter * gaussian(rng), y + self.jitter * gaussian(rng))
        };
        let (at, own) = (near(rng, place), height(rng));
        if rng.unit_f64() >= self.missed {
            peaks.push((at, own, self.wrong_kind * own));
        }
        if let Some(mirror) = mirror {
            let (at, other) = (near(rng, mirror), self.mirror * height(rng));
            peaks.push((at, other, other));
        }
        for _ in 0..self.distractors {
            let at = (self.side as f64 * rng.unit_f64(), self.side as f64 * rng.unit_f64());
            let other = self.mirror * height(rng);
            peaks.push((at, other, other));
        }
        for map in 0..kinds {
            for y in 0..self.side {
                for x in 0..self.side {
                    let peak = |&((px, py), right, wrong): &((f64, f64), f64, f64)| {
                        let away = (x as f64 - px).powi(2) + (y as f64 - py).powi(2);
                        let height = if map == kind { right } else { wrong };
                        height * (-0.5 * away / (self.radius * self.radius)).exp()
                    };
                    let most = peaks.iter().map(peak).fold(0.0, f64::max);
                    into.push((most + self.noise * gaussian(rng)) as f32);
                }
            }
        }
    }
}

/// The joint on the other side of the body, in the order of Leeds Sports Pose.
fn mirror(joint: usize, joints: usize) -> Option<usize> {
    match joint {
        0..=5 if joints == 14 => Some(5 - joint),
        6..=11 if joints == 14 => Some(17 - joint),
        _ => None,
    }
}

/// A number that is approximately from the standard normal distribution: the sum of twelve uniform ones.
fn gaussian(rng: &mut Rng) -> f64 {
    (0..12).map(|_| rng.unit_f64()).sum::<f64>() - 6.0
}

#[cfg(test)]
mod tests {
    use super::super::lsp::lsp_parents;
    use super::*;
    use maxmargin::model::tree::{TreeNode, TreeShape};

    #[test]
    fn mirrors_are_mutual_and_the_tree_is_one() {
        for joint in 0..14 {
            let other = mirror(joint, 14);
            assert_eq!(other.and_then(|other| mirror(other, 14)), other.map(|_| joint));
        }
        let nodes = lsp_parents().map(|parent| {
            let node = TreeNode::root(1, 1);
            parent.map_or(node.clone(), |parent| node.child_of(parent))
        });
        assert!(TreeShape::new(nodes.to_vec(), 1.0).is_ok());
    }

    /// Without anything that disturbs, the map of the true arc is the highest at the parent.
    #[test]
    fn maps_of_arcs_are_about_the_parent() {
        let joint = |x, y| Joint { x, y, flag: 0.0 };
        let person = |x| Pose { name: "a".into(), joints: vec![joint(0.0, 0.0), joint(x, 9.0)] };
        let people = [person(5.0), person(-5.0)];
        let (noise, jitter, missed, distractors) = (0.0, 0.0, 0.0, 0);
        let clean = PoseSimulation {
            side: 12,
            noise,
            jitter,
            missed,
            distractors,
            ..PoseSimulation::default()
        };
        let kinds = PoseKinds::fit(&people, &[None, Some(0)], 2, &clean).with_arc_maps(true);
        let examples = clean.simulate(&people, &kinds, (0, 1), 1.0).unwrap().examples;
        for i in 0..2 {
            let (parent, child) = (examples.truth(i)[0], examples.truth(i)[1]);
            // The root has one map; its child has two of its own and two that are read at the root.
            let at = |kind: u32| examples.map(i, 1, 2 + kind as usize)[parent.place(12)];
            assert!(at(child.kind) > at(1 - child.kind), "{:?}", (at(0), at(1)));
        }
    }

    #[test]
    fn the_same_seed_makes_the_same_maps() {
        let joint = |x, y| Joint { x, y, flag: 0.0 };
        let people = [Pose { name: "a".into(), joints: vec![joint(0.0, 0.0), joint(3.0, 9.0)] }];
        let simulation = PoseSimulation { side: 12, ..PoseSimulation::default() };
        let kinds = PoseKinds::fit(&people, &[None, Some(0)], 1, &simulation);
        let make = |simulation: &PoseSimulation| {
            simulation.simulate(&people, &kinds, (0, 1), 1.0).unwrap().examples
        };
        assert_eq!(make(&simulation), make(&simulation));
        assert_ne!(make(&simulation), make(&PoseSimulation { seed: 2, ..simulation.clone() }));
        // Without anything that disturbs, the peak is where the joint is.
        let clean =
            PoseSimulation { noise: 0.0, jitter: 0.0, missed: 0.0, distractors: 0, ..simulation };
        let examples = make(&clean);
        let (map, truth) = (examples.map(0, 1, 0), examples.truth(0)[1]);
        let top = (0..map.len()).max_by(|&a, &b| map[a].total_cmp(&map[b])).unwrap();
        assert_eq!(top, truth.place(12));
    }
}
