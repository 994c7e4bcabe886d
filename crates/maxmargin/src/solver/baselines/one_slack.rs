//! Cutting planes with one slack variable for all examples together.
//!
//! A plane p is one corner for every example: wₚ = Σᵢ cᵢ/(λC)·ψᵢ(yₚᵢ) and ℓₚ = Σᵢ cᵢ/C·Lᵢ(yₚᵢ). The QP over
//! the planes has one mass βₚ for each, and its point is a point of every block: αᵢ has the mass βₚ at yₚᵢ.
//! So w = Aα can be rebuilt from the blocks, and the gap means what it means everywhere. Corners are stored
//! once per example. With bounds, w = clip(Aα).

use super::corner_store::CornerStore;
use super::n_slack::{ENOUGH_OF_GAP, MOST_IDLE};
use super::simplex_qp::SimplexQp;
use crate::certificate::{Answer, Certificate};
use crate::dual::{Block, Clipped};
use crate::error::TrainError;
use crate::observe::CacheStats;
use crate::problem::bounds::bounds_in_force;
use crate::problem::{Blocks, SparseVec};
use crate::run::Run;
use crate::run::fits::{Fits, Fitting, is_count};
use crate::solver::batch::Round;

/// A plane of remembered corners must promise this share of the last exact gap, or oracles are called.
const WORTHWHILE_SHARE_OF_GAP: f64 = 0.25;

/// The most planes in a row that are made of remembered corners.
const MOST_REMEMBERED: usize = 10;

/// Gains below this are rounding.
const LEAST_GAIN: f64 = 1e-14;

#[derive(Debug, Clone)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct Plane {
    /// The place of each example's corner in its store.
    corners: Vec<u32>,
    w: SparseVec,
    /// Rounds without mass.
    idle: u8,
}

/// The best remembered corner of an example, and what it promises.
#[derive(Debug, Clone, Copy, Default)]
struct Pick {
    corner: u32,
    gap: f64,
}

/// Cutting planes, 1-slack.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(in crate::solver) struct OneSlack<'p> {
    stores: Vec<CornerStore>,
    planes: Vec<Plane>,
    qp: SimplexQp,
    /// For weights with bounds, along which the QP is solved.
    #[cfg_attr(feature = "serde", serde(skip))]
    clipped: Option<Clipped<'p>>,
    /// Scratch memory for the weights of a new plane.
    #[cfg_attr(feature = "serde", serde(skip))]
    dense: Vec<f64>,
    #[cfg_attr(feature = "serde", serde(skip))]
    picks: Vec<Pick>,
    stats: CacheStats,
}

impl Fits for OneSlack<'_> {
    fn fits(&self, to: &Fitting<'_>) -> bool {
        let is_plane = |plane: &Plane| {
            let dim = to.dim as u64;
            to.are_of_blocks(&plane.corners)
                && plane.w.is_normalised()
                && plane.w.entries().iter().all(|(feature, _)| *feature < dim)
                && plane.idle <= MOST_IDLE
        };
        let counts = [self.stats.hits, self.stats.misses];
        to.are_of_blocks(&self.stores)
            && self.planes.iter().all(is_plane)
            && counts.into_iter().all(is_count)
            && self.qp.fits(self.planes.len())
            && self.stores.iter().enumerate().all(|(i, store)| {
                store.fits(i, to, self.planes.iter().map(|plane| plane.corners[i]))
            })
    }
}

