//! Segments of sequences, and the tags for them in files of tagged tokens.
//!
//! A file has a tag for each token, and a semi-Markov chain predicts segments: consecutive tokens with one label.
//! The readers of chains read the tags. This module converts them to segments and back.

use crate::constant::CONSTANT;
use crate::dataset::{Dataset, intern};
use crate::fingerprint::{Fingerprint, Fingerprinter};
use crate::mapping::UNKNOWN_LABEL;
use crate::names::Names;
use maxmargin::evaluate::Tally;
use maxmargin::model::chain::Sequences;
use maxmargin::model::segment::{Segment, Segmentations};
use maxmargin::model::{InputError, Row};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::str::FromStr;

/// The label of tokens outside of all segments that are counted.
const OUTSIDE: &str = "O";

/// How files of tagged tokens mark segments.
///
/// With `B-`, `I-`, `E-` and `S-` (or `L-` for `E-` and `U-` for `S-`), the text after the mark is the label of a
/// segment, and tokens tagged `O` are segments of one token each. An `I-` or `E-` that does not continue a segment
/// with its label begins a new segment.
///
/// ```
/// use maxmargin_io::SegmentTags;
///
/// assert_eq!(SegmentTags::of(["O", "B-NP", "I-NP"]), SegmentTags::Bio);
/// assert_eq!(SegmentTags::of(["O", "B-NP", "E-NP", "S-NP"]), SegmentTags::Bioes);
/// assert_eq!(SegmentTags::of(["walks", "runs"]), SegmentTags::Runs);
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum SegmentTags {
    /// `B-` begins a segment and `I-` continues it.
    #[default]
    Bio,
    /// `B-` begins a segment of several tokens, `I-` continues it, `E-` ends it, and `S-` is a segment of a single
    /// token.
    Bioes,
    /// Tags are labels, and consecutive tokens with the same tag are a segment.
    Runs,
}

/// The meaning of a tag for its token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mark {
    Begin,
    Inside,
    End,
    Single,
    /// A label without a mark, whose segment continues as long as it is repeated.
    Plain,
}

/// The mark and the label of a tag, if it has a mark.
fn split(tag: &str) -> Option<(Mark, &str)> {
    if tag == OUTSIDE {
        return Some((Mark::Single, OUTSIDE));
    }
    let mark = match tag.as_bytes() {
        [b'B', b'-', _, ..] => Mark::Begin,
        [b'I', b'-', _, ..] => Mark::Inside,
        [b'E' | b'L', b'-', _, ..] => Mark::End,
        [b'S' | b'U', b'-', _, ..] => Mark::Single,
        _ => return None,
    };
    Some((mark, &tag[2..]))
}

impl FromStr for SegmentTags {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let known = [Self::Bio, Self::Bioes, Self::Runs];
        let found = known.into_iter().find(|scheme| scheme.name() == name);
        found.ok_or_else(|| format!("unknown tags {name:?}; known are bio, bioes, runs"))
    }
}

impl SegmentTags {
    /// Finds out how these tags mark segments.
    pub fn of<'a>(tags: impl IntoIterator<Item = &'a str>) -> Self {
        let (mut is_marked, mut has_ends) = (false, false);
        for tag in tags {
            let Some((mark, _)) = split(tag) else { return Self::Runs };
            is_marked |= tag != OUTSIDE;
            has_ends |= tag != OUTSIDE && matches!(mark, Mark::End | Mark::Single);
        }
        match (is_marked, has_ends) {
            (false, _) => Self::Runs,
            (true, false) => Self::Bio,
            (true, true) => Self::Bioes,
        }
    }

    /// The name: `bio`, `bioes` or `runs`.
    ///
    /// ```
    /// assert_eq!(maxmargin_io::SegmentTags::Bioes.name(), "bioes");
    /// ```
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bio => "bio",
            Self::Bioes => "bioes",
            Self::Runs => "runs",
        }
    }

    /// The segments that the tags of a sequence mark: first token, the token after the last one, and label.
    ///
    /// ```
    /// use maxmargin_io::SegmentTags;
    /// let found = SegmentTags::Bio.spans(&["B-NP", "I-NP", "O"]);
    /// assert_eq!(found, [(0, 2, "NP"), (2, 3, "O")]);
    /// ```
    pub fn spans<'a>(self, tags: &[&'a str]) -> Vec<(usize, usize, &'a str)> {
        let label = |tag: &'a str| match self {
            Self::Runs => tag,
            _ => split(tag).map_or(tag, |(_, label)| label),
        };
        let labels: Names = tags.iter().map(|tag| label(tag)).collect();
        let names = TagNames::new(self, &labels);
        let number = |tag: &&str| names.names().get(tag).unwrap_or(UNKNOWN_LABEL);
        let numbers: Vec<u32> = tags.iter().map(number).collect();
        let mut start = 0;
        let span = |segment: &Segment| {
            let begin = start;
            start += segment.length as usize;
            (begin, start, label(tags[begin]))
        };
        names.segments(&numbers).iter().map(span).collect()
    }

    /// Whether it is the default, which files leave out.
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
    pub(crate) fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// The tags of segments with given labels.
