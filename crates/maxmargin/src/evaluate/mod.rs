//! Measures of predictions: error rates, per-label scores, confusions, chunks, sets of labels, links,
//! joints and regions.

mod alignment;
mod confusion;
mod joints;
mod multilabel;
mod segmentation;

pub use alignment::AlignmentScores;
pub use confusion::Confusion;
#[cfg(feature = "unstable")]
pub use joints::DetectedJoints;
pub use multilabel::LabelSetScores;
pub use segmentation::Segmentation;

use std::collections::BTreeMap;

/// Mistakes over sequences of labels.
///
/// ```
/// use maxmargin::evaluate::SequenceErrors;
/// let mut errors = SequenceErrors::default();
/// errors.add(&[1, 2, 3], &[1, 2, 0]);
/// errors.add(&[1], &[1]);
/// assert_eq!((errors.hamming(), errors.zero_one()), (0.25, 0.5));
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct SequenceErrors {
    /// Number of labels.
    pub tokens: u64,
    /// Number of wrong labels.
    pub wrong_tokens: u64,
    /// Number of sequences.
    pub sequences: u64,
    /// Number of sequences with a wrong label.
    pub wrong_sequences: u64,
}

impl SequenceErrors {
    /// Adds a sequence with its true and its predicted labels.
    ///
    /// ```
    /// let mut errors = maxmargin::evaluate::SequenceErrors::default();
    /// errors.add(&["a", "b"], &["a", "c"]);
    /// assert_eq!((errors.wrong_tokens, errors.wrong_sequences), (1, 1));
    /// ```
    ///
    /// # Panics
    /// If the two are not of one length.
    pub fn add<T: PartialEq>(&mut self, truth: &[T], predicted: &[T]) {
        assert_eq!(truth.len(), predicted.len(), "one prediction per token");
        let wrong = truth.iter().zip(predicted).filter(|(a, b)| a != b).count() as u64;
        self.tokens += truth.len() as u64;
        self.wrong_tokens += wrong;
        self.sequences += 1;
        self.wrong_sequences += u64::from(wrong > 0);
    }

    /// Share of wrong labels, in [0, 1], or 0 if there are no labels.
    ///
    /// ```
    /// let mut errors = maxmargin::evaluate::SequenceErrors::default();
    /// errors.add(&[1, 2, 3, 4], &[1, 2, 3, 0]);
    /// assert_eq!(errors.hamming(), 0.25);
    /// ```
    pub fn hamming(&self) -> f64 {
        ratio(self.wrong_tokens, self.tokens)
    }

    /// Share of sequences with a wrong label, in [0, 1], or 0 if there are no sequences.
    ///
    /// ```
    /// let mut errors = maxmargin::evaluate::SequenceErrors::default();
    /// errors.add(&[1, 2, 3, 4], &[1, 2, 3, 0]);
    /// assert_eq!(errors.zero_one(), 1.0);
    /// ```
    pub fn zero_one(&self) -> f64 {
        ratio(self.wrong_sequences, self.sequences)
    }
}

fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

/// Hits, predictions and true cases of one class.
///
/// ```
/// use maxmargin::evaluate::Counts;
///
/// let counts = Counts { hits: 3, predicted: 4, truth: 6 };
/// assert_eq!((counts.precision(), counts.recall(), counts.f1()), (0.75, 0.5, 0.6));
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Counts {
    /// Cases that are true and predicted.
    pub hits: u64,
    /// All cases that are predicted.
    pub predicted: u64,
    /// All cases that are true.
    pub truth: u64,
}

impl Counts {
    /// Share of predicted cases that are true, or 0 if nothing is predicted.
    pub fn precision(&self) -> f64 {
        ratio(self.hits, self.predicted)
    }

    /// Share of true cases that are predicted, or 0 if nothing is true.
    pub fn recall(&self) -> f64 {
        ratio(self.hits, self.truth)
    }

    /// The harmonic mean of precision and recall, or 0 if nothing is true or predicted.
    pub fn f1(&self) -> f64 {
        ratio(2 * self.hits, self.predicted + self.truth)
    }
}

/// Counts per name, for example of labels or of types of chunks.
///
/// ```
/// use maxmargin::evaluate::Tally;
/// let mut labels = Tally::default();
/// labels.add_labels(&["a", "b", "b"], &["a", "b", "a"]);
/// assert_eq!(labels.of("b").recall(), 0.5);
/// assert_eq!(labels.total().f1(), 2.0 / 3.0);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Tally {
    counts: BTreeMap<String, Counts>,
}

