//! Seconds on a core, which do not depend on what else the machine does.

use std::cell::Cell;

/// Seconds for which this thread has had a core, where the system tells.
pub fn processor_seconds() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    Some(1e-9 * text.split_whitespace().next()?.parse::<f64>().ok()?)
}

/// Measures what this thread does, apart from what it does in between for others.
pub(super) struct Stopwatch {
    start: Option<f64>,
    paused: Cell<f64>,
}

impl Stopwatch {
    /// Work on several threads cannot be measured.
    pub(super) fn start(threads: usize) -> Self {
        let start = if threads == 1 { processor_seconds() } else { None };
        Self { start, paused: Cell::new(0.0) }
    }

    /// Does something that does not count.
    pub(super) fn pause<T>(&self, work: impl FnOnce() -> T) -> T {
        let before = self.start.and_then(|_| processor_seconds());
        let done = work();
        if let Some((before, now)) = before.zip(processor_seconds()) {
            self.paused.set(self.paused.get() + now - before);
        }
        done
    }

    /// Seconds so far.
    pub(super) fn seconds(&self) -> Option<f64> {
        Some(processor_seconds()? - self.start? - self.paused.get())
    }
}
