//! Structured SVMs by Frank-Wolfe methods on the dual, with a certificate of how good the training is.
//!
//! A *structured* problem is one whose prediction is a whole structure: a tag sequence, a
//! segmentation, an alignment. Training minimises λ/2 ‖w‖² plus the mean structured hinge loss; its
//! dual is a product of blocks, one per example, and block-coordinate Frank-Wolfe moves one block at a
//! time towards the corner that the example's max oracle finds. The step size has a closed form, so
//! there is nothing to tune, and the duality gap *proves* how far the result is from the optimum.
//!
//! # Ways in
//!
//! * A ready-made model: [`model::chain`] labels sequences, [`model::segment`] cuts them into segments,
//!   [`model::multilabel`] predicts sets of
//!   labels, [`model::potts`] labels graphs, [`model::tree`] places trees of parts, [`model::matching`]
//!   links the items of two lists, [`model::factor_graph`] is for everything whose score is a sum over
//!   small sets of variables; with a [`kernel`] where nodes have inputs.
//! * A structure of your own: implement [`Problem`], seven short methods, and let
//!   [`problem::check`](fn@problem::check) look for mistakes.
//! * A problem other than an SVM: [`product`] minimises any smooth convex function over a product of
//!   blocks.
//! * The parts: [`inference`] decodes, [`evaluate`] measures, [`audit`] re-checks a certificate.
//!
//! ```
//! use maxmargin::model::chain::{Chain, ChainShape, Hamming, Sequences};
//! use maxmargin::{Settings, train};
//!
//! // Two sentences over the labels 0 and 1; each token has one attribute.
//! let mut data = Sequences::new();
//! for (words, labels) in [([3, 1, 2], [0, 1, 0]), ([0, 1, 3], [0, 1, 0])] {
//!     for (word, label) in words.into_iter().zip(labels) {
//!         data.push_token([(word, 1.0)], label)?;
//!     }
//!     data.end_sequence(1.0)?;
//! }
//! let chain = Chain::new(ChainShape::new(2, 4), data, &Hamming::default())?;
//!
//! let solution = train(&chain, &Settings { lambda: Some(0.1), ..Settings::default() })?;
//! let proof = &solution.certificate;
//! println!("objective {}, and no weights reach below {}", proof.primal, proof.dual);
//! assert!(proof.gap <= 0.01);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # How it is built
//!
//! [`Trainer`] starts a run from [`Settings`]. One outer loop drives every [`Solver`]; the default visits
//! one block after the other, with an [`Order`], a [`Direction`], a [`Step`] and an [`Average`] that
//! combine freely. The engine sees any problem as [`Blocks`] and is compiled once. What happens flows as
//! one stream of [events](observe::Event) to [observers](observe::Observer). The result is a
//! [`Solution`]: weights, dual point, [`Certificate`], and a [`Status`] that says why the run ended.
//! The same seed gives the same bits, on any number of threads.
//!
//! # Features
//!
//! All are on by default. `serde` writes and reads settings, certificates and events; `checkpoint` stops and
//! resumes runs; `lp` solves linear programs for factor graphs with cycles.
//!
//! `docs/explanation/glossary.md` in the repository explains words such as *block*, *corner*, *visit* and *gap*;
//! `ARCHITECTURE.md` shows how the modules build on each other, and `CONTRIBUTING.md` how to add to them.

pub mod distributed;
pub mod evaluate;
pub mod inference;
pub mod kernel;
pub mod model;
pub mod observe;
pub mod problem;
pub mod product;

mod certificate;
mod dual;
mod error;
mod path;
mod run;
mod settings;
mod solver;
mod trainer;
mod util;

pub use certificate::{Audit, Certificate, audit};
pub use dual::{Block, Drift, DualPoint};
pub use error::TrainError;
pub use observe::{CacheStats, Status, Validation};
pub use path::{
    Breakpoint, GridSettings, GridStart, HeldOutError, LambdaChoice, LambdaFold, LambdaScale, Path,
    PathKind, PathSettings, TriedLambda, choose_lambda, lambda_grid, lambda_grid_with,
    regularization_path, regularization_path_with, scale_lambda,
};
pub use problem::{
    Blocks, Bounded, Bounds, BoundsError, Enumerable, Expectations, GroupBounds, PointCheck,
    Problem, ProblemExt, Quality, Simplices, Sink, SlackRescaled, SparseVec,
};
#[cfg(feature = "checkpoint")]
pub use run::checkpoint::{Checkpoint, CheckpointError, CheckpointEvery};
pub use run::early_stopping::Validator;
pub use run::{Interrupt, Solution};
pub use settings::{
    Auto, Average, BlindOrder, BlockAverage, BlockCoordinate, BlockStep, Caching, Direction,
    Method, Order, PassOrder, Reuse, Settings, SettingsError, SettingsRecord, Solver, Step,
};
pub use trainer::{Trainer, train};
pub use util::names::UnknownName;
pub use util::rng::Rng;

#[doc(hidden)]
pub mod doc;

/// The code of the package's own README, compiled and run as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
