//! What a page tells of factor graphs on test data: the states of variables, each in its colour.

use crate::kind::tested::{
    Candidate, Look, Room, Tested, label_table, matrix, of_all, percent, pick,
};
use maxmargin::evaluate::Confusion;
use maxmargin::model::factor_graph::{Graph, Graphs};
use maxmargin_report::{Body, Browser, Example, Network, TaggedExample};

/// Graphs on a page, and their variables.
const ROOM: Room = Room { examples: 120, size: 3_000 };

/// Larger graphs are lists of variables: no drawing of them could be read.
const MOST_DRAWN: usize = 64;

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
    page.push(browser(graphs, predicted, &candidates, look));
    page
}

fn browser(
    graphs: &Graphs,
    predicted: &[Vec<u32>],
    candidates: &[Candidate],
    look: &Look<'_>,
) -> Browser {
    let picked = pick(candidates, ROOM, look.seed);
    let small = |(i, _): &(usize, bool)| graphs.graph(*i).variables() <= MOST_DRAWN;
    let are_drawn = picked.examples.iter().all(small);
    let how = match are_drawn {
        true => {
            "A circle for each variable, in the colour of the state that was predicted, and a line between those \
             that share a factor; wrong ones have a broken ring, with the true state beside it."
        }
        false => {
            "Variables in the order of the file, and below each its state; wrong ones are boxed, with what was \
             predicted below."
        }
    };
    let note = format!("{} {how}", picked.note("graphs"));
    let mut browser = Browser::new("Examples of the test").note(note).with_legend();
    for &(i, drawn) in &picked.examples {
        let truth = graphs.graph(i).truth();
        let pairs = || truth.iter().zip(&predicted[i]).map(|(t, p)| (t.to_string(), p.to_string()));
        let body = match are_drawn {
            true => Body::Network(network(graphs.graph(i), pairs())),
            false => Body::Tokens(TaggedExample::new(
                pairs().enumerate().map(|(v, (t, p))| (format!("x{}", v + 1), t, p)),
            )),
        };
        let errors = candidates[i].errors;
        let note = match errors {
            0.0 => "all right".to_owned(),
            _ => format!("{errors} of {} wrong", truth.len()),
        };
        let example = Example::new(format!("Graph {}", i + 1), body);
        let example = example.note(note).errors(errors).place(i, drawn);
        browser = browser.example(pairs().fold(example, |example, (t, p)| example.cell(t, p)));
    }
    browser
}

/// Variables, and which of them share a factor.
fn network(graph: Graph<'_>, states: impl Iterator<Item = (String, String)>) -> Network {
    let mut network = Network::new(states);
    for factor in graph.factors() {
        for (at, &a) in factor.variables.iter().enumerate() {
            for &b in &factor.variables[at + 1..] {
                network = network.edge(a as usize, b as usize);
            }
        }
    }
    network
}
