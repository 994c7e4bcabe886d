//! What reading and training cost, in seconds and in memory, against the size of the data:
//!
//! ```text
//! cargo run --release -p maxmargin-lab -F benchmarks --bin scaling -- 100000
//! ```
//!
//! The argument is the largest number of sequences. Every sequence has ten tokens, and every token six attributes.
//! Each point is measured in a process of its own, because the peak of memory is that of a process.

use anyhow::{Context as _, Result, bail};
use maxmargin::model::chain::{Chain, ChainShape, Hamming};
use maxmargin::{BlockCoordinate, Rng, Settings, Trainer};
use maxmargin_io::{Source, read_by_name, read_training, save_converted};
use maxmargin_lab::peak_memory;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

/// Tokens of a sequence.
const TOKENS: usize = 10;

/// Passes of training that are timed.
const PASSES: u64 = 5;

/// What is measured.
#[derive(Clone, Copy)]
struct Point {
    sequences: usize,
    words: usize,
    labels: usize,
    threads: usize,
}

const USUAL: Point = Point { sequences: 10_000, words: 20_000, labels: 10, threads: 0 };

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["read", file] => read(Path::new(file)),
        ["train", file, threads] => train(Path::new(file), threads.parse()?),
        [] => sweep(10_000),
        [most] => sweep(most.parse().context("the largest number of sequences")?),
        _ => bail!("expected the largest number of sequences"),
    }
}

/// Measures all points, and prints a table of each series.
fn sweep(most: usize) -> Result<()> {
    let sizes = std::iter::successors(Some(1000), |n| Some(n * 10)).take_while(|n| *n <= most);
    let sizes = sizes.map(|sequences| Point { sequences, ..USUAL });
    series("sequences", sizes, |point| point.sequences)?;
    let words = [2000, 20_000, 200_000].map(|words| Point { words, ..USUAL });
    series("words", words, |point| point.words)?;
    let labels = [3, 10, 30].map(|labels| Point { labels, ..USUAL });
    series("labels", labels, |point| point.labels)?;
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let threads = std::iter::successors(Some(1), |n| Some(n * 2)).take_while(|n| *n <= cores);
    series("threads", threads.map(|threads| Point { threads, ..USUAL }), |point| point.threads)
}

/// Measures a series in which one number grows. A slope of 1 means that a cost grows in proportion.
fn series(
    what: &str,
    points: impl IntoIterator<Item = Point>,
    number: fn(&Point) -> usize,
) -> Result<()> {
    println!(
        "\n| {what} | text, MB | read, s | MB/s | slope | memory / text | opened, s | pass, s | slope | memory / text |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|");
    let mut before: Option<(f64, f64, f64)> = None;
    for point in points {
        let path =
            std::env::temp_dir().join(format!("maxmargin-scaling-{}.crf", std::process::id()));
        let bytes = write_data(&path, point)? as f64;
        let [read_seconds, read_memory, opened, _] = child(&["read".as_ref(), path.as_os_str()])?;
        let threads = point.threads.to_string();
        let [pass, train_memory, ..] =
            child(&["train".as_ref(), path.as_os_str(), threads.as_ref()])?;
        std::fs::remove_file(&path)?;
        let x = number(&point) as f64;
        let slope = |old: f64, new: f64, at: f64| match before {
            Some(_) => format!("{:.2}", (new / old).ln() / (x / at).ln()),
            None => String::new(),
        };
        let (at, old_read, old_pass) = before.unwrap_or((x, read_seconds, pass));
        let mut row = format!("| {} | {:.1} | {read_seconds:.3} ", number(&point), bytes / 1e6);
        let _ = write!(row, "| {:.0} ", bytes / 1e6 / read_seconds);
        let _ = write!(row, "| {} ", slope(old_read, read_seconds, at));
        let _ = write!(row, "| {:.1} | {opened:.3} | {pass:.3} ", read_memory / bytes);
        let _ = write!(row, "| {} | {:.1} |", slope(old_pass, pass, at), train_memory / bytes);
        println!("{row}");
        before = Some((x, read_seconds, pass));
    }
    Ok(())
}

/// Runs this program on one file, in a process of its own, and returns the numbers that it prints.
fn child(args: &[&std::ffi::OsStr]) -> Result<[f64; 4]> {
    let output = Command::new(std::env::current_exe()?).args(args).output()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let numbers: Vec<f64> = text.split_whitespace().filter_map(|text| text.parse().ok()).collect();
    let error = || format!("{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    numbers.try_into().ok().with_context(error)
}

fn memory() -> u64 {
    peak_memory().unwrap_or_default()
}

/// Prints the seconds to read a file, the peak of memory, and the seconds to open the same data converted.
fn read(path: &Path) -> Result<()> {
    let open = |path: &Path| Source::File(path.to_owned()).open(None);
    let start = Instant::now();
    let data = read_training(open(path)?)?;
    let (seconds, peak) = (start.elapsed().as_secs_f64(), memory());
    drop(data);
    let converted: PathBuf = path.with_extension("data");
    save_converted(&converted, read_by_name(open(path)?)?)?;
    let start = Instant::now();
    let data = read_training(open(&converted)?)?;
    let opened = start.elapsed().as_secs_f64();
    std::fs::remove_file(&converted)?;
    println!("{seconds} {peak} {opened} {}", data.sequences.len());
    Ok(())
}

/// Prints the seconds of a pass of training and the peak of memory.
fn train(path: &Path, threads: usize) -> Result<()> {
    let data = read_training(Source::File(path.to_owned()).open(None)?)?;
    let shape = ChainShape::new(data.labels.len(), data.attributes.len());
    let chain = Chain::new(shape, data.sequences, &Hamming::default())?;
    let settings = Settings {
        lambda: Some(0.001),
        method: BlockCoordinate::default().into(),
        tolerance: 0.0,
        max_passes: PASSES,
        gap_every: PASSES,
        threads,
        ..Settings::default()
    };
    let start = Instant::now();
    let solution = Trainer::new(settings).train(&chain)?;
    let seconds = start.elapsed().as_secs_f64() / PASSES as f64;
    println!("{seconds} {} {} {}", memory(), solution.certificate.gap, chain.shape().dim());
    Ok(())
}

/// Writes sequences in CRFsuite's format, and returns their bytes. A word is the more frequent the smaller its
/// number, and mostly has the label that its number gives it.
fn write_data(path: &Path, point: Point) -> Result<u64> {
    let mut to = BufWriter::new(File::create(path)?);
    let mut rng = Rng::new(7);
    let mut words = [0; TOKENS];
    let (mut line, mut bytes) = (String::new(), 0);
    for _ in 0..point.sequences {
        words.fill_with(|| (rng.unit_f64().powi(3) * point.words as f64) as usize);
        for t in 0..TOKENS {
            let (own, before) = (words[t], words[t.saturating_sub(1)]);
            let after = words[(t + 1).min(TOKENS - 1)];
            let told = if rng.unit_f64() < 0.9 { own } else { before };
            let label = told % point.labels;
            line.clear();
            let _ = writeln!(
                line,
                "L{label}\tw={own}\tp={before}\tn={after}\ts={}\tt={}\tu={}",
                own % 1000,
                own % 97,
                before % 50
            );
            bytes += line.len() as u64;
            to.write_all(line.as_bytes())?;
        }
        bytes += 1;
        to.write_all(b"\n")?;
    }
    to.flush()?;
    Ok(bytes)
}
