//! Labelled sequences on their way into a chain.

use crate::alphabet::Alphabet;
use crate::arrays::{Columns, Dense, Indices, Matrix, Values};
use crate::columns::Input;
use crate::dicts::Attributes;
use crate::error::{file_error, value_error};
use crate::labels::Labels;
use maxmargin::kernel::Kernel;
use maxmargin::model::chain::Sequences;
use maxmargin_io::{
    Fingerprint, Fingerprinter, LabelRule, RawSequence, Template, read_training, read_with,
};
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

/// Sequences in index form, and the fingerprint of their name form.
///
/// Training uses them up, so that there is one copy of the data, not two.
#[pyclass(module = "maxmargin._maxmargin")]
pub(crate) struct SequenceData {
    pub(crate) data: Sequences,
    /// Boxed, since it must lie at a multiple of 64 bytes, which Python does not promise.
    pub(crate) fingerprinter: Box<Fingerprinter>,
    /// The fingerprint of data that were read from a file as they are.
    pub(crate) read: Option<Fingerprint>,
    /// The template that has made the attributes of data that were read, if it was not the format's own.
    pub(crate) template: Option<Template>,
    raw: RawSequence,
    /// Attributes that were left out because their names are not known.
    #[pyo3(get)]
    unknown: u64,
}

impl SequenceData {
    /// Adds a sequence, of which `fill` gives one token after the other.
    fn add(
        &mut self,
        labels: Option<&[u32]>,
        tokens: usize,
        label_names: &Alphabet,
        weight: f64,
        mut fill: impl FnMut(usize, &mut Vec<(u32, f64)>) -> PyResult<()>,
        name: impl Fn(u32, &mut dyn FnMut(&str)),
    ) -> PyResult<()> {
        fits(labels, tokens)?;
        self.raw.clear();
        self.raw.set_weight(weight);
        let mut row = Vec::new();
        for t in 0..tokens {
            fill(t, &mut row)?;
            let label = labels.map_or(0, |labels| labels[t]);
            if labels.is_some() {
                self.raw.push_token(label_names.name(label));
                for &(attribute, value) in &row {
                    name(attribute, &mut |name| self.raw.push_attribute(name, value));
                }
            }
            let pushed = self.data.push_token(row.iter().copied(), label);
            pushed.map_err(|error| value_error(format!("token {t}: {error}")))?;
        }
        self.fingerprinter.add(&self.raw);
        self.data.end_sequence(weight).map_err(value_error)
    }

    fn add_matrix(
        &mut self,
        matrix: &Matrix<'_, '_>,
        rows: std::ops::Range<usize>,
        columns: &Columns<'_>,
        names: (&Alphabet, &Alphabet),
        labels: Option<PyReadonlyArray1<'_, u32>>,
        weight: f64,
    ) -> PyResult<()> {
        let (attributes, label_names) = names;
        let labels = labels.as_ref().map(|labels| labels.as_slice()).transpose()?;
        if rows.end > matrix.rows() {
            return Err(value_error(format!("there are only {} rows", matrix.rows())));
        }
        let most = attributes.names.len() as u32;
        let start = rows.start;
        self.add(
            labels,
            rows.len(),
            label_names,
            weight,
            |t, row| {
                matrix.row(start + t, columns, row).map_err(value_error)?;
                match row.iter().find(|(attribute, _)| *attribute >= most) {
                    None => Ok(()),
                    Some((column, _)) => {
                        Err(value_error(format!("column {column} of {most} does not exist")))
                    }
                }
            },
            |attribute, push| push(attributes.names.name(attribute)),
        )
    }
}

#[pymethods]
impl SequenceData {
    #[new]
    fn new() -> Self {
        let (data, raw) = (Sequences::new(), RawSequence::new());
        let (read, template) = (None, None);
        Self { data, fingerprinter: Box::default(), read, template, raw, unknown: 0 }
    }

    /// Reads sequences to train on, with the names of labels and attributes and the format they were
    /// found in.
    #[staticmethod]
    fn read_training(
        py: Python<'_>,
        input: Input,
    ) -> PyResult<(Self, Alphabet, Alphabet, &'static str)> {
        let data = py.detach(|| read_training(input.open()?).map_err(file_error))?;
        let (read, template) = (Some(data.fingerprint), data.template);
        let read = Self { data: data.sequences, read, template, ..Self::new() };
        let (labels, attributes) =
            (Alphabet { names: data.labels }, Alphabet { names: data.attributes });
        Ok((read, labels, attributes, data.format.name()))
    }

    /// Reads sequences for a model that has these names; labels that it does not know are marked.
    #[staticmethod]
    fn read_with(
        py: Python<'_>,
        input: Input,
        labels: &Alphabet,
        attributes: &Alphabet,
        labelled: bool,
    ) -> PyResult<Self> {
        let rule = if labelled { LabelRule::Count } else { LabelRule::Ignore };
        let (labels, attributes) = (&labels.names, &attributes.names);
        let data =
            py.detach(|| read_with(input.open()?, labels, attributes, rule).map_err(file_error))?;
        let read = Some(data.fingerprint);
        Ok(Self { data: data.sequences, read, unknown: data.unknown.attributes, ..Self::new() })
    }

    /// The built-in template that has made the attributes, as models keep it.
    fn template(&self) -> PyResult<Option<String>> {
        let own = self.template.as_ref().filter(|template| template.name().is_some());
        own.map(serde_json::to_string).transpose().map_err(value_error)
    }

    /// The value of the constant features of a chain that fits these sequences.
    fn transition_scale(&self) -> f64 {
        maxmargin_io::transition_scale(&self.data)
    }

