//! Predictions of trained weights.

use crate::examples::Examples;
use crate::problem::{matching, multilabel, potts, text, tree};
use maxmargin::Problem as _;
use maxmargin::evaluate::{AlignmentScores, SequenceErrors};
use maxmargin::kernel::Expander;
use maxmargin::model::chain::{Decoder, Rules, Sequence};
use maxmargin::model::factor_graph::{FactorGraph, Graphs};
use maxmargin::model::matching::{Gold, Matcher, Pair, Pairs, ScoredLinks};
use maxmargin::model::multilabel::{MultilabelShape, SetScores};
use maxmargin::model::tree::{ScoredStates, TreeExamples};
use maxmargin::model::{LabelledRows, Row};
use maxmargin_io::{
    ChainSpec, FactorGraphSpec, KernelSpec, MatchingSpec, MultilabelSpec, Spec, TreeSpec,
};

/// The error of weights on labelled examples: the share of labels that are wrong, of trees the mean
/// loss, of matchings the alignment error rate.
pub(crate) fn error(spec: &Spec, w: &[f64], examples: &Examples) -> Result<f64, String> {
    let mut errors = SequenceErrors::default();
    match (spec, examples) {
        (Spec::Tree(spec), Examples::Trees(data)) => return tree_loss(spec, w, data),
        (Spec::Matching(spec), Examples::Pairs(data)) => return alignment_error(spec, w, data),
        (Spec::Potts(spec), Examples::Nodes(data)) => {
            let predicted = potts(spec, data.clone())?.predict(w);
            data.iter().zip(&predicted).for_each(|(graph, y)| errors.add(graph.labels(), y));
        }
        (Spec::Chain(spec), Examples::Sequences(data)) => {
            let shape = spec.scoring_shape();
            let mut decoder = Decoder::new(&shape, w);
            let mut expander = spec.kernel.as_ref().map(KernelSpec::expander);
            for sequence in data.iter() {
                fill(&mut decoder, expander.as_mut(), sequence);
                decoder.best();
                errors.add(sequence.labels(), decoder.labels());
            }
        }
        (Spec::Binary(_) | Spec::Multiclass(_), Examples::Rows(data)) => {
            let (mut scorer, mut scores) = (Scorer::new(spec, w), Vec::new());
            for (row, labels) in data.iter() {
                scorer.score(row, &mut scores);
                errors.add(labels, &[best(&scores)]);
            }
        }
        (Spec::Multilabel(spec), Examples::Rows(data)) => {
            for (i, predicted) in label_sets(spec, w, data)?.iter().enumerate() {
                let truth = data.labels(i);
                let missed = truth.iter().filter(|label| !predicted.contains(label)).count();
                let extra = predicted.iter().filter(|label| !truth.contains(label)).count();
                errors.tokens += spec.shape.labels as u64;
                errors.wrong_tokens += (missed + extra) as u64;
                errors.sequences += 1;
                errors.wrong_sequences += u64::from(missed + extra > 0);
            }
        }
        (Spec::FactorGraph(spec), Examples::Graphs(data)) => {
            let predicted = states(spec, w, data)?;
            data.iter().zip(&predicted).for_each(|(graph, y)| errors.add(graph.truth(), y));
        }
        (spec, _) => {
            return Err(format!("these data do not fit a model of the kind {}", spec.kind()));
        }
    }
    Ok(errors.hamming())
}

/// The mean loss of predicted states, by the weights of examples.
pub(crate) fn tree_loss(spec: &TreeSpec, w: &[f64], data: &TreeExamples) -> Result<f64, String> {
    let problem = tree(spec, data.clone())?;
    let predicted = problem.predict(w);
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
) -> Result<Vec<Vec<ScoredStates>>, String> {
    let problem = tree(spec, data.clone())?;
    Ok((0..data.len()).map(|i| problem.n_best(i, w, n)).collect())
}

