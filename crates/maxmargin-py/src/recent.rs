//! Numbers of names, by the objects that hold them.

use pyo3::prelude::*;
use pyo3::types::PyString;

/// So many objects are remembered at first, at 16 bytes each, so that short lists cost little.
const FEWEST: usize = 1 << 10;

/// And at most so many: enough for nearly all attributes of most data sets.
const MOST: usize = 1 << 20;

/// After so many questions it is time to see whether remembering pays.
const TRIAL: u32 = 1 << 16;

/// It pays if at least one in so many was answered.
const WORTH: u32 = 4;

/// Remembers the numbers of texts by where they lie in memory, which is much faster to look up than
/// their letters. Features that are made by a program are often the same few objects again and again;
/// where they are not, it soon gives up.
#[derive(Default)]
pub(crate) struct Recent {
    /// One object per slot, kept alive so that no other can take its place in memory. Empty until the
    /// first one comes.
    slots: Vec<Option<(Py<PyString>, u32)>>,
    inserted: usize,
    asked: u32,
    answered: u32,
    has_given_up: bool,
}

impl Recent {
    pub(crate) fn get(&mut self, text: &Bound<'_, PyString>) -> Option<u32> {
        if self.has_given_up {
            return None;
        }
        self.asked += 1;
        if self.asked == TRIAL {
            self.judge();
        }
        match self.slots.get(self.slot(text.as_ptr() as usize)) {
            Some(Some((known, number))) if known.as_ptr() == text.as_ptr() => {
                self.answered += 1;
                Some(*number)
            }
            _ => None,
        }
    }

    pub(crate) fn insert(&mut self, text: &Bound<'_, PyString>, number: u32) {
        if self.has_given_up {
            return;
        }
        if self.inserted == self.slots.len() && self.slots.len() < MOST {
            self.grow();
        }
        self.inserted += 1;
        let at = self.slot(text.as_ptr() as usize);
        self.slots[at] = Some((text.clone().unbind(), number));
    }

    fn grow(&mut self) {
        let size = (4 * self.slots.len()).max(FEWEST);
        let old = std::mem::take(&mut self.slots);
        self.slots.resize_with(size, || None);
        for known in old.into_iter().flatten() {
            let at = self.slot(known.0.as_ptr() as usize);
            self.slots[at] = Some(known);
        }
    }

    /// Fibonacci hashing of an address; the number of slots is a power of two, or 0.
    fn slot(&self, address: usize) -> usize {
        const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;
        let bits = self.slots.len().max(2).trailing_zeros();
        ((address as u64).wrapping_mul(GOLDEN) >> (64 - bits)) as usize
    }

    fn judge(&mut self) {
        self.has_given_up = self.answered < self.asked / WORTH;
        if self.has_given_up {
            self.slots = Vec::new();
        }
        (self.asked, self.answered) = (0, 0);
    }
}
