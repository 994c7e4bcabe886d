//! Names and their indices: the alphabets of labels and attributes.

use std::fmt;

use xxhash_rust::xxh3::xxh3_64;

/// Marks a free slot of the hash table; no name has this index.
const FREE: u32 = u32::MAX;

/// A set of distinct names, numbered from 0 in the order in which they were added.
///
/// All names are stored one after another in a single string, and the hash table contains only numbers. So hundreds
/// of thousands of attribute names take little more memory than their letters.
///
/// ```
/// use maxmargin_io::Names;
///
/// let mut names = Names::new();
/// assert_eq!(names.intern("noun"), 0);
/// assert_eq!(names.intern("verb"), 1);
/// assert_eq!(names.intern("noun"), 0);
/// assert_eq!(names.get("verb"), Some(1));
/// assert_eq!(names.get("adverb"), None);
/// assert_eq!(names.name(1), "verb");
/// assert_eq!(names.len(), 2);
/// ```
#[derive(Clone, Default)]
pub struct Names {
    /// All names, back to back.
    text: String,
    /// The end of each name in `text`. A name starts where the one before it ends.
    ends: Vec<usize>,
    /// Open addressing with linear probing; the length is zero or a power of two.
    table: Vec<Slot>,
}

/// The upper half of a name's hash is stored with the index. It excludes nearly every wrong name without reading
/// the text, and the table can grow without hashing the names again.
#[derive(Clone, Copy)]
struct Slot {
    hash: u32,
    index: u32,
}

impl Names {
    /// The largest number of names a set can hold; larger indices are left for special purposes.
    ///
    /// ```
    /// assert!(maxmargin_io::Names::MOST < u32::MAX as usize);
    /// ```
    pub const MOST: usize = FREE as usize - 1;

    /// Creates a set without names.
    ///
    /// ```
    /// assert!(maxmargin_io::Names::new().is_empty());
    /// ```
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the index of `name`, and adds the name if it is new.
    ///
    /// # Panics
    /// If there would be more than [`MOST`](Self::MOST) names.
    ///
    /// ```
    /// let mut names = maxmargin_io::Names::new();
    /// assert_eq!((names.intern("a"), names.intern("b"), names.intern("a")), (0, 1, 0));
    /// ```
    pub fn intern(&mut self, name: &str) -> u32 {
        // The table is at most three quarters full, so a probe soon finds a free slot.
        if (self.ends.len() + 1) * 4 > self.table.len() * 3 {
            self.grow();
        }
        let hash = short_hash(name);
        let at = match self.find(name, hash) {
            Ok(index) => return index,
            Err(at) => at,
        };
        assert!(self.ends.len() < Self::MOST, "more than {} names", Self::MOST);
        self.add(name, hash, at)
    }

    /// Adds a new name, whose slot is `at`.
    fn add(&mut self, name: &str, hash: u32, at: usize) -> u32 {
        let index = self.ends.len() as u32;
        self.text.push_str(name);
        self.ends.push(self.text.len());
        self.table[at] = Slot { hash, index };
        index
    }

    /// Adds the names of `other` in their order, and returns the index that each has here. Returns `None` if there
    /// would be more than [`MOST`](Self::MOST) names.
    pub(crate) fn absorb(&mut self, other: &Self) -> Option<Vec<u32>> {
        /// The number of look-ups that wait for memory at the same time.
        const GROUP: usize = 32;
        let mut hashes = vec![0; other.len()];
        for slot in other.table.iter().filter(|slot| slot.index != FREE) {
            hashes[slot.index as usize] = slot.hash;
        }
        let mut indices = Vec::with_capacity(other.len());
        for start in (0..other.len()).step_by(GROUP) {
            let group = start..other.len().min(start + GROUP);
            while (self.ends.len() + group.len()) * 4 > self.table.len() * 3 {
                self.grow();
            }
            hashes[group.clone()].iter().for_each(|&hash| self.fetch_hash(hash));
            for at in group {
                let (name, hash) = (other.name(at as u32), hashes[at]);
                let index = match self.find(name, hash) {
                    Ok(index) => index,
                    Err(_) if self.ends.len() >= Self::MOST => return None,
                    Err(slot) => self.add(name, hash, slot),
                };
                indices.push(index);
            }
        }
        Some(indices)
    }

