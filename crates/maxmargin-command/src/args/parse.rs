//! Values of options: from text to numbers, names and limits.

use clap::builder::{OsStringValueParser, PossibleValuesParser, TypedValueParser as _};
use maxmargin::CheckpointEvery;
use maxmargin_io::{Format, Measure, path_text};

/// A parser that offers `names` in help and errors and gives the value with that name.
pub(super) fn named<T>(
    names: &'static [&'static str],
) -> impl clap::builder::TypedValueParser<Value = T>
where
    T: std::str::FromStr<Err: std::error::Error + Send + Sync + 'static>
        + Clone
        + Send
        + Sync
        + 'static,
{
    PossibleValuesParser::new(names).try_map(|name| name.parse())
}

/// Reads the name of a format.
pub fn format_parser() -> impl clap::builder::TypedValueParser<Value = Format> {
    PossibleValuesParser::new(Format::ALL.map(Format::name)).try_map(|name| name.parse::<Format>())
}

/// Reads a DATA argument, whose path need not be UTF-8.
pub(super) fn data_parser() -> impl clap::builder::TypedValueParser<Value = String> {
    OsStringValueParser::new().map(|argument| path_text(&argument))
}

pub(super) fn measure_parser() -> impl clap::builder::TypedValueParser<Value = Measure> {
    PossibleValuesParser::new(Measure::ALL.map(Measure::name))
        .try_map(|name| name.parse::<Measure>())
}

pub(super) fn number(text: &str) -> Result<f64, &'static str> {
    text.parse().map_err(|_| "a number is needed, such as 0.01 or 1e-2")
}

pub(super) fn whole_number<T: std::str::FromStr>(text: &str) -> Result<T, &'static str> {
    text.parse().map_err(|_| "a whole number is needed, 0 or more")
}

/// The size of a batch; 0 stands for one that adapts.
pub(super) fn batch(text: &str) -> Result<usize, &'static str> {
    let size = if text == "auto" { Some(0) } else { text.parse().ok().filter(|size| *size > 0) };
    size.ok_or("not a whole number of at least 1, nor `auto`")
}

pub(super) fn checkpoint_every(text: &str) -> Result<CheckpointEvery, &'static str> {
    let every = match text.strip_suffix('s') {
        Some(seconds) => seconds
            .parse()
            .ok()
            .filter(|s: &f64| *s >= 0.0 && s.is_finite())
            .map(CheckpointEvery::Seconds),
        None => text.parse().ok().filter(|passes| *passes > 0).map(CheckpointEvery::Passes),
    };
    every.ok_or("a number of passes is needed, such as 10, or of seconds, such as 90s")
}
