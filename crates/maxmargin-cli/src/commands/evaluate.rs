//! `maxmargin evaluate`

use super::conclusion::unknowns;
use crate::args::EvaluateArgs;
use crate::kind::{self, Kind as _, Measures, Vocabulary, with_kind};
use anyhow::Result;
use maxmargin_io::LabelRule;
use std::process::ExitCode;

pub(super) fn run(args: &EvaluateArgs) -> Result<ExitCode> {
    let model = kind::load_for(&args.model, args.inference)?;
    let names = Vocabulary::of(&model);
    let (Measures { text, mut json }, unknown) = with_kind!(&model.meta.spec, K, spec => {
        let data = K::read(&names, spec, &args.data, args.format, LabelRule::Count)?;
        (K::measure(&model, spec, &data.examples), data.unknown)
    });
    json["unknown_attributes"] = unknown.attributes.into();
    json["unknown_labels"] = unknown.labels.into();
    match args.json {
        true => super::print_json(&json)?,
        false => super::print(&(text + &unknowns(&unknown)))?,
    }
    Ok(ExitCode::SUCCESS)
}
