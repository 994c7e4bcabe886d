//! Labels of many examples in one array.

use numpy::PyReadonlyArray1;

/// The labels of examples, one after the other, and where those of each example end; one per example if no
/// ends are given.
pub(crate) struct Labels<'py> {
    pub(crate) all: Option<PyReadonlyArray1<'py, u32>>,
    pub(crate) ends: Option<PyReadonlyArray1<'py, i64>>,
}

impl Labels<'_> {
    /// The labels of an example, if there are labels at all.
    ///
    /// # Errors
    /// An example that the arrays do not reach.
    pub(crate) fn of(&self, example: usize) -> Result<Option<&[u32]>, String> {
        let Some(all) = &self.all else { return Ok(None) };
        let all = all.as_slice().map_err(|error| error.to_string())?;
        let (from, to) = match &self.ends {
            None => (example, example + 1),
            Some(ends) => {
                let ends = ends.as_array();
                let end = |at: usize| ends.get(at).and_then(|&end| usize::try_from(end).ok());
                let from = if example == 0 { Some(0) } else { end(example - 1) };
                (from.unwrap_or(usize::MAX), end(example).unwrap_or(usize::MAX))
            }
        };
        all.get(from..to).map(Some).ok_or_else(|| format!("row {example} has no label"))
    }
}
