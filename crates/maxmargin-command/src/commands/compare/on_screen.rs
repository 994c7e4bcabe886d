//! A comparison as a terminal shows it: tables that fit into 79 columns.

use super::summary::Summary;
use crate::screen::folded;
use maxmargin_report::format_number;
use std::fmt::Write as _;

/// The columns of a terminal that are used.
const WIDTH: usize = 79;

impl Summary {
    /// What [`to_markdown`](Self::to_markdown) says, with tables for a terminal.
    pub(super) fn to_text(&self) -> String {
        let mut text = format!("Methods compared on {}\n\n{}\n", self.conditions.data, self.how());
        for at in &self.lambdas {
            let _ = writeln!(text, "\nλ = {}\n", format_number(at.lambda));
            let rows: Vec<Vec<String>> = at.methods.iter().map(|method| at.cells(method)).collect();
            text.push_str(&tables(&at.heads(), &rows));
            for line in at.in_words() {
                let _ = writeln!(text, "- {}", line.replace('`', ""));
            }
        }
        for (method, why) in &self.skipped {
            let _ = writeln!(text, "\n{method} was left out: {why}.");
        }
        folded(&text)
    }
}

/// A table, in as many parts as fit one below the other. Each part begins with the first column.
fn tables(heads: &[String], rows: &[Vec<String>]) -> String {
    let cell = |row: &[String], at: usize| row.get(at).cloned().unwrap_or_default();
    let width = |at: usize| {
        let all = rows.iter().map(|row| cell(row, at)).chain([cell(heads, at)]);
        all.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let (mut text, mut next) = (String::new(), 1);
    while next < heads.len() {
        let first = next;
        let mut used = width(0);
        while next < heads.len() && (next == first || used + 2 + width(next) <= WIDTH) {
            used += 2 + width(next);
            next += 1;
        }
        for row in std::iter::once(heads).chain(rows.iter().map(Vec::as_slice)) {
            let mut line = format!("{:<1$}", cell(row, 0), width(0));
            for at in first..next {
                let _ = write!(line, "  {:>1$}", cell(row, at), width(at));
            }
            let _ = writeln!(text, "{}", line.trim_end());
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wide_table_is_shown_in_parts_that_fit() {
        let own = |cells: &[&str]| cells.iter().map(|cell| (*cell).to_owned()).collect::<Vec<_>>();
        let heads: Vec<String> = std::iter::once("Method".to_owned())
            .chain((0..8).map(|at| format!("Passes to 0.{at}")))
            .collect();
        let mut row = own(&["bcfw+gap+corrective"]);
        row.extend((0..8).map(|at| format!("{at}.25")));
        let text = tables(&heads, &[row.clone(), row]);
        assert!(text.lines().all(|line| line.chars().count() <= WIDTH), "{text}");
        for at in 0..8 {
            assert_eq!(text.matches(&format!("Passes to 0.{at}")).count(), 1, "{text}");
            assert_eq!(text.matches(&format!("{at}.25")).count(), 2, "{text}");
        }
        assert_eq!(text.lines().filter(|line| line.starts_with("Method")).count(), 2);
        let narrow = tables(&own(&["A", "B"]), &[own(&["x", "1"])]);
        assert_eq!(narrow, "A  B\nx  1\n\n");
    }
}
