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
    /// Those of the `hits` for which the block's own gap asked for more than the gap of all blocks did: the *local*
    /// criterion F·gᵢ of Osokin et al. (2016) decided, and in the other hits the *global* one, ν/n·g.
    #[cfg_attr(feature = "serde", serde(default))]
    pub local_hits: u64,
    /// Those of the `misses` whose best remembered corner failed the local criterion only.
    #[cfg_attr(feature = "serde", serde(default))]
    pub local_misses: u64,
    /// Those of the `misses` whose best remembered corner failed the global criterion only.
    #[cfg_attr(feature = "serde", serde(default))]
    pub global_misses: u64,
    /// Those of the `corners` that carry mass: the *active sets* of all blocks together. The others are idle.
    #[cfg_attr(feature = "serde", serde(default))]
    pub active: u64,
    /// Steps that took all mass from a corner, and went no further for that reason: *drop steps*.
    #[cfg_attr(feature = "serde", serde(default))]
    pub drops: u64,
}
