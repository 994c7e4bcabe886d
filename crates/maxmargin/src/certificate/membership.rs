//! Decides whether a point of a block is a mixture of outputs.
//!
//! A block with the features t and the loss ℓ stands for the bound ℓ + ⟨w, t⟩ on the hinge of its
//! example. The bound holds for all w if outputs y with masses α(y) exist such that
//!
//! ```text
//! Σ α(y) x(y) = t,   Σ α(y) L(y) ≥ ℓ,   Σ α(y) = 1,   α ≥ 0        with x(y) = −ψᵢ(y)
//! ```
//!
//! If the problem's bounds allow only one sign of a weight, the bound has to hold for that sign only, and
//! the equation for its feature becomes an inequality. So the question is whether (t, ℓ, 1) lies in the cone
//! of all (x(y), L(y), 1) and of the directions that inequalities leave open. The search adds one output at a
//! time, the one that the oracle finds in the direction of the residual. Both answers come with a proof:
//! outputs and their masses, or a residual that separates the point from everything that an exact oracle can
//! find.

use crate::certificate::least_squares_cone::NearestInCone;
use crate::dual::Block;
use crate::dual::Scratch;
use crate::problem::Blocks;
use crate::problem::bounds::Bounds;
use crate::problem::quality::Quality;
use crate::problem::sparse::SparseVec;
use crate::util::rng::Rng;

/// The answer of [`find_outputs`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Membership {
    /// The point is a convex combination of outputs, or its value is bounded by one.
    Inside,
    /// The point is at least this far from all of them, relative to the sizes of features and losses.
    Outside(f64),
    /// The search found neither such outputs nor a proof that they do not exist.
    Unknown,
}

/// The most oracle calls for one block, and the calls within which the distance must be halved. If it is
/// not, the point is made of so many outputs that the search would take too long.
const MOST_CALLS: usize = 1000;
const PATIENCE: usize = 50;

/// A heuristic is called less often where there are many features and examples, so that all searches together take about
/// this many operations: most of its points stay unproven there, and an audit must come to an end.
const MOST_WORK: usize = 2_000_000_000;
const LEAST_CALLS: usize = 5;

/// How often in a row a heuristic may be asked in directions nearby without success, and how far these are off. It may also
/// find outputs that hardly lead nearer, one after the other. So after this many times [`PATIENCE`] calls that did not halve the
/// distance, it is no use to go on: each call of a heuristic can be a search of its own, with dozens of decoder calls.
const MOST_FRUITLESS: usize = 40;
const MOST_SLOW: usize = 2;
const NOISE: [f64; 4] = [0.1, 0.3, 1.0, 3.0];

/// If the loss matters less than this in a direction, plain decoding finds its best output.
const LOSS_MATTERS: f64 = 1e-9;

/// Searches for outputs of example `i` that make up `block`, to `slack` relative to their sizes.
pub(crate) fn find_outputs(
    problem: &dyn Blocks,
    i: usize,
    block: &Block,
    slack: f64,
    scratch: &mut Scratch<'_>,
) -> Membership {
    // Points that training makes are mixtures of outputs whatever the bounds are. Equations are searched first, because
    // rounding can end a search along the many directions that inequalities leave open.
    let is_mixture = problem.bounds().is_some()
        && search(problem, (i, block), None, slack, scratch) == Membership::Inside;
    match is_mixture {
        true => Membership::Inside,
        false => search(problem, (i, block), problem.bounds(), slack, scratch),
    }
}

