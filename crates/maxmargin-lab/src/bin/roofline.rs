//! How near Viterbi is to what memory allows:
//!
//! ```text
//! cargo run --release -p maxmargin-lab -F benchmarks --bin roofline
//! ```
//!
//! For every position of a chain Viterbi has to read the matrix of transitions once. Reading the same
//! bytes and doing nothing but summing them up is the least that could take.

use maxmargin::Rng;
use maxmargin::inference::viterbi;
use maxmargin_lab::{cpu_seconds, median};
use std::hint::black_box;

/// Positions of a chain.
const POSITIONS: usize = 100;

/// Turns that both take, and seconds on the processor that each turn is measured for at least.
const TURNS: usize = 15;
const LEAST: f64 = 0.05;

fn main() {
    println!("| labels | matrix | Viterbi, per position | sum of the same bytes | ratio |");
    println!("|---|---|---|---|---|");
    let mut rng = Rng::new(1);
    for labels in [10, 100, 1000] {
        let mut table = |n: usize| (0..n).map(|_| rng.unit_f64()).collect::<Vec<f64>>();
        let (scores, transitions) = (table(POSITIONS * labels), table(labels * labels));
        let (mut forward, mut path) = (Vec::new(), Vec::new());
        let (mut decoding, mut reading) = (Vec::new(), Vec::new());
        for _ in 0..TURNS {
            // All positions but the first have transitions into them.
            decoding.push(per_unit(POSITIONS - 1, || {
                black_box(viterbi(&scores, &transitions, labels, &mut forward, &mut path));
            }));
            reading.push(per_unit(POSITIONS, || {
                (0..POSITIONS).for_each(|_| {
                    black_box(sum(black_box(&transitions)));
                });
            }));
        }
        let (decoding, reading) = (median(&decoding), median(&reading));
        println!(
            "| {labels} | {} kB | {:.3} µs | {:.3} µs | {:.2} |",
            (8 * transitions.len()).div_ceil(1000),
            1e6 * decoding,
            1e6 * reading,
            decoding / reading,
        );
    }
}

/// Seconds of `work` on the processor, divided by the number of units it has.
fn per_unit(units: usize, mut work: impl FnMut()) -> f64 {
    let (begin, mut runs) = (cpu_seconds(), 0);
    loop {
        // Asking for the time takes a while, so not after every run.
        (0..10).for_each(|_| work());
        runs += 10;
        let spent = cpu_seconds() - begin;
        if spent >= LEAST {
            return spent / (runs * units) as f64;
        }
    }
}

/// The sum of all values, in many lanes, so that no addition has to wait for another.
fn sum(values: &[f64]) -> f64 {
    let mut lanes = [0.0; 32];
    let (groups, rest) = values.as_chunks::<32>();
    for group in groups {
        lanes.iter_mut().zip(group).for_each(|(lane, value)| *lane += value);
    }
    lanes.iter().sum::<f64>() + rest.iter().sum::<f64>()
}
