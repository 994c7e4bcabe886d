//! Matching as a structured problem.

use super::loss::LinkLoss;
use super::matcher::{Matcher, Search, score_links};
use super::pairs::{Gold, Pairs};
use super::shape::MatchingShape;
use crate::model::InputError;
use crate::problem::bounds::Bounds;
use crate::problem::parts::{parts_of_psi, scatter_into};
use crate::problem::quality::PointCheck;
use crate::problem::sparse::{Sink, SparseVec};
use crate::problem::{Abilities, CheckPoints, Parts, Problem, Target, Truths};

/// Pairs as training data, under a Hamming loss over links.
///
/// ```
/// use maxmargin::model::matching::{Gold, LinkLoss, Matching, MatchingShape, Pairs};
/// use maxmargin::{Settings, train};
///
/// // Attribute 0 tells how alike two words are, attribute 1 is always 1.
/// let mut data = Pairs::new();
/// for alike in [[0.9, 0.4, 0.6, 0.8], [0.2, 0.7, 0.9, 0.3]] {
///     for (at, alike) in alike.into_iter().enumerate() {
///         let gold = if alike > 0.65 { Gold::Sure } else { Gold::Wrong };
///         data.push_link(at as u32 / 2, at as u32 % 2, [(0, alike), (1, 1.0)], gold)?;
///     }
///     data.end_pair(2, 2, 1.0)?;
/// }
/// let problem = Matching::new(MatchingShape::new(2), data, LinkLoss::default())?;
/// let settings = Settings { lambda: Some(1e-3), tolerance: 1e-3, ..Settings::default() };
/// let solution = train(&problem, &settings)?;
/// assert_eq!(problem.predict(&solution.weights), [[(0, 0), (1, 1)], [(0, 1), (1, 0)]]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Matching {
    shape: MatchingShape,
    data: Pairs,
    loss: LinkLoss,
    /// The sure links of each pair.
    truths: Vec<Truth>,
    bounds: Option<Bounds>,
}

#[derive(Debug, Clone)]
struct Truth {
    links: Vec<u32>,
    /// Whether the truth has more links at some row or column than predictions may have.
    exceeds: bool,
    /// The factor that all costs are multiplied by.
    scale: f64,
}

/// Scratch memory of a [`Matching`], for one thread.
///
/// ```
/// use maxmargin::{Problem, ProblemExt};
/// use maxmargin::model::matching::{Gold, LinkLoss, Matching, MatchingShape, Pairs};
///
/// let mut data = Pairs::new();
/// data.push_link(0, 0, [(0, 1.0)], Gold::Sure)?;
/// data.push_link(0, 1, [(0, 0.5)], Gold::Wrong)?;
/// data.end_pair(1, 2, 1.0)?;
/// let problem = Matching::new(MatchingShape::new(1), data, LinkLoss::default())?;
/// let (mut workspace, mut y) = (problem.workspace(), Vec::new());
/// problem.prepare(0, &[1.0], &mut workspace);
/// problem.oracle(0, &[1.0], &mut workspace, &mut y);
/// assert_eq!(y, [1]); // one wrong link, one missing: a loss of 2 is worth the lower score
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct MatchingWorkspace {
    scores: Vec<f64>,
    /// Which links have their scores, where only some are needed.
    is_scored: Vec<bool>,
    augmented: Vec<f64>,
    search: Search,
    /// Sums over features. All are 0 between uses.
    sums: Vec<f64>,
}

