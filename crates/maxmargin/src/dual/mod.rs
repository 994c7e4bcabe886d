//! The dual point, the weights w = Aα and the value D that belong to it, and how they move together.
//!
//! A block is kept in part space, as its expected parts μᵢ (see `docs/decisions/0001-part-space.md`).
//! [`DualState`] is the only place that moves blocks, w and D; everything else asks it to.

mod clipped;
mod long;
mod packed;
mod point;
mod pool;
mod rebuild;
mod state;
mod step;
mod workers;

pub(crate) use clipped::Clipped;
pub(crate) use long::{End, hinge_of_long};
pub use packed::PackedVec;
pub use point::{Block, DualPoint};
pub(crate) use point::{Corner, Move, Shares, add_weights, dual_value};
pub(crate) use rebuild::{Squares, chunk_product, has_own_length, length_sq, norm_sq};
pub use state::Drift;
pub(crate) use state::DualState;
pub(crate) use step::{Pace, Stride};
pub(crate) use workers::{Scratch, Workers};

#[cfg(test)]
mod tests;
