//! Optional abilities of problems, in addition to the methods that every problem has.

use super::accuracy::OracleWithin;
use super::expectations::Expectations;
use super::parts::Parts;
use super::quality::PointCheck;
use super::simplices::Simplices;
use super::sparse::SparseVec;
use super::{Blocks, Problem};
use std::ops::Range;

/// The optional abilities of a problem, as [`Problem::abilities`] returns them. `W` and `Y` are the
/// problem's workspace and output.
///
/// Each ability is a separate trait. A problem implements the traits it supports and names them here.
/// Without any ability, the features of an output serve as its parts.
///
/// ```
/// use maxmargin::problem::{Abilities, Truths};
/// use maxmargin::{Problem, ProblemExt, SparseVec};
///
/// /// Which of two boxes is meant? The example says so itself.
/// struct Boxes(Vec<usize>);
///
/// impl Problem for Boxes {
///     # type Output = usize;
///     # type Workspace = ();
///     # fn examples(&self) -> usize { self.0.len() }
///     # fn dim(&self) -> usize { 1 }
///     # fn workspace(&self) {}
///     # fn oracle(&self, i: usize, _: &[f64], _: &mut (), y: &mut usize) { *y = 1 - self.0[i]; }
///     # fn decode(&self, _: usize, w: &[f64], _: &mut (), y: &mut usize) {
///     #     *y = usize::from(w[0] > 0.0);
///     # }
///     # fn psi(&self, i: usize, y: &usize, psi: &mut SparseVec) {
///     #     psi.push(0, self.0[i] as f64 - *y as f64);
///     # }
///     # fn loss(&self, i: usize, y: &usize) -> f64 { if *y == self.0[i] { 0.0 } else { 1.0 } }
///     // …
///     fn abilities(&self) -> Abilities<'_, (), usize> {
///         Abilities { truths: Some(self), ..Abilities::none() }
///     }
/// }
///
/// impl Truths for Boxes {
///     fn truth(&self, i: usize) -> usize { self.0[i] }
/// }
///
/// assert_eq!(ProblemExt::truth(&Boxes(vec![1, 0]), 0), Some(1));
/// ```
pub struct Abilities<'a, W, Y> {
    /// Parts that are smaller than feature vectors.
    pub parts: Option<&'a dyn Parts<Workspace = W, Output = Y>>,
    /// The true outputs, so that Lᵢ(yᵢ) = 0 can be checked.
    pub truths: Option<&'a dyn Truths<Workspace = W, Output = Y>>,
    /// Checks of dual points.
    pub points: Option<&'a dyn CheckPoints>,
    /// An oracle with scaled losses.
    pub scaled_losses: Option<&'a dyn ScaledLosses<Workspace = W, Output = Y>>,
    /// An oracle of a requested accuracy, which knows what it may have missed.
    pub within: Option<&'a dyn OracleWithin<Workspace = W, Output = Y>>,
    /// See [`Batched`].
    pub batched: Option<&'a dyn Batched<Workspace = W, Output = Y>>,
    /// Closed forms for blocks that are simplices.
    pub simplices: Option<&'a dyn Simplices>,
    /// Expectations over outputs, which the solver `eg` uses instead of maxima.
    pub expectations: Option<&'a dyn Expectations<W>>,
    /// A length of weight vectors that is not the Euclidean one.
    #[cfg(feature = "unstable")]
    pub own_length: Option<&'a dyn OwnLength>,
    /// A second objective to report.
    #[cfg(feature = "unstable")]
    pub second_objective: Option<&'a dyn SecondObjective>,
    /// The problem at another λ, if it is made for one.
    #[cfg(feature = "unstable")]
    pub at_lambda: Option<&'a dyn AtLambda>,
    /// The number C that example weights are divided by, if it is not their sum.
    pub total_weight: Option<f64>,
    /// Whether losses may be negative. If not, training treats a negative loss as a mistake and ends with
    /// an error. The loss of the truth is 0 in either case.
    pub has_signed_losses: bool,
    /// Whether training skips the quick check of the [laws](super::Law) at its start. The check makes
    /// three uncounted oracle calls for each of three examples. The models of this library skip it. If
    /// your oracle takes minutes, [check](fn@super::check) the problem once and set this flag.
    pub is_trusted: bool,
    /// Whether [`decode`](Problem::decode) maximises something other than −⟨w, ψᵢ(y)⟩. Slack rescaling,
    /// for example, multiplies ψ by the loss, but predictions do not use the loss.
    pub decodes_otherwise: bool,
}

