//! Tables of precision, recall and F1.

use maxmargin::evaluate::{Counts, Tally};
use serde_json::{Value, json};
use std::fmt::Write as _;

/// A table with a line for each name, and one for all.
pub(crate) fn table(text: &mut String, what: &str, tally: &Tally) {
    let width = tally.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0).max(7);
    let _ = writeln!(text, "\n{what:<width$}  precision   recall       F1     true  predicted");
    let mut line = |name: &str, c: Counts| {
        let (p, r, f) = (c.precision(), c.recall(), c.f1());
        let _ = writeln!(
            text,
            "{name:<width$}     {p:.4}   {r:.4}   {f:.4} {:>8}   {:>8}",
            c.truth, c.predicted
        );
    };
    tally.iter().for_each(|(name, counts)| line(name, counts));
    line("(all)", tally.total());
}

pub(crate) fn to_json(tally: &Tally) -> Value {
    let measure = |c: Counts| {
        json!({
            "precision": c.precision(), "recall": c.recall(), "f1": c.f1(),
            "true": c.truth, "predicted": c.predicted, "hits": c.hits,
        })
    };
    let each: serde_json::Map<String, Value> =
        tally.iter().map(|(name, counts)| (name.to_owned(), measure(counts))).collect();
    json!({"all": measure(tally.total()), "each": each})
}
