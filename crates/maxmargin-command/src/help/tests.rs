use super::*;
use crate::args::Cli;
use clap::Parser as _;

fn help(verb: &str, shown: Shown) -> String {
    arranged(shown).find_subcommand_mut(verb).unwrap().render_long_help().to_string()
}

fn asked(line: &str) -> (String, Vec<OsString>) {
    let (mut command, rest) = asked_for(line.split(' ').map(OsString::from));
    (command.find_subcommand_mut("train").unwrap().render_long_help().to_string(), rest)
}

#[test]
fn every_verb_has_examples_that_are_understood() {
    let names: Vec<String> =
        Cli::command().get_subcommands().map(|verb| verb.get_name().to_owned()).collect();
    for name in &names {
        let verb = VERBS.iter().find(|verb| verb.name == name);
        assert!(verb.is_some_and(|verb| !verb.examples.is_empty()), "{name} has no examples");
    }
    let kinds = ModelName::value_variants().iter().map(|name| verbs::example_of(*name));
    let all = VERBS.iter().flat_map(|verb| verb.examples).chain(verbs::FIRST).copied().chain(kinds);
    for example in all {
        let command = example.split(" > ").next().unwrap_or_default();
        let parsed = Cli::try_parse_from(command.split(' '));
        assert!(parsed.is_ok(), "{example}: {}", parsed.unwrap_err());
    }
}

#[test]
fn every_option_that_is_put_in_a_place_exists() {
    let command = Cli::command();
    for verb in &VERBS {
        let own = command.find_subcommand(verb.name).unwrap();
        for id in verb.first.iter().chain(verb.headings.iter().flat_map(|(ids, _)| *ids)) {
            assert!(own.get_arguments().any(|arg| arg.get_id() == id), "{} {id}", verb.name);
        }
    }
}

#[test]
fn a_kind_sees_its_own_options_and_those_of_all() {
    let chain = help("train", Shown::Of(ModelName::Chain));
    let graph = help("train", Shown::Of(ModelName::Potts));
    let (common, all) = (help("train", Shown::Common), help("train", Shown::All));
    for (option, shown) in [
        ("--template", [true, false, false]),
        ("--gamma", [true, false, false]),
        ("--loss", [true, true, false]),
        ("--widths", [false, true, false]),
        ("--images", [false, true, false]),
        ("--rho-schedule", [false, true, false]),
        ("--lambda", [true, true, true]),
        ("--model", [true, true, true]),
        ("--order", [true, true, true]),
    ] {
        let has = |text: &str| text.contains(&format!("{option} <"));
        assert_eq!([has(&chain), has(&graph), has(&common)], shown, "{option}");
        assert!(has(&all), "{option}");
    }
}

#[test]
fn verbs_that_are_told_the_kind_by_a_model_hide_nothing() {
    for verb in ["predict", "evaluate"] {
        assert!(help(verb, Shown::Common).contains("--inference <"), "{verb}");
    }
}

/// What a kind is shown is what it takes, and `all` shows everything.
#[test]
fn all_options_are_shown_to_somebody() {
    for verb in ["train", "path", "compare"] {
        let all = help(verb, Shown::All);
        let command = Cli::command();
        for arg in command.find_subcommand(verb).unwrap().get_arguments().filter(|a| is_option(a)) {
            assert!(all.contains(&format!("--{}", arg.get_long().unwrap())), "{verb} {arg}");
        }
    }
}

#[test]
fn outputs_are_under_output() {
    for verb in ["train", "path", "predict", "compare", "pick"] {
        let text = help(verb, Shown::Common);
        let section = text.split("\nOutput:\n").nth(1).unwrap_or_else(|| panic!("{verb}: {text}"));
        let end = section.find("\n\n  ").map_or(section, |_| section);
        let end = end.split_once(":\n\n").map_or(end, |(before, _)| before);
        let wanted = if verb == "compare" { "--out <" } else { "--output <" };
        assert!(end.contains(wanted), "{verb}: {section}");
    }
}

#[test]
fn help_is_at_most_79_columns_wide() {
    for shown in [Shown::Common, Shown::All] {
        let mut command = arranged(shown);
        command.build();
        for verb in VERBS.iter().map(|verb| verb.name) {
            let own = command.find_subcommand_mut(verb).unwrap();
            for text in [own.render_help().to_string(), own.render_long_help().to_string()] {
                for line in text.lines().filter(|line| !line.contains(" > ~/")) {
                    assert!(line.chars().count() <= COLUMNS, "{verb}: {line}");
                }
            }
        }
    }
}

/// The rest is for those who ask for it.
#[test]
fn a_summary_is_shorter() {
    for verb in ["train", "path", "compare"] {
        let mut command = arranged(Shown::Common);
        command.build();
        let text = command.find_subcommand_mut(verb).unwrap().render_help().to_string();
        let (short, long) = (text.lines().count(), help(verb, Shown::Common).lines().count());
        assert!(
            short <= 50 && short < long,
            "{verb}: {short} of {long} lines
{text}"
        );
    }
}

#[test]
fn kinds_are_taken_out_of_the_arguments() {
    let chain = help("train", Shown::Of(ModelName::Chain));
    for (line, rest) in [
        ("maxmargin train --help chain", "maxmargin train --help"),
        ("maxmargin train -h chain", "maxmargin train --help"),
        ("maxmargin train --help=chain", "maxmargin train --help"),
        ("maxmargin train d.txt --help chain", "maxmargin train d.txt --help"),
        ("maxmargin help train chain", "maxmargin help train"),
    ] {
        let (text, left) = asked(line);
        assert_eq!(text, chain, "{line}");
        assert_eq!(left, rest.split(' ').map(OsString::from).collect::<Vec<_>>(), "{line}");
    }
    let common = help("train", Shown::Common);
    for line in
        ["maxmargin train --help", "maxmargin train --help nonsense", "maxmargin help train"]
    {
        assert_eq!(asked(line).0, common, "{line}");
    }
    let (_, left) = asked("maxmargin train chain --model chain");
    assert_eq!(left.len(), 5, "nothing is taken out where no help is asked for");
}
