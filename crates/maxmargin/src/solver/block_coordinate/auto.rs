//! What the solver `auto` decides after its first pass.

use super::{BlockCoordinate, Mode};
use crate::observe::Choice;
use crate::run::Run;
use crate::settings::{Caching, Direction};

/// An oracle call that takes longer is worth avoiding, if such calls take this share of the time.
const DEAR_CALL: f64 = 20e-6;
const DEAR_SHARE: f64 = 0.5;

impl BlockCoordinate {
    /// Decides, from what the first pass took, whether it was the last one of plain steps. Where oracles
    /// take most of the time, and more than a moment, every call is to be used to the full.
    pub(super) fn decide_auto(&mut self, run: &mut Run<'_, '_>) {
        let (order, direction) = (run.settings.order, run.settings.direction);
        if matches!(self.mode, Mode::Plain | Mode::Simplices(_)) {
            let cache = Caching::Off;
            let why = "blocks are simplices, whose best points have a closed form";
            let reason = format!("order {order}, direction {direction}, cache {cache}: {why}");
            return run.announce_choice(Choice { order, direction, cache, reason });
        }
        let (all, oracles) = run.seconds();
        let call = run.undisturbed_call();
        let share = oracles / all.max(f64::MIN_POSITIVE);
        let dear = call > DEAR_CALL && share > DEAR_SHARE;
        let cache = run.settings.cache;
        let direction = if dear { Direction::Corrective } else { direction };
        let each =
            if call < 1e-3 { format!("{:.1} µs", 1e6 * call) } else { format!("{call:.3} s") };
        let share = format!("{:.0} %", 100.0 * share);
        let why = format!("oracle calls take {each} each and {share} of the time");
        let reason = format!("order {order}, direction {direction}, cache {cache}: {why}");
        run.announce_choice(Choice { order, direction, cache, reason });
        if dear {
            self.switch_to_corrective(run);
        }
    }
}
