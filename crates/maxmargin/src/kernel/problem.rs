//! A problem with a kernel instead of inner products.

use super::cache::{KernelRow, RowCache};
use super::function::{Kernel, KernelError};
use super::inputs::{Collector, Inputs, add_expansion};
use super::support::Support;
use crate::dual::norm_sq;
use crate::model::Row;
use crate::problem::bounds::bounds_in_force;
use crate::problem::{
    Abilities, OwnLength, Parts, Problem, ProblemExt, ScaledLosses, SparseVec, Target, Truths,
};

/// A problem whose examples have nodes with inputs, and whose weights begin with those of inputs,
/// attribute by attribute with all labels side by side.
///
/// [`Chain`](crate::model::chain::Chain), [`Multiclass`](crate::model::multiclass::Multiclass) and
/// [`Multilabel`](crate::model::multilabel::Multilabel) are such problems. They can be [`Kernelised`].
///
/// ```
/// # use maxmargin::doc::toy;
/// use maxmargin::kernel::NodeInputs;
///
/// let chain = toy();
/// assert_eq!((chain.labels(), chain.nodes(0)), (2, 3));
/// assert_eq!(chain.input(0, 1).attributes, [1, 3]);
/// ```
pub trait NodeInputs: Problem + Sized {
    /// Number of labels of a node.
    fn labels(&self) -> usize;

    /// Number of nodes of example `i`.
    fn nodes(&self, i: usize) -> usize;

    /// The input of a node.
    fn input(&self, i: usize, node: usize) -> Row<'_>;

    /// The index of the first weight that does not belong to inputs. It is 0 if there are no weights of
    /// inputs.
    fn rest(&self) -> usize;

    /// The same problem over the *numbers* of inputs: the input of each node is replaced by a single
    /// attribute with the value 1, `numbers[node]` < `count`, where nodes of all examples are numbered in
    /// order. Lengths use `product` of two numbers as the inner product.
    #[must_use]
    fn renumbered(self, numbers: &[u32], count: usize, product: &dyn Fn(u32, u32) -> f64) -> Self;

    /// Like [`prepare`](crate::problem::Parts::prepare), but without the scores of inputs. Instead, `add`
    /// is called once with the scores of all nodes, one row of labels each, and adds the scores of inputs
    /// to them.
    fn prepare_with(
        &self,
        i: usize,
        w: &[f64],
        workspace: &mut Self::Workspace,
        add: &mut dyn FnMut(&mut [f64]),
    );
}

/// A problem with a kernel. See the [module](crate::kernel).
///
/// Its weights are the coefficients β, with all labels side by side for each distinct input of the data,
/// followed by the other weights of the problem. In its certificates, ‖w‖² is the squared length in the
/// space of the kernel.
///
/// Coefficients have no bounds. A problem with bounds on its weights is refused, and training refuses a
/// [`Bounded`](crate::Bounded) around it. A [table](crate::forward_problem#which-wrappers-go-together)
/// lists which wrappers can be combined.
///
/// Most time of an oracle call is spent on scores, which need one kernel value for each node of the
/// example and each distinct input of all examples. Rows of these values are cached, as many as fit.
#[derive(Debug)]
pub struct Kernelised<P> {
    /// The problem over numbers of inputs.
    inner: P,
    kernel: Kernel,
    inputs: Inputs,
    labels: usize,
    /// The number of the input of every node, and the index of each example's first node.
    numbers: Vec<u32>,
    starts: Vec<usize>,
    cache: RowCache,
}

/// Scratch memory of a [`Kernelised`], for one thread. `W` is that of the problem inside.
///
/// ```
/// # use maxmargin::doc::toy;
/// use maxmargin::{Problem, ProblemExt};
/// use maxmargin::kernel::{Kernel, Kernelised};
///
/// let problem = Kernelised::new(toy(), Kernel::Linear, 0)?;
/// let mut workspace = problem.workspace();
/// problem.prepare(0, &vec![0.0; problem.dim()], &mut workspace);
/// # Ok::<(), maxmargin::kernel::KernelError>(())
/// ```
#[derive(Debug, Clone)]
pub struct KernelWorkspace<W> {
    inner: W,
    rows: Vec<KernelRow>,
    dense: Vec<f64>,
}

