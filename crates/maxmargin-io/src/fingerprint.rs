//! A short number that identifies a data set.

use std::fmt;
use std::str::FromStr;

use maxmargin::model::chain::Sequence;
use maxmargin::model::factor_graph::{Counting, Patterns};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use thiserror::Error;
use xxhash_rust::xxh3::Xxh3;

use crate::factor_graph::RawFactorGraph;
use crate::names::Names;
use crate::sequence::RawSequence;

/// The number of bytes that are hashed at once.
const PIECE: usize = 1 << 16;

/// A 128-bit hash (XXH3) of a data set in name form.
///
/// It depends on labels, attribute names, values (bit by bit), costs of tokens, example weights, and on the order
/// of all these. It does not depend on the file: compression, line ends, comments, and the way numbers are written
/// make no difference, and the same sequences in another format have the same fingerprint. It shows whether data
/// are those that a model was trained on. It does not protect against deliberate fraud.
///
/// Users see 32 hexadecimal digits. The default, which consists of zeros, stands for data that were not read as a
/// whole and in order, such as those of workers that each loaded a part.
///
/// ```
/// use maxmargin_io::Fingerprint;
///
/// let fingerprint: Fingerprint = "00112233445566778899aabbccddeeff".parse()?;
/// assert_eq!(fingerprint.to_string(), "00112233445566778899aabbccddeeff");
/// # Ok::<(), maxmargin_io::FingerprintError>(())
/// ```
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Fingerprint(u128);

impl Fingerprint {
    /// The fingerprint as a number.
    ///
    /// ```
    /// let fingerprint: maxmargin_io::Fingerprint = "000000000000000000000000000000ff".parse()?;
    /// assert_eq!(fingerprint.value(), 255);
    /// # Ok::<(), maxmargin_io::FingerprintError>(())
    /// ```
    pub fn value(self) -> u128 {
        self.0
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Fingerprint({self})")
    }
}

/// A text that is not a fingerprint.
///
/// ```
/// let error = "xyz".parse::<maxmargin_io::Fingerprint>().unwrap_err();
/// assert_eq!(error.to_string(), "a fingerprint has 32 hexadecimal digits, unlike `xyz`");
/// ```
#[derive(Debug, Error, Clone, PartialEq, Eq)]
#[error("a fingerprint has 32 hexadecimal digits, unlike {}", crate::error::quote(.0))]
pub struct FingerprintError(String);

impl FromStr for Fingerprint {
    type Err = FingerprintError;

    fn from_str(text: &str) -> Result<Self, FingerprintError> {
        let wrong = || FingerprintError(text.into());
        if text.len() != 32 || !text.bytes().all(|b| b.is_ascii_hexdigit()) {
            return Err(wrong());
        }
        u128::from_str_radix(text, 16).map(Self).map_err(|_| wrong())
    }
}

impl Serialize for Fingerprint {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Fingerprint {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

/// Computes a [`Fingerprint`] sequence by sequence.
///
/// ```
/// use maxmargin_io::{Fingerprinter, RawSequence};
///
/// let mut sequence = RawSequence::new();
/// sequence.push_token(Some("a"));
/// let (mut once, mut twice) = (Fingerprinter::new(), Fingerprinter::new());
/// once.add(&sequence);
/// twice.add(&sequence);
/// assert_eq!(once.finish(), twice.finish());
/// twice.add(&sequence);
/// assert_ne!(once.finish(), twice.finish());
/// ```
pub struct Fingerprinter {
    hasher: Xxh3,
    /// The bytes of one sequence, because hashing a few long pieces is faster than hashing many short ones.
    bytes: Vec<u8>,
}

impl Default for Fingerprinter {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Fingerprinter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Fingerprinter({})", self.finish())
    }
}

impl Fingerprinter {
    /// Starts a fingerprint of sequences.
    ///
    /// ```
    /// use maxmargin_io::Fingerprinter;
    /// assert_eq!(Fingerprinter::new().finish(), Fingerprinter::default().finish());
    /// ```
    pub fn new() -> Self {
        let mut hasher = Xxh3::new();
        // If the encoding below ever changes, this text must change too.
        hasher.update(b"maxmargin sequences 1");
        Self { hasher, bytes: Vec::new() }
    }

