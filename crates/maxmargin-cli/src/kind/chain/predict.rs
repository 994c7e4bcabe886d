//! Labels for new sequences.

use super::Vocabulary;
use crate::args::{PredictArgs, RulesName};
use anyhow::{Result, bail};
use maxmargin::model::chain::{ChainDecoder, Rules, Sequences};
use maxmargin_io::{
    ChainPredictor, ChainSpec, Format, KeptLines, LabelRule, Mapping, Model, RawSequence,
    ReadSequences as _, Unknown, write_predictions,
};
use std::io::Write;

/// Labels one sequence after the other; returns what was not known.
pub(super) fn predict(
    model: &Model,
    spec: &ChainSpec,
    args: &PredictArgs,
    mut out: &mut dyn Write,
) -> Result<Unknown> {
    let mut reader = Vocabulary::of(model).open_sequences(&args.data, args.format)?;
    let mut mapping = Mapping::new(&model.labels, &model.attributes, LabelRule::Ignore);
    let names: Vec<&str> = model.labels.iter().collect();
    let rules = args.rules.map(|RulesName::Bio| Rules::bio(&names));
    let mut predictor = ChainPredictor::new(spec, &model.weights);
    if let Some(rules) = &rules {
        predictor = predictor.with_rules(rules);
    }
    let (format, mut raw) = (reader.format(), RawSequence::new());
    if args.columns && !reader.keep_lines() {
        bail!("--columns repeats words in columns, and {} has the format {format}", reader.file());
    }
    if args.columns && args.confidence && format == Format::Conllu {
        bail!(
            "--columns and --confidence do not go together in CoNLL-U, which has no column for it"
        );
    }
    // Labels beside what was read, or on lines of their own.
    let write = |out: &mut dyn Write, kept: Option<&KeptLines>, labels: &[&str]| match kept {
        Some(kept) => kept.write(out, labels.iter().copied()),
        None => write_predictions(out, format, labels.iter().copied()),
    };
    while reader.read(&mut raw)? {
        let mut sequences = Sequences::new();
        mapping.add(reader.file(), &raw, &mut sequences)?;
        let decoder = predictor.fill(sequences.sequence(0));
        if args.keep_labels {
            keep_labels(decoder, model, reader.file(), &raw)?;
        }
        if decoder.best().is_none() {
            let line = raw.tokens().next().map_or(0, |token| token.line());
            bail!("{}:{line}: no labelling of this sequence keeps all rules", reader.file());
        }
        let name = |label: &u32| names[*label as usize];
        if let Some(n) = args.n_best {
            for (rank, path) in decoder.n_best(n as usize).iter().enumerate() {
                writeln!(out, "# {} {}", rank + 1, path.score)?;
                let labels: Vec<&str> = path.labels.iter().map(name).collect();
                write(&mut out, reader.kept_lines(), &labels)?;
            }
        } else if args.confidence {
            let margins = decoder.margins();
            let rows = decoder.labels().iter().zip(&margins);
            let rows: Vec<String> =
                rows.map(|(label, margin)| format!("{}\t{margin}", name(label))).collect();
            let rows: Vec<&str> = rows.iter().map(String::as_str).collect();
            write(&mut out, reader.kept_lines(), &rows)?;
        } else {
            let labels: Vec<&str> = decoder.labels().iter().map(name).collect();
            write(&mut out, reader.kept_lines(), &labels)?;
        }
        if args.flushes() {
            out.flush()?;
        }
    }
    if let Some(rest) = reader.kept_lines() {
        rest.write(&mut out, [])?;
    }
    out.flush()?;
    Ok(mapping.unknown())
}

/// Stands for a label that is to be predicted.
const OPEN: &str = "?";

/// Holds the tokens that have a label at it.
fn keep_labels(
    decoder: &mut ChainDecoder<'_>,
    model: &Model,
    file: &str,
    raw: &RawSequence,
) -> Result<()> {
    for (t, token) in raw.tokens().enumerate() {
        let Some(name) = token.label().filter(|name| *name != OPEN) else { continue };
        let Some(label) = model.labels.get(name) else {
            let (line, column) = (token.line(), token.label_column());
            bail!(
                "{file}:{line}:{column}: the model has no label `{name}`\n\
                 hint: a label to be predicted is written `{OPEN}`"
            );
        };
        decoder.fix(t, label);
    }
    Ok(())
}
