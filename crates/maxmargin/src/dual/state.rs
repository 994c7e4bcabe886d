//! The running state of a dual method: blocks, w and D.

use super::clipped::Clipped;
use super::point::{Block, Corner, DualPoint, Move, Shares, add_weights, dual_value};
use super::rebuild::{CHUNK, ChunkSums, Squares, WeightChunk};
use super::step::{Pace, Stride};
use super::workers::Workers;
use crate::problem::bounds::bounds_in_force;
use crate::problem::{Blocks, Sink as _, SparseVec, Worker};
use crate::util::prefetch::prefetch;
use crate::util::rounding::ROUNDING;

/// More partial sums of w than this do not help.
const MOST_PARTIAL_SUMS: usize = 16;

/// This many partial sums are made wherever they save time.
const FEW_PARTIAL_SUMS: usize = 4;

/// More of them are made if they have no more weights than this altogether, which is 8 MB, or if they take at
/// most a quarter of the memory of the blocks: one weight for every two entries.
const WEIGHTS_OF_SMALL_SUMS: usize = 1 << 20;
const ENTRIES_PER_WEIGHT: usize = 2;

/// Adding one entry of a block to w takes about as long as adding this many weights of two partial sums,
/// because an entry has several features, far from each other in memory.
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
#[derive(Debug, Clone, Copy, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
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
pub(crate) struct DualState<'p> {
    pub(super) problem: &'p dyn Blocks,
    pub(crate) lambda: f64,
    pub(crate) shares: Shares,
    pub(crate) w: Vec<f64>,
    /// What w is clipped from, where the problem has bounds.
    pub(crate) clipped: Option<Clipped<'p>>,
    pub(crate) blocks: Vec<Block>,
    /// What blocks elsewhere add to w, if these are not all of them.
    elsewhere: Option<Vec<f64>>,
    /// The dual value, followed step by step.
    pub(crate) dual: f64,
    /// ‖w‖² when it was rebuilt last.
    pub(crate) norm_sq: f64,
    /// Scratch memory in which `rebuild` sums up the new w, in several parts if that pays. The first part
    /// is all zeros between rebuilds.
    pub(super) spare: Vec<Vec<f64>>,
    /// Scratch memory for a block's old and new point, and its bytes.
    point: SparseVec,
    between: SparseVec,
    bytes: Vec<u8>,
}

impl<'p> DualState<'p> {
    pub(crate) fn new(
        problem: &'p dyn Blocks,
        lambda: f64,
        point: DualPoint,
        workers: &mut Workers<'_>,
    ) -> Self {
        let mut state = Self {
            problem,
            lambda,
            shares: Shares::new(problem),
            w: vec![0.0; problem.dim()],
            clipped: bounds_in_force(problem).map(Clipped::new),
            blocks: point.blocks,
            elsewhere: None,
            dual: 0.0,
            norm_sq: 0.0,
            spare: Vec::new(),
            point: SparseVec::new(),
            between: SparseVec::new(),
            bytes: Vec::new(),
        };
        state.rebuild(workers);
        state
    }

    /// Aα as the steps have left it: w, or with bounds the v that w is clipped from.
    pub(crate) fn sum(&self) -> &[f64] {
        self.clipped.as_ref().map_or(&self.w, |clipped| &clipped.v)
    }

    /// Restores the bits that the steps had left, in place of the sum of the blocks.
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

    /// Sets what blocks elsewhere add to w, which shows at the next [rebuild](Self::rebuild).
    pub(crate) fn set_elsewhere(&mut self, sum: Vec<f64>) {
        self.elsewhere = Some(sum);
    }

    /// Slope of the dual as block `i` moves along `step`: cᵢ/C·(ΔL + ⟨w, Bᵢq⟩). For a step towards the
    /// oracle's corner this is the block's gap.
    ///
    /// The worker must be prepared for block `i` at the current w.
    pub(crate) fn slope(&self, i: usize, step: &Move, worker: &dyn Worker) -> f64 {
        let score = worker.score(i, &self.w, &step.parts);
        self.shares.of(i) * (step.loss + score)
    }

