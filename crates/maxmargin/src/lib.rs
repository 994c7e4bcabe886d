//! Structured SVMs by Frank-Wolfe methods on the dual, with a certificate of how good the training is.

pub mod evaluate;
pub mod inference;
pub mod model;
pub mod observe;

mod average;
mod certificate;
mod clock;
mod crew;
mod direction;
mod driver;
mod dual;
mod error;
mod method;
mod names;
mod order;
mod problem;
mod rng;
mod run;
mod settings;
mod sparse;
mod status;
mod step;
mod trainer;

pub use average::Average;
pub use certificate::{Audit, Certificate, audit};
pub use direction::Direction;
pub use dual::{Block, Drift, DualPoint};
pub use error::TrainError;
pub use names::UnknownName;
pub use order::Order;
pub use problem::Problem;
pub use rng::Rng;
pub use settings::{CheckedSettings, Settings, SettingsError, Solver};
pub use sparse::{Sink, SparseVec};
pub use status::Status;
pub use step::Step;
pub use trainer::{Interrupt, Solution, Trainer, train};

#[doc(hidden)]
pub mod doc;
