//! Examples to page through as HTML.
//!
//! The examples of the first page are in the document, so that there is something to see without scripts and on
//! paper. The others wait in a `template`, which costs a browser nothing before they are asked for.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::drawings::svg;
use super::links::links;
use super::network::network;
use super::{note, nothing};
use crate::LabelColours;
use crate::escape::{json, text};
use crate::labels;
use crate::palette::SERIES;
use crate::sections::{Answer, Bitmap, Body, Browser, Example, TaggedExample, Word};

/// Longer sequences are cut: nobody would read them.
const MOST_TOKENS: usize = 400;

/// Height of the pictures of letters.
const TALL: usize = 48;

pub(super) fn browser(out: &mut String, section: &Browser, colours: &LabelColours) {
    note(out, &section.note);
    if section.examples.is_empty() {
        nothing(out, "examples");
        return;
    }
    legend(out, section, colours);
    let mut numbers: BTreeMap<&str, usize> = BTreeMap::new();
    for (truth, predicted) in section.examples.iter().flat_map(|example| &example.cells) {
        for label in [truth, predicted] {
            let next = numbers.len();
            numbers.entry(label).or_insert(next);
        }
    }
    let kind = match section.examples[0].body {
        Body::Tokens(_) => "tokens",
        Body::Word(_) => "spelled",
        Body::Answer(_) => "answers",
        Body::Links(_) => "linked",
        Body::Network(_) | Body::Drawing(_) => "drawn",
    };
    let per_page = section.per_page.max(1);
    let _ = writeln!(
        out,
        "<div class=\"browser\" data-per=\"{per_page}\">\n<ol class=\"cards {kind}\">"
    );
    for (at, example) in section.examples.iter().enumerate() {
        if at == per_page {
            out.push_str("</ol>\n<template>\n");
        }
        card(out, example, &numbers, colours, at >= per_page);
    }
    out.push_str(if section.examples.len() > per_page { "</template>\n" } else { "</ol>\n" });
    if section.examples.len() > per_page {
        let _ = writeln!(
            out,
            "<p class=\"note still\">The {per_page} worst of {} examples. A browser that runs scripts shows the others.</p>",
            section.examples.len()
        );
    }
    let mut names = vec![""; numbers.len()];
    for (name, number) in &numbers {
        names[*number] = name;
    }
    let _ = writeln!(out, "<script type=\"application/json\">{}</script>\n</div>", json(&names));
}

/// What colours mean.
fn legend(out: &mut String, section: &Browser, colours: &LabelColours) {
    if !section.key.is_empty() {
        out.push_str("<ul class=\"key\">");
        for (meaning, colour) in &section.key {
            let (class, meaning) = (colour % SERIES.len(), text(meaning));
            let _ = write!(out, "<li><i class=\"swatch c{class}\"></i>{meaning}</li>");
        }
        out.push_str("</ul>\n");
    }
    if section.legend && !colours.is_empty() {
        out.push_str("<ul class=\"key labels\" aria-label=\"Colours of labels\">");
        for (at, subject) in colours.subjects.iter().enumerate() {
            let class = labels::class(at);
            let _ = write!(out, "<li><span class=\"label {class}\">{}</span></li>", text(subject));
        }
        out.push_str("</ul>\n");
    }
}

fn card(
    out: &mut String,
    example: &Example,
    numbers: &BTreeMap<&str, usize>,
    colours: &LabelColours,
    waits: bool,
) {
    let mut cells = String::new();
    for (truth, predicted) in &example.cells {
        let number = |label: &String| numbers.get(label.as_str()).copied().unwrap_or(0);
        let _ = write!(cells, "{} {},", number(truth), number(predicted));
    }
    let _ = write!(
        out,
        "<li data-at=\"{}\"{}{} data-cells=\"{}\"><p class=\"head\"><b>{}</b>",
        example.place,
        if example.errors > 0.0 { " data-wrong=\"1\"" } else { "" },
        if example.drawn { " data-drawn=\"1\"" } else { "" },
        cells.trim_end_matches(','),
        text(&example.name)
    );
    if !example.note.is_empty() {
        let _ = write!(out, " <small>{}</small>", text(&example.note));
    }
    out.push_str("</p>");
    match &example.body {
        Body::Tokens(tokens) => sequence(out, tokens, colours),
        Body::Word(word) => spelled(out, word, waits),
        Body::Answer(answer) => chips(out, answer, colours),
        Body::Links(pair) => links(out, pair, &example.name),
        Body::Network(graph) => network(out, graph, colours, &example.name),
        Body::Drawing(drawing) => svg(out, drawing),
    }
    out.push_str("</li>\n");
}

fn sequence(out: &mut String, example: &TaggedExample, colours: &LabelColours) {
    for (token, truth, read) in example.tokens.iter().take(MOST_TOKENS) {
        let class = colours.class(truth);
        let (truth_text, read_text) = (text(truth), text(read));
        let _ = if truth == read {
            write!(out, "<i class=\"{class}\">{}<small>{truth_text}</small></i> ", text(token))
        } else {
            write!(
                out,
                "<i class=\"{class} wrong\">{}<small>{truth_text}</small><em class=\"{}\">\
                 <span class=\"unseen\">predicted </span>{read_text}</em></i> ",
                text(token),
                colours.class(read)
            )
        };
    }
    if example.tokens.len() > MOST_TOKENS {
        let _ = write!(out, "<small>… and {} more</small>", example.tokens.len() - MOST_TOKENS);
    }
}

