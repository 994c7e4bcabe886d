//! Scores of the labels of rows.

use crate::side_by_side::map_side_by_side;
use crate::spec::{KernelSpec, Spec};
use maxmargin::kernel::Expander;
use maxmargin::model::multiclass::MulticlassShape;
use maxmargin::model::multilabel::MultilabelShape;
use maxmargin::model::{LabelledRows, Row};

/// Scores rows with a trained model of rows: computes the scores of all labels.
///
/// ```
/// use maxmargin::model::LabelledRows;
/// use maxmargin::model::binary::BinaryShape;
/// use maxmargin_io::{BinarySpec, Rescaling, RowScorer, Spec};
///
/// let mut rows = LabelledRows::new();
/// rows.push([(0, 3.0)], &[1], 1.0)?;
/// let shape = BinaryShape { attributes: 1, bias: None };
/// let spec = Spec::from(BinarySpec { shape, positive: 1, rescaling: Rescaling::Margin });
/// let mut scorer = RowScorer::new(&spec, &[0.5]);
/// assert_eq!(scorer.score(rows.row(0)), [-1.5, 1.5]);
/// assert_eq!(scorer.predict(rows.row(0)), 1);
/// # Ok::<(), maxmargin::model::InputError>(())
/// ```
#[derive(Debug, Clone)]
pub struct RowScorer<'m> {
    w: &'m [f64],
    shape: Shape<'m>,
    expander: Option<Expander>,
    scores: Vec<f64>,
}

/// The part of the model that scores rows.
#[derive(Debug, Clone)]
enum Shape<'m> {
    Binary(&'m crate::BinarySpec),
    Multiclass(MulticlassShape),
    Multilabel(MultilabelShape),
    None,
}

impl<'m> RowScorer<'m> {
    /// Creates a scorer for the model with the weights `w`. Models of other examples than rows have no scores.
    pub fn new(spec: &'m Spec, w: &'m [f64]) -> Self {
        let shape = match spec {
            Spec::Binary(spec) => Shape::Binary(spec),
            Spec::Multiclass(spec) => Shape::Multiclass(spec.scoring_shape()),
            Spec::Multilabel(spec) => Shape::Multilabel(spec.scoring_shape()),
            Spec::Chain(_)
            | Spec::FactorGraph(_)
            | Spec::Potts(_)
            | Spec::Tree(_)
            | Spec::Matching(_)
            | Spec::Segment(_) => Shape::None,
        };
        let expander = spec.kernel().map(KernelSpec::expander);
        Self { w, shape, expander, scores: Vec::new() }
    }

    /// The scores of all labels of a row. In models of sets of labels, these are the scores of single labels.
    pub fn score(&mut self, row: Row<'_>) -> &[f64] {
        let row = self.expander.as_mut().map_or(row, |own| own.expand(row));
        self.scores.clear();
        match &self.shape {
            Shape::Binary(spec) => {
                let score = spec.shape.score(self.w, row);
                self.scores.resize(2, -score);
                self.scores[spec.positive as usize] = score;
            }
            Shape::Multiclass(shape) => shape.score(self.w, row, &mut self.scores),
            Shape::Multilabel(shape) => shape.score(self.w, row, &mut self.scores),
            Shape::None => {}
        }
        &self.scores
    }

    /// The predicted labels of all rows, on as many threads as [`thread_count`](crate::thread_count) says.
    ///
    /// ```
    /// use maxmargin::model::LabelledRows;
    /// use maxmargin::model::binary::BinaryShape;
    /// use maxmargin_io::{BinarySpec, Rescaling, RowScorer, Spec};
    ///
    /// let mut rows = LabelledRows::new();
    /// rows.push([(0, 3.0)], &[1], 1.0)?;
    /// let shape = BinaryShape { attributes: 1, bias: None };
    /// let spec = Spec::from(BinarySpec { shape, positive: 1, rescaling: Rescaling::Margin });
    /// assert_eq!(RowScorer::new(&spec, &[0.5]).predict_all(&rows, 0), [1]);
    /// # Ok::<(), maxmargin::model::InputError>(())
    /// ```
    pub fn predict_all(&self, rows: &LabelledRows, threads: usize) -> Vec<u32> {
        let start = || self.clone();
        map_side_by_side(rows.len(), threads, start, |scorer, i| scorer.predict(rows.row(i)))
    }

    /// The scores that were computed last.
    pub fn scores(&self) -> &[f64] {
        &self.scores
    }

    /// The label with the largest score, or the first of several such labels.
    pub fn predict(&mut self, row: Row<'_>) -> u32 {
        let scores = self.score(row);
        let better = |best: usize, at: usize| if scores[at] > scores[best] { at } else { best };
        (0..scores.len()).fold(0, better) as u32
    }
}
