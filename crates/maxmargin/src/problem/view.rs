//! The object-safe traits through which the engine uses a problem. They hide the types of its outputs and
//! of its scratch memory.

use crate::problem::bounds::Bounds;
use crate::problem::ext::feature_parts;
use crate::problem::quality::{PointCheck, Quality};
use crate::problem::simplices::Simplices;
use crate::problem::sparse::SparseVec;
use crate::problem::{
    Abilities, Accuracy, Blocks, BrokenLaw, Problem, ProblemExt, Target, check_quickly,
};
use std::ops::Range;

/// The methods of [`Blocks`]. Only the engine calls them: code outside of this crate cannot name this
/// trait.
pub trait View: Sync {
    /// [`Problem::examples`].
    fn examples(&self) -> usize;

    /// [`Problem::dim`].
    fn dim(&self) -> usize;

    /// [`Problem::weight`].
    fn weight(&self, i: usize) -> f64;

    /// [`ProblemExt::total_weight`].
    fn total_weight(&self) -> f64;

    /// [`Problem::bounds`].
    fn bounds(&self) -> Option<&Bounds>;

    /// [`Problem::quality`].
    fn quality(&self) -> Quality;

    fn has_signed_losses(&self) -> bool;

    /// Whether oracles can be asked for less than the maximum.
    fn has_accuracy(&self) -> bool;

    fn is_checked_at_start(&self) -> bool;

    /// Checks a few outputs of a few examples, and returns the laws that they break.
    fn check_quickly(&self) -> Vec<BrokenLaw>;

    /// The loss of the truth of example `i`, if the problem can hand out the truth.
    fn truth_loss(&self, i: usize) -> Option<f64>;

    /// The scratch memory and the oracle of one thread.
    fn worker(&self) -> Box<dyn Worker + '_>;

    fn prefetch(&self, i: usize);

    fn truth_parts(&self, i: usize, parts: &mut SparseVec);

    /// [`crate::problem::Parts::pieces`].
    fn pieces(&self, i: usize) -> usize;

    /// [`crate::problem::Parts::piece`] of the truth.
    fn truth_piece(&self, i: usize, piece: usize, parts: &mut SparseVec);

    /// Adds `scale` · Bᵢp to `target`, term by term.
    fn scatter(&self, i: usize, scale: f64, parts: &SparseVec, target: Target<'_>);

    fn weights_norm_sq(&self, w: &[f64]) -> Option<f64>;

    fn second_objective(&self, w: &[f64]) -> Option<f64>;

    /// The problem at `lambda`, if it is made for one λ; see [`crate::problem::AtLambda`].
    fn at_lambda(&self, lambda: f64) -> Option<Box<dyn Blocks>>;

    fn simplices(&self) -> Option<&dyn Simplices>;

    /// Number of potentials of example `i`, if the problem has expectations.
    fn potentials(&self, i: usize) -> Option<usize>;

    fn check_point(
        &self,
        i: usize,
        parts: &SparseVec,
        loss: f64,
        slack: f64,
    ) -> Result<PointCheck, String>;
}

/// The view of a problem from one thread. It holds the problem's scratch memory and the output that was
/// found last.
pub trait Worker: Send {
    /// [`crate::problem::Parts::prepare`].
    fn prepare(&mut self, i: usize, w: &[f64]);

    /// [`crate::problem::Parts::prepare_scores`].
    fn prepare_scores(&mut self, i: usize, w: &[f64], points: &[SparseVec]);

    /// Whether the problem wants to hear of several oracle calls at once.
    fn takes_batches(&self) -> bool;

    /// [`crate::problem::Batched::announce`].
    fn announce(&mut self, examples: Range<usize>, w: &[f64]);

    /// Prepares for example `i` and finds the output with the largest loss-augmented score.
    fn find_corner(&mut self, i: usize, w: &[f64]);

    /// Like [`find_corner`](Self::find_corner), but of the accuracy that is asked for, if the problem can be asked.
    fn find_corner_within(&mut self, i: usize, w: &[f64], accuracy: Accuracy);

    /// Like [`find_corner`](Self::find_corner). If the oracle is a heuristic that knows how much larger the maximum can
    /// be, returns that.
    fn find_corner_and_missed(&mut self, i: usize, w: &[f64]) -> Option<f64>;

    /// Like [`find_corner`](Self::find_corner), but with the loss multiplied by `factor`. Returns `false`
    /// if the problem cannot do that.
    fn find_corner_with_loss(&mut self, i: usize, w: &[f64], factor: f64) -> bool;

