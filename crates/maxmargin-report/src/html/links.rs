//! Two sentences and the links between their words, as SVG: one sentence on the left, one on the right, so that
//! long ones fit a phone too.

use std::fmt::Write as _;

use crate::escape::text;
use crate::palette::SERIES;
use crate::sections::Links;

/// Height of a word.
const ROW: f64 = 22.0;
/// Room beside a word, on both sides.
const BESIDE: f64 = 6.0;
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
        let widest = words.iter().map(|word| width_of(&short(word))).fold(0.0, f64::max);
        widest + 2.0 * BESIDE
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
        let (x, word) = (left - BESIDE, text(&short(word)));
        let _ = write!(out, "<text text-anchor=\"end\" x=\"{x:.1}\" y=\"{y:.1}\">{word}</text>");
    }
    for (at, word) in pair.target.iter().enumerate() {
        let y = down(pair.target.len(), at) + 5.0;
        let (x, word) = (left + BETWEEN + BESIDE, text(&short(word)));
        let _ = write!(out, "<text x=\"{x:.1}\" y=\"{y:.1}\">{word}</text>");
    }
    out.push_str("</svg>");
}

/// The width of a word in letters of 14 pixels, rather more than less: nobody knows which font a browser has.
fn width_of(word: &str) -> f64 {
    let letter = |letter: char| match letter {
        'm' | 'w' | 'M' | 'W' | '@' | '%' | '…' | '—' => 13.5,
        'i' | 'j' | 'l' | 't' | 'f' | 'r' | 'I' | ' ' | '.' | ',' | ':' | ';' | '\'' | '|' => 6.0,
        // Letters of East Asia, and pictures, are as wide as they are high.
        letter if u32::from(letter) >= 0x1100 => 15.0,
        letter if letter.is_uppercase() => 11.0,
        _ => 8.5,
    };
    word.chars().map(letter).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The widest letters of common fonts are 0.95 times as wide as they are high.
    #[test]
    fn wide_words_have_room() {
        for word in ["WWWWWWWW", "mmmm", "Commonwealth", "漢字"] {
            let mut out = String::new();
            links(&mut out, &Links::new(["a"], [word]), "Pair 1");
            let start = BETWEEN + width_of("a") + 3.0 * BESIDE;
            let width = start + width_of(word) + BESIDE;
            assert!(out.contains(&format!("viewBox=\"0 0 {width:.0} ")), "{out}");
        }
        assert!(width_of("WWWW") >= 4.0 * 0.95 * 14.0 && width_of("漢字") >= 2.0 * 14.0);
    }

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
