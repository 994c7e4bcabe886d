//! Examples to page through.

use super::drawings::Drawing;
use super::pictures::Word;
use super::tagged::TaggedExample;

/// Examples of a test with what was predicted for them. On the page, readers page through them, search
/// them, and pick those of one cell of the [matrix](crate::Confusions).
///
/// ```
/// use maxmargin_report::{Body, Browser, Example, TaggedExample};
///
/// let tokens = TaggedExample::new([("Cats", "N", "N"), ("purr", "V", "N")]);
/// let example = Example::new("Sentence 1", Body::Tokens(tokens)).errors(1.0).cell("V", "N");
/// let browser = Browser::new("Examples").example(example);
/// assert_eq!(browser.examples.len(), 1);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Browser {
    /// The heading of the section.
    pub heading: String,
    /// A sentence or two under the heading; may be empty.
    pub note: String,
    /// What colours of drawings mean.
    pub key: Vec<(String, usize)>,
    /// Whether the colours of labels are explained above the examples.
    pub legend: bool,
    /// Examples on a page.
    pub per_page: usize,
    /// The examples, the worst first.
    pub examples: Vec<Example>,
}

impl Browser {
    /// A section without examples.
    ///
    /// ```
    /// assert!(maxmargin_report::Browser::new("Examples").examples.is_empty());
    /// ```
    pub fn new(heading: impl Into<String>) -> Self {
        Self { heading: heading.into(), per_page: 6, ..Self::default() }
    }

    /// Sets the sentence under the heading.
    ///
    /// ```
    /// assert_eq!(maxmargin_report::Browser::new("A").note("b").note, "b");
    /// ```
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.note = note.into();
        self
    }

    /// Says what a colour of drawings means.
    ///
    /// ```
    /// assert_eq!(maxmargin_report::Browser::new("A").colour("true", 2).key.len(), 1);
    /// ```
    #[must_use]
    pub fn colour(mut self, meaning: impl Into<String>, colour: usize) -> Self {
        self.key.push((meaning.into(), colour));
        self
    }

    /// Explains the colours of labels above the examples.
    ///
    /// ```
    /// assert!(maxmargin_report::Browser::new("A").with_legend().legend);
    /// ```
    #[must_use]
    pub fn with_legend(mut self) -> Self {
        self.legend = true;
        self
    }

    /// Sets how many examples are on a page, 6 unless told otherwise.
    ///
    /// ```
    /// assert_eq!(maxmargin_report::Browser::new("A").per_page(12).per_page, 12);
    /// ```
    #[must_use]
    pub fn per_page(mut self, count: usize) -> Self {
        self.per_page = count.max(1);
        self
    }

    /// Adds an example.
    ///
    /// ```
    /// # use maxmargin_report::{Body, Browser, Example, TaggedExample};
    /// let example = Example::new("1", Body::Tokens(TaggedExample::default()));
    /// assert_eq!(Browser::new("A").example(example).examples.len(), 1);
    /// ```
    #[must_use]
    pub fn example(mut self, example: Example) -> Self {
        self.examples.push(example);
        self
    }
}

/// An example of a [`Browser`].
///
/// ```
/// use maxmargin_report::{Answer, Body, Example};
///
/// let row = Example::new("Row 7", Body::Answer(Answer::new(["a"], ["b"]))).note("a taken for b");
/// assert_eq!((row.name.as_str(), row.drawn), ("Row 7", false));
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Example {
    /// What it is called.
    pub name: String,
    /// What is to be said of it; may be empty.
    pub note: String,
    /// Its place in the file, from 0.
    pub place: usize,
    /// How wrong it is; 0 if it is right.
    pub errors: f64,
    /// Whether it belongs to the random sample.
    pub drawn: bool,
    /// Which labels were taken for which in it: true and predicted.
    pub cells: Vec<(String, String)>,
    /// What is shown.
    pub body: Body,
}

impl Example {
    /// An example without mistakes.
    ///
    /// ```
    /// # use maxmargin_report::{Body, Example, TaggedExample};
    /// assert_eq!(Example::new("1", Body::Tokens(TaggedExample::default())).errors, 0.0);
    /// ```
    pub fn new(name: impl Into<String>, body: Body) -> Self {
        Self {
            name: name.into(),
            note: String::new(),
            place: 0,
            errors: 0.0,
            drawn: false,
            cells: Vec::new(),
            body,
        }
    }

    /// Sets what is said of it.
    ///
    /// ```
    /// # use maxmargin_report::{Body, Example, TaggedExample};
    /// assert_eq!(Example::new("1", Body::Tokens(TaggedExample::default())).note("b").note, "b");
    /// ```
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.note = note.into();
        self
    }

    /// Sets its place in the file, and whether it belongs to the random sample.
    ///
    /// ```
    /// # use maxmargin_report::{Body, Example, TaggedExample};
    /// assert!(Example::new("1", Body::Tokens(TaggedExample::default())).place(3, true).drawn);
    /// ```
    #[must_use]
    pub fn place(mut self, place: usize, drawn: bool) -> Self {
        (self.place, self.drawn) = (place, drawn);
        self
    }

    /// Sets how wrong it is.
    ///
    /// ```
    /// # use maxmargin_report::{Body, Example, TaggedExample};
    /// assert_eq!(Example::new("1", Body::Tokens(TaggedExample::default())).errors(2.0).errors, 2.0);
    /// ```
    #[must_use]
    pub fn errors(mut self, errors: f64) -> Self {
        self.errors = errors;
        self
    }

    /// Says that a label was predicted where another, or the same, is true.
    ///
    /// ```
    /// # use maxmargin_report::{Body, Example, TaggedExample};
    /// let example = Example::new("1", Body::Tokens(TaggedExample::default()));
    /// assert_eq!(example.cell("a", "b").cell("a", "b").cells.len(), 1);
    /// ```
    #[must_use]
    pub fn cell(mut self, truth: impl Into<String>, predicted: impl Into<String>) -> Self {
        let cell = (truth.into(), predicted.into());
        if !self.cells.contains(&cell) {
            self.cells.push(cell);
        }
        self
    }
}

