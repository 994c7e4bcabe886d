//! Sequences that are cut into segments, on their way into a model.

use crate::arrays::AnyMatrix;
use crate::error::value_error;
use crate::sequences::SequenceData;
use maxmargin::model::segment::{Segment, Segmentations};
use maxmargin_io::{Fingerprint, Names, SegmentTags, TagNames, segment_fingerprint};
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

    /// Adds sequence `i` of those in index form: an attribute that all tokens have besides, the first token and the
    /// length of each segment with attributes, a row for each of these, length and label of its true segments (one
    /// token of label 0 each if not given), and its weight.
    #[expect(clippy::too_many_arguments, reason = "a sequence has as many parts")]
    fn add_sequence(
        &mut self,
        from: &SequenceData,
        i: usize,
        constant: Option<u32>,
        places: Option<PyReadonlyArray2<'_, i64>>,
        segment_rows: Option<AnyMatrix<'_>>,
        truth: Option<Vec<(u32, u32)>>,
        weight: f64,
    ) -> PyResult<()> {
        if i >= from.data.len() {
            return Err(value_error(format!("there is no sequence {i}")));
        }
        for token in from.data.sequence(i).tokens() {
            let own = token.pairs().filter(|(attribute, _)| Some(*attribute) != constant);
            let all = own.chain(constant.map(|attribute| (attribute, 1.0)));
            self.data.push_token(all).map_err(value_error)?;
        }
        self.end(places, segment_rows, truth, weight)
    }
}

impl SegmentData {
    /// Ends the open sequence.
    fn end(
        &mut self,
        places: Option<PyReadonlyArray2<'_, i64>>,
        segment_rows: Option<AnyMatrix<'_>>,
        truth: Option<Vec<(u32, u32)>>,
        weight: f64,
    ) -> PyResult<()> {
        let mut row = Vec::new();
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
            None => vec![Segment { length: 1, label: 0 }; self.data.open_tokens()],
        };
        self.data.end_sequence(&truth, weight).map_err(value_error)
    }

    /// The fingerprint of the sequences, which have no names.
    pub(crate) fn fingerprint(&self) -> Fingerprint {
        segment_fingerprint(&self.data)
    }
}

/// The segments that the tags of sequences tell; how they do so is found out from all of them if it is not given.
#[pyfunction]
#[pyo3(signature = (sequences, scheme=None))]
pub(crate) fn segments_of_tags(
    sequences: Vec<Vec<String>>,
    scheme: Option<&str>,
) -> PyResult<Vec<Vec<(usize, usize, String)>>> {
    let scheme = match scheme {
        Some(name) => name.parse().map_err(value_error)?,
        None => SegmentTags::of(sequences.iter().flatten().map(String::as_str)),
    };
    let cut = |own: &Vec<String>| {
        let tags: Vec<&str> = own.iter().map(String::as_str).collect();
        let spans = scheme.spans(&tags).into_iter();
        spans.map(|(start, stop, label)| (start, stop, label.to_owned())).collect()
    };
    Ok(sequences.iter().map(cut).collect())
}

/// The tags of sequences of segments, which are given by length and label.
#[pyfunction]
pub(crate) fn tags_of_segments(
    sequences: Vec<Vec<(u32, String)>>,
    scheme: &str,
) -> PyResult<Vec<Vec<String>>> {
    let scheme: SegmentTags = scheme.parse().map_err(value_error)?;
    let mut labels = Names::new();
    let mut numbered =
        |(length, label): &(u32, String)| Segment { length: *length, label: labels.intern(label) };
    let segments: Vec<Vec<Segment>> =
        sequences.iter().map(|own| own.iter().map(&mut numbered).collect()).collect();
    let names = TagNames::new(scheme, &labels);
    let tags = |own: &Vec<Segment>| names.tags(own).map(std::borrow::Cow::into_owned).collect();
    Ok(segments.iter().map(tags).collect())
}
