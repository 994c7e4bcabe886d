//! How slack rescaling finds its outputs: all of them are tried, or the decoder of margin rescaling is asked at several
//! weights of the loss.

use super::slack_rescaled::{Enumerable, SlackRescaled, SlackWorkspace};
use super::{Accuracy, PointCheck, Problem, ProblemExt, Quality, SparseVec};
use thiserror::Error;

/// A way to find an output with a large L(y)·(factor − ⟨w, ψ(y)⟩). Code outside of this crate cannot name this trait.
pub trait Finder<P: Problem>: Sync + Send + Sized {
    /// What the oracle promises.
    const QUALITY: Quality;

    /// Whether it can stop early, and knows what it has missed.
    const STOPS_EARLY: bool;

    /// Finds an output of the requested accuracy, with the loss times a factor. Returns how much larger the maximum can
    /// be.
    fn find(
        problem: &SlackRescaled<P, Self>,
        i: usize,
        w: &[f64],
        asked: (f64, Accuracy),
        workspace: &mut SlackWorkspace<P::Workspace, P::Output>,
        best: &mut P::Output,
    ) -> f64;

    /// See [`CheckPoints`](super::CheckPoints).
    fn check_point(
        problem: &SlackRescaled<P, Self>,
        i: usize,
        parts: &SparseVec,
        loss: f64,
        slack: f64,
    ) -> Result<PointCheck, String>;
}

/// Tries all outputs: see [`SlackRescaled::new`].
#[derive(Debug, Clone, Copy, Default)]
pub struct EveryOutput;

impl<P: Enumerable> Finder<P> for EveryOutput {
    const QUALITY: Quality = Quality::Exact;
    const STOPS_EARLY: bool = false;

    fn find(
        problem: &SlackRescaled<P, Self>,
        i: usize,
        w: &[f64],
        (factor, _): (f64, Accuracy),
        workspace: &mut SlackWorkspace<P::Workspace, P::Output>,
        best: &mut P::Output,
    ) -> f64 {
        let SlackWorkspace { inner, parts, .. } = workspace;
        let own = &problem.inner;
        let truth = own.score(i, w, inner, &problem.truths[i]);
        let mut most = f64::NEG_INFINITY;
        own.for_each_output(i, &mut |y| {
            parts.clear();
            own.parts(i, y, parts);
            let ahead = own.score(i, w, inner, parts) - truth;
            let loss = own.loss(i, y);
            // An output with an invalid loss is returned, so that training refuses it.
            let is_wrong = loss < 0.0 || loss.is_nan();
            let value = if is_wrong { f64::INFINITY } else { loss * (factor + ahead) };
            if value > most {
                most = value;
                best.clone_from(y);
            }
        });
        0.0
    }

    fn check_point(
        problem: &SlackRescaled<P, Self>,
        i: usize,
        parts: &SparseVec,
        loss: f64,
        slack: f64,
    ) -> Result<PointCheck, String> {
        problem.check_enumerated(i, parts, loss, slack)
    }
}

/// Why a problem cannot be rescaled by search (`SlackRescaled::by_search`).
///
/// ```
/// use maxmargin::{SlackRescaled, doc::labels};
///
/// let twice = SlackRescaled::by_search(SlackRescaled::new(labels()));
/// assert_eq!(
///     twice.unwrap_err().to_string(),
///     "a search needs a decoder that maximises scores, and this one maximises something else"
/// );
/// ```
#[derive(Debug, Error, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SlackSearchError {
    /// A relaxation, or an oracle that proves nothing.
    #[error(
        "a search needs corners that are outputs, and those of an oracle that is {0} need not be any"
    )]
    Quality(Quality),
    /// Losses that may be negative, which must not multiply scores.
    #[error("a search needs losses of at least 0, and those of this problem may be negative")]
    SignedLosses,
    /// A decoder that maximises something other than −⟨w, ψᵢ(y)⟩.
    #[error(
        "a search needs a decoder that maximises scores, and this one maximises something else"
    )]
    Decoder,
}

/// Searches with the decoder of the problem inside: see `SlackRescaled::by_search`.
#[derive(Debug, Clone)]
pub struct Search {
    /// The largest loss of every example, or the largest that a heuristic has found.
    largest: Vec<f64>,
    /// Whether the decoder always finds the maximum, so that lines are bounds.
    is_exact: bool,
}

/// The most decoder calls of one search. A few are enough, because each finds a new output or the last line.
const MOST_CALLS: usize = 40;

/// Differences below this, relative to the numbers that they are made of, are rounding.
const ROUNDING: f64 = 1e-12;

/// With so much slack, the check of the problem inside looks for parts that do not exist, and for nothing else. Masses that are
/// multiplied by losses do not keep its other rules.
const ANY_MASS: f64 = 1e100;

/// A place in the plane of losses x and a = factor − ⟨w, ψ⟩.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Place {
    x: f64,
    a: f64,
}

