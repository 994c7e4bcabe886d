//! Tokens with labels as HTML.

use super::{note, nothing};
use crate::LabelColours;
use crate::escape::text;
use crate::sections::Tagged;
use std::fmt::Write as _;

pub(super) fn tagged(out: &mut String, section: &Tagged, colours: &LabelColours) {
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
    // A page that does not know these labels gives them colours in the order in which they turn up.
    let truths =
        || section.examples.iter().flat_map(|example| &example.tokens).map(|token| &token.1);
    let own = LabelColours::new(truths());
    let is_known = truths().any(|truth| colours.number(truth).is_some());
    let colours = if is_known { colours } else { &own };
    out.push_str("<ol class=\"tagged\">\n");
    for example in &section.examples {
        out.push_str("<li>");
        for (token, truth, read) in &example.tokens {
            let kind = colours.class(truth);
            let class = if truth == read { "" } else { " wrong" };
            let _ = write!(
                out,
                "<span class=\"token {kind}{class}\"><b>{}</b><small>{}</small>",
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
