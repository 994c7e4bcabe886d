//! Predictions with trained weights, and their errors.

mod chain;
mod errors;
mod rows;

pub use chain::ChainPredictor;
pub use errors::alignment_scores;
pub use rows::RowScorer;

use crate::problem::ProblemError;
use crate::side_by_side::map_side_by_side;
use crate::spec::{
    FactorGraphSpec, MatchingSpec, MultilabelSpec, PottsSpec, SegmentSpec, TreeSpec,
};
use maxmargin::kernel::Expander;
use maxmargin::model::LabelledRows;
use maxmargin::model::factor_graph::{Graphs, Labelling};
use maxmargin::model::matching::{Matcher, Pairs};
use maxmargin::model::potts::PottsGraphs;
use maxmargin::model::segment::{Segment, Segmentations};
use maxmargin::model::tree::{State, TreeExamples};
use maxmargin::{Problem, ProblemExt as _};

/// Calls `answer` with the output that a problem predicts for each of its examples, on this number of threads.
fn decode_all<P: Problem, T: Send>(
    problem: &P,
    w: &[f64],
    threads: usize,
    answer: impl Fn(&P::Output) -> T + Sync,
) -> Vec<T> {
    let start = || (problem.workspace(), P::Output::default());
    map_side_by_side(problem.examples(), threads, start, |(workspace, y), i| {
        problem.prepare(i, w, workspace);
        problem.decode(i, w, workspace, y);
        answer(y)
    })
}

impl MultilabelSpec {
    /// The predicted sets of labels of all rows, on as many threads as [`thread_count`](crate::thread_count) says.
    /// The labels of the rows themselves are ignored.
    ///
    /// ```
    /// use maxmargin::inference::Inference;
    /// use maxmargin::model::LabelledRows;
    /// use maxmargin::model::chain::Hamming;
    /// use maxmargin::model::multilabel::MultilabelShape;
    /// use maxmargin_io::{MultilabelSpec, Rescaling};
    ///
    /// let (shape, loss) = (MultilabelShape::independent(3, 1), Hamming::default());
    /// let (inference, rescaling) = (Inference::Auto, Rescaling::Margin);
    /// let (partial, kernel, training) = (false, None, Default::default());
    /// let spec = MultilabelSpec { shape, loss, inference, partial, rescaling, kernel, training };
    /// let mut rows = LabelledRows::new();
    /// rows.push([(0, 1.0)], &[], 1.0)?;
    /// assert_eq!(spec.predict(&[0.5, -0.5, 2.0], &rows, 0)?, [[0, 2]]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If there are too many pairs of labels for the inference.
    pub fn predict(
        &self,
        w: &[f64],
        rows: &LabelledRows,
        threads: usize,
    ) -> Result<Vec<Vec<u32>>, ProblemError> {
        if let Some(own) = &self.kernel {
            // Compute kernel values row by row, because those of all rows would take too much memory.
            let linear = Self { shape: self.scoring_shape(), kernel: None, ..self.clone() };
            let one = |expander: &mut Expander, i| {
                linear.predict(w, &expander.expand_row(rows.row(i)), 1)
            };
            let sets = map_side_by_side(rows.len(), threads, || own.expander(), one);
            return Ok(sets.into_iter().collect::<Result<Vec<_>, _>>()?.concat());
        }
        // Leave out the labels of the rows, because a problem refuses labels that the model does not know.
        let mut bare = LabelledRows::new();
        for (row, _) in rows.iter() {
            bare.push(row.pairs(), &[], 1.0).expect("the row was valid before");
        }
        Ok(decode_all(&self.problem(bare)?, w, threads, |set| set.labels.clone()))
    }
}

impl FactorGraphSpec {
    /// The predicted states of the variables of all graphs, on as many threads as
    /// [`thread_count`](crate::thread_count) says.
    ///
    /// # Errors
    /// Graphs that do not fit, or that are too large for the inference.
    pub fn predict(
        &self,
        w: &[f64],
        graphs: &Graphs,
        threads: usize,
    ) -> Result<Vec<Vec<u32>>, ProblemError> {
        Ok(decode_all(&self.problem(graphs.clone())?, w, threads, |found| found.states.clone()))
    }

