//! Prediction: the best sets of links of a pair.

use super::pairs::Pair;
use super::shape::MatchingShape;
use crate::inference::assignment::{
    Assignment, DegreeBounded, Nulls, n_best_assignments, n_best_links,
};

/// Predicts with a trained matching: finds the best set of links, or the n best.
///
/// ```
/// use maxmargin::model::matching::{Gold, Matcher, MatchingShape, Pairs};
///
/// let mut data = Pairs::new();
/// for (at, score) in [2.0, 1.5, 3.0, -1.0].into_iter().enumerate() {
///     data.push_link(at as u32 / 2, at as u32 % 2, [(0, score)], Gold::Wrong)?;
/// }
/// data.end_pair(2, 2, 1.0)?;
/// let (shape, w) = (MatchingShape::new(1), [1.0]);
/// let mut matcher = Matcher::new(shape, &w);
/// assert_eq!(matcher.best(&data.pair(0)), 4.5);
/// assert_eq!(matcher.links(&data.pair(0)), [(0, 1), (1, 0)]);
/// let best = matcher.n_best(&data.pair(0), 2);
/// assert_eq!((best[1].score, best[1].links.as_slice()), (3.0, &[(1, 0)][..])); // row 0 stays alone
/// # Ok::<(), maxmargin::model::InputError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Matcher<'a> {
    shape: MatchingShape,
    w: &'a [f64],
    search: Search,
    scores: Vec<f64>,
    candidates: Vec<u32>,
}

/// A set of links and its score.
///
/// ```
/// use maxmargin::model::matching::ScoredLinks;
/// let none = ScoredLinks { score: 0.0, links: Vec::new() };
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct ScoredLinks {
    /// The score.
    pub score: f64,
    /// Rows and columns, in increasing order.
    pub links: Vec<(u32, u32)>,
}

impl<'a> Matcher<'a> {
    /// Creates a matcher with the weights `w`.
    ///
    /// # Panics
    /// If there are fewer weights than attributes.
    pub fn new(shape: MatchingShape, w: &'a [f64]) -> Self {
        assert!(w.len() >= shape.attributes, "one weight for each attribute");
        let (search, scores, candidates) = (Search::default(), Vec::new(), Vec::new());
        Self { shape, w, search, scores, candidates }
    }

    /// Finds the best links of a pair, and returns their score.
    ///
    /// # Panics
    /// If the pair has attributes beyond those of the shape.
    pub fn best(&mut self, pair: &Pair<'_>) -> f64 {
        score_links(self.w, pair, &mut self.scores);
        self.search.run(&self.shape, pair, &self.scores, &mut self.candidates);
        self.candidates.iter().map(|&k| self.scores[k as usize]).sum()
    }

    /// The numbers of the candidates that [`best`](Self::best) has found, in increasing order.
    pub fn candidates(&self) -> &[u32] {
        &self.candidates
    }

    /// The links that [`best`](Self::best) has found in this pair.
    ///
    /// # Panics
    /// If `best` was called with another pair that has more candidates.
    pub fn links(&self, pair: &Pair<'_>) -> Vec<(u32, u32)> {
        self.candidates.iter().map(|&k| pair.link(k as usize)).collect()
    }

    /// The `n` best sets of links, best first.
    ///
    /// # Panics
    /// The same as for [`best`](Self::best), and if a score is not finite.
    #[cfg(feature = "unstable")]
    pub fn n_best(&mut self, pair: &Pair<'_>, n: usize) -> Vec<ScoredLinks> {
        score_links(self.w, pair, &mut self.scores);
        self.search.fill(pair, &self.scores);
        let (rows, columns) = (pair.rows() as usize, pair.columns() as usize);
        if !self.shape.is_one_to_one() {
            let most = [self.shape.most_per_row, self.shape.most_per_column];
            let found = n_best_links(&self.search.table, rows, columns, most, n);
            let sets = found.expect("scores must be finite").into_iter();
            return sets.map(|set| ScoredLinks { score: set.score, links: set.links }).collect();
        }
        let found = n_best_assignments(&self.search.table, rows, columns, Nulls::Free, n);
        let found = found.expect("scores must be finite");
        let links = |links: Vec<Option<u32>>| {
            (0..).zip(links).filter_map(|(r, link)| Some((r, link?))).collect()
        };
        found
            .into_iter()
            .map(|one| ScoredLinks { score: one.score, links: links(one.links) })
            .collect()
    }
}

/// Fills `scores` with the score of every candidate.
#[inline]
pub(super) fn score_links(w: &[f64], pair: &Pair<'_>, scores: &mut Vec<f64>) {
    scores.clear();
    scores.extend((0..pair.links().len()).map(|k| pair.attributes(k).dot(w)));
}

/// The memory of searches for sets of links, which is reused.
#[derive(Debug, Clone, Default)]
pub(super) struct Search {
    /// The scores of all rows and columns, −∞ for links that are not candidates.
    table: Vec<f64>,
    assignment: Assignment,
    columns: Vec<Option<u32>>,
    bounded: DegreeBounded,
    links: Vec<(u32, u32)>,
}

impl Search {
    /// Fills the table with the scores of candidates.
    fn fill(&mut self, pair: &Pair<'_>, scores: &[f64]) {
        let columns = pair.columns() as usize;
        self.table.clear();
        self.table.resize(pair.rows() as usize * columns, f64::NEG_INFINITY);
        for (&(r, c), &score) in pair.links().iter().zip(scores) {
            self.table[r as usize * columns + c as usize] = score;
        }
    }

    /// Finds the candidates with the best sum of scores, in increasing order. If a score is not finite,
    /// it returns all candidates, so that the sum is not finite either.
    pub(super) fn run(
        &mut self,
        shape: &MatchingShape,
        pair: &Pair<'_>,
        scores: &[f64],
        found: &mut Vec<u32>,
    ) {
        found.clear();
        if !scores.iter().all(|score| score.is_finite()) {
            found.extend(0..scores.len() as u32);
            return;
        }
        self.fill(pair, scores);
        let (rows, columns) = (pair.rows() as usize, pair.columns() as usize);
        let number = |row: u32, column: u32| pair.find(row, column).map(|k| k as u32);
        // With finite scores and free nulls there is always an answer.
        if shape.is_one_to_one() {
            let (table, links) = (&self.table, &mut self.columns);
            let answer = self.assignment.solve(table, rows, columns, Nulls::Free, links);
            debug_assert!(answer.is_ok(), "{answer:?}");
            let links = (0..).zip(&self.columns).filter_map(|(r, c)| Some((r, (*c)?)));
            found.extend(links.filter_map(|(r, c)| number(r, c)));
        } else {
            let most = [shape.most_per_row, shape.most_per_column];
            let answer = self.bounded.solve(&self.table, rows, columns, most, &mut self.links);
            debug_assert!(answer.is_ok(), "{answer:?}");
            found.extend(self.links.iter().filter_map(|&(r, c)| number(r, c)));
        }
    }
}