    /// Starts a fingerprint of factor graphs.
    ///
    /// ```
    /// use maxmargin_io::Fingerprinter;
    /// assert_ne!(Fingerprinter::for_factor_graphs().finish(), Fingerprinter::new().finish());
    /// ```
    pub fn for_factor_graphs() -> Self {
        let mut hasher = Xxh3::new();
        hasher.update(b"maxmargin factor graphs 1");
        Self { hasher, bytes: Vec::new() }
    }

    /// Adds a factor graph.
    ///
    /// ```
    /// let mut fingerprinter = maxmargin_io::Fingerprinter::for_factor_graphs();
    /// let before = fingerprinter.finish();
    /// fingerprinter.add_factor_graph(&maxmargin_io::RawFactorGraph::default());
    /// assert_ne!(fingerprinter.finish(), before);
    /// ```
    pub fn add_factor_graph(&mut self, graph: &RawFactorGraph) {
        self.bytes.clear();
        self.number(graph.weight.to_bits());
        self.number(graph.variables.len() as u64);
        for variable in &graph.variables {
            self.number(u64::from(variable.states));
            self.number(variable.truth.map_or(u64::MAX, u64::from));
            self.number(variable.cost.to_bits());
        }
        self.number(graph.factors.len() as u64);
        for factor in &graph.factors {
            self.text(&factor.template);
            self.number(factor.variables.len() as u64);
            factor.variables.iter().for_each(|&v| self.number(u64::from(v)));
            self.number(factor.attributes.len() as u64);
            for (name, value) in &factor.attributes {
                self.text(name);
                self.number(value.to_bits());
            }
            if let Some(patterns) = &factor.patterns {
                self.patterns(patterns);
            }
        }
        self.hasher.update(&self.bytes);
    }

    /// Patterns begin with a number that cannot be the length of a text, because the length of a text may come here
    /// otherwise.
    fn patterns(&mut self, patterns: &Patterns) {
        self.number(u64::MAX);
        self.number(u64::from(patterns.counting() == Counting::First));
        self.number(patterns.len() as u64);
        for state in patterns.rows().iter().flatten() {
            self.number(state.map_or(u64::MAX, u64::from));
        }
    }

    /// Adds a sequence.
    ///
    /// ```
    /// let mut fingerprinter = maxmargin_io::Fingerprinter::new();
    /// let before = fingerprinter.finish();
    /// fingerprinter.add(&maxmargin_io::RawSequence::new());
    /// assert_ne!(fingerprinter.finish(), before);
    /// ```
    pub fn add(&mut self, sequence: &RawSequence) {
        self.bytes.clear();
        encode_sequence(sequence, &mut self.bytes);
        self.hasher.update(&self.bytes);
    }

    /// Adds a sequence in index form, without example weight and without costs. It is added piece by piece, because
    /// its bytes may be several times as long as its text.
    pub(crate) fn add_named(&mut self, sequence: Sequence<'_>, labels: &Names, attributes: &Names) {
        self.bytes.clear();
        self.number(sequence.len() as u64);
        self.number(1f64.to_bits());
        for (token, &label) in sequence.tokens().zip(sequence.labels()) {
            if self.bytes.len() >= PIECE {
                self.hasher.update(&self.bytes);
                self.bytes.clear();
            }
            let mut encoder = Encoder::within_sequence(&mut self.bytes);
            encoder.begin_token(labels.name(label));
            let pairs = token.pairs();
            pairs.for_each(|(name, value)| encoder.attribute(attributes.name(name), value));
            encoder.end_token(token.attributes.len());
        }
        self.hasher.update(&self.bytes);
    }

    /// Adds sequences that were [encoded](encode_sequence) before.
    pub(crate) fn add_encoded(&mut self, bytes: &[u8]) {
        self.hasher.update(bytes);
    }

