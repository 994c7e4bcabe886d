//! What a page shows beside what a command prints.
//!
//! A line `…` in a page stands for any number of lines, and `…` in a line for any text. Times, dates and versions
//! differ from machine to machine and are not compared.

use libtest_mimic::{Failed, Trial};

const ANY: &str = "…";

/// Digits after the point that are compared.
const DIGITS: usize = 9;

/// Whether the page shows what is printed.
pub(crate) fn is_same(shown: &[String], printed: &[String]) -> bool {
    match shown.split_first() {
        None => printed.is_empty(),
        Some((any, rest)) if any.trim() == ANY => {
            (0..=printed.len()).any(|skipped| is_same(rest, &printed[skipped..]))
        }
        Some((first, rest)) => match printed.split_first() {
            Some((line, others)) => is_same_line(first, line) && is_same(rest, others),
            None => false,
        },
    }
}

fn is_same_line(shown: &str, printed: &str) -> bool {
    let (shown, printed) = (masked(shown.trim_end()), masked(printed));
    let Some((start, rest)) = shown.split_once(ANY) else { return shown == printed };
    let Some(mut left) = printed.strip_prefix(start) else { return false };
    let mut pieces: Vec<&str> = rest.split(ANY).collect();
    let end = pieces.pop().unwrap_or("");
    for piece in pieces {
        match left.find(piece) {
            Some(at) => left = &left[at + piece.len()..],
            None => return false,
        }
    }
    left.ends_with(end)
}

/// A line without what depends on the machine and the day.
fn masked(line: &str) -> String {
    const TAKE: &str = "oracle calls take about";
    if let Some((before, _)) = line.split_once(TAKE) {
        return format!("{before}{TAKE} #");
    }
    let mut text = String::new();
    let mut rest = line;
    let mut has_masked = false;
    let digits = |number: &str| number.split_once('.').map_or(0, |(_, digits)| digits.len());
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        let (before, number) = rest.split_at(start);
        let length = number.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(number.len());
        let (number, after) = number.split_at(length);
        text.push_str(before);
        let is_version = text.ends_with("maxmargin ") || text.ends_with("\"version\":\"");
        if is_time(after)
            || text.trim_end().ends_with("seconds\":")
            || is_version
            || is_date(number, after)
        {
            text.push('#');
            has_masked = true;
            rest = after.trim_start_matches(|c: char| {
                is_date(number, after) && (c.is_ascii_digit() || "-:TZ".contains(c))
            });
            rest = rest
                .strip_prefix("e-")
                .map_or(rest, |power| power.trim_start_matches(|c: char| c.is_ascii_digit()));
        } else {
            // The last digits are left to the moods of rounding.
            let cut = digits(number).saturating_sub(DIGITS);
            text.push_str(&number[..number.len() - cut]);
            rest = after;
        }
    }
    text.push_str(rest);
    // Columns move with the length of times.
    if has_masked { text.split_whitespace().collect::<Vec<_>>().join(" ") } else { text }
}

fn is_time(after: &str) -> bool {
    let after = after.strip_prefix(' ').unwrap_or(after);
    ["s", "ms", "µs", "ns", "min"].iter().any(|unit| {
        after.strip_prefix(unit).is_some_and(|next| !next.starts_with(char::is_alphanumeric))
    })
}

fn is_date(number: &str, after: &str) -> bool {
    let digits = |text: &str| text.bytes().take(2).filter(u8::is_ascii_digit).count() == 2;
    number.len() == 4
        && number.starts_with("20")
        && after.strip_prefix('-').is_some_and(|rest| {
            digits(rest)
                && rest.get(2..).is_some_and(|rest| rest.starts_with('-') && digits(&rest[1..]))
        })
}

/// The lines that a page should show: those that are printed, with what it left out left out again as far as the
/// lines around that can be found.
pub(crate) fn updated(shown: &[String], printed: &[String]) -> Vec<String> {
    let parts: Vec<&[String]> = shown.split(|line| line.trim() == ANY).collect();
    let mut lines = Vec::new();
    let mut from = 0;
    for (place, part) in parts.iter().enumerate() {
        let is_last = place + 1 == parts.len();
        let at = match (place, part.first()) {
            (0, _) => 0,
            _ if is_last => printed.len().saturating_sub(part.len()).max(from),
            (_, Some(first)) => {
                match (from..printed.len()).find(|&at| looks_like(first, &printed[at])) {
                    Some(at) => at,
                    None => return printed.to_vec(),
                }
            }
            (_, None) => from,
        };
        if place > 0 {
            lines.push(ANY.to_owned());
        }
        let end = match is_last {
            true => printed.len(),
            false => (at + part.len()).min(printed.len()),
        };
        for (offset, line) in printed[at..end].iter().enumerate() {
            // What is the same but for times stays, so that pages change only where something has changed.
            let old = part.get(offset).filter(|old| is_same_line(old, line));
            lines.push(old.unwrap_or(line).clone());
        }
        from = end;
    }
    lines
}