/// The number of inputs whose kernel rows are used together for ‖w‖².
const TOGETHER: usize = 8;

impl<P: NodeInputs> Kernelised<P> {
    /// Creates a problem with a kernel. Up to `bytes` of kernel values are cached.
    ///
    /// ```
    /// # use maxmargin::doc::toy;
    /// use maxmargin::kernel::{Kernel, Kernelised};
    ///
    /// let problem = Kernelised::new(toy(), Kernel::Rbf { gamma: 0.5 }, 1 << 20)?;
    /// assert_eq!((problem.nodes(), problem.inputs()), (10, 4)); // ten tokens, four kinds
    /// # Ok::<(), maxmargin::kernel::KernelError>(())
    /// ```
    ///
    /// Wrappers for bounds, slack rescaling or another kernel have no inputs, so they do not compile
    /// here. Neither do soft constraints:
    ///
    /// ```compile_fail,E0277
    /// # use maxmargin::{Bounded, Bounds, doc::toy, kernel::{Kernel, Kernelised}};
    /// let inside = Bounded::new(toy(), Bounds::none(18));
    /// let problem = Kernelised::new(inside, Kernel::Linear, 0);
    /// ```
    ///
    /// ```compile_fail,E0277
    /// # use maxmargin::{SlackRescaled, doc::toy, kernel::{Kernel, Kernelised}};
    /// let problem = Kernelised::new(SlackRescaled::new(toy()), Kernel::Linear, 0);
    /// ```
    ///
    /// ```compile_fail,E0277
    /// # use maxmargin::{doc::toy, kernel::{Kernel, Kernelised}};
    /// let inside = Kernelised::new(toy(), Kernel::Linear, 0).unwrap();
    /// let problem = Kernelised::new(inside, Kernel::Linear, 0);
    /// ```
    ///
    /// ```compile_fail,E0277
    /// # use maxmargin::{doc::soft_pictures, kernel::{Kernel, Kernelised}};
    /// let problem = Kernelised::new(soft_pictures(0.1), Kernel::Linear, 0);
    /// ```
    ///
    /// # Errors
    /// If parameters of the kernel are out of range, if the problem has bounds or no inputs, or if inputs
    /// are so large that the kernel is not finite.
    pub fn new(problem: P, kernel: Kernel, bytes: usize) -> Result<Self, KernelError> {
        kernel.check()?;
        if bounds_in_force(&problem).is_some() {
            return Err(KernelError::Bounds);
        }
        let labels = problem.labels();
        if problem.rest() == 0 {
            return Err(KernelError::NoInputs);
        }
        // Number the distinct inputs.
        let (mut collector, mut numbers, mut starts) = (Collector::default(), Vec::new(), vec![0]);
        for i in 0..problem.examples() {
            numbers
                .extend((0..problem.nodes(i)).map(|node| collector.number(problem.input(i, node))));
            starts.push(numbers.len());
        }
        // Refuse inputs whose kernel is not finite.
        let inputs = collector.finish();
        for example in 0..problem.examples() {
            for &number in &numbers[starts[example]..starts[example + 1]] {
                let value = inputs.own_value(&kernel, number);
                if !value.is_finite() {
                    return Err(KernelError::Value { example, value });
                }
            }
        }
        let product = |a: u32, b: u32| inputs.value(&kernel, a, b);
        let inner = problem.renumbered(&numbers, inputs.len(), &product);
        let cache = RowCache::new(inputs.len(), inputs.len(), bytes);
        Ok(Self { inner, kernel, inputs, labels, numbers, starts, cache })
    }

    /// The kernel.
    pub fn kernel(&self) -> &Kernel {
        &self.kernel
    }

    /// Number of distinct inputs.
    pub fn inputs(&self) -> usize {
        self.inputs.len()
    }

    /// Number of nodes of all examples.
    pub fn nodes(&self) -> usize {
        self.numbers.len()
    }

