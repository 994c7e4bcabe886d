//! Sections of numbers: tables, bars, and heat-maps.

/// A table. Columns of numbers are set flush right with digits of equal width. On the page, readers sort it
/// by any column.
///
/// ```
/// use maxmargin_report::Table;
///
/// let table = Table::new("Methods")
///     .text_column("Method")
///     .number_column("Passes")
///     .row(["BCFW", "37"])
///     .row(["FW", "412"]);
/// assert_eq!(table.rows.len(), 2);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Table {
    /// The heading of the section.
    pub heading: String,
    /// A sentence or two under the heading; may be empty.
    pub note: String,
    /// The columns.
    pub columns: Vec<TableColumn>,
    /// The cells, row by row. Short rows are filled with empty cells, long ones are cut.
    pub rows: Vec<Vec<String>>,
}

impl Table {
    /// A table without columns and rows.
    ///
    /// ```
    /// assert!(maxmargin_report::Table::new("Methods").rows.is_empty());
    /// ```
    pub fn new(heading: impl Into<String>) -> Self {
        Self { heading: heading.into(), ..Self::default() }
    }

    /// Sets the sentence under the heading.
    ///
    /// ```
    /// # use maxmargin_report::Table;
    /// assert_eq!(Table::new("A").note("b").note, "b");
    /// ```
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.note = note.into();
        self
    }

    /// Adds a column of text.
    ///
    /// ```
    /// # use maxmargin_report::Table;
    /// assert!(!Table::new("A").text_column("Method").columns[0].numeric);
    /// ```
    #[must_use]
    pub fn text_column(mut self, label: impl Into<String>) -> Self {
        self.columns.push(TableColumn { label: label.into(), ..TableColumn::default() });
        self
    }

    /// Adds a column of numbers.
    ///
    /// ```
    /// # use maxmargin_report::Table;
    /// assert!(Table::new("A").number_column("Passes").columns[0].numeric);
    /// ```
    #[must_use]
    pub fn number_column(mut self, label: impl Into<String>) -> Self {
        self.columns.push(TableColumn { label: label.into(), numeric: true, ..Default::default() });
        self
    }

    /// Adds a column of shares, numbers in percent, which are drawn as well.
    ///
    /// ```
    /// # use maxmargin_report::Table;
    /// assert!(Table::new("A").share_column("F1").columns[0].shares);
    /// ```
    #[must_use]
    pub fn share_column(mut self, label: impl Into<String>) -> Self {
        let column =
            TableColumn { label: label.into(), numeric: true, shares: true, labels: false };
        self.columns.push(column);
        self
    }

    /// Adds a column of labels, each of which has its colour; with a [`Browser`](crate::Browser) on the page, a
    /// click shows the examples in which it is wrong.
    ///
    /// ```
    /// # use maxmargin_report::Table;
    /// assert!(Table::new("A").label_column("Label").columns[0].labels);
    /// ```
    #[must_use]
    pub fn label_column(mut self, label: impl Into<String>) -> Self {
        let column = TableColumn { label: label.into(), labels: true, ..TableColumn::default() };
        self.columns.push(column);
        self
    }

    /// Adds a row.
    ///
    /// ```
    /// # use maxmargin_report::Table;
    /// assert_eq!(Table::new("A").row(["BCFW", "37"]).rows[0].len(), 2);
    /// ```
    #[must_use]
    pub fn row<C: Into<String>>(mut self, cells: impl IntoIterator<Item = C>) -> Self {
        self.rows.push(cells.into_iter().map(Into::into).collect());
        self
    }
}

/// A column of a [`Table`].
///
/// ```
/// let table = maxmargin_report::Table::new("A").number_column("Passes");
/// assert_eq!(table.columns[0].label, "Passes");
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct TableColumn {
    /// The name at the head of the column.
    pub label: String,
    /// Whether the cells are numbers.
    pub numeric: bool,
    /// Whether the cells are numbers in percent.
    pub shares: bool,
    /// Whether the cells are labels.
    pub labels: bool,
}

