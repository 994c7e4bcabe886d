//! Builds a problem from a specification and examples. All problems are built here.

mod error;

pub use error::ProblemError;

use crate::examples::Examples;
use crate::problem_role::{InputWeights, ProblemRole};
use crate::side_by_side::map_side_by_side;
use crate::spec::{
    FactorGraphSpec, KernelSpec, MatchingSpec, MultilabelSpec, PottsSpec, Rescaling, SegmentSpec,
    Spec, TreeSpec,
};
use crate::superpixels::Superpixels;
use maxmargin::kernel::{KernelError, Kernelised, NodeInputs};
use maxmargin::model::InputError;
use maxmargin::model::LabelledRows;
use maxmargin::model::binary::Binary;
use maxmargin::model::chain::Chain;
use maxmargin::model::factor_graph::{FactorGraph, Graphs};
use maxmargin::model::matching::{Matching, Pairs};
use maxmargin::model::multiclass::Multiclass;
use maxmargin::model::multilabel::{Multilabel, SetScores};
use maxmargin::model::potts::{Potts, PottsGraphs};
use maxmargin::model::segment::{SegmentChain, Segmentations};
use maxmargin::model::soft::SoftGraph;
use maxmargin::model::tree::{Tree, TreeExamples};
use maxmargin::{
    Blocks, Bounded, Bounds, Certificate, GroupBounds, Problem, Quality, SlackRescaled,
};

/// A problem of any type, and the relation between its weights and those of its model.
///
/// ```
/// use maxmargin::model::chain::{ChainShape, Hamming};
/// use maxmargin::{GroupBounds, Settings, train};
/// use maxmargin_io::{
///     ChainSpec, Examples, Format, Lines, ProblemRole, Spec, open_reader, read_training,
/// };
///
/// let lines = Lines::from_reader("pets.txt", "noun\tcat\nverb\tpurrs\n".as_bytes())?;
/// let data = read_training(open_reader(lines, Some(Format::Crfsuite))?)?;
/// let (shape, loss) = (ChainShape::new(2, data.attributes.len()), Hamming::default());
/// let spec = Spec::from(ChainSpec { shape, loss, kernel: None, rescaling: Default::default() });
/// let problem = spec.problem(Examples::from(data.sequences), &GroupBounds::default())?;
/// assert!(matches!(problem.role(), ProblemRole::Plain));
/// assert!(train(problem.blocks(), &Settings::default())?.certificate.gap <= 0.01);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct BuiltProblem(Built);

enum Built {
    Plain(Box<dyn Blocks>),
    Kernel(Box<dyn KernelBlocks>),
    Soft(Box<SoftGraph>),
    /// Graphs whose decoding may be a heuristic, for which there are bounds.
    Graphs(Box<FactorGraph>),
    Potts(Box<Potts>),
}

/// A problem with a kernel.
trait KernelBlocks: Blocks + InputWeights {}

impl<P: NodeInputs> KernelBlocks for Kernelised<P> {}

impl BuiltProblem {
    /// The problem, for training.
    pub fn blocks(&self) -> &dyn Blocks {
        match &self.0 {
            Built::Plain(problem) => &**problem,
            Built::Kernel(problem) => &**problem,
            Built::Soft(problem) => &**problem,
            Built::Graphs(problem) => &**problem,
            Built::Potts(problem) => &**problem,
        }
    }

