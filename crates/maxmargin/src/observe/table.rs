//! The trace as an aligned table.

use super::Validation;
use super::{Control, Event, Observer, Record, WarmStart};
use std::io::{self, Write};

/// Prints a banner, one aligned row per pass and a closing line. If there are validation errors, they
/// replace the step sizes. If oracles are not exact, it says what kind of bound the gap is and how often
/// the oracles have failed. Each warning gets a line.
///
/// A table that cannot be printed does not end the run; [`finish`](Self::finish) reports the error.
///
/// Wrap it in [`Every`](super::Every) with `n = 0` to leave out rows without a gap, as the command
/// line does.
///
/// ```
/// # use maxmargin::doc::toy;
/// use maxmargin::observe::{Every, Table};
/// use maxmargin::{Settings, Trainer};
///
/// let mut table = Every::new(0, Table::new(Vec::new()));
/// Trainer::new(Settings::default()).observe(&mut table).train(&toy())?;
/// let text = String::from_utf8(table.into_inner().finish()?)?;
/// assert!(text.contains("primal         dual         gap"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Table<W> {
    out: W,
    error: Option<io::Error>,
    /// Whether validation errors replace step sizes.
    validates: bool,
}

impl<W: Write> Table<W> {
    /// Prints to `out`.
    pub fn new(out: W) -> Self {
        Self { out, error: None, validates: false }
    }

    /// Flushes the writer, and returns it or the first error that occurred.
    ///
    /// # Errors
    /// The first error of the writer.
    pub fn finish(mut self) -> io::Result<W> {
        match self.error.take() {
            Some(error) => Err(error),
            None => self.out.flush().map(|()| self.out),
        }
    }

    fn print(&mut self, event: Event<'_>) -> io::Result<()> {
        let out = &mut self.out;
        match event {
            Event::Start(start) => {
                let s = &start.settings;
                writeln!(
                    out,
                    "{} examples, {} features, lambda {}, solver {}, tolerance {}",
                    start.n,
                    start.d,
                    short(start.lambda),
                    s.solver,
                    short(s.tolerance)
                )?;
                if let Some(passes) = start.resumed {
                    writeln!(out, "resumed after {passes} passes")?;
                }
                // A line about the warm start, and one about refused blocks.
                if let Some(WarmStart { taken, refused, reason }) = &start.warm_start {
                    writeln!(out, "warm start: {taken} blocks are taken over")?;
                    if let Some(reason) = reason {
                        let blocks = if *refused == 1 { "block starts" } else { "blocks start" };
                        writeln!(out, "{refused} {blocks} at the truth instead: {reason}")?;
                    }
                }
                // The head of the table.
                self.validates = start.validates;
                let column = if self.validates { "error" } else { "step" };
                writeln!(out, "{}", "─".repeat(WIDTH))?;
                writeln!(
                    out,
                    "{:>7} {:>12} {:>12} {:>12} {:>11} {:>7} {:>8} {:>8}",
                    "pass", "oracle calls", "primal", "dual", "gap", column, "oracle", "seconds"
                )?;
                writeln!(out, "{}", "─".repeat(WIDTH))
            }
            Event::Pass { record, .. } => writeln!(out, "{}", line(record, self.validates)),
            Event::Estimate { .. } => Ok(()),
            Event::Warning { message } => writeln!(out, "warning: {message}"),
            Event::Choice(choice) => writeln!(out, "auto: {}", choice.reason),
            Event::End(end) => {
                writeln!(out, "{}", "─".repeat(WIDTH))?;
                let (c, t) = (&end.certificate, &end.totals);
                writeln!(
                    out,
                    "{}: primal {:.6}, dual {:.6}, gap {} after {} oracle calls in {:.2} s",
                    end.status,
                    c.primal,
                    c.dual,
                    short(c.gap),
                    t.oracle_calls,
                    t.seconds
                )?;
                if !c.quality.is_exact() {
                    writeln!(out, "{}", c.quality.explain())?;
                }
                if t.oracle_failures > 0 {
                    let calls = if t.oracle_failures == 1 { "call" } else { "calls" };
                    let what = "found less than was known already";
                    writeln!(out, "{} oracle {calls} {what}", t.oracle_failures)?;
                }
                let Some(Validation { error, pass, checks }) = end.validation else {
                    return Ok(());
                };
                writeln!(out, "validation error {error:.4} after pass {pass} ({checks} checks)")
            }
        }
    }
}

const WIDTH: usize = 84;

fn line(row: &Record, validates: bool) -> String {
    let column = if validates { row.validation } else { Some(row.steps.mean) };
    let number = |value: Option<f64>| value.map_or_else(String::new, |v| format!("{v:.6}"));
    format!(
        "{:>7} {:>12} {:>12} {:>12} {:>11} {:>7} {:>7.2}s {:>7.2}s",
        row.pass,
        row.oracle_calls,
        number(row.primal),
        number(Some(row.dual)),
        row.gap.map_or_else(String::new, short),
        column.map_or_else(String::new, |value| format!("{value:.4}")),
        row.oracle_seconds,
        row.seconds
    )
}

/// Formats a number with four significant digits, in plain or scientific notation.
fn short(value: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    let magnitude = value.abs();
    if !(1e-4..1e5).contains(&magnitude) {
        return format!("{value:.3e}");
    }
    let digits = (3 - magnitude.log10().floor() as i32).max(0) as usize;
    let text = format!("{value:.digits$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

impl<W: Write> Observer for Table<W> {
    fn event(&mut self, event: Event<'_>) -> Control {
        if self.error.is_none() {
            self.error = self.print(event).err();
        }
        Control::Continue
    }
}

#[cfg(test)]
mod tests {
    use super::short;

    #[test]
    fn numbers_keep_four_digits() {
        assert_eq!(short(0.01), "0.01");
        assert_eq!(short(0.012_346), "0.01235");
        assert_eq!(short(1234.56), "1235");
        assert_eq!(short(1.0 / 626.0), "0.001597");
        assert_eq!(short(1.5e-9), "1.500e-9");
        assert_eq!(short(0.0), "0");
        assert_eq!(short(100.0), "100");
    }
}