/// The same, where the bounds say which equations are inequalities.
fn search(
    problem: &dyn Blocks,
    (i, block): (usize, &Block),
    bounds: Option<&Bounds>,
    slack: f64,
    scratch: &mut Scratch<'_>,
) -> Membership {
    // Measure the block and a first output, to choose the units.
    let mut w = vec![0.0; problem.dim()];
    let mut column = Column::default();
    scratch.find_corner(i, &w);
    scratch.describe_corner(i);
    column.read(problem, i, &scratch.corner.parts, scratch.corner.loss);
    let mut target = Column::default();
    target.read(problem, i, &block.parts.unpacked(), block.loss);
    let terms = size_of_terms(problem, i, scratch);
    let units = Units {
        feature: terms.max(target.features.norm_sq().sqrt()).max(LEAST_UNIT),
        loss: column.loss.abs().max(target.loss.abs()).max(LEAST_UNIT),
    };
    // Start with the cone of the truth and that output.
    let target = target.scaled(&units, w.len());
    let mut cone = NearestInCone::new(target.clone(), w.len() + 2);
    let mut direction = Direction::new(w.len());
    cone.extend(Column::default().scaled(&units, w.len())); // the truth
    cone.extend(column.scaled(&units, w.len())); // which need not lead nearer
    leave_open(&mut cone, bounds, w.len());
    let mut before = f64::INFINITY;
    let (mut calls, mut fruitless, mut slow, mut is_stuck) = (0, 0, 0, false);
    let most_calls = match problem.quality() {
        Quality::Heuristic => {
            let size = problem.dim().saturating_mul(problem.examples()).max(1);
            (MOST_WORK / size).clamp(LEAST_CALLS, MOST_CALLS)
        }
        _ => MOST_CALLS,
    };
    while calls < most_calls {
        // Is the nearest point of the cone near enough, and does the search still make progress?
        let distance = cone.distance_sq().sqrt();
        if distance <= slack {
            return Membership::Inside;
        }
        if calls % PATIENCE == 0 {
            let is_slow = distance > 0.5 * before;
            slow += usize::from(is_slow && direction.rng.is_some());
            if slow == MOST_SLOW {
                return Membership::Unknown;
            }
            is_stuck |= is_slow;
            before = distance;
        }
        if std::mem::take(&mut is_stuck) {
            // An oracle that does not always find the best output may find one that is good enough if it is asked
            // for fewer outputs, or in a direction nearby.
            match &mut direction.rng {
                _ if problem.quality() != Quality::Heuristic => return Membership::Unknown,
                None => direction.stay_within(&target, cone.generators()),
                Some(_) if fruitless == MOST_FRUITLESS => return Membership::Unknown,
                Some(_) => fruitless += 1,
            }
        }
        calls += 1;
        // Ask the oracle in the direction of the residual.
        direction.follow(&cone, bounds);
        let noise = if fruitless == 0 { 0.0 } else { NOISE[fruitless / 2 % NOISE.len()] };
        let is_fenced = fruitless % 2 == 0;
        direction.find_best(i, (&units, noise, is_fenced), &mut w, scratch);
        column.read(problem, i, &scratch.corner.parts, scratch.corner.loss);
        let newest = column.scaled(&units, w.len());
        // No output goes further in this direction than the newest one. Does the target?
        let ahead = target.dot_dense(&direction.dense) - newest.dot_dense(&direction.dense);
        let has_proof = matches!(problem.quality(), Quality::Exact | Quality::UpperBound)
            && problem.weights_norm_sq(&w).is_none();
        if ahead > slack * direction.length() && has_proof {
            return Membership::Outside(ahead / direction.length());
        }
        let nearer = cone.extend(newest);
        is_stuck = !(leave_open(&mut cone, bounds, w.len()) | nearer);
        fruitless = if is_stuck { fruitless } else { 0 };
    }
    Membership::Unknown
}

/// The size of the terms that add up to the features of a corner relative to the truth. They may cancel
/// out, and rounding errors are relative to this size.
fn size_of_terms(problem: &dyn Blocks, i: usize, scratch: &Scratch<'_>) -> f64 {
    let (mut terms, mut truth) = (SparseVec::new(), SparseVec::new());
    scratch.worker.psi(i, &mut terms);
    let mut largest = terms.norm_sq();
    problem.truth_parts(i, &mut truth);
    for parts in [&scratch.corner.parts, &truth] {
        terms.clear();
        problem.scatter(i, 1.0, parts, (&mut terms).into());
        largest = largest.max(terms.norm_sq());
    }
    largest.sqrt()
}

