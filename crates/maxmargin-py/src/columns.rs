//! Sequences that are read: from a file, or from columns of text that Python has put together.

use crate::error::{file_error, value_error};
use maxmargin_io::{
    BuiltInTemplate, DataError, EachSequence, Format, Lines, RawSequence, ReadSequences, Source,
    Template, open_reader,
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
    /// The name of a built-in template or the lines of one in CRF++'s syntax, and how many columns the
    /// training data had.
    template: Option<(String, Option<usize>)>,
    /// The template that a model has kept, which comes before the one above.
    kept: Option<String>,
    /// Whether columns without a template are of no use, since a model knows attributes of another kind.
    refuse_columns: bool,
    /// Columns of text, in place of a file.
    text: Option<String>,
    /// Weights of the sequences, if they are not 1.
    weights: Option<Vec<f64>>,
}

impl Input {
    pub(crate) fn open(self) -> PyResult<Box<dyn ReadSequences + Send>> {
        let format = self.format.as_deref().map(str::parse).transpose().map_err(value_error)?;
        let kept = self.kept.as_deref().map(serde_json::from_str).transpose();
        let template = match kept.map_err(value_error)? {
            Some(kept) => Some(Asked::Template(kept)),
            None => self.template.map(|(text, columns)| asked(text, columns)).transpose()?,
        };
        let reader = open(&self.source, format, template, self.text).map_err(file_error)?;
        if self.refuse_columns && reader.format().is_columns() {
            let file = reader.file();
            return Err(value_error(format!(
                "{file}: these are columns, of which the model knows no attributes; it was trained on \
                 attributes of their own"
            )));
        }
        Ok(match self.weights {
            None => reader,
            Some(weights) => {
                // Columns cannot tell weights.
                let mut weights = weights.into_iter();
                Box::new(EachSequence::new(reader, move |raw: &mut RawSequence| {
                    raw.set_weight(weights.next().unwrap_or(1.0));
                }))
            }
        })
    }
}

/// A template that is asked for.
enum Asked {
    Template(Template),
    /// One that is built in, for columns that are to be looked at.
    BuiltIn(BuiltInTemplate),
}

fn asked(text: String, columns: Option<usize>) -> PyResult<Asked> {
    match text.parse::<BuiltInTemplate>() {
        Ok(name) => {
            return Ok(match columns {
                None => Asked::BuiltIn(name),
                Some(columns) => {
                    Asked::Template(Template::built_in(name, columns).map_err(file_error)?)
                }
            });
        }
        // Templates of a single line that is none were meant to be a name.
        Err(unknown) if !text.starts_with(['U', 'B', '#']) && !text.contains('\n') => {
            return Err(value_error(unknown));
        }
        Err(_) => {}
    }
    let lines = Lines::from_reader("the template", Cursor::new(text)).map_err(file_error)?;
    let template = Template::read(lines).map_err(file_error)?;
    Ok(Asked::Template(match columns {
        Some(columns) => template.for_columns(columns),
        None => template,
    }))
}

fn open(
    source: &str,
    format: Option<Format>,
    template: Option<Asked>,
    text: Option<String>,
) -> Result<Box<dyn ReadSequences + Send>, DataError> {
    let Some(text) = text else {
        let source = Source::resolve(source)?;
        return match template {
            None => source.open(format),
            Some(Asked::Template(template)) => source.open_columns(template),
            Some(Asked::BuiltIn(name)) => source.open_labelled_columns(format, Some(name), None),
        };
    };
    let mut lines = Lines::from_reader(source, Cursor::new(text))?;
    Ok(match template {
        None => open_reader(lines, format)?,
        // What comes from Python are tokens, whatever they look like.
        Some(Asked::Template(template)) => template.open_bare(lines),
        Some(Asked::BuiltIn(name)) => {
            Template::choose(&mut lines, Some(name), format, None)?.open_bare(lines)
        }
    })
}
