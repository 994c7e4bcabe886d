//! The laws of a problem, and a check that it keeps them.

mod known;
mod look;
mod report;
mod subject;
mod values;
mod weights;

use crate::problem::Problem;
use crate::problem::slack_rescaled::Enumerable;
use crate::util::names::named_enum;
use look::Manner;
use std::fmt;
use subject::Typed;

named_enum! {
    /// A law that every [`Problem`] must keep for its certificates to be true.
    ///
    /// Hᵢ(y; w) = Lᵢ(y) − ⟨w, ψᵢ(y)⟩ is the value of an output, and p = pᵢ(y) − pᵢ(yᵢ) is its part vector
    /// relative to the truth. Laws about the answers of the oracle and of decoding apply to problems
    /// whose [quality](Problem::quality) is exact or an upper bound, because a heuristic promises
    /// nothing.
    ///
    /// ```
    /// use maxmargin::problem::Law;
    ///
    /// assert_eq!(Law::Oracle.name(), "oracle");
    /// assert_eq!("truth-loss".parse::<Law>()?, Law::TruthLoss);
    /// # Ok::<(), maxmargin::UnknownName>(())
    /// ```
    #[derive(Hash, PartialOrd, Ord)]
    #[non_exhaustive]
    Law("law") {
        /// Losses, features, parts and scores are finite numbers.
        Finite = "finite",
        /// The coordinates of ψᵢ(y), and those that p is scattered to, are below
        /// [`dim`](Problem::dim).
        Coordinates = "coordinates",
        /// Part vectors are [normalised](crate::SparseVec::normalise).
        Normalised = "normalised",
        /// Lᵢ(yᵢ) = 0, if the problem hands out the [truth](crate::problem::Truths).
        TruthLoss = "truth-loss",
        /// ψᵢ(yᵢ) = 0, if the problem hands out the truth.
        TruthFeatures = "truth-features",
        /// Lᵢ(y) ≥ 0, unless losses may be [negative](crate::problem::Abilities::has_signed_losses).
        Loss = "loss",
        /// [`scatter`](crate::problem::Parts::scatter) adds Bᵢp = −ψᵢ(y), for an output and for combinations of two.
        Scatter = "scatter",
        /// [`score`](crate::problem::Parts::score) is ⟨w, Bᵢp⟩ = −⟨w, ψᵢ(y)⟩. With kernels the inner product is
        /// that of [`weights_norm_sq`](crate::problem::OwnLength), (‖w + ψ‖² − ‖w − ψ‖²)/4.
        Score = "score",
        /// [`norm_sq`](crate::problem::Parts::norm_sq) is ‖Bᵢp‖² = ‖ψᵢ(y)‖², with kernels in the space of the kernel.
        NormSq = "norm-sq",
        /// [`prepare_scores`](crate::problem::Parts::prepare_scores) gives the scores that
        /// [`prepare`](crate::problem::Parts::prepare) gives, bit by bit.
        PreparedScores = "prepared-scores",
        /// Hᵢ(ŷ; w) ≥ Hᵢ(y; w) for the answer ŷ of the [oracle](Problem::oracle) and every output y that
        /// is known: the truth, the answers at other weights, decoded outputs, and outputs from the
        /// caller.
        Oracle = "oracle",
        /// The same with factor·Lᵢ instead of Lᵢ, if the problem supports
        /// [`oracle_with_loss`](crate::problem::ScaledLosses).
        OracleWithLoss = "oracle-with-loss",
        /// −⟨w, ψᵢ(ŷ)⟩ ≥ −⟨w, ψᵢ(y)⟩ for the answer ŷ of [`decode`](Problem::decode) and every output y
        /// that is known, except for the truth, which need not be an output that can be predicted.
        Decode = "decode",
        /// The oracle always gives the same answer for the same example and weights.
        Repeatable = "repeatable",
        /// The oracle or decoding returns an output other than the truth, for some example at some
        /// weights.
        OnlyTruth = "only-truth",
        /// [`for_each_output`](Enumerable::for_each_output) visits the truth, and every output that the
        /// oracle returns.
        Enumeration = "enumeration",
    }
}

/// A law that a problem does not keep.
///
/// ```
/// use maxmargin::problem::{CheckOptions, Law, check};
/// use maxmargin::{Problem, SparseVec};
///
/// /// Numbers 0 or 1, and an oracle that always returns the truth.
/// struct Lazy(Vec<usize>);
///
/// impl Problem for Lazy {
///     # type Output = usize;
///     # type Workspace = ();
///     # fn examples(&self) -> usize { self.0.len() }
///     # fn dim(&self) -> usize { 1 }
///     # fn workspace(&self) {}
///     # fn decode(&self, _: usize, w: &[f64], _: &mut (), y: &mut usize) {
///     #     *y = usize::from(w[0] > 0.0);
///     # }
///     # fn loss(&self, i: usize, y: &usize) -> f64 { if *y == self.0[i] { 0.0 } else { 1.0 } }
///     # fn psi(&self, i: usize, y: &usize, psi: &mut SparseVec) {
///     #     psi.push(0, self.0[i] as f64 - *y as f64);
///     # }
///     // …
///     fn oracle(&self, i: usize, _: &[f64], _: &mut (), y: &mut usize) { *y = self.0[i]; }
/// }
///
/// let broken = check(&Lazy(vec![0, 1]), &CheckOptions::default());
/// assert_eq!(broken.len(), 1);
/// assert_eq!((broken[0].law, broken[0].example, broken[0].examples), (Law::Oracle, 0, 2));
/// assert_eq!(
///     broken[0].to_string(),
///     "example 0: at w = 0 the oracle's answer has the value L − ⟨w, ψ⟩ = 0, but an output that \
///      decoding found has 1; every answer of the oracle was the truth (and in 1 more example)",
/// );
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct BrokenLaw {
    /// The law.
    pub law: Law,
    /// The first example that breaks it.
    pub example: usize,
    /// The number of examples that break it, among those that were checked.
    pub examples: usize,
    /// A description of what is wrong with that example.
    pub message: String,
}

