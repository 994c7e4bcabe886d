//! Is a point of a block made of outputs?
//!
//! A block with the features t and the loss ℓ stands for the bound ℓ + ⟨w, t⟩ on the hinge of its
//! example. The bound holds for all w if outputs y with masses α(y) exist such that
//!
//! ```text
//! Σ α(y) x(y) = t,   Σ α(y) L(y) ≥ ℓ,   Σ α(y) = 1,   α ≥ 0        with x(y) = −ψᵢ(y)
//! ```
//!
//! Where the bounds of the problem allow a weight one sign only, the bound has to hold for that sign
//! only, and the equation for its feature becomes an inequality. So the question is whether
//! (t, ℓ, 1) lies in the cone of all (x(y), L(y), 1) and of the directions that inequalities leave open.
//! The search adds one output at a time, the one that the oracle finds in the direction of the
//! residual. Both answers come with a proof: outputs and their masses, or a residual that separates the
//! point from everything that an exact oracle can find.

use crate::bounds::Bounds;
use crate::crew::Scratch;
use crate::direction::Corner;
use crate::dual::Block;
use crate::least_squares_cone::NearestInCone;
use crate::problem::Problem;
use crate::quality::Quality;
use crate::sparse::SparseVec;

/// The answer of [`find_outputs`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Membership {
    /// The point is a convex combination of outputs, or its value is bounded by one.
    Inside,
    /// The point is at least so far from all of them, relative to the sizes of features and losses.
    Outside(f64),
    /// The search found neither outputs nor a proof that there are none.
    Unknown,
}

/// Oracle calls for one block at most.
const MOST_CALLS: usize = 1000;

/// Where the loss matters less than this in a direction, plain decoding finds its best output.
const LOSS_MATTERS: f64 = 1e-9;

/// Searches for outputs of example `i` that make up `block`, to `slack` relative to their sizes.
pub(crate) fn find_outputs<P: Problem>(
    problem: &P,
    i: usize,
    block: &Block,
    slack: f64,
    scratch: &mut Scratch<P>,
) -> Membership {
    let mut w = vec![0.0; problem.dim()];
    let mut column = Column::default();
    scratch.find_corner(problem, i, &w);
    scratch.describe_corner(problem, i);
    column.read(problem, i, &scratch.corner.parts, scratch.corner.loss);
    let mut target = Column::default();
    target.read(problem, i, &block.parts, block.loss);
    let terms = size_of_terms(problem, i, &scratch.corner);
    let units = Units {
        feature: largest(terms, target.features.norm_sq().sqrt()),
        loss: largest(column.loss.abs(), target.loss.abs()),
    };
    let mut cone = NearestInCone::new(target.scaled(&units, w.len()), w.len() + 2);
    cone.extend(Column::default().scaled(&units, w.len())); // the truth
    cone.extend(column.scaled(&units, w.len())); // which need not lead nearer
    leave_open(&mut cone, problem.bounds(), w.len());
    for _ in 0..MOST_CALLS {
        let distance_sq = cone.distance_sq();
        if distance_sq.sqrt() <= slack {
            return Membership::Inside;
        }
        best_towards(problem, i, cone.residual(), cone.touched(), &units, &mut w, scratch);
        column.read(problem, i, &scratch.corner.parts, scratch.corner.loss);
        let newest = column.scaled(&units, w.len());
        // All outputs lie on this side of the residual, the target lies on the other.
        let ahead = distance_sq - newest.dot_dense(cone.residual());
        let by = ahead / distance_sq.sqrt();
        let has_proof = matches!(problem.quality(), Quality::Exact | Quality::UpperBound)
            && problem.weights_norm_sq(&w).is_none();
        if by > slack && has_proof {
            return Membership::Outside(by);
        }
        let nearer = cone.extend(newest);
        if !(leave_open(&mut cone, problem.bounds(), w.len()) | nearer) {
            return Membership::Unknown;
        }
    }
    Membership::Unknown
}

/// The size of what is added up to the features of a corner relative to the truth, which may cancel out:
/// rounding errors are relative to it.
fn size_of_terms<P: Problem>(problem: &P, i: usize, corner: &Corner<P::Output>) -> f64 {
    let (mut terms, mut truth) = (SparseVec::new(), SparseVec::new());
    problem.psi(i, &corner.y, &mut terms);
    let mut largest = terms.norm_sq();
    problem.truth_parts(i, &mut truth);
    for parts in [&corner.parts, &truth] {
        terms.clear();
        problem.scatter(i, 1.0, parts, &mut terms);
        largest = largest.max(terms.norm_sq());
    }
    largest.sqrt()
}

fn largest(a: f64, b: f64) -> f64 {
    match a.max(b) {
        0.0 => 1.0,
        largest => largest,
    }
}

/// By what features and losses are divided, so that neither outweighs the other.
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
    fn read<P: Problem>(&mut self, problem: &P, i: usize, parts: &SparseVec, loss: f64) {
        self.truth.clear();
        problem.truth_parts(i, &mut self.truth);
        self.offset.assign_difference(parts, &self.truth);
        self.features.clear();
        problem.scatter(i, 1.0, &self.offset, &mut self.features);
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

/// Finds the output with the largest inner product with the residual; it is the corner in the scratch.
fn best_towards<P: Problem>(
    problem: &P,
    i: usize,
    residual: &[f64],
    touched: &[u32],
    units: &Units,
    w: &mut [f64],
    scratch: &mut Scratch<P>,
) {
    let dim = w.len();
    let bounds = problem.bounds();
    let of_loss = (residual[dim] / units.loss).max(0.0);
    let features = || touched.iter().map(|&at| at as usize).filter(|&at| at < dim);
    let length = features().map(|at| residual[at].powi(2)).sum::<f64>().sqrt() / units.feature;
    let with_loss = of_loss > LOSS_MATTERS * length;
    let scale = if with_loss { of_loss * units.feature } else { units.feature };
    for at in features() {
        let weight = residual[at] / scale;
        // What is left on the wrong side of a sign is rounding.
        w[at] = match bounds {
            Some(bounds) if bounds.lower()[at] >= 0.0 => weight.max(0.0),
            Some(bounds) if bounds.upper()[at] <= 0.0 => weight.min(0.0),
            _ => weight,
        };
    }
    if with_loss {
        scratch.find_corner(problem, i, w);
    } else {
        scratch.find_corner_without_loss(problem, i, w);
    }
    scratch.describe_corner(problem, i);
    features().for_each(|at| w[at] = 0.0);
}
