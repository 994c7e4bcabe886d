//! Sums over all weights, in an order that does not depend on the number of threads.

use crate::problem::Blocks;
use crate::problem::bounds::Bounds;

/// The number of weights whose squares are added up as one term of a norm, and that one thread handles at
/// once.
pub(crate) const CHUNK: usize = 1 << 12;

/// ‖w‖², summed in an order that does not depend on the number of threads.
pub(crate) fn norm_sq(w: &[f64]) -> f64 {
    product(w, w)
}

/// The squared length of weights of a problem, as the problem sees it.
pub(crate) fn length_sq(problem: &dyn Blocks, w: &[f64]) -> f64 {
    problem.weights_norm_sq(w).unwrap_or_else(|| norm_sq(w))
}

/// Whether a problem measures the length of its weights in its own way, as with a kernel.
pub(crate) fn has_own_length(problem: &dyn Blocks) -> bool {
    problem.weights_norm_sq(&vec![0.0; problem.dim()]).is_some()
}

/// ⟨v, w⟩, summed in a fixed order.
fn product(v: &[f64], w: &[f64]) -> f64 {
    v.chunks(CHUNK).zip(w.chunks(CHUNK)).map(|(v, w)| chunk_product(v, w)).sum()
}

/// ⟨a, b⟩ with eight sums side by side, which the processor can add at once.
pub(crate) fn chunk_product(a: &[f64], b: &[f64]) -> f64 {
    let (groups, rest) = a.as_chunks::<8>();
    let (others, other_rest) = b.as_chunks::<8>();
    let mut sums = [0.0; 8];
    for (group, other) in groups.iter().zip(others) {
        for ((sum, x), y) in sums.iter_mut().zip(group).zip(other) {
            *sum += x * y;
        }
    }
    sums.iter().sum::<f64>() + rest.iter().zip(other_rest).map(|(x, y)| x * y).sum::<f64>()
}

/// Squares and products of the weights of a dual point, with v = Aα and w = clip(v).
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Squares {
    /// ‖w‖².
    pub(crate) norm_sq: f64,
    /// ⟨v, w⟩, which equals ‖w‖² without bounds. Problems with bounds never define a length of their own
    /// (see `check_problem`), so this is the sum of the products.
    pub(crate) product: f64,
}

impl Squares {
    pub(crate) fn of(problem: &dyn Blocks, w: &[f64], v: Option<&[f64]>) -> Self {
        let norm_sq = length_sq(problem, w);
        Self { norm_sq, product: v.map_or(norm_sq, |v| product(v, w)) }
    }
}

/// A piece of w that gets new values.
pub(crate) struct WeightChunk<'a> {
    pub(crate) w: &'a mut [f64],
    /// The same piece of v, if w is clipped from it.
    pub(crate) v: Option<&'a mut [f64]>,
    /// The new values, or the first partial sum of them. It is zeroed afterwards.
    pub(crate) sum: &'a mut [f64],
    pub(crate) found: ChunkSums,
}

/// What is measured while a piece gets its new values.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ChunkSums {
    pub(crate) drift: f64,
    pub(crate) norm_sq: f64,
    pub(crate) product: f64,
}

impl WeightChunk<'_> {
    /// Adds `others` and `elsewhere`, in which this piece begins at `start`, to the sum, and makes the sum
    /// the new values.
    pub(crate) fn replace(
        &mut self,
        start: usize,
        others: &[Vec<f64>],
        elsewhere: Option<&[f64]>,
        bounds: Option<&Bounds>,
    ) {
        for other in others.iter().map(Vec::as_slice).chain(elsewhere) {
            let other = &other[start..start + self.sum.len()];
            self.sum.iter_mut().zip(other).for_each(|(sum, term)| *sum += term);
        }
        let target = self.v.as_deref_mut().unwrap_or(self.w);
        let off = target.iter().zip(self.sum.iter()).map(|(old, new)| (old - new).abs());
        self.found.drift = off.fold(0.0, f64::max);
        target.copy_from_slice(self.sum);
        self.sum.fill(0.0);
        if let (Some(v), Some(bounds)) = (self.v.as_deref(), bounds) {
            for (at, (w, &v)) in self.w.iter_mut().zip(v).enumerate() {
                *w = bounds.clip(start + at, v);
            }
        }
        self.found.norm_sq = chunk_product(self.w, self.w);
        let v = self.v.as_deref();
        self.found.product = v.map_or(self.found.norm_sq, |v| chunk_product(v, self.w));
    }
}
