//! What a page tells of rows with one label each.

use crate::kind::tested::{
    Candidate, Look, Room, Tested, label_names, label_table, matrix, of_all, percent, pick,
};
use crate::kind::{Labelled, label_name, of_kind};
use anyhow::Result;
use maxmargin::evaluate::Confusion;
use maxmargin::model::Row;
use maxmargin_io::{Model, RowScorer};
use maxmargin_report::{Answer, Body, Browser, Example, format_number};

/// Rows on a page, and their clues.
const ROOM: Room = Room { examples: 240, size: 2_400 };

/// Attributes that are named as clues.
const CLUES: usize = 6;

/// How much more the weights of attribute `a` speak for one label than for another.
pub(in crate::kind) type Prefers<'a> = &'a dyn Fn(usize, u32, u32) -> f64;

/// What is told of rows; without `prefers` no attributes are named, as those of kernels have no weights.
pub(in crate::kind) fn tested(
    model: &Model,
    test: &Labelled,
    look: &Look<'_>,
    prefers: Option<Prefers<'_>>,
) -> Result<Tested> {
    let rows = of_kind(test.examples.rows())?;
    let name = |label| label_name(&model.labels, label);
    let mut scorer = RowScorer::new(&model.meta.spec, &model.weights);
    let (mut confusion, mut candidates, mut answers) =
        (Confusion::default(), Vec::new(), Vec::new());
    for (row, labels) in rows.iter() {
        let truth = labels.first().copied().unwrap_or(u32::MAX);
        let predicted = scorer.predict(row);
        confusion.add(name(truth), name(predicted));
        let scores = scorer.scores();
        let rival = rival(scores, predicted, truth);
        let lead = scores[predicted as usize] - rival.map_or(0.0, |rival| scores[rival as usize]);
        let is_wrong = truth != predicted;
        // The worst mistakes are those that were made with most confidence; and no mistake counts as none.
        let errors = if is_wrong { lead.max(f64::MIN_POSITIVE) } else { 0.0 };
        let mistakes = if is_wrong { vec![(truth, predicted)] } else { Vec::new() };
        candidates.push(Candidate { errors, size: CLUES, mistakes });
        answers.push(Found { truth, predicted, rival, lead });
    }
    let mut page = Tested::default();
    let (tally, accuracy) = (confusion.tally(), confusion.accuracy());
    let (all, right) = (rows.len() as u64, (accuracy * rows.len() as f64).round() as u64);
    page.tile("Accuracy", percent(accuracy), of_all(right, all, "rows right"));
    page.tile("Error", percent(1.0 - accuracy), of_all(all - right, all, "rows wrong"));
    page.tile("Macro F1", percent(tally.macro_f1()), "mean over the labels".to_owned());
    page.push(label_table("Labels one by one", "Label", &tally));
    page.push(matrix(&label_names(model), &confusion, "counted over all rows of the test"));
    let picked = pick(&candidates, ROOM, look.seed);
    let mut browser = Browser::new("Examples of the test")
        .note(format!(
            "{} The worst mistakes are those with the largest lead.",
            picked.note("rows")
        ))
        .per_page(8)
        .with_legend();
    for &(i, drawn) in &picked.examples {
        let found = &answers[i];
        let answer = Answer::new([name(found.truth)], [name(found.predicted)]);
        let answer = found.with_clues(model, rows.row(i), prefers, answer);
        let example = Example::new(format!("Row {}", i + 1), Body::Answer(answer))
            .note(found.in_words(model))
            .errors(candidates[i].errors)
            .place(i, drawn)
            .cell(name(found.truth), name(found.predicted));
        browser = browser.example(example);
    }
    page.push(browser);
    Ok(page)
}

/// The label that the prediction is compared with: the true one, or the next best if that was predicted.
fn rival(scores: &[f64], predicted: u32, truth: u32) -> Option<u32> {
    if truth != predicted {
        return ((truth as usize) < scores.len()).then_some(truth);
    }
    let others = (0..scores.len() as u32).filter(|label| *label != predicted);
    others.max_by(|&a, &b| scores[a as usize].total_cmp(&scores[b as usize]).then(b.cmp(&a)))
}

/// What was predicted for a row.
struct Found {
    truth: u32,
    predicted: u32,
    rival: Option<u32>,
    /// How far the prediction is ahead of its rival.
    lead: f64,
}

impl Found {
    fn in_words(&self, model: &Model) -> String {
        let rival = self.rival.map(|rival| label_name(&model.labels, rival));
        rival.map_or_else(String::new, |rival| {
            format!("{} ahead of {rival}", format_number(rounded(self.lead)))
        })
    }

    /// The attributes that spoke most for the prediction or against it.
    fn with_clues(
        &self,
        model: &Model,
        row: Row<'_>,
        prefers: Option<Prefers<'_>>,
        answer: Answer,
    ) -> Answer {
        let (Some(prefers), Some(rival)) = (prefers, self.rival) else { return answer };
        let votes = row.pairs().filter(|(a, _)| (*a as usize) < model.attributes.len());
        let votes = votes.map(|(a, x)| ((a, x), x * prefers(a as usize, self.predicted, rival)));
        let largest = crate::kind::largest(votes.collect(), CLUES);
        let predicted = label_name(&model.labels, self.predicted);
        let title = format!("for {predicted} rather than {}", label_name(&model.labels, rival));
        largest.into_iter().fold(answer.clues_are(title), |answer, ((a, x), vote)| {
            let name = model.attributes.name(a);
            let name = if x == 1.0 { name.to_owned() } else { format!("{name}={}", rounded(x)) };
            let sign = if vote > 0.0 { "+" } else { "" };
            answer.clue(name, format!("{sign}{}", format_number(rounded(vote))))
        })
    }
}

/// Three significant digits.
fn rounded(value: f64) -> f64 {
    format!("{value:.2e}").parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rival_is_the_truth_or_the_next_best() {
        let scores = [0.5, 2.0, 1.0, 1.0];
        assert_eq!(rival(&scores, 1, 0), Some(0));
        assert_eq!(rival(&scores, 1, 1), Some(2), "of equals the first");
        assert_eq!(rival(&scores, 1, u32::MAX), None, "a label that the model does not know");
        assert_eq!(rival(&[1.0], 0, 0), None);
    }
}
