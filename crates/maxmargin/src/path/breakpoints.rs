//! The path as it is stored and queried.
//!
//! A breakpoint stores the new values of the weights that have changed and not differences, so weights
//! are restored bit by bit, however long the path is.

use super::settings::GridStart;
use crate::certificate::Certificate;
use crate::observe::Status;
use crate::problem::quality::Quality;
use crate::util::names::named_enum;

named_enum! {
    /// How a [`Path`] was made, and so what it promises.
    ///
    /// ```
    /// use maxmargin::{GridStart, PathKind};
    ///
    /// assert_eq!(PathKind::from(GridStart::WarmDual).to_string(), "grid-warm-dual");
    /// assert!(PathKind::GridCold.is_grid() && !PathKind::Heuristic.is_grid());
    /// ```
    PathKind("kind of path") {
        /// Every gap was confirmed: ε is guaranteed for every λ.
        Exact = "exact",
        /// Stale gaps were trusted: nothing is guaranteed. The true gaps were computed afterwards.
        Heuristic = "heuristic",
        /// A grid, each λ from w = 0: weights for its own λ only.
        GridCold = "grid-cold",
        /// A grid, each λ from the weights of the one before: weights for its own λ only.
        GridWarmPrimal = "grid-warm-primal",
        /// A grid, each λ from the dual point of the one before: weights for its own λ only.
        GridWarmDual = "grid-warm-dual",
    }
}

impl PathKind {
    /// Whether it is a grid, which has weights for its own λ only.
    pub fn is_grid(self) -> bool {
        matches!(self, Self::GridCold | Self::GridWarmPrimal | Self::GridWarmDual)
    }
}

impl From<GridStart> for PathKind {
    fn from(start: GridStart) -> Self {
        match start {
            GridStart::Cold => Self::GridCold,
            GridStart::WarmPrimal => Self::GridWarmPrimal,
            GridStart::WarmDual => Self::GridWarmDual,
        }
    }
}

/// A λ at which the path has a new solution.
///
/// ```
/// # use maxmargin::doc::toy;
/// use maxmargin::{PathSettings, regularization_path};
///
/// let path = regularization_path(&toy(), &PathSettings::default())?;
/// // As λ falls to ρλ, the gap of the same weights grows by (1 − ρ)·growth.
/// let (first, second) = (&path.breakpoints[0], &path.breakpoints[1]);
/// let ratio = second.certificate.lambda / first.certificate.lambda;
/// let there = first.certificate.gap + (1.0 - ratio) * first.growth;
/// assert!((there - path.epsilon).abs() < 1e-9); // which is why a new solution is needed
/// # Ok::<(), maxmargin::TrainError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Breakpoint {
    /// The λ it was trained at, and its exact objectives and gap there.
    pub certificate: Certificate,
    /// Δ = ℓ − λ‖w‖²: at ρλ the gap is larger by (1 − ρ)Δ.
    pub growth: f64,
    /// The gap that the solver assumed when it stopped: the exact gap, or on a heuristic path the sum of
    /// the last known gaps of the blocks.
    pub estimated_gap: f64,
    /// Oracle calls of the whole path so far, decoding calls of the start included.
    pub oracle_calls: u64,
    /// Seconds of training so far.
    pub seconds: f64,
    /// Why its training ended.
    pub status: Status,
    /// The weights that differ from the previous breakpoint, as (feature, new value), features ascending.
    /// Before the first breakpoint all weights are 0.
    pub changes: Vec<(u32, f64)>,
}

impl Breakpoint {
    /// Turns the weights of the breakpoint before into those of this one.
    fn apply(&self, w: &mut [f64]) {
        for &(feature, value) in &self.changes {
            if let Some(weight) = w.get_mut(feature as usize) {
                *weight = value;
            }
        }
    }
}

/// A regularization path: ε-good weights for every λ from [`lowest`](Self::lowest) upwards; or a
/// grid, which has weights for its own λ only.
///
/// ```
/// # use maxmargin::doc::toy;
/// use maxmargin::{PathSettings, regularization_path};
///
/// let path = regularization_path(&toy(), &PathSettings::default())?;
/// assert!(path.is_guaranteed());
/// let w = path.weights_at(0.05).unwrap();
/// // Its duality gap at λ = 0.05 is at most 0.1, as it is for every other λ.
/// assert!(path.certificate_at(0.05).unwrap().gap <= 0.1);
/// # assert!(w.iter().all(|x| x.is_finite()));
/// # Ok::<(), maxmargin::TrainError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Path {
    /// How it was made.
    pub kind: PathKind,
    /// The gap that is guaranteed, or was aimed at.
    pub epsilon: f64,
    /// Number of features.
    pub dim: usize,
    /// Breakpoints, λ descending.
    pub breakpoints: Vec<Breakpoint>,
    /// The smallest λ it has weights for; 0 if the last solution is ε-good for all smaller ones.
    pub lowest: f64,
    /// Oracle calls that were made only to report the true gaps of a heuristic path. No breakpoint counts
    /// them.
    pub audit_calls: u64,
    /// The seconds of these calls.
    pub audit_seconds: f64,
}

