//! Pairs of lists with their candidate links, on their way into a matching.

use crate::arrays::AnyMatrix;
use crate::error::{file_error, value_error};
use maxmargin::model::matching::{Gold, Pairs};
use maxmargin_io::{Fingerprint, Fingerprinter, Source, read_alignments};
use numpy::{PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;

/// Pairs in index form. Training uses them up.
#[pyclass(module = "maxmargin._maxmargin")]
pub(crate) struct PairData {
    pub(crate) data: Pairs,
}

#[pymethods]
impl PairData {
    #[new]
    fn new() -> Self {
        Self { data: Pairs::new() }
    }

    fn __len__(&self) -> usize {
        self.data.len()
    }

    /// Adds a pair: numbers of rows and columns, its candidate links in increasing order, a row of
    /// features for each, what is said of each (0 wrong, 1 possible, 2 sure; wrong if not given), what
    /// mistakes at each count (1 if not given), whether links have one attribute more that is 1, and the
    /// weight of the pair.
    #[expect(clippy::too_many_arguments, reason = "a pair has as many parts")]
    fn add(
        &mut self,
        size: (u32, u32),
        links: PyReadonlyArray2<'_, i64>,
        features: AnyMatrix<'_>,
        width: u32,
        gold: Option<PyReadonlyArray1<'_, i64>>,
        link_weights: Option<PyReadonlyArray1<'_, f64>>,
        constant: bool,
        weight: f64,
    ) -> PyResult<()> {
        let gold = gold.as_ref().map(PyReadonlyArray1::as_array);
        let link_weights = link_weights.as_ref().map(PyReadonlyArray1::as_array);
        let features = features.as_matrix();
        let mut row = Vec::new();
        for (k, ends) in links.as_array().rows().into_iter().enumerate() {
            let (r, c) = (ends[0], ends[1]);
            let outside =
                || value_error(format!("the link ({r}, {c}) has an end outside the pair"));
            let end = |at: i64| u32::try_from(at).map_err(|_| outside());
            features.row(k, &None, &mut row).map_err(value_error)?;
            if constant {
                row.push((width, 1.0));
            }
            let own = match gold.and_then(|gold| gold.get(k).copied()) {
                Some(2) => Gold::Sure,
                Some(1) => Gold::Possible,
                _ => Gold::Wrong,
            };
            let counts = link_weights.and_then(|weights| weights.get(k).copied()).unwrap_or(1.0);
            self.data
                .push_weighted_link(end(r)?, end(c)?, row.iter().copied(), own, counts)
                .map_err(|error| value_error(format!("the link ({r}, {c}): {error}")))?;
        }
        self.data.end_pair(size.0, size.1, weight).map_err(value_error)
    }
}

impl PairData {
    pub(crate) fn fingerprint(&self) -> Fingerprint {
        let mut all = Fingerprinter::for_records("pairs");
        for (i, pair) in self.data.iter().enumerate() {
            let sizes = [f64::from(pair.rows()), f64::from(pair.columns()), self.data.weight(i)];
            all.add_record([], sizes);
            for k in 0..pair.links().len() {
                let (r, c) = pair.link(k);
                let gold = match pair.gold(k) {
                    Gold::Wrong => 0.0,
                    Gold::Possible => 1.0,
                    Gold::Sure => 2.0,
                };
                let link = [f64::from(r), f64::from(c), gold, pair.link_weight(k)];
                let pairs = pair.attributes(k).pairs().flat_map(|(a, value)| [f64::from(a), value]);
                all.add_record([], link.into_iter().chain(pairs));
            }
        }
        all.finish()
    }
}

/// Links from words to words.
type Links = Vec<(u32, u32)>;

/// The words of two sentences, and their sure and possible links.
type Sentences = (Vec<String>, Vec<String>, Links, Links);

/// Reads aligned sentences; of one part only if the source names one.
#[pyfunction]
pub(crate) fn read_sentence_pairs(py: Python<'_>, source: &str) -> PyResult<Vec<Sentences>> {
    let read = || -> PyResult<_> {
        let (source, part) = Source::resolve_part(source).map_err(file_error)?;
        let lines = source.open_lines("aligned sentences").map_err(file_error)?;
        let mut pairs = read_alignments(lines).map_err(file_error)?;
        if let Some(part) = part {
            pairs.retain(|pair| pair.part.as_deref() == Some(part.as_str()));
            if pairs.is_empty() {
                let text = format!("{source}: there are no pairs of the part `{part}`");
                return Err(value_error(text));
            }
        }
        Ok(pairs)
    };
    let pairs = py.detach(read)?.into_iter();
    let sentences = pairs.map(|pair| {
        let (sure, possible) = (pair.of_kind(Gold::Sure), pair.of_kind(Gold::Possible));
        (pair.source, pair.target, sure, possible)
    });
    Ok(sentences.collect())
}