///
/// ```
/// use maxmargin::model::segment::Segment;
/// use maxmargin_io::{Names, SegmentTags, TagNames};
///
/// let labels: Names = ["NP", "O"].into_iter().collect();
/// let tags = TagNames::new(SegmentTags::Bio, &labels);
/// let number = |tag| tags.names().get(tag).unwrap();
/// let sentence = ["B-NP", "I-NP", "O", "I-NP"].map(number);
/// let segments = tags.segments(&sentence);
/// assert_eq!(segments[0], Segment { length: 2, label: 0 });
/// assert_eq!(segments[1], Segment { length: 1, label: 1 });
/// assert_eq!(tags.tags(&segments).collect::<Vec<_>>(), ["B-NP", "I-NP", "O", "B-NP"]);
/// ```
#[derive(Debug, Clone)]
pub struct TagNames {
    scheme: SegmentTags,
    /// The labels of segments.
    labels: Names,
    /// All tags that can be read.
    names: Names,
    /// The meaning of each of them.
    meanings: Vec<(Mark, u32)>,
}

impl TagNames {
    /// The tags of segments with these labels.
    pub fn new(scheme: SegmentTags, labels: &Names) -> Self {
        let (mut names, mut meanings) = (Names::new(), Vec::new());
        let mut add = |tag: &str, meaning| {
            // If two tags are written alike, the first one counts.
            if names.intern(tag) as usize == meanings.len() {
                meanings.push(meaning);
            }
        };
        for (label, name) in (0..).zip(labels.iter()) {
            if scheme == SegmentTags::Runs {
                add(name, (Mark::Plain, label));
                continue;
            }
            if name == OUTSIDE {
                add(OUTSIDE, (Mark::Single, label));
            }
            for (mark, letters) in [
                (Mark::Begin, ["B", ""]),
                (Mark::Inside, ["I", ""]),
                (Mark::End, ["E", "L"]),
                (Mark::Single, ["S", "U"]),
            ] {
                for letter in letters.into_iter().filter(|letter| !letter.is_empty()) {
                    add(&format!("{letter}-{name}"), (mark, label));
                }
            }
        }
        Self { scheme, labels: labels.clone(), names, meanings }
    }

    /// The names of the tags, by number.
    pub fn names(&self) -> &Names {
        &self.names
    }

    /// The segments that the tags of a sequence mark, given the numbers of the tags. An unknown tag has the number
    /// [`UNKNOWN_LABEL`], and is a segment of one token with that label.
    pub fn segments(&self, tags: &[u32]) -> Vec<Segment> {
        let mut found: Vec<Segment> = Vec::new();
        let mut is_open = false;
        for &tag in tags {
            let meaning = self.meanings.get(tag as usize).copied();
            let (mark, label) = meaning.unwrap_or((Mark::Single, UNKNOWN_LABEL));
            let goes_on = matches!(mark, Mark::Inside | Mark::End | Mark::Plain);
            match found.last_mut() {
                Some(last) if is_open && goes_on && last.label == label => last.length += 1,
                _ => found.push(Segment { length: 1, label }),
            }
            is_open = !matches!(mark, Mark::End | Mark::Single);
        }
        found
    }

    /// The tags of segments. Tokens outside of segments have the tag `O` each.
    pub fn tags<'a>(&'a self, segments: &'a [Segment]) -> impl Iterator<Item = Cow<'a, str>> {
        segments.iter().flat_map(move |&Segment { length, label }| {
            (0..length).map(move |t| self.tag(label, t, length))
        })
    }