impl Path {
    /// Whether the gap is proven to be at most ε wherever there are weights. A heuristic path never
    /// proves that; [`largest_gap`](Self::largest_gap) returns its true gap. With a heuristic oracle
    /// nothing is proven either, and with a relaxation the guarantee is about the relaxed problem: see
    /// [`Quality`].
    ///
    /// ```
    /// # use maxmargin::doc::toy;
    /// use maxmargin::{PathSettings, regularization_path};
    ///
    /// let settings = PathSettings { heuristic: true, ..PathSettings::default() };
    /// assert!(!regularization_path(&toy(), &settings)?.is_guaranteed());
    /// # Ok::<(), maxmargin::TrainError>(())
    /// ```
    pub fn is_guaranteed(&self) -> bool {
        let is_proven = |b: &Breakpoint| {
            let quality = b.certificate.quality;
            b.status == Status::Converged && matches!(quality, Quality::Exact | Quality::UpperBound)
        };
        self.kind != PathKind::Heuristic && self.breakpoints.iter().all(is_proven)
    }

    /// The index of the breakpoint whose weights serve `lambda`.
    ///
    /// ```
    /// # use maxmargin::doc::toy;
    /// use maxmargin::{PathSettings, regularization_path};
    ///
    /// let path = regularization_path(&toy(), &PathSettings::default())?;
    /// assert_eq!(path.piece(path.breakpoints[1].certificate.lambda), Some(1));
    /// assert_eq!((path.piece(1e9), path.piece(-1.0)), (Some(0), None));
    /// # Ok::<(), maxmargin::TrainError>(())
    /// ```
    pub fn piece(&self, lambda: f64) -> Option<usize> {
        if self.kind.is_grid() {
            return self.breakpoints.iter().position(|b| b.certificate.lambda == lambda);
        }
        if !(lambda >= self.lowest && lambda > 0.0 && lambda.is_finite()) {
            return None;
        }
        // Pieces are closed above. Any λ above the first breakpoint shares the first solution, scaled.
        let later = self.breakpoints.iter().skip(1);
        let pieces = later.take_while(|b| b.certificate.lambda >= lambda).count();
        (!self.breakpoints.is_empty()).then_some(pieces)
    }

    /// Weights for `lambda`, ε-good on an exact path. Returns `None` if `lambda` is not positive or not
    /// on the path.
    ///
    /// ```
    /// # use maxmargin::doc::toy;
    /// use maxmargin::{PathSettings, regularization_path};
    ///
    /// let path = regularization_path(&toy(), &PathSettings::default())?;
    /// // Above the first breakpoint the weights shrink as λ grows.
    /// let (a, b) = (path.weights_at(1e3).unwrap(), path.weights_at(2e3).unwrap());
    /// assert!(a.iter().zip(&b).all(|(a, b)| (a - 2.0 * b).abs() <= 1e-12));
    /// # Ok::<(), maxmargin::TrainError>(())
    /// ```
    pub fn weights_at(&self, lambda: f64) -> Option<Vec<f64>> {
        let piece = self.piece(lambda)?;
        let mut w = vec![0.0; self.dim];
        self.breakpoints[..=piece].iter().for_each(|b| b.apply(&mut w));
        let first = self.breakpoints[0].certificate.lambda;
        if lambda > first {
            w.iter_mut().for_each(|w| *w *= first / lambda);
        }
        Some(w)
    }

    /// Calls `visit` with every breakpoint and its weights, in one pass along the path.
    ///
    /// ```
    /// # use maxmargin::doc::toy;
    /// use maxmargin::{PathSettings, regularization_path};
    ///
    /// let path = regularization_path(&toy(), &PathSettings::default())?;
    /// path.walk(|breakpoint, w| {
    ///     assert_eq!(path.weights_at(breakpoint.certificate.lambda).as_deref(), Some(w));
    /// });
    /// # Ok::<(), maxmargin::TrainError>(())
    /// ```
    pub fn walk(&self, mut visit: impl FnMut(&Breakpoint, &[f64])) {
        let mut w = vec![0.0; self.dim];
        for breakpoint in &self.breakpoints {
            breakpoint.apply(&mut w);
            visit(breakpoint, &w);
        }
    }

