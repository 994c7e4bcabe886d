//! Best labels of chains.

use super::input::{
    Allowed, Loss, Numbers, Shared, View, Whole, check, loss_of, view_of, whole_of,
};
use super::{Answers, Batch, Found, Naming};
use maxmargin::inference::{n_best, viterbi};
use pyo3::prelude::*;

/// Memory of a thread.
#[derive(Default)]
struct Scratch {
    scores: Vec<f64>,
    transitions: Vec<f64>,
    ends: Vec<f64>,
    forward: Vec<f64>,
    path: Vec<u32>,
}

/// Chains with their scores.
struct Chains<'a> {
    scores: View<'a>,
    positions: usize,
    labels: usize,
    lengths: Option<&'a [i64]>,
    transitions: Option<Shared<'a>>,
    /// Scores of the first and of the last label.
    ends: [Option<Shared<'a>>; 2],
    loss: Option<Loss<'a>>,
    answers: usize,
}

/// Finds the best labels of chains. `scores` has items, positions and labels; `per_step` says that there is
/// a transition matrix for each step.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "called from one place, by name")]
pub(crate) fn decode_chains<'py>(
    py: Python<'py>,
    scores: Numbers<'py>,
    transitions: Option<Numbers<'py>>,
    per_step: bool,
    start: Option<Numbers<'py>>,
    end: Option<Numbers<'py>>,
    lengths: Option<Whole<'py>>,
    truth: Option<Whole<'py>>,
    loss: Option<Numbers<'py>>,
    is_share: bool,
    answers: usize,
    threads: usize,
    is_batch: bool,
) -> PyResult<Answers<'py>> {
    let [items, positions, labels] = scores.sizes()?;
    let shared = |numbers, size| match view_of(numbers)? {
        Some(view) => Ok::<_, PyErr>(Some(Shared::new(view, size, items)?)),
        None => Ok(None),
    };
    let steps = if per_step { positions.saturating_sub(1) } else { 1 };
    let chains = Chains {
        scores: scores.view()?,
        positions,
        labels,
        lengths: whole_of(&lengths)?,
        transitions: shared(&transitions, steps * labels * labels)?,
        ends: [shared(&start, labels)?, shared(&end, labels)?],
        loss: loss_of(whole_of(&truth)?, view_of(&loss)?, is_share)?,
        answers,
    };
    let work = positions * labels * if transitions.is_some() { labels } else { 1 };
    let naming = Naming { is_batch };
    let batch = Batch { items, answers, width: positions, work, threads, naming };
    batch.run(py, Scratch::default, |scratch, item| chains.decode(item, per_step, scratch))
}

impl Chains<'_> {
    fn decode(&self, item: usize, per_step: bool, memory: &mut Scratch) -> Result<Found, String> {
        let labels = self.labels;
        let length = self.lengths.map_or(self.positions, |lengths| lengths[item] as usize);
        if length == 0 {
            return Ok(Found::one([].into_iter(), 0.0, 0.0));
        }
        let Scratch { scores: own, transitions: matrices, ends, forward, path } = memory;
        let from = item * self.positions;
        let scores = self.scores.read(from * labels, length * labels, own);
        check(scores, Allowed::FiniteOrNever, |at| {
            format!("the score of label {} at position {}", at % labels, at / labels)
        })?;
        let mut transitions = match self.transitions {
            Some(shared) => shared.read(item, matrices),
            None => &[],
        };
        if per_step {
            transitions = &transitions[..(length - 1) * labels * labels];
        }
        check(transitions, Allowed::FiniteOrNever, |at| {
            let (a, b) = (at / labels % labels, at % labels);
            format!("the transition score from label {a} to label {b}")
        })?;
        let changed = self.changed(item, from, scores, ends)?;
        let scores = changed.as_deref().unwrap_or(scores);
        if self.answers == 1 {
            let score = viterbi(scores, transitions, labels, forward, path);
            if score == f64::NEG_INFINITY {
                return Err(NONE.to_owned());
            }
            return Ok(Found::one(path.iter().map(|&label| label.into()), score, score));
        }
        let paths = n_best(scores, transitions, labels, self.answers);
        if paths.is_empty() {
            return Err(NONE.to_owned());
        }
        let outputs = paths.iter().flat_map(|path| path.labels.iter().map(|&y| y.into())).collect();
        let bound = paths[0].score;
        Ok(Found { outputs, scores: paths.iter().map(|path| path.score).collect(), bound })
    }

    /// The scores with the loss and with the scores of the ends, if there are any.
    fn changed(
        &self,
        item: usize,
        from: usize,
        scores: &[f64],
        scratch: &mut Vec<f64>,
    ) -> Result<Option<Vec<f64>>, String> {
        if self.loss.is_none() && self.ends.iter().all(Option::is_none) {
            return Ok(None);
        }
        let labels = self.labels;
        let mut changed = scores.to_vec();
        if let Some(loss) = &self.loss {
            loss.add(from, labels, &mut changed)?;
        }
        for (at, name) in [(0, "first"), (1, "last")] {
            let Some(shared) = self.ends[at] else { continue };
            let more = shared.read(item, scratch);
            check(more, Allowed::FiniteOrNever, |label| {
                format!("the score of label {label} at the {name} position")
            })?;
            let first = if at == 0 { 0 } else { changed.len() - labels };
            changed[first..].iter_mut().zip(more).for_each(|(score, more)| *score += more);
        }
        Ok(Some(changed))
    }
}

const NONE: &str = "no labelling is allowed: each has a score of -inf";
