//! The dual as a quadratic program, for a solver that knows nothing of Frank-Wolfe.

use super::problems::Enumerated;
use super::{add_scaled, dot, norm_sq};
use clarabel::algebra::CscMatrix;
use clarabel::solver::{
    DefaultSettingsBuilder, DefaultSolver, IPSolver, NonnegativeConeT, SolverStatus, ZeroConeT,
};

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
    let settings = DefaultSettingsBuilder::default()
        .verbose(false)
        .tol_gap_abs(1e-10)
        .tol_gap_rel(1e-10)
        .tol_feas(1e-10)
        .max_iter(200)
        .build()
        .unwrap();
    let mut solver =
        DefaultSolver::new(&quadratic, &linear, &constraints, &bounds, &cones, settings).unwrap();
    solver.solve();
    let status = solver.solution.status;
    assert!(matches!(status, SolverStatus::Solved | SolverStatus::AlmostSolved), "{status:?}");

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
