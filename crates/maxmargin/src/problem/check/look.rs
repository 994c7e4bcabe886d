//! The order in which a check calls the methods of a problem, and what it concludes from their answers.

use super::known::{BY_DECODING, BY_ORACLE, GIVEN, Known};
use super::report::{Report, show};
use super::subject::Subject;
use super::weights::{Place, normals, spread};
use super::{BrokenLaw, CheckOptions, Law};
use crate::problem::bounds::Bounds;
use crate::problem::quality::Quality;
use crate::problem::sparse::SparseVec;
use crate::util::rng::Rng;

/// The factors with which `oracle_with_loss` is called.
const FACTORS: [f64; 2] = [0.25, 3.0];

/// How complete the outputs are that the caller passes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Manner {
    /// Some of the outputs.
    Given,
    /// All outputs.
    Enumerated,
}

/// A method of a problem that returns an output.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Question {
    Oracle,
    OracleWithLoss(f64),
    Decode,
}

/// The answer to a question.
pub(super) struct Answer {
    pub(super) question: Question,
    /// The index of the place at which the question was asked.
    place: usize,
    /// The index of the answer among the known outputs.
    pub(super) output: usize,
}

/// The known outputs and answers of an example.
struct Block {
    i: usize,
    known: Vec<Known>,
    answers: Vec<Answer>,
}

impl Block {
    fn new(i: usize) -> Self {
        Self { i, known: vec![Known::truth()], answers: Vec::new() }
    }

    fn has_only_truth(&self) -> bool {
        self.known.iter().all(Known::is_truth)
    }

    /// Returns the index of an output among the known ones, and adds it if it is new.
    fn number(&mut self, output: Known) -> usize {
        let found = self.known.iter().position(|known| known.is_same(&output));
        found.unwrap_or_else(|| {
            self.known.push(output);
            self.known.len() - 1
        })
    }
}

/// Counts that reveal what the oracle's answers have in common.
#[derive(Default)]
struct Tally {
    answers: usize,
    truths: usize,
    as_decoded: usize,
    compared: usize,
    least: usize,
}

/// A check in progress.
pub(super) struct Look<'a, 'p> {
    pub(super) problem: &'a mut dyn Subject<'p>,
    pub(super) report: Report,
    pub(super) has_kernel: bool,
    tally: Tally,
}

/// Checks a problem against all laws.
pub(super) fn run(
    problem: &mut dyn Subject<'_>,
    options: &CheckOptions,
    manner: Manner,
) -> Vec<BrokenLaw> {
    let mut look = Look::new(problem);
    look.thoroughly(options, manner);
    look.finish()
}

/// Checks a few outputs of a few examples.
pub(super) fn run_quickly(problem: &mut dyn Subject<'_>) -> Vec<BrokenLaw> {
    let mut look = Look::new(problem);
    look.quickly();
    look.finish()
}

impl<'a, 'p> Look<'a, 'p> {
    fn new(problem: &'a mut dyn Subject<'p>) -> Self {
        let has_kernel = problem.weights_norm_sq(&vec![0.0; problem.dim()]).is_some();
        Self { problem, report: Report::default(), has_kernel, tally: Tally::default() }
    }

    fn finish(self) -> Vec<BrokenLaw> {
        let Self { mut report, tally, .. } = self;
        if tally.answers == tally.truths {
            report.explain(Law::Oracle, "every answer of the oracle was the truth");
        } else if tally.compared == tally.least {
            let cause =
                "every answer was the worst of the known outputs: does the oracle minimise?";
            report.explain(Law::Oracle, cause);
        } else if tally.answers == tally.as_decoded {
            let cause = "every answer was that of decoding: does the oracle forget the loss?";
            report.explain(Law::Oracle, cause);
        }
        report.finish()
    }

