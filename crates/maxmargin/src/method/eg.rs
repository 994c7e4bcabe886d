//! Online exponentiated gradient on the dual.
//!
//! A block is a distribution αᵢ(y) ∝ exp θᵢ(y), given by potentials; a visit adds ηᵢ·Hᵢ(·; w) to them
//! and finds the expected parts of the new distribution, which are the block's point: so w = Aα, D and
//! the gap are what they are everywhere. An expectation is counted as an oracle call.
//!
//! All masses are positive, so a block keeps all of its parts: memory is that of the whole tables.

use super::sweep::{Checked, Sweeper, sweep};
use crate::dual::{Block, DualPoint, Stride};
use crate::error::TrainError;
use crate::expectations::Expectations;
use crate::problem::Problem;
use crate::run::{Finished, Run};
use crate::sparse::SparseVec;

/// A learning rate is halved at most this often in one visit.
const MOST_TRIES: usize = 20;

/// How much a rate grows after a step that has raised the dual, and shrinks after one that would not.
const GROWTH: f64 = 1.05;
const SHRINKAGE: f64 = 0.5;

/// Trains by exponentiated gradients.
pub(crate) fn run<P: Problem>(mut run: Run<'_, '_, P>) -> Result<Finished, TrainError> {
    let problem = run.problem;
    let Some(expectations) = problem.expectations() else {
        let (solver, why) = (run.settings.solver, "needs expectations over outputs");
        return Err(TrainError::Unsuited { solver, why });
    };
    let thetas: Vec<Vec<f64>> =
        (0..run.examples()).map(|i| vec![0.0; expectations.potentials(i)]).collect();
    // All outputs are equally likely at first.
    let blocks = thetas.iter().enumerate().map(|(i, theta)| {
        let mut block = Block::default();
        block.loss = run.instead_of_oracle(|_, workspace| {
            expectations.expect(i, theta, workspace, &mut block.parts)
        });
        block
    });
    let blocks = blocks.collect();
    run.state = run.state_at(DualPoint { blocks });
    // What would be right for features of length 1.
    let rates = run.state.shares.iter().map(|share| run.state.lambda / share).collect();
    let method = Gradient {
        expectations,
        thetas,
        rates,
        trial: Vec::new(),
        next: Block::default(),
        way: SparseVec::new(),
    };
    sweep(run, method)
}

struct Gradient<'p, W> {
    expectations: &'p dyn Expectations<W>,
    thetas: Vec<Vec<f64>>,
    /// The learning rates ηᵢ.
    rates: Vec<f64>,
    /// Potentials and point of a step that is being tried, and the way there.
    trial: Vec<f64>,
    next: Block,
    way: SparseVec,
}

impl<'p, P: Problem> Sweeper<'p, P> for Gradient<'p, P::Workspace> {
    fn visit(&mut self, run: &mut Run<'p, '_, P>, i: usize) -> Result<(), TrainError> {
        let problem = run.problem;
        run.prepare(i);
        for _ in 0..MOST_TRIES {
            let Self { expectations, trial, next, way, .. } = self;
            let (theta, rate) = (&mut self.thetas[i], &mut self.rates[i]);
            trial.clone_from(theta);
            next.parts.clear();
            next.loss = run.instead_of_oracle(|state, workspace| {
                expectations.add_values(i, &state.w, workspace, *rate, trial);
                expectations.expect(i, trial, workspace, &mut next.parts)
            });
            let (state, scratch) = run.state_and_scratch();
            let block = &state.blocks[i];
            way.assign_difference(&next.parts, &block.parts);
            let score = problem.score(i, &state.w, &scratch.workspace, way);
            let share = state.shares.of(i);
            let slope = share * (next.loss - block.loss + score);
            let length = problem.norm_sq(i, &mut scratch.workspace, way);
            let gain = slope - 0.5 * share * share / state.lambda * length;
            if !gain.is_finite() {
                return Err(TrainError::NotFinite { example: i });
            }
            if gain > 0.0 {
                state.follow(i, way, Stride { gamma: 1.0, gain });
                std::mem::swap(&mut state.blocks[i], next);
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

    fn end_pass(&mut self, _: &mut Run<'p, '_, P>) -> Result<(), TrainError> {
        Ok(())
    }

    fn check(&mut self, run: &mut Run<'p, '_, P>) -> Result<Checked<'p, P>, TrainError> {
        Ok((run.check()?, None))
    }
}
