//! Sequences that are read: from a file, or from columns of text that Python has put together.

use crate::error::{file_error, value_error};
use maxmargin_io::{
    DataError, Format, Lines, RawSequence, ReadSequences, Source, Template, TemplateReader,
    open_reader,
};
use pyo3::prelude::*;
use std::io::Cursor;

/// Where sequences are, and how attributes are made of them.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Input {
    /// A file, or what messages call the text.
    source: String,
    format: Option<String>,
    /// The lines of a template in CRF++'s syntax, and how many columns the training data had.
    template: Option<(String, Option<usize>)>,
    /// Columns of text, in place of a file.
    text: Option<String>,
    /// Weights of the sequences, if they are not 1.
    weights: Option<Vec<f64>>,
}

impl Input {
    pub(crate) fn open(self) -> PyResult<Box<dyn ReadSequences + Send>> {
        let format = self.format.as_deref().map(str::parse).transpose().map_err(value_error)?;
        let template = self.template.map(|(lines, columns)| template(lines, columns));
        let template = template.transpose().map_err(file_error)?;
        let reader = open(&self.source, format, template, self.text).map_err(file_error)?;
        Ok(match self.weights {
            None => reader,
            Some(weights) => Box::new(Weighted { reader, weights: weights.into_iter() }),
        })
    }
}

fn template(lines: String, columns: Option<usize>) -> Result<Template, DataError> {
    let template = Template::read(Lines::from_reader("the template", Cursor::new(lines))?)?;
    Ok(match columns {
        Some(columns) => template.for_columns(columns),
        None => template,
    })
}

fn open(
    source: &str,
    format: Option<Format>,
    template: Option<Template>,
    text: Option<String>,
) -> Result<Box<dyn ReadSequences + Send>, DataError> {
    match (text, template) {
        (None, None) => Source::resolve(source)?.open(format),
        (None, Some(template)) => Source::resolve(source)?.open_columns(template),
        (Some(text), None) => open_reader(Lines::from_reader(source, Cursor::new(text))?, format),
        (Some(text), Some(template)) => {
            let lines = Lines::from_reader(source, Cursor::new(text))?;
            Ok(Box::new(TemplateReader::new(lines, template)))
        }
    }
}

/// Sequences with weights of their own, which columns cannot tell.
struct Weighted<R> {
    reader: R,
    weights: std::vec::IntoIter<f64>,
}

impl<R: ReadSequences> ReadSequences for Weighted<R> {
    fn format(&self) -> Format {
        self.reader.format()
    }

    fn file(&self) -> &str {
        self.reader.file()
    }

    fn line_number(&self) -> u64 {
        self.reader.line_number()
    }

    fn template(&self) -> Option<&Template> {
        self.reader.template()
    }

    fn read(&mut self, into: &mut RawSequence) -> Result<bool, DataError> {
        let found = self.reader.read(into)?;
        if found {
            into.set_weight(self.weights.next().unwrap_or(1.0));
        }
        Ok(found)
    }
}