/// Whether two lines differ in nothing but digits.
fn looks_like(one: &str, other: &str) -> bool {
    let words = |line: &str| -> Vec<String> {
        let hidden = |c: char| if c.is_ascii_digit() || ".e-".contains(c) { ' ' } else { c };
        line.chars().map(hidden).collect::<String>().split_whitespace().map(str::to_owned).collect()
    };
    words(one) == words(other)
}

/// What to tell the one who has to look at it.
pub(crate) fn difference(command: &str, shown: &[String], printed: &[String]) -> String {
    format!(
        "`{command}` prints something else (UPDATE_DOCS=1 writes it into the page)\n--- shown\n{}\n--- printed\n{}",
        shown.join("\n"),
        printed.join("\n")
    )
}

/// Tests of the comparison itself.
pub(crate) fn tests() -> Vec<Trial> {
    vec![
        Trial::test("output_times_and_dates_are_not_compared", times_and_dates_are_not_compared),
        Trial::test("output_other_numbers_are_compared", other_numbers_are_compared),
        Trial::test("output_ellipses_stand_for_lines_and_text", ellipses_stand_for_lines_and_text),
        Trial::test("output_updates_keep_what_was_left_out", updates_keep_what_was_left_out),
    ]
}

fn lines(text: &str) -> Vec<String> {
    text.lines().map(str::to_owned).collect()
}

fn expect(is_true: bool, what: &str) -> Result<(), Failed> {
    if is_true { Ok(()) } else { Err(what.into()) }
}

fn times_and_dates_are_not_compared() -> Result<(), Failed> {
    for (one, other) in [
        ("12 calls in 0.34 s", "12 calls in 10.3 s"),
        ("  10  0.5   0.02s  0.05s", "  10  0.5  12.02s  0.05s"),
        ("{\"seconds\":0.5,\"gap\":1}", "{\"seconds\":1.5e-5,\"gap\":1}"),
        ("  \"oracle_seconds\": 0.0172410,", "  \"oracle_seconds\": 12.5,"),
        ("gap 0.001165492586851724", "gap 0.001165492586851999"),
        ("made 2026-11-16 by maxmargin 0.1.0", "made 2031-01-02 by maxmargin 2.3.4"),
        ("  oracle calls take about 1.5 µs each", "  oracle calls take about 12 µs each"),
    ] {
        expect(is_same(&lines(one), &lines(other)), one)?;
    }
    Ok(())
}

fn other_numbers_are_compared() -> Result<(), Failed> {
    for (one, other) in [
        ("gap 0.0243", "gap 0.0244"),
        ("12 calls in 0.34 s", "13 calls in 0.34 s"),
        ("5 sequences", "6 sequences"),
        ("  indented", "indented"),
        ("one\ntwo", "one"),
        ("", "more"),
    ] {
        expect(!is_same(&lines(one), &lines(other)), one)?;
    }
    Ok(())
}

fn ellipses_stand_for_lines_and_text() -> Result<(), Failed> {
    expect(is_same(&lines("a\n…\nd"), &lines("a\nb\nc\nd")), "lines")?;
    expect(is_same(&lines("a\n…\nd"), &lines("a\nd")), "no lines")?;
    expect(!is_same(&lines("a\n…\nd"), &lines("a\nb\nc")), "another end")?;
    expect(is_same(&lines("{\"gap\":1,…}"), &lines("{\"gap\":1,\"dual\":2}")), "text")?;
    expect(!is_same(&lines("{\"gap\":1,…}"), &lines("{\"gap\":2,\"dual\":2}")), "other text")
}

fn updates_keep_what_was_left_out() -> Result<(), Failed> {
    let shown = lines("start\n…\n 50 0.3\n…\nend 1\nin 0.5 s");
    let printed = lines("start\n 40 0.4\n 51 0.2\n 60 0.1\nend 2\nin 0.6 s");
    let expected = lines("start\n…\n 40 0.4\n…\nend 2\nin 0.5 s");
    expect(updated(&shown, &printed) == expected, "the parts around what is left out")?;
    expect(is_same(&expected, &printed), "what is updated is the same")
}
