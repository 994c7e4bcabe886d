//! Labelled images.

use crate::args::Pictures;
use crate::kind::draw::first_and_worst;
use maxmargin_io::{SuperpixelImage, Superpixels};
use maxmargin_report::{Drawing, Drawings, Prose};
use std::path::Path;

/// Images that are drawn.
const SHOWN: usize = 12;

/// Those with most wrong pixels.
const WORST: usize = 6;

/// The features that are the centre, unless told otherwise: those of the horses.
const CENTRES: (usize, usize) = (40, 41);

/// Squares along the longer side.
const SQUARES: f64 = 80.0;

/// What is drawn, and its colour.
const RIGHT: usize = 2;
const MISSED: usize = 0;
const WRONG: usize = 1;

/// Where the nodes of an image lie.
enum Layout {
    /// Every pixel is a node, row by row.
    Pixels,
    /// Centres in shares of width and height.
    Centres(Vec<(f64, f64)>),
}

/// Images of the test with their foreground, given what was predicted for each: the first ones, and those
/// with the largest share of wrong pixels; nothing if it is not known where nodes lie.
pub(super) fn images(
    test: &Superpixels,
    predicted: &[Vec<u32>],
    pictures: &Pictures,
) -> Option<Vec<Drawings>> {
    let errors =
        test.images.iter().zip(predicted).map(|(image, labels)| wrong_share(image, labels));
    let (first, worst) = first_and_worst(&errors.collect::<Vec<_>>(), SHOWN, WORST);
    let mut sections = vec![section("Images of the test", &first, test, predicted, pictures)?];
    if !worst.is_empty() {
        let heading = "Images with most wrong pixels";
        sections.push(section(heading, &worst, test, predicted, pictures)?);
    }
    Some(sections)
}

fn section(
    heading: &str,
    shown: &[usize],
    test: &Superpixels,
    predicted: &[Vec<u32>],
    pictures: &Pictures,
) -> Option<Drawings> {
    let mut drawings = Drawings::new(heading)
        .colour("foreground that was found", RIGHT)
        .colour("missed", MISSED)
        .colour("background taken for foreground", WRONG);
    let (mut around_centres, mut on_paper) = (false, false);
    for &i in shown {
        let layout = Layout::of(test, i, pictures.centres)?;
        let picture = find(&test.images[i], pictures);
        around_centres |= matches!(layout, Layout::Centres(_));
        on_paper |= pictures.images.is_some() && picture.is_none();
        drawings = drawings.drawing(draw(test, i, &predicted[i], &layout, picture));
    }
    let mut notes = Vec::new();
    if around_centres {
        notes.push(
            "Superpixels are drawn around their centres, as large as they are: where exactly their \
             boundaries run, the data do not say.",
        );
    }
    if on_paper {
        notes.push("Some images are not in the folder of --images; these are drawn on paper.");
    }
    Some(if notes.is_empty() { drawings } else { drawings.note(notes.join(" ")) })
}

/// The share of an image's pixels that are wrong.
fn wrong_share(image: &SuperpixelImage, labels: &[u32]) -> f64 {
    let wrong = |(&(size, foreground), &label): (&(u64, u64), &u32)| {
        if label == 1 { size - foreground } else { foreground }
    };
    let all: u64 = image.pixels.iter().map(|(size, _)| size).sum();
    let wrong: u64 = image.pixels.iter().zip(labels).map(wrong).sum();
    wrong as f64 / all.max(1) as f64
}

/// Why there are no drawings.
pub(super) fn nowhere(pictures: &Pictures) -> Prose {
    let (x, y) = pictures.centres.unwrap_or(CENTRES);
    Prose::new("Images of the test").paragraph(format!(
        "There are no drawings, since it is not known where superpixels lie: the features {x} and {y} of \
         some of them are not there, or not between 0 and 1. The option --centres names the two features \
         that are the centre of a superpixel, as shares of width and height."
    ))
}

impl Layout {
    fn of(images: &Superpixels, i: usize, features: Option<(usize, usize)>) -> Option<Self> {
        let (image, graph) = (&images.images[i], images.graphs.graph(i));
        let single = image.pixels.iter().all(|&(size, _)| size == 1);
        if features.is_none() && single && graph.nodes() as u64 == image.width * image.height {
            return Some(Self::Pixels);
        }
        let value = |node: usize, feature: usize| {
            let mut pairs = graph.node(node).pairs();
            let found = pairs.find(|(attribute, _)| *attribute as usize + 1 == feature)?.1;
            (0.0..=1.0).contains(&found).then_some(found)
        };
        let (x, y) = features.unwrap_or(CENTRES);
        let centre = |node: usize| Some((value(node, x)?, value(node, y)?));
        (0..graph.nodes()).map(centre).collect::<Option<_>>().map(Self::Centres)
    }

    /// The node that a place most likely belongs to.
    fn owner(&self, image: &SuperpixelImage, (x, y): (f64, f64)) -> usize {
        let centres = match self {
            Self::Pixels => {
                let within = |at: f64, size: u64| (at as u64).min(size - 1);
                return (within(y, image.height) * image.width + within(x, image.width)) as usize;
            }
            Self::Centres(centres) => centres,
        };
        // The nearest, where larger ones reach further.
        let away = |node: usize| {
            let (u, v) =
                (centres[node].0 * image.width as f64, centres[node].1 * image.height as f64);
            // The square of the distance less that of the radius of a disc of the same size.
            let area = image.pixels[node].0 as f64;
            (x - u) * (x - u) + (y - v) * (y - v) - area / std::f64::consts::PI
        };
        let nearer = |best: usize, node: usize| if away(node) < away(best) { node } else { best };
        (1..centres.len()).fold(0, nearer)
    }
}

fn draw(
    images: &Superpixels,
    i: usize,
    labels: &[u32],
    layout: &Layout,
    picture: Option<Vec<u8>>,
) -> Drawing {
    let (image, truth) = (&images.images[i], images.graphs.graph(i).labels());
    let (width, height) = (image.width as f64, image.height as f64);
    let side = width.max(height) / SQUARES;
    let mut cells = [const { Vec::new() }; 3];
    for row in 0..(height / side).ceil() as u32 {
        for column in 0..(width / side).ceil() as u32 {
            let place = ((f64::from(column) + 0.5) * side, (f64::from(row) + 0.5) * side);
            let node = layout.owner(image, place);
            match (truth[node], labels[node]) {
                (1, 1) => cells[0].push((row, column)),
                (1, _) => cells[1].push((row, column)),
                (_, 1) => cells[2].push((row, column)),
                _ => {}
            }
        }
    }
    let share = 100.0 * (1.0 - wrong_share(image, labels));
    let mut drawing = Drawing::new(format!("{}: {share:.1} % right", image.name), width, height);
    if let Some(file) = picture {
        drawing = drawing.backdrop(file);
    }
    for (cells, colour) in cells.into_iter().zip([RIGHT, MISSED, WRONG]) {
        drawing = drawing.cells(side, cells, colour);
    }
    drawing
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
