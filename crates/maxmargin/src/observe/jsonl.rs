//! The trace as JSON lines.

use super::{Choice, Control, End, Event, Observer, Record, Start};
use std::io::{self, Write};

/// Writes every event as one line of JSON, with its kind in the field `event`.
///
/// A trace that cannot be written does not end the run; [`finish`](Self::finish) reports the error.
///
/// ```
/// # use maxmargin::doc::toy;
/// use maxmargin::observe::JsonLines;
/// use maxmargin::{Settings, Trainer};
///
/// let mut lines = JsonLines::new(Vec::new());
/// Trainer::new(Settings::default()).observe(&mut lines).train(&toy())?;
/// let text = String::from_utf8(lines.finish()?)?;
/// assert!(text.starts_with(r#"{"event":"start","n":"#));
/// assert!(text.lines().last().unwrap().contains(r#""status":"converged""#));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct JsonLines<W> {
    out: W,
    error: Option<io::Error>,
}

#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(tag = "event", rename_all = "kebab-case"))]
enum Line<'a> {
    Start(&'a Start),
    Pass {
        #[cfg_attr(feature = "serde", serde(flatten))]
        record: &'a Record,
        #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
        block_gaps: Option<&'a [f64]>,
    },
    Estimate {
        gap: f64,
    },
    Warning {
        message: &'a str,
    },
    Choice(&'a Choice),
    End(&'a End),
}

impl<W: Write> JsonLines<W> {
    /// Writes to `out`, which should be buffered.
    pub fn new(out: W) -> Self {
        Self { out, error: None }
    }

    /// Flushes the writer, and returns it or the first error that occurred.
    ///
    /// ```
    /// # use maxmargin::doc::toy;
    /// use maxmargin::observe::JsonLines;
    /// use maxmargin::{Settings, Trainer};
    ///
    /// let mut small = [0; 64];
    /// let mut lines = JsonLines::new(&mut small[..]);
    /// Trainer::new(Settings::default()).observe(&mut lines).train(&toy())?; // no error yet
    /// assert!(lines.finish().is_err());
    /// # Ok::<(), maxmargin::TrainError>(())
    /// ```
    ///
    /// # Errors
    /// The first error of the writer.
    pub fn finish(mut self) -> io::Result<W> {
        match self.error.take() {
            Some(error) => Err(error),
            None => self.out.flush().map(|()| self.out),
        }
    }

    fn write(&mut self, line: &Line<'_>) -> io::Result<()> {
        serde_json::to_writer(&mut self.out, line)?;
        self.out.write_all(b"\n")
    }
}

impl<W: Write> Observer for JsonLines<W> {
    fn event(&mut self, event: Event<'_>) -> Control {
        if self.error.is_none() {
            let line = match event {
                Event::Start(start) => Line::Start(start),
                Event::Pass { record, block_gaps } => Line::Pass { record, block_gaps },
                Event::Estimate { gap } => Line::Estimate { gap },
                Event::Warning { message } => Line::Warning { message },
                Event::Choice(choice) => Line::Choice(choice),
                Event::End(end) => Line::End(end),
            };
            self.error = self.write(&line).err();
        }
        Control::Continue
    }
}
