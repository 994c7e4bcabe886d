//! The keeper of w, which combines the proposals of shards into a step, and their readings into a certificate.

use super::change::Change;
use super::hulls::{Hulls, Point};
use super::proposal::{Mixture, Proposal, ShardReading, Way};
use crate::certificate::Certificate;
use crate::dual::{Clipped, Pace, chunk_product};
use crate::error::TrainError;
use crate::problem::Sink as _;
use crate::problem::bounds::Bounds;
use crate::problem::quality::Quality;
use crate::util::rounding::{LEAST_ROUNDING, ROUNDING};

/// Keeps the weights of a training in shards, and combines what the shards propose; see [the module](super).
///
/// A round maximises the dual over the product of the hulls of the shards: each hull has the shard's present point, the
/// points that it has just proposed, and those of the last rounds. All of these are feasible, so every point of the
/// product is. With bounds on weights the dual is not quadratic. Then a round takes the best common share of all
/// proposals, first of the points to which passes have led, and then of the corners.
#[derive(Debug, Clone)]
pub struct Coordinator {
    lambda: f64,
    /// Σ wₖ, and ℓ.
    sum: Vec<f64>,
    loss: f64,
    bounds: Option<Bounds>,
    hulls: Hulls,
}

impl Coordinator {
    /// A coordinator at the sum of the shards' weights, which is 0 if all are at the truth.
    pub fn new(lambda: f64, sum: Vec<f64>, bounds: Option<Bounds>) -> Self {
        Self { lambda, sum, loss: 0.0, bounds, hulls: Hulls::default() }
    }

    /// Σ wₖ: the weights, or with bounds what they are clipped from.
    pub fn sum(&self) -> &[f64] {
        &self.sum
    }

    /// The weights w.
    pub fn weights(&self) -> Vec<f64> {
        self.clipped(&self.sum)
    }

    /// The dual value of all shards together.
    pub fn dual(&self) -> f64 {
        self.value(&self.sum, self.loss)
    }

    /// Adds up the weights and losses of all shards, as these compute them from their blocks. Call this before a check,
    /// and after anything has gone wrong.
    ///
    /// # Errors
    /// Weights of the wrong size or that are not finite.
    pub fn add_up<'a>(
        &mut self,
        shards: impl IntoIterator<Item = (&'a [f64], f64)>,
    ) -> Result<(), TrainError> {
        let (mut all, mut all_loss, mut points) = (vec![0.0; self.sum.len()], 0.0, Vec::new());
        for (sum, loss) in shards {
            if sum.len() != all.len() {
                let (found, expected) = (sum.len(), all.len());
                return Err(TrainError::Size { what: "weights of a shard", found, expected });
            }
            all.iter_mut().zip(sum).for_each(|(all, own)| *all += own);
            all_loss += loss;
            points.push(Point { sum: Change::of(sum), loss });
        }
        if let Some(feature) = all.iter().position(|w| !w.is_finite()) {
            return Err(TrainError::Weight { feature });
        }
        if !all_loss.is_finite() {
            return Err(TrainError::Overflow);
        }
        if points.len() != self.hulls.present.len() {
            self.hulls.forget();
        }
        (self.sum, self.loss, self.hulls.present) = (all, all_loss, points);
        Ok(())
    }

    /// Forgets earlier proposals, because a shard has forgotten its own.
    pub fn forget(&mut self) {
        self.hulls.forget();
    }

    /// Takes the best step that the proposals of all shards allow, and returns what each shard has to commit. The
    /// dual never falls.
    ///
    /// # Errors
    /// Proposals of the wrong size or that are not finite.
    pub fn step(&mut self, proposals: &[Proposal]) -> Result<Vec<Mixture>, TrainError> {
        let d = self.sum.len();
        for way in proposals.iter().flat_map(|proposal| &proposal.ways) {
            if !(way.change.fits(d) && way.loss.is_finite()) {
                let why = format!("a proposal is not a change of {d} weights");
                return Err(TrainError::Shard { why });
            }
        }
        match self.bounds {
            Some(_) => self.step_within(proposals),
            None => self.step_freely(proposals),
        }
    }

    fn step_freely(&mut self, proposals: &[Proposal]) -> Result<Vec<Mixture>, TrainError> {
        let (before, d) = (self.dual(), self.sum.len());
        let ways: Vec<&[Way]> = proposals.iter().map(|proposal| &*proposal.ways).collect();
        self.hulls.learn(&ways, self.lambda, d);
        let masses = self.hulls.best_masses(self.lambda, &self.sum);
        let mut masses = masses.ok_or(TrainError::Overflow)?;
        let mut sum = self.sum.clone();
        let loss = self.loss + self.hulls.add_way(&masses, &mut sum);
        if self.value(&sum, loss) >= before {
            (self.sum, self.loss) = (sum, loss);
            self.hulls.go(&masses, d);
        } else {
            // What there was to gain is within rounding.
            masses.fill(0.0);
        }
        let shares = self.hulls.shares(&masses);
        let keep = self.hulls.tidy();
        Ok(shares.into_iter().map(|shares| Mixture { shares, keep }).collect())
    }

