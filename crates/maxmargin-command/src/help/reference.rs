//! `docs/reference/command-line.md`: every verb and every option, as the program knows them.

use clap::{Arg, Command};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

const HEAD: &str = "\
# The command line

Made from the program itself: `UPDATE_DOCS=1 cargo test -p maxmargin-command --lib reference` writes this page.
`maxmargin VERB -h` shows what most people need, `maxmargin train --help chain` the options of one kind of model.

DATA is a file (gz is fine), `-` for standard input, or a built-in name such as `ocr-small` or `ocr-small:test`. `FILE:train` is
a part of a file whose lines name parts, and `FILE:0..200` are its first 200 examples, where the format has them.
";

fn page() -> String {
    let mut command = super::command();
    command.build();
    let mut text = HEAD.to_owned();
    let mut verbs: Vec<&Command> =
        command.get_subcommands().filter(|verb| verb.get_name() != "help").collect();
    verbs.sort_by_key(|verb| super::VERBS.iter().position(|known| known.name == verb.get_name()));
    for verb in verbs {
        describe(verb, &mut text);
    }
    text
}

fn describe(verb: &Command, text: &mut String) {
    let about = verb.get_about().map(ToString::to_string).unwrap_or_default();
    let usage = verb.clone().render_usage().to_string().replace("Usage: ", "");
    let _ =
        write!(text, "\n## {}\n\n{about}.\n\n```text\n{}\n```\n", verb.get_name(), usage.trim());
    let known = super::VERBS.iter().find(|known| known.name == verb.get_name());
    for example in known.map(|known| known.examples).unwrap_or_default() {
        let _ = write!(text, "\n- `{example}`");
    }
    text.push('\n');
    let mut headings: Vec<&str> = Vec::new();
    for arg in verb.get_arguments() {
        let heading = heading(arg);
        if !headings.contains(&heading) {
            headings.push(heading);
        }
    }
    // What is needed first comes first, and what comes out comes last, as in the help.
    headings.sort_by_key(|heading| match *heading {
        "Arguments" => 0,
        "Options" => 1,
        super::OUTPUT => 3,
        _ => 2,
    });
    for heading in headings {
        let mut args: Vec<&Arg> = verb
            .get_arguments()
            .filter(|arg| {
                self::heading(arg) == heading && arg.get_id() != "help" && arg.get_id() != "version"
            })
            .collect();
        if args.is_empty() {
            continue;
        }
        args.sort_by_key(|arg| arg.get_index());
        let _ = write!(text, "\n| {heading} | meaning |\n|---|---|\n");
        for arg in args {
            let _ = writeln!(text, "| {} | {} |", cell(&name(arg)), cell(&meaning(arg)));
        }
    }
}

fn heading(arg: &Arg) -> &str {
    match arg.is_positional() {
        true => "Arguments",
        false => arg.get_help_heading().unwrap_or("Options"),
    }
}

fn name(arg: &Arg) -> String {
    let values: Vec<String> =
        arg.get_value_names().unwrap_or_default().iter().map(ToString::to_string).collect();
    let values = if arg.get_action().takes_values() { values.join(" ") } else { String::new() };
    if arg.is_positional() {
        return format!("`{values}`");
    }
    let long = arg.get_long().map(|long| format!("--{long}")).unwrap_or_default();
    let short = arg.get_short().map(|short| format!("-{short}, ")).unwrap_or_default();
    format!("`{}`", format!("{short}{long} {values}").trim())
}

fn meaning(arg: &Arg) -> String {
    let help = arg.get_long_help().or_else(|| arg.get_help());
    let help = help.map(ToString::to_string).unwrap_or_default();
    let mut text = help.split_whitespace().collect::<Vec<_>>().join(" ");
    let default: Vec<String> =
        arg.get_default_values().iter().map(|value| value.to_string_lossy().into_owned()).collect();
    if !default.is_empty() && arg.get_action().takes_values() {
        let _ = write!(text, " [default: {}]", default.join(" "));
    }
    let values: Vec<String> = arg
        .get_possible_values()
        .iter()
        .filter(|value| !value.is_hide_set())
        .map(|value| format!("`{}`", value.get_name()))
        .collect();
    if !values.is_empty() && arg.get_action().takes_values() {
        let _ = write!(text, "; one of {}", values.join(", "));
    }
    text
}

/// A text within a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

#[test]
fn the_reference_of_the_command_line_is_up_to_date() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    if !docs.is_dir() {
        eprintln!("skipped: the documents are in the repository, and this is its package");
        return;
    }
    let path = docs.join("reference/command-line.md");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&path, page()).expect("the page can be written");
    }
    let shown = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        shown == page(),
        "UPDATE_DOCS=1 cargo test -p maxmargin-command --lib reference writes {}",
        path.display()
    );
}
