//! Data files, as Python's own lists and dictionaries.

use crate::error::{file_error, value_error};
use maxmargin::evaluate::Tally;
use maxmargin_io::{
    BuiltInTemplate, ColumnsReader, Format, Lines, Names, RawSequence, ReadSequences as _, Source,
    UnknownFormat,
};
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFloat, PyList, PyString, PyTuple};

fn format(name: Option<&str>) -> Result<Option<Format>, UnknownFormat> {
    name.map(str::parse).transpose()
}

/// Names come again and again; each is one object.
struct Objects<'py> {
    py: Python<'py>,
    names: Names,
    texts: Vec<Bound<'py, PyString>>,
}

impl<'py> Objects<'py> {
    /// The number of the object that holds a name.
    fn number(&mut self, name: &str) -> u32 {
        let number = self.names.intern(name);
        if number as usize == self.texts.len() {
            self.texts.push(PyString::new(self.py, name));
        }
        number
    }

    fn of(&self, number: u32) -> &Bound<'py, PyString> {
        &self.texts[number as usize]
    }

    /// Brings objects near, of which many lie far away: read one after the other, without work in between,
    /// the processor waits for several at a time.
    fn fetch(&self, numbers: &[u32]) {
        for &number in numbers {
            std::hint::black_box(self.of(number).get_type_ptr());
        }
    }
}

/// Attributes, labels and example weights of sequences.
type Sequences<'py> = (Bound<'py, PyList>, Bound<'py, PyList>, Vec<f64>);

/// Reads sequences: tokens as dictionaries of attributes, labels as text.
#[pyfunction]
#[pyo3(signature = (source, format_name=None, template=None, label_column=None))]
pub(crate) fn read_sequences<'py>(
    py: Python<'py>,
    source: &str,
    format_name: Option<&str>,
    template: Option<&str>,
    label_column: Option<&str>,
) -> PyResult<Sequences<'py>> {
    let format = format(format_name).map_err(value_error)?;
    let template: Option<BuiltInTemplate> =
        template.map(str::parse).transpose().map_err(value_error)?;
    let source = Source::resolve(source).map_err(file_error)?;
    let opened = match (template, label_column) {
        (None, None) => source.open(format),
        _ if format.is_some_and(|format| !format.is_columns()) => {
            return Err(value_error("template and label_column are for formats with columns"));
        }
        _ => source.open_labelled_columns(format, template, label_column),
    };
    let mut reader = opened.map_err(file_error)?;
    let (all, all_labels) = (PyList::empty(py), PyList::empty(py));
    let (mut weights, mut raw) = (Vec::new(), RawSequence::new());
    let mut texts = Objects { py, names: Names::new(), texts: Vec::new() };
    let one = PyFloat::new(py, 1.0);
    let mut numbers = Vec::new();
    while reader.read(&mut raw).map_err(file_error)? {
        let (tokens, labels) = (PyList::empty(py), PyList::empty(py));
        numbers.clear();
        texts.names.fetch(raw.names());
        numbers.extend(raw.names().map(|name| texts.number(name)));
        texts.fetch(&numbers);
        let mut numbers = numbers.iter();
        for token in raw.tokens() {
            let attributes = PyDict::new(py);
            for ((_, value), &number) in token.attributes().zip(numbers.by_ref()) {
                match value == 1.0 {
                    true => attributes.set_item(texts.of(number), &one)?,
                    false => attributes.set_item(texts.of(number), value)?,
                }
            }
            tokens.append(attributes)?;
            let label = token.label().map(|label| texts.number(label));
            labels.append(label.map(|number| texts.of(number)))?;
        }
        all.append(tokens)?;
        all_labels.append(labels)?;
        weights.push(raw.weight());
    }
    Ok((all, all_labels, weights))
}

/// Tokens as tuples of columns, and labels.
type Columns<'py> = (Bound<'py, PyList>, Bound<'py, PyList>);

