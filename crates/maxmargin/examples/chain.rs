//! Tagging sequences with the ready-made chain model.
//!
//! ```text
//! cargo run --release -p maxmargin --example chain
//! ```
//!
//! The made-up task: a token's attributes are noisy hints at its label, and labels tend to repeat.
//! A chain learns both, and beats a model that looks at each token alone.

use maxmargin::evaluate::SequenceErrors;
use maxmargin::model::InputError;
use maxmargin::model::chain::{Chain, ChainDecoder, ChainShape, FeatureGroups, Hamming, Sequences};
use maxmargin::observe::Table;
use maxmargin::{Settings, Trainer};
use rand_core::{Rng as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;

const LABELS: u32 = 4;

/// A random index below `bound`.
fn below(bound: usize, rng: &mut Xoshiro256PlusPlus) -> usize {
    (rng.next_u64() % bound as u64) as usize
}

/// A uniform number in [0, 1).
fn unit(rng: &mut Xoshiro256PlusPlus) -> f64 {
    (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64
}

/// Sequences whose label stays the same with probability 0.8, and whose attribute names the label
/// with probability 0.6.
fn make(count: usize, rng: &mut Xoshiro256PlusPlus) -> Result<Sequences, InputError> {
    let mut data = Sequences::new();
    for _ in 0..count {
        let mut label = below(LABELS as usize, rng) as u32;
        for _ in 0..10 {
            if unit(rng) > 0.8 {
                label = below(LABELS as usize, rng) as u32;
            }
            let honest = unit(rng) < 0.6;
            let hint = if honest { label } else { below(LABELS as usize, rng) as u32 };
            data.push_token([(hint, 1.0)], label)?;
        }
        data.end_sequence(1.0)?;
    }
    Ok(data)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(7);
    let (train, test) = (make(200, &mut rng)?, make(500, &mut rng)?);
    for (name, transition) in [("each token alone", false), ("as a chain", true)] {
        println!("\n{name}");
        let groups = FeatureGroups { transition, ..FeatureGroups::default() };
        let shape = ChainShape { groups, ..ChainShape::new(LABELS as usize, LABELS as usize) };
        let problem = Chain::new(shape, train.clone(), &Hamming::default())?;

        let mut table = Table::new(std::io::stdout());
        let settings = Settings { lambda: Some(0.01), ..Settings::default() };
        let solution = Trainer::new(settings).observe(&mut table).train(&problem)?;

        let mut decoder = ChainDecoder::new(&shape, &solution.weights);
        let mut errors = SequenceErrors::default();
        for sequence in test.iter() {
            decoder.fill(sequence);
            decoder.best();
            errors.add(sequence.labels(), decoder.labels());
        }
        println!("wrong labels in the test: {:.1} %", 100.0 * errors.hamming());
    }
    Ok(())
}
