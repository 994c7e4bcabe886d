//! Every method of every wrapper, on a problem with peculiar answers.

use maxmargin::ProblemExt as _;
use maxmargin::kernel::{Kernel, Kernelised, NodeInputs};
use maxmargin::model::Row;
use maxmargin::problem::{
    Abilities, Accuracy, AtLambda, Batched, CheckPoints, OracleWithin, OwnLength, Parts,
    ScaledLosses, SecondObjective, Target, Truths,
};
use maxmargin::{
    Blocks, Bounded, Bounds, Enumerable, Expectations, PointCheck, Problem, Quality, Simplices,
    Sink, SlackRescaled, SparseVec,
};
use std::ops::Range;

/// A problem none of whose answers is a default. Outputs are numbers from 0 to 3, and the truth is 0.
struct Peculiar {
    bounds: Option<Bounds>,
}

/// The calls with this workspace that have no visible answer.
#[derive(Default)]
struct Notes(Vec<&'static str>);

impl Problem for Peculiar {
    type Output = u32;
    type Workspace = Notes;

    fn examples(&self) -> usize {
        3
    }
    fn dim(&self) -> usize {
        7
    }
    fn workspace(&self) -> Notes {
        Notes(vec!["workspace"])
    }
    fn oracle(&self, _: usize, _: &[f64], _: &mut Notes, y: &mut u32) {
        *y = 1;
    }
    fn decode(&self, _: usize, _: &[f64], _: &mut Notes, y: &mut u32) {
        *y = 3;
    }
    fn loss(&self, _: usize, y: &u32) -> f64 {
        2.0 * f64::from(*y)
    }
    fn psi(&self, _: usize, y: &u32, psi: &mut SparseVec) {
        psi.push(u64::from(*y), 3.0);
    }
    fn weight(&self, i: usize) -> f64 {
        5.0 + i as f64
    }
    fn quality(&self) -> Quality {
        Quality::Heuristic
    }
    fn bounds(&self) -> Option<&Bounds> {
        self.bounds.as_ref()
    }
    fn abilities(&self) -> Abilities<'_, Notes, u32> {
        Abilities {
            parts: Some(self),
            truths: Some(self),
            points: Some(self),
            scaled_losses: Some(self),
            simplices: Some(self),
            expectations: Some(self),
            own_length: Some(self),
            second_objective: Some(self),
            at_lambda: Some(self),
            total_weight: Some(100.0),
            has_signed_losses: true,
            batched: Some(self),
            within: Some(self),
            is_trusted: true,
            decodes_otherwise: true,
        }
    }
}

impl Batched for Peculiar {
    fn announce(&self, _: Range<usize>, _: &[f64], notes: &mut Notes) {
        notes.0.push("announce");
    }
}

impl OracleWithin for Peculiar {
    fn oracle_within(
        &self,
        _: usize,
        _: &[f64],
        _: Accuracy,
        notes: &mut Notes,
        y: &mut u32,
    ) -> f64 {
        notes.0.push("oracle_within");
        *y = 1;
        0.25
    }
}

impl Parts for Peculiar {
    fn prepare(&self, _: usize, _: &[f64], notes: &mut Notes) {
        notes.0.push("prepare");
    }
    fn prepare_scores(&self, _: usize, _: &[f64], notes: &mut Notes, _: &[SparseVec]) {
        notes.0.push("prepare_scores");
    }
    fn prefetch(&self, i: usize) {
        PREFETCHED.set(PREFETCHED.get() + i);
    }
    fn parts(&self, _: usize, y: &u32, parts: &mut SparseVec) {
        parts.push(10 + u64::from(*y), 1.0);
    }
    fn truth_parts(&self, _: usize, parts: &mut SparseVec) {
        parts.push(10, 1.0);
    }
    fn score(&self, _: usize, _: &[f64], _: &Notes, parts: &SparseVec) -> f64 {
        4.0 * parts.entries().iter().map(|entry| entry.1).sum::<f64>()
    }
    fn norm_sq(&self, _: usize, _: &mut Notes, parts: &SparseVec) -> f64 {
        6.0 * parts.norm_sq()
    }
    fn scatter(&self, _: usize, scale: f64, _: &SparseVec, mut sink: Target<'_>) {
        sink.add(6, 11.0 * scale);
    }
}

