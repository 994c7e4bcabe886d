//! How many threads work on a batch.
//!
//! Threads that share w pass it to and fro between their caches. Where calls are short and caches are far apart,
//! that can take longer than the threads save. So timed trials choose the number of threads. The choice changes
//! how long a batch takes and never its outcome, which is the same on any number of threads.

/// A number of threads is judged by at least this many seconds of work, and this many visits.
const TRIAL_SECONDS: f64 = 4e-3;
const TRIAL_VISITS: usize = 128;

/// Another number of threads must save this share of the time to be preferred.
const WORTHWHILE: f64 = 0.03;

/// The spans of work between trials, at first and at most. They double after each trial that fails.
const FIRST_REST: u32 = 4;
const LONGEST_REST: u32 = 64;

/// Chooses a number of threads, at most `most`.
#[derive(Debug, Clone)]
pub(super) struct Crew {
    most: usize,
    threads: usize,
    /// The number of threads on trial, and the seconds per visit that the usual number took before.
    trial: Option<(usize, f64)>,
    /// Whether the next trial is of fewer threads.
    fewer: bool,
    visits: usize,
    seconds: f64,
    /// Spans of work until the next trial, and between later ones.
    wait: u32,
    rest: u32,
}

impl Crew {
    /// Begins with all of `most` threads.
    pub(super) fn new(most: usize) -> Self {
        let threads = most.max(1);
        Self {
            most: threads,
            threads,
            trial: None,
            fewer: true,
            visits: 0,
            seconds: 0.0,
            wait: 1,
            rest: FIRST_REST,
        }
    }

    /// The number of threads for the next batch.
    pub(super) fn threads(&self) -> usize {
        self.trial.map_or(self.threads, |(threads, _)| threads)
    }

    /// Records how long a batch of `visits` visits took, and begins or ends a trial if that is due.
    pub(super) fn note(&mut self, visits: usize, seconds: f64) {
        if self.most == 1 {
            return;
        }
        self.visits += visits;
        self.seconds += seconds;
        if self.seconds < TRIAL_SECONDS || self.visits < TRIAL_VISITS {
            return;
        }
        let each = std::mem::take(&mut self.seconds) / std::mem::take(&mut self.visits) as f64;
        match self.trial.take() {
            Some((threads, usual)) if each < (1.0 - WORTHWHILE) * usual => {
                // A better number. The next trial goes on in the same direction.
                (self.threads, self.wait, self.rest) = (threads, 1, FIRST_REST);
            }
            Some(_) => {
                self.fewer = !self.fewer;
                self.wait = self.rest;
                self.rest = (2 * self.rest).min(LONGEST_REST);
            }
            None if self.wait > 1 => self.wait -= 1,
            None => self.begin_trial(each),
        }
    }

    /// Puts half or twice as many threads on trial, in turn if both are possible.
    fn begin_trial(&mut self, usual: f64) {
        let less = (self.threads / 2).max(1);
        let more = (2 * self.threads).min(self.most);
        let other = match (self.fewer, less < self.threads, more > self.threads) {
            (true, true, _) | (false, true, false) => less,
            _ => more,
        };
        self.fewer = other < self.threads;
        self.trial = Some((other, usual));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The number of threads at the end, and the share of visits on it, if a visit takes `cost(threads)`.
    fn settle(most: usize, cost: impl Fn(usize) -> f64) -> (usize, f64) {
        let mut crew = Crew::new(most);
        let mut counts = vec![0; most + 1];
        for _ in 0..20_000 {
            let threads = crew.threads();
            assert!((1..=most).contains(&threads));
            counts[threads] += 1;
            crew.note(64, 64.0 * cost(threads));
        }
        let all: usize = counts.iter().sum();
        (crew.threads, counts[crew.threads] as f64 / all as f64)
    }

    #[test]
    fn the_fastest_number_of_threads_is_found_and_kept() {
        for most in [1, 2, 3, 8, 16] {
            let (threads, share) = settle(most, |threads| 1e-5 / threads as f64);
            assert!(threads == most && share > 0.9, "{threads} of {most}, {share}");
            let (threads, share) = settle(most, |threads| 1e-5 * threads as f64);
            assert!(threads == 1 && share > 0.9, "{threads} of {most}, {share}");
        }
        let (threads, _) = settle(16, |threads| 1e-5 * (threads as f64 / 4.0).log2().abs() + 1e-6);
        assert_eq!(threads, 4);
    }

    #[test]
    fn numbers_that_do_equally_well_are_left_as_they_are() {
        assert_eq!(settle(8, |_| 1e-5).0, 8);
    }
}
