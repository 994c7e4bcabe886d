//! Binary classification: the plain linear SVM.
//!
//! Labels are yᵢ = ±1 and there is one weight vector. With φ(x, y) = y·x/2 the feature difference of
//! the wrong label is ψᵢ(−yᵢ) = yᵢxᵢ, and with 0/1 loss the structured hinge is the plain one:
//!
//! ```text
//! P(w) = λ/2 ‖w‖² + Σᵢ cᵢ/C · max(0, 1 − yᵢ⟨w, xᵢ⟩)
//! ```
//!
//! A block of the dual is a segment, described by the mass αᵢ ∈ [0, 1] of the wrong label, which is
//! its only part. A step with a line search is a step of dual coordinate descent (Hsieh et al.,
//! 2008), clipped to the segment.
//!
//! # The same objective as LIBLINEAR's
//!
//! With λ = 1/(C·n) and cᵢ = 1, P(w)/λ = ½‖w‖² + C Σᵢ max(0, 1 − yᵢ⟨w, xᵢ⟩). This is the objective of
//! LIBLINEAR's solver 3 and of scikit-learn's `LinearSVC(loss="hinge", fit_intercept=False)`. A bias of
//! value b corresponds to `fit_intercept=True, intercept_scaling=b`.

mod expectations;
mod problem;
mod shape;

pub use problem::Binary;
pub use shape::BinaryShape;
