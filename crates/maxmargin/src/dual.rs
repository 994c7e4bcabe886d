//! The dual point, and the weights that belong to it.

use crate::certificate::ROUNDING;
use crate::crew::Crew;
use crate::direction::{Corner, Move};
use crate::prefetch::prefetch;
use crate::problem::Problem;
use crate::sparse::SparseVec;
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

/// The value D = ℓ − λ/2 ‖w‖² of a dual point whose weights have the squared length `norm_sq`.
pub(crate) fn dual_value(shares: &Shares, lambda: f64, blocks: &[Block], norm_sq: f64) -> f64 {
    let loss: f64 = shares.iter().zip(blocks).map(|(share, block)| share * block.loss).sum();
    loss - 0.5 * lambda * norm_sq
}

/// Coordinates whose squares are added up as one term of a norm.
const NORM_CHUNK: usize = 1 << 15;

/// ‖w‖², summed in a fixed order, whatever the number of threads.
pub(crate) fn norm_sq(w: &[f64]) -> f64 {
    w.chunks(NORM_CHUNK).map(chunk_norm_sq).sum()
}

/// Eight sums side by side, which the processor can add at once.
fn chunk_norm_sq(chunk: &[f64]) -> f64 {
    let (groups, rest) = chunk.as_chunks::<8>();
    let mut sums = [0.0; 8];
    for group in groups {
        for (sum, x) in sums.iter_mut().zip(group) {
            *sum += x * x;
        }
    }
    sums.iter().sum::<f64>() + rest.iter().map(|x| x * x).sum::<f64>()
}

/// More partial sums of w than this are of no use.
const MOST_PARTIAL_SUMS: usize = 16;

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
    pub(crate) blocks: Vec<Block>,
    /// The dual value, followed step by step.
    pub(crate) dual: f64,
    /// ‖w‖² when it was rebuilt last.
    pub(crate) norm_sq: f64,
    /// Where `rebuild` sums up the new w, in several parts if that pays.
    spare: Vec<Vec<f64>>,
}

/// What one step does to the dual: γ·slope − γ²/2·curvature.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Ascent {
    pub(crate) slope: f64,
    pub(crate) curvature: f64,
}

impl Ascent {
    pub(crate) fn is_finite(self) -> bool {
        self.slope.is_finite() && self.curvature.is_finite()
    }

    pub(crate) fn gain(self, gamma: f64) -> f64 {
        gamma * (self.slope - 0.5 * gamma * self.curvature)
    }
}

impl<'p, P: Problem> DualState<'p, P> {
    pub(crate) fn new(problem: &'p P, lambda: f64, point: DualPoint, crew: &mut Crew<P>) -> Self {
        let mut state = Self {
            problem,
            lambda,
            shares: Shares::new(problem),
            w: vec![0.0; problem.dim()],
            blocks: point.blocks,
            dual: 0.0,
            norm_sq: 0.0,
            spare: Vec::new(),
        };
        state.rebuild(crew);
        state
    }

    /// Slope and curvature of the dual as block `i` moves along `step`.
    ///
    /// The workspace must be prepared for block `i` at the current w. The slope is
    /// cᵢ/C·(ΔL + ⟨w, Bᵢq⟩), for a step towards the oracle's corner just the block's gap; the
    /// curvature is λ‖Δw‖² with Δw = −cᵢ/(λC)·Bᵢq.
    pub(crate) fn ascent(&self, i: usize, step: &Move, workspace: &mut P::Workspace) -> Ascent {
        let share = self.shares.of(i);
        let slope = share * (step.loss + self.problem.score(i, &self.w, workspace, &step.parts));
        let curvature = if slope > 0.0 {
            share * share / self.lambda * self.problem.norm_sq(i, workspace, &step.parts)
        } else {
            0.0
        };
        Ascent { slope, curvature }
    }

    /// Whether a negative slope towards a corner is more than rounding can explain, so that the
    /// corner is worse than the block's own point.
    pub(crate) fn is_below_rounding<Y>(
        &self,
        i: usize,
        corner: &Corner<Y>,
        step: &Move,
        ascent: Ascent,
    ) -> bool {
        let share = self.shares.of(i);
        let score = ascent.slope / share - step.loss;
        let size = 1.0 + corner.loss + self.blocks[i].loss + score.abs();
        ascent.slope < -ROUNDING * share * size
    }

