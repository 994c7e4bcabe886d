//! Binary classification as a structured problem.

use super::shape::BinaryShape;
use crate::model::InputError;
use crate::model::labelled::LabelledRows;
use crate::model::rows::Row;
use crate::problem::parts::scatter_into;
use crate::problem::quality::PointCheck;
use crate::problem::simplices::Simplices;
use crate::problem::slack_rescaled::Enumerable;
use crate::problem::sparse::{Sink, SparseVec};
use crate::problem::{Abilities, CheckPoints, Parts, Problem, ScaledLosses, Target, Truths};

/// Binary training data: rows with a certain label are positive, all others negative.
///
/// ```
/// use maxmargin::model::LabelledRows;
/// use maxmargin::model::binary::{Binary, BinaryShape};
/// use maxmargin::{Settings, train};
///
/// let mut data = LabelledRows::new();
/// for (x, label) in [(-2.0, 0), (-1.0, 0), (1.0, 1), (3.0, 1)] {
///     data.push([(0, x)], &[label], 1.0)?;
/// }
/// let problem = Binary::new(BinaryShape::new(1), data, 1)?;
/// let solution = train(&problem, &Settings { tolerance: 1e-9, ..Settings::default() })?;
/// // Half of w² plus the mean of the hinges is least where the margins of −1 and 1 are 1.
/// assert!((solution.weights[0] - 1.0).abs() < 1e-6);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Binary {
    shape: BinaryShape,
    data: LabelledRows,
    facts: Facts,
}

/// What the engine needs of each row i again and again: yᵢ, 1 or −1, and ‖xᵢ‖², the bias included.
#[derive(Debug, Clone)]
enum Facts {
    /// ‖xᵢ‖² with the sign of yᵢ, so that it is a single number.
    Norms(Vec<f64>),
    /// A bit for each row, which is set if the row is positive. All values are 1, so that ‖xᵢ‖² is a count.
    Ones { positive: Vec<u64>, bias_sq: f64 },
}

impl Facts {
    fn new(data: &LabelledRows, positive: u32, bias: f64) -> Self {
        let bias_sq = bias * bias;
        if data.iter().all(|(row, _)| row.values.is_empty()) {
            let mut marks = vec![0; data.len().div_ceil(64)];
            for (i, (_, labels)) in data.iter().enumerate() {
                marks[i / 64] |= u64::from(labels.contains(&positive)) << (i % 64);
            }
            return Self::Ones { positive: marks, bias_sq };
        }
        let norm = |(row, labels): (Row<'_>, &[u32])| {
            let sign: f64 = if labels.contains(&positive) { 1.0 } else { -1.0 };
            let norm_sq = row.pairs().map(|(_, x)| x * x).sum::<f64>() + bias_sq;
            norm_sq.copysign(sign)
        };
        Self::Norms(data.iter().map(norm).collect())
    }

    /// yᵢ.
    #[inline]
    fn sign(&self, i: usize) -> f64 {
        match self {
            Self::Norms(norms) => 1f64.copysign(norms[i]),
            Self::Ones { positive, .. } => {
                if positive[i / 64] >> (i % 64) & 1 == 1 {
                    1.0
                } else {
                    -1.0
                }
            }
        }
    }

    /// ‖xᵢ‖².
    #[inline]
    fn norm_sq(&self, i: usize, data: &LabelledRows) -> f64 {
        match self {
            Self::Norms(norms) => norms[i].abs(),
            Self::Ones { bias_sq, .. } => data.row(i).attributes.len() as f64 + bias_sq,
        }
    }
}

/// Scratch memory of a [`Binary`], for one thread: the score ⟨w, xᵢ⟩.
///
/// ```
/// use maxmargin::{Problem, ProblemExt};
/// use maxmargin::model::LabelledRows;
/// use maxmargin::model::binary::{Binary, BinaryShape};
///
/// let mut data = LabelledRows::new();
/// data.push([(0, 1.0)], &[1], 1.0)?;
/// let problem = Binary::new(BinaryShape::new(1), data, 1)?;
/// let (mut workspace, mut positive) = (problem.workspace(), true);
/// for (w, answer) in [([0.5], false), ([1.5], true)] { // the wrong label while the margin is below 1
///     problem.prepare(0, &w, &mut workspace);
///     problem.oracle(0, &w, &mut workspace, &mut positive);
///     assert_eq!(positive, answer);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct BinaryWorkspace {
    pub(super) score: f64,
}

/// The only part of an output, which says that it is wrong.
pub(super) const WRONG: u64 = 0;

impl Binary {
    /// Creates a problem that separates the rows of `data` with the label `positive` from all others.
    ///
    /// # Errors
    /// If a row has an attribute that the shape does not have, or if the bias is not positive and finite.
    pub fn new(shape: BinaryShape, data: LabelledRows, positive: u32) -> Result<Self, InputError> {
        if let Some(bias) = shape.bias {
            InputError::check_positive("the bias", bias)?;
        }
        let bias = shape.bias.unwrap_or_default();
        for (at, (row, _)) in data.iter().enumerate() {
            let attributes = shape.attributes;
            // Attributes come in increasing order.
            if let Some(&attribute) = row.attributes.last().filter(|&&a| a as usize >= attributes) {
                return Err(InputError::attribute(format!("row {at}"), attribute, attributes));
            }
        }
        let facts = Facts::new(&data, positive, bias);
        Ok(Self { shape, data, facts })
    }

    /// The shape of the weights.
    pub fn shape(&self) -> &BinaryShape {
        &self.shape
    }

    /// The data.
    pub fn data(&self) -> &LabelledRows {
        &self.data
    }

