//! Joint kernels: outputs that are compared as wholes, together with their inputs.

use super::cache::{KernelRow, RowCache};
use crate::problem::{
    Abilities, CheckPoints, OwnLength, Parts, PointCheck, Problem, Sink as _, SparseVec, Target,
    Truths,
};
use thiserror::Error;

/// Examples with a list of outputs each, and a kernel k((xᵢ, y), (xⱼ, z)) = ⟨φ(xᵢ, y), φ(xⱼ, z)⟩ of pairs of inputs and
/// outputs.
///
/// The outputs of an example have the numbers 0, 1, 2, …: the parses that a grammar allows, the candidates of another
/// model, the places where something may be. Features are never computed, so that outputs can be compared in any way
/// for which a kernel is known, such as by the subtrees or the substrings that they share. [`JointProblem`] makes a
/// problem of them.
pub trait JointKernel: Sync {
    /// Number of examples.
    fn examples(&self) -> usize;

    /// Number of outputs of example `i`.
    fn outputs(&self, i: usize) -> usize;

    /// The true output of example `i`.
    fn truth(&self, i: usize) -> usize;

    /// The loss of output `y` of example `i`, which is 0 for the truth.
    fn loss(&self, i: usize, y: usize) -> f64;

    /// k((xᵢ, y), (xⱼ, z)) of `(i, y)` and `(j, z)`. It must be symmetric and positive semi-definite.
    fn kernel(&self, a: (usize, usize), b: (usize, usize)) -> f64;

    /// The example weight, positive and finite. The default is 1.
    fn weight(&self, _i: usize) -> f64 {
        1.0
    }
}

/// Why examples with a joint kernel are refused.
///
/// ```
/// # use maxmargin::kernel::{JointKernel, JointProblem};
/// #[derive(Debug)]
/// struct Nothing;
///
/// impl JointKernel for Nothing {
///     fn examples(&self) -> usize { 1 }
///     fn outputs(&self, _: usize) -> usize { 0 }
///     // …
///     # fn truth(&self, _: usize) -> usize { 0 }
///     # fn loss(&self, _: usize, _: usize) -> f64 { 0.0 }
///     # fn kernel(&self, _: (usize, usize), _: (usize, usize)) -> f64 { 1.0 }
/// }
///
/// let error = JointProblem::new(Nothing, 0).unwrap_err();
/// assert_eq!(error.to_string(), "the truth of example 0 is output 0, but it has 0 outputs");
/// ```
#[derive(Debug, Error, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum JointKernelError {
    /// A true output that is not among the outputs.
    #[error("the truth of example {example} is output {truth}, but it has {outputs} outputs")]
    Truth {
        /// Index of the example.
        example: usize,
        /// The output that is said to be true.
        truth: usize,
        /// Number of outputs.
        outputs: usize,
    },
    /// A squared length that is negative, or not finite.
    #[error(
        "the kernel of output {output} of example {example} with itself is {value}; it must be finite and at least 0"
    )]
    Value {
        /// Index of the example.
        example: usize,
        /// The output.
        output: usize,
        /// k((xᵢ, y), (xᵢ, y)).
        value: f64,
    },
    /// More outputs of all examples than can be numbered.
    #[error("the examples have {0} outputs together; at most 2³² − 1 can be numbered")]
    TooMany(usize),
}

/// A structured SVM with a [joint kernel](JointKernel).
///
/// Its weights are the coefficients of pairs of an example and an output,
///
/// ```text
/// w = Σᵢ Σ_y βᵢ(y)·φ(xᵢ, y),    βᵢ(y) = cᵢ/(λC) · ([y = yᵢ] − αᵢ(y))
/// ```
///
/// one for each output of each example, in order. The score of an output is Σ βⱼ(z)·k((xⱼ, z), (x, y)), and ‖w‖² =
/// βᵀKβ. All methods, paths and certificates apply. The oracle tries all outputs of an example, so it is exact. After k
/// steps of [`bcfw`](crate::Solver::BlockCoordinate), at most k outputs other than the truths have coefficients.
///
/// ```
/// use maxmargin::kernel::{JointKernel, JointProblem};
/// use maxmargin::{Settings, train};
///
/// /// Which of a few words is spelt like the input? Words are compared by the letters that they share.
/// struct Spelling(Vec<(&'static str, Vec<&'static str>, usize)>);
///
/// /// The number of pairs of equal letters at the same place.
/// fn alike(a: &str, b: &str) -> f64 {
///     a.chars().zip(b.chars()).filter(|(a, b)| a == b).count() as f64
/// }
///
/// /// Two pairs are similar if their words differ from their inputs to the same degree.
/// fn joint((x, y): (&str, &str), (v, z): (&str, &str)) -> f64 {
///     1.0 + alike(x, y) * alike(v, z)
/// }
///
/// impl Spelling {
///     fn pair(&self, (i, y): (usize, usize)) -> (&str, &str) { (self.0[i].0, self.0[i].1[y]) }
/// }
///
/// impl JointKernel for Spelling {
///     fn examples(&self) -> usize { self.0.len() }
///     fn outputs(&self, i: usize) -> usize { self.0[i].1.len() }
///     fn truth(&self, i: usize) -> usize { self.0[i].2 }
///     fn loss(&self, i: usize, y: usize) -> f64 { f64::from(u8::from(y != self.0[i].2)) }
///     fn kernel(&self, a: (usize, usize), b: (usize, usize)) -> f64 { joint(self.pair(a), self.pair(b)) }
/// }
///
/// let words = Spelling(vec![
///     ("hous", vec!["horse", "house"], 1),
///     ("treee", vec!["tree", "three", "those"], 0),
/// ]);
/// let problem = JointProblem::new(words, 1 << 20)?;
/// let solution = train(&problem, &Settings { lambda: Some(0.1), ..Settings::default() })?;
/// assert!(solution.certificate.quality.is_exact());
///
/// // A new input is scored by the pairs that have coefficients.
/// let support = problem.support(&solution.weights);
/// let score = |word| -> f64 {
///     let terms = support.iter().map(|&(i, y, coefficient)| {
///         coefficient * joint(problem.data().pair((i, y)), ("mouce", word))
///     });
///     terms.sum()
/// };
/// assert!(score("mouse") > score("moist"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct JointProblem<K> {
    data: K,
    /// The place of each example's first output, and the number of all.
    starts: Vec<usize>,
    cache: RowCache,
}

