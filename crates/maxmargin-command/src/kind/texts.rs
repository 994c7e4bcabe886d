//! Tokens as they stand in a file. Models keep numbers of the attributes they know; a page shows words, also those
//! that no model knows.

use maxmargin_io::{EachSequence, Format, RawSequence, RawToken, ReadSequences};

/// How attributes begin that are the token itself, in the formats we know.
const TEXT: [&str; 4] = ["w[0]=", "w=", "word=", "U[0]="];

/// The texts of the tokens of sequences.
#[derive(Debug, Clone, Default)]
pub(crate) struct Texts {
    text: String,
    /// Where each token ends.
    ends: Vec<usize>,
    /// The first token of each sequence.
    firsts: Vec<usize>,
}

impl Texts {
    /// Token `t` of sequence `i`.
    pub(crate) fn token(&self, i: usize, t: usize) -> Option<&str> {
        let first = *self.firsts.get(i)?;
        let end = self.firsts.get(i + 1).copied().unwrap_or(self.ends.len());
        let at = (first + t < end).then_some(first + t)?;
        let from = if at == 0 { 0 } else { self.ends[at - 1] };
        Some(&self.text[from..self.ends[at]])
    }

    /// The same reader, whose tokens are added here.
    pub(super) fn listen(&mut self, reader: impl ReadSequences) -> impl ReadSequences {
        // The attributes of letters are pixels.
        let has_texts = reader.format() != Format::Ocr;
        EachSequence::new(reader, move |raw: &mut RawSequence| {
            if has_texts {
                self.add(raw);
            }
        })
    }

    fn add(&mut self, raw: &RawSequence) {
        self.firsts.push(self.ends.len());
        for token in raw.tokens() {
            self.text.push_str(text_of(&token));
            self.ends.push(self.text.len());
        }
    }
}

/// What a token is called: its comment, the attribute that is the word, or its first attribute.
fn text_of<'a>(token: &RawToken<'a>) -> &'a str {
    let names = || token.attributes().map(|(name, _)| name);
    let word = || names().find_map(|name| TEXT.iter().find_map(|start| name.strip_prefix(start)));
    let comment = token.comment().map(str::trim).filter(|comment| !comment.is_empty());
    comment.or_else(word).or_else(|| names().next()).unwrap_or("…")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_called_by_their_words() {
        let mut raw = RawSequence::new();
        raw.push_token(Some("N"));
        raw.push_attribute("cap", 1.0);
        raw.push_attribute("w[0]=Zürich", 1.0);
        raw.push_token(Some("V"));
        raw.push_attribute("shape", 1.0);
        raw.push_token(None);
        let mut texts = Texts::default();
        texts.add(&raw);
        texts.add(&raw);
        let of = |i: usize| (0..4).map(|t| texts.token(i, t)).collect::<Vec<_>>();
        assert_eq!(of(0), [Some("Zürich"), Some("shape"), Some("…"), None]);
        assert_eq!(of(0), of(1));
        assert_eq!(texts.token(2, 0), None);
    }
}