impl Matching {
    /// Creates a problem from data, shape and loss. Links of a pair that was not ended are left out.
    ///
    /// # Errors
    /// If an attribute does not fit the shape, if the shape allows no links, or if a cost is negative or
    /// not finite.
    pub fn new(shape: MatchingShape, data: Pairs, loss: LinkLoss) -> Result<Self, InputError> {
        for (side, most) in [("row", shape.most_per_row), ("column", shape.most_per_column)] {
            if most == 0 {
                let message = format!("a {side} must be allowed at least one link");
                return Err(InputError::Structure(message));
            }
        }
        for (kind, cost) in [("wrong", loss.wrong), ("missing", loss.missing)] {
            if !(cost >= 0.0 && cost.is_finite()) {
                return Err(InputError::negative(format!("the cost of a {kind} link"), cost));
            }
        }
        let attributes = shape.attributes;
        for (at, pair) in data.iter().enumerate() {
            let mut all = (0..pair.links().len()).flat_map(|k| pair.attributes(k).attributes);
            if let Some(&attribute) = all.find(|&&a| a as usize >= attributes) {
                return Err(InputError::attribute(format!("pair {at}"), attribute, attributes));
            }
        }
        // Collect the true links, and note whether they exceed the limits.
        let truths = data.iter().map(|pair| {
            let links: Vec<u32> = pair.of_kind(Gold::Sure).map(|k| k as u32).collect();
            let (mut rows, mut columns) =
                (vec![0; pair.rows() as usize], vec![0; pair.columns() as usize]);
            for (row, column) in links.iter().map(|&k| pair.link(k as usize)) {
                rows[row as usize] += 1;
                columns[column as usize] += 1;
            }
            let exceeds = rows.iter().any(|&degree| degree > shape.most_per_row)
                || columns.iter().any(|&degree| degree > shape.most_per_column);
            Truth { links, exceeds, scale: loss.scale(&pair) }
        });
        let truths = truths.collect();
        Ok(Self { shape, data, loss, truths, bounds: None })
    }

    /// The same problem with bounds on its weights. Training refuses bounds whose number is not the
    /// number of weights.
    #[must_use]
    pub fn with_bounds(self, bounds: Option<Bounds>) -> Self {
        Self { bounds, ..self }
    }

    /// The shape of the weights.
    pub fn shape(&self) -> &MatchingShape {
        &self.shape
    }

    /// The data.
    pub fn data(&self) -> &Pairs {
        &self.data
    }

    /// The loss.
    pub fn link_loss(&self) -> &LinkLoss {
        &self.loss
    }

    /// Predicts the links of all pairs.
    ///
    /// # Panics
    /// If there are too few weights.
    pub fn predict(&self, w: &[f64]) -> Vec<Vec<(u32, u32)>> {
        let mut matcher = Matcher::new(self.shape, w);
        let mut predict = |pair| {
            matcher.best(&pair);
            matcher.links(&pair)
        };
        self.data.iter().map(&mut predict).collect()
    }
}

impl Problem for Matching {
    type Output = Vec<u32>;
    type Workspace = MatchingWorkspace;

    /// The numbers of candidate links, in increasing order.
    fn examples(&self) -> usize {
        self.data.len()
    }

    fn dim(&self) -> usize {
        self.shape.dim()
    }

    fn workspace(&self) -> MatchingWorkspace {
        MatchingWorkspace::default()
    }

    fn oracle(&self, i: usize, _: &[f64], workspace: &mut MatchingWorkspace, y: &mut Vec<u32>) {
        let MatchingWorkspace { scores, augmented, search, .. } = workspace;
        let (pair, truth) = (self.data.pair(i), &self.truths[i]);
        augmented.clear();
        augmented.extend(
            (0..).zip(&*scores).map(|(k, score)| score + self.loss.change(&pair, k, truth.scale)),
        );
        search.run(&self.shape, &pair, augmented, y);
        if truth.exceeds {
            // Both values lack the same constant.
            let value = |links: &[u32]| links.iter().map(|&k| augmented[k as usize]).sum::<f64>();
            if value(&truth.links) >= value(y) {
                y.clone_from(&truth.links);
            }
        }
    }

    fn decode(&self, i: usize, _: &[f64], workspace: &mut MatchingWorkspace, y: &mut Vec<u32>) {
        let MatchingWorkspace { scores, search, .. } = workspace;
        search.run(&self.shape, &self.data.pair(i), scores, y);
    }

    fn loss(&self, i: usize, y: &Vec<u32>) -> f64 {
        self.loss.of(&self.data.pair(i), y)
    }

    fn psi(&self, i: usize, y: &Vec<u32>, psi: &mut SparseVec) {
        self.scatter_into(i, 1.0, &parts_of_psi(self, i, y), psi);
    }

    fn weight(&self, i: usize) -> f64 {
        self.data.weight(i)
    }

