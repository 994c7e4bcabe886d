//! What the solver `auto` decides after its first pass.
//!
//! In every race we ran (`benchmarks/results`), gap sampling with corrective steps and a cache was the fastest
//! method, or close to it, at fine gaps. At coarse gaps, plain steps in permuted order were: while most corners are
//! new, a plain step gains as much and costs half. So `auto` starts with the direction `staged` (see `staged.rs`).
//! Where all examples share few features, and where oracle calls take very long, it exhausts remembered corners
//! between calls (`exhaust.rs`), because visits alone may need hundreds of times as many calls.
//!
//! Plain steps do not pay where oracle calls are expensive. After the first pass, the clock decides whether they are,
//! by the calls that nothing disturbed. It also decides whether calls are long enough for batches; if they take very
//! long, batches begin after the first visits. These decisions and the cache rule `auto` are the only places where
//! time can steer a run. The choice is kept with the model.

use super::{BlockCoordinate, Mode};
use crate::observe::Choice;
use crate::problem::Blocks;
use crate::run::Run;
use crate::settings::{Caching, Direction, Solver};

/// Oracle calls that take longer than this are worth avoiding, if they take this share of the time.
const DEAR_CALL: f64 = 20e-6;
const DEAR_SHARE: f64 = 0.5;

/// Calls that take longer than this are worth any work on remembered corners that can save one.
const VERY_DEAR_CALL: f64 = 100e-6;

/// The number of corners without mass that a block remembers where calls are cheap. (Ten, the default elsewhere, save no
/// calls, and visits take a fifth longer to look at them; see `benchmarks/results/2026-11-19-defaults.md`.)
const FEW_IDLE: usize = 2;

/// Shorter calls are not worth sharing out: a batch of sixteen would be done before the threads are awake.
const SHORTEST_SHARED_CALL: f64 = 3e-6;

/// If all oracle calls of a pass take less than this, the run is over in a moment on one core. Small data then
/// give the same bits on fast and on slow machines.
const SHORTEST_SHARED_PASS: f64 = 20e-3;

impl BlockCoordinate {
    /// Decides, from the time of the first pass, whether it was the last one of plain steps. If oracles
    /// take most of the time, and more than a moment, every call is to be used to the full.
    pub(super) fn decide_auto(&mut self, run: &mut Run<'_, '_>) {
        let (order, direction) = (run.settings.order, run.settings.direction);
        if matches!(self.mode, Mode::Plain | Mode::Simplices(_)) {
            let cache = Caching::Off;
            let why = "blocks are simplices, whose best points have a closed form";
            let reason = format!("order {order}, direction {direction}, cache {cache}: {why}");
            return run.announce_choice(Choice { order, direction, cache, batch: 1, reason });
        }
        // Are oracle calls so expensive that plain steps do not pay?
        let (all, oracles) = run.seconds();
        let call = run.undisturbed_call();
        let share = oracles / all.max(f64::MIN_POSITIVE);
        let dear = call > DEAR_CALL && share > DEAR_SHARE;
        let cache = self.choose_cache(
            run.problem,
            run.settings.cache,
            (dear, dear && call > VERY_DEAR_CALL),
        );
        let at_once = dear || cache == Caching::Exhaust;
        let direction = if at_once { Direction::Corrective } else { direction };
        // Say what was chosen, and why.
        let each =
            if call < 1e-3 { format!("{:.1} µs", 1e6 * call) } else { format!("{call:.3} s") };
        let share = format!("{:.0} %", 100.0 * share);
        let why = format!("oracle calls take about {each} each, about {share} of the time");
        if self.batches.wait() {
            self.begin_batches(run);
        }
        let batch = if self.batches.is_single() { 1 } else { run.settings.batch_size() };
        let size = if batch == 0 { "auto".to_owned() } else { batch.to_string() };
        let reason =
            format!("order {order}, direction {direction}, cache {cache}, batch {size}: {why}");
        run.announce_choice(Choice { order, direction, cache, batch, reason });
        if at_once {
            self.switch_to_corrective(run);
        }
    }

    /// Begins with batches in the midst of the first pass if `auto` finds that calls take very long. Otherwise the
    /// decision waits for the end of the pass, when more calls were timed.
    pub(super) fn begin_batches_early(&mut self, run: &Run<'_, '_>) {
        if run.settings.solver == Solver::Auto && run.undisturbed_call() > VERY_DEAR_CALL {
            self.batches.begin(true);
        }
    }

    /// Begins with batches whose size adapts, unless calls are too short to share out.
    fn begin_batches(&mut self, run: &Run<'_, '_>) {
        let call = run.undisturbed_call();
        let pass = call * run.examples() as f64;
        match call < SHORTEST_SHARED_CALL || pass < SHORTEST_SHARED_PASS {
            true => self.batches.stay_single(),
            false => self.batches.begin(call > VERY_DEAR_CALL),
        }
    }

    /// The rule for remembered corners: where atoms keep their few features, looks at corners cost next to nothing,
    /// and blocks that share few features need to move together. There, and where oracle calls take very long,
    /// remembered corners are exhausted.
    fn choose_cache(
        &mut self,
        problem: &dyn Blocks,
        cache: Caching,
        (dear, very_dear): (bool, bool),
    ) -> Caching {
        let Some(sets) = self.mode.sets() else { return cache };
        if very_dear || sets.keep_features(problem) {
            sets.cache.set_rule(Caching::Exhaust);
        } else if !dear {
            sets.cache.remember_at_most(FEW_IDLE);
        }
        sets.cache.rule()
    }
}
