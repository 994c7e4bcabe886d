//! The page.

mod browser;
mod confusions;
mod drawings;
mod links;
mod network;
mod pictures;
mod plots;
mod tables;
mod tagged;
mod weights;

use std::fmt::Write as _;

use crate::escape::text;
use crate::sections::{Code, Facts, Prose, Section, Tone};
use crate::{Report, palette};

pub(crate) const STYLE: &str = include_str!("assets/report.css");
pub(crate) const SCRIPT: &str = concat!(
    include_str!("assets/report.js"),
    include_str!("assets/plots.js"),
    include_str!("assets/matrices.js"),
    include_str!("assets/tables.js"),
    include_str!("assets/browser.js"),
    include_str!("assets/confusions.js"),
);

/// From this many sections on, the page has a list of contents.
const CONTENTS_FROM: usize = 4;

pub(crate) fn page(report: &Report) -> String {
    let mut out = String::with_capacity(STYLE.len() + SCRIPT.len() + 16_384);
    out.push_str("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
    out.push_str("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
    out.push_str("<meta name=\"color-scheme\" content=\"light dark\">\n");
    // The page asks for nothing over a network, and this keeps it so.
    out.push_str(
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \
         style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:\">\n",
    );
    out.push_str("<link rel=\"icon\" href=\"data:,\">\n");
    let _ = writeln!(out, "<title>{}</title>", text(&report.title));
    let _ = writeln!(out, "<style>\n{}{STYLE}</style>\n</head>\n<body>", palette::variables());
    out.push_str("<a class=\"skip\" href=\"#main\">Skip to the report</a>\n<header>\n");
    let _ = writeln!(out, "<h1>{}</h1>", text(&report.title));
    if !report.subtitle.is_empty() {
        let _ = writeln!(out, "<p class=\"subtitle\">{}</p>", text(&report.subtitle));
    }
    if report.sections.len() >= CONTENTS_FROM {
        out.push_str("<nav aria-label=\"Contents\"><ul>");
        for (index, section) in report.sections.iter().enumerate() {
            if !section.heading().is_empty() {
                let _ =
                    write!(out, "<li><a href=\"#s{index}\">{}</a></li>", text(section.heading()));
            }
        }
        out.push_str("</ul></nav>\n");
    }
    out.push_str("</header>\n<main id=\"main\">\n");
    if report.sections.is_empty() {
        out.push_str("<p class=\"note\">This report is empty.</p>\n");
    }
    let colours = &report.labels;
    for (index, section) in report.sections.iter().enumerate() {
        let heading = text(section.heading());
        if heading.is_empty() {
            let _ = writeln!(out, "<section id=\"s{index}\">");
        } else {
            let _ = writeln!(
                out,
                "<section id=\"s{index}\" aria-labelledby=\"h{index}\">\n<h2 id=\"h{index}\">{heading}</h2>"
            );
        }
        match section {
            Section::Prose(section) => prose(&mut out, section),
            Section::Facts(section) => facts(&mut out, section),
            Section::Plot(section) => plots::plot(&mut out, section),
            Section::Table(section) => tables::table(&mut out, section, &heading, colours),
            Section::Bars(section) => pictures::bars(&mut out, section),
            Section::Heatmap(section) => pictures::heatmap(&mut out, section),
            Section::Tiles(section) => pictures::tiles(&mut out, section),
            Section::Words(section) => pictures::words(&mut out, section),
            Section::Tagged(section) => tagged::tagged(&mut out, section, colours),
            Section::Drawings(section) => drawings::drawings(&mut out, section),
            Section::Confusions(section) => confusions::confusions(&mut out, section, colours),
            Section::Browser(section) => browser::browser(&mut out, section, colours),
            Section::Weights(section) => weights::weights(&mut out, section, colours),
            Section::Code(section) => code(&mut out, section),
        }
        out.push_str("</section>\n");
    }
    out.push_str("</main>\n");
    if !report.footer.is_empty() {
        let _ = writeln!(out, "<footer>{}</footer>", text(&report.footer));
    }
    let _ = writeln!(out, "<script>\n{SCRIPT}</script>\n</body>\n</html>");
    out
}

fn note(out: &mut String, note: &str) {
    if !note.is_empty() {
        let _ = writeln!(out, "<p class=\"note\">{}</p>", with_code(note));
    }
}

/// Text whose words between backticks are code; a backtick without another is itself.
fn with_code(raw: &str) -> String {
    let mut out = String::new();
    let mut rest = raw;
    while let Some((before, code, after)) = rest
        .split_once('`')
        .and_then(|(before, rest)| rest.split_once('`').map(|(code, after)| (before, code, after)))
    {
        let _ = write!(out, "{}<code>{}</code>", text(before), text(code));
        rest = after;
    }
    out + &text(rest)
}

/// Says that there is nothing, where there is nothing.
fn nothing(out: &mut String, what: &str) {
    let _ = writeln!(out, "<p class=\"nothing\">There are no {what} to show.</p>");
}

fn prose(out: &mut String, section: &Prose) {
    out.push_str("<div class=\"prose\">\n");
    for paragraph in &section.paragraphs {
        let _ = writeln!(out, "<p>{}</p>", with_code(paragraph));
    }
    out.push_str("</div>\n");
}

fn facts(out: &mut String, section: &Facts) {
    if section.facts.is_empty() {
        nothing(out, "facts");
    } else {
        out.push_str("<dl class=\"facts\">\n");
        for fact in &section.facts {
            let (class, sign) = match fact.tone {
                Tone::Plain => ("", ""),
                Tone::Good => (" class=\"good\"", "✓"),
                Tone::Warning => (" class=\"warn\"", "!"),
                Tone::Bad => (" class=\"bad\"", "✗"),
            };
            let _ = write!(out, "<div{class}><dt>{}</dt><dd>", text(&fact.label));
            if !sign.is_empty() {
                let _ = write!(out, "<span class=\"sign\" aria-hidden=\"true\">{sign}</span>");
            }
            let _ = write!(out, "<span class=\"value\">{}</span>", text(&fact.value));
            if !fact.hint.is_empty() {
                let _ = write!(out, "<small>{}</small>", text(&fact.hint));
            }
            out.push_str("</dd></div>\n");
        }
        out.push_str("</dl>\n");
    }
    note(out, &section.note);
}

fn code(out: &mut String, section: &Code) {
    note(out, &section.note);
    out.push_str("<pre><code>");
    for piece in section.text.split_inclusive([' ', '\n']) {
        // Browsers break lines after hyphens, which would tear `--options` apart.
        let word = piece.trim_end_matches([' ', '\n']);
        if word.contains('-') && word.chars().count() <= 30 {
            let _ = write!(out, "<span>{}</span>{}", text(word), &piece[word.len()..]);
        } else {
            out.push_str(&text(piece));
        }
    }
    out.push_str("</code></pre>\n");
}

#[cfg(test)]
mod tests {
    #[test]
    fn words_between_backticks_are_code() {
        for (raw, expected) in [
            ("plain <b>", "plain &lt;b&gt;"),
            ("run `a < b` and `c`.", "run <code>a &lt; b</code> and <code>c</code>."),
            ("one ` only", "one ` only"),
            ("`a``b` `", "<code>a</code><code>b</code> `"),
        ] {
            assert_eq!(super::with_code(raw), expected);
        }
    }
}