    /// The index of `name`, if it is known.
    ///
    /// ```
    /// let names = maxmargin_io::Names::from_iter(["a", "b"]);
    /// assert_eq!((names.get("b"), names.get("c")), (Some(1), None));
    /// ```
    pub fn get(&self, name: &str) -> Option<u32> {
        if self.table.is_empty() {
            return None;
        }
        self.find(name, short_hash(name)).ok()
    }

    /// Fetches the memory that is needed to look up these names. If there are many names, each look-up waits for
    /// memory several times. The reads of this method do not depend on each other, so the processor can wait for
    /// many of them at the same time. The only effect is that [`intern`](Self::intern) and [`get`](Self::get) take
    /// less time soon after.
    ///
    /// ```
    /// let mut names = maxmargin_io::Names::from_iter(["a", "b"]);
    /// names.fetch(["b", "c"].into_iter());
    /// assert_eq!((names.get("b"), names.get("c")), (Some(1), None));
    /// ```
    pub fn fetch<'n>(&self, names: impl Iterator<Item = &'n str>) {
        if self.table.is_empty() {
            return;
        }
        names.for_each(|name| self.fetch_hash(short_hash(name)));
    }

    /// Fetches the memory of the name with this hash, if there is one. The table must not be empty.
    #[inline(always)]
    fn fetch_hash(&self, hash: u32) {
        let slot = self.table[hash as usize & (self.table.len() - 1)];
        if slot.hash == hash && slot.index != FREE {
            // The last letter is usually in the same cache line as the first.
            let last = self.ends[slot.index as usize].saturating_sub(1);
            std::hint::black_box(self.text.as_bytes().get(last));
        }
    }

    /// The name with the index `index`.
    ///
    /// # Panics
    /// If `index` is not below [`len`](Self::len).
    ///
    /// ```
    /// assert_eq!(maxmargin_io::Names::from_iter(["a", "b"]).name(1), "b");
    /// ```
    pub fn name(&self, index: u32) -> &str {
        let index = index as usize;
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        &self.text[start..self.ends[index]]
    }

    /// Number of names.
    ///
    /// ```
    /// assert_eq!(maxmargin_io::Names::from_iter(["a", "b", "a"]).len(), 2);
    /// ```
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are no names.
    ///
    /// ```
    /// assert!(!maxmargin_io::Names::from_iter(["a"]).is_empty());
    /// ```
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The names in the order of their indices.
    ///
    /// ```
    /// let names = maxmargin_io::Names::from_iter(["b", "a"]);
    /// assert_eq!(names.iter().collect::<Vec<_>>(), ["b", "a"]);
    /// ```
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &str> + Clone {
        (0..self.ends.len()).map(|i| self.name(i as u32))
    }

    /// Memory in use, in bytes.
    ///
    /// ```
    /// assert_eq!(maxmargin_io::Names::new().heap_bytes(), 0);
    /// ```
    pub fn heap_bytes(&self) -> usize {
        self.text.capacity()
            + self.ends.capacity() * size_of::<usize>()
            + self.table.capacity() * size_of::<Slot>()
    }

    /// Returns the index of a known name, or the free slot for a new one. The table must not be full.
    #[inline(always)]
    fn find(&self, name: &str, hash: u32) -> Result<u32, usize> {
        let mask = self.table.len() - 1;
        let mut at = hash as usize & mask;
        loop {
            let slot = self.table[at];
            if slot.index == FREE {
                return Err(at);
            }
            if slot.hash == hash && self.bytes(slot.index) == name.as_bytes() {
                return Ok(slot.index);
            }
            at = (at + 1) & mask;
        }
    }

    /// Returns the bytes of the name with the index `index`, which need no check of character boundaries.
    #[inline(always)]
    fn bytes(&self, index: u32) -> &[u8] {
        let index = index as usize;
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        &self.text.as_bytes()[start..self.ends[index]]
    }

    fn grow(&mut self) {
        let size = (self.table.len() * 2).max(16);
        let free = Slot { hash: 0, index: FREE };
        let old = std::mem::replace(&mut self.table, vec![free; size]);
        for slot in old.into_iter().filter(|slot| slot.index != FREE) {
            let mut at = slot.hash as usize & (size - 1);
            while self.table[at].index != FREE {
                at = (at + 1) & (size - 1);
            }
            self.table[at] = slot;
        }
    }
}

