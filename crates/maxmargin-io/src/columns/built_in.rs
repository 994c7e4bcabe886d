//! The templates that are built in.

use super::attributes::Attributes;
use crate::error::quote;
use crate::suggest::suggest;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;
use thiserror::Error;

/// A built-in template, which makes attributes of columns. It does not use the column of the label.
///
/// * `words` looks at words only: those near by in lower case, the word as it is, its prefixes and
///   suffixes, and the shapes of the words beside it. For columns `word label`, and for CoNLL-U.
/// * `words+pos` looks at all other columns besides, the first of which is taken for parts of speech.
///   For `word pos label`, and for the `word pos chunk entity` of CoNLL-2003.
/// * `chunking` makes the attributes of CRFsuite's example for chunking, of `word pos chunk`.
///
/// ```
/// use maxmargin_io::BuiltInTemplate;
///
/// assert_eq!("words+pos".parse(), Ok(BuiltInTemplate::WordsPos));
/// assert_eq!(
///     "wrods".parse::<BuiltInTemplate>().unwrap_err().to_string(),
///     "unknown template `wrods`; built in are words, words+pos, chunking; did you mean `words`?",
/// );
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum BuiltInTemplate {
    /// Words only.
    #[serde(rename = "words")]
    Words,
    /// Words, parts of speech, and other columns.
    #[serde(rename = "words+pos")]
    WordsPos,
    /// CRFsuite's attributes for chunking.
    #[serde(rename = "chunking")]
    Chunking,
}

/// The words around each token, and the word as it is. Words in lower case predict as well as words as they are,
/// and there are fewer of them.
const NEAR: &str = "w[0] lower[-2] lower[-1] lower[0] lower[1] lower[2] \
    lower[-1]|lower[0] lower[0]|lower[1]";

/// What words look like, for data without other columns.
const WORDS: &str = "prefix1[0] prefix2[0] prefix3[0] prefix4[0] \
    suffix1[0] suffix2[0] suffix3[0] suffix4[0] suffix3[-1] suffix3[1] shape[-1] shape[0] shape[1]";

/// The same for data with parts of speech, which leave less to learn from the words.
const WORDS_BESIDE_POS: &str = "prefix2[0] prefix3[0] suffix2[0] suffix3[0] suffix4[0] \
    shape[-1] shape[0] shape[1]";

/// Parts of speech, as CRFsuite's example for chunking has them.
const POS: &str = "pos[-2] pos[-1] pos[0] pos[1] pos[2] \
    pos[-2]|pos[-1] pos[-1]|pos[0] pos[0]|pos[1] pos[1]|pos[2] \
    pos[-2]|pos[-1]|pos[0] pos[-1]|pos[0]|pos[1] pos[0]|pos[1]|pos[2]";

/// The words of that example.
const CHUNKING_WORDS: &str = "w[-2] w[-1] w[0] w[1] w[2] w[-1]|w[0] w[0]|w[1]";

impl BuiltInTemplate {
    /// All of them.
    ///
    /// ```
    /// let names = maxmargin_io::BuiltInTemplate::ALL.map(|template| template.name());
    /// assert_eq!(names, ["words", "words+pos", "chunking"]);
    /// ```
    pub const ALL: [Self; 3] = [Self::Words, Self::WordsPos, Self::Chunking];

