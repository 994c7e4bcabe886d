//! What a page tells of factor graphs on test data: the states of variables, each in its colour.

use crate::kind::tested::{
    Candidate, Look, Room, Tested, label_table, matrix, of_all, percent, pick,
};
use maxmargin::evaluate::Confusion;
use maxmargin::model::factor_graph::Graphs;
use maxmargin_report::{Body, Browser, Example, TaggedExample};

/// Graphs on a page, and their variables.
const ROOM: Room = Room { examples: 120, size: 4_000 };

pub(super) fn tested(
    graphs: &Graphs,
    predicted: &[Vec<u32>],
    states: &[String],
    look: &Look<'_>,
) -> Tested {
    let mut confusion = Confusion::default();
    let mut candidates = Vec::new();
    let (mut wrong, mut all) = (0, 0);
    for (i, found) in predicted.iter().enumerate() {
        let truth = graphs.graph(i).truth();
        let pairs = || truth.iter().copied().zip(found.iter().copied());
        pairs().for_each(|(t, p)| confusion.add(&t.to_string(), &p.to_string()));
        let mut mistakes: Vec<(u32, u32)> = pairs().filter(|(t, p)| t != p).collect();
        (wrong, all) = (wrong + mistakes.len() as u64, all + truth.len() as u64);
        let errors = mistakes.len() as f64;
        mistakes.sort_unstable();
        mistakes.dedup();
        candidates.push(Candidate { errors, size: truth.len(), mistakes });
    }
    let mut page = Tested::default();
    let right = candidates.iter().filter(|one| one.errors == 0.0).count() as u64;
    let count = candidates.len() as u64;
    let tally = confusion.tally();
    let share = |some: u64, all: u64| percent(some as f64 / all.max(1) as f64);
    page.tile("Right variables", share(all - wrong, all), of_all(all - wrong, all, "variables"));
    page.tile("Right graphs", share(right, count), of_all(right, count, "graphs"));
    page.tile("Macro F1", percent(tally.macro_f1()), "mean over the states".to_owned());
    page.push(label_table("States one by one", "State", &tally));
    page.push(matrix(states, &confusion, "counted over all variables of the test"));
    let picked = pick(&candidates, ROOM, look.seed);
    let mut browser = Browser::new("Examples of the test")
        .note(format!(
            "{} Variables in the order of the file, and below each its state; wrong ones are boxed, with what was \
             predicted below.",
            picked.note("graphs")
        ))
        .with_legend();
    for &(i, drawn) in &picked.examples {
        let truth = graphs.graph(i).truth();
        let pairs = || truth.iter().zip(&predicted[i]);
        let tokens = pairs()
            .enumerate()
            .map(|(v, (t, p))| (format!("x{}", v + 1), t.to_string(), p.to_string()));
        let errors = candidates[i].errors;
        let note = match errors {
            0.0 => "all right".to_owned(),
            _ => format!("{errors} of {} wrong", truth.len()),
        };
        let example =
            Example::new(format!("Graph {}", i + 1), Body::Tokens(TaggedExample::new(tokens)));
        let example = example.note(note).errors(errors).place(i, drawn);
        let add =
            |example: Example, (t, p): (&u32, &u32)| example.cell(t.to_string(), p.to_string());
        browser = browser.example(pairs().fold(example, add));
    }
    page.push(browser);
    page
}
