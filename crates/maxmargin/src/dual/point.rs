//! Points of the dual, block by block, and the corners and moves of a block.

use super::long::{add_long, long_truth};
use super::packed::PackedVec;
use super::rebuild::Squares;
use crate::problem::sparse::SparseVec;
use crate::problem::{Blocks, Target};
use std::ops::Range;

/// The dual variables of one block, in part space: μᵢ = Σ_y αᵢ(y) pᵢ(y) and Σ_y αᵢ(y) Lᵢ(y).
///
/// αᵢ is a distribution over the outputs of example i: non-negative, with sum 1.
///
/// ```
/// # use maxmargin::doc::toy;
/// use maxmargin::DualPoint;
///
/// // All mass on the true labelling of a chain of three: three nodes and two edges.
/// let block = &DualPoint::at_truth(&toy()).blocks[0];
/// assert_eq!((block.parts.len(), block.loss), (5, 0.0));
/// assert!(block.parts.iter().all(|(_, mass)| mass == 1.0));
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Block {
    /// The expected parts μᵢ, normalised.
    pub parts: PackedVec,
    /// The expected loss, at least 0, and not divided by n.
    pub loss: f64,
}

/// A point of the dual: one [`Block`] per example.
///
/// Together with the problem and λ it fixes the weights,
/// w = Aα = Σᵢ cᵢ/(λC) · Bᵢ(pᵢ(yᵢ) − μᵢ), and the dual value. Any feasible point, optimal or not,
/// bounds the optimum from below; [`audit`](crate::audit) checks and evaluates one.
///
/// ```
/// # use maxmargin::doc::toy;
/// use maxmargin::{DualPoint, audit};
///
/// let (problem, w) = (toy(), [0.0; 18]);
/// let start = DualPoint::at_truth(&problem);
/// let proof = audit(&problem, 0.1, &w, &start, 0.0, 1)?.certificate;
/// assert_eq!((proof.primal, proof.dual), (1.0, 0.0)); // the largest loss, and nothing gained yet
/// # Ok::<(), maxmargin::TrainError>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct DualPoint {
    /// One entry per example.
    pub blocks: Vec<Block>,
}

/// Points are packed if they take more bytes than this in all at the truth. (Those of CoNLL-2000 take 7.6 MB.)
const MOST_PLAIN: usize = 8 << 20;

/// The bytes of a plain point besides its entries.
const PLAIN_POINT: usize = 64;

impl DualPoint {
    /// The point with all mass on the truth: w = 0, ℓ = 0. Every run starts here.
    ///
    /// ```
    /// # use maxmargin::doc::toy;
    /// use maxmargin::DualPoint;
    ///
    /// let problem = toy();
    /// let start = DualPoint::at_truth(&problem);
    /// assert_eq!(start.blocks.len(), 4);
    /// assert!(start.weights(&problem, 0.1).iter().all(|&w| w == 0.0));
    /// ```
    pub fn at_truth(problem: &dyn Blocks) -> Self {
        let (mut truth, mut scratch, mut size) = (SparseVec::new(), Vec::new(), 0);
        let mut blocks: Vec<Block> = Vec::with_capacity(problem.examples());
        for i in 0..problem.examples() {
            if problem.pieces(i) > 1 {
                let (parts, count) = long_truth(problem, i);
                size += PLAIN_POINT + count * size_of::<(u64, f64)>();
                blocks.push(Block { parts, loss: 0.0 });
                continue;
            }
            truth.clear();
            problem.truth_parts(i, &mut truth);
            let was_small = size <= MOST_PLAIN;
            size += PLAIN_POINT + size_of_val(truth.entries());
            if was_small && size > MOST_PLAIN {
                // All of them are large together: pack those before, too.
                blocks
                    .iter_mut()
                    .for_each(|own| own.parts = PackedVec::from(&own.parts.unpacked()));
            }
            let parts = if size <= MOST_PLAIN {
                PackedVec::plain(&truth)
            } else {
                let mut parts = PackedVec::new();
                parts.pack(&truth, &mut scratch);
                parts
            };
            blocks.push(Block { parts, loss: 0.0 });
        }
        Self { blocks }
    }

    /// The point with the same weights at λ′ = `ratio`·λ, for a `ratio` of at most 1: the mass on outputs
    /// other than the truth is scaled by `ratio`.
    ///
    /// ```
    /// # use maxmargin::doc::toy;
    /// use maxmargin::{Settings, train};
    ///
    /// let problem = toy();
    /// let solution = train(&problem, &Settings::default())?;
    /// let smaller = solution.dual.rescaled(&problem, 0.5);
    /// let w = smaller.weights(&problem, 0.5 * solution.lambda);
    /// assert!(w.iter().zip(&solution.weights).all(|(a, b)| (a - b).abs() < 1e-12));
    /// # Ok::<(), maxmargin::TrainError>(())
    /// ```
    ///
    /// # Panics
    /// If `ratio` is not in [0, 1].
    #[must_use]
    pub fn rescaled(&self, problem: &dyn Blocks, ratio: f64) -> Self {
        assert!((0.0..=1.0).contains(&ratio), "{ratio} is not in [0, 1]");
        let (mut truth, mut parts) = (SparseVec::new(), SparseVec::new());
        let blocks = self.blocks.iter().enumerate().map(|(i, block)| {
            truth.clear();
            problem.truth_parts(i, &mut truth);
            block.parts.unpack(&mut parts);
            parts.scale(ratio);
            parts.add_scaled(1.0 - ratio, &truth);
            Block { parts: PackedVec::from(&parts), loss: ratio * block.loss }
        });
        Self { blocks: blocks.collect() }
    }

