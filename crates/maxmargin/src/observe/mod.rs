//! One typed stream of events, from which tables, logs, progress bars and reports are made.

pub(crate) mod cache_stats;
mod event;
#[cfg(feature = "serde")]
mod jsonl;
mod observer;
mod record;
pub(crate) mod status;
mod table;
mod theory;
pub(crate) mod validation;

pub(crate) use cache_stats::CacheStats;
pub use event::{Choice, End, Event, Start, WarmStart};
#[cfg(feature = "serde")]
pub use jsonl::JsonLines;
pub use observer::{Control, Observer};
#[cfg(feature = "unstable")]
pub use observer::{Every, Thinned};
pub use record::{Record, StepSizes, Totals};
pub(crate) use status::Status;
pub use table::Table;
pub use theory::Theory;
pub(crate) use validation::Validation;