    /// An upper bound of what decoding may have missed, if it is a heuristic for graphs. The true objective then
    /// lies between the primal of a certificate of weights and the primal plus this bound. Messages bound the hinge
    /// of every graph from above, so λ/2 ‖w‖² + the mean of these bounds is at least the true objective. For other
    /// decoders, the result is `None`. It is computed on as many threads as [`thread_count`](crate::thread_count)
    /// says.
    ///
    /// ```
    /// use maxmargin::inference::Inference;
    /// use maxmargin::model::factor_graph::{Graphs, StateLoss};
    /// use maxmargin::{Certificate, GroupBounds, Quality};
    /// use maxmargin_io::{Examples, FactorGraphSpec, Spec};
    ///
    /// let mut data = Graphs::new();
    /// for v in 0..3 {
    ///     data.push_variable(3, v)?;
    /// }
    /// for (a, b) in [(0, 1), (1, 2), (2, 0)] {
    ///     data.push_factor(0, &[a, b], [(0, 1.0)])?;
    /// }
    /// data.end_graph(1.0)?;
    /// let spec = FactorGraphSpec {
    ///     shape: data.shape()?,
    ///     loss: StateLoss::default(),
    ///     inference: Inference::MaxProduct,
    ///     training: Default::default(),
    ///     rescaling: Default::default(),
    ///     states: Vec::new(),
    ///     labels: Vec::new(),
    /// };
    /// let spec = Spec::from(spec);
    /// let problem = spec.problem(Examples::FactorGraphs(data), &GroupBounds::default())?;
    ///
    /// // A decoder that has found nothing at w = 0, where the hinge is the largest loss.
    /// let (lambda, quality) = (1.0, Quality::Heuristic);
    /// let found = Certificate { lambda, primal: 0.0, dual: 0.0, gap: 0.0, quality, missed: None };
    /// let missed = problem.missed(&found, &vec![0.0; spec.dim()], 1);
    /// assert!(missed.is_some_and(|missed| (missed - 1.0).abs() < 1e-12));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn missed(&self, found: &Certificate, w: &[f64], threads: usize) -> Option<f64> {
        if self.blocks().quality() != Quality::Heuristic {
            return None;
        }
        let norm_sq: f64 = w.iter().map(|w| w * w).sum();
        let bound = 0.5 * found.lambda * norm_sq + self.risk_bound(w, threads)?;
        // A heuristic never finds more than the true objective, so a bound below its result is due to rounding.
        Some((bound - found.primal).max(0.0)).filter(|missed| missed.is_finite())
    }

    /// Sets the amount that decoding may have missed in a certificate, unless it is already known.
    pub(crate) fn state_missed(&self, found: &mut Certificate, w: &[f64], threads: usize) {
        if found.quality == Quality::Heuristic && found.missed.is_none() {
            found.missed = self.missed(found, w, threads);
        }
    }

    /// An upper bound of the mean hinge of weights, if messages provide one.
    fn risk_bound(&self, w: &[f64], threads: usize) -> Option<f64> {
        let n = self.blocks().examples();
        let bounds = match &self.0 {
            Built::Graphs(problem) => {
                let start = || problem.workspace();
                map_side_by_side(n, threads, start, |own, i| problem.hinge_bound(i, w, own))
            }
            Built::Potts(problem) => {
                let start = || problem.workspace();
                map_side_by_side(n, threads, start, |own, i| problem.hinge_bound(i, w, own))
            }
            _ => return None,
        };
        let weight = |i: usize| self.blocks().weight(i);
        let all: f64 = (0..n).map(weight).sum();
        let risk: f64 = bounds.iter().enumerate().map(|(i, bound)| weight(i) * bound).sum();
        Some(risk / all)
    }

    /// The relation between its weights and those of its model.
    pub fn role(&self) -> ProblemRole<'_> {
        match &self.0 {
            Built::Plain(_) | Built::Graphs(_) | Built::Potts(_) => ProblemRole::Plain,
            Built::Kernel(problem) => ProblemRole::Kernel(&**problem),
            Built::Soft(problem) => ProblemRole::Soft(problem),
        }
    }

    fn plain(problem: impl Problem + 'static) -> Self {
        Self(Built::Plain(Box::new(problem)))
    }

    /// A problem with too many outputs to try them all. Slack rescaling searches with its decoder.
    fn searched(
        problem: impl Problem + 'static,
        rescaling: Rescaling,
    ) -> Result<Self, ProblemError> {
        match rescaling {
            Rescaling::Margin => Ok(Self::plain(problem)),
            Rescaling::Slack => SlackRescaled::by_search(problem)
                .map(Self::plain)
                .map_err(ProblemError::SlackSearch),
        }
    }

    /// A problem with bounds, if there are any, where it has no place for them itself.
    fn bounded(problem: impl Problem + 'static, bounds: Option<Bounds>) -> Self {
        match bounds {
            None => Self::plain(problem),
            Some(bounds) => Self::plain(Bounded::new(problem, bounds)),
        }
    }

    /// A problem with the kernel of its model.
    fn kernelised(
        problem: impl NodeInputs + 'static,
        own: &KernelSpec,
    ) -> Result<Self, ProblemError> {
        let problem = Kernelised::new(problem, own.kernel, own.bytes)?;
        Ok(Self(Built::Kernel(Box::new(problem))))
    }

    fn soft(problem: SoftGraph) -> Self {
        Self(Built::Soft(Box::new(problem)))
    }
}

impl std::fmt::Debug for BuiltProblem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let problem = self.blocks();
        f.debug_struct("BuiltProblem")
            .field("examples", &problem.examples())
            .field("dim", &problem.dim())
            .finish_non_exhaustive()
    }
}

