//! What a problem can do beyond the methods that every problem has.

use super::Problem;
use super::expectations::Expectations;
use super::parts::Parts;
use super::quality::PointCheck;
use super::simplices::Simplices;
use super::sparse::SparseVec;

/// What a problem can do besides; [`Problem::abilities`] hands it out. `W` and `Y` are its workspace and
/// its output.
///
/// Every ability is a trait of its own that a problem implements and names here. Without any, the parts of
/// outputs are their features, and nothing else is known.
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
    /// Parts of its own, which are fewer than features.
    pub parts: Option<&'a dyn Parts<Workspace = W, Output = Y>>,
    /// The true outputs, so that Lᵢ(yᵢ) = 0 can be checked.
    pub truths: Option<&'a dyn Truths<Workspace = W, Output = Y>>,
    /// Checks of points of the dual.
    pub points: Option<&'a dyn CheckPoints>,
    /// An oracle with scaled losses.
    pub scaled_losses: Option<&'a dyn ScaledLosses<Workspace = W, Output = Y>>,
    /// Blocks that are simplices.
    pub simplices: Option<&'a dyn Simplices>,
    /// Expectations over outputs, which the solver `eg` works with in place of maxima.
    pub expectations: Option<&'a dyn Expectations<W>>,
    /// Another measure of the length of weights.
    pub own_length: Option<&'a dyn OwnLength>,
    /// Another objective that is worth watching.
    pub second_objective: Option<&'a dyn SecondObjective>,
    /// The sum C by which example weights are divided, where that is not their sum.
    pub total_weight: Option<f64>,
    /// Whether losses may be negative. Otherwise a negative loss ends the training as a mistake. The truth
    /// has no loss in any case.
    pub has_signed_losses: bool,
    /// Whether training skips its quick look at the [laws](super::Law) of the problem at the start, which
    /// takes three uncounted oracle calls for each of three examples. The models of this library do. Where
    /// calls take minutes, [check](fn@super::check) the problem once and set this.
    pub is_trusted: bool,
    /// Whether [`decode`](Problem::decode) maximises something else than −⟨w, ψᵢ(y)⟩. Under slack rescaling
    /// ψ is multiplied by the loss, and predictions are made without it.
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
            simplices: None,
            expectations: None,
            own_length: None,
            second_objective: None,
            total_weight: None,
            has_signed_losses: false,
            is_trusted: false,
            decodes_otherwise: false,
        }
    }
}

/// A problem that hands out its true outputs.
///
/// Every run and every regularization path checks Lᵢ(yᵢ) = 0 with them, on which the dual start, the
/// certificate and the path's guarantee rest, and refuses the problem
/// ([`TrainError::TruthLoss`](crate::TrainError::TruthLoss)) where that does not hold. Without them,
/// Lᵢ(yᵢ) = 0 is taken on trust.
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
/// Without it, a check shows nothing. [`audit`](crate::audit) and warm starts then look for outputs that a
/// point is made of, by calling the oracle; so does every other check that shows less than the certificate
/// needs.
pub trait CheckPoints: Sync {
    /// Checks that a part vector and a loss are those of a convex combination of outputs of example `i`,
    /// up to `slack` in every mass, and says how much the check has shown.
    ///
    /// # Errors
    /// What is violated, in words.
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
/// Only a matter of speed: the weights of a subgradient method shrink a little with every step, all of
/// them, and with this they need not be touched. The oracle at s·w has the same answer as that at w with
/// losses times 1/s. A problem whose ψ is not that of its decoder (see
/// [`SlackRescaled`](crate::SlackRescaled)) must have it: without the loss, [`decode`](Problem::decode)
/// finds the maximum of another function.
pub trait ScaledLosses: Problem {
    /// As [`oracle`](Problem::oracle) with the loss times `factor` ≥ 0: y ← argmax factor·Lᵢ(y) −
    /// ⟨w, ψᵢ(y)⟩.
    fn oracle_with_loss(
        &self,
        i: usize,
        w: &[f64],
        factor: f64,
        workspace: &mut Self::Workspace,
        y: &mut Self::Output,
    );
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

/// A problem that stands for another one, whose objective is worth watching: it is computed at exact
/// passes and [reported](crate::observe::Record::second), and steers nothing.
pub trait SecondObjective: Sync {
    /// The other objective of the weights.
    fn second_objective(&self, w: &[f64]) -> f64;
}
