//! What knows w: combines the proposals of shards, and their readings into a certificate.

use super::MEMORY;
use super::change::Change;
use super::group_qp::GroupQp;
use super::shard::{Proposal, ShardReading};
use crate::certificate::Certificate;
use crate::dual::{Clipped, Pace, chunk_product};
use crate::error::TrainError;
use crate::problem::Sink as _;
use crate::problem::bounds::Bounds;
use crate::util::rounding::{LEAST_ROUNDING, ROUNDING};
use std::collections::VecDeque;

/// How a shard's new point is made: the shares of its present point, of its last proposal, and of earlier
/// ones.
///
/// ```
/// let stay = maxmargin::distributed::Mixture::default();
/// assert_eq!((stay.newest, stay.earlier.len()), (0.0, 0)); // all mass on the present point
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Mixture {
    /// The share of the last proposal.
    pub newest: f64,
    /// The shares of earlier proposals, the latest first.
    pub earlier: Vec<f64>,
}

/// A point of the dual, as far as the objective sees it.
#[derive(Debug, Clone)]
struct Point {
    sum: Vec<f64>,
    loss: f64,
}

/// What knows the weights of a training in shards; see [the module](super).
///
/// A round takes two steps. The first finds the best share θₖ ∈ [0, 1] of each proposal, in K variables. The
/// second maximises the dual over the convex hull of the present point, of what the first has found and of the
/// last few rounds' proposals, in a handful of variables. All of these points are feasible, so every point of
/// the hull is. With bounds on weights the dual is no quadratic, and one share η is the best for all proposals
/// together.
#[derive(Debug, Clone)]
pub struct Coordinator {
    lambda: f64,
    present: Point,
    bounds: Option<Bounds>,
    /// What all shards proposed in earlier rounds, the latest first.
    earlier: VecDeque<Point>,
}

impl Coordinator {
    /// A coordinator at the sum of the shards' weights, which is 0 if all are at the truth.
    pub fn new(lambda: f64, sum: Vec<f64>, bounds: Option<Bounds>) -> Self {
        let present = Point { sum, loss: 0.0 };
        Self { lambda, present, bounds, earlier: VecDeque::new() }
    }

    /// Σ wₖ: the weights, or with bounds what they are clipped from.
    pub fn sum(&self) -> &[f64] {
        &self.present.sum
    }

    /// The weights w.
    pub fn weights(&self) -> Vec<f64> {
        self.clipped(&self.present.sum)
    }

    /// The dual value of all shards together.
    pub fn dual(&self) -> f64 {
        self.value(&self.present)
    }

    /// Adds up the weights and losses of all shards, which are what their blocks say. To be called before a
    /// check, and after anything went wrong.
    ///
    /// # Errors
    /// Weights of the wrong size or that are not finite.
    pub fn add_up<'a>(
        &mut self,
        shards: impl IntoIterator<Item = (&'a [f64], f64)>,
    ) -> Result<(), TrainError> {
        let mut new = Point { sum: vec![0.0; self.present.sum.len()], loss: 0.0 };
        for (sum, loss) in shards {
            if sum.len() != new.sum.len() {
                let (found, expected) = (sum.len(), new.sum.len());
                return Err(TrainError::Size { what: "weights of a shard", found, expected });
            }
            new.sum.iter_mut().zip(sum).for_each(|(all, own)| *all += own);
            new.loss += loss;
        }
        if let Some(feature) = new.sum.iter().position(|w| !w.is_finite()) {
            return Err(TrainError::Weight { feature });
        }
        if !new.loss.is_finite() {
            return Err(TrainError::Overflow);
        }
        self.present = new;
        Ok(())
    }

    /// Forgets earlier proposals, because a shard has.
    pub fn forget(&mut self) {
        self.earlier.clear();
    }