impl Truths for Peculiar {
    fn truth(&self, _: usize) -> u32 {
        0
    }
}

impl ScaledLosses for Peculiar {
    fn oracle_with_loss(&self, _: usize, _: &[f64], _: f64, _: &mut Notes, y: &mut u32) {
        *y = 2;
    }
}

impl OwnLength for Peculiar {
    fn weights_norm_sq(&self, _: &[f64]) -> f64 {
        8.0
    }
}

impl AtLambda for Peculiar {
    fn at_lambda(&self, _: f64) -> Box<dyn Blocks> {
        Box::new(Self { bounds: self.bounds.clone() })
    }
}

impl SecondObjective for Peculiar {
    fn second_objective(&self, _: &[f64]) -> f64 {
        9.0
    }
}

impl CheckPoints for Peculiar {
    fn check_point(&self, _: usize, _: &SparseVec, _: f64, _: f64) -> Result<PointCheck, String> {
        Err("peculiar".to_owned())
    }
}

thread_local! {
    static PREFETCHED: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

impl Simplices for Peculiar {
    fn truth_has_part(&self) -> bool {
        true
    }
    fn length_sq(&self, _: usize) -> f64 {
        1.0
    }
    fn loss(&self, _: usize, _: u64) -> f64 {
        1.0
    }
    fn score(&self, _: usize, _: &[f64], _: u64) -> f64 {
        1.0
    }
    fn values(&self, _: usize, _: &[f64], _: &mut Vec<f64>) {}
}

impl Expectations<Notes> for Peculiar {
    fn potentials(&self, _: usize) -> usize {
        1
    }
    fn add_values(&self, _: usize, _: &[f64], _: &Notes, _: f64, _: &mut [f64]) {}
    fn expect(&self, _: usize, _: &[f64], _: &mut Notes, _: &mut SparseVec) -> f64 {
        0.0
    }
}

impl Enumerable for Peculiar {
    fn for_each_output(&self, _: usize, visit: &mut dyn FnMut(&u32)) {
        (0..4).for_each(|y| visit(&y));
    }
}

impl NodeInputs for Peculiar {
    fn labels(&self) -> usize {
        1
    }
    fn nodes(&self, _: usize) -> usize {
        0
    }
    fn input(&self, _: usize, _: usize) -> Row<'_> {
        Row { attributes: &[], values: &[] }
    }
    fn rest(&self) -> usize {
        1
    }
    fn renumbered(self, _: &[u32], _: usize, _: &dyn Fn(u32, u32) -> f64) -> Self {
        self
    }
    fn prepare_with(&self, _: usize, _: &[f64], notes: &mut Notes, _: &mut dyn FnMut(&mut [f64])) {
        notes.0.push("prepare_with");
    }
}

const W: [f64; 7] = [0.5; 7];

/// Parts and features of output 1, and the parts of the truth.
fn vectors(problem: &impl Problem<Output = u32>) -> [Vec<(u64, f64)>; 3] {
    let (mut psi, mut parts, mut truth) = (SparseVec::new(), SparseVec::new(), SparseVec::new());
    problem.psi(0, &1, &mut psi);
    problem.parts(0, &1, &mut parts);
    problem.truth_parts(0, &mut truth);
    [psi, parts, truth].map(|vector| vector.entries().to_vec())
}

/// Checks the methods that no wrapper changes.
fn check_common<P: Problem<Output = u32>>(problem: &P) {
    let (mut workspace, mut y) = (problem.workspace(), 0);
    assert_eq!((problem.examples(), problem.dim(), problem.truth(2)), (3, 7, Some(0)));
    assert_eq!((problem.weight(1), problem.total_weight(), problem.loss(0, &3)), (6.0, 100.0, 6.0));
    let before = PREFETCHED.get();
    problem.prefetch(1);
    assert_eq!(PREFETCHED.get(), before + 1);
    problem.decode(0, &W, &mut workspace, &mut y);
    assert_eq!(y, 3);
    let parts = SparseVec::from_iter([(10, 2.0)]);
    assert_eq!(problem.score(0, &W, &workspace, &parts), 8.0);
    assert_eq!(problem.norm_sq(0, &mut workspace, &parts), 24.0);
    let mut w = W;
    problem.scatter(0, 1.0, &parts, w.as_mut_slice().into());
    assert_eq!(w[6], 11.5);
}

