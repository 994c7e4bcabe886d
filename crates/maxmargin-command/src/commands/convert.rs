//! `maxmargin convert`

use crate::args::ConvertArgs;
use crate::screen::Screen;
use crate::{kind, output};
use anyhow::Result;
use maxmargin_io::{path_of, read_by_name, save_converted};
use std::process::ExitCode;

pub(super) fn run(args: &ConvertArgs) -> Result<ExitCode> {
    let path = args.output.as_path();
    output::check([&*path_of(&args.data)], [path])?;
    let screen = Screen::new(args.quiet);
    screen.reading(&args.data);
    let data = read_by_name(kind::open_data(args)?)?;
    let (is_rows, format) = (data.format.is_rows(), data.format);
    let (all, tokens) = (data.sequences.len(), data.sequences.tokens());
    let (attributes, fingerprint) = (data.attributes.len(), data.fingerprint);
    screen.busy(format!("writing {}", path.display()));
    save_converted(path, data)?;
    screen.done();
    let what =
        if is_rows { format!("{all} rows") } else { format!("{all} sequences of {tokens} tokens") };
    screen.say(format!("{what} with {attributes} attributes (the format {format})"));
    screen.say(format!("fingerprint {fingerprint}"));
    screen.say(format!("data written to {}", path.display()));
    Ok(ExitCode::SUCCESS)
}
