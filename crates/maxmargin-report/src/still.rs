//! Line plots as PNG files.

use crate::letters;
use crate::palette::{CARD, INK, MUTED, RULE, SERIES, Theme, rgb};
use crate::picture::{Anchor, Shape, picture};
use crate::plot::Plot;
use crate::png;
use crate::raster::{Canvas, Pieces, Rgb, dashed};
use crate::svg::{MARGINS, SvgOptions};

/// The size of type, in pixels of the layout, as in the style of figures.
const TYPE: f64 = 13.0;
/// The width of the pen that writes, as a share of that, and of the one for names.
const PENS: (f64, f64) = (0.088, 0.125);

/// Draws one view of a plot as a PNG file, for slides and for programs that know no SVG.
///
/// It is the picture of [`plot_svg`](crate::plot_svg), with `scale` pixels (1 to 8) for each of its own,
/// and with letters of our own, so that it is the same on every machine.
///
/// ```
/// use maxmargin_report::{Plot, Series, SvgOptions, plot_png};
///
/// let plot = Plot::xy("Squares", "n", "n²").series(Series::xy("exact", [(1.0, 1.0), (3.0, 9.0)]));
/// let png = plot_png(&plot, &SvgOptions::default(), 2.0);
/// assert!(png.starts_with(b"\x89PNG"));
/// ```
pub fn plot_png(plot: &Plot, options: &SvgOptions, scale: f64) -> Vec<u8> {
    let canvas = draw(plot, options, scale);
    png::file(canvas.width, &canvas.pixels)
}

fn draw(plot: &Plot, options: &SvgOptions, scale: f64) -> Canvas {
    let scale = if scale.is_finite() { scale.clamp(1.0, 8.0) } else { 1.0 };
    let (space, theme) = (options.space(), options.theme);
    let inside = [0, 1].map(|k| space[k] - 2.0 * MARGINS[k]);
    let picture = picture(&crate::thin::plot(plot), options, inside[0], inside[1]);
    let corner = MARGINS.map(|margin| -margin);
    let mut canvas = Canvas::new(space, corner, scale, rgb(&CARD, theme));
    picture.shapes.iter().for_each(|shape| draw_shape(&mut canvas, shape, theme));
    canvas
}

fn draw_shape(canvas: &mut Canvas, shape: &Shape, theme: Theme) {
    match shape {
        Shape::Path { class, colour, dash, path } => {
            let pieces = pieces(path);
            let colour = match (colour, *class) {
                (Some(index), _) => rgb(&SERIES[*index], theme),
                (None, "grid") => rgb(&RULE, theme),
                (None, _) => rgb(&MUTED, theme),
            };
            match *class {
                "mark" => canvas.fill(&pieces, colour, 1.0),
                "band" => canvas.fill(&pieces, colour, 0.2),
                "line" => stroke(canvas, &pieces, dash, 2.0, colour),
                "guide" => stroke(canvas, &pieces, "2 4", 1.0, colour),
                _ => stroke(canvas, &pieces, "", 1.0, colour),
            }
        }
        Shape::Text { class, anchor, place: [x, y], text } => {
            let width = letters::width(text, TYPE);
            let left = match anchor {
                Anchor::Start => *x,
                Anchor::Middle => x - width / 2.0,
                Anchor::End => x - width,
            };
            let (pen, colour) = match *class {
                "name" => (PENS.1, rgb(&INK, theme)),
                "tick" | "dim" => (PENS.0, rgb(&MUTED, theme)),
                _ => (PENS.0, rgb(&INK, theme)),
            };
            canvas.stroke(&letters::strokes(text, TYPE, left, *y), pen * TYPE, colour);
        }
    }
}

fn stroke(canvas: &mut Canvas, pieces: &Pieces, dash: &str, pen: f64, colour: Rgb) {
    let pattern: Vec<f64> = dash.split_whitespace().filter_map(|d| d.parse().ok()).collect();
    canvas.stroke(&dashed(pieces, &pattern, pen), pen, colour);
}

/// The points of a path, as far as `picture.rs` uses SVG's language of paths: arcs are halves of circles.
fn pieces(path: &str) -> Pieces {
    let mut pieces: Pieces = Vec::new();
    let mut pen = [0.0; 2];
    let mut rest = path;
    while let Some(command) = rest.chars().next() {
        let end = rest[1..].find(|c: char| c.is_ascii_alphabetic()).map_or(rest.len(), |at| at + 1);
        let numbers: Vec<f64> =
            rest[1..end].split_whitespace().filter_map(|number| number.parse().ok()).collect();
        rest = &rest[end..];
        let start = pen;
        match (command, &numbers[..]) {
            ('M' | 'L', &[x, y]) => pen = [x, y],
            ('l', &[x, y]) => pen = [pen[0] + x, pen[1] + y],
            ('H', &[x]) => pen[0] = x,
            ('V', &[y]) => pen[1] = y,
            ('h', &[x]) => pen[0] += x,
            ('v', &[y]) => pen[1] += y,
            ('a', &[.., x, y]) => pen = [pen[0] + x, pen[1] + y],
            ('z' | 'Z', []) => {
                if let Some(&[first, ..]) = pieces.last().map(Vec::as_slice) {
                    pen = first;
                }
            }
            _ => debug_assert!(false, "a path that is not understood: {path}"),
        }
        match (command, pieces.last_mut()) {
            ('M', _) | (_, None) => pieces.push(vec![pen]),
            ('a', Some(piece)) => piece.extend(half_circle(start, pen)),
            (_, Some(piece)) => piece.push(pen),
        }
    }
    pieces
}