    /// How far block `i` should go along `way`, along which the dual initially rises with `slope`.
    /// Returns `None` if a number is not finite.
    ///
    /// Without bounds the curvature is λ‖Δw‖² with Δw = −cᵢ/(λC)·Bᵢq.
    #[inline]
    pub(crate) fn stride(
        &mut self,
        i: usize,
        way: &SparseVec,
        slope: f64,
        longest: f64,
        pace: Pace,
        worker: &mut dyn Worker,
    ) -> Option<Stride> {
        if slope <= 0.0 {
            return Some(Stride::default());
        }
        let share = self.shares.of(i);
        if let Some(clipped) = &mut self.clipped {
            self.problem.scatter(i, -share / self.lambda, way, clipped.new_way().into());
            return clipped.stride(self.lambda, slope, longest, pace);
        }
        let curvature = share * share / self.lambda * worker.norm_sq(i, way);
        pace.stride(slope, curvature, longest)
    }

    /// As [`stride`](Self::stride) with bounds, for a way between two points that are given by their features.
    pub(crate) fn stride_between(
        &mut self,
        i: usize,
        (to, from): (&[f64], &[f64]),
        slope: f64,
        longest: f64,
    ) -> Option<Stride> {
        let scale = -self.shares.of(i) / self.lambda;
        let Some(clipped) = &mut self.clipped else { return None };
        let way = clipped.new_way();
        for (feature, (to, from)) in to.iter().zip(from).enumerate() {
            if to != from {
                way.add(feature, scale * (to - from));
            }
        }
        clipped.stride(self.lambda, slope, longest, Pace::EXACT)
    }

    /// Whether a negative slope towards a corner is more than rounding can explain, so that the
    /// corner is worse than the block's own point.
    pub(crate) fn is_below_rounding(
        &self,
        i: usize,
        corner: &Corner,
        step: &Move,
        slope: f64,
    ) -> bool {
        let share = self.shares.of(i);
        let score = slope / share - step.loss;
        let size = 1.0 + corner.loss.abs() + self.blocks[i].loss.abs() + score.abs();
        slope < -ROUNDING * share * size
    }

    /// Prefetches block `i` and its example, which will be visited soon.
    pub(crate) fn prefetch(&self, i: usize) {
        // The pointer to a block's parts is in far memory too; it arrives while the example is asked for.
        prefetch(&self.blocks[i..=i]);
        self.problem.prefetch(i);
        self.blocks[i].parts.prefetch();
    }

    /// Updates w and D for a block that goes along `way`, whose [stride](Self::stride) was computed last.
    /// The block itself does not move here.
    #[inline]
    pub(crate) fn follow(&mut self, i: usize, way: &SparseVec, Stride { gamma, gain }: Stride) {
        match &mut self.clipped {
            None => {
                let scale = -gamma * self.shares.of(i) / self.lambda;
                self.problem.scatter(i, scale, way, (&mut self.w).into());
            }
            Some(clipped) => clipped.go(gamma, &mut self.w),
        }
        self.dual += gain;
    }

    /// Updates w, which has no bounds, for a block that goes `change` of the way to a point with these features,
    /// relative to where it is. The caller updates D.
    pub(crate) fn add_features(&mut self, i: usize, change: f64, features: &[f64]) {
        let scale = -change * self.shares.of(i) / self.lambda;
        self.w.iter_mut().zip(features).for_each(|(w, x)| *w += scale * x);
    }

    /// As [`stride`](Self::stride), for a way that is given by the change of w, term by term, and by its
    /// curvature, which only counts without bounds.
    pub(crate) fn stride_along(
        &mut self,
        terms: &SparseVec,
        slope: f64,
        curvature: f64,
        longest: f64,
        pace: Pace,
    ) -> Option<Stride> {
        let Some(clipped) = &mut self.clipped else {
            return pace.stride(slope, curvature, longest);
        };
        if slope <= 0.0 {
            return Some(Stride::default());
        }
        let way = clipped.new_way();
        terms.entries().iter().for_each(|&(feature, value)| way.add(feature as usize, value));
        clipped.stride(self.lambda, slope, longest, pace)
    }

    /// As [`follow`](Self::follow), for a way that is given by the change of w, term by term.
    pub(crate) fn follow_along(&mut self, terms: &SparseVec, Stride { gamma, gain }: Stride) {
        match &mut self.clipped {
            None => {
                for &(feature, value) in terms.entries() {
                    self.w[feature as usize] += gamma * value;
                }
            }
            Some(clipped) => clipped.go(gamma, &mut self.w),
        }
        self.dual += gain;
    }

    /// Puts block `i` at a point; the caller updates w with [`follow`](Self::follow).
    pub(crate) fn set_block(&mut self, i: usize, point: &Corner) {
        let block = &mut self.blocks[i];
        block.parts.pack(&point.parts, &mut self.bytes);
        block.loss = point.loss;
    }

