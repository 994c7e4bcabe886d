//! Slack rescaling: the loss multiplies the slack of an output and not its margin.

use super::slack_finder::{EveryOutput, Finder, Search, SlackSearchError};
use super::{
    Abilities, Accuracy, CheckPoints, OracleWithin, Parts, PointCheck, Problem, ProblemExt,
    Quality, ScaledLosses, SparseVec, Target, Truths,
};

/// A problem with so few outputs that they can be tried one by one.
///
/// Classes, sets of few labels and small factor graphs are enumerable. Chains, labelled graphs, trees and
/// matchings are not: their decoders use dynamic programming, cuts and flows, which maximise sums over
/// parts, and a product of a loss and a score is not such a sum. For these, slack rescaling
/// searches with the decoder that they have (`SlackRescaled::by_search`, behind the feature `unstable`).
///
/// ```
/// use maxmargin::Enumerable;
/// use maxmargin::model::LabelledRows;
/// use maxmargin::model::multiclass::{ClassLoss, Multiclass, MulticlassShape};
///
/// let mut data = LabelledRows::new();
/// data.push([(0, 1.0)], &[2], 1.0)?;
/// let problem = Multiclass::new(MulticlassShape::new(3, 1), data, ClassLoss::ZeroOne)?;
/// let mut classes = Vec::new();
/// problem.for_each_output(0, &mut |class| classes.push(*class));
/// assert_eq!(classes, [0, 1, 2]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "the outputs of `{Self}` cannot be tried out one by one",
    label = "its decoder maximises sums over parts",
    note = "slack rescaling multiplies scores by losses, which only enumeration can maximise; \
            `SlackRescaled::by_search` comes close with any decoder, and knows how close",
    note = "bounds are put around: `Bounded::new(SlackRescaled::new(problem), bounds)`"
)]
pub trait Enumerable: Problem {
    /// Calls `visit` with every output of example `i`, the truth included, in a fixed order.
    fn for_each_output(&self, i: usize, visit: &mut dyn FnMut(&Self::Output));
}

/// A problem under slack rescaling instead of margin rescaling (Tsochantaridis et al., 2005).
///
/// Every ψᵢ(y) is replaced by Lᵢ(y)·ψᵢ(y), so that the structured hinge becomes
///
/// ```text
/// max_y Lᵢ(y)·(1 − ⟨w, ψᵢ(y)⟩)
/// ```
///
/// All outputs must keep the same margin of 1, and the loss multiplies the amount by which they violate it: an output
/// with a large loss need not be further away than others, but its violations cost more. Outputs without loss do not
/// matter at all. Since losses multiply scores, a decoder cannot find the maximum. [`new`](Self::new) makes an oracle
/// that tries all outputs, so it is exact. `by_search` (behind the feature `unstable`) makes one that calls the
/// decoder at several weights of the loss, and knows how much it may have missed. In part space
/// p′ᵢ(y) = Lᵢ(y)·(pᵢ(y) − pᵢ(yᵢ)), and p′ᵢ(yᵢ) = 0. With 0/1 loss nothing changes.
///
/// ```
/// use maxmargin::model::LabelledRows;
/// use maxmargin::model::multiclass::{ClassLoss, CostMatrix, Multiclass, MulticlassShape};
/// use maxmargin::{Settings, SlackRescaled, train};
///
/// let mut data = LabelledRows::new();
/// for class in [0, 1, 2, 1] {
///     data.push([(class, 1.0)], &[class], 1.0)?;
/// }
/// let costs = vec![vec![0.0, 1.0, 4.0], vec![1.0, 0.0, 1.0], vec![4.0, 1.0, 0.0]];
/// let loss = ClassLoss::Costs(CostMatrix::new(costs)?);
/// let problem = SlackRescaled::new(Multiclass::new(MulticlassShape::new(3, 3), data, loss)?);
/// let solution = train(&problem, &Settings { tolerance: 1e-4, ..Settings::default() })?;
/// assert!(solution.certificate.gap <= 1e-4);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// A negative loss has no meaning here, and training refuses it
/// ([`TrainError::Loss`](crate::TrainError::Loss)) even where the problem inside
/// [allows](crate::problem::Abilities::has_signed_losses) it. The bounds of the problem inside hold; a
/// [`Bounded`](crate::Bounded) must be the outer wrapper. A
/// [table](crate::forward_problem#which-wrappers-go-together) lists which wrappers can be combined.
///
/// The certificate has its usual meaning. A dual point from elsewhere is checked against the enumerated
/// outputs.
#[derive(Debug, Clone)]
pub struct SlackRescaled<P, F = EveryOutput> {
    pub(super) inner: P,
    /// pᵢ(yᵢ) of every example.
    pub(super) truths: Vec<SparseVec>,
    /// How the oracle finds its outputs.
    finder: F,
}

