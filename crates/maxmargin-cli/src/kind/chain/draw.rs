//! Pictures of chains.

use super::{Predictor, label_name};
use maxmargin::model::chain::{Sequence, Sequences};
use maxmargin_io::ocr::{self, COLUMNS, ROWS};
use maxmargin_io::{ChainSpec, Format, Model};
use maxmargin_report::{Bitmap, Heatmap, Letter, Report, Shade, Tile, Tiles, Word, Words};

/// A heat-map of more labels would be unreadable.
const MOST_HEATMAP_LABELS: usize = 64;

/// Test words in the report.
const WORDS: usize = 12;

pub(super) fn draw(
    model: &Model,
    spec: &ChainSpec,
    test: Option<&Sequences>,
    mut report: Report,
) -> Report {
    if spec.shape.labels <= MOST_HEATMAP_LABELS && spec.shape.groups.transition {
        report.push(transitions(model, spec));
    }
    if model.meta.format == Format::Ocr {
        // With a kernel, pixels have no weights of their own.
        if spec.kernel.is_none() {
            report.push(templates(model, spec));
        }
        if let Some(test) = test {
            report.push(words(model, spec, test));
        }
    }
    report
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

/// Half of them right and half of them wrong, as far as there are such.
fn words(model: &Model, spec: &ChainSpec, test: &Sequences) -> Words {
    let mut words =
        Words::new("Test words").note("Below each letter what it is and what was read.");
    let mut predictor = Predictor::new(spec, &model.weights);
    let (mut right, mut wrong) = (0, 0);
    for sequence in test.iter() {
        let predicted = predictor.predict(sequence);
        let count = if predicted == sequence.labels() { &mut right } else { &mut wrong };
        if *count < WORDS / 2 {
            *count += 1;
            words = words.word(word(model, sequence, predicted));
        }
    }
    words
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
