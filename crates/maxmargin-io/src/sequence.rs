//! One sequence in name form, which readers fill and writers write.

/// A sequence of tokens with labels and attributes given by name, as in a file.
///
/// All names of a sequence share a few buffers, which [`clear`](Self::clear) keeps. So when many sequences are read
/// into the same `RawSequence`, there are soon no more allocations.
///
/// Two sequences are equal if their labels, attributes, costs, comments, weight and number are equal. The lines
/// that they were read from do not matter.
///
/// ```
/// use maxmargin_io::RawSequence;
///
/// let mut sequence = RawSequence::new();
/// sequence.push_token(Some("noun"));
/// sequence.push_attribute("word=cat", 1.0);
/// sequence.push_attribute("length", 3.0);
/// sequence.push_token(None);
///
/// assert_eq!(sequence.len(), 2);
/// assert_eq!(sequence.token(0).label(), Some("noun"));
/// let attributes: Vec<_> = sequence.token(0).attributes().collect();
/// assert_eq!(attributes, [("word=cat", 1.0), ("length", 3.0)]);
/// assert_eq!(sequence.token(1).label(), None);
/// ```
#[derive(Debug, Clone)]
pub struct RawSequence {
    /// The attribute names of all tokens, back to back.
    names: String,
    entries: Vec<Entry>,
    labels: String,
    comments: String,
    tokens: Vec<TokenEnd>,
    weight: f64,
    id: Option<u64>,
}

/// An attribute. Its name ends at `end`, and starts where the one before it ends.
#[derive(Debug, Clone, Copy)]
struct Entry {
    end: usize,
    value: f64,
}

/// Where the parts of a token end. They start where those of the token before it end.
#[derive(Debug, Clone, Copy, Default)]
struct TokenEnd {
    entries: usize,
    label: usize,
    labelled: bool,
    comment: usize,
    commented: bool,
    line: u64,
    label_column: u64,
    cost: f64,
}

impl Default for RawSequence {
    fn default() -> Self {
        Self::new()
    }
}

impl RawSequence {
    /// A sequence without tokens, with weight 1 and without a number.
    ///
    /// ```
    /// assert!(maxmargin_io::RawSequence::new().is_empty());
    /// ```
    pub fn new() -> Self {
        Self {
            names: String::new(),
            entries: Vec::new(),
            labels: String::new(),
            comments: String::new(),
            tokens: Vec::new(),
            weight: 1.0,
            id: None,
        }
    }

    /// Resets the sequence to a new one, but keeps its memory.
    ///
    /// ```
    /// use maxmargin_io::RawSequence;
    /// let mut sequence = RawSequence::new();
    /// sequence.push_token(Some("a"));
    /// sequence.clear();
    /// assert_eq!(sequence, RawSequence::new());
    /// ```
    pub fn clear(&mut self) {
        self.names.clear();
        self.entries.clear();
        self.labels.clear();
        self.comments.clear();
        self.tokens.clear();
        self.weight = 1.0;
        self.id = None;
    }

    /// Adds a token without attributes.
    ///
    /// ```
    /// let mut sequence = maxmargin_io::RawSequence::new();
    /// sequence.push_token(Some("a"));
    /// assert_eq!(sequence.len(), 1);
    /// ```
    pub fn push_token(&mut self, label: Option<&str>) {
        self.push_token_with(label.is_some(), |labels| labels.push_str(label.unwrap_or("")));
    }

    /// Like [`push_token`](Self::push_token), for labels that are best written in place.
    pub(crate) fn push_token_with(&mut self, labelled: bool, write: impl FnOnce(&mut String)) {
        write(&mut self.labels);
        self.tokens.push(TokenEnd {
            entries: self.entries.len(),
            label: self.labels.len(),
            labelled,
            comment: self.comments.len(),
            commented: false,
            line: 0,
            label_column: 1,
            cost: 1.0,
        });
    }

    /// Adds an attribute to the last token.
    ///
    /// # Panics
    /// If there is no token yet.
    ///
    /// ```
    /// let mut sequence = maxmargin_io::RawSequence::new();
    /// sequence.push_token(None);
    /// sequence.push_attribute("bias", 0.5);
    /// assert_eq!(sequence.token(0).attributes().next(), Some(("bias", 0.5)));
    /// ```
    pub fn push_attribute(&mut self, name: &str, value: f64) {
        self.push_attribute_with(value, |names| names.push_str(name));
    }

    /// Like [`push_attribute`](Self::push_attribute), for names that are best written in place.
    #[inline(always)]
    pub(crate) fn push_attribute_with(&mut self, value: f64, write: impl FnOnce(&mut String)) {
        write(&mut self.names);
        self.entries.push(Entry { end: self.names.len(), value });
        self.last().entries += 1;
    }

