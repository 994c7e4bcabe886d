//! Sections of text: prose, facts, and code.

/// Paragraphs of plain text.
///
/// ```
/// use maxmargin_report::Prose;
///
/// let prose = Prose::new("Certificate").paragraph("The objective is within 0.1 % of the optimum.");
/// assert_eq!(prose.paragraphs.len(), 1);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Prose {
    /// The heading of the section.
    pub heading: String,
    /// The paragraphs, without markup, but that words between backticks are code.
    pub paragraphs: Vec<String>,
}

impl Prose {
    /// A section without paragraphs.
    ///
    /// ```
    /// assert!(maxmargin_report::Prose::new("Certificate").paragraphs.is_empty());
    /// ```
    pub fn new(heading: impl Into<String>) -> Self {
        Self { heading: heading.into(), paragraphs: Vec::new() }
    }

    /// Adds a paragraph.
    ///
    /// ```
    /// # use maxmargin_report::Prose;
    /// assert_eq!(Prose::new("A").paragraph("b").paragraphs, ["b"]);
    /// ```
    #[must_use]
    pub fn paragraph(mut self, text: impl Into<String>) -> Self {
        self.paragraphs.push(text.into());
        self
    }
}

/// Cards with a label and a value each.
///
/// ```
/// use maxmargin_report::{Fact, Facts, Tone};
///
/// let facts = Facts::new("Result")
///     .fact(Fact::new("Status", "converged").tone(Tone::Good).hint("gap below the tolerance"))
///     .fact(("Passes", "37"))
///     .note("Times are wall-clock times.");
/// assert_eq!(facts.facts.len(), 2);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Facts {
    /// The heading of the section.
    pub heading: String,
    /// The cards.
    pub facts: Vec<Fact>,
    /// A sentence or two under the cards; may be empty.
    pub note: String,
}

impl Facts {
    /// A section without cards.
    ///
    /// ```
    /// assert!(maxmargin_report::Facts::new("Result").facts.is_empty());
    /// ```
    pub fn new(heading: impl Into<String>) -> Self {
        Self { heading: heading.into(), ..Self::default() }
    }

    /// Adds a card: a [`Fact`], or a pair of label and value.
    ///
    /// ```
    /// # use maxmargin_report::Facts;
    /// assert_eq!(Facts::new("A").fact(("n", "626")).facts[0].value, "626");
    /// ```
    #[must_use]
    pub fn fact(mut self, fact: impl Into<Fact>) -> Self {
        self.facts.push(fact.into());
        self
    }

    /// Sets the sentence under the cards.
    ///
    /// ```
    /// # use maxmargin_report::Facts;
    /// assert_eq!(Facts::new("A").note("b").note, "b");
    /// ```
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.note = note.into();
        self
    }
}

/// A card of [`Facts`].
///
/// ```
/// use maxmargin_report::Fact;
///
/// let fact = Fact::new("Test error", "12.3 %").hint("letters");
/// assert_eq!(fact.label, "Test error");
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Fact {
    /// What is stated.
    pub label: String,
    /// Its value, ready for people.
    pub value: String,
    /// A few words in small print under the value; may be empty.
    pub hint: String,
    /// Whether it is good or bad news.
    pub tone: Tone,
}

impl Fact {
    /// A plain card.
    ///
    /// ```
    /// assert_eq!(maxmargin_report::Fact::new("n", "626").value, "626");
    /// ```
    pub fn new(label: impl Into<String>, value: impl Into<String>) -> Self {
        Self { label: label.into(), value: value.into(), ..Self::default() }
    }

    /// Sets the small print.
    ///
    /// ```
    /// # use maxmargin_report::Fact;
    /// assert_eq!(Fact::new("n", "626").hint("words").hint, "words");
    /// ```
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = hint.into();
        self
    }

    /// Sets the tone.
    ///
    /// ```
    /// # use maxmargin_report::{Fact, Tone};
    /// assert_eq!(Fact::new("Status", "converged").tone(Tone::Good).tone, Tone::Good);
    /// ```
    #[must_use]
    pub fn tone(mut self, tone: Tone) -> Self {
        self.tone = tone;
        self
    }
}

impl<L: Into<String>, V: Into<String>> From<(L, V)> for Fact {
    fn from((label, value): (L, V)) -> Self {
        Self::new(label, value)
    }
}

/// Whether a [`Fact`] is good or bad news. Shown by a sign and a colour.
///
/// ```
/// assert_eq!(maxmargin_report::Tone::default(), maxmargin_report::Tone::Plain);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Tone {
    /// Neither.
    #[default]
    Plain,
    /// Good news: converged.
    Good,
    /// Needs attention: stopped before the tolerance was reached.
    Warning,
    /// Bad news: failed.
    Bad,
}

/// Text in a fixed-width font, such as the command to repeat the run.
///
/// ```
/// use maxmargin_report::Code;
///
/// let code = Code::new("Repeat this run", "maxmargin train words.jsonl --lambda 0.01");
/// assert!(code.text.starts_with("maxmargin"));
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Code {
    /// The heading of the section.
    pub heading: String,
    /// A sentence or two under the heading; may be empty.
    pub note: String,
    /// The text.
    pub text: String,
}

impl Code {
    /// A section with some text.
    ///
    /// ```
    /// assert_eq!(maxmargin_report::Code::new("A", "b").text, "b");
    /// ```
    pub fn new(heading: impl Into<String>, text: impl Into<String>) -> Self {
        Self { heading: heading.into(), text: text.into(), note: String::new() }
    }

    /// Sets the sentence under the heading.
    ///
    /// ```
    /// # use maxmargin_report::Code;
    /// assert_eq!(Code::new("A", "b").note("c").note, "c");
    /// ```
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.note = note.into();
        self
    }
}
