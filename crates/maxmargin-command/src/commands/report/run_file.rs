//! The trace of a run, as `train --trace` and `compare` write it.

use crate::commands::compare::runner::Row;
use anyhow::{Context as _, Result};
use maxmargin::Settings;
use maxmargin::observe::{End, Record};
use serde::Deserialize;
use serde_json::{Map, Value};
use std::path::Path;

/// A run that was read from its trace.
#[derive(Debug, Clone)]
pub(super) struct RunFile {
    /// What it is called on the page.
    pub(super) name: String,
    /// The name of its file, without folders.
    pub(super) file: String,
    pub(super) method: String,
    /// As they were written, by whatever version.
    pub(super) settings: Map<String, Value>,
    /// Examples and features, where the trace says so.
    pub(super) size: Option<(u64, u64)>,
    pub(super) lambda: Option<f64>,
    pub(super) rows: Vec<Row>,
    /// How it ended; nothing if it was cut short.
    pub(super) end: Option<End>,
}

/// How a run begins, in traces of `train` and of `compare`.
#[derive(Deserialize)]
struct Beginning {
    settings: Map<String, Value>,
    #[serde(default)]
    method: Option<String>,
    #[serde(default)]
    n: Option<u64>,
    #[serde(default)]
    d: Option<u64>,
    #[serde(default)]
    lambda: Option<f64>,
}

impl RunFile {
    pub(super) fn read(path: &Path) -> Result<Self> {
        let name = path.display();
        let text = std::fs::read(path).with_context(|| name.to_string())?;
        let file = path.file_name().map_or_else(String::new, |file| file.to_string_lossy().into());
        let text =
            String::from_utf8(text).map_err(|_| (0, "expected text, found other bytes".into()));
        text.and_then(|text| Self::parse(&text, file)).map_err(|(line, why)| {
            let hint =
                "a trace is a file that `maxmargin train DATA --trace FILE.jsonl` has written";
            match line {
                0 => anyhow::anyhow!("{name}: {why}\nhint: {hint}"),
                _ => anyhow::anyhow!("{name}:{line}: {why}\nhint: {hint}"),
            }
        })
    }

    /// The run of a trace; or the number of the line that is wrong, or 0, and what is wrong with it.
    fn parse(text: &str, file: String) -> Result<Self, (usize, String)> {
        let mut begun: Option<Beginning> = None;
        let (mut rows, mut end): (Vec<Row>, Option<End>) = (Vec::new(), None);
        // The last row of the round before, to which those of the next one are added.
        let mut before: Option<Record> = None;
        let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
        let count = text.lines().count();
        for (at, line) in lines {
            let wrong = |why: &dyn std::fmt::Display| {
                (at + 1, format!("expected an event of a run: {why}"))
            };
            let event: Value = match serde_json::from_str(line) {
                Ok(event) => event,
                // A run that was killed may have left half a line.
                Err(_) if at + 1 == count && !rows.is_empty() => break,
                Err(error) => return Err(wrong(&error)),
            };
            match event.get("event").and_then(Value::as_str) {
                Some("start" | "run") => {
                    before = rows.last().map(|row| row.record.clone());
                    let own = serde_json::from_value(event).map_err(|error| wrong(&error))?;
                    begun.get_or_insert(own);
                }
                Some("pass") => {
                    let mut row: Row =
                        serde_json::from_value(event).map_err(|error| wrong(&error))?;
                    if let Some(before) = &before {
                        row.record.pass += before.pass;
                        row.record.oracle_calls += before.oracle_calls;
                        row.record.effective_passes += before.effective_passes;
                        row.record.seconds += before.seconds;
                    }
                    rows.push(row);
                }
                Some("end") => {
                    end = Some(serde_json::from_value(event).map_err(|error| wrong(&error))?);
                }
                // Other events tell nothing that is shown.
                Some(_) => {}
                None => return Err(wrong(&"it has no field `event`")),
            }
        }
        let Some(begun) = begun.filter(|_| !rows.is_empty()) else {
            return Err((0, "expected the trace of a run, found no pass of one".to_owned()));
        };
        let Beginning { settings, method, n, d, lambda } = begun;
        let set = settings.get("lambda").and_then(Value::as_f64);
        let lambda = lambda.or(set).or(end.as_ref().map(|end| end.certificate.lambda));
        let method = method.unwrap_or_else(|| named(&settings));
        let name = file.clone();
        Ok(Self { name, file, method, settings, size: n.zip(d), lambda, rows, end })
    }

