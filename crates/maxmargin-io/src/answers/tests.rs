#![allow(clippy::unwrap_used, reason = "in a test a panic is a failure")]

use super::*;
use crate::format::Format;
use crate::lines::Lines;
use crate::reader::open_reader;

/// Sequences of 1, 2, 3, … tokens, with a mistake in the last one if `is_bad`.
fn text(format: Format, sequences: usize, is_bad: bool) -> String {
    let mut text = String::new();
    for i in 0..sequences {
        for t in 0..=i % 7 {
            text += &match format {
                Format::Crfsuite => format!("a\tw={i}\tv={t}:0.5\n"),
                _ => format!("w{i} a\n"),
            };
        }
        text += "\n";
    }
    if is_bad {
        text += if format == Format::Crfsuite { "a\tw:inf\n" } else { "w a b\n" };
    }
    text
}

/// What is written, and what is wrong in the end.
fn answers(text: &str, format: Format, plan: Answering) -> (String, Result<Unknown, String>) {
    let lines = Lines::from_reader("f.txt", text.as_bytes().to_vec().leak() as &[u8]).unwrap();
    let mut reader = open_reader(lines, Some(format)).unwrap();
    reader.keep_lines();
    let mut out = Vec::new();
    let result = answer_sequences(
        reader,
        plan,
        &mut out,
        || 0_u64,
        |calls, asked, out| {
            *calls += 1;
            let token = asked.sequence.token(0);
            writeln!(out, "{} {} {}", asked.file, token.line(), asked.sequence.len())?;
            if let Some(kept) = asked.kept_lines {
                kept.write(out, vec!["x"; asked.sequence.len()])?;
            }
            let tokens = asked.sequence.len() as u64;
            Ok::<_, Box<dyn std::error::Error + Send + Sync>>(Unknown {
                tokens,
                ..Unknown::default()
            })
        },
    );
    (String::from_utf8(out).unwrap(), result.map_err(|error| error.to_string()))
}

#[test]
fn answers_are_the_same_on_any_number_of_threads_and_in_batches_of_any_size() {
    for format in [Format::Crfsuite, Format::Conll] {
        for (sequences, is_bad) in [(1, false), (300, false), (40_000, false), (700, true)] {
            let text = text(format, sequences, is_bad);
            let plan =
                |threads, follows, answers_each| Answering { threads, follows, answers_each };
            let expected = answers(&text, format, plan(1, true, 1));
            assert_eq!(expected.1.is_err(), is_bad, "{expected:?}");
            for plan in [plan(1, false, 1), plan(4, false, 1), plan(3, true, 1), plan(2, false, 9)]
            {
                assert!(answers(&text, format, plan) == expected, "{format} {sequences} {plan:?}");
            }
        }
    }
}

#[test]
fn the_first_mistake_of_the_input_is_reported_after_what_comes_before_it() {
    let text = text(Format::Crfsuite, 90_000, false);
    let lines = Lines::from_reader("f.txt", text.as_bytes().to_vec().leak() as &[u8]).unwrap();
    let reader = open_reader(lines, Some(Format::Crfsuite)).unwrap();
    let (plan, mut out) = (Answering { threads: 4, ..Answering::default() }, Vec::new());
    // The tokens of the first 1001 sequences and empty lines come before line 5000.
    let result = answer_sequences(
        reader,
        plan,
        &mut out,
        || (),
        |(), asked, out| {
            let line = asked.sequence.token(0).line();
            if line > 5000 {
                return Err(io::Error::other(format!("line {line}")).into());
            }
            writeln!(out, "{line}")?;
            Ok::<_, Box<dyn std::error::Error + Send + Sync>>(Unknown::default())
        },
    );
    let written = String::from_utf8(out).unwrap();
    let last: u64 = written.lines().last().unwrap().parse().unwrap();
    assert!((4990..=5000).contains(&last), "{last}");
    let error = result.unwrap_err().to_string();
    let line: u64 = error.strip_prefix("line ").unwrap().parse().unwrap();
    assert!((5001..=5008).contains(&line), "{error}");
}

/// A writer that fails soon.
struct Full(usize);

impl Write for Full {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 = self.0.checked_sub(bytes.len()).ok_or_else(|| io::Error::other("full"))?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn an_output_that_fails_ends_the_work() {
    for (format, follows) in
        [(Format::Crfsuite, false), (Format::Conll, false), (Format::Conll, true)]
    {
        let text = text(format, 20_000, false);
        let lines = Lines::from_reader("f.txt", text.as_bytes().to_vec().leak() as &[u8]).unwrap();
        let reader = open_reader(lines, Some(format)).unwrap();
        let plan = Answering { threads: 3, follows, answers_each: 1 };
        let result = answer_sequences(
            reader,
            plan,
            &mut Full(1000),
            || (),
            |(), _, out| {
                writeln!(out, "answer")?;
                Ok::<_, Box<dyn std::error::Error + Send + Sync>>(Unknown::default())
            },
        );
        assert_eq!(result.unwrap_err().to_string(), "full");
    }
}

#[test]
fn examples_are_answered_in_order_up_to_the_first_error() {
    for count in [0, 1, 5, 1000] {
        for (threads, answers_each) in [(1, 1), (3, 1), (2, 50)] {
            let plan = Answering { threads, answers_each, ..Answering::default() };
            let (mut out, mut expected) = (Vec::new(), String::new());
            let result = answer_examples(
                count,
                plan,
                &mut out,
                || 2,
                |two, i, out| match i {
                    900 => Err(io::Error::other("on purpose")),
                    _ => writeln!(out, "{}", *two * i),
                },
            );
            (0..count.min(900)).for_each(|i| expected += &format!("{}\n", 2 * i));
            assert!(out == expected.as_bytes(), "{count} {plan:?}");
            assert_eq!(result.is_err(), count > 900);
        }
    }
}
