//! Slack rescaling: large losses ask for large margins by scaling the slack, not the margin.

use crate::bounds::Bounds;
use crate::problem::Problem;
use crate::sparse::{Sink, SparseVec};

/// A problem whose outputs are so few that they can be tried out one by one.
///
/// Classes, sets of few labels and small factor graphs are. Chains, labelled graphs, trees and matchings
/// are not: their outputs are found by dynamic programming, cuts and flows, which maximise sums over
/// parts, and a loss that multiplies a score is no such sum. Slack rescaling refuses them at compile
/// time.
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
    note = "slack rescaling multiplies scores by losses, which only enumeration can maximise; train \
            with margin rescaling, that is, without `SlackRescaled`"
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
/// All outputs are asked for the same margin of 1, and what is missing to it is weighed by the loss:
/// an output with a large loss need not lie further away, but must not come near. Outputs without
/// loss do not matter at all. Since losses multiply scores, a decoder is of no help with the maximum;
/// it is found by trying out all outputs, exactly. In part space
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
/// The certificate is as good as ever. Only the check of a dual point that comes from elsewhere is
/// complete for problems whose blocks are [simplices](crate::Simplices) alone; of others it takes the
/// loss into account and nothing else.
#[derive(Debug, Clone)]
pub struct SlackRescaled<P> {
    inner: P,
    /// pᵢ(yᵢ) of every example.
    truths: Vec<SparseVec>,
}

/// Scratch memory of a [`SlackRescaled`], for one thread. `W` is that of the problem inside.
///
/// ```
/// use maxmargin::model::LabelledRows;
/// use maxmargin::model::binary::{Binary, BinaryShape};
/// use maxmargin::{Problem, SlackRescaled};
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
pub struct SlackWorkspace<W> {
    inner: W,
    parts: SparseVec,
}

impl<P> SlackRescaled<P> {
    /// `problem` under slack rescaling. One whose outputs cannot be tried out is refused:
    ///
    /// ```compile_fail,E0277
    /// # use maxmargin::doc::patches;
    /// let problem = maxmargin::SlackRescaled::new(patches()); // minimum cuts know sums alone
    /// ```
    pub fn new(problem: P) -> Self
    where
        P: Enumerable,
    {
        let truth = |i| {
            let mut parts = SparseVec::new();
            problem.truth_parts(i, &mut parts);
            parts
        };
        let truths = (0..problem.examples()).map(truth).collect();
        Self { inner: problem, truths }
    }

    /// The problem inside.
    pub fn inner(&self) -> &P {
        &self.inner
    }
}

impl<P: Enumerable> Problem for SlackRescaled<P> {
    type Output = P::Output;
    type Workspace = SlackWorkspace<P::Workspace>;

    fn examples(&self) -> usize {
        self.inner.examples()
    }

    fn dim(&self) -> usize {
        self.inner.dim()
    }

    fn workspace(&self) -> Self::Workspace {
        SlackWorkspace { inner: self.inner.workspace(), parts: SparseVec::new() }
    }

    fn oracle(&self, i: usize, w: &[f64], workspace: &mut Self::Workspace, best: &mut P::Output) {
        self.oracle_with_loss(i, w, 1.0, workspace, best);
    }

    fn oracle_with_loss(
        &self,
        i: usize,
        w: &[f64],
        factor: f64,
        workspace: &mut Self::Workspace,
        best: &mut P::Output,
    ) -> bool {
        let SlackWorkspace { inner, parts } = workspace;
        let truth = self.inner.score(i, w, inner, &self.truths[i]);
        let mut most = f64::NEG_INFINITY;
        self.inner.for_each_output(i, &mut |y| {
            parts.clear();
            self.inner.parts(i, y, parts);
            let ahead = self.inner.score(i, w, inner, parts) - truth;
            let value = self.inner.loss(i, y) * (factor + ahead);
            if value > most {
                most = value;
                best.clone_from(y);
            }
        });
        true
    }

    fn decode(&self, i: usize, w: &[f64], workspace: &mut Self::Workspace, y: &mut P::Output) {
        self.inner.decode(i, w, &mut workspace.inner, y);
    }

    fn loss(&self, i: usize, y: &P::Output) -> f64 {
        self.inner.loss(i, y)
    }

    fn psi(&self, i: usize, y: &P::Output, psi: &mut SparseVec) {
        self.inner.psi(i, y, psi);
        psi.scale(self.inner.loss(i, y));
    }

    fn truth(&self, i: usize) -> Option<P::Output> {
        self.inner.truth(i)
    }

    /// Predictions do not multiply scores by losses.
    fn decodes_by_psi(&self) -> bool {
        false
    }

    fn is_checked_at_start(&self) -> bool {
        self.inner.is_checked_at_start()
    }

    fn weight(&self, i: usize) -> f64 {
        self.inner.weight(i)
    }

    fn total_weight(&self) -> f64 {
        self.inner.total_weight()
    }

    fn bounds(&self) -> Option<&Bounds> {
        self.inner.bounds()
    }

    fn prepare(&self, i: usize, w: &[f64], workspace: &mut Self::Workspace) {
        self.inner.prepare(i, w, &mut workspace.inner);
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

    fn score(&self, i: usize, w: &[f64], workspace: &Self::Workspace, parts: &SparseVec) -> f64 {
        self.inner.score(i, w, &workspace.inner, parts)
    }

    fn norm_sq(&self, i: usize, workspace: &mut Self::Workspace, parts: &SparseVec) -> f64 {
        self.inner.norm_sq(i, &mut workspace.inner, parts)
    }

    fn scatter<S: Sink + ?Sized>(&self, i: usize, scale: f64, parts: &SparseVec, sink: &mut S) {
        self.inner.scatter(i, scale, parts, sink);
    }

    fn check_point(
        &self,
        i: usize,
        parts: &SparseVec,
        loss: f64,
        slack: f64,
    ) -> Result<(), String> {
        match self.inner.simplices() {
            Some(simplices) => {
                let loss_of = |part| simplices.loss(i, part);
                check_masses(parts, &self.truths[i], loss, slack, loss_of)
            }
            None => {
                let mut most = 0.0f64;
                self.inner.for_each_output(i, &mut |y| most = most.max(self.inner.loss(i, y)));
                match (-slack..=most + slack).contains(&loss) {
                    true => Ok(()),
                    false => Err(format!("its loss is {loss}, not between 0 and {most}")),
                }
            }
        }
    }
}

/// Checks a point μ = Σ α(y)·L(y)·(e(y) − e(yᵢ)) where every output has a part of its own: its masses
/// β(y) = α(y)·L(y) must not be negative, sum to the loss, and come from an α that sums to at most 1.
fn check_masses(
    parts: &SparseVec,
    truth: &SparseVec,
    loss: f64,
    slack: f64,
    loss_of: impl Fn(u64) -> f64,
) -> Result<(), String> {
    let own = truth.entries().first().map(|&(part, _)| part);
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
