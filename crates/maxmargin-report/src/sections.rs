//! The sections of a report other than plots.

use crate::plot::Plot;

/// A part of a [`Report`](crate::Report) with its own heading.
///
/// The variants hold plain structs that convert into sections, so a report is put together by
/// [`Report::with`](crate::Report::with). More kinds may come.
///
/// ```
/// use maxmargin_report::{Facts, Section};
///
/// let section: Section = Facts::new("Result").fact(("Duality gap", "0.00097")).into();
/// assert_eq!(section.heading(), "Result");
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Section {
    /// Paragraphs.
    Prose(Prose),
    /// Cards with a label and a value each.
    Facts(Facts),
    /// An interactive line plot.
    Plot(Plot),
    /// A table.
    Table(Table),
    /// Stacked horizontal bars.
    Bars(Bars),
    /// A matrix as colours.
    Heatmap(Heatmap),
    /// Small pictures with captions.
    Tiles(Tiles),
    /// Words as sequences of letter pictures, with what was read in them.
    Words(Words),
    /// Text in a fixed-width font, such as the command to repeat the run.
    Code(Code),
}

impl Section {
    /// The heading of the section, whatever its kind.
    ///
    /// ```
    /// use maxmargin_report::{Prose, Section};
    ///
    /// assert_eq!(Section::from(Prose::new("Certificate")).heading(), "Certificate");
    /// ```
    pub fn heading(&self) -> &str {
        match self {
            Self::Prose(section) => &section.heading,
            Self::Facts(section) => &section.heading,
            Self::Plot(section) => &section.heading,
            Self::Table(section) => &section.heading,
            Self::Bars(section) => &section.heading,
            Self::Heatmap(section) => &section.heading,
            Self::Tiles(section) => &section.heading,
            Self::Words(section) => &section.heading,
            Self::Code(section) => &section.heading,
        }
    }
}

macro_rules! into_section {
    ($($kind:ident),*) => {
        $(impl From<$kind> for Section {
            fn from(section: $kind) -> Self {
                Self::$kind(section)
            }
        })*
    };
}
into_section!(Prose, Facts, Plot, Table, Bars, Heatmap, Tiles, Words, Code);

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
    /// The paragraphs, without markup.
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

/// A table. Columns of numbers are set flush right with digits of equal width.
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
        self.columns.push(TableColumn { label: label.into(), numeric: false });
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
        self.columns.push(TableColumn { label: label.into(), numeric: true });
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

/// How numbers become colours.
///
/// ```
/// assert_eq!(maxmargin_report::Shade::default(), maxmargin_report::Shade::Ink);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Shade {
    /// Zero is paper, the largest value is ink; negative values are paper.
    #[default]
    Ink,
    /// Zero is paper, positive values are blue, negative ones orange.
    Diverging,
}

/// A small picture, given by numbers.
///
/// ```
/// use maxmargin_report::Bitmap;
///
/// let bitmap = Bitmap::new(2, 3, vec![0.0, 1.0, 0.0, 1.0, 1.0, 1.0]);
/// assert_eq!(bitmap.values.len(), 6);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Bitmap {
    /// The height in pixels.
    pub rows: usize,
    /// The width in pixels.
    pub columns: usize,
    /// The values, row by row. Absent values count as zero.
    pub values: Vec<f64>,
}

impl Bitmap {
    /// A picture of `rows` × `columns` pixels.
    ///
    /// ```
    /// assert_eq!(maxmargin_report::Bitmap::new(16, 8, vec![0.0; 128]).columns, 8);
    /// ```
    pub fn new(rows: usize, columns: usize, values: Vec<f64>) -> Self {
        Self { rows, columns, values }
    }
}

/// Small pictures with captions, all on one scale of colours.
///
/// ```
/// use maxmargin_report::{Bitmap, Shade, Tile, Tiles};
///
/// let tiles = Tiles::new("Letter weights", Shade::Diverging)
///     .tile(Tile::new("a", Bitmap::new(1, 2, vec![-0.5, 0.5])));
/// assert_eq!(tiles.tiles.len(), 1);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Tiles {
    /// The heading of the section.
    pub heading: String,
    /// A sentence or two under the heading; may be empty.
    pub note: String,
    /// How numbers become colours.
    pub shade: Shade,
    /// The pictures.
    pub tiles: Vec<Tile>,
}

impl Tiles {
    /// A section without pictures.
    ///
    /// ```
    /// # use maxmargin_report::{Shade, Tiles};
    /// assert!(Tiles::new("Letters", Shade::Ink).tiles.is_empty());
    /// ```
    pub fn new(heading: impl Into<String>, shade: Shade) -> Self {
        Self { heading: heading.into(), shade, ..Self::default() }
    }

    /// Sets the sentence under the heading.
    ///
    /// ```
    /// # use maxmargin_report::{Shade, Tiles};
    /// assert_eq!(Tiles::new("A", Shade::Ink).note("b").note, "b");
    /// ```
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.note = note.into();
        self
    }

    /// Adds a picture.
    ///
    /// ```
    /// # use maxmargin_report::{Bitmap, Shade, Tile, Tiles};
    /// let tile = Tile::new("a", Bitmap::new(1, 1, vec![1.0]));
    /// assert_eq!(Tiles::new("A", Shade::Ink).tile(tile).tiles.len(), 1);
    /// ```
    #[must_use]
    pub fn tile(mut self, tile: Tile) -> Self {
        self.tiles.push(tile);
        self
    }
}

