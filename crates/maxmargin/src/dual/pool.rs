//! Threads that stand by for short pieces of work.
//!
//! A batch of sixteen chains is 50 µs of work, and starting a thread takes as long. So helpers are started
//! once, and between two pieces of work they look out for the next one for a moment before they fall asleep.
//! While they are awake, handing out work and waiting for its end need no help from the system.
//!
//! Rust cannot see that a helper has dropped a borrowed closure by the time [`Pool::run`] returns, so the
//! borrow's lifetime is erased here. This is the one place that does so; see the proof in `run`.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle, Thread};

/// How often a thread looks for work before it falls asleep, which takes 0.1 to 0.4 ms in all. Between two batches,
/// blocks take their steps one after another, and a thread that falls asleep meanwhile is late for the next batch.
const LOOKS: u32 = if cfg!(miri) { 20 } else { 10_000 };

/// Work that every thread does, given its number. The calling thread has number 0.
type Work<'a> = dyn Fn(usize) + Sync + 'a;

/// Helpers besides the calling thread.
#[derive(Default)]
pub(crate) struct Pool {
    helpers: Vec<Helper>,
    /// Whether the calling thread sleeps, or is about to.
    caller_sleeps: Arc<AtomicBool>,
}

struct Helper {
    desk: Arc<Desk>,
    thread: JoinHandle<()>,
}

/// What a helper and the calling thread share. Each desk has its cache line to itself, so that helpers do
/// not slow each other down by looking.
#[derive(Default)]
#[repr(align(128))]
struct Desk {
    /// Orders given and orders done. They are equal while the helper waits.
    given: AtomicUsize,
    done: AtomicUsize,
    /// The present order. `None` tells the helper to end.
    order: Mutex<Option<Order>>,
    /// Whether the helper sleeps, or is about to.
    sleeps: AtomicBool,
    /// What the helper has panicked with.
    panic: Mutex<Option<Box<dyn Any + Send>>>,
}

#[derive(Clone)]
struct Order {
    work: &'static Work<'static>,
    number: usize,
    /// Who waits for the end of the work, and whether that thread sleeps.
    caller: Thread,
    caller_sleeps: Arc<AtomicBool>,
}

impl Pool {
    /// Calls `work` on this thread and on `helpers` others at once, or on as many as the system allows.
    /// Returns when all are done. Helpers are started when they are first needed.
    ///
    /// # Panics
    /// If `work` panics on any thread, after all are done.
    pub(crate) fn run(&mut self, helpers: usize, work: &Work<'_>) {
        let missing = self.helpers.len() + 1..=helpers;
        self.helpers.extend(missing.map_while(|number| Helper::start(number).ok()));
        let helpers = &self.helpers[..helpers.min(self.helpers.len())];

        // SAFETY: The erased reference is used by `work(0)` below and by the helpers that get an order.
        // Each of these helpers stores the number of its order in `done` after its last use, and drops the
        // order before. Nothing between here and the loop that waits for all of them can return or unwind:
        // the own call is caught, and locking, storing and waking do not panic. So no helper uses the
        // reference after this function has ended, and `work` outlives this function.
        #[allow(unsafe_code)]
        let work: &'static Work<'static> = unsafe { std::mem::transmute::<&Work<'_>, _>(work) };

        let (caller, caller_sleeps) = (thread::current(), &self.caller_sleeps);
        for (number, helper) in (1..).zip(helpers) {
            let caller_sleeps = Arc::clone(caller_sleeps);
            helper.give(Some(Order { work, number, caller: caller.clone(), caller_sleeps }));
        }
        let own = catch_unwind(AssertUnwindSafe(|| work(0)));
        for Helper { desk, .. } in helpers {
            let given = desk.given.load(Ordering::Relaxed);
            wait_until(|| desk.done.load(Ordering::SeqCst) == given, caller_sleeps);
        }

        let panics = helpers.iter().filter_map(|helper| lock(&helper.desk.panic).take());
        if let Some(panic) = own.err().into_iter().chain(panics).next() {
            resume_unwind(panic);
        }
    }
}

impl Helper {
    fn start(number: usize) -> std::io::Result<Self> {
        let desk = Arc::new(Desk::default());
        let own = Arc::clone(&desk);
        let builder = thread::Builder::new().name(format!("maxmargin {number}"));
        let thread = builder.spawn(move || own.serve())?;
        Ok(Self { desk, thread })
    }

