//! Sparse vectors, sorted by coordinate: points and directions of one block.

#[cfg(test)]
mod tests;

/// A vector to which [`Parts::scatter`](crate::problem::Parts::scatter) adds terms, such as a dense
/// vector or a sparse accumulator.
///
/// A slice panics if a feature is out of range. A [`SparseVec`] appends terms as they come and must be
/// [normalised](SparseVec::normalise) afterwards.
///
/// ```
/// use maxmargin::Sink;
/// let mut w = vec![0.0; 3];
/// w.as_mut_slice().add(2, 0.5);
/// assert_eq!(w, [0.0, 0.0, 0.5]);
/// ```
pub trait Sink {
    /// Adds `value` to the coordinate `feature`.
    fn add(&mut self, feature: usize, value: f64);
}

impl Sink for [f64] {
    #[inline]
    fn add(&mut self, feature: usize, value: f64) {
        self[feature] += value;
    }
}

impl Sink for SparseVec {
    fn add(&mut self, feature: usize, value: f64) {
        self.push(feature as u64, value);
    }
}

/// Coordinates that differ only in this many of their last bits form a group; see
/// [`SparseVec::assign_between`].
const GROUP_BITS: u32 = 32;

/// With more entries than this, memory is counted before it is taken: a second look at the entries costs less
/// than memory that nobody needs.
const MANY: usize = 1 << 16;

/// A sparse vector: pairs of a coordinate and a value.
///
/// Entries may be [pushed](Self::push) in any order; [`normalise`](Self::normalise) then sorts them by
/// coordinate and adds up repeated coordinates. All other operations need a normalised vector. The engine
/// keeps all its vectors normalised.
///
/// ```
/// use maxmargin::SparseVec;
/// let mut v = SparseVec::new();
/// v.push(7, 1.0);
/// v.push(2, 3.0);
/// v.push(7, 0.5);
/// v.normalise();
/// assert_eq!(v.entries(), [(2, 3.0), (7, 1.5)]);
/// assert_eq!(v.norm_sq(), 11.25);
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct SparseVec {
    entries: Vec<(u64, f64)>,
}

impl SparseVec {
    /// The zero vector.
    pub fn new() -> Self {
        Self::default()
    }

    /// The zero vector, with memory for so many entries.
    pub(crate) fn with_capacity(entries: usize) -> Self {
        Self { entries: Vec::with_capacity(entries) }
    }

    /// The entries `(coordinate, value)` as they are stored. Values may be 0.
    #[inline]
    pub fn entries(&self) -> &[(u64, f64)] {
        &self.entries
    }

    /// Number of stored entries.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether nothing is stored.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Removes all entries and keeps the memory. The result is the zero vector.
    pub fn clear(&mut self) {
        self.entries.clear();
    }

    /// Appends an entry. Call [`normalise`](Self::normalise) after the last entry, unless you push the
    /// coordinates in strictly ascending order.
    #[inline]
    pub fn push(&mut self, coordinate: u64, value: f64) {
        self.entries.push((coordinate, value));
    }

    /// Sorts by coordinate and adds up repeated coordinates, in the order in which they were pushed. Sums
    /// that are 0 are kept.
    ///
    /// ```
    /// use maxmargin::SparseVec;
    ///
    /// let mut v = SparseVec::new();
    /// for (coordinate, value) in [(5, 1.0), (3, 2.0), (5, -1.0)] {
    ///     v.push(coordinate, value);
    /// }
    /// v.normalise();
    /// assert_eq!(v.entries(), [(3, 2.0), (5, 0.0)]);
    /// ```
    pub fn normalise(&mut self) {
        if self.is_normalised() {
            return;
        }
        self.entries.sort_by_key(|&(id, _)| id);
        self.entries.dedup_by(|later, first| {
            let same = later.0 == first.0;
            if same {
                first.1 += later.1;
            }
            same
        });
    }

    /// Whether the coordinates ascend strictly.
    ///
    /// ```
    /// use maxmargin::SparseVec;
    ///
    /// let mut v = SparseVec::from_iter([(3, 2.0)]); // collecting normalises
    /// assert!(v.is_normalised());
    /// v.push(1, 1.0);
    /// assert!(!v.is_normalised());
    /// ```
    pub fn is_normalised(&self) -> bool {
        self.entries.windows(2).all(|pair| pair[0].0 < pair[1].0)
    }

    /// Whether every value is finite.
    ///
    /// ```
    /// use maxmargin::SparseVec;
    ///
    /// assert!(SparseVec::new().is_finite());
    /// assert!(!SparseVec::from_iter([(0, 1.0), (2, f64::NAN)]).is_finite());
    /// ```
    pub fn is_finite(&self) -> bool {
        self.entries.iter().all(|(_, v)| v.is_finite())
    }

    /// Multiplies every value by `factor`.
    ///
    /// ```
    /// let mut v = maxmargin::SparseVec::from_iter([(0, 1.0), (2, 3.0)]);
    /// v.scale(-2.0);
    /// assert_eq!(v.entries(), [(0, -2.0), (2, -6.0)]);
    /// ```
    pub fn scale(&mut self, factor: f64) {
        for (_, v) in &mut self.entries {
            *v *= factor;
        }
    }

