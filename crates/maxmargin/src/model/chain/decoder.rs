//! Everything a trained chain can be asked about a sequence.

use super::rules::Rules;
use super::sequences::Sequence;
use super::shape::ChainShape;
use crate::inference::max_marginals::max_marginals;
use crate::inference::n_best::{ScoredPath, n_best};
use crate::inference::viterbi::viterbi;

/// A trained chain at work: the best labelling of a sequence, the n best, how sure each label is;
/// with rules that labellings must keep, and labels that are known already.
///
/// ```
/// use maxmargin::model::chain::{ChainShape, ChainDecoder, Rules, Sequences};
///
/// let shape = ChainShape::new(2, 1);
/// let mut w = vec![0.0; shape.dim()];
/// w[shape.emission()].copy_from_slice(&[-1.0, 1.0]); // attribute 0 speaks for label 1
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
/// # Ok::<(), maxmargin::model::chain::SequenceError>(())
/// ```
#[derive(Debug, Clone)]
pub struct ChainDecoder<'a> {
    shape: ChainShape,
    w: &'a [f64],
    rules: Option<&'a Rules>,
    /// Scores of pairs of labels, −∞ where a rule forbids them; empty for none.
    transitions: Vec<f64>,
    /// Node scores of the current sequence, −∞ where something forbids the label.
    nodes: Vec<f64>,
    forward: Vec<f64>,
    labels: Vec<u32>,
}

impl<'a> ChainDecoder<'a> {
    /// A decoder for a chain with the weights `w`.
    ///
    /// # Panics
    /// If `w` is shorter than the shape says.
    pub fn new(shape: &ChainShape, w: &'a [f64]) -> Self {
        let transitions = w[shape.transition()].to_vec();
        let (nodes, forward, labels) = (Vec::new(), Vec::new(), Vec::new());
        Self { shape: *shape, w, rules: None, transitions, nodes, forward, labels }
    }

    /// The same with rules that all labellings must keep.
    ///
    /// # Panics
    /// If the rules are for another number of labels.
    #[must_use]
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

    /// Takes up a sequence. Labels that were fixed in the one before are free again.
    ///
    /// # Panics
    /// As [`ChainShape::score_nodes`].
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

    /// Holds position `t` of the current sequence at a label that is known already.
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

    /// Finds the best labelling, which is then in [`labels`](Self::labels); its score, or none if no
    /// labelling keeps all rules.
    ///
    /// # Panics
    /// Without a call of [`fill`](Self::fill) before, as with the other questions.
    pub fn best(&mut self) -> Option<f64> {
        let k = self.shape.labels;
        let score = viterbi(&self.nodes, &self.transitions, k, &mut self.forward, &mut self.labels);
        (score > f64::NEG_INFINITY).then_some(score)
    }

    /// The labelling that [`best`](Self::best) found last.
    pub fn labels(&self) -> &[u32] {
        &self.labels
    }

    /// The `n` best labellings, best first; fewer if there are not so many.
    pub fn n_best(&self, n: usize) -> Vec<ScoredPath> {
        n_best(&self.nodes, &self.transitions, self.shape.labels, n)
    }

    /// For each position and label, the score of the best labelling with it: one row per position.
    pub fn max_marginals(&self) -> Vec<f64> {
        let mut marginals = Vec::new();
        max_marginals(&self.nodes, &self.transitions, self.shape.labels, &mut marginals);
        marginals
    }

    /// How sure each position of the best labelling is: how much the score falls at least if its label
    /// changes. Infinite where no other label is possible, and 0 at ties.
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
