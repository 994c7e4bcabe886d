//! What an oracle promises, and therefore what a certificate proves.

use crate::util::names::named_enum;

named_enum! {
    /// What the max oracle of a [`Problem`](crate::Problem) promises, and therefore what the gap of a
    /// [`Certificate`](crate::Certificate) bounds.
    ///
    /// Write P for the primal objective with the true hinge max_y Hᵢ(y; w) and P* for its optimum,
    /// and primal, dual and gap for the numbers of the certificate.
    ///
    /// | quality | the oracle returns | primal | dual | gap |
    /// |---|---|---|---|---|
    /// | exact | a maximum over all outputs | = P(w) | ≤ P* | ≥ P(w) − P* |
    /// | upper bound | a maximum over a relaxation, which contains all outputs | = Pʳ(w) ≥ P(w) | ≤ Pʳ* | ≥ Pʳ(w) − Pʳ* |
    /// | heuristic | some good output | ≤ P(w) | ≤ P* | ≤ the true gap P(w) − dual |
    /// | unfinished | any of these, but not every one was called | at most that above | as above | at most that above |
    /// | unproven | any of these | unknown | unknown | proves nothing |
    ///
    /// Pʳ is the primal objective of the *relaxed* problem, whose hinge is the maximum over the
    /// relaxation. It lies above P everywhere, so `primal` still bounds the true objective of the weights
    /// from above. But P* may lie below Pʳ*, and then `dual` may exceed P*. If no mass lies on fractional
    /// corners, the dual point is a point of the true problem, and `dual` ≤ P* holds.
    ///
    /// With a heuristic, the dual point is made of outputs, so `dual` is a true lower bound of P*. The
    /// gap is too small by whatever the heuristic has missed.
    ///
    /// A certificate is unfinished if its exact pass was cut, because the time was over or because the run
    /// was [interrupted](crate::Interrupt). Each example that was not read counts with the value of its own
    /// dual point, which its hinge never falls below. So `dual` is what it would be after a whole pass, and
    /// the gap is too small by whatever was not read. [`audit`](crate::audit) computes the gap in full.
    ///
    /// A certificate is unproven if its dual point is not known to be a point of the problem: a file may
    /// contain a point that no check can confirm (see [`PointCheck`]). It is also unproven if the solver
    /// of a relaxation has failed, because then neither number is a bound.
    ///
    /// Qualities are ordered by what they prove: the best comes first.
    ///
    /// ```
    /// use maxmargin::Quality;
    ///
    /// assert_eq!("upper-bound".parse::<Quality>()?, Quality::UpperBound);
    /// assert_eq!(Quality::Exact.max(Quality::Heuristic), Quality::Heuristic); // the weaker one
    /// # Ok::<(), maxmargin::UnknownName>(())
    /// ```
    #[derive(Default, PartialOrd, Ord, Hash)]
    Quality("quality") {
        /// The oracle returns a maximum over all outputs: the gap bounds P(w) − P*.
        #[default]
        Exact = "exact",
        /// The oracle returns a maximum over a relaxation (an LP), so its hinge is an upper bound: the
        /// gap bounds the distance to the optimum of the relaxed problem.
        UpperBound = "upper-bound",
        /// The oracle returns some good output: the gap is a lower bound of the true one.
        Heuristic = "heuristic",
        /// The exact pass was cut: the gap is a lower bound of the true one.
        Unfinished = "unfinished",
        /// The dual point is not known to be a point of the problem: the gap proves nothing.
        Unproven = "unproven",
    }
}

named_enum! {
    /// What a check of a dual point has shown.
    ///
    /// The dual value of a point bounds the primal optimum only if every block of the point is a convex
    /// combination of outputs. Not every check can show as much.
    ///
    /// Checks are ordered by what they show: the best comes first.
    ///
    /// ```
    /// use maxmargin::{PointCheck, Quality};
    ///
    /// // An exact oracle does not help where the point belongs to a relaxation only.
    /// assert_eq!(Quality::Exact.with_point(PointCheck::Relaxed), Quality::Unproven);
    /// assert_eq!(Quality::UpperBound.with_point(PointCheck::Relaxed), Quality::UpperBound);
    /// assert_eq!(Quality::Heuristic.with_point(PointCheck::Feasible), Quality::Heuristic);
    /// ```
    #[derive(Default, PartialOrd, Ord, Hash)]
    PointCheck("point check") {
        /// Every block is a convex combination of outputs, or its dual value is at most that of one.
        #[default]
        Feasible = "feasible",
        /// Every block is a point of the relaxation, which may be larger than the set of convex
        /// combinations of outputs.
        Relaxed = "feasible for the relaxation",
        /// The point satisfies conditions that are necessary but not sufficient.
        Unproven = "unproven",
    }
}

impl Quality {
    /// Whether the gap bounds the distance to the optimum of the problem itself.
    ///
    /// ```
    /// use maxmargin::Quality;
    /// assert!(Quality::Exact.is_exact() && !Quality::UpperBound.is_exact());
    /// ```
    pub fn is_exact(&self) -> bool {
        *self == Self::Exact
    }

    /// The quality of a certificate that combines an oracle of this quality with a checked dual point.
    ///
    /// It is never better than what the oracle promises. A point of the relaxation supports only the
    /// bounds of an oracle that solves the relaxation.
    pub fn with_point(self, point: PointCheck) -> Self {
        if point <= self.needed_of_point() { self } else { Self::Unproven }
    }

    /// The result that a check of the dual point must have for this quality to hold.
    pub(crate) fn needed_of_point(self) -> PointCheck {
        match self {
            Self::Exact | Self::Heuristic => PointCheck::Feasible,
            Self::UpperBound | Self::Unfinished => PointCheck::Relaxed,
            Self::Unproven => PointCheck::Unproven,
        }
    }

    /// The quality that remains after the oracle has broken its promise `failures` times.
    pub(crate) fn after_failures(self, failures: u64) -> Self {
        match self {
            Self::Exact if failures > 0 => Self::Heuristic,
            // Corners may be fractional, so the dual is not a bound for the problem itself either.
            Self::UpperBound if failures > 0 => Self::Unproven,
            kept => kept,
        }
    }

    /// The quality that remains if not all oracles were called.
    pub(crate) fn after_cut(self) -> Self {
        match self {
            Self::Exact | Self::UpperBound | Self::Heuristic | Self::Unfinished => Self::Unfinished,
            Self::Unproven => Self::Unproven,
        }
    }

    /// A sentence for users that says what kind of bound the gap is.
    ///
    /// ```
    /// assert_eq!(
    ///     maxmargin::Quality::Heuristic.explain(),
    ///     "the oracle is a heuristic: the true gap may be larger",
    /// );
    /// ```
    pub fn explain(self) -> &'static str {
        match self {
            Self::Exact => "the oracle is exact: the gap bounds the distance to the optimum",
            Self::UpperBound => {
                "the oracle solves a relaxation: the gap bounds the distance to the optimum of the \
                 relaxed problem, and the primal is an upper bound of the true objective"
            }
            Self::Heuristic => "the oracle is a heuristic: the true gap may be larger",
            Self::Unfinished => "the exact pass was cut: the true gap may be larger",
            Self::Unproven => {
                "the oracle failed, or the dual point is not known to be one of this problem: the gap proves nothing"
            }
        }
    }
}
