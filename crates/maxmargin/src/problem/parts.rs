//! Part space: the parts of the outputs of a problem, and targets for feature vectors.

use super::Problem;
use super::sparse::{Sink, SparseVec};
use super::sparse_accumulator::SparseAccumulator;

/// The parts of a problem's outputs.
///
/// If the score of an output is a sum over its *parts* (a node with its label, an edge with its two
/// labels), a block of the dual is much smaller in parts than in features. An output has a sparse part
/// vector pᵢ(y), and a linear map Bᵢ takes parts to features,
///
/// ```text
/// Bᵢ (pᵢ(y) − pᵢ(yᵢ)) = φ(xᵢ, y) − φ(xᵢ, yᵢ) = −ψᵢ(y)
/// ```
///
/// The engine needs only three things from a part vector p: its score ⟨w, Bᵢp⟩, which comes from the
/// tables that the oracle has just filled; its length ‖Bᵢp‖², from a small Gram matrix; and the terms of
/// Bᵢp themselves, to move w. If a problem does not define parts, its features are its parts: pᵢ(y) =
/// −ψᵢ(y) and Bᵢ = I. The problem decides what a coordinate of a part vector means; the engine only
/// compares coordinates for order and equality. (The engine is a little faster if the upper 32 bits of
/// the coordinates number groups 0, 1, 2, …, such that every output has exactly one part in each group.)
///
/// A problem names its parts in [`Problem::abilities`]. Callers use them through
/// [`ProblemExt`](super::ProblemExt), which works for every problem.
///
/// ```
/// # use maxmargin::doc::toy;
/// use maxmargin::{Problem, ProblemExt, SparseVec};
///
/// let chain = toy();
/// let (i, y) = (1, vec![0, 1]); // the truth is [1, 1]
/// let (mut psi, mut parts, mut truth) = (SparseVec::new(), SparseVec::new(), SparseVec::new());
/// chain.psi(i, &y, &mut psi);
/// psi.normalise();
/// chain.parts(i, &y, &mut parts);
/// chain.truth_parts(i, &mut truth);
/// parts.add_scaled(-1.0, &truth);
///
/// // What the engine computes from parts agrees with the features.
/// let w: Vec<f64> = (0..chain.dim()).map(|feature| feature as f64).collect();
/// let mut workspace = chain.workspace();
/// chain.prepare(i, &w, &mut workspace);
/// assert_eq!(chain.score(i, &w, &workspace, &parts), -psi.dot_dense(&w));
/// assert_eq!(chain.norm_sq(i, &mut workspace, &parts), psi.norm_sq());
/// let mut dense = vec![0.0; chain.dim()];
/// chain.scatter(i, -1.0, &parts, (&mut dense).into());
/// assert!(psi.entries().iter().all(|&(feature, value)| dense[feature as usize] == value));
/// ```
pub trait Parts: Problem {
    /// Fills `workspace` with everything that the other methods need for example `i` at `w`, such as
    /// score tables.
    ///
    /// The engine calls it before [`oracle`](Problem::oracle), [`decode`](Problem::decode) and
    /// [`score`](Self::score), with the same `i` and `w`.
    fn prepare(&self, _i: usize, _w: &[f64], _workspace: &mut Self::Workspace) {}

    /// Like [`prepare`](Self::prepare), but only for calls of [`score`](Self::score) with part vectors
    /// whose coordinates all occur in `points`.
    ///
    /// Override this method for speed: remembered outputs often differ from each other in few places, and
    /// steps between them need no scores elsewhere. The scores must be the same as after `prepare`, bit
    /// by bit.
    fn prepare_scores(
        &self,
        i: usize,
        w: &[f64],
        workspace: &mut Self::Workspace,
        _points: &[SparseVec],
    ) {
        self.prepare(i, w, workspace);
    }

    /// Prefetches the memory of example `i`, which will be visited next.
    ///
    /// The engine calls this method one visit ahead if it knows the next block. Override it for speed if
    /// the data are too large for the processor's caches.
    fn prefetch(&self, _i: usize) {}

    /// Writes the part vector pᵢ(y) to `parts`, normalised. `parts` is empty when the method is called.
    fn parts(&self, i: usize, y: &Self::Output, parts: &mut SparseVec);

