//! Parses pieces on several threads, and joins them in order.

use super::cut::{Piece, Pieces};
use crate::error::DataError;
use crate::in_order::work_in_order;

/// Calls `parse` for the pieces on several threads, and `join` for the results in the order of the input. Stops at
/// the first error of `join`.
pub(super) fn read_pieces<P: Send>(
    mut pieces: Pieces,
    parse: impl Fn(Piece) -> P + Sync,
    join: impl FnMut(P) -> Result<(), DataError> + Send,
) -> Result<(), DataError> {
    let threads = pieces.threads();
    let next = move || pieces.next();
    work_in_order(threads, next, |piece| piece.is_last, || (), |(), piece| parse(piece), join)
}
