//! Oracle calls and seconds to a gap, for every order, direction and cache that compete, on OCR:
//!
//! ```text
//! cargo run --release -p maxmargin-benchmarks --bin variants -- [SEEDS] [SECONDS]
//! ```
//!
//! Medians over the seeds (5 unless given); a run that takes longer than SECONDS (20 unless given) is
//! stopped, and its missing figures are shown as `–`.

use anyhow::{Context as _, Result};
use maxmargin::model::chain::Chain;
use maxmargin::observe::{Control, Event};
use maxmargin::{Caching, Direction, Order, Problem as _, Settings, Solver, Trainer};
use maxmargin_benchmarks::{chain, median};

/// The gaps that are timed.
const GAPS: [f64; 3] = [0.1, 0.01, 0.001];

fn main() -> Result<()> {
    let mut args = std::env::args().skip(1);
    let seeds: u64 = args.next().map_or(Ok(5), |text| text.parse()).context("SEEDS: a number")?;
    let limit: f64 = args.next().map_or(Ok(20.0), |text| text.parse()).context("SECONDS")?;
    for data in ["ocr-small", "ocr-large"] {
        let chain = chain(data, None)?;
        for lambda in [0.1, 0.01, 0.001, 1.0 / chain.examples() as f64] {
            println!("\n### {data}, λ = {lambda:.3e}, {seeds} seeds, at most {limit} s each\n");
            println!(
                "| variant | calls/n to 0.1 | to 0.01 | to 0.001 | seconds to 0.1 | to 0.01 | to 0.001 |"
            );
            println!("|---|---|---|---|---|---|---|");
            for (name, settings) in variants() {
                let settings = Settings {
                    lambda: Some(lambda),
                    tolerance: GAPS[GAPS.len() - 1],
                    max_passes: u64::MAX,
                    max_seconds: Some(limit),
                    threads: 1,
                    ..settings
                };
                println!("| {name} | {} |", measure(&chain, &settings, seeds)?);
            }
        }
    }
    Ok(())
}

/// The eight of Osokin et al. (2016), corrective steps, and what is chosen without being asked.
fn variants() -> Vec<(String, Settings)> {
    let mut all = Vec::new();
    for direction in [Direction::FrankWolfe, Direction::Pairwise, Direction::Corrective] {
        for order in [Order::Uniform, Order::Gap] {
            for cache in [Caching::Off, Caching::On] {
                let name = format!(
                    "{direction}, {order}{}",
                    if cache == Caching::On { ", cache" } else { "" }
                );
                let solver = Solver::BlockCoordinate;
                all.push((
                    name,
                    Settings { solver, order, direction, cache, ..Settings::default() },
                ));
            }
        }
    }
    all.push(("**auto**".to_owned(), Settings::default()));
    all
}

/// The first row at or below each gap, median over the seeds.
fn measure(chain: &Chain, settings: &Settings, seeds: u64) -> Result<String> {
    let mut calls = vec![Vec::new(); GAPS.len()];
    let mut seconds = vec![Vec::new(); GAPS.len()];
    for seed in 1..=seeds {
        let mut next = 0;
        let mut watch = |event: Event<'_>| {
            if let Event::Pass { record, .. } = event
                && let Some(gap) = record.gap
            {
                while next < GAPS.len() && gap <= GAPS[next] {
                    calls[next].push(record.effective_passes);
                    seconds[next].push(record.seconds);
                    next += 1;
                }
            }
            Control::Continue
        };
        let settings = Settings { seed, ..settings.clone() };
        Trainer::new(settings).observe(&mut watch).train(chain)?;
    }
    let cell = |found: &[f64], digits: usize| match found.len() as u64 == seeds {
        true => format!("{:.digits$}", median(found)),
        false => "–".to_owned(),
    };
    let calls = calls.iter().map(|found| cell(found, 0));
    let seconds = seconds.iter().map(|found| cell(found, 2));
    Ok(calls.chain(seconds).collect::<Vec<_>>().join(" | "))
}
