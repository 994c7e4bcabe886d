//! The trait [`Problem`], its optional abilities, wrappers around problems, and a check of their laws.

pub(crate) mod abilities;
mod accuracy;
pub(crate) mod blocks;
pub(crate) mod bounded;
pub(crate) mod bounds;
mod check;
pub(crate) mod expectations;
pub(crate) mod ext;
mod forward;
pub(crate) mod group_bounds;
pub(crate) mod parts;
pub(crate) mod quality;
pub(crate) mod simplices;
mod slack_finder;
pub(crate) mod slack_rescaled;
pub(crate) mod sparse;
pub(crate) mod sparse_accumulator;
mod view;

pub use abilities::{Abilities, Batched, CheckPoints, ScaledLosses, Truths};
#[cfg(feature = "unstable")]
pub use abilities::{AtLambda, OwnLength, SecondObjective};
pub use accuracy::{Accuracy, OracleWithin};
pub(crate) use bounds::Bounds;
pub(crate) use ext::ProblemExt;
pub use parts::{Parts, Target};
pub(crate) use quality::{PointCheck, Quality};
pub(crate) use simplices::Simplices;
#[cfg(feature = "unstable")]
pub use slack_finder::{EveryOutput, Search, SlackSearchError};
pub(crate) use sparse::{Sink, SparseVec};

pub(crate) use blocks::Blocks;
pub(crate) use check::check_quickly;
#[cfg(feature = "unstable")]
pub use check::check_with_outputs;
pub use check::{BrokenLaw, CheckOptions, Law, check, check_enumerable};
pub(crate) use view::Worker;

/// A structured prediction problem: examples (xᵢ, yᵢ), a joint feature map φ, a loss, and decoding.
///
/// Training minimises, with example weights cᵢ (1 by default) and C = Σ cᵢ,
///
/// ```text
/// P(w) = λ/2 ‖w‖² + Σᵢ cᵢ/C · max_y Hᵢ(y; w)
/// Hᵢ(y; w) = Lᵢ(y) − ⟨w, ψᵢ(y)⟩        the loss-augmented score
/// ψᵢ(y)    = φ(xᵢ, yᵢ) − φ(xᵢ, y)      the feature difference
/// ```
///
/// over all w within the problem's [bounds](Self::bounds).
///
/// Problems and solvers are independent: a problem knows nothing about solvers, and solvers use only this
/// trait.
///
/// # A problem of your own
///
/// Seven methods and two types suffice: [`examples`](Self::examples), [`dim`](Self::dim),
/// [`workspace`](Self::workspace), [`oracle`](Self::oracle), [`decode`](Self::decode),
/// [`loss`](Self::loss), [`psi`](Self::psi).
///
/// ```
/// use maxmargin::{Problem, Settings, SparseVec, train};
///
/// /// Is a number large? One feature per class.
/// struct Threshold { xs: Vec<f64>, ys: Vec<usize> }
///
/// impl Problem for Threshold {
///     type Output = usize;
///     type Workspace = ();
///     fn examples(&self) -> usize { self.xs.len() }
///     fn dim(&self) -> usize { 4 }
///     fn workspace(&self) {}
///     fn oracle(&self, i: usize, w: &[f64], _: &mut (), y: &mut usize) {
///         let value = |y| self.loss(i, &y) + w[2 * y] * self.xs[i] + w[2 * y + 1];
///         *y = if value(1) > value(0) { 1 } else { 0 };
///     }
///     fn decode(&self, i: usize, w: &[f64], _: &mut (), y: &mut usize) {
///         let value = |y: usize| w[2 * y] * self.xs[i] + w[2 * y + 1];
///         *y = if value(1) > value(0) { 1 } else { 0 };
///     }
///     fn loss(&self, i: usize, y: &usize) -> f64 { if *y == self.ys[i] { 0.0 } else { 1.0 } }
///     fn psi(&self, i: usize, y: &usize, psi: &mut SparseVec) {
///         for (class, sign) in [(self.ys[i], 1.0), (*y, -1.0)] {
///             psi.push(2 * class as u64, sign * self.xs[i]);
///             psi.push(2 * class as u64 + 1, sign);
///         }
///     }
/// }
///
/// let problem = Threshold { xs: vec![-2.0, -1.0, 1.0, 3.0], ys: vec![0, 0, 1, 1] };
/// let settings = Settings { lambda: Some(0.1), tolerance: 1e-6, ..Settings::default() };
/// let solution = train(&problem, &settings)?;
/// assert!(solution.certificate.gap <= 1e-6);
/// # Ok::<(), maxmargin::TrainError>(())
/// ```
///
/// A problem that only changes a few things about another one forwards the rest with
/// [`forward_problem!`](crate::forward_problem). [`check`](fn@check) tests whether a problem keeps the
/// laws that training relies on.
///
/// # Abilities
///
/// The seven methods make a complete problem. A problem whose scores are sums over small parts trains
/// faster if it implements [`Parts`]. It names this and its other optional traits in
/// [`abilities`](Self::abilities).
pub trait Problem: Sync {
    /// A structured output: a labelling, a matching, a set of labels.
    type Output: Clone + Default + Send + Sync;