impl Tally {
    /// Adds the labels of one sequence. Each position counts separately.
    ///
    /// # Panics
    /// If the two are not of one length.
    ///
    /// ```
    /// use maxmargin::evaluate::{Counts, Tally};
    ///
    /// let mut labels = Tally::default();
    /// labels.add_labels(&["a", "b", "b"], &["a", "b", "a"]);
    /// assert_eq!(labels.of("a"), Counts { hits: 1, predicted: 2, truth: 1 });
    /// ```
    pub fn add_labels(&mut self, truth: &[&str], predicted: &[&str]) {
        assert_eq!(truth.len(), predicted.len(), "one prediction per token");
        for (truth, predicted) in truth.iter().zip(predicted) {
            self.entry(truth).truth += 1;
            self.entry(predicted).predicted += 1;
            if truth == predicted {
                self.entry(truth).hits += 1;
            }
        }
    }

    /// Adds one example with a set of labels. Neither list may repeat a label.
    ///
    /// ```
    /// use maxmargin::evaluate::{Counts, Tally};
    ///
    /// let mut labels = Tally::default();
    /// labels.add_sets(&["sport", "news"], &["news"]);
    /// assert_eq!(labels.total(), Counts { hits: 1, predicted: 1, truth: 2 });
    /// ```
    pub fn add_sets(&mut self, truth: &[&str], predicted: &[&str]) {
        truth.iter().for_each(|name| self.entry(name).truth += 1);
        predicted.iter().for_each(|name| self.entry(name).predicted += 1);
        for name in truth.iter().filter(|name| predicted.contains(name)) {
            self.entry(name).hits += 1;
        }
    }

    /// Adds the chunks of one sequence of BIO labels. A chunk counts as a hit only if type, start and end
    /// agree, as in the CoNLL shared tasks.
    ///
    /// An `I-` that does not continue a chunk of its type begins one. Labels that are not BIO tags count
    /// as `O`.
    ///
    /// ```
    /// use maxmargin::evaluate::Tally;
    /// let mut chunks = Tally::default();
    /// chunks.add_chunks(&["B-NP", "I-NP", "O", "B-VP"], &["B-NP", "O", "O", "B-VP"]);
    /// assert_eq!((chunks.of("VP").f1(), chunks.of("NP").f1()), (1.0, 0.0));
    /// ```
    pub fn add_chunks(&mut self, truth: &[&str], predicted: &[&str]) {
        let (truth, predicted) = (chunks(truth), chunks(predicted));
        for chunk in &truth {
            self.entry(chunk.kind).truth += 1;
        }
        for chunk in &predicted {
            self.entry(chunk.kind).predicted += 1;
        }
        let mut others = predicted.iter().peekable();
        for chunk in &truth {
            while others.next_if(|other| other.start < chunk.start).is_some() {}
            if others.peek() == Some(&chunk) {
                self.entry(chunk.kind).hits += 1;
            }
        }
    }

    /// The counts of one name, which are 0 if it never occurred.
    ///
    /// ```
    /// use maxmargin::evaluate::{Counts, Tally};
    /// assert_eq!(Tally::default().of("NP"), Counts::default());
    /// ```
    pub fn of(&self, name: &str) -> Counts {
        self.counts.get(name).copied().unwrap_or_default()
    }

    /// All names that occurred, true or predicted, in alphabetical order, with their counts.
    ///
    /// ```
    /// let mut labels = maxmargin::evaluate::Tally::default();
    /// labels.add_labels(&["b", "b"], &["b", "a"]);
    /// let recalls: Vec<_> = labels.iter().map(|(name, counts)| (name, counts.recall())).collect();
    /// assert_eq!(recalls, [("a", 0.0), ("b", 0.5)]);
    /// ```
    pub fn iter(&self) -> impl Iterator<Item = (&str, Counts)> {
        self.counts.iter().map(|(name, counts)| (name.as_str(), *counts))
    }

    /// The sum of all counts (micro average).
    ///
    /// ```
    /// let mut labels = maxmargin::evaluate::Tally::default();
    /// labels.add_labels(&["b", "b"], &["b", "a"]);
    /// assert_eq!(labels.total().precision(), 0.5);
    /// ```
    pub fn total(&self) -> Counts {
        self.counts.values().fold(Counts::default(), |sum, c| Counts {
            hits: sum.hits + c.hits,
            predicted: sum.predicted + c.predicted,
            truth: sum.truth + c.truth,
        })
    }