    fn bounds(&self) -> Option<&'p Bounds> {
        let dim = self.problem.dim();
        // Training refuses bounds of the wrong size.
        self.problem.bounds().filter(|bounds| bounds.check_size(dim).is_ok())
    }

    fn thoroughly(&mut self, options: &CheckOptions, manner: Manner) {
        let (dim, bounds) = (self.problem.dim(), self.bounds());
        let mut rng = Rng::new(options.seed);
        let units: Vec<Vec<f64>> = (0..options.weights).map(|_| normals(&mut rng, dim)).collect();
        let mut places = vec![Place::origin(bounds, dim)];
        let firsts = units.first().map(|unit| Place::pair(bounds, 1.0, unit));

        // A first few outputs show how large weights must be to matter as much as losses.
        let examples = spread(self.problem.examples(), options.examples);
        let mut blocks: Vec<Block> = examples.into_iter().map(Block::new).collect();
        for block in &mut blocks {
            self.check_truth(block.i);
            self.find(block, Question::Oracle, &places[0]);
            for place in firsts.iter().flatten() {
                self.find(block, Question::Decode, place);
            }
        }
        let scale = self.scale(&blocks);
        for (unit, length) in units.iter().zip([1.0, 0.1, 10.0].into_iter().cycle()) {
            places.extend(Place::pair(bounds, length * scale, unit));
        }
        for block in &mut blocks {
            self.gather(block, &places);
            // Add weights for this block at which an oracle that forgets the loss returns the truth.
            let common = places.len();
            let worst = block.known.iter().max_by(|a, b| a.loss.total_cmp(&b.loss));
            let near = [self.near_truth(worst), self.near_truth(&block.known)];
            for place in near.into_iter().flatten() {
                self.ask_all(block, places.len(), &place);
                places.push(place);
            }
            // Check all laws on this block.
            self.check_repetition(block, &places);
            self.conclude(block, &places);
            if manner == Manner::Enumerated {
                self.check_enumeration(block);
            }
            for (at, place) in places.iter().enumerate() {
                let other = &places[(at + 1) % places.len()];
                self.check_prepared(block.i, place, other, &block.known);
            }
            places.truncate(common);
        }
        if manner == Manner::Given {
            self.check_variety(&blocks);
        }
    }

    fn quickly(&mut self) {
        let (dim, bounds) = (self.problem.dim(), self.bounds());
        let unit = normals(&mut Rng::new(1), dim);
        let origin = Place::origin(bounds, dim);
        let examples = spread(self.problem.examples(), 3);
        let mut blocks: Vec<Block> = examples.into_iter().map(Block::new).collect();
        for block in &mut blocks {
            self.ask(block, Question::Oracle, 0, &origin);
        }
        // Random weights of the right size, now that some outputs are known.
        let [there, back] = Place::pair(bounds, self.scale(&blocks), &unit);
        let mut places = vec![origin, there, back];
        for block in &mut blocks {
            self.ask(block, Question::Oracle, 1, &places[1]);
        }
        // If the oracle has only returned truths, decoding may find other outputs to compare with.
        if blocks.iter().all(Block::has_only_truth) {
            for block in &mut blocks {
                self.find(block, Question::Decode, &places[1]);
                self.find(block, Question::Decode, &places[2]);
            }
        }
        for block in &mut blocks {
            let near = self.near_truth(&block.known);
            places.truncate(3);
            places.extend(near);
            self.ask(block, Question::Oracle, places.len() - 1, &places[places.len() - 1]);
            self.conclude(block, &places);
        }
        self.check_variety(&blocks);
    }

    /// Asks a question about an example at some weights, and adds the answer to the known outputs.
    fn find(&mut self, block: &mut Block, question: Question, place: &Place) -> Option<usize> {
        if !self.problem.find(block.i, &place.weights, question) {
            return None;
        }
        let source = if question == Question::Decode { BY_DECODING } else { BY_ORACLE };
        let found = self.describe(block.i, source)?;
        Some(block.number(found))
    }

    /// Like [`find`](Self::find), but records the answer, so that it is compared with all known outputs
    /// later.
    fn ask(&mut self, block: &mut Block, question: Question, number: usize, place: &Place) {
        if let Some(output) = self.find(block, question, place) {
            block.answers.push(Answer { question, place: number, output });
        }
    }

    /// Collects the outputs that the caller passes, and the answers to all questions at all places.
    fn gather(&mut self, block: &mut Block, places: &[Place]) {
        self.problem.gather(block.i);
        while self.problem.find_given() {
            if let Some(known) = self.describe(block.i, GIVEN) {
                let number = block.number(known);
                block.known[number].is_given = true;
            }
        }
        for (number, place) in places.iter().enumerate() {
            self.ask_all(block, number, place);
        }
    }

    fn ask_all(&mut self, block: &mut Block, number: usize, place: &Place) {
        self.ask(block, Question::Oracle, number, place);
        self.ask(block, Question::Decode, number, place);
        for factor in FACTORS {
            self.ask(block, Question::OracleWithLoss(factor), number, place);
        }
    }

    /// Returns weights at which the truth scores higher than these outputs, on average by half of their
    /// loss.
    fn near_truth<'k>(&self, known: impl IntoIterator<Item = &'k Known>) -> Option<Place> {
        let (mut sum, mut loss) = (SparseVec::new(), 0.0);
        for known in known {
            sum.add_scaled(1.0, &known.psi);
            loss += known.loss;
        }
        let factor = 0.5 * loss / self.length_sq(&sum);
        if !(factor > 0.0 && factor.is_finite()) {
            return None;
        }
        let mut dense = vec![0.0; self.problem.dim()];
        sum.entries().iter().for_each(|&(feature, x)| dense[feature as usize] = x);
        Some(Place::near_truth(self.bounds(), factor, &dense))
    }

    /// The ratio of the largest loss to the largest length of a feature vector.
    fn scale(&self, blocks: &[Block]) -> f64 {
        let (mut loss, mut length) = (0.0f64, 0.0f64);
        for known in blocks.iter().flat_map(|block| &block.known) {
            loss = loss.max(known.loss.abs());
            length = length.max(self.length_sq(&known.psi).sqrt());
        }
        let scale = loss / length;
        if scale > 0.0 && scale.is_finite() { scale } else { 1.0 }
    }

    /// Checks the laws on everything that has been found for an example.
    fn conclude(&mut self, block: &Block, places: &[Place]) {
        let (i, known) = (block.i, block.known.as_slice());
        self.check_algebra(i, known);
        // The quality is read here, because it may be lower once a solver has failed.
        let promises = self.problem.quality() != Quality::Heuristic;
        for (number, place) in places.iter().enumerate() {
            let answers = || block.answers.iter().filter(|answer| answer.place == number);
            if answers().next().is_none() {
                continue;
            }
            // Compare the answers at these weights with all known outputs.
            let values = self.values(i, place, known);
            let decoded = answers().find(|answer| answer.question == Question::Decode);
            for answer in answers() {
                let is_decoded = answer.question == Question::Decode;
                if promises && (!is_decoded || !self.problem.decodes_otherwise()) {
                    self.check_answer(i, place, answer, &values);
                }
                if answer.question == Question::Oracle {
                    // Collect the evidence for a probable cause.
                    let tally = &mut self.tally;
                    tally.answers += 1;
                    tally.truths += usize::from(known[answer.output].is_truth());
                    tally.as_decoded +=
                        usize::from(decoded.is_some_and(|d| d.output == answer.output));
                    let is_least = values.is_least(answer.output);
                    tally.compared += usize::from(is_least.is_some());
                    tally.least += usize::from(is_least == Some(true));
                }
            }
        }
    }

    /// Asks the oracle again, in another order and with other contents in its workspace.
    fn check_repetition(&mut self, block: &mut Block, places: &[Place]) {
        for (number, place) in places.iter().enumerate().rev() {
            let asked =
                |answer: &&Answer| answer.question == Question::Oracle && answer.place == number;
            let Some(before) = block.answers.iter().find(asked).map(|answer| answer.output) else {
                continue;
            };
            let Some(again) = self.find(block, Question::Oracle, place) else { continue };
            if again != before {
                let losses = [before, again].map(|output| show(block.known[output].loss));
                let message = || {
                    format!(
                        "{} the oracle has two answers, with the losses {} and {}",
                        place.name, losses[0], losses[1]
                    )
                };
                self.report.add(Law::Repeatable, block.i, message);
            }
        }
    }

    /// Checks that some example has an output other than the truth.
    fn check_variety(&mut self, blocks: &[Block]) {
        // Outputs that broke one of these laws are not among the known ones, but they are not the truth
        // either.
        let useless = [Law::Finite, Law::Coordinates, Law::Normalised];
        if useless.into_iter().any(|law| self.report.is_broken(law))
            || self.problem.quality() == Quality::Heuristic
            || !blocks.iter().all(Block::has_only_truth)
        {
            return;
        }
        let message = || {
            "neither the oracle nor decoding returns anything but the truth, at any weights tried"
                .to_owned()
        };
        blocks.iter().for_each(|block| self.report.add(Law::OnlyTruth, block.i, message));
    }

    /// Checks that the truth and the answers of an exact oracle are among the enumerated outputs.
    fn check_enumeration(&mut self, block: &Block) {
        if !block.known.iter().any(|known| known.is_given && known.is_truth()) {
            let message = || "the truth is not among the outputs that are enumerated".to_owned();
            self.report.add(Law::Enumeration, block.i, message);
        }
        let missing = |answer: &&Answer| {
            answer.question == Question::Oracle && !block.known[answer.output].is_given
        };
        if self.problem.quality() == Quality::Exact
            && let Some(answer) = block.answers.iter().find(missing)
        {
            let loss = block.known[answer.output].loss;
            let message = || {
                let loss = show(loss);
                format!("an answer of the oracle, with the loss {loss}, is not enumerated")
            };
            self.report.add(Law::Enumeration, block.i, message);
        }
    }
}
