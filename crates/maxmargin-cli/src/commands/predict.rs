//! `maxmargin predict`

use super::train::unknowns;
use crate::args::PredictArgs;
use crate::chain::{self, Predictor, Vocabulary};
use crate::output;
use crate::screen::Screen;
use anyhow::Result;
use maxmargin::model::chain::Sequences;
use maxmargin_io::{
    LabelRule, Mapping, Model, RawSequence, ReadSequences, Unknown, atomic_write, write_predictions,
};
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::process::ExitCode;

pub(super) fn run(args: &PredictArgs) -> Result<ExitCode> {
    output::check([&args.model, Path::new(&args.data)], args.output.as_deref())?;
    let model = chain::load(&args.model)?;
    let reader = Vocabulary::of(&model).open(&args.data, args.format)?;
    let unknown = match &args.output {
        Some(path) => atomic_write(path, |to| label(&model, reader, to, false)),
        // Whoever waits at the other end of a pipe wants each sequence as soon as it is done.
        None => {
            let out = BufWriter::new(io::stdout().lock());
            label(&model, reader, out, args.data == "-")
        }
    }?;
    let text = unknowns(&unknown);
    if !text.is_empty() {
        Screen::new(args.quiet).say(text.trim_end());
    }
    Ok(ExitCode::SUCCESS)
}

/// Labels one sequence after the other; returns what was not known.
fn label(
    model: &Model,
    mut reader: impl ReadSequences,
    mut out: impl Write,
    flush: bool,
) -> Result<Unknown> {
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
    Ok(mapping.unknown())
}
