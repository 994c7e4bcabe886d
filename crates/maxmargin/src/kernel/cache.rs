//! A cache of rows of kernel values with limited memory.

use std::sync::{Arc, Mutex, PoisonError};

/// Marks a missing neighbour in the list.
const NONE: u32 = u32::MAX;

/// A row of kernel values that several threads may read.
pub(super) type KernelRow = Arc<Vec<f64>>;

/// Keeps the rows that were used last.
#[derive(Debug)]
pub(super) struct RowCache {
    state: Mutex<Lru>,
}

/// A list of rows, from the most recently used to the least recently used one.
#[derive(Debug)]
struct Lru {
    rows: Vec<Option<KernelRow>>,
    /// The neighbours of each row in the list: the row used after it, and the row used before it.
    newer: Vec<u32>,
    older: Vec<u32>,
    newest: u32,
    oldest: u32,
    count: usize,
    most: usize,
    /// Memory of rows that were evicted.
    spare: Vec<Vec<f64>>,
    misses: u64,
}

impl RowCache {
    /// Creates a cache for `rows` rows of `length` values each, which uses at most `bytes`.
    pub(super) fn new(rows: usize, length: usize, bytes: usize) -> Self {
        let most = bytes / (length * size_of::<f64>()).max(1);
        Self {
            state: Mutex::new(Lru {
                rows: vec![None; rows],
                newer: vec![NONE; rows],
                older: vec![NONE; rows],
                newest: NONE,
                oldest: NONE,
                count: 0,
                most,
                spare: Vec::new(),
                misses: 0,
            }),
        }
    }

    /// Returns row `at`. If it is not in the cache, `fill` computes it, without blocking other threads.
    pub(super) fn get(&self, at: u32, fill: impl FnOnce(&mut Vec<f64>)) -> KernelRow {
        let mut values = {
            let mut state = self.lock();
            if let Some(row) = state.rows[at as usize].clone() {
                state.unlink(at);
                state.link(at);
                return row;
            }
            state.misses += 1;
            state.spare.pop().unwrap_or_default()
        };
        fill(&mut values);
        let row = Arc::new(values);
        self.lock().put(at, &row);
        row
    }

    /// The number of rows that had to be computed so far.
    pub(super) fn misses(&self) -> u64 {
        self.lock().misses
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Lru> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Lru {
    fn put(&mut self, at: u32, row: &KernelRow) {
        // Another thread may have been faster, and there may be no room even for a single row.
        if self.most == 0 || self.rows[at as usize].is_some() {
            return;
        }
        if self.count == self.most {
            let oldest = self.oldest;
            self.unlink(oldest);
            let given_up = self.rows[oldest as usize].take();
            self.spare.extend(given_up.and_then(Arc::into_inner));
            self.count -= 1;
        }
        self.rows[at as usize] = Some(Arc::clone(row));
        self.link(at);
        self.count += 1;
    }

    /// Inserts a row at the newest end of the list.
    fn link(&mut self, at: u32) {
        (self.older[at as usize], self.newer[at as usize]) = (self.newest, NONE);
        match self.newest {
            NONE => self.oldest = at,
            newest => self.newer[newest as usize] = at,
        }
        self.newest = at;
    }

    /// Removes a row from the list.
    fn unlink(&mut self, at: u32) {
        let (newer, older) = (self.newer[at as usize], self.older[at as usize]);
        match newer {
            NONE => self.newest = older,
            newer => self.older[newer as usize] = older,
        }
        match older {
            NONE => self.oldest = newer,
            older => self.newer[older as usize] = newer,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::util::rng::Rng;

    #[test]
    fn the_rows_asked_for_last_are_kept() {
        for most in [0, 1, 3, 10] {
            let cache = RowCache::new(10, 4, most * 4 * size_of::<f64>());
            let (mut rng, mut recent, mut misses) = (Rng::new(1), Vec::<u32>::new(), 0);
            for _ in 0..500 {
                let at = rng.below(10) as u32;
                let mut filled = false;
                let row = cache.get(at, |row| {
                    filled = true;
                    row.clear();
                    row.extend([f64::from(at); 4]);
                });
                assert_eq!(*row, vec![f64::from(at); 4]);
                assert_eq!(filled, !recent.contains(&at));
                misses += u64::from(filled);
                recent.retain(|other| *other != at);
                recent.push(at);
                if recent.len() > most {
                    recent.remove(0);
                }
                assert_eq!(cache.lock().count, recent.len());
            }
            assert_eq!(cache.misses(), misses);
        }
    }
}