impl Spec {
    /// The problem of learning from `examples`, with bounds on groups of weights.
    ///
    /// ```
    /// use maxmargin::GroupBounds;
    /// use maxmargin::model::LabelledRows;
    /// use maxmargin::model::binary::BinaryShape;
    /// use maxmargin_io::{BinarySpec, Examples, Rescaling, Spec};
    ///
    /// let mut rows = LabelledRows::new();
    /// rows.push([(0, 1.0)], &[0], 1.0)?;
    /// let shape = BinaryShape::new(1);
    /// let spec = Spec::from(BinarySpec { shape, positive: 1, rescaling: Rescaling::Slack });
    /// let problem = spec.problem(Examples::from(rows), &GroupBounds::default())?;
    /// assert!(problem.role().inputs().is_none());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Examples or bounds that do not fit the specification.
    pub fn problem(
        &self,
        examples: Examples,
        bounds: &GroupBounds,
    ) -> Result<BuiltProblem, ProblemError> {
        self.check_size()?;
        let stated = bounds;
        let bounds = self.resolve_bounds(stated)?;
        if self.kernel().is_some() && !stated.is_empty() {
            // Before a training there is no support, so there may be no weight to which a bound could apply.
            return Err(KernelError::Bounds.into());
        }
        Ok(match (self, examples) {
            (Self::Chain(spec), Examples::Sequences(data)) => {
                let chain = Chain::new(spec.shape, data, &spec.loss)?.with_bounds(bounds);
                match (&spec.kernel, spec.rescaling) {
                    (None, rescaling) => BuiltProblem::searched(chain, rescaling)?,
                    (Some(own), Rescaling::Margin) => BuiltProblem::kernelised(chain, own)?,
                    (Some(_), Rescaling::Slack) => {
                        return Err(ProblemError::SlackBeside("a kernel"));
                    }
                }
            }
            (Self::Binary(spec), Examples::Rows(data)) => {
                let problem = Binary::new(spec.shape, data, spec.positive)?;
                match spec.rescaling {
                    Rescaling::Margin => BuiltProblem::bounded(problem, bounds),
                    Rescaling::Slack => BuiltProblem::bounded(SlackRescaled::new(problem), bounds),
                }
            }
            (Self::Multiclass(spec), Examples::Rows(data)) => {
                let problem = Multiclass::new(spec.shape, data, spec.loss.clone())?;
                match (&spec.kernel, spec.rescaling) {
                    (Some(_), Rescaling::Slack) => {
                        return Err(ProblemError::SlackBeside("a kernel"));
                    }
                    (Some(own), Rescaling::Margin) => BuiltProblem::kernelised(problem, own)?,
                    (None, Rescaling::Margin) => BuiltProblem::bounded(problem, bounds),
                    (None, Rescaling::Slack) => {
                        BuiltProblem::bounded(SlackRescaled::new(problem), bounds)
                    }
                }
            }
            (Self::Multilabel(spec), Examples::Rows(data)) => spec.built(data, bounds)?,
            (Self::FactorGraph(spec), Examples::FactorGraphs(data)) => spec.built(data, bounds)?,
            (
                Self::Potts(spec),
                Examples::Potts(graphs) | Examples::Superpixels(Superpixels { graphs, .. }),
            ) => spec.built(graphs, bounds)?,
            (Self::Tree(spec), Examples::Trees(data)) => spec.built(data, bounds)?,
            (Self::Tree(spec), Examples::Poses(data)) => spec.built(data.examples, bounds)?,
            (Self::Matching(spec), Examples::Pairs(data)) => spec.built(data, bounds)?,
            (Self::Matching(spec), Examples::Alignments(data)) => spec.built(data.links, bounds)?,
            (Self::Segment(spec), Examples::Segments(data)) => {
                let problem = spec.problem(data)?.with_bounds(bounds);
                BuiltProblem::searched(problem, spec.rescaling)?
            }
            (spec, _) => return Err(spec.other_kind()),
        })
    }

    /// The error for examples of another kind.
    pub(crate) const fn other_kind(&self) -> ProblemError {
        ProblemError::OtherKind { kind: self.kind() }
    }
}

impl MultilabelSpec {
    /// The problem of decoding rows, without bounds, kernel, rescaling or soft constraints.
    ///
    /// # Errors
    /// Rows that do not fit, or pairs of labels that are too many for the inference.
    pub fn problem(&self, rows: LabelledRows) -> Result<Multilabel, InputError> {
        Multilabel::new(self.shape.clone(), rows, &self.loss, self.inference)
    }

    fn built(
        &self,
        data: LabelledRows,
        bounds: Option<Bounds>,
    ) -> Result<BuiltProblem, ProblemError> {
        let build = |lambda, rho| SoftGraph::of_labels(&self.shape, &data, &self.loss, lambda, rho);
        if let Some(problem) = self.training.problem(build)? {
            if self.rescaling == Rescaling::Slack {
                return Err(ProblemError::SlackBeside("soft constraints"));
            }
            return Ok(BuiltProblem::soft(problem.with_bounds(bounds)?));
        }
        let problem = self.problem(data)?.with_bounds(bounds);
        match (&self.kernel, self.rescaling) {
            (Some(_), Rescaling::Slack) => Err(ProblemError::SlackBeside("a kernel")),
            (Some(own), Rescaling::Margin) => BuiltProblem::kernelised(problem, own),
            (None, Rescaling::Margin) => Ok(BuiltProblem::plain(problem)),
            // Sets of many labels are too many to try them all.
            (None, Rescaling::Slack) if self.shape.labels > SetScores::MOST_LABELS => {
                BuiltProblem::searched(problem, Rescaling::Slack)
            }
            (None, Rescaling::Slack) => Ok(BuiltProblem::plain(SlackRescaled::new(problem))),
        }
    }
}