    /// The weights Aα of this point for λ > 0. It must be a point of this problem's dual, with one block
    /// per example and existing parts only.
    ///
    /// ```
    /// # use maxmargin::doc::toy;
    /// use maxmargin::{Settings, train};
    ///
    /// let problem = toy();
    /// let solution = train(&problem, &Settings::default())?;
    /// let weights = solution.dual.weights(&problem, solution.lambda);
    /// assert!(weights.iter().zip(&solution.weights).all(|(a, b)| (a - b).abs() < 1e-12));
    /// # Ok::<(), maxmargin::TrainError>(())
    /// ```
    ///
    /// # Panics
    /// If there are more blocks than examples.
    pub fn weights(&self, problem: &dyn Blocks, lambda: f64) -> Vec<f64> {
        let mut w = vec![0.0; problem.dim()];
        let (shares, all) = (Shares::new(problem), 0..self.blocks.len());
        add_weights(problem, &shares, lambda, &self.blocks, all, &mut w);
        w
    }
}

/// Each example's share cᵢ/C of the empirical risk: 1/n unless examples are weighted.
#[derive(Debug, Clone)]
pub(crate) enum Shares {
    /// The same share for this number of examples.
    Same {
        share: f64,
        examples: usize,
    },
    Own(Vec<f64>),
}

impl Shares {
    pub(crate) fn new(problem: &dyn Blocks) -> Self {
        let (total, examples) = (problem.total_weight(), problem.examples());
        let share = |i| problem.weight(i) / total;
        match (1..examples).all(|i| problem.weight(i) == problem.weight(0)) {
            true => Self::Same { share: if examples == 0 { 0.0 } else { share(0) }, examples },
            false => Self::Own((0..examples).map(share).collect()),
        }
    }

    #[inline]
    pub(crate) fn of(&self, i: usize) -> f64 {
        match self {
            Self::Same { share, .. } => *share,
            Self::Own(shares) => shares[i],
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = f64> + '_ {
        let examples = match self {
            Self::Same { examples, .. } => *examples,
            Self::Own(shares) => shares.len(),
        };
        (0..examples).map(|i| self.of(i))
    }
}

/// Adds the weights of the blocks in `range` to `w`, in the order of the examples.
pub(crate) fn add_weights<W: ?Sized>(
    problem: &dyn Blocks,
    shares: &Shares,
    lambda: f64,
    blocks: &[Block],
    range: Range<usize>,
    w: &mut W,
) where
    for<'a> Target<'a>: From<&'a mut W>,
{
    let (mut truth, mut point, mut offset) = (SparseVec::new(), SparseVec::new(), SparseVec::new());
    for i in range {
        if problem.pieces(i) > 1 {
            add_long(problem, &blocks[i], (i, -shares.of(i) / lambda), w);
            continue;
        }
        truth.clear();
        problem.truth_parts(i, &mut truth);
        offset.assign_difference(blocks[i].parts.read(&mut point), &truth);
        problem.scatter(i, -shares.of(i) / lambda, &offset, Target::from(&mut *w));
    }
}

/// The value D = ℓ + λ/2 ‖w‖² − λ⟨v, w⟩ of a dual point; without bounds, ℓ − λ/2 ‖w‖².
pub(crate) fn dual_value(shares: &Shares, lambda: f64, blocks: &[Block], of: Squares) -> f64 {
    let loss: f64 = shares.iter().zip(blocks).map(|(share, block)| share * block.loss).sum();
    loss + 0.5 * lambda * of.norm_sq - lambda * of.product
}

/// A point of a block at which the oracle's maximum is taken.
#[derive(Debug, Clone, Default)]
pub(crate) struct Corner {
    pub(crate) parts: SparseVec,
    pub(crate) loss: f64,
}

/// A direction in which a block can move.
#[derive(Debug, Clone, Default)]
pub(crate) struct Move {
    /// Change of the block's part vector for a step of length 1.
    pub(crate) parts: SparseVec,
    /// Change of its loss for a step of length 1.
    pub(crate) loss: f64,
    /// The longest step that stays in the block.
    pub(crate) longest: f64,
    /// Whether a step of length 1 ends at the corner.
    pub(crate) ends_at_corner: bool,
}

impl Move {
    /// Turns into the move that changes nothing.
    pub(crate) fn stay(&mut self) {
        self.parts.clear();
        self.loss = 0.0;
        self.ends_at_corner = false;
    }

    /// Turns into the move of `block` towards `corner`. `point` is scratch memory for the point of the block.
    pub(crate) fn go_to(&mut self, block: &Block, corner: &Corner, point: &mut SparseVec) {
        self.go_from(block.parts.read(point), block.loss, corner);
        point.forget_if_long();
    }

    /// Turns into the move towards `corner` from a point with this loss.
    pub(crate) fn go_from(&mut self, point: &SparseVec, loss: f64, corner: &Corner) {
        self.parts.assign_difference(&corner.parts, point);
        self.loss = corner.loss - loss;
        self.longest = 1.0;
        self.ends_at_corner = true;
    }
}
