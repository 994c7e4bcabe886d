//! How the entries of a packed vector become bytes.
//!
//! An entry is a byte that says what follows, then its coordinate, and then its value if that is new:
//!
//! | bits | what they say |
//! |---|---|
//! | 0–3 | which of the last [`VALUES`] new values it is; or that eight bytes with a new value follow |
//! | 4–5 | how far the upper half of the coordinate is above that of the entry before: 0, 1, 2; or that all eight bytes of the coordinate follow |
//! | 6–7 | how the lower half is written: as a byte; as two halves of a byte, of which each is 16 bits of it; as two bytes, likewise; as four bytes |
//!
//! (The halves belong to pairs of labels, as in the edges of chains.)

/// The number of values that are remembered.
const VALUES: usize = 15;

/// The code of a value that is new.
const NEW: u8 = VALUES as u8;

/// The code of a coordinate that is written in full.
const IN_FULL: u8 = 3;

/// The ways to write the lower half of a coordinate.
const BYTE: u8 = 0;
const HALVES: u8 = 1;
const BYTES: u8 = 2;

/// Most entries take at most this many bytes if most values occur again and again.
pub(super) const BYTES_PER_ENTRY: usize = 3;

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

/// What the bytes of an entry depend on besides the entry.
pub(super) struct Context {
    /// The upper half of the coordinate before.
    upper: u32,
    values: Values,
}

impl Context {
    pub(super) fn new() -> Self {
        Self { upper: 0, values: Values::new() }
    }
}

/// Writes entries, which need not be in order.
pub(super) fn write(
    entries: &[(u64, f64)],
    bytes: &mut Vec<u8>,
    Context { upper, values }: &mut Context,
) {
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
pub(super) struct Entries<'a> {
    rest: &'a [u8],
    upper: u32,
    values: Values,
}

impl<'a> Entries<'a> {
    #[inline]
    pub(super) fn of(packed: &'a [u8]) -> Self {
        Self { rest: packed, upper: 0, values: Values::new() }
    }
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

/// The number of entries that these bytes hold. They are counted one by one.
pub(super) fn count(mut packed: &[u8]) -> usize {
    let mut count = 0;
    while let Some((&head, _)) = packed.split_first() {
        let coordinate = match (head >> 4 & 3, head >> 6) {
            (IN_FULL, _) => 8,
            (_, BYTE | HALVES) => 1,
            (_, BYTES) => 2,
            _ => 4,
        };
        let value = if head & 15 == NEW { 8 } else { 0 };
        packed = packed.get(1 + coordinate + value..).unwrap_or_default();
        count += 1;
    }
    count
}
