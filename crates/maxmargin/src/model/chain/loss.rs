//! The loss of a chain.

/// Hamming loss: the share (or the number) of wrong labels, mistakes weighted by the true label.
///
/// ```text
/// L(y) = 1/T · Σₜ c[true label at t] · cₜ · [yₜ is wrong]      without the 1/T if not normalised
/// ```
///
/// The costs cₜ of single positions are part of the data. They are 1 by default.
///
/// ```
/// use maxmargin::model::chain::Hamming;
/// let loss = Hamming { label_weights: vec![1.0, 5.0], ..Hamming::default() };
/// assert_eq!(loss.cost(1, 10), 0.5); // label 1 missed at one of ten positions
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
pub struct Hamming {
    /// Whether the loss is divided by the length of the sequence. Default: yes.
    pub normalised: bool,
    /// The cost of missing each label, finite and ≥ 0; empty means 1 for all. Default: empty.
    pub label_weights: Vec<f64>,
}

impl Default for Hamming {
    fn default() -> Self {
        Self { normalised: true, label_weights: Vec::new() }
    }
}

impl Hamming {
    /// The cost of any wrong label at a position whose true label is `truth`, in a sequence of
    /// `length` ≥ 1 tokens. Labels without a weight have the weight 1.
    ///
    /// ```
    /// use maxmargin::model::chain::Hamming;
    ///
    /// assert_eq!(Hamming::default().cost(0, 4), 0.25);
    /// assert_eq!(Hamming { normalised: false, ..Hamming::default() }.cost(0, 4), 1.0);
    /// ```
    pub fn cost(&self, truth: u32, length: usize) -> f64 {
        self.cost_of(length) * self.weight(truth)
    }

    /// The cost of a mistake of weight 1 in a sequence of `length` ≥ 1 tokens.
    pub(super) fn cost_of(&self, length: usize) -> f64 {
        if self.normalised { 1.0 / length as f64 } else { 1.0 }
    }

    /// The weight of missing a label.
    #[inline]
    pub(super) fn weight(&self, truth: u32) -> f64 {
        self.label_weights.get(truth as usize).copied().unwrap_or(1.0)
    }
}
