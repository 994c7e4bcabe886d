//! The n best sets of links, if rows and columns may have several.

use super::{AssignmentError, DegreeBounded, Nulls, check};
use crate::util::best_first::BestFirst;

/// A set of links and its score.
///
/// ```
/// use maxmargin::inference::n_best_links;
///
/// let best = n_best_links(&[2.0, 1.0], 1, 2, [2, 1], 1)?;
/// assert_eq!((best[0].score, best[0].links.as_slice()), (3.0, &[(0, 0), (0, 1)][..]));
/// # Ok::<(), maxmargin::inference::AssignmentError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct LinkSet {
    /// The score.
    pub score: f64,
    /// Rows and columns, in increasing order.
    pub links: Vec<(u32, u32)>,
}

/// Finds the `n` best sets of links with at most `most` per row and per column, best first. The list is
/// shorter if there are fewer sets. Scores are stored row by row; −∞ forbids a link.
///
/// This is Lawler's method: all sets other than the best one are divided into classes by the first link,
/// row by row, at which they differ from it. The best of each class is a set under constraints, found by
/// [`DegreeBounded`], and the best of these is the next answer, whose class is divided in turn. Each of
/// the n answers takes at most as many solutions as there are possible links.
///
/// ```
/// use maxmargin::inference::n_best_links;
///
/// let found = n_best_links(&[3.0, 1.0, 2.0], 1, 3, [2, 1], 3)?;
/// let scores: Vec<f64> = found.iter().map(|set| set.score).collect();
/// assert_eq!(scores, [5.0, 4.0, 3.0]);
/// # Ok::<(), maxmargin::inference::AssignmentError>(())
/// ```
///
/// # Errors
/// If a score is NaN or +∞.
///
/// # Panics
/// If the number of scores is not `rows` · `columns`.
pub fn n_best_links(
    scores: &[f64],
    rows: usize,
    columns: usize,
    most: [usize; 2],
    n: usize,
) -> Result<Vec<LinkSet>, AssignmentError> {
    check(scores, rows, columns, Nulls::Free)?;
    let cells: Vec<usize> = (0..scores.len()).filter(|&at| scores[at].is_finite()).collect();
    let solver = DegreeBounded::new();
    let mut search = Lawler { scores, rows, columns, most, cells, solver };
    let mut waiting = BestFirst::default();
    let add = |waiting: &mut BestFirst<Class>, class: Option<Class>| {
        class.into_iter().for_each(|class| waiting.push(class.best.score, class));
    };
    if n > 0 {
        add(&mut waiting, search.solve(0, &[], None)?);
    }
    let mut found = Vec::new();
    while let Some(Class { best, fixed }) = waiting.pop() {
        if found.len() + 1 < n {
            for flipped in fixed..search.cells.len() {
                add(&mut waiting, search.solve(flipped, &best.links, Some(flipped))?);
            }
        }
        found.push(best);
        if found.len() == n {
            break;
        }
    }
    Ok(found)
}

/// All sets that agree with `best` on the first `fixed` of the possible links.
struct Class {
    best: LinkSet,
    fixed: usize,
}

struct Lawler<'a> {
    scores: &'a [f64],
    rows: usize,
    columns: usize,
    most: [usize; 2],
    /// The places of possible links, row by row.
    cells: Vec<usize>,
    solver: DegreeBounded,
}

impl Lawler<'_> {
    /// Finds the best set that agrees with `like` on the first `fixed` possible links and differs from it
    /// at the link `flipped`. Returns `None` if there is no such set.
    fn solve(
        &mut self,
        fixed: usize,
        like: &[(u32, u32)],
        flipped: Option<usize>,
    ) -> Result<Option<Class>, AssignmentError> {
        let mut table = self.scores.to_vec();
        let mut taken = Vec::new();
        let decided = fixed + usize::from(flipped.is_some());
        for (at, &cell) in self.cells.iter().enumerate().take(decided) {
            let link = ((cell / self.columns) as u32, (cell % self.columns) as u32);
            let has = like.binary_search(&link).is_ok() != (flipped == Some(at));
            if has {
                taken.push(link);
            }
            // The solver must not decide this link again.
            table[cell] = f64::NEG_INFINITY;
        }
        let count = |of: &dyn Fn(&(u32, u32)) -> bool| taken.iter().filter(|link| of(link)).count();
        if let Some(&(r, c)) = taken.last()
            && (count(&|link| link.0 == r) > self.most[0]
                || count(&|link| link.1 == c) > self.most[1])
        {
            return Ok(None);
        }
        let (mut links, most) = (Vec::new(), self.most);
        self.solver.solve_after(&table, self.rows, self.columns, most, &taken, &mut links)?;
        links.extend_from_slice(&taken);
        links.sort_unstable();
        let place = |&(r, c): &(u32, u32)| r as usize * self.columns + c as usize;
        let score = links.iter().map(|link| self.scores[place(link)]).sum();
        let best = LinkSet { score, links };
        Ok(Some(Class { best, fixed: decided }))
    }
}
