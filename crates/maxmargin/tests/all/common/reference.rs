//! Reference versions of the methods, directly from the mathematics, in dense vectors.

use super::problems::Enumerated;
use super::{add_scaled, dot, minus, norm_sq};
use maxmargin::{Order, Rng, Step};

/// The blocks that are visited, in order.
pub fn visits(order: Order, n: usize, seed: u64, count: usize) -> Vec<usize> {
    let mut rng = Rng::new(seed);
    let mut permutation: Vec<usize> = (0..n).collect();
    let mut all = Vec::new();
    while all.len() < count {
        #[allow(unreachable_patterns, reason = "orders may be added")]
        match order {
            Order::Uniform => all.push(rng.below(n)),
            Order::Cyclic => all.push(all.len() % n),
            Order::Permutation => {
                rng.shuffle(&mut permutation);
                all.extend_from_slice(&permutation);
            }
            other => panic!("the reference knows nothing of order {other}"),
        }
    }
    all.truncate(count);
    all
}

/// The first of the best outputs, or `None` if rounding may decide.
///
/// Outputs can tie because they differ only in features that no step has touched yet, whose weights are
/// exactly 0. Then every oracle takes the first. At other ties, which an exact line search causes, two
/// correct implementations may choose differently and then diverge.
pub(super) fn best_corner(
    problem: &Enumerated,
    i: usize,
    w: &[f64],
    touched: &[bool],
) -> Option<usize> {
    let corners = &problem.blocks[i].corners;
    let values: Vec<f64> = (0..corners.len()).map(|y| problem.augmented(i, y, w)).collect();
    let best = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mut tied = (0..corners.len()).filter(|&y| values[y] >= best - 1e-9 * (1.0 + best.abs()));
    let first = tied.next()?;
    let (psi, loss) = &corners[first];
    let same = |y: usize| {
        let alike = |j: usize| !touched[j] || (psi[j] - corners[y].0[j]).abs() < 1e-12;
        (loss - corners[y].1).abs() < 1e-12 && (0..w.len()).all(alike)
    };
    tied.all(same).then_some(first)
}

pub(super) fn touch(touched: &mut [bool], psi: &[f64]) {
    touched.iter_mut().zip(psi).for_each(|(touched, &x)| *touched |= x != 0.0);
}

/// A point: weights and the linear term of the dual.
#[derive(Debug, Clone)]
pub struct Point {
    pub w: Vec<f64>,
    pub l: f64,
}

impl Point {
    pub fn dual(&self, lambda: f64) -> f64 {
        self.l - 0.5 * lambda * norm_sq(&self.w)
    }

    pub fn gap(&self, problem: &Enumerated, lambda: f64) -> f64 {
        problem.primal(lambda, &self.w) - self.dual(lambda)
    }

    /// (1 − γ) self + γ other.
    fn towards(&self, gamma: f64, other: &Self) -> Self {
        let mut w: Vec<f64> = self.w.iter().map(|x| (1.0 - gamma) * x).collect();
        add_scaled(&mut w, gamma, &other.w);
        Self { w, l: (1.0 - gamma) * self.l + gamma * other.l }
    }
}

/// w_s and ℓ_s of a corner.
fn corner_point(problem: &Enumerated, lambda: f64, i: usize, y: usize) -> Point {
    let (psi, loss) = &problem.blocks[i].corners[y];
    let share = problem.share(i);
    Point { w: psi.iter().map(|x| share * x / lambda).collect(), l: share * loss }
}

fn clipped(slope: f64, curvature: f64) -> f64 {
    if curvature > 0.0 { (slope / curvature).clamp(0.0, 1.0) } else { f64::from(slope > 0.0) }
}

/// Block-coordinate Frank-Wolfe (BCFW-13 Alg. 4) with the recursive weighted average.
#[derive(Debug, Clone)]
pub struct BlockCoordinate<'a> {
    problem: &'a Enumerated,
    lambda: f64,
    k: usize,
    touched: Vec<bool>,
    pub blocks: Vec<Point>,
    pub now: Point,
    pub average: Point,
}

impl<'a> BlockCoordinate<'a> {
    pub fn new(problem: &'a Enumerated, lambda: f64) -> Self {
        let zero = Point { w: vec![0.0; problem.dim], l: 0.0 };
        let blocks = vec![zero.clone(); problem.blocks.len()];
        let touched = vec![false; problem.dim];
        Self { problem, lambda, k: 0, touched, blocks, now: zero.clone(), average: zero }
    }

    /// One visit of block `i`. Returns `None` if the oracle has a choice.
    pub fn visit(&mut self, i: usize, step: Step) -> Option<()> {
        let y = best_corner(self.problem, i, &self.now.w, &self.touched)?;
        touch(&mut self.touched, &self.problem.blocks[i].corners[y].0);
        let corner = corner_point(self.problem, self.lambda, i, y);
        let old = &self.blocks[i];
        let way = minus(&old.w, &corner.w);
        let gap = self.lambda * dot(&way, &self.now.w) - old.l + corner.l;
        let (k, n) = (self.k as f64, self.blocks.len() as f64);
        let gamma = match step {
            Step::LineSearch => clipped(gap, self.lambda * norm_sq(&way)),
            _ => 2.0 * n / (k + 2.0 * n),
        };
        let new = old.towards(gamma, &corner);
        add_scaled(&mut self.now.w, 1.0, &minus(&new.w, &old.w));
        self.now.l += new.l - old.l;
        self.blocks[i] = new;
        self.average = self.average.towards(2.0 / (k + 2.0), &self.now);
        self.k += 1;
        Some(())
    }
}

/// The batch subgradient method w ← w − γ/λ · (a subgradient of P at w), γ as in Frank-Wolfe. Returns the
/// iterates, including the start, until an oracle has a choice.
pub fn batch_subgradient(
    problem: &Enumerated,
    lambda: f64,
    step: Step,
    steps: usize,
) -> Vec<Point> {
    let mut now = Point { w: vec![0.0; problem.dim], l: 0.0 };
    let mut all = vec![now.clone()];
    let mut touched = vec![false; problem.dim];
    for k in 0..steps {
        let mut subgradient: Vec<f64> = now.w.iter().map(|x| lambda * x).collect();
        let (mut risk, mut loss, mut newly) = (0.0, 0.0, touched.clone());
        for i in 0..problem.blocks.len() {
            let Some(y) = best_corner(problem, i, &now.w, &touched) else {
                return all;
            };
            let (psi, l) = &problem.blocks[i].corners[y];
            touch(&mut newly, psi);
            add_scaled(&mut subgradient, -problem.share(i), psi);
            risk += problem.share(i) * problem.augmented(i, y, &now.w);
            loss += problem.share(i) * l;
        }
        touched = newly;
        // P − D = λ/2‖w‖² + risk − (ℓ − λ/2‖w‖²)
        let gap = lambda * norm_sq(&now.w) + risk - now.l;
        let gamma = match step {
            Step::LineSearch => clipped(gap, norm_sq(&subgradient) / lambda),
            _ => 2.0 / (k as f64 + 2.0),
        };
        add_scaled(&mut now.w, -gamma / lambda, &subgradient);
        now.l += gamma * (loss - now.l);
        all.push(now.clone());
    }
    all
}
