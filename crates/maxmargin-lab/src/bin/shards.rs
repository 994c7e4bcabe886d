//! Rounds, oracle calls, bytes and processor seconds of a training in K shards, which take turns on this machine:
//!
//! ```text
//! cargo run --release -p maxmargin-lab -F benchmarks --bin shards -- [DATA …] [--workers 1,2,4,8,16]
//! ```
//!
//! DATA are `ocr`, `conll`, `poses` and `alignments`, all of them unless some are named. λ is that of `train`, by the
//! scale of features and losses. Examples are dealt out to shards like cards, or in neighbours with `--neighbours`. A
//! round is one exact pass and PASSES passes of every shard. *Bytes* are those of w to all shards and of their
//! proposals back, if w is sent in full; *local* has the processor's seconds of all shards together in a round, and *driver* those of the
//! quadratic program. Rounds end at `--until`. *kB/example* is what the process has grown by from before the shards were made
//! until the end (on Linux; name one K, since memory that was given back is used again). The clock does not matter, so a busy machine gives the same table, but for the seconds.

use anyhow::{Result, bail};
use clap::Parser;
use maxmargin::distributed::{Coordinator, Effort, Proposal, ShardSolver, Whole};
use maxmargin::{GroupBounds, Interrupt, Settings};
use maxmargin_command::lab::{ModelArgs, read_training_of};
use maxmargin_io::{Format, Training};
use maxmargin_lab::{processor_seconds, shared_data};

/// Gaps to reach, as shares of the objective.
const SHARES: [f64; 6] = [0.5, 0.2, 0.1, 0.05, 0.02, 0.01];

#[derive(Debug, Parser)]
struct Args {
    /// ocr, conll, poses, alignments
    data: Vec<String>,
    /// Numbers of shards
    #[arg(long, value_delimiter = ',', default_value = "1,2,4,8,16")]
    workers: Vec<usize>,
    #[arg(long, default_value_t = 30)]
    rounds: u64,
    /// Passes of a round, after the exact one
    #[arg(long, default_value_t = 5)]
    passes: usize,
    /// End at this share of the objective
    #[arg(long, default_value_t = 0.01)]
    until: f64,
    /// Only so many examples
    #[arg(long)]
    limit: Option<usize>,
    /// Shards have examples that follow each other
    #[arg(long)]
    neighbours: bool,
    #[command(flatten)]
    model: ModelArgs,
}

fn main() -> Result<()> {
    let mut args = Args::parse();
    if args.data.is_empty() {
        args.data = ["ocr", "conll", "poses", "alignments"].map(str::to_owned).to_vec();
    }
    for name in &args.data {
        let Some(mut training) = read(name, &args)? else { continue };
        if let Some(limit) = args.limit {
            training.examples = training.examples.select(|i| i < limit);
        }
        let lambda = training.scale_lambda(&GroupBounds::default(), 1)?.lambda;
        let (n, passes) = (training.examples.len(), args.passes);
        println!("\n## {name}: {n} examples, λ = {lambda:.4e}, {passes} passes in a round\n");
        let shares = SHARES.map(|share| format!("{} %", 100.0 * share)).join(" | ");
        println!(
            "| K | {shares} | rounds | gap | dual | calls/n | kB in a round | local, s | driver, s | kB/example |"
        );
        println!("{}|", "|---".repeat(SHARES.len() + 9));
        for &workers in &args.workers {
            println!("{}", row(&training, lambda, workers.min(n), &args)?);
        }
    }
    Ok(())
}

/// The data of a name, if they are at hand.
fn read(name: &str, args: &Args) -> Result<Option<Training>> {
    let (file, part, format) = match name {
        "ocr" => return read_training_of("ocr-large", None, &args.model).map(Some),
        "conll" => ("conll2000_train.txt.gz", "", Format::Conll),
        "poses" => ("lsp_joints.tsv.gz", ":0..200", Format::Pose),
        "alignments" => ("align_enfr_hansards.tsv.gz", "", Format::Alignment),
        _ => bail!("{name}: no such data; there are ocr, conll, poses and alignments"),
    };
    let path = shared_data().join(file);
    if !path.is_file() {
        eprintln!("skipped: {name} is not at hand ({} is missing)", path.display());
        return Ok(None);
    }
    let data = format!("{}{part}", path.display());
    read_training_of(&data, Some(format), &args.model).map(Some)
}

