//! Bounds on the weights of any problem.

use crate::bounds::Bounds;
use crate::expectations::Expectations;
use crate::problem::Problem;
use crate::quality::Quality;
use crate::sparse::{Sink, SparseVec};

/// A problem with [`Bounds`] on its weights, for problems that have no place for them.
///
/// Everything else is that of the problem inside, except for what it knows of
/// [simplices](Problem::simplices): their closed form is that of free weights. Corrective steps remember
/// corners instead.
///
/// ```
/// use maxmargin::model::LabelledRows;
/// use maxmargin::model::multiclass::{ClassLoss, Multiclass, MulticlassShape};
/// use maxmargin::{Bounded, Bounds, Settings, train};
///
/// let mut data = LabelledRows::new();
/// for class in [0, 1, 2, 1] {
///     data.push([(class, 1.0)], &[class], 1.0)?;
/// }
/// let shape = MulticlassShape::new(3, 3);
/// let problem = Multiclass::new(shape, data, ClassLoss::ZeroOne)?;
/// let bounds = Bounds::none(shape.dim()).with(0..shape.dim(), 0.0, f64::INFINITY)?;
/// let solution = train(&Bounded::new(problem, bounds), &Settings::default())?;
/// assert!(solution.weights.iter().all(|&w| w >= 0.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Bounded<P> {
    inner: P,
    bounds: Bounds,
}

impl<P: Problem> Bounded<P> {
    /// `problem` with `bounds` on its weights, in place of any that it may have.
    pub fn new(problem: P, bounds: Bounds) -> Self {
        Self { inner: problem, bounds }
    }

    /// The problem inside.
    pub fn inner(&self) -> &P {
        &self.inner
    }
}

impl<P: Problem> Problem for Bounded<P> {
    type Output = P::Output;
    type Workspace = P::Workspace;

    fn bounds(&self) -> Option<&Bounds> {
        Some(&self.bounds)
    }

    fn examples(&self) -> usize {
        self.inner.examples()
    }

    fn dim(&self) -> usize {
        self.inner.dim()
    }

    fn workspace(&self) -> Self::Workspace {
        self.inner.workspace()
    }

    fn oracle(&self, i: usize, w: &[f64], workspace: &mut Self::Workspace, y: &mut P::Output) {
        self.inner.oracle(i, w, workspace, y);
    }

    fn oracle_with_loss(
        &self,
        i: usize,
        w: &[f64],
        factor: f64,
        workspace: &mut Self::Workspace,
        y: &mut P::Output,
    ) -> bool {
        self.inner.oracle_with_loss(i, w, factor, workspace, y)
    }

    fn expectations(&self) -> Option<&dyn Expectations<Self::Workspace>> {
        self.inner.expectations()
    }

    fn decode(&self, i: usize, w: &[f64], workspace: &mut Self::Workspace, y: &mut P::Output) {
        self.inner.decode(i, w, workspace, y);
    }

    fn loss(&self, i: usize, y: &P::Output) -> f64 {
        self.inner.loss(i, y)
    }

    fn psi(&self, i: usize, y: &P::Output, psi: &mut SparseVec) {
        self.inner.psi(i, y, psi);
    }

    fn truth(&self, i: usize) -> Option<P::Output> {
        self.inner.truth(i)
    }

    fn decodes_by_psi(&self) -> bool {
        self.inner.decodes_by_psi()
    }

    fn is_checked_at_start(&self) -> bool {
        self.inner.is_checked_at_start()
    }

    fn weight(&self, i: usize) -> f64 {
        self.inner.weight(i)
    }

    fn has_signed_losses(&self) -> bool {
        self.inner.has_signed_losses()
    }

    fn quality(&self) -> Quality {
        self.inner.quality()
    }

    fn total_weight(&self) -> f64 {
        self.inner.total_weight()
    }

    fn prepare(&self, i: usize, w: &[f64], workspace: &mut Self::Workspace) {
        self.inner.prepare(i, w, workspace);
    }

    fn prepare_scores(
        &self,
        i: usize,
        w: &[f64],
        workspace: &mut Self::Workspace,
        points: &[SparseVec],
    ) {
        self.inner.prepare_scores(i, w, workspace, points);
    }

    fn prefetch(&self, i: usize) {
        self.inner.prefetch(i);
    }

    fn parts(&self, i: usize, y: &P::Output, parts: &mut SparseVec) {
        self.inner.parts(i, y, parts);
    }

    fn truth_parts(&self, i: usize, parts: &mut SparseVec) {
        self.inner.truth_parts(i, parts);
    }

    fn score(&self, i: usize, w: &[f64], workspace: &Self::Workspace, parts: &SparseVec) -> f64 {
        self.inner.score(i, w, workspace, parts)
    }

    fn norm_sq(&self, i: usize, workspace: &mut Self::Workspace, parts: &SparseVec) -> f64 {
        self.inner.norm_sq(i, workspace, parts)
    }

    fn second_objective(&self, w: &[f64]) -> Option<f64> {
        self.inner.second_objective(w)
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
        self.inner.check_point(i, parts, loss, slack)
    }
}
