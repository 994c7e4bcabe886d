//! The stochastic subgradient method with the steps of Pegasos.
//!
//! w ← (1 − 1/t)·w + n·cᵢ/C·ψᵢ(y*)/(λt) is w = v/t, where every step adds n·cᵢ/C·ψᵢ(y*)/λ to v: w is
//! never touched as a whole. The oracle at v/t is the oracle at v with t times the loss.

use super::lazy_average::LazyAverage;
use super::means::{Means, best_share};
use super::sweep::{Checked, Sweeper, read_corner, sweep};
use crate::dual::Drift;
use crate::error::TrainError;
use crate::problem::Problem;
use crate::run::{Check, Finished, Run};
use crate::sums::length_sq;

/// Trains by stochastic subgradients.
pub(crate) fn run<P: Problem>(run: Run<'_, '_, P>) -> Result<Finished, TrainError> {
    let (n, d) = (run.examples(), run.problem.dim());
    let method = Subgradient {
        v: vec![0.0; d],
        t: 0,
        means: Means::new(n),
        average: LazyAverage::new(run.settings.average, d),
        plain: None,
        risk: 0.0,
    };
    sweep(run, method)
}

struct Subgradient {
    v: Vec<f64>,
    /// Steps so far.
    t: u64,
    means: Means,
    average: LazyAverage,
    /// w itself, for problems whose losses cannot be scaled.
    plain: Option<Vec<f64>>,
    /// Σ cᵢ/C·hinge in this pass, each at its time.
    risk: f64,
}

impl Subgradient {
    /// Finds the corner of example `i` at the current w; its hinge.
    fn look<P: Problem>(&mut self, run: &mut Run<'_, '_, P>, i: usize) -> Result<f64, TrainError> {
        let t = self.t.max(1) as f64;
        if self.plain.is_none() {
            if run.oracle_at(i, &self.v, t) {
                return read_corner(run, i, &self.v, 1.0 / t);
            }
            self.plain = Some(vec![0.0; self.v.len()]);
        }
        let plain = self.plain.get_or_insert_default();
        plain.iter_mut().zip(&self.v).for_each(|(w, v)| *w = v / t);
        run.oracle_at(i, plain, 1.0);
        read_corner(run, i, plain, 1.0)
    }
}

impl<'p, P: Problem> Sweeper<'p, P> for Subgradient {
    fn visit(&mut self, run: &mut Run<'p, '_, P>, i: usize) -> Result<(), TrainError> {
        let hinge = self.look(run, i)?;
        let (problem, n) = (run.problem, run.examples() as f64);
        let (state, scratch) = run.state_and_scratch();
        let share = state.shares.of(i);
        self.risk += share * hinge;
        self.means.add(i, &scratch.corner.parts, scratch.corner.loss);
        self.t += 1;
        let (way, pull) = (&scratch.step.parts, -n * share / state.lambda);
        self.average.step(self.t, |factor, sum| problem.scatter(i, factor * pull, way, sum));
        problem.scatter(i, pull, way, self.v.as_mut_slice());
        run.note_step(1.0 / self.t as f64, 1.0);
        Ok(())
    }

    fn end_pass(&mut self, run: &mut Run<'p, '_, P>) -> Result<(), TrainError> {
        let t = self.t as f64;
        let length = 0.5 * run.state.lambda * length_sq(run.problem, &self.v) / (t * t);
        let loss = self.means.loss(&run.state.shares);
        run.state.dual = match self.average {
            LazyAverage::None => loss - length,
            _ => best_share(loss, length).1,
        };
        run.estimate = Some(std::mem::take(&mut self.risk) + length);
        match run.state.dual.is_finite() {
            true => Ok(()),
            false => Err(TrainError::Overflow),
        }
    }

    fn check(&mut self, run: &mut Run<'p, '_, P>) -> Result<Checked<'p, P>, TrainError> {
        let average = self.average.weights(self.t.max(1), &self.v);
        let is_last = average.is_none();
        let point = if is_last { self.means.point(run.problem) } else { self.means.bound(run) };
        let (check, other) = run.check_other(point, average)?;
        // After whole passes, the weights of the means should be the iterate itself.
        let whole = self.t > 0 && self.t.is_multiple_of(run.examples() as u64);
        let drift = (whole && is_last).then(|| {
            let t = self.t as f64;
            let off = other.w.iter().zip(&self.v).map(|(w, v)| (w - v / t).abs());
            let dual = (other.dual - run.state.dual).abs();
            Drift { weights: off.fold(0.0, f64::max), dual }
        });
        run.totals.drift = run.totals.drift.max(drift.unwrap_or_default());
        Ok((Check { drift, ..check }, Some(other)))
    }
}
