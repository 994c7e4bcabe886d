//! Still pictures of all that plots can show, each with a name for its file.

use crate::plot::Plot;
use crate::sections::Section;
use crate::svg::SvgOptions;
use crate::{Report, plot_svg};

/// The size of figures in pixels.
const SIZE: (f64, f64) = (720.0, 460.0);

/// One view of a plot, to be kept as a file.
///
/// ```
/// use maxmargin_report::{Figure, Plot, Series};
///
/// let plot = Plot::xy("Squares", "n", "n²").series(Series::xy("exact", [(1.0, 1.0), (3.0, 9.0)]));
/// let figure = Figure::new("squares", &plot, 0, 0);
/// assert!(figure.svg().starts_with("<svg"));
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Figure {
    /// The name of its file, without an ending.
    pub name: String,
    /// What it shows.
    pub plot: Plot,
    /// Which view of that.
    pub options: SvgOptions,
}

impl Figure {
    /// The view of a plot with its `x`-th and `y`-th axis.
    ///
    /// ```
    /// use maxmargin_report::{Figure, Plot};
    ///
    /// assert_eq!(Figure::new("empty", &Plot::xy("A", "x", "y"), 0, 0).options.y, 0);
    /// ```
    pub fn new(name: impl Into<String>, plot: &Plot, x: usize, y: usize) -> Self {
        let options = SvgOptions::default().axes(x, y).size(SIZE.0, SIZE.1);
        Self { name: name.into(), plot: plot.clone(), options }
    }

    /// The figure as an SVG document: lines stay sharp at any size, and text stays text.
    ///
    /// ```
    /// # use maxmargin_report::{Figure, Plot};
    /// assert!(Figure::new("empty", &Plot::xy("A", "x", "y"), 0, 0).svg().contains("No points"));
    /// ```
    pub fn svg(&self) -> String {
        plot_svg(&self.plot, &self.options)
    }
}

/// A name for a file: small letters, digits and single dashes.
///
/// ```
/// assert_eq!(maxmargin_report::slug("Gap at λ = 0.1!"), "gap-at-0-1");
/// ```
pub fn slug(name: &str) -> String {
    let words = name.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join("-").to_ascii_lowercase()
}

impl Report {
    /// Figures of all plots: each quantity of a y axis against the first x axis, and against seconds
    /// where that is another one.
    ///
    /// ```
    /// use maxmargin_report::{Plot, Report, XAxis, YAxis};
    ///
    /// let plot = Plot::new("How it went")
    ///     .x(XAxis::new("passes", "Passes"))
    ///     .x(XAxis::new("seconds", "Seconds"))
    ///     .y(YAxis::new("gap", "Gap"));
    /// let names: Vec<String> = Report::new("A").with(plot).figures().into_iter().map(|f| f.name).collect();
    /// assert_eq!(names, ["how-it-went_gap-passes", "how-it-went_gap-seconds"]);
    /// ```
    pub fn figures(&self) -> Vec<Figure> {
        let mut figures: Vec<Figure> = Vec::new();
        for section in &self.sections {
            let Section::Plot(plot) = section else { continue };
            for (y, up) in plot.y.iter().enumerate() {
                for (x, across) in plot.x.iter().enumerate() {
                    if x > 0 && across.column != "seconds" {
                        continue;
                    }
                    let up = up.curves.first().map_or("", |curve| curve.column.as_str());
                    let view = format!("{}_{up}-{}", slug(&plot.heading), across.column);
                    let mut name = view.clone();
                    let mut number = 1;
                    while figures.iter().any(|figure| figure.name == name) {
                        number += 1;
                        name = format!("{view}-{number}");
                    }
                    figures.push(Figure::new(name, plot, x, y));
                }
            }
        }
        figures
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plot::{XAxis, YAxis};
    use crate::sections::Prose;

    #[test]
    fn no_two_figures_share_a_name() {
        let plot = || {
            Plot::new("Gap: a/b")
                .x(XAxis::new("passes", "Passes"))
                .x(XAxis::new("calls", "Calls"))
                .x(XAxis::new("seconds", "Seconds"))
                .y(YAxis::new("gap", "Gap"))
                .y(YAxis::together("Objectives", [("primal", "Primal"), ("dual", "Dual")]))
        };
        let report = Report::new("A").with(plot()).with(Prose::new("b")).with(plot());
        let mut names: Vec<String> = report.figures().into_iter().map(|f| f.name).collect();
        assert_eq!(names.len(), 8);
        assert_eq!(names[..2], ["gap-a-b_gap-passes", "gap-a-b_gap-seconds"]);
        assert_eq!(names[7], "gap-a-b_primal-seconds-2");
        names.sort();
        names.dedup();
        assert_eq!(names.len(), 8);
    }
}