/// Stacked horizontal bars: how a whole splits into parts, for one or several wholes.
///
/// All bars have one scale, so that their lengths compare. Parts are told apart by their names;
/// equal names in different bars have equal colours.
///
/// ```
/// use maxmargin_report::{Bar, Bars};
///
/// let bars = Bars::new("Where the time went").unit("s").bar(
///     Bar::new("BCFW").part("oracle", 1.8).part("steps", 0.3).part("gap passes", 0.6),
/// );
/// assert_eq!(bars.bars[0].total(), 2.7);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Bars {
    /// The heading of the section.
    pub heading: String,
    /// A sentence or two under the heading; may be empty.
    pub note: String,
    /// The unit of the values; `"s"` has values written by [`format_seconds`](crate::format_seconds).
    pub unit: String,
    /// The bars.
    pub bars: Vec<Bar>,
}

impl Bars {
    /// A section without bars.
    ///
    /// ```
    /// assert!(maxmargin_report::Bars::new("Time").bars.is_empty());
    /// ```
    pub fn new(heading: impl Into<String>) -> Self {
        Self { heading: heading.into(), ..Self::default() }
    }

    /// Sets the sentence under the heading.
    ///
    /// ```
    /// # use maxmargin_report::Bars;
    /// assert_eq!(Bars::new("A").note("b").note, "b");
    /// ```
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.note = note.into();
        self
    }

    /// Sets the unit of the values.
    ///
    /// ```
    /// # use maxmargin_report::Bars;
    /// assert_eq!(Bars::new("A").unit("calls").unit, "calls");
    /// ```
    #[must_use]
    pub fn unit(mut self, unit: impl Into<String>) -> Self {
        self.unit = unit.into();
        self
    }

    /// Adds a bar.
    ///
    /// ```
    /// # use maxmargin_report::{Bar, Bars};
    /// assert_eq!(Bars::new("A").bar(Bar::new("BCFW")).bars.len(), 1);
    /// ```
    #[must_use]
    pub fn bar(mut self, bar: Bar) -> Self {
        self.bars.push(bar);
        self
    }
}

/// A bar of [`Bars`].
///
/// ```
/// use maxmargin_report::Bar;
///
/// assert_eq!(Bar::new("BCFW").part("oracle", 2.0).part("other", 1.0).total(), 3.0);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Bar {
    /// The name of the whole.
    pub label: String,
    /// The parts. Values that are negative or not finite count as zero.
    pub parts: Vec<(String, f64)>,
}

impl Bar {
    /// A bar without parts.
    ///
    /// ```
    /// assert_eq!(maxmargin_report::Bar::new("BCFW").total(), 0.0);
    /// ```
    pub fn new(label: impl Into<String>) -> Self {
        Self { label: label.into(), parts: Vec::new() }
    }

    /// Adds a part.
    ///
    /// ```
    /// # use maxmargin_report::Bar;
    /// assert_eq!(Bar::new("BCFW").part("oracle", 2.0).parts.len(), 1);
    /// ```
    #[must_use]
    pub fn part(mut self, name: impl Into<String>, value: f64) -> Self {
        self.parts.push((name.into(), value));
        self
    }

    /// The sum of the parts that count.
    ///
    /// ```
    /// # use maxmargin_report::Bar;
    /// assert_eq!(Bar::new("BCFW").part("a", 2.0).part("b", f64::NAN).total(), 2.0);
    /// ```
    pub fn total(&self) -> f64 {
        // Not `sum`, which makes −0 of nothing.
        self.parts.iter().fold(0.0, |total, part| total + countable(part.1))
    }
}

pub(crate) fn countable(value: f64) -> f64 {
    if value > 0.0 && value <= crate::scale::HUGE { value } else { 0.0 }
}

