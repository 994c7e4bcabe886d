//! `maxmargin evaluate`

use super::conclusion::unknowns;
use crate::args::EvaluateArgs;
use crate::kind::{self, Measures, Vocabulary, kind_of};
use crate::screen::Screen;
use anyhow::Result;
use maxmargin_io::LabelRule;
use std::process::ExitCode;

pub(super) fn run(args: &EvaluateArgs) -> Result<ExitCode> {
    let screen = Screen::new(false);
    screen.reading(&args.data);
    let model = kind::load_for(&args.model, args.inference)?;
    let names = Vocabulary::of(&model);
    let kind = kind_of(&model.meta.spec)?;
    let data = kind.read(&names, &args.data, args.format, LabelRule::Count)?;
    screen.busy("measuring");
    let Measures { text, mut json } = kind.measure(&model, &data.examples)?;
    screen.done();
    let unknown = data.unknown;
    json["unknown_attributes"] = unknown.attributes.into();
    json["unknown_labels"] = unknown.labels.into();
    match args.json {
        true => super::print_json(&json)?,
        false => super::print(&(text + &unknowns(&unknown)))?,
    }
    Ok(ExitCode::SUCCESS)
}
