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

/// What is known of a source word and its partners.
pub(super) struct Partners<'a> {
    /// The number of sentence pairs that contain the source word.
    count: u32,
    /// The entries of the source word, by target word.
    counts: &'a [(u32, u32, u32)],
}

impl Partners<'_> {
    /// Dice's coefficient of the source word and a target word.
    pub(super) fn dice(&self, target: Known) -> f64 {
        let at = |number| self.counts.binary_search_by_key(&number, |entry| entry.1).ok();
        let together = target.number.and_then(at).map_or(0, |at| self.counts[at].2);
        match self.count + target.count {
            0 => 0.0,
            apart => 2.0 * f64::from(together) / f64::from(apart),
        }
    }
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
        let numbers = |words: &[String], side: &Vocabulary| -> Vec<u32> {
            words.iter().filter_map(|word| side.find(word)).collect()
        };
        let numbers = |[words, others]: &[Vec<String>; 2]| {
            [numbers(words, &source), numbers(others, &target)]
        };
        let numbers: Vec<[Vec<u32>; 2]> = sentences.iter().map(numbers).collect();
        let together = count_together(&numbers, [source.words.len(), target.words.len()]);
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
        self.partners(source).dice(target)
    }

    /// The words that occur together with a source word.
    pub(super) fn partners(&self, source: Known) -> Partners<'_> {
        let counts = source.number.map_or(&[][..], |number| {
            let first = self.together.partition_point(|entry| entry.0 < number);
            let rest = &self.together[first..];
            &rest[..rest.partition_point(|entry| entry.0 == number)]
        });
        Partners { count: source.count, counts }
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

/// Counts for every source word the target words of its sentences: (source word, target word, count), in increasing
/// order. A word occurs once in a sentence, and there are so many words on both sides.
fn count_together(
    sentences: &[[Vec<u32>; 2]],
    [words, others]: [usize; 2],
) -> Vec<(u32, u32, u32)> {
    // The sentences of each word.
    let mut of_word = vec![Vec::new(); words];
    for (at, [own, _]) in sentences.iter().enumerate() {
        own.iter().for_each(|&word| of_word[word as usize].push(at));
    }
    // One word at a time, so that counts need no search.
    let (mut counts, mut seen, mut together) = (vec![0_u32; others], Vec::new(), Vec::new());
    for (word, own) in (0..).zip(&of_word) {
        for &other in own.iter().flat_map(|&at| &sentences[at][1]) {
            let count = &mut counts[other as usize];
            if *count == 0 {
                seen.push(other);
            }
            *count += 1;
        }
        seen.sort_unstable();
        let entry = |other: u32| (word, other, std::mem::take(&mut counts[other as usize]));
        together.extend(seen.drain(..).map(entry));
    }
    together
}

/// The distinct words of a sentence, in small letters.
fn types(words: &[String]) -> Vec<String> {
    let mut types: Vec<String> = words.iter().map(|word| word.to_lowercase()).collect();
    types.sort_unstable();
    types.dedup();
    types
}
