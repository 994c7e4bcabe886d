//! Bounds on the weights of any problem.

use super::{Abilities, Bounds, CheckPoints, PointCheck, Problem, ProblemExt as _, SparseVec};

/// Wraps a problem that has no setting for bounds and puts [`Bounds`] on its weights.
///
/// Everything else is forwarded to the problem inside, except for its closed forms for
/// [simplices](super::Simplices), which hold for free weights only; corrective steps remember corners
/// instead. With [`Bounds::none`], training makes the same steps as for the problem inside without
/// bounds.
///
/// Finite bounds cannot be combined with a [kernel](crate::kernel), because its coefficients are not
/// weights. Training refuses them ([`TrainError::BoundedLength`](crate::TrainError::BoundedLength)). A
/// [table](crate::forward_problem#which-wrappers-go-together) lists which wrappers can be combined.
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
    /// Wraps `problem` and replaces its bounds, if it has any, by `bounds`.
    ///
    /// Some models need their own bounds for exact decoding; [labelled graphs](crate::model::potts) are
    /// an example. Without these bounds their decoding may miss the maximum, and the
    /// [quality](Problem::quality) of the certificate says so. To keep both, use the method `with_bounds`
    /// of such a model.
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
        bounds,    // those of the wrapper
        abilities, // three of them change
    ]);

    fn bounds(&self) -> Option<&Bounds> {
        Some(&self.bounds)
    }

    #[inline]
    fn abilities(&self) -> Abilities<'_, P::Workspace, P::Output> {
        let inner = self.inner.abilities();
        Abilities {
            // The closed forms hold for free weights only.
            simplices: inner.simplices.filter(|_| self.bounds.are_none()),
            // The check of the problem inside may rest on bounds that have been replaced.
            points: inner.points.is_some().then_some(self as &dyn CheckPoints),
            // The problem inside at another λ would not have these bounds.
            #[cfg(feature = "unstable")]
            at_lambda: None,
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
