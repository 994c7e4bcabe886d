//! Sequences so long that the engine takes them piece by piece: the same steps as with lists of all parts, up to rounding.

use crate::common::bcfw;
use maxmargin::model::chain::{Chain, ChainShape, Hamming, Sequences};
use maxmargin::problem::{Abilities, Parts, Target};
use maxmargin::{
    Average, Bounded, Bounds, Problem, Rng, Settings, SettingsRecord, Solution, SparseVec,
    forward_problem, train,
};

/// More tokens than a list is made of.
const LONG: usize = 70_000;

/// Random labels and attributes: a long sequence, and a short one.
fn chain(labels: u32, seed: u64) -> Chain {
    let (mut rng, mut data) = (Rng::new(seed), Sequences::new());
    for length in [LONG, 30] {
        for _ in 0..length {
            let attributes = [0, 20].map(|from| (from + rng.below(20) as u32, 1.0));
            data.push_token(attributes, rng.below(labels as usize) as u32).unwrap();
        }
        data.end_sequence(1.0).unwrap();
    }
    Chain::new(ChainShape::new(labels as usize, 40), data, &Hamming::default()).unwrap()
}

/// The same problem, whose parts are written as a whole.
struct InLists(Chain);

impl Problem for InLists {
    type Output = <Chain as Problem>::Output;
    type Workspace = <Chain as Problem>::Workspace;

    forward_problem!(self.0, workspace, except [
        abilities, // parts in lists
    ]);

    fn abilities(&self) -> Abilities<'_, Self::Workspace, Self::Output> {
        Abilities { parts: Some(self), ..self.0.abilities() }
    }
}

impl Parts for InLists {
    fn prepare(&self, i: usize, w: &[f64], workspace: &mut Self::Workspace) {
        Parts::prepare(&self.0, i, w, workspace);
    }
    fn parts(&self, i: usize, y: &Vec<u32>, parts: &mut SparseVec) {
        Parts::parts(&self.0, i, y, parts);
    }
    fn truth_parts(&self, i: usize, parts: &mut SparseVec) {
        Parts::truth_parts(&self.0, i, parts);
    }
    fn score(&self, i: usize, w: &[f64], workspace: &Self::Workspace, parts: &SparseVec) -> f64 {
        Parts::score(&self.0, i, w, workspace, parts)
    }
    fn norm_sq(&self, i: usize, workspace: &mut Self::Workspace, parts: &SparseVec) -> f64 {
        Parts::norm_sq(&self.0, i, workspace, parts)
    }
    fn scatter(&self, i: usize, scale: f64, parts: &SparseVec, target: Target<'_>) {
        Parts::scatter(&self.0, i, scale, parts, target);
    }
}

/// Both are of the same numbers, up to rounding.
fn assert_near(found: &Solution, expected: &Solution, what: &str) {
    let near = |a: f64, b: f64| (a - b).abs() <= 1e-9 * (1.0 + a.abs() + b.abs());
    let [a, b] = [found, expected].map(|solution| solution.certificate);
    assert!(near(a.primal, b.primal) && near(a.dual, b.dual), "{what}: {a:?} and {b:?}");
    let both = found.weights.iter().zip(&expected.weights);
    assert!(both.into_iter().all(|(a, b)| near(*a, *b)), "{what}: weights");
    for (found, expected) in found.dual.blocks.iter().zip(&expected.dual.blocks) {
        assert!(near(found.loss, expected.loss), "{what}: losses");
        let (found, expected) = (found.parts.unpacked(), expected.parts.unpacked());
        assert_eq!(found.len(), expected.len(), "{what}: parts");
        let both = found.entries().iter().zip(expected.entries());
        assert!(both.into_iter().all(|(a, b)| a.0 == b.0 && near(a.1, b.1)), "{what}: masses");
    }
}

