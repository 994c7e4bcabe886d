//! The problem that a specification and examples make.

use crate::examples::Examples;
use maxmargin::kernel::{Kernelised, NodeInputs};
use maxmargin::model::LabelledRows;
use maxmargin::model::binary::Binary;
use maxmargin::model::chain::Chain;
use maxmargin::model::factor_graph::FactorGraph;
use maxmargin::model::graph::{LabelledGraphs, Potts};
use maxmargin::model::matching::{Matching, Pairs};
use maxmargin::model::multiclass::Multiclass;
use maxmargin::model::multilabel::Multilabel;
use maxmargin::model::soft::SoftGraph;
use maxmargin::model::tree::{Tree, TreeExamples};
use maxmargin::{Bounded, Bounds, GroupBounds, Problem, SlackRescaled};
use maxmargin_io::{
    KernelSpec, MatchingSpec, MultilabelSpec, PottsSpec, ProblemRole, Rescaling, Spec, TreeSpec,
};

/// What is to be done with a problem, whatever its type.
pub(crate) trait UseProblem {
    type Result;

    /// Works on a problem whose weights are those of its model.
    fn go<P: Problem>(self, problem: &P) -> Result<Self::Result, String>
    where
        Self: Sized,
    {
        self.go_with(problem, ProblemRole::Plain)
    }

    /// Works on a problem that is known to be something special.
    fn go_with<P: Problem>(
        self,
        problem: &P,
        beside: ProblemRole<'_>,
    ) -> Result<Self::Result, String>;
}

/// Builds the problem, for `user` to work on.
///
/// # Errors
/// Examples that do not fit the specification, or whatever `user` finds.
pub(crate) fn with_problem<U: UseProblem>(
    spec: &Spec,
    examples: Examples,
    bounds: &GroupBounds,
    user: U,
) -> Result<U::Result, String> {
    let bounds = resolve(bounds, spec)?;
    match (spec, examples) {
        (Spec::Chain(spec), Examples::Sequences(data)) => {
            let chain = Chain::new(spec.shape, data, &spec.loss).map_err(text)?;
            let chain = chain.with_bounds(bounds);
            match &spec.kernel {
                None => user.go(&chain),
                Some(own) => go_kernelised(chain, own, user),
            }
        }
        (Spec::Binary(spec), Examples::Rows(data)) => {
            let problem = Binary::new(spec.shape, data, spec.positive).map_err(text)?;
            match spec.rescaling {
                Rescaling::Margin => go_within(problem, bounds, user),
                Rescaling::Slack => go_within(SlackRescaled::new(problem), bounds, user),
            }
        }
        (Spec::Multiclass(spec), Examples::Rows(data)) => {
            let problem = Multiclass::new(spec.shape, data, spec.loss.clone()).map_err(text)?;
            if let Some(own) = &spec.kernel {
                return go_kernelised(problem, own, user);
            }
            match spec.rescaling {
                Rescaling::Margin => go_within(problem, bounds, user),
                Rescaling::Slack => go_within(SlackRescaled::new(problem), bounds, user),
            }
        }
        (Spec::Multilabel(spec), Examples::Rows(data)) => {
            let (shape, loss) = (&spec.shape, &spec.loss);
            let build = |lambda, rho| SoftGraph::of_labels(shape, &data, loss, lambda, rho);
            if let Some(problem) = spec.training.problem(build).map_err(text)? {
                return user.go_with(&problem, ProblemRole::Soft(&problem));
            }
            let problem = multilabel(spec, data)?.with_bounds(bounds);
            if let Some(own) = &spec.kernel {
                return go_kernelised(problem, own, user);
            }
            match spec.rescaling {
                Rescaling::Margin => user.go(&problem),
                Rescaling::Slack => user.go(&SlackRescaled::new(problem)),
            }
        }
        (Spec::FactorGraph(spec), Examples::Graphs(data)) => {
            let (shape, loss) = (&spec.shape, spec.loss);
            let build = |lambda, rho| SoftGraph::of_graphs(shape, &data, loss, lambda, rho);
            if let Some(problem) = spec.training.problem(build).map_err(text)? {
                return user.go_with(&problem, ProblemRole::Soft(&problem));
            }
            let problem = FactorGraph::new(spec.shape.clone(), data, spec.loss, spec.inference)
                .map_err(text)?;
            let problem = problem.with_bounds(bounds);
            match spec.rescaling {
                Rescaling::Margin => user.go(&problem),
                Rescaling::Slack => user.go(&SlackRescaled::new(problem)),
            }
        }
        (Spec::Potts(spec), Examples::Nodes(data)) => {
            user.go(&potts(spec, data)?.with_bounds(bounds).map_err(text)?)
        }
        (Spec::Tree(spec), Examples::Trees(data)) => {
            user.go(&tree(spec, data)?.with_bounds(bounds).map_err(text)?)
        }
        (Spec::Matching(spec), Examples::Pairs(data)) => {
            user.go(&matching(spec, data)?.with_bounds(bounds))
        }
        (spec, _) => Err(format!("these data do not fit a model of the kind {}", spec.kind())),
    }
}

/// Works on a problem with bounds, if there are any, where it has no place for them itself.
fn go_within<P: Problem, U: UseProblem>(
    problem: P,
    bounds: Option<Bounds>,
    user: U,
) -> Result<U::Result, String> {
    match bounds {
        None => user.go(&problem),
        Some(bounds) => user.go(&Bounded::new(problem, bounds)),
    }
}

/// Works on a problem with the kernel of its model.
fn go_kernelised<P: NodeInputs, U: UseProblem>(
    problem: P,
    own: &KernelSpec,
    user: U,
) -> Result<U::Result, String> {
    let problem = Kernelised::new(problem, own.kernel, own.bytes).map_err(text)?;
    user.go_with(&problem, ProblemRole::Kernel(&problem))
}

pub(crate) fn potts(spec: &PottsSpec, data: LabelledGraphs) -> Result<Potts, String> {
    Potts::new(spec.shape, data, spec.loss, spec.inference).map_err(text)
}

pub(crate) fn tree(spec: &TreeSpec, data: TreeExamples) -> Result<Tree, String> {
    match *data.shape() == spec.shape {
        true => Tree::new(data, spec.loss).map_err(text),
        false => Err("these data are for another tree".to_owned()),
    }
}

pub(crate) fn matching(spec: &MatchingSpec, data: Pairs) -> Result<Matching, String> {
    Matching::new(spec.shape, data, spec.loss).map_err(text)
}

pub(crate) fn multilabel(spec: &MultilabelSpec, rows: LabelledRows) -> Result<Multilabel, String> {
    Multilabel::new(spec.shape.clone(), rows, &spec.loss, spec.inference).map_err(text)
}

fn resolve(bounds: &GroupBounds, spec: &Spec) -> Result<Option<Bounds>, String> {
    spec.resolve_bounds(bounds).map_err(text)
}

/// An error in words.
pub(crate) fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}
