//! Multiclass classification as a structured problem.

use super::loss::ClassLoss;
use super::shape::{MulticlassShape, first_largest};
use crate::model::InputError;
use crate::model::labelled::LabelledRows;
use crate::model::rows::scatter_row;
use crate::problem::parts::scatter_into;
use crate::problem::quality::PointCheck;
use crate::problem::simplices::{self, Simplices};
use crate::problem::slack_rescaled::Enumerable;
use crate::problem::sparse::{Sink, SparseVec};
use crate::problem::{Abilities, CheckPoints, Parts, Problem, ScaledLosses, Target, Truths};

/// Multiclass training data under a loss.
///
/// ```
/// use maxmargin::model::LabelledRows;
/// use maxmargin::model::multiclass::{ClassLoss, Multiclass, MulticlassShape};
/// use maxmargin::{Settings, train};
///
/// let mut data = LabelledRows::new();
/// for class in [0, 1, 2, 1] {
///     data.push([(class, 1.0)], &[class], 1.0)?; // one telling attribute per class
/// }
/// let shape = MulticlassShape::new(3, 3);
/// let problem = Multiclass::new(shape, data, ClassLoss::ZeroOne)?;
/// let solution = train(&problem, &Settings { tolerance: 1e-6, ..Settings::default() })?;
/// assert!(solution.certificate.gap <= 1e-6);
/// let row = problem.data().row(2);
/// assert_eq!(shape.predict(&solution.weights, row, &mut Vec::new()), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Multiclass {
    shape: MulticlassShape,
    data: LabelledRows,
    loss: ClassLoss,
    /// ‖xᵢ‖² of every row, the bias included.
    norms: Vec<f64>,
    /// The class of every row.
    truths: Vec<u32>,
}

/// Scratch memory of a [`Multiclass`], for one thread: the scores of the classes.
///
/// ```
/// use maxmargin::{Problem, ProblemExt};
/// use maxmargin::model::LabelledRows;
/// use maxmargin::model::multiclass::{ClassLoss, Multiclass, MulticlassShape};
///
/// let mut data = LabelledRows::new();
/// data.push([(0, 1.0)], &[1], 1.0)?;
/// let problem = Multiclass::new(MulticlassShape::new(3, 1), data, ClassLoss::ZeroOne)?;
/// let (w, mut workspace, mut y) = ([0.0, 1.5, 1.0], problem.workspace(), 0);
/// problem.prepare(0, &w, &mut workspace);
/// problem.oracle(0, &w, &mut workspace, &mut y);
/// assert_eq!(y, 2); // with its loss it beats the truth
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct MulticlassWorkspace {
    pub(super) scores: Vec<f64>,
    pub(super) masses: Vec<f64>,
}

impl MulticlassWorkspace {
    pub(crate) fn scores_mut(&mut self) -> &mut Vec<f64> {
        &mut self.scores
    }
}

impl Multiclass {
    /// Creates a problem from data, shape and loss.
    ///
    /// # Errors
    /// If rows, labels or costs do not fit the shape, or if the shape is invalid.
    pub fn new(
        shape: MulticlassShape,
        data: LabelledRows,
        loss: ClassLoss,
    ) -> Result<Self, InputError> {
        let truths = check(&shape, &data, &loss)?;
        let bias = shape.bias.unwrap_or_default();
        let norm = |i| data.row(i).pairs().map(|(_, x)| x * x).sum::<f64>() + bias * bias;
        let norms = (0..data.len()).map(norm).collect();
        Ok(Self { shape, data, loss, norms, truths })
    }

    /// The same problem with one attribute per row, `numbers[i]` < `count`, whose squared length (with
    /// the bias) is `norms[i]`.
    pub(crate) fn with_inputs(self, numbers: &[u32], count: usize, norms: Vec<f64>) -> Self {
        let shape = MulticlassShape { attributes: count, ..self.shape };
        Self { shape, data: self.data.with_inputs(numbers), norms, ..self }
    }

    /// The shape of the weights.
    pub fn shape(&self) -> &MulticlassShape {
        &self.shape
    }

