//! Pictures of chains.

use crate::kind::draw::MOST_HEATMAP_LABELS;
use maxmargin_io::ocr::{COLUMNS, ROWS};
use maxmargin_io::{ChainSpec, Format, Model};
use maxmargin_report::{Bitmap, Heatmap, Section, Shade, Tile, Tiles};

pub(super) fn draw(model: &Model, spec: &ChainSpec) -> Vec<Section> {
    let mut sections = Vec::new();
    if spec.shape.labels <= MOST_HEATMAP_LABELS && spec.shape.groups.transition {
        sections.push(transitions(model, spec).into());
    }
    if has_templates(model, spec) {
        sections.push(templates(model, spec).into());
    }
    sections
}

/// Whether weights are drawn as pictures of letters. With a kernel, pixels have no weights of their own.
pub(super) fn has_templates(model: &Model, spec: &ChainSpec) -> bool {
    model.meta.format == Format::Ocr && spec.kernel.is_none() && spec.shape.groups.emission
}

fn transitions(model: &Model, spec: &ChainSpec) -> Heatmap {
    let labels = || model.labels.iter().map(str::to_owned);
    let weights = model.scoring_weights()[spec.scoring_shape().transition()].to_vec();
    Heatmap::new("Transition weights", labels(), labels(), weights)
        .axes("label", "next label")
        .note("Positive: the pair is likelier than its tokens alone suggest.")
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
