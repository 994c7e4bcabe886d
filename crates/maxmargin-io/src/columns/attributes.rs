//! Attributes: what they are made of, and how they are written.
//!
//! A line such as `w[-1]|w[0]` makes one attribute of every token: the values of the token before it and of the
//! token itself, under the name `w[-1]|w[0]=in|London`. If one of the values is absent, for example beyond the ends
//! of a sentence, the token does not get this attribute.

use super::sentence::Sentence;
use crate::sequence::RawSequence;

/// Marks of the first and the last token.
const FIRST: &str = "__BOS__";
const LAST: &str = "__EOS__";

/// A value that tokens have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Value {
    /// A column as it is, counted from 0. Column 0 is the word.
    Column(usize),
    /// The word in lower case.
    Lower,
    /// The kinds of the letters of the word. Equal neighbours count once.
    Shape,
    /// This number of letters at the start of the word in lower case, if the word is longer.
    Prefix(usize),
    /// This number of letters at its end.
    Suffix(usize),
}

/// A value of the token that is `offset` places further on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Part {
    value: Value,
    offset: isize,
}

/// An attribute: the values that it consists of, and the text before them in its name.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Attribute {
    parts: Vec<Part>,
    prefix: String,
}

/// The attributes that every token gets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Attributes(Vec<Attribute>);

impl Attributes {
    /// Parses lines such as `w[-1]|w[0]`. Fails with the first line that is not valid.
    pub(crate) fn parse<'a>(lines: impl IntoIterator<Item = &'a str>) -> Result<Self, String> {
        let attribute = |line: &str| {
            let parts = line.split('|').map(Part::parse).collect::<Option<Vec<_>>>();
            let prefix = format!("{line}=");
            parts.map(|parts| Attribute { parts, prefix }).ok_or_else(|| line.to_owned())
        };
        lines.into_iter().map(attribute).collect::<Result<_, _>>().map(Self)
    }

    /// The number of columns that they use.
    pub(crate) fn columns(&self) -> usize {
        let parts = self.0.iter().flat_map(|attribute| &attribute.parts);
        let columns = parts.map(|part| match part.value {
            Value::Column(column) => column + 1,
            _ => 1,
        });
        columns.max().unwrap_or(0)
    }

    /// Adds the tokens of a sentence with their attributes.
    pub(crate) fn write_all(&self, sentence: &Sentence, into: &mut RawSequence) {
        for t in 0..sentence.len() {
            let (line, column) = sentence.place(t);
            into.push_token(sentence.label(t));
            into.set_place(line, column);
            self.write(sentence, t, into);
        }
    }

    /// Gives token `t` of a sentence, which is the last one of `into`, its attributes.
    fn write(&self, sentence: &Sentence, t: usize, into: &mut RawSequence) {
        for Attribute { parts, prefix } in &self.0 {
            let value = |part: &Part| {
                let at = t.checked_add_signed(part.offset)?;
                sentence.value(at, part.value)
            };
            // Most attributes have one part, whose value need not be looked up twice.
            match parts.as_slice() {
                [part] => {
                    let Some(value) = value(part) else { continue };
                    into.push_attribute_with(1.0, |name| {
                        name.push_str(prefix);
                        name.push_str(value);
                    });
                }
                parts => {
                    if parts.iter().any(|part| value(part).is_none()) {
                        continue;
                    }
                    into.push_attribute_with(1.0, |name| {
                        name.push_str(prefix);
                        for (i, value) in parts.iter().filter_map(value).enumerate() {
                            if i > 0 {
                                name.push('|');
                            }
                            name.push_str(value);
                        }
                    });
                }
            }
        }
        if t == 0 {
            into.push_attribute(FIRST, 1.0);
        }
        if t + 1 == sentence.len() {
            into.push_attribute(LAST, 1.0);
        }
    }
}

impl Part {
    /// Reads `name[offset]`.
    fn parse(text: &str) -> Option<Self> {
        let (name, rest) = text.split_once('[')?;
        let offset = rest.strip_suffix(']')?.parse().ok()?;
        let number = |prefix: &str| name.strip_prefix(prefix)?.parse().ok().filter(|&n| n > 0);
        let value = match name {
            "w" => Value::Column(0),
            "pos" => Value::Column(1),
            "lower" => Value::Lower,
            "shape" => Value::Shape,
            _ => None
                .or_else(|| number("prefix").map(Value::Prefix))
                .or_else(|| number("suffix").map(Value::Suffix))
                .or_else(|| number("column").map(|n: usize| Value::Column(n - 1)))?,
        };
        Some(Self { value, offset })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_understood_or_named() {
        let attributes = Attributes::parse(["w[0]", "prefix3[-1]|column4[2]"]).unwrap();
        assert_eq!(attributes.columns(), 4);
        for wrong in ["", "w", "w[0", "w[a]", "x[0]", "prefix[0]", "suffix0[0]", "w[0]|"] {
            assert_eq!(Attributes::parse(["w[0]", wrong]), Err(wrong.to_owned()));
        }
    }
}
