//! Decoding with a trained chain: best and n-best labellings, margins, rules and fixed labels.

use super::rules::Rules;
use super::sequences::Sequence;
use super::shape::ChainShape;
use crate::inference::forward_backward::ForwardBackward;
use crate::inference::max_marginals::max_marginals;
use crate::inference::n_best::{ScoredPath, n_best};
use crate::inference::viterbi::viterbi;

/// Decodes sequences with a trained chain: finds the best or the n best labellings and the margin of each
/// label. Labellings can be restricted by rules and by labels that are known already.
///
/// ```
/// use maxmargin::model::chain::{ChainShape, ChainDecoder, Rules, Sequences};
///
/// let shape = ChainShape::new(2, 1);
/// let mut w = vec![0.0; shape.dim()];
/// w[shape.emission()].copy_from_slice(&[-1.0, 1.0]); // attribute 0 favours label 1
/// let mut data = Sequences::new();
/// for value in [1.0, -0.25] {
///     data.push_token([(0, value)], 0)?;
/// }
/// data.end_sequence(1.0)?;
///
/// let mut decoder = ChainDecoder::new(&shape, &w);
/// decoder.fill(data.sequence(0));
/// assert_eq!(decoder.best(), Some(1.25));
/// assert_eq!(decoder.labels(), [1, 0]);
/// let second = &decoder.n_best(2)[1];
/// assert_eq!((second.score, second.labels.as_slice()), (0.75, &[1, 1][..]));
/// assert_eq!(decoder.margins(), [2.0, 0.5]); // the second label is less sure
///
/// let rules = Rules::new(2).forbid(1, 0);
/// let mut decoder = ChainDecoder::new(&shape, &w).with_rules(&rules);
/// decoder.fill(data.sequence(0));
/// assert_eq!(decoder.best().map(|_| decoder.labels().to_vec()), Some(vec![1, 1]));
/// decoder.fix(0, 0); // known: the first label is 0
/// assert_eq!(decoder.best().map(|_| decoder.labels().to_vec()), Some(vec![0, 0]));
/// # Ok::<(), maxmargin::model::InputError>(())
/// ```
#[derive(Debug, Clone)]
pub struct ChainDecoder<'a> {
    shape: ChainShape,
    w: &'a [f64],
    rules: Option<&'a Rules>,
    /// Scores of pairs of labels, −∞ for pairs that a rule forbids. Empty if there are no transitions and
    /// no rules.
    transitions: Vec<f64>,
    /// Node scores of the current sequence, −∞ for labels that are forbidden.
    nodes: Vec<f64>,
    forward: Vec<f64>,
    labels: Vec<u32>,
}

impl<'a> ChainDecoder<'a> {
    /// Creates a decoder for a chain with the weights `w`.
    ///
    /// # Panics
    /// If `w` is shorter than the shape says.
    pub fn new(shape: &ChainShape, w: &'a [f64]) -> Self {
        let mut transitions = w[shape.transition()].to_vec();
        transitions.iter_mut().for_each(|score| *score *= shape.transition_scale);
        let (nodes, forward, labels) = (Vec::new(), Vec::new(), Vec::new());
        Self { shape: *shape, w, rules: None, transitions, nodes, forward, labels }
    }

    /// Adds rules that all labellings must keep.
    ///
    /// # Panics
    /// If the rules are for another number of labels.
    #[must_use]
    #[cfg(feature = "unstable")]
    pub fn with_rules(mut self, rules: &'a Rules) -> Self {
        let k = self.shape.labels;
        assert_eq!(rules.labels(), k, "rules must be for the labels of the chain");
        self.transitions.resize(k * k, 0.0);
        for (pair, score) in self.transitions.iter_mut().enumerate() {
            if !rules.allows((pair / k) as u32, (pair % k) as u32) {
                *score = f64::NEG_INFINITY;
            }
        }
        Self { rules: Some(rules), ..self }
    }

    /// Makes `sequence` the current one. All its labels are free, even if labels of the last sequence
    /// were fixed.
    ///
    /// # Panics
    /// The same as for [`ChainShape::score_nodes`].
    pub fn fill(&mut self, sequence: Sequence<'_>) {
        self.shape.score_nodes(self.w, sequence, &mut self.nodes);
        let Some(rules) = self.rules else { return };
        let k = self.shape.labels;
        let last = self.nodes.len() - k;
        for label in 0..k {
            if !rules.may_begin(label as u32) {
                self.nodes[label] = f64::NEG_INFINITY;
            }
            if !rules.may_end(label as u32) {
                self.nodes[last + label] = f64::NEG_INFINITY;
            }
        }
    }

