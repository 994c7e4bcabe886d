//! Labelled rows, which several kinds of models learn from.

mod tested;

pub(super) use tested::tested;

use super::json_lines::{write_one, write_ranked};
use super::kernel::{weighted_attributes, weighted_name};
use super::{Labelled, Measures, Vocabulary, label_name, largest, of_kind};
use crate::args::PredictArgs;
use crate::tally;
use anyhow::{Result, bail};
use maxmargin::evaluate::Confusion;
use maxmargin::model::{LabelledRows, Row};
use maxmargin::sort;
use maxmargin_io::{
    DataError, EvalRows, Examples, Format, LabelRule, Model, ReadSequences, RowData, RowMapping,
    RowScorer, Source, Unknown, answer_sequences, read_rows_on, read_rows_with,
};
use serde_json::json;
use std::cmp::Reverse;
use std::fmt::Write as _;
use std::io::Write;

pub(super) fn read_training(
    source: &Source,
    format: Option<Format>,
    threads: usize,
) -> Result<RowData> {
    Ok(read_rows_on(source.open_rows(format)?, threads)?)
}

/// Refuses rows without a label or with several, in `data`, where a model takes one.
pub(super) fn check_one_label(rows: &LabelledRows, data: &str) -> Result<()> {
    match (0..rows.len()).find(|&i| rows.labels(i).len() != 1) {
        None => Ok(()),
        Some(i) => bail!(
            "{data}: row {} has {} labels; this model takes rows with exactly one\n\
             hint: --model multilabel takes any number of them",
            i + 1,
            rows.labels(i).len()
        ),
    }
}

impl Vocabulary<'_> {
    /// Opens rows: in the format given, or in that of the training data if it is one of rows, or
    /// in the one they evidently have.
    fn open_rows(
        &self,
        data: &str,
        format: Option<Format>,
    ) -> Result<Box<dyn ReadSequences + Send>> {
        let source = Source::resolve(data)?;
        if let Some(opened) = self.open_columns(&source, format) {
            return Ok(opened?);
        }
        // Labels of rows are told apart by the format only: `1,2` is one label or two.
        let implied = || source.open_rows(Some(self.format));
        let opened = match (format, &source) {
            (None, Source::Stdin | Source::File(_)) if self.format.is_rows() => implied(),
            (None, Source::Stdin) => implied(),
            _ => match source.open_rows(format) {
                Err(DataError::UnclearFormat { .. }) => implied(),
                Ok(reader) if format.is_none() && reader.format().is_columns() => implied(),
                opened => opened,
            },
        };
        Ok(opened?)
    }

    /// Reads rows whole.
    pub(super) fn read_rows(
        &self,
        data: &str,
        format: Option<Format>,
        rule: LabelRule,
    ) -> Result<EvalRows> {
        let reader = self.open_rows(data, format)?;
        Ok(read_rows_with(reader, self.labels, self.attributes, rule)?)
    }
}

impl From<EvalRows> for Labelled {
    fn from(data: EvalRows) -> Self {
        let EvalRows { rows, unknown, fingerprint, .. } = data;
        Self::new(rows.into(), unknown, fingerprint)
    }
}