    /// Something of the last row that knows it.
    pub(super) fn last(&self, value: impl Fn(&Row) -> Option<f64>) -> Option<f64> {
        self.rows.iter().rev().find_map(value).filter(|value| value.is_finite())
    }

    /// The certified gap, or the last one known.
    pub(super) fn gap(&self) -> Option<f64> {
        let certified = self.end.as_ref().map(|end| end.certificate.gap);
        certified.or_else(|| self.last(|row| row.record.gap))
    }

    /// The certified objective, or the last one known.
    pub(super) fn primal(&self) -> Option<f64> {
        let certified = self.end.as_ref().map(|end| end.certificate.primal);
        certified.or_else(|| self.last(|row| row.record.primal))
    }
}

/// A method by its settings, as `compare` writes it: the solver, and what is not usual.
fn named(settings: &Map<String, Value>) -> String {
    let default = serde_json::to_value(Settings::default()).unwrap_or_default();
    let text = |key: &str| settings.get(key).and_then(Value::as_str);
    let mut name = text("solver").unwrap_or("unknown method").to_owned();
    for key in ["order", "direction", "step", "cache", "average"] {
        if let Some(part) = text(key).filter(|part| default[key] != *part) {
            name.push('+');
            name.push_str(if key == "cache" { key } else { part });
        }
    }
    name
}

/// Whether some values are not all the same.
pub(super) fn differ<T: PartialEq>(values: impl IntoIterator<Item = T>) -> bool {
    let mut values = values.into_iter();
    let first = values.next();
    values.any(|value| Some(value) != first)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trace(passes: usize) -> String {
        let settings = serde_json::to_string(&Settings { seed: 7, ..Settings::default() }).unwrap();
        let mut text = format!(
            r#"{{"event":"start","n":5,"d":9,"lambda":0.2,"settings":{settings},"validates":false}}"#
        );
        for pass in 1..=passes {
            text.push_str(&format!(
                "\n{{\"event\":\"pass\",\"pass\":{pass},\"visits\":5,\"oracle_calls\":{calls},\"effective_passes\":{pass},\
                 \"seconds\":0.5,\"oracle_seconds\":0.1,\"gap_seconds\":0.0,\"dual\":0.1,\"primal\":0.4,\"gap\":0.3,\
                 \"steps\":{{\"count\":5,\"mean\":0.5,\"zero\":0,\"full\":0}}}}",
                calls = 5 * pass
            ));
        }
        text
    }

    #[test]
    fn rounds_follow_each_other_and_half_a_line_is_forgiven() {
        let run = RunFile::parse(&trace(3), "a".into()).unwrap();
        assert_eq!((run.rows.len(), run.lambda, run.size), (3, Some(0.2), Some((5, 9))));
        assert_eq!((run.gap(), run.primal(), run.end.is_none()), (Some(0.3), Some(0.4), true));
        assert_eq!((&run.settings["seed"], run.method.as_str()), (&7.into(), "auto"));
        let twice = format!("{}\n{}\n{{\"event\":\"pa", trace(3), trace(2));
        let run = RunFile::parse(&twice, "a".into()).unwrap();
        let passes: Vec<u64> = run.rows.iter().map(|row| row.record.pass).collect();
        assert_eq!(passes, [1, 2, 3, 4, 5]);
        assert_eq!(run.rows[4].record.seconds, 1.0);
    }

    #[test]
    fn a_wrong_trace_is_reported_with_its_line() {
        let why = |text: &str| RunFile::parse(text, "a".into()).unwrap_err();
        assert_eq!(why("").0, 0);
        assert_eq!(why("{\"event\":\"start\"}").0, 1);
        let (line, text) = why(&format!("{}\nword\n{}", trace(1), trace(1)));
        assert!(line == 3 && text.starts_with("expected an event of a run"), "{line} {text}");
        assert!(why("{\"a\":1}").1.ends_with("it has no field `event`"));
        assert!(why(&trace(0)).1.contains("found no pass"));
    }

    #[test]
    fn methods_are_named_by_what_is_not_usual() {
        let of = |text: &str| named(&serde_json::from_str(text).unwrap());
        assert_eq!(
            of(r#"{"solver":"bcfw","order":"gap","average":"weighted"}"#),
            "bcfw+gap+weighted"
        );
        assert_eq!(of(r#"{"solver":"bcfw","cache":"on","order":"permutation"}"#), "bcfw+cache");
        assert_eq!(of("{}"), "unknown method");
    }
}