    /// The mean F1 of all names that occurred (macro average), or 0 if there are none.
    ///
    /// ```
    /// let mut labels = maxmargin::evaluate::Tally::default();
    /// labels.add_labels(&["b", "b"], &["b", "a"]);
    /// assert_eq!(labels.macro_f1(), 1.0 / 3.0); // a: 0, b: 2/3
    /// ```
    pub fn macro_f1(&self) -> f64 {
        let sum: f64 = self.counts.values().map(Counts::f1).sum();
        if self.counts.is_empty() { 0.0 } else { sum / self.counts.len() as f64 }
    }

    /// Adds to the counts of a name.
    fn add_counts(&mut self, name: &str, more: Counts) {
        let entry = self.entry(name);
        entry.hits += more.hits;
        entry.predicted += more.predicted;
        entry.truth += more.truth;
    }

    fn entry(&mut self, name: &str) -> &mut Counts {
        if !self.counts.contains_key(name) {
            self.counts.insert(name.to_owned(), Counts::default());
        }
        self.counts.get_mut(name).expect("it is there by now")
    }
}

/// A run of tokens with a type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Chunk<'a> {
    kind: &'a str,
    start: usize,
    end: usize,
}

/// Whether labels look like BIO tags: `O`, or `B-` or `I-` with a type, with a `B-` or `I-` among them.
///
/// ```
/// use maxmargin::evaluate::is_bio;
/// assert!(is_bio(["O", "B-NP", "I-NP"]));
/// assert!(!is_bio(["O"]) && !is_bio(["a", "b"]));
/// ```
#[cfg(feature = "unstable")]
pub fn is_bio<'a>(labels: impl IntoIterator<Item = &'a str>) -> bool {
    let mut chunky = false;
    for label in labels {
        match split(label) {
            Some((_, kind)) => chunky |= !kind.is_empty(),
            None => return false,
        }
    }
    chunky
}

/// The tag and the type of a BIO label. The type of `O` is empty.
fn split(label: &str) -> Option<(u8, &str)> {
    match label.as_bytes() {
        b"O" => Some((b'O', "")),
        [tag @ (b'B' | b'I'), b'-', _, ..] => Some((*tag, &label[2..])),
        _ => None,
    }
}

/// The chunks of a sequence. An `I-` that does not continue a chunk of its type begins one.
fn chunks<'a>(labels: &[&'a str]) -> Vec<Chunk<'a>> {
    let mut found: Vec<Chunk<'a>> = Vec::new();
    let mut open = false;
    for (at, label) in labels.iter().enumerate() {
        let Some((tag, kind)) = split(label).filter(|(tag, _)| *tag != b'O') else {
            open = false;
            continue;
        };
        match found.last_mut() {
            Some(last) if open && tag == b'I' && last.kind == kind => last.end = at + 1,
            _ => found.push(Chunk { kind, start: at, end: at + 1 }),
        }
        open = true;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_begin_where_the_conll_script_begins_them() {
        let found = chunks(&["I-NP", "I-NP", "B-NP", "I-VP", "O", "I-VP"]);
        let spans: Vec<_> = found.iter().map(|c| (c.kind, c.start, c.end)).collect();
        assert_eq!(spans, [("NP", 0, 2), ("NP", 2, 3), ("VP", 3, 4), ("VP", 5, 6)]);
    }

    #[test]
    fn a_chunk_is_a_hit_only_as_a_whole() {
        let mut tally = Tally::default();
        tally.add_chunks(
            &["B-NP", "I-NP", "B-VP", "O", "B-NP"],
            &["B-NP", "I-NP", "B-VP", "I-VP", "B-PP"],
        );
        assert_eq!(tally.of("NP"), Counts { hits: 1, predicted: 1, truth: 2 });
        assert_eq!(tally.of("VP"), Counts { hits: 0, predicted: 1, truth: 1 });
        assert_eq!(tally.total(), Counts { hits: 1, predicted: 3, truth: 3 });
    }

    #[test]
    fn empty_data_have_no_errors() {
        assert_eq!(SequenceErrors::default().hamming(), 0.0);
        assert_eq!(Tally::default().total().f1(), 0.0);
    }
}
