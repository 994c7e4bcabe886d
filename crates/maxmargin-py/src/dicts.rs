//! Attributes in Python's own terms: dictionaries and lists, as in sklearn-crfsuite.

use crate::error::value_error;
use crate::recent::Recent;
use maxmargin_io::Names;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyString};

/// Between the parts of a name that was nested.
const SEPARATOR: char = ':';

/// Attributes of one token after the other, being looked up.
pub(crate) struct Attributes<'a> {
    /// The names that are known.
    names: &'a mut Names,
    /// Whether new names are added; else they are left out.
    grow: bool,
    /// Numbers of names by the objects that hold them.
    recent: Recent,
    /// The name that is being put together from nested parts.
    path: String,
    /// Attributes that were left out because their names are not known.
    pub(crate) unknown: u64,
}

/// Takes an attribute: its number, its name and its value.
type Take<'t> = &'t mut dyn FnMut(u32, &str, f64);

impl<'a> Attributes<'a> {
    pub(crate) fn new(names: &'a mut Names, grow: bool) -> Self {
        Self { names, grow, recent: Recent::default(), path: String::new(), unknown: 0 }
    }

    /// Goes through a token: a dictionary of attributes, or a list of those that are there.
    pub(crate) fn token(
        &mut self,
        token: &Bound<'_, PyAny>,
        mut take: impl FnMut(u32, &str, f64),
    ) -> PyResult<()> {
        self.path.clear();
        match token.cast::<PyDict>() {
            Ok(attributes) => self.dict(attributes, &mut take),
            Err(_) => self.list(token, &mut take),
        }
    }

    fn dict(&mut self, attributes: &Bound<'_, PyDict>, take: Take<'_>) -> PyResult<()> {
        for (name, value) in attributes {
            let name = name.cast::<PyString>().map_err(|_| wrong("a name", &name))?;
            match value.cast::<PyFloat>() {
                // By far the most frequent case: there is nothing to put together.
                Ok(value) if self.path.is_empty() => self.whole(name, value.value(), take)?,
                _ => self.within(name, |all| all.attribute(&value, take))?,
            }
        }
        Ok(())
    }

    fn list(&mut self, attributes: &Bound<'_, PyAny>, take: Take<'_>) -> PyResult<()> {
        if attributes.is_instance_of::<PyString>() {
            return Err(wrong("a dictionary or a list of attributes", attributes));
        }
        let items = attributes.try_iter();
        let items = items.map_err(|_| wrong("a dictionary or a list of attributes", attributes))?;
        for name in items {
            let name = name?;
            let name = name.cast::<PyString>().map_err(|_| wrong("a name", &name))?;
            match self.path.is_empty() {
                true => self.whole(name, 1.0, take)?,
                false => self.within(name, |all| all.path_is(1.0, take))?,
            }
        }
        Ok(())
    }

    /// Does something with `name` at the end of the path.
    fn within(
        &mut self,
        name: &Bound<'_, PyString>,
        then: impl FnOnce(&mut Self) -> PyResult<()>,
    ) -> PyResult<()> {
        let before = self.path.len();
        if before > 0 {
            self.path.push(SEPARATOR);
        }
        self.path.push_str(&name.to_cow()?);
        then(self)?;
        self.path.truncate(before);
        Ok(())
    }

    /// The value is a number, a truth value, a text (which becomes part of the name), or more of them.
    fn attribute(&mut self, value: &Bound<'_, PyAny>, take: Take<'_>) -> PyResult<()> {
        if let Ok(number) = value.cast::<PyFloat>() {
            self.path_is(number.value(), take)
        } else if let Ok(truth) = value.cast::<PyBool>() {
            self.path_is(f64::from(u8::from(truth.is_true())), take)
        } else if let Ok(number) = value.cast::<PyInt>() {
            self.path_is(number.extract()?, take)
        } else if let Ok(text) = value.cast::<PyString>() {
            self.within(text, |all| all.path_is(1.0, take))
        } else if let Ok(more) = value.cast::<PyDict>() {
            self.dict(more, take)
        } else if let Ok(number) = value.extract::<f64>() {
            self.path_is(number, take)
        } else {
            self.list(value, take)
        }
    }

    /// The name is that of one object.
    fn whole(&mut self, name: &Bound<'_, PyString>, value: f64, take: Take<'_>) -> PyResult<()> {
        let text = name.to_cow()?;
        check(&text, value)?;
        let number = match self.recent.get(name) {
            Some(number) => Some(number),
            None => {
                let number = look_up(self.names, self.grow, &text);
                if let Some(number) = number {
                    self.recent.insert(name, number);
                }
                number
            }
        };
        match number {
            Some(number) => take(number, &text, value),
            None => self.unknown += 1,
        }
        Ok(())
    }

    /// The name is the path.
    fn path_is(&mut self, value: f64, take: Take<'_>) -> PyResult<()> {
        check(&self.path, value)?;
        match look_up(self.names, self.grow, &self.path) {
            Some(number) => take(number, &self.path, value),
            None => self.unknown += 1,
        }
        Ok(())
    }
}

/// The number of a name, which may be new.
fn look_up(names: &mut Names, grow: bool, name: &str) -> Option<u32> {
    match grow && names.len() < Names::MOST {
        true => Some(names.intern(name)),
        false => names.get(name),
    }
}

fn check(name: &str, value: f64) -> PyResult<()> {
    match value.is_finite() {
        true => Ok(()),
        false => {
            let text =
                format!("attribute `{name}` has the value {value}; a finite number is needed");
            Err(value_error(text))
        }
    }
}

fn wrong(expected: &str, found: &Bound<'_, PyAny>) -> PyErr {
    let found = found.get_type().name().map_or_else(|_| "something else".into(), |n| n.to_string());
    PyTypeError::new_err(format!("expected {expected}, found {found}"))
}
