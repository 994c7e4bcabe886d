//! Line plots as still pictures. `assets/report.js` draws the same way.

use std::fmt::Write as _;

use crate::escape;
use crate::palette::{SERIES, Theme, figure_style};
use crate::plot::{Plot, Point, View, line_name, summary};
use crate::scale::{Domain, Scale};

/// How [`plot_svg`] draws.
///
/// ```
/// use maxmargin_report::{Scale, SvgOptions, Theme};
///
/// let options = SvgOptions::default().size(600.0, 300.0).axes(0, 1).theme(Theme::Auto);
/// assert_eq!((options.width, options.y), (600.0, 1));
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct SvgOptions {
    /// The width in pixels.
    pub width: f64,
    /// The height in pixels.
    pub height: f64,
    /// Which of the plot's x choices to draw.
    pub x: usize,
    /// Which of the plot's y choices to draw.
    pub y: usize,
    /// The scale of the x axis, unless the one the axis starts with.
    pub x_scale: Option<Scale>,
    /// The scale of the y axis, unless the one the axis starts with.
    pub y_scale: Option<Scale>,
    /// The colours.
    pub theme: Theme,
}

impl Default for SvgOptions {
    fn default() -> Self {
        Self {
            width: 720.0,
            height: 400.0,
            x: 0,
            y: 0,
            x_scale: None,
            y_scale: None,
            theme: Theme::Light,
        }
    }
}

impl SvgOptions {
    /// Sets the size in pixels.
    ///
    /// ```
    /// # use maxmargin_report::SvgOptions;
    /// assert_eq!(SvgOptions::default().size(600.0, 300.0).height, 300.0);
    /// ```
    #[must_use]
    pub fn size(mut self, width: f64, height: f64) -> Self {
        (self.width, self.height) = (width, height);
        self
    }

    /// Chooses among the plot's x and y axes.
    ///
    /// ```
    /// # use maxmargin_report::SvgOptions;
    /// assert_eq!(SvgOptions::default().axes(2, 1).x, 2);
    /// ```
    #[must_use]
    pub fn axes(mut self, x: usize, y: usize) -> Self {
        (self.x, self.y) = (x, y);
        self
    }

    /// Chooses the scales, instead of those the axes start with.
    ///
    /// ```
    /// # use maxmargin_report::{Scale, SvgOptions};
    /// let options = SvgOptions::default().scales(Scale::Log, Scale::Log);
    /// assert_eq!(options.y_scale, Some(Scale::Log));
    /// ```
    #[must_use]
    pub fn scales(mut self, x: Scale, y: Scale) -> Self {
        (self.x_scale, self.y_scale) = (Some(x), Some(y));
        self
    }

    /// Sets the colours.
    ///
    /// ```
    /// # use maxmargin_report::{SvgOptions, Theme};
    /// assert_eq!(SvgOptions::default().theme(Theme::Dark).theme, Theme::Dark);
    /// ```
    #[must_use]
    pub fn theme(mut self, theme: Theme) -> Self {
        self.theme = theme;
        self
    }
}

/// Draws one view of a plot as an SVG document of its own, for papers and web pages.
///
/// The document has its colours inside, a legend where there are several lines, and a text for
/// those who cannot see it. A plot without points gives a picture that says so.
///
/// ```
/// use maxmargin_report::{Plot, Series, SvgOptions, plot_svg};
///
/// let plot = Plot::xy("Squares", "n", "n²").series(Series::xy("exact", [(1.0, 1.0), (3.0, 9.0)]));
/// let svg = plot_svg(&plot, &SvgOptions::default());
/// assert!(svg.starts_with("<svg") && svg.contains("n²"));
/// ```
pub fn plot_svg(plot: &Plot, options: &SvgOptions) -> String {
    draw(&crate::thin::plot(plot), options, true)
}

/// The picture inside a page, whose style sheet has the colours. The plot is thinned already.
pub(crate) fn inline(plot: &Plot) -> String {
    let options = SvgOptions::default();
    let found = plot
        .x
        .first()
        .zip(plot.y.first())
        .is_some_and(|(x, y)| View::new(plot, x, y, x.scale, y.scale).domains.is_some());
    let height = if found { options.height } else { 160.0 };
    draw(plot, &SvgOptions { height, ..options }, false)
}

