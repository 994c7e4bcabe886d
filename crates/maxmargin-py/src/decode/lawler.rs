//! The n best labellings of a forest.

use maxmargin::BestFirst;
use maxmargin::inference::Topology;
use maxmargin::inference::algorithms::MaxSum;

/// The best labelling of a set: of those that agree with an earlier one before variable `free`, and have
/// none of the `forbidden` states there.
struct Candidate {
    score: f64,
    states: Vec<u32>,
    free: usize,
    forbidden: Vec<u32>,
}

/// The `n` best labellings with their scores, best first; those with a score of −∞ are left out.
///
/// This is Lawler's scheme: without its best labelling, a set of labellings is split into one set for each
/// variable, and each of these is decoded once.
pub(super) fn n_best(graph: &Topology, scores: &[f64], n: usize) -> Vec<(f64, Vec<u32>)> {
    let (mut solver, mut masked) = (MaxSum::default(), Vec::new());
    let (mut found, mut waiting) = (Vec::new(), BestFirst::default());
    let mut add = |waiting: &mut BestFirst<Candidate>, fixed: &[u32], forbidden: Vec<u32>| {
        masked.clear();
        masked.extend_from_slice(scores);
        for (variable, &state) in fixed.iter().enumerate() {
            let states = masked[graph.node(variable)].iter_mut().zip(0..);
            states.filter(|(_, at)| *at != state).for_each(|(score, _)| *score = f64::NEG_INFINITY);
        }
        for &state in &forbidden {
            masked[graph.node(fixed.len())][state as usize] = f64::NEG_INFINITY;
        }
        let mut states = Vec::new();
        let score = solver.maximise(graph, &masked, &mut states);
        if score > f64::NEG_INFINITY {
            waiting.push(score, Candidate { score, states, free: fixed.len(), forbidden });
        }
    };
    if n > 0 {
        add(&mut waiting, &[], Vec::new());
    }
    while let Some(Candidate { score, states, free, forbidden }) = waiting.pop() {
        let is_last = found.len() + 1 == n;
        for variable in (free..states.len()).take_while(|_| !is_last) {
            let mut other = if variable == free { forbidden.clone() } else { Vec::new() };
            other.push(states[variable]);
            add(&mut waiting, &states[..variable], other);
        }
        found.push((score, states));
        if is_last {
            break;
        }
    }
    found
}
