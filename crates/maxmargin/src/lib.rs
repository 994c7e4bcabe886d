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
//! * A ready-made model: [`model::chain`] labels sequences, [`model::binary`] and [`model::multiclass`]
//!   classify rows, [`model::multilabel`] predicts sets of labels, [`model::matching`] links the items of
//!   two lists, and [`model::factor_graph`] is for everything whose score is a sum over small sets of
//!   variables.
//! * A structure of your own: implement [`Problem`], seven short methods, and let
//!   [`problem::check`](fn@problem::check) look for mistakes.
//! * The results: [`Certificate`] says how good they are, [`audit`] re-checks it, [`evaluate`] measures
//!   predictions.
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
//! On by default: `serde` writes and reads settings, certificates and events; `checkpoint` stops and
//! resumes runs; `lp` solves linear programs for factor graphs with cycles.
//!
//! # Stability
//!
//! What is there by default follows semantic versioning. The feature `unstable`, which is off by default,
//! shows more: what our own crates need, and what is too young for a promise. **It may change or go in any
//! release**, so a program that uses it should name the exact version:
//!
//! ```toml
//! maxmargin = { version = "=0.1.0", features = ["unstable"] }
//! ```
//!
//! | behind `unstable` | what it is |
//! |---|---|
//! | `model::potts`, `model::segment`, `model::tree`, `model::soft` | graphs of labels, segments of sequences, trees of parts, soft constraints |
//! | `kernel` | kernels for models whose nodes have inputs |
//! | `regularization_path`, `lambda_grid`, `choose_lambda`, … | solutions for all λ, and the choice of λ |
//! | `product` | any smooth convex function over a product of blocks |
//! | `distributed` | shards that propose steps, and their coordinator |
//! | the rest of `inference` | decoders, and a way to bring a solver of linear programs |
//! | `ProblemExt`, `GroupBounds`, `Rng`, `BestFirst`, `Thinned`, columns, n-best lists, … | what readers, model files and tests need |
//! | own lengths, second objectives, problems made for one λ | abilities that only kernels and soft constraints have |
//!
//! Where `maxmargin-io` is used too, `unstable` is on, because it needs it.
//!
//! `docs/explanation/glossary.md` in the repository explains words such as *block*, *corner*, *visit* and *gap*;
//! `ARCHITECTURE.md` shows how the modules build on each other, and `CONTRIBUTING.md` how to add to them.

// Without `unstable`, some of what it shows is out of reach, and unused.
#![cfg_attr(not(feature = "unstable"), allow(dead_code, unreachable_pub, unused_imports))]

#[cfg(feature = "unstable")]
pub mod distributed;
pub mod evaluate;
pub mod inference;
#[cfg(feature = "unstable")]
pub mod kernel;
pub mod model;
pub mod observe;
pub mod problem;
#[cfg(feature = "unstable")]
pub mod product;

mod certificate;
mod dual;
mod error;
#[cfg(feature = "unstable")]
mod path;
mod run;
mod settings;
mod solver;
mod trainer;
mod util;

pub use certificate::{Audit, Certificate, audit};
pub use dual::{Block, Drift, DualPoint, PackedVec};
pub use error::TrainError;
pub use observe::cache_stats::CacheStats;
pub use observe::status::Status;
pub use observe::validation::Validation;
#[cfg(feature = "unstable")]
pub use path::{
    Breakpoint, GridSettings, GridStart, HeldOutError, LambdaChoice, LambdaFold, LambdaScale, Path,
    PathKind, PathSettings, TriedLambda, choose_lambda, lambda_grid, lambda_grid_with,
    regularization_path, regularization_path_with, scale_lambda,
};
pub use problem::Problem;
pub use problem::blocks::Blocks;
pub use problem::bounded::Bounded;
pub use problem::bounds::{Bounds, BoundsError};
pub use problem::expectations::Expectations;
#[cfg(feature = "unstable")]
pub use problem::ext::ProblemExt;
#[cfg(feature = "unstable")]
pub use problem::group_bounds::GroupBounds;
pub use problem::quality::{PointCheck, Quality};
pub use problem::simplices::Simplices;
pub use problem::slack_rescaled::{Enumerable, SlackRescaled};
pub use problem::sparse::{Sink, SparseVec};
#[cfg(feature = "checkpoint")]
pub use run::checkpoint::{Checkpoint, CheckpointError, CheckpointEvery};
pub use run::early_stopping::Validator;
pub use run::{Interrupt, Solution};
pub use settings::OracleAccuracy;
pub use settings::{
    Auto, Average, BlindOrder, BlockAverage, BlockCoordinate, BlockStep, Caching, Direction,
    Method, Order, PassOrder, Reuse, Settings, SettingsError, SettingsRecord, Solver, Step,
};
pub use trainer::{Trainer, train};
#[cfg(feature = "unstable")]
pub use util::best_first::BestFirst;
pub use util::names::UnknownName;
#[cfg(feature = "unstable")]
pub use util::rng::Rng;
#[cfg(feature = "unstable")]
pub use util::sort;

#[cfg(feature = "unstable")]
#[doc(hidden)]
pub mod doc;

/// The code of the package's own README, compiled and run as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