/// A number for coordinates: one decimal, no needless digits.
fn at(value: f64) -> String {
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

fn dashes(dash: &str) -> String {
    if dash.is_empty() { String::new() } else { format!(" stroke-dasharray=\"{dash}\"") }
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

fn draw(plot: &Plot, options: &SvgOptions, alone: bool) -> String {
    let width =
        if options.width.is_finite() { options.width.clamp(200.0, 10_000.0) } else { 720.0 };
    let height =
        if options.height.is_finite() { options.height.clamp(140.0, 10_000.0) } else { 400.0 };
    let mut out = String::new();
    let (w, h) = (at(width), at(height));
    // A picture of its own has a margin.
    let (width, height) = if alone {
        let _ = write!(
            out,
            "<svg viewBox=\"-12 -10 {w} {h}\" xmlns=\"http://www.w3.org/2000/svg\" width=\"{w}\" height=\"{h}\""
        );
        (width - 24.0, height - 20.0)
    } else {
        let _ = write!(out, "<svg viewBox=\"0 0 {w} {h}\"");
        (width, height)
    };
    let (Some(x), Some(y)) = (plot.x.get(options.x), plot.y.get(options.y)) else {
        let label = format!("{}: no such axes to show.", plot.heading);
        open(&mut out, &label, options, alone);
        empty(&mut out, width, height, "No axes to show");
        out.push_str("</svg>");
        return out;
    };
    let x_scale = options.x_scale.unwrap_or(x.scale);
    let y_scale = options.y_scale.unwrap_or(y.scale);
    let view = View::new(plot, x, y, x_scale, y_scale);
    open(&mut out, &summary(plot, x, y, &view), options, alone);
    let Some((across, up)) = view.domains else {
        let text = if view.dropped > 0 {
            "No positive values to show on a log axis"
        } else {
            "No points to show"
        };
        empty(&mut out, width, height, text);
        out.push_str("</svg>");
        return out;
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

    let _ = write!(out, "<text class=\"name\" x=\"0\" y=\"14\">{}</text>", escape::text(&y.label));
    for (series, curve, row, from) in legend
        .iter()
        .map(|&(index, from, row)| (view.lines[index].series, view.lines[index].curve, row, from))
    {
        let Style { colour, dash, shape } = style(plot, series, curve);
        let middle = 36.0 + 20.0 * row;
        let _ = write!(
            out,
            "<path class=\"line c{colour}\"{} d=\"M{} {m}h24\"/>\
             <path class=\"mark c{colour}\" d=\"{}\"/><text x=\"{}\" y=\"{}\">{}</text>",
            dashes(dash),
            at(from),
            marker(from + 12.0, middle, shape),
            at(from + 30.0),
            at(middle + 4.5),
            escape::text(&line_name(plot, y, series, curve)),
            m = at(middle),
        );
    }

    // Grid and ticks.
    let mut grid = String::new();
    for tick in &up_ticks {
        let _ = write!(grid, "M{} {}H{}", at(left), at(py(tick.value)), at(right));
        let _ = write!(
            out,
            "<text class=\"tick\" text-anchor=\"end\" x=\"{}\" y=\"{}\">{}</text>",
            at(left - 8.0),
            at(py(tick.value) + 4.5),
            tick.label
        );
    }
    for tick in across.ticks(((width / 100.0) as usize).clamp(4, 8)) {
        let place = px(tick.value);
        let _ = write!(grid, "M{} {}V{}", at(place), at(top), at(bottom));
        // Labels at the ends stay inside the picture.
        let half = width_of(&tick.label) / 2.0;
        let middle = place.min(width - half);
        let _ = write!(
            out,
            "<text class=\"tick\" text-anchor=\"middle\" x=\"{}\" y=\"{}\">{}</text>",
            at(middle),
            at(bottom + 19.0),
            tick.label
        );
    }
    let _ = write!(out, "<path class=\"grid\" d=\"{grid}\"/>");
    let _ = write!(
        out,
        "<path class=\"axis\" d=\"{}\"/>",
        axes(&across, &up, [left, right, top, bottom])
    );
    let _ = write!(
        out,
        "<text class=\"name\" text-anchor=\"end\" x=\"{}\" y=\"{}\">{}</text>",
        at(right),
        at(height - 6.0),
        escape::text(&x.label)
    );
    for guide in &y.guides {
        let place = py(guide.value);
        if !place.is_finite() || place < top - 0.5 || place > bottom + 0.5 {
            continue;
        }
        let _ = write!(
            out,
            "<path class=\"guide\" d=\"M{} {}H{}\"/>\
             <text class=\"dim\" text-anchor=\"end\" x=\"{}\" y=\"{}\">{}</text>",
            at(left),
            at(place),
            at(right),
            at(right - 4.0),
            at(if place < top + 16.0 { place + 14.0 } else { place - 5.0 }),
            escape::text(&guide.label)
        );
    }

    // Bands behind all lines.
    for line in &view.lines {
        let colour = style(plot, line.series, line.curve).colour;
        let mut path = String::new();
        for piece in &line.pieces {
            band(&mut path, piece, px, py);
        }
        if !path.is_empty() {
            let _ = write!(out, "<path class=\"band c{colour}\" d=\"{path}\"/>");
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
        let _ = write!(out, "<path class=\"line c{colour}\"{} d=\"{path}\"/>", dashes(dash));
        if !marks.is_empty() {
            let _ = write!(out, "<path class=\"mark c{colour}\" d=\"{marks}\"/>");
        }
    }
    out.push_str("</svg>");
    out
}

fn open(out: &mut String, label: &str, options: &SvgOptions, alone: bool) {
    let label = escape::text(label);
    let _ = write!(out, " role=\"img\" aria-label=\"{label}\">");
    if alone {
        let _ = write!(
            out,
            "<title>{label}</title><style>{}</style><rect class=\"paper\" x=\"-12\" y=\"-10\" width=\"100%\" height=\"100%\"/>",
            figure_style(options.theme)
        );
    }
}

fn empty(out: &mut String, width: f64, height: f64, text: &str) {
    let _ = write!(
        out,
        "<text class=\"dim\" text-anchor=\"middle\" x=\"{}\" y=\"{}\">{text}</text>",
        at(width / 2.0),
        at(height / 2.0)
    );
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
    use crate::plot::{Series, XAxis, YAxis};

    #[test]
    fn coordinates_are_short() {
        assert_eq!([at(1.0), at(-0.04), at(2.25), at(1.26)], ["1", "0", "2.2", "1.3"]);
    }

    #[test]
    fn empty_plots_say_so() {
        let bare = Plot::new("bare");
        assert!(plot_svg(&bare, &SvgOptions::default()).contains("No axes to show"));
        let plot = Plot::xy("e", "x", "y").series(Series::xy("none", []));
        assert!(plot_svg(&plot, &SvgOptions::default()).contains("No points to show"));
        let plot = Plot::xy("e", "x", "y").series(Series::xy("zero", [(1.0, 0.0)]));
        let log = SvgOptions::default().scales(Scale::Linear, Scale::Log);
        assert!(plot_svg(&plot, &log).contains("No positive values"));
        let odd = SvgOptions::default().size(f64::NAN, -3.0).axes(9, 9);
        assert!(plot_svg(&plot, &odd).ends_with("</svg>"));
    }

    #[test]
    fn nothing_but_finite_coordinates() {
        let wild = [f64::NAN, 1e308, -1e308, 5e-324, f64::INFINITY, 0.0, 1.0, 1e299, -1e299];
        let points = wild.iter().flat_map(|&x| wild.iter().map(move |&y| (x, y)));
        let plot = Plot::new("wild")
            .x(XAxis::new("x", "x"))
            .y(YAxis::new("y", "y").guide("g", f64::NAN).guide("z", 0.0))
            .series(Series::xy("wild", points.clone()).band("y", points.map(|p| p.1), wild));
        for x in [Scale::Linear, Scale::Log] {
            for y in [Scale::Linear, Scale::Log] {
                let svg = plot_svg(&plot, &SvgOptions::default().scales(x, y));
                assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
            }
        }
    }

    #[test]
    fn several_lines_have_a_legend_and_their_own_looks() {
        let mut plot = Plot::xy("many", "x", "y");
        for run in 0..12 {
            plot =
                plot.series(Series::xy(format!("run {run}"), [(1.0, 1.0), (2.0, f64::from(run))]));
        }
        let svg = plot_svg(&plot, &SvgOptions::default());
        assert!(svg.contains("run 11") && svg.contains("line c7") && svg.contains("7 4"));
        assert_eq!(svg.matches("class=\"line").count(), 24);
    }
}
