//! Oracle calls and seconds to a gap, for every order, direction and cache that compete:
//!
//! ```text
//! cargo run --release -p maxmargin-lab -F benchmarks --bin variants -- [SEEDS] [SECONDS] [PAGE.html] [DATA]
//! ```
//!
//! DATA is `ocr-small`, `ocr-large` or `conll`; all of them unless it is given.
//! Every figure is of a run that was asked for that gap, not of one on its way to a smaller one.
//! Medians over the seeds (5 unless given); a run that takes longer than SECONDS (20 unless given) is
//! stopped, and its missing figures are shown as `–`. The page draws the gap against oracle calls and
//! time, for the first seed.

use anyhow::{Context as _, Result};
use maxmargin::model::chain::Chain;
use maxmargin::{BlockCoordinate, BlockStep, Caching, Order, Problem as _, Settings, Solver};
use maxmargin_lab::race::Race;
use maxmargin_lab::{chain, conll, median, peak_memory, time_passes};
use maxmargin_report::Report;

fn main() -> Result<()> {
    let mut args = std::env::args().skip(1);
    let seeds: u64 = args.next().map_or(Ok(5), |text| text.parse()).context("SEEDS: a number")?;
    let limit: f64 = args.next().map_or(Ok(20.0), |text| text.parse()).context("SECONDS")?;
    let mut race =
        Race { seeds, limit, page: Report::new("Variants of block-coordinate Frank-Wolfe") };
    let (page, only) = (args.next(), args.next());
    let wanted = |data: &str| only.as_deref().is_none_or(|only| only == data);
    let large = chain("ocr-large", None)?;
    if wanted("ocr-large") {
        step_overhead(&large)?;
    }
    for (data, chain) in [("ocr-small", &chain("ocr-small", None)?), ("ocr-large", &large)] {
        if !wanted(data) {
            continue;
        }
        for lambda in [0.1, 0.01, 0.001, 1.0 / chain.examples() as f64] {
            race.run(data, chain, lambda, [0.1, 0.01, 0.001])?;
        }
    }
    if let Some(conll) = if wanted("conll") { conll()? } else { None } {
        race.run("CoNLL-2000", &conll, 0.001, [0.1, 0.01, 0.002])?;
    }
    if let Some(path) = page {
        std::fs::write(&path, race.page.to_html()).context(path)?;
    }
    Ok(())
}

/// What a step costs beside its oracle call: passes of the dearest variant against plain ones.
fn step_overhead(chain: &Chain) -> Result<()> {
    let base = Settings {
        lambda: Some(0.001),
        method: Solver::BlockCoordinate.into(),
        tolerance: 0.0,
        max_passes: 40,
        threads: 1,
        ..Settings::default()
    };
    let pairwise = BlockCoordinate {
        order: Order::Gap,
        step: BlockStep::Pairwise,
        cache: Caching::On,
        ..BlockCoordinate::default()
    };
    let plain = median(&time_passes(chain, &base)?.passes);
    let dearest = Settings { method: pairwise.into(), ..base };
    let other = median(&time_passes(chain, &dearest)?.passes);
    println!("A pass over ocr-large at λ = 0.001 (medians of 40): plain {plain:.4} s, gap-sampled");
    println!("pairwise with cache {other:.4} s, ratio {:.2}.", other / plain);
    if let Some(bytes) = peak_memory() {
        println!("Peak memory of both: {} MB.", bytes >> 20);
    }
    Ok(())
}
