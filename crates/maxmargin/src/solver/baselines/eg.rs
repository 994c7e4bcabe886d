//! Online exponentiated gradient on the dual.
//!
//! A block is a distribution αᵢ(y) ∝ exp θᵢ(y), given by potentials. A visit adds ηᵢ·Hᵢ(·; w) to them and
//! computes the expected parts of the new distribution, which are the block's point. So w = Aα, D and the
//! gap mean what they mean everywhere. An expectation counts as an oracle call.
//!
//! The start is near the truth: with all outputs equally likely, w would be far too long where λ is small.
//!
//! All masses are positive, so a block keeps all of its parts and takes the memory of the whole tables.

use super::sweep::Sweeper;
use crate::dual::{Block, Corner, DualPoint, DualState, Pace};
use crate::error::TrainError;
use crate::problem::SparseVec;
use crate::run::Run;
use crate::run::fits::{Fits, Fitting};
use crate::run::session::Checked;

/// A learning rate is halved at most this often in one visit.
const MOST_TRIES: usize = 20;

/// How much a rate grows after a step that has raised the dual, and shrinks after one that would not.
const GROWTH: f64 = 1.05;
const SHRINKAGE: f64 = 0.5;

/// At the start, the expected loss is at most this share of its value for equally likely outputs. (On the
/// training objective of OCR after ten passes, 0.3 is better at λ = 100/n and far worse at 1/n.)
const START_SHARE_OF_LOSS: f64 = 0.05;

/// The first learning rates, relative to λ/share, which would be right for features of length 1. (On OCR
/// after ten passes, 1 and 10 leave a larger gap at λ = 1/n and 100/n.)
const FIRST_RATE: f64 = 0.1;

/// The strength β of the start is searched between this and its reciprocal.
const LEAST_PULL: f64 = 1e-6;

/// Number of potentials of example `i`.
fn potentials(run: &Run<'_, '_>, i: usize) -> Result<usize, TrainError> {
    let (solver, why) = (run.settings.solver, "needs expectations over outputs");
    run.problem.potentials(i).ok_or(TrainError::Unsuited { solver, why })
}

/// Where example `i` starts: p(y) ∝ exp(−β·L(y)), with the smallest power of two for β that makes the
/// expected loss small. `origin` is w = 0. `pull` is the β of the previous example, from which the search
/// begins.
fn start(
    run: &mut Run<'_, '_>,
    i: usize,
    origin: &[f64],
    pull: &mut f64,
) -> Result<(Vec<f64>, Block), TrainError> {
    // At w = 0 H is the loss alone. (Bounds may keep the weights of the truth from 0.)
    let potentials = potentials(run, i)?;
    run.state_and_scratch().1.worker.prepare(i, origin);
    let mut at = |beta: f64| {
        let (mut theta, mut parts) = (vec![0.0; potentials], SparseVec::new());
        let loss = run.instead_of_oracle(|_, worker| {
            worker.add_values(i, origin, -beta, &mut theta);
            worker.expect(i, &theta, &mut parts)
        });
        match loss.is_finite() {
            true => Ok((theta, Block { parts: parts.into(), loss })),
            false => Err(TrainError::NotFinite { example: i }),
        }
    };
    let most = START_SHARE_OF_LOSS * at(0.0)?.1.loss;
    let mut found = at(*pull)?;
    if found.1.loss <= most {
        loop {
            let weaker = at(0.5 * *pull)?;
            if weaker.1.loss > most || *pull < LEAST_PULL {
                return Ok(found);
            }
            (found, *pull) = (weaker, 0.5 * *pull);
        }
    }
    while found.1.loss > most && *pull < 1.0 / LEAST_PULL {
        *pull *= 2.0;
        found = at(*pull)?;
    }
    Ok(found)
}