    /// Prepares for example `i` and predicts its output.
    fn predict(&mut self, i: usize, w: &[f64]);

    /// Writes the parts of the output found last to `parts` and returns its loss.
    fn describe(&self, i: usize, parts: &mut SparseVec) -> f64;

    /// The loss of the output found last.
    fn loss(&self, i: usize) -> f64;

    /// [`crate::problem::Parts::piece`] of the output found last.
    fn describe_piece(&self, i: usize, piece: usize, parts: &mut SparseVec);

    /// Writes the feature difference ψᵢ of the output found last to `psi`, which is empty when the method
    /// is called.
    fn psi(&self, i: usize, psi: &mut SparseVec);

    /// [`crate::problem::Parts::score`], after preparation.
    fn score(&self, i: usize, w: &[f64], parts: &SparseVec) -> f64;

    /// [`crate::problem::Parts::norm_sq`].
    fn norm_sq(&mut self, i: usize, parts: &SparseVec) -> f64;

    /// [`Expectations::add_values`](crate::Expectations::add_values), after preparation.
    fn add_values(&self, i: usize, w: &[f64], scale: f64, theta: &mut [f64]);

    /// [`Expectations::expect`](crate::Expectations::expect). Returns NaN if the problem has no
    /// expectations.
    fn expect(&mut self, i: usize, theta: &[f64], parts: &mut SparseVec) -> f64;
}

impl<P: Problem> View for P {
    fn examples(&self) -> usize {
        Problem::examples(self)
    }

    fn dim(&self) -> usize {
        Problem::dim(self)
    }

    fn weight(&self, i: usize) -> f64 {
        Problem::weight(self, i)
    }

    fn total_weight(&self) -> f64 {
        ProblemExt::total_weight(self)
    }

    fn bounds(&self) -> Option<&Bounds> {
        Problem::bounds(self)
    }

    fn quality(&self) -> Quality {
        Problem::quality(self)
    }

    fn has_signed_losses(&self) -> bool {
        ProblemExt::has_signed_losses(self)
    }

    fn has_accuracy(&self) -> bool {
        self.abilities().within.is_some()
    }

    fn is_checked_at_start(&self) -> bool {
        !self.abilities().is_trusted
    }

    fn check_quickly(&self) -> Vec<BrokenLaw> {
        check_quickly(self)
    }

    fn truth_loss(&self, i: usize) -> Option<f64> {
        self.truth(i).map(|y| self.loss(i, &y))
    }

    fn worker(&self) -> Box<dyn Worker + '_> {
        Box::new(OwnWorker {
            problem: self,
            abilities: self.abilities(),
            workspace: self.workspace(),
            y: P::Output::default(),
        })
    }

    fn prefetch(&self, i: usize) {
        ProblemExt::prefetch(self, i);
    }

    fn truth_parts(&self, i: usize, parts: &mut SparseVec) {
        ProblemExt::truth_parts(self, i, parts);
    }

    fn pieces(&self, i: usize) -> usize {
        self.abilities().parts.map_or(1, |own| own.pieces(i))
    }

    fn truth_piece(&self, i: usize, piece: usize, parts: &mut SparseVec) {
        parts.clear();
        if let Some(own) = self.abilities().parts {
            own.piece(i, None, piece, parts);
        }
    }

    fn scatter(&self, i: usize, scale: f64, parts: &SparseVec, target: Target<'_>) {
        ProblemExt::scatter(self, i, scale, parts, target);
    }

    fn weights_norm_sq(&self, w: &[f64]) -> Option<f64> {
        ProblemExt::weights_norm_sq(self, w)
    }

    fn second_objective(&self, w: &[f64]) -> Option<f64> {
        ProblemExt::second_objective(self, w)
    }

    fn at_lambda(&self, lambda: f64) -> Option<Box<dyn Blocks>> {
        self.abilities().at_lambda().map(|own| own.at_lambda(lambda))
    }

    fn simplices(&self) -> Option<&dyn Simplices> {
        ProblemExt::simplices(self)
    }

    fn potentials(&self, i: usize) -> Option<usize> {
        Some(self.expectations()?.potentials(i))
    }

    fn check_point(
        &self,
        i: usize,
        parts: &SparseVec,
        loss: f64,
        slack: f64,
    ) -> Result<PointCheck, String> {
        ProblemExt::check_point(self, i, parts, loss, slack)
    }
}

