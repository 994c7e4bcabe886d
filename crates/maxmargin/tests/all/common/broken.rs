//! Problems with a typical mistake.

use maxmargin::ProblemExt as _;
use maxmargin::problem::{Abilities, Parts, ScaledLosses, Target, Truths};
use maxmargin::{Enumerable, Problem, Quality, SparseVec};
use std::sync::atomic::{AtomicU64, Ordering};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mistake {
    None,
    /// Scatters half of what it should.
    Scatter,
    NormSq,
    Score,
    /// Parts in the wrong order.
    Unsorted,
    /// A feature that does not exist.
    Coordinates,
    TruthLoss,
    /// ψ of the truth is not 0.
    TruthFeatures,
    NegativeLoss,
    /// A loss that is not finite.
    Nan,
    /// The oracle always returns the truth.
    AlwaysTruth,
    /// The oracle and decoding always return the truth.
    OnlyTruth,
    /// The oracle decodes.
    ForgetsTheLoss,
    Minimises,
    /// The oracle subtracts the loss.
    WrongSign,
    /// Another answer each time.
    Moody,
    /// Decodes the worst output.
    Decode,
    /// Scores parts that were not prepared.
    PreparedScores,
    /// Treats every factor as 1.
    OracleWithLoss,
    /// Leaves out every other output.
    Enumeration,
}

/// A problem with a mistake.
pub struct Broken<P> {
    pub inner: P,
    pub mistake: Mistake,
    pub quality: Quality,
    calls: AtomicU64,
}

impl<P: Enumerable> Broken<P> {
    pub fn new(inner: P, mistake: Mistake) -> Self {
        Self { inner, mistake, quality: Quality::Exact, calls: AtomicU64::new(0) }
    }

    fn has(&self, mistake: Mistake) -> bool {
        self.mistake == mistake
    }

    /// Takes the output with the largest `value` of loss and score.
    fn best(
        &self,
        i: usize,
        w: &[f64],
        workspace: &P::Workspace,
        value: impl Fn(f64, f64) -> f64,
    ) -> P::Output {
        let (mut best, mut most) = (P::Output::default(), f64::NEG_INFINITY);
        self.inner.for_each_output(i, &mut |y| {
            let mut parts = SparseVec::new();
            self.inner.parts(i, y, &mut parts);
            let score = self.inner.score(i, w, workspace, &parts);
            let value = value(self.inner.loss(i, y), score);
            if value > most {
                (best, most) = (y.clone(), value);
            }
        });
        best
    }
}

impl<P: Enumerable> Problem for Broken<P> {
    type Output = P::Output;
    type Workspace = P::Workspace;

    fn examples(&self) -> usize {
        self.inner.examples()
    }
    fn dim(&self) -> usize {
        self.inner.dim()
    }
    fn workspace(&self) -> P::Workspace {
        self.inner.workspace()
    }
    fn oracle(&self, i: usize, w: &[f64], workspace: &mut P::Workspace, y: &mut P::Output) {
        match self.mistake {
            Mistake::AlwaysTruth | Mistake::OnlyTruth => *y = self.inner.truth(i).unwrap(),
            Mistake::ForgetsTheLoss => self.inner.decode(i, w, workspace, y),
            Mistake::Minimises => *y = self.best(i, w, workspace, |loss, score| -loss - score),
            Mistake::WrongSign => *y = self.best(i, w, workspace, |loss, score| score - loss),
            Mistake::Moody if self.calls.fetch_add(1, Ordering::Relaxed) % 3 == 2 => {
                self.inner.decode(i, w, workspace, y);
            }
            _ => self.inner.oracle(i, w, workspace, y),
        }
    }
    fn decode(&self, i: usize, w: &[f64], workspace: &mut P::Workspace, y: &mut P::Output) {
        match self.mistake {
            Mistake::OnlyTruth => *y = self.inner.truth(i).unwrap(),
            Mistake::Decode => *y = self.best(i, w, workspace, |_, score| -score),
            _ => self.inner.decode(i, w, workspace, y),
        }
    }
    fn loss(&self, i: usize, y: &P::Output) -> f64 {
        let loss = self.inner.loss(i, y);
        match self.mistake {
            Mistake::TruthLoss => loss + 0.25,
            Mistake::NegativeLoss => -loss,
            Mistake::Nan => f64::NAN,
            _ => loss,
        }
    }
    fn psi(&self, i: usize, y: &P::Output, psi: &mut SparseVec) {
        self.inner.psi(i, y, psi);
        match self.mistake {
            Mistake::TruthFeatures => psi.push(0, 0.5),
            Mistake::Coordinates => psi.push(self.dim() as u64, 0.5),
            _ => {}
        }
    }
    fn quality(&self) -> Quality {
        self.quality
    }
    fn abilities(&self) -> Abilities<'_, P::Workspace, P::Output> {
        Abilities {
            parts: Some(self),
            truths: self.inner.abilities().truths.is_some().then_some(self as _),
            scaled_losses: (!self.has(Mistake::OnlyTruth)).then_some(self as _),
            ..Abilities::none()
        }
    }
}

