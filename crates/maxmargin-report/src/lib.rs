//! Self-contained HTML reports of training runs.
//!
//! A [`Report`] is plain data: a title and [sections](Section). [`Report::to_html`] turns it into
//! one HTML page that has its style, its scripts, its data and its pictures inside. The page opens
//! from disk, asks for nothing over a network, and is the same byte for byte for the same report.
//!
//! ```
//! use maxmargin_report::{Facts, Plot, Prose, Report, Series, XAxis, YAxis};
//!
//! let report = Report::new("Handwritten words")
//!     .subtitle("Block-coordinate Frank–Wolfe, λ = 0.01")
//!     .with(Prose::new("Certificate").paragraph("The objective is within 0.001 of the optimum."))
//!     .with(Facts::new("Result").fact(("Duality gap", "0.00097")).fact(("Passes", "37")))
//!     .with(
//!         Plot::new("Convergence")
//!             .x(XAxis::new("pass", "Effective passes"))
//!             .y(YAxis::new("gap", "Duality gap").log())
//!             .series(Series::new("BCFW").column("pass", [1.0, 2.0]).column("gap", [0.5, 0.1])),
//!     );
//! let html = report.to_html();
//! assert!(html.starts_with("<!doctype html>"));
//! ```
//!
//! [`plot_svg`] draws a plot as a still picture, and [`Report::figures`] gives all of a report.
//!
//! The page draws its own SVG, static first and interactive on top, with less than 60 kB of style and script of
//! our own. A plotting library embedded in the page was the first plan; without one a page works without
//! scripts, prints, and needs no third-party code in the repository. Figures as files are SVG, drawn from the
//! same layout (`picture.rs`).

mod escape;
mod figures;
mod html;
mod labels;
mod number;
mod palette;
mod picture;
mod pixels;
mod plot;
mod scale;
mod sections;
mod svg;
mod thin;

#[cfg(test)]
mod browser_test;

pub use figures::{Figure, slug};
pub use labels::LabelColours;
pub use number::{format_number, format_seconds, format_significant};
pub use palette::Theme;
pub use plot::{Column, Curve, Guide, Plot, Series, XAxis, YAxis};
pub use scale::Scale;
pub use sections::{
    Answer, Bar, Bars, Bitmap, Body, Browser, Code, Colour, Confusions, Drawing, Drawings, Example,
    Fact, Facts, Heatmap, Letter, Links, Mark, Network, Prose, Section, Shade, Table, TableColumn,
    Tagged, TaggedExample, Tile, Tiles, Tone, Weights, Word, Words,
};
pub use svg::{SvgOptions, plot_svg};

/// A report: a title, a subtitle, and sections.
///
/// ```
/// use maxmargin_report::{Prose, Report};
///
/// let report = Report::new("A run").with(Prose::new("Summary").paragraph("It went well."));
/// assert!(report.to_html().contains("<h1>A run</h1>"));
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Report {
    /// The title of the page.
    pub title: String,
    /// A line under the title; may be empty.
    pub subtitle: String,
    /// The sections, from the top of the page to its end.
    pub sections: Vec<Section>,
    /// Which colour each label has, on all of the page.
    pub labels: LabelColours,
    /// Small print at the end of the page, such as the program's version; may be empty.
    pub footer: String,
}

impl Report {
    /// A report without sections.
    ///
    /// ```
    /// assert!(maxmargin_report::Report::new("A run").sections.is_empty());
    /// ```
    pub fn new(title: impl Into<String>) -> Self {
        Self { title: title.into(), ..Self::default() }
    }

    /// Sets the line under the title.
    ///
    /// ```
    /// assert_eq!(maxmargin_report::Report::new("A").subtitle("b").subtitle, "b");
    /// ```
    #[must_use]
    pub fn subtitle(mut self, subtitle: impl Into<String>) -> Self {
        self.subtitle = subtitle.into();
        self
    }

    /// Gives each of these labels a colour, which it has on all of the page.
    ///
    /// ```
    /// let report = maxmargin_report::Report::new("A").labels(["cat", "dog"]);
    /// assert_eq!(report.labels.number("dog"), Some(1));
    /// ```
    #[must_use]
    pub fn labels<L: AsRef<str>>(mut self, labels: impl IntoIterator<Item = L>) -> Self {
        self.labels = LabelColours::new(labels);
        self
    }

    /// Sets the small print.
    ///
    /// ```
    /// assert_eq!(maxmargin_report::Report::new("A").footer("maxmargin 0.1.0").footer, "maxmargin 0.1.0");
    /// ```
    #[must_use]
    pub fn footer(mut self, footer: impl Into<String>) -> Self {
        self.footer = footer.into();
        self
    }

    /// Adds a section.
    ///
    /// ```
    /// use maxmargin_report::{Facts, Report};
    ///
    /// assert_eq!(Report::new("A").with(Facts::new("Result")).sections.len(), 1);
    /// ```
    #[must_use]
    pub fn with(mut self, section: impl Into<Section>) -> Self {
        self.push(section);
        self
    }

    /// Adds a section in place, for sections that come in a loop or only sometimes.
    ///
    /// ```
    /// use maxmargin_report::{Facts, Report};
    ///
    /// let mut report = Report::new("A");
    /// report.push(Facts::new("Result"));
    /// assert_eq!(report.sections[0].heading(), "Result");
    /// ```
    pub fn push(&mut self, section: impl Into<Section>) {
        self.sections.push(section.into());
    }

    /// The page.
    ///
    /// The same report gives the same bytes; nothing of the time or the machine gets in.
    ///
    /// ```
    /// let html = maxmargin_report::Report::new("Fish & <chips>").to_html();
    /// assert!(html.contains("Fish &amp; &lt;chips&gt;"));
    /// ```
    pub fn to_html(&self) -> String {
        html::page(self)
    }
}

/// The code of the package's own README, compiled and run as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