/// The worker of a problem: its scratch memory, and an output of its type.
struct OwnWorker<'p, P: Problem> {
    problem: &'p P,
    /// The abilities of the problem, read once.
    abilities: Abilities<'p, P::Workspace, P::Output>,
    workspace: P::Workspace,
    y: P::Output,
}

impl<P: Problem> Worker for OwnWorker<'_, P> {
    fn prepare(&mut self, i: usize, w: &[f64]) {
        if let Some(own) = self.abilities.parts {
            own.prepare(i, w, &mut self.workspace);
        }
    }

    fn prepare_scores(&mut self, i: usize, w: &[f64], points: &[SparseVec]) {
        if let Some(own) = self.abilities.parts {
            own.prepare_scores(i, w, &mut self.workspace, points);
        }
    }

    fn takes_batches(&self) -> bool {
        self.abilities.batched.is_some()
    }

    fn announce(&mut self, examples: Range<usize>, w: &[f64]) {
        if let Some(own) = self.abilities.batched {
            own.announce(examples, w, &mut self.workspace);
        }
    }

    fn find_corner(&mut self, i: usize, w: &[f64]) {
        self.prepare(i, w);
        self.problem.oracle(i, w, &mut self.workspace, &mut self.y);
    }

    fn find_corner_within(&mut self, i: usize, w: &[f64], accuracy: Accuracy) {
        self.prepare(i, w);
        let (workspace, y) = (&mut self.workspace, &mut self.y);
        match self.abilities.within {
            Some(own) => {
                own.oracle_within(i, w, accuracy, workspace, y);
            }
            None => self.problem.oracle(i, w, workspace, y),
        }
    }

    fn find_corner_and_missed(&mut self, i: usize, w: &[f64]) -> Option<f64> {
        let knows = self.problem.quality() == Quality::Heuristic;
        let Some(own) = self.abilities.within.filter(|_| knows) else {
            self.find_corner(i, w);
            return None;
        };
        self.prepare(i, w);
        let missed = own.oracle_within(i, w, Accuracy::Exact, &mut self.workspace, &mut self.y);
        // A negative number is rounding; infinity and NaN say nothing.
        missed.is_finite().then(|| missed.max(0.0))
    }

    fn find_corner_with_loss(&mut self, i: usize, w: &[f64], factor: f64) -> bool {
        let Some(own) = self.abilities.scaled_losses else { return false };
        self.prepare(i, w);
        own.oracle_with_loss(i, w, factor, &mut self.workspace, &mut self.y);
        true
    }

    fn predict(&mut self, i: usize, w: &[f64]) {
        self.prepare(i, w);
        self.problem.decode(i, w, &mut self.workspace, &mut self.y);
    }

    fn describe(&self, i: usize, parts: &mut SparseVec) -> f64 {
        parts.clear();
        match self.abilities.parts {
            Some(own) => own.parts(i, &self.y, parts),
            None => feature_parts(self.problem, i, &self.y, parts),
        }
        self.problem.loss(i, &self.y)
    }

    fn loss(&self, i: usize) -> f64 {
        self.problem.loss(i, &self.y)
    }

    fn describe_piece(&self, i: usize, piece: usize, parts: &mut SparseVec) {
        parts.clear();
        match self.abilities.parts {
            Some(own) => own.piece(i, Some(&self.y), piece, parts),
            None => feature_parts(self.problem, i, &self.y, parts),
        }
    }

    fn psi(&self, i: usize, psi: &mut SparseVec) {
        self.problem.psi(i, &self.y, psi);
    }

    fn score(&self, i: usize, w: &[f64], parts: &SparseVec) -> f64 {
        match self.abilities.parts {
            Some(own) => own.score(i, w, &self.workspace, parts),
            None => parts.dot_dense(w),
        }
    }

    fn norm_sq(&mut self, i: usize, parts: &SparseVec) -> f64 {
        match self.abilities.parts {
            Some(own) => own.norm_sq(i, &mut self.workspace, parts),
            None => parts.norm_sq(),
        }
    }

    fn add_values(&self, i: usize, w: &[f64], scale: f64, theta: &mut [f64]) {
        if let Some(expectations) = self.abilities.expectations {
            expectations.add_values(i, w, &self.workspace, scale, theta);
        }
    }

    fn expect(&mut self, i: usize, theta: &[f64], parts: &mut SparseVec) -> f64 {
        let Some(expectations) = self.abilities.expectations else { return f64::NAN };
        expectations.expect(i, theta, &mut self.workspace, parts)
    }
}
