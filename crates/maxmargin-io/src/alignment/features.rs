//! The features of a link between two words.

use serde::{Deserialize, Serialize};

use maxmargin::model::InputError;
use maxmargin::model::matching::Pairs;

use super::counts::{Known, WordCounts};
use super::reader::RawAlignment;
use super::similarity::{Alphabet, Subsequence, plain, prefix};
use crate::names::Names;
use std::ops::Range;

/// The features that need no training, in the order of their attributes.
const PLAIN: [&str; 27] = [
    "bias",
    "dice",
    "dice squared",
    "dice by row",
    "dice by column",
    "best of row",
    "best of column",
    "best of both",
    "never together",
    "dice before",
    "dice after",
    "same word",
    "same mark",
    "mark and word",
    "prefix",
    "letters",
    "long prefix",
    "distance",
    "distance squared",
    "distance root",
    "nearest",
    "dice far away",
    "rank difference",
    "both rare",
    "both frequent",
    "length difference",
    "same before or after",
];

/// A word counts as frequent up to the rank `FREQUENT`, and as rare if at most `RARE` pairs contain it.
const FREQUENT: u32 = 50;
const RARE: u32 = 1;

/// Features of links between the words of a sentence and of its translation.
///
/// Every two words are a candidate. With s the source word at position i of R, t the target word at
/// position j of C, both counted from 0, and δ = |(i + ½)/R − (j + ½)/C|:
///
/// | attributes | what they are |
/// |---|---|
/// | `bias` | 1 |
/// | `dice`, `dice squared` | Dice's coefficient of s and t in the [counts](WordCounts) |
/// | `dice by row`, `dice by column` | the same, as a share of the largest in the row or column |
/// | `best of row`, `best of column`, `best of both` | whether it is that largest one, and more than 0 |
/// | `never together` | whether it is 0 |
/// | `dice before`, `dice after` | Dice's coefficient of the words before s and t, and after |
/// | `same word`, `same mark` | whether s and t are the same word (numbers too) or the same mark |
/// | `mark and word` | whether one is a mark (has no letter or digit), the other not |
/// | `prefix`, `letters` | share of the longer word in the common prefix, in the longest common subsequence; accents do not count |
/// | `long prefix` | whether at least four letters from the start agree |
/// | `distance`, `distance squared`, `distance root` | δ, δ², √δ |
/// | `nearest` | whether j is the position nearest to i |
/// | `dice far away` | `dice` · δ |
/// | `rank difference` | ∣ln rank(s) − ln rank(t)∣, by frequency, divided by 10 |
/// | `both rare`, `both frequent` | whether both are in one pair only; among the 50 most frequent |
/// | `length difference` | difference of the words' lengths as a share of the longer |
/// | `same before or after` | whether the words before or after s and t are the same |
/// | `s ↔ t` | one for every two words that training pairs link often enough ([`with_lexicon`](Self::with_lexicon)) |
///
/// All of it can be written to a file (serde) with a model, which is of no use without.
///
/// ```
/// use maxmargin::model::matching::Pairs;
/// use maxmargin_io::{AlignmentFeatures, Lines, WordCounts, read_alignments};
///
/// let text = "the house\tla maison\t2-2\nthe dog\tle chien\t2-2\n";
/// let pairs = read_alignments(Lines::from_reader("example", text.as_bytes())?)?;
/// let features = AlignmentFeatures::new(WordCounts::of(&pairs)).with_lexicon(&pairs, 1);
/// assert_eq!(features.attributes(), 27 + 2); // dog ↔ chien, house ↔ maison
/// let mut data = Pairs::new();
/// features.fill(&pairs[0], &mut data)?;
/// assert_eq!(data.pair(0).links().len(), 4);
/// assert_eq!(features.names().name(28), "house ↔ maison");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AlignmentFeatures {
    counts: WordCounts,
    /// Words that have an indicator together, in increasing order.
    lexicon: Vec<(String, String)>,
}

/// The properties of a word, computed once for all of its links.
struct Word {
    /// In small letters.
    text: String,
    /// The numbers of its letters without accents, in the alphabet of the source sentence.
    letters: Vec<u32>,
    is_mark: bool,
    known: Known,
}

