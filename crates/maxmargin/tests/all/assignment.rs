//! Assignments against brute force on small tables, and against their dual proof on large ones.

use crate::common::{assert_close, cases};
use maxmargin::Rng;
use maxmargin::inference::{
    Assignment, AssignmentError, DegreeBounded, Nulls, n_best_assignments, n_best_links,
};
use proptest::prelude::*;

const NEVER: f64 = f64::NEG_INFINITY;

/// A table of scores of several kinds, with scores of unmatched rows and columns.
#[derive(Debug, Clone)]
struct Table {
    rows: usize,
    columns: usize,
    scores: Vec<f64>,
    row_nulls: Vec<f64>,
    column_nulls: Vec<f64>,
}

impl Table {
    fn random(rows: usize, columns: usize, kind: usize, seed: u64) -> Self {
        let mut rng = Rng::new(seed);
        let mut draw = |kind: usize| match kind {
            0 => 4.0 * rng.unit_f64() - 2.0,
            1 => rng.below(3) as f64 - 1.0, // ties
            2 => 0.0,
            3 => 1e15 * (rng.unit_f64() - 0.5) + rng.below(3) as f64,
            4 if rng.below(3) == 0 => NEVER,
            4 => rng.below(4) as f64 - 1.0,
            _ => 1e-200 * (rng.unit_f64() - 0.5),
        };
        let scores = (0..rows * columns).map(|_| draw(kind)).collect();
        let kind = if kind == 4 { 1 } else { kind };
        let row_nulls = (0..rows).map(|_| draw(kind)).collect();
        let column_nulls = (0..columns).map(|_| draw(kind)).collect();
        Self { rows, columns, scores, row_nulls, column_nulls }
    }

    fn nulls(&self, kind: usize) -> Nulls<'_> {
        match kind {
            0 => Nulls::Forbidden,
            1 => Nulls::Free,
            _ => Nulls::Scored { rows: &self.row_nulls, columns: &self.column_nulls },
        }
    }

    fn size(&self) -> f64 {
        let all = self.scores.iter().chain(&self.row_nulls).chain(&self.column_nulls);
        all.filter(|s| s.is_finite()).fold(0.0f64, |m, s| m.max(s.abs()))
            * (self.rows + self.columns) as f64
    }

    fn score(&self, nulls: Nulls<'_>, links: &[Option<u32>]) -> f64 {
        let mut unmatched: Vec<f64> = match nulls {
            Nulls::Scored { columns, .. } => columns.to_vec(),
            _ => vec![0.0; self.columns],
        };
        let mut total = 0.0;
        for (r, link) in links.iter().enumerate() {
            match link {
                Some(c) => {
                    total += self.scores[r * self.columns + *c as usize];
                    unmatched[*c as usize] = 0.0;
                }
                None => {
                    if let Nulls::Scored { rows, .. } = nulls {
                        total += rows[r];
                    }
                }
            }
        }
        total + unmatched.iter().sum::<f64>()
    }

    /// All assignments that are allowed, best first.
    fn all(&self, nulls: Nulls<'_>) -> Vec<(f64, Vec<Option<u32>>)> {
        let mut found = Vec::new();
        self.extend(nulls, &mut Vec::new(), &mut found);
        found.sort_by(|a, b| b.0.total_cmp(&a.0));
        found
    }

    fn extend(
        &self,
        nulls: Nulls<'_>,
        links: &mut Vec<Option<u32>>,
        found: &mut Vec<(f64, Vec<Option<u32>>)>,
    ) {
        if links.len() == self.rows {
            let matched = links.iter().flatten().count();
            let complete = matched == self.rows.min(self.columns);
            let score = self.score(nulls, links);
            if score > NEVER && (complete || nulls != Nulls::Forbidden) {
                found.push((score, links.clone()));
            }
            return;
        }
        for choice in [None].into_iter().chain((0..self.columns as u32).map(Some)) {
            if choice.is_none() || !links.contains(&choice) {
                links.push(choice);
                self.extend(nulls, links, found);
                links.pop();
            }
        }
    }

    /// The scores of all sets of links with bounded degrees, best first.
    fn all_links(&self, most: [usize; 2]) -> Vec<f64> {
        let links = self.rows * self.columns;
        let mut all = Vec::new();
        for set in 0u32..1 << links {
            let on = |at: usize| set >> at & 1 == 1;
            let rows = (0..self.rows)
                .all(|r| (0..self.columns).filter(|c| on(r * self.columns + c)).count() <= most[0]);
            let columns = (0..self.columns)
                .all(|c| (0..self.rows).filter(|r| on(r * self.columns + c)).count() <= most[1]);
            let possible = (0..links).all(|at| !on(at) || self.scores[at] > NEVER);
            if rows && columns && possible {
                all.push((0..links).filter(|&at| on(at)).map(|at| self.scores[at]).sum());
            }
        }
        all.sort_by(|a: &f64, b| b.total_cmp(a));
        all
    }

    /// The best set of links with bounded degrees, by trying all sets.
    fn best_links(&self, most: [usize; 2]) -> f64 {
        self.all_links(most)[0]
    }
}