    /// Writes the part vector pᵢ(yᵢ) of the truth to `parts`, normalised. `parts` is empty when the
    /// method is called.
    fn truth_parts(&self, i: usize, parts: &mut SparseVec);

    /// The number of pieces in which [`piece`](Self::piece) writes the part vectors of example `i`. More than one
    /// asks the engine to keep no long lists of parts, for an example so large that they would take much memory.
    /// There must then be no more weights than a few times the parts.
    fn pieces(&self, _i: usize) -> usize {
        1
    }

    /// Appends a piece of the part vector of `y`, or of the truth if that is `None`. `parts` is empty when the method
    /// is called. Every piece has at least one part, and all coordinates of a piece are below those of the next piece,
    /// of whatever output.
    fn piece(&self, i: usize, y: Option<&Self::Output>, _piece: usize, parts: &mut SparseVec) {
        match y {
            Some(y) => self.parts(i, y, parts),
            None => self.truth_parts(i, parts),
        }
    }

    /// The score ⟨w, Bᵢp⟩ of a part vector, after [preparation](Self::prepare).
    fn score(&self, i: usize, w: &[f64], workspace: &Self::Workspace, parts: &SparseVec) -> f64;

    /// The squared length ‖Bᵢp‖² of a part vector.
    fn norm_sq(&self, i: usize, workspace: &mut Self::Workspace, parts: &SparseVec) -> f64;

    /// Adds `scale` · Bᵢp to `target`, term by term.
    fn scatter(&self, i: usize, scale: f64, parts: &SparseVec, target: Target<'_>);
}

/// A vector to which the terms of a feature vector are added.
///
/// A target is a [sink](Sink). A problem that scatters many terms can match the variant once and add to
/// the vector inside.
///
/// ```
/// use maxmargin::problem::Target;
/// use maxmargin::{Sink, SparseVec};
///
/// let (mut dense, mut terms) = (vec![0.0; 3], SparseVec::new());
/// for mut target in [Target::from(&mut dense), Target::from(&mut terms)] {
///     target.add(2, 0.5);
/// }
/// assert_eq!((dense, terms.entries()), (vec![0.0, 0.0, 0.5], &[(2, 0.5)][..]));
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum Target<'a> {
    /// Terms are added to a dense vector.
    Dense(&'a mut [f64]),
    /// Terms are added to a dense vector of which few entries are in use.
    Few(&'a mut SparseAccumulator),
    /// Terms are appended to a list.
    Terms(&'a mut SparseVec),
}

impl Sink for Target<'_> {
    fn add(&mut self, feature: usize, value: f64) {
        match self {
            Self::Dense(dense) => dense.add(feature, value),
            Self::Few(few) => few.add(feature, value),
            Self::Terms(terms) => terms.add(feature, value),
        }
    }
}

/// The parts pᵢ(yᵢ) − pᵢ(y) of which ψᵢ(y) consists, for models that compute ψ by way of their parts.
pub(crate) fn parts_of_psi<P: Parts>(problem: &P, i: usize, y: &P::Output) -> SparseVec {
    let [mut truth, mut other, mut difference] = std::array::from_fn(|_| SparseVec::new());
    problem.truth_parts(i, &mut truth);
    problem.parts(i, y, &mut other);
    difference.assign_difference(&truth, &other);
    difference
}

/// Runs code that is generic over a sink on the vector inside a [`Target`].
macro_rules! scatter_into {
    ($target:expr, $sink:ident => $body:expr) => {
        match $target {
            $crate::problem::Target::Dense($sink) => $body,
            $crate::problem::Target::Few($sink) => $body,
            $crate::problem::Target::Terms($sink) => $body,
        }
    };
}
pub(crate) use scatter_into;

impl<'a> From<&'a mut [f64]> for Target<'a> {
    fn from(dense: &'a mut [f64]) -> Self {
        Self::Dense(dense)
    }
}

impl<'a> From<&'a mut Vec<f64>> for Target<'a> {
    fn from(dense: &'a mut Vec<f64>) -> Self {
        Self::Dense(dense)
    }
}

impl<'a> From<&'a mut SparseAccumulator> for Target<'a> {
    fn from(few: &'a mut SparseAccumulator) -> Self {
        Self::Few(few)
    }
}

impl<'a> From<&'a mut SparseVec> for Target<'a> {
    fn from(terms: &'a mut SparseVec) -> Self {
        Self::Terms(terms)
    }
}
