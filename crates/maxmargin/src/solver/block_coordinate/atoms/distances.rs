//! The squared distances between the atoms of a block, each measured once.

/// A symmetric table that grows. Unknown entries are NaN.
#[derive(Debug, Clone, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Distances {
    stride: usize,
    table: Vec<f64>,
    /// In each row, the entries before this one are known.
    pub(super) known: Vec<usize>,
}

impl Distances {
    /// Whether it is a table.
    pub(super) fn fits(&self) -> bool {
        let is_square = self.stride.checked_mul(self.stride) == Some(self.table.len());
        is_square && self.known.iter().all(|known| *known <= self.stride)
    }

    pub(super) fn known(&mut self, row: usize) -> usize {
        if self.known.len() <= row {
            self.known.resize(row + 1, 0);
        }
        self.known[row]
    }

    pub(super) fn bytes(&self) -> usize {
        self.table.len() * size_of::<f64>()
    }

    pub(super) fn make_room(&mut self, n: usize) {
        if n <= self.stride {
            return;
        }
        let stride = n.next_power_of_two().max(4);
        let mut table = vec![f64::NAN; stride * stride];
        for (new, old) in table.chunks_exact_mut(stride).zip(self.table.chunks(self.stride.max(1)))
        {
            new[..old.len()].copy_from_slice(old);
        }
        (0..stride).for_each(|at| table[at * stride + at] = 0.0);
        *self = Self { stride, table, known: std::mem::take(&mut self.known) };
    }

    pub(super) fn get(&self, a: usize, b: usize) -> f64 {
        self.table[a * self.stride + b]
    }

    pub(super) fn set(&mut self, a: usize, b: usize, distance: f64) {
        self.table[a * self.stride + b] = distance;
        self.table[b * self.stride + a] = distance;
    }

    pub(super) fn row(&self, a: usize) -> &[f64] {
        &self.table[a * self.stride..][..self.stride]
    }

    /// Removes entry `at` of `n`. The last entry takes its place.
    pub(super) fn swap_remove(&mut self, at: usize, n: usize) {
        self.known.resize(n, 0);
        self.known.swap_remove(at);
        // A row that was fully known stays so; other rows are known up to the entry that has changed.
        let left = |known: usize| if known == n { n - 1 } else { known.min(at) };
        self.known.iter_mut().for_each(|known| *known = left(*known));
        if n > self.stride {
            // The last was added after the table was made, so nothing is known of it.
            if at < self.stride {
                (0..self.stride).filter(|&b| b != at).for_each(|b| self.set(at, b, f64::NAN));
            }
            return;
        }
        let last = n - 1;
        for b in (0..last).filter(|&b| b != at) {
            self.set(at, b, self.get(last, b));
        }
        (0..last).for_each(|b| self.set(last, b, f64::NAN));
    }
}
