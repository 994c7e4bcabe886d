//! The errors of weights on labelled examples.

use super::RowScorer;
use crate::error_counts::{ErrorCounts, Nouns};
use crate::examples::Examples;
use crate::problem::ProblemError;
use crate::problem_role::ProblemRole;
use crate::spec::{MultilabelSpec, Spec};
use maxmargin::evaluate::AlignmentScores;
use maxmargin::model::LabelledRows;
use maxmargin::model::matching::{Gold, Pair, Pairs};
use maxmargin::model::segment::Segment;

/// Stands for the label of a row that has none.
const NO_LABEL: u32 = u32::MAX;

impl Spec {
    /// The errors of the weights `w` of a model on labelled examples.
    ///
    /// What counts as wrong depends on the kind of model: labels of tokens, rows, nodes and variables that differ
    /// from the true ones; labels that are missing in a set, or too many; joints of people that are not
    /// [near](crate::SimulatedPoses::NEAR) their places; links, counted such that their share is the alignment
    /// error rate. Examples are decoded on as many threads as [`thread_count`](crate::thread_count) says.
    ///
    /// ```
    /// use maxmargin::model::LabelledRows;
    /// use maxmargin::model::binary::BinaryShape;
    /// use maxmargin_io::{BinarySpec, Examples, Rescaling, Spec};
    ///
    /// let mut rows = LabelledRows::new();
    /// rows.push([(0, 1.0)], &[1], 1.0)?;
    /// rows.push([(0, 2.0)], &[0], 1.0)?;
    /// let shape = BinaryShape { attributes: 1, bias: None };
    /// let spec = Spec::from(BinarySpec { shape, positive: 1, rescaling: Rescaling::Margin });
    /// let errors = spec.errors(&[0.5], &Examples::from(rows), 0)?;
    /// assert_eq!((errors.examples.wrong, errors.examples.what), (1, "rows"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If examples do not fit the specification.
    pub fn errors(
        &self,
        w: &[f64],
        examples: &Examples,
        threads: usize,
    ) -> Result<ErrorCounts, ProblemError> {
        let mut errors = ErrorCounts::new(self.nouns());
        match (self, examples) {
            (Self::Chain(spec), Examples::Sequences(data)) => {
                for (sequence, labels) in data.iter().zip(&spec.predict(w, data, threads)) {
                    errors.add_labels(sequence.labels(), labels);
                }
            }
            (Self::Binary(_) | Self::Multiclass(_), Examples::Rows(data)) => {
                let predicted = RowScorer::new(self, w).predict_all(data, threads);
                for ((_, labels), label) in data.iter().zip(predicted) {
                    let truth = labels.first().copied().unwrap_or(NO_LABEL);
                    errors.add_labels(&[truth], &[label]);
                }
            }
            (Self::Multilabel(spec), Examples::Rows(data)) => return spec.errors(w, data, threads),
            (Self::FactorGraph(spec), Examples::FactorGraphs(data)) => {
                let label =
                    |&state: &u32| spec.labels.get(state as usize).copied().unwrap_or(state);
                let labels = |states: &[u32]| states.iter().map(label).collect::<Vec<_>>();
                for (graph, states) in data.iter().zip(&spec.predict(w, data, threads)?) {
                    errors.add_labels(&labels(graph.truth()), &labels(states));
                }
            }
            (Self::Potts(spec), _) => {
                let data = examples.potts().ok_or(self.other_kind())?;
                for (graph, labels) in data.iter().zip(&spec.predict(w, data, threads)?) {
                    errors.add_labels(graph.labels(), labels);
                }
            }
            (Self::Tree(spec), Examples::Trees(data)) => {
                for (i, states) in spec.predict(w, data, threads)?.iter().enumerate() {
                    errors.add_labels(data.truth(i), states);
                }
            }
            (Self::Tree(spec), Examples::Poses(data)) => {
                for (i, states) in spec.predict(w, &data.examples, threads)?.iter().enumerate() {
                    let is_found = |(joint, state)| data.is_found(i, joint, state);
                    let found = states.iter().enumerate().filter(|one| is_found(*one)).count();
                    errors.add(states.len() - found, states.len());
                }
            }
            (Self::Segment(spec), Examples::Segments(data)) => {
                for (i, segments) in spec.predict(w, data, threads)?.iter().enumerate() {
                    errors.add_labels(&token_tags(data.truth(i)), &token_tags(segments));
                }
            }
            (Self::Matching(spec), _) => {
                let data = examples.pairs().ok_or(self.other_kind())?;
                count_links(&mut errors, data, &spec.predict(w, data, threads));
            }
            _ => return Err(self.other_kind()),
        }
        Ok(errors)
    }