/// Checks that the duals prove the score to be the best.
fn check_proof(table: &Table, nulls: Nulls<'_>, solver: &Assignment, score: f64) {
    let slack = 1e-12 * table.size();
    let (u, v) = (solver.row_duals(), solver.column_duals());
    for (at, &s) in table.scores.iter().enumerate() {
        let (r, c) = (at / table.columns, at % table.columns);
        assert!(u[r] + v[c] >= s - slack, "link {r}-{c}: {} + {} < {s}", u[r], v[c]);
    }
    let least = |duals: &[f64], nulls: &[f64]| {
        assert!(duals.iter().zip(nulls).all(|(dual, null)| *dual >= null - slack));
    };
    match nulls {
        Nulls::Forbidden => {
            // Only the larger side can have unmatched rows or columns.
            if table.rows < table.columns {
                least(v, &vec![0.0; table.columns]);
            }
            if table.columns < table.rows {
                least(u, &vec![0.0; table.rows]);
            }
        }
        Nulls::Free => {
            least(u, &vec![0.0; table.rows]);
            least(v, &vec![0.0; table.columns]);
        }
        Nulls::Scored { rows, columns } => {
            least(u, rows);
            least(v, columns);
        }
    }
    let total = u.iter().chain(v).sum::<f64>();
    assert!((total - score).abs() <= slack * (table.rows + table.columns) as f64);
}

