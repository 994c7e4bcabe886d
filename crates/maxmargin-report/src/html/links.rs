//! Two sentences and the links between their words, as SVG: one sentence on the left, one on the right, so that
//! long ones fit a phone too.

use std::fmt::Write as _;

use crate::escape::text;
use crate::palette::SERIES;
use crate::sections::Links;

/// Height of a word.
const ROW: f64 = 22.0;
/// Width of a letter, about.
const LETTER: f64 = 7.4;
/// Letters of a word that are shown.
const MOST_LETTERS: usize = 20;
/// Room for the lines.
const BETWEEN: f64 = 120.0;

pub(super) fn links(out: &mut String, pair: &Links, name: &str) {
    let short = |word: &String| match word.chars().count() > MOST_LETTERS {
        true => format!("{}…", word.chars().take(MOST_LETTERS - 1).collect::<String>()),
        false => word.clone(),
    };
    let wide = |words: &[String]| {
        let letters = words.iter().map(|word| word.chars().count().min(MOST_LETTERS)).max();
        LETTER * letters.unwrap_or(0) as f64 + 12.0
    };
    let (left, right) = (wide(&pair.source), wide(&pair.target));
    let (width, height) =
        (left + BETWEEN + right, ROW * pair.source.len().max(pair.target.len()) as f64);
    if height <= 0.0 {
        out.push_str("<span>–</span>");
        return;
    }
    // The shorter sentence is in the middle.
    let down =
        |words: usize, at: usize| 0.5 * (height - ROW * words as f64) + ROW * (at as f64 + 0.5);
    let _ = write!(
        out,
        "<svg class=\"links\" viewBox=\"0 0 {width:.0} {height:.0}\" style=\"max-width:{width:.0}px\" role=\"img\" aria-label=\"{}: {} links\">",
        text(name),
        pair.links.len()
    );
    for &(i, j, colour) in &pair.links {
        if i >= pair.source.len() || j >= pair.target.len() {
            continue;
        }
        let (y, v) = (down(pair.source.len(), i), down(pair.target.len(), j));
        let absent = if matches!(colour, 0 | 6) { " absent" } else { "" };
        let _ = write!(
            out,
            "<path class=\"c{}{absent}\" d=\"M{left:.1} {y:.1}L{:.1} {v:.1}\"/>",
            colour % SERIES.len(),
            left + BETWEEN
        );
    }
    for (at, word) in pair.source.iter().enumerate() {
        let y = down(pair.source.len(), at) + 5.0;
        let (x, word) = (left - 6.0, text(&short(word)));
        let _ = write!(out, "<text text-anchor=\"end\" x=\"{x:.1}\" y=\"{y:.1}\">{word}</text>");
    }
    for (at, word) in pair.target.iter().enumerate() {
        let y = down(pair.target.len(), at) + 5.0;
        let (x, word) = (left + BETWEEN + 6.0, text(&short(word)));
        let _ = write!(out, "<text x=\"{x:.1}\" y=\"{y:.1}\">{word}</text>");
    }
    out.push_str("</svg>");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_run_between_words_that_are_there() {
        let pair = Links::new(["a", "<b>"], ["c"]).link(1, 0, 2).link(0, 0, 0).link(5, 0, 1);
        let mut out = String::new();
        links(&mut out, &pair, "Pair 1");
        assert_eq!(out.matches("<path").count(), 2);
        assert!(out.contains("class=\"c0 absent\"") && out.contains("&lt;b&gt;"));
        // The second word of two, and the only one of the other sentence in the middle.
        assert!(out.contains("33.0L") && out.contains(" 22.0\""));
        out.clear();
        links(&mut out, &Links::default(), "");
        assert_eq!(out, "<span>–</span>");
    }
}
