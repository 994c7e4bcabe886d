//! What a line plot shows.

mod series;
mod view;

pub use series::{Column, Series};
pub(crate) use view::{Point, View, line_name, summary};

use crate::scale::Scale;

/// An interactive line plot.
///
/// A plot holds one table per [`Series`] (a run, say), and says which columns can be laid along
/// the x axis and which along the y axis. In the page the reader chooses among them, switches
/// between linear and log axes, hides series, and reads values at a crosshair. The first x and the
/// first y choice are shown at the start, and are all that is shown without scripts.
///
/// ```
/// use maxmargin_report::{Plot, Series, XAxis, YAxis};
///
/// let plot = Plot::new("Convergence")
///     .note("One point per gap check.")
///     .x(XAxis::new("pass", "Effective passes"))
///     .x(XAxis::new("seconds", "Seconds"))
///     .y(YAxis::new("gap", "Duality gap").log().guide("Tolerance", 1e-3))
///     .y(YAxis::together("Objectives", [("primal", "Primal"), ("dual", "Dual")]))
///     .series(
///         Series::new("BCFW")
///             .column("pass", [1.0, 2.0, 3.0])
///             .column("seconds", [0.1, 0.2, 0.3])
///             .column("dual", [0.1, 0.2, 0.25])
///             .column("primal", [Some(0.9), None, Some(0.4)])
///             .column("gap", [Some(0.8), None, Some(0.15)]),
///     );
/// assert_eq!(plot.series.len(), 1);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Plot {
    /// The heading of the section.
    pub heading: String,
    /// A sentence or two under the heading; may be empty.
    pub note: String,
    /// The quantities that can be laid along the x axis, the first one at the start.
    pub x: Vec<XAxis>,
    /// The quantities that can be laid along the y axis, the first one at the start.
    pub y: Vec<YAxis>,
    /// The data.
    pub series: Vec<Series>,
}

impl Plot {
    /// A plot without axes and without data.
    ///
    /// ```
    /// assert!(maxmargin_report::Plot::new("Convergence").series.is_empty());
    /// ```
    pub fn new(heading: impl Into<String>) -> Self {
        Self { heading: heading.into(), ..Self::default() }
    }

    /// A plot of one quantity against one other, for series made by [`Series::xy`].
    ///
    /// ```
    /// use maxmargin_report::{Plot, Series};
    ///
    /// let plot = Plot::xy("Squares", "n", "n²").series(Series::xy("exact", [(1.0, 1.0), (2.0, 4.0)]));
    /// assert_eq!(plot.y[0].curves[0].column, "y");
    /// ```
    pub fn xy(
        heading: impl Into<String>,
        x_label: impl Into<String>,
        y_label: impl Into<String>,
    ) -> Self {
        Self::new(heading).x(XAxis::new("x", x_label)).y(YAxis::new("y", y_label))
    }

    /// Sets the sentence under the heading.
    ///
    /// ```
    /// assert_eq!(maxmargin_report::Plot::new("A").note("b").note, "b");
    /// ```
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.note = note.into();
        self
    }

    /// Adds a choice for the x axis.
    ///
    /// ```
    /// use maxmargin_report::{Plot, XAxis};
    ///
    /// assert_eq!(Plot::new("A").x(XAxis::new("pass", "Passes")).x.len(), 1);
    /// ```
    #[must_use]
    pub fn x(mut self, axis: XAxis) -> Self {
        self.x.push(axis);
        self
    }

    /// Adds a choice for the y axis.
    ///
    /// ```
    /// use maxmargin_report::{Plot, YAxis};
    ///
    /// assert_eq!(Plot::new("A").y(YAxis::new("gap", "Gap")).y.len(), 1);
    /// ```
    #[must_use]
    pub fn y(mut self, axis: YAxis) -> Self {
        self.y.push(axis);
        self
    }

    /// Adds a series.
    ///
    /// ```
    /// use maxmargin_report::{Plot, Series};
    ///
    /// assert_eq!(Plot::new("A").series(Series::new("run 1")).series[0].name, "run 1");
    /// ```
    #[must_use]
    pub fn series(mut self, series: Series) -> Self {
        self.series.push(series);
        self
    }
}

