//! `maxmargin predict`

use crate::args::PredictArgs;
use crate::chain::{Predictor, Vocabulary};
use crate::screen::Screen;
use anyhow::Result;
use maxmargin::model::chain::Sequences;
use maxmargin_io::{
    LabelRule, Mapping, Model, RawSequence, ReadSequences, atomic_write, write_predictions,
};
use std::io::{self, BufWriter, Write};
use std::process::ExitCode;

pub(super) fn run(args: &PredictArgs) -> Result<ExitCode> {
    let model = Model::load(&args.model)?;
    let reader = Vocabulary::of(&model).open(&args.data, args.format)?;
    let unknown = match &args.output {
        Some(path) => atomic_write(path, |to| label(&model, reader, to, false)),
        // Whoever waits at the other end of a pipe wants each sequence as soon as it is done.
        None => {
            let out = BufWriter::new(io::stdout().lock());
            label(&model, reader, out, args.data == "-")
        }
    }?;
    if unknown > 0 {
        let text = format!("{unknown} attributes are unknown to the model and were ignored");
        Screen::new(args.quiet).say(text);
    }
    Ok(ExitCode::SUCCESS)
}

/// Labels one sequence after the other; returns how many attributes were unknown.
fn label(
    model: &Model,
    mut reader: impl ReadSequences,
    mut out: impl Write,
    flush: bool,
) -> Result<u64, anyhow::Error> {
    let mut mapping = Mapping::new(&model.labels, &model.attributes, LabelRule::Ignore);
    let mut predictor = Predictor::new(model);
    let (format, mut raw) = (reader.format(), RawSequence::new());
    while reader.read(&mut raw)? {
        let mut sequences = Sequences::new();
        mapping.add(reader.file(), &raw, &mut sequences)?;
        let labels = predictor.predict(sequences.sequence(0)).iter();
        write_predictions(&mut out, format, labels.map(|&label| model.labels.name(label)))?;
        if flush {
            out.flush()?;
        }
    }
    out.flush()?;
    Ok(mapping.unknown().attributes)
}
