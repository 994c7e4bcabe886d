//! Semi-Markov chains: sequences that are cut into labelled segments, such as the words of a sentence into
//! phrases or a recording into notes.
//!
//! An output is a list of segments, each with a length of at most [`longest`](SegmentShape::longest) tokens
//! and a label, which together cover the sequence. In contrast to a [chain](super::chain), the score can
//! depend on a segment as a whole, on its length and on attributes of its own:
//!
//! ```text
//! ⟨w, φ(x, y)⟩ = Σ_segments (s, l, y)  Σ_{t=s}^{s+l−1} ⟨w_token[y], xₜ⟩       its tokens
//!                                     + ⟨w_first[y], xₛ⟩                     its first token, perhaps
//!                                     + ⟨w_segment[y], x_{s,l}⟩              its own attributes
//!                                     + w_length[l, y]                       its length
//!              + Σ_neighbours           w_transition[y, z]
//! ```
//!
//! The best output is found by dynamic programming over the places where segments end, in the time
//! O(T · labels · (longest + labels)). The loss is the share of tokens that have a wrong
//! label, or that wrongly begin or wrongly continue a segment; it is 0 for the true segments alone. A block of the dual is the share of each segment and of each pair of neighbouring labels at each
//! place: a flow through the sequence.
//!
//! [`Segmentations`] hold the data, [`SegmentShape`] says how many labels and attributes there are and how
//! long segments can be; together they make a [`SegmentChain`], the problem to train.

mod data;
mod feasible;
mod problem;
mod search;
mod shape;

pub use data::{Segment, Segmentations};
pub use problem::SegmentChain;
pub use shape::SegmentShape;
