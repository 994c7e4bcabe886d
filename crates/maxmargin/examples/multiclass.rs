//! A multiclass SVM (Crammer and Singer's) as a user would write it: the seven required methods of
//! `Problem`, and nothing else.
//!
//! ```text
//! cargo run --release -p maxmargin --example multiclass
//! ```

use maxmargin::{Problem, Settings, SparseVec, train};
use rand_core::{Rng as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Points in the plane; w has one row of (x, y, 1) per class.
struct Multiclass {
    points: Vec<[f64; 3]>,
    classes: Vec<usize>,
    count: usize,
}

impl Multiclass {
    fn score(&self, i: usize, w: &[f64], class: usize) -> f64 {
        self.points[i].iter().zip(&w[3 * class..]).map(|(x, w)| x * w).sum()
    }

    fn best(&self, value: impl Fn(usize) -> f64) -> usize {
        (0..self.count).max_by(|&a, &b| value(a).total_cmp(&value(b))).unwrap_or_default()
    }
}

/// A uniform number in [0, 1).
fn unit(rng: &mut Xoshiro256PlusPlus) -> f64 {
    (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64
}

impl Problem for Multiclass {
    type Output = usize;
    type Workspace = ();

    fn examples(&self) -> usize {
        self.points.len()
    }

    fn dim(&self) -> usize {
        3 * self.count
    }

    fn workspace(&self) {}

    fn oracle(&self, i: usize, w: &[f64], _: &mut (), y: &mut usize) {
        *y = self.best(|class| self.loss(i, &class) + self.score(i, w, class));
    }

    fn decode(&self, i: usize, w: &[f64], _: &mut (), y: &mut usize) {
        *y = self.best(|class| self.score(i, w, class));
    }

    fn loss(&self, i: usize, y: &usize) -> f64 {
        f64::from(*y != self.classes[i])
    }

    fn psi(&self, i: usize, y: &usize, psi: &mut SparseVec) {
        for (class, sign) in [(self.classes[i], 1.0), (*y, -1.0)] {
            for (at, x) in self.points[i].iter().enumerate() {
                psi.push((3 * class + at) as u64, sign * x);
            }
        }
    }
}

fn main() -> Result<(), maxmargin::TrainError> {
    // Three clouds of points around (2, 0), (−1, 2) and (−1, −2).
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    let centres = [[2.0, 0.0], [-1.0, 2.0], [-1.0, -2.0]];
    let classes: Vec<usize> = (0..150).map(|i| i % centres.len()).collect();
    let noise = |rng: &mut Xoshiro256PlusPlus| 3.0 * (unit(rng) + unit(rng) - 1.0);
    let points = classes
        .iter()
        .map(|&c| [centres[c][0] + noise(&mut rng), centres[c][1] + noise(&mut rng), 1.0])
        .collect();
    let problem = Multiclass { points, classes, count: centres.len() };

    let settings = Settings { lambda: Some(0.01), tolerance: 1e-3, ..Settings::default() };
    let solution = train(&problem, &settings)?;
    let certificate = &solution.certificate;
    println!("{}: {}", solution.status, solution.status.explain());
    println!("objective {:.5}, at least {:.5}", certificate.primal, certificate.dual);

    let mut y = 0;
    let wrong = (0..problem.examples()).filter(|&i| {
        problem.decode(i, &solution.weights, &mut (), &mut y);
        y != problem.classes[i]
    });
    println!("training errors: {} of {}", wrong.count(), problem.examples());
    Ok(())
}
