//! Sparse vectors in few bytes: the points of blocks at rest.
//!
//! There is a point for every example, and most of a run's memory is theirs. As pairs of numbers a part takes 16
//! bytes. But the parts of a point follow each other closely, and few values occur: all parts that the same corners
//! have carry the same mass. So a part takes two or three bytes here, and ten if its mass is like no other nearby.
//! A visit [unpacks](PackedVec::unpack) its block into scratch memory, and packs it again if it has moved.
//! That takes time: plain passes over OCR's words took a quarter longer. So where all points are small together, they
//! stay [plain](PackedVec::plain): pairs of numbers, to be [read](PackedVec::read) where they are.
//!
//! An entry is a byte that says what follows, then its coordinate, and then its value if that is new:
//!
//! | bits | what they say |
//! |---|---|
//! | 0–3 | which of the last [`VALUES`] new values it is; or that eight bytes with a new value follow |
//! | 4–5 | how far the upper half of the coordinate is above that of the entry before: 0, 1, 2; or that all eight bytes of the coordinate follow |
//! | 6–7 | how the lower half is written: as a byte; as two halves of a byte, of which each is 16 bits of it; as two bytes, likewise; as four bytes |
//!
//! (The halves belong to pairs of labels, as in the edges of chains.) The same entries always have the same bytes.

#[cfg(test)]
mod tests;

use crate::problem::SparseVec;
use crate::util::prefetch::prefetch;

/// So many values are remembered.
const VALUES: usize = 15;

/// The code of a value that is new.
const NEW: u8 = VALUES as u8;

/// The code of a coordinate that is written in full.
const IN_FULL: u8 = 3;

/// The ways to write the lower half of a coordinate.
const BYTE: u8 = 0;
const HALVES: u8 = 1;
const BYTES: u8 = 2;

/// The most bytes that need no memory of their own: two or three entries.
const INLINE: usize = 22;

/// Entries take so many bytes or fewer, if most values occur again and again.
const BYTES_PER_ENTRY: usize = 3;

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

/// The values that entries refer to: those that were new last. The first is 1, which most truths consist of.
struct Values {
    values: [u64; VALUES],
    next: usize,
}

impl Values {
    fn new() -> Self {
        Self { values: [1.0f64.to_bits(); VALUES], next: 1 }
    }

    #[inline]
    fn add(&mut self, value: u64) {
        self.values[self.next] = value;
        self.next = if self.next + 1 == VALUES { 0 } else { self.next + 1 };
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
        let packed = Entries { rest: self.0.packed(), upper: 0, values: Values::new() };
        self.0.plain().iter().copied().chain(packed)
    }

    /// A vector that stays plain whatever it becomes, so that it is quick to use and takes more memory.
    pub(crate) fn plain(sparse: &SparseVec) -> Self {
        // A copy takes no more memory than it needs.
        Self(Bytes::Plain(Box::new(sparse.clone())))
    }

    /// Number of entries. They are counted one by one.
    pub fn len(&self) -> usize {
        let (mut rest, mut count) = (self.0.packed(), self.0.plain().len());
        while let Some((&head, _)) = rest.split_first() {
            let coordinate = match (head >> 4 & 3, head >> 6) {
                (IN_FULL, _) => 8,
                (_, BYTE | HALVES) => 1,
                (_, BYTES) => 2,
                _ => 4,
            };
            let value = if head & 15 == NEW { 8 } else { 0 };
            rest = rest.get(1 + coordinate + value..).unwrap_or_default();
            count += 1;
        }
        count
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

/// What the bytes of an entry depend on besides the entry.
struct Context {
    /// The upper half of the coordinate before.
    upper: u32,
    values: Values,
}

impl Context {
    fn new() -> Self {
        Self { upper: 0, values: Values::new() }
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

/// Writes entries, which need not be in order.
fn write(entries: &[(u64, f64)], bytes: &mut Vec<u8>, Context { upper, values }: &mut Context) {
    bytes.reserve(BYTES_PER_ENTRY * entries.len());
    for &(coordinate, value) in entries {
        let (above, lower) = ((coordinate >> 32) as u32, coordinate as u32);
        let value = value.to_bits();
        let known = values.values.iter().position(|other| *other == value);
        let head = known.map_or(NEW, |at| at as u8);
        let step = above.wrapping_sub(*upper);
        *upper = above;
        let (first, second) = (lower >> 16, lower & 0xffff);
        if step >= u32::from(IN_FULL) {
            bytes.push(head | IN_FULL << 4);
            bytes.extend_from_slice(&coordinate.to_le_bytes());
        } else {
            let head = head | (step as u8) << 4;
            match (first, second) {
                (0, ..256) => bytes.extend_from_slice(&[head | BYTE << 6, second as u8]),
                (..16, ..16) => bytes
                    .extend_from_slice(&[head | HALVES << 6, (first << 4) as u8 | second as u8]),
                (..256, ..256) => {
                    bytes.extend_from_slice(&[head | BYTES << 6, first as u8, second as u8]);
                }
                _ => {
                    bytes.push(head | 3 << 6);
                    bytes.extend_from_slice(&lower.to_le_bytes());
                }
            }
        }
        if known.is_none() {
            values.add(value);
            bytes.extend_from_slice(&value.to_le_bytes());
        }
    }
}

/// The entries, read one by one.
struct Entries<'a> {
    rest: &'a [u8],
    upper: u32,
    values: Values,
}

impl Iterator for Entries<'_> {
    type Item = (u64, f64);

    #[inline]
    fn next(&mut self) -> Option<(u64, f64)> {
        let (&head, rest) = self.rest.split_first()?;
        self.rest = rest;
        let step = head >> 4 & 3;
        let coordinate = if step == IN_FULL {
            let coordinate = u64::from_le_bytes(self.take()?);
            self.upper = (coordinate >> 32) as u32;
            coordinate
        } else {
            self.upper = self.upper.wrapping_add(u32::from(step));
            let lower = match head >> 6 {
                BYTE => {
                    let [byte] = self.take()?;
                    u32::from(byte)
                }
                HALVES => {
                    let [byte] = self.take()?;
                    u32::from(byte >> 4) << 16 | u32::from(byte & 15)
                }
                BYTES => {
                    let [first, second] = self.take()?;
                    u32::from(first) << 16 | u32::from(second)
                }
                _ => u32::from_le_bytes(self.take()?),
            };
            u64::from(self.upper) << 32 | u64::from(lower)
        };
        let value = match head & 15 {
            NEW => {
                let value = u64::from_le_bytes(self.take()?);
                self.values.add(value);
                value
            }
            at => self.values.values[usize::from(at)],
        };
        Some((coordinate, f64::from_bits(value)))
    }
}

impl Entries<'_> {
    #[inline]
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (taken, rest) = self.rest.split_first_chunk()?;
        self.rest = rest;
        Some(*taken)
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
