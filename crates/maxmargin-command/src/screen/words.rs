//! Words on a screen: how wide they are, and where lines end.

use std::borrow::Cow;

/// Lines are at most this wide: a terminal of 80 columns, without the last, after which some begin a new line.
pub(super) const COLUMNS: usize = 79;

/// The columns that a text takes. Where it is not known, a character counts as wide.
pub(super) fn width(text: &str) -> usize {
    text.chars().map(char_width).sum()
}

fn char_width(c: char) -> usize {
    // Hangul and what follows, but for the symbols that this program draws with and other punctuation.
    match c {
        '\u{0}'..='\u{10ff}' | '\u{2000}'..='\u{28ff}' => 1,
        _ => 2,
    }
}

/// The text in at most so many columns, with an ellipsis where it is cut. What would move the cursor is a `?`.
pub(super) fn cut(text: &str, columns: usize) -> String {
    let clean = |c: char| if c.is_control() { '?' } else { c };
    if width(text) <= columns {
        return text.chars().map(clean).collect();
    }
    let mut taken = 0;
    let fits = |c: &char| {
        taken += char_width(*c);
        taken < columns
    };
    let mut short: String = text.chars().map(clean).take_while(fits).collect();
    if columns > 0 {
        short.push('…');
    }
    short
}

/// The text with characters that only show up by what they do to a terminal, or to the order of the others, spelt
/// out: names come from files that anyone may have written. Line ends and tabs stay.
pub(crate) fn harmless(text: &str) -> Cow<'_, str> {
    let is_harmful = |c: char| {
        c.is_control() && !matches!(c, '\n' | '\t')
            || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    spelt_out(text, is_harmful)
}

/// A name that is to stay in its line: line ends and tabs are spelt out as well.
pub(crate) fn harmless_name(name: &str) -> Cow<'_, str> {
    spelt_out(name, char::is_control)
}

fn spelt_out(text: &str, is_harmful: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.chars().any(&is_harmful) {
        return Cow::Borrowed(text);
    }
    let mut clean = String::new();
    for c in text.chars() {
        match is_harmful(c) {
            true => clean.extend(c.escape_debug()),
            false => clean.push(c),
        }
    }
    Cow::Owned(clean)
}

/// A whole number of seconds, for people.
pub(super) fn duration(seconds: f64) -> String {
    let seconds = seconds.max(0.0) as u64;
    let (minutes, hours) = (seconds / 60, seconds / 3600);
    match (hours, minutes) {
        (0, 0) => format!("{seconds} s"),
        (0, _) => format!("{minutes} min {:02} s", seconds % 60),
        _ => format!("{hours} h {:02} min", minutes % 60),
    }
}

/// A duration that is to come, with no more digits than anybody can know.
pub(super) fn rough_duration(seconds: f64) -> String {
    match seconds.max(0.0) {
        seconds if seconds <= 120.0 => format!("{} s", seconds.ceil()),
        seconds if seconds <= 7200.0 => format!("{} min", (seconds / 60.0).ceil()),
        seconds => format!("{} h", (seconds / 3600.0).ceil()),
    }
}

/// Sentences in lines of at most 79 characters. Lines that end in the text end here as well.
pub(crate) fn wrapped(text: &str) -> String {
    let mut lines = String::new();
    for line in text.lines() {
        let mut width = 0;
        for word in line.split_whitespace() {
            let length = word.chars().count();
            if width > 0 && width + 1 + length > COLUMNS {
                lines.push('\n');
                width = 0;
            } else if width > 0 {
                lines.push(' ');
                width += 1;
            }
            lines.push_str(word);
            width += length;
        }
        lines.push('\n');
    }
    lines
}

/// The text with long lines wrapped between words, and others as they are, as are the rows of a Markdown table.
pub(crate) fn folded(text: &str) -> String {
    let fold = |line: &str| match width(line.trim_end()) > COLUMNS && !line.starts_with('|') {
        true => wrapped(line),
        false => line.to_owned(),
    };
    text.split_inclusive('\n').map(fold).collect()
}

/// How the words begin that say what a line is, and their colours.
const MARKS: [(&str, &str); 3] =
    [("error:", "\x1b[1;31m"), ("warning:", "\x1b[1;33m"), ("hint:", "\x1b[36m")];

/// Text with its marks in colour, where there is to be colour.
pub(super) fn painted(text: &str, colour: bool) -> Cow<'_, str> {
    if !colour || MARKS.iter().all(|(mark, _)| !text.contains(mark)) {
        return text.into();
    }
    let paint = |line: &str| {
        let mark = MARKS.iter().find(|(mark, _)| line.starts_with(mark));
        mark.map_or_else(
            || line.to_owned(),
            |(mark, code)| format!("{code}{mark}\x1b[0m{}", &line[mark.len()..]),
        )
    };
    text.split_inclusive('\n').map(paint).collect::<String>().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_cut_where_they_are_too_wide() {
        assert_eq!(cut("abc", 3), "abc");
        assert_eq!(cut("abcd", 3), "ab…");
        assert_eq!(cut("字字", 3), "字…");
        assert_eq!(cut("字字", 2), "…");
        assert_eq!(cut("a\nb", 5), "a?b");
        assert_eq!((cut("ab", 1), cut("ab", 0)), ("…".to_owned(), String::new()));
    }

    #[test]
    fn durations_have_two_units_at_most() {
        let all = [0.0, 59.0, 60.0, 3599.0, 3600.0, 90_061.0].map(duration);
        assert_eq!(all, ["0 s", "59 s", "1 min 00 s", "59 min 59 s", "1 h 00 min", "25 h 01 min"]);
        assert_eq!(duration(f64::NAN), "0 s");
        let rough = [0.0, 0.2, 120.0, 121.0, 7200.0, 7201.0].map(rough_duration);
        assert_eq!(rough, ["0 s", "1 s", "120 s", "3 min", "120 min", "3 h"]);
    }

    #[test]
    fn what_would_act_on_a_terminal_is_spelt_out() {
        assert_eq!(harmless("plain ä\n\tnext"), "plain ä\n\tnext");
        assert_eq!(harmless("a\u{1b}[2Jb\rc\u{9b}\u{202e}d"), "a\\u{1b}[2Jb\\rc\\u{9b}\\u{202e}d");
        assert_eq!(harmless_name("one\ntwo\tthree"), "one\\ntwo\\tthree");
    }

    #[test]
    fn lines_are_wrapped_between_words() {
        let long = "word ".repeat(40);
        let text = wrapped(&long);
        assert_eq!(text.split_whitespace().count(), 40);
        assert!(text.lines().all(|line| line.len() <= COLUMNS) && text.ends_with("word\n"));
        assert_eq!(wrapped("one\ntwo three\n"), "one\ntwo three\n");
        assert_eq!(wrapped(""), "");
    }

    #[test]
    fn only_long_lines_are_folded() {
        assert_eq!(folded("  a   row\n\nend"), "  a   row\n\nend");
        let text = folded(&format!("  a   row\n{}\n", "word ".repeat(20)));
        assert_eq!(text.lines().count(), 3, "{text}");
        assert!(text.starts_with("  a   row\nword word"));
    }

    #[test]
    fn only_marks_at_the_beginning_of_lines_are_painted() {
        let text = "an error: no\nhint: yes\n";
        assert_eq!(painted(text, false), text);
        assert_eq!(painted(text, true), "an error: no\n\x1b[36mhint:\x1b[0m yes\n");
        assert_eq!(painted("error: x", true), "\x1b[1;31merror:\x1b[0m x");
    }
}
