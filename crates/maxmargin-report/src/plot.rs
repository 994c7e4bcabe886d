//! What a line plot shows.

use crate::scale::{Domain, HUGE, Scale, TINY};

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

/// The data of one run: a table whose columns the axes of a [`Plot`] name by their keys.
///
/// There are two kinds of holes. `None` says *not measured in this row* (the gap is known only at
/// gap checks): the line goes on to the next measured point, and the measured points are marked.
/// A number that is not finite says *measured, and there is nothing to draw*: the line is broken.
///
/// More than 2000 rows are thinned in a report; the extremes of each column and the early rows
/// are kept.
///
/// ```
/// use maxmargin_report::Series;
///
/// let series = Series::new("BCFW")
///     .column("pass", [1.0, 2.0, 3.0])
///     .column("gap", [Some(0.5), None, Some(0.1)])
///     .band("gap", [Some(0.4), None, Some(0.05)], [Some(0.6), None, Some(0.2)]);
/// assert_eq!(series.len(), 3);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Series {
    /// The name in the legend.
    pub name: String,
    /// The columns. A short column counts as not measured after its end.
    pub columns: Vec<Column>,
}

impl Series {
    /// A series without columns.
    ///
    /// ```
    /// assert!(maxmargin_report::Series::new("BCFW").is_empty());
    /// ```
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), columns: Vec::new() }
    }

    /// A series of points for [`Plot::xy`].
    ///
    /// ```
    /// # use maxmargin_report::Series;
    /// assert_eq!(Series::xy("squares", [(1.0, 1.0), (2.0, 4.0)]).len(), 2);
    /// ```
    pub fn xy(name: impl Into<String>, points: impl IntoIterator<Item = (f64, f64)>) -> Self {
        let (x, y): (Vec<f64>, Vec<f64>) = points.into_iter().unzip();
        Self::new(name).column("x", x).column("y", y)
    }

    /// Sets the values of a column; takes numbers or options of numbers.
    ///
    /// ```
    /// # use maxmargin_report::Series;
    /// let series = Series::new("a").column("pass", [1.0, 2.0]).column("gap", vec![None, Some(0.1)]);
    /// assert_eq!(series.columns[1].values, [None, Some(0.1)]);
    /// ```
    #[must_use]
    pub fn column<V: Into<Option<f64>>>(
        mut self,
        key: impl Into<String>,
        values: impl IntoIterator<Item = V>,
    ) -> Self {
        let values = values.into_iter().map(Into::into).collect();
        self.entry(key.into()).values = values;
        self
    }

    /// Sets the band of a column, drawn behind its line, for instance the least and the largest
    /// value over several seeds.
    ///
    /// ```
    /// # use maxmargin_report::Series;
    /// let series = Series::new("a").column("gap", [0.2]).band("gap", [0.1], [0.3]);
    /// assert_eq!(series.columns[0].low, [Some(0.1)]);
    /// ```
    #[must_use]
    pub fn band<L: Into<Option<f64>>, H: Into<Option<f64>>>(
        mut self,
        key: impl Into<String>,
        low: impl IntoIterator<Item = L>,
        high: impl IntoIterator<Item = H>,
    ) -> Self {
        let low = low.into_iter().map(Into::into).collect();
        let high = high.into_iter().map(Into::into).collect();
        let column = self.entry(key.into());
        (column.low, column.high) = (low, high);
        self
    }

    /// The number of rows: the length of the longest column.
    ///
    /// ```
    /// # use maxmargin_report::Series;
    /// assert_eq!(Series::new("a").column("pass", [1.0, 2.0]).len(), 2);
    /// ```
    pub fn len(&self) -> usize {
        self.columns.iter().map(|column| column.values.len()).max().unwrap_or(0)
    }

    /// Whether there are no rows.
    ///
    /// ```
    /// # use maxmargin_report::Series;
    /// assert!(Series::new("a").is_empty());
    /// ```
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn entry(&mut self, key: String) -> &mut Column {
        let index = match self.columns.iter().position(|column| column.key == key) {
            Some(index) => index,
            None => {
                self.columns.push(Column { key, ..Column::default() });
                self.columns.len() - 1
            }
        };
        &mut self.columns[index]
    }

    pub(crate) fn get(&self, key: &str) -> Option<&Column> {
        self.columns.iter().find(|column| column.key == key)
    }
}