/// Scratch memory of a [`SlackRescaled`], for one thread. `W` is that of the problem inside, and `Y` its output.
///
/// ```
/// use maxmargin::model::LabelledRows;
/// use maxmargin::model::binary::{Binary, BinaryShape};
/// use maxmargin::{Problem, ProblemExt, SlackRescaled};
///
/// let mut data = LabelledRows::new();
/// data.push([(0, 1.0)], &[1], 1.0)?;
/// let problem = SlackRescaled::new(Binary::new(BinaryShape::new(1), data, 1)?);
/// let (mut workspace, mut y) = (problem.workspace(), true);
/// problem.prepare(0, &[0.5], &mut workspace);
/// problem.oracle(0, &[0.5], &mut workspace, &mut y);
/// assert!(!y);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct SlackWorkspace<W, Y> {
    pub(super) inner: W,
    pub(super) parts: SparseVec,
    /// The output that is looked at, the lines that a search knows, and weights that it has scaled.
    pub(super) y: Y,
    pub(super) lines: Vec<super::slack_finder::Line>,
    pub(super) scaled: Vec<f64>,
}

impl<P> SlackRescaled<P> {
    /// Wraps `problem`. A problem whose outputs cannot be enumerated does not compile:
    ///
    /// ```compile_fail,E0277
    /// # use maxmargin::doc::patches;
    /// let problem = maxmargin::SlackRescaled::new(patches()); // minimum cuts know sums alone
    /// ```
    ///
    /// Other wrappers inside do not compile either: bounds belong outside; nothing could check the dual
    /// points of a problem with a kernel; rescaling twice has no meaning; and soft constraints have
    /// signed losses.
    ///
    /// ```compile_fail,E0277
    /// # use maxmargin::{Bounded, Bounds, doc::labels};
    /// let inside = Bounded::new(labels(), Bounds::none(12));
    /// let problem = maxmargin::SlackRescaled::new(inside);
    /// ```
    ///
    /// ```compile_fail,E0277
    /// # use maxmargin::{doc::labels, kernel::{Kernel, Kernelised}};
    /// let inside = Kernelised::new(labels(), Kernel::Linear, 0).unwrap();
    /// let problem = maxmargin::SlackRescaled::new(inside);
    /// ```
    ///
    /// ```compile_fail,E0277
    /// # use maxmargin::doc::labels;
    /// let inside = maxmargin::SlackRescaled::new(labels());
    /// let problem = maxmargin::SlackRescaled::new(inside);
    /// ```
    ///
    /// ```compile_fail,E0277
    /// # use maxmargin::doc::soft_pictures;
    /// let problem = maxmargin::SlackRescaled::new(soft_pictures(0.1));
    /// ```
    pub fn new(problem: P) -> Self
    where
        P: Enumerable,
    {
        Self { truths: truths_of(&problem), inner: problem, finder: EveryOutput }
    }
}

impl<P: Problem> SlackRescaled<P, Search> {
    /// Wraps a `problem` that has too many outputs to try them all. The oracle searches among the outputs that the
    /// decoder of the problem finds if the loss counts more or less.
    ///
    /// For every t ≥ 0 the decoder finds M(t) = max_y t·L(y) + 1 − ⟨w, ψ(y)⟩. So in the plane of x = L(y) and
    /// a = 1 − ⟨w, ψ(y)⟩, all outputs lie on or below the line t·x + a = M(t). The search asks at the t that lowers the
    /// largest product x·a below all lines known so far, until no line can lower it, which takes a few calls. It
    /// returns the best of the outputs found. The difference from the largest product is what it may have missed: an
    /// output that lies below the line between two others is never found, whatever its product. Where something may
    /// have been missed, a problem that can try all losses ([`ScaledLosses::oracle_by_loss`], as short chains do) is
    /// asked for the maximum itself. The quality is [`Quality::Heuristic`], and the certificate
    /// [states](crate::Certificate::missed) by how much at most the true gap is larger.
    ///
    /// ```
    /// use maxmargin::doc::toy;
    /// use maxmargin::{Settings, SlackRescaled, train};
    ///
    /// let problem = SlackRescaled::by_search(toy())?; // a chain
    /// let proof = train(&problem, &Settings::default())?.certificate;
    /// assert!(proof.gap <= 0.01 && proof.missed.is_some());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// A problem that can [scale losses](ScaledLosses) is asked with a scaled loss. Other problems are asked at scaled
    /// weights, which costs d operations for each call.
    ///
    /// # Errors
    /// If not all corners of the problem are outputs, as with a relaxation: a product of their losses and scores means
    /// nothing. Or if the decoder of the problem maximises something other than scores.
    #[cfg(feature = "unstable")]
    pub fn by_search(problem: P) -> Result<Self, SlackSearchError> {
        let finder = Search::new(&problem)?;
        Ok(Self { truths: truths_of(&problem), inner: problem, finder })
    }
}

