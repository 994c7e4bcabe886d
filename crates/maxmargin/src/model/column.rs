//! The flat arrays that examples are stored in.
//!
//! An array is either owned, or shared with the owner of the memory, such as a mapped file. Shared arrays are read
//! in place. The first change copies them.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// Memory that another object owns and that never changes.
pub type SharedSlice<T> = Arc<dyn AsRef<[T]> + Send + Sync>;

/// A flat array of examples, owned or shared.
///
/// ```
/// use maxmargin::model::Column;
/// use std::sync::Arc;
///
/// let owned = Column::from(vec![1u32, 2, 3]);
/// let shared = Column::shared(Arc::new(vec![1u32, 2, 3]));
/// assert_eq!(owned, shared);
/// assert_eq!(shared[1..], [2, 3]);
/// ```
#[derive(Clone)]
pub struct Column<T>(Memory<T>);

#[derive(Clone)]
enum Memory<T> {
    Owned(Vec<T>),
    Shared(SharedSlice<T>),
}

impl<T: Copy> Column<T> {
    /// Creates an array that is read in place.
    pub fn shared(memory: SharedSlice<T>) -> Self {
        Self(Memory::Shared(memory))
    }

    /// The array, for changes. Shared memory is copied first.
    #[inline]
    pub(crate) fn to_mut(&mut self) -> &mut Vec<T> {
        if let Memory::Shared(memory) = &self.0 {
            let own = (**memory).as_ref().to_vec();
            self.0 = Memory::Owned(own);
        }
        match &mut self.0 {
            Memory::Owned(own) => own,
            Memory::Shared(_) => unreachable!("shared memory was copied"),
        }
    }

    #[inline]
    pub(crate) fn push(&mut self, item: T) {
        self.to_mut().push(item);
    }
}

impl<T> Deref for Column<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        match &self.0 {
            Memory::Owned(own) => own,
            Memory::Shared(memory) => (**memory).as_ref(),
        }
    }
}

impl<T> Default for Column<T> {
    fn default() -> Self {
        Self(Memory::Owned(Vec::new()))
    }
}

impl<T> From<Vec<T>> for Column<T> {
    fn from(own: Vec<T>) -> Self {
        Self(Memory::Owned(own))
    }
}

impl<T: PartialEq> PartialEq for Column<T> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<T: fmt::Debug> fmt::Debug for Column<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

/// Appends `more`, which stands for `count` numbers, to `own`, which stands for `before` numbers. An empty array
/// stands for numbers that are all 1.
pub(crate) fn append_unless_ones(
    own: &mut Column<f64>,
    before: usize,
    more: &Column<f64>,
    count: usize,
) {
    if own.is_empty() && more.is_empty() {
        return;
    }
    let own = own.to_mut();
    own.resize(before, 1.0);
    own.extend_from_slice(more);
    own.resize(before + count, 1.0);
}

/// Positions in another array: where each item begins, and where the last one ends. They never decrease.
///
/// Each takes four bytes while all positions fit, which is up to four billion entries, and eight bytes beyond that.
///
/// ```
/// use maxmargin::model::{Column, Offsets};
///
/// let offsets = Offsets::Short(Column::from(vec![0, 2, 5]));
/// assert_eq!((offsets.len(), offsets.get(2)), (3, 5));
/// ```
#[derive(Debug, Clone)]
pub enum Offsets {
    /// Positions below 2³².
    Short(Column<u32>),
    /// Any positions.
    Long(Column<u64>),
}

impl Offsets {
    /// The offsets of no items: a single 0.
    pub(crate) fn new() -> Self {
        Self::Short(vec![0].into())
    }

    /// Position `at`.
    ///
    /// # Panics
    /// If `at` is not below [`len`](Self::len).
    #[inline]
    pub fn get(&self, at: usize) -> usize {
        match self {
            Self::Short(offsets) => offsets[at] as usize,
            Self::Long(offsets) => offsets[at] as usize,
        }
    }

