//! Where everything goes in a line plot, as shapes that `svg.rs` writes down.
//! `assets/plots.js` draws the same way.

use std::fmt::Write as _;

use crate::palette::SERIES;
use crate::plot::{Plot, Point, View, line_name, summary};
use crate::scale::Domain;
use crate::svg::SvgOptions;

/// A line plot laid out.
pub(crate) struct Picture {
    /// What it shows, for those who cannot see it.
    pub(crate) label: String,
    /// From the back to the front.
    pub(crate) shapes: Vec<Shape>,
}

/// On which side of its place a text is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

/// A part of a picture.
pub(crate) enum Shape {
    Path {
        /// What it is: `line`, `mark`, `band`, `grid`, `axis` or `guide`.
        class: &'static str,
        /// Which of the colours for lines, if any.
        colour: Option<usize>,
        /// Lengths of dashes and gaps; empty for none.
        dash: &'static str,
        /// The path in the language of SVG.
        path: String,
    },
    Text {
        /// What it is: `name`, `tick`, `dim`, or nothing of these.
        class: &'static str,
        anchor: Anchor,
        place: [f64; 2],
        text: String,
    },
}

impl Shape {
    fn text(class: &'static str, anchor: Anchor, place: [f64; 2], text: &str) -> Self {
        Self::Text { class, anchor, place, text: text.to_owned() }
    }

    fn plain(class: &'static str, path: String) -> Self {
        Self::Path { class, colour: None, dash: "", path }
    }

    fn line(colour: usize, dash: &'static str, path: String) -> Self {
        Self::Path { class: "line", colour: Some(colour), dash, path }
    }

    fn mark(colour: usize, path: String) -> Self {
        Self::Path { class: "mark", colour: Some(colour), dash: "", path }
    }

    fn band(colour: usize, path: String) -> Self {
        Self::Path { class: "band", colour: Some(colour), dash: "", path }
    }
}

/// A number for coordinates: one decimal, no needless digits.
pub(crate) fn at(value: f64) -> String {
    let text = format!("{value:.1}");
    let text = text.strip_suffix(".0").unwrap_or(&text);
    if text == "-0" { "0".into() } else { text.into() }
}

/// The width of a text in pixels, roughly.
fn width_of(text: &str) -> f64 {
    7.2 * text.chars().count() as f64
}

const DASHES: [&str; 4] = ["", "7 4", "2 3", "9 3 2 3"];

struct Style {
    colour: usize,
    dash: &'static str,
    shape: usize,
}

/// Several runs have a colour each; a single run has a colour for each curve.
fn style(plot: &Plot, series: usize, curve: usize) -> Style {
    let many = plot.series.len() > 1;
    let main = if many { series } else { curve };
    let round = if many { curve + series / SERIES.len() } else { curve };
    Style { colour: main % SERIES.len(), dash: DASHES[round % DASHES.len()], shape: main % 4 }
}

fn marker(x: f64, y: f64, shape: usize) -> String {
    match shape {
        0 => format!("M{} {}a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0 -7 0", at(x - 3.5), at(y)),
        1 => format!("M{} {}h6v6h-6z", at(x - 3.0), at(y - 3.0)),
        2 => format!("M{} {}l4 7h-8z", at(x), at(y - 4.5)),
        _ => format!("M{} {}l4.5 4.5l-4.5 4.5l-4.5 -4.5z", at(x), at(y - 4.5)),
    }
}

/// A line with at most this many points has its points marked.
const MARKED: usize = 40;

