//! The current sentence: its columns, and texts that are derived from its words.

use super::attributes::Value;
use std::ops::Range;

/// The columns of a sentence. All texts are in a few buffers, which are reused from sentence to sentence, so a
/// token needs no allocation.
#[derive(Debug, Default)]
pub(crate) struct Sentence {
    /// Columns and labels, back to back.
    text: String,
    cells: Vec<Range<usize>>,
    tokens: Vec<Token>,
    /// The words in lower case.
    lower: String,
    shapes: String,
}

/// Where the parts of a token are, and where it came from.
#[derive(Debug)]
struct Token {
    first: usize,
    label: Option<Range<usize>>,
    line: u64,
    label_column: u64,
    lower: Range<usize>,
    shape: Range<usize>,
}

impl Sentence {
    pub(crate) fn clear(&mut self) {
        self.text.clear();
        self.cells.clear();
        self.tokens.clear();
        self.lower.clear();
        self.shapes.clear();
    }

    /// Adds a token: its line, and the place of its label there.
    pub(crate) fn push_token(&mut self, line: u64, label_column: u64) {
        let first = self.cells.len();
        let none = 0..0;
        let (lower, shape) = (none.clone(), none);
        self.tokens.push(Token { first, label: None, line, label_column, lower, shape });
    }

    /// Gives the last token one more column, of which the first is the word.
    pub(crate) fn push_cell(&mut self, cell: &str) {
        let range = self.keep(cell);
        self.cells.push(range);
        let Some(token) = self.tokens.last_mut() else { return };
        if self.cells.len() == token.first + 1 {
            token.lower = push_lower(&mut self.lower, cell);
            token.shape = push_shape(&mut self.shapes, cell);
        }
    }

    /// Gives the last token a label.
    pub(crate) fn set_label(&mut self, label: &str) {
        let range = self.keep(label);
        if let Some(token) = self.tokens.last_mut() {
            token.label = Some(range);
        }
    }

    fn keep(&mut self, text: &str) -> Range<usize> {
        let start = self.text.len();
        self.text.push_str(text);
        start..self.text.len()
    }

    pub(crate) fn len(&self) -> usize {
        self.tokens.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.tokens.is_empty()
    }

    pub(crate) fn label(&self, t: usize) -> Option<&str> {
        self.tokens[t].label.clone().map(|range| &self.text[range])
    }

    /// The line of a token, and the place of its label in this line.
    pub(crate) fn place(&self, t: usize) -> (u64, u64) {
        (self.tokens[t].line, self.tokens[t].label_column)
    }

    /// The columns of a token, its label left out.
    pub(crate) fn cells(&self, t: usize) -> impl ExactSizeIterator<Item = &str> {
        let next = self.tokens.get(t + 1).map_or(self.cells.len(), |next| next.first);
        self.cells[self.tokens[t].first..next].iter().map(|range| &self.text[range.clone()])
    }

    /// A value of a token, if there is such a token and it has one.
    pub(super) fn value(&self, t: usize, value: Value) -> Option<&str> {
        let token = self.tokens.get(t)?;
        let lower = || &self.lower[token.lower.clone()];
        match value {
            Value::Column(column) => {
                self.cells.get(token.first + column).map(|range| &self.text[range.clone()])
            }
            Value::Lower => Some(lower()),
            Value::Shape => Some(&self.shapes[token.shape.clone()]),
            Value::Prefix(letters) => {
                let word = lower();
                let end = nth_letter(word, letters)?;
                Some(&word[..end])
            }
            Value::Suffix(letters) => {
                let word = lower();
                let start = last_letters(word, letters)?;
                (start > 0).then(|| &word[start..])
            }
        }
    }
}

/// Where letter `n` starts, counted from 0.
fn nth_letter(word: &str, n: usize) -> Option<usize> {
    // A word has at least as many bytes as letters, and usually equally many.
    let before = word.as_bytes().get(..n).filter(|_| word.len() > n)?;
    if before.is_ascii() { Some(n) } else { word.char_indices().nth(n).map(|(at, _)| at) }
}

/// Where the last `n` letters start. `n` is at least 1.
fn last_letters(word: &str, n: usize) -> Option<usize> {
    let start = word.len().checked_sub(n)?;
    if word.as_bytes()[start..].is_ascii() {
        return Some(start);
    }
    word.char_indices().rev().nth(n - 1).map(|(at, _)| at)
}

/// Adds a word in lower case.
fn push_lower(to: &mut String, word: &str) -> Range<usize> {
    let start = to.len();
    to.push_str(word);
    if word.is_ascii() {
        to[start..].make_ascii_lowercase();
    } else {
        to.truncate(start);
        to.extend(word.chars().flat_map(char::to_lowercase));
    }
    start..to.len()
}

/// Adds the shape of a word: `X` for capital letters, `x` for others, `0` for digits, anything else as
/// it is, and each of them once where several follow each other. `McDonald's` is `XxXx'x`, `1,250` is
/// `0,0`, `U.S.` is `X.X.`.
fn push_shape(to: &mut String, word: &str) -> Range<usize> {
    let start = to.len();
    let mut before = None;
    for letter in word.chars() {
        let kind = match letter {
            c if c.is_uppercase() => 'X',
            c if c.is_alphabetic() => 'x',
            c if c.is_numeric() => '0',
            c => c,
        };
        if before != Some(kind) {
            to.push(kind);
        }
        before = Some(kind);
    }
    start..to.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sentence(words: &[&str]) -> Sentence {
        let mut sentence = Sentence::default();
        for word in words {
            sentence.push_token(1, 1);
            sentence.push_cell(word);
        }
        sentence
    }

    #[test]
    fn words_have_shapes() {
        let words = ["McDonald's", "1,250", "U.S.", "Ünïted", "NATO", "...", "中文", "ⅷ"];
        let sentence = sentence(&words);
        let shapes: Vec<_> = (0..words.len()).map(|t| sentence.value(t, Value::Shape)).collect();
        let expected = ["XxXx'x", "0,0", "X.X.", "Xx", "X", ".", "x", "x"];
        assert_eq!(shapes, expected.map(Some));
    }

    proptest! {
        #[test]
        fn letters_are_counted_as_characters(word in "[a-cäß中]{0,5}", n in 1usize..7) {
            let starts: Vec<usize> = word.char_indices().map(|(at, _)| at).collect();
            prop_assert_eq!(nth_letter(&word, n), starts.get(n).copied());
            let last = starts.len().checked_sub(n).map(|at| starts[at]);
            prop_assert_eq!(last_letters(&word, n), last);
        }
    }

    #[test]
    fn ends_of_words_are_counted_in_letters_and_leave_something() {
        let sentence = sentence(&["ÜBEN", "a"]);
        assert_eq!(sentence.value(0, Value::Lower), Some("üben"));
        assert_eq!(sentence.value(0, Value::Prefix(1)), Some("ü"));
        assert_eq!(sentence.value(0, Value::Prefix(3)), Some("übe"));
        assert_eq!(sentence.value(0, Value::Suffix(3)), Some("ben"));
        for value in [Value::Prefix(4), Value::Suffix(4), Value::Prefix(5), Value::Suffix(9)] {
            assert_eq!(sentence.value(0, value), None);
        }
        assert_eq!(sentence.value(1, Value::Suffix(1)), None);
        assert_eq!(sentence.value(2, Value::Lower), None);
    }
}