    /// Whether row `i` is positive.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn is_positive(&self, i: usize) -> bool {
        self.facts.sign(i) > 0.0
    }

    /// The mass of the wrong label in a part vector.
    fn wrong(parts: &SparseVec) -> f64 {
        parts.entries().first().map_or(0.0, |&(_, mass)| mass)
    }
}

impl Problem for Binary {
    type Output = bool;
    type Workspace = BinaryWorkspace;

    fn examples(&self) -> usize {
        self.data.len()
    }

    fn dim(&self) -> usize {
        self.shape.dim()
    }

    fn workspace(&self) -> BinaryWorkspace {
        BinaryWorkspace::default()
    }

    fn oracle(&self, i: usize, w: &[f64], workspace: &mut BinaryWorkspace, y: &mut bool) {
        self.oracle_with_loss(i, w, 1.0, workspace, y);
    }

    fn decode(&self, _i: usize, _w: &[f64], workspace: &mut BinaryWorkspace, y: &mut bool) {
        *y = workspace.score > 0.0;
    }

    fn loss(&self, i: usize, y: &bool) -> f64 {
        f64::from(*y != self.is_positive(i))
    }

    fn psi(&self, i: usize, y: &bool, psi: &mut SparseVec) {
        if *y != self.is_positive(i) {
            self.scatter_into(i, -1.0, &[(WRONG, 1.0)].into_iter().collect(), psi);
        }
    }

    fn weight(&self, i: usize) -> f64 {
        self.data.weight(i)
    }

    #[inline]
    fn abilities(&self) -> Abilities<'_, BinaryWorkspace, bool> {
        Abilities {
            parts: Some(self),
            truths: Some(self),
            points: Some(self),
            scaled_losses: Some(self),
            simplices: Some(self),
            expectations: Some(self),
            is_trusted: true,
            ..Abilities::none()
        }
    }
}

impl Binary {
    fn scatter_into<S: Sink + ?Sized>(
        &self,
        i: usize,
        scale: f64,
        parts: &SparseVec,
        sink: &mut S,
    ) {
        let change = -scale * self.facts.sign(i) * Self::wrong(parts);
        self.data.row(i).scatter(change, sink);
        if let Some(bias) = self.shape.bias {
            sink.add(self.shape.attributes, change * bias);
        }
    }
}

impl Parts for Binary {
    fn prepare(&self, i: usize, w: &[f64], workspace: &mut BinaryWorkspace) {
        workspace.score = self.shape.score(w, self.data.row(i));
    }

    fn prefetch(&self, i: usize) {
        self.data.prefetch(i);
    }

    fn parts(&self, i: usize, y: &bool, parts: &mut SparseVec) {
        if *y != self.is_positive(i) {
            parts.push(WRONG, 1.0);
        }
    }

    fn truth_parts(&self, _i: usize, _parts: &mut SparseVec) {}

    fn score(&self, i: usize, _w: &[f64], workspace: &BinaryWorkspace, parts: &SparseVec) -> f64 {
        -self.facts.sign(i) * workspace.score * Self::wrong(parts)
    }

    fn norm_sq(&self, i: usize, _workspace: &mut BinaryWorkspace, parts: &SparseVec) -> f64 {
        let mass = Self::wrong(parts);
        self.facts.norm_sq(i, &self.data) * mass * mass
    }

    fn scatter(&self, i: usize, scale: f64, parts: &SparseVec, target: Target<'_>) {
        scatter_into!(target, sink => self.scatter_into(i, scale, parts, sink));
    }
}

impl Truths for Binary {
    fn truth(&self, i: usize) -> bool {
        self.is_positive(i)
    }
}

impl ScaledLosses for Binary {
    fn oracle_with_loss(
        &self,
        i: usize,
        _w: &[f64],
        factor: f64,
        workspace: &mut BinaryWorkspace,
        y: &mut bool,
    ) {
        // The wrong label wins while the margin is below its loss.
        let wrong = self.facts.sign(i) * workspace.score < factor;
        *y = self.is_positive(i) != wrong;
    }
}

impl CheckPoints for Binary {
    fn check_point(
        &self,
        _i: usize,
        parts: &SparseVec,
        loss: f64,
        slack: f64,
    ) -> Result<PointCheck, String> {
        if let Some((part, _)) = parts.entries().iter().find(|(part, _)| *part != WRONG) {
            return Err(format!("it has a part that does not exist: {part}"));
        }
        let mass = Self::wrong(parts);
        if !(-slack..=1.0 + slack).contains(&mass) {
            return Err(format!("the mass of the wrong label is {mass}, not between 0 and 1"));
        }
        if (mass - loss).abs() > slack * (1.0 + mass) {
            return Err(format!("its loss is stated as {loss}, but is {mass}"));
        }
        Ok(PointCheck::Feasible)
    }
}

impl Simplices for Binary {
    fn truth_has_part(&self) -> bool {
        false
    }

    fn length_sq(&self, i: usize) -> f64 {
        self.facts.norm_sq(i, &self.data)
    }

    fn loss(&self, _i: usize, _part: u64) -> f64 {
        1.0
    }

    fn score(&self, i: usize, w: &[f64], _part: u64) -> f64 {
        -self.facts.sign(i) * self.shape.score(w, self.data.row(i))
    }

    fn values(&self, i: usize, w: &[f64], values: &mut Vec<f64>) {
        values.clear();
        values.push(1.0 - self.facts.sign(i) * self.shape.score(w, self.data.row(i)));
    }
}

impl Enumerable for Binary {
    fn for_each_output(&self, _i: usize, visit: &mut dyn FnMut(&bool)) {
        [false, true].iter().for_each(visit);
    }
}