impl FactorGraphSpec {
    /// The problem of decoding graphs, without bounds, rescaling or soft constraints.
    ///
    /// # Errors
    /// Graphs that do not fit, or that are too large for the inference.
    pub fn problem(&self, graphs: Graphs) -> Result<FactorGraph, InputError> {
        let problem = FactorGraph::new(self.shape.clone(), graphs, self.loss, self.inference)?;
        if self.labels.is_empty() { Ok(problem) } else { problem.with_labels(self.labels.clone()) }
    }

    fn built(&self, data: Graphs, bounds: Option<Bounds>) -> Result<BuiltProblem, ProblemError> {
        let build = |lambda, rho| SoftGraph::of_graphs(&self.shape, &data, self.loss, lambda, rho);
        if let Some(problem) = self.training.problem(build)? {
            if self.rescaling == Rescaling::Slack {
                return Err(ProblemError::SlackBeside("soft constraints"));
            }
            return Ok(BuiltProblem::soft(problem.with_bounds(bounds)?));
        }
        let problem = self.problem(data)?.with_bounds(bounds);
        match self.rescaling {
            Rescaling::Margin => Ok(BuiltProblem(Built::Graphs(Box::new(problem)))),
            Rescaling::Slack if problem.too_large_to_rank().is_some() => {
                BuiltProblem::searched(problem, Rescaling::Slack)
            }
            Rescaling::Slack => Ok(BuiltProblem::plain(SlackRescaled::new(problem))),
        }
    }
}

impl SegmentSpec {
    /// The problem of cutting sequences, without bounds.
    ///
    /// # Errors
    /// Sequences that do not fit.
    pub fn problem(&self, data: Segmentations) -> Result<SegmentChain, InputError> {
        let chain = SegmentChain::new(self.shape, data, self.normalised)?;
        chain.with_label_weights(self.label_weights.clone())
    }
}

impl PottsSpec {
    /// The problem of labelling graphs, with only the bounds of its own shape.
    ///
    /// # Errors
    /// Graphs that do not fit, or an inference that the shape does not allow.
    pub fn problem(&self, graphs: PottsGraphs) -> Result<Potts, InputError> {
        Potts::new(self.shape, graphs, self.loss, self.inference)
    }

    fn built(
        &self,
        graphs: PottsGraphs,
        bounds: Option<Bounds>,
    ) -> Result<BuiltProblem, ProblemError> {
        let problem = self.problem(graphs)?;
        // Bounds that a model file claims may have entries for messages.
        let own = |bounds: Bounds| {
            let first = |side: &[f64]| side.iter().take(self.shape.dim()).copied().collect();
            Bounds::new(first(bounds.lower()), first(bounds.upper()))
        };
        let problem = problem.with_bounds(bounds.map(own).transpose()?)?;
        let build = |lambda, rho| SoftGraph::of_potts(&problem, lambda, rho);
        match (self.training.problem(build)?, self.rescaling) {
            (Some(soft), Rescaling::Margin) => Ok(BuiltProblem::soft(soft)),
            (Some(_), Rescaling::Slack) => Err(ProblemError::SlackBeside("soft constraints")),
            (None, Rescaling::Margin) => Ok(BuiltProblem(Built::Potts(Box::new(problem)))),
            (None, Rescaling::Slack) => BuiltProblem::searched(problem, Rescaling::Slack),
        }
    }
}

impl TreeSpec {
    /// The problem of placing the parts of trees, with only the bounds of its own shape.
    ///
    /// # Errors
    /// Examples that do not fit.
    pub fn problem(&self, data: TreeExamples) -> Result<Tree, ProblemError> {
        match *data.shape() == self.shape {
            true => Ok(Tree::new(data, self.loss)?),
            false => Err(ProblemError::OtherTree),
        }
    }

    fn built(
        &self,
        data: TreeExamples,
        bounds: Option<Bounds>,
    ) -> Result<BuiltProblem, ProblemError> {
        BuiltProblem::searched(self.problem(data)?.with_bounds(bounds)?, self.rescaling)
    }
}

impl MatchingSpec {
    fn built(&self, data: Pairs, bounds: Option<Bounds>) -> Result<BuiltProblem, ProblemError> {
        let problem = Matching::new(self.shape, data, self.loss)?;
        BuiltProblem::searched(problem.with_bounds(bounds), self.rescaling)
    }
}

#[cfg(test)]
mod tests;
