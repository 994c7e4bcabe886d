//! `maxmargin evaluate`

use super::conclusion::unknowns;
use super::train::write_file;
use crate::args::EvaluateArgs;
use crate::kind::tested::Look;
use crate::kind::{self, Measures, Vocabulary, kind_of};
use crate::output;
use crate::report::{self, Sources};
use crate::screen::Screen;
use anyhow::Result;
use maxmargin_io::{LabelRule, path_of};
use std::process::ExitCode;

pub(super) fn run(args: &EvaluateArgs) -> Result<ExitCode> {
    let report = args.report.as_deref();
    output::check([args.model.as_path(), &*path_of(&args.data)], report)?;
    let screen = Screen::new(false);
    screen.reading(&args.data);
    let model = kind::load_for(&args.model, args.inference)?;
    args.pictures.check(&model.meta.spec)?;
    let names = Vocabulary::of(&model);
    let kind = kind_of(&model.meta.spec)?;
    let data = kind.read(&names, &args.data, args.format, LabelRule::Count)?;
    screen.busy("measuring");
    let Measures { text, mut json } = kind.measure(&model, &data.examples, args.threads)?;
    if let Some(path) = report {
        screen.busy("drawing the report");
        let seed = args.seed.unwrap_or(model.meta.settings.seed);
        let name = args.model.display().to_string();
        let sources = Sources {
            about: &name,
            trace: None,
            curve: None,
            test: Some((&data, &args.data)),
            look: Look { pictures: &args.pictures, seed, threads: args.threads },
            line: &args.line,
        };
        write_file(path, report::page(&model, &sources)?.to_html().as_bytes())?;
    }
    screen.done();
    let unknown = data.unknown;
    json["unknown_attributes"] = unknown.attributes.into();
    json["unknown_labels"] = unknown.labels.into();
    match args.json {
        true => super::print_json(&json)?,
        false => super::print(&(text + &unknowns(&unknown, &model)))?,
    }
    Ok(ExitCode::SUCCESS)
}
