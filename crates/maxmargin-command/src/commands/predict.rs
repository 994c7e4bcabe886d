//! `maxmargin predict`

use super::conclusion::unknowns;
use crate::args::PredictArgs;
use crate::kind::{self, kind_of};
use crate::output;
use crate::screen::Screen;
use anyhow::Result;
use maxmargin_io::{Model, Unknown, atomic_write, path_of};
use std::io::{self, BufWriter, IsTerminal as _, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};

pub(super) fn run(args: &PredictArgs) -> Result<ExitCode> {
    let output = args.output.as_deref().filter(|path| *path != Path::new("-"));
    output::check([args.model.as_path(), &*path_of(&args.data)], output)?;
    let model = kind::load_for(&args.model, args.inference)?;
    let screen = Screen::new(args.quiet);
    // Labels that go to the terminal show by themselves that there is progress.
    let shows = output.is_some() || !io::stdout().is_terminal();
    if shows && !(args.data == "-" && io::stdin().is_terminal()) {
        let what = format!("labelling {}", args.data);
        screen.busy_with(what, || format!("{} lines written", LINES.load(Ordering::Relaxed)));
    }
    let unknown = match output {
        Some(path) => atomic_write(path, |to| label(&model, args, &mut Counted(to))),
        None if io::stdout().is_terminal() => {
            label(&model, args, &mut Counted(Harmless(BufWriter::new(io::stdout()))))
        }
        None => label(&model, args, &mut Counted(BufWriter::new(io::stdout()))),
    }?;
    screen.done();
    let text = unknowns(&unknown, &model);
    if !text.is_empty() {
        screen.say(text.trim_end());
    }
    Ok(ExitCode::SUCCESS)
}

/// Keeps labels of strangers from acting on a terminal: control characters but line ends and tabs become `?`.
struct Harmless<W>(W);

impl<W: Write> Write for Harmless<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let is_plain = |byte: u8| !byte.is_ascii_control() || matches!(byte, b'\n' | b'\t');
        let clean: Vec<u8> =
            bytes.iter().map(|&byte| if is_plain(byte) { byte } else { b'?' }).collect();
        self.0.write(&clean)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// Lines that were written so far.
static LINES: AtomicU64 = AtomicU64::new(0);

/// Counts lines for the live line.
struct Counted<W>(W);

impl<W: Write> Write for Counted<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.0.write(bytes)?;
        let lines = bytes[..written].iter().filter(|byte| **byte == b'\n').count();
        LINES.fetch_add(lines as u64, Ordering::Relaxed);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

fn label(model: &Model, args: &PredictArgs, out: &mut (dyn Write + Send)) -> Result<Unknown> {
    kind_of(&model.meta.spec)?.write_predictions(model, args, out)
}
