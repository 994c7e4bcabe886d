//! Closed forms for blocks that are simplices.

use crate::problem::sparse::SparseVec;

/// The parts, losses and scores of a [`Problem`](crate::Problem) whose blocks are simplices.
///
/// Every output of example i has at most one part, of mass 1. The parts are numbered 0 … Kᵢ − 1, and Bᵢ
/// maps them to orthogonal vectors of the same length. So a block is the set of masses μ ≥ 0 with sum 1,
/// or at most 1 if the truth has no part, and
///
/// ```text
/// ‖Bᵢp‖² = ‖Bᵢe₀‖²·‖p‖²
/// ```
///
/// Therefore the best point of a block, with all other blocks fixed, is a projection, and corners are so
/// simple that all blocks can be moved together. The direction `corrective` uses both facts.
///
/// ```
/// use maxmargin::{Problem, ProblemExt};
/// use maxmargin::model::LabelledRows;
/// use maxmargin::model::multiclass::{ClassLoss, Multiclass, MulticlassShape};
///
/// let mut data = LabelledRows::new();
/// data.push([(0, 2.0)], &[1], 1.0)?;
/// let problem = Multiclass::new(MulticlassShape::new(3, 1), data, ClassLoss::ZeroOne)?;
/// let (w, mut values) = ([0.5, 1.5, 1.0], Vec::new());
/// let simplices = problem.simplices().unwrap();
/// simplices.values(0, &w, &mut values);
/// assert_eq!(values, [2.0, 3.0, 3.0]); // loss and score of each class
/// assert_eq!((simplices.loss(0, 2), simplices.score(0, &w, 2)), (1.0, 2.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Simplices: Sync {
    /// Whether the truth has a part like any other output, so that masses sum to 1. If not, the truth has
    /// the mass that the other outputs leave.
    fn truth_has_part(&self) -> bool;

    /// The squared length ‖Bᵢe₀‖² of any part of example `i`.
    fn length_sq(&self, i: usize) -> f64;

    /// The loss of the output with this part.
    fn loss(&self, i: usize, part: u64) -> f64;

    /// The score ⟨w, Bᵢe⟩ of a part at any `w`, without preparation.
    fn score(&self, i: usize, w: &[f64], part: u64) -> f64;

    /// Fills `values` with loss + score of every part of example `i` at any `w`, without preparation.
    fn values(&self, i: usize, w: &[f64], values: &mut Vec<f64>);
}

/// Checks that masses are those of a distribution over `count` parts, up to `slack`.
pub(crate) fn check(parts: &SparseVec, count: usize, slack: f64) -> Result<(), String> {
    let mut sum = 0.0;
    for &(part, mass) in parts.entries() {
        if part >= count as u64 {
            return Err(format!("it has a part that does not exist: {part}"));
        }
        if mass < -slack {
            return Err(format!("a mass is negative: {mass:e}"));
        }
        sum += mass;
    }
    if (sum - 1.0).abs() > slack {
        return Err(format!("the masses sum to {sum}, not to 1"));
    }
    Ok(())
}