/// A choice for the x axis of a [`Plot`]: a column of the series and its name for people.
///
/// ```
/// use maxmargin_report::{Scale, XAxis};
///
/// let axis = XAxis::new("oracle_calls", "Oracle calls").log();
/// assert_eq!(axis.scale, Scale::Log);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct XAxis {
    /// The key of the column.
    pub column: String,
    /// The name under the axis.
    pub label: String,
    /// The scale at the start.
    pub scale: Scale,
}

impl XAxis {
    /// A linear axis.
    ///
    /// ```
    /// assert_eq!(maxmargin_report::XAxis::new("pass", "Passes").label, "Passes");
    /// ```
    pub fn new(column: impl Into<String>, label: impl Into<String>) -> Self {
        Self { column: column.into(), label: label.into(), scale: Scale::Linear }
    }

    /// Starts with a log axis.
    ///
    /// ```
    /// # use maxmargin_report::{Scale, XAxis};
    /// assert_eq!(XAxis::new("pass", "Passes").log().scale, Scale::Log);
    /// ```
    #[must_use]
    pub fn log(mut self) -> Self {
        self.scale = Scale::Log;
        self
    }
}

/// A choice for the y axis of a [`Plot`]: one column, or several that belong together.
///
/// ```
/// use maxmargin_report::YAxis;
///
/// let axis = YAxis::together("Objectives", [("primal", "Primal"), ("dual", "Dual")]);
/// assert_eq!(axis.curves.len(), 2);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct YAxis {
    /// The name over the axis.
    pub label: String,
    /// The columns drawn for each series.
    pub curves: Vec<Curve>,
    /// The scale at the start.
    pub scale: Scale,
    /// Horizontal lines, such as the tolerance asked for.
    pub guides: Vec<Guide>,
}

impl YAxis {
    /// A linear axis for one column.
    ///
    /// ```
    /// assert_eq!(maxmargin_report::YAxis::new("gap", "Duality gap").label, "Duality gap");
    /// ```
    pub fn new(column: impl Into<String>, label: impl Into<String>) -> Self {
        let label = label.into();
        let curve = Curve { column: column.into(), label: label.clone() };
        Self { label, curves: vec![curve], ..Self::default() }
    }

    /// A linear axis for several columns, given as pairs of the column's key and its name.
    ///
    /// ```
    /// # use maxmargin_report::YAxis;
    /// let axis = YAxis::together("Step sizes", [("mean", "Mean"), ("zero", "Share of zero steps")]);
    /// assert_eq!(axis.curves[1].label, "Share of zero steps");
    /// ```
    pub fn together<C: Into<String>, L: Into<String>>(
        label: impl Into<String>,
        curves: impl IntoIterator<Item = (C, L)>,
    ) -> Self {
        let curves = curves
            .into_iter()
            .map(|(column, label)| Curve { column: column.into(), label: label.into() })
            .collect();
        Self { label: label.into(), curves, ..Self::default() }
    }

    /// Starts with a log axis.
    ///
    /// ```
    /// # use maxmargin_report::{Scale, YAxis};
    /// assert_eq!(YAxis::new("gap", "Gap").log().scale, Scale::Log);
    /// ```
    #[must_use]
    pub fn log(mut self) -> Self {
        self.scale = Scale::Log;
        self
    }

    /// Adds a labelled horizontal line.
    ///
    /// ```
    /// # use maxmargin_report::YAxis;
    /// assert_eq!(YAxis::new("gap", "Gap").guide("Tolerance", 1e-3).guides[0].value, 1e-3);
    /// ```
    #[must_use]
    pub fn guide(mut self, label: impl Into<String>, value: f64) -> Self {
        self.guides.push(Guide { label: label.into(), value });
        self
    }
}

/// A column that a [`YAxis`] draws, and its name for people.
///
/// ```
/// let axis = maxmargin_report::YAxis::new("gap", "Duality gap");
/// assert_eq!(axis.curves[0].column, "gap");
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Curve {
    /// The key of the column.
    pub column: String,
    /// The name in legends.
    pub label: String,
}

/// A labelled horizontal line of a [`YAxis`].
///
/// ```
/// let axis = maxmargin_report::YAxis::new("gap", "Duality gap").guide("Tolerance", 1e-3);
/// assert_eq!(axis.guides[0].label, "Tolerance");
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Guide {
    /// The text at the line.
    pub label: String,
    /// The height of the line.
    pub value: f64,
}
