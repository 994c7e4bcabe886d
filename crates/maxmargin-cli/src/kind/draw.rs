//! Pictures that several kinds of models have.

use maxmargin::evaluate::Confusion;
use maxmargin_io::Model;
use maxmargin_report::Heatmap;

/// A heat-map of more labels would be unreadable.
pub(super) const MOST_HEATMAP_LABELS: usize = 64;

/// What is taken for what in the test.
pub(super) fn confusions(model: &Model, confusion: &Confusion) -> Heatmap {
    let labels = || model.labels.iter().map(str::to_owned);
    let counts: Vec<f64> = model
        .labels
        .iter()
        .flat_map(|truth| model.labels.iter().map(move |predicted| (truth, predicted)))
        // Right answers would outshine the errors.
        .map(|(truth, predicted)| match truth == predicted {
            true => 0.0,
            false => confusion.count(truth, predicted) as f64,
        })
        .collect();
    Heatmap::new("Confusions in the test", labels(), labels(), counts)
        .axes("label", "predicted")
        .note("How often one label is taken for another; right answers are left out.")
}

/// Which examples are shown: the first ones, and of the others those with the largest errors, at least
/// above 0; of equals the first.
pub(super) fn first_and_worst(
    errors: &[f64],
    first: usize,
    worst: usize,
) -> (Vec<usize>, Vec<usize>) {
    let first = first.min(errors.len());
    let mut others: Vec<usize> = (first..errors.len()).filter(|&i| errors[i] > 0.0).collect();
    others.sort_by(|&a, &b| errors[b].total_cmp(&errors[a]).then(a.cmp(&b)));
    others.truncate(worst);
    ((0..first).collect(), others)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_come_after_the_first() {
        let errors = [0.9, 0.0, 0.2, 0.5, 0.0, 0.5];
        assert_eq!(first_and_worst(&errors, 2, 2), (vec![0, 1], vec![3, 5]));
        assert_eq!(first_and_worst(&errors, 2, 9), (vec![0, 1], vec![3, 5, 2]));
        assert_eq!(first_and_worst(&errors[..1], 2, 9), (vec![0], vec![]));
    }
}