    /// Copies `other` into this vector and reuses its memory. A vector that grows gets little more than it needs:
    /// there is one for every example.
    ///
    /// ```
    /// use maxmargin::SparseVec;
    ///
    /// let (mut a, b) = (SparseVec::from_iter([(0, 1.0)]), SparseVec::from_iter([(2, 3.0)]));
    /// a.assign(&b);
    /// assert_eq!(a, b);
    /// ```
    pub fn assign(&mut self, other: &Self) {
        if self.entries.capacity() < other.len() {
            // Nothing of the old content is worth a copy.
            self.entries = Vec::with_capacity(other.len() + other.len() / 8);
        }
        self.entries.clear();
        self.entries.extend_from_slice(&other.entries);
    }

    /// Removes all entries, and gives the memory back if it is much.
    #[inline]
    pub(crate) fn forget_if_long(&mut self) {
        if self.entries.capacity() > MANY {
            self.entries = Vec::new();
        }
    }

    /// Takes these entries, which need not be in order, in place of its own, and reuses its memory.
    pub(crate) fn assign_entries(&mut self, entries: impl Iterator<Item = (u64, f64)>) {
        self.entries.clear();
        self.entries.extend(entries);
    }

    /// The squared Euclidean norm.
    ///
    /// ```
    /// assert_eq!(maxmargin::SparseVec::from_iter([(1, 3.0), (8, 4.0)]).norm_sq(), 25.0);
    /// ```
    pub fn norm_sq(&self) -> f64 {
        self.entries.iter().map(|(_, v)| v * v).sum()
    }

    /// The inner product with a dense vector.
    ///
    /// ```
    /// let v = maxmargin::SparseVec::from_iter([(0, 2.0), (2, 1.0)]);
    /// assert_eq!(v.dot_dense(&[10.0, 20.0, 30.0]), 50.0);
    /// ```
    ///
    /// # Panics
    /// If a coordinate is outside `dense`.
    pub fn dot_dense(&self, dense: &[f64]) -> f64 {
        self.entries.iter().map(|&(id, v)| dense[id as usize] * v).sum()
    }

    /// Sets this vector to `to − from`. Coordinates at which the two are equal are left out.
    ///
    /// The method is fast if `to` is much shorter than `from`, as a corner is compared with the point of
    /// a block: the loop runs over `to` and copies the entries of `from` in between.
    ///
    /// ```
    /// use maxmargin::SparseVec;
    ///
    /// let to = SparseVec::from_iter([(1, 1.0), (4, 1.0)]);
    /// let from = SparseVec::from_iter([(1, 1.0), (3, 0.25), (4, 0.75)]);
    /// let mut difference = SparseVec::new();
    /// difference.assign_difference(&to, &from);
    /// assert_eq!(difference.entries(), [(3, -0.25), (4, 0.25)]);
    /// ```
    pub fn assign_difference(&mut self, to: &Self, from: &Self) {
        self.entries.clear();
        match to.len() + from.len() {
            all @ ..=MANY => self.entries.reserve(all),
            all => self.entries.reserve_exact(all - to.coordinates_shared_with(from)),
        }
        let mut rest = from.entries.iter();
        let mut next = rest.next();
        for &(id, value) in &to.entries {
            while let Some(&(other, taken)) = next.filter(|entry| entry.0 < id) {
                self.entries.push((other, -taken));
                next = rest.next();
            }
            let taken = match next {
                Some(&(other, taken)) if other == id => {
                    next = rest.next();
                    taken
                }
                _ => 0.0,
            };
            if value != taken {
                self.entries.push((id, value - taken));
            }
        }
        let rest = next.into_iter().chain(rest);
        self.entries.extend(rest.map(|&(id, taken)| (id, -taken)));
    }

    /// Sets this vector to `s · a + t · b`, without the entries that are 0. No step depends on which of the two has the
    /// next coordinate, because nobody can foresee that.
    pub(crate) fn assign_sum(&mut self, (s, a): (f64, &Self), (t, b): (f64, &Self)) {
        let (a, b) = (a.entries.as_slice(), b.entries.as_slice());
        self.entries.resize(a.len() + b.len(), (0, 0.0));
        let (mut at, mut other, mut len) = (0, 0, 0);
        while let (Some(&(x, value)), Some(&(y, added))) = (a.get(at), b.get(other)) {
            let own = if x <= y { s * value } else { 0.0 };
            let sum = own + if y <= x { t * added } else { 0.0 };
            self.entries[len] = (x.min(y), sum);
            at += usize::from(x <= y);
            other += usize::from(y <= x);
            len += usize::from(sum != 0.0);
        }
        for (factor, rest) in [(s, &a[at..]), (t, &b[other..])] {
            for &(id, value) in rest {
                self.entries[len] = (id, factor * value);
                len += usize::from(factor * value != 0.0);
            }
        }
        self.entries.truncate(len);
    }

