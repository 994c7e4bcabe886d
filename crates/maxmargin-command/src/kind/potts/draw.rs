//! Labelled images.

use crate::args::Pictures;
use crate::kind::label_name;
use crate::kind::tested::{Candidate, Look, Room, Tested, cut, label_names, of_all, percent, pick};
use maxmargin::evaluate::Segmentation;
use maxmargin_io::{Model, SuperpixelImage, Superpixels};
use maxmargin_report::{Body, Browser, Confusions, Drawing, Example, Prose, Table, format_number};
use std::path::Path;

/// Images that are drawn on their pictures, each of which takes some ten thousand bytes.
const WITH_PICTURES: usize = 24;

/// Images that are drawn on paper.
const ON_PAPER: usize = 60;

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

/// What is told of images of the test, given what was predicted for each.
pub(super) fn tested(
    model: &Model,
    test: &Superpixels,
    predicted: &[Vec<u32>],
    look: &Look<'_>,
) -> Tested {
    let mut pixels = Segmentation::new(2);
    let (mut wrong, mut all) = (0, 0);
    for (i, (image, labels)) in test.images.iter().zip(predicted).enumerate() {
        for (&(size, foreground), &label) in image.pixels.iter().zip(labels) {
            pixels.add(1, label, foreground);
            pixels.add(0, label, size - foreground);
        }
        let truth = test.graphs.graph(i).labels();
        wrong += truth.iter().zip(labels).filter(|(t, p)| t != p).count() as u64;
        all += truth.len() as u64;
    }
    let mut page = Tested::default();
    let words = str::to_owned;
    page.tile(
        "IoU of the foreground",
        percent(pixels.iou(1)),
        words("common pixels of all that either has"),
    );
    page.tile("Mean IoU", percent(pixels.mean_iou()), words("of foreground and background"));
    page.tile("Right pixels", percent(pixels.accuracy()), String::new());
    page.tile(
        "Balanced accuracy",
        percent(pixels.balanced_accuracy()),
        words("mean over the labels"),
    );
    let right = percent((all - wrong) as f64 / all.max(1) as f64);
    page.tile("Right superpixels", right, of_all(all - wrong, all, "superpixels"));
    page.push(by_label(model, &pixels));
    let count = |t: usize| (0..2).map(move |p| (t, p));
    let counts = (0..2).flat_map(count).map(|(t, p)| pixels.count(t, p) as f64).collect();
    let matrix = Confusions::new("What is taken for what", label_names(model), counts);
    page.push(cut(matrix, "counted over all pixels of the test"));
    match images(model, test, predicted, look) {
        Some(browser) => page.push(browser),
        None => page.push(nowhere(look.pictures)),
    }
    page
}

/// The pixels of each label.
fn by_label(model: &Model, pixels: &Segmentation) -> Table {
    let table = Table::new("Labels one by one")
        .label_column("Label")
        .share_column("Precision")
        .share_column("Recall")
        .share_column("IoU")
        .number_column("True pixels")
        .number_column("Predicted pixels");
    (0..2).fold(table, |table, label| {
        let truth = pixels.count(label, 0) + pixels.count(label, 1);
        let predicted = pixels.count(0, label) + pixels.count(1, label);
        let share = |all: u64| match all {
            0 => "–".to_owned(),
            _ => format!("{:.2}", 100.0 * pixels.count(label, label) as f64 / all as f64),
        };
        table.row([
            label_name(&model.labels, label as u32).to_owned(),
            share(predicted),
            share(truth),
            format!("{:.2}", 100.0 * pixels.iou(label)),
            format_number(truth as f64),
            format_number(predicted as f64),
        ])
    })
}

/// Images with their foreground; nothing if it is not known where nodes lie.
fn images(
    model: &Model,
    test: &Superpixels,
    predicted: &[Vec<u32>],
    look: &Look<'_>,
) -> Option<Browser> {
    let candidate = |(i, (image, labels)): (usize, (&SuperpixelImage, &Vec<u32>))| {
        let truth = test.graphs.graph(i).labels();
        let mut mistakes: Vec<(u32, u32)> =
            truth.iter().copied().zip(labels.iter().copied()).filter(|(t, p)| t != p).collect();
        mistakes.sort_unstable();
        mistakes.dedup();
        Candidate { errors: wrong_share(image, labels), size: 1, mistakes }
    };
    let all = test.images.iter().zip(predicted).enumerate();
    let candidates: Vec<Candidate> = all.map(candidate).collect();
    let room = if look.pictures.images.is_some() { WITH_PICTURES } else { ON_PAPER };
    let picked = pick(&candidates, Room { examples: room, size: room }, look.seed);
    let mut browser = Browser::new("Examples of the test")
        .per_page(6)
        .colour("foreground that was found", RIGHT)
        .colour("missed", MISSED)
        .colour("background taken for foreground", WRONG);
    let (mut around_centres, mut on_paper) = (false, false);
    for &(i, drawn) in &picked.examples {
        let layout = Layout::of(test, i, look.pictures.centres)?;
        let picture = find(&test.images[i], look.pictures);
        around_centres |= matches!(layout, Layout::Centres(_));
        on_paper |= look.pictures.images.is_some() && picture.is_none();
        let drawing = draw(test, i, &predicted[i], &layout, picture);
        let share = 100.0 * (1.0 - candidates[i].errors);
        let mut example = Example::new(test.images[i].name.clone(), Body::Drawing(drawing))
            .note(format!("{share:.1} % right"))
            .errors(candidates[i].errors)
            .place(i, drawn);
        let name = |label: u32| label_name(&model.labels, label);
        for &(t, p) in &candidates[i].mistakes {
            example = example.cell(name(t), name(p));
        }
        browser = browser.example(example);
    }
    let mut notes =
        vec![format!("{} Those with most wrong pixels are the worst.", picked.note("images"))];
    if around_centres {
        notes.push(
            "Superpixels are drawn around their centres, as large as they are: where exactly their \
             boundaries run, the data do not say."
                .to_owned(),
        );
    }
    if on_paper {
        notes.push(
            "Some images are not in the folder of --images; these are drawn on paper.".to_owned(),
        );
    }
    Some(browser.note(notes.join(" ")))
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
    Prose::new("Examples of the test").paragraph(format!(
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
    let mut drawing = Drawing::new(image.name.clone(), width, height);
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