#[test]
fn a_long_sequence_takes_the_same_steps_in_pieces_as_in_lists() {
    let with = |change: fn(&mut SettingsRecord)| {
        let base = Settings { lambda: Some(1e-3), max_passes: 3, tolerance: 0.0, ..bcfw() };
        let mut record = base.record();
        change(&mut record);
        record.settings().unwrap()
    };
    let settings = [
        with(|_| {}),
        with(|method| method.average = Average::Weighted),
        Settings { lambda: Some(1e-3), max_passes: 3, tolerance: 0.0, ..Settings::default() },
        // The step goes all the way.
        Settings { lambda: Some(1e4), ..with(|_| {}) },
    ];
    for labels in [2, 9] {
        for (at, settings) in settings.iter().enumerate() {
            let what = format!("{labels} labels, settings {at}");
            assert!(chain(labels, 1).pieces(0) > 2 && chain(labels, 1).pieces(1) == 1);
            let found = train(&chain(labels, 1), settings).unwrap();
            let expected = train(&InLists(chain(labels, 1)), settings).unwrap();
            assert_near(&found, &expected, &what);
        }
    }
}

#[test]
fn a_long_sequence_takes_the_same_steps_within_bounds() {
    let bounds = |chain: &Chain| {
        let (dim, transition) = (chain.dim(), chain.shape().transition());
        Bounds::none(dim).with(transition, 0.0, 0.001).unwrap()
    };
    let settings = Settings { lambda: Some(1e-3), max_passes: 3, tolerance: 0.0, ..bcfw() };
    let [one, other] = [chain(2, 3), chain(2, 3)];
    let (held, in_lists) = (bounds(&one), bounds(&other));
    let found = train(&Bounded::new(one, held), &settings).unwrap();
    let expected = train(&Bounded::new(InLists(other), in_lists), &settings).unwrap();
    assert_near(&found, &expected, "bounds");
}

/// Constant features of the value 2 add as much to scores as those of the value 1 with weights that are twice as large.
#[test]
fn long_sequences_are_decoded_with_the_value_of_constant_features() {
    // A share of wrong labels among so many tokens would hardly ever change the best labels.
    let loss = Hamming { normalised: false, ..Hamming::default() };
    let data = chain(2, 5);
    let with_scale = |transition_scale| {
        let shape = ChainShape { transition_scale, ..*data.shape() };
        Chain::new(shape, data.data().clone(), &loss).unwrap()
    };
    let [plain, scaled] = [1.0, 2.0].map(with_scale);
    let shape = plain.shape();
    let mut rng = Rng::new(6);
    // So small that the loss of some labels is worth more than their scores, in the short sequence too.
    let w: Vec<f64> = (0..plain.dim()).map(|_| 0.4 * rng.unit_f64() - 0.2).collect();
    let mut twice = w.clone();
    twice[shape.emission().end..].iter_mut().for_each(|weight| *weight *= 2.0);
    for i in 0..2 {
        let [found, expected] = [(&scaled, &w), (&plain, &twice)].map(|(chain, w)| {
            let (mut workspace, mut labels) = (chain.workspace(), [Vec::new(), Vec::new()]);
            let [decoded, called] = &mut labels;
            Parts::prepare(chain, i, w, &mut workspace);
            chain.decode(i, w, &mut workspace, decoded);
            chain.oracle(i, w, &mut workspace, called);
            labels
        });
        assert!(found == expected, "sequence {i}");
        assert!(found[0] != found[1], "the loss makes a difference in sequence {i}");
    }
}

/// The pieces of any output have the parts of the whole, in order.
#[test]
fn pieces_are_the_parts_of_a_labelling() {
    let chain = chain(3, 2);
    let mut rng = Rng::new(4);
    for i in 0..2 {
        let y: Vec<u32> =
            chain.data().sequence(i).labels().iter().map(|_| rng.below(3) as u32).collect();
        for whose in [None, Some(&y)] {
            let (mut whole, mut piece, mut all) = Default::default();
            match whose {
                Some(y) => Parts::parts(&chain, i, y, &mut whole),
                None => Parts::truth_parts(&chain, i, &mut whole),
            }
            for at in 0..chain.pieces(i) {
                SparseVec::clear(&mut piece);
                chain.piece(i, whose, at, &mut piece);
                assert!(!piece.is_empty());
                piece.entries().iter().for_each(|&(id, mass)| SparseVec::push(&mut all, id, mass));
            }
            assert!(all == whole && all.is_normalised());
        }
    }
}