impl<W, Y> Abilities<'_, W, Y> {
    /// No abilities.
    pub fn none() -> Self {
        Self {
            parts: None,
            truths: None,
            points: None,
            scaled_losses: None,
            within: None,
            batched: None,
            simplices: None,
            expectations: None,
            #[cfg(feature = "unstable")]
            own_length: None,
            #[cfg(feature = "unstable")]
            second_objective: None,
            #[cfg(feature = "unstable")]
            at_lambda: None,
            total_weight: None,
            has_signed_losses: false,
            is_trusted: false,
            decodes_otherwise: false,
        }
    }
}

/// Abilities that need the feature `unstable`, because only unstable items use them.
#[cfg(feature = "unstable")]
impl<'a, W, Y> Abilities<'a, W, Y> {
    pub(crate) fn own_length(&self) -> Option<&'a dyn OwnLength> {
        self.own_length
    }

    pub(crate) fn second_objective(&self) -> Option<&'a dyn SecondObjective> {
        self.second_objective
    }

    pub(crate) fn at_lambda(&self) -> Option<&'a dyn AtLambda> {
        self.at_lambda
    }
}

#[cfg(not(feature = "unstable"))]
impl<'a, W, Y> Abilities<'a, W, Y> {
    pub(crate) fn own_length(&self) -> Option<&'a dyn OwnLength> {
        None
    }

    pub(crate) fn second_objective(&self) -> Option<&'a dyn SecondObjective> {
        None
    }

    pub(crate) fn at_lambda(&self) -> Option<&'a dyn AtLambda> {
        None
    }
}

/// A problem that hands out its true outputs.
///
/// Every run and every regularization path uses them to check Lᵢ(yᵢ) = 0, because the dual start, the
/// certificate and the guarantee of the path rest on it. A problem that violates it is refused
/// ([`TrainError::TruthLoss`](crate::TrainError::TruthLoss)). Without this ability, Lᵢ(yᵢ) = 0 is taken
/// on trust.
///
/// ```
/// # use maxmargin::problem::{Abilities, Truths};
/// # use maxmargin::{Problem, Settings, SparseVec, TrainError, train};
/// /// Numbers 0 or 1, and a loss that charges for right answers too.
/// struct Unfair(Vec<usize>);
///
/// impl Problem for Unfair {
///     # type Output = usize;
///     # type Workspace = ();
///     # fn examples(&self) -> usize { self.0.len() }
///     # fn dim(&self) -> usize { 1 }
///     # fn workspace(&self) {}
///     # fn oracle(&self, i: usize, _: &[f64], _: &mut (), y: &mut usize) { *y = 1 - self.0[i]; }
///     # fn decode(&self, _: usize, w: &[f64], _: &mut (), y: &mut usize) {
///     #     *y = usize::from(w[0] > 0.0);
///     # }
///     # fn psi(&self, i: usize, y: &usize, psi: &mut SparseVec) {
///     #     psi.push(0, self.0[i] as f64 - *y as f64);
///     # }
///     // …
///     fn loss(&self, i: usize, y: &usize) -> f64 { if *y == self.0[i] { 0.25 } else { 1.0 } }
///     fn abilities(&self) -> Abilities<'_, (), usize> {
///         Abilities { truths: Some(self), ..Abilities::none() }
///     }
/// }
///
/// impl Truths for Unfair {
///     fn truth(&self, i: usize) -> usize { self.0[i] }
/// }
///
/// let error = train(&Unfair(vec![0, 1]), &Settings::default()).unwrap_err();
/// assert_eq!(error, TrainError::TruthLoss { example: 0, loss: 0.25 });
/// ```
pub trait Truths: Problem {
    /// The true output yᵢ.
    fn truth(&self, i: usize) -> Self::Output;
}

