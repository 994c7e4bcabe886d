//! Methods that use the abilities of a problem, with defaults for the abilities that it lacks.

use super::Problem;
use super::accuracy::Accuracy;
use super::expectations::Expectations;
use super::parts::Target;
use super::quality::PointCheck;
use super::simplices::Simplices;
use super::sparse::{Sink as _, SparseVec};

/// Methods of every problem that use its [abilities](Problem::abilities), with defaults for those that it
/// lacks.
///
/// Every [`Problem`] has these methods. To change what they do, implement the ability.
///
/// ```
/// # use maxmargin::doc::toy;
/// use maxmargin::{Problem, ProblemExt, SparseVec};
///
/// let chain = toy();
/// let w: Vec<f64> = (0..chain.dim()).map(|feature| 0.1 * feature as f64).collect();
/// let (mut parts, mut truth) = (SparseVec::new(), SparseVec::new());
/// chain.parts(0, &vec![1, 1, 0], &mut parts);
/// chain.truth_parts(0, &mut truth);
/// parts.add_scaled(-1.0, &truth);
/// let (mut all, mut some) = (chain.workspace(), chain.workspace());
/// chain.prepare(0, &w, &mut all);
/// chain.prepare_scores(0, &w, &mut some, std::slice::from_ref(&parts));
/// assert_eq!(chain.score(0, &w, &all, &parts), chain.score(0, &w, &some, &parts));
/// assert!(chain.expectations().is_some() && chain.simplices().is_none());
/// ```
pub trait ProblemExt: Problem {
    /// [`Parts::prepare`](super::Parts::prepare).
    fn prepare(&self, i: usize, w: &[f64], workspace: &mut Self::Workspace) {
        if let Some(own) = self.abilities().parts {
            own.prepare(i, w, workspace);
        }
    }

    /// [`Parts::prepare_scores`](super::Parts::prepare_scores).
    fn prepare_scores(
        &self,
        i: usize,
        w: &[f64],
        workspace: &mut Self::Workspace,
        points: &[SparseVec],
    ) {
        if let Some(own) = self.abilities().parts {
            own.prepare_scores(i, w, workspace, points);
        }
    }

    /// [`Parts::prefetch`](super::Parts::prefetch).
    fn prefetch(&self, i: usize) {
        if let Some(own) = self.abilities().parts {
            own.prefetch(i);
        }
    }

    /// [`Parts::parts`](super::Parts::parts), or the features −ψᵢ(y) of a problem without parts.
    ///
    /// # Panics
    /// If [`psi`](Problem::psi) has a coordinate that is not below [`dim`](Problem::dim).
    fn parts(&self, i: usize, y: &Self::Output, parts: &mut SparseVec) {
        match self.abilities().parts {
            Some(own) => own.parts(i, y, parts),
            None => feature_parts(self, i, y, parts),
        }
    }

    /// [`Parts::truth_parts`](super::Parts::truth_parts), or nothing: ψᵢ(yᵢ) = 0.
    fn truth_parts(&self, i: usize, parts: &mut SparseVec) {
        if let Some(own) = self.abilities().parts {
            own.truth_parts(i, parts);
        }
    }

    /// [`Parts::score`](super::Parts::score).
    fn score(&self, i: usize, w: &[f64], workspace: &Self::Workspace, parts: &SparseVec) -> f64 {
        match self.abilities().parts {
            Some(own) => own.score(i, w, workspace, parts),
            None => parts.dot_dense(w),
        }
    }

    /// [`Parts::norm_sq`](super::Parts::norm_sq).
    fn norm_sq(&self, i: usize, workspace: &mut Self::Workspace, parts: &SparseVec) -> f64 {
        match self.abilities().parts {
            Some(own) => own.norm_sq(i, workspace, parts),
            None => parts.norm_sq(),
        }
    }

