//! Sequences that are cut into segments, on their way into a model.

use crate::arrays::AnyMatrix;
use crate::error::value_error;
use maxmargin::model::segment::{Segment, Segmentations};
use maxmargin_io::{Fingerprint, Fingerprinter};
use numpy::PyReadonlyArray2;
use pyo3::prelude::*;

/// Sequences with their segments, in index form. Training uses them up.
#[pyclass(module = "maxmargin._maxmargin", name = "SegmentData")]
pub(crate) struct SegmentData {
    pub(crate) data: Segmentations,
}

#[pymethods]
impl SegmentData {
    #[new]
    fn new() -> Self {
        Self { data: Segmentations::new() }
    }

    fn __len__(&self) -> usize {
        self.data.len()
    }

    /// Adds a sequence: a row per token, whether tokens have one attribute more that is 1, the first token and
    /// the length of each segment with attributes, a row for each of these, length and label of its true
    /// segments (one of all tokens with label 0 if not given), and its weight.
    #[expect(clippy::too_many_arguments, reason = "a sequence has as many parts")]
    fn add(
        &mut self,
        tokens: AnyMatrix<'_>,
        width: u32,
        constant: bool,
        places: Option<PyReadonlyArray2<'_, i64>>,
        segment_rows: Option<AnyMatrix<'_>>,
        truth: Option<Vec<(u32, u32)>>,
        weight: f64,
    ) -> PyResult<()> {
        let rows = tokens.as_matrix();
        let mut row = Vec::new();
        for t in 0..rows.rows() {
            rows.row(t, &None, &mut row).map_err(value_error)?;
            if constant {
                row.push((width, 1.0));
            }
            let pushed = self.data.push_token(row.iter().copied());
            pushed.map_err(|error| value_error(format!("token {t}: {error}")))?;
        }
        if let (Some(places), Some(segment_rows)) = (places, segment_rows) {
            let own = segment_rows.as_matrix();
            for (at, place) in places.as_array().rows().into_iter().enumerate() {
                own.row(at, &None, &mut row).map_err(value_error)?;
                let wrong = || value_error(format!("there is no segment at {place}"));
                let start = usize::try_from(place[0]).map_err(|_| wrong())?;
                let length = usize::try_from(place[1]).map_err(|_| wrong())?;
                let pushed = self.data.push_segment(start, length, row.iter().copied());
                pushed.map_err(|error| value_error(format!("segment {place}: {error}")))?;
            }
        }
        let segment = |(length, label)| Segment { length, label };
        // Without a truth, segments of one token are as good as any.
        let truth: Vec<Segment> = match truth {
            Some(truth) => truth.into_iter().map(segment).collect(),
            None => vec![Segment { length: 1, label: 0 }; rows.rows()],
        };
        self.data.end_sequence(&truth, weight).map_err(value_error)
    }
}

impl SegmentData {
    /// The fingerprint of the sequences, which have no names.
    pub(crate) fn fingerprint(&self) -> Fingerprint {
        let mut all = Fingerprinter::for_records("segments");
        for i in 0..self.data.len() {
            let truth = self.data.truth(i).iter();
            let truth = truth.flat_map(|own| [own.length, own.label].map(f64::from));
            all.add_record([], [self.data.weight(i)].into_iter().chain(truth));
            for t in 0..self.data.tokens(i) {
                let pairs = self.data.token(i, t).pairs();
                all.add_record([], pairs.flat_map(|(a, value)| [f64::from(a), value]));
            }
            for (start, length, row) in self.data.segments(i) {
                let pairs = row.pairs().flat_map(|(a, value)| [f64::from(a), value]);
                all.add_record([], [start as f64, length as f64].into_iter().chain(pairs));
            }
        }
        all.finish()
    }
}
