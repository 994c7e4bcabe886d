//! What a page tells of sets of labels on test data.

use crate::kind::tested::{
    Candidate, Look, Room, Tested, cut, label_names, label_table, of_all, percent, pick,
};
use crate::kind::{Labelled, label_name, of_kind};
use anyhow::Result;
use maxmargin::evaluate::{LabelSetScores, Tally};
use maxmargin::model::Row;
use maxmargin_io::{CONSTANT, Model, MultilabelSpec};
use maxmargin_report::{Answer, Body, Browser, Confusions, Example, format_number};

/// Rows on a page.
const ROOM: Room = Room { examples: 150, size: 1_500 };

/// Attributes of a row that are shown.
const SHOWN: usize = 6;

/// Stands for no label in the matrix.
const NOTHING: &str = "(nothing)";

pub(super) fn tested(
    model: &Model,
    spec: &MultilabelSpec,
    test: &Labelled,
    look: &Look<'_>,
) -> Result<Tested> {
    let rows = of_kind(test.examples.rows())?;
    let k = spec.shape.labels;
    let predicted = spec.predict(&model.weights, rows, look.threads)?;
    let names = |set: &[u32]| -> Vec<&str> {
        set.iter().map(|&label| label_name(&model.labels, label)).collect()
    };
    let (mut scores, mut tally) = (LabelSetScores::new(k), Tally::default());
    let mut matrix = vec![0.0; (k + 1) * (k + 1)];
    let mut candidates = Vec::new();
    let truths: Vec<Vec<u32>> = (0..rows.len())
        .map(|i| rows.labels(i).iter().copied().filter(|label| (*label as usize) < k).collect())
        .collect();
    for (truth, found) in truths.iter().zip(&predicted) {
        scores.add(truth, found);
        tally.add_sets(&names(truth), &names(found));
        let mistakes = mistakes(truth, found, k as u32);
        for &(t, p) in &mistakes {
            // A label that was missed counts once, so that rows add up to what is true.
            let shared =
                mistakes.iter().filter(|(other, _)| *other == t && t as usize != k).count();
            matrix[t as usize * (k + 1) + p as usize] += 1.0 / shared.max(1) as f64;
        }
        for &label in found.iter().filter(|label| truth.contains(label)) {
            matrix[label as usize * (k + 2)] += 1.0;
        }
        let missed = truth.iter().filter(|label| !found.contains(label)).count();
        let extra = found.iter().filter(|label| !truth.contains(label)).count();
        candidates.push(Candidate { errors: (missed + extra) as f64, size: SHOWN, mistakes });
    }
    let mut page = Tested::default();
    let right = candidates.iter().filter(|one| one.errors == 0.0).count() as u64;
    page.tile("Micro F1", percent(scores.micro().f1()), "over all labels of all rows".to_owned());
    page.tile("Macro F1", percent(scores.macro_f1()), "mean over the labels".to_owned());
    page.tile("F1 by row", percent(scores.example_f1()), "mean over the rows".to_owned());
    let hint = of_all(right, rows.len() as u64, "rows wholly right");
    page.tile("Subset accuracy", percent(scores.subset_accuracy()), hint);
    page.tile("Hamming error", percent(scores.hamming()), "share of wrong decisions".to_owned());
    page.push(label_table("Labels one by one", "Label", &tally));
    let labels = label_names(model).into_iter().chain([NOTHING.to_owned()]);
    let map = Confusions::new("What is taken for what", labels, matrix);
    page.push(cut(
        map,
        "a label that was missed is shared among those that were wrongly predicted in the same row, or counts for nothing",
    ));
    let picked = pick(&candidates, ROOM, look.seed);
    let note = format!("{} Those with most wrong labels are the worst.", picked.note("rows"));
    let mut browser = Browser::new("Examples of the test").note(note).per_page(8).with_legend();
    for &(i, drawn) in &picked.examples {
        let answer = Answer::new(names(&truths[i]), names(&predicted[i]));
        let errors = candidates[i].errors;
        let note = match errors {
            0.0 => "all right".to_owned(),
            1.0 => "1 wrong label".to_owned(),
            _ => format!("{errors} wrong labels"),
        };
        let body = Body::Answer(with_attributes(model, rows.row(i), answer));
        let mut example =
            Example::new(format!("Row {}", i + 1), body).note(note).errors(errors).place(i, drawn);
        let name = |label: u32| match label as usize {
            at if at == k => NOTHING,
            _ => label_name(&model.labels, label),
        };
        for &(t, p) in &candidates[i].mistakes {
            example = example.cell(name(t), name(p));
        }
        for &label in predicted[i].iter().filter(|label| truths[i].contains(label)) {
            example = example.cell(name(label), name(label));
        }
        browser = browser.example(example);
    }
    page.push(browser);
    Ok(page)
}

/// Which labels were taken for which; `nothing` stands for none.
fn mistakes(truth: &[u32], found: &[u32], nothing: u32) -> Vec<(u32, u32)> {
    let or_nothing = |labels: Vec<u32>| if labels.is_empty() { vec![nothing] } else { labels };
    let missed = or_nothing(truth.iter().copied().filter(|l| !found.contains(l)).collect());
    let extra = or_nothing(found.iter().copied().filter(|l| !truth.contains(l)).collect());
    let pairs = missed.iter().flat_map(|&t| extra.iter().map(move |&p| (t, p)));
    pairs.filter(|(t, p)| t != p).collect()
}

/// The largest attributes of a row.
fn with_attributes(model: &Model, row: Row<'_>, answer: Answer) -> Answer {
    let known = |(a, _): &(u32, f64)| {
        (*a as usize) < model.attributes.len() && model.attributes.name(*a) != CONSTANT
    };
    let largest = crate::kind::largest(row.pairs().filter(known).collect(), SHOWN);
    largest.into_iter().fold(answer.clues_are("largest attributes"), |answer, (a, value)| {
        let value: f64 = format!("{value:.2e}").parse().unwrap_or(value);
        answer.clue(model.attributes.name(a), format_number(value))
    })
}

#[cfg(test)]
mod tests {
    use super::mistakes;

    #[test]
    fn missed_labels_are_paired_with_wrong_ones() {
        assert_eq!(mistakes(&[0, 1], &[0, 1], 9), []);
        assert_eq!(mistakes(&[0, 1], &[1], 9), [(0, 9)]);
        assert_eq!(mistakes(&[], &[2], 9), [(9, 2)]);
        assert_eq!(mistakes(&[0, 1], &[1, 2, 3], 9), [(0, 2), (0, 3)]);
    }
}