/// Features and losses that are all smaller than this may be nothing but rounding.
const LEAST_UNIT: f64 = 1e-6;

/// The units in which features and losses are measured, so that neither outweighs the other.
struct Units {
    feature: f64,
    loss: f64,
}

/// An output, or a mixture of them: its features relative to the truth, and its loss.
#[derive(Default)]
struct Column {
    features: SparseVec,
    loss: f64,
    truth: SparseVec,
    offset: SparseVec,
}

impl Column {
    fn read(&mut self, problem: &dyn Blocks, i: usize, parts: &SparseVec, loss: f64) {
        self.truth.clear();
        problem.truth_parts(i, &mut self.truth);
        self.offset.assign_difference(parts, &self.truth);
        self.features.clear();
        problem.scatter(i, 1.0, &self.offset, (&mut self.features).into());
        self.features.normalise();
        self.loss = loss;
    }

    /// As a vector: the features, then the loss, then 1 for the sum of masses.
    fn scaled(&self, units: &Units, dim: usize) -> SparseVec {
        let features = self.features.entries().iter();
        let mut vector: SparseVec = features.map(|&(at, x)| (at, x / units.feature)).collect();
        vector.push(dim as u64, self.loss / units.loss);
        vector.push(dim as u64 + 1, 1.0);
        vector
    }
}

/// Adds the directions that inequalities leave open as long as they bring the point nearer to the
/// target: a loss may be larger than stated, and so may the feature of a weight that is never negative.
fn leave_open(cone: &mut NearestInCone, bounds: Option<&Bounds>, dim: usize) -> bool {
    let mut nearer = false;
    loop {
        let open = |&at: &u32| {
            let residual = cone.residual()[at as usize];
            let is_more = match bounds {
                _ if at as usize == dim => true,
                Some(bounds) if (at as usize) < dim && bounds.lower()[at as usize] >= 0.0 => true,
                Some(bounds) if (at as usize) < dim && bounds.upper()[at as usize] <= 0.0 => false,
                _ => return None,
            };
            // The residual is target − point: where the point has more, it is negative.
            let direction = if is_more { -1.0 } else { 1.0 };
            (direction * residual > 0.0).then_some((residual.abs(), at, direction))
        };
        let worst = cone.touched().iter().filter_map(open).max_by(|a, b| a.0.total_cmp(&b.0));
        let Some((_, at, direction)) = worst else { return nearer };
        if !cone.extend([(u64::from(at), direction)].into_iter().collect()) {
            return nearer;
        }
        nearer = true;
    }
}

/// A direction in which outputs are searched: the residual, without what points against the sign of a
/// weight. What is left out is rounding where the point is the nearest one.
struct Direction {
    dense: Vec<f64>,
    touched: Vec<usize>,
    /// If outputs shall stay within the features of the target: the sign of the weight that keeps them from leaving by
    /// each feature, 0 for those of the target.
    fence: Vec<f64>,
    /// Draws directions nearby, once outputs stay within the features of the target.
    rng: Option<Rng>,
}

/// How much more the features of a fence weigh than others.
const FENCE: f64 = 1e4;

impl Direction {
    fn new(dim: usize) -> Self {
        Self { dense: vec![0.0; dim + 2], touched: Vec::new(), fence: Vec::new(), rng: None }
    }

