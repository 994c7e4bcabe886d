//! The fields of a line, with the byte at which each starts.

/// The fields between tabs, empty ones left out.
pub(crate) fn tabs(line: &str) -> Fields<'_> {
    Fields { line, at: 0, separators: b"\t\t" }
}

/// The fields between spaces and tabs, empty ones left out.
pub(crate) fn blanks(line: &str) -> Fields<'_> {
    Fields { line, at: 0, separators: b" \t" }
}

/// See [`tabs`] and [`blanks`].
#[derive(Clone)]
pub(crate) struct Fields<'a> {
    line: &'a str,
    at: usize,
    separators: &'static [u8; 2],
}

impl<'a> Iterator for Fields<'a> {
    type Item = (usize, &'a str);

    fn next(&mut self) -> Option<Self::Item> {
        let bytes = self.line.as_bytes();
        let [a, b] = *self.separators;
        while bytes.get(self.at).is_some_and(|&c| c == a || c == b) {
            self.at += 1;
        }
        let start = self.at;
        let rest = &bytes[start..];
        let length = rest.iter().position(|&c| c == a || c == b).unwrap_or(rest.len());
        self.at += length;
        // Separators are ASCII, so that the cuts never fall inside a character.
        (length > 0).then(|| (start, &self.line[start..start + length]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_fields_are_left_out_and_offsets_are_kept() {
        assert_eq!(tabs("\tä b\t\tc\t").collect::<Vec<_>>(), [(1, "ä b"), (7, "c")]);
        assert_eq!(blanks("  ä \tb").collect::<Vec<_>>(), [(2, "ä"), (6, "b")]);
        assert_eq!(blanks(" \t ").count() + tabs("").count(), 0);
    }
}
