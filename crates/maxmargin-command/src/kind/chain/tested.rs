//! What a page tells of chains on test data.

use super::label_name;
use crate::kind::tested::{
    Candidate, Look, Room, Tested, label_names, label_table, matrix, of_all, percent, pick,
};
use crate::kind::{Labelled, of_kind};
use anyhow::Result;
use maxmargin::evaluate::{Confusion, Tally, is_bio};
use maxmargin::model::chain::{Sequence, Sequences};
use maxmargin_io::ocr::{self, COLUMNS, ROWS};
use maxmargin_io::{ChainSpec, ErrorCounts, Format, Model};
use maxmargin_report::{Bitmap, Body, Browser, Example, Letter, TaggedExample, Word};

/// Sequences on a page, and their tokens.
const ROOM: Room = Room { examples: 240, size: 5_000 };

/// Words on a page, whose letters are pictures, and their letters.
const WORDS: Room = Room { examples: 180, size: 1_400 };

pub(super) fn tested(
    model: &Model,
    spec: &ChainSpec,
    test: &Labelled,
    look: &Look<'_>,
) -> Result<Tested> {
    let sequences = of_kind(test.examples.sequences())?;
    let found = Found::new(model, spec, sequences, look.threads);
    let mut page = Tested::default();
    found.tiles(&mut page);
    if let Some(chunks) = &found.chunks {
        page.push(label_table("Chunks by kind", "Chunk", chunks));
    }
    page.push(label_table("Labels one by one", "Label", &found.labels));
    page.push(matrix(&label_names(model), &found.confusion, "counted over all labels of the test"));
    page.push(found.browser(model, test, sequences, look));
    Ok(page)
}

/// Predictions, and what is counted of them.
struct Found {
    predicted: Vec<Vec<u32>>,
    errors: ErrorCounts,
    confusion: Confusion,
    labels: Tally,
    /// Only where the labels are BIO tags.
    chunks: Option<Tally>,
    candidates: Vec<Candidate>,
}

impl Found {
    fn new(model: &Model, spec: &ChainSpec, sequences: &Sequences, threads: usize) -> Self {
        let name = |&label: &u32| label_name(&model.labels, label);
        let mut found = Self {
            predicted: spec.predict(&model.weights, sequences, threads),
            errors: ErrorCounts::new(model.meta.spec.nouns()),
            confusion: Confusion::default(),
            labels: Tally::default(),
            chunks: is_bio(model.labels.iter()).then(Tally::default),
            candidates: Vec::new(),
        };
        for (sequence, predicted) in sequences.iter().zip(&found.predicted) {
            found.errors.add_labels(sequence.labels(), predicted);
            let truth: Vec<&str> = sequence.labels().iter().map(name).collect();
            let read: Vec<&str> = predicted.iter().map(name).collect();
            truth.iter().zip(&read).for_each(|(t, p)| found.confusion.add(t, p));
            found.labels.add_labels(&truth, &read);
            if let Some(chunks) = &mut found.chunks {
                chunks.add_chunks(&truth, &read);
            }
            let pairs = sequence.labels().iter().copied().zip(predicted.iter().copied());
            let mut mistakes: Vec<(u32, u32)> = pairs.filter(|(t, p)| t != p).collect();
            let errors = mistakes.len() as f64;
            mistakes.sort_unstable();
            mistakes.dedup();
            found.candidates.push(Candidate { errors, size: sequence.len(), mistakes });
        }
        found
    }

    fn tiles(&self, page: &mut Tested) {
        let ErrorCounts { parts, examples } = &self.errors;
        if let Some(chunks) = &self.chunks {
            let all = chunks.total();
            let hint = of_all(all.hits, all.truth, "chunks");
            page.tile("Chunk F1", percent(all.f1()), "precision and recall together".to_owned());
            page.tile("Chunk precision", percent(all.precision()), String::new());
            page.tile("Chunk recall", percent(all.recall()), hint);
        }
        let right =
            |wrong: &maxmargin_io::Wrong| of_all(wrong.all - wrong.wrong, wrong.all, wrong.what);
        page.tile("Right labels", percent(1.0 - parts.share()), right(parts));
        page.tile("Right sequences", percent(1.0 - examples.share()), right(examples));
        let mean = "mean over the labels".to_owned();
        page.tile("Macro F1", percent(self.labels.macro_f1()), mean);
    }

    fn browser(
        &self,
        model: &Model,
        test: &Labelled,
        sequences: &Sequences,
        look: &Look<'_>,
    ) -> Browser {
        let is_ocr = model.meta.format == Format::Ocr;
        let picked = pick(&self.candidates, if is_ocr { WORDS } else { ROOM }, look.seed);
        let (noun, per_page) = if is_ocr { ("words", 12) } else { ("sequences", 6) };
        let how = match is_ocr {
            true => "Below each letter what it is and what was read; wrong ones are boxed.",
            false => {
                "Below each token its label; wrong ones are boxed, with what was predicted below."
            }
        };
        let mut browser = Browser::new("Examples of the test")
            .note(format!("{} {how}", picked.note(noun)))
            .per_page(per_page);
        if !is_ocr {
            browser = browser.with_legend();
        }
        for &(i, drawn) in &picked.examples {
            let (sequence, predicted) = (sequences.sequence(i), &self.predicted[i]);
            let body = match is_ocr {
                true => Body::Word(word(model, sequence, predicted)),
                false => Body::Tokens(tokens(model, test, i, sequence, predicted)),
            };
            let errors = self.candidates[i].errors;
            let name = |label: u32| label_name(&model.labels, label);
            let title = match is_ocr {
                true => sequence.labels().iter().map(|&label| name(label)).collect(),
                false => format!("Sequence {}", i + 1),
            };
            let note = match errors {
                0.0 => "all right".to_owned(),
                _ => format!("{errors} of {} wrong", sequence.len()),
            };
            let example = Example::new(title, body).note(note).errors(errors).place(i, drawn);
            let pairs = sequence.labels().iter().zip(predicted);
            let add = |example: Example, (&t, &p): (&u32, &u32)| example.cell(name(t), name(p));
            browser = browser.example(pairs.fold(example, add));
        }
        browser
    }
}

fn tokens(
    model: &Model,
    test: &Labelled,
    i: usize,
    sequence: Sequence<'_>,
    predicted: &[u32],
) -> TaggedExample {
    let name = |label: u32| label_name(&model.labels, label);
    let pairs = sequence.labels().iter().zip(predicted).enumerate();
    TaggedExample::new(pairs.map(|(t, (&truth, &read))| {
        (test.texts.token(i, t).unwrap_or("…"), name(truth), name(read))
    }))
}

fn word(model: &Model, sequence: Sequence<'_>, predicted: &[u32]) -> Word {
    let name = |label: u32| label_name(&model.labels, label);
    Word::new(sequence.tokens().zip(sequence.labels()).zip(predicted).map(
        |((token, &truth), &read)| {
            let pixels = ocr::Bitmap::from_token(&token);
            let values = (0..ROWS * COLUMNS)
                .map(|at| f64::from(pixels.is_black(at / COLUMNS, at % COLUMNS)))
                .collect();
            Letter::new(Bitmap::new(ROWS, COLUMNS, values), name(truth), name(read))
        },
    ))
}