/// Exponentiated gradients on the dual.
#[derive(Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(in crate::solver) struct ExponentiatedGradient {
    thetas: Vec<Vec<f64>>,
    /// The learning rates ηᵢ.
    rates: Vec<f64>,
    /// Scratch memory: the potentials and the point of a step that is being tried, and the way there.
    #[cfg_attr(feature = "serde", serde(skip))]
    trial: Vec<f64>,
    #[cfg_attr(feature = "serde", serde(skip))]
    next: Corner,
    #[cfg_attr(feature = "serde", serde(skip))]
    way: SparseVec,
}

impl ExponentiatedGradient {
    pub(in crate::solver) fn new(run: &mut Run<'_, '_>) -> Result<Self, TrainError> {
        let (mut thetas, mut blocks, mut pull) = (Vec::new(), Vec::new(), 1.0);
        let origin = vec![0.0; run.problem.dim()];
        for i in 0..run.examples() {
            let (theta, block) = start(run, i, &origin, &mut pull)?;
            thetas.push(theta);
            blocks.push(block);
        }
        run.state = run.state_at(DualPoint { blocks });
        let rates =
            run.state.shares.iter().map(|share| FIRST_RATE * run.state.lambda / share).collect();
        let (trial, next, way) = Default::default();
        Ok(Self { thetas, rates, trial, next, way })
    }
}

impl Fits for ExponentiatedGradient {
    fn fits(&self, to: &Fitting<'_>) -> bool {
        let fit = |(i, theta): (usize, &Vec<f64>)| to.problem.potentials(i) == Some(theta.len());
        to.are_of_blocks(&self.thetas)
            && to.are_of_blocks(&self.rates)
            && self.thetas.iter().enumerate().all(fit)
    }
}

impl<'p> Sweeper<'p> for ExponentiatedGradient {
    fn prepare(&mut self, _: &Run<'p, '_>) {}

    fn visit(&mut self, run: &mut Run<'p, '_>, i: usize) -> Result<(), TrainError> {
        run.prepare(i);
        for _ in 0..MOST_TRIES {
            let Self { trial, next, way, .. } = self;
            let (theta, rate) = (&mut self.thetas[i], &mut self.rates[i]);
            trial.clone_from(theta);
            next.parts.clear();
            next.loss = run.instead_of_oracle(|state, worker| {
                worker.add_values(i, &state.w, *rate, trial);
                worker.expect(i, trial, &mut next.parts)
            });
            let (state, scratch) = run.state_and_scratch();
            let block = &state.blocks[i];
            way.assign_difference(&next.parts, block.parts.read(&mut scratch.point));
            let score = scratch.worker.score(i, &state.w, way);
            let share = state.shares.of(i);
            let slope = share * (next.loss - block.loss + score);
            let stride = state.stride(i, way, slope, 1.0, Pace::WHOLE, &mut *scratch.worker);
            let Some(stride) = stride.filter(|stride| stride.gain.is_finite()) else {
                return Err(TrainError::NotFinite { example: i });
            };
            if stride.gain > 0.0 {
                state.follow(i, way, stride);
                state.set_block(i, next);
                std::mem::swap(theta, trial);
                run.note_step(*rate, f64::INFINITY);
                *rate *= GROWTH;
                return Ok(());
            }
            if slope <= 0.0 {
                break; // the gradient is the same for all outputs that matter, but for rounding
            }
            *rate *= SHRINKAGE;
        }
        run.note_step(0.0, f64::INFINITY);
        Ok(())
    }

    fn end_pass(&mut self, _: &mut Run<'p, '_>) -> Result<(), TrainError> {
        Ok(())
    }

    fn check(&mut self, run: &mut Run<'p, '_>) -> Result<Option<Checked<'p>>, TrainError> {
        Ok(run.check()?.map(|check| (check, None)))
    }

    fn result(&mut self, _: &mut Run<'p, '_>) -> Result<Option<DualState<'p>>, TrainError> {
        Ok(None)
    }
}