impl<P, F> SlackRescaled<P, F> {
    /// The problem inside.
    pub fn inner(&self) -> &P {
        &self.inner
    }
}

/// pᵢ(yᵢ) of every example.
fn truths_of<P: Problem>(problem: &P) -> Vec<SparseVec> {
    let truth = |i| {
        let mut parts = SparseVec::new();
        problem.truth_parts(i, &mut parts);
        parts
    };
    (0..problem.examples()).map(truth).collect()
}

impl<P: Enumerable> SlackRescaled<P> {
    /// Returns all parts of outputs of example `i`, sorted, and the largest loss of an output.
    fn parts_and_largest_loss(&self, i: usize) -> (Vec<u64>, f64) {
        let (mut known, mut most, mut parts) = (Vec::new(), 0.0f64, SparseVec::new());
        self.inner.for_each_output(i, &mut |y| {
            most = most.max(self.inner.loss(i, y));
            parts.clear();
            self.inner.parts(i, y, &mut parts);
            known.extend(parts.entries().iter().map(|(id, _)| *id));
            known.sort_unstable();
            known.dedup();
        });
        known.extend(self.truths[i].entries().iter().map(|(id, _)| *id));
        known.sort_unstable();
        known.dedup();
        (known, most)
    }
}

impl<P: Problem, F: Finder<P>> Problem for SlackRescaled<P, F> {
    type Output = P::Output;
    type Workspace = SlackWorkspace<P::Workspace, P::Output>;

    crate::forward_problem!(self.inner, workspace.inner, except [
        workspace, // contains that of the problem inside
        oracle,    // tries all outputs, or searches
        psi,       // multiplied by the loss
        quality,   // trying all outputs is exact, with any decoder, and a search is not
        abilities, // see there
    ]);

    fn workspace(&self) -> Self::Workspace {
        SlackWorkspace {
            inner: self.inner.workspace(),
            parts: SparseVec::new(),
            y: P::Output::default(),
            lines: Vec::new(),
            scaled: Vec::new(),
        }
    }

    fn oracle(&self, i: usize, w: &[f64], workspace: &mut Self::Workspace, best: &mut P::Output) {
        F::find(self, i, w, (1.0, Accuracy::Exact), workspace, best);
    }

    fn quality(&self) -> Quality {
        F::QUALITY
    }

    fn psi(&self, i: usize, y: &P::Output, psi: &mut SparseVec) {
        self.inner.psi(i, y, psi);
        psi.scale(self.inner.loss(i, y));
    }

    #[inline]
    fn abilities(&self) -> Abilities<'_, Self::Workspace, P::Output> {
        let inner = self.inner.abilities();
        Abilities {
            // Relative to the truth, times the loss.
            parts: Some(self),
            truths: inner.truths.is_some().then_some(self as _),
            // Masses are multiplied by losses.
            points: Some(self),
            within: F::STOPS_EARLY.then_some(self as _),
            scaled_losses: Some(self),
            // Parts of different outputs have different lengths, and expectations and a second objective
            // would be those of margin rescaling.
            simplices: None,
            expectations: None,
            #[cfg(feature = "unstable")]
            second_objective: None,
            #[cfg(feature = "unstable")]
            at_lambda: None,
            #[cfg(feature = "unstable")]
            own_length: inner.own_length,
            total_weight: inner.total_weight,
            // Losses multiply scores and must not be negative.
            has_signed_losses: false,
            // The oracle looks for other outputs than that of margin rescaling.
            batched: None,
            is_trusted: inner.is_trusted,
            // Predictions do not multiply scores by losses.
            decodes_otherwise: true,
        }
    }
}

impl<P: Problem, F: Finder<P>> Parts for SlackRescaled<P, F> {
    fn prepare(&self, i: usize, w: &[f64], workspace: &mut Self::Workspace) {
        self.inner.prepare(i, w, &mut workspace.inner);
    }

    fn prepare_scores(
        &self,
        i: usize,
        w: &[f64],
        workspace: &mut Self::Workspace,
        points: &[SparseVec],
    ) {
        self.inner.prepare_scores(i, w, &mut workspace.inner, points);
    }

    fn prefetch(&self, i: usize) {
        self.inner.prefetch(i);
    }

    fn parts(&self, i: usize, y: &P::Output, parts: &mut SparseVec) {
        let loss = self.inner.loss(i, y);
        if loss != 0.0 {
            self.inner.parts(i, y, parts);
            parts.add_scaled(-1.0, &self.truths[i]);
            parts.scale(loss);
        }
    }