/// A problem that can check points of its dual.
///
/// If a problem does not have this ability, or if its check shows less than a certificate needs,
/// [`audit`](crate::audit) and warm starts call the oracle to search for outputs that make up the point.
pub trait CheckPoints: Sync {
    /// Checks that a part vector and a loss are those of a convex combination of outputs of example `i`,
    /// up to `slack` in every mass. Returns how much the check has shown.
    ///
    /// # Errors
    /// Returns a description of what is violated.
    fn check_point(
        &self,
        i: usize,
        parts: &SparseVec,
        loss: f64,
        slack: f64,
    ) -> Result<PointCheck, String>;
}

/// A problem whose oracle can scale losses.
///
/// This ability makes subgradient methods faster. Such a method shrinks all weights a little in every
/// step, and with a scaled loss it does not have to touch them: the oracle at s·w has the same answer as
/// the oracle at w with losses multiplied by 1/s. A problem whose decoder does not use ψ (see
/// [`SlackRescaled`](crate::SlackRescaled)) must have this ability, because its
/// [`decode`](Problem::decode) maximises another function than the oracle without the loss.
pub trait ScaledLosses: Problem {
    /// Like [`oracle`](Problem::oracle), but with the loss multiplied by `factor` ≥ 0: y ← argmax
    /// factor·Lᵢ(y) − ⟨w, ψᵢ(y)⟩.
    fn oracle_with_loss(
        &self,
        i: usize,
        w: &[f64],
        factor: f64,
        workspace: &mut Self::Workspace,
        y: &mut Self::Output,
    );

    /// y ← the output of example `i` with the largest `value(Lᵢ(y), ⟨w, φᵢ(y)⟩)`, where the value rises with the score.
    /// Returns `false` and leaves `y` unchanged if the problem cannot find it, which is the default. The search of
    /// slack rescaling asks for it where weights of the loss do not tell enough. It is called after
    /// [`prepare`](super::Parts::prepare).
    #[cfg(feature = "unstable")]
    fn oracle_by_loss(
        &self,
        i: usize,
        w: &[f64],
        value: &dyn Fn(f64, f64) -> f64,
        workspace: &mut Self::Workspace,
        y: &mut Self::Output,
    ) -> bool {
        let _ = (i, w, value, workspace, y);
        false
    }
}

