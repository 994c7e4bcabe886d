//! Predictions of trained weights, and how good they are.

mod chain;
mod errors;
mod rows;

pub use chain::ChainPredictor;
pub use errors::alignment_scores;
pub use rows::RowScorer;

use crate::problem::ProblemError;
use crate::spec::{FactorGraphSpec, MatchingSpec, MultilabelSpec, PottsSpec, TreeSpec};
use maxmargin::model::LabelledRows;
use maxmargin::model::factor_graph::Graphs;
use maxmargin::model::matching::{Matcher, Pairs};
use maxmargin::model::potts::PottsGraphs;
use maxmargin::model::tree::{State, TreeExamples};

impl MultilabelSpec {
    /// The predicted sets of labels of all rows, whose own labels are not looked at.
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
    /// assert_eq!(spec.predict(&[0.5, -0.5, 2.0], &rows)?, [[0, 2]]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Pairs of labels that are too many for the inference.
    pub fn predict(&self, w: &[f64], rows: &LabelledRows) -> Result<Vec<Vec<u32>>, ProblemError> {
        if let Some(own) = &self.kernel {
            // Row by row, since kernel values of all of them would take too much memory.
            let mut expander = own.expander();
            let linear = Self { shape: self.scoring_shape(), kernel: None, ..self.clone() };
            let one = |row| linear.predict(w, &expander.expand_row(row));
            let sets = rows.iter().map(|(row, _)| row).map(one).collect::<Result<Vec<_>, _>>()?;
            return Ok(sets.concat());
        }
        // Labels that the model does not know are no part of any problem.
        let mut bare = LabelledRows::new();
        for (row, _) in rows.iter() {
            bare.push(row.pairs(), &[], 1.0).expect("the row was valid before");
        }
        Ok(self.problem(bare)?.predict(w))
    }
}

impl FactorGraphSpec {
    /// The predicted states of the variables of all graphs.
    ///
    /// # Errors
    /// Graphs that do not fit, or that are too large for the inference.
    pub fn predict(&self, w: &[f64], graphs: &Graphs) -> Result<Vec<Vec<u32>>, ProblemError> {
        Ok(self.problem(graphs.clone())?.predict(w))
    }
}

impl PottsSpec {
    /// The predicted labels of the nodes of all graphs.
    ///
    /// # Errors
    /// Graphs that do not fit.
    pub fn predict(&self, w: &[f64], graphs: &PottsGraphs) -> Result<Vec<Vec<u32>>, ProblemError> {
        Ok(self.problem(graphs.clone())?.predict(w))
    }
}

impl TreeSpec {
    /// The predicted states of the parts of all trees.
    ///
    /// # Errors
    /// Examples that do not fit.
    pub fn predict(
        &self,
        w: &[f64],
        trees: &TreeExamples,
    ) -> Result<Vec<Vec<State>>, ProblemError> {
        Ok(self.problem(trees.clone())?.predict(w))
    }
}

impl MatchingSpec {
    /// The predicted links of all pairs, (row, column).
    ///
    /// # Panics
    /// If there are fewer weights than the candidates have attributes.
    pub fn predict(&self, w: &[f64], pairs: &Pairs) -> Vec<Vec<(u32, u32)>> {
        let mut matcher = Matcher::new(self.shape, w);
        let links = pairs.iter().map(|pair| {
            matcher.best(&pair);
            matcher.links(&pair)
        });
        links.collect()
    }
}
