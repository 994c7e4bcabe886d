//! A problem under check, without its types, so that the check is compiled once for all problems.

use super::look::Question;
use crate::problem::bounds::Bounds;
use crate::problem::parts::Target;
use crate::problem::quality::Quality;
use crate::problem::sparse::SparseVec;
use crate::problem::{Problem, ProblemExt as _};

/// A problem with its workspace and the output that is looked at.
pub(super) trait Subject<'p> {
    fn dim(&self) -> usize;
    fn examples(&self) -> usize;
    fn bounds(&self) -> Option<&'p Bounds>;
    fn quality(&self) -> Quality;
    fn has_signed_losses(&self) -> bool;
    fn decodes_otherwise(&self) -> bool;
    fn weights_norm_sq(&self, w: &[f64]) -> Option<f64>;

    fn prepare(&mut self, i: usize, w: &[f64]);
    fn prepare_scores(&mut self, i: usize, w: &[f64], ways: &[SparseVec]);

    /// Looks at the answer to a question. Returns `false` if the problem cannot answer it.
    fn find(&mut self, i: usize, w: &[f64], question: Question) -> bool;
    /// Looks at the truth. Returns `false` if the problem does not hand it out.
    fn find_truth(&mut self, i: usize) -> bool;
    /// Asks the caller for outputs of example `i`.
    fn gather(&mut self, i: usize);
    /// Looks at the next of them. Returns `false` if there are no more.
    fn find_given(&mut self) -> bool;

    /// The loss of the output that is looked at.
    fn loss(&self, i: usize) -> f64;
    fn psi(&self, i: usize, psi: &mut SparseVec);
    fn parts(&self, i: usize, parts: &mut SparseVec);

    fn truth_parts(&self, i: usize, parts: &mut SparseVec);
    fn scatter(&self, i: usize, scale: f64, way: &SparseVec, target: Target<'_>);
    fn norm_sq(&mut self, i: usize, way: &SparseVec) -> f64;
    fn score(&self, i: usize, w: &[f64], way: &SparseVec) -> f64;
}

/// A problem of a certain type.
pub(super) struct Typed<'p, P: Problem> {
    problem: &'p P,
    workspace: P::Workspace,
    y: P::Output,
    given: std::vec::IntoIter<P::Output>,
    outputs: &'p mut dyn FnMut(usize) -> Vec<P::Output>,
}

impl<'p, P: Problem> Typed<'p, P> {
    /// `outputs` gives some outputs of an example, or all of them.
    pub(super) fn new(problem: &'p P, outputs: &'p mut dyn FnMut(usize) -> Vec<P::Output>) -> Self {
        let (workspace, y) = (problem.workspace(), P::Output::default());
        Self { problem, workspace, y, given: Vec::new().into_iter(), outputs }
    }
}

impl<'p, P: Problem> Subject<'p> for Typed<'p, P> {
    fn dim(&self) -> usize {
        self.problem.dim()
    }
    fn examples(&self) -> usize {
        self.problem.examples()
    }
    fn bounds(&self) -> Option<&'p Bounds> {
        self.problem.bounds()
    }
    fn quality(&self) -> Quality {
        self.problem.quality()
    }
    fn has_signed_losses(&self) -> bool {
        self.problem.has_signed_losses()
    }
    fn decodes_otherwise(&self) -> bool {
        self.problem.abilities().decodes_otherwise
    }
    fn weights_norm_sq(&self, w: &[f64]) -> Option<f64> {
        self.problem.weights_norm_sq(w)
    }

    fn prepare(&mut self, i: usize, w: &[f64]) {
        self.problem.prepare(i, w, &mut self.workspace);
    }
    fn prepare_scores(&mut self, i: usize, w: &[f64], ways: &[SparseVec]) {
        self.problem.prepare_scores(i, w, &mut self.workspace, ways);
    }

    fn find(&mut self, i: usize, w: &[f64], question: Question) -> bool {
        self.y = P::Output::default();
        let (problem, workspace, y) = (self.problem, &mut self.workspace, &mut self.y);
        problem.prepare(i, w, workspace);
        match question {
            Question::Oracle => problem.oracle(i, w, workspace, y),
            Question::OracleWithLoss(factor) => {
                return problem.oracle_with_loss(i, w, factor, workspace, y);
            }
            Question::Decode => problem.decode(i, w, workspace, y),
        }
        true
    }
    fn find_truth(&mut self, i: usize) -> bool {
        let truth = self.problem.truth(i);
        truth.map(|truth| self.y = truth).is_some()
    }
    fn gather(&mut self, i: usize) {
        self.given = (self.outputs)(i).into_iter();
    }
    fn find_given(&mut self) -> bool {
        self.given.next().map(|given| self.y = given).is_some()
    }

    fn loss(&self, i: usize) -> f64 {
        self.problem.loss(i, &self.y)
    }
    fn psi(&self, i: usize, psi: &mut SparseVec) {
        self.problem.psi(i, &self.y, psi);
    }
    fn parts(&self, i: usize, parts: &mut SparseVec) {
        self.problem.parts(i, &self.y, parts);
    }

    fn truth_parts(&self, i: usize, parts: &mut SparseVec) {
        self.problem.truth_parts(i, parts);
    }
    fn scatter(&self, i: usize, scale: f64, way: &SparseVec, target: Target<'_>) {
        self.problem.scatter(i, scale, way, target);
    }
    fn norm_sq(&mut self, i: usize, way: &SparseVec) -> f64 {
        self.problem.norm_sq(i, &mut self.workspace, way)
    }
    fn score(&self, i: usize, w: &[f64], way: &SparseVec) -> f64 {
        self.problem.score(i, w, &self.workspace, way)
    }
}
