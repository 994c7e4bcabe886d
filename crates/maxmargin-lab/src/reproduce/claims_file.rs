//! A file with the claims of all experiments, section by section. What people have written there stays.

use super::claims::Findings;
use super::experiments::Experiment;
use std::fmt::Write as _;

/// The name of an experiment's own section, in its folder.
pub(super) const NAME: &str = "claims.md";

/// What a new file begins with.
pub(super) const HEAD: &str = "# The papers' claims, and what was measured here\n";

/// The claims as a table.
pub(super) fn rows(findings: &Findings) -> String {
    let mut text =
        "\n| The paper says | On | Measured here | Holds here |\n|---|---|---|---|\n".to_owned();
    for claim in &findings.claims {
        let _ = writeln!(
            text,
            "| {} ({}) | {} | {} | {} |",
            claim.claim, claim.source, claim.on, claim.measured, claim.verdict
        );
    }
    text
}

/// The section of an experiment.
pub(super) fn section(
    experiment: &Experiment,
    quick: bool,
    findings: &Findings,
    notes: &[String],
) -> String {
    let Experiment { name, what, .. } = experiment;
    let speed = if quick { " --quick" } else { "" };
    let mut text = format!("## {name}: {what}\n\n`maxmargin-lab reproduce {name}{speed}`\n\n");
    for note in notes {
        let _ = writeln!(text, "- {note}");
    }
    text + &rows(findings)
}

/// A file with the sections of some experiments in place of those that it has. New ones come last.
pub(super) fn with_sections(text: &str, sections: &[(&str, String)]) -> String {
    // A section goes up to the next heading of its level.
    let mut parts: Vec<String> = vec![String::new()];
    for line in text.lines() {
        if line.starts_with("## ") {
            parts.push(String::new());
        }
        if let Some(part) = parts.last_mut() {
            part.push_str(line);
            part.push('\n');
        }
    }
    for (name, section) in sections {
        let own = |part: &&mut String| part.starts_with(&format!("## {name}:"));
        match parts.iter_mut().find(own) {
            Some(part) => part.clone_from(section),
            None => parts.push(section.clone()),
        }
    }
    let parts: Vec<&str> = parts.iter().map(|part| part.trim_end()).collect();
    parts.join("\n\n").trim_start().to_owned() + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_take_the_place_of_their_own() {
        let text =
            "# Head\n\nWords.\n\n## Why\n\nBecause.\n\n## a: first\n\nold\n\n## b: second\n\nold\n";
        let sections =
            [("b", "## b: second\n\nnew\n".to_owned()), ("c", "## c: third\n\nnew\n".to_owned())];
        let expected = "# Head\n\nWords.\n\n## Why\n\nBecause.\n\n## a: first\n\nold\n\n## b: second\n\nnew\n\n\
                        ## c: third\n\nnew\n";
        assert_eq!(with_sections(text, &sections), expected);
        assert_eq!(with_sections(expected, &sections), expected);
        assert_eq!(with_sections(HEAD, &[]), HEAD);
    }
}
