//! What a path has come to, in rows, in words and in JSON.

use crate::args::TalkArgs;
use crate::commands::{print, print_json};
use crate::screen::wrapped;
use anyhow::Result;
use maxmargin::{Breakpoint, Path, PathKind, Quality, Status};
use maxmargin_report::format_significant;
use serde_json::{Value, json};
use std::fmt::Write as _;

/// The head of the table.
pub(in crate::commands) const HEAD: &str =
    "      lambda        gap        calls  seconds      error\n";

/// A row of the table.
pub(in crate::commands) fn line(b: &Breakpoint, error: Option<f64>) -> String {
    let error = error.map_or_else(|| "–".to_owned(), |error| format!("{error:.4}"));
    let (lambda, gap) = (b.certificate.lambda, b.certificate.gap);
    let (calls, seconds) = (b.oracle_calls, b.seconds);
    let lambda = format_significant(lambda, 5);
    format!("{lambda:>12} {gap:>10.6} {calls:>12} {seconds:>7.2}s {error:>10}\n")
}

/// Chooses the rows that are shown: a path can have hundreds of breakpoints close to each other.
#[derive(Default)]
pub(in crate::commands) struct Thinning {
    /// The λ of the last row that is shown.
    last: Option<f64>,
    /// The rows that are not shown, and the last of these since a row was.
    left_out: usize,
    waiting: Option<String>,
}

/// A row is shown if λ has fallen to this share since the last one.
const SHOWN_SHARE: f64 = 0.8;

impl Thinning {
    /// Returns the row of a breakpoint if it is to be shown.
    pub(in crate::commands) fn row(
        &mut self,
        b: &Breakpoint,
        error: Option<f64>,
    ) -> Option<String> {
        let lambda = b.certificate.lambda;
        let row = line(b, error);
        if self.last.is_some_and(|last| lambda > SHOWN_SHARE * last) {
            self.left_out += 1;
            self.waiting = Some(row);
            return None;
        }
        (self.last, self.waiting) = (Some(lambda), None);
        Some(row)
    }

    /// The last row if it was not shown, and how many others were not.
    pub(in crate::commands) fn end(self) -> String {
        let mut text = self.waiting.unwrap_or_default();
        let left_out = self.left_out - usize::from(!text.is_empty());
        if left_out > 0 {
            let lie = if left_out == 1 { "breakpoint lies" } else { "breakpoints lie" };
            let _ = writeln!(text, "{left_out} more {lie} between these; --json has them all");
        }
        text
    }
}

/// A path, and the validation error of each breakpoint if it was measured.
pub(in crate::commands) struct Outcome {
    pub(in crate::commands) path: Path,
    pub(in crate::commands) errors: Option<Vec<f64>>,
}

impl Outcome {
    pub(in crate::commands) fn new(path: Path, errors: Option<Vec<f64>>) -> Self {
        Self { path, errors }
    }

    /// The index of the breakpoint with the least error, the first of equals; without errors the last.
    fn best_index(&self) -> usize {
        let last = self.path.breakpoints.len() - 1;
        let errors = self.errors.iter().flatten().enumerate();
        errors.min_by(|a, b| a.1.total_cmp(b.1)).map_or(last, |(at, _)| at)
    }

    pub(in crate::commands) fn best(&self) -> &Breakpoint {
        &self.path.breakpoints[self.best_index()]
    }

    /// The least error.
    pub(in crate::commands) fn least_error(&self) -> Option<f64> {
        self.error(self.best_index())
    }

    pub(in crate::commands) fn error(&self, at: usize) -> Option<f64> {
        self.errors.as_ref().and_then(|errors| errors.get(at)).copied()
    }

    /// The rows that are far enough apart.
    pub(in crate::commands) fn table(&self) -> String {
        let (mut table, mut rows) = (HEAD.to_owned(), Thinning::default());
        for (at, b) in self.path.breakpoints.iter().enumerate() {
            table.extend(rows.row(b, self.error(at)));
        }
        table + &rows.end()
    }

    /// What it promises, what it does not, and the best λ.
    pub(in crate::commands) fn in_words(&self) -> String {
        let mut text = match self.path.kind {
            PathKind::Exact => self.exact_in_words(),
            PathKind::Heuristic => self.heuristic_in_words(),
            PathKind::GridCold | PathKind::GridWarmPrimal | PathKind::GridWarmDual => {
                self.grid_in_words()
            }
        };
        let is_heuristic = |b: &Breakpoint| b.certificate.quality == Quality::Heuristic;
        if self.path.breakpoints.iter().any(is_heuristic) {
            text.push_str("Decoding was a heuristic: true gaps may be larger.\n");
        }
        if let Some(error) = self.least_error() {
            let lambda = format_significant(self.best().certificate.lambda, 5);
            let _ = writeln!(text, "The least validation error is {error:.4}, at lambda {lambda}.");
        }
        text
    }

