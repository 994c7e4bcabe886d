//! Sparse vectors in few bytes: the points of blocks at rest.
//!
//! There is a point for every example, and most of a run's memory is theirs. As pairs of numbers a part takes 16
//! bytes. But the parts of a point follow each other closely, and few values occur: all parts that the same corners
//! have carry the same mass. So a part takes two or three bytes here, and ten if its mass is like no other nearby.
//! A visit [unpacks](PackedVec::unpack) its block into scratch memory, and packs it again if it has moved.
//! That takes time: plain passes over OCR's words took a quarter longer. So where all points are small together, they
//! stay [plain](PackedVec::plain): pairs of numbers, to be [read](PackedVec::read) where they are.
//!
//! `entries.rs` says how entries become bytes. The same entries always have the same bytes.

mod entries;
#[cfg(test)]
mod tests;

use crate::problem::SparseVec;
use crate::util::prefetch::prefetch;
use entries::{BYTES_PER_ENTRY, Context, Entries, write};

/// The most bytes that need no memory of their own: two or three entries.
const INLINE: usize = 22;

/// Longer bytes are not copied out of scratch memory: they are that memory.
const MOST_COPIED: usize = 1 << 16;

/// The point of a block: a [`SparseVec`] in few bytes, to be [unpacked](Self::unpacked) where it is used.
///
/// ```
/// use maxmargin::{PackedVec, SparseVec};
///
/// let sparse = SparseVec::from_iter([(1, 0.5), (7, 0.25), (9, 0.25)]);
/// let packed = PackedVec::from(&sparse);
/// assert_eq!((packed.len(), packed.iter().nth(1)), (3, Some((7, 0.25))));
/// assert_eq!(packed.unpacked(), sparse);
/// ```
#[derive(Clone)]
pub struct PackedVec(Bytes);

#[derive(Clone)]
enum Bytes {
    Inline { length: u8, bytes: [u8; INLINE] },
    Heap(Box<[u8]>),
    Plain(Box<SparseVec>),
}

impl Bytes {
    /// At most [`INLINE`] packed bytes.
    fn inline(packed: &[u8]) -> Self {
        let mut bytes = [0; INLINE];
        bytes[..packed.len()].copy_from_slice(packed);
        Self::Inline { length: packed.len() as u8, bytes }
    }

    /// The packed bytes; none of what is plain.
    fn packed(&self) -> &[u8] {
        match self {
            Self::Inline { length, bytes } => &bytes[..usize::from(*length)],
            Self::Heap(bytes) => bytes,
            Self::Plain(_) => &[],
        }
    }

    /// The plain entries; none of what is packed.
    fn plain(&self) -> &[(u64, f64)] {
        match self {
            Self::Plain(sparse) => sparse.entries(),
            _ => &[],
        }
    }
}

/// Bits are compared, whether they are packed or not.
impl PartialEq for PackedVec {
    fn eq(&self, other: &Self) -> bool {
        let bits = |(coordinate, value): (u64, f64)| (coordinate, value.to_bits());
        self.iter().map(bits).eq(other.iter().map(bits))
    }
}

impl Default for PackedVec {
    fn default() -> Self {
        Self(Bytes::Inline { length: 0, bytes: [0; INLINE] })
    }
}

impl std::fmt::Debug for PackedVec {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl PackedVec {
    /// The zero vector.
    pub fn new() -> Self {
        Self::default()
    }

    /// The entries `(coordinate, value)` in order. Values may be 0.
    ///
    /// ```
    /// let packed: maxmargin::PackedVec = [(4, 1.0), (2, 0.5)].into_iter().collect();
    /// assert_eq!(packed.iter().collect::<Vec<_>>(), [(2, 0.5), (4, 1.0)]);
    /// ```
    pub fn iter(&self) -> impl Iterator<Item = (u64, f64)> + '_ {
        self.0.plain().iter().copied().chain(Entries::of(self.0.packed()))
    }

    /// A vector that stays plain whatever it becomes, so that it is quick to use and takes more memory.
    pub(crate) fn plain(sparse: &SparseVec) -> Self {
        // A copy takes no more memory than it needs.
        Self(Bytes::Plain(Box::new(sparse.clone())))
    }

    /// Number of entries. They are counted one by one.
    pub fn len(&self) -> usize {
        self.0.plain().len() + entries::count(self.0.packed())
    }

    /// Whether nothing is stored.
    pub fn is_empty(&self) -> bool {
        self.0.packed().is_empty() && self.0.plain().is_empty()
    }

    /// The bytes that it takes beside its own size.
    pub(crate) fn heap_bytes(&self) -> usize {
        match &self.0 {
            Bytes::Inline { .. } => 0,
            Bytes::Heap(bytes) => bytes.len(),
            Bytes::Plain(sparse) => size_of::<SparseVec>() + size_of_val(sparse.entries()),
        }
    }

    /// The same vector, unpacked.
    ///
    /// ```
    /// let packed: maxmargin::PackedVec = [(4, 1.0)].into_iter().collect();
    /// assert_eq!(packed.unpacked().entries(), [(4, 1.0)]);
    /// ```
    pub fn unpacked(&self) -> SparseVec {
        let mut sparse = SparseVec::with_capacity(self.len());
        self.unpack(&mut sparse);
        sparse
    }

    /// Writes the same vector to `sparse`, and reuses its memory.
    #[inline]
    pub(crate) fn unpack(&self, sparse: &mut SparseVec) {
        match &self.0 {
            Bytes::Plain(own) => sparse.assign(own),
            _ => sparse.assign_entries(self.iter()),
        }
    }

