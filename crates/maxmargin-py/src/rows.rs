//! Labelled rows on their way into a binary, multiclass or multi-label model.

use crate::alphabet::Alphabet;
use crate::arrays::{Columns, Dense, Indices, Matrix, Values};
use crate::dicts::Attributes;
use crate::error::value_error;
use crate::labels::Labels;
use maxmargin::kernel::Kernel;
use maxmargin::model::LabelledRows;
use maxmargin::model::multilabel::MultilabelShape;
use maxmargin_io::{BiasSums, Fingerprinter, RawSequence};
use numpy::{PyArray1, PyArray2, PyArrayMethods as _, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;

/// Rows in index form, and the fingerprint of their name form. Training uses them up.
#[pyclass(module = "maxmargin._maxmargin")]
pub(crate) struct RowData {
    pub(crate) data: LabelledRows,
    /// Boxed, since it must lie at a multiple of 64 bytes, which Python does not promise.
    pub(crate) fingerprinter: Box<Fingerprinter>,
    raw: RawSequence,
    /// An attribute that every row has with the value 1.
    constant: Option<u32>,
    #[pyo3(get)]
    unknown: u64,
}

impl RowData {
    fn push(
        &mut self,
        row: &[(u32, f64)],
        labels: Option<&[u32]>,
        names: (&Alphabet, &Alphabet),
        weight: f64,
    ) -> PyResult<()> {
        let (attributes, label_names) = names;
        let most = attributes.names.len();
        if let Some((column, _)) = row.iter().find(|(a, _)| *a as usize >= most) {
            return Err(value_error(format!("column {column} of {most} does not exist")));
        }
        if let Some(labels) = labels {
            let known = |label: &&u32| (**label as usize) < label_names.names.len();
            let own: Vec<&str> =
                labels.iter().filter(known).map(|&y| label_names.names.name(y)).collect();
            let text = own.join(",");
            self.raw.clear();
            self.raw.push_token((!own.is_empty()).then_some(text.as_str()));
            self.raw.set_weight(weight);
            for &(attribute, value) in row {
                self.raw.push_attribute(attributes.names.name(attribute), value);
            }
            self.fingerprinter.add(&self.raw);
        }
        let pairs = row.iter().copied();
        self.data.push(pairs, labels.unwrap_or_default(), weight).map_err(value_error)
    }

    fn add_matrix(
        &mut self,
        matrix: &Matrix<'_, '_>,
        columns: &Columns<'_>,
        names: (&Alphabet, &Alphabet),
        labels: &Labels<'_>,
        weights: Option<PyReadonlyArray1<'_, f64>>,
    ) -> PyResult<()> {
        let mut row = Vec::new();
        let weights = weights.as_ref().map(PyReadonlyArray1::as_array);
        for at in 0..matrix.rows() {
            matrix.row(at, columns, &mut row).map_err(value_error)?;
            row.extend(self.constant.map(|attribute| (attribute, 1.0)));
            let weight = weights.and_then(|weights| weights.get(at).copied()).unwrap_or(1.0);
            self.push(&row, labels.of(at).map_err(value_error)?, names, weight)?;
        }
        Ok(())
    }
}

#[pymethods]
impl RowData {
    #[new]
    #[pyo3(signature = (constant=None))]
    fn new(constant: Option<u32>) -> Self {
        let (data, raw) = (LabelledRows::new(), RawSequence::new());
        Self { data, fingerprinter: Box::default(), raw, constant, unknown: 0 }
    }

    fn __len__(&self) -> usize {
        self.data.len()
    }

    /// The value of a bias that fits the length of the attributes.
    fn bias_value(&self) -> f64 {
        maxmargin_io::bias_value(&self.data)
    }

    /// What the value of a bias follows from: the number of rows, and five numbers for each attribute.
    fn bias_sums<'py>(&self, py: Python<'py>) -> PyResult<(f64, Bound<'py, PyArray2<f64>>)> {
        let BiasSums { rows, attributes } = BiasSums::of(&self.data);
        let table = PyArray1::from_vec(py, attributes.as_flattened().to_vec());
        Ok((rows, table.reshape([attributes.len(), 5])?))
    }

    /// The γ of kernels that fits the scale of these data, with so many attributes.
    fn kernel_scale(&self, attributes: usize) -> f64 {
        Kernel::scale(self.data.iter().map(|(row, _)| row), attributes)
    }

    #[pyo3(signature = (matrix, columns, attributes, label_names, labels, ends, weights))]
    #[expect(clippy::too_many_arguments, reason = "called from one place")]
    fn add_dense(
        &mut self,
        matrix: Dense<'_>,
        columns: Columns<'_>,
        attributes: &Alphabet,
        label_names: &Alphabet,
        labels: Option<PyReadonlyArray1<'_, u32>>,
        ends: Option<PyReadonlyArray1<'_, i64>>,
        weights: Option<PyReadonlyArray1<'_, f64>>,
    ) -> PyResult<()> {
        let labels = Labels { all: labels, ends };
        let names = (attributes, label_names);
        self.add_matrix(&Matrix::Dense(&matrix), &columns, names, &labels, weights)
    }

    #[pyo3(signature = (starts, indices, values, columns, attributes, label_names, labels, ends,
                        weights))]
    #[expect(clippy::too_many_arguments, reason = "called from one place")]
    fn add_sparse(
        &mut self,
        starts: Indices<'_>,
        indices: Indices<'_>,
        values: Values<'_>,
        columns: Columns<'_>,
        attributes: &Alphabet,
        label_names: &Alphabet,
        labels: Option<PyReadonlyArray1<'_, u32>>,
        ends: Option<PyReadonlyArray1<'_, i64>>,
        weights: Option<PyReadonlyArray1<'_, f64>>,
    ) -> PyResult<()> {
        let matrix = Matrix::Sparse { starts: &starts, indices: &indices, values: &values };
        let labels = Labels { all: labels, ends };
        self.add_matrix(&matrix, &columns, (attributes, label_names), &labels, weights)
    }

    #[pyo3(signature = (rows, grow, attributes, label_names, labels, ends, weights))]
    #[expect(clippy::too_many_arguments, reason = "called from one place")]
    fn add_dicts(
        &mut self,
        rows: Vec<Bound<'_, PyAny>>,
        grow: bool,
        attributes: &mut Alphabet,
        label_names: &Alphabet,
        labels: Option<PyReadonlyArray1<'_, u32>>,
        ends: Option<PyReadonlyArray1<'_, i64>>,
        weights: Option<PyReadonlyArray1<'_, f64>>,
    ) -> PyResult<()> {
        let labels = Labels { all: labels, ends };
        let weights = weights.as_ref().map(PyReadonlyArray1::as_array);
        // All rows in index form first: names grow meanwhile, and are looked at afterwards.
        let (mut all, mut ends) = (Vec::new(), Vec::with_capacity(rows.len()));
        let mut found = Attributes::new(&mut attributes.names, grow);
        for row in &rows {
            found.token(row, |number, _, value| all.push((number, value)))?;
            all.extend(self.constant.map(|attribute| (attribute, 1.0)));
            ends.push(all.len());
        }
        self.unknown += found.unknown;
        let mut start = 0;
        for (at, end) in ends.into_iter().enumerate() {
            let weight = weights.and_then(|weights| weights.get(at).copied()).unwrap_or(1.0);
            let labels = labels.of(at).map_err(value_error)?;
            self.push(&all[start..end], labels, (attributes, label_names), weight)?;
            start = end;
        }
        Ok(())
    }

    /// The pairs of labels of the tree that tells most about their co-occurrence.
    fn tree(&self, labels: usize) -> Vec<(u32, u32)> {
        MultilabelShape::tree(labels, 0, &self.data).pairs
    }
}

/// The value of a bias that fits rows with these sums, which are those of all shards.
#[pyfunction]
pub(crate) fn bias_of_sums(rows: f64, table: PyReadonlyArray2<'_, f64>) -> PyResult<f64> {
    let (columns, rest) = table.as_slice()?.as_chunks::<5>();
    if !rest.is_empty() {
        return Err(value_error("five numbers are needed for each attribute"));
    }
    Ok(BiasSums { rows, attributes: columns.to_vec() }.bias_value())
}