    /// Primal, dual and gap at `lambda` of the weights that serve it, without any oracle call.
    ///
    /// With the weights kept and the dual point [rescaled](crate::DualPoint::rescaled) the dual at
    /// ρλ is ρD and the gap g + (1 − ρ)Δ, exactly. Above the first breakpoint primal and gap are
    /// upper bounds: the hinge is convex along the weights, and at w = 0 the dual point of the start
    /// leaves no gap, so at λ₁/s it is at most s·g.
    ///
    /// ```
    /// # use maxmargin::doc::toy;
    /// use maxmargin::{PathSettings, regularization_path};
    ///
    /// let path = regularization_path(&toy(), &PathSettings::default())?;
    /// for lambda in [0.001, 0.01, 0.1, 1.0, 10.0, 100.0] {
    ///     assert!(path.certificate_at(lambda).unwrap().gap <= path.epsilon);
    /// }
    /// # Ok::<(), maxmargin::TrainError>(())
    /// ```
    pub fn certificate_at(&self, lambda: f64) -> Option<Certificate> {
        let Breakpoint { certificate: c, growth, .. } = &self.breakpoints[self.piece(lambda)?];
        if lambda == c.lambda {
            return Some(*c);
        }
        let (dual, gap) = if lambda < c.lambda {
            let ratio = lambda / c.lambda;
            (ratio * c.dual, c.gap + (1.0 - ratio) * growth)
        } else {
            // ℓ stays, and λ/2 ‖w‖² = D − Δ at the breakpoint shrinks with the weights.
            let (shrink, norm) = (c.lambda / lambda, c.dual - growth);
            (c.dual + (1.0 - shrink) * norm, shrink * c.gap)
        };
        let primal = dual + gap.max(0.0);
        // As everywhere, the gap is the difference of the two, to the last bit.
        let gap = primal - dual;
        // What oracles have missed at the breakpoint says nothing about other weights.
        Some(Certificate { lambda, primal, dual, gap, quality: c.quality, missed: None })
    }

    /// The largest true gap of the whole path, including the λ between breakpoints. For a grid, only its
    /// own λ count.
    ///
    /// ```
    /// # use maxmargin::doc::toy;
    /// use maxmargin::{PathSettings, regularization_path};
    ///
    /// let path = regularization_path(&toy(), &PathSettings::default())?;
    /// assert!(path.largest_gap() <= path.epsilon * (1.0 + 1e-9));
    /// # Ok::<(), maxmargin::TrainError>(())
    /// ```
    pub fn largest_gap(&self) -> f64 {
        let ends = (0..self.breakpoints.len()).map(|piece| self.gap_at_end(piece));
        let starts = self.breakpoints.iter().map(|b| b.certificate.gap);
        // Within a piece the gap is linear in λ, and above the first breakpoint it only falls.
        starts.chain(ends).fold(0.0, f64::max)
    }

    /// The smallest λ that a breakpoint serves. On a grid, this is its own λ.
    ///
    /// ```
    /// # use maxmargin::doc::toy;
    /// use maxmargin::{PathSettings, regularization_path};
    ///
    /// let path = regularization_path(&toy(), &PathSettings::default())?;
    /// assert_eq!(path.end_of(0), path.breakpoints[1].certificate.lambda);
    /// assert_eq!(path.end_of(path.breakpoints.len() - 1), path.lowest);
    /// # Ok::<(), maxmargin::TrainError>(())
    /// ```
    ///
    /// # Panics
    /// If there is no such breakpoint.
    pub fn end_of(&self, piece: usize) -> f64 {
        match self.breakpoints.get(piece + 1) {
            _ if self.kind.is_grid() => self.breakpoints[piece].certificate.lambda,
            Some(next) => next.certificate.lambda,
            None => self.lowest,
        }
    }

    /// The gap of a breakpoint's weights where the next takes over, or where the path ends.
    ///
    /// ```
    /// # use maxmargin::doc::toy;
    /// use maxmargin::{PathSettings, regularization_path};
    ///
    /// let path = regularization_path(&toy(), &PathSettings::default())?;
    /// assert!((path.gap_at_end(0) - path.epsilon).abs() < 1e-9);
    /// # Ok::<(), maxmargin::TrainError>(())
    /// ```
    ///
    /// # Panics
    /// If there is no such breakpoint.
    pub fn gap_at_end(&self, piece: usize) -> f64 {
        let Breakpoint { certificate: c, growth, .. } = &self.breakpoints[piece];
        (c.gap + (1.0 - self.end_of(piece) / c.lambda) * growth).max(0.0)
    }
}
