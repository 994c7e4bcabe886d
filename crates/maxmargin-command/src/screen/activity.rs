//! What the live line says.

use super::words::{cut, duration, rough_duration, width};
use std::time::{Duration, Instant};

/// Something that takes time.
pub(super) struct Activity {
    what: String,
    detail: Detail,
    count: Option<Count>,
    began: Instant,
    end: Option<(Instant, Left)>,
}

enum Detail {
    Known(String),
    Asked(Box<dyn Fn() -> String + Send>),
}

/// Things that are done one after the other.
#[derive(Clone, Copy)]
struct Count {
    done: u64,
    all: u64,
    /// How many of those done have taken time.
    took: u64,
}

/// How long something will take, and how well that is known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Left {
    pub(super) seconds: f64,
    /// Whether it may end earlier.
    pub(super) at_most: bool,
    /// Whether it is an estimate.
    pub(super) about: bool,
}

impl Left {
    /// With so many seconds left of it.
    pub(super) fn in_words(self, seconds: f64) -> String {
        let most = if self.at_most { "at most " } else { "" };
        let about = if self.about { "about " } else { "" };
        format!("{most}{about}{} left", rough_duration(seconds))
    }
}

/// Cells of a bar.
const CELLS: u64 = 12;

const SPINNER: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];

impl Activity {
    pub(super) fn new(what: String) -> Self {
        let detail = Detail::Known(String::new());
        Self { what, detail, count: None, began: Instant::now(), end: None }
    }

    pub(super) fn with_detail(self, detail: impl Fn() -> String + Send + 'static) -> Self {
        Self { detail: Detail::Asked(Box::new(detail)), ..self }
    }

    pub(super) fn with_count(self, all: u64) -> Self {
        Self { count: Some(Count { done: 0, all, took: 0 }), ..self }
    }

    pub(super) fn tell(&mut self, detail: String) {
        self.detail = Detail::Known(detail);
    }

    /// Says only this from now on, and the time that is left, if that is known.
    pub(super) fn expect(&mut self, words: String, left: Option<Left>) {
        self.what = words;
        self.ends_in(left);
    }

    fn ends_in(&mut self, left: Option<Left>) {
        self.end = left.and_then(|left| {
            let time = Duration::try_from_secs_f64(left.seconds).ok()?;
            Some((Instant::now().checked_add(time)?, left))
        });
    }

    pub(super) fn counted(&mut self, took: bool) {
        let Some(count) = &mut self.count else { return };
        count.done += 1;
        count.took += u64::from(took);
        let seconds = self.began.elapsed().as_secs_f64();
        let left = count.all.saturating_sub(count.done);
        if count.took > 0 && left > 0 {
            let seconds = seconds / count.took as f64 * left as f64;
            self.ends_in(Some(Left { seconds, at_most: false, about: true }));
        }
    }

    /// The line at a moment, in at most `columns` columns, with the spinner at `frame`.
    pub(super) fn line(&self, now: Instant, frame: usize, columns: usize, colour: bool) -> String {
        let spinner = SPINNER[frame % SPINNER.len()];
        let (cyan, plain) = if colour { ("\x1b[36m", "\x1b[0m") } else { ("", "") };
        let mut times = duration(now.saturating_duration_since(self.began).as_secs_f64().floor());
        // What lasts longer than it was thought to lasts for nobody knows how long.
        if let Some((end, left)) = self.end.filter(|(end, _)| *end > now) {
            times = format!("{times}, {}", left.in_words((end - now).as_secs_f64()));
        }
        let mut words = self.what.clone();
        let detail = match &self.detail {
            Detail::Known(detail) => detail.clone(),
            Detail::Asked(ask) => ask(),
        };
        if !detail.is_empty() {
            words = format!("{words}: {detail}");
        }
        let (bar, counted) = self.count.map_or_else(Default::default, Count::bar);
        if !counted.is_empty() {
            words = format!("{counted} {words}");
        }
        let bar_width = if bar.is_empty() { 0 } else { width(&bar) + 1 };
        // The spinner and a blank, the bar and a blank, the words, two blanks, and the times.
        let taken = 2 + bar_width + 2 + width(&times);
        if taken >= columns {
            return cut(&format!("{spinner} {words}"), columns);
        }
        let words = cut(&words, columns - taken);
        match bar.is_empty() {
            true => format!("{cyan}{spinner}{plain} {words}  {times}"),
            false => format!("{cyan}{spinner} {bar}{plain} {words}  {times}"),
        }
    }
}

