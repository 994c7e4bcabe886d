//! Sections of small pictures: tiles, and words of letters.

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