    /// Moves block `i` by `gamma` along `step`, and w with it.
    pub(crate) fn apply<Y>(
        &mut self,
        i: usize,
        step: &Move,
        corner: &Corner<Y>,
        gamma: f64,
        ascent: Ascent,
    ) {
        self.move_block(i, step, corner, gamma);
        let scale = -gamma * self.shares.of(i) / self.lambda;
        self.problem.scatter(i, scale, &step.parts, self.w.as_mut_slice());
        self.dual += ascent.gain(gamma);
    }

    /// Brings block `i` and its example near, for a visit soon to come.
    pub(crate) fn prefetch(&self, i: usize) {
        self.problem.prefetch(i);
        prefetch(self.blocks[i].parts.entries());
    }

    /// Lets w and D follow a block that has gone `way`, which gained `gain`; the block itself is
    /// left behind.
    pub(crate) fn follow(&mut self, i: usize, way: &SparseVec, gain: f64) {
        let scale = -self.shares.of(i) / self.lambda;
        self.problem.scatter(i, scale, way, self.w.as_mut_slice());
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
            block.parts.add_scaled(gamma, &step.parts);
            block.loss += gamma * step.loss;
        }
    }

    /// Rebuilds w and D from the blocks, and tells how far they had drifted.
    pub(crate) fn rebuild(&mut self, crew: &mut Crew<P>) -> Drift {
        self.sum_blocks(crew);
        let [sum, ..] = self.spare.as_mut_slice() else { return Drift::default() };
        std::mem::swap(&mut self.w, sum);

        let mut terms = vec![(0.0, 0.0); self.w.len().div_ceil(NORM_CHUNK)];
        let (w, old) = (&self.w, &self.spare[0]);
        crew.for_each_chunk(&mut terms, 1, |at, _, term| {
            let range = at * NORM_CHUNK..w.len().min((at + 1) * NORM_CHUNK);
            let (w, old) = (&w[range.clone()], &old[range]);
            let drift = w.iter().zip(old).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            term[0] = (drift, chunk_norm_sq(w));
        });
        let weights = terms.iter().map(|term| term.0).fold(0.0, f64::max);
        self.norm_sq = terms.iter().map(|term| term.1).sum();

        let dual = dual_value(&self.shares, self.lambda, &self.blocks, self.norm_sq);
        let drift = Drift { weights, dual: (dual - self.dual).abs() };
        self.dual = dual;
        drift
    }

    /// Sums up the weights of all blocks in the first of the spare vectors.
    ///
    /// Where there is much to add up in few features, as many partial sums are made as the work
    /// pays for, in parallel. Their number depends on the data alone, so the result does not depend
    /// on the threads.
    fn sum_blocks(&mut self, crew: &mut Crew<P>) {
        let (n, d) = (self.blocks.len(), self.w.len());
        let entries: usize = self.blocks.iter().map(|block| block.parts.len()).sum();
        let parts = (entries / d.max(1)).clamp(1, MOST_PARTIAL_SUMS);
        self.spare.resize_with(parts, Vec::new);
        for spare in &mut self.spare {
            spare.resize(d, 0.0);
            crew.for_each_chunk(spare, NORM_CHUNK, |_, _, chunk| chunk.fill(0.0));
        }
        let (problem, shares, lambda, blocks) =
            (self.problem, &self.shares, self.lambda, &self.blocks);
        crew.for_each_chunk(&mut self.spare, 1, |part, _, sums| {
            let range = part * n / parts..(part + 1) * n / parts;
            add_weights(problem, shares, lambda, blocks, range, &mut sums[0]);
        });
        let [first, others @ ..] = self.spare.as_mut_slice() else { return };
        for other in others {
            first.iter_mut().zip(other).for_each(|(sum, term)| *sum += *term);
        }
    }

    pub(crate) fn into_point(self) -> (Vec<f64>, DualPoint) {
        (self.w, DualPoint { blocks: self.blocks })
    }
}
