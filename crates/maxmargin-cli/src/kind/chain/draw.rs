//! Pictures of chains.

use super::label_name;
use crate::kind::draw::{MOST_HEATMAP_LABELS, confusions};
use maxmargin::evaluate::Confusion;
use maxmargin::model::chain::{Sequence, Sequences};
use maxmargin_io::ocr::{self, COLUMNS, ROWS};
use maxmargin_io::{ChainPredictor, ChainSpec, Format, Model};
use maxmargin_report::{
    Bitmap, Heatmap, Letter, Report, Shade, Tagged, TaggedExample, Tile, Tiles, Word, Words,
};

/// Test words in the report.
const WORDS: usize = 12;

/// Those with most errors.
const WORST: usize = 6;

/// Longer sequences are not shown: nobody would read them.
const MOST_TOKENS: usize = 60;

/// How attributes begin that are the token itself, in the formats we know.
const TEXT: [&str; 4] = ["w[0]=", "w=", "word=", "U[0]="];

pub(super) fn draw(
    model: &Model,
    spec: &ChainSpec,
    test: Option<&Sequences>,
    mut report: Report,
) -> Report {
    if spec.shape.labels <= MOST_HEATMAP_LABELS && spec.shape.groups.transition {
        report.push(transitions(model, spec));
    }
    let is_ocr = model.meta.format == Format::Ocr;
    // With a kernel, pixels have no weights of their own.
    if is_ocr && spec.kernel.is_none() {
        report.push(templates(model, spec));
    }
    let Some(test) = test else { return report };
    let Picked { shown, worst, confusion } = pick(model, spec, test);
    if model.labels.len() <= MOST_HEATMAP_LABELS {
        report.push(confusions(model, &confusion));
    }
    let note = "Below each letter what it is and what was read.";
    if is_ocr {
        let words = |heading: &str, picked: &[(usize, Vec<u32>)]| {
            let word = |(i, read): &(usize, Vec<u32>)| word(model, test.sequence(*i), read);
            picked.iter().map(word).fold(Words::new(heading).note(note), Words::word)
        };
        report.push(words("Test words", &shown));
        if !worst.is_empty() {
            report.push(words("Test words with most errors", &worst));
        }
    } else {
        let note = "Below each token its label; tokens that the model does not know are shown as …";
        let tagged = |heading: &str, picked: &[(usize, Vec<u32>)]| {
            let example = |(i, read): &(usize, Vec<u32>)| example(model, test.sequence(*i), read);
            picked.iter().map(example).fold(Tagged::new(heading).note(note), Tagged::example)
        };
        report.push(tagged("Test sequences", &shown));
        if !worst.is_empty() {
            report.push(tagged("Test sequences with most errors", &worst));
        }
    }
    report
}

/// What is looked at of a test: indices of sequences, with what was predicted for them.
struct Picked {
    /// The first ones: half of them right and half of them wrong, as far as there are such.
    shown: Vec<(usize, Vec<u32>)>,
    /// The largest number of errors first.
    worst: Vec<(usize, Vec<u32>)>,
    confusion: Confusion,
}

fn pick(model: &Model, spec: &ChainSpec, test: &Sequences) -> Picked {
    let mut predictor = ChainPredictor::new(spec, &model.weights);
    let name = |label: u32| label_name(&model.labels, label);
    let (mut shown, mut worst) = (Vec::new(), Vec::new());
    let (mut right, mut wrong, mut confusion) = (0, 0, Confusion::default());
    for (i, sequence) in test.iter().enumerate() {
        let predicted = predictor.predict(sequence);
        let mut errors = 0;
        for (&truth, &read) in sequence.labels().iter().zip(predicted) {
            confusion.add(name(truth), name(read));
            errors += usize::from(truth != read);
        }
        if sequence.len() > MOST_TOKENS {
            continue;
        }
        let count = if errors == 0 { &mut right } else { &mut wrong };
        if *count < WORDS / 2 {
            *count += 1;
            shown.push((i, predicted.to_vec()));
        } else if errors > 0 {
            worst.push((errors, i, predicted.to_vec()));
            // Of equals the first.
            worst.sort_by_key(|(errors, i, _)| (usize::MAX - errors, *i));
            worst.truncate(WORST);
        }
    }
    let worst = worst.into_iter().map(|(_, i, predicted)| (i, predicted)).collect();
    Picked { shown, worst, confusion }
}

fn example(model: &Model, sequence: Sequence<'_>, predicted: &[u32]) -> TaggedExample {
    let name = |label: u32| label_name(&model.labels, label);
    let text = |attributes: &[u32]| -> String {
        let names = || attributes.iter().map(|&a| model.attributes.name(a));
        let known =
            |name: &str| TEXT.iter().find_map(|start| name.strip_prefix(start).map(str::to_owned));
        names().find_map(known).unwrap_or_else(|| "…".to_owned())
    };
    let tokens = sequence.tokens().zip(sequence.labels()).zip(predicted);
    TaggedExample::new(
        tokens.map(|((token, &truth), &read)| (text(token.attributes), name(truth), name(read))),
    )
}

fn transitions(model: &Model, spec: &ChainSpec) -> Heatmap {
    let labels = || model.labels.iter().map(str::to_owned);
    let weights = model.weights[spec.scoring_shape().transition()].to_vec();
    Heatmap::new("Transition weights", labels(), labels(), weights)
        .axes("label", "next label")
        .note("Positive: the pair is likelier than the letters alone suggest.")
}

fn templates(model: &Model, spec: &ChainSpec) -> Tiles {
    let shape = &spec.shape;
    let emission = &model.weights[shape.emission()];
    let mut tiles = Tiles::new("Letter templates", Shade::Diverging)
        .note("The weight of each pixel for each letter.");
    for (y, label) in model.labels.iter().enumerate() {
        let pixels: Vec<f64> = emission.iter().skip(y).step_by(shape.labels).copied().collect();
        if pixels.len() == ROWS * COLUMNS {
            tiles = tiles.tile(Tile::new(label, Bitmap::new(ROWS, COLUMNS, pixels)));
        }
    }
    tiles
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