    /// The fingerprint of all sequences so far.
    ///
    /// ```
    /// assert_eq!(maxmargin_io::Fingerprinter::new().finish().to_string().len(), 32);
    /// ```
    pub fn finish(&self) -> Fingerprint {
        Fingerprint(self.hasher.digest128())
    }

    /// Starts a fingerprint of records of another kind, which `what` names.
    ///
    /// ```
    /// use maxmargin_io::Fingerprinter;
    ///
    /// let (cows, goats) = (Fingerprinter::for_records("cows"), Fingerprinter::for_records("goats"));
    /// assert_ne!(cows.finish(), goats.finish());
    /// ```
    pub fn for_records(what: &str) -> Self {
        let mut hasher = Xxh3::new();
        hasher.update(b"maxmargin records 1");
        hasher.update(&(what.len() as u64).to_le_bytes());
        hasher.update(what.as_bytes());
        Self { hasher, bytes: Vec::new() }
    }

    /// Adds a record: texts and numbers.
    ///
    /// ```
    /// let mut fingerprinter = maxmargin_io::Fingerprinter::for_records("cows");
    /// let before = fingerprinter.finish();
    /// fingerprinter.add_record(["Berta"], [4.0]);
    /// assert_ne!(fingerprinter.finish(), before);
    /// ```
    pub fn add_record<'a>(
        &mut self,
        texts: impl IntoIterator<Item = &'a str>,
        numbers: impl IntoIterator<Item = f64>,
    ) {
        self.bytes.clear();
        let mut all = 0u64;
        for text in texts {
            self.text(text);
            all += 1;
        }
        self.number(all);
        for number in numbers {
            self.number(number.to_bits());
            all += 1;
        }
        self.number(all);
        self.hasher.update(&self.bytes);
    }

    fn number(&mut self, number: u64) {
        self.bytes.extend(number.to_le_bytes());
    }

    fn text(&mut self, text: &str) {
        self.number(text.len() as u64);
        self.bytes.extend(text.as_bytes());
    }
}

/// Appends the bytes that represent a sequence in a fingerprint.
pub(crate) fn encode_sequence(sequence: &RawSequence, to: &mut Vec<u8>) {
    let mut encoder = Encoder::begin_sequence(to, sequence.weight());
    for token in sequence.tokens() {
        encoder.begin_token_with(token.label(), token.cost());
        let attributes = token.attributes();
        let count = attributes.len();
        attributes.for_each(|(name, value)| encoder.attribute(name, value));
        encoder.end_token(count);
    }
    encoder.end_sequence();
}

/// Writes the bytes that represent a sequence in a fingerprint, part by part.
///
/// Every text follows its length, and every list follows its number of items. So different data have different
/// bytes.
pub(crate) struct Encoder<'a> {
    to: &'a mut Vec<u8>,
    /// The place of the number of tokens.
    start: usize,
    tokens: u64,
    /// The place of the number of attributes of the current token.
    attributes: usize,
}

impl<'a> Encoder<'a> {
    /// For tokens of a sequence whose beginning was written before.
    fn within_sequence(to: &'a mut Vec<u8>) -> Self {
        Self { to, start: 0, tokens: 0, attributes: 0 }
    }

    pub(crate) fn begin_sequence(to: &'a mut Vec<u8>, weight: f64) -> Self {
        let start = to.len();
        to.extend_from_slice(&[0; 8]);
        to.extend_from_slice(&weight.to_bits().to_le_bytes());
        Self { to, start, tokens: 0, attributes: 0 }
    }

    /// Adds a token with a label, at which a mistake costs 1.
    #[inline]
    pub(crate) fn begin_token(&mut self, label: &str) {
        self.begin_token_with(Some(label), 1.0);
    }

    #[inline]
    pub(crate) fn begin_token_with(&mut self, label: Option<&str>, cost: f64) {
        // Bit 1 is set and the cost is written only if it is not 1. So data without costs have the same fingerprint
        // as in earlier versions.
        let has_cost = cost != 1.0;
        self.to.push(u8::from(label.is_some()) | u8::from(has_cost) << 1);
        if has_cost {
            self.to.extend_from_slice(&cost.to_bits().to_le_bytes());
        }
        self.text(label.unwrap_or(""));
        self.attributes = self.to.len();
        self.to.extend_from_slice(&[0; 8]);
        self.tokens += 1;
    }

