//! The points that shards know, and the best mixture of them.
//!
//! Each shard has a hull: its present point, the points that it has just proposed, and those of earlier rounds. The
//! dual is maximised over the product of all hulls, a quadratic program in the masses of the points. Its products are
//! those of the ways from the present points, λ⟨a − pₖ, b − pₗ⟩. Those of new points are computed; when the present
//! points move, all of them follow by arithmetic on products alone, without a look at any vector.

use super::change::Change;
use super::columns::{Columns, sum_of};
use super::group_qp::GroupQp;
use super::proposal::Way;
use crate::problem::sparse_accumulator::SparseAccumulator;

/// The most points that a shard remembers. (On digits and OCR, 40 take as many rounds as 20, and 10 take some more.)
const MOST_POINTS: usize = 20;

/// The fewest of them: those of the last round.
const FEWEST_POINTS: usize = 2;

/// The most points of all shards together, so that the quadratic program stays small.
const MOST_POINTS_OF_ALL: usize = 640;

/// The most numbers in all of these points together: half a gigabyte.
const MOST_NUMBERS: usize = 1 << 26;

/// A point of a shard's part of the dual, as far as the objective sees it.
#[derive(Debug, Clone, Default)]
pub(super) struct Point {
    pub(super) sum: Change,
    pub(super) loss: f64,
}

/// What is known of all shards.
#[derive(Debug, Clone, Default)]
pub(super) struct Hulls {
    /// The present points of the shards.
    pub(super) present: Vec<Point>,
    /// The points that they know, the latest round first, and which shard knows them.
    known: Vec<(usize, Point)>,
    /// λ⟨a − pₖ, b − pₗ⟩ of all known points a and b.
    products: Vec<Vec<f64>>,
}

impl Hulls {
    /// Forgets all points but the present ones.
    pub(super) fn forget(&mut self) {
        self.known.clear();
        self.products.clear();
    }

    /// Takes in the ways that shards propose, which are changes of `d` weights.
    pub(super) fn learn(&mut self, proposed: &[&[Way]], lambda: f64, d: usize) {
        if self.present.len() != proposed.len() {
            self.present = vec![Point::default(); proposed.len()];
            self.present.iter_mut().for_each(|point| point.sum.at = Some(Vec::new()));
        }
        // For each new point: its products with all new and all known points, and the point itself.
        let ways =
            || proposed.iter().enumerate().flat_map(|(k, own)| own.iter().map(move |way| (k, way)));
        let changes: Vec<&Change> = ways().map(|(_, way)| &way.change).collect();
        let columns = Columns::of(&changes, d);
        let among: Vec<Vec<f64>> = changes.iter().map(|change| columns.times(change)).collect();
        let here: Vec<Vec<f64>> = self.present.iter().map(|own| columns.times(&own.sum)).collect();
        let known: Vec<Vec<f64>> =
            self.known.iter().map(|(_, point)| columns.times(&point.sum)).collect();
        let (mut room, mut rows, mut new) = (SparseAccumulator::new(d), Vec::new(), Vec::new());
        for (row, (shard, way)) in ways().enumerate() {
            let to_new = among.iter().map(|products| lambda * products[row]);
            let to_known = self.known.iter().zip(&known);
            let to_known =
                to_known.map(|((k, _), products)| lambda * (products[row] - here[*k][row]));
            rows.push(to_new.chain(to_known).collect::<Vec<f64>>());
            let present = &self.present[shard];
            let sum = sum_of(&mut room, [(1.0, &present.sum), (1.0, &way.change)]);
            new.push((shard, Point { sum, loss: present.loss + way.loss }));
        }
        // Put the new points before those that were known.
        let count = rows.len();
        let old = std::mem::take(&mut self.products);
        let old = old.into_iter().enumerate().map(|(at, products)| {
            let to_new = rows.iter().map(|row| row[count + at]);
            to_new.chain(products).collect()
        });
        let old: Vec<Vec<f64>> = old.collect();
        self.products = rows;
        self.products.extend(old);
        new.append(&mut self.known);
        self.known = new;
    }

    /// The best masses of all known points, where the weights of all shards together are `sum`. Returns `None` if a
    /// number is not finite.
    pub(super) fn best_masses(&self, lambda: f64, sum: &[f64]) -> Option<Vec<f64>> {
        let here: Vec<f64> = self.present.iter().map(|own| own.sum.dot(sum)).collect();
        let slope = |(k, point): &(usize, Point)| {
            point.loss - self.present[*k].loss - lambda * (point.sum.dot(sum) - here[*k])
        };
        let linear: Vec<f64> = self.known.iter().map(slope).collect();
        let groups: Vec<usize> = self.known.iter().map(|(k, _)| *k).collect();
        GroupQp { linear: &linear, products: &self.products, groups: &groups }.solve()
    }

