//! Rounds, oracle calls, bytes and processor seconds of a training in K shards, which take turns on this machine:
//!
//! ```text
//! cargo run --release -p maxmargin-lab -F benchmarks --bin shards -- [DATA …] [--workers 1,2,4,8,16]
//! ```
//!
//! DATA are `ocr`, `conll`, `poses` and `alignments`, all of them unless some are named. λ is that of `train`, by the
//! scale of features and losses. Examples are dealt out to shards like cards, or in neighbours with `--neighbours`. A
//! round is one exact pass and PASSES passes of every shard. Rounds end at `--until`. With `--average`, the weighted average
//! of the weights of all rounds has an exact pass of its own in every round, and the smaller gap counts.
//!
//! *Bytes* are those of w to all shards, in full or the changes since the last round, whichever is less, and of their
//! proposals back. *wire* has the seconds that these bytes take at the driver at 1 Gbit/s. *local* has the processor's
//! seconds of all shards together in a round, *slowest* those of the slowest shard, and *driver* those of the quadratic
//! program; a round of a cluster takes *slowest* + *driver* + *wire*. *kB/example* is what the process has grown by from
//! before the shards were made until the end (on Linux; name one K, since memory that was given back is used again).
//! The clock does not matter, so a busy machine gives the same table, but for the seconds.

use anyhow::{Result, bail};
use clap::Parser;
use maxmargin::distributed::{Coordinator, Effort, Proposal, ShardReading, ShardSolver, Whole};
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
    /// Also follow the average of the weights of all rounds, in which round t counts about t³ times
    #[arg(long)]
    average: bool,
    /// Exponents of K for σ′ in one round after the other, instead of the library's choice
    #[arg(long, value_delimiter = ',')]
    caution: Vec<f64>,
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
            "| K | {shares} | rounds | gap | dual | calls/n | kB in a round | wire, s | local, s | slowest, s | driver, s | kB/example |"
        );
        println!("{}|", "|---".repeat(SHARES.len() + 11));
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
    let (mut cost, mut gaps, mut mean) = (Cost::default(), Vec::new(), vec![0.0; d]);
    let mut sent = vec![0.0; d];
    while (cost.rounds as u64) < args.rounds {
        // Let all shards propose.
        let round = 1 + cost.rounds as u64;
        let mut of_round = Cost { rounds: 1, ..Cost::default() };
        let effort = effort(args, round, workers);
        let mut proposals = Vec::new();
        for shard in &mut shards {
            let begin = processor_seconds();
            proposals.push(shard.propose(round, coordinator.sum(), effort)?);
            of_round.note_shard(processor_seconds() - begin);
        }
        of_round.bytes = workers * bytes_from(&sent, coordinator.sum());
        of_round.bytes += proposals.iter().map(bytes_of).sum::<usize>();
        sent.copy_from_slice(coordinator.sum());
        // Read the gap before this round, which is the one after the last.
        let readings: Vec<_> = proposals.iter().map(|proposal| proposal.reading).collect();
        if round > 1 {
            let read = coordinator.certificate(&readings)?;
            let mut share = read.gap / read.primal;
            if args.average {
                let readings = check(&mut shards, &mean)?;
                let read = coordinator.certificate_of(&mean, &readings)?;
                share = share.min(read.gap / read.primal);
            }
            gaps.push(share);
            if share <= args.until {
                break;
            }
        }
        // Go.
        cost.calls = proposals.iter().map(|proposal| proposal.oracle_calls).sum::<u64>();
        let begin = processor_seconds();
        let mixtures = coordinator.step(&proposals)?;
        of_round.driver = processor_seconds() - begin;
        for (shard, mixture) in shards.iter_mut().zip(&mixtures) {
            shard.commit(round, mixture)?;
        }
        cost.add(&of_round);
        let part = 4.0 / (round as f64 + 3.0);
        mean.iter_mut().zip(coordinator.sum()).for_each(|(mean, w)| *mean += part * (w - *mean));
    }
    coordinator.add_up(shards.iter().map(|shard| (shard.sum(), shard.loss())))?;
    let sum = coordinator.sum().to_vec();
    let last = coordinator.certificate(&check(&mut shards, &sum)?)?;
    let mut gap = last.gap / last.primal;
    if args.average {
        let read = coordinator.certificate_of(&mean, &check(&mut shards, &mean)?)?;
        gap = gap.min(read.gap / read.primal);
    }
    if gaps.len() < cost.rounds {
        gaps.push(gap);
    }
    let reached = SHARES.map(|share| {
        let there = gaps.iter().position(|gap| *gap <= share);
        there.map_or("–".to_owned(), |at| (at + 1).to_string())
    });
    let each = cost.rounds.max(1) as f64;
    let kilobytes = cost.bytes as f64 / 1e3 / each;
    let memory = resident_bytes().saturating_sub(before) as f64 / 1e3 / n as f64;
    Ok(format!(
        "| {workers} | {} | {} | {gap:.4} | {:.4} | {:.0} | {kilobytes:.1} | {:.3} | {:.3} | {:.3} | {:.3} | {memory:.1} |",
        reached.join(" | "),
        cost.rounds,
        last.dual,
        cost.calls as f64 / n as f64,
        kilobytes * 1e3 / WIRE,
        cost.local / each,
        cost.slowest / each,
        cost.driver / each,
    ))
}

/// Bytes that a network of 1 Gbit/s carries in a second.
const WIRE: f64 = 1.25e8;

/// What rounds have taken.
#[derive(Default)]
struct Cost {
    rounds: usize,
    bytes: usize,
    calls: u64,
    /// Seconds of all shards together, of the slowest one, and of the driver.
    local: f64,
    slowest: f64,
    driver: f64,
}

impl Cost {
    fn note_shard(&mut self, seconds: f64) {
        self.local += seconds;
        self.slowest = self.slowest.max(seconds);
    }

    fn add(&mut self, round: &Self) {
        self.rounds += round.rounds;
        self.bytes += round.bytes;
        self.local += round.local;
        self.slowest += round.slowest;
        self.driver += round.driver;
    }
}

fn effort(args: &Args, round: u64, workers: usize) -> Effort {
    let effort = Effort::among(workers, args.passes);
    match args.caution[..] {
        [] => effort,
        _ => {
            let exponent = args.caution[round as usize % args.caution.len()];
            Effort { caution: (workers as f64).powf(exponent).max(1.0), ..effort }
        }
    }
}

/// An exact pass of all shards.
fn check(shards: &mut [ShardSolver<'_>], w: &[f64]) -> Result<Vec<ShardReading>> {
    Ok(shards.iter_mut().map(|shard| shard.check(w)).collect::<Result<_, _>>()?)
}

/// The bytes of a message with new weights.
fn bytes_from(old: &[f64], new: &[f64]) -> usize {
    let moved = old.iter().zip(new).filter(|(old, new)| old != new).count();
    (moved * (size_of::<u32>() + size_of::<f64>())).min(size_of_val(new))
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