/// All outputs have t·x + a ≤ `most`. Outputs reach the line at two places, and between these it cannot be lowered.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Line {
    t: f64,
    most: f64,
    left: Place,
    right: Place,
}

impl Line {
    /// The line that an output at `place` has found to be a bound.
    fn through(t: f64, place: Place) -> Self {
        Self { t, most: t * place.x + place.a, left: place, right: place }
    }

    /// The a of the line at a loss.
    fn at(&self, x: f64) -> f64 {
        self.most - self.t * x
    }

    /// The loss at which this line and a steeper one cross.
    fn crossing(&self, steeper: &Self) -> f64 {
        (steeper.most - self.most) / (steeper.t - self.t)
    }
}

/// Where the largest product x·a below some lines is: at x, on one of them.
struct Peak {
    product: f64,
    x: f64,
    line: usize,
}

/// The largest product x·a with 0 ≤ x ≤ `largest` below `lines`, which are sorted by their t.
///
/// Each line counts from where the previous line crosses it to where it crosses the next. Wherever these crossings are,
/// the stretches between them cover all losses, so the result is a bound.
fn peak(lines: &[Line], largest: f64) -> Peak {
    let mut peak = Peak { product: 0.0, x: 0.0, line: 0 };
    let mut from = 0.0f64;
    for (at, line) in lines.iter().enumerate() {
        let to = lines.get(at + 1).map_or(largest, |steeper| line.crossing(steeper).min(largest));
        if to >= from {
            // x·(most − t·x) rises until here.
            let turn = if line.t > 0.0 { 0.5 * line.most / line.t } else { f64::INFINITY };
            let x = turn.max(from).min(to);
            let product = x * line.at(x);
            if product > peak.product {
                peak = Peak { product, x, line: at };
            }
            from = to;
        }
    }
    peak
}

/// What a search asks next.
#[derive(Clone, Copy)]
struct Question {
    /// The weight of the loss.
    t: f64,
    /// If the question is whether an output lies above the line through two known outputs: these two.
    between: Option<(Place, Place)>,
}

impl Question {
    /// The question whose answer lowers the largest product, if there is one.
    fn after(lines: &[Line], peak: &Peak) -> Option<Self> {
        let line = lines.get(peak.line)?;
        let chord = |left: &Line, right: &Line| {
            let (from, to) = (left.right, right.left);
            let t = (from.a - to.a) / (to.x - from.x);
            (t > left.t && t < right.t).then_some(Self { t, between: Some((from, to)) })
        };
        if peak.x < line.left.x {
            chord(lines.get(peak.line.checked_sub(1)?)?, line)
        } else if peak.x <= line.right.x {
            // Mixtures of outputs reach it.
            None
        } else if let Some(steeper) = lines.get(peak.line + 1) {
            chord(line, steeper)
        } else {
            // So far no output has a larger loss. The product rises in the direction t = a/x, unless that is the
            // direction of the line itself.
            let t = (line.at(peak.x) / peak.x).max(2.0 * line.t);
            (t > line.t && t.is_finite()).then_some(Self { t, between: None })
        }
    }
}

impl Search {
    /// Prepares to search in `problem`: calls its oracle for the largest loss of every example.
    pub(super) fn new<P: Problem>(problem: &P) -> Result<Self, SlackSearchError> {
        let quality = problem.quality();
        if !matches!(quality, Quality::Exact | Quality::Heuristic) {
            return Err(SlackSearchError::Quality(quality));
        }
        if problem.has_signed_losses() {
            return Err(SlackSearchError::SignedLosses);
        }
        if problem.abilities().decodes_otherwise {
            return Err(SlackSearchError::Decoder);
        }
        let (zeros, mut workspace) = (vec![0.0; problem.dim()], problem.workspace());
        let mut y = P::Output::default();
        let mut largest_loss = |i| {
            problem.prepare(i, &zeros, &mut workspace);
            problem.oracle(i, &zeros, &mut workspace, &mut y);
            problem.loss(i, &y)
        };
        let largest = (0..problem.examples()).map(&mut largest_loss).collect();
        Ok(Self { largest, is_exact: quality.is_exact() })
    }

    /// Finds the output with the largest t·L(y) − ⟨w, ψ(y)⟩. Returns its loss and its −⟨w, ψ(y)⟩. The workspace is
    /// prepared at w before and after.
    fn decode<P: Problem>(
        problem: &SlackRescaled<P, Self>,
        (i, w, t): (usize, &[f64], f64),
        workspace: &mut SlackWorkspace<P::Workspace, P::Output>,
    ) -> (f64, f64) {
        let SlackWorkspace { inner, parts, y, scaled, .. } = workspace;
        let (own, truth) = (&problem.inner, &problem.truths[i]);
        if t == 0.0 {
            own.decode(i, w, inner, y);
        } else if !own.oracle_with_loss(i, w, t, inner, y) {
            scaled.clear();
            scaled.extend(w.iter().map(|w| w / t));
            own.prepare(i, scaled, inner);
            own.oracle(i, scaled, inner, y);
            own.prepare(i, w, inner);
        }
        parts.clear();
        own.parts(i, y, parts);
        parts.add_scaled(-1.0, truth);
        (own.loss(i, y), own.score(i, w, inner, parts))
    }
}

