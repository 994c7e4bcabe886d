//! The relation between the weights of a problem and those of its model.

use crate::spec::Spec;
use maxmargin::kernel::{Kernelised, NodeInputs, Support};
use maxmargin::model::soft::SoftGraph;
use maxmargin::{Blocks, DualPoint};
use std::borrow::Cow;

/// The weights of a problem with a kernel, which belong to the inputs of its data.
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
    /// The inputs that a model has to keep, and the weights that belong to them.
    fn keep(&self, weights: &[f64]) -> (Support, Vec<f64>);

    /// The weights of the problem, restored from those of the model. `None` if they belong to other data.
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

/// The relation between the weights of a problem and those of its model.
///
/// ```
/// assert!(maxmargin_io::ProblemRole::Plain.inputs().is_none());
/// ```
#[derive(Clone, Copy)]
pub enum ProblemRole<'a> {
    /// The weights of the problem are those of its model.
    Plain,
    /// The problem has a kernel, and decides which of its weights its model keeps.
    Kernel(&'a dyn InputWeights),
    /// The problem has soft constraints, whose messages follow the weights of its model.
    Soft(&'a SoftGraph),
}

impl<'a> ProblemRole<'a> {
    /// The part of the weights that the model keeps, if it does not keep all of them.
    ///
    /// ```
    /// # use maxmargin::doc::soft_pictures;
    /// let soft = soft_pictures(0.05);
    /// assert!(maxmargin_io::ProblemRole::Soft(&soft).inputs().is_none());
    /// ```
    pub fn inputs(self) -> Option<&'a dyn InputWeights> {
        if let Self::Kernel(inputs) = self { Some(inputs) } else { None }
    }

    /// Converts the weights `w` of the problem: returns the specification and the weights of the model.
    ///
    /// ```
    /// use maxmargin::model::chain::{ChainShape, Hamming};
    /// use maxmargin_io::{ChainSpec, ProblemRole, Spec};
    ///
    /// let (shape, loss) = (ChainShape::new(2, 3), Hamming::default());
    /// let spec = Spec::from(ChainSpec { shape, loss, kernel: None, rescaling: Default::default() });
    /// let (own, weights) = ProblemRole::Plain.in_model(&spec, &[0.5]);
    /// assert_eq!((&*own, &*weights), (&spec, &[0.5][..]));
    /// ```
    pub fn in_model<'s>(self, spec: &'s Spec, w: &'s [f64]) -> (Cow<'s, Spec>, Cow<'s, [f64]>) {
        let Some(inputs) = self.inputs() else { return (Cow::Borrowed(spec), Cow::Borrowed(w)) };
        let (support, weights) = inputs.keep(w);
        let mut spec = spec.clone();
        if let Some(own) = spec.kernel_mut() {
            own.support = support;
        }
        (Cow::Owned(spec), Cow::Owned(weights))
    }

    /// The dual point to start from, for a problem with this λ (1/n if it is not given), made from a point of the
    /// same problem at the λ `old`. At a smaller λ the weights are kept, and at a larger λ the dual variables are
    /// kept. The point may be one of the first examples only: the other examples then start at the truth.
    ///
    /// ```
    /// # use maxmargin::doc::toy;
    /// use maxmargin::{Settings, train};
    /// use maxmargin_io::ProblemRole;
    ///
    /// let problem = toy();
    /// let found = train(&problem, &Settings { lambda: Some(0.1), ..Settings::default() })?;
    /// let start = ProblemRole::Plain.start(&problem, Some(0.05), 0.1, &found.dual);
    /// let (kept, before) = (start.weights(&problem, 0.05), &found.weights);
    /// assert!(kept.iter().zip(before).all(|(a, b)| (a - b).abs() < 1e-9));
    /// # Ok::<(), maxmargin::TrainError>(())
    /// ```
    pub fn start(
        self,
        problem: &dyn Blocks,
        lambda: Option<f64>,
        old: f64,
        point: &DualPoint,
    ) -> DualPoint {
        let lambda = lambda.unwrap_or(1.0 / problem.examples() as f64);
        // A point of another problem may have blocks without examples; training refuses it.
        let fits = point.blocks.len() <= problem.examples();
        let mut start = match lambda < old && fits {
            true => point.rescaled(problem, lambda / old),
            false => point.clone(),
        };
        if start.blocks.len() < problem.examples() {
            let truth = DualPoint::at_truth(problem).blocks;
            start.blocks.extend(truth.into_iter().skip(point.blocks.len()));
        }
        match self {
            // Losses of soft problems depend on their multipliers.
            Self::Soft(soft) if start.blocks.len() == problem.examples() => {
                soft.with_losses(&start)
            }
            _ => start,
        }
    }
}
