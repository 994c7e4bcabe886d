//! The stochastic subgradient method with the steps of Pegasos.
//!
//! A step w ← (1 − 1/t)·w + n·cᵢ/C·ψᵢ(y*)/(λt) shrinks all of w. Instead we keep the sum v of what the
//! steps have added, n·cᵢ/C·ψᵢ(y*)/λ each, with w = v/t; a step then costs the features of its corner. The
//! oracle at v/t is the oracle at v with t times the loss (`Problem::oracle_with_loss`).
//!
//! After whole passes w belongs to a dual point, the mean of all corners of each example. With examples drawn
//! uniformly some have been seen more often than others, and w belongs to none; the means still bound it.
//!
//! With bounds, w = clip(v/t): the mean of all steps is projected, not one iterate after the other (dual
//! averaging). So w still belongs to a dual point, the mean of all corners, and its gap is true.

use super::lazy_average::LazyAverage;
use super::means::{Means, best_share};
use super::sweep::{Sweeper, read_corner};
use crate::dual::{Drift, DualPoint, DualState, Squares, length_sq};
use crate::error::TrainError;
use crate::problem::Bounds;
use crate::problem::bounds::bounds_in_force;
use crate::problem::sparse_accumulator::SparseAccumulator;
use crate::run::fits::{Fits, Fitting, is_count};
use crate::run::session::Checked;
use crate::run::{Check, Run};
use crate::settings::Order;

/// The stochastic subgradient method.
#[derive(Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(in crate::solver) struct Subgradient<'p> {
    v: Vec<f64>,
    /// Steps so far.
    t: u64,
    means: Means,
    average: LazyAverage,
    #[cfg_attr(feature = "serde", serde(skip))]
    clipped: Option<Clipped<'p>>,
    /// w itself, for problems that cannot scale their losses.
    #[cfg_attr(feature = "serde", serde(skip))]
    plain: Option<Vec<f64>>,
    /// Σ cᵢ/C·hinge in this pass, each at the weights of its visit.
    risk: f64,
}

/// t·w for weights with bounds, updated together with v.
#[derive(Debug, Clone)]
struct Clipped<'p> {
    bounds: &'p Bounds,
    tw: Vec<f64>,
    /// Features with a finite bound other than 0. These bounds scale with t, so every step may change t·w
    /// there.
    moving: Vec<usize>,
    /// What a step adds to v.
    way: SparseAccumulator,
}

impl<'p> Clipped<'p> {
    fn new(bounds: &'p Bounds) -> Self {
        let d = bounds.lower().len();
        let moves = |bound: f64| bound.is_finite() && bound != 0.0;
        let moving = |j: &usize| moves(bounds.lower()[*j]) || moves(bounds.upper()[*j]);
        let tw = (0..d).map(|j| bounds.clip(j, 0.0)).collect();
        Self { bounds, tw, moving: (0..d).filter(moving).collect(), way: SparseAccumulator::new(d) }
    }

    /// Computes all of t·w.
    fn follow_all(&mut self, v: &[f64], t: f64) {
        for (j, (tw, v)) in self.tw.iter_mut().zip(v).enumerate() {
            *tw = v.max(t * self.bounds.lower()[j]).min(t * self.bounds.upper()[j]);
        }
    }

    /// Updates t·w = clip(v), within t times the bounds, after a step of v.
    fn follow(&mut self, v: &[f64], t: f64) {
        for &j in self.way.touched.iter().chain(&self.moving) {
            let (lower, upper) = (self.bounds.lower()[j], self.bounds.upper()[j]);
            self.tw[j] = v[j].max(t * lower).min(t * upper);
        }
    }
}

/// Whether examples are drawn with replacement. If so, w does not belong to the means, which are only a bound.
fn draws(run: &Run<'_, '_>) -> bool {
    run.settings.order == Order::Uniform
}

impl Fits for Subgradient<'_> {
    fn fits(&self, to: &Fitting<'_>) -> bool {
        to.are_weights(&self.v) && is_count(self.t) && self.means.fits(to) && self.average.fits(to)
    }
}

