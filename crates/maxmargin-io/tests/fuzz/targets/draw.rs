//! Tiny random data of every format, written by the bytes of an input.

use std::fmt::Write as _;
use xxhash_rust::xxh3::xxh3_64;

/// Choices made by bytes; and by their check sum when they are used up, so that short inputs stand for whole problems.
pub(super) struct Draw<'a> {
    bytes: std::slice::Iter<'a, u8>,
    state: u64,
}

impl<'a> Draw<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes: bytes.iter(), state: xxh3_64(bytes) | 1 }
    }

    fn next(&mut self) -> u8 {
        if let Some(byte) = self.bytes.next() {
            return *byte;
        }
        // Marsaglia's xorshift64*.
        self.state ^= self.state >> 12;
        self.state ^= self.state << 25;
        self.state ^= self.state >> 27;
        (self.state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 56) as u8
    }

    /// A number below `bound`, which is at most 256.
    pub(super) fn below(&mut self, bound: usize) -> usize {
        usize::from(self.next()) % bound
    }

    /// Whether something happens that happens once in `one_in` times.
    pub(super) fn once_in(&mut self, one_in: usize) -> bool {
        self.below(one_in) == 0
    }

    pub(super) fn pick<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }

    /// One of the names of an enumeration.
    pub(super) fn pick_name<T: std::str::FromStr<Err: std::fmt::Debug>>(
        &mut self,
        names: &[&str],
    ) -> T {
        self.pick(names).parse().expect("a name that is known")
    }

    /// Attributes of a row or token: some of five, each with `between` before it.
    fn attributes(&mut self, text: &mut String, between: char, first: usize) {
        let marks = self.next();
        for attribute in 0..5 {
            if marks >> attribute & 1 == 1 {
                let value = self.pick(&["1", "1", "1", "0.5", "-1", "2", "0.001", "30"]);
                let _ = write!(text, "{between}{}:{value}", first + attribute);
            }
        }
    }

    /// Sequences in CRFsuite's format, of one to four tokens with one of these labels.
    pub(super) fn sequences(&mut self, labels: &[&str]) -> String {
        let mut text = String::new();
        for _ in 0..1 + self.below(4) {
            if self.once_in(6) {
                text.push_str("@weight:2\n");
            }
            for _ in 0..1 + self.below(4) {
                text.push_str(self.pick(labels));
                self.attributes(&mut text, '\t', 1);
                text.push('\n');
            }
            text.push('\n');
        }
        text
    }

    /// Rows in LIBSVM's format. All of the labels occur.
    pub(super) fn rows(&mut self, labels: &[&str]) -> String {
        let mut text = String::new();
        for i in 0..labels.len() + self.below(5) {
            let label = labels.get(i).copied().unwrap_or_else(|| self.pick(labels));
            text.push_str(label);
            self.attributes(&mut text, ' ', 1);
            text.push('\n');
        }
        text
    }

    /// Rows with sets of three labels, all of which occur.
    pub(super) fn sets(&mut self) -> String {
        let mut text = "1,2,3 1:1\n".to_owned();
        for _ in 0..1 + self.below(4) {
            text.push_str(self.pick(&["", "1", "2", "3", "1,2", "1,3", "2,3", "1,2,3"]));
            self.attributes(&mut text, ' ', 1);
            text.push('\n');
        }
        text
    }

    /// Factor graphs: chains, cycles, and now and then a factor of three variables.
    pub(super) fn graphs(&mut self) -> String {
        let mut text = String::new();
        let states = 2 + self.below(2);
        for _ in 0..1 + self.below(3) {
            let n = 1 + self.below(4);
            let variable = |draw: &mut Self| {
                format!(r#"{{"states": {states}, "truth": {}}}"#, draw.below(states))
            };
            let variables: Vec<String> = (0..n).map(|_| variable(self)).collect();
            let mut factors = Vec::new();
            for v in 0..n {
                factors.push(self.factor("node", &[v]));
            }
            for v in 0..n {
                let next = (v + 1) % n;
                if next != v && (next > v || n > 2 && self.once_in(2)) {
                    factors.push(self.factor("edge", &[v, next]));
                }
            }
            if n > 2 && self.once_in(4) {
                factors.push(self.factor("three", &[0, 1, 2]));
            }
            let (variables, factors) = (variables.join(", "), factors.join(", "));
            let _ = writeln!(text, r#"{{"variables": [{variables}], "factors": [{factors}]}}"#);
        }
        text
    }

    fn factor(&mut self, template: &str, variables: &[usize]) -> String {
        let value = self.pick(&["1", "1", "-1", "0.5"]);
        let attribute = self.pick(&["a", "b"]);
        format!(
            r#"{{"template": "{template}", "variables": {variables:?}, "attributes": {{"{attribute}": {value}}}}}"#
        )
    }

    /// Images of up to four superpixels.
    pub(super) fn superpixels(&mut self) -> String {
        let mut text = String::new();
        for image in 0..1 + self.below(3) {
            let n = 1 + self.below(4);
            let mut edges = Vec::new();
            for a in 0..n {
                for b in a + 1..n {
                    if self.once_in(2) {
                        let (length, distance) = (1 + self.below(4), self.below(4));
                        edges.push(format!("E {a} {b} {length} 0.{distance}"));
                    }
                }
            }
            let _ = writeln!(text, "G i{image} train {n} 4 {n} {}", edges.len());
            for _ in 0..n {
                let (foreground, x, y) = (self.below(5), self.below(4), self.below(3));
                let _ = writeln!(text, "N 4 {foreground} {x} 0.{y}");
            }
            edges.iter().for_each(|edge| text.extend([edge, "\n"]));
        }
        text
    }

    /// Pairs of sentences of up to three words, the first of which has a sure link.
    pub(super) fn alignments(&mut self) -> String {
        let mut text = "a b\tx y\t1-1\n".to_owned();
        for _ in 0..self.below(4) {
            let (rows, columns) = (1 + self.below(3), 1 + self.below(3));
            let mut sentence = |draw: &mut Self, length: usize, words: &[&str]| {
                let words: Vec<&str> = (0..length).map(|_| draw.pick(words)).collect();
                text.push_str(&words.join(" "));
                text.push('\t');
            };
            sentence(self, rows, &["a", "b", "the"]);
            sentence(self, columns, &["x", "y", "la"]);
            let mut links = Vec::new();
            for row in 1..=rows {
                for column in 1..=columns {
                    match self.below(6) {
                        0 => links.push(format!("{row}-{column}")),
                        1 => links.push(format!("{row}p{column}")),
                        _ => {}
                    }
                }
            }
            text.push_str(&links.join(" "));
            text.push('\n');
        }
        text
    }

    /// People of two or three joints.
    pub(super) fn poses(&mut self) -> String {
        let (mut text, joints) = (String::new(), 2 + self.below(2));
        for person in 0..1 + self.below(3) {
            let _ = write!(text, "p{person}");
            for joint in 0..joints {
                let (x, y) = (self.below(20), 10 * joint + self.below(10));
                let _ = write!(text, "\t{x},{y},0");
            }
            text.push('\n');
        }
        text
    }
}
