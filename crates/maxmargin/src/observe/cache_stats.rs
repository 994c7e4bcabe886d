//! Statistics of a cache.

/// Statistics of a cache so far.
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
    /// Corners that are remembered now, including those that carry mass.
    pub corners: u64,
    /// The memory of these corners in bytes.
    pub bytes: u64,
}