impl AlignmentFeatures {
    /// Features with these counts, without a lexicon.
    pub fn new(counts: WordCounts) -> Self {
        Self { counts, lexicon: Vec::new() }
    }

    /// The same features, with an indicator for every two words that have a sure or possible link at least `least`
    /// times in `training`.
    #[must_use]
    pub fn with_lexicon<'a>(
        self,
        training: impl IntoIterator<Item = &'a RawAlignment>,
        least: u32,
    ) -> Self {
        let mut seen = std::collections::BTreeMap::<(String, String), u32>::new();
        for pair in training {
            for &(row, column, _) in &pair.links {
                let words = [&pair.source[row as usize], &pair.target[column as usize]];
                let [source, target] = words.map(|word| word.to_lowercase());
                *seen.entry((source, target)).or_default() += 1;
            }
        }
        let lexicon = seen.into_iter().filter(|(_, count)| *count >= least).map(|(words, _)| words);
        Self { lexicon: lexicon.collect(), ..self }
    }

    /// The counts.
    pub fn counts(&self) -> &WordCounts {
        &self.counts
    }

    /// Number of attributes.
    pub fn attributes(&self) -> usize {
        PLAIN.len() + self.lexicon.len()
    }

    /// The names of the attributes.
    pub fn names(&self) -> Names {
        let mut names = Names::new();
        PLAIN.iter().for_each(|name| {
            names.intern(name);
        });
        for (source, target) in &self.lexicon {
            names.intern(&format!("{source} ↔ {target}"));
        }
        names
    }

    /// Adds a pair with all of its candidate links to `data`.
    ///
    /// # Errors
    /// A link that was given to `data` before and not ended; there is nothing else that can be wrong.
    pub fn fill(&self, pair: &RawAlignment, data: &mut Pairs) -> Result<(), InputError> {
        let [source, target] = [&pair.source, &pair.target]
            .map(|words| words.iter().map(|word| word.to_lowercase()).collect::<Vec<_>>());
        let alphabet = Alphabet::of(&source);
        let words = |texts: Vec<String>, look_up: &dyn Fn(&str) -> Known| -> Vec<Word> {
            texts.into_iter().map(|text| Word::new(text, &alphabet, look_up)).collect()
        };
        let source = words(source, &|word| self.counts.source(word));
        let target = words(target, &|word| self.counts.target(word));
        let table = Table::new(&self.counts, &source, &target);
        let mut letters = Subsequence::default();
        let mut attributes = Vec::new();
        for (row, s) in source.iter().enumerate() {
            letters.begin(&s.letters, alphabet.len());
            let indicators = self.indicators(&s.text);
            for (column, t) in target.iter().enumerate() {
                attributes.clear();
                let values = table.features(row, column, &mut letters);
                attributes.extend((0..).zip(values).filter(|(_, value)| *value != 0.0));
                if let Some(at) = self.indicator(&indicators, &t.text) {
                    attributes.push(((PLAIN.len() + at) as u32, 1.0));
                }
                let gold = pair.gold(row as u32, column as u32);
                let attributes = attributes.iter().copied();
                data.push_link(row as u32, column as u32, attributes, gold)?;
            }
        }
        data.end_pair(source.len() as u32, target.len() as u32, 1.0)
    }

    /// The indicators of a source word.
    fn indicators(&self, source: &str) -> Range<usize> {
        let first = self.lexicon.partition_point(|known| known.0.as_str() < source);
        let count = self.lexicon[first..].partition_point(|known| known.0 == source);
        first..first + count
    }

    /// Which of the indicators of a source word is that of a target word, too.
    fn indicator(&self, of_source: &Range<usize>, target: &str) -> Option<usize> {
        let known =
            self.lexicon[of_source.clone()].binary_search_by(|known| known.1.as_str().cmp(target));
        known.ok().map(|at| of_source.start + at)
    }
}

impl Word {
    /// A word in small letters.
    fn new(text: String, alphabet: &Alphabet, look_up: impl Fn(&str) -> Known) -> Self {
        let letters = text.chars().map(|letter| alphabet.number(plain(letter))).collect();
        let is_mark = !text.chars().any(char::is_alphanumeric);
        let known = look_up(&text);
        Self { text, letters, is_mark, known }
    }
}

