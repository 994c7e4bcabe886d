//! Labels for new sequences.

use super::super::in_short;
use super::super::json_lines::{write_json, write_ranked};
use super::Vocabulary;
use crate::args::{PredictArgs, RulesName};
use anyhow::{Result, bail};
use maxmargin::model::chain::{ChainDecoder, Rules, Sequences};
use maxmargin_io::{
    Asked, ChainPredictor, ChainSpec, Format, LabelRule, Mapping, Model, ReadSequences as _,
    Unknown, answer_sequences, write_predictions,
};
use serde_json::json;
use std::io::{self, Write};

/// Labels sequences in the order of the data; returns what was not known.
pub(super) fn predict(
    model: &Model,
    spec: &ChainSpec,
    args: &PredictArgs,
    out: &mut (dyn Write + Send),
) -> Result<Unknown> {
    let mut reader = Vocabulary::of(model).open_sequences(&args.data, args.format)?;
    let names: Vec<&str> = model.labels.iter().collect();
    let rules = args.rules.map(|RulesName::Bio| Rules::bio(&names));
    let format = reader.format();
    if args.columns && !reader.keep_lines() {
        bail!("--columns repeats words in columns, and {} has the format {format}", reader.file());
    }
    if args.columns && args.confidence && format == Format::Conllu {
        bail!(
            "--columns and --confidence do not go together in CoNLL-U, which has no column for it"
        );
    }
    let start = || {
        let predictor = ChainPredictor::new(spec, &model.weights);
        match &rules {
            Some(rules) => predictor.with_rules(rules),
            None => predictor,
        }
    };
    answer_sequences(reader, args.answering(), out, start, |predictor, asked, out| {
        let mut mapping = Mapping::new(&model.labels, &model.attributes, LabelRule::Ignore);
        let mut sequences = Sequences::new();
        mapping.add(asked.file, asked.sequence, &mut sequences)?;
        let decoder = predictor.fill(sequences.sequence(0));
        if args.keep_labels {
            keep_labels(decoder, model, asked)?;
        }
        if decoder.best().is_none() {
            let line = asked.sequence.tokens().next().map_or(0, |token| token.line());
            bail!("{}:{line}: no labelling of this sequence keeps all rules", asked.file);
        }
        write_answer(decoder, &names, args, format, asked, out)?;
        Ok(mapping.unknown())
    })
}

/// Writes the labels of the sequence that a decoder has taken up.
fn write_answer(
    decoder: &mut ChainDecoder<'_>,
    names: &[&str],
    args: &PredictArgs,
    format: Format,
    asked: &Asked<'_>,
    out: &mut Vec<u8>,
) -> io::Result<()> {
    // Labels beside what was read, or on lines of their own.
    let write = |out: &mut Vec<u8>, labels: &[&str]| match asked.kept_lines {
        Some(kept) => kept.write(out, labels.iter().copied()),
        None => write_predictions(out, format, labels.iter().copied()),
    };
    let name = |label: &u32| names[*label as usize];
    if args.json {
        return write_in_json(decoder, name, args, out);
    }
    if let Some(n) = args.n_best {
        for (rank, path) in decoder.n_best(n as usize).iter().enumerate() {
            writeln!(out, "# {} {}", rank + 1, path.score)?;
            let labels: Vec<&str> = path.labels.iter().map(name).collect();
            write(out, &labels)?;
        }
        return Ok(());
    }
    if args.confidence {
        let margins = decoder.margins();
        let rows = decoder.labels().iter().zip(&margins);
        let rows: Vec<String> =
            rows.map(|(label, margin)| format!("{}\t{margin}", name(label))).collect();
        let rows: Vec<&str> = rows.iter().map(String::as_str).collect();
        return write(out, &rows);
    }
    let labels: Vec<&str> = decoder.labels().iter().map(name).collect();
    write(out, &labels)
}

/// Writes the labels of the sequence that a decoder has taken up, as JSON.
fn write_in_json<'n>(
    decoder: &mut ChainDecoder<'_>,
    name: impl Fn(&u32) -> &'n str,
    args: &PredictArgs,
    out: &mut Vec<u8>,
) -> io::Result<()> {
    let in_json =
        |labels: &[u32]| json!({ "labels": labels.iter().map(&name).collect::<Vec<_>>() });
    if let Some(n) = args.n_best {
        let paths = decoder.n_best(n as usize);
        return write_ranked(out, paths.iter().map(|path| (path.score, in_json(&path.labels))));
    }
    let mut answer = in_json(decoder.labels());
    if args.confidence {
        answer["confidence"] = json!(decoder.margins());
    }
    write_json(out, &answer)
}

/// Stands for a label that is to be predicted.
const OPEN: &str = "?";

/// Holds the tokens that have a label at it.
fn keep_labels(decoder: &mut ChainDecoder<'_>, model: &Model, asked: &Asked<'_>) -> Result<()> {
    for (t, token) in asked.sequence.tokens().enumerate() {
        let Some(name) = token.label().filter(|name| *name != OPEN) else { continue };
        let Some(label) = model.labels.get(name) else {
            let (line, column, name) = (token.line(), token.label_column(), in_short(name));
            bail!(
                "{}:{line}:{column}: the model has no label `{name}`\n\
                 hint: a label to be predicted is written `{OPEN}`",
                asked.file
            );
        };
        decoder.fix(t, label);
    }
    Ok(())
}