    /// Its name for users and files.
    ///
    /// ```
    /// assert_eq!(maxmargin_io::BuiltInTemplate::WordsPos.name(), "words+pos");
    /// ```
    pub const fn name(self) -> &'static str {
        match self {
            Self::Words => "words",
            Self::WordsPos => "words+pos",
            Self::Chunking => "chunking",
        }
    }

    /// The columns it is for, the label included.
    ///
    /// ```
    /// assert_eq!(maxmargin_io::BuiltInTemplate::Chunking.columns(), "word pos chunk");
    /// ```
    pub const fn columns(self) -> &'static str {
        match self {
            Self::Words => "word label",
            Self::WordsPos => "word pos … label",
            Self::Chunking => "word pos chunk",
        }
    }

    /// The names of all, with their columns.
    ///
    /// ```
    /// let list = maxmargin_io::BuiltInTemplate::list();
    /// assert!(list.starts_with("words for `word label`, words+pos for `word pos … label`"));
    /// ```
    pub fn list() -> String {
        let all = Self::ALL.map(|own| format!("{} for `{}`", own.name(), own.columns()));
        all.join(", ")
    }

    /// The template for data with this number of columns besides the label.
    pub(super) const fn for_features(features: usize) -> Self {
        match features {
            0 | 1 => Self::Words,
            _ => Self::WordsPos,
        }
    }

    /// Whether it can be used with this number of columns besides the label.
    pub(crate) const fn takes(self, features: usize) -> bool {
        match self {
            Self::Words => features >= 1,
            Self::WordsPos => features >= 2,
            Self::Chunking => features == 2,
        }
    }

    /// Its attributes for data with this number of columns besides the label, as models store them. So predictions
    /// stay the same even if the template changes in a later version.
    pub(crate) fn lines(self, features: usize) -> Vec<String> {
        let parts = match self {
            Self::Words => [NEAR, WORDS, ""],
            Self::WordsPos => [NEAR, POS, WORDS_BESIDE_POS],
            Self::Chunking => [CHUNKING_WORDS, POS, ""],
        };
        let lines = parts.iter().flat_map(|part| part.split_whitespace());
        let mut lines: Vec<String> = lines.map(str::to_owned).collect();
        if self == Self::WordsPos {
            for column in 3..=features {
                lines.extend((-1..=1).map(|offset| format!("column{column}[{offset}]")));
            }
        }
        lines
    }
}

/// The attributes of CRFsuite's example for chunking.
pub(crate) fn chunking_attributes() -> Attributes {
    let lines = BuiltInTemplate::Chunking.lines(2);
    Attributes::parse(lines.iter().map(String::as_str)).expect("built-in lines make sense")
}

impl fmt::Display for BuiltInTemplate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for BuiltInTemplate {
    type Err = UnknownTemplate;

    fn from_str(name: &str) -> Result<Self, UnknownTemplate> {
        let found = Self::ALL.into_iter().find(|template| template.name() == name);
        found.ok_or_else(|| UnknownTemplate { name: name.into() })
    }
}

/// A name that is not that of a template.
///
/// ```
/// let error = "chunks".parse::<maxmargin_io::BuiltInTemplate>().unwrap_err();
/// assert_eq!(error.name, "chunks");
/// ```
#[derive(Debug, Error, Clone, PartialEq, Eq)]
#[error("unknown template {}; built in are {}{}", quote(.name), Self::known(), self.suggestion())]
pub struct UnknownTemplate {
    /// The name that was given.
    pub name: String,
}

impl UnknownTemplate {
    fn known() -> String {
        BuiltInTemplate::ALL.map(BuiltInTemplate::name).join(", ")
    }

    fn suggestion(&self) -> String {
        match suggest(&self.name, BuiltInTemplate::ALL.map(BuiltInTemplate::name)) {
            Some(name) => format!("; did you mean `{name}`?"),
            None => String::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_ways_to_name_a_template_agree() {
        for template in BuiltInTemplate::ALL {
            assert_eq!(template.name().parse(), Ok(template));
            let json = serde_json::to_string(&template).unwrap();
            assert_eq!(json, format!("\"{template}\""));
        }
    }

    #[test]
    fn built_in_lines_make_sense_and_look_at_no_more_than_there_is() {
        for template in BuiltInTemplate::ALL {
            for features in (1..6).filter(|&features| template.takes(features)) {
                let lines = template.lines(features);
                let attributes = Attributes::parse(lines.iter().map(String::as_str)).unwrap();
                let seen = if template == BuiltInTemplate::Words { 1 } else { features };
                assert_eq!(attributes.columns(), seen, "{template} {features}");
            }
        }
    }
}