proptest! {
    #![proptest_config(cases(600))]

    #[test]
    fn the_best_assignment_is_found_and_proven(
        rows in 0usize..5, columns in 0usize..5, kind in 0usize..6, null in 0usize..3,
        seed in any::<u64>()
    ) {
        let table = Table::random(rows, columns, kind, seed);
        let nulls = table.nulls(null);
        let (mut solver, mut links) = (Assignment::new(), Vec::new());
        // The memory of another problem must not matter.
        let other = Table::random(columns, 4, 0, seed);
        solver.solve(&other.scores, columns, 4, Nulls::Free, &mut links).unwrap();
        let found = solver.solve(&table.scores, rows, columns, nulls, &mut links);
        match table.all(nulls).first() {
            None => prop_assert_eq!(found, Err(AssignmentError::Infeasible)),
            Some((best, _)) => {
                let score = found.unwrap();
                assert_close(score, *best, 1e-13, table.size());
                assert_close(table.score(nulls, &links), score, 1e-13, table.size());
                let mut taken: Vec<_> = links.iter().flatten().collect();
                let count = taken.len();
                taken.sort();
                taken.dedup();
                prop_assert_eq!(count, taken.len());
                check_proof(&table, nulls, &solver, score);
            }
        }
    }

    #[test]
    fn the_n_best_sets_of_links_are_found_in_order(
        rows in 0usize..4, columns in 0usize..4, kind in 0usize..6, most in [1usize..4, 1usize..3],
        n in 0usize..60, seed in any::<u64>()
    ) {
        let table = Table::random(rows, columns, kind, seed);
        let all = table.all_links(most);
        let found = n_best_links(&table.scores, rows, columns, most, n).unwrap();
        prop_assert_eq!(found.len(), n.min(all.len()));
        for (at, (set, best)) in found.iter().zip(&all).enumerate() {
            let own: f64 =
                set.links.iter().map(|&(r, c)| table.scores[r as usize * columns + c as usize]).sum();
            assert_close(set.score, *best, 1e-13, table.size());
            assert_close(own, *best, 1e-13, table.size());
            prop_assert!(found[..at].iter().all(|other| other.links != set.links));
            let of = |r: u32, by: fn(&(u32, u32)) -> u32| set.links.iter().filter(|l| by(l) == r).count();
            prop_assert!((0..rows as u32).all(|r| of(r, |l| l.0) <= most[0]));
            prop_assert!((0..columns as u32).all(|c| of(c, |l| l.1) <= most[1]));
        }
    }

    #[test]
    fn the_n_best_are_found_in_order(
        rows in 0usize..4, columns in 0usize..5, kind in 0usize..6, null in 0usize..3,
        n in 0usize..40, seed in any::<u64>()
    ) {
        let table = Table::random(rows, columns, kind, seed);
        let nulls = table.nulls(null);
        let all = table.all(nulls);
        match n_best_assignments(&table.scores, rows, columns, nulls, n) {
            Err(error) => {
                prop_assert_eq!(error, AssignmentError::Infeasible);
                prop_assert!(all.is_empty());
            }
            Ok(found) => {
                prop_assert_eq!(found.len(), n.min(all.len()));
                for (one, (best, _)) in found.iter().zip(&all) {
                    assert_close(one.score, *best, 1e-13, table.size());
                    assert_close(table.score(nulls, &one.links), *best, 1e-13, table.size());
                }
                for (at, one) in found.iter().enumerate() {
                    prop_assert!(found[..at].iter().all(|other| other.links != one.links));
                }
            }
        }
    }

    #[test]
    fn bounded_degrees_are_kept_and_best(
        rows in 0usize..4, columns in 0usize..4, kind in 0usize..6, most in (1usize..4, 1usize..4),
        seed in any::<u64>()
    ) {
        let table = Table::random(rows, columns, kind, seed);
        let most = [most.0, most.1];
        let (mut solver, mut links) = (DegreeBounded::new(), Vec::new());
        let score = solver.solve(&table.scores, rows, columns, most, &mut links).unwrap();
        assert_close(score, table.best_links(most), 1e-13, table.size());
        for (side, most) in most.into_iter().enumerate() {
            let end = |link: &(u32, u32)| if side == 0 { link.0 } else { link.1 };
            let degree = |at| links.iter().filter(|link| end(link) == at).count();
            prop_assert!((0..4).all(|at| degree(at) <= most));
        }
        prop_assert!(links.is_sorted_by(|a, b| a < b));
    }

    #[test]
    fn with_one_link_each_both_methods_agree(
        rows in 1usize..25, columns in 1usize..25, kind in 0usize..6, seed in any::<u64>()
    ) {
        let table = Table::random(rows, columns, kind, seed);
        let (mut links, mut pairs) = (Vec::new(), Vec::new());
        let a = Assignment::new().solve(&table.scores, rows, columns, Nulls::Free, &mut links);
        let b = DegreeBounded::new().solve(&table.scores, rows, columns, [1, 1], &mut pairs);
        assert_close(a.unwrap(), b.unwrap(), 1e-12, table.size());
    }
}

#[test]
fn large_tables_are_proven() {
    let mut solver = Assignment::new();
    let mut links = Vec::new();
    for (rows, columns) in [(200, 200), (150, 220), (220, 150)] {
        for kind in [0, 1, 2, 3] {
            for null in 0..3 {
                let table = Table::random(rows, columns, kind, 7);
                let nulls = table.nulls(null);
                let score = solver.solve(&table.scores, rows, columns, nulls, &mut links).unwrap();
                assert_close(table.score(nulls, &links), score, 1e-12, table.size());
                check_proof(&table, nulls, &solver, score);
            }
        }
    }
}

#[test]
fn invalid_scores_are_rejected() {
    let (mut solver, mut links) = (Assignment::new(), Vec::new());
    for bad in [f64::NAN, f64::INFINITY] {
        let scores = [0.0, 1.0, 2.0, 3.0, bad, 5.0];
        let error = solver.solve(&scores, 2, 3, Nulls::Free, &mut links).unwrap_err();
        assert!(error.to_string().starts_with("the score of row 1 with column 1 is"), "{error}");
        assert!(DegreeBounded::new().solve(&scores, 2, 3, [1, 1], &mut Vec::new()).is_err());
        assert!(n_best_assignments(&scores, 2, 3, Nulls::Free, 2).is_err());
    }
    for bad in [f64::NAN, f64::INFINITY, NEVER] {
        let nulls = Nulls::Scored { rows: &[0.0], columns: &[0.0, bad] };
        let error = solver.solve(&[1.0, 2.0], 1, 2, nulls, &mut links).unwrap_err();
        assert!(error.to_string().starts_with("the score of leaving column 1 unmatched"));
        assert!(n_best_assignments(&[1.0, 2.0], 1, 2, nulls, 2).is_err());
    }
}
