//! Counts which words occur together in sentence pairs.

use maxmargin::sort;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::reader::RawAlignment;

/// The number of sentence pairs that contain a word, and the number that contain two words, one on each side.
///
/// The counts do not need links, so any text and its translation will do. Upper and lower case count as the same.
///
/// ```
/// use maxmargin_io::{Lines, WordCounts, read_alignments};
///
/// let text = "the house\tla maison\nThe dog\tle chien\n";
/// let counts = WordCounts::of(&read_alignments(Lines::from_reader("example", text.as_bytes())?)?);
/// assert_eq!(counts.pairs(), 2);
/// assert_eq!(counts.dice("house", "maison"), 1.0);
/// assert_eq!(counts.dice("the", "chien"), 2.0 / 3.0); // 2·1/(2 + 1)
/// # Ok::<(), maxmargin_io::DataError>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WordCounts {
    pairs: u32,
    source: Vocabulary,
    target: Vocabulary,
    /// (source word, target word, count), in increasing order.
    together: Vec<(u32, u32, u32)>,
}

/// The words of one side, in alphabetical order.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Vocabulary {
    words: Vec<String>,
    counts: Vec<u32>,
    /// The place of each word by falling frequency, from 1.
    ranks: Vec<u32>,
}

/// A word that was looked up: its number if it is known, its count and its rank.
#[derive(Debug, Clone, Copy)]
pub(super) struct Known {
    pub(super) number: Option<u32>,
    pub(super) count: u32,
    pub(super) rank: u32,
}

impl WordCounts {
    /// Counts the words of sentence pairs.
    pub fn of<'a>(pairs: impl IntoIterator<Item = &'a RawAlignment>) -> Self {
        let mut sides = [BTreeMap::<String, u32>::new(), BTreeMap::new()];
        let mut sentences: Vec<[Vec<String>; 2]> = Vec::new();
        for pair in pairs {
            let both = [types(&pair.source), types(&pair.target)];
            for (words, counts) in both.iter().zip(&mut sides) {
                words.iter().for_each(|word| *counts.entry(word.clone()).or_default() += 1);
            }
            sentences.push(both);
        }
        let [source, target] = sides.map(Vocabulary::new);
        let mut together = BTreeMap::<(u32, u32), u32>::new();
        for [words, others] in &sentences {
            let others: Vec<u32> = others.iter().filter_map(|word| target.find(word)).collect();
            for word in words.iter().filter_map(|word| source.find(word)) {
                others.iter().for_each(|&other| *together.entry((word, other)).or_default() += 1);
            }
        }
        let together = together.into_iter().map(|((a, b), count)| (a, b, count)).collect();
        Self { pairs: sentences.len() as u32, source, target, together }
    }

    /// Number of sentence pairs.
    pub fn pairs(&self) -> u32 {
        self.pairs
    }

    /// Dice's coefficient of two words: 2·n(s, t)/(n(s) + n(t)), from 0 (never together) to 1 (never
    /// apart).
    pub fn dice(&self, source: &str, target: &str) -> f64 {
        let source = self.source.look_up(&source.to_lowercase());
        let target = self.target.look_up(&target.to_lowercase());
        self.dice_of(source, target)
    }

    pub(super) fn dice_of(&self, source: Known, target: Known) -> f64 {
        let together = source.number.zip(target.number).map_or(0, |pair| self.together(pair));
        match source.count + target.count {
            0 => 0.0,
            apart => 2.0 * f64::from(together) / f64::from(apart),
        }
    }

    fn together(&self, pair: (u32, u32)) -> u32 {
        let at = self.together.binary_search_by_key(&pair, |entry| (entry.0, entry.1));
        at.map_or(0, |at| self.together[at].2)
    }

    pub(super) fn source(&self, word: &str) -> Known {
        self.source.look_up(word)
    }

    pub(super) fn target(&self, word: &str) -> Known {
        self.target.look_up(word)
    }
}

impl Vocabulary {
    fn new(counts: BTreeMap<String, u32>) -> Self {
        let (words, counts): (Vec<String>, Vec<u32>) = counts.into_iter().unzip();
        let mut order: Vec<usize> = (0..words.len()).collect();
        sort::by_key(&mut order, |&at| std::cmp::Reverse(counts[at]));
        let mut ranks = vec![0; words.len()];
        (1..).zip(order).for_each(|(rank, at)| ranks[at] = rank);
        Self { words, counts, ranks }
    }

    fn find(&self, word: &str) -> Option<u32> {
        self.words.binary_search_by(|known| known.as_str().cmp(word)).ok().map(|at| at as u32)
    }

    /// A word that is not known has the count 0, and ranks behind all others.
    fn look_up(&self, word: &str) -> Known {
        let number = self.find(word);
        let of = |all: &[u32]| number.and_then(|at| all.get(at as usize).copied());
        let rank = of(&self.ranks).unwrap_or(self.words.len() as u32 + 1);
        Known { number, count: of(&self.counts).unwrap_or(0), rank }
    }
}

/// The distinct words of a sentence, in small letters.
fn types(words: &[String]) -> Vec<String> {
    let mut types: Vec<String> = words.iter().map(|word| word.to_lowercase()).collect();
    types.sort_unstable();
    types.dedup();
    types
}
