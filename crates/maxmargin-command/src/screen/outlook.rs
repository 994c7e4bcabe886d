//! How long a run will go on, as far as that can be told.
//!
//! The gap falls roughly as a power of time, t⁻ᵖ, whose exponent the gaps known so far tell: p over the last half of
//! the run, so that a rate which improves shows soon. Limits are reached at the pace of that half. What is estimated
//! is told as an estimate; only a limit in seconds is known beforehand.
//!
//! A run of more than a minute is announced on a line of its own, in logs as well as on terminals: first that gaps
//! come late, if they do, and then, once there are some, how long the rest will take. An announcement that turns out
//! to be wrong is put right, at most each time that the run has become twice as old.

use super::activity::Left;
use super::words::rough_duration;
use maxmargin::SettingsRecord;
use maxmargin::observe::Record;
use maxmargin_report::format_significant;

/// A run, seen from its last pass.
#[derive(Debug, Clone)]
pub(super) struct Outlook {
    settings: SettingsRecord,
    last: Mark,
    /// All passes so far, thinned out: the next is kept when time has grown by [`GROWTH`].
    paces: Vec<Mark>,
    /// All gap checks so far, thinned out as well.
    gaps: Vec<(f64, f64)>,
    /// Whether it was announced when the first gap will be known.
    first_gap_announced: bool,
    /// When the end of the run was announced last, and for when.
    end_announced: Option<(f64, f64)>,
}

/// Where a run stands.
#[derive(Debug, Clone, Copy, Default)]
struct Mark {
    seconds: f64,
    pass: u64,
    calls: u64,
    gap: Option<f64>,
    dual: f64,
}

const GROWTH: f64 = 1.05;

/// A gap that falls more slowly than t⁻ᵖ with this p tells nothing about the end.
const LEAST_POWER: f64 = 0.1;

/// From fewer gaps nobody can tell where they are going.
const FEW: usize = 4;

/// Runs are announced that will take longer than this.
const LONG: f64 = 60.0;

/// An announcement is wrong if the time left is this many times as long, or as short.
const WRONG: f64 = 2.0;

/// The first passes must have taken so many seconds before anything is concluded from them.
const LEAST_SECONDS: f64 = 2.0;

impl Outlook {
    pub(super) fn new(settings: &SettingsRecord) -> Self {
        let (settings, last) = (settings.clone(), Mark::default());
        let (paces, gaps) = (Vec::new(), Vec::new());
        Self { settings, last, paces, gaps, first_gap_announced: false, end_announced: None }
    }

    /// Takes note of a pass.
    pub(super) fn add(&mut self, record: &Record) {
        let &Record { seconds, pass, oracle_calls: calls, dual, .. } = record;
        let gap = record.gap.or(self.last.gap);
        self.last = Mark { seconds, pass, calls, gap, dual };
        if self.paces.last().is_none_or(|mark| seconds >= GROWTH * mark.seconds) {
            self.paces.push(self.last);
        }
        let is_due = self.gaps.last().is_none_or(|(then, _)| seconds >= GROWTH * then);
        self.gaps.extend(record.gap.filter(|gap| is_due && *gap > 0.0).map(|gap| (seconds, gap)));
    }

    /// The gap at which the run ends, if there is one.
    fn target(&self) -> Option<f64> {
        let share = self.settings.relative_tolerance;
        let relative = share / (1.0 - share) * self.last.dual.max(0.0);
        Some(self.settings.tolerance.max(relative)).filter(|gap| *gap > 0.0)
    }