/// Dice's coefficients of all candidates of a pair.
struct Table<'a> {
    source: &'a [Word],
    target: &'a [Word],
    dice: Vec<f64>,
    row_best: Vec<f64>,
    column_best: Vec<f64>,
}

impl<'a> Table<'a> {
    fn new(counts: &WordCounts, source: &'a [Word], target: &'a [Word]) -> Self {
        let mut dice = Vec::with_capacity(source.len() * target.len());
        let (mut row_best, mut column_best) = (vec![0.0; source.len()], vec![0.0; target.len()]);
        for (s, best) in source.iter().zip(&mut row_best) {
            let partners = counts.partners(s.known);
            for (t, column_best) in target.iter().zip(&mut column_best) {
                let value = partners.dice(t.known);
                *best = value.max(*best);
                *column_best = value.max(*column_best);
                dice.push(value);
            }
        }
        Self { source, target, dice, row_best, column_best }
    }

    /// The coefficient of two words. It is 0 outside of the sentences.
    fn dice(&self, row: Option<usize>, column: Option<usize>) -> f64 {
        let inside = row
            .zip(column)
            .filter(|&(row, column)| row < self.source.len() && column < self.target.len());
        inside.map_or(0.0, |(row, column)| self.dice[row * self.target.len() + column])
    }

    fn is_same(&self, row: Option<usize>, column: Option<usize>) -> bool {
        let source = row.and_then(|row| self.source.get(row));
        let target = column.and_then(|column| self.target.get(column));
        source.zip(target).is_some_and(|(s, t)| s.text == t.text)
    }

    /// The features of two words. `letters` compares words with the source word.
    fn features(&self, row: usize, column: usize, letters: &mut Subsequence) -> [f64; PLAIN.len()] {
        let (s, t) = (&self.source[row], &self.target[column]);
        let on = |is: bool| f64::from(u8::from(is));
        let dice = self.dice(Some(row), Some(column));
        let share = |best: f64| if best > 0.0 { dice / best } else { 0.0 };
        let (by_row, by_column) = (share(self.row_best[row]), share(self.column_best[column]));
        let (before, after) =
            ([row.checked_sub(1), column.checked_sub(1)], [Some(row + 1), Some(column + 1)]);
        let place = |at: usize, length: usize| (at as f64 + 0.5) / length as f64;
        let x = place(row, self.source.len());
        let distance = (x - place(column, self.target.len())).abs();
        let nearest = (x * self.target.len() as f64) as usize == column;
        let same = s.text == t.text;
        let (lengths, words) = ((s.letters.len(), t.letters.len()), !s.is_mark && !t.is_mark);
        let longer = lengths.0.max(lengths.1).max(1) as f64;
        let long_prefix = lengths.0.min(lengths.1) >= 4 && s.letters[..4] == t.letters[..4];
        let rank = |word: &Word| f64::from(word.known.rank).ln();
        let (a, b) = (s.known, t.known);
        [
            1.0,
            dice,
            dice * dice,
            by_row,
            by_column,
            on(by_row == 1.0),
            on(by_column == 1.0),
            on(by_row == 1.0 && by_column == 1.0),
            on(dice == 0.0),
            self.dice(before[0], before[1]),
            self.dice(after[0], after[1]),
            on(same && words),
            on(same && s.is_mark),
            on(s.is_mark != t.is_mark),
            if words { prefix(&s.letters, &t.letters) } else { 0.0 },
            if words { letters.share(&s.letters, &t.letters) } else { 0.0 },
            on(words && long_prefix),
            distance,
            distance * distance,
            distance.sqrt(),
            on(nearest),
            dice * distance,
            (rank(s) - rank(t)).abs() / 10.0,
            on(a.count <= RARE && b.count <= RARE),
            on(a.rank <= FREQUENT && b.rank <= FREQUENT),
            lengths.0.abs_diff(lengths.1) as f64 / longer,
            on(self.is_same(before[0], before[1]) || self.is_same(after[0], after[1])),
        ]
    }
}
