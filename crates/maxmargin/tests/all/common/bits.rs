//! Helpers to compare runs to the last bit.

use super::Rows;
use maxmargin::model::LabelledRows;
use maxmargin::model::chain::{Chain, ChainShape, Hamming, Sequences};
use maxmargin::model::multiclass::{ClassLoss, Multiclass, MulticlassShape};
use maxmargin::observe::{Record, Totals};
use maxmargin::{Rng, Solution};

/// Random sequences whose attributes are only partly informative.
pub fn random_chain(sequences: usize, labels: usize, seed: u64) -> Chain {
    let (mut rng, mut data) = (Rng::new(seed), Sequences::new());
    for _ in 0..sequences {
        for _ in 0..1 + rng.below(6) {
            let label = rng.below(labels) as u32;
            let noise = rng.below(8) as u32;
            let value = 0.25 * (1 + rng.below(8)) as f64;
            let told = if rng.below(4) > 0 { label } else { rng.below(labels) as u32 };
            data.push_token([(told, 1.0), (labels as u32 + noise, value)], label).unwrap();
        }
        data.end_sequence(1.0).unwrap();
    }
    let shape = ChainShape::new(labels, labels + 8);
    Chain::new(shape, data, &Hamming::default()).unwrap()
}

pub fn bits(numbers: &[f64]) -> Vec<u64> {
    numbers.iter().map(|x| x.to_bits()).collect()
}

/// All numbers of a solution, bit by bit.
pub fn fingerprint(solution: &Solution) -> Vec<u64> {
    let c = &solution.certificate;
    let mut all = bits(&solution.weights);
    all.extend(bits(&[c.lambda, c.primal, c.dual, c.gap]));
    for block in &solution.dual.blocks {
        all.push(block.loss.to_bits());
        all.extend(block.parts.iter().flat_map(|(id, v)| [id, v.to_bits()]));
    }
    all
}

/// The totals of a run, without times.
pub fn timeless(totals: &Totals) -> Totals {
    let mut timeless = *totals;
    (timeless.seconds, timeless.oracle_seconds, timeless.gap_seconds) = (0.0, 0.0, 0.0);
    timeless
}

/// The rows of a run, without times.
pub fn timeless_rows(rows: &Rows) -> Vec<Record> {
    let timeless = |row: &Record| {
        let mut timeless = row.clone();
        (timeless.seconds, timeless.oracle_seconds, timeless.gap_seconds) = (0.0, 0.0, 0.0);
        timeless
    };
    rows.0.iter().map(|(row, _)| timeless(row)).collect()
}

/// The tokens of a chain as separate examples.
pub fn tokens(chain: &Chain) -> Multiclass {
    let mut data = LabelledRows::new();
    for sequence in chain.data().iter() {
        for (token, &label) in sequence.tokens().zip(sequence.labels()) {
            data.push(token.pairs(), &[label], 1.0).unwrap();
        }
    }
    let shape = MulticlassShape::new(data.label_bound(), data.attribute_bound());
    Multiclass::new(shape, data, ClassLoss::ZeroOne).unwrap()
}
