//! How similar two words look.

/// Share of the longer word that the two have in common from the start, in [0, 1].
pub(super) fn prefix(a: &[u32], b: &[u32]) -> f64 {
    let common = a.iter().zip(b).take_while(|(a, b)| a == b).count();
    ratio(common, a.len().max(b.len()))
}

/// The letters of a sentence, without accents. Letters that are not among them all have the same number, which none of
/// the sentence has.
pub(super) struct Alphabet {
    /// In increasing order.
    letters: Vec<char>,
}

impl Alphabet {
    /// The letters of these words.
    pub(super) fn of(words: &[String]) -> Self {
        let mut letters: Vec<char> =
            words.iter().flat_map(|word| word.chars()).map(plain).collect();
        letters.sort_unstable();
        letters.dedup();
        Self { letters }
    }

    /// How many letters there are.
    pub(super) fn len(&self) -> usize {
        self.letters.len()
    }

    /// The number of a letter; all others have the number [`len`](Self::len).
    pub(super) fn number(&self, letter: char) -> u32 {
        self.letters.binary_search(&letter).unwrap_or(self.letters.len()) as u32
    }
}

/// Longest common subsequences of one word with many others.
///
/// Words of at most 64 letters are compared with a bit for each letter, a letter of the other word at a time (Hyyrö,
/// 2004); longer ones by dynamic programming.
#[derive(Debug, Default)]
pub(super) struct Subsequence {
    /// For each letter, its places in the word.
    places: Vec<u64>,
    row: Vec<usize>,
}

impl Subsequence {
    /// Begins to compare words with `word`, whose letters are among the first `letters` ones.
    pub(super) fn begin(&mut self, word: &[u32], letters: usize) {
        self.places.clear();
        self.places.resize(letters + 1, 0);
        if word.len() <= 64 {
            (0..).zip(word).for_each(|(at, &letter)| self.places[letter as usize] |= 1 << at);
        }
    }

    /// Share of the longer word that is left of the longest common subsequence, in [0, 1].
    pub(super) fn share(&mut self, word: &[u32], other: &[u32]) -> f64 {
        let common = if word.len() <= 64 {
            // A bit is 0 where the length of the longest common subsequence with the word up to there grows by one.
            let grows = other.iter().fold(u64::MAX, |same, &letter| {
                let found = same & self.places[letter as usize];
                same.wrapping_add(found) | (same - found)
            });
            grows.count_zeros() as usize
        } else {
            self.by_rows(word, other)
        };
        ratio(common, word.len().max(other.len()))
    }

    /// The length of the longest common subsequence, by dynamic programming.
    fn by_rows(&mut self, a: &[u32], b: &[u32]) -> usize {
        let row = &mut self.row;
        row.clear();
        row.resize(b.len() + 1, 0);
        for x in a {
            let mut diagonal = 0;
            for (at, y) in b.iter().enumerate() {
                let above = row[at + 1];
                row[at + 1] = if x == y { diagonal + 1 } else { above.max(row[at]) };
                diagonal = above;
            }
        }
        row[b.len()]
    }
}

fn ratio(part: usize, whole: usize) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

/// A letter without its accent, of the Latin alphabets of Europe: `é` is much like `e`.
pub(super) fn plain(c: char) -> char {
    const ACCENTED: [(&str, char); 17] = [
        ("àáâãäåāą", 'a'),
        ("çćč", 'c'),
        ("ďđ", 'd'),
        ("èéêëēęě", 'e'),
        ("ğ", 'g'),
        ("ìíîïī", 'i'),
        ("ľĺł", 'l'),
        ("ñńň", 'n'),
        ("òóôõöøőō", 'o'),
        ("ŕř", 'r'),
        ("śšş", 's'),
        ("ťţ", 't'),
        ("ùúûüůűū", 'u'),
        ("ýÿ", 'y'),
        ("źžż", 'z'),
        ("ß", 's'),
        ("æ", 'a'),
    ];
    if c.is_ascii() {
        return c;
    }
    ACCENTED.iter().find(|(letters, _)| letters.contains(c)).map_or(c, |(_, plain)| *plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shares(a: &str, b: &str) -> (f64, f64) {
        let alphabet = Alphabet::of(&[a.to_owned()]);
        let numbers = |word: &str| -> Vec<u32> {
            word.chars().map(|letter| alphabet.number(plain(letter))).collect()
        };
        let (a, b) = (numbers(a), numbers(b));
        let mut subsequence = Subsequence::default();
        subsequence.begin(&a, alphabet.len());
        (prefix(&a, &b), subsequence.share(&a, &b))
    }

    #[test]
    fn words_are_compared_letter_by_letter() {
        assert_eq!(shares("nationale", "national"), (8.0 / 9.0, 8.0 / 9.0));
        assert_eq!(shares("abcd", "xbyd"), (0.0, 0.5));
        assert_eq!(shares("", ""), (0.0, 0.0));
        assert_eq!(shares("", "a"), (0.0, 0.0));
        assert_eq!("Příště éß".chars().map(plain).collect::<String>(), "Priste es");
    }

    #[test]
    fn subsequences_by_bits_are_as_long_as_by_rows() {
        let mut state = 1_u64;
        let mut draw = |most: u64| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) % most
        };
        let mut subsequence = Subsequence::default();
        for round in 0..2000 {
            let letters = 1 + draw(5);
            // The other word may have letters that the word does not have.
            let mut word = |letters| -> Vec<u32> {
                let length = draw(if round % 4 == 0 { 80 } else { 9 });
                (0..length).map(|_| draw(letters) as u32).collect()
            };
            let (a, b) = (word(letters), word(letters + 1));
            subsequence.begin(&a, letters as usize);
            let expected = ratio(subsequence.by_rows(&a, &b), a.len().max(b.len()));
            assert_eq!(subsequence.share(&a, &b), expected, "{a:?} {b:?}");
        }
        let long = vec![0; 65];
        subsequence.begin(&long, 1);
        assert_eq!(subsequence.share(&long, &[1, 0, 0]), 2.0 / 65.0);
    }
}
