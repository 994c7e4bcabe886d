//! Pictures that several kinds of models have.

use super::LargestWeights;
use maxmargin::sort;
use maxmargin_report::Weights;

/// A heat-map of more labels would be unreadable.
pub(super) const MOST_HEATMAP_LABELS: usize = 64;

/// Weights of each label in a report.
pub(crate) const WEIGHTS: usize = 8;

/// Labels whose weights are in a report.
const MOST_GROUPS: usize = 30;

/// The heaviest weights of each label as bars; none if there are no weights.
pub(crate) fn heaviest(weights: LargestWeights) -> Option<Weights> {
    let LargestWeights { heading, mut labels, pairs } = weights;
    labels.retain(|(_, weights)| !weights.is_empty());
    let all = labels.len();
    if all > MOST_GROUPS {
        // Those with the heaviest weights, in their old order.
        let size = |at: usize| labels[at].1.iter().map(|(_, w)| w.abs()).fold(0.0, f64::max);
        let mut order: Vec<usize> = (0..all).collect();
        sort::by(&mut order, |&a, &b| size(b).total_cmp(&size(a)).then(a.cmp(&b)));
        order.truncate(MOST_GROUPS);
        order.sort_unstable();
        labels = order.into_iter().map(|at| labels[at].clone()).collect();
    }
    if labels.is_empty() {
        return None;
    }
    let mut section = Weights::new("The heaviest weights");
    section = section.note(match (heading, all > MOST_GROUPS) {
        ("weights", _) => "Blue speaks for a link, orange against it.".to_owned(),
        (heading, false) => format!("Of each {heading}, drawn to its own scale: blue speaks for it, orange against it."),
        (heading, true) => format!(
            "Of each {heading}, drawn to its own scale: blue speaks for it, orange against it. Of {all} the {MOST_GROUPS} with the \
             heaviest weights."
        ),
    });
    for (label, weights) in labels {
        section = section.group(label, weights);
    }
    if let Some(pairs) = pairs.filter(|pairs| !pairs.weights.is_empty()) {
        let named = pairs.weights.into_iter().take(WEIGHTS);
        let named = named.map(|(a, b, weight)| (format!("{a} {} {b}", pairs.between), weight));
        section = section.group(format!("({})", pairs.name), named);
    }
    Some(section)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_heaviest_labels_are_kept_in_their_order() {
        let group = |at: usize| (format!("l{at}"), vec![("x".to_owned(), at as f64)]);
        let labels: Vec<_> = (0..40).map(group).collect();
        let section = heaviest(LargestWeights { heading: "label", labels, pairs: None }).unwrap();
        assert_eq!(section.groups.len(), MOST_GROUPS);
        assert_eq!((section.groups[0].0.as_str(), section.groups[29].0.as_str()), ("l10", "l39"));
        assert!(section.note.contains("Of 40 the 30"));
        let none = LargestWeights { heading: "label", labels: vec![], pairs: None };
        assert!(heaviest(none).is_none());
    }
}
