//! One typed stream of events, from which tables, logs, progress bars and reports are made.

mod cache_stats;
mod event;
#[cfg(feature = "serde")]
mod jsonl;
mod observer;
mod record;
mod status;
mod table;
mod theory;
mod validation;

pub use cache_stats::CacheStats;
pub use event::{Choice, End, Event, Start, WarmStart};
#[cfg(feature = "serde")]
pub use jsonl::JsonLines;
pub use observer::{Control, Every, Observer, Thinned};
pub use record::{Record, StepSizes, Totals};
pub use status::Status;
pub use table::Table;
pub use theory::Theory;
pub use validation::Validation;
