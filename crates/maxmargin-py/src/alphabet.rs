//! Names and their indices.

use crate::error::value_error;
use maxmargin_io::Names;
use pyo3::prelude::*;

/// Names of labels or attributes, numbered in the order in which they came.
#[pyclass(module = "maxmargin._maxmargin")]
#[derive(Clone, Default)]
pub(crate) struct Alphabet {
    pub(crate) names: Names,
}

impl Alphabet {
    /// The name with a number, if it is known.
    pub(crate) fn name(&self, number: u32) -> Option<&str> {
        ((number as usize) < self.names.len()).then(|| self.names.name(number))
    }
}

#[pymethods]
impl Alphabet {
    #[new]
    #[pyo3(signature = (names=Vec::new()))]
    fn new(names: Vec<String>) -> PyResult<Self> {
        let set = Names::from_iter(&names);
        match set.len() == names.len() {
            true => Ok(Self { names: set }),
            false => Err(value_error("two names are the same")),
        }
    }

    /// The names `1` to `count`, as LIBSVM's and SVM-HMM's files number their features.
    #[staticmethod]
    fn numbered(count: usize) -> Self {
        Self { names: (1..=count).map(|at| at.to_string()).collect() }
    }

    fn get(&self, name: &str) -> Option<u32> {
        self.names.get(name)
    }

    fn __len__(&self) -> usize {
        self.names.len()
    }

    fn list(&self) -> Vec<String> {
        self.names.iter().map(str::to_owned).collect()
    }
}
