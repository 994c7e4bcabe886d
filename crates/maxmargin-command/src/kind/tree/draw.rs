//! Stick figures.

use super::joint_name;
use crate::kind::tested::{Candidate, Look, Room, Tested, of_all, percent, pick};
use maxmargin::model::tree::State;
use maxmargin_io::{SimulatedPoses, TreeSpec, lsp_parents};
use maxmargin_report::{Body, Browser, Drawing, Example, Table};

/// People who are drawn.
const ROOM: Room = Room { examples: 60, size: 60 };

/// Room around a figure, in steps of the grid.
const MARGIN: f64 = 4.0;

/// What is drawn, and its colour.
const TRUTH: usize = 6;
const RIGHT: usize = 2;
const WRONG: usize = 1;

/// What is told of people of the test, given where their joints were predicted.
pub(super) fn tested(
    spec: &TreeSpec,
    people: &SimulatedPoses,
    predicted: &[Vec<State>],
    look: &Look<'_>,
) -> Tested {
    let missed = |(i, states): (usize, &Vec<State>)| {
        (0..states.len()).filter(|joint| !people.is_found(i, *joint, &states[*joint])).count()
    };
    let missed: Vec<usize> = predicted.iter().enumerate().map(missed).collect();
    let found = people.detected(predicted);
    let near = SimulatedPoses::NEAR;
    let joints = spec.shape.nodes().len();
    let mut page = Tested::default();
    let all = (joints * predicted.len()) as u64;
    let wrong: usize = missed.iter().sum();
    page.tile(
        &format!("PDJ at {near} torsos"),
        percent(found.share()),
        of_all(all - wrong as u64, all, "joints found"),
    );
    let right = missed.iter().filter(|missed| **missed == 0).count() as u64;
    let count = predicted.len() as u64;
    let share = percent(right as f64 / count.max(1) as f64);
    page.tile("People with all joints found", share, of_all(right, count, "people"));
    let worst = (0..joints).min_by(|&a, &b| found.share_of(a).total_cmp(&found.share_of(b)));
    if let Some(worst) = worst {
        page.tile("Hardest joint", percent(found.share_of(worst)), joint_name(spec, worst));
    }
    let table = Table::new("Joints one by one")
        .note(format!("The share of people whose joint is within {near} torsos of its place."))
        .text_column("Joint")
        .share_column("PDJ");
    page.push((0..joints).fold(table, |table, joint| {
        table.row([joint_name(spec, joint), format!("{:.2}", 100.0 * found.share_of(joint))])
    }));
    let candidate =
        |&missed: &usize| Candidate { errors: missed as f64, size: 1, mistakes: vec![] };
    let candidates: Vec<Candidate> = missed.iter().map(candidate).collect();
    let picked = pick(&candidates, ROOM, look.seed);
    let mut browser = Browser::new("Examples of the test")
        .note(format!(
            "{} True joints, and over them what was predicted. A joint is found if it is within {near} torsos of its \
             place; from one that is not found, a dashed line leads to its place.",
            picked.note("people")
        ))
        .per_page(9)
        .colour("true", TRUTH)
        .colour("found", RIGHT)
        .colour("not found", WRONG);
    for &(i, drawn) in &picked.examples {
        let body = Body::Drawing(person(people, i, &predicted[i]));
        let note = format!("{} of {joints} found", joints - missed[i]);
        let example = Example::new(format!("Person {}", i + 1), body).note(note);
        browser = browser.example(example.errors(candidates[i].errors).place(i, drawn));
    }
    page.push(browser);
    page
}

fn person(people: &SimulatedPoses, i: usize, predicted: &[State]) -> Drawing {
    let truth = people.examples.truth(i);
    let all =
        || truth.iter().chain(predicted).map(|state| (f64::from(state.x), f64::from(state.y)));
    let least = all().fold((f64::MAX, f64::MAX), |a, b| (a.0.min(b.0), a.1.min(b.1)));
    let most = all().fold((0.0f64, 0.0f64), |a, b| (a.0.max(b.0), a.1.max(b.1)));
    let place = |state: &State| {
        (f64::from(state.x) - least.0 + MARGIN, f64::from(state.y) - least.1 + MARGIN)
    };
    let near = |joint: usize| people.is_found(i, joint, &predicted[joint]);
    let found = (0..truth.len()).filter(|joint| near(*joint)).count();
    let (width, height) = (most.0 - least.0 + 2.0 * MARGIN, most.1 - least.1 + 2.0 * MARGIN);
    let mut drawing = Drawing::new(format!("{found} of {} found", truth.len()), width, height);
    let bones = || lsp_parents().into_iter().enumerate().filter_map(|(j, p)| Some((j, p?)));
    for (joint, parent) in bones() {
        drawing = drawing.line(place(&truth[joint]), place(&truth[parent]), TRUTH);
    }
    for (joint, parent) in bones() {
        let colour = if near(joint) && near(parent) { RIGHT } else { WRONG };
        drawing = drawing.line(place(&predicted[joint]), place(&predicted[parent]), colour);
    }
    for joint in (0..predicted.len()).filter(|joint| !near(*joint)) {
        drawing = drawing.dashed(place(&predicted[joint]), place(&truth[joint]), WRONG);
    }
    for (joint, state) in predicted.iter().enumerate() {
        drawing = drawing.dot(place(state), if near(joint) { RIGHT } else { WRONG });
    }
    drawing
}
