//! The orders `curvature` and `gap-curvature`: blocks are drawn by how far their outputs are from the truth.

use super::unvisited::Unvisited;
use crate::solver::block_coordinate::sum_tree::{Fold, SumTree};
use crate::util::rng::Rng;

/// Draws blocks by their curvatures, or by what a step is sure to gain.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct CurvedPicker {
    pub(super) tree: SumTree,
    by_gain: bool,
    /// The last known gaps, and the largest curvatures that were seen.
    gaps: Vec<f64>,
    curvatures: Vec<f64>,
    /// Blocks whose curvature is not known. They are visited before all others, the last of them next.
    unvisited: Unvisited,
}

impl CurvedPicker {
    pub(super) fn new(n: usize, by_gain: bool) -> Self {
        let (gaps, curvatures) = (vec![0.0; n], vec![0.0; n]);
        let unvisited = Unvisited::all(n);
        let tree = SumTree::new(n, Fold::Sum);
        Self { tree, by_gain, gaps, curvatures, unvisited }
    }

    pub(super) fn next(&mut self, rng: &mut Rng) -> Option<usize> {
        if let Some(i) = self.unvisited.next(rng) {
            return Some(i);
        }
        (self.tree.root() > 0.0).then(|| self.tree.draw(rng.unit_f64()))
    }

    /// The weight with which block `i` is drawn. A Frank-Wolfe step of size γ gains at least γg − γ²C/2.
    pub(super) fn weight(&self, i: usize) -> f64 {
        let (g, c) = (self.gaps[i], self.curvatures[i]);
        match self.by_gain {
            false => c,
            true if g <= c => {
                if c > 0.0 {
                    0.5 * g * g / c
                } else {
                    0.0
                }
            }
            true => g - 0.5 * c,
        }
    }

    pub(super) fn note_curvature(&mut self, i: usize, curvature: f64) {
        self.curvatures[i] = self.curvatures[i].max(curvature);
        self.tree.set(i, self.weight(i));
    }

    pub(super) fn update(&mut self, i: usize, gap: f64) {
        self.gaps[i] = gap;
        self.tree.set(i, self.weight(i));
    }

    pub(super) fn refresh(&mut self, gaps: impl Iterator<Item = f64>) {
        let mut is_waiting = vec![false; self.gaps.len()];
        self.unvisited.blocks().iter().for_each(|&i| is_waiting[i as usize] = true);
        for (i, gap) in gaps.enumerate() {
            self.gaps[i] = gap.max(0.0);
            // A block whose oracle has found nothing but the truth has no curvature, and would never be drawn.
            let forgotten = self.curvatures[i] == 0.0 && self.gaps[i] > 0.0;
            if forgotten && !is_waiting[i] {
                self.unvisited.push(i);
            }
        }
        let weights: Vec<f64> = (0..self.gaps.len()).map(|i| self.weight(i)).collect();
        self.tree.set_all(weights.into_iter());
    }

    /// See [`Picker::fits`](super::Picker::fits).
    pub(super) fn fits(&self, n: usize) -> bool {
        self.gaps.len() == n
            && self.curvatures.len() == n
            && self.unvisited.fits(n)
            && self.tree.fits(n, Fold::Sum)
    }

    pub(super) fn peek(&self) -> Option<u32> {
        self.unvisited.peek()
    }

    pub(super) fn hide(&mut self, i: usize) -> f64 {
        self.tree.replace(i, 0.0)
    }

    pub(super) fn show(&mut self, i: usize, weight: f64) {
        self.tree.set(i, weight);
    }
}