/// Scratch memory of a [`JointProblem`], for one thread.
///
/// ```
/// # use maxmargin::doc::joint_points;
/// use maxmargin::{Problem, ProblemExt};
///
/// let problem = joint_points();
/// let (mut workspace, mut y) = (problem.workspace(), 0);
/// problem.prepare(0, &vec![0.0; problem.dim()], &mut workspace);
/// problem.oracle(0, &vec![0.0; problem.dim()], &mut workspace, &mut y);
/// assert_eq!(problem.loss(0, &y), 1.0);
/// ```
#[derive(Debug, Default)]
pub struct JointWorkspace {
    /// The score of every output of the example.
    scores: Vec<f64>,
}

impl<K: JointKernel> JointProblem<K> {
    /// Creates a problem. Up to `bytes` of kernel values are cached.
    ///
    /// # Errors
    /// If a truth is not among the outputs, if the kernel gives an output a squared length that is negative or not
    /// finite, or if all examples have too many outputs together.
    pub fn new(data: K, bytes: usize) -> Result<Self, JointKernelError> {
        let mut starts = vec![0];
        for example in 0..data.examples() {
            let (outputs, truth) = (data.outputs(example), data.truth(example));
            if truth >= outputs {
                return Err(JointKernelError::Truth { example, truth, outputs });
            }
            for output in 0..outputs {
                let value = data.kernel((example, output), (example, output));
                if !(value >= 0.0 && value.is_finite()) {
                    return Err(JointKernelError::Value { example, output, value });
                }
            }
            starts.push(starts[example] + outputs);
        }
        let all = starts[data.examples()];
        if u32::try_from(all).is_err() {
            return Err(JointKernelError::TooMany(all));
        }
        Ok(Self { data, cache: RowCache::new(all, all, bytes), starts })
    }

    /// The examples and their kernel.
    pub fn data(&self) -> &K {
        &self.data
    }

    /// The pairs that have coefficients: example, output and coefficient, in order.
    ///
    /// # Panics
    /// If the number of weights is wrong.
    pub fn support(&self, weights: &[f64]) -> Vec<(usize, usize, f64)> {
        assert_eq!(weights.len(), self.places(), "one weight per output is needed");
        let all = (0..self.data.examples()).flat_map(|i| (0..self.count(i)).map(move |y| (i, y)));
        let pairs = all.zip(weights).filter(|(_, weight)| **weight != 0.0);
        pairs.map(|((i, y), weight)| (i, y, *weight)).collect()
    }

    /// Number of outputs of all examples.
    fn places(&self) -> usize {
        self.starts[self.starts.len() - 1]
    }

    /// Number of outputs of example `i`.
    fn count(&self, i: usize) -> usize {
        self.starts[i + 1] - self.starts[i]
    }

    /// The kernel values of output `y` of example `i` with all outputs of all examples.
    fn row(&self, i: usize, y: usize) -> KernelRow {
        let place = u32::try_from(self.starts[i] + y).unwrap_or(u32::MAX);
        self.cache.get(place, |values| {
            values.clear();
            for j in 0..self.data.examples() {
                values.extend((0..self.count(j)).map(|z| self.data.kernel((i, y), (j, z))));
            }
        })
    }

    /// Writes the output with the largest value to `y`, or the first of several such outputs. NaN counts as the
    /// largest value.
    fn best(values: impl Iterator<Item = f64>, y: &mut usize) {
        let mut most = f64::NEG_INFINITY;
        *y = 0;
        for (at, value) in values.enumerate() {
            if value > most || value.is_nan() {
                (most, *y) = (value, at);
            }
        }
    }
}