/// A column of a [`Series`].
///
/// ```
/// let series = maxmargin_report::Series::new("a").column("gap", [0.2]);
/// assert_eq!(series.columns[0].key, "gap");
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Column {
    /// The name by which axes find the column.
    pub key: String,
    /// The values, one per row.
    pub values: Vec<Option<f64>>,
    /// The lower edge of the band; empty for none.
    pub low: Vec<Option<f64>>,
    /// The upper edge of the band; empty for none.
    pub high: Vec<Option<f64>>,
}

impl Column {
    pub(crate) fn value(&self, row: usize) -> Option<f64> {
        self.values.get(row).copied().flatten()
    }

    pub(crate) fn edges(&self, row: usize) -> Option<(f64, f64)> {
        let low = self.low.get(row).copied().flatten()?;
        let high = self.high.get(row).copied().flatten()?;
        Some((low, high))
    }
}

/// A point of a line, with its band if it has one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Point {
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) band: Option<(f64, f64)>,
}

/// One line of a view: the pieces between breaks.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Line {
    pub(crate) series: usize,
    pub(crate) curve: usize,
    pub(crate) pieces: Vec<Vec<Point>>,
}

impl Line {
    pub(crate) fn points(&self) -> impl DoubleEndedIterator<Item = &Point> {
        self.pieces.iter().flatten()
    }
}

/// What one choice of axes shows.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct View {
    pub(crate) lines: Vec<Line>,
    /// Points left out because a log axis has no place for them.
    pub(crate) dropped: usize,
    /// The domains, unless there is no point at all.
    pub(crate) domains: Option<(Domain, Domain)>,
}

fn drawable(value: f64) -> bool {
    value.abs() <= HUGE
}

impl View {
    pub(crate) fn new(plot: &Plot, x: &XAxis, y: &YAxis, x_scale: Scale, y_scale: Scale) -> Self {
        let fits_x = |value: f64| x_scale == Scale::Linear || value >= TINY;
        let fits_y = |value: f64| y_scale == Scale::Linear || value >= TINY;
        let mut lines = Vec::new();
        let mut dropped = 0;
        for (series_index, series) in plot.series.iter().enumerate() {
            let Some(xs) = series.get(&x.column) else { continue };
            for (curve_index, curve) in y.curves.iter().enumerate() {
                let Some(ys) = series.get(&curve.column) else { continue };
                let mut pieces = vec![Vec::new()];
                for row in 0..xs.values.len().min(ys.values.len()) {
                    let (Some(x), Some(y)) = (xs.value(row), ys.value(row)) else { continue };
                    let drawn = drawable(x) && drawable(y);
                    let fits = fits_x(x) && fits_y(y);
                    if drawn && fits {
                        let band = ys.edges(row).filter(|&(low, high)| {
                            drawable(low) && drawable(high) && fits_y(low) && fits_y(high)
                        });
                        if let Some(piece) = pieces.last_mut() {
                            piece.push(Point { x, y, band });
                        }
                    } else {
                        dropped += usize::from(drawn);
                        if pieces.last().is_some_and(|piece| !piece.is_empty()) {
                            pieces.push(Vec::new());
                        }
                    }
                }
                pieces.retain(|piece| !piece.is_empty());
                if !pieces.is_empty() {
                    lines.push(Line { series: series_index, curve: curve_index, pieces });
                }
            }
        }
        let domains = domains(&lines, y, x_scale, y_scale);
        Self { lines, dropped, domains }
    }
}