impl Search {
    /// Asks a problem that can try all losses for the maximum itself, since weights of the loss do not tell more. Returns
    /// whether nothing is missed any more; `best` has the product `value` before.
    #[cfg(feature = "unstable")]
    fn find_by_loss<P: Problem>(
        problem: &SlackRescaled<P, Self>,
        i: usize,
        w: &[f64],
        (factor, value): (f64, f64),
        workspace: &mut SlackWorkspace<P::Workspace, P::Output>,
        best: &mut P::Output,
    ) -> bool {
        let SlackWorkspace { inner, parts, y, .. } = workspace;
        let (own, truth) = (&problem.inner, &problem.truths[i]);
        let base = own.score(i, w, inner, truth);
        let product = |loss: f64, score: f64| loss * (factor + score - base);
        let finder = own.abilities().scaled_losses;
        if !finder.is_some_and(|own| own.oracle_by_loss(i, w, &product, inner, y)) {
            return false;
        }
        parts.clear();
        own.parts(i, y, parts);
        if product(own.loss(i, y), own.score(i, w, inner, parts)) > value {
            best.clone_from(y);
        }
        true
    }

    /// Nobody can search without this feature.
    #[cfg(not(feature = "unstable"))]
    fn find_by_loss<P: Problem>(
        _: &SlackRescaled<P, Self>,
        _: usize,
        _: &[f64],
        _: (f64, f64),
        _: &mut SlackWorkspace<P::Workspace, P::Output>,
        _: &mut P::Output,
    ) -> bool {
        false
    }
}

impl<P: Problem> Finder<P> for Search {
    const QUALITY: Quality = Quality::Heuristic;
    const STOPS_EARLY: bool = true;

    fn find(
        problem: &SlackRescaled<P, Self>,
        i: usize,
        w: &[f64],
        (factor, accuracy): (f64, Accuracy),
        workspace: &mut SlackWorkspace<P::Workspace, P::Output>,
        best: &mut P::Output,
    ) -> f64 {
        let Self { largest, is_exact } = problem.finder();
        let (mut value, mut above) = (f64::NEG_INFINITY, f64::INFINITY);
        let mut next = Some(Question { t: 0.0, between: None });
        workspace.lines.clear();
        for _ in 0..MOST_CALLS {
            let Some(Question { t, between }) = next else { break };
            let (x, score) = Self::decode(problem, (i, w, t), workspace);
            if x < 0.0 || !(x + score).is_finite() {
                // An output with an invalid loss is returned, so that training refuses it.
                best.clone_from(&workspace.y);
                return f64::INFINITY;
            }
            let found = Place { x, a: factor + score };
            if found.x * found.a > value {
                value = found.x * found.a;
                best.clone_from(&workspace.y);
            }
            // A truth that no prediction may be, such as links that exceed what is allowed, lies above all that decoding
            // finds without a loss. Calls with a loss know it, and lines must be about the same outputs.
            let is_truth_above = t == 0.0 && found.a < factor;
            let top = if is_truth_above { Place { x: 0.0, a: factor } } else { found };
            let mut line = Line::through(t, top);
            if let Some((left, right)) = between {
                let chord = Line::through(t, left);
                let size = t * x + found.a.abs() + chord.most.abs();
                if line.most <= chord.most + ROUNDING * size {
                    line = Line { most: line.most.max(chord.most), left, right, ..line };
                }
            }
            let lines = &mut workspace.lines;
            let at = lines.partition_point(|known| known.t < t);
            lines.insert(at, line);
            let peak = peak(lines, largest[i]);
            above = above.min(peak.product.max(value));
            next = Question::after(lines, &peak);
            if accuracy.accepts(value, above) {
                break;
            }
        }
        if !is_exact {
            return f64::INFINITY;
        }
        let is_open = above - value > ROUNDING * (1.0 + above.abs());
        if is_open
            && !accuracy.accepts(value, above)
            && Self::find_by_loss(problem, i, w, (factor, value), workspace, best)
        {
            return 0.0;
        }
        (above - value).max(0.0)
    }

    fn check_point(
        problem: &SlackRescaled<P, Self>,
        i: usize,
        parts: &SparseVec,
        loss: f64,
        slack: f64,
    ) -> Result<PointCheck, String> {
        problem.inner.check_point(i, parts, 0.0, ANY_MASS)?;
        // A heuristic need not have found the largest loss.
        let Self { largest, is_exact } = problem.finder();
        let most = if *is_exact { largest[i] } else { f64::INFINITY };
        if !(-slack..=most + slack).contains(&loss) {
            return Err(format!("its loss is {loss}, not between 0 and {most}"));
        }
        Ok(PointCheck::Unproven)
    }
}
