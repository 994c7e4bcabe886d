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
