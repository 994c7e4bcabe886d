//! A structure of one's own with an oracle of one's own: learning what terrain costs from the paths
//! that people take through it (inverse planning).
//!
//! ```text
//! cargo run --release -p maxmargin --example own_oracle
//! ```
//!
//! An output is a path through a grid, from the top left to the bottom right, going right or down.
//! Its score is the sum of a learned weight per kind of terrain it crosses; the oracle is dynamic
//! programming; the loss is the share of cells that the path should not have crossed.

use maxmargin::{Problem, Settings, SparseVec, train};
use rand_core::{Rng as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;

const SIZE: usize = 8;
const KINDS: usize = 4;

/// Cells of a path in order, as `row * SIZE + column`.
type Path = Vec<usize>;

struct Paths {
    /// Kind of terrain of each cell of each map.
    maps: Vec<Vec<usize>>,
    taken: Vec<Path>,
}

/// The path with the largest sum of cell values.
fn best_path(value: impl Fn(usize) -> f64) -> Path {
    let mut best = vec![0.0; SIZE * SIZE];
    let before = |cell: usize, best: &[f64]| {
        let above = (cell >= SIZE).then(|| cell - SIZE);
        let left = (!cell.is_multiple_of(SIZE)).then(|| cell - 1);
        above.into_iter().chain(left).max_by(|&a, &b| best[a].total_cmp(&best[b]))
    };
    for cell in 0..SIZE * SIZE {
        best[cell] = value(cell) + before(cell, &best).map_or(0.0, |from| best[from]);
    }
    let mut path = vec![SIZE * SIZE - 1];
    while let Some(from) = path.last().and_then(|&cell| before(cell, &best)) {
        path.push(from);
    }
    path.reverse();
    path
}

/// A random index below `bound`.
fn below(bound: usize, rng: &mut Xoshiro256PlusPlus) -> usize {
    (rng.next_u64() % bound as u64) as usize
}

/// A uniform number in [0, 1).
fn unit(rng: &mut Xoshiro256PlusPlus) -> f64 {
    (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64
}

impl Paths {
    fn wrong(&self, i: usize, cell: usize) -> f64 {
        f64::from(!self.taken[i].contains(&cell)) / (2 * SIZE - 1) as f64
    }
}

impl Problem for Paths {
    type Output = Path;
    type Workspace = ();

    fn examples(&self) -> usize {
        self.maps.len()
    }

    fn dim(&self) -> usize {
        KINDS
    }

    fn workspace(&self) {}

    fn oracle(&self, i: usize, w: &[f64], _: &mut (), y: &mut Path) {
        *y = best_path(|cell| w[self.maps[i][cell]] + self.wrong(i, cell));
    }

    fn decode(&self, i: usize, w: &[f64], _: &mut (), y: &mut Path) {
        *y = best_path(|cell| w[self.maps[i][cell]]);
    }

    fn loss(&self, i: usize, y: &Path) -> f64 {
        y.iter().map(|&cell| self.wrong(i, cell)).sum()
    }

    fn psi(&self, i: usize, y: &Path, psi: &mut SparseVec) {
        self.taken[i].iter().for_each(|&cell| psi.push(self.maps[i][cell] as u64, 1.0));
        y.iter().for_each(|&cell| psi.push(self.maps[i][cell] as u64, -1.0));
    }
}

fn main() -> Result<(), maxmargin::TrainError> {
    // People like roads (kind 0) and avoid water (kind 3), but are a little careless.
    let liking = [-1.0, -2.0, -3.0, -6.0];
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(3);
    let maps: Vec<Vec<usize>> =
        (0..100).map(|_| (0..SIZE * SIZE).map(|_| below(KINDS, &mut rng)).collect()).collect();
    let taken = maps
        .iter()
        .map(|map| {
            let whim: Vec<f64> = map.iter().map(|_| unit(&mut rng)).collect();
            best_path(|cell| liking[map[cell]] + whim[cell])
        })
        .collect();
    let problem = Paths { maps, taken };

    let settings = Settings { lambda: Some(0.01), tolerance: 1e-3, ..Settings::default() };
    let solution = train(&problem, &settings)?;
    println!("{}: within {:.1e} of the optimum", solution.status, solution.certificate.gap);
    for (kind, name) in ["road", "grass", "forest", "water"].iter().enumerate() {
        println!("{name:>8}: weight {:>7.3}", solution.weights[kind]);
    }
    Ok(())
}