/// A problem whose oracle does better if it hears of several calls at once.
///
/// ```
/// use maxmargin::problem::{Abilities, Batched};
/// use maxmargin::{Problem, Settings, SparseVec, train};
/// use std::ops::Range;
/// use std::sync::atomic::{AtomicUsize, Ordering};
///
/// /// Numbers 0 or 1, and how often calls were announced. Answers wait in the workspace, the last one first.
/// struct Numbers(Vec<usize>, AtomicUsize);
///
/// impl Problem for Numbers {
///     # type Output = usize;
///     type Workspace = Vec<usize>;
///     # fn examples(&self) -> usize { self.0.len() }
///     # fn dim(&self) -> usize { 1 }
///     # fn workspace(&self) -> Vec<usize> { Vec::new() }
///     # fn decode(&self, _: usize, w: &[f64], _: &mut Vec<usize>, y: &mut usize) {
///     #     *y = usize::from(w[0] > 0.0);
///     # }
///     # fn psi(&self, i: usize, y: &usize, psi: &mut SparseVec) {
///     #     psi.push(0, self.0[i] as f64 - *y as f64);
///     # }
///     # fn loss(&self, i: usize, y: &usize) -> f64 { if *y == self.0[i] { 0.0 } else { 1.0 } }
///     // …
///     fn oracle(&self, i: usize, w: &[f64], answers: &mut Vec<usize>, y: &mut usize) {
///         *y = answers.pop().unwrap_or_else(|| self.best(i, w));
///     }
///     fn abilities(&self) -> Abilities<'_, Vec<usize>, usize> {
///         Abilities { batched: Some(self), ..Abilities::none() }
///     }
/// }
///
/// impl Batched for Numbers {
///     fn announce(&self, examples: Range<usize>, w: &[f64], answers: &mut Vec<usize>) {
///         self.1.fetch_add(1, Ordering::Relaxed);
///         *answers = examples.rev().map(|i| self.best(i, w)).collect();
///     }
/// }
///
/// # impl Numbers {
/// #     fn best(&self, i: usize, w: &[f64]) -> usize {
/// #         let other = 1 - self.0[i];
/// #         let gain = 1.0 + w[0] * (other as f64 - self.0[i] as f64);
/// #         if gain > 0.0 { other } else { self.0[i] }
/// #     }
/// # }
/// let problem = Numbers(vec![1, 0, 1], AtomicUsize::new(0));
/// assert!(train(&problem, &Settings::default())?.certificate.gap <= 0.01);
/// assert!(problem.1.into_inner() > 0);
/// # Ok::<(), maxmargin::TrainError>(())
/// ```
pub trait Batched: Problem {
    /// Tells that [`oracle`](Problem::oracle) will be called for `examples`, one after the other, at `w` and with this
    /// workspace. The answers may be worked out here, all in one go or in one message to somewhere else, and kept in
    /// the workspace. They must be those that `oracle` would give by itself, so that results do not depend on how many
    /// calls are announced at once.
    ///
    /// Passes over all examples at the same weights announce their calls, and then ask for every announced answer
    /// before they announce more. Single steps announce nothing.
    fn announce(&self, examples: Range<usize>, w: &[f64], workspace: &mut Self::Workspace);
}

/// A problem for which ‖w‖² is not the sum of the squares of `w`.
///
/// With [kernels](crate::kernel), weights are coefficients of vectors that are not orthogonal. Such a
/// problem must not have [`bounds`](Problem::bounds) on any weight: training and audits refuse it
/// ([`TrainError::BoundedLength`](crate::TrainError::BoundedLength)).
pub trait OwnLength: Sync {
    /// ‖w‖².
    fn weights_norm_sq(&self, w: &[f64]) -> f64;
}

/// A problem with a second objective that is worth watching, such as the objective of another problem
/// that this one approximates.
///
/// Exact passes compute and [report](crate::observe::Record::second) it. It does not influence training.
pub trait SecondObjective: Sync {
    /// The second objective of the weights `w`.
    fn second_objective(&self, w: &[f64]) -> f64;
}

/// A problem that is made for one λ, because its features depend on it.
///
/// A [grid](crate::lambda_grid) and the [search](crate::choose_lambda) for λ ask for the problem at every λ that they
/// train at. Dual points of one are dual points of all.
///
/// ```
/// # use maxmargin::doc::soft_pictures;
/// use maxmargin::{GridSettings, lambda_grid};
///
/// let settings = GridSettings { lambda_max: 0.5, lambda_min: 0.25, ..GridSettings::default() };
/// let grid = lambda_grid(&soft_pictures(1.0), &settings)?; // ρ is the same at every λ
/// assert_eq!(grid.breakpoints.len(), 2);
/// # Ok::<(), maxmargin::TrainError>(())
/// ```
pub trait AtLambda: Sync {
    /// The same problem at another λ, which is positive and finite.
    fn at_lambda(&self, lambda: f64) -> Box<dyn Blocks>;
}