impl fmt::Display for BrokenLaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "example {}: {}", self.example, self.message)?;
        match self.examples {
            0 | 1 => Ok(()),
            2 => write!(f, " (and in 1 more example)"),
            more => write!(f, " (and in {} more examples)", more - 1),
        }
    }
}

/// How thoroughly [`check`] examines a problem.
///
/// ```
/// use maxmargin::problem::CheckOptions;
///
/// let options = CheckOptions { examples: 5, ..CheckOptions::default() };
/// assert_eq!((options.weights, options.seed), (6, 1));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckOptions {
    /// The number of examples to check, spread over the data. If there are fewer, all of them are
    /// checked.
    pub examples: usize,
    /// The number of random weight vectors to try, of several lengths. The negative of each is tried as
    /// well, and so is w = 0.
    pub weights: usize,
    /// The seed of the random numbers.
    pub seed: u64,
}

impl Default for CheckOptions {
    /// 50 examples, 6 weight vectors, the seed 1.
    fn default() -> Self {
        Self { examples: 50, weights: 6, seed: 1 }
    }
}

/// Checks a problem against the [laws](Law) at random weights, and returns the laws that it breaks.
///
/// The weights are 0 and random vectors of several lengths with their negatives, within the problem's
/// [bounds](Problem::bounds). The check remembers every output that the oracle or decoding returns for an
/// example at any of these weights, and no answer may be worse than a remembered output. This finds an
/// oracle that always returns the truth, forgets the loss or minimises, features that differ from those
/// that the oracle maximises, and a scatter that is off by a factor. Numbers may differ by rounding, up
/// to 10⁻⁶ of the terms that they are sums of.
///
/// The check does not notice that an oracle misses an output if decoding misses it too. If you know more
/// outputs, use [`check_with_outputs`]; if the problem can list all of them, use [`check_enumerable`].
///
/// ```
/// # use maxmargin::doc::toy;
/// use maxmargin::problem::{CheckOptions, check};
///
/// assert_eq!(check(&toy(), &CheckOptions::default()), []);
/// ```
///
/// # Panics
/// If the problem does.
pub fn check<P: Problem>(problem: &P, options: &CheckOptions) -> Vec<BrokenLaw> {
    check_with_outputs(problem, options, |_| Vec::new())
}

/// Like [`check`], but also compares the answers for example `i` with the outputs `outputs(i)`.
///
/// ```
/// # use maxmargin::doc::toy;
/// use maxmargin::problem::{CheckOptions, check_with_outputs};
///
/// let chain = toy();
/// let all_ones = |i: usize| vec![vec![1; chain.data().sequence(i).labels().len()]];
/// assert_eq!(check_with_outputs(&chain, &CheckOptions::default(), all_ones), []);
/// ```
///
/// # Panics
/// If the problem does, as it may if `outputs` returns something that is not an output of the example.
pub fn check_with_outputs<P: Problem>(
    problem: &P,
    options: &CheckOptions,
    mut outputs: impl FnMut(usize) -> Vec<P::Output>,
) -> Vec<BrokenLaw> {
    look::run(&mut Typed::new(problem, &mut outputs), options, Manner::Given)
}

/// Like [`check`], but compares with all outputs of every checked example, so that the oracle must find
/// the maximum.
///
/// All outputs of an example are kept in memory while it is checked, so use this function for problems
/// with few outputs.
///
/// ```
/// use maxmargin::model::LabelledRows;
/// use maxmargin::model::multiclass::{ClassLoss, Multiclass, MulticlassShape};
/// use maxmargin::problem::{CheckOptions, check_enumerable};
///
/// let mut data = LabelledRows::new();
/// data.push([(0, 1.0)], &[2], 1.0)?;
/// let problem = Multiclass::new(MulticlassShape::new(3, 1), data, ClassLoss::ZeroOne)?;
/// assert_eq!(check_enumerable(&problem, &CheckOptions::default()), []);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Panics
/// If the problem does.
pub fn check_enumerable<P: Enumerable>(problem: &P, options: &CheckOptions) -> Vec<BrokenLaw> {
    let mut outputs = |i| {
        let mut outputs = Vec::new();
        problem.for_each_output(i, &mut |y| outputs.push(y.clone()));
        outputs
    };
    look::run(&mut Typed::new(problem, &mut outputs), options, Manner::Enumerated)
}

/// Checks at most three examples with three oracle calls each, at the start of training.
pub(crate) fn check_quickly<P: Problem>(problem: &P) -> Vec<BrokenLaw> {
    look::run_quickly(&mut Typed::new(problem, &mut |_| Vec::new()))
}