    /// Writes nothing, because parts are relative to the truth.
    fn truth_parts(&self, _i: usize, _parts: &mut SparseVec) {}

    fn score(&self, i: usize, w: &[f64], workspace: &Self::Workspace, parts: &SparseVec) -> f64 {
        self.inner.score(i, w, &workspace.inner, parts)
    }

    fn norm_sq(&self, i: usize, workspace: &mut Self::Workspace, parts: &SparseVec) -> f64 {
        self.inner.norm_sq(i, &mut workspace.inner, parts)
    }

    fn scatter(&self, i: usize, scale: f64, parts: &SparseVec, target: Target<'_>) {
        self.inner.scatter(i, scale, parts, target);
    }
}

impl<P: Problem, F: Finder<P>> Truths for SlackRescaled<P, F> {
    fn truth(&self, i: usize) -> P::Output {
        self.inner.truth(i).unwrap_or_default()
    }
}

impl<P: Problem, F: Finder<P>> ScaledLosses for SlackRescaled<P, F> {
    fn oracle_with_loss(
        &self,
        i: usize,
        w: &[f64],
        factor: f64,
        workspace: &mut Self::Workspace,
        best: &mut P::Output,
    ) {
        F::find(self, i, w, (factor, Accuracy::Exact), workspace, best);
    }
}

impl<P: Problem, F: Finder<P>> OracleWithin for SlackRescaled<P, F> {
    fn oracle_within(
        &self,
        i: usize,
        w: &[f64],
        accuracy: Accuracy,
        workspace: &mut Self::Workspace,
        best: &mut P::Output,
    ) -> f64 {
        F::find(self, i, w, (1.0, accuracy), workspace, best)
    }
}

impl<P: Problem, F: Finder<P>> CheckPoints for SlackRescaled<P, F> {
    fn check_point(
        &self,
        i: usize,
        parts: &SparseVec,
        loss: f64,
        slack: f64,
    ) -> Result<PointCheck, String> {
        F::check_point(self, i, parts, loss, slack)
    }
}

impl<P, F> SlackRescaled<P, F> {
    pub(super) fn finder(&self) -> &F {
        &self.finder
    }
}

impl<P: Enumerable> SlackRescaled<P> {
    /// Checks a point against all outputs.
    pub(super) fn check_enumerated(
        &self,
        i: usize,
        parts: &SparseVec,
        loss: f64,
        slack: f64,
    ) -> Result<PointCheck, String> {
        let (known, most) = self.parts_and_largest_loss(i);
        let unknown = parts.entries().iter().find(|(id, _)| known.binary_search(id).is_err());
        if let Some((part, _)) = unknown {
            return Err(format!("it has a part that does not exist: {part}"));
        }
        if !(-slack..=most + slack).contains(&loss) {
            return Err(format!("its loss is {loss}, not between 0 and {most}"));
        }
        let Some(simplices) = self.inner.simplices() else { return Ok(PointCheck::Unproven) };
        let loss_of = |part| simplices.loss(i, part);
        check_masses(parts, &self.truths[i], loss, slack, loss_of)?;
        Ok(PointCheck::Feasible)
    }
}

/// Checks a point μ = Σ α(y)·L(y)·(e(y) − e(yᵢ)) of a problem in which every output has its own part: its
/// masses β(y) = α(y)·L(y) must be nonnegative, sum to the loss, and come from an α that sums to at most
/// 1.
fn check_masses(
    parts: &SparseVec,
    truth: &SparseVec,
    loss: f64,
    slack: f64,
    loss_of: impl Fn(u64) -> f64,
) -> Result<(), String> {
    let own = truth.entries().first().map(|&(part, _)| part);
    // Add up the masses of wrong outputs, and their shares α = β/L.
    let (mut sum, mut weights, mut balance) = (0.0, 0.0, 0.0);
    for &(part, mass) in parts.entries() {
        if Some(part) == own {
            balance = mass;
            continue;
        }
        let cost = loss_of(part);
        if mass < -slack || (cost == 0.0 && mass.abs() > slack) {
            return Err(format!("part {part} has the mass {mass:e}"));
        }
        sum += mass;
        if cost > 0.0 {
            weights += mass / cost;
        }
    }
    // Check the sums.
    let tolerance = slack * (1.0 + sum.abs());
    if weights > 1.0 + slack {
        return Err(format!("the masses of its outputs sum to {weights}, which is more than 1"));
    }
    if own.is_some() && (balance + sum).abs() > tolerance {
        return Err(format!("its masses sum to {}, not to 0", balance + sum));
    }
    if (sum - loss).abs() > tolerance {
        return Err(format!("its loss is stated as {loss}, but is {sum}"));
    }
    Ok(())
}
