//! Talking to a person: the table, with a progress bar below it on a terminal.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use maxmargin::observe::{Control, Event, Observer};
use std::io::{self, IsTerminal as _, Write};

/// Standard error, with a progress bar that makes way for text.
#[derive(Clone)]
pub struct Screen {
    bar: ProgressBar,
    quiet: bool,
}

impl Screen {
    /// Quiet says nothing; otherwise a bar is drawn only if a person is watching.
    pub fn new(quiet: bool) -> Self {
        let bar = if quiet || !io::stderr().is_terminal() {
            ProgressBar::hidden()
        } else {
            ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr())
        };
        Self { bar, quiet }
    }

    /// Says something on a line of its own.
    pub fn say(&self, text: impl AsRef<str>) {
        if !self.quiet {
            // Nobody is there to be told that standard error is closed.
            let _ = self.bar.suspend(|| writeln!(io::stderr(), "{}", text.as_ref()));
        }
    }

    /// Says something that must not go unheard.
    pub(crate) fn warn(&self, text: impl AsRef<str>) {
        let _ = self.bar.suspend(|| writeln!(io::stderr(), "{}", text.as_ref()));
    }

    /// Shows a bar for so many things to do, one after the other.
    pub(crate) fn count(&self, things: u64) {
        let style =
            ProgressStyle::with_template("{spinner} {wide_bar} {pos} of {len}, {msg} [{elapsed}]");
        self.bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        self.bar.reset();
        self.bar.set_length(things);
    }

    /// Shows beside the bar what is being done.
    pub(crate) fn tell(&self, what: String) {
        self.bar.set_message(what);
        self.bar.tick();
    }

    /// One of the things is done.
    pub(crate) fn counted(&self) {
        self.bar.inc(1);
    }

    /// Clears the bar away.
    pub(crate) fn done(&self) {
        self.bar.finish_and_clear();
    }
}

/// For the table: whole lines go above the bar.
impl Write for Screen {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if !self.quiet {
            self.bar.suspend(|| io::stderr().write_all(bytes))?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}

/// Moves the bar: along the passes, with the latest gap beside it.
impl Observer for Screen {
    fn event(&mut self, event: Event<'_>) -> Control {
        match event {
            Event::Start(start) => {
                let style = ProgressStyle::with_template(
                    "{spinner} {wide_bar} pass {pos} of at most {len}, {msg} [{elapsed}]",
                );
                self.bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
                self.bar.set_length(start.settings.max_passes);
                self.bar.set_message("gap not known yet");
            }
            Event::Pass { record, .. } => {
                self.bar.set_position(record.pass);
                if let Some(gap) = record.gap {
                    self.bar.set_message(format!("gap {gap:.6}"));
                }
            }
            Event::End(_) => self.done(),
            _ => {}
        }
        Control::Continue
    }
}