/// The picture of one view of a plot, in a space of `width` × `height`.
pub(crate) fn picture(plot: &Plot, options: &SvgOptions, width: f64, height: f64) -> Picture {
    let (Some(x), Some(y)) = (plot.x.get(options.x), plot.y.get(options.y)) else {
        let label = format!("{}: no such axes to show.", plot.heading);
        return empty(label, width, height, "No axes to show");
    };
    let x_scale = options.x_scale.unwrap_or(x.scale);
    let y_scale = options.y_scale.unwrap_or(y.scale);
    let view = View::new(plot, x, y, x_scale, y_scale);
    let label = summary(plot, x, y, &view);
    let Some((across, up)) = view.domains else {
        let text = if view.dropped > 0 {
            "No positive values to show on a log axis"
        } else {
            "No points to show"
        };
        return empty(label, width, height, text);
    };

    let up_ticks = up.ticks(((height / 60.0) as usize).clamp(4, 7));
    let widest = up_ticks.iter().map(|tick| width_of(&tick.label)).fold(0.0, f64::max);
    let left = widest.max(20.0) + 12.0;
    let right = width - 18.0;
    let legend = legend_places(plot, &view, options.y, width);
    let legend_rows = legend.last().map_or(0.0, |place| place.2 + 1.0);
    let top = 30.0 + 20.0 * legend_rows;
    let bottom = height - 44.0;
    let px = |value: f64| left + (right - left) * across.place(value);
    let py = |value: f64| bottom - (bottom - top) * up.place(value);

    let mut shapes = vec![Shape::text("name", Anchor::Start, [0.0, 14.0], &y.label)];
    for &(index, from, row) in &legend {
        let (series, curve) = (view.lines[index].series, view.lines[index].curve);
        let Style { colour, dash, shape } = style(plot, series, curve);
        let middle = 36.0 + 20.0 * row;
        shapes.push(Shape::line(colour, dash, format!("M{} {}h24", at(from), at(middle))));
        shapes.push(Shape::mark(colour, marker(from + 12.0, middle, shape)));
        let name = line_name(plot, y, series, curve);
        shapes.push(Shape::text("", Anchor::Start, [from + 30.0, middle + 4.5], &name));
    }

    // Grid and ticks.
    let mut grid = String::new();
    for tick in &up_ticks {
        let place = py(tick.value);
        let _ = write!(grid, "M{} {}H{}", at(left), at(place), at(right));
        shapes.push(Shape::text("tick", Anchor::End, [left - 8.0, place + 4.5], &tick.label));
    }
    for tick in across.ticks(((width / 100.0) as usize).clamp(4, 8)) {
        let place = px(tick.value);
        let _ = write!(grid, "M{} {}V{}", at(place), at(top), at(bottom));
        // Labels at the ends stay inside the picture.
        let middle = place.min(width - width_of(&tick.label) / 2.0);
        shapes.push(Shape::text("tick", Anchor::Middle, [middle, bottom + 19.0], &tick.label));
    }
    shapes.push(Shape::plain("grid", grid));
    shapes.push(Shape::plain("axis", axes(&across, &up, [left, right, top, bottom])));
    shapes.push(Shape::text("name", Anchor::End, [right, height - 6.0], &x.label));
    for guide in &y.guides {
        let place = py(guide.value);
        if !place.is_finite() || place < top - 0.5 || place > bottom + 0.5 {
            continue;
        }
        let line = format!("M{} {}H{}", at(left), at(place), at(right));
        shapes.push(Shape::plain("guide", line));
        let text = if place < top + 16.0 { place + 14.0 } else { place - 5.0 };
        // On the left, for what falls to a guide comes to lie on it on the right.
        shapes.push(Shape::text("dim", Anchor::Start, [left + 6.0, text], &guide.label));
    }

    // Bands behind all lines.
    for line in &view.lines {
        let colour = style(plot, line.series, line.curve).colour;
        let mut path = String::new();
        for piece in &line.pieces {
            band(&mut path, piece, px, py);
        }
        if !path.is_empty() {
            shapes.push(Shape::band(colour, path));
        }
    }
    for line in &view.lines {
        let Style { colour, dash, shape } = style(plot, line.series, line.curve);
        let few = line.points().count() <= MARKED;
        let (mut path, mut marks) = (String::new(), String::new());
        for piece in &line.pieces {
            let mut pen = 'M';
            let mut last = (String::new(), String::new());
            for point in piece {
                let place = (at(px(point.x)), at(py(point.y)));
                if place != last {
                    let _ = write!(path, "{pen}{} {}", place.0, place.1);
                    pen = 'L';
                    last = place;
                }
                if few || piece.len() == 1 {
                    marks.push_str(&marker(px(point.x), py(point.y), shape));
                }
            }
        }
        shapes.push(Shape::line(colour, dash, path));
        if !marks.is_empty() {
            shapes.push(Shape::mark(colour, marks));
        }
    }
    Picture { label, shapes }
}

fn empty(label: String, width: f64, height: f64, text: &str) -> Picture {
    let middle = [width / 2.0, height / 2.0];
    Picture { label, shapes: vec![Shape::text("dim", Anchor::Middle, middle, text)] }
}

/// The axis lines with their small ticks.
fn axes(across: &Domain, up: &Domain, [left, right, top, bottom]: [f64; 4]) -> String {
    let mut path = format!("M{} {}V{}H{}", at(left), at(top), at(bottom), at(right));
    for value in across.minor_ticks() {
        let place = left + (right - left) * across.place(value);
        let _ = write!(path, "M{} {}v4", at(place), at(bottom));
    }
    for value in up.minor_ticks() {
        let place = bottom - (bottom - top) * up.place(value);
        let _ = write!(path, "M{} {}h-4", at(left), at(place));
    }
    path
}

fn band(path: &mut String, piece: &[Point], px: impl Fn(f64) -> f64, py: impl Fn(f64) -> f64) {
    for run in piece.split(|point| point.band.is_none()) {
        let mut pen = 'M';
        let edges: Vec<(f64, (f64, f64))> =
            run.iter().filter_map(|point| Some((point.x, point.band?))).collect();
        for (x, (_, high)) in &edges {
            let _ = write!(path, "{pen}{} {}", at(px(*x)), at(py(*high)));
            pen = 'L';
        }
        for (x, (low, _)) in edges.iter().rev() {
            let _ = write!(path, "L{} {}", at(px(*x)), at(py(*low)));
        }
        if !edges.is_empty() {
            path.push('Z');
        }
    }
}

/// Where the legend's entries go: line, left end, row. Nothing for a single line.
fn legend_places(plot: &Plot, view: &View, y: usize, width: f64) -> Vec<(usize, f64, f64)> {
    if view.lines.len() < 2 {
        return Vec::new();
    }
    let (mut from, mut row) = (0.0, 0.0);
    let mut places = Vec::new();
    for (index, line) in view.lines.iter().enumerate() {
        let room = 48.0 + width_of(&line_name(plot, &plot.y[y], line.series, line.curve));
        if from > 0.0 && from + room > width {
            (from, row) = (0.0, row + 1.0);
        }
        places.push((index, from, row));
        from += room;
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coordinates_are_short() {
        assert_eq!([at(1.0), at(-0.04), at(2.25), at(1.26)], ["1", "0", "2.2", "1.3"]);
    }
}
