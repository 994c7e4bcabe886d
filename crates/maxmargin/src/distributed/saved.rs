//! The blocks of a shard as bytes, so that a worker that is started anew need not begin at the truth.

use super::proposal::Whole;
use super::shard::ShardSolver;
use crate::certificate::first_misfit;
use crate::dual::Block;
use crate::error::TrainError;
use crate::problem::Blocks;
use crate::run::Interrupt;
use crate::run::bytes::{append, from_bytes};
use crate::run::checkpoint::envelope::Envelope;
use crate::run::checkpoint::{CheckpointError, signature};
use crate::settings::Settings;
use std::borrow::Cow;

/// The first bytes of every shard.
const ENVELOPE: Envelope = Envelope { magic: *b"mmshrd\r\n", layout: 1 };

#[derive(serde::Serialize, serde::Deserialize)]
struct Saved<'a> {
    /// What tells the problem from others.
    signature: u64,
    /// The round of the last commit.
    round: u64,
    blocks: Cow<'a, [Block]>,
}

impl<'p> ShardSolver<'p> {
    /// The blocks as they were committed last, with a check sum.
    ///
    /// # Panics
    /// Never: everything in it can be written down.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        ENVELOPE.begin(&mut bytes);
        let (signature, blocks) = (signature(self.problem), Cow::Borrowed(&self.present[..]));
        ENVELOPE.seal(append(&Saved { signature, round: self.round(), blocks }, bytes))
    }

    /// A shard that goes on from what [`to_bytes`](Self::to_bytes) has written. Whatever the others have
    /// committed since, its point is feasible, so the weights of all shards only have to be added up again.
    ///
    /// # Errors
    /// As [`new`](Self::new); and bytes that are something else, damaged, or of another problem.
    pub fn restore(
        problem: &'p dyn Blocks,
        whole: Whole,
        settings: &Settings,
        interrupt: Interrupt,
        bytes: &[u8],
    ) -> Result<Self, TrainError> {
        let why = |why: String| TrainError::Resume { why };
        let content = ENVELOPE.open(bytes).map_err(|error| match error {
            CheckpointError::Foreign => why("it is not a checkpoint of a shard".to_owned()),
            error => why(error.to_string()),
        })?;
        let saved: Saved<'static> =
            from_bytes(content).ok_or_else(|| why("it is cut short or damaged".to_owned()))?;
        if saved.blocks.len() != problem.examples() || saved.signature != signature(problem) {
            return Err(why("it is of other examples".to_owned()));
        }
        let mut shard =
            Self::start(problem, whole, settings, interrupt, saved.blocks.into_owned())?;
        let (present, workers) = shard.present_and_workers();
        if let Some((example, misfit)) = first_misfit(problem, workers, present) {
            return Err(why(format!("in example {example}, {misfit}")));
        }
        shard.committed = saved.round;
        Ok(shard)
    }
}