/// Has threads answer each row, with scratch memory that each makes with `start`.
pub(super) fn predict<S>(
    model: &Model,
    args: &PredictArgs,
    out: &mut (dyn Write + Send),
    start: impl Fn() -> S + Sync,
    write: impl Fn(&mut S, &mut dyn Write, Row<'_>) -> Result<()> + Sync,
) -> Result<Unknown> {
    let reader = Vocabulary::of(model).open_rows(&args.data, args.format)?;
    let (format, labels, attributes) = (reader.format(), &model.labels, &model.attributes);
    answer_sequences(reader, args.answering(), out, start, |scratch, asked, out| {
        let mut mapping = RowMapping::new(labels, attributes, LabelRule::Ignore, format);
        let mut rows = LabelledRows::new();
        mapping.add(asked.file, asked.sequence, &mut rows)?;
        rows.iter().try_for_each(|(row, _)| write(scratch, out, row))?;
        Ok(mapping.unknown())
    })
}

/// Writes one label per row; or the best ones, or the best with its margin.
pub(super) fn write_labels(
    model: &Model,
    args: &PredictArgs,
    out: &mut (dyn Write + Send),
) -> Result<Unknown> {
    refuse_sequence_options(args)?;
    let start = || RowScorer::new(&model.meta.spec, &model.weights);
    predict(model, args, out, start, |scorer, out, row| {
        let first = scorer.predict(row);
        let scores = scorer.scores();
        let name = |label: u32| model.labels.name(label);
        let Some(n) = args.n_best else {
            let margin = args.confidence.then(|| {
                let others = (0..).zip(scores).filter(|(label, _)| *label != first);
                let second = others.map(|(_, score)| *score).fold(f64::NEG_INFINITY, f64::max);
                scores[first as usize] - second
            });
            return Ok(write_one(
                out,
                args.json,
                json!({ "label": name(first) }),
                name(first),
                margin,
            )?);
        };
        let mut order: Vec<u32> = (0..scores.len() as u32).collect();
        sort::by(&mut order, |&a, &b| scores[b as usize].total_cmp(&scores[a as usize]));
        let best = order.iter().take(n as usize);
        let best = best.map(|&label| (scores[label as usize], name(label)));
        if args.json {
            let ranked = best.map(|(score, name)| (score, json!({ "label": name })));
            return Ok(write_ranked(out, ranked)?);
        }
        for (rank, (score, name)) in best.enumerate() {
            writeln!(out, "# {} {score}\n{name}", rank + 1)?;
        }
        Ok(())
    })
}

/// Options that are about neighbours in a sequence.
pub(super) fn refuse_sequence_options(args: &PredictArgs) -> Result<()> {
    for (given, option) in [
        (args.rules.is_some(), "--rules"),
        (args.keep_labels, "--keep-labels"),
        (args.columns, "--columns"),
    ] {
        if given {
            bail!("{option} is for sequences, which this model does not predict");
        }
    }
    Ok(())
}

/// Accuracy, confusions, and precision and recall of each label.
pub(super) fn measure(model: &Model, data: &Examples, threads: usize) -> Result<Measures> {
    let rows = of_kind(data.rows())?;
    let confusion = confusion(model, rows, threads);
    let (tally, accuracy) = (confusion.tally(), confusion.accuracy());
    let mut text = String::new();
    let _ = writeln!(text, "rows       {:>8}   error {:.4}", rows.len(), 1.0 - accuracy);
    let _ = writeln!(text, "accuracy     {accuracy:.4}   macro F1 {:.4}", tally.macro_f1());
    tally::table(&mut text, "label", &tally);
    let mut wrong: Vec<_> = confusion.iter().filter(|(truth, read, _)| truth != read).collect();
    sort::by_key(&mut wrong, |(.., count)| Reverse(*count));
    if !wrong.is_empty() {
        let _ = writeln!(text, "\nmost frequent confusions");
    }
    for (truth, predicted, count) in wrong.into_iter().take(MOST_CONFUSIONS) {
        let _ = writeln!(text, "{count:>8}  {truth} taken for {predicted}");
    }
    let json = json!({
        "hamming": 1.0 - accuracy, "zero_one": 1.0 - accuracy, "accuracy": accuracy,
        "macro_f1": tally.macro_f1(), "rows": rows.len(), "labels": tally::to_json(&tally),
        "confusion": confusion,
    });
    Ok(Measures { text, json })
}

/// Confusions that are shown.
const MOST_CONFUSIONS: usize = 10;

fn confusion(model: &Model, rows: &LabelledRows, threads: usize) -> Confusion {
    let mut confusion = Confusion::default();
    let name = |label| label_name(&model.labels, label);
    let predicted = RowScorer::new(&model.meta.spec, &model.weights).predict_all(rows, threads);
    for ((_, labels), label) in rows.iter().zip(predicted) {
        let truth = labels.first().copied().unwrap_or(u32::MAX);
        confusion.add(name(truth), name(label));
    }
    confusion
}

/// The attributes with the largest weights; `weight` tells that of attribute `a`.
pub(super) fn largest_attributes(
    model: &Model,
    top: usize,
    weight: impl Fn(usize) -> f64,
    bias: Option<f64>,
) -> Vec<(String, f64)> {
    let weights = (0..weighted_attributes(model)).map(|a| (Some(a as u32), weight(a)));
    let weights = weights.chain(bias.map(|bias| (None, bias))).collect();
    let name = |a: Option<u32>| a.map_or("(bias)".to_owned(), |a| weighted_name(model, a));
    largest(weights, top).into_iter().map(|(a, weight)| (name(a), weight)).collect()
}
