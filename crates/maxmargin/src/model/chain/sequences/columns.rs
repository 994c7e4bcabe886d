//! The arrays that sequences are stored in, to be kept in a file.

use super::Sequences;
use crate::model::column::{Column, Offsets};
use crate::model::rows::{BadColumns, Rows};

/// The arrays that [`Sequences`] are stored in; see [`Sequences::into_columns`].
///
/// ```
/// use maxmargin::model::chain::SequenceColumns;
/// assert_eq!(SequenceColumns::default().sequences.len(), 1);
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SequenceColumns {
    /// First token of each sequence, and one past the last.
    pub sequences: Offsets,
    /// First attribute of each token, and one past the last.
    pub tokens: Offsets,
    /// The attributes of all tokens.
    pub attributes: Column<u32>,
    /// Their values, or nothing if every value is 1.
    pub values: Column<f64>,
    /// The label of each token.
    pub labels: Column<u32>,
    /// The weight of each sequence, or nothing if every weight is 1.
    pub weights: Column<f64>,
    /// The cost of a mistake at each token, or nothing if every cost is 1.
    pub costs: Column<f64>,
}

impl Sequences {
    /// The arrays that the closed sequences are stored in, to be kept in a file. There is no open sequence.
    ///
    /// ```
    /// # use maxmargin::doc::toy;
    /// use maxmargin::model::chain::Sequences;
    ///
    /// let chain = toy();
    /// let columns = chain.data().clone().into_columns();
    /// assert_eq!(columns.labels.len(), chain.data().tokens());
    /// assert_eq!(&Sequences::from_columns(columns)?, chain.data());
    /// # Ok::<(), maxmargin::model::BadColumns>(())
    /// ```
    #[cfg(feature = "unstable")]
    pub fn into_columns(self) -> SequenceColumns {
        let Self { starts: sequences, rows, labels, weights, costs, .. } = self;
        let (tokens, attributes, values) = rows.into_columns();
        SequenceColumns { sequences, tokens, attributes, values, labels, weights, costs }
    }

    /// Sequences that are stored in these arrays, which may be shared with a file.
    ///
    /// # Errors
    /// If the arrays do not belong together, or if they hold what [`push_token`](Self::push_token) or
    /// [`end_sequence`](Self::end_sequence) would have refused.
    #[cfg(feature = "unstable")]
    pub fn from_columns(columns: SequenceColumns) -> Result<Self, BadColumns> {
        let SequenceColumns {
            sequences: starts,
            tokens,
            attributes,
            values,
            labels,
            weights,
            costs,
        } = columns;
        if tokens.len() != labels.len().wrapping_add(1) {
            return Err(BadColumns("the tokens do not fill the list of labels"));
        }
        if !starts.cover(labels.len())
            || (1..starts.len()).any(|i| starts.get(i - 1) == starts.get(i))
        {
            return Err(BadColumns("the sequences do not fill the list of tokens"));
        }
        let is_weight = |&weight: &f64| weight > 0.0 && weight.is_finite();
        if !(weights.is_empty() || weights.len() + 1 == starts.len())
            || !weights.iter().all(is_weight)
        {
            return Err(BadColumns("the weights do not fit the sequences"));
        }
        let is_cost = |&cost: &f64| cost >= 0.0 && cost.is_finite();
        if !(costs.is_empty() || costs.len() == labels.len()) || !costs.iter().all(is_cost) {
            return Err(BadColumns("the costs do not fit the tokens"));
        }
        let rows = Rows::from_columns(tokens, attributes, values)?;
        let mut data = Self { starts, entries: Offsets::new(), rows, labels, weights, costs };
        data.entries = data.find_entries();
        Ok(data)
    }
}
