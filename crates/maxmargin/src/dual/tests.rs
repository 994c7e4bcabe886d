//! What a dual state takes for rounding, and how far it says it has drifted.

use super::rebuild::CHUNK;
use super::*;
use crate::doc::toy;
use crate::problem::{Bounds, Problem, ProblemExt, SparseVec};
use std::iter::zip;

#[test]
fn a_slope_below_zero_is_rounding_or_not() {
    let problem = toy();
    let mut workers = Workers::new(&problem, 1);
    let mut state = DualState::new(&problem, 0.1, DualPoint::at_truth(&problem), &mut workers);
    let share = 0.25;
    assert_eq!(state.shares.of(0), share);
    // The numbers that a slope is the small difference of: the losses of the corner and of the block, and
    // the score of the way between them, which makes up for the difference of the losses.
    for (corner, block, size) in [
        (4e6, 0.0, 4e6 + 4e6),
        (0.0, 4e6, 4e6 + 4e6),
        (1e6, 3e6, 1e6 + 3e6 + 2e6),
        (2e6, 2e6, 2e6 + 2e6),
        (0.0, 0.0, 1.0),
        (0.5, 0.25, 1.0 + 0.5 + 0.25 + 0.25),
    ] {
        state.blocks[0].loss = block;
        let to = Corner { loss: corner, ..Default::default() };
        let step = Move { loss: corner - block, ..Default::default() };
        let is_below = |slope: f64| state.is_below_rounding(0, &to, &step, slope);
        assert!(is_below(-1.01 * 1e-9 * share * size), "{corner} {block}");
        assert!(!is_below(-0.99 * 1e-9 * share * size), "{corner} {block}");
        assert!(!is_below(0.0) && !is_below(1.0));
    }
}

/// A state that has been tampered with tells by how much when it is rebuilt.
#[test]
fn drifts_are_the_distances_from_what_the_blocks_say() {
    let problem = toy();
    let mut workers = Workers::new(&problem, 1);
    let mut state = DualState::new(&problem, 0.1, DualPoint::at_truth(&problem), &mut workers);
    state.blocks[2].loss = 0.5;
    let first = state.rebuild(&mut workers);
    assert_eq!(first, Drift { weights: 0.0, dual: 0.125 });
    assert_eq!((state.dual, state.norm_sq), (0.125, 0.0));
    (state.w[3], state.w[7], state.dual) = (-0.75, 0.5, 0.375);
    assert_eq!(state.rebuild(&mut workers), Drift { weights: 0.75, dual: 0.25 });
    assert!(state.w.iter().all(|&w| w == 0.0));
    assert_eq!(state.rebuild(&mut workers), Drift::default());
}

#[test]
fn the_larger_drift_is_kept_entry_by_entry() {
    let (a, b) = (Drift { weights: 3.0, dual: 1.0 }, Drift { weights: 2.0, dual: 4.0 });
    assert_eq!(a.max(b), Drift { weights: 3.0, dual: 4.0 });
}

/// More weights than are looked after at once, and so many features that they are summed up in parts.
struct Wide(Option<Bounds>);

const WIDE: usize = 2 * CHUNK + 100;
const EXAMPLES: usize = 60;

/// ψ of the only wrong output of an example.
fn features(i: usize) -> impl Iterator<Item = (usize, f64)> {
    (0..100).map(move |k| ((97 * i + 131 * k) % WIDE, 0.01 * (i as f64 - k as f64)))
}

impl Problem for Wide {
    type Output = bool;
    type Workspace = ();
    fn examples(&self) -> usize {
        EXAMPLES
    }
    fn dim(&self) -> usize {
        WIDE
    }
    fn workspace(&self) {}
    fn oracle(&self, _: usize, _: &[f64], (): &mut (), y: &mut bool) {
        *y = true;
    }
    fn decode(&self, _: usize, _: &[f64], (): &mut (), y: &mut bool) {
        *y = true;
    }
    fn loss(&self, _: usize, &y: &bool) -> f64 {
        f64::from(u8::from(y))
    }
    fn psi(&self, i: usize, &y: &bool, psi: &mut SparseVec) {
        if y {
            features(i).for_each(|(feature, value)| psi.push(feature as u64, value));
        }
    }
    fn bounds(&self) -> Option<&Bounds> {
        self.0.as_ref()
    }
}

/// With all mass on the wrong outputs, v is Σψ/(λn) and ℓ is 1.
#[test]
fn weights_are_rebuilt_in_parts_and_pieces() {
    const LAMBDA: f64 = 0.5;
    let mut v = vec![0.0; WIDE];
    for (feature, value) in (0..EXAMPLES).flat_map(features) {
        v[feature] += value / (LAMBDA * EXAMPLES as f64);
    }
    let upper: Vec<f64> = (0..WIDE).map(|j| 1e-6 * j as f64).collect();
    let bounds = Bounds::new(vec![f64::NEG_INFINITY; WIDE], upper.clone()).unwrap();
    let clipped: Vec<f64> = zip(&v, &upper).map(|(v, upper)| v.min(*upper)).collect();
    assert!(zip(&v, &clipped).any(|(v, w)| v > w));
    for (problem, w) in [(Wide(None), &v), (Wide(Some(bounds)), &clipped)] {
        let mut point = DualPoint::at_truth(&problem);
        for (i, block) in point.blocks.iter_mut().enumerate() {
            let mut parts = SparseVec::new();
            problem.parts(i, &true, &mut parts);
            *block = Block { parts: parts.into(), loss: 1.0 };
        }
        let mut workers = Workers::new(&problem, 2);
        let mut state = DualState::new(&problem, LAMBDA, point, &mut workers);
        let hold = |state: &DualState<'_>| {
            let near = |(a, b): (&f64, &f64)| (a - b).abs() < 1e-14;
            assert!(zip(&state.w, w).all(near) && zip(state.sum(), &v).all(near));
            let (square, product): (f64, f64) =
                (w.iter().map(|w| w * w).sum(), zip(&v, w).map(|(v, w)| v * w).sum());
            assert!((state.norm_sq - square).abs() < 1e-12);
            let dual = 1.0 + 0.5 * LAMBDA * square - LAMBDA * product;
            assert!((state.dual - dual).abs() < 1e-12, "{} is not {dual}", state.dual);
        };
        hold(&state);
        assert!(state.spare.len() > 1, "in parts");
        // Nothing of it stays behind for the next time.
        let drift = state.rebuild(&mut workers);
        assert_eq!(drift, Drift::default());
        hold(&state);
    }
}
