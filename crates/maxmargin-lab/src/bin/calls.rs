//! Oracle calls and seconds that each solver takes to a gap, on small problems with few weights that all
//! examples share:
//!
//! ```text
//! cargo run --release -p maxmargin-lab -F benchmarks --bin calls -- [SEEDS] [METHOD …]
//! ```
//!
//! A method is a solver, or `bcfw` with choices as `compare` writes them: `bcfw+gap+corrective+cache`. All
//! solvers compete unless methods are named. Figures are medians over the seeds (3 unless given), of the data
//! and of the method. A run that has not reached the gap after 300 calls per example is shown as `–`.

use anyhow::{Context as _, Result};
use maxmargin::model::chain::{Chain, ChainShape, Hamming, Sequences};
use maxmargin::{Problem, Rng, Settings, Solver, SparseVec, Trainer};
use maxmargin_command::lab::Method;
use maxmargin_lab::median;

const MOST_CALLS: u64 = 300;

fn main() -> Result<()> {
    let mut args = std::env::args().skip(1);
    let seeds: u64 = args.next().map_or(Ok(3), |text| text.parse()).context("SEEDS: a number")?;
    let named: Vec<String> = args.collect();
    let methods = match named.is_empty() {
        true => Solver::NAMES.iter().map(|name| (*name).to_owned()).collect(),
        false => named,
    };
    println!("| problem | λ | {} |", methods.join(" | "));
    println!("|---|---|{}", "---|".repeat(methods.len()));
    for (n, d, side) in [(100, 5, 8), (300, 20, 8), (100, 100, 8), (100, 20, 16)] {
        for lambda in [0.01, 0.001] {
            let paths = |seed| Paths::new(n, d, side, seed);
            row(&format!("paths n={n} d={d} side={side}"), lambda, &methods, seeds, paths)?;
        }
    }
    for scaled in [false, true] {
        for lambda in [0.1, 0.01, 0.001] {
            let name = if scaled { "flowers, scaled" } else { "flowers" };
            row(name, lambda, &methods, seeds, |seed| flowers(scaled, seed).expect("valid rows"))?;
        }
    }
    Ok(())
}

/// One row of the table.
fn row<P: Problem>(
    name: &str,
    lambda: f64,
    methods: &[String],
    seeds: u64,
    problem: impl Fn(u64) -> P,
) -> Result<()> {
    print!("| {name} | {lambda} |");
    for method in methods {
        let (mut calls, mut seconds) = (Vec::new(), Vec::new());
        for seed in 0..seeds {
            let problem = problem(seed);
            let most = MOST_CALLS * problem.examples() as u64;
            let base = Settings {
                lambda: Some(lambda),
                tolerance: 0.01,
                max_passes: u64::MAX,
                max_oracle_calls: Some(most),
                threads: 1,
                seed,
                ..Settings::default()
            };
            let solution = Trainer::new(Method::parse(method, &base)?.settings).train(&problem)?;
            let done = solution.certificate.gap <= 0.01;
            calls.push(if done { solution.totals.oracle_calls as f64 } else { f64::INFINITY });
            seconds.push(solution.totals.seconds);
        }
        match median(&calls) {
            calls if calls.is_finite() => print!(" {calls:.0} ({:.3} s) |", median(&seconds)),
            _ => print!(" – |"),
        }
    }
    println!();
    Ok(())
}

/// Paths through a grid, from the top left to the bottom right, right or down. Every cell has `d` features.
struct Paths {
    side: usize,
    d: usize,
    /// The features of all cells of each map.
    maps: Vec<Vec<f64>>,
    taken: Vec<Vec<usize>>,
}

impl Paths {
    fn new(n: usize, d: usize, side: usize, seed: u64) -> Self {
        let mut rng = Rng::new(seed);
        let mut normal = || (0..12).map(|_| rng.unit_f64()).sum::<f64>() - 6.0;
        let liking: Vec<f64> = (0..d).map(|_| normal()).collect();
        let maps: Vec<Vec<f64>> =
            (0..n).map(|_| (0..side * side * d).map(|_| normal()).collect()).collect();
        let mut paths = Self { side, d, maps, taken: Vec::new() };
        for i in 0..n {
            let whims: Vec<f64> = (0..side * side).map(|_| normal()).collect();
            let path = paths.best(|cell| paths.value(i, cell, &liking) + whims[cell]);
            paths.taken.push(path);
        }
        paths
    }