    fn range_in_words(&self) -> String {
        match self.path.lowest {
            0.0 => "every lambda".to_owned(),
            lowest => format!("every lambda from {} upwards", format_significant(lowest, 5)),
        }
    }

    fn exact_in_words(&self) -> String {
        let (count, epsilon) = (self.path.breakpoints.len(), self.path.epsilon);
        match self.path.is_guaranteed() {
            true => format!(
                "{count} breakpoints: the duality gap is at most {epsilon} for {}.\n",
                self.range_in_words()
            ),
            false if self.path.breakpoints.iter().all(|b| b.status == Status::Converged) => {
                format!(
                    "{count} breakpoints: by what decoding has found, the duality gap is at most {:.6} for {}.\n",
                    self.path.largest_gap(),
                    self.range_in_words()
                )
            }
            false => format!(
                "{count} breakpoints, the last of which did not converge: the largest duality gap \
                 is {:.6}.\n",
                self.path.largest_gap()
            ),
        }
    }

    fn heuristic_in_words(&self) -> String {
        let Path { epsilon, breakpoints, audit_calls, audit_seconds, .. } = &self.path;
        let (count, largest) = (breakpoints.len(), self.path.largest_gap());
        // Where a piece is followed to its end, the gap is epsilon up to rounding.
        let verdict = if largest <= epsilon * (1.0 + 1e-9) { "within" } else { "above" };
        format!(
            "{count} breakpoints by the heuristic, which guarantees nothing. Their true duality gaps, \
             computed afterwards with {audit_calls} more oracle calls in {audit_seconds:.2} s, show that the gap \
             is at most {largest:.6} for {}, {verdict} epsilon = {epsilon}.\n",
            self.range_in_words()
        )
    }

    fn grid_in_words(&self) -> String {
        let Path { epsilon, breakpoints, .. } = &self.path;
        let missed = breakpoints.iter().filter(|b| b.status != Status::Converged).count();
        let count = breakpoints.len();
        match missed {
            0 => format!(
                "{count} values of lambda, each with a duality gap of at most {epsilon}; \
                 between them nothing is promised.\n"
            ),
            _ => format!(
                "{count} values of lambda, {missed} of which did not converge: the largest duality \
                 gap is {:.6}.\n",
                self.path.largest_gap()
            ),
        }
    }

    pub(in crate::commands) fn to_json(&self) -> Value {
        let path = &self.path;
        let point = |(at, b): (usize, &Breakpoint)| {
            json!({
                "lambda": b.certificate.lambda, "gap": b.certificate.gap,
                "estimated_gap": b.estimated_gap, "gap_at_end": path.gap_at_end(at),
                "oracle_calls": b.oracle_calls, "seconds": b.seconds, "status": b.status,
                "validation": self.error(at),
            })
        };
        let points: Vec<Value> = path.breakpoints.iter().enumerate().map(point).collect();
        let last = path.breakpoints.last();
        json!({
            "kind": path.kind, "epsilon": path.epsilon, "guaranteed": path.is_guaranteed(),
            "largest_gap": path.largest_gap(), "lowest": path.lowest,
            "oracle_calls": last.map(|b| b.oracle_calls), "seconds": last.map(|b| b.seconds),
            "audit_oracle_calls": path.audit_calls, "audit_seconds": path.audit_seconds,
            "best": {"lambda": self.best().certificate.lambda, "validation": self.least_error()},
            "breakpoints": points,
        })
    }

    /// Prints it: one JSON object, or words.
    pub(in crate::commands) fn print(&self, talk: TalkArgs) -> Result<()> {
        match talk {
            talk if talk.json => print_json(&self.to_json()),
            talk if talk.quiet => Ok(()),
            _ => print(&wrapped(&self.in_words())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use maxmargin::doc::toy;
    use maxmargin::{PathSettings, regularization_path};

    #[test]
    fn rows_close_to_each_other_are_counted_and_the_last_one_is_shown() {
        let settings = PathSettings { epsilon: 0.001, ..PathSettings::default() };
        let path = regularization_path(&toy(), &settings).unwrap();
        let all = path.breakpoints.len();
        let last = line(path.breakpoints.last().unwrap(), None);
        let table = Outcome::new(path, None).table();
        let rows: Vec<&str> = table.lines().collect();
        let (end, rows) = rows[1..].split_last().unwrap();
        assert_eq!(rows.last().unwrap().trim_end(), last.trim_end());
        let left_out: usize = end.split(' ').next().unwrap().parse().unwrap();
        assert_eq!(rows.len() + left_out, all);
        assert!(rows.len() < 60 && left_out > 100, "{} of {all} rows", rows.len());

        // A few breakpoints are all shown.
        let path = regularization_path(&toy(), &PathSettings { epsilon: 0.5, ..settings }).unwrap();
        let count = path.breakpoints.len();
        assert_eq!(Outcome::new(path, None).table().lines().count(), 1 + count);
    }
}
