//! Checks that masses of links belong to a convex combination of outputs.

use super::pairs::{Gold, Pair};
use super::shape::MatchingShape;
use crate::problem::sparse::SparseVec;

/// Checks that there is a share t of the truth such that the rest is (1 − t) times a point of the
/// polytope of matchings: 0 ≤ μ ≤ 1, and the sums of rows and columns are within their bounds. That
/// polytope has no fractional corners, so these conditions suffice.
pub(super) fn check(
    shape: &MatchingShape,
    pair: &Pair<'_>,
    parts: &SparseVec,
    slack: f64,
) -> Result<(), String> {
    let candidates = pair.links().len();
    let mut masses = vec![0.0; candidates];
    for &(id, mass) in parts.entries() {
        let Some(entry) = usize::try_from(id).ok().and_then(|id| masses.get_mut(id)) else {
            return Err(format!("it has a part that does not exist: {id}"));
        };
        *entry += mass;
    }
    // Every condition has the form a·t ≤ b.
    let mut range = Range { least: 0.0, most: 1.0, slack };
    let name = |k: usize| format!("link {}-{}", pair.link(k).0, pair.link(k).1);
    let (mut rows, mut columns) =
        (vec![(0.0, 0.0); pair.rows() as usize], vec![(0.0, 0.0); pair.columns() as usize]);
    // Every link has a mass between 0 and 1.
    for (k, &mass) in masses.iter().enumerate() {
        let (row, column) = pair.link(k);
        let truth = f64::from(u8::from(pair.gold(k) == Gold::Sure));
        range.require(truth, mass).map_err(|()| format!("the mass of {} is {mass}", name(k)))?;
        range
            .require(1.0 - truth, 1.0 - mass)
            .map_err(|()| format!("the mass of {} is {mass}", name(k)))?;
        for end in [&mut rows[row as usize], &mut columns[column as usize]] {
            end.0 += mass;
            end.1 += truth;
        }
    }
    // Rows and columns keep their limits.
    for (side, most, ends) in
        [("row", shape.most_per_row, rows), ("column", shape.most_per_column, columns)]
    {
        let most = most as f64;
        for (at, (sum, truth)) in ends.into_iter().enumerate() {
            range.require(most - truth, most - sum).map_err(|()| {
                format!(
                    "the masses of {side} {at} sum to {sum}, but at most {most} links are allowed"
                )
            })?;
        }
    }
    Ok(())
}

/// The shares of the truth that are still possible.
struct Range {
    least: f64,
    most: f64,
    slack: f64,
}

impl Range {
    /// Adds the condition a·t ≤ b, up to the slack. Fails if no share is possible any more.
    fn require(&mut self, a: f64, b: f64) -> Result<(), ()> {
        let b = b + self.slack;
        if a > 0.0 {
            self.most = self.most.min(b / a);
        } else if a < 0.0 {
            self.least = self.least.max(b / a);
        } else if b < 0.0 {
            return Err(());
        }
        if self.least > self.most { Err(()) } else { Ok(()) }
    }
}
