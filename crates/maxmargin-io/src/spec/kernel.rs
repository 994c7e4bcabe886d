//! Kernels of models.

use super::{ChainSpec, MulticlassSpec, MultilabelSpec, Spec};
use maxmargin::kernel::{Expander, Kernel, Support};
use maxmargin::model::chain::ChainShape;
use maxmargin::model::multiclass::MulticlassShape;
use maxmargin::model::multilabel::MultilabelShape;
use serde::{Deserialize, Serialize};

/// The kernel of a model: see [`maxmargin::kernel`].
///
/// A model with a kernel is linear in the kernel values of an input and the inputs of its support. So its weights
/// have the layout of a linear model whose attributes are the inputs of the support: see
/// [`ChainSpec::scoring_shape`] and the same method of other specifications.
///
/// ```
/// use maxmargin::kernel::{Kernel, Support};
/// use maxmargin::model::chain::{ChainShape, Hamming};
/// use maxmargin_io::{ChainSpec, KernelSpec, Spec};
///
/// let support = Support::new([vec![(0, 1.0)], vec![(3, 0.5)]])?;
/// let kernel = Some(KernelSpec { kernel: Kernel::Rbf { gamma: 0.5 }, bytes: 1 << 20, support });
/// let spec = ChainSpec { shape: ChainShape::new(3, 10), loss: Hamming::default(), kernel, rescaling: Default::default() };
/// assert_eq!(spec.scoring_shape(), ChainShape::new(3, 2));
/// let spec = Spec::from(spec);
/// assert_eq!((spec.attributes(), spec.groups()[0].name.as_str()), (10, "coefficients"));
/// # Ok::<(), maxmargin::kernel::KernelModelError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KernelSpec {
    /// The kernel.
    pub kernel: Kernel,
    /// The number of bytes of kernel values that training and verification may keep.
    pub bytes: usize,
    /// The inputs that the model is a sum over, or none before training. They are separate tensors in a model file.
    #[serde(skip)]
    pub support: Support,
}

impl KernelSpec {
    /// Converts inputs to the attributes that weights belong to.
    ///
    /// ```
    /// use maxmargin::kernel::{Kernel, Support};
    /// use maxmargin::model::Row;
    /// use maxmargin_io::KernelSpec;
    ///
    /// let support = Support::new([vec![(0, 2.0)]])?;
    /// let spec = KernelSpec { kernel: Kernel::Linear, bytes: 0, support };
    /// let input = Row { attributes: &[0], values: &[3.0] };
    /// assert_eq!(spec.expander().expand(input).values, [6.0]);
    /// # Ok::<(), maxmargin::kernel::KernelModelError>(())
    /// ```
    pub fn expander(&self) -> Expander {
        Expander::new(self.kernel, &self.support)
    }
}

/// The number of attributes that weights belong to.
fn scoring_attributes(kernel: Option<&KernelSpec>, attributes: usize) -> usize {
    kernel.map_or(attributes, |own| own.support.len())
}

impl ChainSpec {
    /// The shape of the weights. With a kernel, inputs of the support take the place of attributes.
    pub fn scoring_shape(&self) -> ChainShape {
        let attributes = scoring_attributes(self.kernel.as_ref(), self.shape.attributes);
        ChainShape { attributes, ..self.shape }
    }
}

impl MulticlassSpec {
    /// The shape of the weights. With a kernel, inputs of the support take the place of attributes.
    pub fn scoring_shape(&self) -> MulticlassShape {
        let attributes = scoring_attributes(self.kernel.as_ref(), self.shape.attributes);
        MulticlassShape { attributes, ..self.shape }
    }
}

impl MultilabelSpec {
    /// The shape of the weights. With a kernel, inputs of the support take the place of attributes.
    pub fn scoring_shape(&self) -> MultilabelShape {
        let attributes = scoring_attributes(self.kernel.as_ref(), self.shape.attributes);
        MultilabelShape { attributes, ..self.shape.clone() }
    }
}

impl Spec {
    /// The kernel, if it has one.
    pub fn kernel(&self) -> Option<&KernelSpec> {
        match self {
            Self::Chain(spec) => spec.kernel.as_ref(),
            Self::Multiclass(spec) => spec.kernel.as_ref(),
            Self::Multilabel(spec) => spec.kernel.as_ref(),
            _ => None,
        }
    }

    /// The kernel, for changes.
    pub fn kernel_mut(&mut self) -> Option<&mut KernelSpec> {
        match self {
            Self::Chain(spec) => spec.kernel.as_mut(),
            Self::Multiclass(spec) => spec.kernel.as_mut(),
            Self::Multilabel(spec) => spec.kernel.as_mut(),
            _ => None,
        }
    }
}