    /// Looks for outputs without features that the target does not have. Where features are counts, the target is made
    /// of such outputs only: relative to the truth they have no less of what the truth has, and no more of anything
    /// else. What the truth has is taken from the outputs known so far. An oracle that is asked so still finds outputs,
    /// so nothing is lost if features are no counts.
    fn stay_within<'a>(&mut self, target: &SparseVec, known: impl Iterator<Item = &'a SparseVec>) {
        let dim = self.dense.len() - 2;
        self.rng = Some(Rng::new(0));
        self.fence = vec![-1.0; dim];
        let features = |vector: &'a SparseVec| vector.entries().iter();
        for &(at, x) in known.flat_map(features).filter(|&&(at, _)| (at as usize) < dim) {
            if x < 0.0 {
                self.fence[at as usize] = 1.0;
            }
        }
        for &(at, x) in target.entries().iter().filter(|&&(at, _)| (at as usize) < dim) {
            if x != 0.0 {
                self.fence[at as usize] = 0.0;
            }
        }
    }

    fn follow(&mut self, cone: &NearestInCone, bounds: Option<&Bounds>) {
        self.touched.drain(..).for_each(|at| self.dense[at] = 0.0);
        self.touched.extend(cone.touched().iter().map(|&at| at as usize));
        let dim = self.dense.len() - 2;
        for &at in &self.touched {
            let residual = cone.residual()[at];
            self.dense[at] = match bounds {
                _ if at == dim => residual.max(0.0),
                Some(bounds) if at < dim && bounds.lower()[at] >= 0.0 => residual.max(0.0),
                Some(bounds) if at < dim && bounds.upper()[at] <= 0.0 => residual.min(0.0),
                _ => residual,
            };
        }
    }

    fn length(&self) -> f64 {
        self.touched.iter().map(|&at| self.dense[at].powi(2)).sum::<f64>().sqrt()
    }

    /// Finds the output that goes furthest in this direction; it is the corner in the scratch.
    /// With noise, it is one nearby.
    fn find_best(
        &mut self,
        i: usize,
        (units, noise, is_fenced): (&Units, f64, bool),
        w: &mut [f64],
        scratch: &mut Scratch<'_>,
    ) {
        let dim = w.len();
        let of_loss = self.dense[dim] / units.loss;
        let features = || self.touched.iter().copied().filter(|&at| at < dim);
        let length = features().map(|at| self.dense[at].powi(2)).sum::<f64>().sqrt();
        let with_loss = of_loss > LOSS_MATTERS * length / units.feature;
        let scale = if with_loss { of_loss * units.feature } else { units.feature };
        features().for_each(|at| w[at] = self.dense[at] / scale);
        if let (Some(rng), true) = (&mut self.rng, noise > 0.0) {
            let typical = length / (scale * (1.0 + features().count() as f64).sqrt());
            features().for_each(|at| w[at] += noise * typical * (2.0 * rng.unit_f64() - 1.0));
        }
        if is_fenced && !self.fence.is_empty() {
            let largest = w.iter().fold(1.0 / units.feature, |most: f64, w| most.max(w.abs()));
            let fenced = w.iter_mut().zip(&self.fence).filter(|(_, sign)| **sign != 0.0);
            fenced.for_each(|(w, sign)| *w = FENCE * largest * sign);
        }
        if with_loss {
            scratch.find_corner(i, w);
        } else {
            scratch.find_corner_without_loss(i, w);
        }
        scratch.describe_corner(i);
        match self.fence.is_empty() {
            true => features().for_each(|at| w[at] = 0.0),
            false => w.fill(0.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::tree::{State, Tree, TreeExamples, TreeLoss, TreeNode, TreeShape};
    use crate::problem::{Problem, ProblemExt};
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// The points of a sphere, which a careless oracle finds by rounding the direction.
    #[derive(Default)]
    struct Sphere(AtomicUsize);

    const DIMENSIONS: usize = 30;

    impl Problem for Sphere {
        type Output = Vec<f64>;
        type Workspace = ();

        fn examples(&self) -> usize {
            1
        }

        fn dim(&self) -> usize {
            DIMENSIONS
        }

        fn workspace(&self) {}

        fn oracle(&self, _: usize, w: &[f64], _: &mut (), y: &mut Vec<f64>) {
            self.0.fetch_add(1, Ordering::Relaxed);
            let largest = w.iter().fold(f64::MIN_POSITIVE, |most: f64, w| most.max(w.abs()));
            y.clear();
            y.extend(w.iter().map(|w| (-8.0 * w / largest).round()));
            let length = y.iter().map(|y| y * y).sum::<f64>().sqrt().max(1.0);
            y.iter_mut().for_each(|y| *y /= length);
        }

        fn decode(&self, i: usize, w: &[f64], workspace: &mut (), y: &mut Vec<f64>) {
            self.oracle(i, w, workspace, y);
        }

        fn psi(&self, _: usize, y: &Vec<f64>, psi: &mut SparseVec) {
            (0..).zip(y).for_each(|(at, y)| psi.push(at, *y));
        }

        fn loss(&self, _: usize, y: &Vec<f64>) -> f64 {
            f64::from(u8::from(y.iter().any(|y| *y != 0.0)))
        }

        fn quality(&self) -> Quality {
            Quality::Heuristic
        }
    }

    #[test]
    fn a_heuristic_that_hardly_leads_nearer_is_not_asked_for_long() {
        let sphere = Sphere::default();
        let mut scratch = Scratch::new(&sphere);
        // A mixture of very many points.
        let mut rng = Rng::new(5);
        let mut point: Vec<f64> = (0..DIMENSIONS).map(|_| rng.unit_f64() - 0.5).collect();
        let length = point.iter().map(|x| x * x).sum::<f64>().sqrt();
        point.iter_mut().for_each(|x| *x *= 0.999 / length);
        let parts: SparseVec = (0..).zip(point).collect();
        let block = Block { parts: parts.into(), loss: 1.0 };
        let found = find_outputs(&sphere, 0, &block, 1e-9, &mut scratch);
        let calls = sphere.0.load(Ordering::Relaxed);
        assert_eq!(found, Membership::Unknown, "{calls} calls");
        assert!((2 * PATIENCE..6 * PATIENCE).contains(&calls), "{calls} calls");
    }

    #[test]
    fn mixtures_of_tree_states_are_inside() {
        let nodes = vec![TreeNode::root(2, 1), TreeNode::root(1, 1).child_of(0)];
        let mut data = TreeExamples::new(TreeShape::new(nodes, 1.0).unwrap());
        let map = |seed: u64| (0..4).map(move |at| ((at * 7 + seed) % 5) as f32);
        let maps = map(1).chain(map(2)).collect();
        let truth = vec![State { kind: 0, x: 0, y: 1 }, State { kind: 0, x: 1, y: 1 }];
        data.push(2, 2, maps, truth, &[], 1.0, 1.0).unwrap();
        let tree = Tree::new(data, TreeLoss::LABELS).unwrap();
        let mut scratch = Scratch::new(&tree);
        let mut rng = Rng::new(3);
        for _ in 0..20 {
            let (mut point, mut loss) = (SparseVec::new(), 0.0);
            let mut parts = SparseVec::new();
            let mut rest = 1.0;
            for left in (0..4).rev() {
                let share = if left == 0 { rest } else { rest * rng.unit_f64() };
                rest -= share;
                let mut state = |kinds| State {
                    kind: rng.below(kinds) as u32,
                    x: rng.below(2) as u32,
                    y: rng.below(2) as u32,
                };
                let y = vec![state(2), state(1)];
                parts.clear();
                tree.parts(0, &y, &mut parts);
                point.add_scaled(share, &parts);
                loss += share * tree.loss(0, &y);
            }
            let mut block = Block { parts: point.into(), loss };
            assert_eq!(find_outputs(&tree, 0, &block, 1e-8, &mut scratch), Membership::Inside);
            block.loss += 2.5;
            let found = find_outputs(&tree, 0, &block, 1e-8, &mut scratch);
            assert!(matches!(found, Membership::Outside(_)), "{found:?}");
        }
    }
}