impl<'p> Round<'p> for OneSlack<'p> {
    const CAN_BE_CUT: bool = true;

    fn prepare(&mut self, run: &Run<'p, '_>) {
        self.clipped = bounds_in_force(run.problem).map(Clipped::new);
        self.dense = vec![0.0; run.problem.dim()];
        self.picks = vec![Pick::default(); run.examples()];
        if self.planes.is_empty() {
            // The plane that the run starts from: the truth, unless it starts elsewhere.
            let stores = self.stores.iter_mut().zip(&run.state.blocks);
            let take = |(store, block): (&mut CornerStore, &Block)| {
                store.take(&block.parts.unpacked(), block.loss)
            };
            let corners = stores.map(take).collect();
            self.add(run, corners);
        }
    }

    /// Adds the plane that the oracles have found, and more planes while remembered corners make good
    /// ones.
    fn round(
        &mut self,
        run: &mut Run<'p, '_>,
        answers: &[Answer],
        proof: &Certificate,
    ) -> Result<bool, TrainError> {
        // The plane of the oracles.
        let n = answers.len() as u64;
        self.stats.misses += n;
        run.totals.visits += n;
        let take = |(store, answer): (&mut CornerStore, &Answer)| {
            store.take(&answer.corner.parts, answer.corner.loss)
        };
        let corners = self.stores.iter_mut().zip(answers).map(take).collect();
        self.add_new(run, corners);
        self.solve(run, proof, proof.gap)?;
        // Planes of remembered corners, while these promise enough.
        for _ in 0..MOST_REMEMBERED {
            if run.limit().is_some() {
                return Ok(false);
            }
            let promised = self.look(run);
            let enough = run.settings.tolerance_at(run.state.dual);
            if promised < WORTHWHILE_SHARE_OF_GAP * proof.gap || promised <= enough {
                break;
            }
            for (store, pick) in self.stores.iter_mut().zip(&self.picks) {
                store.take_again(pick.corner);
            }
            if !self.add_new(run, self.picks.iter().map(|pick| pick.corner).collect()) {
                break;
            }
            self.stats.hits += n;
            self.solve(run, proof, promised)?;
        }
        // Drop idle planes, and count the corners that are left.
        self.forget();
        let sizes = self.stores.iter().map(CornerStore::size);
        (self.stats.corners, self.stats.bytes) =
            sizes.fold((0, 0), |(a, b), (corners, bytes)| (a + corners, b + bytes));
        self.stats.active = self.stats.corners; // idle planes are gone
        run.totals.cache = Some(self.stats);
        Ok(true)
    }
}