    /// The number of rows of kernel values that were computed so far, including those that had been
    /// evicted.
    pub fn computed_rows(&self) -> u64 {
        self.cache.misses()
    }

    /// The problem inside, over numbers of inputs. It has the same parts and outputs.
    pub fn inner(&self) -> &P {
        &self.inner
    }

    /// Returns what a model has to keep: the inputs whose coefficients in `weights` are not all 0, and
    /// the weights without the coefficients of other inputs.
    ///
    /// ```
    /// # use maxmargin::doc::toy;
    /// use maxmargin::Problem;
    /// use maxmargin::kernel::{Kernel, Kernelised};
    ///
    /// let problem = Kernelised::new(toy(), Kernel::Rbf { gamma: 0.5 }, 0)?;
    /// let mut weights = vec![0.0; problem.dim()];
    /// weights[2] = 1.0; // of the second of four inputs, and the first of two labels
    /// let (support, few) = problem.support(&weights);
    /// assert_eq!((support.len(), few.len()), (1, weights.len() - 6));
    /// assert_eq!(problem.weights_of(&support, &few), Some(weights));
    /// # Ok::<(), maxmargin::kernel::KernelError>(())
    /// ```
    ///
    /// # Panics
    /// If there are too few weights.
    pub fn support(&self, weights: &[f64]) -> (Support, Vec<f64>) {
        let (inputs, weights) = self.reduced(weights);
        (Support::of(inputs), weights)
    }

    pub(super) fn reduced(&self, weights: &[f64]) -> (Inputs, Vec<f64>) {
        let (beta, rest) = weights.split_at(self.inputs.len() * self.labels);
        let (mut rows, mut few) = (Vec::new(), Vec::new());
        for (m, beta) in beta.chunks_exact(self.labels).enumerate() {
            if beta.iter().any(|b| *b != 0.0) {
                few.extend_from_slice(beta);
                rows.push(self.inputs.rows.row(m).pairs().collect());
            }
        }
        few.extend_from_slice(rest);
        (Inputs::from_rows(rows), few)
    }

    /// Inverts [`support`](Self::support): returns all weights of this problem, with coefficients 0 for
    /// inputs that are not in `support`. Returns `None` if `support` has an input that is not in the
    /// data, or if the number of weights is wrong.
    pub fn weights_of(&self, support: &Support, few: &[f64]) -> Option<Vec<f64>> {
        let (all, labels) = (self.inputs.len() * self.labels, self.labels);
        let (beta, rest) = few.split_at_checked(support.len() * labels)?;
        if all + rest.len() != self.dim() {
            return None;
        }
        let places = support.places_in(&self.inputs)?;
        let mut weights = vec![0.0; all];
        for (m, beta) in places.into_iter().zip(beta.chunks_exact(labels)) {
            weights[m * labels..][..labels].copy_from_slice(beta);
        }
        weights.extend_from_slice(rest);
        Some(weights)
    }

    pub(super) fn label_count(&self) -> usize {
        self.labels
    }

    fn row(&self, number: u32, dense: &mut Vec<f64>) -> KernelRow {
        self.cache.get(number, |values| {
            let input = self.inputs.rows.row(number as usize);
            self.inputs.values(&self.kernel, input, dense, values);
        })
    }

    /// The coefficients among the weights.
    fn beta<'w>(&self, w: &'w [f64]) -> &'w [f64] {
        &w[..self.inputs.len() * self.labels]
    }
}

impl<P: NodeInputs> Problem for Kernelised<P> {
    type Output = P::Output;
    type Workspace = KernelWorkspace<P::Workspace>;

    crate::forward_problem!(self.inner, workspace.inner, except [
        workspace, // contains that of the problem inside
        bounds,    // `new` refuses them
        abilities, // see there
    ]);

    fn workspace(&self) -> Self::Workspace {
        KernelWorkspace { inner: self.inner.workspace(), rows: Vec::new(), dense: Vec::new() }
    }