impl<P: Enumerable> Parts for Broken<P> {
    fn prepare(&self, i: usize, w: &[f64], workspace: &mut P::Workspace) {
        self.inner.prepare(i, w, workspace);
    }
    fn prepare_scores(&self, i: usize, w: &[f64], ws: &mut P::Workspace, points: &[SparseVec]) {
        match self.has(Mistake::PreparedScores) {
            true => {}
            false => self.inner.prepare_scores(i, w, ws, points),
        }
    }
    fn parts(&self, i: usize, y: &P::Output, parts: &mut SparseVec) {
        self.inner.parts(i, y, parts);
        if self.has(Mistake::Unsorted) {
            parts.push(0, 0.0);
        }
    }
    fn truth_parts(&self, i: usize, parts: &mut SparseVec) {
        self.inner.truth_parts(i, parts);
    }
    fn score(&self, i: usize, w: &[f64], workspace: &P::Workspace, parts: &SparseVec) -> f64 {
        let score = self.inner.score(i, w, workspace, parts);
        if self.has(Mistake::Score) { 1.1 * score } else { score }
    }
    fn norm_sq(&self, i: usize, workspace: &mut P::Workspace, parts: &SparseVec) -> f64 {
        let norm_sq = self.inner.norm_sq(i, workspace, parts);
        if self.has(Mistake::NormSq) { norm_sq.sqrt() } else { norm_sq }
    }
    fn scatter(&self, i: usize, scale: f64, parts: &SparseVec, target: Target<'_>) {
        let factor = if self.has(Mistake::Scatter) { 0.5 } else { 1.0 };
        self.inner.scatter(i, factor * scale, parts, target);
    }
}

impl<P: Enumerable> Truths for Broken<P> {
    fn truth(&self, i: usize) -> P::Output {
        self.inner.truth(i).unwrap()
    }
}

impl<P: Enumerable> ScaledLosses for Broken<P> {
    fn oracle_with_loss(
        &self,
        i: usize,
        w: &[f64],
        factor: f64,
        workspace: &mut P::Workspace,
        y: &mut P::Output,
    ) {
        let wrong = self.has(Mistake::OracleWithLoss);
        *y = self.best(
            i,
            w,
            workspace,
            |loss, score| {
                if wrong { loss + score } else { factor * loss + score }
            },
        );
    }
}

impl<P: Enumerable> Enumerable for Broken<P> {
    fn for_each_output(&self, i: usize, visit: &mut dyn FnMut(&P::Output)) {
        let (mut number, leaves_out) = (0, self.has(Mistake::Enumeration));
        self.inner.for_each_output(i, &mut |y| {
            number += 1;
            if !leaves_out || number % 2 == 0 {
                visit(y);
            }
        });
    }
}