/// A picture of [`Tiles`].
///
/// ```
/// use maxmargin_report::{Bitmap, Tile};
///
/// assert_eq!(Tile::new("a", Bitmap::new(1, 1, vec![1.0])).caption, "a");
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Tile {
    /// The text under the picture.
    pub caption: String,
    /// The picture.
    pub bitmap: Bitmap,
}

impl Tile {
    /// A picture with a caption.
    ///
    /// ```
    /// # use maxmargin_report::{Bitmap, Tile};
    /// assert_eq!(Tile::new("a", Bitmap::new(1, 1, vec![1.0])).bitmap.rows, 1);
    /// ```
    pub fn new(caption: impl Into<String>, bitmap: Bitmap) -> Self {
        Self { caption: caption.into(), bitmap }
    }
}

/// Words as sequences of letter pictures, with the true and the predicted letters under them.
///
/// ```
/// use maxmargin_report::{Bitmap, Letter, Word, Words};
///
/// let picture = Bitmap::new(1, 1, vec![1.0]);
/// let words = Words::new("Test words")
///     .word(Word::new([Letter::new(picture.clone(), "o", "o"), Letter::new(picture, "n", "u")]));
/// assert_eq!(words.words[0].errors(), 1);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Words {
    /// The heading of the section.
    pub heading: String,
    /// A sentence or two under the heading; may be empty.
    pub note: String,
    /// The words.
    pub words: Vec<Word>,
}

impl Words {
    /// A section without words.
    ///
    /// ```
    /// assert!(maxmargin_report::Words::new("Test words").words.is_empty());
    /// ```
    pub fn new(heading: impl Into<String>) -> Self {
        Self { heading: heading.into(), ..Self::default() }
    }

    /// Sets the sentence under the heading.
    ///
    /// ```
    /// # use maxmargin_report::Words;
    /// assert_eq!(Words::new("A").note("b").note, "b");
    /// ```
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.note = note.into();
        self
    }

    /// Adds a word.
    ///
    /// ```
    /// # use maxmargin_report::{Word, Words};
    /// assert_eq!(Words::new("A").word(Word::default()).words.len(), 1);
    /// ```
    #[must_use]
    pub fn word(mut self, word: Word) -> Self {
        self.words.push(word);
        self
    }
}

/// A word of [`Words`].
///
/// ```
/// use maxmargin_report::{Bitmap, Letter, Word};
///
/// let word = Word::new([Letter::new(Bitmap::new(1, 1, vec![1.0]), "n", "u")]);
/// assert_eq!((word.truth(), word.predicted()), ("n".to_string(), "u".to_string()));
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Word {
    /// The letters.
    pub letters: Vec<Letter>,
    /// A text beside the word, such as its loss or its place in the file; may be empty.
    pub caption: String,
}

impl Word {
    /// A word of letters.
    ///
    /// ```
    /// assert!(maxmargin_report::Word::new([]).letters.is_empty());
    /// ```
    pub fn new(letters: impl IntoIterator<Item = Letter>) -> Self {
        Self { letters: letters.into_iter().collect(), caption: String::new() }
    }

    /// Sets the text beside the word.
    ///
    /// ```
    /// # use maxmargin_report::Word;
    /// assert_eq!(Word::new([]).caption("fold 0").caption, "fold 0");
    /// ```
    #[must_use]
    pub fn caption(mut self, caption: impl Into<String>) -> Self {
        self.caption = caption.into();
        self
    }

    /// The number of letters whose prediction is wrong.
    ///
    /// ```
    /// # use maxmargin_report::{Bitmap, Letter, Word};
    /// assert_eq!(Word::new([Letter::new(Bitmap::default(), "n", "u")]).errors(), 1);
    /// ```
    pub fn errors(&self) -> usize {
        self.letters.iter().filter(|letter| letter.is_wrong()).count()
    }

    /// The true word.
    ///
    /// ```
    /// # use maxmargin_report::{Bitmap, Letter, Word};
    /// assert_eq!(Word::new([Letter::new(Bitmap::default(), "n", "u")]).truth(), "n");
    /// ```
    pub fn truth(&self) -> String {
        self.letters.iter().map(|letter| letter.truth.as_str()).collect()
    }

    /// The predicted word.
    ///
    /// ```
    /// # use maxmargin_report::{Bitmap, Letter, Word};
    /// assert_eq!(Word::new([Letter::new(Bitmap::default(), "n", "u")]).predicted(), "u");
    /// ```
    pub fn predicted(&self) -> String {
        self.letters.iter().map(|letter| letter.predicted.as_str()).collect()
    }
}

/// A letter of a [`Word`].
///
/// ```
/// use maxmargin_report::{Bitmap, Letter};
///
/// assert!(Letter::new(Bitmap::new(1, 1, vec![1.0]), "n", "u").is_wrong());
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Letter {
    /// The picture.
    pub bitmap: Bitmap,
    /// The true letter.
    pub truth: String,
    /// The predicted letter.
    pub predicted: String,
}

impl Letter {
    /// A letter with its truth and prediction.
    ///
    /// ```
    /// # use maxmargin_report::{Bitmap, Letter};
    /// assert_eq!(Letter::new(Bitmap::default(), "n", "u").truth, "n");
    /// ```
    pub fn new(bitmap: Bitmap, truth: impl Into<String>, predicted: impl Into<String>) -> Self {
        Self { bitmap, truth: truth.into(), predicted: predicted.into() }
    }

    /// Whether the prediction is wrong.
    ///
    /// ```
    /// # use maxmargin_report::{Bitmap, Letter};
    /// assert!(!Letter::new(Bitmap::default(), "n", "n").is_wrong());
    /// ```
    pub fn is_wrong(&self) -> bool {
        self.truth != self.predicted
    }
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
