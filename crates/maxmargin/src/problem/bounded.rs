//! Bounds on the weights of any problem.

use super::{Abilities, Bounds, CheckPoints, PointCheck, Problem, ProblemExt as _, SparseVec};

/// A problem with [`Bounds`] on its weights, for problems that have no place for them.
///
/// Everything else is that of the problem inside, except for what it knows of
/// [simplices](super::Simplices): their closed form is that of free weights. Corrective steps remember
/// corners instead. With bounds that bound nothing ([`Bounds::none`]), it is the problem inside without
/// bounds, step by step.
///
/// Real bounds do not go with a [kernel](crate::kernel): the coefficients are no weights, so training
/// refuses them ([`TrainError::BoundedLength`](crate::TrainError::BoundedLength)). Which wrappers go
/// together is written [here](crate::forward_problem#which-wrappers-go-together).
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
    ///
    /// Bounds that the problem has already are lost. Where its decoding rests on them, as that of
    /// [labelled graphs](crate::model::potts) does, it may find less than the maximum without them, and
    /// the [quality](Problem::quality) of the certificate says so; `with_bounds` of such models keeps both.
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

    crate::forward_problem!(self.inner, workspace, except [
        bounds,    // its own
        abilities, // all but two
    ]);

    fn bounds(&self) -> Option<&Bounds> {
        Some(&self.bounds)
    }

    #[inline]
    fn abilities(&self) -> Abilities<'_, P::Workspace, P::Output> {
        let inner = self.inner.abilities();
        Abilities {
            // Closed forms are those of free weights.
            simplices: inner.simplices.filter(|_| self.bounds.are_none()),
            // What a check shows may rest on bounds that are lost.
            points: inner.points.is_some().then_some(self as &dyn CheckPoints),
            ..inner
        }
    }
}

impl<P: Problem> CheckPoints for Bounded<P> {
    fn check_point(
        &self,
        i: usize,
        parts: &SparseVec,
        loss: f64,
        slack: f64,
    ) -> Result<PointCheck, String> {
        let shown = self.inner.check_point(i, parts, loss, slack)?;
        let keeps_own = self.inner.bounds().is_none_or(|own| self.bounds.are_within(own));
        Ok(if keeps_own { shown } else { PointCheck::Unproven })
    }
}
