//! Ratios of times, each pair measured in one run:
//!
//! ```text
//! cargo run --release -p maxmargin-lab -F benchmarks --bin ratios
//! ```

use anyhow::Result;
use maxmargin::model::chain::Chain;
use maxmargin::{BlockAverage, BlockCoordinate, Order, Problem as _, Rng, Settings};
use maxmargin_lab::{
    chain, conll, decode_all, decode_in_order, fastest, least, median, peak_memory, time_passes,
};

fn main() -> Result<()> {
    println!("| data | what | seconds | ratio |\n|---|---|---|---|");
    // CoNLL first: the peak of memory is that of the whole process.
    if let Some(conll) = conll()? {
        measure("CoNLL-2000", &conll, 0.001)?;
        if let Some(bytes) = peak_memory() {
            println!("| CoNLL-2000 | peak memory of all of the above | {} MB | |", bytes >> 20);
        }
    }
    measure("OCR-large", &chain("ocr-large", None)?, 0.001)
}

/// Passes per run.
const PASSES: u64 = 10;

fn measure(name: &str, chain: &Chain, lambda: f64) -> Result<()> {
    let ordered = |order, average, gap_every, threads| {
        let method = BlockCoordinate { average, order, ..BlockCoordinate::default() }.into();
        Settings {
            lambda: Some(lambda),
            method,
            tolerance: 0.0,
            max_passes: PASSES,
            gap_every,
            threads,
            ..Settings::default()
        }
    };
    let settings =
        |average, gap_every, threads| ordered(Order::Permutation, average, gap_every, threads);
    let row = |what: &str, seconds: f64, ratio: f64| {
        println!("| {name} | {what} | {seconds:.4} | {ratio:.2} |");
    };
    let plain = time_passes(chain, &settings(BlockAverage::None, 1000, 1))?;
    let w = &plain.weights;
    assert_eq!(w.len(), chain.dim(), "one weight per feature");
    let mut decode = fastest(10, || decode_all(chain, w));
    // Again, so that a disturbance has to last over both.
    let again = time_passes(chain, &settings(BlockAverage::None, 1000, 1))?;
    decode = decode.min(fastest(10, || decode_all(chain, w)));
    let averaged = time_passes(chain, &settings(BlockAverage::Weighted, 1000, 1))?;

    row("decoding all examples, one thread (fastest of 20)", decode, 1.0);
    let mut order: Vec<usize> = (0..chain.examples()).collect();
    Rng::new(1).shuffle(&mut order);
    let shuffled = fastest(10, || decode_in_order(chain, w, order.iter().copied()));
    row("the same in random order (fastest of 10)", shuffled, shuffled / decode);
    let fast = least(&plain.passes).min(least(&again.passes));
    row("BCFW pass in random order (fastest of 20)", fast, fast / decode);
    row("the same; ratio = to decoding in random order", fast, fast / shuffled);
    let cyclic = ordered(Order::Cyclic, BlockAverage::None, 1000, 1);
    let fast = least(&time_passes(chain, &cyclic)?.passes);
    row("BCFW pass in the order of the data (fastest of 10)", fast, fast / decode);
    let middle = median(&plain.passes).min(median(&again.passes));
    row("BCFW pass (median)", middle, middle / decode);
    let fast = least(&averaged.passes);
    row("BCFW pass with averaging (fastest of 10)", fast, fast / decode);

    let one = least(&time_passes(chain, &settings(BlockAverage::None, 1, 1))?.gap_passes);
    let two = least(&time_passes(chain, &settings(BlockAverage::None, 1, 2))?.gap_passes);
    row("exact gap pass, one thread (fastest of 10)", one, one / decode);
    row("exact gap pass, two threads; ratio = one thread / two", two, one / two);
    Ok(())
}