    fn bounds(&self) -> Option<&Bounds> {
        self.bounds.as_ref()
    }

    #[inline]
    fn abilities(&self) -> Abilities<'_, MatchingWorkspace, Vec<u32>> {
        Abilities {
            parts: Some(self),
            truths: Some(self),
            points: Some(self),
            is_trusted: true,
            ..Abilities::none()
        }
    }
}

impl Matching {
    fn scatter_into<S: Sink + ?Sized>(
        &self,
        i: usize,
        scale: f64,
        parts: &SparseVec,
        sink: &mut S,
    ) {
        let pair = self.data.pair(i);
        for &(k, mass) in parts.entries() {
            pair.attributes(k as usize).scatter(scale * mass, sink);
        }
    }
}

impl Parts for Matching {
    fn prepare(&self, i: usize, w: &[f64], workspace: &mut MatchingWorkspace) {
        score_links(w, &self.data.pair(i), &mut workspace.scores);
    }

    /// Scores the links of `points` only. A sentence has hundreds of candidate links, and remembered outputs
    /// differ from the truth in few of them.
    fn prepare_scores(
        &self,
        i: usize,
        w: &[f64],
        workspace: &mut MatchingWorkspace,
        points: &[SparseVec],
    ) {
        let MatchingWorkspace { scores, is_scored, .. } = workspace;
        let pair = self.data.pair(i);
        // Other scores keep their old values, which are not used.
        scores.resize(pair.links().len(), 0.0);
        is_scored.clear();
        is_scored.resize(pair.links().len(), false);
        for &(k, _) in points.iter().flat_map(SparseVec::entries) {
            let k = k as usize;
            if !std::mem::replace(&mut is_scored[k], true) {
                scores[k] = pair.attributes(k).dot(w);
            }
        }
    }

    fn prefetch(&self, i: usize) {
        self.data.prefetch(i);
    }

    fn parts(&self, _: usize, y: &Vec<u32>, parts: &mut SparseVec) {
        y.iter().for_each(|&k| parts.push(u64::from(k), 1.0));
    }

    fn truth_parts(&self, i: usize, parts: &mut SparseVec) {
        self.truths[i].links.iter().for_each(|&k| parts.push(u64::from(k), 1.0));
    }

    fn score(&self, _: usize, _: &[f64], ws: &MatchingWorkspace, parts: &SparseVec) -> f64 {
        parts.entries().iter().map(|&(k, mass)| mass * ws.scores[k as usize]).sum()
    }

    /// Adds up features, because the inner products of the many links of an example would need far more
    /// memory than the data.
    fn norm_sq(&self, i: usize, workspace: &mut MatchingWorkspace, parts: &SparseVec) -> f64 {
        let sums = &mut workspace.sums;
        sums.resize(self.shape.attributes, 0.0);
        self.scatter_into(i, 1.0, parts, sums.as_mut_slice());
        let pair = self.data.pair(i);
        let rows = parts.entries().iter().map(|&(k, _)| pair.attributes(k as usize));
        let mut square = |&attribute: &u32| {
            let sum = std::mem::take(&mut sums[attribute as usize]);
            sum * sum
        };
        rows.flat_map(|row| row.attributes).map(&mut square).sum()
    }

    fn scatter(&self, i: usize, scale: f64, parts: &SparseVec, target: Target<'_>) {
        scatter_into!(target, sink => self.scatter_into(i, scale, parts, sink));
    }
}

impl Truths for Matching {
    fn truth(&self, i: usize) -> Vec<u32> {
        self.truths[i].links.clone()
    }
}

impl CheckPoints for Matching {
    fn check_point(
        &self,
        i: usize,
        parts: &SparseVec,
        loss: f64,
        slack: f64,
    ) -> Result<PointCheck, String> {
        let pair = self.data.pair(i);
        super::feasible::check(&self.shape, &pair, parts, slack)?;
        let masses = parts.entries().iter().map(|&(k, mass)| (k as usize, mass));
        let own = self.loss.of_masses(&pair, masses);
        if (own - loss).abs() > slack * (1.0 + own.abs()) {
            return Err(format!("its loss is stated as {loss}, but is {own}"));
        }
        Ok(PointCheck::Feasible)
    }
}
