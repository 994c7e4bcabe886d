//! Stick figures.

use crate::kind::draw::first_and_worst;
use maxmargin::model::tree::State;
use maxmargin_io::{SimulatedPoses, lsp_parents};
use maxmargin_report::{Drawing, Drawings};

/// People who are drawn.
const SHOWN: usize = 12;

/// Those with fewest joints found.
const WORST: usize = 6;

/// Room around a figure, in steps of the grid.
const MARGIN: f64 = 4.0;

/// What is drawn, and its colour.
const TRUTH: usize = 6;
const RIGHT: usize = 2;
const WRONG: usize = 1;

/// People of the test, true and predicted joints: the first ones, and those with most joints that are
/// not found.
pub(super) fn people(people: &SimulatedPoses, predicted: &[Vec<State>]) -> Vec<Drawings> {
    let missed = |(i, states): (usize, &Vec<State>)| {
        (0..states.len()).filter(|joint| !people.is_found(i, *joint, &states[*joint])).count()
            as f64
    };
    let errors: Vec<f64> = predicted.iter().enumerate().map(missed).collect();
    let (first, worst) = first_and_worst(&errors, SHOWN, WORST);
    let section = |heading: &str, shown: &[usize]| {
        let drawings = Drawings::new(heading)
            .note(format!(
                "True joints, and over them what was predicted. A joint is found if it is within {} \
                 torsos of its place; a line that ends at one that is not found is in the colour of those.",
                SimulatedPoses::NEAR
            ))
            .colour("true", TRUTH)
            .colour("found", RIGHT)
            .colour("not found", WRONG);
        let draw =
            |drawings: Drawings, i: &usize| drawings.drawing(person(people, *i, &predicted[*i]));
        shown.iter().fold(drawings, draw)
    };
    let mut sections = vec![section("People of the test", &first)];
    if !worst.is_empty() {
        sections.push(section("People with fewest joints found", &worst));
    }
    sections
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
    for (joint, state) in predicted.iter().enumerate() {
        drawing = drawing.dot(place(state), if near(joint) { RIGHT } else { WRONG });
    }
    drawing
}
