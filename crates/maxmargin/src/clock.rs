//! Time of a run, without the time that observers take.

use std::time::{Duration, Instant};

/// A stopwatch that can leave things out.
#[derive(Debug)]
pub(crate) struct Clock {
    started: Instant,
    excluded: Duration,
}

impl Clock {
    pub(crate) fn start() -> Self {
        Self { started: Instant::now(), excluded: Duration::ZERO }
    }

    /// Seconds since the start, without what was excluded.
    pub(crate) fn seconds(&self) -> f64 {
        self.seconds_at(Instant::now())
    }

    /// As [`seconds`](Self::seconds), for a reading of the system's clock already taken.
    pub(crate) fn seconds_at(&self, now: Instant) -> f64 {
        now.saturating_duration_since(self.started).saturating_sub(self.excluded).as_secs_f64()
    }

    /// Does something that does not count.
    pub(crate) fn exclude<T>(&mut self, work: impl FnOnce() -> T) -> T {
        let begin = Instant::now();
        let result = work();
        self.excluded += begin.elapsed();
        result
    }
}