    fn tag(&self, label: u32, t: u32, length: u32) -> Cow<'_, str> {
        let name = match (label as usize) < self.labels.len() {
            true => self.labels.name(label),
            false => "(unknown)",
        };
        let letter = match (self.scheme, t) {
            (SegmentTags::Runs, _) => return name.into(),
            _ if name == OUTSIDE => return OUTSIDE.into(),
            (SegmentTags::Bioes, 0) if length == 1 => 'S',
            (_, 0) => 'B',
            (SegmentTags::Bioes, t) if t + 1 == length => 'E',
            _ => 'I',
        };
        format!("{letter}-{name}").into()
    }

    /// Counts the segments of a sequence that were found: those of the same label, start and end are hits. Tokens
    /// outside of segments do not count.
    ///
    /// ```
    /// use maxmargin::evaluate::Tally;
    /// use maxmargin::model::segment::Segment;
    /// use maxmargin_io::{Names, SegmentTags, TagNames};
    ///
    /// let labels: Names = ["NP", "O"].into_iter().collect();
    /// let (two, out) = (Segment { length: 2, label: 0 }, Segment { length: 1, label: 1 });
    /// let mut tally = Tally::default();
    /// TagNames::new(SegmentTags::Bio, &labels).count(&[two, out, two], &[two, out, out, out], &mut tally);
    /// assert_eq!((tally.total().precision(), tally.total().recall()), (1.0, 0.5));
    /// ```
    pub fn count(&self, truth: &[Segment], predicted: &[Segment], tally: &mut Tally) {
        let plain = |segments: &[Segment]| -> Vec<String> {
            let tag = |&Segment { length, label }: &Segment| {
                let is_known = (label as usize) < self.labels.len();
                let name = if is_known { self.labels.name(label) } else { "(unknown)" };
                let is_outside = self.scheme != SegmentTags::Runs && name == OUTSIDE;
                (0..length).map(move |t| match (is_outside, t) {
                    (true, _) => OUTSIDE.to_owned(),
                    (false, 0) => format!("B-{name}"),
                    (false, _) => format!("I-{name}"),
                })
            };
            segments.iter().flat_map(tag).collect()
        };
        let (truth, predicted) = (plain(truth), plain(predicted));
        let truth: Vec<&str> = truth.iter().map(String::as_str).collect();
        let predicted: Vec<&str> = predicted.iter().map(String::as_str).collect();
        tally.add_chunks(&truth, &predicted);
    }
}

/// Sequences that are divided into segments, with the names of their labels and attributes.
///
/// ```
/// use maxmargin_io::{Format, Lines, SegmentDataset, open_reader, read_training};
///
/// let lines = Lines::from_reader("f", "B-NP\tthe\nI-NP\tcat\nO\tpurrs\n".as_bytes())?;
/// let data = SegmentDataset::of(&read_training(open_reader(lines, Some(Format::Crfsuite))?)?)?;
/// assert_eq!(data.labels.iter().collect::<Vec<_>>(), ["NP", "O"]);
/// assert_eq!((data.segments.truth(0).len(), data.segments.longest()), (2, 2));
/// assert_eq!(data.attributes.iter().last(), Some(maxmargin_io::CONSTANT)); // which all tokens have
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct SegmentDataset {
    /// The sequences.
    pub segments: Segmentations,
    /// Names of the labels of segments.
    pub labels: Names,
    /// Names of the attributes of tokens.
    pub attributes: Names,
    /// How files mark the segments.
    pub tags: SegmentTags,
}

impl SegmentDataset {
    /// Divides sequences into segments by their tags. In addition, all tokens get the attribute [`CONSTANT`].
    ///
    /// # Errors
    /// If a token has its own cost, because segments have no costs of tokens.
    pub fn of(data: &Dataset) -> Result<Self, InputError> {
        let scheme = SegmentTags::of(data.labels.iter());
        let mut labels = Names::new();
        for tag in data.labels.iter() {
            let label = match scheme {
                SegmentTags::Runs => tag,
                _ => split(tag).map_or(tag, |(_, label)| label),
            };
            labels.intern(label);
        }
        let mut attributes = data.attributes.clone();
        let constant = intern(&mut attributes, CONSTANT);
        let names = TagNames::new(scheme, &labels);
        // The data have their own numbers for their tags.
        let number = |tag: &str| names.names().get(tag).unwrap_or(UNKNOWN_LABEL);
        let numbers: Vec<u32> = data.labels.iter().map(number).collect();
        let own = |tag: u32| numbers.get(tag as usize).copied().unwrap_or(tag);
        let segments = cut(&data.sequences, &names, own, constant)?;
        Ok(Self { segments, labels, attributes, tags: scheme })
    }
}

