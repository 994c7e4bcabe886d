//! The sections of a report other than plots.

mod browser;
mod confusions;
mod drawings;
mod numbers;
mod pictures;
mod tagged;
mod text;
mod weights;

pub use browser::{Answer, Body, Browser, Example, Links, Network};
pub use confusions::Confusions;
pub use drawings::{Colour, Drawing, Drawings, Mark};
pub use numbers::{Bar, Bars, Heatmap, Table, TableColumn};
pub use pictures::{Bitmap, Letter, Shade, Tile, Tiles, Word, Words};
pub use tagged::{Tagged, TaggedExample};
pub use text::{Code, Fact, Facts, Prose, Tone};
pub use weights::Weights;

pub(crate) use numbers::countable;

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
    /// Sequences of tokens with labels.
    Tagged(Tagged),
    /// Drawings with captions.
    Drawings(Drawings),
    /// What is taken for what.
    Confusions(Confusions),
    /// Examples to page through.
    Browser(Browser),
    /// The heaviest weights of each label.
    Weights(Weights),
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
            Self::Tagged(section) => &section.heading,
            Self::Drawings(section) => &section.heading,
            Self::Confusions(section) => &section.heading,
            Self::Browser(section) => &section.heading,
            Self::Weights(section) => &section.heading,
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
into_section!(
    Prose, Facts, Plot, Table, Bars, Heatmap, Tiles, Words, Tagged, Drawings, Confusions, Browser,
    Weights, Code
);