    #[inline]
    pub(crate) fn attribute(&mut self, name: &str, value: f64) {
        // Make room for all of it at once, because there are very many attributes.
        let start = self.to.len();
        self.to.resize(start + 8 + name.len() + 8, 0);
        let (length, rest) = self.to[start..].split_at_mut(8);
        let (text, bits) = rest.split_at_mut(name.len());
        length.copy_from_slice(&(name.len() as u64).to_le_bytes());
        text.copy_from_slice(name.as_bytes());
        bits.copy_from_slice(&value.to_bits().to_le_bytes());
    }

    pub(crate) fn end_token(&mut self, attributes: usize) {
        let at = self.attributes;
        self.to[at..at + 8].copy_from_slice(&(attributes as u64).to_le_bytes());
    }

    /// Forgets the tokens so far.
    pub(crate) fn forget_tokens(&mut self) {
        self.to.truncate(self.start + 16);
    }

    pub(crate) fn end_sequence(self) {
        self.to[self.start..self.start + 8].copy_from_slice(&self.tokens.to_le_bytes());
    }

    #[inline]
    fn text(&mut self, text: &str) {
        self.to.extend_from_slice(&(text.len() as u64).to_le_bytes());
        self.to.extend_from_slice(text.as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(build: impl Fn(&mut RawSequence)) -> Fingerprint {
        let mut sequence = RawSequence::new();
        build(&mut sequence);
        let mut fingerprinter = Fingerprinter::new();
        fingerprinter.add(&sequence);
        fingerprinter.finish()
    }

    #[test]
    fn everything_that_matters_changes_it() {
        let all = [
            of(|s| s.push_token(Some("a"))),
            of(|s| s.push_token(Some("b"))),
            of(|s| s.push_token(Some(""))),
            of(|s| s.push_token(None)),
            of(|s| {
                s.push_token(Some("a"));
                s.push_token(Some("a"));
            }),
            of(|s| {
                s.push_token(Some("a"));
                s.set_weight(2.0);
            }),
            of(|s| {
                s.push_token(Some("a"));
                s.push_attribute("x", 0.0);
            }),
            of(|s| {
                s.push_token(Some("a"));
                s.push_attribute("x", -0.0);
            }),
            of(|s| {
                s.push_token(Some("a"));
                s.push_attribute("y", 0.0);
            }),
        ];
        for (i, a) in all.iter().enumerate() {
            assert!(all[..i].iter().all(|b| a != b), "{i}");
        }
    }

    #[test]
    fn number_and_comment_do_not_matter() {
        let plain = of(|s| s.push_token(Some("1")));
        let adorned = of(|s| {
            s.push_token(Some("1"));
            s.set_comment("so so");
            s.set_id(Some(3));
            s.set_place(9, 9);
        });
        assert_eq!(plain, adorned);
    }

    #[test]
    fn it_is_the_same_on_every_machine_and_in_every_version() {
        let fixed = of(|s| {
            s.push_token(Some("a"));
            s.push_attribute("x", 0.5);
        });
        // Checked against the Python package xxhash on the same bytes.
        assert_eq!(fixed.to_string(), "6f72f7bf9b4052af1cdd960becdf413f");
    }

    #[test]
    fn text_and_json_go_both_ways() {
        let fingerprint = of(|s| s.push_token(None));
        assert_eq!(fingerprint.to_string().parse(), Ok(fingerprint));
        let json = serde_json::to_string(&fingerprint).unwrap();
        assert_eq!(json, format!("\"{fingerprint}\""));
        assert_eq!(serde_json::from_str::<Fingerprint>(&json).unwrap(), fingerprint);
        assert!(serde_json::from_str::<Fingerprint>("\"12\"").is_err());
        assert!("+0112233445566778899aabbccddeeff".parse::<Fingerprint>().is_err());
    }
}
