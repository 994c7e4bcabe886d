//! Tokens with labels.

/// Sequences of tokens with what they are and what they were taken for.
///
/// Labels are told apart by colour, and written out; `B-X` and `I-X` have the colour of `X`, so that
/// chunks show, and `O` has none. What is wrong is boxed and marked.
///
/// ```
/// use maxmargin_report::{Report, Tagged, TaggedExample};
///
/// let tokens = [("The", "B-NP", "B-NP"), ("cat", "I-NP", "B-VP"), ("sleeps", "B-VP", "B-VP")];
/// let section = Tagged::new("Sentences").example(TaggedExample::new(tokens));
/// assert!(Report::new("A").with(section).to_html().contains("sleeps"));
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Tagged {
    /// The heading of the section.
    pub heading: String,
    /// A sentence or two under the heading; may be empty.
    pub note: String,
    /// The sequences.
    pub examples: Vec<TaggedExample>,
}

impl Tagged {
    /// A section without sequences.
    ///
    /// ```
    /// assert!(maxmargin_report::Tagged::new("Sentences").examples.is_empty());
    /// ```
    pub fn new(heading: impl Into<String>) -> Self {
        Self { heading: heading.into(), ..Self::default() }
    }

    /// Sets the sentence under the heading.
    ///
    /// ```
    /// assert_eq!(maxmargin_report::Tagged::new("A").note("b").note, "b");
    /// ```
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.note = note.into();
        self
    }

    /// Adds a sequence.
    ///
    /// ```
    /// use maxmargin_report::{Tagged, TaggedExample};
    ///
    /// let section = Tagged::new("A").example(TaggedExample::new([("cat", "N", "N")]));
    /// assert_eq!(section.examples.len(), 1);
    /// ```
    #[must_use]
    pub fn example(mut self, example: TaggedExample) -> Self {
        self.examples.push(example);
        self
    }
}

/// A sequence of a [`Tagged`] section.
///
/// ```
/// use maxmargin_report::TaggedExample;
///
/// let example = TaggedExample::new([("a", "X", "X"), ("b", "X", "Y")]);
/// assert_eq!((example.tokens.len(), example.errors()), (2, 1));
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct TaggedExample {
    /// Text, true label, and predicted label of each token.
    pub tokens: Vec<(String, String, String)>,
}

impl TaggedExample {
    /// A sequence of text, true label, and predicted label.
    ///
    /// ```
    /// # use maxmargin_report::TaggedExample;
    /// assert_eq!(TaggedExample::new([("cat", "N", "V")]).tokens[0].0, "cat");
    /// ```
    pub fn new<T: Into<String>, L: Into<String>, P: Into<String>>(
        tokens: impl IntoIterator<Item = (T, L, P)>,
    ) -> Self {
        let token = |(text, truth, read): (T, L, P)| (text.into(), truth.into(), read.into());
        Self { tokens: tokens.into_iter().map(token).collect() }
    }

    /// How many tokens are labelled wrongly.
    ///
    /// ```
    /// # use maxmargin_report::TaggedExample;
    /// assert_eq!(TaggedExample::new([("cat", "N", "V")]).errors(), 1);
    /// ```
    pub fn errors(&self) -> usize {
        self.tokens.iter().filter(|(_, truth, read)| truth != read).count()
    }
}
