//! Linear programs and their solvers.
//!
//! [`SimplexMethod`] is written in Rust and needs no other software. Other solvers implement [`SolveLp`]:
//! the crate `maxmargin-highs` has one that is faster on large graphs but needs a C++ compiler.

use std::fmt;
use thiserror::Error;

/// A linear program in standard form: maximise ⟨c, x⟩ over x ≥ 0 with Ax = b.
///
/// ```
/// use maxmargin::inference::{LinearProgram, SimplexMethod, SolveLp};
///
/// let mut lp = LinearProgram::new(vec![1.0, 2.0, 0.0]);
/// lp.push_row([(0, 1.0), (1, 1.0), (2, 1.0)], 1.0);
/// let mut x = Vec::new();
/// SimplexMethod.solve(&lp, &mut x)?;
/// assert_eq!(x, [0.0, 1.0, 0.0]);
/// # Ok::<(), maxmargin::inference::LpError>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LinearProgram {
    /// The coefficients c, one per variable.
    pub objective: Vec<f64>,
    /// The rows of A, one after another.
    entries: Vec<(u32, f64)>,
    ends: Vec<usize>,
    right: Vec<f64>,
}

impl LinearProgram {
    /// Creates a program without rows, with the coefficients c.
    pub fn new(objective: Vec<f64>) -> Self {
        Self { objective, ..Self::default() }
    }

    /// Removes everything and keeps the memory.
    pub fn clear(&mut self) {
        self.objective.clear();
        self.entries.clear();
        self.ends.clear();
        self.right.clear();
    }

    /// Adds a row of A, as pairs of a variable and its coefficient, with its entry of b.
    pub fn push_row(&mut self, entries: impl IntoIterator<Item = (u32, f64)>, right: f64) {
        self.entries.extend(entries);
        self.ends.push(self.entries.len());
        self.right.push(right);
    }

    /// The rows of A with their entries of b.
    ///
    /// ```
    /// let mut lp = maxmargin::inference::LinearProgram::default();
    /// lp.push_row([(0, 2.0)], 1.0);
    /// assert!(lp.rows().eq([(&[(0, 2.0)][..], 1.0)]));
    /// ```
    pub fn rows(&self) -> impl ExactSizeIterator<Item = (&[(u32, f64)], f64)> {
        let mut start = 0;
        self.ends.iter().zip(&self.right).map(move |(&end, &right)| {
            let row = &self.entries[start..end];
            start = end;
            (row, right)
        })
    }
}

/// Why an LP solver has failed.
///
/// ```
/// use maxmargin::inference::LpError;
/// let error = LpError { solver: "simplex", why: "too hard".into() };
/// assert_eq!(error.to_string(), "the LP solver simplex has failed: too hard");
/// ```
#[derive(Debug, Error, Clone, PartialEq, Eq)]
#[error("the LP solver {solver} has failed: {why}")]
pub struct LpError {
    /// The name of the solver.
    pub solver: &'static str,
    /// What the solver says.
    pub why: String,
}

/// A solver of linear programs. It must always return the same answer for the same program.
///
/// ```
/// use maxmargin::inference::{LinearProgram, LpError, SimplexMethod, SolveLp};
///
/// /// Counts what it passes on.
/// #[derive(Debug, Default)]
/// struct Counting(std::sync::atomic::AtomicU64);
///
/// impl SolveLp for Counting {
///     fn solve(&self, lp: &LinearProgram, x: &mut Vec<f64>) -> Result<(), LpError> {
///         self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
///         SimplexMethod.solve(lp, x)
///     }
///     fn solve_dual(&self, lp: &LinearProgram, y: &mut Vec<f64>) -> Result<(), LpError> {
///         SimplexMethod.solve_dual(lp, y)
///     }
/// }
/// # let mut lp = LinearProgram::new(vec![1.0]);
/// # lp.push_row([(0, 1.0)], 2.0);
/// # let mut x = Vec::new();
/// # Counting::default().solve(&lp, &mut x)?;
/// # assert_eq!(x, [2.0]);
/// # Ok::<(), LpError>(())
/// ```
pub trait SolveLp: Send + Sync + fmt::Debug {
    /// Writes a corner of the feasible set with the largest objective to `x`.
    ///
    /// # Errors
    /// There is none, or the solver has not found it.
    fn solve(&self, lp: &LinearProgram, x: &mut Vec<f64>) -> Result<(), LpError>;