/// The `n` best sets of links of each pair.
pub(crate) fn best_links(
    spec: &MatchingSpec,
    w: &[f64],
    data: &Pairs,
    n: usize,
) -> Vec<Vec<ScoredLinks>> {
    let mut matcher = Matcher::new(spec.shape, w);
    let mut best = |pair: Pair<'_>| match n {
        1 => {
            let score = matcher.best(&pair);
            vec![ScoredLinks { score, links: matcher.links(&pair) }]
        }
        _ => matcher.n_best(&pair, n),
    };
    data.iter().map(&mut best).collect()
}

fn alignment_error(spec: &MatchingSpec, w: &[f64], data: &Pairs) -> Result<f64, String> {
    let predicted = matching(spec, data.clone())?.predict(w);
    let mut scores = AlignmentScores::default();
    for (pair, links) in data.iter().zip(&predicted) {
        let of = |gold| pair.of_kind(gold).map(|k| pair.link(k)).collect::<Vec<_>>();
        scores.add(&of(Gold::Sure), &of(Gold::Possible), links);
    }
    Ok(scores.aer())
}

/// Weights of a model of rows, at work.
pub(crate) struct Scorer<'m> {
    spec: &'m Spec,
    w: &'m [f64],
    expander: Option<Expander>,
    /// The shape of sets of labels.
    sets: Option<MultilabelShape>,
}

impl<'m> Scorer<'m> {
    pub(crate) fn new(spec: &'m Spec, w: &'m [f64]) -> Self {
        let sets = match spec {
            Spec::Multilabel(spec) => Some(spec.scoring_shape()),
            _ => None,
        };
        Self { spec, w, expander: spec.kernel().map(KernelSpec::expander), sets }
    }

    /// The scores of all labels of a row; of sets, those of single labels.
    pub(crate) fn score(&mut self, row: Row<'_>, scores: &mut Vec<f64>) {
        match self.spec {
            Spec::Binary(spec) => {
                let score = spec.shape.score(self.w, row);
                scores.clear();
                scores.resize(2, -score);
                scores[spec.positive as usize] = score;
            }
            Spec::Multiclass(spec) => {
                let seen = self.expander.as_mut().map_or(row, |own| own.expand(row));
                spec.scoring_shape().score(self.w, seen, scores);
            }
            _ => {
                scores.clear();
                if let Some(shape) = &self.sets {
                    let seen = self.expander.as_mut().map_or(row, |own| own.expand(row));
                    shape.score(self.w, seen, scores);
                }
            }
        }
    }
}

/// The label with the largest score; of equals, the first.
pub(crate) fn best(scores: &[f64]) -> u32 {
    let better = |best: usize, at: usize| if scores[at] > scores[best] { at } else { best };
    (0..scores.len()).fold(0, better) as u32
}

/// The predicted sets of labels of all rows, whose own are not asked.
pub(crate) fn label_sets(
    spec: &MultilabelSpec,
    w: &[f64],
    rows: &LabelledRows,
) -> Result<Vec<Vec<u32>>, String> {
    if let Some(own) = &spec.kernel {
        // Row by row, since kernel values of all of them would take too much memory.
        let mut expander = own.expander();
        let linear = MultilabelSpec { shape: spec.scoring_shape(), kernel: None, ..spec.clone() };
        let one = |row| label_sets(&linear, w, &expander.expand_row(row));
        let sets = rows.iter().map(|(row, _)| row).map(one).collect::<Result<Vec<_>, String>>()?;
        return Ok(sets.concat());
    }
    let mut bare = LabelledRows::new();
    for (row, _) in rows.iter() {
        bare.push(row.pairs(), &[], 1.0).map_err(text)?;
    }
    Ok(multilabel(spec, bare)?.predict(w))
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
) -> Result<Vec<RankedSets>, String> {
    let shape = spec.scoring_shape();
    let mut expander = spec.kernel.as_ref().map(KernelSpec::expander);
    let rank = |(row, _): (Row<'_>, &[u32])| {
        let seen = expander.as_mut().map_or(row, |own| own.expand(row));
        let scores = SetScores::new(&shape, w, seen).ok_or_else(|| {
            format!(
                "all sets of labels are tried out, and {} labels have too many: {} is the most",
                shape.labels,
                SetScores::MOST_LABELS
            )
        })?;
        Ok((scores.n_best(n), scores.margins()))
    };
    rows.iter().map(rank).collect()
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
) -> Result<Vec<RankedStates>, String> {
    let problem = FactorGraph::new(spec.shape.clone(), graphs.clone(), spec.loss, spec.inference);
    let problem = problem.map_err(text)?;
    let most = FactorGraph::MOST_RANKED;
    let too_many =
        |i| format!("all labellings are tried out, and graph {i} has more than {most} of them");
    let rank = |i| problem.n_best(i, w, n).ok_or_else(|| too_many(i));
    (0..problem.examples()).map(rank).collect()
}