    /// The errors of the weights `w` of a problem. These differ from the weights of its model if it has a kernel.
    ///
    /// # Errors
    /// If examples do not fit the specification.
    pub fn errors_in(
        &self,
        role: ProblemRole<'_>,
        w: &[f64],
        examples: &Examples,
        threads: usize,
    ) -> Result<ErrorCounts, ProblemError> {
        let (spec, w) = role.in_model(self, w);
        spec.errors(&w, examples, threads)
    }
}

impl MultilabelSpec {
    /// The errors of the weights `w` of a model on rows, as in [`Spec::errors`].
    ///
    /// # Errors
    /// If there are too many pairs of labels for the inference.
    pub fn errors(
        &self,
        w: &[f64],
        rows: &LabelledRows,
        threads: usize,
    ) -> Result<ErrorCounts, ProblemError> {
        let mut errors = ErrorCounts::new(Nouns::ROWS);
        for (i, predicted) in self.predict(w, rows, threads)?.iter().enumerate() {
            errors.add(differences(rows.labels(i), predicted), self.shape.labels);
        }
        Ok(errors)
    }
}

/// The number of labels that are missing in a set, or too many.
fn differences(truth: &[u32], predicted: &[u32]) -> usize {
    let missed = truth.iter().filter(|label| !predicted.contains(label)).count();
    missed + predicted.iter().filter(|label| !truth.contains(label)).count()
}

/// The scores of predicted links.
///
/// ```
/// use maxmargin::model::matching::{Gold, Pairs};
/// use maxmargin_io::alignment_scores;
///
/// let mut pairs = Pairs::new();
/// pairs.push_link(0, 0, [(0, 1.0)], Gold::Sure)?;
/// pairs.push_link(0, 1, [(0, 0.5)], Gold::Wrong)?;
/// pairs.end_pair(1, 2, 1.0)?;
/// assert_eq!(alignment_scores(&pairs, &[vec![(0, 1)]]).aer(), 1.0);
/// # Ok::<(), maxmargin::model::InputError>(())
/// ```
pub fn alignment_scores(pairs: &Pairs, predicted: &[Vec<(u32, u32)>]) -> AlignmentScores {
    let mut scores = AlignmentScores::default();
    for (pair, links) in pairs.iter().zip(predicted) {
        scores.add(&of_kind(&pair, Gold::Sure), &of_kind(&pair, Gold::Possible), links);
    }
    scores
}

/// The links of a pair that have this annotation, in increasing order.
fn of_kind(pair: &Pair<'_>, gold: Gold) -> Vec<(u32, u32)> {
    pair.of_kind(gold).map(|candidate| pair.link(candidate)).collect()
}

/// Counts links such that the share of wrong ones is the alignment error rate. A pair is wrong if a sure link
/// is missing, or if a predicted one is neither sure nor possible.
fn count_links(errors: &mut ErrorCounts, pairs: &Pairs, predicted: &[Vec<(u32, u32)>]) {
    for (pair, links) in pairs.iter().zip(predicted) {
        let (sure, possible) = (of_kind(&pair, Gold::Sure), of_kind(&pair, Gold::Possible));
        let mut scores = AlignmentScores::default();
        scores.add(&sure, &possible, links);
        let all = scores.predicted + scores.sure;
        errors.parts.all += all;
        errors.parts.wrong += all - scores.sure_hits - scores.possible_hits;
        let is_right = scores.sure_hits == scores.sure && scores.possible_hits == scores.predicted;
        errors.examples.wrong += u64::from(!is_right);
        errors.examples.all += 1;
    }
}

/// The label of each token, and whether it is the first of its segment.
fn token_tags(segments: &[Segment]) -> Vec<(u32, bool)> {
    let tags = |segment: &Segment| {
        let label = segment.label;
        (0..segment.length).map(move |t| (label, t == 0))
    };
    segments.iter().flat_map(tags).collect()
}
