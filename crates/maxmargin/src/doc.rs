//! Small problems for documentation examples.

use crate::model::chain::{Chain, ChainShape, Hamming, Sequences};

/// Four short sequences over two labels.
#[allow(clippy::missing_panics_doc)]
pub fn toy() -> Chain {
    let mut data = Sequences::new();
    for sequence in [&[0u32, 1, 0][..], &[1, 1], &[0, 0, 1, 1], &[1]] {
        for (t, &label) in sequence.iter().enumerate() {
            let attributes = [(label, 1.0), (2 + t as u32 % 2, 0.5)];
            data.push_token(attributes, label).expect("finite values");
        }
        data.end_sequence(1.0).expect("a sequence with tokens");
    }
    Chain::new(ChainShape::new(2, 4), data, &Hamming::default()).expect("a valid chain")
}