/// Checks the methods that are unchanged by wrappers with the same outputs as the problem inside.
fn check_outputs<P: Problem<Output = u32>>(problem: &P) {
    let (mut workspace, mut y) = (problem.workspace(), 0);
    problem.oracle(0, &W, &mut workspace, &mut y);
    assert_eq!(y, 1);
    assert!(problem.oracle_with_loss(0, &W, 2.0, &mut workspace, &mut y));
    assert_eq!((y, problem.quality(), problem.has_signed_losses()), (2, Quality::Heuristic, true));
    assert_eq!(vectors(problem), [[(1, 3.0)], [(11, 1.0)], [(10, 1.0)]]);
    let abilities = problem.abilities();
    assert!(abilities.at_lambda.is_none(), "the problem inside lacks the wrapper");
    assert!(abilities.is_trusted && abilities.decodes_otherwise);
    let point = problem.check_point(0, &SparseVec::new(), 1.0, 0.0);
    assert_eq!(point.unwrap_err(), "peculiar");
}

#[test]
fn bounded_forwards_all_but_bounds_and_simplices() {
    let above = Bounds::none(7).with(0..7, 0.0, 1.0).unwrap();
    let within = |bounds| Bounded::new(Peculiar { bounds: None }, bounds);
    let problem = within(above.clone());
    check_common(&problem);
    check_outputs(&problem);
    let mut notes = problem.workspace();
    problem.prepare(0, &W, &mut notes);
    problem.prepare_scores(0, &W, &mut notes, &[]);
    problem.abilities().batched.unwrap().announce(0..2, &W, &mut notes);
    let mut y = 0;
    assert_eq!(problem.oracle_within(0, &W, Accuracy::Exact, &mut notes, &mut y), Some(0.25));
    assert_eq!(notes.0, ["workspace", "prepare", "prepare_scores", "announce", "oracle_within"]);
    assert_eq!((problem.weights_norm_sq(&W), problem.second_objective(&W)), (Some(8.0), Some(9.0)));
    assert_eq!(problem.bounds(), Some(&above));
    assert!(problem.expectations().is_some() && problem.simplices().is_none());
    assert!(within(Bounds::none(7)).simplices().is_some());
}

#[test]
fn slack_rescaling_forwards_what_losses_do_not_change() {
    let above = Bounds::none(7).with(0..7, 0.0, 1.0).unwrap();
    let problem = SlackRescaled::new(Peculiar { bounds: Some(above.clone()) });
    check_common(&problem);
    assert_eq!((problem.bounds(), problem.weights_norm_sq(&W)), (Some(&above), Some(8.0)));
    // Outputs and truth have the same score, so the largest loss wins.
    let (mut workspace, mut y) = (problem.workspace(), 0);
    problem.oracle(0, &W, &mut workspace, &mut y);
    assert_eq!((y, problem.quality(), problem.has_signed_losses()), (3, Quality::Exact, false));
    let [psi, parts, truth] = vectors(&problem);
    assert_eq!((psi, parts, truth.len()), (vec![(1, 6.0)], vec![(10, -2.0), (11, 2.0)], 0));
    assert!(problem.second_objective(&W).is_none() && problem.abilities().batched.is_none());
    assert!(problem.abilities().within.is_none(), "it tries all outputs");
    assert!(problem.abilities().at_lambda.is_none());
    assert!(problem.simplices().is_none() && problem.expectations().is_none());
}

#[test]
fn a_kernel_forwards_what_does_not_look_at_inputs() {
    let problem = Kernelised::new(Peculiar { bounds: None }, Kernel::Linear, 0).unwrap();
    check_common(&problem);
    check_outputs(&problem);
    // Without inputs, no weights change.
    assert_eq!(OwnLength::weights_norm_sq(&problem, &W), 1.75);
    assert!(problem.bounds().is_none() && problem.second_objective(&W).is_none());
    assert!(problem.abilities().batched.is_none() && problem.abilities().within.is_none());
    assert!(problem.simplices().is_none() && problem.expectations().is_none());
}
