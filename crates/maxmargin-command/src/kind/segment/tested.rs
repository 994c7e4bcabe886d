//! What a page tells of segments on test data.

use super::segments_of;
use crate::kind::tested::{
    Candidate, Look, Room, Tested, label_names, label_table, matrix, of_all, percent, pick,
};
use crate::kind::{Labelled, label_name};
use anyhow::Result;
use maxmargin::evaluate::{Confusion, Tally};
use maxmargin::model::segment::{Segment, Segmentations};
use maxmargin_io::{ErrorCounts, Model, SegmentSpec, TagNames, Wrong};
use maxmargin_report::{Body, Browser, Example, TaggedExample};
use std::borrow::Cow;

/// Sequences on a page, and their tokens.
const ROOM: Room = Room { examples: 240, size: 5_000 };

pub(super) fn tested(
    model: &Model,
    spec: &SegmentSpec,
    test: &Labelled,
    look: &Look<'_>,
) -> Result<Tested> {
    let data = segments_of(&test.examples)?;
    let predicted = spec.predict(&model.weights, data, look.threads)?;
    let found = Found::new(model, spec, data, &predicted);
    let mut page = Tested::default();
    found.tiles(&mut page);
    page.push(label_table("Segments by label", "Segment", &found.segments));
    let what = "counted over all tokens of the test";
    page.push(matrix(&label_names(model), &found.confusion, what));
    page.push(found.browser(model, test, look, &predicted));
    Ok(page)
}

/// What is counted of predictions.
struct Found<'a> {
    data: &'a Segmentations,
    tags: TagNames,
    errors: ErrorCounts,
    /// Of the labels of tokens.
    confusion: Confusion,
    segments: Tally,
    candidates: Vec<Candidate>,
}

/// The label of each token, and whether it begins a segment.
fn tokens(segments: &[Segment]) -> Vec<(u32, bool)> {
    let own = |s: &Segment| {
        let label = s.label;
        (0..s.length).map(move |t| (label, t == 0))
    };
    segments.iter().flat_map(own).collect()
}

impl<'a> Found<'a> {
    fn new(
        model: &Model,
        spec: &SegmentSpec,
        data: &'a Segmentations,
        predicted: &[Vec<Segment>],
    ) -> Self {
        let mut found = Self {
            data,
            tags: spec.tag_names(&model.labels),
            errors: ErrorCounts::new(model.meta.spec.nouns()),
            confusion: Confusion::default(),
            segments: Tally::default(),
            candidates: Vec::new(),
        };
        let name = |label| label_name(&model.labels, label);
        for (i, predicted) in predicted.iter().enumerate() {
            found.tags.count(data.truth(i), predicted, &mut found.segments);
            let (truth, read) = (tokens(data.truth(i)), tokens(predicted));
            found.errors.add_labels(&truth, &read);
            let pairs = || truth.iter().zip(&read);
            pairs().for_each(|((t, _), (p, _))| found.confusion.add(name(*t), name(*p)));
            let errors = pairs().filter(|(t, p)| t != p).count() as f64;
            let wrong = pairs().filter(|((t, _), (p, _))| t != p);
            let mut mistakes: Vec<(u32, u32)> = wrong.map(|(t, p)| (t.0, p.0)).collect();
            mistakes.sort_unstable();
            mistakes.dedup();
            found.candidates.push(Candidate { errors, size: truth.len(), mistakes });
        }
        found
    }

    fn tiles(&self, page: &mut Tested) {
        let all = self.segments.total();
        let hint = of_all(all.hits, all.truth, "segments");
        page.tile("Segment F1", percent(all.f1()), "precision and recall together".to_owned());
        page.tile("Segment precision", percent(all.precision()), String::new());
        page.tile("Segment recall", percent(all.recall()), hint);
        let ErrorCounts { parts, examples } = &self.errors;
        let right = |wrong: &Wrong| of_all(wrong.all - wrong.wrong, wrong.all, wrong.what);
        page.tile("Right tokens", percent(1.0 - parts.share()), right(parts));
        page.tile("Right sequences", percent(1.0 - examples.share()), right(examples));
    }

    fn browser(
        &self,
        model: &Model,
        test: &Labelled,
        look: &Look<'_>,
        predicted: &[Vec<Segment>],
    ) -> Browser {
        let picked = pick(&self.candidates, ROOM, look.seed);
        let how = "Below each token its tag; wrong ones are boxed, with what was predicted below.";
        let mut browser = Browser::new("Examples of the test")
            .note(format!("{} {how}", picked.note("sequences")))
            .per_page(6)
            .with_legend();
        let name = |label| label_name(&model.labels, label);
        for &(i, drawn) in &picked.examples {
            let (truth, read) = (self.data.truth(i), &predicted[i]);
            let tags: Vec<(Cow<'_, str>, Cow<'_, str>)> =
                self.tags.tags(truth).zip(self.tags.tags(read)).collect();
            let rows = tags.iter().enumerate().map(|(t, (truth, read))| {
                (test.texts.token(i, t).unwrap_or("…"), truth.as_ref(), read.as_ref())
            });
            let body = Body::Tokens(TaggedExample::new(rows));
            let errors = self.candidates[i].errors;
            let note = match errors {
                0.0 => "all right".to_owned(),
                _ => format!("{errors} of {} wrong", tags.len()),
            };
            let title = format!("Sequence {}", i + 1);
            let example = Example::new(title, body).note(note).errors(errors).place(i, drawn);
            let (truth, read) = (tokens(truth), tokens(read));
            let pairs = truth.iter().zip(&read);
            let add = |example: Example, ((t, _), (p, _)): (&(u32, bool), &(u32, bool))| {
                example.cell(name(*t), name(*p))
            };
            browser = browser.example(pairs.fold(example, add));
        }
        browser
    }
}
