//! The dual point, and the weights that belong to it.

use crate::bounds::bounds_in_force;
use crate::certificate::ROUNDING;
use crate::clipped::Clipped;
use crate::crew::Crew;
use crate::direction::{Corner, Move};
use crate::prefetch::prefetch;
use crate::problem::Problem;
use crate::sparse::SparseVec;
use crate::step::Pace;
use crate::sums::{CHUNK, Found, Piece, Squares};
use serde::{Deserialize, Serialize};
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
/// assert!(block.parts.entries().iter().all(|&(_, mass)| mass == 1.0));
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Block {
    /// The expected parts μᵢ, normalised.
    pub parts: SparseVec,
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
    pub fn at_truth<P: Problem>(problem: &P) -> Self {
        let blocks = (0..problem.examples())
            .map(|i| {
                let mut block = Block::default();
                problem.truth_parts(i, &mut block.parts);
                block
            })
            .collect();
        Self { blocks }
    }

    /// The point with the same weights at λ′ = `ratio`·λ, for a `ratio` of at most 1: the mass on
    /// other outputs than the truth is scaled by it.
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
    pub fn rescaled<P: Problem>(&self, problem: &P, ratio: f64) -> Self {
        assert!((0.0..=1.0).contains(&ratio), "{ratio} is not in [0, 1]");
        let mut truth = SparseVec::new();
        let blocks = self.blocks.iter().enumerate().map(|(i, block)| {
            truth.clear();
            problem.truth_parts(i, &mut truth);
            let mut parts = block.parts.clone();
            parts.scale(ratio);
            parts.add_scaled(1.0 - ratio, &truth);
            Block { parts, loss: ratio * block.loss }
        });
        Self { blocks: blocks.collect() }
    }

    /// The weights Aα of this point for λ > 0. It must be a point of this problem's dual: one block
    /// per example, without parts that do not exist.
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
    pub fn weights<P: Problem>(&self, problem: &P, lambda: f64) -> Vec<f64> {
        let mut w = vec![0.0; problem.dim()];
        let (shares, all) = (Shares::new(problem), 0..self.blocks.len());
        add_weights(problem, &shares, lambda, &self.blocks, all, &mut w);
        w
    }
}

/// Each example's share cᵢ/C of the empirical risk: 1/n unless examples are weighted.
#[derive(Debug, Clone)]
pub(crate) struct Shares(Vec<f64>);

impl Shares {
    pub(crate) fn new<P: Problem>(problem: &P) -> Self {
        let total = problem.total_weight();
        Self((0..problem.examples()).map(|i| problem.weight(i) / total).collect())
    }

    #[inline]
    pub(crate) fn of(&self, i: usize) -> f64 {
        self.0[i]
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = f64> + '_ {
        self.0.iter().copied()
    }
}

/// Adds the weights of the blocks in `range` to `w`, in the order of the examples.
pub(crate) fn add_weights<P: Problem>(
    problem: &P,
    shares: &Shares,
    lambda: f64,
    blocks: &[Block],
    range: Range<usize>,
    w: &mut [f64],
) {
    let (mut truth, mut offset) = (SparseVec::new(), SparseVec::new());
    for i in range {
        truth.clear();
        problem.truth_parts(i, &mut truth);
        offset.assign_difference(&blocks[i].parts, &truth);
        problem.scatter(i, -shares.of(i) / lambda, &offset, w);
    }
}

/// The value D = ℓ + λ/2 ‖w‖² − λ⟨v, w⟩ of a dual point; without bounds, ℓ − λ/2 ‖w‖².
pub(crate) fn dual_value(shares: &Shares, lambda: f64, blocks: &[Block], of: Squares) -> f64 {
    let loss: f64 = shares.iter().zip(blocks).map(|(share, block)| share * block.loss).sum();
    loss + 0.5 * lambda * of.norm_sq - lambda * of.product
}

/// More partial sums of w than this are of no use.
const MOST_PARTIAL_SUMS: usize = 16;

/// One entry of a block takes about as long to add to w as adding up so many weights of two sums: an
/// entry has several features, far from each other in memory.
const WORK_PER_PART: usize = 16;

/// How far w had drifted from the sum of its blocks when it was rebuilt.
///
/// Steps change w and the dual value in place, and rounding errors add up; gap passes rebuild both
/// from the blocks. A drift that is not tiny is a sign of badly scaled features.
///
/// ```
/// # use maxmargin::doc::toy;
/// use maxmargin::{Settings, train};
///
/// let drift = train(&toy(), &Settings::default())?.totals.drift;
/// assert!(drift.weights < 1e-12 && drift.dual < 1e-12);
/// # Ok::<(), maxmargin::TrainError>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Drift {
    /// Largest absolute change of a weight.
    pub weights: f64,
    /// Absolute change of the dual value.
    pub dual: f64,
}

