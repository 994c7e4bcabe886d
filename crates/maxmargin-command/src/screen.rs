//! Talking to a person: text on standard error, and on a terminal one live line below it that shows that the program
//! is at work, on what, and for how much longer.

mod activity;
mod ctrl_c;
mod live;
mod outlook;
mod words;

pub use ctrl_c::on_ctrl_c;
pub(crate) use ctrl_c::{Interrupted, exit_status};
pub(crate) use live::{clear, print_above};
pub(crate) use words::{folded, harmless, harmless_name, wrapped};

use activity::Activity;
use maxmargin::observe::{Control, Event, Observer};
use maxmargin_report::format_significant;
use outlook::Outlook;
use std::io::{self, IsTerminal as _, Write};

/// Standard error, with a live line that makes way for text.
#[derive(Clone, Default)]
pub struct Screen {
    quiet: bool,
    /// What a run looks like from here, while it is watched.
    outlook: Option<Outlook>,
}

impl Screen {
    /// Quiet says nothing; otherwise there is a live line, but only if a person is watching.
    pub fn new(quiet: bool) -> Self {
        Self { quiet, outlook: None }
    }

    /// Says something on a line of its own.
    pub fn say(&self, text: impl AsRef<str>) {
        if !self.quiet {
            self.warn(text);
        }
    }

    /// Says something that must not go unheard.
    pub(crate) fn warn(&self, text: impl AsRef<str>) {
        let text = format!("{}\n", text.as_ref());
        // Nobody is there to be told that standard error is closed.
        let _ = live::say(&if live::is_watched() { folded(&text) } else { text });
    }

    /// Shows what is being done from now on, until something else is or it is [done](Self::done).
    pub(crate) fn busy(&self, what: impl Into<String>) {
        self.show(|| Activity::new(what.into()));
    }

    /// Shows that data are being read, unless a person is typing them in.
    pub(crate) fn reading(&self, data: &str) {
        if data == "-" && io::stdin().is_terminal() {
            self.done();
        } else {
            self.busy(format!("reading {data}"));
        }
    }

    /// Shows what is being done, with what `detail` tells about it at any time.
    pub(crate) fn busy_with(
        &self,
        what: impl Into<String>,
        detail: impl Fn() -> String + Send + 'static,
    ) {
        self.show(|| Activity::new(what.into()).with_detail(detail));
    }

    /// Shows a bar for so many things to do, one after the other.
    pub(crate) fn count(&self, what: impl Into<String>, things: u64) {
        self.show(|| Activity::new(what.into()).with_count(things));
    }

    /// Shows what exactly is being done.
    pub(crate) fn tell(&self, what: impl Into<String>) {
        self.change(true, |activity| activity.tell(what.into()));
    }

    /// As [`tell`](Self::tell), for what changes more often than anybody can read.
    pub(crate) fn tell_soon(&self, what: impl Into<String>) {
        self.change(false, |activity| activity.tell(what.into()));
    }

    /// Shows how far a path has come: the time and λ of all breakpoints so far, and the λ at which it ends, `for_sure`
    /// or at the latest.
    pub(crate) fn follow(&self, what: &str, so_far: &[(f64, f64)], lowest: f64, for_sure: bool) {
        let Some((_, lambda)) = so_far.last() else { return };
        let left = outlook::of_path(so_far, lowest, !for_sure);
        let lambda = format_significant(*lambda, 3);
        let words = format!("{what}: {} done, lambda {lambda}", so_far.len());
        self.change(true, |activity| activity.expect(words, left));
    }

    /// One of the things is done. Whether it `took` time tells how long the others will take.
    pub(crate) fn counted(&self, took: bool) {
        self.change(true, |activity| activity.counted(took));
    }

    /// Clears the live line away.
    pub(crate) fn done(&self) {
        if !self.quiet {
            clear();
        }
    }

    fn show(&self, activity: impl FnOnce() -> Activity) {
        if !self.quiet && live::is_watched() {
            live::show(activity());
        }
    }

    fn change(&self, at_once: bool, change: impl FnOnce(&mut Activity)) {
        if !self.quiet && live::is_watched() {
            live::change(at_once, change);
        }
    }
}

/// For tables, which should come line by line (`LineWriter`): they go above the live line.
impl Write for Screen {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if !self.quiet {
            live::say(&String::from_utf8_lossy(bytes))?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}

/// Follows a run: its pass, its gap, and the time left.
impl Observer for Screen {
    fn event(&mut self, event: Event<'_>) -> Control {
        match event {
            Event::Start(start) => {
                self.outlook = Some(Outlook::new(&start.settings));
                self.busy("training");
            }
            Event::Pass { record, .. } => {
                if let Some(outlook) = &mut self.outlook {
                    outlook.add(record);
                    let (words, left) = (outlook.in_words(), outlook.left());
                    if let Some(text) = outlook.announcement() {
                        self.say(text);
                    }
                    let left = left.filter(|_| !ctrl_c::is_raised());
                    self.change(false, |activity| activity.expect(words, left));
                }
            }
            _ => {}
        }
        Control::Continue
    }
}