impl OneSlack<'_> {
    pub(in crate::solver) fn new(run: &Run<'_, '_>) -> Self {
        Self {
            stores: run.state.blocks.iter().map(|_| CornerStore::default()).collect(),
            planes: Vec::new(),
            qp: SimplexQp::new(run.state.lambda),
            clipped: None,
            dense: Vec::new(),
            picks: Vec::new(),
            stats: CacheStats::default(),
        }
    }

    /// Adds a plane and returns true. Returns false if an equal plane exists, which means only that the QP is
    /// not solved precisely.
    fn add_new(&mut self, run: &Run<'_, '_>, corners: Vec<u32>) -> bool {
        let is_new = self.planes.iter().all(|plane| plane.corners != corners);
        if is_new {
            self.add(run, corners);
        } else {
            let users = self.stores.iter_mut().zip(corners);
            users.for_each(|(store, corner)| store.release(corner));
        }
        is_new
    }

    /// Adds a plane without mass.
    fn add(&mut self, run: &Run<'_, '_>, corners: Vec<u32>) {
        let (problem, state) = (run.problem, &run.state);
        let (mut truth, mut point, mut way, mut loss) =
            (SparseVec::new(), SparseVec::new(), SparseVec::new(), 0.0);
        self.dense.fill(0.0);
        for (i, (store, &corner)) in self.stores.iter().zip(&corners).enumerate() {
            let (corner, share) = (store.get(corner), state.shares.of(i));
            truth.clear();
            problem.truth_parts(i, &mut truth);
            corner.parts.unpack(&mut point);
            way.assign_difference(&point, &truth);
            problem.scatter(i, -share / state.lambda, &way, (&mut self.dense).into());
            loss += share * corner.loss;
        }
        let some = (0..).zip(&self.dense).filter(|(_, w)| **w != 0.0);
        let w: SparseVec = some.map(|(feature, w)| (feature, *w)).collect();
        self.planes.push(Plane { corners, w, idle: 0 });
        let products = self.products(problem);
        self.qp.add(loss, products);
    }

    /// Inner products of the last plane, which is in `dense`, with all planes; the last one is with
    /// itself.
    fn products(&self, problem: &dyn Blocks) -> Vec<f64> {
        let Some(own) = problem.weights_norm_sq(&self.dense) else {
            return self.planes.iter().map(|plane| plane.w.dot_dense(&self.dense)).collect();
        };
        // With a kernel only lengths are known: ⟨a, b⟩ = (‖a‖² + ‖b‖² − ‖a − b‖²)/2.
        let others = &self.planes[..self.planes.len() - 1];
        let mut products = Vec::with_capacity(self.planes.len());
        for (at, plane) in others.iter().enumerate() {
            let mut difference = self.dense.clone();
            for &(feature, value) in plane.w.entries() {
                difference[feature as usize] -= value;
            }
            let apart = problem.weights_norm_sq(&difference).unwrap_or(f64::NAN);
            products.push(0.5 * (own + self.qp.length_sq(at) - apart));
        }
        products.push(own);
        products
    }

    /// Solves the QP to a share of `gap`, and updates w and the blocks of the state.
    fn solve(
        &mut self,
        run: &mut Run<'_, '_>,
        proof: &Certificate,
        gap: f64,
    ) -> Result<(), TrainError> {
        let target = (ENOUGH_OF_GAP * gap).max(LEAST_GAIN * (1.0 + proof.primal.abs()));
        let solved = match &mut self.clipped {
            None => self.qp.solve(target),
            Some(clipped) => {
                let weights: Vec<&SparseVec> = self.planes.iter().map(|plane| &plane.w).collect();
                self.qp.solve_within(target, &weights, clipped)
            }
        };
        solved.ok_or(TrainError::Overflow)?;
        let mut blocks = std::mem::take(&mut run.state.blocks);
        let (planes, masses, stores) = (&self.planes, &self.qp.masses, &self.stores);
        run.for_each_block(&mut blocks, |_, _, i, scratch, block| {
            scratch.point.clear();
            block.loss = 0.0;
            for (plane, &mass) in planes.iter().zip(masses).filter(|(_, mass)| **mass > 0.0) {
                let corner = stores[i].get(plane.corners[i]);
                corner.parts.unpack(&mut scratch.parts);
                scratch.point.add_scaled(mass, &scratch.parts);
                block.loss += mass * corner.loss;
            }
            block.parts.assign(&scratch.point);
        });
        run.state.blocks = blocks;
        run.rebuild();
        Ok(())
    }

    /// Finds the best remembered corner of every example. Returns what they promise together.
    fn look(&mut self, run: &mut Run<'_, '_>) -> f64 {
        let stores = &self.stores;
        run.for_each_block(&mut self.picks, |_, state, i, scratch, pick| {
            scratch.worker.prepare(i, &state.w);
            let (corner, value) = stores[i].best(i, &state.w, &*scratch.worker, &mut scratch.parts);
            let block = &state.blocks[i];
            block.parts.unpack(&mut scratch.point);
            let own = block.loss + scratch.worker.score(i, &state.w, &scratch.point);
            *pick = Pick { corner, gap: state.shares.of(i) * (value - own) };
        });
        self.picks.iter().map(|pick| pick.gap).sum()
    }

    /// Drops planes that have been without mass for long.
    fn forget(&mut self) {
        for at in (0..self.planes.len()).rev() {
            let plane = &mut self.planes[at];
            plane.idle = if self.qp.masses[at] > 0.0 { 0 } else { plane.idle + 1 };
            if plane.idle > MOST_IDLE {
                let plane = self.planes.swap_remove(at);
                self.qp.remove(at);
                for (store, corner) in self.stores.iter_mut().zip(plane.corners) {
                    store.release(corner);
                }
            }
        }
    }
}