    /// Moves the block itself; the caller updates w with [`follow`](Self::follow).
    pub(crate) fn move_block(&mut self, i: usize, step: &Move, corner: &Corner, gamma: f64) {
        if gamma == 1.0 && step.ends_at_corner {
            // Exactly the corner, without the rounding errors that a sum would leave behind.
            self.set_block(i, corner);
        } else {
            let Self { blocks, point, between, bytes, .. } = self;
            let block = &mut blocks[i];
            let from = block.parts.read(point);
            let towards = step.ends_at_corner.then_some(&corner.parts);
            if towards.is_some_and(|to| between.assign_between(from, to, gamma)) {
                block.parts.pack(between, bytes);
            } else if let Some(own) = block.parts.plain_mut() {
                own.add_scaled(gamma, &step.parts);
            } else {
                point.add_scaled(gamma, &step.parts);
                block.parts.pack(point, bytes);
            }
            block.loss += gamma * step.loss;
            [point, between].into_iter().for_each(SparseVec::forget_if_long);
        }
    }

    /// Rebuilds w and D from the blocks, and returns how far they had drifted.
    pub(crate) fn rebuild(&mut self, workers: &mut Workers<'_>) -> Drift {
        // Sum up the blocks, and replace w piece by piece.
        let parts = self.sum_blocks(workers);
        let [sum, others @ ..] = &mut self.spare[..parts] else { return Drift::default() };
        let elsewhere = self.elsewhere.as_deref();
        let bounds = self.clipped.as_ref().map(|clipped| clipped.bounds);
        let v = self.clipped.as_mut().map(|clipped| clipped.v.as_mut_slice());
        let mut v = v.unwrap_or_default().chunks_mut(CHUNK);
        let pieces = self.w.chunks_mut(CHUNK).zip(sum.chunks_mut(CHUNK));
        let mut pieces: Vec<WeightChunk<'_>> = pieces
            .map(|(w, sum)| WeightChunk { w, v: v.next(), sum, found: ChunkSums::default() })
            .collect();
        let threads = workers.worth(CHUNK * pieces.len());
        workers.for_each_chunk_on(threads, &mut pieces, 1, |at, _, piece| {
            piece[0].replace(at * CHUNK, others, elsewhere, bounds);
        });

        // Compute D from the new w, and compare both with what the steps had left.
        let total =
            |part: fn(&ChunkSums) -> f64| pieces.iter().map(|piece| part(&piece.found)).sum();
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

    /// Sums up the weights of all blocks in several spare vectors, in parallel, and returns their number.
    ///
    /// Several vectors pay if there is much to add to each weight. Their number depends on the data
    /// alone, so the result does not depend on the threads.
    fn sum_blocks(&mut self, workers: &mut Workers<'_>) -> usize {
        let (n, d) = (self.blocks.len(), self.w.len());
        let entries: usize = self.blocks.iter().map(|block| block.parts.len()).sum();
        let parts = partial_sums(d, entries);
        if self.spare.len() < parts {
            self.spare.resize_with(parts, || vec![0.0; d]);
        }
        let (problem, shares, lambda, blocks) =
            (self.problem, &self.shares, self.lambda, &self.blocks);
        let threads = workers.worth(entries);
        workers.for_each_chunk_on(threads, &mut self.spare[..parts], 1, |part, _, sums| {
            // The first is all zeros already, see `WeightChunk`.
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

/// The number of partial sums of `d` weights, to which blocks with so many entries are added. It depends on the
/// data alone, never on the threads.
fn partial_sums(d: usize, entries: usize) -> usize {
    let that_pay = WORK_PER_PART * entries / d.max(1);
    let that_fit = WEIGHTS_OF_SMALL_SUMS.max(entries / ENTRIES_PER_WEIGHT) / d.max(1);
    that_pay.min(that_fit.max(FEW_PARTIAL_SUMS)).clamp(1, MOST_PARTIAL_SUMS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_weights_have_few_partial_sums() {
        let few = FEW_PARTIAL_SUMS;
        // There is little to add to each weight.
        assert_eq!(partial_sums(1000, 50), 1);
        // Small sums, and large ones beside larger blocks.
        assert_eq!(partial_sums(1000, 5000), MOST_PARTIAL_SUMS);
        assert_eq!(partial_sums(1 << 18, 1 << 26), MOST_PARTIAL_SUMS);
        // Sums that would be as large as the blocks.
        assert_eq!(partial_sums(1 << 22, 1 << 22), few);
        assert_eq!(partial_sums(1 << 22, 1 << 26), 8);
        assert_eq!(partial_sums(0, 0), 1);
    }
}
