//! The confusion matrix of a classification.

use super::{Counts, Tally, ratio};
use std::collections::BTreeMap;

/// How often each class was predicted for each true class.
///
/// ```
/// use maxmargin::evaluate::Confusion;
///
/// let mut confusion = Confusion::default();
/// for (truth, predicted) in [("a", "a"), ("a", "b"), ("b", "b"), ("b", "b")] {
///     confusion.add(truth, predicted);
/// }
/// assert_eq!((confusion.accuracy(), confusion.count("a", "b")), (0.75, 1));
/// assert_eq!(confusion.tally().of("b").recall(), 1.0);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Confusion {
    /// The counts by true class, then by predicted class.
    counts: BTreeMap<String, BTreeMap<String, u64>>,
}

impl Confusion {
    /// Adds an example.
    pub fn add(&mut self, truth: &str, predicted: &str) {
        if !self.counts.contains_key(truth) {
            self.counts.insert(truth.to_owned(), BTreeMap::new());
        }
        let row = self.counts.get_mut(truth).expect("it is there by now");
        match row.get_mut(predicted) {
            Some(count) => *count += 1,
            None => drop(row.insert(predicted.to_owned(), 1)),
        }
    }

    /// How often `predicted` was predicted for the class `truth`.
    pub fn count(&self, truth: &str, predicted: &str) -> u64 {
        self.counts.get(truth).and_then(|row| row.get(predicted)).copied().unwrap_or_default()
    }

    /// All pairs of a true and a predicted class that occurred, in alphabetical order, with their
    /// counts.
    ///
    /// ```
    /// let mut confusion = maxmargin::evaluate::Confusion::default();
    /// confusion.add("b", "a");
    /// assert_eq!(confusion.iter().collect::<Vec<_>>(), [("b", "a", 1)]);
    /// ```
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str, u64)> {
        self.counts.iter().flat_map(|(truth, row)| {
            row.iter().map(|(predicted, &count)| (truth.as_str(), predicted.as_str(), count))
        })
    }

    /// Number of examples.
    pub fn examples(&self) -> u64 {
        self.iter().map(|(_, _, count)| count).sum()
    }

    /// Share of examples that are right, in [0, 1], or 0 if there are no examples.
    pub fn accuracy(&self) -> f64 {
        let right = self.iter().filter(|(truth, predicted, _)| truth == predicted);
        ratio(right.map(|(_, _, count)| count).sum(), self.examples())
    }

    /// Precision, recall and F1 of every class.
    ///
    /// ```
    /// let mut confusion = maxmargin::evaluate::Confusion::default();
    /// confusion.add("a", "a");
    /// confusion.add("b", "a");
    /// assert_eq!(confusion.tally().of("a").precision(), 0.5);
    /// ```
    pub fn tally(&self) -> Tally {
        let mut tally = Tally::default();
        for (truth, predicted, count) in self.iter() {
            let hits = if truth == predicted { count } else { 0 };
            tally.add_counts(truth, Counts { truth: count, hits, predicted: 0 });
            tally.add_counts(predicted, Counts { predicted: count, ..Counts::default() });
        }
        tally
    }
}

/// Serialized as a list of `{truth, predicted, count}`, because a map of maps would need names for its
/// columns.
#[cfg(feature = "serde")]
impl serde::Serialize for Confusion {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(serde::Serialize)]
        struct Entry<'a> {
            truth: &'a str,
            predicted: &'a str,
            count: u64,
        }
        let entry = |(truth, predicted, count)| Entry { truth, predicted, count };
        serializer.collect_seq(self.iter().map(entry))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tally_is_that_of_the_labels_themselves() {
        let pairs = [("a", "b"), ("b", "b"), ("c", "a"), ("a", "a"), ("a", "b"), ("b", "d")];
        let (mut confusion, mut tally) = (Confusion::default(), Tally::default());
        for (truth, predicted) in pairs {
            confusion.add(truth, predicted);
            tally.add_labels(&[truth], &[predicted]);
        }
        assert_eq!(confusion.tally(), tally);
        assert_eq!(confusion.accuracy(), 2.0 / 6.0);
        assert_eq!((confusion.count("a", "b"), confusion.count("d", "b")), (2, 0));
        let json = serde_json::to_string(&confusion).unwrap();
        assert!(json.starts_with(r#"[{"truth":"a","predicted":"a","count":1},"#), "{json}");
        assert_eq!(Confusion::default().accuracy(), 0.0);
    }
}