    /// Takes the best common share of the first ways of all proposals, then of their second ways, and so on. Along
    /// each of these the dual is piecewise quadratic.
    fn step_within(&mut self, proposals: &[Proposal]) -> Result<Vec<Mixture>, TrainError> {
        let most = proposals.iter().map(|proposal| proposal.ways.len()).max().unwrap_or(0);
        let (begin, begin_loss) = (self.sum.clone(), self.loss);
        let mut shares: Vec<f64> = Vec::new();
        for at in 0..most {
            let (mut end, mut end_loss) = (begin.clone(), begin_loss);
            for way in proposals.iter().filter_map(|proposal| proposal.ways.get(at)) {
                way.change.add_to(1.0, &mut end);
                end_loss += way.loss;
            }
            let share = self.go_towards(&end, end_loss)?;
            shares.iter_mut().for_each(|earlier| *earlier *= 1.0 - share);
            shares.push(share);
        }
        let mixture = |proposal: &Proposal| {
            let shares = shares[..proposal.ways.len()].to_vec();
            Mixture { shares, keep: 0 }
        };
        Ok(proposals.iter().map(mixture).collect())
    }

    /// Goes as far towards a point as the dual rises, with bounds on weights, and returns the share of the way.
    fn go_towards(&mut self, end: &[f64], end_loss: f64) -> Result<f64, TrainError> {
        let Some(bounds) = &self.bounds else { return Ok(0.0) };
        let (lambda, w) = (self.lambda, self.clipped(&self.sum));
        let mut clipped = Clipped::new(bounds);
        clipped.v.copy_from_slice(&self.sum);
        let change: Vec<f64> = end.iter().zip(&self.sum).map(|(end, now)| end - now).collect();
        let loss = end_loss - self.loss;
        let way = clipped.new_way();
        let moved = change.iter().enumerate().filter(|(_, change)| **change != 0.0);
        moved.for_each(|(at, &change)| way.add(at, change));
        let slope = loss - lambda * chunk_product(&w, &change);
        let stride = clipped.stride(lambda, slope, 1.0, Pace::EXACT).ok_or(TrainError::Overflow)?;
        self.sum.iter_mut().zip(&change).for_each(|(v, way)| *v += stride.gamma * way);
        self.loss += stride.gamma * loss;
        Ok(stride.gamma)
    }

    fn clipped(&self, sum: &[f64]) -> Vec<f64> {
        match &self.bounds {
            None => sum.to_vec(),
            Some(bounds) => sum.iter().enumerate().map(|(at, &v)| bounds.clip(at, v)).collect(),
        }
    }

    /// D = ℓ + λ/2 ‖w‖² − λ⟨v, w⟩; without bounds, ℓ − λ/2 ‖w‖².
    fn value(&self, sum: &[f64], loss: f64) -> f64 {
        if self.bounds.is_none() {
            return loss - 0.5 * self.lambda * chunk_product(sum, sum);
        }
        let w = self.clipped(sum);
        loss + 0.5 * self.lambda * chunk_product(&w, &w) - self.lambda * chunk_product(sum, &w)
    }

    /// The certificate of the present weights, from what exact passes of all shards have read at them. The weights
    /// must have been [added up](Self::add_up) before.
    ///
    /// # Errors
    /// A dual value above the primal one, or numbers that are not finite.
    pub fn certificate(&self, readings: &[ShardReading]) -> Result<Certificate, TrainError> {
        self.certificate_of(&self.weights(), readings)
    }

    /// The certificate of other weights, such as an average of those of earlier rounds, from what exact passes of all
    /// shards have read at these. The present dual point is a bound for all weights.
    ///
    /// # Errors
    /// As [`certificate`](Self::certificate), and weights of the wrong size.
    pub fn certificate_of(
        &self,
        w: &[f64],
        readings: &[ShardReading],
    ) -> Result<Certificate, TrainError> {
        if w.len() != self.sum.len() {
            let (found, expected) = (w.len(), self.sum.len());
            return Err(TrainError::Size { what: "weights", found, expected });
        }
        let (norm_sq, dual) = (chunk_product(w, w), self.dual());
        let total = |part: fn(&ShardReading) -> f64| readings.iter().map(part).sum::<f64>();
        let failures = readings.iter().map(|reading| reading.failures).sum();
        let worst = readings.iter().map(|reading| reading.quality).max().unwrap_or_default();
        let mut quality = worst.after_failures(failures);
        let mut primal = 0.5 * self.lambda * norm_sq + total(|reading| reading.risk);
        if !readings.iter().all(|reading| reading.is_whole) {
            // As in `certificate::from_some_readings`: what is known of the gap.
            primal = dual + total(|reading| reading.gap);
            quality = quality.after_cut();
        }
        if !(primal + dual).is_finite() {
            return Err(TrainError::Overflow);
        }
        let size = total(|reading| reading.size) + self.lambda * norm_sq + dual.abs();
        if dual - primal > LEAST_ROUNDING + ROUNDING * size {
            return Err(TrainError::Contradiction { primal, dual });
        }
        let primal = primal.max(dual);
        // Shards whose oracles are exact, and have kept that promise, miss nothing. Where one of them does not know, nothing is known of the whole.
        let missed_by = |reading: &ShardReading| match reading.quality {
            Quality::Exact if reading.failures == 0 => Some(0.0),
            _ => reading.missed,
        };
        let missed = match quality {
            Quality::Heuristic => readings.iter().map(missed_by).sum::<Option<f64>>(),
            _ => None,
        };
        let (lambda, gap) = (self.lambda, primal - dual);
        Ok(Certificate { lambda, primal, dual, gap, quality, missed })
    }
}
