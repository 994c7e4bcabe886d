//! The dual as a quadratic program, for a solver that knows nothing of Frank-Wolfe.

use super::problems::Enumerated;
use super::{add_scaled, dot, norm_sq};
use clarabel::algebra::CscMatrix;
use clarabel::solver::{
    DefaultSettings, DefaultSettingsBuilder, DefaultSolver, IPSolver, NonnegativeConeT,
    SolverStatus, ZeroConeT,
};
use maxmargin::Bounds;

/// The optimum of the dual, enclosed between the dual and the primal value of the solver's answer
/// (whose masses are made exactly feasible first).
#[derive(Debug, Clone, Copy)]
pub struct Optimum {
    pub below: f64,
    pub above: f64,
}

/// Solves max bᵀα − λ/2 ‖Aα‖² over a product of simplices, one variable per example and output.
pub fn solve(problem: &Enumerated, lambda: f64) -> Optimum {
    let mut columns = Vec::new(); // (block, column of A, entry of b)
    for (i, block) in problem.blocks.iter().enumerate() {
        for (psi, loss) in &block.corners {
            let share = problem.share(i);
            let column: Vec<f64> = psi.iter().map(|x| share * x / lambda).collect();
            columns.push((i, column, share * loss));
        }
    }
    let (variables, n) = (columns.len(), problem.blocks.len());
    let upper = |row: usize, column: usize| match row <= column {
        true => lambda * dot(&columns[row].1, &columns[column].1),
        false => 0.0,
    };
    let quadratic = csc(variables, variables, upper);
    let linear: Vec<f64> = columns.iter().map(|c| -c.2).collect();
    // Every block sums to one, and all masses are at least zero: A x + s = b.
    let constraints = csc(n + variables, variables, |row, column| {
        if row < n { f64::from(columns[column].0 == row) } else { -f64::from(row - n == column) }
    });
    let bounds: Vec<f64> = (0..n + variables).map(|row| f64::from(row < n)).collect();
    let cones = [ZeroConeT(n), NonnegativeConeT(variables)];
    let mut solver =
        DefaultSolver::new(&quadratic, &linear, &constraints, &bounds, &cones, precise()).unwrap();
    run(&mut solver);

    let mut masses: Vec<f64> = solver.solution.x.iter().map(|x| x.max(0.0)).collect();
    for block in 0..n {
        let own = || (0..variables).filter(|&v| columns[v].0 == block);
        let sum: f64 = own().map(|v| masses[v]).sum();
        own().for_each(|v| masses[v] /= sum);
    }
    let (mut w, mut l) = (vec![0.0; problem.dim], 0.0);
    for (mass, (_, column, loss)) in masses.iter().zip(&columns) {
        add_scaled(&mut w, *mass, column);
        l += mass * loss;
    }
    Optimum { below: l - 0.5 * lambda * norm_sq(&w), above: problem.primal(lambda, &w) }
}

/// Solves the primal with bounds on w: min λ/2 ‖w‖² + Σ share·ξ with ξᵢ ≥ Hᵢ(y; w) for all y. The
/// variables are w and ξ.
pub fn solve_within(problem: &Enumerated, lambda: f64, bounds: &Bounds) -> Optimum {
    let (d, n) = (problem.dim, problem.blocks.len());
    let quadratic = csc(d + n, d + n, |row, column| match row == column && row < d {
        true => lambda,
        false => 0.0,
    });
    let shares = (0..n).map(|i| problem.share(i));
    let linear: Vec<f64> = std::iter::repeat_n(0.0, d).chain(shares).collect();
    // Rows of A x ≤ b: −⟨ψ, w⟩ − ξ ≤ −L, then −w ≤ −l and w ≤ u.
    let mut rows: Vec<(Vec<f64>, f64)> = Vec::new();
    for (i, block) in problem.blocks.iter().enumerate() {
        for (psi, loss) in &block.corners {
            let slacks = (0..n).map(|j| -f64::from(i == j));
            rows.push((psi.iter().map(|x| -x).chain(slacks).collect(), -loss));
        }
    }
    for feature in 0..d {
        let unit = |sign: f64| (0..d + n).map(|at| sign * f64::from(at == feature)).collect();
        let (lower, upper) = (bounds.lower()[feature], bounds.upper()[feature]);
        if lower.is_finite() {
            rows.push((unit(-1.0), -lower));
        }
        if upper.is_finite() {
            rows.push((unit(1.0), upper));
        }
    }
    let constraints = csc(rows.len(), d + n, |row, column| rows[row].0[column]);
    let right: Vec<f64> = rows.iter().map(|row| row.1).collect();
    let cones = [NonnegativeConeT(rows.len())];
    let mut solver =
        DefaultSolver::new(&quadratic, &linear, &constraints, &right, &cones, precise()).unwrap();
    run(&mut solver);
    let x = &solver.solution.x[..d];
    let w: Vec<f64> = x.iter().enumerate().map(|(at, &x)| bounds.clip(at, x)).collect();
    Optimum { below: solver.solution.obj_val_dual, above: problem.primal(lambda, &w) }
}

fn run(solver: &mut DefaultSolver<f64>) {
    solver.solve();
    let status = solver.solution.status;
    assert!(matches!(status, SolverStatus::Solved | SolverStatus::AlmostSolved), "{status:?}");
}

fn precise() -> DefaultSettings<f64> {
    DefaultSettingsBuilder::default()
        .verbose(false)
        .tol_gap_abs(1e-10)
        .tol_gap_rel(1e-10)
        .tol_feas(1e-10)
        .max_iter(200)
        .build()
        .unwrap()
}

fn csc(rows: usize, columns: usize, entry: impl Fn(usize, usize) -> f64) -> CscMatrix<f64> {
    let (mut starts, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
    for column in 0..columns {
        for row in 0..rows {
            let value = entry(row, column);
            if value != 0.0 {
                indices.push(row);
                values.push(value);
            }
        }
        starts.push(indices.len());
    }
    CscMatrix::new(rows, columns, starts, indices, values)
}