fn spelled(out: &mut String, word: &Word, waits: bool) {
    let _ = write!(
        out,
        "<span class=\"unseen\">true: {}, read: {}</span><div class=\"letters\" aria-hidden=\"true\">",
        text(&word.truth()),
        text(&word.predicted())
    );
    for letter in word.letters.iter().take(MOST_TOKENS) {
        let class = if letter.is_wrong() { "letter wrong" } else { "letter" };
        let _ = write!(out, "<span class=\"{class}\">");
        match black_and_white(&letter.bitmap).filter(|_| waits) {
            // A fifth of the bytes; the script draws it when it is shown.
            Some(bits) => {
                let (rows, columns) = (letter.bitmap.rows, letter.bitmap.columns);
                let _ = write!(out, "<svg data-bits=\"{columns} {rows} {bits}\"></svg>");
            }
            None => super::pictures::letter(out, &letter.bitmap, TALL),
        }
        let _ = write!(
            out,
            "<span>{}</span><span class=\"read\">{}</span></span>",
            text(&letter.truth),
            text(&letter.predicted)
        );
    }
    out.push_str("</div>");
}

/// The pixels of a picture without greys, four to a digit, row after row.
fn black_and_white(bitmap: &Bitmap) -> Option<String> {
    if bitmap.rows * bitmap.columns == 0 || bitmap.values.len() != bitmap.rows * bitmap.columns {
        return None;
    }
    let digit = |pixels: &[f64]| {
        let bit = |value: &f64| match *value {
            0.0 => Some(0),
            1.0 => Some(1),
            _ => None,
        };
        let mut digit = 0;
        for at in 0..4 {
            digit = 2 * digit + pixels.get(at).map_or(Some(0), bit)?;
        }
        char::from_digit(digit, 16)
    };
    bitmap.values.chunks(4).map(digit).collect()
}

fn chips(out: &mut String, answer: &Answer, colours: &LabelColours) {
    out.push_str("<p class=\"chips\">");
    let mut chip = |label: &String, class: &str, sign: &str, word: &str| {
        let _ = write!(
            out,
            "<span class=\"chip {class}\"><b aria-hidden=\"true\">{sign}</b> <span class=\"label {}\">{}</span>{}</span> ",
            colours.class(label),
            text(label),
            if word.is_empty() { String::new() } else { format!(" <small>{word}</small>") }
        );
    };
    for label in &answer.truth {
        match answer.predicted.contains(label) {
            true => chip(label, "good", "✓", ""),
            false => chip(label, "bad", "✗", "missed"),
        }
    }
    for label in answer.predicted.iter().filter(|label| !answer.truth.contains(label)) {
        chip(label, "bad", "✗", "predicted");
    }
    if answer.truth.is_empty() && answer.predicted.is_empty() {
        out.push_str("<small>no label, and none predicted</small>");
    }
    out.push_str("</p>");
    if !answer.clues.is_empty() {
        out.push_str("<p class=\"clues\">");
        if !answer.clue_title.is_empty() {
            let _ = write!(out, "<small>{}:</small> ", text(&answer.clue_title));
        }
        for (name, value) in &answer.clues {
            let _ = write!(out, "<span>{} <b>{}</b></span> ", text(name), text(value));
        }
        out.push_str("</p>");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_without_greys_are_few_digits() {
        let bitmap = |values: Vec<f64>| Bitmap::new(2, 3, values);
        let bits = black_and_white(&bitmap(vec![1.0, 0.0, 1.0, 1.0, 0.0, 1.0]));
        assert_eq!(bits.as_deref(), Some("b4"));
        assert_eq!(black_and_white(&bitmap(vec![0.5; 6])), None);
        assert_eq!(black_and_white(&bitmap(vec![1.0; 5])), None);
        assert_eq!(black_and_white(&Bitmap::default()), None);
    }

    #[test]
    fn sets_of_labels_say_what_was_missed() {
        let mut out = String::new();
        let answer = Answer::new(["a", "b"], ["b", "c"]).clues_are("Row").clue("<x>", "1");
        chips(&mut out, &answer, &LabelColours::new(["a", "b", "c"]));
        assert_eq!(out.matches("chip good").count(), 1);
        assert!(out.contains("label k0\">a</span> <small>missed</small>"));
        assert!(out.contains("label k2\">c</span> <small>predicted</small>"));
        assert!(out.contains("&lt;x&gt; <b>1</b>"));
    }

    #[test]
    fn what_is_not_on_the_first_page_waits() {
        let example = |at: usize| {
            let tokens = TaggedExample::new([("w", "a", if at == 0 { "b" } else { "a" })]);
            Example::new(format!("S{at}"), Body::Tokens(tokens)).place(at, at == 2).cell("a", "b")
        };
        let section = (0..3).map(example).fold(Browser::new("E").per_page(2), Browser::example);
        let mut out = String::new();
        browser(&mut out, &section, &LabelColours::default());
        let (first, rest) = out.split_once("<template>").unwrap();
        assert_eq!((first.matches("<li").count(), rest.matches("<li").count()), (2, 1));
        assert!(
            rest.contains("data-drawn=\"1\" data-cells=\"0 1\"") && rest.contains("[\"a\",\"b\"]")
        );
    }
}
