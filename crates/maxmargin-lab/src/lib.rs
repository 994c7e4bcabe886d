//! What experiments and benchmarks share: a baseline that is no part of the library, real data as problems, and
//! ways to measure.

pub mod dlpw;
#[cfg(doctest)]
mod guides;
pub mod race;

use anyhow::Result;
use maxmargin::ProblemExt as _;
use maxmargin::model::chain::{Chain, ChainShape, Hamming};
use maxmargin::observe::{Control, Event};
use maxmargin::{Problem, Settings, Trainer};
use maxmargin_io::{Format, Source, read_training};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// The folder of data sets that cannot ship with the project, beside the root of the repository.
pub fn shared_data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data")
}

/// CoNLL-2000's training sentences with all of CRFsuite's chunking attributes, if they are at hand.
///
/// # Errors
/// The file is there but cannot be read.
pub fn conll() -> Result<Option<Chain>> {
    let path = shared_data().join("conll2000_train.txt.gz");
    if !path.is_file() {
        eprintln!("skipped: CoNLL-2000 is not at hand ({} is missing)", path.display());
        return Ok(None);
    }
    Ok(Some(chain(&path.display().to_string(), Some(Format::Conll))?))
}

/// A data set as a chain problem.
///
/// # Errors
/// The data cannot be read.
pub fn chain(data: &str, format: Option<Format>) -> Result<Chain> {
    let data = read_training(Source::resolve(data)?.open(format)?)?;
    let shape = ChainShape::new(data.labels.len(), data.attributes.len());
    Ok(Chain::new(shape, data.sequences, &Hamming::default())?)
}

/// Seconds of the fastest of `repeats` runs of `work`: the one the machine disturbed least.
pub fn fastest(repeats: usize, mut work: impl FnMut()) -> f64 {
    let time = |_| {
        let begin = Instant::now();
        work();
        begin.elapsed().as_secs_f64()
    };
    (0..repeats).map(time).fold(f64::INFINITY, f64::min)
}

/// Processor seconds of this thread so far, where the system tells; else seconds of the clock.
pub fn processor_seconds() -> f64 {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = told.as_deref().and_then(|text| text.split(' ').next()?.parse::<f64>().ok());
    nanoseconds.map_or_else(clock_seconds, |nanoseconds| 1e-9 * nanoseconds)
}

fn clock_seconds() -> f64 {
    static START: std::sync::LazyLock<Instant> = std::sync::LazyLock::new(Instant::now);
    START.elapsed().as_secs_f64()
}

/// Decodes every example in order: the least work a pass of any method has to do.
pub fn decode_all<P: Problem>(problem: &P, w: &[f64]) {
    decode_in_order(problem, w, 0..problem.examples());
}

/// Decodes examples in a given order.
pub fn decode_in_order<P: Problem>(problem: &P, w: &[f64], order: impl IntoIterator<Item = usize>) {
    let mut workspace = problem.workspace();
    let mut y = P::Output::default();
    for i in order {
        problem.prepare(i, w, &mut workspace);
        problem.decode(i, w, &mut workspace, &mut y);
    }
    std::hint::black_box(&y);
}

/// What the passes of a run took.
#[derive(Debug, Clone)]
pub struct PassTimes {
    /// Seconds of each pass, gap passes excluded.
    pub passes: Vec<f64>,
    /// Seconds of each exact gap pass.
    pub gap_passes: Vec<f64>,
    /// The weights at the end.
    pub weights: Vec<f64>,
}

/// The smallest of some times.
pub fn least(times: &[f64]) -> f64 {
    times.iter().copied().fold(f64::INFINITY, f64::min)
}

/// The one in the middle.
pub fn median(times: &[f64]) -> f64 {
    let mut sorted = times.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Runs training and takes the time of every pass.
///
/// # Errors
/// As training.
pub fn time_passes<P: Problem>(problem: &P, settings: &Settings) -> Result<PassTimes> {
    let (mut passes, mut gap_passes) = (Vec::new(), Vec::new());
    let (mut last, mut last_gap) = (0.0, 0.0);
    let mut watch = |event: Event<'_>| {
        if let Event::Pass { record, .. } = event {
            let gap = record.gap_seconds - last_gap;
            passes.push(record.seconds - last - gap);
            if record.gap.is_some() {
                gap_passes.push(gap);
            }
            (last, last_gap) = (record.seconds, record.gap_seconds);
        }
        Control::Continue
    };
    let solution = Trainer::new(settings.clone()).observe(&mut watch).train(problem)?;
    Ok(PassTimes { passes, gap_passes, weights: solution.weights })
}

/// The most memory this process has used so far, in bytes, where the system tells.
pub fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|kb| kb * 1024)
}

/// Seconds this thread has spent on a processor so far, where the system tells, else 0: on a busy
/// machine a better measure than the time that has passed.
pub fn cpu_seconds() -> f64 {
    let nanoseconds = std::fs::read_to_string("/proc/thread-self/schedstat")
        .ok()
        .and_then(|text| text.split(' ').next()?.parse::<f64>().ok());
    nanoseconds.unwrap_or_default() / 1e9
}