    /// Gives the last token a comment. [SVM-HMM files](crate::SvmHmmReader) can contain it.
    ///
    /// # Panics
    /// If there is no token yet.
    ///
    /// ```
    /// let mut sequence = maxmargin_io::RawSequence::new();
    /// sequence.push_token(None);
    /// sequence.set_comment(" unsure");
    /// assert_eq!(sequence.token(0).comment(), Some(" unsure"));
    /// ```
    pub fn set_comment(&mut self, comment: &str) {
        let start =
            self.tokens.len().checked_sub(2).map_or(0, |before| self.tokens[before].comment);
        self.comments.truncate(start);
        self.comments.push_str(comment);
        let end = self.comments.len();
        let token = self.last();
        token.comment = end;
        token.commented = true;
    }

    /// Records where the last token comes from, for later messages: its line and the column of its label, both from
    /// 1.
    ///
    /// # Panics
    /// If there is no token yet.
    ///
    /// ```
    /// let mut sequence = maxmargin_io::RawSequence::new();
    /// sequence.push_token(None);
    /// sequence.set_place(17, 1);
    /// assert_eq!(sequence.token(0).line(), 17);
    /// ```
    pub fn set_place(&mut self, line: u64, label_column: u64) {
        let token = self.last();
        token.line = line;
        token.label_column = label_column;
    }

    fn last(&mut self) -> &mut TokenEnd {
        self.tokens.last_mut().expect("a token is pushed before its parts")
    }

    /// Replaces all labels, for example by predictions.
    ///
    /// # Panics
    /// If the numbers of labels and tokens differ.
    ///
    /// ```
    /// let mut sequence = maxmargin_io::RawSequence::new();
    /// sequence.push_token(Some("a"));
    /// sequence.push_token(None);
    /// sequence.relabel(["b", "c"]);
    /// assert_eq!(sequence.token(1).label(), Some("c"));
    /// ```
    pub fn relabel<'a>(&mut self, labels: impl IntoIterator<Item = &'a str>) {
        self.labels.clear();
        let mut count = 0;
        for label in labels {
            assert!(count < self.tokens.len(), "more labels than the {count} tokens");
            self.labels.push_str(label);
            self.tokens[count].label = self.labels.len();
            self.tokens[count].labelled = true;
            count += 1;
        }
        assert_eq!(count, self.tokens.len(), "fewer labels than tokens");
    }

    /// Sets the cost of a mistake at the last token, which is 1 by default: see
    /// [`Sequences::push_weighted_token`](maxmargin::model::chain::Sequences::push_weighted_token).
    ///
    /// # Panics
    /// If there is no token yet.
    ///
    /// ```
    /// let mut sequence = maxmargin_io::RawSequence::new();
    /// sequence.push_token(Some("a"));
    /// sequence.set_cost(2.5);
    /// assert_eq!(sequence.token(0).cost(), 2.5);
    /// ```
    pub fn set_cost(&mut self, cost: f64) {
        self.tokens.last_mut().expect("a cost belongs to a token").cost = cost;
    }

    /// The example weight. It is 1 by default.
    ///
    /// ```
    /// assert_eq!(maxmargin_io::RawSequence::new().weight(), 1.0);
    /// ```
    pub fn weight(&self) -> f64 {
        self.weight
    }

    /// Sets the example weight.
    ///
    /// ```
    /// let mut sequence = maxmargin_io::RawSequence::new();
    /// sequence.set_weight(2.5);
    /// assert_eq!(sequence.weight(), 2.5);
    /// ```
    pub fn set_weight(&mut self, weight: f64) {
        self.weight = weight;
    }

    /// The number a format gives its sequences: `qid` in SVM-HMM files, the word in OCR files.
    ///
    /// ```
    /// assert_eq!(maxmargin_io::RawSequence::new().id(), None);
    /// ```
    pub fn id(&self) -> Option<u64> {
        self.id
    }

    /// Sets the number of the sequence.
    ///
    /// ```
    /// let mut sequence = maxmargin_io::RawSequence::new();
    /// sequence.set_id(Some(7));
    /// assert_eq!(sequence.id(), Some(7));
    /// ```
    pub fn set_id(&mut self, id: Option<u64>) {
        self.id = id;
    }

    /// Number of tokens.
    ///
    /// ```
    /// assert_eq!(maxmargin_io::RawSequence::new().len(), 0);
    /// ```
    pub fn len(&self) -> usize {
        self.tokens.len()
    }

    /// Whether there is no token.
    ///
    /// ```
    /// assert!(maxmargin_io::RawSequence::new().is_empty());
    /// ```
    pub fn is_empty(&self) -> bool {
        self.tokens.is_empty()
    }

    /// Token `t`.
    ///
    /// # Panics
    /// If `t` is not below [`len`](Self::len).
    ///
    /// ```
    /// let mut sequence = maxmargin_io::RawSequence::new();
    /// sequence.push_token(Some("a"));
    /// assert_eq!(sequence.token(0).label(), Some("a"));
    /// ```
    pub fn token(&self, t: usize) -> RawToken<'_> {
        let start = if t == 0 { TokenEnd::default() } else { self.tokens[t - 1] };
        RawToken { sequence: self, start, end: self.tokens[t] }
    }

    /// All tokens in order.
    ///
    /// ```
    /// let mut sequence = maxmargin_io::RawSequence::new();
    /// sequence.push_token(Some("a"));
    /// sequence.push_token(Some("b"));
    /// let labels: Vec<_> = sequence.tokens().filter_map(|token| token.label()).collect();
    /// assert_eq!(labels, ["a", "b"]);
    /// ```
    pub fn tokens(&self) -> impl ExactSizeIterator<Item = RawToken<'_>> {
        (0..self.len()).map(|t| self.token(t))
    }

    /// The names of the attributes of all tokens, in order.
    ///
    /// ```
    /// let mut sequence = maxmargin_io::RawSequence::new();
    /// sequence.push_token(None);
    /// sequence.push_attribute("a", 1.0);
    /// sequence.push_token(None);
    /// sequence.push_attribute("b", 1.0);
    /// assert_eq!(sequence.names().collect::<Vec<_>>(), ["a", "b"]);
    /// ```
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let mut start = 0;
        self.entries.iter().map(move |entry| {
            let name = &self.names[start..entry.end];
            start = entry.end;
            name
        })
    }
}