    /// What there is to announce after the last pass.
    pub(super) fn announcement(&mut self) -> Option<String> {
        let now = self.last.seconds;
        if now < LEAST_SECONDS {
            return None;
        }
        // Whoever sets a limit in seconds knows how long it is.
        if let Some(left) = self.left().filter(|left| left.about && left.seconds > LONG) {
            let is_known = self.end_announced.is_some_and(|(then, end)| {
                let ratio = left.seconds / (end - now).max(f64::MIN_POSITIVE);
                now < 2.0 * then || (1.0 / WRONG..=WRONG).contains(&ratio)
            });
            if is_known {
                return None;
            }
            let word = if self.end_announced.is_some() { "now " } else { "" };
            self.end_announced = Some((now, now + left.seconds));
            return Some(format!("training: {word}{}", left.in_words(left.seconds)));
        }
        let (pass, until) = self.until_first_gap().filter(|(_, until)| *until > LONG)?;
        if std::mem::replace(&mut self.first_gap_announced, true) {
            return None;
        }
        let [pass, until] = [pass, until].map(rough_duration);
        Some(format!(
            "training: a pass takes about {pass}, and the first gap is known in about {until}"
        ))
    }

    /// The seconds of a pass, and those until the first gap is known.
    fn until_first_gap(&self) -> Option<(f64, f64)> {
        let Mark { seconds, pass, gap, .. } = self.last;
        let each = seconds / pass as f64;
        let rest = self.settings.gap_every.min(self.settings.max_passes).saturating_sub(pass);
        (gap.is_none() && pass > 0).then_some((each, each * rest as f64))
    }

    pub(super) fn in_words(&self) -> String {
        let pass = format!("pass {}", self.last.pass);
        match (self.last.gap, self.target()) {
            (None, _) => pass,
            (Some(gap), None) => format!("{pass}, gap {}", format_significant(gap, 3)),
            (Some(gap), Some(target)) => {
                let (gap, target) = (format_significant(gap, 3), format_significant(target, 2));
                format!("{pass}, gap {gap} (aim {target})")
            }
        }
    }

    /// The time left after the last pass.
    pub(super) fn left(&self) -> Option<Left> {
        let limited = self.until_limits();
        let Some(seconds) = self.until_target() else {
            // Limits are there for the case that the aim is missed, which it is too early to tell.
            let is_early = self.target().is_some() && self.gaps.len() < FEW;
            return limited.filter(|left| !(is_early && left.about));
        };
        match limited {
            Some(limit) if limit.seconds < seconds => Some(limit),
            _ => Some(Left { seconds, at_most: false, about: true }),
        }
    }

    /// The time until the gap is small enough.
    fn until_target(&self) -> Option<f64> {
        let target = self.target()?;
        let &(now, gap) = self.gaps.last()?;
        let &(then, old) = self.gaps.iter().rev().find(|(then, _)| *then <= 0.5 * now)?;
        let power = (old / gap).ln() / (now / then).ln();
        (power >= LEAST_POWER).then(|| {
            let end = now * (gap / target).max(1.0).powf(1.0 / power);
            (end - self.last.seconds).max(0.0)
        })
    }

    /// The time until the first limit is reached.
    fn until_limits(&self) -> Option<Left> {
        let Mark { seconds, pass, calls, .. } = self.last;
        let at_most = self.target().is_some() || self.settings.patience.is_some();
        let half = self.paces.iter().rev().find(|mark| mark.seconds <= 0.5 * seconds);
        let half = half.copied().unwrap_or_default();
        let time = seconds - half.seconds;
        let at_pace = |done: u64, now: u64, limit: u64| {
            let (way, rest) = (now.saturating_sub(done), limit.saturating_sub(now));
            (way > 0).then(|| Left {
                seconds: time / way as f64 * rest as f64,
                at_most,
                about: true,
            })
        };
        let known = self.settings.max_seconds.map(|limit| Left {
            seconds: (limit - seconds).max(0.0),
            at_most: true,
            about: false,
        });
        let passes = Some(self.settings.max_passes).filter(|most| *most < u64::MAX);
        let by_pass = passes.and_then(|most| at_pace(half.pass, pass, most));
        let by_call = self.settings.max_oracle_calls;
        let by_call = by_call.and_then(|most| at_pace(half.calls, calls, most));
        let all = [known, by_pass, by_call].into_iter().flatten();
        all.min_by(|a, b| a.seconds.total_cmp(&b.seconds))
    }
}