    /// [`Parts::scatter`](super::Parts::scatter).
    fn scatter(&self, i: usize, scale: f64, parts: &SparseVec, mut target: Target<'_>) {
        match self.abilities().parts {
            Some(own) => own.scatter(i, scale, parts, target),
            None => {
                for &(feature, value) in parts.entries() {
                    target.add(feature as usize, scale * value);
                }
            }
        }
    }

    /// The true output yᵢ, if the problem [hands it out](super::Truths).
    fn truth(&self, i: usize) -> Option<Self::Output> {
        self.abilities().truths.map(|own| own.truth(i))
    }

    /// [`ScaledLosses::oracle_with_loss`](super::ScaledLosses::oracle_with_loss). Returns `false` and
    /// leaves `y` unchanged if the problem does not have this ability.
    fn oracle_with_loss(
        &self,
        i: usize,
        w: &[f64],
        factor: f64,
        workspace: &mut Self::Workspace,
        y: &mut Self::Output,
    ) -> bool {
        let own = self.abilities().scaled_losses;
        own.map(|own| own.oracle_with_loss(i, w, factor, workspace, y)).is_some()
    }

    /// [`OracleWithin::oracle_within`](super::OracleWithin::oracle_within). Returns `None` and leaves `y` unchanged if
    /// the problem does not have this ability.
    fn oracle_within(
        &self,
        i: usize,
        w: &[f64],
        accuracy: Accuracy,
        workspace: &mut Self::Workspace,
        y: &mut Self::Output,
    ) -> Option<f64> {
        Some(self.abilities().within?.oracle_within(i, w, accuracy, workspace, y))
    }

    /// [`CheckPoints::check_point`](super::CheckPoints::check_point). Returns [`PointCheck::Unproven`] if
    /// the problem does not have this ability.
    ///
    /// # Errors
    /// Returns a description of what is violated.
    fn check_point(
        &self,
        i: usize,
        parts: &SparseVec,
        loss: f64,
        slack: f64,
    ) -> Result<PointCheck, String> {
        match self.abilities().points {
            Some(own) => own.check_point(i, parts, loss, slack),
            None => Ok(PointCheck::Unproven),
        }
    }

    /// The closed forms for blocks that are simplices, if the problem has them.
    fn simplices(&self) -> Option<&dyn Simplices> {
        self.abilities().simplices
    }

    /// Expectations over outputs, if the problem has them.
    fn expectations(&self) -> Option<&dyn Expectations<Self::Workspace>> {
        self.abilities().expectations
    }

    /// ‖w‖² if the problem has its [own length](super::OwnLength); `None` if ‖w‖² is the sum of squares.
    fn weights_norm_sq(&self, w: &[f64]) -> Option<f64> {
        self.abilities().own_length().map(|own| own.weights_norm_sq(w))
    }

    /// The [second objective](super::SecondObjective) of the weights, if the problem has one.
    fn second_objective(&self, w: &[f64]) -> Option<f64> {
        self.abilities().second_objective().map(|own| own.second_objective(w))
    }

    /// The number C that example weights are divided by, which is their sum by default.
    fn total_weight(&self) -> f64 {
        let sum = || (0..self.examples()).map(|i| self.weight(i)).sum();
        self.abilities().total_weight.unwrap_or_else(sum)
    }

    /// Whether losses may be negative.
    fn has_signed_losses(&self) -> bool {
        self.abilities().has_signed_losses
    }
}

impl<P: Problem + ?Sized> ProblemExt for P {}

/// The features −ψᵢ(y), which serve as parts if a problem defines none.
pub(super) fn feature_parts<P: Problem + ?Sized>(
    problem: &P,
    i: usize,
    y: &P::Output,
    parts: &mut SparseVec,
) {
    problem.psi(i, y, parts);
    parts.normalise();
    if let Some(&(last, _)) = parts.entries().last() {
        let d = problem.dim();
        assert!(last < d as u64, "psi of example {i} has the coordinate {last}, but dim is {d}");
    }
    parts.scale(-1.0);
}
