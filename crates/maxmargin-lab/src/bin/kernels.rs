//! Kernels on handwriting: letters one by one, and words.
//!
//! ```text
//! cargo run --release -p maxmargin-lab -F benchmarks --bin kernels -- [DATA] [MEGABYTES]
//! ```
//!
//! DATA is `letters` (multiclass), `words` (chains) or `all`, the default. Training is on OCR small (fold
//! 0), the test on all other folds. For every kernel λ is that of the lowest error on a fifth of the
//! training words after training on the rest, and so is γ; then training is on all of it. MEGABYTES (512)
//! of kernel values are kept. Seconds are processor time of the last training, on one thread.

use anyhow::{Context as _, Result, bail};
use maxmargin::ProblemExt as _;
use maxmargin::evaluate::SequenceErrors;
use maxmargin::kernel::{Kernel, KernelModel, Kernelised, NodeInputs};
use maxmargin::model::LabelledRows;
use maxmargin::model::chain::{Chain, ChainShape, Hamming, Sequences};
use maxmargin::model::multiclass::{ClassLoss, Multiclass, MulticlassShape};
use maxmargin::{Problem, Settings, Solution, train};
use maxmargin_io::{LabelRule, Source, read_training, read_with};
use std::time::Instant;

const LABELS: usize = 26;
const PIXELS: usize = 128;

fn main() -> Result<()> {
    let mut args = std::env::args().skip(1);
    let data = args.next().unwrap_or_else(|| "all".to_owned());
    let megabytes: usize = args.next().map_or(Ok(512), |text| text.parse()).context("MEGABYTES")?;
    let known = read_training(Source::resolve("ocr-small")?.open(None)?)?;
    let test = Source::resolve("ocr-small:test")?.open(None)?;
    let test = read_with(test, &known.labels, &known.attributes, LabelRule::Count)?.sequences;
    let parts = Parts {
        rest: known.sequences.select(|i| i % 5 != 0),
        held: known.sequences.select(|i| i % 5 == 0),
        all: known.sequences,
        test,
    };
    let bytes = megabytes << 20;
    let letters = || race("letters", &parts, letters, bytes);
    let words = || race("words", &parts, words, bytes);
    match data.as_str() {
        "letters" => letters(),
        "words" => words(),
        "all" => letters().and_then(|()| words()),
        other => bail!("{other}: no such data; there are letters, words and all"),
    }
}

struct Parts {
    rest: Sequences,
    held: Sequences,
    all: Sequences,
    test: Sequences,
}

fn words(data: &Sequences) -> Result<Chain> {
    Ok(Chain::new(ChainShape::new(LABELS, PIXELS), data.clone(), &Hamming::default())?)
}

/// Every letter of all words on its own.
fn letters(data: &Sequences) -> Result<Multiclass> {
    let mut rows = LabelledRows::new();
    for word in data.iter() {
        for (letter, &label) in word.tokens().zip(word.labels()) {
            rows.push(letter.pairs(), &[label], 1.0)?;
        }
    }
    let shape = MulticlassShape { bias: Some(1.0), ..MulticlassShape::new(LABELS, PIXELS) };
    Ok(Multiclass::new(shape, rows, ClassLoss::ZeroOne)?)
}

/// The letters of a prediction.
trait Letters {
    fn letters(&self) -> Vec<u32>;
}

impl Letters for u32 {
    fn letters(&self) -> Vec<u32> {
        vec![*self]
    }
}

impl Letters for Vec<u32> {
    fn letters(&self) -> Vec<u32> {
        self.clone()
    }
}

fn settings(lambda: f64) -> Settings {
    let limits = Settings { max_passes: 40, threads: 1, ..Settings::default() };
    Settings { lambda: Some(lambda), tolerance: 0.01, ..limits }
}