    /// The same vector to be read: itself if it is plain, or else unpacked in `scratch`.
    #[inline]
    pub(crate) fn read<'a>(&'a self, scratch: &'a mut SparseVec) -> &'a SparseVec {
        if let Bytes::Plain(own) = &self.0 {
            return own;
        }
        self.unpack(scratch);
        scratch
    }

    /// The vector itself, to be changed where it is, if it is plain.
    #[inline]
    pub(crate) fn plain_mut(&mut self) -> Option<&mut SparseVec> {
        match &mut self.0 {
            Bytes::Plain(own) => Some(own),
            _ => None,
        }
    }

    /// Becomes the vector that `write` makes of an arbitrary one: where it is if it is plain, or else in scratch memory.
    #[inline]
    pub(crate) fn rewrite(
        &mut self,
        (scratch, bytes): &mut (SparseVec, Vec<u8>),
        write: impl FnOnce(&mut SparseVec),
    ) {
        match self.plain_mut() {
            Some(own) => write(own),
            None => {
                write(scratch);
                self.pack(scratch, bytes);
            }
        }
    }

    /// Becomes the same vector as `sparse`.
    pub(crate) fn assign(&mut self, sparse: &SparseVec) {
        self.pack(sparse, &mut Vec::new());
    }

    /// As [`assign`](Self::assign), with scratch memory.
    pub(crate) fn pack(&mut self, sparse: &SparseVec, scratch: &mut Vec<u8>) {
        if let Bytes::Plain(own) = &mut self.0 {
            own.assign(sparse);
            return;
        }
        scratch.clear();
        write(sparse.entries(), scratch, &mut Context::new());
        match &mut self.0 {
            Bytes::Heap(bytes) if bytes.len() == scratch.len() => bytes.copy_from_slice(scratch),
            bytes => {
                *bytes = if scratch.len() <= INLINE {
                    Bytes::inline(scratch)
                } else if scratch.len() <= MOST_COPIED {
                    Bytes::Heap(scratch.as_slice().into())
                } else {
                    Bytes::Heap(std::mem::take(scratch).into_boxed_slice())
                };
            }
        }
    }

    /// Multiplies every value by `factor`.
    ///
    /// ```
    /// let mut packed: maxmargin::PackedVec = [(4, 1.0)].into_iter().collect();
    /// packed.scale(0.5);
    /// assert_eq!(packed.iter().collect::<Vec<_>>(), [(4, 0.5)]);
    /// ```
    pub fn scale(&mut self, factor: f64) {
        let mut sparse = self.unpacked();
        sparse.scale(factor);
        self.assign(&sparse);
    }

    /// Whether every value is finite.
    pub(crate) fn is_finite(&self) -> bool {
        self.iter().all(|(_, value)| value.is_finite())
    }

    /// Whether the coordinates ascend strictly.
    pub(crate) fn is_normalised(&self) -> bool {
        let mut least = Some(0);
        self.iter().all(|(coordinate, _)| {
            let ascends = least.is_some_and(|least| least <= coordinate);
            least = coordinate.checked_add(1);
            ascends
        })
    }

    /// Prefetches what it consists of.
    pub(crate) fn prefetch(&self) {
        match &self.0 {
            Bytes::Plain(sparse) => prefetch(sparse.entries()),
            bytes => prefetch(bytes.packed()),
        }
    }
}

/// A packed vector about to be written, piece by piece.
pub(super) struct PackedWriter {
    bytes: Vec<u8>,
    context: Context,
}

impl PackedWriter {
    pub(super) fn new() -> Self {
        Self { bytes: Vec::new(), context: Context::new() }
    }

    /// Appends entries. The memory grows by little more than they need.
    pub(super) fn add(&mut self, entries: &[(u64, f64)]) {
        let needed = BYTES_PER_ENTRY * entries.len();
        if self.bytes.capacity() - self.bytes.len() < needed {
            self.bytes.reserve_exact(needed + self.bytes.len() / 8);
        }
        write(entries, &mut self.bytes, &mut self.context);
    }

    pub(super) fn finish(self) -> PackedVec {
        let packed = match self.bytes.len() {
            ..=INLINE => Bytes::inline(&self.bytes),
            _ => Bytes::Heap(self.bytes.into_boxed_slice()),
        };
        PackedVec(packed)
    }
}

impl From<&SparseVec> for PackedVec {
    fn from(sparse: &SparseVec) -> Self {
        let mut packed = Self::default();
        packed.assign(sparse);
        packed
    }
}

impl From<SparseVec> for PackedVec {
    fn from(sparse: SparseVec) -> Self {
        Self::from(&sparse)
    }
}

/// As [`SparseVec`] does, this sorts by coordinate and adds up repeated coordinates.
impl FromIterator<(u64, f64)> for PackedVec {
    fn from_iter<I: IntoIterator<Item = (u64, f64)>>(iter: I) -> Self {
        SparseVec::from_iter(iter).into()
    }
}

/// It is written as a [`SparseVec`] is.
#[cfg(feature = "serde")]
impl serde::Serialize for PackedVec {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.unpacked().serialize(serializer)
    }
}

#[cfg(feature = "serde")]
impl<'de> serde::Deserialize<'de> for PackedVec {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        SparseVec::deserialize(deserializer).map(Self::from)
    }
}
