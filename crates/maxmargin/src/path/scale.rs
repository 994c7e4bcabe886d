//! A λ that does not depend on the units of features and losses.
//!
//! With λ = r/(c·n), where r = ‖ψ‖²/L is the squared length of a change per unit of its loss, an example
//! that uses up its whole share of the dual moves its own margin by ‖ψ‖²/(λn) = c·L: c times what the loss
//! asks for. Features that are s times as long make λ s² times as large, losses that are s times as large
//! divide it by s, and the margins, in units of the loss, stay as they are. So one c fits many data sets:
//! `benchmarks/results/2026-11-16-defaults.md` has what it was chosen by.
//!
//! r is measured at the corners that oracles find at w = 0, where only the loss speaks. An output of many
//! parts is wrong in all of them there, and what counts is the length of *one* changed part: the squared
//! lengths of the parts are added up, and the products between different parts left out. (With these, a
//! hundred nodes that are all wrong in the same way would seem a hundred times as long.) The features of a problem
//! without parts count as one part.

use crate::certificate::check_problem;
use crate::error::TrainError;
use crate::problem::Blocks;
use crate::problem::sparse::SparseVec;
use crate::util::rng::Rng;

/// How far an example may move its own margin, in units of its loss.
const REACH: f64 = 6.0;

/// The most examples that are looked at: their mean is known to a few percent then.
const MOST_EXAMPLES: usize = 500;

/// A λ that fits the scale of features and losses; see [`scale_lambda`].
///
/// ```
/// let scale = maxmargin::LambdaScale { lambda: 0.25, length: 2.0, spread: 1.0, examples: 2 };
/// assert_eq!(scale.lambda, 0.25);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct LambdaScale {
    /// λ.
    pub lambda: f64,
    /// The mean squared length of a changed part, per unit of loss.
    pub length: f64,
    /// The share of that length that is left when features are centred, or 1 if λ does not take this into account.
    pub spread: f64,
    /// The number of examples that were looked at.
    pub examples: usize,
}

/// The λ that fits the scale of a problem's features and losses: the mean squared length of a changed part per
/// unit of its loss, divided by 6n.
///
/// It needs no training: an oracle call for each of at most 500 examples, which `seed` draws. With example
/// weights, n is the effective number of examples, (Σ cᵢ)²/Σ cᵢ². Where no output has a loss or a length, it is
/// 1/n.
///
/// ```
/// use maxmargin::model::LabelledRows;
/// use maxmargin::model::binary::{Binary, BinaryShape};
/// use maxmargin::scale_lambda;
///
/// let problem = |unit: f64| {
///     let mut data = LabelledRows::new();
///     data.push([(0, unit)], &[1], 1.0)?;
///     data.push([(0, -3.0 * unit)], &[0], 1.0)?;
///     Ok::<_, Box<dyn std::error::Error>>(Binary::new(BinaryShape::new(1), data, 1)?)
/// };
/// let metres = scale_lambda(&problem(1.0)?, 1)?;
/// assert_eq!((metres.length, metres.examples), (5.0, 2));
/// assert_eq!(metres.lambda, 5.0 / (6.0 * 2.0));
/// assert_eq!(scale_lambda(&problem(100.0)?, 1)?.lambda, 1e4 * metres.lambda); // centimetres
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// A problem that makes no sense.
pub fn scale_lambda(problem: &dyn Blocks, seed: u64) -> Result<LambdaScale, TrainError> {
    check_problem(problem)?;
    let n = problem.examples();
    let (mut worker, w) = (problem.worker(), vec![0.0; problem.dim()]);
    let (mut corner, mut truth) = (SparseVec::new(), SparseVec::new());
    let (mut change, mut single) = (SparseVec::new(), SparseVec::new());
    let (mut sum, mut weights, mut examples) = (0.0, 0.0, 0);
    for i in sample(n, seed) {
        worker.find_corner(i, &w);
        let (loss, mut length) = (worker.loss(i), 0.0);
        for piece in 0..problem.pieces(i) {
            worker.describe_piece(i, piece, &mut corner);
            problem.truth_piece(i, piece, &mut truth);
            change.assign_difference(&truth, &corner);
            for &(part, mass) in change.entries() {
                single.clear();
                single.push(part, mass);
                length += worker.norm_sq(i, &single);
            }
        }
        let ratio = length / loss;
        if loss > 0.0 && ratio > 0.0 && ratio.is_finite() {
            let weight = problem.weight(i);
            sum += weight * ratio;
            weights += weight;
            examples += 1;
        }
    }
    let total = problem.total_weight();
    let squares: f64 = (0..n).map(|i| (problem.weight(i) / total).powi(2)).sum();
    if examples == 0 {
        return Ok(LambdaScale { lambda: squares, length: 0.0, spread: 1.0, examples });
    }
    let length = sum / weights;
    Ok(LambdaScale { lambda: length * squares / REACH, length, spread: 1.0, examples })
}

/// All of n examples, or some of them at random, in their order.
fn sample(n: usize, seed: u64) -> Vec<usize> {
    if n <= MOST_EXAMPLES {
        return (0..n).collect();
    }
    let mut rng = Rng::new(seed);
    // One of each stretch of examples, so that data in some order are looked at everywhere.
    let stretch = |k: usize| k * n / MOST_EXAMPLES;
    let draw = |k| stretch(k) + rng.below(stretch(k + 1) - stretch(k));
    (0..MOST_EXAMPLES).map(draw).collect()
}