    /// The data.
    pub fn data(&self) -> &LabelledRows {
        &self.data
    }

    /// The loss.
    pub fn class_loss(&self) -> &ClassLoss {
        &self.loss
    }

    /// The true class of every row.
    pub fn truths(&self) -> &[u32] {
        &self.truths
    }
}

/// Checks that data, shape and loss fit together, and returns the class of every row.
fn check(
    shape: &MulticlassShape,
    data: &LabelledRows,
    loss: &ClassLoss,
) -> Result<Vec<u32>, InputError> {
    let MulticlassShape { classes, attributes, bias } = *shape;
    let weights = attributes.checked_add(1).and_then(|rows| rows.checked_mul(classes));
    if classes == 0 || u32::try_from(classes).is_err() || weights.is_none() {
        let what = format!("{classes} classes and {attributes} attributes");
        return Err(InputError::Structure(format!("{what} do not make a multiclass model")));
    }
    if let Some(bias) = bias {
        InputError::check_positive("the bias", bias)?;
    }
    if let ClassLoss::Costs(matrix) = loss
        && matrix.classes() != classes
    {
        let found = matrix.classes();
        let message = format!("the costs are for {found} classes, but there are {classes}");
        return Err(InputError::Structure(message));
    }
    let mut truths = Vec::with_capacity(data.len());
    for (at, (row, labels)) in data.iter().enumerate() {
        let &[label] = labels else {
            let what = format!("row {at} has {} labels", labels.len());
            let message = format!("{what}; a multiclass problem needs exactly one");
            return Err(InputError::Structure(message));
        };
        if label as usize >= classes {
            return Err(InputError::Unknown {
                place: format!("row {at}"),
                what: "label",
                found: label as usize,
                known: classes,
                unit: " classes",
            });
        }
        // Attributes come in increasing order.
        if let Some(&attribute) = row.attributes.last().filter(|&&a| a as usize >= attributes) {
            return Err(InputError::attribute(format!("row {at}"), attribute, attributes));
        }
        truths.push(label);
    }
    Ok(truths)
}

impl Problem for Multiclass {
    type Output = u32;
    type Workspace = MulticlassWorkspace;

    fn examples(&self) -> usize {
        self.data.len()
    }

    fn dim(&self) -> usize {
        self.shape.dim()
    }

    fn workspace(&self) -> MulticlassWorkspace {
        MulticlassWorkspace::default()
    }

    fn oracle(&self, i: usize, w: &[f64], workspace: &mut MulticlassWorkspace, y: &mut u32) {
        self.oracle_with_loss(i, w, 1.0, workspace, y);
    }

    fn decode(&self, _i: usize, _w: &[f64], workspace: &mut MulticlassWorkspace, y: &mut u32) {
        *y = first_largest(workspace.scores.iter().copied());
    }

    fn loss(&self, i: usize, y: &u32) -> f64 {
        self.loss.cost(self.truths[i], *y)
    }

    fn psi(&self, i: usize, y: &u32, psi: &mut SparseVec) {
        let difference = [(u64::from(self.truths[i]), 1.0), (u64::from(*y), -1.0)];
        self.scatter_into(i, 1.0, &difference.into_iter().collect(), psi);
    }

    fn weight(&self, i: usize) -> f64 {
        self.data.weight(i)
    }

    #[inline]
    fn abilities(&self) -> Abilities<'_, MulticlassWorkspace, u32> {
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

impl Multiclass {
    fn scatter_into<S: Sink + ?Sized>(
        &self,
        i: usize,
        scale: f64,
        parts: &SparseVec,
        sink: &mut S,
    ) {
        let (k, row) = (self.shape.classes, self.data.row(i));
        scatter_row(k, row, scale, parts.entries(), |class| class as usize, sink);
        if let Some(bias) = self.shape.bias {
            let start = self.shape.bias_weights().start;
            for &(class, mass) in parts.entries() {
                sink.add(start + class as usize, scale * bias * mass);
            }
        }
    }
}

impl Parts for Multiclass {
    fn prepare(&self, i: usize, w: &[f64], workspace: &mut MulticlassWorkspace) {
        self.shape.score(w, self.data.row(i), &mut workspace.scores);
    }