    /// Number of positions, which is one more than the number of items.
    #[inline]
    pub fn len(&self) -> usize {
        match self {
            Self::Short(offsets) => offsets.len(),
            Self::Long(offsets) => offsets.len(),
        }
    }

    /// Whether there are no positions.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The last position, or 0.
    pub(crate) fn last(&self) -> usize {
        self.len().checked_sub(1).map_or(0, |last| self.get(last))
    }

    /// Adds a position.
    #[inline]
    pub(crate) fn push(&mut self, position: usize) {
        match self {
            Self::Short(offsets) => match u32::try_from(position) {
                Ok(short) => offsets.push(short),
                Err(_) => {
                    let mut long: Vec<u64> = offsets.iter().map(|&at| u64::from(at)).collect();
                    long.push(position as u64);
                    *self = Self::Long(long.into());
                }
            },
            Self::Long(offsets) => offsets.push(position as u64),
        }
    }

    /// Appends the positions of `other` except its first one, which is 0. They are shifted by the last position of
    /// these offsets.
    pub(crate) fn append(&mut self, other: &Self) {
        let base = self.last();
        if let (Self::Short(own), Self::Short(more)) = (&mut *self, other)
            && let Ok(last) = u32::try_from(base + other.last())
        {
            let base = last - other.last() as u32;
            own.to_mut().extend(more.iter().skip(1).map(|&at| base + at));
            return;
        }
        (1..other.len()).for_each(|at| self.push(base + other.get(at)));
    }

    /// Whether these are offsets of items that fill `entries` entries: they begin with 0, never decrease, and
    /// end with `entries`.
    pub(crate) fn cover(&self, entries: usize) -> bool {
        let ascend = match self {
            Self::Short(offsets) => offsets.is_sorted(),
            Self::Long(offsets) => offsets.is_sorted(),
        };
        ascend && !self.is_empty() && self.get(0) == 0 && self.last() == entries
    }

    /// Prefetches the positions of these items.
    #[inline]
    pub(crate) fn prefetch(&self, items: std::ops::Range<usize>) {
        use crate::util::prefetch::prefetch;
        match self {
            Self::Short(offsets) => prefetch(&offsets[items]),
            Self::Long(offsets) => prefetch(&offsets[items]),
        }
    }
}

/// The offsets of no items.
impl Default for Offsets {
    fn default() -> Self {
        Self::new()
    }
}

impl PartialEq for Offsets {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Short(a), Self::Short(b)) => a == b,
            (Self::Long(a), Self::Long(b)) => a == b,
            _ => {
                self.len() == other.len() && (0..self.len()).all(|at| self.get(at) == other.get(at))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_memory_is_copied_before_it_changes() {
        let memory: Arc<Vec<u32>> = Arc::new(vec![1, 2]);
        let mut column = Column::shared(memory.clone());
        column.push(3);
        assert_eq!((&column[..], memory.as_slice()), (&[1, 2, 3][..], &[1, 2][..]));
    }

    #[test]
    fn positions_grow_when_they_must() {
        let mut offsets = Offsets::new();
        offsets.push(7);
        let short = offsets.clone();
        offsets.push(u32::MAX as usize);
        assert!(matches!(offsets, Offsets::Short(_)));
        offsets.append(&short);
        assert!(matches!(offsets, Offsets::Long(_)));
        let found: Vec<_> = (0..offsets.len()).map(|at| offsets.get(at)).collect();
        assert_eq!(found, [0, 7, u32::MAX as usize, u32::MAX as usize + 7]);
        assert!(offsets.cover(u32::MAX as usize + 7) && !offsets.cover(7));
        let long = Offsets::Long(vec![0, 7].into());
        assert_eq!(short, long);
        assert!(!Offsets::Short(vec![0, 3, 2, 4].into()).cover(4));
    }
}
