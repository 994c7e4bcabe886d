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
use maxmargin::observe::{Table, Thinned};
use maxmargin::{Rng, Settings, Trainer};

const LABELS: u32 = 4;

/// Sequences whose label stays the same with probability 0.8, and whose attribute names the label
/// with probability 0.6.
fn make(count: usize, rng: &mut Rng) -> Result<Sequences, InputError> {
    let mut data = Sequences::new();
    for _ in 0..count {
        let mut label = rng.below(LABELS as usize) as u32;
        for _ in 0..10 {
            if rng.unit_f64() > 0.8 {
                label = rng.below(LABELS as usize) as u32;
            }
            let honest = rng.unit_f64() < 0.6;
            let hint = if honest { label } else { rng.below(LABELS as usize) as u32 };
            data.push_token([(hint, 1.0)], label)?;
        }
        data.end_sequence(1.0)?;
    }
    Ok(data)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut rng = Rng::new(7);
    let (train, test) = (make(200, &mut rng)?, make(500, &mut rng)?);
    for (name, transition) in [("each token alone", false), ("as a chain", true)] {
        println!("\n{name}");
        let groups = FeatureGroups { transition, ..FeatureGroups::default() };
        let shape = ChainShape { groups, ..ChainShape::new(LABELS as usize, LABELS as usize) };
        let problem = Chain::new(shape, train.clone(), &Hamming::default())?;

        let mut table = Thinned::new(1.5, Table::new(std::io::stdout()));
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