    /// The labels of all sequences.
    fn labels<'py>(&self, py: Python<'py>) -> Vec<Bound<'py, PyArray1<u32>>> {
        self.data.iter().map(|sequence| PyArray1::from_slice(py, sequence.labels())).collect()
    }

    fn __len__(&self) -> usize {
        self.data.len()
    }

    /// The γ of kernels that fits the scale of these data, with so many attributes.
    fn kernel_scale(&self, attributes: usize) -> f64 {
        Kernel::scale(self.data.iter().flat_map(|sequence| sequence.tokens()), attributes)
    }

    /// Adds a sequence with one row of a dense matrix per token.
    #[pyo3(signature = (matrix, start, stop, columns, attributes, label_names, labels, weight))]
    #[expect(clippy::too_many_arguments, reason = "called from one place")]
    fn add_dense(
        &mut self,
        matrix: Dense<'_>,
        start: usize,
        stop: usize,
        columns: Columns<'_>,
        attributes: &Alphabet,
        label_names: &Alphabet,
        labels: Option<PyReadonlyArray1<'_, u32>>,
        weight: f64,
    ) -> PyResult<()> {
        let names = (attributes, label_names);
        self.add_matrix(&Matrix::Dense(&matrix), start..stop, &columns, names, labels, weight)
    }

    /// Adds a sequence with one row of a sparse matrix per token.
    #[pyo3(signature = (starts, indices, values, start, stop, columns, attributes, label_names,
                        labels, weight))]
    #[expect(clippy::too_many_arguments, reason = "called from one place")]
    fn add_sparse(
        &mut self,
        starts: Indices<'_>,
        indices: Indices<'_>,
        values: Values<'_>,
        start: usize,
        stop: usize,
        columns: Columns<'_>,
        attributes: &Alphabet,
        label_names: &Alphabet,
        labels: Option<PyReadonlyArray1<'_, u32>>,
        weight: f64,
    ) -> PyResult<()> {
        let matrix = Matrix::Sparse { starts: &starts, indices: &indices, values: &values };
        let names = (attributes, label_names);
        self.add_matrix(&matrix, start..stop, &columns, names, labels, weight)
    }

    /// Adds sequences with a dictionary or a list of attributes per token.
    #[pyo3(signature = (sequences, grow, attributes, label_names, labels, ends, weights))]
    #[expect(clippy::too_many_arguments, reason = "called from one place")]
    fn add_dicts(
        &mut self,
        py: Python<'_>,
        sequences: &Bound<'_, PyAny>,
        grow: bool,
        attributes: &mut Alphabet,
        label_names: &Alphabet,
        labels: Option<PyReadonlyArray1<'_, u32>>,
        ends: Option<PyReadonlyArray1<'_, i64>>,
        weights: Option<PyReadonlyArray1<'_, f64>>,
    ) -> PyResult<()> {
        let labels = Labels { all: labels, ends };
        let mut found = Attributes::new(&mut attributes.names, grow);
        let mut row = Vec::new();
        let weights = weights.as_ref().map(PyReadonlyArray1::as_array);
        for (i, tokens) in sequences.try_iter()?.enumerate() {
            if i % SIGNALS == 0 {
                py.check_signals()?;
            }
            let weight = weights.and_then(|weights| weights.get(i).copied()).unwrap_or(1.0);
            let labels = labels.of(i).map_err(value_error)?;
            self.add_tokens(&tokens?, weight, label_names, labels, &mut found, &mut row)
                .map_err(|error| in_sequence(py, i, error))?;
        }
        self.unknown += found.unknown;
        Ok(())
    }
}

/// How often signals are looked at: after so many sequences.
const SIGNALS: usize = 1024;

/// The same error, saying where.
fn in_sequence(py: Python<'_>, i: usize, error: PyErr) -> PyErr {
    let text = format!("sequence {i}: {}", error.value(py));
    match error.is_instance_of::<PyTypeError>(py) {
        true => PyTypeError::new_err(text),
        false if error.is_instance_of::<PyValueError>(py) => value_error(text),
        false => error,
    }
}

impl SequenceData {
    /// Adds one sequence of dictionaries. Names go where they are needed while they are at hand.
    fn add_tokens<'py>(
        &mut self,
        tokens: &Bound<'py, PyAny>,
        weight: f64,
        label_names: &Alphabet,
        labels: Option<&[u32]>,
        found: &mut Attributes<'_, 'py>,
        row: &mut Vec<(u32, f64)>,
    ) -> PyResult<()> {
        let Self { data, raw, .. } = self;
        raw.clear();
        raw.set_weight(weight);
        let mut count = 0;
        for (t, token) in tokens.try_iter()?.enumerate() {
            count = t + 1;
            row.clear();
            let label = labels.map(|labels| labels.get(t).copied().unwrap_or_default());
            match label {
                None => found.token(&token?, |number, _, value| row.push((number, value)))?,
                Some(label) => {
                    raw.push_token(label_names.name(label));
                    found.token(&token?, |number, name, value| {
                        row.push((number, value));
                        raw.push_attribute(name, value);
                    })?;
                }
            }
            data.push_token(row.iter().copied(), label.unwrap_or(0)).map_err(value_error)?;
        }
        fits(labels, count)?;
        self.fingerprinter.add(&self.raw);
        self.data.end_sequence(weight).map_err(value_error)
    }
}

/// Refuses labels that are not one per token.
fn fits(labels: Option<&[u32]>, tokens: usize) -> PyResult<()> {
    match labels {
        Some(labels) if labels.len() != tokens => {
            let found = labels.len();
            Err(value_error(format!("it has {tokens} tokens and {found} labels")))
        }
        _ => Ok(()),
    }
}