    #[inline]
    fn abilities(&self) -> Abilities<'_, Self::Workspace, P::Output> {
        let inner = self.inner.abilities();
        Abilities {
            // The scores of inputs are sums of kernel values.
            parts: Some(self),
            truths: inner.truths.is_some().then_some(self as _),
            points: inner.points,
            scaled_losses: inner.scaled_losses.is_some().then_some(self as _),
            // Simplices would score parts without kernel values, expectations would need this workspace,
            // and a second objective would treat coefficients as weights.
            simplices: None,
            expectations: None,
            second_objective: None,
            at_lambda: None,
            // The length in the space of the kernel.
            own_length: Some(self),
            total_weight: inner.total_weight,
            has_signed_losses: inner.has_signed_losses,
            // Answers that were worked out beforehand would lack kernel values, and so would a search.
            batched: None,
            within: None,
            is_trusted: inner.is_trusted,
            decodes_otherwise: inner.decodes_otherwise,
        }
    }
}

impl<P: NodeInputs> Parts for Kernelised<P> {
    fn prepare(&self, i: usize, w: &[f64], workspace: &mut Self::Workspace) {
        let KernelWorkspace { inner, rows, dense } = workspace;
        rows.clear();
        let numbers = &self.numbers[self.starts[i]..self.starts[i + 1]];
        rows.extend(numbers.iter().map(|&number| self.row(number, dense)));
        self.inner.prepare_with(i, w, inner, &mut |scores| {
            add_expansion(self.beta(w), self.labels, rows, scores);
        });
        rows.clear();
    }

    fn prefetch(&self, i: usize) {
        self.inner.prefetch(i);
    }

    fn parts(&self, i: usize, y: &P::Output, parts: &mut SparseVec) {
        self.inner.parts(i, y, parts);
    }

    fn truth_parts(&self, i: usize, parts: &mut SparseVec) {
        self.inner.truth_parts(i, parts);
    }

    fn score(&self, i: usize, w: &[f64], workspace: &Self::Workspace, parts: &SparseVec) -> f64 {
        self.inner.score(i, w, &workspace.inner, parts)
    }

    fn norm_sq(&self, i: usize, workspace: &mut Self::Workspace, parts: &SparseVec) -> f64 {
        self.inner.norm_sq(i, &mut workspace.inner, parts)
    }

    fn scatter(&self, i: usize, scale: f64, parts: &SparseVec, target: Target<'_>) {
        self.inner.scatter(i, scale, parts, target);
    }
}

impl<P: NodeInputs> Truths for Kernelised<P> {
    fn truth(&self, i: usize) -> P::Output {
        self.inner.truth(i).unwrap_or_default()
    }
}

impl<P: NodeInputs> ScaledLosses for Kernelised<P> {
    fn oracle_with_loss(
        &self,
        i: usize,
        w: &[f64],
        factor: f64,
        workspace: &mut Self::Workspace,
        y: &mut P::Output,
    ) {
        self.inner.oracle_with_loss(i, w, factor, &mut workspace.inner, y);
    }
}

impl<P: NodeInputs> OwnLength for Kernelised<P> {
    fn weights_norm_sq(&self, w: &[f64]) -> f64 {
        let (beta, labels) = (self.beta(w), self.labels);
        let is_on = |m: &u32| beta[*m as usize * labels..][..labels].iter().any(|b| *b != 0.0);
        let on: Vec<u32> = (0..self.inputs.len() as u32).filter(is_on).collect();
        let (mut dense, mut scores, mut total) = (Vec::new(), Vec::new(), 0.0);
        for group in on.chunks(TOGETHER) {
            let rows: Vec<KernelRow> = group.iter().map(|&m| self.row(m, &mut dense)).collect();
            scores.clear();
            scores.resize(group.len() * labels, 0.0);
            add_expansion(beta, labels, &rows, &mut scores);
            for (&m, scores) in group.iter().zip(scores.chunks_exact(labels)) {
                let own = &beta[m as usize * labels..][..labels];
                total += own.iter().zip(scores).map(|(b, score)| b * score).sum::<f64>();
            }
        }
        total + norm_sq(&w[beta.len()..])
    }
}