    fn features(&self, i: usize, cell: usize) -> &[f64] {
        &self.maps[i][cell * self.d..][..self.d]
    }

    fn value(&self, i: usize, cell: usize, w: &[f64]) -> f64 {
        self.features(i, cell).iter().zip(w).map(|(x, w)| x * w).sum()
    }

    fn wrong(&self, i: usize, cell: usize) -> f64 {
        f64::from(!self.taken[i].contains(&cell)) / (2 * self.side - 1) as f64
    }

    /// The cells of the path with the largest sum of values.
    fn best(&self, value: impl Fn(usize) -> f64) -> Vec<usize> {
        let side = self.side;
        let mut best = vec![0.0; side * side];
        let before = |cell: usize, best: &[f64]| {
            let above = (cell >= side).then(|| cell - side);
            let left = (!cell.is_multiple_of(side)).then(|| cell - 1);
            above.into_iter().chain(left).max_by(|&a, &b| best[a].total_cmp(&best[b]))
        };
        for cell in 0..side * side {
            best[cell] = value(cell) + before(cell, &best).map_or(0.0, |from| best[from]);
        }
        let mut path = vec![side * side - 1];
        while let Some(from) = path.last().and_then(|&cell| before(cell, &best)) {
            path.push(from);
        }
        path.reverse();
        path
    }
}

impl Problem for Paths {
    type Output = Vec<usize>;
    type Workspace = ();

    fn examples(&self) -> usize {
        self.maps.len()
    }

    fn dim(&self) -> usize {
        self.d
    }

    fn workspace(&self) {}

    fn oracle(&self, i: usize, w: &[f64], (): &mut (), y: &mut Vec<usize>) {
        *y = self.best(|cell| self.value(i, cell, w) + self.wrong(i, cell));
    }

    fn decode(&self, i: usize, w: &[f64], (): &mut (), y: &mut Vec<usize>) {
        *y = self.best(|cell| self.value(i, cell, w));
    }

    fn loss(&self, i: usize, y: &Vec<usize>) -> f64 {
        y.iter().map(|&cell| self.wrong(i, cell)).sum()
    }

    fn psi(&self, i: usize, y: &Vec<usize>, psi: &mut SparseVec) {
        let sum = |path: &[usize], k| path.iter().map(|&c| self.features(i, c)[k]).sum::<f64>();
        for k in 0..self.d {
            psi.push(k as u64, sum(&self.taken[i], k) - sum(y, k));
        }
    }
}

/// Thirty chains of five rows that are like the irises of Anderson and Fisher: four lengths in centimetres and
/// three species. `scaled` makes all columns have mean 0 and variance 1.
fn flowers(scaled: bool, seed: u64) -> Result<Chain> {
    const MEANS: [[f64; 4]; 3] =
        [[5.01, 3.43, 1.46, 0.25], [5.94, 2.77, 4.26, 1.33], [6.59, 2.97, 5.55, 2.03]];
    const SPREADS: [[f64; 4]; 3] =
        [[0.35, 0.38, 0.17, 0.11], [0.52, 0.31, 0.47, 0.20], [0.64, 0.32, 0.55, 0.27]];
    let mut rng = Rng::new(seed);
    let mut species: Vec<usize> = (0..150).map(|row| row % 3).collect();
    rng.shuffle(&mut species);
    let mut normal = || (0..12).map(|_| rng.unit_f64()).sum::<f64>() - 6.0;
    let mut rows: Vec<[f64; 4]> = species
        .iter()
        .map(|&s| std::array::from_fn(|k| MEANS[s][k] + SPREADS[s][k] * normal()))
        .collect();
    if scaled {
        for k in 0..4 {
            let mean = rows.iter().map(|row| row[k]).sum::<f64>() / 150.0;
            let square = rows.iter().map(|row| (row[k] - mean).powi(2)).sum::<f64>() / 150.0;
            rows.iter_mut().for_each(|row| row[k] = (row[k] - mean) / square.sqrt());
        }
    }
    let mut sequences = Sequences::new();
    for (rows, species) in rows.chunks(5).zip(species.chunks(5)) {
        for (row, &s) in rows.iter().zip(species) {
            sequences.push_token((0u32..).zip(row.iter().copied()), s as u32)?;
        }
        sequences.end_sequence(1.0)?;
    }
    Ok(Chain::new(ChainShape::new(3, 4), sequences, &Hamming::default())?)
}
