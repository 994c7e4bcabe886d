//! What a page tells of test data: measures, tables, what is taken for what, and examples to page through.

use crate::args::Pictures;
use maxmargin::Rng;
use maxmargin::evaluate::{Confusion, Counts, Tally};
use maxmargin::sort;
use maxmargin_io::Model;
use maxmargin_report::{Confusions, Fact, Section, Table, format_number};
use std::collections::{BTreeMap, BTreeSet};

/// How test data are looked at.
#[derive(Clone, Copy)]
pub(crate) struct Look<'a> {
    pub(crate) pictures: &'a Pictures,
    /// Draws the examples that are shown.
    pub(crate) seed: u64,
    /// Threads to predict on.
    pub(crate) threads: usize,
}

/// What is told of test data.
#[derive(Default)]
pub(crate) struct Tested {
    /// The measures of the task, the most important first.
    pub(crate) tiles: Vec<Fact>,
    pub(crate) sections: Vec<Section>,
}

impl Tested {
    pub(super) fn tile(&mut self, label: &str, value: String, hint: String) {
        self.tiles.push(Fact::new(label, value).hint(hint));
    }

    pub(super) fn push(&mut self, section: impl Into<Section>) {
        self.sections.push(section.into());
    }
}

/// A share as a percentage, for tiles.
pub(super) fn percent(share: f64) -> String {
    format!("{:.2} %", 100.0 * share)
}

/// `12 of 3,456 labels`.
pub(super) fn of_all(some: u64, all: u64, what: &str) -> String {
    format!("{} of {} {what}", format_number(some as f64), format_number(all as f64))
}

/// A matrix of more labels would be unreadable.
const MOST_LABELS: usize = 40;

/// Tables of more labels would be too long.
const MOST_ROWS: usize = 400;

/// Precision, recall and F1 of each label, in percent; `what` the labels are.
pub(super) fn label_table(heading: &str, what: &str, tally: &Tally) -> Table {
    let mut table = Table::new(heading)
        .label_column(what)
        .share_column("Precision")
        .share_column("Recall")
        .share_column("F1")
        .number_column("True")
        .number_column("Predicted")
        .number_column("Right");
    let row = |name: &str, c: Counts| {
        // A label that nobody predicts has no precision, and one that is nowhere true no recall.
        let share = |share: f64, of: u64| match of {
            0 => "–".to_owned(),
            _ => format!("{:.2}", 100.0 * share),
        };
        let counts = [c.truth, c.predicted, c.hits].map(|count| format_number(count as f64));
        let shares = [
            share(c.precision(), c.predicted),
            share(c.recall(), c.truth),
            share(c.f1(), c.truth + c.predicted),
        ];
        [name.to_owned()].into_iter().chain(shares).chain(counts)
    };
    let mut all: Vec<(&str, Counts)> = tally.iter().collect();
    sort::by_key(&mut all, |(_, counts)| std::cmp::Reverse(counts.truth));
    let count = all.len();
    for (name, counts) in all.into_iter().take(MOST_ROWS) {
        table = table.row(row(name, counts));
    }
    if count > MOST_ROWS {
        table = table.note(format!("The {MOST_ROWS} most frequent of {count}."));
    }
    table
}

/// What is taken for what, over the names of labels and whatever else turns up.
pub(super) fn matrix(model_labels: &[String], confusion: &Confusion, what: &str) -> Confusions {
    // Labels that neither are true nor were predicted would be empty rows and columns.
    let mut seen: BTreeSet<&str> = BTreeSet::new();
    seen.extend(confusion.iter().flat_map(|(t, p, _)| [t, p]));
    let known = model_labels.iter().filter(|label| seen.contains(label.as_str()));
    let mut labels: Vec<String> = known.cloned().collect();
    let strange = |name: &&&str| !model_labels.iter().any(|known| known == **name);
    labels.extend(seen.iter().filter(strange).map(|name| (*name).to_owned()));
    let counts = labels.iter().flat_map(|t| labels.iter().map(move |p| (t, p)));
    let counts = counts.map(|(t, p)| confusion.count(t, p) as f64).collect();
    cut(Confusions::new("What is taken for what", labels, counts), what)
}

/// The part of a matrix that can be read, and what is to be said of it.
pub(super) fn cut(matrix: Confusions, what: &str) -> Confusions {
    let all = matrix.labels.len();
    let matrix = matrix.most_confused(MOST_LABELS);
    let mut note = format!("A row for each true label, a column for each predicted one; {what}.");
    if all > MOST_LABELS {
        note = format!("{note} Of {all} labels, the {MOST_LABELS} with most mistakes.");
    }
    matrix.note(note)
}

/// The labels of a model.
pub(super) fn label_names(model: &Model) -> Vec<String> {
    model.labels.iter().map(str::to_owned).collect()
}

/// An example that may be shown.
#[derive(Debug, Clone, Default)]
pub(super) struct Candidate {
    /// How wrong it is; 0 if it is right.
    pub(super) errors: f64,
    /// How much room it takes.
    pub(super) size: usize,
    /// Which labels are taken for which other ones in it.
    pub(super) mistakes: Vec<(u32, u32)>,
}

/// How much is shown.
#[derive(Debug, Clone, Copy)]
pub(super) struct Room {
    pub(super) examples: usize,
    /// The sum of all sizes.
    pub(super) size: usize,
}

/// Which examples are shown.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Picked {
    /// The worst first; and whether each belongs to the random sample.
    pub(super) examples: Vec<(usize, bool)>,
    of: usize,
    seed: u64,
}