    /// Scratch memory of one thread, so that oracles need not allocate.
    type Workspace: Send;

    /// Number of examples n, which is the number of blocks of the dual.
    fn examples(&self) -> usize;

    /// Number of features d.
    fn dim(&self) -> usize;

    /// Creates the scratch memory for one thread.
    fn workspace(&self) -> Self::Workspace;

    /// The max oracle, or loss-augmented decoding: y ← argmax Hᵢ(y; w).
    ///
    /// The engine calls [`prepare`](Parts::prepare) with the same `i` and `w` just before. `y` holds an
    /// earlier output, so that its memory can be reused. The answer must depend on `i` and `w` alone, so
    /// that runs can be repeated bit by bit. If the answer is not always the maximum,
    /// [`quality`](Self::quality) must say so, or the [`Certificate`](crate::Certificate) claims too
    /// much.
    fn oracle(&self, i: usize, w: &[f64], workspace: &mut Self::Workspace, y: &mut Self::Output);

    /// Plain decoding, which makes predictions: y ← argmax ⟨w, φ(xᵢ, y)⟩.
    ///
    /// As with [`oracle`](Self::oracle), the engine calls [`prepare`](Parts::prepare) first. If the
    /// oracle maximises over a relaxation, decoding must do so too, because the regularization path
    /// relies on it.
    fn decode(&self, i: usize, w: &[f64], workspace: &mut Self::Workspace, y: &mut Self::Output);

    /// The loss Lᵢ(y) ≥ 0, with Lᵢ(yᵢ) = 0. A problem that implements [`Truths`] lets training check the
    /// latter.
    fn loss(&self, i: usize, y: &Self::Output) -> f64;

    /// The feature difference ψᵢ(y) = φ(xᵢ, yᵢ) − φ(xᵢ, y).
    ///
    /// `psi` is empty when the method is called. Entries may be pushed in any order and repeatedly. All
    /// coordinates must be below [`dim`](Self::dim).
    fn psi(&self, i: usize, y: &Self::Output, psi: &mut SparseVec);

    /// The example weight cᵢ, positive and finite. The default is 1.
    fn weight(&self, _i: usize) -> f64 {
        1.0
    }

    /// What [`oracle`](Self::oracle) promises. The default is exact.
    ///
    /// The quality does not change how training proceeds. Corners are used as they are, and no step is
    /// taken that would not raise the dual. If the truth or a remembered corner is known to be better
    /// than the oracle's answer, it replaces the answer, and this is counted
    /// ([`Totals::oracle_failures`](crate::observe::Totals::oracle_failures)). The quality changes what
    /// the gap proves, so it is part of the [`Certificate`](crate::Certificate).
    fn quality(&self) -> Quality {
        Quality::Exact
    }

    /// Bounds on the weights. The default is `None`, which is equivalent to infinite bounds. Bounds must
    /// not change during a run.
    fn bounds(&self) -> Option<&Bounds> {
        None
    }

    /// The optional abilities of the problem, such as parts, checks and closed forms. The default is
    /// none.
    #[inline]
    fn abilities(&self) -> Abilities<'_, Self::Workspace, Self::Output> {
        Abilities::none()
    }
}