impl Drift {
    /// The larger of two drifts, entry by entry.
    ///
    /// ```
    /// use maxmargin::Drift;
    ///
    /// let (a, b) = (Drift { weights: 1e-15, dual: 0.0 }, Drift { weights: 0.0, dual: 1e-16 });
    /// assert_eq!(a.max(b), Drift { weights: 1e-15, dual: 1e-16 });
    /// ```
    pub fn max(self, other: Self) -> Self {
        Self { weights: self.weights.max(other.weights), dual: self.dual.max(other.dual) }
    }
}

/// The running state of a dual method: the blocks, and w and D kept in step with them.
#[derive(Debug)]
pub(crate) struct DualState<'p, P> {
    problem: &'p P,
    pub(crate) lambda: f64,
    pub(crate) shares: Shares,
    pub(crate) w: Vec<f64>,
    /// What w is clipped from, where the problem has bounds.
    pub(crate) clipped: Option<Clipped<'p>>,
    pub(crate) blocks: Vec<Block>,
    /// The dual value, followed step by step.
    pub(crate) dual: f64,
    /// ‖w‖² when it was rebuilt last.
    pub(crate) norm_sq: f64,
    /// Where `rebuild` sums up the new w, in several parts if that pays; the first is all zeros
    /// between rebuilds.
    spare: Vec<Vec<f64>>,
    /// Where a block's new point is put together.
    between: SparseVec,
}

/// How far a step goes, and what it gains in the dual.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Stride {
    pub(crate) gamma: f64,
    pub(crate) gain: f64,
}

impl<'p, P: Problem> DualState<'p, P> {
    pub(crate) fn new(problem: &'p P, lambda: f64, point: DualPoint, crew: &mut Crew<P>) -> Self {
        let mut state = Self {
            problem,
            lambda,
            shares: Shares::new(problem),
            w: vec![0.0; problem.dim()],
            clipped: bounds_in_force(problem).map(Clipped::new),
            blocks: point.blocks,
            dual: 0.0,
            norm_sq: 0.0,
            spare: Vec::new(),
            between: SparseVec::new(),
        };
        state.rebuild(crew);
        state
    }

    /// Aα as the steps have left it: w, or what w is clipped from.
    pub(crate) fn sum(&self) -> &[f64] {
        self.clipped.as_ref().map_or(&self.w, |clipped| &clipped.v)
    }

    /// Puts back the bits that steps had left, in place of the sum of the blocks.
    pub(crate) fn restore(&mut self, sum: Vec<f64>, dual: f64, norm_sq: f64) {
        (self.dual, self.norm_sq) = (dual, norm_sq);
        match &mut self.clipped {
            None => self.w = sum,
            Some(clipped) => {
                clipped.v = sum;
                clipped.clip(&mut self.w);
            }
        }
    }

    /// Slope of the dual as block `i` moves along `step`: cᵢ/C·(ΔL + ⟨w, Bᵢq⟩), for a step towards
    /// the oracle's corner just the block's gap.
    ///
    /// The workspace must be prepared for block `i` at the current w.
    pub(crate) fn slope(&self, i: usize, step: &Move, workspace: &P::Workspace) -> f64 {
        let score = self.problem.score(i, &self.w, workspace, &step.parts);
        self.shares.of(i) * (step.loss + score)
    }

    /// How far block `i` should go along `way`, where the dual rises with `slope` at first; none if
    /// numbers are not finite.
    ///
    /// Without bounds the curvature is λ‖Δw‖² with Δw = −cᵢ/(λC)·Bᵢq, and `length` is to tell ‖Bᵢq‖².
    #[inline]
    pub(crate) fn stride(
        &mut self,
        i: usize,
        way: &SparseVec,
        slope: f64,
        longest: f64,
        pace: Pace,
        length: impl FnOnce() -> f64,
    ) -> Option<Stride> {
        if slope <= 0.0 {
            return Some(Stride::default());
        }
        let share = self.shares.of(i);
        if let Some(clipped) = &mut self.clipped {
            self.problem.scatter(i, -share / self.lambda, way, clipped.new_way());
            return clipped.stride(self.lambda, slope, longest, pace);
        }
        let curvature = share * share / self.lambda * length();
        pace.stride(slope, curvature, longest)
    }

    /// Whether a negative slope towards a corner is more than rounding can explain, so that the
    /// corner is worse than the block's own point.
    pub(crate) fn is_below_rounding<Y>(
        &self,
        i: usize,
        corner: &Corner<Y>,
        step: &Move,
        slope: f64,
    ) -> bool {
        let share = self.shares.of(i);
        let score = slope / share - step.loss;
        let size = 1.0 + corner.loss.abs() + self.blocks[i].loss.abs() + score.abs();
        slope < -ROUNDING * share * size
    }