impl PartialEq for RawSequence {
    fn eq(&self, other: &Self) -> bool {
        let same_token = |(a, b): (RawToken<'_>, RawToken<'_>)| {
            a.label() == b.label()
                && a.comment() == b.comment()
                && a.cost().to_bits() == b.cost().to_bits()
                && a.attributes().map(bits).eq(b.attributes().map(bits))
        };
        self.id == other.id
            && self.weight.to_bits() == other.weight.to_bits()
            && self.len() == other.len()
            && self.tokens().zip(other.tokens()).all(same_token)
    }
}

/// Values are compared bit by bit, so 0 and −0 differ.
fn bits((name, value): (&str, f64)) -> (&str, u64) {
    (name, value.to_bits())
}

/// A token of a [`RawSequence`].
///
/// ```
/// let mut sequence = maxmargin_io::RawSequence::new();
/// sequence.push_token(Some("a"));
/// assert_eq!(sequence.token(0).attributes().count(), 0);
/// ```
#[derive(Debug, Clone, Copy)]
pub struct RawToken<'a> {
    sequence: &'a RawSequence,
    start: TokenEnd,
    end: TokenEnd,
}

impl<'a> RawToken<'a> {
    /// The label, if the file gives one.
    ///
    /// ```
    /// let mut sequence = maxmargin_io::RawSequence::new();
    /// sequence.push_token(None);
    /// assert_eq!(sequence.token(0).label(), None);
    /// ```
    pub fn label(&self) -> Option<&'a str> {
        self.end.labelled.then(|| &self.sequence.labels[self.start.label..self.end.label])
    }

    /// The cost of a mistake here, compared with other tokens.
    ///
    /// ```
    /// let mut sequence = maxmargin_io::RawSequence::new();
    /// sequence.push_token(None);
    /// assert_eq!(sequence.token(0).cost(), 1.0);
    /// ```
    pub fn cost(&self) -> f64 {
        self.end.cost
    }

    /// Names and values of the attributes in the order of the file.
    ///
    /// ```
    /// let mut sequence = maxmargin_io::RawSequence::new();
    /// sequence.push_token(None);
    /// sequence.push_attribute("a", 2.0);
    /// assert_eq!(sequence.token(0).attributes().collect::<Vec<_>>(), [("a", 2.0)]);
    /// ```
    pub fn attributes(&self) -> impl ExactSizeIterator<Item = (&'a str, f64)> + use<'a> {
        let (sequence, first) = (self.sequence, self.start.entries);
        let mut start = if first == 0 { 0 } else { sequence.entries[first - 1].end };
        sequence.entries[first..self.end.entries].iter().map(move |entry| {
            let name = &sequence.names[start..entry.end];
            start = entry.end;
            (name, entry.value)
        })
    }

    /// The comment, if the file has one.
    ///
    /// ```
    /// let mut sequence = maxmargin_io::RawSequence::new();
    /// sequence.push_token(None);
    /// assert_eq!(sequence.token(0).comment(), None);
    /// ```
    pub fn comment(&self) -> Option<&'a str> {
        self.end.commented.then(|| &self.sequence.comments[self.start.comment..self.end.comment])
    }

    /// The line of the token, from 1; 0 if unknown.
    ///
    /// ```
    /// let mut sequence = maxmargin_io::RawSequence::new();
    /// sequence.push_token(None);
    /// assert_eq!(sequence.token(0).line(), 0);
    /// ```
    pub fn line(&self) -> u64 {
        self.end.line
    }

    /// The column of the label in characters, from 1.
    ///
    /// ```
    /// let mut sequence = maxmargin_io::RawSequence::new();
    /// sequence.push_token(None);
    /// assert_eq!(sequence.token(0).label_column(), 1);
    /// ```
    pub fn label_column(&self) -> u64 {
        self.end.label_column
    }
}

#[cfg(test)]
mod tests;
