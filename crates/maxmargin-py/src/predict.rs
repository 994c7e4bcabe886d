//! Predictions of trained weights.

use crate::error::WorkError;
use maxmargin::kernel::Expander;
use maxmargin::model::LabelledRows;
use maxmargin::model::chain::{Rules, Sequences};
use maxmargin::model::factor_graph::Graphs;
use maxmargin::model::matching::{Matcher, Pairs, ScoredLinks};
use maxmargin::model::multilabel::SetScores;
use maxmargin::model::tree::{ScoredStates, TreeExamples};
use maxmargin::{Problem as _, ProblemExt as _};
use maxmargin_io::{
    ChainPredictor, ChainSpec, Examples, FactorGraphSpec, KernelSpec, MatchingSpec, MultilabelSpec,
    ProblemError, Spec, TreeSpec, alignment_scores, map_side_by_side,
};

/// The error of weights on labelled examples: the share of labels that are wrong, of trees the mean
/// loss, of matchings the alignment error rate. Examples are decoded on so many threads.
pub(crate) fn error(
    spec: &Spec,
    w: &[f64],
    examples: &Examples,
    threads: usize,
) -> Result<f64, WorkError> {
    match (spec, examples) {
        (Spec::Tree(spec), Examples::Trees(data)) => tree_loss(spec, w, data, threads),
        (Spec::Matching(spec), Examples::Pairs(data)) => {
            Ok(alignment_scores(data, &spec.predict(w, data, threads)).aer())
        }
        _ => Ok(spec.errors(w, examples, threads)?.parts.share()),
    }
}

/// The mean loss of predicted states, by the weights of examples.
pub(crate) fn tree_loss(
    spec: &TreeSpec,
    w: &[f64],
    data: &TreeExamples,
    threads: usize,
) -> Result<f64, WorkError> {
    let problem = spec.problem(data.clone())?;
    let predicted = spec.predict(w, data, threads)?;
    let losses = predicted.iter().enumerate();
    let losses = losses.map(|(i, states)| data.weight(i) * problem.loss(i, states));
    Ok(losses.sum::<f64>() / problem.total_weight())
}

/// The `n` best states of each example of a tree.
pub(crate) fn best_states(
    spec: &TreeSpec,
    w: &[f64],
    data: &TreeExamples,
    n: usize,
    threads: usize,
) -> Result<Vec<Vec<ScoredStates>>, WorkError> {
    let problem = spec.problem(data.clone())?;
    Ok(map_side_by_side(data.len(), threads, || (), |(), i| problem.n_best(i, w, n)))
}

/// The `n` best sets of links of each pair.
pub(crate) fn best_links(
    spec: &MatchingSpec,
    w: &[f64],
    data: &Pairs,
    n: usize,
    threads: usize,
) -> Vec<Vec<ScoredLinks>> {
    let start = || Matcher::new(spec.shape, w);
    map_side_by_side(data.len(), threads, start, |matcher, i| {
        let pair = data.pair(i);
        match n {
            1 => {
                let score = matcher.best(&pair);
                vec![ScoredLinks { score, links: matcher.links(&pair) }]
            }
            _ => matcher.n_best(&pair, n),
        }
    })
}

/// The best sets of labels of a row with their scores, and by how much the best score with each label is
/// above the best one without it.
pub(crate) type RankedSets = (Vec<(Vec<u32>, f64)>, Vec<f64>);

/// The `n` best sets of labels of all rows, by trying out all sets.
///
/// # Errors
/// More labels than have few enough sets.
pub(crate) fn ranked_sets(
    spec: &MultilabelSpec,
    w: &[f64],
    rows: &LabelledRows,
    n: usize,
    threads: usize,
) -> Result<Vec<RankedSets>, WorkError> {
    let shape = spec.scoring_shape();
    let start = || spec.kernel.as_ref().map(KernelSpec::expander);
    let rank = |expander: &mut Option<Expander>, i| {
        let row = rows.row(i);
        let seen = expander.as_mut().map_or(row, |own| own.expand(row));
        let scores = SetScores::new(&shape, w, seen);
        let scores = scores.ok_or(WorkError::TooManySets { labels: shape.labels })?;
        Ok((scores.n_best(n), scores.margins()))
    };
    map_side_by_side(rows.len(), threads, start, rank).into_iter().collect()
}

