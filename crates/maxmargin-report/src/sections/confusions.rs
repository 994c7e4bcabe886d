//! What is taken for what.

/// A confusion matrix: how often each label was predicted for each.
///
/// The page shows it by rows, in shares of the true label, or by counts; and with a
/// [`Browser`](crate::Browser) on the page, a click on a cell shows its examples.
///
/// ```
/// use maxmargin_report::Confusions;
///
/// let matrix = Confusions::new("Confusions", ["cat", "dog"], vec![8.0, 2.0, 1.0, 9.0]);
/// assert_eq!((matrix.count(0, 1), matrix.row_total(1)), (2.0, 10.0));
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Confusions {
    /// The heading of the section.
    pub heading: String,
    /// A sentence or two under the heading; may be empty.
    pub note: String,
    /// The labels.
    pub labels: Vec<String>,
    /// The counts: a row for each true label, in it a column for each predicted one. They need not be whole:
    /// one mistake may be shared among several cells.
    pub counts: Vec<f64>,
}

impl Confusions {
    /// A matrix over labels.
    ///
    /// ```
    /// # use maxmargin_report::Confusions;
    /// assert!(Confusions::new("A", [""; 0], vec![]).labels.is_empty());
    /// ```
    pub fn new<L: Into<String>>(
        heading: impl Into<String>,
        labels: impl IntoIterator<Item = L>,
        counts: Vec<f64>,
    ) -> Self {
        let labels = labels.into_iter().map(Into::into).collect();
        Self { heading: heading.into(), note: String::new(), labels, counts }
    }

    /// Sets the sentence under the heading.
    ///
    /// ```
    /// # use maxmargin_report::Confusions;
    /// assert_eq!(Confusions::new("A", ["x"], vec![1.0]).note("b").note, "b");
    /// ```
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.note = note.into();
        self
    }

    /// How often `predicted` was predicted where `truth` is true; 0 where nothing is known.
    ///
    /// ```
    /// # use maxmargin_report::Confusions;
    /// assert_eq!(Confusions::new("A", ["x"], vec![3.0]).count(0, 0), 3.0);
    /// ```
    pub fn count(&self, truth: usize, predicted: usize) -> f64 {
        if predicted >= self.labels.len() {
            return 0.0;
        }
        let count = self.counts.get(truth * self.labels.len() + predicted).copied().unwrap_or(0.0);
        if count > 0.0 && count.is_finite() { count } else { 0.0 }
    }

    /// How often a label is true.
    ///
    /// ```
    /// # use maxmargin_report::Confusions;
    /// assert_eq!(Confusions::new("A", ["x", "y"], vec![3.0, 4.0, 0.0, 0.0]).row_total(0), 7.0);
    /// ```
    pub fn row_total(&self, truth: usize) -> f64 {
        // Not `sum`, which makes −0 of nothing.
        (0..self.labels.len()).fold(0.0, |sum, predicted| sum + self.count(truth, predicted))
    }

    /// The matrix of the `most` labels that take part in most mistakes, in their old order; all of it if it
    /// has no more.
    ///
    /// ```
    /// # use maxmargin_report::Confusions;
    /// let counts = vec![9.0, 0.0, 1.0, 0.0, 9.0, 0.0, 2.0, 0.0, 9.0];
    /// let matrix = Confusions::new("A", ["x", "y", "z"], counts);
    /// assert_eq!(matrix.most_confused(2).labels, ["x", "z"]);
    /// ```
    #[must_use]
    pub fn most_confused(self, most: usize) -> Self {
        let labels = self.labels.len();
        if labels <= most {
            return self;
        }
        let mut mistakes = vec![0.0; labels];
        for truth in 0..labels {
            for predicted in (0..labels).filter(|predicted| *predicted != truth) {
                let count = self.count(truth, predicted);
                mistakes[truth] += count;
                mistakes[predicted] += count;
            }
        }
        let mut kept: Vec<usize> = (0..labels).collect();
        kept.sort_by(|&a, &b| f64::total_cmp(&mistakes[b], &mistakes[a]).then(a.cmp(&b)));
        kept.truncate(most);
        kept.sort_unstable();
        let counts = kept.iter().flat_map(|&t| kept.iter().map(move |&p| (t, p)));
        let counts = counts.map(|(t, p)| self.count(t, p)).collect();
        let names = kept.iter().map(|&label| self.labels[label].clone()).collect();
        Self { labels: names, counts, ..self }
    }
}
