//! Attributes in Python's own terms: dictionaries and lists, as in sklearn-crfsuite.

use crate::error::value_error;
use crate::recent::Recent;
use maxmargin_io::Names;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyFloat, PyFrozenSet, PyInt, PyList, PySet, PyString};

/// Between the parts of a name that was nested.
const SEPARATOR: char = ':';

/// Attributes of one token after the other, being looked up.
pub(crate) struct Attributes<'a, 'py> {
    /// The names that are known.
    names: &'a mut Names,
    /// Whether new names are added; else they are left out.
    grow: bool,
    /// Numbers of names by the objects that hold them.
    recent: Recent,
    /// The name that is being put together from nested parts.
    path: String,
    /// Attributes of the token at hand whose names are whole, with their values, still to be looked up.
    waiting: Vec<(Bound<'py, PyString>, f64)>,
    /// What is remembered of those that wait.
    numbers: Vec<Option<u32>>,
    /// Attributes that were left out because their names are not known.
    pub(crate) unknown: u64,
}

/// Takes an attribute: its number, its name and its value.
type Take<'t> = &'t mut dyn FnMut(u32, &str, f64);

impl<'a, 'py> Attributes<'a, 'py> {
    pub(crate) fn new(names: &'a mut Names, grow: bool) -> Self {
        let (recent, path, waiting, numbers) = Default::default();
        Self { names, grow, recent, path, waiting, numbers, unknown: 0 }
    }

    /// Goes through a token: a dictionary of attributes, or a list of those that are there.
    pub(crate) fn token(
        &mut self,
        token: &Bound<'py, PyAny>,
        mut take: impl FnMut(u32, &str, f64),
    ) -> PyResult<()> {
        // An error may have left something behind.
        self.path.clear();
        self.waiting.clear();
        match token.cast::<PyDict>() {
            Ok(attributes) => self.dict(attributes, &mut take)?,
            Err(_) => self.list(token, &mut take)?,
        }
        self.look_up_waiting(&mut take)
    }

    fn dict(&mut self, attributes: &Bound<'py, PyDict>, take: Take<'_>) -> PyResult<()> {
        for (name, value) in attributes {
            let name = text(name)?;
            match value.cast::<PyFloat>() {
                // By far the most frequent case: there is nothing to put together.
                Ok(value) if self.path.is_empty() => self.waiting.push((name, value.value())),
                _ => {
                    self.look_up_waiting(take)?;
                    self.within(&name, |all| all.attribute(&value, take))?;
                }
            }
        }
        Ok(())
    }

    fn list(&mut self, attributes: &Bound<'py, PyAny>, take: Take<'_>) -> PyResult<()> {
        if attributes.is_instance_of::<PyString>() || attributes.is_instance_of::<PyBytes>() {
            return Err(wrong("a dictionary or a list of attributes", attributes));
        }
        let items = match is_set(attributes) {
            // The order of a set may be another one in every process; results must not be.
            true => sorted(attributes)?.try_iter(),
            false => attributes.try_iter(),
        };
        let items = items.map_err(|_| wrong("a dictionary or a list of attributes", attributes))?;
        for name in items {
            let name = text(name?)?;
            match self.path.is_empty() {
                true => self.waiting.push((name, 1.0)),
                false => self.within(&name, |all| all.path_is(1.0, take))?,
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
    fn attribute(&mut self, value: &Bound<'py, PyAny>, take: Take<'_>) -> PyResult<()> {
        if let Ok(number) = value.cast::<PyFloat>() {
            self.path_is(number.value(), take)
        } else if let Ok(truth) = value.cast::<PyBool>() {
            self.path_is(f64::from(u8::from(truth.is_true())), take)
        } else if let Ok(number) = value.cast::<PyInt>() {
            self.path_is(number.extract()?, take)
        } else if let Ok(text) = value.cast::<PyString>() {
            self.within(text, |all| all.path_is(1.0, take))
        } else if value.is_instance_of::<PyBytes>() {
            self.within(&text(value.clone())?, |all| all.path_is(1.0, take))
        } else if let Ok(more) = value.cast::<PyDict>() {
            self.dict(more, take)
        } else if let Ok(number) = value.extract::<f64>() {
            self.path_is(number, take)
        } else {
            self.list(value, take)
        }
    }

    /// Looks up the names that wait, in their order. First all of them in the memory of objects: these are
    /// reads that do not depend on each other, so that the processor waits for several at a time.
    fn look_up_waiting(&mut self, take: Take<'_>) -> PyResult<()> {
        let Self { names, grow, recent, waiting, numbers, unknown, .. } = self;
        numbers.clear();
        numbers.extend(waiting.iter().map(|(name, _)| recent.get(name)));
        let forgotten = waiting.iter().zip(numbers.iter()).filter(|(_, number)| number.is_none());
        names.fetch(forgotten.filter_map(|((name, _), _)| name.to_str().ok()));
        for ((name, value), remembered) in waiting.drain(..).zip(numbers.iter()) {
            let text = name.to_cow()?;
            check(&text, value)?;
            let number = remembered.or_else(|| {
                let number = look_up(names, *grow, &text)?;
                recent.insert(&name, number);
                Some(number)
            });
            match number {
                Some(number) => take(number, &text, value),
                None => *unknown += 1,
            }
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

/// A text, or bytes as a text: UTF-8 as it is, and all else as `\xff`.
fn text<'py>(name: Bound<'py, PyAny>) -> PyResult<Bound<'py, PyString>> {
    let name = match name.cast_into::<PyString>() {
        Ok(name) => return Ok(name),
        Err(other) => other.into_inner(),
    };
    let Ok(bytes) = name.cast::<PyBytes>() else { return Err(wrong("a name", &name)) };
    let mut found = String::new();
    for chunk in bytes.as_bytes().utf8_chunks() {
        found.push_str(chunk.valid());
        for byte in chunk.invalid() {
            found.push_str(&format!("\\x{byte:02x}"));
        }
    }
    Ok(PyString::new(name.py(), &found))
}

fn is_set(items: &Bound<'_, PyAny>) -> bool {
    items.is_instance_of::<PySet>() || items.is_instance_of::<PyFrozenSet>()
}

/// The items of a set in the order of their names.
fn sorted<'py>(items: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let list = PyList::empty(items.py());
    for item in items.try_iter()? {
        list.append(item?)?;
    }
    list.sort()?;
    Ok(list.into_any())
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
