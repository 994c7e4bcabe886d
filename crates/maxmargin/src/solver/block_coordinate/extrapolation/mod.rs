//! Steps that go on in the directions in which the last passes have moved all blocks together.
//!
//! Where blocks share features, visits to one block after another converge slowly, and pass after pass moves w in much
//! the same directions. Along the ways from a few earlier points to the present one the dual is a quadratic, whose
//! coefficients follow from the weights and the losses at these times: no corner has to be scored. Its largest value
//! says how far to go on in each direction. The point found there may lie outside of the blocks, so it is projected back,
//! block by block, and an exact line search goes towards it. So the dual never falls.
//!
//! With one pass as the preconditioner, this is a conjugate gradient method that may restart at any time. On OCR it takes a
//! third to a half of the passes.

mod history;

use super::active_set::ActiveSets;
use super::average::Averager;
use crate::dual::{DualState, Pace, has_own_length};
use crate::problem::Blocks;
use crate::problem::sparse::SparseVec;
use crate::problem::sparse_accumulator::SparseAccumulator;
use crate::run::Run;
use crate::run::fits::Fitting;
use history::History;

pub(crate) use history::{Each as PastMasses, push as push_mass};

/// A step that gains less than this share of what was gained since the last one is followed by a pause.
const LEAST_GAIN: f64 = 0.05;

/// The longest pause.
const LONGEST_PAUSE: u32 = 8;

/// Makes steps, and remembers what they need.
#[derive(Debug, Clone, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Extrapolation {
    history: History,
    /// The dual value at the last step.
    dual: f64,
    /// How many steps are still to be left out, and how many were in the last pause.
    left_out: u32,
    pause: u32,
    #[cfg_attr(feature = "serde", serde(skip))]
    room: Room,
}

/// Scratch memory.
#[derive(Debug, Clone, Default)]
struct Room {
    /// How the mass of every atom changes, block after block.
    ways: Vec<f64>,
    /// The change of w, where the weights have no bounds.
    change: Option<SparseAccumulator>,
    /// The change of a block's point.
    parts: SparseVec,
    spare: SparseVec,
    /// The masses that a projection may change.
    ends: Vec<f64>,
}

impl Extrapolation {
    /// Returns `None` for a problem that measures lengths in its own way, since inner products of its weights say
    /// nothing.
    pub(super) fn for_problem(problem: &dyn Blocks) -> Option<Self> {
        (is_possible(problem)).then(Self::default)
    }

    pub(super) fn fits(&self, to: &Fitting<'_>) -> bool {
        is_possible(to.problem) && self.history.fits(to)
    }

    /// Takes a step, unless there is nothing to go on from or the last steps were not worth their time.
    pub(super) fn step(
        &mut self,
        run: &mut Run<'_, '_>,
        sets: &mut ActiveSets,
        averager: Option<&mut Averager>,
    ) {
        if self.left_out > 0 {
            self.left_out -= 1;
            return;
        }
        let (problem, k) = (run.problem, run.totals.visits);
        let state = run.state_and_scratch().0;
        let gained = state.dual - self.dual;
        let mut loss = sets.loss(&state.shares);
        let shares = self.history.best_shares(state, loss);
        if shares.iter().all(|share| share.is_finite()) && shares != PastMasses::default() {
            let gain = self.go(problem, state, (sets, &shares), averager.map(|a| (a, k + 1)));
            loss = sets.loss(&state.shares);
            self.pause = match gain < LEAST_GAIN * gained {
                true => (2 * self.pause).clamp(1, LONGEST_PAUSE),
                false => 0,
            };
            self.left_out = self.pause;
        }
        self.dual = state.dual;
        self.history.keep_present(state, loss);
        sets.keep_masses();
    }

    /// Goes on by `shares` of the ways from earlier masses to the present ones, as far as the dual rises. Returns what
    /// that gains.
    fn go(
        &mut self,
        problem: &dyn Blocks,
        state: &mut DualState<'_>,
        (sets, shares): (&mut ActiveSets, &PastMasses),
        mut averager: Option<(&mut Averager, u64)>,
    ) -> f64 {
        let Room { ways, change, parts, spare, ends } = &mut self.room;
        let DualState { lambda, shares: weights, w, clipped, blocks, .. } = state;
        // The way of every block, and of w.
        let sum = match (&mut *clipped, &mut *change) {
            (Some(clipped), _) => clipped.new_way(),
            (None, change) => {
                let change = change.get_or_insert_with(|| SparseAccumulator::new(w.len()));
                change.clear();
                change
            }
        };
        ways.clear();
        let mut slope = 0.0;
        for i in 0..blocks.len() {
            let (start, share) = (ways.len(), weights.of(i));
            if let Some(loss) = sets.extrapolate(i, shares, ways, ends) {
                slope += share * loss;
                let way = (-share / *lambda, &ways[start..]);
                sets.spread(problem, i, way, (&mut *parts, &mut *spare), sum);
            }
        }
        slope -= *lambda * sum.touched.iter().map(|&f| w[f] * sum.change[f]).sum::<f64>();
        let curvature = *lambda * sum.norm_sq();
        // How far to go.
        let stride = match &mut *clipped {
            Some(clipped) => clipped.stride(*lambda, slope, 1.0, Pace::EXACT),
            None => Pace::EXACT.stride(slope, curvature, 1.0),
        };
        let stride = stride.unwrap_or_default();
        if stride.gamma == 0.0 {
            return 0.0;
        }
        let mut start = 0;
        for (i, block) in blocks.iter_mut().enumerate() {
            let way = &ways[start..start + sets.corners(i)];
            start += way.len();
            if way.iter().all(|way| *way == 0.0) {
                continue;
            }
            if let Some((averager, k)) = &mut averager {
                sets.refresh(problem, i, block);
                averager.before_change(i, *k, block);
            }
            sets.move_masses(i, stride.gamma, way);
        }
        match (clipped, change) {
            (Some(clipped), _) => clipped.go(stride.gamma, w),
            (None, Some(sum)) => {
                for &feature in &sum.touched {
                    w[feature] += stride.gamma * sum.change[feature];
                }
            }
            (None, None) => {}
        }
        state.dual += stride.gain;
        stride.gain
    }
}

/// Whether inner products of weights are those of the problem, and features have numbers that the history can hold.
fn is_possible(problem: &dyn Blocks) -> bool {
    u32::try_from(problem.dim()).is_ok() && !has_own_length(problem)
}
