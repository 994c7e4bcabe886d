//! Help: what most people need first, examples in every verb, and options by kind of model.
//!
//! Where an option stands in the help is decided here and not beside its definition, so that the options of a verb can
//! be looked at together. Which options a kind of model has is asked of the kinds, which refuse the others.

mod verbs;

use crate::args::{Cli, ModelName};
use crate::kind;
use clap::{Arg, Command, CommandFactory as _, ValueEnum as _};
use std::ffi::OsString;
use std::fmt::Write as _;
use verbs::{VERBS, Verb};

/// Wider lines are hard to read, and some terminals have 80 columns.
const COLUMNS: usize = 79;

/// The word for all kinds at once.
const ALL: &str = "all";

const OUTPUT: &str = "Output";

/// Options of any verb that say what comes out of it, in the order of the help.
const OUTPUTS: [&str; 13] = [
    "output",
    "path_file",
    "report",
    "figures",
    "images",
    "centres",
    "trace",
    "no_dual",
    "out",
    "n_best",
    "confidence",
    "quiet",
    "json",
];

/// Those of them that are in every summary.
const SUMMARY: [&str; 6] = ["output", "path_file", "report", "out", "quiet", "json"];

/// Options that are neither needed first nor output follow these.
const LATE: usize = 100;

/// Which options of models are shown.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Shown {
    /// Those of all kinds together.
    Common,
    /// Those of one kind as well.
    Of(ModelName),
    All,
}

/// The command line with everything in its place, and nothing hidden.
pub(crate) fn command() -> Command {
    arranged(Shown::All)
}

/// The command line with the help that the arguments ask for, and the arguments without a kind of model, as in
/// `train --help chain`.
pub(crate) fn asked_for(arguments: impl Iterator<Item = OsString>) -> (Command, Vec<OsString>) {
    let mut arguments: Vec<OsString> = arguments.collect();
    let word = |at: usize| arguments.get(at).and_then(|word: &OsString| word.to_str());
    // `maxmargin help train chain`
    if word(1) == Some("help") {
        let shown = word(3).and_then(shown_by).unwrap_or(Shown::Common);
        arguments.truncate(3);
        return (arranged(shown), arguments);
    }
    for at in 2..arguments.len() {
        let Some(asks) = word(at) else { continue };
        if let Some(shown) = asks.strip_prefix("--help=").and_then(shown_by) {
            arguments[at] = "--help".into();
            return (arranged(shown), arguments);
        }
        if ["-h", "--help"].contains(&asks) {
            let shown = word(at + 1).and_then(shown_by);
            if shown.is_some() {
                // Who asks for more than the common options wants more than a summary.
                arguments[at] = "--help".into();
                arguments.remove(at + 1);
            }
            return (arranged(shown.unwrap_or(Shown::Common)), arguments);
        }
    }
    (command(), arguments)
}

fn shown_by(word: &str) -> Option<Shown> {
    match word {
        ALL => Some(Shown::All),
        word => ModelName::from_str(word, false).ok().map(Shown::Of),
    }
}

fn arranged(shown: Shown) -> Command {
    let mut command = Cli::command().max_term_width(COLUMNS).after_help(examples(verbs::FIRST));
    for (place, verb) in VERBS.iter().enumerate() {
        command = command.mut_subcommand(verb.name, |own| verb.arrange(own, place, shown));
    }
    command
}

impl Verb {
    fn arrange(&self, command: Command, place: usize, shown: Shown) -> Command {
        let has_kinds =
            command.get_arguments().any(|arg| arg.get_id() == "model" && is_option(arg));
        // Other verbs have few options, and know the kind from the model.
        let shown = if has_kinds { shown } else { Shown::All };
        let mut text = match shown {
            Shown::Of(name) if self.name == "train" => examples(&[verbs::example_of(name)]),
            _ => examples(self.examples),
        };
        if has_kinds {
            text.push_str(&more(self.name, shown));
        }
        let arrange = |arg: Arg| self.place(arg, shown);
        command.mut_args(arrange).display_order(place).after_help(text)
    }

    /// Puts an option under its heading, the most needed first.
    fn place(&self, arg: Arg, shown: Shown) -> Arg {
        let id = arg.get_id().as_str().to_owned();
        if !is_option(&arg) || ["help", "version"].contains(&id.as_str()) {
            return arg;
        }
        let is_hidden = !is_shown(&arg, shown);
        let arg = arg.hide(is_hidden);
        let at = |ids: &[&str]| ids.iter().position(|own| *own == id);
        if let Some(at) = at(self.first) {
            return arg.help_heading(None).display_order(at);
        }
        if let Some(at) = at(&OUTPUTS) {
            let is_extra = self.has_summary && !SUMMARY.contains(&id.as_str());
            return arg.help_heading(OUTPUT).display_order(at).hide_short_help(is_extra);
        }
        let heading = self.headings.iter().find(|(ids, _)| ids.contains(&id.as_str()));
        let arg = match heading {
            Some((_, heading)) => arg.help_heading(*heading),
            None if arg.get_help_heading().is_none() => arg.display_order(LATE),
            None => arg,
        };
        arg.hide_short_help(self.has_summary)
    }
}

fn is_option(arg: &Arg) -> bool {
    !arg.is_positional()
}

fn is_shown(arg: &Arg, shown: Shown) -> bool {
    let Some(option) = kind_option(arg) else { return true };
    match shown {
        Shown::All => true,
        Shown::Common => false,
        Shown::Of(name) => kind::options_of(name).contains(&option.as_str()),
    }
}

/// The option by which kinds of models tell that they know `arg`, if not all of them do.
fn kind_option(arg: &Arg) -> Option<String> {
    match arg.get_help_heading() {
        // These have several options, and kinds know all of them or none.
        Some("Kernel") => return Some("--kernel".to_owned()),
        Some(heading) if heading.starts_with("Training of") => {
            return Some("--training".to_owned());
        }
        _ => {}
    }
    let option = format!("--{}", arg.get_long()?);
    if ["--images", "--centres"].contains(&option.as_str()) {
        return Some("--graph-inference".to_owned());
    }
    let mut kinds = ModelName::value_variants().iter();
    kinds.any(|name| kind::options_of(*name).contains(&option.as_str())).then_some(option)
}

fn examples(lines: &[&str]) -> String {
    let heading = if lines.len() == 1 { "Example" } else { "Examples" };
    // As the headings of options are written.
    let mut text = format!("\x1b[1m\x1b[4m{heading}:\x1b[0m\n");
    for line in lines {
        let _ = writeln!(text, "  {line}");
    }
    text
}

/// Where there is more help.
fn more(verb: &str, shown: Shown) -> String {
    let kinds = ModelName::value_variants().iter().filter_map(clap::ValueEnum::to_possible_value);
    let kinds: Vec<String> = kinds.map(|value| value.get_name().to_owned()).collect();
    let all = format!("`maxmargin {verb} --help {ALL}` shows all options.");
    match shown {
        Shown::All => String::new(),
        Shown::Of(_) => format!("\n{all}\n"),
        Shown::Common => format!(
            "\n`maxmargin {verb} --help KIND` shows the options of a kind of model as well.\n\
             Kinds are {}.\n{all}\n",
            kinds.join(", ")
        ),
    }
}

#[cfg(test)]
mod reference;
#[cfg(test)]
mod tests;
