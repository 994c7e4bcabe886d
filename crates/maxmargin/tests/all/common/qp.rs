//! The dual as a quadratic program, for a solver that does not use Frank-Wolfe.

use super::problems::Enumerated;
use super::{add_scaled, dot, norm_sq};
use clarabel::algebra::CscMatrix;
use clarabel::solver::{
    DefaultSettings, DefaultSettingsBuilder, DefaultSolution, DefaultSolver, IPSolver,
    NonnegativeConeT, SolverStatus, ZeroConeT,
};
use maxmargin::Bounds;

/// The optimum of the dual, between the dual and the primal value of the solver's answer, whose masses
/// are first made exactly feasible.
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
    // Every block sums to one.
    let blocks: &Vec<usize> = &columns.iter().map(|column| column.0).collect();
    let own = |block: usize| (0..variables).filter(move |&v| blocks[v] == block);
    let sums: Vec<_> = (0..n).map(|block| (own(block).map(|v| (v, 1.0)).collect(), 1.0)).collect();
    let masses = minimise(&quadratic, &linear, &sums, 1e-10);

    let mut masses: Vec<f64> = masses.into_iter().map(|x| x.max(0.0)).collect();
    for block in 0..n {
        let sum: f64 = own(block).map(|v| masses[v]).sum();
        own(block).for_each(|v| masses[v] /= sum);
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
    let solution = run(1e-10, |settings| {
        DefaultSolver::new(&quadratic, &linear, &constraints, &right, &cones, settings).unwrap()
    });
    let x = &solution.x[..d];
    let w: Vec<f64> = x.iter().enumerate().map(|(at, &x)| bounds.clip(at, x)).collect();
    Optimum { below: solution.obj_val_dual, above: problem.primal(lambda, &w) }
}

/// Solves a program to the tolerance, or to ten or a hundred times as much where rounding ends the solver's progress
/// before that.
fn run(
    tolerance: f64,
    solver: impl Fn(DefaultSettings<f64>) -> DefaultSolver<f64>,
) -> DefaultSolution<f64> {
    let mut almost = None;
    for times in [1.0, 10.0, 100.0] {
        let mut solver = solver(precise(times * tolerance));
        solver.solve();
        match solver.solution.status {
            SolverStatus::Solved => return solver.solution,
            SolverStatus::AlmostSolved => almost = almost.or(Some(solver.solution)),
            _ => {}
        }
    }
    almost.expect("the solver makes no progress")
}

fn precise(tolerance: f64) -> DefaultSettings<f64> {
    DefaultSettingsBuilder::default()
        .verbose(false)
        .tol_gap_abs(tolerance)
        .tol_gap_rel(tolerance)
        .tol_feas(tolerance)
        .max_iter(200)
        .build()
        .unwrap()
}

/// Minimises ½xᵀQx + cᵀx over x ≥ 0 with the given equations; Q by its upper triangle.
pub fn minimise(
    quadratic: &CscMatrix<f64>,
    linear: &[f64],
    equations: &[(Vec<(usize, f64)>, f64)],
    tolerance: f64,
) -> Vec<f64> {
    minimise_partly_free(quadratic, linear, equations, 0, tolerance)
}

/// The same, with the last `free` variables of any sign.
pub fn minimise_partly_free(
    quadratic: &CscMatrix<f64>,
    linear: &[f64],
    equations: &[(Vec<(usize, f64)>, f64)],
    free: usize,
    tolerance: f64,
) -> Vec<f64> {
    let (n, variables) = (equations.len(), linear.len());
    let signed = variables - free;
    let mut dense = vec![vec![0.0; variables]; n];
    for (row, (terms, _)) in dense.iter_mut().zip(equations) {
        terms.iter().for_each(|&(at, coefficient)| row[at] += coefficient);
    }
    // Equations, and then x ≥ 0: A x + s = b.
    let constraints = csc(n + signed, variables, |row, column| {
        if row < n { dense[row][column] } else { -f64::from(row - n == column) }
    });
    let right = |row: usize| equations.get(row).map_or(0.0, |equation| equation.1);
    let bounds: Vec<f64> = (0..n + signed).map(right).collect();
    let cones = [ZeroConeT(n), NonnegativeConeT(signed)];
    let solution = run(tolerance, |settings| {
        DefaultSolver::new(quadratic, linear, &constraints, &bounds, &cones, settings).unwrap()
    });
    solution.x
}

pub fn csc(rows: usize, columns: usize, entry: impl Fn(usize, usize) -> f64) -> CscMatrix<f64> {
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