/// The best labellings of a graph, each after its score.
pub(crate) type RankedStates = Vec<(f64, Vec<u32>)>;

/// The `n` best labellings of all graphs with their scores, by trying out all of them.
///
/// # Errors
/// A graph that has too many.
pub(crate) fn ranked_states(
    spec: &FactorGraphSpec,
    w: &[f64],
    graphs: &Graphs,
    n: usize,
    threads: usize,
) -> Result<Vec<RankedStates>, WorkError> {
    let problem = spec.problem(graphs.clone()).map_err(ProblemError::from)?;
    let rank = |(): &mut (), graph| {
        problem.n_best(graph, w, n).ok_or(WorkError::TooManyLabellings { graph })
    };
    map_side_by_side(graphs.len(), threads, || (), rank).into_iter().collect()
}

/// What a chain is asked about each sequence.
pub(crate) enum Question {
    Best,
    NBest(usize),
    Margins,
    MaxMarginals,
    /// Probabilities by the softmax of scores, with the logarithm of their sum in place of the score.
    Marginals,
}

/// What it answers: labels with their scores, or numbers.
pub(crate) struct Answer {
    pub(crate) paths: Vec<(Vec<u32>, f64)>,
    pub(crate) numbers: Vec<f64>,
}

/// A label that is open, among those that are fixed.
const OPEN: i64 = -1;

/// What labels have to keep to.
#[derive(Clone, Copy)]
pub(crate) struct Known<'a> {
    pub(crate) rules: Option<&'a Rules>,
    /// Labels of each sequence that are known already.
    pub(crate) fixed: Option<&'a [Vec<i64>]>,
}

/// Asks a chain about sequences, on so many threads.
///
/// # Errors
/// A sequence of which no labelling keeps all rules and fixed labels.
pub(crate) fn ask_chain(
    spec: &ChainSpec,
    w: &[f64],
    data: &Sequences,
    known: Known<'_>,
    question: &Question,
    threads: usize,
) -> Result<Vec<Answer>, WorkError> {
    let start = || {
        let predictor = ChainPredictor::new(spec, w);
        match known.rules {
            Some(rules) => predictor.with_rules(rules),
            None => predictor,
        }
    };
    let answers = map_side_by_side(data.len(), threads, start, |predictor, i| {
        let sequence = data.sequence(i);
        let decoder = predictor.fill(sequence);
        if let Some(known) = known.fixed.and_then(|fixed| fixed.get(i)) {
            if known.len() != sequence.len() {
                let (fixed, tokens) = (known.len(), sequence.len());
                return Err(WorkError::FixedLabels { sequence: i, tokens, fixed });
            }
            for (t, &label) in known.iter().enumerate().filter(|(_, label)| **label != OPEN) {
                match u32::try_from(label).ok().filter(|y| (*y as usize) < spec.shape.labels) {
                    Some(label) => decoder.fix(t, label),
                    None => return Err(WorkError::NoSuchLabel(label)),
                }
            }
        }
        let Some(score) = decoder.best() else {
            return Err(WorkError::NoLabelling(i));
        };
        let mut answer = Answer { paths: Vec::new(), numbers: Vec::new() };
        match question {
            Question::Best => answer.paths.push((decoder.labels().to_vec(), score)),
            Question::NBest(n) => {
                let paths = decoder.n_best(*n).into_iter();
                answer.paths.extend(paths.map(|path| (path.labels, path.score)));
            }
            Question::Margins => {
                answer.paths.push((decoder.labels().to_vec(), score));
                answer.numbers = decoder.margins();
            }
            Question::MaxMarginals => answer.numbers = decoder.max_marginals(),
            Question::Marginals => {
                let (log_sum, marginals) = decoder.marginals();
                answer.paths.push((Vec::new(), log_sum));
                answer.numbers = marginals;
            }
        }
        Ok(answer)
    });
    answers.into_iter().collect()
}
