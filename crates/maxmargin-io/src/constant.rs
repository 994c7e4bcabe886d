//! The constant attribute of multi-label models and of segments.

use crate::names::Names;
use maxmargin::model::LabelledRows;

/// The name of an attribute that is 1 in every row or token, so that every label has a constant weight. If a model
/// has this name, it has the attribute in all of its data. Data files do not contain it.
pub const CONSTANT: &str = "(constant)";

/// The rows as a model with these attributes sees them. If the model has the [constant](CONSTANT) attribute, it is
/// added.
///
/// ```
/// use maxmargin::model::LabelledRows;
/// use maxmargin_io::{CONSTANT, Names, with_constant};
///
/// let (mut rows, mut attributes) = (LabelledRows::new(), Names::new());
/// attributes.intern("1");
/// rows.push([(0, 0.5)], &[0], 1.0)?;
/// assert_eq!(with_constant(rows.clone(), &attributes).row(0).pairs().count(), 1);
/// attributes.intern(CONSTANT);
/// assert_eq!(with_constant(rows, &attributes).row(0).pairs().last(), Some((1, 1.0)));
/// # Ok::<(), maxmargin::model::InputError>(())
/// ```
pub fn with_constant(rows: LabelledRows, attributes: &Names) -> LabelledRows {
    let Some(constant) = attributes.get(CONSTANT) else { return rows };
    let mut all = LabelledRows::new();
    for (i, (row, labels)) in rows.iter().enumerate() {
        let others = row.pairs().filter(|(attribute, _)| *attribute != constant);
        let pairs = others.chain([(constant, 1.0)]);
        all.push(pairs, labels, rows.weight(i)).expect("it was valid before");
    }
    all
}
