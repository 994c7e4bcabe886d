//! The time of a run, without the time that observers take.
//!
//! Oracle calls can be shorter than reading the clock twice, so one call in sixteen is timed where calls are
//! short.

use crate::util::sort;
use std::time::{Duration, Instant};

/// A stopwatch that can leave things out.
#[derive(Debug)]
pub(crate) struct Clock {
    /// Seconds of an earlier part of the run.
    before: f64,
    started: Instant,
    excluded: Duration,
}

impl Clock {
    /// Starts at `before` seconds.
    pub(crate) fn start_at(before: f64) -> Self {
        Self { before, started: Instant::now(), excluded: Duration::ZERO }
    }

    /// Seconds since the start, without what was excluded.
    pub(crate) fn seconds(&self) -> f64 {
        self.seconds_at(Instant::now())
    }

    /// As [`seconds`](Self::seconds), for a reading of the system's clock already taken.
    pub(crate) fn seconds_at(&self, now: Instant) -> f64 {
        let since = now.saturating_duration_since(self.started).saturating_sub(self.excluded);
        self.before + since.as_secs_f64()
    }

    /// Runs `work` without counting its time.
    pub(crate) fn exclude<T>(&mut self, work: impl FnOnce() -> T) -> T {
        let begin = Instant::now();
        let result = work();
        self.leave_out_since(begin);
        result
    }

    /// Leaves out the time since `begin`.
    pub(crate) fn leave_out_since(&mut self, begin: Instant) {
        self.excluded += begin.elapsed();
    }
}

/// Adds up the time of many calls without reading the clock around each of them.
///
/// If calls are so short that reading the clock would distort them, one call in [`STRIDE`] is timed and
/// stands for its neighbours. Something may disturb just that call, so it never stands for more time than
/// has passed since the last timed one ended: the total cannot exceed the time in which the calls were made.
#[derive(Debug, Default)]
pub(crate) struct CallTimer {
    seconds: f64,
    /// How many calls to skip before the next one is timed.
    skip: u32,
    /// The number of calls for which the next timed one stands, minus one.
    untimed: u32,
    /// What the first timed calls took.
    first: Vec<f64>,
    /// When the last timed call ended.
    last: Option<Instant>,
}

/// How many of the first timed calls are kept.
const KEPT: usize = 64;

const STRIDE: u32 = 16;

/// Calls shorter than this are timed one in [`STRIDE`].
const SHORT_CALL: f64 = 20e-6;

impl CallTimer {
    /// Runs `call`, and counts its time.
    pub(crate) fn time<T>(&mut self, call: impl FnOnce() -> T) -> T {
        if self.skip > 0 {
            self.skip -= 1;
            return call();
        }
        let begin = Instant::now();
        let result = call();
        let end = Instant::now();
        let seconds = (end - begin).as_secs_f64();
        let since = self.last.map_or(seconds, |last| (end - last).as_secs_f64());
        self.seconds += (seconds * f64::from(self.untimed + 1)).min(since);
        self.last = Some(end);
        if self.first.len() < KEPT {
            self.first.push(seconds);
        }
        self.untimed = if seconds < SHORT_CALL { STRIDE - 1 } else { 0 };
        self.skip = self.untimed;
        result
    }

    /// Whether the next call will be timed. If calls are short, other code need not read the clock more often than
    /// this either.
    pub(crate) fn is_due(&self) -> bool {
        self.skip == 0
    }

    /// Makes the next call a timed one, after work that took a while without a call.
    pub(crate) fn make_due(&mut self) {
        self.skip = 0;
    }

    /// Adds time that was measured elsewhere.
    pub(crate) fn add(&mut self, seconds: f64) {
        self.make_due();
        self.seconds += seconds;
        self.last = Some(Instant::now());
    }

    /// Adds the time of `calls` calls that were made side by side on up to `threads` threads.
    pub(crate) fn add_batch(&mut self, seconds: f64, calls: usize, threads: usize) {
        self.add(seconds);
        if calls > 0 && self.first.len() < KEPT {
            self.first.push(seconds * threads.min(calls) as f64 / calls as f64);
        }
    }

    /// The seconds that a call takes if nothing disturbs it: a third of the first timed calls took less. The mean would
    /// tell more about other work on the machine.
    pub(crate) fn undisturbed(&self) -> f64 {
        let mut sorted = self.first.clone();
        sort::by(&mut sorted, f64::total_cmp);
        sorted.get(sorted.len().saturating_sub(1) / 3).copied().unwrap_or(0.0)
    }

    /// The total so far, without the calls since the last timed one.
    pub(crate) fn seconds(&self) -> f64 {
        self.seconds
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_long_call_is_timed() {
        let mut timer = CallTimer::default();
        for _ in 0..3 {
            timer.time(|| std::thread::sleep(Duration::from_millis(2)));
        }
        assert!(timer.seconds() >= 0.006);
    }

    #[test]
    fn a_disturbed_call_stands_for_no_more_than_the_time_that_has_passed() {
        let begin = Instant::now();
        let (untimed, last) = (STRIDE - 1, Some(begin));
        let mut timer = CallTimer { untimed, last, ..CallTimer::default() };
        timer.time(|| std::thread::sleep(Duration::from_millis(5)));
        assert!(timer.seconds() >= 0.005);
        assert!(timer.seconds() <= begin.elapsed().as_secs_f64());
    }

    #[test]
    fn a_disturbance_does_not_count_as_typical() {
        let first = vec![3e-6, 0.5, 1e-6, 2e-6, 4e-6, 0.1];
        assert_eq!(CallTimer { first, ..CallTimer::default() }.undisturbed(), 2e-6);
        assert_eq!(CallTimer::default().undisturbed(), 0.0);
    }

    #[test]
    fn a_batch_tells_what_one_call_takes() {
        let mut timer = CallTimer::default();
        timer.add_batch(0.25, 8, 2);
        assert_eq!((timer.seconds(), timer.undisturbed()), (0.25, 0.0625));
    }

    #[test]
    fn excluded_work_does_not_count() {
        let mut clock = Clock::start_at(0.0);
        clock.exclude(|| std::thread::sleep(Duration::from_millis(5)));
        let all = clock.started.elapsed().as_secs_f64();
        assert!(clock.seconds() <= all - 0.005);
    }
}
