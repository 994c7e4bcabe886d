//! Training on several machines: shards that propose steps, and a coordinator that combines them.
//!
//! Each of K shards holds some of the examples and their blocks of the dual. In a round, a [`ShardSolver`]
//! works on its own blocks at a copy of w and proposes (Δwₖ, Δℓₖ). The dual of all blocks,
//! D = ℓ − λ/2 ‖w‖², need not rise if all proposals are taken in full: every shard has used the room that
//! the others wanted too. So the [`Coordinator`] finds the best share of each, which is a small quadratic
//! program, and no round can lower the dual.
//!
//! | file | part |
//! |---|---|
//! | `shard.rs`, `local.rs`, `mix.rs`, `saved.rs` | the blocks of a shard: proposing, committing, checking, checkpoints |
//! | `coordinator.rs` | w = Σ wₖ, the step of a round, the certificate |
//! | `group_qp.rs` | the quadratic program over a product of simplices |
//! | `change.rs` | changes of w, sparse where most of it did not move |
//!
//! There is no network here: how messages travel is up to the caller. The Python package lets Ray or Dask
//! carry them.
//!
//! ```
//! use maxmargin::distributed::{Coordinator, ShardSolver, Whole};
//! use maxmargin::model::chain::{Chain, ChainShape, Hamming, Sequences};
//! use maxmargin::{Interrupt, Settings};
//!
//! // Two shards of one sentence each.
//! let shard = |words: [u32; 3], labels: [u32; 3]| -> Result<_, Box<dyn std::error::Error>> {
//!     let mut data = Sequences::new();
//!     for (word, label) in words.into_iter().zip(labels) {
//!         data.push_token([(word, 1.0)], label)?;
//!     }
//!     data.end_sequence(1.0)?;
//!     Ok(Chain::new(ChainShape::new(2, 4), data, &Hamming::default())?)
//! };
//! let (a, b) = (shard([3, 1, 2], [0, 1, 0])?, shard([0, 1, 3], [0, 1, 0])?);
//! let (whole, settings) = (Whole { lambda: 0.1, total_weight: 2.0 }, Settings::default());
//! let mut shards = [
//!     ShardSolver::new(&a, whole, &settings, Interrupt::new())?,
//!     ShardSolver::new(&b, whole, &settings, Interrupt::new())?,
//! ];
//! let mut coordinator = Coordinator::new(0.1, vec![0.0; 18], None);
//! for round in 1..=20 {
//!     let mut proposals = Vec::new();
//!     for shard in &mut shards {
//!         proposals.push(shard.propose(round, coordinator.sum(), 2)?);
//!     }
//!     let mixtures = coordinator.step(&proposals)?;
//!     for (shard, mixture) in shards.iter_mut().zip(&mixtures) {
//!         shard.commit(round, mixture)?;
//!     }
//! }
//! coordinator.add_up(shards.iter().map(|shard| (shard.sum(), shard.loss())))?;
//! let mut readings = Vec::new();
//! for shard in &mut shards {
//!     readings.push(shard.check(coordinator.sum())?);
//! }
//! assert!(coordinator.certificate(&readings)?.gap < 0.01);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod change;
mod coordinator;
mod group_qp;
mod local;
mod mix;
#[cfg(feature = "checkpoint")]
mod saved;
mod shard;

pub use change::Change;
pub use coordinator::{Coordinator, Mixture};
pub use shard::{Proposal, ShardReading, ShardSolver, Whole};

/// The number of earlier proposals that shards keep, and whose hull a coordinator searches. (With 16 shards of OCR,
/// older ones get no mass.)
const MEMORY: usize = 5;