/// The time that is left of a path, from the time and λ of all breakpoints so far, at the pace in log λ of the last
/// half of the time. A path may end before `lowest`, a grid does not.
pub(super) fn of_path(so_far: &[(f64, f64)], lowest: f64, may_end_before: bool) -> Option<Left> {
    let &(now, lambda) = so_far.last()?;
    let &(then, old) =
        so_far.iter().rev().find(|(then, _)| *then <= 0.5 * now).or(so_far.first())?;
    let seconds = (lambda / lowest).ln().max(0.0) * (now - then) / (old / lambda).ln();
    let left = Left { seconds, at_most: may_end_before, about: true };
    (old > lambda && seconds.is_finite()).then_some(left)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// An outlook after passes of a second each, with the gap of each.
    fn outlook(settings: &SettingsRecord, gaps: impl IntoIterator<Item = Option<f64>>) -> Outlook {
        let mut outlook = Outlook::new(settings);
        for (pass, gap) in (1..).zip(gaps) {
            outlook.add(&record(pass, 0.0, gap));
        }
        outlook
    }

    /// A pass that ends after as many seconds.
    fn record(pass: u32, dual: f64, gap: Option<f64>) -> Record {
        serde_json::from_value(json!({
            "pass": pass, "visits": 10 * pass, "oracle_calls": 10 * pass, "effective_passes": pass,
            "seconds": pass, "oracle_seconds": 0, "gap_seconds": 0, "dual": dual, "gap": gap,
            "steps": {"count": 0, "mean": 0, "zero": 0, "full": 0},
        }))
        .unwrap()
    }

    fn endless() -> SettingsRecord {
        SettingsRecord { max_passes: u64::MAX, ..SettingsRecord::default() }
    }

    #[test]
    fn a_gap_that_falls_by_a_power_tells_the_end() {
        // 1/t falls to 0.01 after 100 s.
        let run = outlook(&endless(), (1..=40).map(|t| Some(1.0 / f64::from(t))));
        let left = run.left().unwrap();
        assert!((left.seconds - 60.0).abs() < 1e-6, "{left:?}");
        assert!(left.about && !left.at_most);
        assert_eq!(run.in_words(), "pass 40, gap 2.50e-2 (aim 1.0e-2)");
    }

    #[test]
    fn a_gap_that_does_not_fall_tells_nothing() {
        let run = outlook(&endless(), (1..=40).map(|_| Some(0.5)));
        assert_eq!(run.left(), None);
        assert_eq!(outlook(&endless(), [None, None]).left(), None);
        assert_eq!(outlook(&endless(), [None]).in_words(), "pass 1");
    }

    #[test]
    fn a_share_of_the_objective_is_an_aim() {
        let relative = SettingsRecord { tolerance: 0.0, relative_tolerance: 0.01, ..endless() };
        let mut run = outlook(&relative, []);
        for t in 1..=40 {
            run.add(&record(t, 9.9, Some(1.0 / f64::from(t))));
        }
        // A hundredth of 9.9 + 0.1, which 1/t reaches after 10 s.
        assert_eq!(run.in_words(), "pass 40, gap 2.50e-2 (aim 1.0e-1)");
        assert_eq!(run.left().unwrap().seconds, 0.0);
    }

    #[test]
    fn a_long_run_is_announced_once_as_soon_as_it_is_known_to_be_long() {
        // 1/t falls to 0.01 after 100 s, and gaps come with every pass.
        let mut run = outlook(&endless(), []);
        let mut said = Vec::new();
        for t in 1..=40 {
            run.add(&record(t, 0.0, Some(1.0 / f64::from(t))));
            said.extend(run.announcement().map(|text| (t, text)));
        }
        assert_eq!(said, [(2, "training: about 98 s left".to_owned())]);

        // Gaps come late, and then the rest is short.
        let slow = SettingsRecord { gap_every: 100, ..endless() };
        let mut run = outlook(&slow, []);
        let mut said = Vec::new();
        for t in 1..=100 {
            run.add(&record(t, 0.0, (t == 100).then_some(0.02)));
            said.extend(run.announcement().map(|text| (t, text)));
        }
        let text = "training: a pass takes about 1 s, and the first gap is known in about 98 s";
        assert_eq!(said, [(2, text.to_owned())]);
    }

    #[test]
    fn a_wrong_announcement_is_put_right() {
        // The gap falls as 1/t first, to nearly the aim, and then hardly at all.
        let gap = |t: u32| {
            if t <= 20 { 1.0 / f64::from(t) } else { 0.05 / (f64::from(t) / 20.0).powf(0.3) }
        };
        let mut run = outlook(&endless(), []);
        let mut said = Vec::new();
        for t in 1..=300 {
            run.add(&record(t, 0.0, Some(gap(t))));
            said.extend(run.announcement().map(|text| (t, text)));
        }
        assert_eq!(said[0], (2, "training: about 98 s left".to_owned()));
        assert!(said.len() > 1 && said[1].1.starts_with("training: now about "), "{said:?}");
        assert!(said.windows(2).all(|pair| pair[1].0 >= 2 * pair[0].0), "{said:?}");
    }

    #[test]
    fn nothing_is_announced_of_short_runs_or_known_limits() {
        let gaps = || (1..=40).map(|t| Some(1.0 / f64::from(t)));
        let mut run = outlook(&SettingsRecord { tolerance: 0.02, ..endless() }, gaps());
        assert_eq!(run.announcement(), None, "10 s are left");
        let mut run = outlook(&SettingsRecord { max_seconds: Some(200.0), ..endless() }, [None]);
        assert_eq!(run.announcement(), None, "the limit was asked for");
        let mut run =
            outlook(&SettingsRecord { max_passes: 5000, tolerance: 0.0, ..endless() }, gaps());
        assert_eq!(run.announcement().unwrap(), "training: about 83 min left");
    }

    #[test]
    fn limits_end_what_would_take_longer() {
        let gaps = || (1..=40).map(|t| Some(1.0 / f64::from(t)));
        let run = outlook(&SettingsRecord { max_seconds: Some(50.0), ..endless() }, gaps());
        assert_eq!(run.left(), Some(Left { seconds: 10.0, at_most: true, about: false }));
        let run = outlook(&SettingsRecord { max_passes: 60, ..endless() }, gaps());
        assert_eq!(run.left(), Some(Left { seconds: 20.0, at_most: true, about: true }));
        let calls = Some(430);
        let run = outlook(&SettingsRecord { max_oracle_calls: calls, ..endless() }, gaps());
        assert_eq!(run.left(), Some(Left { seconds: 3.0, at_most: true, about: true }));
        let settings = SettingsRecord { max_passes: 60, ..endless() };
        assert_eq!(outlook(&settings, [Some(1.0), Some(1.0)]).left(), None, "it is too early");
        let none = SettingsRecord { max_passes: 60, tolerance: 0.0, ..endless() };
        let run = outlook(&none, gaps());
        assert_eq!(run.left(), Some(Left { seconds: 20.0, at_most: false, about: true }));
        assert_eq!(run.in_words(), "pass 40, gap 2.50e-2");
    }

    #[test]
    fn a_path_goes_on_at_its_pace() {
        let points = [(1.0, 1.0), (2.0, 0.1), (4.0, 0.01)];
        let left = of_path(&points, 1e-4, true).unwrap();
        assert!((left.seconds - 4.0).abs() < 1e-9 && left.at_most && left.about, "{left:?}");
        assert!(!of_path(&points, 1e-4, false).unwrap().at_most);
        assert_eq!(of_path(&points[..1], 1e-4, true), None);
        assert_eq!(of_path(&[], 1e-4, true), None);
        assert_eq!(of_path(&points, 0.1, false).unwrap().seconds, 0.0);
    }
}
