//! Line plots in the language of SVG.

use std::fmt::Write as _;

use crate::escape;
use crate::palette::{Theme, figure_style};
use crate::picture::{Anchor, Picture, Shape, at, picture};
use crate::plot::{Plot, View};
use crate::scale::Scale;

/// The margins of a picture of its own, left and right, and at the top and at the bottom.
const MARGINS: [f64; 2] = [12.0, 10.0];

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

    /// The size, if it makes sense, or one that does.
    fn space(&self) -> [f64; 2] {
        let sane = |length: f64, least: f64, usual: f64| {
            if length.is_finite() { length.clamp(least, 10_000.0) } else { usual }
        };
        [sane(self.width, 200.0, 720.0), sane(self.height, 140.0, 400.0)]
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
    let [width, height] = options.space();
    let [right, down] = MARGINS;
    let picture =
        picture(&crate::thin::plot(plot), options, width - 2.0 * right, height - 2.0 * down);
    let (width, height) = (at(width), at(height));
    let mut out = format!(
        "<svg viewBox=\"-{right} -{down} {width} {height}\" xmlns=\"http://www.w3.org/2000/svg\" \
         width=\"{width}\" height=\"{height}\""
    );
    let label = open(&mut out, &picture);
    let _ = write!(
        out,
        "<title>{label}</title><style>{}</style>\
         <rect class=\"paper\" x=\"-{right}\" y=\"-{down}\" width=\"100%\" height=\"100%\"/>",
        figure_style(options.theme)
    );
    close(&mut out, &picture);
    out
}

/// The picture inside a page, whose style sheet has the colours. The plot is thinned already.
pub(crate) fn inline(plot: &Plot) -> String {
    let options = SvgOptions::default();
    let found = plot
        .x
        .first()
        .zip(plot.y.first())
        .is_some_and(|(x, y)| View::new(plot, x, y, x.scale, y.scale).domains.is_some());
    let (width, height) = (options.width, if found { options.height } else { 160.0 });
    let picture = picture(plot, &options, width, height);
    let mut out = format!("<svg viewBox=\"0 0 {} {}\"", at(width), at(height));
    open(&mut out, &picture);
    close(&mut out, &picture);
    out
}

/// Ends the first tag; gives the label as it stands there.
fn open(out: &mut String, picture: &Picture) -> String {
    let label = escape::text(&picture.label);
    let _ = write!(out, " role=\"img\" aria-label=\"{label}\">");
    label
}

fn close(out: &mut String, picture: &Picture) {
    picture.shapes.iter().for_each(|shape| write_shape(out, shape));
    out.push_str("</svg>");
}

fn write_shape(out: &mut String, shape: &Shape) {
    match shape {
        Shape::Path { class, colour, dash, path } => {
            let _ = write!(out, "<path class=\"{class}");
            if let Some(colour) = colour {
                let _ = write!(out, " c{colour}");
            }
            out.push('"');
            if !dash.is_empty() {
                let _ = write!(out, " stroke-dasharray=\"{dash}\"");
            }
            let _ = write!(out, " d=\"{path}\"/>");
        }
        Shape::Text { class, anchor, place: [x, y], text } => {
            out.push_str("<text");
            if !class.is_empty() {
                let _ = write!(out, " class=\"{class}\"");
            }
            match anchor {
                Anchor::Start => {}
                Anchor::Middle => out.push_str(" text-anchor=\"middle\""),
                Anchor::End => out.push_str(" text-anchor=\"end\""),
            }
            let text = escape::text(text);
            let _ = write!(out, " x=\"{}\" y=\"{}\">{text}</text>", at(*x), at(*y));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plot::{Series, XAxis, YAxis};

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
