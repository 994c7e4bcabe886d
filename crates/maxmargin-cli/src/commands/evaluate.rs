//! `maxmargin evaluate`

use super::train::unknowns;
use crate::args::EvaluateArgs;
use crate::chain::{self, Predictor, Vocabulary, label_name};
use anyhow::Result;
use maxmargin::evaluate::{Counts, SequenceErrors, Tally, is_bio};
use maxmargin_io::{EvalData, LabelRule, Model};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::process::ExitCode;

pub(super) fn run(args: &EvaluateArgs) -> Result<ExitCode> {
    let model = chain::load(&args.model)?;
    let data = Vocabulary::of(&model).read(&args.data, args.format, LabelRule::Count)?;
    let measures = Measures::of(&model, &data);
    match args.json {
        true => super::print_json(&measures.to_json(&data))?,
        false => super::print(&(measures.to_text() + &unknowns(&data.unknown)))?,
    }
    Ok(ExitCode::SUCCESS)
}

struct Measures {
    errors: SequenceErrors,
    labels: Tally,
    /// Only where the labels are BIO tags.
    chunks: Option<Tally>,
}

impl Measures {
    fn of(model: &Model, data: &EvalData) -> Self {
        let name = |&label: &u32| label_name(model, label);
        let mut measures = Self {
            errors: SequenceErrors::default(),
            labels: Tally::default(),
            chunks: is_bio(model.labels.iter()).then(Tally::default),
        };
        let mut predictor = Predictor::new(model);
        for sequence in data.sequences.iter() {
            let predicted = predictor.predict(sequence);
            measures.errors.add(sequence.labels(), predicted);
            let truth: Vec<&str> = sequence.labels().iter().map(name).collect();
            let predicted: Vec<&str> = predicted.iter().map(name).collect();
            measures.labels.add_labels(&truth, &predicted);
            if let Some(chunks) = &mut measures.chunks {
                chunks.add_chunks(&truth, &predicted);
            }
        }
        measures
    }

    fn to_text(&self) -> String {
        let e = &self.errors;
        let mut text = String::new();
        let _ = writeln!(text, "labels     {:>8}   error {:.4}", e.tokens, e.hamming());
        let _ = writeln!(text, "sequences  {:>8}   error {:.4}", e.sequences, e.zero_one());
        table(&mut text, "label", &self.labels);
        if let Some(chunks) = &self.chunks {
            table(&mut text, "chunk", chunks);
        }
        text
    }

    fn to_json(&self, data: &EvalData) -> Value {
        let e = &self.errors;
        json!({
            "hamming": e.hamming(), "zero_one": e.zero_one(),
            "tokens": e.tokens, "sequences": e.sequences,
            "labels": to_json(&self.labels),
            "chunks": self.chunks.as_ref().map(to_json),
            "unknown_attributes": data.unknown.attributes,
            "unknown_labels": data.unknown.labels,
        })
    }
}

fn table(text: &mut String, what: &str, tally: &Tally) {
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

fn to_json(tally: &Tally) -> Value {
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