    /// Gives an order, or tells the helper to end.
    fn give(&self, order: Option<Order>) {
        *lock(&self.desk.order) = order;
        self.desk.given.fetch_add(1, Ordering::SeqCst);
        if self.desk.sleeps.load(Ordering::SeqCst) {
            self.thread.thread().unpark();
        }
    }
}

impl Desk {
    /// Carries out orders until there are no more.
    fn serve(&self) {
        let mut done = 0;
        loop {
            wait_until(|| self.given.load(Ordering::SeqCst) > done, &self.sleeps);
            done += 1;
            let Some(Order { work, number, caller, caller_sleeps }) = lock(&self.order).take()
            else {
                return;
            };
            if let Err(panic) = catch_unwind(AssertUnwindSafe(|| work(number))) {
                *lock(&self.panic) = Some(panic);
            }
            self.done.store(done, Ordering::SeqCst);
            if caller_sleeps.load(Ordering::SeqCst) {
                caller.unpark();
            }
        }
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        for helper in self.helpers.drain(..) {
            helper.give(None);
            // Its panics were caught.
            let _ = helper.thread.join();
        }
    }
}

/// Waits until `is_true`, and falls asleep after a while. `sleeps` tells other threads that this one has to be woken.
/// No signal is lost: either they see the flag, or `is_true` sees what they did before they looked at it.
fn wait_until(is_true: impl Fn() -> bool, sleeps: &AtomicBool) {
    for _ in 0..LOOKS {
        if is_true() {
            return;
        }
        std::hint::spin_loop();
    }
    sleeps.store(true, Ordering::SeqCst);
    while !is_true() {
        thread::park();
    }
    sleeps.store(false, Ordering::SeqCst);
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn every_thread_works_on_every_order_exactly_once() {
        let mut pool = Pool::default();
        for round in 0..if cfg!(miri) { 40 } else { 2_000 } {
            let helpers = round % 4;
            let calls: [AtomicUsize; 4] = Default::default();
            pool.run(helpers, &|number| {
                calls[number].fetch_add(1, Ordering::Relaxed);
            });
            let calls = calls.map(AtomicUsize::into_inner);
            let expected = [0, 1, 2, 3].map(|number| usize::from(number <= helpers));
            assert_eq!(calls, expected, "round {round}");
        }
    }

    /// Borrowed memory is freed right after a run. A helper that is late would write to it.
    #[test]
    fn no_helper_is_late_whoever_falls_asleep() {
        let mut pool = Pool::default();
        for round in 0..if cfg!(miri) { 8 } else { 60 } {
            let sums: Vec<Mutex<Vec<u64>>> = (0..3).map(|_| Mutex::new(vec![0; 64])).collect();
            pool.run(2, &|number| {
                if number == round % 3 {
                    thread::sleep(Duration::from_micros(300));
                }
                lock(&sums[number]).iter_mut().for_each(|sum| *sum += 1);
            });
            if round % 4 == 0 {
                thread::sleep(Duration::from_micros(500));
            }
            let all = sums.into_iter().flat_map(|sum| sum.into_inner().unwrap());
            assert_eq!(all.sum::<u64>(), 3 * 64);
        }
    }

    #[test]
    fn a_panic_of_a_helper_reaches_the_caller_and_the_pool_lives_on() {
        let mut pool = Pool::default();
        for bad in 0..3 {
            let run = || pool.run(2, &|number| assert_ne!(number, bad, "on purpose"));
            assert!(catch_unwind(AssertUnwindSafe(run)).is_err());
            let calls = AtomicUsize::new(0);
            pool.run(2, &|_| {
                calls.fetch_add(1, Ordering::Relaxed);
            });
            assert_eq!(calls.into_inner(), 3);
        }
    }
}
