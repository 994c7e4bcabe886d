//! Checks that masses are those of a distribution over segmentations.

use super::problem::{Part, SegmentChain};
use crate::problem::sparse::SparseVec;

/// Checks that the masses are a flow of size 1 from the first token to the last one: at each place and for
/// each label, segments that end there have the mass of the pairs that leave them, and segments that begin
/// there have the mass of the pairs that enter them. A flow without cycles is a convex combination of paths,
/// so these conditions suffice. The loss must belong to the masses.
pub(super) fn check(
    chain: &SegmentChain,
    i: usize,
    parts: &SparseVec,
    loss: f64,
    slack: f64,
) -> Result<(), String> {
    let (labels, longest) = (chain.shape().labels, chain.shape().longest);
    let tokens = chain.data().tokens(i);
    // What ends with a label at a place minus the pairs that leave it, and what begins minus what enters.
    let mut leaving = vec![0.0; (tokens + 1) * labels];
    let mut entering = vec![0.0; (tokens + 1) * labels];
    let mut own = 0.0;
    for &(id, mass) in parts.entries() {
        if mass < -slack {
            return Err(format!("a mass is negative: {mass:e}"));
        }
        match chain.part(id) {
            Part::Segment { start, length, label }
                if start + length <= tokens && length <= longest =>
            {
                entering[start * labels + label] += mass;
                leaving[(start + length) * labels + label] += mass;
                own += mass * chain.segment_loss(i, start, length, label);
            }
            Part::Pair { start, first, second } if 0 < start && start < tokens => {
                leaving[start * labels + first] -= mass;
                entering[start * labels + second] -= mass;
            }
            part => return Err(format!("it has a part that does not exist: {part:?}")),
        }
    }
    for (what, sums, place) in [("begin", &entering, 0), ("end", &leaving, tokens)] {
        let sum: f64 = sums[place * labels..][..labels].iter().sum();
        if (sum - 1.0).abs() > slack {
            return Err(format!(
                "the segments that {what} the sequence have the mass {sum}, not 1"
            ));
        }
    }
    for place in 1..tokens {
        for (what, sums) in [("end", &leaving), ("begin", &entering)] {
            let off = |y: &usize| sums[place * labels + y].abs() > slack;
            if let Some(y) = (0..labels).find(off) {
                return Err(format!(
                    "segments of label {y} that {what} at token {place} and their pairs differ by {:e}",
                    sums[place * labels + y]
                ));
            }
        }
    }
    if (own - loss).abs() > slack * (1.0 + own.abs()) {
        return Err(format!("its loss is stated as {loss}, but is {own}"));
    }
    Ok(())
}
