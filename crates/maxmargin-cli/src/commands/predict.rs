//! `maxmargin predict`

use super::conclusion::unknowns;
use crate::args::PredictArgs;
use crate::kind::{self, kind_of};
use crate::output;
use crate::screen::Screen;
use anyhow::Result;
use maxmargin_io::{Model, Unknown, atomic_write};
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::process::ExitCode;

pub(super) fn run(args: &PredictArgs) -> Result<ExitCode> {
    output::check([&args.model, Path::new(&args.data)], args.output.as_deref())?;
    let model = kind::load_for(&args.model, args.inference)?;
    let unknown = match &args.output {
        Some(path) => atomic_write(path, |to| label(&model, args, to)),
        None => label(&model, args, &mut BufWriter::new(io::stdout().lock())),
    }?;
    let text = unknowns(&unknown);
    if !text.is_empty() {
        Screen::new(args.quiet).say(text.trim_end());
    }
    Ok(ExitCode::SUCCESS)
}

fn label(model: &Model, args: &PredictArgs, out: &mut dyn Write) -> Result<Unknown> {
    kind_of(&model.meta.spec)?.write_predictions(model, args, out)
}