    /// Fixes position `t` of the current sequence at a label that is known already.
    ///
    /// # Panics
    /// If there is no such position or label.
    pub fn fix(&mut self, t: usize, label: u32) {
        let k = self.shape.labels;
        assert!((label as usize) < k, "there is no label {label}");
        let row = &mut self.nodes[t * k..(t + 1) * k];
        for (other, score) in row.iter_mut().enumerate() {
            if other != label as usize {
                *score = f64::NEG_INFINITY;
            }
        }
    }

    /// Finds the best labelling and returns its score, or `None` if no labelling keeps all rules. The
    /// labelling is then in [`labels`](Self::labels).
    ///
    /// # Panics
    /// If [`fill`](Self::fill) has not been called. The same holds for the other methods that decode.
    pub fn best(&mut self) -> Option<f64> {
        let k = self.shape.labels;
        let score = viterbi(&self.nodes, &self.transitions, k, &mut self.forward, &mut self.labels);
        (score > f64::NEG_INFINITY).then_some(score)
    }

    /// The labelling that [`best`](Self::best) found last.
    pub fn labels(&self) -> &[u32] {
        &self.labels
    }

    /// The `n` best labellings, best first. The list is shorter if there are fewer labellings.
    #[cfg(feature = "unstable")]
    pub fn n_best(&self, n: usize) -> Vec<ScoredPath> {
        n_best(&self.nodes, &self.transitions, self.shape.labels, n)
    }

    /// For each position and label, the score of the best labelling that contains it; one row per
    /// position.
    pub fn max_marginals(&self) -> Vec<f64> {
        let mut marginals = Vec::new();
        max_marginals(&self.nodes, &self.transitions, self.shape.labels, &mut marginals);
        marginals
    }

    /// The logarithm of the sum of exp(score) over all labellings, and for each position and label the probability
    /// of the label if labellings had the probability p(y) ∝ exp(score of y); one row per position.
    ///
    /// This is the softmax of the scores. A chain that was trained as a structured SVM knows nothing of
    /// probabilities, so these rank labels, and are not calibrated. Labellings that break a rule have the
    /// probability 0; if all of them do, the numbers mean nothing.
    ///
    /// ```
    /// # use maxmargin::model::chain::{ChainShape, ChainDecoder, Sequences};
    /// let shape = ChainShape::new(2, 1);
    /// let mut w = vec![0.0; shape.dim()];
    /// w[shape.emission()].copy_from_slice(&[0.0, 3f64.ln()]); // label 1 is three times as likely
    /// let mut data = Sequences::new();
    /// data.push_token([(0, 1.0)], 0)?;
    /// data.end_sequence(1.0)?;
    /// let mut decoder = ChainDecoder::new(&shape, &w);
    /// decoder.fill(data.sequence(0));
    /// let (log_sum, marginals) = decoder.marginals();
    /// assert!((log_sum - 4f64.ln()).abs() < 1e-12 && (marginals[1] - 0.75).abs() < 1e-12);
    /// # Ok::<(), maxmargin::model::InputError>(())
    /// ```
    pub fn marginals(&self) -> (f64, Vec<f64>) {
        // Sums over labellings need finite scores. Whatever has this one is as good as impossible.
        const IMPOSSIBLE: f64 = -1e290;
        let finite = |scores: &[f64]| -> Vec<f64> {
            scores.iter().map(|score| score.max(IMPOSSIBLE)).collect()
        };
        let mut chain = ForwardBackward::default();
        let k = self.shape.labels;
        let log_sum = chain.run(&finite(&self.nodes), &finite(&self.transitions), k);
        (log_sum, chain.nodes().to_vec())
    }

    /// The margin of each position of the best labelling: by how much at least the score falls if the
    /// label of the position changes. A margin is infinite if no other label is possible, and 0 at ties.
    pub fn margins(&self) -> Vec<f64> {
        let margin = |row: &[f64]| {
            let (mut best, mut second) = (f64::NEG_INFINITY, f64::NEG_INFINITY);
            for &score in row {
                (best, second) =
                    if score > best { (score, best) } else { (best, second.max(score)) };
            }
            if second == f64::NEG_INFINITY { f64::INFINITY } else { best - second }
        };
        self.max_marginals().chunks_exact(self.shape.labels).map(margin).collect()
    }
}