    fn prefetch(&self, i: usize) {
        self.data.prefetch(i);
    }

    fn parts(&self, _i: usize, y: &u32, parts: &mut SparseVec) {
        parts.push(u64::from(*y), 1.0);
    }

    fn truth_parts(&self, i: usize, parts: &mut SparseVec) {
        parts.push(u64::from(self.truths[i]), 1.0);
    }

    fn score(
        &self,
        _i: usize,
        _w: &[f64],
        workspace: &MulticlassWorkspace,
        parts: &SparseVec,
    ) -> f64 {
        let term = |&(class, mass): &(u64, f64)| mass * workspace.scores[class as usize];
        parts.entries().iter().map(term).sum()
    }

    fn norm_sq(&self, i: usize, _workspace: &mut MulticlassWorkspace, parts: &SparseVec) -> f64 {
        self.norms[i] * parts.norm_sq()
    }

    fn scatter(&self, i: usize, scale: f64, parts: &SparseVec, target: Target<'_>) {
        scatter_into!(target, sink => self.scatter_into(i, scale, parts, sink));
    }
}

impl Truths for Multiclass {
    fn truth(&self, i: usize) -> u32 {
        self.truths[i]
    }
}

impl ScaledLosses for Multiclass {
    fn oracle_with_loss(
        &self,
        i: usize,
        _w: &[f64],
        factor: f64,
        workspace: &mut MulticlassWorkspace,
        y: &mut u32,
    ) {
        let (truth, scores) = (self.truths[i], workspace.scores.iter());
        *y = match &self.loss {
            ClassLoss::ZeroOne => {
                first_largest((0..).zip(scores).map(|(k, s)| factor * f64::from(k != truth) + s))
            }
            ClassLoss::Costs(costs) => {
                let values = scores.zip(costs.row(truth)).map(|(s, cost)| s + factor * cost);
                first_largest(values)
            }
        };
    }
}

impl CheckPoints for Multiclass {
    fn check_point(
        &self,
        i: usize,
        parts: &SparseVec,
        loss: f64,
        slack: f64,
    ) -> Result<PointCheck, String> {
        simplices::check(parts, self.shape.classes, slack)?;
        let cost = |&(class, mass): &(u64, f64)| mass * Simplices::loss(self, i, class);
        let own: f64 = parts.entries().iter().map(cost).sum();
        if (own - loss).abs() > slack * (1.0 + own.abs()) {
            return Err(format!("its loss is stated as {loss}, but is {own}"));
        }
        Ok(PointCheck::Feasible)
    }
}

impl Simplices for Multiclass {
    fn truth_has_part(&self) -> bool {
        true
    }

    fn length_sq(&self, i: usize) -> f64 {
        self.norms[i]
    }

    fn loss(&self, i: usize, part: u64) -> f64 {
        self.loss.cost(self.truths[i], part as u32)
    }

    fn score(&self, i: usize, w: &[f64], part: u64) -> f64 {
        let (k, class) = (self.shape.classes, part as usize);
        let bias = self.shape.bias.map_or(0.0, |bias| bias * w[self.shape.attributes * k + class]);
        self.data.row(i).dot_strided(w, k, class) + bias
    }

    fn values(&self, i: usize, w: &[f64], values: &mut Vec<f64>) {
        let truth = self.truths[i];
        self.shape.score(w, self.data.row(i), values);
        match &self.loss {
            ClassLoss::ZeroOne => {
                let score = values[truth as usize];
                values.iter_mut().for_each(|value| *value += 1.0);
                values[truth as usize] = score;
            }
            ClassLoss::Costs(costs) => {
                values.iter_mut().zip(costs.row(truth)).for_each(|(value, cost)| *value += cost);
            }
        }
    }
}

impl Enumerable for Multiclass {
    fn for_each_output(&self, _i: usize, visit: &mut dyn FnMut(&u32)) {
        (0..self.shape.classes as u32).for_each(|class| visit(&class));
    }
}
