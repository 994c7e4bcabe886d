//! Labelled images.

use super::predict_labels;
use crate::args::Pictures;
use maxmargin_io::{GraphSpec, Model, SuperpixelImage, Superpixels};
use maxmargin_report::{Drawing, Drawings};
use std::path::Path;

/// Images that are drawn.
const SHOWN: usize = 12;

/// Squares along the longer side.
const SQUARES: f64 = 80.0;

/// What is drawn, and its colour.
const RIGHT: usize = 2;
const MISSED: usize = 0;
const WRONG: usize = 1;

/// The first images of the test with their foreground, if nodes say where they lie.
pub(super) fn images(
    model: &Model,
    spec: &GraphSpec,
    test: &Superpixels,
    pictures: &Pictures,
) -> Option<Drawings> {
    let few = test.select(|i| i < SHOWN);
    let mut drawings = Drawings::new("Images of the test")
        .note(
            "Superpixels are drawn around their centres, as large as they are: where exactly their \
             boundaries run, the data do not say.",
        )
        .colour("foreground that was found", RIGHT)
        .colour("missed", MISSED)
        .colour("background taken for foreground", WRONG);
    let predicted = predict_labels(spec, &model.weights, &few);
    for (i, (image, labels)) in few.images.iter().zip(&predicted).enumerate() {
        let centres = centres(&few, i, pictures.centres)?;
        drawings = drawings.drawing(draw(&few, i, labels, &centres, find(image, pictures)));
    }
    Some(drawings)
}

/// Where the nodes of an image lie, in shares of width and height, if two features can say so.
fn centres(images: &Superpixels, i: usize, (x, y): (usize, usize)) -> Option<Vec<(f64, f64)>> {
    let graph = images.graphs.graph(i);
    let value = |node: usize, feature: usize| {
        let mut pairs = graph.node(node).pairs();
        let found = pairs.find(|(attribute, _)| *attribute as usize + 1 == feature)?.1;
        (0.0..=1.0).contains(&found).then_some(found)
    };
    (0..graph.nodes()).map(|node| Some((value(node, x)?, value(node, y)?))).collect()
}

fn draw(
    images: &Superpixels,
    i: usize,
    labels: &[u32],
    centres: &[(f64, f64)],
    picture: Option<Vec<u8>>,
) -> Drawing {
    let (image, truth) = (&images.images[i], images.graphs.graph(i).labels());
    let (width, height) = (image.width as f64, image.height as f64);
    let side = width.max(height) / SQUARES;
    let mut cells = [const { Vec::new() }; 3];
    for row in 0..(height / side).ceil() as u32 {
        for column in 0..(width / side).ceil() as u32 {
            let place = ((f64::from(column) + 0.5) * side, (f64::from(row) + 0.5) * side);
            let node = owner(image, centres, place);
            match (truth[node], labels[node]) {
                (1, 1) => cells[0].push((row, column)),
                (1, _) => cells[1].push((row, column)),
                (_, 1) => cells[2].push((row, column)),
                _ => {}
            }
        }
    }
    let wrong: u64 = image
        .pixels
        .iter()
        .zip(labels)
        .map(
            |(&(size, foreground), &label)| {
                if label == 1 { size - foreground } else { foreground }
            },
        )
        .sum();
    let all: u64 = image.pixels.iter().map(|(size, _)| size).sum();
    let share = 100.0 * (1.0 - wrong as f64 / all.max(1) as f64);
    let mut drawing = Drawing::new(format!("{}: {share:.1} % right", image.name), width, height);
    if let Some(file) = picture {
        drawing = drawing.backdrop(file);
    }
    for (cells, colour) in cells.into_iter().zip([RIGHT, MISSED, WRONG]) {
        drawing = drawing.cells(side, cells, colour);
    }
    drawing
}

/// The superpixel that a place most likely belongs to: the nearest, where larger ones reach further.
fn owner(image: &SuperpixelImage, centres: &[(f64, f64)], (x, y): (f64, f64)) -> usize {
    let away = |node: usize| {
        let (u, v) = (centres[node].0 * image.width as f64, centres[node].1 * image.height as f64);
        // The square of the distance less that of the radius of a disc of the same size.
        let area = image.pixels[node].0 as f64;
        (x - u) * (x - u) + (y - v) * (y - v) - area / std::f64::consts::PI
    };
    let nearer = |best: usize, node: usize| if away(node) < away(best) { node } else { best };
    (1..centres.len()).fold(0, nearer)
}

/// The picture of an image: `NAME.jpg`, `.jpeg` or `.png` in the folder, or in that of its split.
fn find(image: &SuperpixelImage, pictures: &Pictures) -> Option<Vec<u8>> {
    let folder = pictures.images.as_deref()?;
    // A name from a file must not lead out of the folder.
    let is_plain = |name: &str| Path::new(name).components().count() == 1 && !name.contains("..");
    if !is_plain(&image.name) || !is_plain(&image.split) {
        return None;
    }
    let places = [folder.to_owned(), folder.join(&image.split)];
    let names = ["jpg", "jpeg", "png"].map(|end| format!("{}.{end}", image.name));
    let files = places.iter().flat_map(|place| names.iter().map(move |name| place.join(name)));
    files.into_iter().find_map(|file| std::fs::read(file).ok())
}
