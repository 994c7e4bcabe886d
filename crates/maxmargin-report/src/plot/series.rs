//! The data of a line plot.

/// The data of one run: a table whose columns the axes of a [`Plot`](crate::Plot) name by their keys.
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
    /// Whether the line is switched off at first, so that others have the room.
    pub off: bool,
}

impl Series {
    /// A series without columns.
    ///
    /// ```
    /// assert!(maxmargin_report::Series::new("BCFW").is_empty());
    /// ```
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), columns: Vec::new(), off: false }
    }

    /// A series of points for [`Plot::xy`](crate::Plot::xy).
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

    /// Switches the line off at first; readers can switch it on, unless on paper.
    ///
    /// ```
    /// assert!(maxmargin_report::Series::new("slow").switched_off().off);
    /// ```
    #[must_use]
    pub fn switched_off(mut self) -> Self {
        self.off = true;
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