/// The predicted states of all graphs.
pub(crate) fn states(
    spec: &FactorGraphSpec,
    w: &[f64],
    graphs: &Graphs,
) -> Result<Vec<Vec<u32>>, String> {
    let problem = FactorGraph::new(spec.shape.clone(), graphs.clone(), spec.loss, spec.inference);
    Ok(problem.map_err(text)?.predict(w))
}

/// Gives a sequence to a decoder, as its weights see it.
fn fill(decoder: &mut Decoder<'_>, expander: Option<&mut Expander>, sequence: Sequence<'_>) {
    match expander {
        None => decoder.fill(sequence),
        Some(own) => decoder.fill(own.expand_sequence(sequence).sequence(0)),
    }
}

/// What a chain is asked about each sequence.
pub(crate) enum Question {
    Best,
    NBest(usize),
    Margins,
    MaxMarginals,
}

/// What it answers: labels with their scores, or numbers.
pub(crate) struct Answer {
    pub(crate) paths: Vec<(Vec<u32>, f64)>,
    pub(crate) numbers: Vec<f64>,
}

/// A label that is open, among those that are fixed.
const OPEN: i64 = -1;

/// Asks a chain about sequences, some of whose labels may be known already.
///
/// # Errors
/// A sequence of which no labelling keeps all rules and fixed labels.
pub(crate) fn ask_chain(
    spec: &ChainSpec,
    w: &[f64],
    data: &maxmargin::model::chain::Sequences,
    rules: Option<&Rules>,
    fixed: Option<&[Vec<i64>]>,
    question: &Question,
) -> Result<Vec<Answer>, String> {
    let shape = spec.scoring_shape();
    let mut expander = spec.kernel.as_ref().map(KernelSpec::expander);
    let mut decoder = Decoder::new(&shape, w);
    if let Some(rules) = rules {
        decoder = decoder.with_rules(rules);
    }
    let mut answers = Vec::with_capacity(data.len());
    for (i, sequence) in data.iter().enumerate() {
        fill(&mut decoder, expander.as_mut(), sequence);
        if let Some(known) = fixed.and_then(|fixed| fixed.get(i)) {
            if known.len() != sequence.len() {
                let (found, tokens) = (known.len(), sequence.len());
                return Err(format!("sequence {i} has {tokens} tokens and {found} fixed labels"));
            }
            for (t, &label) in known.iter().enumerate().filter(|(_, label)| **label != OPEN) {
                match u32::try_from(label).ok().filter(|y| (*y as usize) < spec.shape.labels) {
                    Some(label) => decoder.fix(t, label),
                    None => return Err(format!("the fixed label {label} does not exist")),
                }
            }
        }
        let Some(score) = decoder.best() else {
            return Err(format!("no labelling of sequence {i} keeps all rules"));
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
        }
        answers.push(answer);
    }
    Ok(answers)
}