/// Reads columns as they stand.
#[pyfunction]
pub(crate) fn read_columns<'py>(
    py: Python<'py>,
    source: &str,
    labelled: bool,
) -> PyResult<Columns<'py>> {
    let lines = match Source::resolve(source).map_err(file_error)? {
        Source::File(path) => Lines::open(path),
        other => other.open_lines("columns"),
    };
    let lines = lines.map_err(file_error)?;
    let mut reader = ColumnsReader::of_cells(lines, labelled).map_err(file_error)?;
    let (all, all_labels) = (PyList::empty(py), PyList::empty(py));
    let mut texts = Objects { py, names: Names::new(), texts: Vec::new() };
    let (mut raw, mut cells) = (RawSequence::new(), Vec::new());
    while reader.read(&mut raw).map_err(file_error)? {
        let (tokens, labels) = (PyList::empty(py), PyList::empty(py));
        for (t, token) in raw.tokens().enumerate() {
            cells.clear();
            cells.extend(reader.cells(t).map(|cell| texts.number(cell)));
            tokens.append(PyTuple::new(py, cells.iter().map(|&cell| texts.of(cell)))?)?;
            if labelled {
                let label = token.label().map(|label| texts.number(label));
                labels.append(label.map(|number| texts.of(number)))?;
            }
        }
        all.append(tokens)?;
        all_labels.append(labels)?;
    }
    if all.is_empty() {
        return Err(value_error(format!("{source}: no sequences")));
    }
    Ok((all, all_labels))
}

/// A sparse matrix (row starts, columns, values), the names of its columns, and the labels of its rows.
type Rows<'py> = (
    Bound<'py, PyArray1<i64>>,
    Bound<'py, PyArray1<i64>>,
    Bound<'py, PyArray1<f64>>,
    Vec<String>,
    Vec<Vec<String>>,
);

/// Reads rows with their labels.
#[pyfunction]
#[pyo3(signature = (source, format_name=None))]
pub(crate) fn read_rows<'py>(
    py: Python<'py>,
    source: &str,
    format_name: Option<&str>,
) -> PyResult<Rows<'py>> {
    let format = format(format_name).map_err(value_error)?;
    let source = Source::resolve(source).map_err(file_error)?;
    let reader = source.open_rows(format).map_err(file_error)?;
    let data = maxmargin_io::read_rows(reader).map_err(file_error)?;
    let (mut starts, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
    let mut labels = Vec::new();
    for (row, own) in data.rows.iter() {
        for (attribute, value) in row.pairs() {
            columns.push(i64::from(attribute));
            values.push(value);
        }
        starts.push(columns.len() as i64);
        labels.push(own.iter().map(|&label| data.labels.name(label).to_owned()).collect());
    }
    Ok((
        PyArray1::from_vec(py, starts),
        PyArray1::from_vec(py, columns),
        PyArray1::from_vec(py, values),
        data.attributes.iter().map(str::to_owned).collect(),
        labels,
    ))
}

/// Precision, recall and F1 of chunks, as the CoNLL script counts them.
#[pyfunction]
pub(crate) fn chunk_counts(
    truth: Vec<Vec<String>>,
    predicted: Vec<Vec<String>>,
) -> PyResult<(f64, f64, f64)> {
    if truth.len() != predicted.len() {
        return Err(value_error("there are not as many predictions as sequences"));
    }
    let mut tally = Tally::default();
    for (i, (truth, predicted)) in truth.iter().zip(&predicted).enumerate() {
        if truth.len() != predicted.len() {
            let text = format!("sequence {i} has {} and {} labels", truth.len(), predicted.len());
            return Err(value_error(text));
        }
        let truth: Vec<&str> = truth.iter().map(String::as_str).collect();
        let predicted: Vec<&str> = predicted.iter().map(String::as_str).collect();
        tally.add_chunks(&truth, &predicted);
    }
    let total = tally.total();
    Ok((total.precision(), total.recall(), total.f1()))
}
