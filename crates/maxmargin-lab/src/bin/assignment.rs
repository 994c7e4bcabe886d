//! Times assignments on tables that another program has written: see `benchmarks/assignment.py`.
//!
//! ```text
//! cargo run --release -p maxmargin-lab -F benchmarks --bin assignment -- FILE REPEATS
//! ```
//!
//! FILE holds tables of costs to be minimised, each as two u32 (rows, columns) and as many f64, all
//! little-endian. Prints the processor seconds of a round over all tables, from as many rounds as take
//! half a second, without reading and without allocations: REPEATS times; then the sum of the least
//! costs.

use anyhow::{Context as _, Result, bail};
use maxmargin::inference::{Assignment, Nulls};
use std::time::Instant;

struct Table {
    rows: usize,
    columns: usize,
    scores: Vec<f64>,
}

fn main() -> Result<()> {
    let mut args = std::env::args().skip(1);
    let (Some(file), Some(repeats)) = (args.next(), args.next()) else {
        bail!("expected a file of tables and a number of rounds");
    };
    let repeats: usize = repeats.parse().context("REPEATS")?;
    let bytes = std::fs::read(&file).with_context(|| file.clone())?;
    let tables = parse(&bytes).with_context(|| format!("{file}: not a file of tables"))?;
    let (mut solver, mut links) = (Assignment::new(), Vec::new());
    let mut round = || -> Result<f64> {
        let mut total = 0.0;
        for Table { rows, columns, scores } in &tables {
            total += solver.solve(scores, *rows, *columns, Nulls::Forbidden, &mut links)?;
        }
        Ok(total)
    };
    let total = round()?; // warms up
    for _ in 0..repeats {
        let (begin, processor, mut rounds) = (Instant::now(), processor_seconds(), 0.0);
        while begin.elapsed().as_secs_f64() < 0.5 {
            round()?;
            rounds += 1.0;
        }
        let wall = begin.elapsed().as_secs_f64();
        let seconds = processor_seconds().zip(processor).map_or(wall, |(end, begin)| end - begin);
        println!("{:.9}", seconds / rounds);
    }
    println!("total {:.17e}", -total);
    Ok(())
}

fn parse(bytes: &[u8]) -> Result<Vec<Table>> {
    let (mut tables, mut rest) = (Vec::new(), bytes);
    while !rest.is_empty() {
        let (head, body) = rest.split_at_checked(8).context("a table without a size")?;
        let size = |at: usize| -> Result<usize> {
            Ok(u32::from_le_bytes(head[at..at + 4].try_into()?) as usize)
        };
        let (rows, columns) = (size(0)?, size(4)?);
        let (values, after) =
            body.split_at_checked(8 * rows * columns).context("a table that breaks off")?;
        let value = |bytes: &[u8]| -> Result<f64> { Ok(-f64::from_le_bytes(bytes.try_into()?)) };
        let scores = values.chunks_exact(8).map(value).collect::<Result<_>>()?;
        tables.push(Table { rows, columns, scores });
        rest = after;
    }
    Ok(tables)
}

/// Processor time of this thread in seconds, where the system tells; it is some milliseconds late.
fn processor_seconds() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split_whitespace().next()?.parse::<f64>().ok().map(|nanoseconds| 1e-9 * nanoseconds)
}
