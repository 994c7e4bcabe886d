//! Data of any kind.

use crate::error::value_error;
use crate::factor_graphs::FactorGraphData;
use crate::pairs::PairData;
use crate::potts::PottsData;
use crate::rows::RowData;
use crate::segments::SegmentData;
use crate::sequences::SequenceData;
use crate::trees::TreeData;
use maxmargin::model::tree::TreeExamples;
use maxmargin_io::{Examples, Fingerprint};
use pyo3::prelude::*;
use std::mem::take;

/// Data of any kind, as Python holds them.
#[derive(FromPyObject)]
pub(crate) enum AnyData<'py> {
    Sequences(PyRefMut<'py, SequenceData>),
    Rows(PyRefMut<'py, RowData>),
    FactorGraphs(PyRefMut<'py, FactorGraphData>),
    Potts(PyRefMut<'py, PottsData>),
    Trees(PyRefMut<'py, TreeData>),
    Pairs(PyRefMut<'py, PairData>),
    Segments(PyRefMut<'py, SegmentData>),
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
            Self::FactorGraphs(data) => {
                (Examples::FactorGraphs(take(&mut data.data)), data.fingerprint)
            }
            Self::Potts(data) => {
                let fingerprint = data.fingerprint();
                (Examples::Potts(take(&mut data.data)), fingerprint)
            }
            Self::Trees(data) => {
                let fingerprint = data.fingerprint();
                let none = TreeExamples::new(data.data.shape().clone());
                (Examples::Trees(std::mem::replace(&mut data.data, none)), fingerprint)
            }
            Self::Segments(data) => {
                let fingerprint = data.fingerprint();
                (Examples::Segments(take(&mut data.data)), fingerprint)
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
