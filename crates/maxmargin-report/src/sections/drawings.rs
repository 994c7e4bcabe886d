//! Sections of drawings: lines, dots and areas, on pictures or on paper.

/// A colour of a [`Drawing`], by its number: equal numbers are equal colours, in all drawings of a
/// section. They are those of the lines of plots, eight in all.
pub type Colour = usize;

/// Drawings with captions, and what their colours mean.
///
/// ```
/// use maxmargin_report::{Drawing, Drawings};
///
/// let stick = Drawing::new("Ann", 20.0, 40.0).line((10.0, 5.0), (10.0, 30.0), 0);
/// let drawings = Drawings::new("Poses").colour("true", 0).drawing(stick);
/// assert_eq!(drawings.drawings.len(), 1);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Drawings {
    /// The heading of the section.
    pub heading: String,
    /// A sentence or two under the heading; may be empty.
    pub note: String,
    /// What colours mean.
    pub key: Vec<(String, Colour)>,
    /// The drawings.
    pub drawings: Vec<Drawing>,
}

impl Drawings {
    /// A section without drawings.
    ///
    /// ```
    /// assert!(maxmargin_report::Drawings::new("Poses").drawings.is_empty());
    /// ```
    pub fn new(heading: impl Into<String>) -> Self {
        Self { heading: heading.into(), ..Self::default() }
    }

    /// Sets the sentence under the heading.
    ///
    /// ```
    /// assert_eq!(maxmargin_report::Drawings::new("A").note("b").note, "b");
    /// ```
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.note = note.into();
        self
    }

    /// Says what a colour means.
    ///
    /// ```
    /// assert_eq!(maxmargin_report::Drawings::new("A").colour("true", 2).key.len(), 1);
    /// ```
    #[must_use]
    pub fn colour(mut self, meaning: impl Into<String>, colour: Colour) -> Self {
        self.key.push((meaning.into(), colour));
        self
    }

    /// Adds a drawing.
    ///
    /// ```
    /// # use maxmargin_report::{Drawing, Drawings};
    /// assert_eq!(Drawings::new("A").drawing(Drawing::new("b", 1.0, 1.0)).drawings.len(), 1);
    /// ```
    #[must_use]
    pub fn drawing(mut self, drawing: Drawing) -> Self {
        self.drawings.push(drawing);
        self
    }
}

/// What a drawing is made of.
///
/// ```
/// use maxmargin_report::Mark;
/// let dot = Mark::Dot { centre: (1.0, 2.0), colour: 3 };
/// assert_ne!(dot, Mark::Dot { centre: (1.0, 2.0), colour: 4 });
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Mark {
    /// A line between two points.
    Line {
        /// One end.
        from: (f64, f64),
        /// The other.
        to: (f64, f64),
        /// Its colour.
        colour: Colour,
    },
    /// A thin dashed line between two points.
    Dashed {
        /// One end.
        from: (f64, f64),
        /// The other.
        to: (f64, f64),
        /// Its colour.
        colour: Colour,
    },
    /// A small dot.
    Dot {
        /// Where it is.
        centre: (f64, f64),
        /// Its colour.
        colour: Colour,
    },
    /// Squares of a grid that lets shine through what is behind it.
    Cells {
        /// The side of a square.
        side: f64,
        /// Rows and columns of the squares.
        cells: Vec<(u32, u32)>,
        /// Their colour.
        colour: Colour,
    },
}

/// A drawing: x runs to the right, y downwards.
///
/// ```
/// use maxmargin_report::Drawing;
///
/// let drawing = Drawing::new("Ann", 20.0, 40.0).dot((10.0, 5.0), 1);
/// assert_eq!((drawing.width, drawing.marks.len()), (20.0, 1));
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Drawing {
    /// The text under it.
    pub caption: String,
    /// Its width.
    pub width: f64,
    /// Its height.
    pub height: f64,
    /// A picture behind it that fills it: a JPEG or PNG file.
    pub backdrop: Option<Vec<u8>>,
    /// What is drawn, in this order.
    pub marks: Vec<Mark>,
}

impl Drawing {
    /// An empty sheet.
    ///
    /// ```
    /// assert!(maxmargin_report::Drawing::new("Ann", 2.0, 3.0).marks.is_empty());
    /// ```
    pub fn new(caption: impl Into<String>, width: f64, height: f64) -> Self {
        Self { caption: caption.into(), width, height, ..Self::default() }
    }

    /// Puts a picture behind it: the bytes of a JPEG or PNG file. Others are left out.
    ///
    /// ```
    /// # use maxmargin_report::Drawing;
    /// assert!(Drawing::new("Ann", 2.0, 3.0).backdrop(b"no picture".to_vec()).backdrop.is_some());
    /// ```
    #[must_use]
    pub fn backdrop(mut self, file: Vec<u8>) -> Self {
        self.backdrop = Some(file);
        self
    }

    /// Draws a line.
    ///
    /// ```
    /// # use maxmargin_report::Drawing;
    /// assert_eq!(Drawing::new("A", 2.0, 3.0).line((0.0, 0.0), (1.0, 1.0), 0).marks.len(), 1);
    /// ```
    #[must_use]
    pub fn line(mut self, from: (f64, f64), to: (f64, f64), colour: Colour) -> Self {
        self.marks.push(Mark::Line { from, to, colour });
        self
    }

    /// Draws a thin dashed line.
    ///
    /// ```
    /// # use maxmargin_report::Drawing;
    /// assert_eq!(Drawing::new("A", 2.0, 3.0).dashed((0.0, 0.0), (1.0, 1.0), 0).marks.len(), 1);
    /// ```
    #[must_use]
    pub fn dashed(mut self, from: (f64, f64), to: (f64, f64), colour: Colour) -> Self {
        self.marks.push(Mark::Dashed { from, to, colour });
        self
    }

    /// Draws a dot.
    ///
    /// ```
    /// # use maxmargin_report::Drawing;
    /// assert_eq!(Drawing::new("A", 2.0, 3.0).dot((1.0, 1.0), 0).marks.len(), 1);
    /// ```
    #[must_use]
    pub fn dot(mut self, centre: (f64, f64), colour: Colour) -> Self {
        self.marks.push(Mark::Dot { centre, colour });
        self
    }

    /// Colours squares of a grid, given by rows and columns.
    ///
    /// ```
    /// # use maxmargin_report::Drawing;
    /// assert_eq!(Drawing::new("A", 2.0, 3.0).cells(1.0, vec![(0, 1)], 0).marks.len(), 1);
    /// ```
    #[must_use]
    pub fn cells(mut self, side: f64, cells: Vec<(u32, u32)>, colour: Colour) -> Self {
        self.marks.push(Mark::Cells { side, cells, colour });
        self
    }
}
