//! Matrices that come from Python, read where they are.

use numpy::{PyReadonlyArray1, PyReadonlyArray2, PyReadonlyArray3};
use pyo3::prelude::*;

/// A dense matrix of either precision.
#[derive(FromPyObject)]
pub(crate) enum Dense<'py> {
    F64(PyReadonlyArray2<'py, f64>),
    F32(PyReadonlyArray2<'py, f32>),
}

/// Numbers of either precision.
#[derive(FromPyObject)]
pub(crate) enum Values<'py> {
    F64(PyReadonlyArray1<'py, f64>),
    F32(PyReadonlyArray1<'py, f32>),
}

/// Indices as SciPy keeps them.
#[derive(FromPyObject)]
pub(crate) enum Indices<'py> {
    I32(PyReadonlyArray1<'py, i32>),
    I64(PyReadonlyArray1<'py, i64>),
}

/// The columns of a matrix that stand for other attributes, or for none where negative.
pub(crate) type Columns<'py> = Option<PyReadonlyArray1<'py, i64>>;

/// A matrix of either kind, a sparse one as a tuple of its three arrays.
#[derive(FromPyObject)]
pub(crate) enum AnyMatrix<'py> {
    Dense(Dense<'py>),
    Sparse(Indices<'py>, Indices<'py>, Values<'py>),
}

impl<'py> AnyMatrix<'py> {
    pub(crate) fn as_matrix(&self) -> Matrix<'_, 'py> {
        match self {
            Self::Dense(matrix) => Matrix::Dense(matrix),
            Self::Sparse(starts, indices, values) => Matrix::Sparse { starts, indices, values },
        }
    }
}

/// Maps over a grid, of either precision: map, row, column.
#[derive(FromPyObject)]
pub(crate) enum Maps<'py> {
    F64(PyReadonlyArray3<'py, f64>),
    F32(PyReadonlyArray3<'py, f32>),
}

impl Maps<'_> {
    /// Numbers of maps, rows and columns.
    pub(crate) fn shape(&self) -> (usize, usize, usize) {
        match self {
            Self::F64(maps) => maps.as_array().dim(),
            Self::F32(maps) => maps.as_array().dim(),
        }
    }

    /// Adds all values, map by map and row by row.
    pub(crate) fn append_to(&self, all: &mut Vec<f32>) {
        match self {
            Self::F64(maps) => all.extend(maps.as_array().iter().map(|&value| value as f32)),
            Self::F32(maps) => all.extend(maps.as_array().iter()),
        }
    }
}

/// A matrix, dense or sparse.
pub(crate) enum Matrix<'a, 'py> {
    Dense(&'a Dense<'py>),
    Sparse { starts: &'a Indices<'py>, indices: &'a Indices<'py>, values: &'a Values<'py> },
}

impl Indices<'_> {
    fn at(&self, at: usize) -> Option<usize> {
        match self {
            Self::I32(all) => all.as_array().get(at).and_then(|&i| usize::try_from(i).ok()),
            Self::I64(all) => all.as_array().get(at).and_then(|&i| usize::try_from(i).ok()),
        }
    }

    fn len(&self) -> usize {
        match self {
            Self::I32(all) => all.as_array().len(),
            Self::I64(all) => all.as_array().len(),
        }
    }
}

impl Values<'_> {
    fn at(&self, at: usize) -> Option<f64> {
        match self {
            Self::F64(all) => all.as_array().get(at).copied(),
            Self::F32(all) => all.as_array().get(at).copied().map(f64::from),
        }
    }
}

impl Matrix<'_, '_> {
    /// Number of rows.
    pub(crate) fn rows(&self) -> usize {
        match self {
            Self::Dense(Dense::F64(matrix)) => matrix.as_array().nrows(),
            Self::Dense(Dense::F32(matrix)) => matrix.as_array().nrows(),
            Self::Sparse { starts, .. } => starts.len().saturating_sub(1),
        }
    }

    /// Collects what is not zero in a row; `columns` says what the columns stand for.
    ///
    /// # Errors
    /// A sparse matrix whose arrays do not fit each other.
    pub(crate) fn row(
        &self,
        at: usize,
        columns: &Columns<'_>,
        into: &mut Vec<(u32, f64)>,
    ) -> Result<(), String> {
        into.clear();
        let columns = columns.as_ref().map(PyReadonlyArray1::as_array);
        let mut push = |column: usize, value: f64| {
            let attribute = match &columns {
                None => Some(column),
                Some(columns) => {
                    columns.get(column).and_then(|&attribute| usize::try_from(attribute).ok())
                }
            };
            if let Some(attribute) = attribute.filter(|_| value != 0.0) {
                into.push((attribute as u32, value));
            }
        };
        match self {
            Self::Dense(Dense::F64(matrix)) => {
                let row = matrix.as_array();
                row.row(at).iter().enumerate().for_each(|(column, &value)| push(column, value));
            }
            Self::Dense(Dense::F32(matrix)) => {
                let row = matrix.as_array();
                let row = row.row(at);
                row.iter().enumerate().for_each(|(column, &value)| push(column, value.into()));
            }
            Self::Sparse { starts, indices, values } => {
                let wrong = || format!("row {at} of the sparse matrix is damaged");
                let (from, to) = (starts.at(at), starts.at(at + 1));
                let (Some(from), Some(to)) = (from, to) else { return Err(wrong()) };
                if from > to {
                    return Err(wrong());
                }
                for entry in from..to {
                    let (column, value) = (indices.at(entry), values.at(entry));
                    let (Some(column), Some(value)) = (column, value) else { return Err(wrong()) };
                    if u32::try_from(column).is_err() {
                        return Err(format!("column {column} does not exist"));
                    }
                    push(column, value);
                }
            }
        }
        Ok(())
    }
}
