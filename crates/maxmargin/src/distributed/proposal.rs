//! What shards and their coordinator tell each other.

use super::change::Change;
use crate::problem::Quality;

/// What a shard has to know of the whole.
///
/// ```
/// // 1000 examples of weight 1 in all shards together.
/// let whole = maxmargin::distributed::Whole { lambda: 0.001, total_weight: 1000.0 };
/// assert_eq!(whole.lambda * whole.total_weight, 1.0);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Whole {
    /// The regularization strength λ.
    pub lambda: f64,
    /// The weights of the examples of all shards, added up.
    pub total_weight: f64,
}

/// How a shard works in a round.
///
/// The shard maximises a model of the dual: ℓ(α) − λ⟨w, Δwₖ⟩ − σ′λ/2 ‖Δwₖ‖². With σ′ = 1 it assumes that the others
/// stand still, and all together go too far. With σ′ = K it assumes that they move as it does, which is safe and slow.
///
/// ```
/// use maxmargin::distributed::Effort;
///
/// assert_eq!(Effort::among(16, 5), Effort { passes: 5, caution: 8.0 });
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Effort {
    /// Passes over the examples of the shard, after the exact pass with which a round begins.
    pub passes: usize,
    /// σ′, at least 1.
    pub caution: f64,
}

impl Effort {
    /// An effort that suits this many shards, with σ′ = K^¾. (On digits and small OCR in 2 to 16 shards, 1 and K take
    /// more rounds, and values between them differ little.)
    pub fn among(shards: usize, passes: usize) -> Self {
        let root = (shards.max(1) as f64).sqrt();
        Self { passes, caution: root * root.sqrt() }
    }
}

/// The way from where a shard is to another point of its blocks, in the scale of the whole.
///
/// ```
/// let nowhere = maxmargin::distributed::Way::default();
/// assert!(nowhere.change.values.is_empty() && nowhere.loss == 0.0);
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Way {
    /// Δwₖ.
    pub change: Change,
    /// Δℓₖ.
    pub loss: f64,
}

/// What a shard would like to change.
///
/// ```
/// let nothing = maxmargin::distributed::Proposal::default();
/// assert!(nothing.ways.is_empty());
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Proposal {
    /// The ways to the points that the shard could go to: where its passes have led, and the corner at which all of its
    /// oracles are best at the weights that were sent. (The planes of the bundle methods are such corners.)
    pub ways: Vec<Way>,
    /// What the exact pass at the weights that were sent has read.
    pub reading: ShardReading,
    /// The oracle calls of the shard so far.
    pub oracle_calls: u64,
}

/// What an exact pass has read of a shard, in the scale of the whole.
///
/// ```
/// assert!(!maxmargin::distributed::ShardReading::default().is_whole);
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ShardReading {
    /// Σ cᵢ/C max_y Hᵢ(y; w).
    pub risk: f64,
    /// The gaps of the blocks, added up.
    pub gap: f64,
    /// The size of losses and scores, to which rounding errors are relative.
    pub size: f64,
    /// How often the oracle has failed so far.
    pub failures: u64,
    /// What the oracle promises.
    pub quality: Quality,
    /// Whether all blocks were read. They were not if the shard was interrupted.
    pub is_whole: bool,
    /// How much larger the risk can be, if all oracles of the shard are heuristics that know what they may have missed.
    pub missed: Option<f64>,
}

/// How a shard's new point is made: the shares of points that it knows; its present point keeps the rest.
///
/// ```
/// let stay = maxmargin::distributed::Mixture::default();
/// assert!(stay.shares.is_empty()); // all mass on the present point
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Mixture {
    /// The shares of the points of the last proposal, and then of earlier ones, the latest first.
    pub shares: Vec<f64>,
    /// How many of these points are worth keeping for the next rounds, counted from the latest.
    pub keep: usize,
}