/// From one point to another, anticlockwise on paper.
fn half_circle(from: [f64; 2], to: [f64; 2]) -> impl Iterator<Item = [f64; 2]> {
    /// Cosines and sines of 0°, 30°, …, 180°.
    const TURNS: [[f64; 2]; 7] = {
        const R: f64 = 0.866_025_403_784_438_6;
        [[1.0, 0.0], [R, 0.5], [0.5, R], [0.0, 1.0], [-0.5, R], [-R, 0.5], [-1.0, 0.0]]
    };
    let middle = [0, 1].map(|k| 0.5 * (from[k] + to[k]));
    let arm = [0, 1].map(|k| from[k] - middle[k]);
    TURNS.into_iter().map(move |[cos, sin]| {
        [middle[0] + cos * arm[0] + sin * arm[1], middle[1] + cos * arm[1] - sin * arm[0]]
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plot::Series;
    use crate::scale::Scale;

    fn plot() -> Plot {
        let points: Vec<(f64, f64)> = (1..30).map(|x| (f64::from(x), 1.0 / f64::from(x))).collect();
        let [low, high] =
            [0.5, 2.0].map(|by| points.iter().map(move |p| by * p.1).collect::<Vec<_>>());
        Plot::xy("Test", "Passes", "Duality gap λ‖w‖²")
            .series(Series::xy("first", points.clone()).band("y", low, high))
            .series(Series::xy("second", points.iter().map(|p| (p.0, 2.0 * p.1))))
    }

    #[test]
    fn paths_are_understood() {
        assert_eq!(pieces("M1 2H5V-3"), [[[1.0, 2.0], [5.0, 2.0], [5.0, -3.0]]]);
        let square = [[1.5, 2.0], [7.5, 2.0], [7.5, 8.0], [1.5, 8.0], [1.5, 2.0]];
        assert_eq!(pieces("M1.5 2h6v6h-6z"), [square]);
        assert_eq!(pieces("M1 1L2 3M4 4l-1 -1Z").len(), 2);
        let circle = &pieces("M0 5a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0 -7 0")[0];
        let off = |p: &[f64; 2]| (p[0] - 3.5).hypot(p[1] - 5.0) - 3.5;
        assert!(circle.iter().all(|point| off(point).abs() < 1e-12), "{circle:?}");
        assert!(circle.contains(&[3.5, 1.5]) && circle.contains(&[3.5, 8.5]), "{circle:?}");
    }

    #[test]
    fn colours_of_all_parts_are_there() {
        for theme in [Theme::Light, Theme::Dark, Theme::Auto] {
            let canvas = draw(&plot(), &SvgOptions::default().theme(theme), 2.0);
            assert_eq!((canvas.width, canvas.height), (1440, 800));
            for colour in [CARD, SERIES[0], SERIES[1], INK, MUTED, RULE] {
                let found = canvas.pixels.contains(&rgb(&colour, theme));
                assert!(found, "{} is missing", colour.0);
            }
        }
    }

    #[test]
    fn files_are_whole_and_small() {
        let file = plot_png(&plot(), &SvgOptions::default(), 2.0);
        assert!(file.ends_with(b"IEND\xae\x42\x60\x82"));
        assert!(file.len() < 100_000, "{}", file.len());
        let length = u32::from_be_bytes([file[33], file[34], file[35], file[36]]) as usize;
        let mut lines = Vec::new();
        let mut from = flate2::read::ZlibDecoder::new(&file[41..41 + length]);
        std::io::Read::read_to_end(&mut from, &mut lines).unwrap();
        assert_eq!(lines.len(), 800 * (1 + 3 * 1440));
    }

    #[test]
    fn odd_plots_are_drawn_too() {
        let wild = [f64::NAN, 1e308, -1e308, 5e-324, f64::INFINITY, 0.0, 1.0, 1e299, -1e299];
        let points = wild.iter().flat_map(|&x| wild.iter().map(move |&y| (x, y)));
        let wild = Plot::xy("wild", "x", "y").series(Series::xy("wild", points));
        for plot in [wild, Plot::new("bare"), Plot::xy("e", "x", "y")] {
            for scale in [f64::NAN, 0.0, 1.0] {
                let log = SvgOptions::default().scales(Scale::Log, Scale::Log);
                assert!(plot_png(&plot, &log, scale).starts_with(b"\x89PNG"));
                let odd = SvgOptions::default().size(-1.0, f64::NAN).axes(0, 7);
                assert!(plot_png(&plot, &odd, scale).starts_with(b"\x89PNG"));
            }
        }
    }
}
