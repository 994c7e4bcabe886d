//! Aligned sentences in index form.

use super::{AlignmentFeatures, RawAlignment};
use crate::side_by_side::map_side_by_side;
use maxmargin::model::InputError;
use maxmargin::model::matching::Pairs;

/// The number of sentences that a thread puts in index form at once.
const AT_ONCE: usize = 16;

/// Pairs of sentences, and the links that are possible between their words.
///
/// ```
/// use maxmargin_io::{AlignmentFeatures, Alignments, Lines, read_alignments};
///
/// let text = "the house\tla maison\t2-2 1p1\na cat\tun chat\t2-2\n";
/// let pairs = read_alignments(Lines::from_reader("pairs.tsv", text.as_bytes())?)?;
/// let data = Alignments::new(pairs, &AlignmentFeatures::default())?;
/// assert_eq!((data.links.len(), data.links.pair(0).links().len()), (2, 4));
/// assert_eq!(data.select(|i| i == 1).pairs[0].target, ["un", "chat"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Alignments {
    /// The sentences.
    pub pairs: Vec<RawAlignment>,
    /// Their words as the items of lists, with all candidate links.
    pub links: Pairs,
}

impl Alignments {
    /// Puts sentences in index form.
    ///
    /// # Errors
    /// See [`AlignmentFeatures::fill`].
    pub fn new(pairs: Vec<RawAlignment>, features: &AlignmentFeatures) -> Result<Self, InputError> {
        Self::on_threads(pairs, features, 1)
    }

    /// As [`new`](Self::new), on as many threads as [`thread_count`](crate::thread_count) says. The result does not
    /// depend on their number.
    ///
    /// # Errors
    /// See [`AlignmentFeatures::fill`].
    pub fn on_threads(
        pairs: Vec<RawAlignment>,
        features: &AlignmentFeatures,
        threads: usize,
    ) -> Result<Self, InputError> {
        let parts: Vec<&[RawAlignment]> = pairs.chunks(AT_ONCE).collect();
        let filled = map_side_by_side(
            parts.len(),
            threads,
            || (),
            |(), part| {
                let mut links = Pairs::new();
                parts[part]
                    .iter()
                    .try_for_each(|pair| features.fill(pair, &mut links))
                    .map(|()| links)
            },
        );
        let mut links = Pairs::new();
        for part in filled {
            links.append(&part?);
        }
        Ok(Self { pairs, links })
    }

    /// Returns the pairs for which `keep` returns `true`.
    #[must_use]
    pub fn select(&self, keep: impl Fn(usize) -> bool) -> Self {
        let pairs = self.pairs.iter().enumerate().filter(|(i, _)| keep(*i));
        let pairs = pairs.map(|(_, pair)| pair.clone()).collect();
        Self { pairs, links: self.links.select(keep, |_, _| true) }
    }
}