fn race<P>(
    name: &str,
    parts: &Parts,
    build: fn(&Sequences) -> Result<P>,
    bytes: usize,
) -> Result<()>
where
    P: NodeInputs<Output: Letters>,
{
    println!("\n## {name}\n");
    println!(
        "| kernel | λ | error on the held out | test error | objective | gap | passes | seconds | \
         inputs | support inputs | support parts | kernel rows |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|---|");
    let lambdas = [1e-1, 3e-2, 1e-2, 3e-3, 1e-3];
    let lambdas_of_kernels = [1e-3, 3e-4, 1e-4];
    // Without a kernel: the primal method.
    let (rest, held) = (build(&parts.rest)?, build(&parts.held)?);
    let mut best = (f64::INFINITY, 0.0);
    for lambda in lambdas {
        let found = error_of(&held, decode(&held, &train(&rest, &settings(lambda))?.weights));
        best = if found < best.0 { (found, lambda) } else { best };
    }
    let (all, test) = (build(&parts.all)?, build(&parts.test)?);
    let (solution, seconds) = timed(&all, &settings(best.1))?;
    let found = error_of(&test, decode(&test, &solution.weights));
    println!("{} | | | |", cells("none (primal)", best, found, &solution, seconds));

    let rbf = |gamma| Kernel::Rbf { gamma };
    let cubic = |gamma| Kernel::Polynomial { degree: 3, gamma, constant: 1.0 };
    let kernels: [&[Kernel]; 2] = [&[rbf(0.04), rbf(0.08)], &[cubic(0.05)]];
    for kernels in kernels {
        let mut best = (f64::INFINITY, 0.0, kernels[0]);
        for &kernel in kernels {
            let problem = Kernelised::new(build(&parts.rest)?, kernel, bytes)?;
            for lambda in lambdas_of_kernels {
                let solution = train(&problem, &settings(lambda))?;
                let model = KernelModel::new(&problem, &solution.weights);
                let found = error_of(&held, model.predict(&held));
                best = if found < best.0 { (found, lambda, kernel) } else { best };
            }
        }
        let (found, lambda, kernel) = best;
        let problem = Kernelised::new(build(&parts.all)?, kernel, bytes)?;
        let (solution, seconds) = timed(&problem, &settings(lambda))?;
        let model = KernelModel::new(&problem, &solution.weights);
        let test_error = error_of(&test, model.predict(&test));
        println!(
            "{} {} of {} | {} | {} | {} |",
            cells(&describe(&kernel), (found, lambda), test_error, &solution, seconds),
            problem.inputs(),
            problem.nodes(),
            model.inputs(),
            model.parts(),
            problem.computed_rows()
        );
    }
    Ok(())
}

fn describe(kernel: &Kernel) -> String {
    match kernel {
        Kernel::Linear => "linear".to_owned(),
        Kernel::Polynomial { degree, gamma, constant } => {
            format!("({gamma}⟨a, b⟩ + {constant})^{degree}")
        }
        Kernel::Rbf { gamma } => format!("rbf, γ {gamma}"),
    }
}

fn cells(kernel: &str, best: (f64, f64), test: f64, solution: &Solution, seconds: f64) -> String {
    let c = &solution.certificate;
    format!(
        "| {kernel} | {:e} | {:.2} % | **{:.2} %** | {:.4} | {:.4} | {} | {seconds:.1} |",
        best.1,
        100.0 * best.0,
        100.0 * test,
        c.primal,
        c.gap,
        solution.totals.passes
    )
}

/// Trains, and takes the processor time.
fn timed<P: Problem>(problem: &P, settings: &Settings) -> Result<(Solution, f64)> {
    let (begin, wall) = (processor_seconds(), Instant::now());
    let solution = train(problem, settings)?;
    let seconds = processor_seconds().zip(begin).map(|(end, begin)| end - begin);
    Ok((solution, seconds.unwrap_or_else(|| wall.elapsed().as_secs_f64())))
}

/// Processor time of this process so far, where the system tells (in hundredths of a second).
fn processor_seconds() -> Option<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks = |at: usize| fields.get(at)?.parse::<f64>().ok();
    Some((ticks(11)? + ticks(12)?) / 100.0)
}

fn decode<P: Problem>(problem: &P, w: &[f64]) -> Vec<P::Output> {
    let mut workspace = problem.workspace();
    let mut predict = |i| {
        let mut y = P::Output::default();
        problem.prepare(i, w, &mut workspace);
        problem.decode(i, w, &mut workspace, &mut y);
        y
    };
    (0..problem.examples()).map(&mut predict).collect()
}

/// Share of wrong letters.
fn error_of<P: Problem<Output: Letters>>(problem: &P, predicted: Vec<P::Output>) -> f64 {
    let mut errors = SequenceErrors::default();
    for (i, found) in predicted.iter().enumerate() {
        let truth = problem.truth(i).map_or_else(Vec::new, |y| y.letters());
        errors.add(&truth, &found.letters());
    }
    errors.hamming()
}