    /// The masses of the points of each shard, in their order.
    pub(super) fn shares(&self, masses: &[f64]) -> Vec<Vec<f64>> {
        let mut shares = vec![Vec::new(); self.present.len()];
        self.known.iter().zip(masses).for_each(|((k, _), &mass)| shares[*k].push(mass));
        shares
    }

    /// Adds the way that all shards together go with these masses to `sum`, and returns what it adds to the loss.
    pub(super) fn add_way(&self, masses: &[f64], sum: &mut [f64]) -> f64 {
        let mut left = vec![0.0; self.present.len()];
        let mut loss = 0.0;
        for ((k, point), &mass) in self.known.iter().zip(masses).filter(|(_, mass)| **mass > 0.0) {
            point.sum.add_to(mass, sum);
            loss += mass * point.loss;
            left[*k] += mass;
        }
        for (own, left) in self.present.iter().zip(left).filter(|(_, left)| *left > 0.0) {
            own.sum.add_to(-left, sum);
            loss -= left * own.loss;
        }
        loss
    }

    /// Moves the present points with these masses, and the products with them. `d` is the number of weights.
    pub(super) fn go(&mut self, masses: &[f64], d: usize) {
        self.move_products(masses);
        let mut room = SparseAccumulator::new(d);
        for (shard, present) in self.present.iter_mut().enumerate() {
            let own =
                self.known.iter().zip(masses).filter(|((k, _), mass)| *k == shard && **mass > 0.0);
            let own: Vec<(f64, &Point)> = own.map(|((_, point), mass)| (*mass, point)).collect();
            if own.is_empty() {
                continue;
            }
            let rest = (1.0 - own.iter().map(|(mass, _)| mass).sum::<f64>()).max(0.0);
            let all = || [(rest, &*present)].into_iter().chain(own.iter().copied());
            let sum = sum_of(&mut room, all().map(|(mass, point)| (mass, &point.sum)));
            let loss = all().map(|(mass, point)| mass * point.loss).sum();
            *present = Point { sum, loss };
        }
    }

    /// With Mₖ = Σ θₐ(a − pₖ) over the points a of shard k, a − pₖ becomes a − pₖ − Mₖ.
    fn move_products(&mut self, masses: &[f64]) {
        let (count, shards) = (self.known.len(), self.present.len());
        // ⟨Mₖ, b − pₗ⟩, and ⟨Mₖ, Mₗ⟩.
        let (mut moved, mut both) =
            (vec![vec![0.0; count]; shards], vec![vec![0.0; shards]; shards]);
        for ((k, _), (products, &mass)) in self.known.iter().zip(self.products.iter().zip(masses)) {
            if mass > 0.0 {
                moved[*k].iter_mut().zip(products).for_each(|(m, product)| *m += mass * product);
            }
        }
        for (moved, both) in moved.iter().zip(&mut both) {
            for ((l, _), (product, mass)) in self.known.iter().zip(moved.iter().zip(masses)) {
                both[*l] += mass * product;
            }
        }
        for a in 0..count {
            let k = self.known[a].0;
            for b in 0..count {
                let l = self.known[b].0;
                self.products[a][b] += both[k][l] - moved[k][b] - moved[l][a];
            }
        }
    }

    /// Forgets the oldest points, and returns how many each shard keeps.
    pub(super) fn tidy(&mut self) -> usize {
        let shards = self.present.len().max(1);
        let numbers: usize = self.known.iter().map(|(_, point)| point.sum.values.len()).sum();
        let each = self.known.len().div_ceil(shards);
        let fit = if numbers > MOST_NUMBERS { each * MOST_NUMBERS / numbers } else { MOST_POINTS };
        let keep = fit.min(MOST_POINTS_OF_ALL / shards).clamp(FEWEST_POINTS, MOST_POINTS);
        let mut seen = vec![0; shards];
        let stays: Vec<bool> = self
            .known
            .iter()
            .map(|(k, _)| {
                seen[*k] += 1;
                seen[*k] <= keep
            })
            .collect();
        retain(&mut self.known, &stays);
        retain(&mut self.products, &stays);
        self.products.iter_mut().for_each(|products| retain(products, &stays));
        keep
    }
}

/// Keeps the items that stay.
fn retain<T>(items: &mut Vec<T>, stays: &[bool]) {
    let mut stays = stays.iter();
    items.retain(|_| stays.next().copied().unwrap_or(false));
}
