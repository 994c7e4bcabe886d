//! What a problem is besides a problem, for those who build it from a [`Spec`](crate::Spec) and then work on
//! problems of any type.

use maxmargin::kernel::{Kernelised, NodeInputs, Support};
use maxmargin::model::soft::SoftGraph;
use maxmargin::{DualPoint, Problem};

/// What a problem with a kernel knows of its weights, which belong to the inputs of its data.
///
/// ```
/// use maxmargin::kernel::{Kernel, Kernelised};
/// use maxmargin::model::LabelledRows;
/// use maxmargin::model::multiclass::{ClassLoss, Multiclass, MulticlassShape};
/// use maxmargin_io::InputWeights;
///
/// let mut data = LabelledRows::new();
/// data.push([(0, 1.0)], &[0], 1.0)?;
/// data.push([(0, -1.0)], &[1], 1.0)?;
/// let plain = Multiclass::new(MulticlassShape::new(2, 1), data, ClassLoss::ZeroOne)?;
/// let problem = Kernelised::new(plain, Kernel::Rbf { gamma: 1.0 }, 1 << 20)?;
/// let inputs: &dyn InputWeights = &problem;
///
/// let weights = [0.5, -0.5, 0.0, 0.0]; // of two inputs and two labels
/// let (support, kept) = inputs.keep(&weights);
/// assert_eq!((support.len(), kept.len()), (1, 2));
/// assert_eq!(inputs.again(&support, &kept).as_deref(), Some(&weights[..]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait InputWeights {
    /// The inputs that a model has to keep, and the weights that go with them.
    fn keep(&self, weights: &[f64]) -> (Support, Vec<f64>);

    /// The weights again; none if they belong to other data.
    fn again(&self, support: &Support, kept: &[f64]) -> Option<Vec<f64>>;
}

impl<P: NodeInputs> InputWeights for Kernelised<P> {
    fn keep(&self, weights: &[f64]) -> (Support, Vec<f64>) {
        self.support(weights)
    }

    fn again(&self, support: &Support, kept: &[f64]) -> Option<Vec<f64>> {
        self.weights_of(support, kept)
    }
}

/// What a problem is besides a problem.
///
/// ```
/// assert!(maxmargin_io::Beside::Nothing.inputs().is_none());
/// ```
#[derive(Clone, Copy)]
pub enum Beside<'a> {
    /// Nothing special: its weights are those of its model.
    Nothing,
    /// One with a kernel, which says what its model keeps of its weights.
    Inputs(&'a dyn InputWeights),
    /// One with soft constraints.
    Soft(&'a SoftGraph),
}

impl<'a> Beside<'a> {
    /// What the model keeps of its weights, if that is not all of them.
    ///
    /// ```
    /// # use maxmargin::doc::soft_pictures;
    /// let soft = soft_pictures(0.05);
    /// assert!(maxmargin_io::Beside::Soft(&soft).inputs().is_none());
    /// ```
    pub fn inputs(self) -> Option<&'a dyn InputWeights> {
        if let Self::Inputs(inputs) = self { Some(inputs) } else { None }
    }

    /// The dual point to start from, for a problem with this λ (1/n if it is not given): one of the same
    /// problem at the λ `old`. At a smaller λ the weights are kept, at a larger one the dual variables.
    ///
    /// ```
    /// # use maxmargin::doc::toy;
    /// use maxmargin::{Settings, train};
    /// use maxmargin_io::Beside;
    ///
    /// let problem = toy();
    /// let found = train(&problem, &Settings { lambda: Some(0.1), ..Settings::default() })?;
    /// let start = Beside::Nothing.start(&problem, Some(0.05), 0.1, &found.dual);
    /// let (kept, before) = (start.weights(&problem, 0.05), &found.weights);
    /// assert!(kept.iter().zip(before).all(|(a, b)| (a - b).abs() < 1e-9));
    /// # Ok::<(), maxmargin::TrainError>(())
    /// ```
    pub fn start<P: Problem>(
        self,
        problem: &P,
        lambda: Option<f64>,
        old: f64,
        point: &DualPoint,
    ) -> DualPoint {
        let lambda = lambda.unwrap_or(1.0 / problem.examples() as f64);
        let start = match lambda < old {
            true => point.rescaled(problem, lambda / old),
            false => point.clone(),
        };
        match self {
            // Losses of soft problems depend on their multipliers.
            Self::Soft(soft) if start.blocks.len() == soft.examples() => soft.with_losses(&start),
            _ => start,
        }
    }
}