impl Count {
    /// The bar, and the numbers beside it.
    fn bar(self) -> (String, String) {
        let Self { done, all, .. } = self;
        let full = (CELLS * done.min(all)).checked_div(all).unwrap_or(CELLS);
        let bar = "█".repeat(full as usize) + &"░".repeat((CELLS - full) as usize);
        (bar, format!("{done} of {all}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line_after(activity: &Activity, seconds: u64, columns: usize) -> String {
        activity.line(activity.began + Duration::from_secs(seconds), 0, columns, false)
    }

    #[test]
    fn a_line_tells_what_is_done_and_since_when() {
        let mut activity = Activity::new("reading a.txt".to_owned());
        assert_eq!(line_after(&activity, 3, 79), "⠋ reading a.txt  3 s");
        activity.tell("half of it".to_owned());
        assert_eq!(line_after(&activity, 63, 79), "⠋ reading a.txt: half of it  1 min 03 s");
        let asked = Activity::new("labelling".to_owned()).with_detail(|| "7 lines".to_owned());
        assert_eq!(line_after(&asked, 0, 79), "⠋ labelling: 7 lines  0 s");
    }

    #[test]
    fn the_time_left_falls_and_is_not_told_once_it_is_over() {
        let mut activity = Activity::new("training".to_owned());
        let left = Left { seconds: 10.5, at_most: true, about: true };
        activity.expect("pass 3".to_owned(), Some(left));
        // The moment of `expect` is a little later than that of `new`.
        let line = line_after(&activity, 4, 79);
        assert_eq!(line, "⠋ pass 3  4 s, at most about 7 s left");
        assert_eq!(line_after(&activity, 30, 79), "⠋ pass 3  30 s");
        for seconds in [f64::INFINITY, f64::NAN, -1.0, 1e300] {
            activity.expect("pass 4".to_owned(), Some(Left { seconds, ..left }));
            assert_eq!(line_after(&activity, 1, 79), "⠋ pass 4  1 s");
        }
    }

    #[test]
    fn counts_have_bars() {
        let mut activity = Activity::new("runs".to_owned()).with_count(4);
        assert_eq!(line_after(&activity, 1, 79), "⠋ ░░░░░░░░░░░░ 0 of 4 runs  1 s");
        activity.counted(false);
        assert_eq!(line_after(&activity, 1, 79), "⠋ ███░░░░░░░░░ 1 of 4 runs  1 s");
        (0..3).for_each(|_| activity.counted(true));
        assert_eq!(line_after(&activity, 9, 79), "⠋ ████████████ 4 of 4 runs  9 s");
        let none = Activity::new("runs".to_owned()).with_count(0);
        assert_eq!(line_after(&none, 1, 79), "⠋ ████████████ 0 of 0 runs  1 s");
    }

    #[test]
    fn a_line_is_never_wider_than_it_may_be() {
        let mut activity = Activity::new("reading ".to_owned() + &"字x".repeat(80)).with_count(7);
        activity.tell("detail\twith\u{1b}[31m control".to_owned());
        activity.counted(true);
        for columns in 1..200 {
            let line = line_after(&activity, 100, columns);
            assert!(width(&line) <= columns, "{columns}: {line}");
            assert!(!line.contains(char::is_control), "{line:?}");
        }
    }

    #[test]
    fn colour_is_only_in_the_spinner_and_the_bar() {
        let activity = Activity::new("runs".to_owned()).with_count(1);
        let line = activity.line(activity.began, 0, 79, true);
        assert_eq!(line, "\x1b[36m⠋ ░░░░░░░░░░░░\x1b[0m 0 of 1 runs  0 s");
    }
}
