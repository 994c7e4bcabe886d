//! A trained model with a kernel, for prediction.

use super::function::{Kernel, KernelError};
use super::inputs::{Inputs, add_expansion};
use super::problem::{Kernelised, NodeInputs};
use thiserror::Error;

/// A trained model with a kernel: the inputs that contribute to its scores, their coefficients, and the
/// other weights.
///
/// It can be written to a file and read again with serde. [`predict`](Self::predict) takes a problem with
/// new data that is of the same kind and shape as the problem of training.
///
/// ```
/// # use maxmargin::doc::toy;
/// use maxmargin::kernel::{Kernel, KernelModel, Kernelised};
/// use maxmargin::{Settings, train};
///
/// let problem = Kernelised::new(toy(), Kernel::Rbf { gamma: 0.5 }, 1 << 20)?;
/// let settings = Settings { lambda: Some(0.01), ..Settings::default() };
/// let model = KernelModel::new(&problem, &train(&problem, &settings)?.weights);
/// let predicted = model.predict(&toy());
/// assert_eq!(predicted[2], [0, 0, 1, 1]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(into = "Plain", try_from = "Plain"))]
#[non_exhaustive]
pub struct KernelModel {
    kernel: Kernel,
    labels: usize,
    inputs: Inputs,
    /// The coefficients, with all labels of an input side by side.
    coefficients: Vec<f64>,
    rest: Vec<f64>,
}

/// The serialized form of a kernel model.
#[derive(Clone)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
struct Plain {
    kernel: Kernel,
    labels: usize,
    inputs: Vec<Vec<(u32, f64)>>,
    coefficients: Vec<f64>,
    rest: Vec<f64>,
}

/// Why a kernel model is invalid.
///
/// ```
/// use maxmargin::kernel::{Kernel, KernelModel};
///
/// let error = KernelModel::from_parts(Kernel::Linear, 2, vec![vec![(0, 1.0)]], vec![1.0], vec![]);
/// assert_eq!(error.unwrap_err().to_string(), "1 inputs with 2 labels need 2 coefficients, not 1");
/// ```
#[derive(Debug, Error, Clone, PartialEq)]
#[non_exhaustive]
pub enum KernelModelError {
    /// The kernel is invalid.
    #[error(transparent)]
    Kernel(#[from] KernelError),
    /// There are no labels.
    #[error("a kernel model needs at least one label")]
    NoLabels,
    /// Too many or too few coefficients.
    #[error("{inputs} inputs with {labels} labels need {} coefficients, not {found}", inputs * labels)]
    Size {
        /// Number of inputs.
        inputs: usize,
        /// Number of labels.
        labels: usize,
        /// Number of coefficients.
        found: usize,
    },
    /// A number that is NaN or infinite.
    #[error("a number is not finite")]
    NotFinite,
    /// The attributes of an input do not increase.
    #[error("the attributes of input {input} are not in order")]
    Order {
        /// The input.
        input: usize,
    },
}

impl KernelModel {
    /// Creates a model from the weights of a kernelised problem, without the inputs whose coefficients
    /// are 0.
    ///
    /// # Panics
    /// If there are too few weights.
    pub fn new<P: NodeInputs>(problem: &Kernelised<P>, weights: &[f64]) -> Self {
        let labels = problem.label_count();
        let (inputs, mut coefficients) = problem.reduced(weights);
        let rest = coefficients.split_off(inputs.len() * labels);
        Self { kernel: *problem.kernel(), labels, inputs, coefficients, rest }
    }

    /// Creates a model from inputs as `(attribute, value)` pairs, a coefficient per label for each of
    /// them, and the other weights of the problem.
    ///
    /// # Errors
    /// If the kernel is invalid, or if numbers do not fit together or are not finite.
    pub fn from_parts(
        kernel: Kernel,
        labels: usize,
        inputs: Vec<Vec<(u32, f64)>>,
        coefficients: Vec<f64>,
        rest: Vec<f64>,
    ) -> Result<Self, KernelModelError> {
        kernel.check()?;
        if labels == 0 {
            return Err(KernelModelError::NoLabels);
        }
        if coefficients.len() != inputs.len() * labels {
            let (inputs, found) = (inputs.len(), coefficients.len());
            return Err(KernelModelError::Size { inputs, labels, found });
        }
        let values = inputs.iter().flatten().map(|(_, value)| value);
        if !values.chain(&coefficients).chain(&rest).all(|value| value.is_finite()) {
            return Err(KernelModelError::NotFinite);
        }
        let inputs = Inputs::from_rows(inputs);
        Ok(Self { kernel, labels, inputs, coefficients, rest })
    }

    /// The kernel.
    pub fn kernel(&self) -> &Kernel {
        &self.kernel
    }

    /// Number of inputs that contribute to the scores.
    pub fn inputs(&self) -> usize {
        self.inputs.len()
    }

    /// Number of *support parts*: pairs of an input and a label whose coefficient is not 0. Equal inputs
    /// of the training data count once.
    pub fn parts(&self) -> usize {
        self.coefficients.iter().filter(|b| **b != 0.0).count()
    }

    /// The coefficients, with all labels of an input side by side.
    pub fn coefficients(&self) -> &[f64] {
        &self.coefficients
    }

    /// The weights that do not belong to inputs.
    pub fn rest(&self) -> &[f64] {
        &self.rest
    }

    /// Predicts the outputs of all examples of a problem, which must be of the same kind as the problem
    /// of training.
    ///
    /// # Panics
    /// If the problem has another number of labels or of weights that do not belong to inputs.
    pub fn predict<P: NodeInputs>(&self, problem: &P) -> Vec<P::Output> {
        assert_eq!(problem.labels(), self.labels, "the model has other labels");
        // The weights of inputs are 0, because `add_expansion` adds their scores.
        let mut w = vec![0.0; problem.rest()];
        w.extend_from_slice(&self.rest);
        assert_eq!(w.len(), problem.dim(), "the model has other weights");
        let (mut workspace, mut dense) = (problem.workspace(), Vec::new());
        let mut rows: Vec<Vec<f64>> = Vec::new();
        let mut predict = |i: usize| {
            let (nodes, mut y) = (problem.nodes(i), P::Output::default());
            rows.resize_with(rows.len().max(nodes), Vec::new);
            for (node, values) in rows.iter_mut().enumerate().take(nodes) {
                self.inputs.values(&self.kernel, problem.input(i, node), &mut dense, values);
            }
            problem.prepare_with(i, &w, &mut workspace, &mut |scores| {
                add_expansion(&self.coefficients, self.labels, &rows[..nodes], scores);
            });
            problem.decode(i, &w, &mut workspace, &mut y);
            y
        };
        (0..problem.examples()).map(&mut predict).collect()
    }
}

impl From<KernelModel> for Plain {
    fn from(model: KernelModel) -> Self {
        let KernelModel { kernel, labels, inputs, coefficients, rest } = model;
        let inputs = (0..inputs.len()).map(|m| inputs.rows.row(m).pairs().collect()).collect();
        Self { kernel, labels, inputs, coefficients, rest }
    }
}

impl TryFrom<Plain> for KernelModel {
    type Error = KernelModelError;
    fn try_from(plain: Plain) -> Result<Self, KernelModelError> {
        let Plain { kernel, labels, inputs, coefficients, rest } = plain;
        Self::from_parts(kernel, labels, inputs, coefficients, rest)
    }
}