impl Subgradient<'_> {
    pub(in crate::solver) fn new(run: &Run<'_, '_>) -> Self {
        let d = run.problem.dim();
        Self {
            v: vec![0.0; d],
            t: 0,
            means: Means::new(run.examples()),
            average: LazyAverage::new(run.settings.average, d),
            clipped: None,
            plain: None,
            risk: 0.0,
        }
    }

    /// The weights of the result and its dual point. The weights are the average if the run averages, or the last
    /// weights if no dual point has these; the point is then the best bound. Otherwise the weights are `None`, and
    /// the point is the one that the last weights belong to.
    fn weights_and_point(&self, run: &mut Run<'_, '_>) -> (Option<Vec<f64>>, DualPoint) {
        let t = self.t.max(1);
        let last = || self.scaled().iter().map(|tw| tw / t as f64).collect();
        let average = self.average.weights(t, &self.v);
        let mut own = average.or_else(|| draws(run).then(last));
        // Means and quotients of weights within bounds are within them up to rounding.
        if let (Some(own), Some(bounds)) = (&mut own, bounds_in_force(run.problem)) {
            bounds.clip_all(own);
        }
        match own {
            None => (None, self.means.point(run.problem)),
            Some(own) => (Some(own), self.means.bound(run)),
        }
    }

    /// t·w.
    fn scaled(&self) -> &[f64] {
        self.clipped.as_ref().map_or(&self.v, |clipped| &clipped.tw)
    }

    /// Finds the corner of example `i` at the current w, and returns its hinge.
    fn look(&mut self, run: &mut Run<'_, '_>, i: usize) -> Result<f64, TrainError> {
        let t = self.t.max(1) as f64;
        if self.plain.is_none() {
            if run.oracle_at(i, self.scaled(), t) {
                return read_corner(run, i, self.scaled(), 1.0 / t);
            }
            self.plain = Some(vec![0.0; self.v.len()]);
        }
        let mut plain = self.plain.take().unwrap_or_default();
        plain.iter_mut().zip(self.scaled()).for_each(|(w, tw)| *w = tw / t);
        run.oracle_at(i, &plain, 1.0);
        let hinge = read_corner(run, i, &plain, 1.0);
        self.plain = Some(plain);
        hinge
    }
}

impl<'p> Sweeper<'p> for Subgradient<'p> {
    fn prepare(&mut self, run: &Run<'p, '_>) {
        self.clipped = bounds_in_force(run.problem).map(Clipped::new);
        if let Some(clipped) = self.clipped.as_mut().filter(|_| self.t > 0) {
            clipped.follow_all(&self.v, self.t as f64);
        }
    }

    fn visit(&mut self, run: &mut Run<'p, '_>, i: usize) -> Result<(), TrainError> {
        let hinge = self.look(run, i)?;
        let (problem, n) = (run.problem, run.examples() as f64);
        let (state, scratch) = run.state_and_scratch();
        let share = state.shares.of(i);
        self.risk += share * hinge;
        self.means.add(i, &scratch.corner.parts, scratch.corner.loss);
        self.t += 1;
        let (way, pull) = (&scratch.step.parts, -n * share / state.lambda);
        self.average.step(self.t, |factor, sum| problem.scatter(i, factor * pull, way, sum.into()));
        match &mut self.clipped {
            None => problem.scatter(i, pull, way, self.v.as_mut_slice().into()),
            Some(clipped) => {
                clipped.way.clear();
                problem.scatter(i, pull, way, (&mut clipped.way).into());
                for &j in &clipped.way.touched {
                    self.v[j] += clipped.way.change[j];
                }
                clipped.follow(&self.v, self.t as f64);
            }
        }
        run.note_step(1.0 / self.t as f64, 1.0);
        Ok(())
    }

    fn end_pass(&mut self, run: &mut Run<'p, '_>) -> Result<(), TrainError> {
        let t = self.t as f64;
        let half = 0.5 * run.state.lambda / (t * t);
        let length = half * length_sq(run.problem, self.scaled());
        let risk = std::mem::take(&mut self.risk);
        if draws(run) {
            // Neither the risk nor the length are those of a point. The next check finds a bound.
            return if length.is_finite() { Ok(()) } else { Err(TrainError::Overflow) };
        }
        let loss = self.means.loss(&run.state.shares);
        run.state.dual = match (&self.clipped, &self.average) {
            (Some(clipped), _) => {
                let squares = Squares::of(run.problem, &clipped.tw, Some(&self.v));
                loss + length - 2.0 * half * squares.product
            }
            (None, LazyAverage::None) => loss - length,
            (None, _) => best_share(loss, length).1,
        };
        run.estimate = Some(risk + length);
        match run.state.dual.is_finite() {
            true => Ok(()),
            false => Err(TrainError::Overflow),
        }
    }

    fn check(&mut self, run: &mut Run<'p, '_>) -> Result<Option<Checked<'p>>, TrainError> {
        let (average, point) = self.weights_and_point(run);
        let is_last = average.is_none();
        let Some((check, other)) = run.check_other(point, average)? else { return Ok(None) };
        // After whole passes, the weights of the means should equal the iterate.
        let whole = self.t > 0 && self.t.is_multiple_of(run.examples() as u64);
        let drift = (whole && is_last).then(|| {
            let t = self.t as f64;
            let off = other.w.iter().zip(self.scaled()).map(|(w, tw)| (w - tw / t).abs());
            let dual = (other.dual - run.state.dual).abs();
            Drift { weights: off.fold(0.0, f64::max), dual }
        });
        run.totals.drift = run.totals.drift.max(drift.unwrap_or_default());
        Ok(Some((Check { drift, ..check }, Some(other))))
    }

    fn result(&mut self, run: &mut Run<'p, '_>) -> Result<Option<DualState<'p>>, TrainError> {
        let (average, point) = self.weights_and_point(run);
        Ok(Some(run.state_with(point, average)))
    }
}
