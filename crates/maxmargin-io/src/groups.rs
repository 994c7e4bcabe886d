//! Sequences that are distinguished by a number in each of their lines.

use std::collections::HashMap;

use crate::error::DataError;
use crate::lines::Lines;

/// The numbers of all sequences so far, each with the line in which it began.
///
/// A number that comes back after another one means that a sequence was torn apart, perhaps because lines were
/// sorted or shuffled. Training on the pieces would succeed and be wrong.
#[derive(Debug)]
pub(crate) struct Groups {
    what: &'static str,
    begun: HashMap<u64, u64>,
    /// Why the line after a sequence cannot be read.
    held: Option<DataError>,
}

impl Groups {
    /// `what` names the number in messages.
    pub(crate) fn new(what: &'static str) -> Self {
        Self { what, begun: HashMap::new(), held: None }
    }

    /// Creates groups that know the numbers of the sequences before these, if there are any.
    pub(crate) fn after(what: &'static str, begun: Option<&HashMap<u64, u64>>) -> Self {
        Self { what, begun: begun.cloned().unwrap_or_default(), held: None }
    }

    /// Goes to the next line. If the next line cannot be read, the current sequence ends there, so that its own
    /// mistakes are reported first. The next call then returns why the line cannot be read.
    pub(crate) fn advance(
        &mut self,
        lines: &mut Lines,
        has_tokens: bool,
    ) -> Result<bool, DataError> {
        if let Some(error) = self.held.take() {
            return Err(error);
        }
        match lines.advance() {
            Err(error) if has_tokens => {
                self.held = Some(error);
                Ok(false)
            }
            other => other,
        }
    }

    /// Notes that a sequence begins in the current line, where its number is at `byte`.
    pub(crate) fn begin(&mut self, id: u64, lines: &Lines, byte: usize) -> Result<(), DataError> {
        match self.begun.insert(id, lines.number()) {
            None => Ok(()),
            Some(first) => Err(DataError::ScatteredSequence {
                place: lines.place(byte),
                what: self.what,
                id,
                first,
            }),
        }
    }
}