/// A matrix as colours, diverging from zero.
///
/// ```
/// use maxmargin_report::Heatmap;
///
/// let map = Heatmap::new("Transitions", ["a", "b"], ["a", "b"], vec![0.5, -0.25, 0.0, 1.0])
///     .axes("from", "to");
/// assert_eq!(map.value(1, 1), 1.0);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Heatmap {
    /// The heading of the section.
    pub heading: String,
    /// A sentence or two under the heading; may be empty.
    pub note: String,
    /// What the rows stand for; may be empty.
    pub row_title: String,
    /// What the columns stand for; may be empty.
    pub column_title: String,
    /// One label per row.
    pub row_labels: Vec<String>,
    /// One label per column.
    pub column_labels: Vec<String>,
    /// The values, row by row. Absent values and values that are not finite are shown in grey.
    pub values: Vec<f64>,
    /// Values that stand for something, and what that is. If there are any, these words are shown in
    /// place of numbers.
    pub meanings: Vec<(f64, String)>,
}

impl Heatmap {
    /// A matrix with as many rows and columns as labels.
    ///
    /// ```
    /// # use maxmargin_report::Heatmap;
    /// let map = Heatmap::new("A", ["x"], ["y", "z"], vec![1.0, 2.0]);
    /// assert_eq!((map.row_labels.len(), map.column_labels.len()), (1, 2));
    /// ```
    pub fn new<R: Into<String>, C: Into<String>>(
        heading: impl Into<String>,
        row_labels: impl IntoIterator<Item = R>,
        column_labels: impl IntoIterator<Item = C>,
        values: Vec<f64>,
    ) -> Self {
        Self {
            heading: heading.into(),
            row_labels: row_labels.into_iter().map(Into::into).collect(),
            column_labels: column_labels.into_iter().map(Into::into).collect(),
            values,
            ..Self::default()
        }
    }

    /// Sets the sentence under the heading.
    ///
    /// ```
    /// # use maxmargin_report::Heatmap;
    /// assert_eq!(Heatmap::new("A", [""], [""], vec![0.0]).note("b").note, "b");
    /// ```
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.note = note.into();
        self
    }

    /// Says what rows and columns stand for.
    ///
    /// ```
    /// # use maxmargin_report::Heatmap;
    /// assert_eq!(Heatmap::new("A", [""], [""], vec![0.0]).axes("from", "to").row_title, "from");
    /// ```
    #[must_use]
    pub fn axes(mut self, rows: impl Into<String>, columns: impl Into<String>) -> Self {
        self.row_title = rows.into();
        self.column_title = columns.into();
        self
    }

    /// Says what a value stands for, in matrices of a few values that are no amounts.
    ///
    /// ```
    /// # use maxmargin_report::Heatmap;
    /// let map = Heatmap::new("A", ["x"], ["y"], vec![-1.0]).meaning(-1.0, "wrong");
    /// assert_eq!((map.in_words(0, 0).as_str(), map.meanings.len()), ("wrong", 1));
    /// ```
    #[must_use]
    pub fn meaning(mut self, value: f64, meaning: impl Into<String>) -> Self {
        self.meanings.push((value, meaning.into()));
        self
    }

    /// What a cell says: what its value stands for, or the value itself.
    ///
    /// ```
    /// # use maxmargin_report::Heatmap;
    /// assert_eq!(Heatmap::new("A", ["x"], ["y"], vec![0.5]).in_words(0, 0), "0.5");
    /// ```
    pub fn in_words(&self, row: usize, column: usize) -> String {
        let value = self.value(row, column);
        let known = self.meanings.iter().find(|(known, _)| *known == value);
        known.map_or_else(|| crate::number::format_number(value), |(_, words)| words.clone())
    }

    /// The value of a cell; not a number where there is none.
    ///
    /// ```
    /// # use maxmargin_report::Heatmap;
    /// assert!(Heatmap::new("A", ["x"], ["y"], vec![]).value(0, 0).is_nan());
    /// ```
    pub fn value(&self, row: usize, column: usize) -> f64 {
        let columns = self.column_labels.len();
        if column >= columns {
            return f64::NAN;
        }
        self.values.get(row * columns + column).copied().unwrap_or(f64::NAN)
    }
}
