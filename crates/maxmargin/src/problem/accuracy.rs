//! Oracles of a requested accuracy: how much of the maximum a visit asks for.

use super::Problem;

/// How close to the maximum of Hᵢ(y; w) an answer of [`OracleWithin`] has to come.
///
/// ```
/// use maxmargin::problem::Accuracy;
///
/// // An output has the value 3, and no output has more than 4.
/// assert!(!Accuracy::Exact.accepts(3.0, 4.0));
/// assert!(Accuracy::Within(1.0).accepts(3.0, 4.0));
/// // Three quarters of the way from 0 to 4, but no more than half of that from 2 to 4.
/// assert!(Accuracy::Share { share: 0.75, above: 0.0 }.accepts(3.0, 4.0));
/// assert!(!Accuracy::Share { share: 0.75, above: 2.0 }.accepts(3.0, 4.0));
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Accuracy {
    /// The best that the oracle can find, as [`oracle`](Problem::oracle) does.
    Exact,
    /// An additive error ε: the value is at least max Hᵢ(y; w) − ε.
    Within(f64),
    /// A multiplicative accuracy ν: the answer covers at least this share of the distance from the value of the block's
    /// own point, which is reached already, to the maximum.
    Share {
        /// ν ∈ (0, 1].
        share: f64,
        /// The value of the block's own point.
        above: f64,
    },
}

impl Accuracy {
    /// Whether an output with the loss-augmented score `value` is accurate enough, if no output has more than `most`.
    pub fn accepts(self, value: f64, most: f64) -> bool {
        match self {
            Self::Exact => value >= most,
            Self::Within(error) => value >= most - error,
            Self::Share { share, above } => value - above >= share * (most - above),
        }
    }
}

/// A problem whose oracle can be asked for less than the maximum, or that knows how far it may be from it.
///
/// - A search that can stop early saves time where a visit asks for
///   [less](crate::BlockCoordinate::accuracy) than the maximum.
/// - If a [heuristic](crate::Quality::Heuristic) oracle knows what it may have missed, the certificate can say how much
///   larger the true gap may be ([`Certificate::missed`](crate::Certificate::missed)).
///
/// ```
/// use maxmargin::problem::{Abilities, Accuracy, OracleWithin};
/// use maxmargin::{BlockCoordinate, OracleAccuracy, Problem, Settings, SparseVec, train};
///
/// /// Guess a number from 0 to 9. Wrong numbers are tried from the largest loss downwards.
/// struct Guesses(Vec<usize>);
///
/// impl Problem for Guesses {
///     # type Output = usize;
///     # type Workspace = ();
///     # fn examples(&self) -> usize { self.0.len() }
///     # fn dim(&self) -> usize { 10 }
///     # fn workspace(&self) {}
///     # fn decode(&self, _: usize, w: &[f64], _: &mut (), y: &mut usize) {
///     #     *y = (0..10).max_by(|a, b| w[*a].total_cmp(&w[*b])).unwrap();
///     # }
///     # fn psi(&self, i: usize, y: &usize, psi: &mut SparseVec) {
///     #     psi.push(self.0[i] as u64, 1.0);
///     #     psi.push(*y as u64, -1.0);
///     # }
///     # fn loss(&self, i: usize, y: &usize) -> f64 { (*y as f64 - self.0[i] as f64).abs() / 9.0 }
///     // …
///     fn oracle(&self, i: usize, w: &[f64], workspace: &mut (), y: &mut usize) {
///         self.oracle_within(i, w, Accuracy::Exact, workspace, y);
///     }
///     fn abilities(&self) -> Abilities<'_, (), usize> {
///         Abilities { within: Some(self), ..Abilities::none() }
///     }
/// }
///
/// impl OracleWithin for Guesses {
///     fn oracle_within(&self, i: usize, w: &[f64], accuracy: Accuracy, _: &mut (), y: &mut usize) -> f64 {
///         let mut order: Vec<usize> = (0..10).collect();
///         order.sort_by(|a, b| self.loss(i, b).total_cmp(&self.loss(i, a)));
///         let largest = w.iter().copied().fold(f64::NEG_INFINITY, f64::max) - w[self.0[i]];
///         let (mut best, mut most) = (f64::NEG_INFINITY, f64::INFINITY);
///         for tried in order {
///             // No number from here on has more loss than this one.
///             most = (self.loss(i, &tried) + largest).max(best);
///             if accuracy.accepts(best, most) {
///                 return most - best;
///             }
///             let value = self.loss(i, &tried) + w[tried] - w[self.0[i]];
///             if value > best {
///                 (best, *y) = (value, tried);
///             }
///         }
///         0.0
///     }
/// }
///
/// let method = BlockCoordinate { accuracy: OracleAccuracy::Share(0.5), ..BlockCoordinate::default() };
/// let settings = Settings { lambda: Some(0.1), method: method.into(), ..Settings::default() };
/// assert!(train(&Guesses(vec![3, 1, 4]), &settings)?.certificate.gap <= 0.01);
/// # Ok::<(), maxmargin::TrainError>(())
/// ```
pub trait OracleWithin: Problem {
    /// y ← an output whose loss-augmented score Hᵢ(y; w) is as close to the maximum as `accuracy` asks. Returns how
    /// much larger the maximum can be: an upper bound of max Hᵢ − Hᵢ(y; w), or infinity if none is known.
    ///
    /// Like [`oracle`](Problem::oracle), it is called after [`prepare`](super::Parts::prepare), and its answer must
    /// depend on its arguments alone. With [`Accuracy::Exact`] it must find what `oracle` finds.
    fn oracle_within(
        &self,
        i: usize,
        w: &[f64],
        accuracy: Accuracy,
        workspace: &mut Self::Workspace,
        y: &mut Self::Output,
    ) -> f64;
}
