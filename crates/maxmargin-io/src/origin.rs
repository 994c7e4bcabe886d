//! Where a model comes from.

use crate::dataset::Dataset;
use crate::factor_graph::FactorGraphDataset;
use crate::fingerprint::Fingerprint;
use crate::format::Format;
use crate::names::Names;
use crate::rows::RowData;
use crate::template::Template;

/// What a model remembers of its training data: the names that its weights go by, and how to tell
/// whether given data are the same.
///
/// ```
/// use maxmargin_io::{Lines, Origin, open_reader, read_training};
///
/// let lines = Lines::from_reader("f", "noun\tw=cat\nverb\tw=purrs\n".as_bytes())?;
/// let data = read_training(open_reader(lines, None)?)?;
/// let origin = Origin::from(&data);
/// assert_eq!((origin.labels.len(), origin.fingerprint), (2, data.fingerprint));
/// # Ok::<(), maxmargin_io::DataError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Origin {
    /// Names of the labels; of the templates of a factor graph.
    pub labels: Names,
    /// Names of the attributes.
    pub attributes: Names,
    /// The format of the data.
    pub format: Format,
    /// Fingerprint of the data.
    pub fingerprint: Fingerprint,
    /// The template that made the attributes, if it was not the format's own.
    pub template: Option<Template>,
}

impl From<&Dataset> for Origin {
    fn from(data: &Dataset) -> Self {
        Self {
            labels: data.labels.clone(),
            attributes: data.attributes.clone(),
            format: data.format,
            fingerprint: data.fingerprint,
            template: data.template.clone(),
        }
    }
}

impl From<&RowData> for Origin {
    fn from(data: &RowData) -> Self {
        Self {
            labels: data.labels.clone(),
            attributes: data.attributes.clone(),
            format: data.format,
            fingerprint: data.fingerprint,
            template: data.template.clone(),
        }
    }
}

impl From<&FactorGraphDataset> for Origin {
    fn from(data: &FactorGraphDataset) -> Self {
        Self {
            labels: data.names.templates.clone(),
            attributes: data.names.full_names(),
            format: Format::FactorGraph,
            fingerprint: data.fingerprint,
            template: None,
        }
    }
}