    /// Adds `factor · other` in place. New coordinates are merged in from the back, so no second buffer
    /// is needed. Sums that are 0 are kept.
    ///
    /// ```
    /// use maxmargin::SparseVec;
    ///
    /// let mut v = SparseVec::from_iter([(1, 1.0), (4, 1.0)]);
    /// v.add_scaled(0.5, &SparseVec::from_iter([(0, 2.0), (4, -2.0)]));
    /// assert_eq!(v.entries(), [(0, 1.0), (1, 1.0), (4, 0.0)]);
    /// ```
    pub fn add_scaled(&mut self, factor: f64, other: &Self) {
        let missing = self.add_to_present(factor, other);
        if missing == 0 {
            return;
        }
        let old = self.entries.len();
        if self.entries.capacity() < old + missing {
            self.entries.reserve_exact(missing + old / 8);
        }
        self.entries.resize(old + missing, (0, 0.0));
        let (mut read, mut write) = (old, old + missing);
        for &(id, value) in other.entries.iter().rev() {
            while read > 0 && self.entries[read - 1].0 > id {
                read -= 1;
                write -= 1;
                self.entries[write] = self.entries[read];
            }
            if read > 0 && self.entries[read - 1].0 == id {
                continue; // already added above
            }
            write -= 1;
            self.entries[write] = (id, factor * value);
            if write == read {
                break; // all missing entries are in place
            }
        }
    }

    /// Sets this vector to `from + share · (to − from)`, if coordinates come in groups and are not very many. The
    /// result has the same bits as [`add_scaled`](Self::add_scaled) of the difference to `from`. Otherwise returns
    /// `false` and leaves arbitrary entries.
    ///
    /// Group g has the 2³² coordinates from g·2³² on. In each group `to` must have exactly one entry and
    /// `from` at least one; a labelling of a chain and a point of its block fulfil this. A general merge
    /// decides at every entry which vector comes next. Here only one entry of `to`, known beforehand, can
    /// come right before an entry of `from`, coincide with it, or come right after it.
    pub(crate) fn assign_between(&mut self, from: &Self, to: &Self, share: f64) -> bool {
        let (from, to) = (from.entries.as_slice(), to.entries.as_slice());
        let Some((last, others)) = from.split_last() else { return false };
        let groups = to.len() as u64;
        // Long vectors are not worth a second buffer.
        if groups < 2 || from.len() > MANY || to[to.len() - 1].0 >> GROUP_BITS != groups - 1 {
            return false;
        }
        // Every entry writes three places; the next entry overwrites those that are unused.
        self.entries.resize(to.len() + from.len() + 2, (0, 0.0));
        let (mut len, mut seen, mut strange) = (0, 0, 0);
        // The smallest coordinate that may be written next.
        let mut least = 0;
        let mut take = |&(id, value): &(u64, f64), next: u64| {
            let group = id >> GROUP_BITS;
            let Some(&(corner, target)) = to.get(group as usize) else { return false };
            let Some(places) = self.entries[len..].first_chunk_mut::<3>() else { return false };
            strange |= corner >> GROUP_BITS ^ group;
            let is_last = group != next >> GROUP_BITS;
            let before = usize::from((least <= corner) & (corner < id));
            let after = usize::from((id < corner) & is_last);
            let differs = usize::from(corner != id);
            places[before] = (id, value + share * -value);
            places[before + differs] = (id, value + share * (target - value));
            places[1 - before] = (corner, share * target);
            (len, seen, least) = (len + before + 1 + after, seen + u64::from(is_last), id + 1);
            true
        };
        let nexts = from[1..].iter().map(|entry| entry.0);
        let merged = others.iter().zip(nexts).all(|(entry, next)| take(entry, next));
        let merged = merged && take(last, u64::MAX);
        self.entries.truncate(len);
        merged && strange == 0 && seen == groups
    }

    /// The number of coordinates that both vectors have.
    fn coordinates_shared_with(&self, other: &Self) -> usize {
        let mut rest = other.entries.iter().map(|entry| entry.0).peekable();
        let is_shared = |entry: &&(u64, f64)| {
            while rest.next_if(|other| *other < entry.0).is_some() {}
            rest.peek() == Some(&entry.0)
        };
        self.entries.iter().filter(is_shared).count()
    }

    /// Adds `factor · other` at the coordinates that this vector has, and returns the number of
    /// coordinates that it lacks.
    fn add_to_present(&mut self, factor: f64, other: &Self) -> usize {
        let mut missing = 0;
        let mut at = 0;
        for &(id, value) in &other.entries {
            while at < self.entries.len() && self.entries[at].0 < id {
                at += 1;
            }
            match self.entries.get_mut(at) {
                Some(entry) if entry.0 == id => entry.1 += factor * value,
                _ => missing += 1,
            }
        }
        missing
    }
}

impl FromIterator<(u64, f64)> for SparseVec {
    fn from_iter<I: IntoIterator<Item = (u64, f64)>>(iter: I) -> Self {
        let mut v = Self { entries: iter.into_iter().collect() };
        v.normalise();
        v
    }
}