    /// Brings block `i` and its example near, for a visit soon to come.
    pub(crate) fn prefetch(&self, i: usize) {
        // Where a block's parts are is far away too, and fetched while its example is asked for.
        prefetch(&self.blocks[i..=i]);
        self.problem.prefetch(i);
        prefetch(self.blocks[i].parts.entries());
    }

    /// Lets w and D follow a block that goes along `way`, the one whose [stride](Self::stride) was
    /// found last; the block itself is left behind.
    #[inline]
    pub(crate) fn follow(&mut self, i: usize, way: &SparseVec, Stride { gamma, gain }: Stride) {
        match &mut self.clipped {
            None => {
                let scale = -gamma * self.shares.of(i) / self.lambda;
                self.problem.scatter(i, scale, way, self.w.as_mut_slice());
            }
            Some(clipped) => clipped.go(gamma, &mut self.w),
        }
        self.dual += gain;
    }

    /// Moves the block alone; w has to follow.
    pub(crate) fn move_block<Y>(&mut self, i: usize, step: &Move, corner: &Corner<Y>, gamma: f64) {
        let block = &mut self.blocks[i];
        if gamma == 1.0 && step.ends_at_corner {
            // Exactly the corner, without the dust that a sum would leave behind.
            block.parts.assign(&corner.parts);
            block.loss = corner.loss;
        } else {
            let towards = step.ends_at_corner.then_some(&corner.parts);
            let merged =
                towards.is_some_and(|to| self.between.assign_between(&block.parts, to, gamma));
            match merged {
                true => block.parts.assign(&self.between),
                false => block.parts.add_scaled(gamma, &step.parts),
            }
            block.loss += gamma * step.loss;
        }
    }

    /// Rebuilds w and D from the blocks, and tells how far they had drifted.
    pub(crate) fn rebuild(&mut self, crew: &mut Crew<P>) -> Drift {
        let parts = self.sum_blocks(crew);
        let [sum, others @ ..] = &mut self.spare[..parts] else { return Drift::default() };
        let bounds = self.clipped.as_ref().map(|clipped| clipped.bounds);
        let v = self.clipped.as_mut().map(|clipped| clipped.v.as_mut_slice());
        let mut v = v.unwrap_or_default().chunks_mut(CHUNK);
        let pieces = self.w.chunks_mut(CHUNK).zip(sum.chunks_mut(CHUNK));
        let mut pieces: Vec<Piece<'_>> =
            pieces.map(|(w, sum)| Piece { w, v: v.next(), sum, found: Found::default() }).collect();
        crew.for_each_chunk(&mut pieces, 1, |at, _, piece| {
            piece[0].take_over(at * CHUNK, others, bounds);
        });

        let total = |part: fn(&Found) -> f64| pieces.iter().map(|piece| part(&piece.found)).sum();
        let mut squares = Squares {
            norm_sq: total(|found| found.norm_sq),
            product: total(|found| found.product),
        };
        let weights = pieces.iter().map(|piece| piece.found.drift).fold(0.0, f64::max);
        if let Some(length) = self.problem.weights_norm_sq(&self.w) {
            squares = Squares { norm_sq: length, product: length };
        }
        self.norm_sq = squares.norm_sq;
        let dual = dual_value(&self.shares, self.lambda, &self.blocks, squares);
        let drift = Drift { weights, dual: (dual - self.dual).abs() };
        self.dual = dual;
        drift
    }

    /// Sums up the weights of all blocks in so many of the spare vectors, in parallel.
    ///
    /// Adding those up later is worth it if there is much to add to each weight. Their number depends
    /// on the data alone, so the result does not depend on the threads.
    fn sum_blocks(&mut self, crew: &mut Crew<P>) -> usize {
        let (n, d) = (self.blocks.len(), self.w.len());
        let entries: usize = self.blocks.iter().map(|block| block.parts.len()).sum();
        let parts = (WORK_PER_PART * entries / d.max(1)).clamp(1, MOST_PARTIAL_SUMS);
        if self.spare.len() < parts {
            self.spare.resize_with(parts, || vec![0.0; d]);
        }
        let (problem, shares, lambda, blocks) =
            (self.problem, &self.shares, self.lambda, &self.blocks);
        crew.for_each_chunk(&mut self.spare[..parts], 1, |part, _, sums| {
            // The first is all zeros already, see `Piece`.
            if part > 0 {
                sums[0].fill(0.0);
            }
            let range = part * n / parts..(part + 1) * n / parts;
            add_weights(problem, shares, lambda, blocks, range, &mut sums[0]);
        });
        parts
    }

    pub(crate) fn into_point(self) -> (Vec<f64>, DualPoint) {
        (self.w, DualPoint { blocks: self.blocks })
    }
}

#[cfg(test)]
mod tests;