/// Divides sequences into segments by their tags, which have the numbers of `tags`. In addition, all tokens get the
/// attribute `constant`.
///
/// ```
/// use maxmargin::model::chain::Sequences;
/// use maxmargin_io::{Names, SegmentTags, TagNames, cut_into_segments};
///
/// let tags = TagNames::new(SegmentTags::Runs, &["a", "b"].into_iter().collect());
/// let mut data = Sequences::new();
/// for label in [0, 0, 1] {
///     data.push_token([(0, 1.0)], label)?;
/// }
/// data.end_sequence(1.0)?;
/// let segments = cut_into_segments(&data, &tags, Some(1))?;
/// assert_eq!((segments.truth(0).len(), segments.longest()), (2, 2));
/// assert_eq!(segments.token(0, 2).attributes, [0, 1]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If a token has its own cost, because segments have no costs of tokens.
pub fn cut_into_segments(
    data: &Sequences,
    tags: &TagNames,
    constant: Option<u32>,
) -> Result<Segmentations, InputError> {
    cut(data, tags, |tag| tag, constant)
}

fn cut(
    data: &Sequences,
    tags: &TagNames,
    number: impl Fn(u32) -> u32,
    constant: Option<u32>,
) -> Result<Segmentations, InputError> {
    let (mut segments, mut own) = (Segmentations::new(), Vec::new());
    for (i, sequence) in data.iter().enumerate() {
        for (t, token) in sequence.tokens().enumerate() {
            if sequence.cost(t) != 1.0 {
                return Err(InputError::Structure(format!(
                    "token {t} of sequence {i} has a cost of its own, of which segments know nothing"
                )));
            }
            let own = token.pairs().filter(|(at, _)| Some(*at) != constant);
            segments.push_token(own.chain(constant.map(|at| (at, 1.0))))?;
        }
        own.clear();
        own.extend(sequence.labels().iter().map(|&tag| number(tag)));
        segments.end_sequence(&tags.segments(&own), data.weight(i))?;
    }
    Ok(segments)
}

/// The fingerprint of sequences that are divided into segments, in index form. The order of attributes does not
/// matter, and attributes with the value 0 are ignored, so arrays and files of the same data have the same
/// fingerprint.
///
/// ```
/// use maxmargin::model::segment::{Segment, Segmentations};
/// use maxmargin_io::segment_fingerprint;
///
/// let mut data = Segmentations::new();
/// let empty = segment_fingerprint(&data);
/// data.push_token([(0, 1.0)])?;
/// data.end_sequence(&[Segment { length: 1, label: 0 }], 1.0)?;
/// assert_ne!(segment_fingerprint(&data), empty);
/// # Ok::<(), maxmargin::model::InputError>(())
/// ```
pub fn segment_fingerprint(data: &Segmentations) -> Fingerprint {
    let mut all = Fingerprinter::for_records("segments");
    let mut sorted = Vec::new();
    let mut add = |first: &[f64], row: Row<'_>| {
        sorted.clear();
        sorted.extend(row.pairs().filter(|(_, value)| *value != 0.0));
        sorted.sort_by_key(|(attribute, _)| *attribute);
        let numbers = sorted.iter().flat_map(|&(attribute, value)| [f64::from(attribute), value]);
        all.add_record([], first.iter().copied().chain(numbers));
    };
    for i in 0..data.len() {
        (0..data.tokens(i)).for_each(|t| add(&[], data.token(i, t)));
        data.segments(i).for_each(|(start, length, row)| add(&[start as f64, length as f64], row));
    }
    for i in 0..data.len() {
        let truth = data.truth(i).iter();
        let truth = truth.flat_map(|own| [own.length, own.label].map(f64::from));
        all.add_record([], [data.weight(i)].into_iter().chain(truth));
    }
    all.finish()
}

#[cfg(test)]
mod tests;
