//! The trace as an aligned table.

use super::Validation;
use super::{Control, Event, Observer, Record, WarmStart};
use std::io::{self, Write};

/// Prints a banner, one aligned row per pass and two closing lines, all in 79 columns. If there are
/// validation errors, they replace the step sizes. If oracles are not exact, it says what kind of bound
/// the gap is and how often the oracles have failed. Each warning gets a line. The seconds in oracles are
/// marked as an estimate, because only some of the calls are timed where calls are short.
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
/// assert!(text.contains("primal        dual        gap"));
/// assert!(text.lines().all(|line| line.chars().count() <= 79));
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
                let line = format!(
                    "{} examples, {} features, lambda {}, solver {}, tolerance {}",
                    start.n,
                    start.d,
                    short(start.lambda),
                    s.solver,
                    s.tolerance_text()
                );
                writeln!(out, "{}", folded(&line))?;
                if let Some(passes) = start.resumed {
                    writeln!(out, "resumed after {passes} passes")?;
                }
                // A line about the warm start, and one about refused blocks.
                if let Some(WarmStart { taken, refused, reason }) = &start.warm_start {
                    writeln!(out, "warm start: {taken} blocks are taken over")?;
                    if let Some(reason) = reason {
                        let blocks = if *refused == 1 { "block starts" } else { "blocks start" };
                        let line = format!("{refused} {blocks} at the truth instead: {reason}");
                        writeln!(out, "{}", folded(&line))?;
                    }
                }
                // The head of the table.
                self.validates = start.validates;
                let column = if self.validates { "error" } else { "step" };
                writeln!(out, "{}", "─".repeat(WIDTH))?;
                writeln!(
                    out,
                    "{:>6} {:>12} {:>11} {:>11} {:>10} {:>6} {:>8} {:>8}",
                    "pass", "oracle calls", "primal", "dual", "gap", column, "≈oracle", "seconds"
                )?;
                writeln!(out, "{}", "─".repeat(WIDTH))
            }
            Event::Pass { record, .. } => writeln!(out, "{}", line(record, self.validates)),
            Event::Estimate { .. } => Ok(()),
            Event::Warning { message } => {
                writeln!(out, "{}", folded(&format!("warning: {message}")))
            }
            Event::Choice(choice) => {
                // The choice, and its reason.
                let reason = choice.reason.replacen(": ", ":\n", 1);
                reason.lines().zip(["auto: ", "  "]).try_for_each(|(line, before)| {
                    writeln!(out, "{}", folded(&format!("{before}{line}")))
                })
            }
            Event::End(end) => {
                writeln!(out, "{}", "─".repeat(WIDTH))?;
                let (c, t) = (&end.certificate, &end.totals);
                let (status, gap) = (end.status, short(c.gap));
                let line =
                    format!("{status}: primal {:.6}, dual {:.6}, gap {gap}", c.primal, c.dual);
                writeln!(out, "{}", folded(&line))?;
                writeln!(out, "{} oracle calls in {:.2} s", t.oracle_calls, t.seconds)?;
                if !c.quality.is_exact() {
                    writeln!(out, "{}", folded(c.quality.explain()))?;
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

const WIDTH: usize = 79;

/// Columns of an objective.
const OBJECTIVE: usize = 11;

fn line(row: &Record, validates: bool) -> String {
    let column = if validates { row.validation } else { Some(row.steps.mean) };
    let number = |value: Option<f64>| value.map_or_else(String::new, objective);
    let mut line = format!(
        "{:>6} {:>12} {:>11} {:>11} {:>10} {:>6} {:>7.2}s {:>7.2}s",
        row.pass,
        row.oracle_calls,
        number(row.primal),
        number(Some(row.dual)),
        row.gap.map_or_else(String::new, short),
        column.map_or_else(String::new, |value| format!("{value:.4}")),
        row.oracle_seconds,
        row.seconds
    );
    // Numbers that need more room get it from the blanks before them.
    while line.chars().count() > WIDTH && line.contains("  ") {
        line = line.replacen("  ", " ", 1);
    }
    line
}

/// Six digits after the point, or as many as there is room for.
fn objective(value: f64) -> String {
    let fits = |text: &String| text.len() <= OBJECTIVE;
    let plain = (0..=6).rev().map(|digits| format!("{value:.digits$}")).find(fits);
    plain.unwrap_or_else(|| format!("{value:.3e}"))
}

/// The text in lines of at most 79 columns, those after the first indented.
fn folded(text: &str) -> String {
    let (mut lines, mut width) = (String::new(), 0);
    for (at, word) in text.split(' ').enumerate() {
        let length = word.chars().count();
        if width + 1 + length > WIDTH && width > 0 {
            lines.push_str("\n  ");
            width = 2;
        } else if at > 0 {
            lines.push(' ');
            width += 1;
        }
        lines.push_str(word);
        width += length;
    }
    lines
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
    use super::{folded, objective, short};

    #[test]
    fn objectives_fit_their_column() {
        let all = [0.5, -1234.5, 12_345.678_901_2, 1e11, -1e11, 1e-9, f64::MAX];
        for value in all {
            assert!(objective(value).len() <= super::OBJECTIVE, "{}", objective(value));
        }
        assert_eq!(objective(0.058_723_4), "0.058723");
        assert_eq!(objective(12_345.678_901_2), "12345.67890");
        assert_eq!(objective(1e11), "1.000e11");
    }

    #[test]
    fn long_lines_are_folded() {
        assert_eq!(folded("a  b"), "a  b");
        let text = folded(&"word ".repeat(40));
        assert!(text.lines().all(|line| line.len() <= super::WIDTH), "{text}");
        assert!(text.lines().skip(1).all(|line| line.starts_with("  word")), "{text}");
        assert_eq!(text.split_whitespace().count(), 40);
    }

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