    /// Takes the best step that the proposals of all shards allow, and returns what each shard has to commit. The
    /// dual never falls.
    ///
    /// # Errors
    /// Proposals of the wrong size or that are not finite.
    pub fn step(&mut self, proposals: &[Proposal]) -> Result<Vec<Mixture>, TrainError> {
        let d = self.present.sum.len();
        for proposal in proposals {
            if !(proposal.change.fits(d) && proposal.loss.is_finite()) {
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
        let shares = self.best_shares(proposals).ok_or(TrainError::Overflow)?;
        let mut all = self.present.clone();
        let mut way = Point { sum: vec![0.0; all.sum.len()], loss: 0.0 };
        for (proposal, &share) in proposals.iter().zip(&shares) {
            proposal.change.add_to(share, &mut way.sum);
            way.loss += share * proposal.loss;
            proposal.change.add_to(1.0, &mut all.sum);
            all.loss += proposal.loss;
        }
        let mut ways = vec![way];
        ways.extend(self.earlier.iter().map(|point| self.way_to(point)));
        let masses = self.best_of_hull(&ways).ok_or(TrainError::Overflow)?;
        for (way, mass) in ways.iter().zip(&masses).filter(|(_, mass)| **mass > 0.0) {
            self.present.sum.iter_mut().zip(&way.sum).for_each(|(w, way)| *w += mass * way);
            self.present.loss += mass * way.loss;
        }
        self.earlier.push_front(all);
        self.earlier.truncate(MEMORY);
        let mixture =
            |share: &f64| Mixture { newest: masses[0] * share, earlier: masses[1..].to_vec() };
        Ok(shares.iter().map(mixture).collect())
    }

    /// The best share of each proposal.
    fn best_shares(&self, proposals: &[Proposal]) -> Option<Vec<f64>> {
        let slope = |p: &Proposal| p.loss - self.lambda * p.change.dot(&self.present.sum);
        let linear: Vec<f64> = proposals.iter().map(slope).collect();
        let products = products(proposals, self.present.sum.len(), self.lambda);
        let groups: Vec<usize> = (0..proposals.len()).collect();
        GroupQp { linear: &linear, products: &products, groups: &groups }.solve()
    }

    fn way_to(&self, point: &Point) -> Point {
        let sum = point.sum.iter().zip(&self.present.sum).map(|(to, from)| to - from);
        Point { sum: sum.collect(), loss: point.loss - self.present.loss }
    }

    /// The best masses on the ends of ways from the present point, which keeps the rest.
    fn best_of_hull(&self, ways: &[Point]) -> Option<Vec<f64>> {
        let product = |a: &[f64], b: &[f64]| self.lambda * chunk_product(a, b);
        let slope = |way: &Point| way.loss - product(&self.present.sum, &way.sum);
        let linear: Vec<f64> = ways.iter().map(slope).collect();
        let row = |a: &Point| ways.iter().map(|b| product(&a.sum, &b.sum)).collect();
        let products: Vec<Vec<f64>> = ways.iter().map(row).collect();
        GroupQp { linear: &linear, products: &products, groups: &vec![0; ways.len()] }.solve()
    }

    /// One share of all proposals together, along which the dual is piecewise quadratic.
    fn step_within(&mut self, proposals: &[Proposal]) -> Result<Vec<Mixture>, TrainError> {
        let Some(bounds) = &self.bounds else { return Ok(Vec::new()) };
        let (lambda, w) = (self.lambda, self.clipped(&self.present.sum));
        let mut clipped = Clipped::new(bounds);
        clipped.v.copy_from_slice(&self.present.sum);
        let (mut sum, mut loss) = (vec![0.0; w.len()], 0.0);
        for proposal in proposals {
            proposal.change.add_to(1.0, &mut sum);
            loss += proposal.loss;
        }
        let way = clipped.new_way();
        let moved = sum.iter().enumerate().filter(|(_, change)| **change != 0.0);
        moved.for_each(|(at, &change)| way.add(at, change));
        let slope = loss - lambda * chunk_product(&w, &sum);
        let stride = clipped.stride(lambda, slope, 1.0, Pace::EXACT).ok_or(TrainError::Overflow)?;
        self.present.sum.iter_mut().zip(&sum).for_each(|(v, way)| *v += stride.gamma * way);
        self.present.loss += stride.gamma * loss;
        let mixture = Mixture { newest: stride.gamma, earlier: Vec::new() };
        Ok(vec![mixture; proposals.len()])
    }

    fn clipped(&self, sum: &[f64]) -> Vec<f64> {
        match &self.bounds {
            None => sum.to_vec(),
            Some(bounds) => sum.iter().enumerate().map(|(at, &v)| bounds.clip(at, v)).collect(),
        }
    }

    /// D = ℓ + λ/2 ‖w‖² − λ⟨v, w⟩; without bounds, ℓ − λ/2 ‖w‖².
    fn value(&self, point: &Point) -> f64 {
        let w = self.clipped(&point.sum);
        point.loss + 0.5 * self.lambda * chunk_product(&w, &w)
            - self.lambda * chunk_product(&point.sum, &w)
    }

    /// The certificate of the present weights, from what exact passes of all shards have read at them. The weights
    /// must have been [added up](Self::add_up) before.
    ///
    /// # Errors
    /// A dual value above the primal one, or numbers that are not finite.
    pub fn certificate(&self, readings: &[ShardReading]) -> Result<Certificate, TrainError> {
        let w = self.weights();
        let (norm_sq, dual) = (chunk_product(&w, &w), self.dual());
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
        // Shards do not tell what heuristics may have missed.
        let (lambda, gap) = (self.lambda, primal - dual);
        Ok(Certificate { lambda, primal, dual, gap, quality, missed: None })
    }
}

/// λ⟨Δwₖ, Δwₗ⟩ of all pairs of proposals.
fn products(proposals: &[Proposal], d: usize, lambda: f64) -> Vec<Vec<f64>> {
    let count = proposals.len();
    let (mut products, mut dense) = (vec![vec![0.0; count]; count], vec![0.0; d]);
    let changes: Vec<&Change> = proposals.iter().map(|proposal| &proposal.change).collect();
    for (row, change) in changes.iter().enumerate() {
        change.add_to(1.0, &mut dense);
        for column in row..count {
            let product = lambda * changes[column].dot(&dense);
            products[row][column] = product;
            products[column][row] = product;
        }
        change.clear(&mut dense);
    }
    products
}
