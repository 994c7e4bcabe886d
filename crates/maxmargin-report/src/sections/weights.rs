//! The heaviest weights of each label.

/// Weights under headings, usually labels, drawn as bars from zero to the right and to the left.
///
/// ```
/// use maxmargin_report::Weights;
///
/// let weights = Weights::new("Heaviest weights").group("cat", [("whiskers", 2.5), ("barks", -1.0)]);
/// assert_eq!(weights.groups.len(), 1);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Weights {
    /// The heading of the section.
    pub heading: String,
    /// A sentence or two under the heading; may be empty.
    pub note: String,
    /// Headings, and weights by name.
    pub groups: Vec<(String, Vec<(String, f64)>)>,
}

impl Weights {
    /// A section without weights.
    ///
    /// ```
    /// assert!(maxmargin_report::Weights::new("Weights").groups.is_empty());
    /// ```
    pub fn new(heading: impl Into<String>) -> Self {
        Self { heading: heading.into(), ..Self::default() }
    }

    /// Sets the sentence under the heading.
    ///
    /// ```
    /// assert_eq!(maxmargin_report::Weights::new("A").note("b").note, "b");
    /// ```
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.note = note.into();
        self
    }

    /// Adds the weights of a label.
    ///
    /// ```
    /// # use maxmargin_report::Weights;
    /// assert_eq!(Weights::new("A").group("cat", [("fur", 1.0)]).groups[0].0, "cat");
    /// ```
    #[must_use]
    pub fn group<N: Into<String>>(
        mut self,
        label: impl Into<String>,
        weights: impl IntoIterator<Item = (N, f64)>,
    ) -> Self {
        let weights = weights.into_iter().map(|(name, weight)| (name.into(), weight)).collect();
        self.groups.push((label.into(), weights));
        self
    }
}