#[inline(always)]
fn short_hash(name: &str) -> u32 {
    (xxh3_64(name.as_bytes()) >> 32) as u32
}

/// Two sets are equal if they have equal names in the same order. The layout of the table does not matter.
impl PartialEq for Names {
    fn eq(&self, other: &Self) -> bool {
        self.ends == other.ends && self.text == other.text
    }
}

impl Eq for Names {}

impl fmt::Debug for Names {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

/// Interns one name after the other. A repeated name keeps its first index.
impl<S: AsRef<str>> FromIterator<S> for Names {
    fn from_iter<I: IntoIterator<Item = S>>(names: I) -> Self {
        let mut set = Self::new();
        for name in names {
            set.intern(name.as_ref());
        }
        set
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn indices_survive_growth() {
        let mut names = Names::new();
        for i in 0..10_000 {
            assert_eq!(names.intern(&format!("name {i}")), i);
        }
        for i in 0..10_000 {
            let name = format!("name {i}");
            assert_eq!((names.get(&name), names.name(i)), (Some(i), name.as_str()));
        }
        assert_eq!(names.get("name 10000"), None);
    }

    #[test]
    fn the_empty_name_is_a_name() {
        let mut names = Names::new();
        assert_eq!(names.get(""), None);
        assert_eq!((names.intern(""), names.intern("a"), names.intern("")), (0, 1, 0));
        assert_eq!((names.name(0), names.name(1)), ("", "a"));
    }

    #[test]
    fn names_with_equal_hashes_are_told_apart() {
        // Two names in one slot chain: the text decides.
        let names = Names::from_iter(["a", "b"]);
        let hash = short_hash("a");
        assert_eq!(names.find("a", hash), Ok(0));
        assert!(names.find("b", hash).is_err() || short_hash("b") == hash);
    }

    #[test]
    fn a_third_of_a_million_names_take_few_bytes_each() {
        let names = Names::from_iter((0..335_674).map(|i| format!("w[0]={i:07}")));
        assert!(names.heap_bytes() < 20_000_000, "{} bytes", names.heap_bytes());
    }

    proptest! {
        #[test]
        fn behaves_like_a_map(list in proptest::collection::vec("[a-cäß\\\\:\\PC]{0,3}", 0..200)) {
            let mut names = Names::new();
            let mut map = HashMap::new();
            for name in &list {
                let next = map.len() as u32;
                let expected = *map.entry(name.clone()).or_insert(next);
                prop_assert_eq!(names.intern(name), expected);
            }
            prop_assert_eq!(names.len(), map.len());
            prop_assert_eq!(&Names::from_iter(names.iter()), &names);
            // Names that are added in two lots have the same numbers.
            let (first, second) = list.split_at(list.len() / 3);
            let (mut all, own) = (Names::from_iter(first), Names::from_iter(second));
            let indices = all.absorb(&own).unwrap();
            prop_assert_eq!(&all, &names);
            for (name, index) in own.iter().zip(indices) {
                prop_assert_eq!(all.get(name), Some(index));
            }
        }
    }
}
