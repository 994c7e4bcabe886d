//! The loss of a matching.

use super::pairs::{Gold, Pair};

/// The Hamming loss of a set of links: a cost for each wrong link and for each sure link that is missing.
/// Possible links cost nothing.
///
/// ```
/// use maxmargin::model::matching::{Gold, LinkLoss, Pairs};
///
/// let mut data = Pairs::new();
/// for (column, gold) in [(0, Gold::Sure), (1, Gold::Possible), (2, Gold::Wrong), (3, Gold::Sure)] {
///     data.push_link(0, column, [], gold)?;
/// }
/// data.end_pair(1, 4, 1.0)?;
/// let loss = LinkLoss { missing: 3.0, ..LinkLoss::default() };
/// assert_eq!(loss.of(&data.pair(0), &[1, 2, 3]), (3.0 + 1.0) / 2.0); // there are two sure links
/// # Ok::<(), maxmargin::model::InputError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
pub struct LinkLoss {
    /// The cost of a wrong link, finite and at least 0.
    pub wrong: f64,
    /// The cost of a sure link that is missing, finite and at least 0.
    pub missing: f64,
    /// Whether the loss is divided by the number of sure links (or by 1 if there are none), so that long
    /// lists count no more than short ones.
    pub normalise: bool,
}

impl Default for LinkLoss {
    /// A cost of 1 for every mistake, divided by the number of sure links.
    fn default() -> Self {
        Self { wrong: 1.0, missing: 1.0, normalise: true }
    }
}

impl LinkLoss {
    /// The loss of the candidates in `links`, which are in increasing order.
    pub fn of(&self, pair: &Pair<'_>, links: &[u32]) -> f64 {
        let masses = links.iter().map(|&k| (k as usize, 1.0));
        self.of_masses(pair, masses)
    }

    /// The loss of masses on candidates.
    pub(super) fn of_masses(
        &self,
        pair: &Pair<'_>,
        masses: impl Iterator<Item = (usize, f64)>,
    ) -> f64 {
        let scale = self.scale(pair);
        // Each sure link is added on its own, so that the loss is exactly 0 if no link is missing.
        let mut sure = pair.of_kind(Gold::Sure);
        let mut total = 0.0;
        for (k, mass) in masses {
            match pair.gold(k) {
                Gold::Wrong => total += self.wrong * pair.link_weight(k) * mass,
                Gold::Possible => {}
                Gold::Sure => {
                    for missing in sure.by_ref().take_while(|&missing| missing != k) {
                        total += self.missing * pair.link_weight(missing);
                    }
                    total += self.missing * pair.link_weight(k) * (1.0 - mass);
                }
            }
        }
        total += sure.map(|missing| self.missing * pair.link_weight(missing)).sum::<f64>();
        scale * total
    }

    /// The amount that the presence of a candidate adds to the loss.
    #[inline]
    pub(super) fn change(&self, pair: &Pair<'_>, candidate: usize, scale: f64) -> f64 {
        match pair.gold(candidate) {
            Gold::Wrong => scale * self.wrong * pair.link_weight(candidate),
            Gold::Possible => 0.0,
            Gold::Sure => -scale * self.missing * pair.link_weight(candidate),
        }
    }

    pub(super) fn scale(&self, pair: &Pair<'_>) -> f64 {
        match self.normalise {
            true => 1.0 / pair.of_kind(Gold::Sure).count().max(1) as f64,
            false => 1.0,
        }
    }
}
