//! Predictions as JSON: one object per example, on a line of its own.

use serde_json::{Value, json};
use std::io::{self, Write};

/// Writes the answer to one example.
pub(super) fn write_json(out: &mut dyn Write, answer: &Value) -> io::Result<()> {
    serde_json::to_writer(&mut *out, answer)?;
    out.write_all(b"\n")
}

/// Writes the best answers to one example, each with its score.
pub(super) fn write_ranked(
    out: &mut dyn Write,
    ranked: impl IntoIterator<Item = (f64, Value)>,
) -> io::Result<()> {
    let with_score = |(score, mut answer): (f64, Value)| {
        answer["score"] = json!(score);
        answer
    };
    let all: Vec<Value> = ranked.into_iter().map(with_score).collect();
    write_json(out, &json!({ "n_best": all }))
}

/// Writes the answer to one row, and its margin if that was asked for: as JSON, or as text.
pub(super) fn write_one(
    out: &mut dyn Write,
    json: bool,
    mut answer: Value,
    text: &str,
    margin: Option<f64>,
) -> io::Result<()> {
    if !json {
        return match margin {
            Some(margin) => writeln!(out, "{text}\t{margin}"),
            None => writeln!(out, "{text}"),
        };
    }
    if let Some(margin) = margin {
        answer["confidence"] = json!(margin);
    }
    write_json(out, &answer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_one_line_whatever_its_labels_are() {
        let mut out = Vec::new();
        write_json(&mut out, &json!({ "labels": ["a\nb", "\u{7}"] })).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), "{\"labels\":[\"a\\nb\",\"\\u0007\"]}\n");
    }

    #[test]
    fn ranked_answers_have_scores() {
        let mut out = Vec::new();
        write_ranked(&mut out, [(2.5, json!({ "label": "x" })), (1.0, json!({ "label": "y" }))])
            .unwrap();
        let text =
            "{\"n_best\":[{\"label\":\"x\",\"score\":2.5},{\"label\":\"y\",\"score\":1.0}]}\n";
        assert_eq!(String::from_utf8(out).unwrap(), text);
    }
}
