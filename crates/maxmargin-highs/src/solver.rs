//! Linear programs handed over to HiGHS.

use highs::{HighsModelStatus, RowProblem, Sense, Solution};
use maxmargin::inference::{LinearProgram, LpError, SolveLp};

/// The simplex method of HiGHS, on one thread, with its tightest tolerances.
///
/// ```
/// use maxmargin::inference::{LinearProgram, SolveLp};
/// use maxmargin_highs::Highs;
///
/// let mut lp = LinearProgram::new(vec![1.0, 2.0, 0.0]);
/// lp.push_row([(0, 1.0), (1, 1.0), (2, 1.0)], 3.0);
/// let (mut x, mut y) = (Vec::new(), Vec::new());
/// Highs.solve(&lp, &mut x)?;
/// Highs.solve_dual(&lp, &mut y)?;
/// assert_eq!((x, y), (vec![0.0, 3.0, 0.0], vec![2.0]));
/// # Ok::<(), maxmargin::inference::LpError>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Highs;

impl Highs {
    fn run(lp: &LinearProgram) -> Result<Solution, LpError> {
        let failed = |why: String| LpError { solver: "highs", why };
        let mut problem = RowProblem::default();
        let columns: Vec<_> = lp.objective.iter().map(|&c| problem.add_column(c, 0.0..)).collect();
        let mut terms = Vec::new();
        for (row, right) in lp.rows() {
            terms.clear();
            terms.extend(row.iter().map(|&(at, coefficient)| (columns[at as usize], coefficient)));
            problem.add_row(right..=right, &terms);
        }
        let mut model = problem
            .try_optimise(Sense::Maximise)
            .map_err(|status| failed(format!("it does not take the program: {status:?}")))?;
        model.make_quiet();
        model.set_option("solver", "simplex");
        model.set_option("threads", 1);
        model.set_option("primal_feasibility_tolerance", 1e-10);
        model.set_option("dual_feasibility_tolerance", 1e-10);
        let solved = model.try_solve().map_err(|status| failed(format!("{status:?}")))?;
        match solved.status() {
            HighsModelStatus::Optimal | HighsModelStatus::ModelEmpty => Ok(solved.get_solution()),
            status => Err(failed(format!("{status:?}"))),
        }
    }
}

impl SolveLp for Highs {
    fn solve(&self, lp: &LinearProgram, x: &mut Vec<f64>) -> Result<(), LpError> {
        let solution = Self::run(lp)?;
        x.clear();
        x.extend_from_slice(solution.columns());
        Ok(())
    }

    fn solve_dual(&self, lp: &LinearProgram, y: &mut Vec<f64>) -> Result<(), LpError> {
        let solution = Self::run(lp)?;
        y.clear();
        y.extend_from_slice(solution.dual_rows());
        Ok(())
    }
}