/// What is shown of an [`Example`].
///
/// ```
/// use maxmargin_report::{Body, TaggedExample};
/// assert_ne!(Body::Tokens(TaggedExample::default()), Body::Word(Default::default()));
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Body {
    /// Tokens with labels.
    Tokens(TaggedExample),
    /// Pictures of letters.
    Word(Word),
    /// A label, or a set of labels.
    Answer(Answer),
    /// Words of two sentences, and links between them.
    Links(Links),
    /// Nodes with labels, and edges between them.
    Network(Network),
    /// A drawing.
    Drawing(Drawing),
}

/// The labels of a row: those that are true and those that were predicted.
///
/// ```
/// use maxmargin_report::Answer;
///
/// let answer = Answer::new(["cat", "dog"], ["dog"]).clue("fur", "1").clues_are("The row");
/// assert_eq!(answer.clues.len(), 1);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Answer {
    /// The true labels.
    pub truth: Vec<String>,
    /// The predicted ones.
    pub predicted: Vec<String>,
    /// What the clues are; may be empty.
    pub clue_title: String,
    /// What spoke for the prediction, or what the row is: names with values.
    pub clues: Vec<(String, String)>,
}

impl Answer {
    /// True and predicted labels.
    ///
    /// ```
    /// assert_eq!(maxmargin_report::Answer::new(["a"], ["b"]).truth, ["a"]);
    /// ```
    pub fn new<T: Into<String>, P: Into<String>>(
        truth: impl IntoIterator<Item = T>,
        predicted: impl IntoIterator<Item = P>,
    ) -> Self {
        Self {
            truth: truth.into_iter().map(Into::into).collect(),
            predicted: predicted.into_iter().map(Into::into).collect(),
            ..Self::default()
        }
    }

    /// Says what the clues are.
    ///
    /// ```
    /// # use maxmargin_report::Answer;
    /// assert_eq!(Answer::new(["a"], ["b"]).clues_are("Largest").clue_title, "Largest");
    /// ```
    #[must_use]
    pub fn clues_are(mut self, title: impl Into<String>) -> Self {
        self.clue_title = title.into();
        self
    }

    /// Adds a clue.
    ///
    /// ```
    /// # use maxmargin_report::Answer;
    /// assert_eq!(Answer::new(["a"], ["b"]).clue("fur", "1").clues.len(), 1);
    /// ```
    #[must_use]
    pub fn clue(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.clues.push((name.into(), value.into()));
        self
    }
}

/// The words of two sentences, and lines between them.
///
/// ```
/// use maxmargin_report::Links;
///
/// let links = Links::new(["the", "cat"], ["le", "chat"]).link(1, 1, 2);
/// assert_eq!(links.links, [(1, 1, 2)]);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Links {
    /// The words on the left.
    pub source: Vec<String>,
    /// The words on the right.
    pub target: Vec<String>,
    /// Lines: a word on the left, one on the right, and the number of a colour. Lines of the colours 0 and 6
    /// are dashed: they are not there.
    pub links: Vec<(usize, usize, usize)>,
}

impl Links {
    /// Two sentences without lines.
    ///
    /// ```
    /// assert!(maxmargin_report::Links::new(["the"], ["le"]).links.is_empty());
    /// ```
    pub fn new<S: Into<String>, T: Into<String>>(
        source: impl IntoIterator<Item = S>,
        target: impl IntoIterator<Item = T>,
    ) -> Self {
        Self {
            source: source.into_iter().map(Into::into).collect(),
            target: target.into_iter().map(Into::into).collect(),
            links: Vec::new(),
        }
    }

    /// Draws a line.
    ///
    /// ```
    /// assert_eq!(maxmargin_report::Links::new(["the"], ["le"]).link(0, 0, 1).links.len(), 1);
    /// ```
    #[must_use]
    pub fn link(mut self, source: usize, target: usize, colour: usize) -> Self {
        self.links.push((source, target, colour));
        self
    }
}

/// A graph whose nodes have labels.
///
/// ```
/// use maxmargin_report::Network;
///
/// let graph = Network::new([("0", "0"), ("1", "0")]).edge(0, 1);
/// assert_eq!((graph.nodes.len(), graph.edges.len()), (2, 1));
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Network {
    /// The true and the predicted label of each node.
    pub nodes: Vec<(String, String)>,
    /// Pairs of nodes.
    pub edges: Vec<(usize, usize)>,
}

impl Network {
    /// Nodes without edges, with their true and predicted labels.
    ///
    /// ```
    /// assert!(maxmargin_report::Network::new([("0", "1")]).edges.is_empty());
    /// ```
    pub fn new<T: Into<String>, P: Into<String>>(nodes: impl IntoIterator<Item = (T, P)>) -> Self {
        let nodes = nodes.into_iter().map(|(truth, read)| (truth.into(), read.into())).collect();
        Self { nodes, edges: Vec::new() }
    }

    /// Adds an edge, unless it is there.
    ///
    /// ```
    /// # use maxmargin_report::Network;
    /// let graph = Network::new([("0", "1"), ("0", "1")]);
    /// assert_eq!(graph.edge(0, 1).edge(1, 0).edges, [(0, 1)]);
    /// ```
    #[must_use]
    pub fn edge(mut self, a: usize, b: usize) -> Self {
        if !self.edges.contains(&(a, b)) && !self.edges.contains(&(b, a)) {
            self.edges.push((a, b));
        }
        self
    }
}
