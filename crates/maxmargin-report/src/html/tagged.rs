//! Tokens with labels as HTML.

use super::{note, nothing};
use crate::escape::text;
use crate::palette::SERIES;
use crate::sections::Tagged;
use std::fmt::Write as _;

/// What a label is about: the `X` of `B-X` and `I-X`; nothing for `O`.
fn subject(label: &str) -> Option<&str> {
    match label {
        "O" => None,
        _ => label.strip_prefix("B-").or_else(|| label.strip_prefix("I-")).or(Some(label)),
    }
}

pub(super) fn tagged(out: &mut String, section: &Tagged) {
    note(out, &section.note);
    if section.examples.is_empty() {
        nothing(out, "examples");
        return;
    }
    let tokens: usize = section.examples.iter().map(|example| example.tokens.len()).sum();
    let wrong: usize = section.examples.iter().map(crate::TaggedExample::errors).sum();
    let _ = writeln!(
        out,
        "<p class=\"tally\">{wrong} of {tokens} labels are wrong in these examples{}.</p>",
        if wrong > 0 {
            "; they are boxed and marked ✗, with what was predicted below"
        } else {
            ""
        }
    );
    // Subjects get colours in the order in which they turn up.
    let mut known: Vec<&str> = Vec::new();
    let mut colour = |label| {
        let subject = subject(label)?;
        Some(known.iter().position(|name| *name == subject).unwrap_or_else(|| {
            known.push(subject);
            known.len() - 1
        }))
    };
    out.push_str("<ol class=\"tagged\">\n");
    for example in &section.examples {
        out.push_str("<li>");
        for (token, truth, read) in &example.tokens {
            let kind =
                colour(truth).map_or_else(String::new, |at| format!(" k{}", at % SERIES.len()));
            let class = if truth == read { "" } else { " wrong" };
            let _ = write!(
                out,
                "<span class=\"token{kind}{class}\"><b>{}</b><small>{}</small>",
                text(token),
                text(truth)
            );
            if truth != read {
                let _ = write!(
                    out,
                    "<small class=\"read\"><span class=\"unseen\">predicted </span>{}</small>",
                    text(read)
                );
            }
            out.push_str("</span> ");
        }
        out.push_str("</li>\n");
    }
    out.push_str("</ol>\n");
}