    /// Writes multipliers of the rows to `y` that minimise ⟨b, y⟩ subject to Aᵀy ≥ c. They solve the
    /// dual, which has the same value as the program.
    ///
    /// # Errors
    /// There is none, or the solver has not found it.
    fn solve_dual(&self, lp: &LinearProgram, y: &mut Vec<f64>) -> Result<(), LpError>;
}

/// The simplex method of the crate `microlp`, in pure Rust.
///
/// It does not return duals, so the dual is solved as a separate program. Without the feature `lp` it
/// always fails with an error that says so, and certificates that would rest on it are unproven.
///
/// ```
/// use maxmargin::inference::{LinearProgram, SimplexMethod, SolveLp};
///
/// let mut lp = LinearProgram::new(vec![1.0, 2.0, 0.0]);
/// lp.push_row([(0, 1.0), (1, 1.0), (2, 1.0)], 3.0);
/// let mut y = Vec::new();
/// SimplexMethod.solve_dual(&lp, &mut y)?;
/// assert_eq!(y, [2.0]); // one more on the right is worth 2
/// # Ok::<(), maxmargin::inference::LpError>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SimplexMethod;

#[cfg(feature = "lp")]
impl SimplexMethod {
    fn run(problem: &microlp::Problem) -> Result<microlp::Solution, LpError> {
        let failed = |why: String| LpError { solver: "simplex", why };
        let mut options = microlp::SolveOptions::default();
        options.tolerances.feasibility = 1e-9;
        let outcome = problem.solve_with(options).map_err(|error| failed(error.to_string()))?;
        outcome.into_solution().map_err(|_| failed("it was interrupted".to_owned()))
    }
}

#[cfg(feature = "lp")]
impl SolveLp for SimplexMethod {
    fn solve(&self, lp: &LinearProgram, x: &mut Vec<f64>) -> Result<(), LpError> {
        let mut problem = microlp::Problem::new(microlp::OptimizationDirection::Maximize);
        let add = |&c: &f64| problem.add_var(c, (0.0, f64::INFINITY));
        let variables: Vec<_> = lp.objective.iter().map(add).collect();
        for (row, right) in lp.rows() {
            let terms = row.iter().map(|&(at, coefficient)| (variables[at as usize], coefficient));
            problem.add_constraint(terms, microlp::ComparisonOp::Eq, right);
        }
        let solution = Self::run(&problem)?;
        x.clear();
        x.extend(variables.iter().map(|&variable| solution.var_value(variable)));
        Ok(())
    }

    fn solve_dual(&self, lp: &LinearProgram, y: &mut Vec<f64>) -> Result<(), LpError> {
        let mut problem = microlp::Problem::new(microlp::OptimizationDirection::Minimize);
        let mut columns = vec![microlp::LinearExpr::empty(); lp.objective.len()];
        let mut variables = Vec::new();
        for (row, right) in lp.rows() {
            let variable = problem.add_var(right, (f64::NEG_INFINITY, f64::INFINITY));
            variables.push(variable);
            for &(at, coefficient) in row {
                columns[at as usize].add(variable, coefficient);
            }
        }
        for (column, &least) in columns.into_iter().zip(&lp.objective) {
            problem.add_constraint(column, microlp::ComparisonOp::Ge, least);
        }
        let solution = Self::run(&problem)?;
        y.clear();
        y.extend(variables.iter().map(|&variable| solution.var_value(variable)));
        Ok(())
    }
}

#[cfg(not(feature = "lp"))]
impl SolveLp for SimplexMethod {
    fn solve(&self, _: &LinearProgram, _: &mut Vec<f64>) -> Result<(), LpError> {
        let why = "this build does not have the feature `lp`; enable it, or use another solver";
        Err(LpError { solver: "simplex", why: why.to_owned() })
    }

    fn solve_dual(&self, lp: &LinearProgram, y: &mut Vec<f64>) -> Result<(), LpError> {
        self.solve(lp, y)
    }
}
