//! Data of any kind.

use crate::error::value_error;
use crate::factor_graphs::FactorGraphData;
use crate::pairs::PairData;
use crate::potts::PottsData;
use crate::rows::RowData;
use crate::sequences::SequenceData;
use crate::trees::TreeData;
use maxmargin::model::LabelledRows;
use maxmargin::model::chain::Sequences;
use maxmargin::model::factor_graph::Graphs;
use maxmargin::model::graph::LabelledGraphs;
use maxmargin::model::matching::Pairs;
use maxmargin::model::tree::TreeExamples;
use maxmargin_io::{Fingerprint, HeldOut, SeenNames};
use pyo3::prelude::*;
use std::mem::take;

/// Data of any kind, as Python holds them.
#[derive(FromPyObject)]
pub(crate) enum AnyData<'py> {
    Sequences(PyRefMut<'py, SequenceData>),
    Rows(PyRefMut<'py, RowData>),
    Graphs(PyRefMut<'py, FactorGraphData>),
    Nodes(PyRefMut<'py, PottsData>),
    Trees(PyRefMut<'py, TreeData>),
    Pairs(PyRefMut<'py, PairData>),
}

/// Labelled examples of any kind.
#[derive(Clone)]
pub(crate) enum Examples {
    Sequences(Sequences),
    Rows(LabelledRows),
    Graphs(Graphs),
    Nodes(LabelledGraphs),
    Trees(TreeExamples),
    Pairs(Pairs),
}

impl AnyData<'_> {
    /// Takes the examples out of Python's hands, so that they need not be copied.
    pub(crate) fn take(mut self) -> PyResult<(Examples, Fingerprint)> {
        let (examples, fingerprint) = match &mut self {
            Self::Sequences(data) => {
                let fingerprint = data.read.unwrap_or_else(|| data.fingerprinter.finish());
                (Examples::Sequences(take(&mut data.data)), fingerprint)
            }
            Self::Rows(data) => {
                let fingerprint = data.fingerprinter.finish();
                (Examples::Rows(take(&mut data.data)), fingerprint)
            }
            Self::Graphs(data) => (Examples::Graphs(take(&mut data.data)), data.fingerprint),
            Self::Nodes(data) => {
                let fingerprint = data.fingerprint();
                (Examples::Nodes(take(&mut data.data)), fingerprint)
            }
            Self::Trees(data) => {
                let fingerprint = data.fingerprint();
                let none = TreeExamples::new(data.data.shape().clone());
                (Examples::Trees(std::mem::replace(&mut data.data, none)), fingerprint)
            }
            Self::Pairs(data) => {
                let fingerprint = data.fingerprint();
                (Examples::Pairs(take(&mut data.data)), fingerprint)
            }
        };
        match examples.len() {
            0 => Err(value_error("there are no examples, or they have been used up")),
            _ => Ok((examples, fingerprint)),
        }
    }
}

impl Examples {
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Sequences(data) => data.len(),
            Self::Rows(data) => data.len(),
            Self::Graphs(data) => data.len(),
            Self::Nodes(data) => data.len(),
            Self::Trees(data) => data.len(),
            Self::Pairs(data) => data.len(),
        }
    }

    /// The names of a model that occur in them, of kinds that have names.
    pub(crate) fn seen_names(&self) -> Option<SeenNames> {
        match self {
            Self::Sequences(data) => Some(SeenNames::in_sequences(data)),
            Self::Rows(data) => Some(SeenNames::in_rows(data)),
            _ => None,
        }
    }

    /// The examples that are not held out, and those that are.
    pub(crate) fn split(&self, held_out: HeldOut) -> (Self, Self) {
        let out = held_out.marks(self.len());
        (self.select(|i| !out[i]), self.select(|i| out[i]))
    }

    pub(crate) fn select(&self, keep: impl Fn(usize) -> bool) -> Self {
        match self {
            Self::Sequences(data) => Self::Sequences(data.select(keep)),
            Self::Rows(data) => Self::Rows(data.select(keep)),
            Self::Graphs(data) => Self::Graphs(data.select(keep)),
            Self::Nodes(data) => Self::Nodes(data.select(keep)),
            Self::Trees(data) => Self::Trees(data.select(keep)),
            Self::Pairs(data) => Self::Pairs(data.select(keep, |_, _| true)),
        }
    }
}
