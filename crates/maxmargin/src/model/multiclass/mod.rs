//! Multiclass classification: each example belongs to one of K classes.
//!
//! This is Crammer and Singer's multiclass SVM, the structured SVM whose structure is a single
//! label. Each class has its own weights, and the score of class y is
//!
//! ```text
//! ⟨w, φ(x, y)⟩ = ⟨w_y, x⟩ + b·w_bias,y          (the bias only if there is one)
//! ```
//!
//! The parts of an output are the classes themselves: a block of the dual is a distribution μᵢ over
//! the K classes, Bᵢp = Σ_k p_k xᵢ ⊗ e_k, and
//!
//! ```text
//! ⟨w, Bᵢp⟩ = Σ_k p_k ⟨w_k, xᵢ⟩        ‖Bᵢp‖² = ‖xᵢ‖²·‖p‖²
//! ```
//!
//! Lengths are this simple because blocks are [simplices](crate::Simplices). The solver has closed forms
//! for them.
//!
//! # The same objective as LIBLINEAR's
//!
//! LIBLINEAR (and scikit-learn's `LinearSVC`) states the problem with a constant C before the loss.
//! With cᵢ = 1, λ = 1/(C·n), and 0/1 loss,
//!
//! ```text
//! ½ Σ_k ‖w_k‖² + C Σᵢ max_y ([y ≠ yᵢ] − ⟨w_yᵢ − w_y, xᵢ⟩)  =  P(w)/λ
//! ```
//!
//! so the optimal weights are the same and the objectives differ by the factor λ. This is LIBLINEAR's
//! solver 4 (`multi_class="crammer_singer"`). Its bias is an additional attribute with the value of the
//! option `-B` (`intercept_scaling`), and it is regularized like all others, as here.
//!
//! [`LabelledRows`](super::LabelledRows) hold the data, [`MulticlassShape`] says how many classes
//! and attributes there are, [`ClassLoss`] what mistakes cost; together they make a [`Multiclass`],
//! the problem to train. [`MulticlassShape::predict`] predicts.

mod expectations;
mod loss;
mod problem;
mod shape;

pub use loss::{ClassLoss, CostMatrix};
pub use problem::Multiclass;
pub use shape::MulticlassShape;
