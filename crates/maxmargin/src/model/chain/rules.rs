//! Rules that labellings must keep in prediction.

/// Says which labels may begin and end a sequence, and which labels may follow each other.
///
/// Rules apply to prediction only. They do not affect training, and any chain can be decoded with them.
///
/// ```
/// use maxmargin::model::chain::Rules;
///
/// let rules = Rules::bio(&["O", "B-NP", "I-NP", "I-VP"]);
/// assert!(rules.allows(1, 2) && rules.allows(2, 2)); // B-NP or I-NP, then I-NP
/// assert!(!rules.allows(0, 2) && !rules.allows(2, 3)); // O, then I-NP; I-NP, then I-VP
/// assert!(!rules.may_begin(2) && rules.may_begin(1));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rules {
    labels: usize,
    follows: Vec<bool>,
    begins: Vec<bool>,
    ends: Vec<bool>,
}

impl Rules {
    /// Rules for `labels` labels that allow everything.
    pub fn new(labels: usize) -> Self {
        let all = |count: usize| vec![true; count];
        Self { labels, follows: all(labels * labels), begins: all(labels), ends: all(labels) }
    }

    /// The BIO rules of chunks: `I-X` may only follow `B-X` or `I-X` with the same X. Other labels are
    /// not restricted.
    pub fn bio<S: AsRef<str>>(names: &[S]) -> Self {
        let mut rules = Self::new(names.len());
        for (inside, name) in names.iter().enumerate() {
            let Some(kind) = name.as_ref().strip_prefix("I-") else { continue };
            rules = rules.forbid_beginning(inside as u32);
            for (before, name) in names.iter().enumerate() {
                let name = name.as_ref();
                let opens = name.strip_prefix("B-").or(name.strip_prefix("I-"));
                if opens != Some(kind) {
                    rules = rules.forbid(before as u32, inside as u32);
                }
            }
        }
        rules
    }

    /// Forbids `second` directly after `first`.
    ///
    /// ```
    /// let rules = maxmargin::model::chain::Rules::new(2).forbid(0, 1);
    /// assert!(!rules.allows(0, 1) && rules.allows(1, 0));
    /// ```
    ///
    /// # Panics
    /// If a label does not exist. The same holds for the other rules.
    #[must_use]
    pub fn forbid(mut self, first: u32, second: u32) -> Self {
        assert!((second as usize) < self.labels, "there is no label {second}");
        self.follows[first as usize * self.labels + second as usize] = false;
        self
    }

    /// Forbids sequences to begin with a label.
    #[must_use]
    pub fn forbid_beginning(mut self, label: u32) -> Self {
        self.begins[label as usize] = false;
        self
    }

    /// Forbids sequences to end with a label.
    ///
    /// ```
    /// let rules = maxmargin::model::chain::Rules::new(2).forbid_end(1);
    /// assert!(rules.may_end(0) && !rules.may_end(1));
    /// ```
    #[must_use]
    pub fn forbid_end(mut self, label: u32) -> Self {
        self.ends[label as usize] = false;
        self
    }

    /// Number of labels.
    pub fn labels(&self) -> usize {
        self.labels
    }

    /// Whether `second` may come directly after `first`.
    pub fn allows(&self, first: u32, second: u32) -> bool {
        self.follows[first as usize * self.labels + second as usize]
    }

    /// Whether a sequence may begin with a label.
    pub fn may_begin(&self, label: u32) -> bool {
        self.begins[label as usize]
    }

    /// Whether a sequence may end with a label.
    pub fn may_end(&self, label: u32) -> bool {
        self.ends[label as usize]
    }
}
