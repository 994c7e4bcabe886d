//! What a path has come to, in rows, in words and in JSON.

use crate::args::TalkArgs;
use crate::commands::{print, print_json};
use crate::screen::wrapped;
use anyhow::Result;
use maxmargin::{Breakpoint, Path, PathKind, Status};
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
    format!("{lambda:>12.4e} {gap:>10.6} {calls:>12} {seconds:>7.2}s {error:>10}\n")
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

    /// All rows.
    pub(in crate::commands) fn table(&self) -> String {
        let mut table = HEAD.to_owned();
        for (at, b) in self.path.breakpoints.iter().enumerate() {
            table.push_str(&line(b, self.error(at)));
        }
        table
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
        if let Some(error) = self.least_error() {
            let lambda = self.best().certificate.lambda;
            let _ =
                writeln!(text, "The least validation error is {error:.4}, at lambda {lambda:.4e}.");
        }
        text
    }

    fn range_in_words(&self) -> String {
        match self.path.lowest {
            0.0 => "every lambda".to_owned(),
            lowest => format!("every lambda from {lowest:.4e} upwards"),
        }
    }

    fn exact_in_words(&self) -> String {
        let (count, epsilon) = (self.path.breakpoints.len(), self.path.epsilon);
        match self.path.is_guaranteed() {
            true => format!(
                "{count} breakpoints: the duality gap is at most {epsilon} for {}.\n",
                self.range_in_words()
            ),
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
