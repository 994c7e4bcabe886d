//! Values of known outputs at some weights, which answers are compared with.

use super::Law;
use super::known::{Known, ROUNDING, differ};
use super::look::{Answer, Look, Question};
use super::report::show;
use super::weights::Place;
use crate::problem::sparse::SparseVec;

/// The values of known outputs at some weights.
pub(super) struct Values<'k> {
    known: &'k [Known],
    /// −⟨w, ψᵢ(y)⟩ of each output.
    rises: Vec<f64>,
    /// The sum of the absolute values of its terms.
    sizes: Vec<f64>,
}

impl Values<'_> {
    /// factor·Lᵢ(y) − ⟨w, ψᵢ(y)⟩.
    fn value(&self, at: usize, factor: f64) -> f64 {
        factor * self.known[at].loss + self.rises[at]
    }

    /// How far rounding may change the difference of two values.
    fn rounding(&self, a: usize, b: usize, factor: f64) -> f64 {
        let size = |at: usize| factor * self.known[at].loss.abs() + self.sizes[at];
        ROUNDING * (size(a) + size(b))
    }

    /// Returns the best known output if it is better than `answer` by more than rounding.
    fn better(&self, answer: usize, factor: f64, counts: impl Fn(&Known) -> bool) -> Option<usize> {
        let others = (0..self.known.len()).filter(|&at| counts(&self.known[at]));
        let ahead = |at: usize| self.value(at, factor) - self.value(answer, factor);
        let better = others.filter(|&at| ahead(at) > self.rounding(at, answer, factor));
        better.max_by(|&a, &b| ahead(a).total_cmp(&ahead(b)))
    }

    /// Returns whether `answer` has the smallest value of all known outputs, or `None` if their values
    /// are equal.
    pub(super) fn is_least(&self, answer: usize) -> Option<bool> {
        let ahead = |at: usize| self.value(at, 1.0) - self.value(answer, 1.0);
        let mut spread = false;
        for at in 0..self.known.len() {
            if ahead(at).abs() > self.rounding(at, answer, 1.0) {
                spread = true;
                if ahead(at) < 0.0 {
                    return Some(false);
                }
            }
        }
        spread.then_some(true)
    }
}

impl Look<'_, '_> {
    /// Computes the values of all known outputs at some weights, and checks that `score` agrees with
    /// them.
    pub(super) fn values<'k>(&mut self, i: usize, place: &Place, known: &'k [Known]) -> Values<'k> {
        let w = place.weights.as_slice();
        let (mut rises, mut sizes) = (Vec::new(), Vec::new());
        self.problem.prepare(i, w);
        for output in known {
            let (product, size) = self.product(w, output);
            let score = self.problem.score(i, w, &output.way);
            if differ(score, -product, size) {
                let message = || {
                    format!(
                        "{} the score of {} is {}, but −⟨w, ψ⟩ is {}",
                        place.name,
                        output.source,
                        show(score),
                        show(-product)
                    )
                };
                self.report.add(Law::Score, i, message);
            }
            rises.push(-product);
            sizes.push(size);
        }
        Values { known, rises, sizes }
    }

    /// ⟨w, ψ⟩, and the size of its terms.
    fn product(&self, w: &[f64], known: &Known) -> (f64, f64) {
        let psi = &known.psi;
        if !self.has_kernel {
            let size = known.terms.entries().iter().map(|&(at, x)| w[at as usize].abs() * x).sum();
            return (psi.dot_dense(w), size);
        }
        let zero = SparseVec::new();
        let (own, other) = (self.length_sq(psi), self.kernel_length_sq(&zero, 0.0, Some(w)));
        // A vector that is short in the space of the kernel may be a sum of long vectors.
        let sum: f64 = w.iter().map(|w| w.abs()).sum();
        let residue = ROUNDING * sum * known.sum_of_terms();
        if !(own > 0.0 && other > 0.0) {
            return (0.0, residue);
        }
        // Scale both vectors to the same length, so that little precision is lost.
        let factor = (other / own).sqrt();
        let square = |sign: f64| self.kernel_length_sq(psi, sign * factor, Some(w));
        let product = (square(1.0) - square(-1.0)) / (4.0 * factor);
        (product, (own * other).sqrt() + residue)
    }

    /// Checks that an answer is not worse than any known output.
    pub(super) fn check_answer(
        &mut self,
        i: usize,
        place: &Place,
        answer: &Answer,
        values: &Values<'_>,
    ) {
        let (law, factor, whose, formula) = match answer.question {
            Question::Oracle => (Law::Oracle, 1.0, "the oracle's answer", "value L − ⟨w, ψ⟩"),
            Question::OracleWithLoss(factor) => (
                Law::OracleWithLoss,
                factor,
                "the answer of oracle_with_loss",
                "value factor·L − ⟨w, ψ⟩",
            ),
            Question::Decode => (Law::Decode, 0.0, "the decoded output", "score −⟨w, ψ⟩"),
        };
        let counts = |known: &Known| law != Law::Decode || !known.is_truth();
        let Some(better) = values.better(answer.output, factor, counts) else { return };
        let message = || {
            format!(
                "{} {whose} has the {formula} = {}, but {} has {}",
                place.name,
                show(values.value(answer.output, factor)),
                values.known[better].source,
                show(values.value(better, factor))
            )
        };
        self.report.add(law, i, message);
    }

    /// Checks that scores are the same after `prepare` and after `prepare_scores`, even if the workspace
    /// was last used with `other` weights.
    pub(super) fn check_prepared(&mut self, i: usize, place: &Place, other: &Place, all: &[Known]) {
        let w = place.weights.as_slice();
        let ways: Vec<SparseVec> = all.iter().map(|known| known.way.clone()).collect();
        let scores = |look: &Self| -> Vec<f64> {
            ways.iter().map(|way| look.problem.score(i, w, way)).collect()
        };
        self.problem.prepare(i, w);
        let expected = scores(self);
        self.problem.prepare(i, &other.weights);
        self.problem.prepare_scores(i, w, &ways);
        let found = scores(self);
        let differ = |at: &usize| found[*at].to_bits() != expected[*at].to_bits();
        if let Some(at) = (0..ways.len()).find(differ) {
            let message = || {
                format!(
                    "{} {} scores {:e} after prepare_scores, but {:e} after prepare",
                    place.name, all[at].source, found[at], expected[at]
                )
            };
            self.report.add(Law::PreparedScores, i, message);
        }
    }
}
