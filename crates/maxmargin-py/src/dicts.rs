//! Attributes in Python's own terms: dictionaries and lists, as in sklearn-crfsuite.

use crate::error::value_error;
use maxmargin_io::Names;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyString};
use std::borrow::Cow;

/// Between the parts of a name that was nested.
const SEPARATOR: char = ':';

/// Attributes of one token, being looked up.
pub(crate) struct Attributes<'a> {
    /// The names that are known.
    pub(crate) names: &'a mut Names,
    /// Whether new names are added; else they are left out.
    pub(crate) grow: bool,
    /// What was found.
    pub(crate) row: Vec<(u32, f64)>,
    pub(crate) unknown: u64,
}

impl<'a> Attributes<'a> {
    pub(crate) fn new(names: &'a mut Names, grow: bool) -> Self {
        Self { names, grow, row: Vec::new(), unknown: 0 }
    }

    /// Takes in a token: a dictionary of attributes, or a list of those that are there.
    pub(crate) fn token(&mut self, token: &Bound<'_, PyAny>) -> PyResult<()> {
        self.row.clear();
        match token.cast::<PyDict>() {
            Ok(attributes) => self.dict("", attributes),
            Err(_) => self.list("", token),
        }
    }

    fn dict(&mut self, prefix: &str, attributes: &Bound<'_, PyDict>) -> PyResult<()> {
        for (name, value) in attributes {
            let name = name.cast::<PyString>().map_err(|_| wrong("a name", &name))?;
            let name = name.to_cow()?;
            self.attribute(&joined(prefix, &name), &value)?;
        }
        Ok(())
    }

    fn list(&mut self, prefix: &str, attributes: &Bound<'_, PyAny>) -> PyResult<()> {
        if attributes.is_instance_of::<PyString>() {
            return Err(wrong("a dictionary or a list of attributes", attributes));
        }
        let items = attributes.try_iter();
        let items = items.map_err(|_| wrong("a dictionary or a list of attributes", attributes))?;
        for name in items {
            let name = name?;
            let text = name.cast::<PyString>().map_err(|_| wrong("a name", &name))?;
            self.push(&joined(prefix, &text.to_cow()?), 1.0)?;
        }
        Ok(())
    }

    /// The value is a number, a truth value, a text (which becomes part of the name), or more of them.
    fn attribute(&mut self, name: &str, value: &Bound<'_, PyAny>) -> PyResult<()> {
        if let Ok(number) = value.cast::<PyFloat>() {
            self.push(name, number.value())
        } else if let Ok(truth) = value.cast::<PyBool>() {
            self.push(name, f64::from(u8::from(truth.is_true())))
        } else if let Ok(number) = value.cast::<PyInt>() {
            self.push(name, number.extract()?)
        } else if let Ok(text) = value.cast::<PyString>() {
            self.push(&joined(name, &text.to_cow()?), 1.0)
        } else if let Ok(more) = value.cast::<PyDict>() {
            self.dict(name, more)
        } else if let Ok(number) = value.extract::<f64>() {
            self.push(name, number)
        } else {
            self.list(name, value)
        }
    }

    fn push(&mut self, name: &str, value: f64) -> PyResult<()> {
        if !value.is_finite() {
            let text =
                format!("attribute `{name}` has the value {value}; a finite number is needed");
            return Err(value_error(text));
        }
        if self.grow && self.names.len() < Names::MOST {
            self.row.push((self.names.intern(name), value));
        } else if let Some(known) = self.names.get(name) {
            self.row.push((known, value));
        } else {
            self.unknown += 1;
        }
        Ok(())
    }
}

fn joined<'a>(prefix: &str, name: &'a str) -> Cow<'a, str> {
    match prefix.is_empty() {
        true => Cow::Borrowed(name),
        false => Cow::Owned(format!("{prefix}{SEPARATOR}{name}")),
    }
}

fn wrong(expected: &str, found: &Bound<'_, PyAny>) -> PyErr {
    let found = found.get_type().name().map_or_else(|_| "something else".into(), |n| n.to_string());
    PyTypeError::new_err(format!("expected {expected}, found {found}"))
}