impl Picked {
    /// Which they are, in words; `what` they are in the plural.
    pub(super) fn note(&self, what: &str) -> String {
        let (kept, all) = (self.examples.len(), self.of);
        let seed = self.seed;
        match kept == all {
            true => format!(
                "All {} {what} of the test; the random sample is drawn by seed {seed}.",
                format_number(all as f64)
            ),
            false => format!(
                "{} of {} {what} of the test are kept on this page: the worst, of every kind of mistake one at \
                 least as far as there is room, and others drawn by seed {seed}.",
                format_number(kept as f64),
                format_number(all as f64)
            ),
        }
    }
}

/// Picks examples: a third are the worst, the next third show each kind of mistake, frequent ones first, and
/// the rest are drawn by `seed`.
pub(super) fn pick(candidates: &[Candidate], room: Room, seed: u64) -> Picked {
    let mut ranked: Vec<usize> = (0..candidates.len()).collect();
    sort::by(&mut ranked, |&a, &b| {
        candidates[b].errors.total_cmp(&candidates[a].errors).then(a.cmp(&b))
    });
    let mut shuffled: Vec<usize> = (0..candidates.len()).collect();
    Rng::new(seed).shuffle(&mut shuffled);
    let mut kept = BTreeSet::new();
    let mut size = 0;
    let mut keep = |i: usize, kept: &mut BTreeSet<usize>| {
        if kept.len() >= room.examples || kept.contains(&i) {
            return;
        }
        // One at least, however large it is.
        if size + candidates[i].size <= room.size || kept.is_empty() {
            size += candidates[i].size;
            kept.insert(i);
        }
    };
    let third = room.examples.div_ceil(3);
    for &i in ranked.iter().filter(|&&i| candidates[i].errors > 0.0).take(third) {
        keep(i, &mut kept);
    }
    let mut kinds: BTreeMap<(u32, u32), Vec<usize>> = BTreeMap::new();
    for &i in &shuffled {
        for &mistake in &candidates[i].mistakes {
            kinds.entry(mistake).or_default().push(i);
        }
    }
    let mut kinds: Vec<Vec<usize>> = kinds.into_values().collect();
    sort::by_key(&mut kinds, |examples| std::cmp::Reverse(examples.len()));
    for examples in kinds {
        if kept.len() < 2 * third && !examples.iter().any(|i| kept.contains(i)) {
            keep(examples[0], &mut kept);
        }
    }
    let mut sample: BTreeSet<usize> = BTreeSet::new();
    sample.extend(shuffled.iter().copied().take(third));
    for &i in &shuffled {
        keep(i, &mut kept);
    }
    let examples = ranked.into_iter().filter(|i| kept.contains(i));
    let examples = examples.map(|i| (i, sample.contains(&i))).collect();
    Picked { examples, of: candidates.len(), seed }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidate(errors: f64, mistakes: &[(u32, u32)]) -> Candidate {
        Candidate { errors, size: 1, mistakes: mistakes.to_vec() }
    }

    #[test]
    fn the_worst_come_first_and_no_kind_of_mistake_is_left_out() {
        let mut all: Vec<Candidate> = (0..100).map(|_| candidate(0.0, &[])).collect();
        all[70] = candidate(5.0, &[(0, 1)]);
        all[30] = candidate(5.0, &[(0, 1)]);
        all[40..60].fill(candidate(1.0, &[(0, 1)]));
        all[99] = candidate(1.0, &[(2, 0)]);
        let picked = pick(&all, Room { examples: 12, size: 100 }, 1);
        let shown: Vec<usize> = picked.examples.iter().map(|(i, _)| *i).collect();
        assert_eq!((shown.len(), &shown[..4]), (12, &[30, 70, 40, 41][..]));
        assert!(shown.contains(&99), "the only one of its kind: {shown:?}");
        assert_eq!(picked, pick(&all, Room { examples: 12, size: 100 }, 1));
        assert_ne!(picked, pick(&all, Room { examples: 12, size: 100 }, 2));
        assert!(picked.note("rows").starts_with("12 of 100 rows"));
    }

    #[test]
    fn small_tests_are_shown_whole_and_large_examples_are_few() {
        let all: Vec<Candidate> = (0..5).map(|at| candidate(f64::from(at), &[])).collect();
        let picked = pick(&all, Room { examples: 9, size: 100 }, 1);
        assert_eq!(picked.examples.iter().map(|(i, _)| *i).collect::<Vec<_>>(), [4, 3, 2, 1, 0]);
        assert!(picked.note("rows").starts_with("All 5 rows"));
        let large: Vec<Candidate> =
            all.iter().map(|one| Candidate { size: 60, ..one.clone() }).collect();
        assert_eq!(pick(&large, Room { examples: 9, size: 100 }, 1).examples.len(), 1);
        assert_eq!(pick(&large, Room { examples: 9, size: 10 }, 1).examples.len(), 1);
        assert!(pick(&[], Room { examples: 9, size: 10 }, 1).examples.is_empty());
    }

    #[test]
    fn labels_that_never_turn_up_have_no_scores() {
        let mut tally = Tally::default();
        tally.add_labels(&["a", "a", "b"], &["a", "c", "b"]);
        let table = label_table("Labels", "Label", &tally);
        assert_eq!(table.rows[0], ["a", "100.00", "50.00", "66.67", "2", "1", "1"]);
        assert_eq!(table.rows[2], ["c", "0.00", "–", "0.00", "0", "1", "0"]);
    }
}