impl<K: JointKernel> Problem for JointProblem<K> {
    type Output = usize;
    type Workspace = JointWorkspace;

    fn examples(&self) -> usize {
        self.data.examples()
    }

    fn dim(&self) -> usize {
        self.places()
    }

    fn workspace(&self) -> JointWorkspace {
        JointWorkspace::default()
    }

    fn oracle(&self, i: usize, _: &[f64], workspace: &mut JointWorkspace, y: &mut usize) {
        let scores = workspace.scores.iter().enumerate();
        Self::best(scores.map(|(y, score)| self.data.loss(i, y) + score), y);
    }

    fn decode(&self, _: usize, _: &[f64], workspace: &mut JointWorkspace, y: &mut usize) {
        Self::best(workspace.scores.iter().copied(), y);
    }

    fn loss(&self, i: usize, y: &usize) -> f64 {
        self.data.loss(i, *y)
    }

    fn psi(&self, i: usize, y: &usize, psi: &mut SparseVec) {
        psi.push((self.starts[i] + self.data.truth(i)) as u64, 1.0);
        psi.push((self.starts[i] + y) as u64, -1.0);
    }

    fn weight(&self, i: usize) -> f64 {
        self.data.weight(i)
    }

    #[inline]
    fn abilities(&self) -> Abilities<'_, JointWorkspace, usize> {
        Abilities {
            parts: Some(self),
            truths: Some(self),
            points: Some(self),
            own_length: Some(self),
            is_trusted: true,
            ..Abilities::none()
        }
    }
}

/// Every output is a part of its own.
impl<K: JointKernel> Parts for JointProblem<K> {
    fn prepare(&self, i: usize, w: &[f64], workspace: &mut JointWorkspace) {
        workspace.scores.clear();
        workspace.scores.extend((0..self.count(i)).map(|y| {
            let row = self.row(i, y);
            row.iter().zip(w).map(|(value, weight)| value * weight).sum::<f64>()
        }));
    }

    fn parts(&self, _i: usize, y: &usize, parts: &mut SparseVec) {
        parts.push(*y as u64, 1.0);
    }

    fn truth_parts(&self, i: usize, parts: &mut SparseVec) {
        parts.push(self.data.truth(i) as u64, 1.0);
    }

    fn score(&self, _: usize, _: &[f64], workspace: &JointWorkspace, parts: &SparseVec) -> f64 {
        parts.entries().iter().map(|&(y, mass)| mass * workspace.scores[y as usize]).sum()
    }

    fn norm_sq(&self, i: usize, _: &mut JointWorkspace, parts: &SparseVec) -> f64 {
        let mut sum = 0.0;
        for &(y, mass) in parts.entries().iter().filter(|(_, mass)| *mass != 0.0) {
            let row = self.row(i, y as usize);
            let own = &row[self.starts[i]..self.starts[i + 1]];
            sum += mass
                * parts.entries().iter().map(|&(z, other)| other * own[z as usize]).sum::<f64>();
        }
        sum.max(0.0)
    }

    fn scatter(&self, i: usize, scale: f64, parts: &SparseVec, mut target: Target<'_>) {
        for &(y, mass) in parts.entries() {
            target.add(self.starts[i] + y as usize, scale * mass);
        }
    }
}

impl<K: JointKernel> Truths for JointProblem<K> {
    fn truth(&self, i: usize) -> usize {
        self.data.truth(i)
    }
}

impl<K: JointKernel> OwnLength for JointProblem<K> {
    fn weights_norm_sq(&self, w: &[f64]) -> f64 {
        let mut sum = 0.0;
        for (i, y, coefficient) in self.support(w) {
            let row = self.row(i, y);
            sum += coefficient * row.iter().zip(w).map(|(value, w)| value * w).sum::<f64>();
        }
        sum.max(0.0)
    }
}

impl<K: JointKernel> CheckPoints for JointProblem<K> {
    /// The masses of all outputs are the point itself.
    fn check_point(
        &self,
        i: usize,
        parts: &SparseVec,
        loss: f64,
        slack: f64,
    ) -> Result<PointCheck, String> {
        let (mut sum, mut own) = (0.0, 0.0);
        for &(y, mass) in parts.entries() {
            if y >= self.count(i) as u64 {
                return Err(format!("it has a part that does not exist: {y}"));
            }
            if mass < -slack || mass.is_nan() {
                return Err(format!("output {y} has the mass {mass:e}"));
            }
            sum += mass;
            own += mass * self.data.loss(i, y as usize);
        }
        let tolerance = slack * (1.0 + parts.len() as f64);
        if (sum - 1.0).abs() > tolerance || sum.is_nan() {
            return Err(format!("its masses sum to {sum}, not to 1"));
        }
        if (own - loss).abs() > tolerance * (1.0 + own.abs()) || loss.is_nan() {
            return Err(format!("its loss is stated as {loss}, but is {own}"));
        }
        Ok(PointCheck::Feasible)
    }
}