fn domains(lines: &[Line], y: &YAxis, x_scale: Scale, y_scale: Scale) -> Option<(Domain, Domain)> {
    let nothing = (f64::INFINITY, f64::NEG_INFINITY);
    let wider = |(low, high): (f64, f64), value: f64| (low.min(value), high.max(value));
    let (mut across, mut up) = (nothing, nothing);
    for point in lines.iter().flat_map(Line::points) {
        across = wider(across, point.x);
        up = wider(up, point.y);
        if let Some((low, high)) = point.band {
            up = wider(wider(up, low), high);
        }
    }
    if across.0 > across.1 {
        return None;
    }
    for guide in &y.guides {
        if drawable(guide.value) && (y_scale == Scale::Linear || guide.value >= TINY) {
            up = wider(up, guide.value);
        }
    }
    Some((
        Domain::around(x_scale, across.0, across.1, false),
        Domain::around(y_scale, up.0, up.1, true),
    ))
}

/// A sentence that stands for the picture: what is drawn, and where each line starts and ends.
pub(crate) fn summary(plot: &Plot, x: &XAxis, y: &YAxis, view: &View) -> String {
    use crate::number::format_number;
    const MOST: usize = 8;
    let mut text = format!("{} against {}.", y.label, x.label);
    if view.lines.is_empty() {
        text.push_str(" There are no points to show.");
    }
    for line in view.lines.iter().take(MOST) {
        let (Some(first), Some(last)) = (line.points().next(), line.points().next_back()) else {
            continue;
        };
        text.push_str(&format!(
            " {}: from {} at {} to {} at {}.",
            line_name(plot, y, line.series, line.curve),
            format_number(first.y),
            format_number(first.x),
            format_number(last.y),
            format_number(last.x),
        ));
    }
    if view.lines.len() > MOST {
        text.push_str(&format!(" And {} more lines.", view.lines.len() - MOST));
    }
    text
}

/// What a line is called: the run, the quantity, or both, whichever tells lines apart.
pub(crate) fn line_name(plot: &Plot, y: &YAxis, series: usize, curve: usize) -> String {
    let run = &plot.series[series].name;
    let quantity = &y.curves[curve].label;
    match (plot.series.len() > 1, y.curves.len() > 1) {
        (true, true) => format!("{run}, {quantity}"),
        (false, true) => quantity.clone(),
        _ => run.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn view_of(ys: &[Option<f64>], scale: Scale) -> View {
        let xs = (1..=ys.len()).map(|x| x as f64);
        let plot = Plot::xy("", "x", "y")
            .series(Series::new("a").column("x", xs).column("y", ys.to_vec()));
        View::new(&plot, &plot.x[0], &plot.y[0], Scale::Linear, scale)
    }

    #[test]
    fn unmeasured_rows_join_and_bad_values_break() {
        let view = view_of(&[Some(1.0), None, Some(2.0), Some(f64::NAN), Some(3.0)], Scale::Linear);
        let lengths: Vec<usize> = view.lines[0].pieces.iter().map(Vec::len).collect();
        assert_eq!((lengths, view.dropped), (vec![2, 1], 0));
    }

    #[test]
    fn log_axes_drop_and_count() {
        let view = view_of(&[Some(0.0), Some(1.0), Some(-2.0), Some(2.0)], Scale::Log);
        assert_eq!((view.lines[0].pieces.len(), view.dropped), (2, 2));
        let view = view_of(&[Some(0.0), Some(-1.0)], Scale::Log);
        assert_eq!((view.lines.len(), view.dropped, view.domains), (0, 2, None));
    }

    #[test]
    fn overflowing_values_are_not_drawn() {
        let view = view_of(&[Some(f64::MAX), Some(f64::MIN), Some(1.0)], Scale::Linear);
        assert_eq!(view.lines[0].points().count(), 1);
    }
}
