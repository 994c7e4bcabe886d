//! What a model can be asked: its specification if it is of the kind that a question needs, and questions to chains.

use super::Model;
use crate::error::value_error;
use crate::predict::{Answer, Known, Question, ask_chain};
use crate::sequences::SequenceData;
use maxmargin::model::chain::Rules;
use maxmargin_io::{
    FactorGraphSpec, MatchingSpec, MultilabelSpec, PottsSpec, SegmentSpec, Spec, TreeSpec,
};
use pyo3::prelude::*;

impl Model {
    pub(super) fn sets(&self) -> PyResult<&MultilabelSpec> {
        match &self.inner.meta.spec {
            Spec::Multilabel(spec) => Ok(spec),
            _ => Err(value_error("this model does not predict sets of labels")),
        }
    }

    pub(super) fn factor_graph(&self) -> PyResult<&FactorGraphSpec> {
        match &self.inner.meta.spec {
            Spec::FactorGraph(spec) => Ok(spec),
            _ => Err(value_error("this model does not predict states of variables")),
        }
    }

    pub(super) fn segments(&self) -> PyResult<&SegmentSpec> {
        match &self.inner.meta.spec {
            Spec::Segment(spec) => Ok(spec),
            _ => Err(value_error("this model does not predict segments")),
        }
    }

    pub(super) fn potts(&self) -> PyResult<&PottsSpec> {
        match &self.inner.meta.spec {
            Spec::Potts(spec) => Ok(spec),
            _ => Err(value_error("this model does not predict labels of nodes")),
        }
    }

    pub(super) fn tree(&self) -> PyResult<&TreeSpec> {
        match &self.inner.meta.spec {
            Spec::Tree(spec) => Ok(spec),
            _ => Err(value_error("this model does not predict states of trees")),
        }
    }

    pub(super) fn matching(&self) -> PyResult<&MatchingSpec> {
        match &self.inner.meta.spec {
            Spec::Matching(spec) => Ok(spec),
            _ => Err(value_error("this model does not predict links")),
        }
    }

    /// Asks a chain about sequences, whose labels keep to rules and to those that are fixed.
    pub(super) fn ask(
        &self,
        py: Python<'_>,
        data: &SequenceData,
        rules: Option<&str>,
        fixed: Option<Vec<Vec<i64>>>,
        question: &Question,
        threads: usize,
    ) -> PyResult<Vec<Answer>> {
        let Spec::Chain(spec) = &self.inner.meta.spec else {
            return Err(value_error("this model does not predict sequences"));
        };
        let rules = match rules {
            None => None,
            Some("bio") => {
                let names: Vec<&str> = self.inner.labels.iter().collect();
                Some(Rules::bio(&names))
            }
            Some(other) => {
                return Err(value_error(format!("unknown rules `{other}`; known are bio")));
            }
        };
        let (w, sequences) = (&self.inner.weights, &data.data);
        let known = Known { rules: rules.as_ref(), fixed: fixed.as_deref() };
        py.detach(|| ask_chain(spec, w, sequences, known, question, threads)).map_err(value_error)
    }
}
