//! Kernels: models whose scores are not linear in their inputs.
//!
//! In a model whose outputs decompose into nodes with labels ([`NodeInputs`]), the weights of inputs
//! and labels can be written as a sum over the nodes of the training data,
//!
//! ```text
//! w = Σ_m x_m ⊗ β_m,    β_m(y) = Σ_{nodes with the input x_m} cᵢ/(λC) · ([y = truth] − μ(y))
//! ```
//!
//! and they are used only in inner products of inputs: the score of label y at an input x is Σ_m
//! β_m(y)·⟨x_m, x⟩. So any kernel k(x_m, x) may replace the inner product ([`Kernel`]). The model is then
//! linear in a space of features that need not be computed.
//!
//! [`Kernelised`] is such a problem. Its weights are the β, one for each distinct input of the training
//! data and each label, followed by the usual weights of transitions, biases or pairs of labels, which do
//! not depend on inputs. It is an ordinary [`Problem`](crate::Problem), so all orders, directions, steps,
//! line searches, paths and certificates apply to it. With the linear kernel, the iterates are the same
//! as without a kernel. [`KernelModel`] makes predictions with a trained model.
//!
//! Models that [`Kernelised`] does not know (labelled graphs, factor graphs, trees and matchings whose nodes or pairs
//! have inputs) and soft training have kernels by a [`KernelMap`], which turns inputs into vectors whose inner products
//! are kernel values.
//!
//! Outputs of any kind, compared as wholes together with their inputs, have a [joint kernel](JointKernel);
//! [`JointProblem`] trains them where the outputs of each example can be listed.
//!
//! ```
//! use maxmargin::kernel::{Kernel, KernelModel, Kernelised};
//! use maxmargin::model::LabelledRows;
//! use maxmargin::model::multiclass::{ClassLoss, Multiclass, MulticlassShape};
//! use maxmargin::{Settings, train};
//!
//! // Two signs that agree or not: no linear model can tell.
//! let mut data = LabelledRows::new();
//! for (a, b) in [(1.0, 1.0), (-1.0, -1.0), (1.0, -1.0), (-1.0, 1.0)] {
//!     data.push([(0, a), (1, b)], &[u32::from(a == b)], 1.0)?;
//! }
//! let plain = || Multiclass::new(MulticlassShape::new(2, 2), data.clone(), ClassLoss::ZeroOne);
//! let kernel = Kernel::Rbf { gamma: 0.5 };
//! let problem = Kernelised::new(plain()?, kernel, 1 << 20)?; // a megabyte for kernel values
//! let settings = Settings { lambda: Some(0.01), tolerance: 1e-4, ..Settings::default() };
//! let solution = train(&problem, &settings)?;
//! let model = KernelModel::new(&problem, &solution.weights);
//! assert_eq!((model.inputs(), model.parts()), (4, 8));
//! assert_eq!(model.predict(&plain()?), [1, 1, 0, 0]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod cache;
mod function;
mod inputs;
mod joint;
mod map;
mod model;
mod nodes;
mod problem;
mod support;

pub use function::{Kernel, KernelError};
pub use joint::{JointKernel, JointKernelError, JointProblem};
pub use map::KernelMap;
pub use model::{KernelModel, KernelModelError};
pub use problem::{Kernelised, NodeInputs};
pub use support::{Expander, Support};