/// One row of the table.
fn row(training: &Training, lambda: f64, workers: usize, args: &Args) -> Result<String> {
    let n = training.examples.len();
    let before = resident_bytes();
    let shard_of = |i: usize| if args.neighbours { i * workers / n } else { i % workers };
    let mut built = Vec::new();
    for shard in 0..workers {
        let own = training.examples.select(|i| shard_of(i) == shard);
        built.push(training.spec.problem(own, &GroupBounds::default())?);
    }
    let total_weight = built.iter().map(|built| built.blocks().total_weight()).sum();
    let whole = Whole { lambda, total_weight };
    let settings = Settings { threads: 1, ..Settings::default() };
    let mut shards = Vec::new();
    for built in &built {
        shards.push(ShardSolver::new(built.blocks(), whole, &settings, Interrupt::new())?);
    }
    let (d, bounds) = (built[0].blocks().dim(), built[0].blocks().bounds().cloned());
    let mut coordinator = Coordinator::new(lambda, vec![0.0; d], bounds);
    let effort = Effort::among(workers, args.passes);
    let (mut local, mut driver, mut bytes, mut calls) = (0.0, 0.0, 0, 0);
    let (mut gaps, mut rounds) = (Vec::new(), 0);
    for round in 1..=args.rounds {
        let begin = processor_seconds();
        let mut proposals = Vec::new();
        for shard in &mut shards {
            proposals.push(shard.propose(round, coordinator.sum(), effort)?);
        }
        let worked = processor_seconds() - begin;
        let readings: Vec<_> = proposals.iter().map(|proposal| proposal.reading).collect();
        if round > 1 {
            let read = coordinator.certificate(&readings)?;
            gaps.push(read.gap / read.primal);
            if read.gap <= args.until * read.primal {
                break;
            }
        }
        local += worked;
        rounds = round;
        bytes += workers * d * size_of::<f64>() + proposals.iter().map(bytes_of).sum::<usize>();
        calls = proposals.iter().map(|proposal| proposal.oracle_calls).sum::<u64>();
        let begin = processor_seconds();
        let mixtures = coordinator.step(&proposals)?;
        driver += processor_seconds() - begin;
        for (shard, mixture) in shards.iter_mut().zip(&mixtures) {
            shard.commit(round, mixture)?;
        }
    }
    coordinator.add_up(shards.iter().map(|shard| (shard.sum(), shard.loss())))?;
    let mut readings = Vec::new();
    for shard in &mut shards {
        readings.push(shard.check(coordinator.sum())?);
    }
    let last = coordinator.certificate(&readings)?;
    if gaps.len() < rounds as usize {
        gaps.push(last.gap / last.primal);
    }
    let reached = SHARES.map(|share| {
        let there = gaps.iter().position(|gap| *gap <= share);
        there.map_or("–".to_owned(), |at| (at + 1).to_string())
    });
    let each = rounds.max(1) as f64;
    let memory = resident_bytes().saturating_sub(before) as f64 / 1e3 / n as f64;
    Ok(format!(
        "| {workers} | {} | {rounds} | {:.4} | {:.4} | {:.0} | {:.1} | {:.3} | {:.3} | {memory:.1} |",
        reached.join(" | "),
        last.gap / last.primal,
        last.dual,
        calls as f64 / n as f64,
        bytes as f64 / 1e3 / each,
        local / each,
        driver / each,
    ))
}

/// The memory that this process has now.
fn resident_bytes() -> usize {
    let pages = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let resident = pages.split(' ').nth(1).and_then(|pages| pages.parse::<usize>().ok());
    4096 * resident.unwrap_or(0)
}

/// The bytes of a proposal.
fn bytes_of(proposal: &Proposal) -> usize {
    let change = |way: &maxmargin::distributed::Way| {
        size_of_val(&*way.change.values) + way.change.at.as_deref().map_or(0, size_of_val)
    };
    proposal.ways.iter().map(change).sum()
}
