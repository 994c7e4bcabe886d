//! How well a cache did.

/// How well a cache has done so far.
///
/// ```
/// # use maxmargin::doc::toy;
/// use maxmargin::{BlockCoordinate, Caching, Settings, train};
///
/// let method = BlockCoordinate { cache: Caching::On, ..BlockCoordinate::default() }.into();
/// let totals = train(&toy(), &Settings { method, ..Settings::default() })?.totals;
/// let stats = totals.cache.unwrap();
/// assert_eq!(stats.hits + stats.misses, totals.visits);
/// # Ok::<(), maxmargin::TrainError>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct CacheStats {
    /// Visits that were served by a remembered corner.
    pub hits: u64,
    /// Visits that called the oracle.
    pub misses: u64,
    /// Corners remembered now, those that carry mass included.
    pub corners: u64,
    /// Bytes they take.
    pub bytes: u64,
}