    /// The best states of the variables of all graphs among the allowed ones, on as many threads as
    /// [`thread_count`](crate::thread_count) says. For each graph, `allowed` has one entry for each state of each
    /// variable.
    ///
    /// # Errors
    /// Graphs that do not fit, or that are too large for the inference.
    ///
    /// # Panics
    /// If there are too few entries.
    pub fn complete(
        &self,
        w: &[f64],
        graphs: &Graphs,
        allowed: &[Vec<bool>],
        threads: usize,
    ) -> Result<Vec<Vec<u32>>, ProblemError> {
        let problem = self.problem(graphs.clone())?;
        let start = || (problem.workspace(), Labelling::default());
        Ok(map_side_by_side(graphs.len(), threads, start, |(workspace, y), i| {
            problem.complete(i, w, &allowed[i], workspace, y);
            y.states.clone()
        }))
    }

    /// For each graph the scores of the states of each variable, by the factors of that variable alone. On as many
    /// threads as [`thread_count`](crate::thread_count) says.
    ///
    /// # Errors
    /// Graphs that do not fit, or that are too large for the inference.
    pub fn state_scores(
        &self,
        w: &[f64],
        graphs: &Graphs,
        threads: usize,
    ) -> Result<Vec<Vec<Vec<f64>>>, ProblemError> {
        let problem = self.problem(graphs.clone())?;
        let start = || problem.workspace();
        Ok(map_side_by_side(graphs.len(), threads, start, |workspace, i| {
            problem.state_scores(i, w, workspace)
        }))
    }
}

impl PottsSpec {
    /// The predicted labels of the nodes of all graphs, on as many threads as
    /// [`thread_count`](crate::thread_count) says.
    ///
    /// # Errors
    /// Graphs that do not fit.
    pub fn predict(
        &self,
        w: &[f64],
        graphs: &PottsGraphs,
        threads: usize,
    ) -> Result<Vec<Vec<u32>>, ProblemError> {
        Ok(decode_all(&self.problem(graphs.clone())?, w, threads, |found| found.labels.clone()))
    }
}

impl TreeSpec {
    /// The predicted states of the parts of all trees, on as many threads as
    /// [`thread_count`](crate::thread_count) says.
    ///
    /// # Errors
    /// Examples that do not fit.
    pub fn predict(
        &self,
        w: &[f64],
        trees: &TreeExamples,
        threads: usize,
    ) -> Result<Vec<Vec<State>>, ProblemError> {
        Ok(decode_all(&self.problem(trees.clone())?, w, threads, Clone::clone))
    }
}

impl SegmentSpec {
    /// The predicted segments of all sequences, on as many threads as
    /// [`thread_count`](crate::thread_count) says.
    ///
    /// # Errors
    /// Sequences that do not fit.
    pub fn predict(
        &self,
        w: &[f64],
        data: &Segmentations,
        threads: usize,
    ) -> Result<Vec<Vec<Segment>>, ProblemError> {
        // New data may have segments that are longer than any in training.
        Ok(decode_all(&self.problem(data.without_truth())?, w, threads, Clone::clone))
    }

    /// For each sequence, the score of the best segments that give each token each label; the labels of a token are
    /// side by side. On as many threads as [`thread_count`](crate::thread_count) says.
    ///
    /// # Errors
    /// Sequences that do not fit.
    pub fn max_marginals(
        &self,
        w: &[f64],
        data: &Segmentations,
        threads: usize,
    ) -> Result<Vec<Vec<f64>>, ProblemError> {
        let problem = self.problem(data.without_truth())?;
        let start = || problem.workspace();
        Ok(map_side_by_side(data.len(), threads, start, |workspace, i| {
            problem.prepare(i, w, workspace);
            problem.max_marginals(i, workspace)
        }))
    }
}

impl MatchingSpec {
    /// The predicted links of all pairs, (row, column), on as many threads as
    /// [`thread_count`](crate::thread_count) says.
    ///
    /// # Panics
    /// If there are fewer weights than the candidates have attributes.
    pub fn predict(&self, w: &[f64], pairs: &Pairs, threads: usize) -> Vec<Vec<(u32, u32)>> {
        let start = || Matcher::new(self.shape, w);
        map_side_by_side(pairs.len(), threads, start, |matcher, i| {
            let pair = pairs.pair(i);
            matcher.best(&pair);
            matcher.links(&pair)
        })
    }
}
