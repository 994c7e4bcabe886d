//! The choices that make up a solver, each with its name on the command line.

use crate::util::names::named_enum;

named_enum! {
    /// The order in which blocks are visited. Random orders depend on the seed alone.
    ///
    /// ```
    /// use maxmargin::Order;
    ///
    /// assert_eq!("cyclic".parse::<Order>()?, Order::Cyclic);
    /// assert_eq!(Order::Cyclic.to_string(), "cyclic");
    /// assert!(Order::NAMES.contains(&"max-gap"));
    /// # Ok::<(), maxmargin::UnknownName>(())
    /// ```
    #[derive(Default)]
    #[non_exhaustive]
    Order("order") {
        /// Each visit draws a block uniformly, with replacement. The convergence theory is for this.
        Uniform = "uniform",
        /// Each pass visits every block once, in a fresh random order.
        #[default]
        Permutation = "permutation",
        /// Each pass visits every block once, in the order of the data.
        Cyclic = "cyclic",
        /// As `permutation`, but a block without a gap rests until an exact pass finds a gap in it, or
        /// until the sum of all known gaps has fallen to a tenth.
        Lazy = "lazy",
        /// Each visit draws a block in proportion to its last known gap, after one visit to each.
        Gap = "gap",
        /// Each visit takes the block with the largest last known gap, after one visit to each.
        MaxGap = "max-gap",
        /// Each visit draws a block in proportion to its curvature C = 4R²cᵢ²/(λC²), where R is the length of the
        /// longest ψᵢ(y) that its oracle has found; after one visit to each. Gaps do not matter.
        Curvature = "curvature",
        /// Each visit draws a block in proportion to what a step is sure to gain: g²/2C for the last known gap g and
        /// the curvature C as in `curvature`, or g − C/2 if g > C; after one visit to each.
        GapCurvature = "gap-curvature",
    }
}

impl Order {
    /// Whether the order keeps the gap of every block, which heuristic paths stop on.
    pub(crate) const fn keeps_gaps(self) -> bool {
        match self {
            Self::Lazy | Self::Gap | Self::MaxGap => true,
            Self::Uniform | Self::Permutation | Self::Cyclic => false,
            Self::Curvature | Self::GapCurvature => false,
        }
    }

    /// Whether the order asks for curvatures, which [products of polytopes](crate::product) do not tell.
    pub(crate) const fn follows_curvature(self) -> bool {
        match self {
            Self::Curvature | Self::GapCurvature => true,
            Self::Uniform | Self::Permutation | Self::Cyclic => false,
            Self::Lazy | Self::Gap | Self::MaxGap => false,
        }
    }
}

named_enum! {
    /// The direction of a step. With all but `fw`, every block remembers the corners that carry its mass.
    ///
    /// ```
    /// use maxmargin::Direction;
    ///
    /// assert_eq!("pairwise".parse::<Direction>()?, Direction::Pairwise);
    /// assert_eq!(Direction::default().to_string(), "fw");
    /// # Ok::<(), maxmargin::UnknownName>(())
    /// ```
    #[derive(Default)]
    #[non_exhaustive]
    Direction("direction") {
        /// From the block's point towards the corner that the oracle found.
        #[default]
        FrankWolfe = "fw",
        /// From the worst corner that carries mass towards the best: moves mass between two corners
        /// only.
        Pairwise = "pairwise",
        /// Away from the worst corner that carries mass, where that promises more than a step
        /// towards the best; else as `fw`.
        Away = "away",
        /// Whichever of the three gains most.
        Best = "best",
        /// Shifts mass between all corners the block remembers until little is left to gain, so that
        /// each oracle call is used to the full. After each pass, all blocks go on together in the
        /// directions of the last passes, as far as the dual rises. Where blocks are [simplices](crate::Simplices), a
        /// block goes straight to its best point instead, and after each sweep all blocks move
        /// together, by conjugate gradients over the corners that carry mass.
        Corrective = "corrective",
        /// Starts with `fw`, which makes fast progress at coarse gaps, and goes on with `corrective` from
        /// the point reached. Where blocks are simplices, `corrective` from the start.
        Staged = "staged",
    }
}

named_enum! {
    /// The step-size rule. Where the dual does not rise at first, neither rule moves.
    ///
    /// ```
    /// use maxmargin::Step;
    ///
    /// assert_eq!("fixed".parse::<Step>()?, Step::Fixed);
    /// assert_eq!(Step::default().name(), "line-search");
    /// # Ok::<(), maxmargin::UnknownName>(())
    /// ```
    #[derive(Default)]
    #[non_exhaustive]
    Step("step") {
        /// The step with the largest dual along the direction, in closed form. Nothing to tune, and
        /// the dual never falls.
        #[default]
        LineSearch = "line-search",
        /// The fixed schedule 2n/(k + 2n) in block visits k, or 2/(k + 2) in batch steps. The dual
        /// may fall on the way. Only for the direction `fw`.
        Fixed = "fixed",
        /// The step γ = gᵢ/λ‖vᵢ − vₛ‖² of Osokin et al. (2016, Alg. 8 and 9) for weights with bounds, computed as if no
        /// weight were at its bound. It is never longer than the line search, and the dual never falls. Without
        /// bounds it is the line search. Only for the direction `fw`.
        Short = "short",
    }
}

named_enum! {
    /// Whether the result is the last iterate or an average of all of them. Either way the
    /// certificate is that of the result.
    ///
    /// ```
    /// use maxmargin::Average;
    ///
    /// assert_eq!("weighted".parse::<Average>()?, Average::Weighted);
    /// assert_eq!(Average::default().to_string(), "none");
    /// # Ok::<(), maxmargin::UnknownName>(())
    /// ```
    #[derive(Default)]
    #[non_exhaustive]
    Average("average") {
        /// The last iterate.
        #[default]
        None = "none",
        /// w̄ₖ = 1/k Σ wₜ over the block visits t = 1 … k: all iterates count the same.
        Uniform = "uniform",
        /// w̄ₖ = 2/(k(k+1)) Σ t·wₜ over the block visits t = 1 … k: later iterates count more.
        /// Often better at prediction when a run is stopped early. Not for batch Frank-Wolfe.
        Weighted = "weighted",
        /// As `uniform` over the last iterates only (Rakhlin et al., 2012): those after a visit that
        /// is a power of two, and at least the last half and at most the last three quarters of all.
        /// Only for the subgradient methods.
        Half = "half",
    }
}

named_enum! {
    /// Whether corners that oracles have found are kept and used again. Gaps are computed by exact
    /// oracles either way.
    ///
    /// ```
    /// use maxmargin::Caching;
    ///
    /// assert_eq!("on".parse::<Caching>()?, Caching::On);
    /// assert_eq!(Caching::default().to_string(), "off");
    /// # Ok::<(), maxmargin::UnknownName>(())
    /// ```
    #[derive(Default)]
    #[non_exhaustive]
    Caching("cache") {
        /// Every visit calls its oracle.
        #[default]
        Off = "off",
        /// A visit uses a remembered corner if that promises enough: at least a share F of the
        /// block's gap at its last oracle call, and ν/n of the last exact gap.
        On = "on",
        /// After each pass of oracle calls, passes over remembered corners alone follow for as long as
        /// they gain more dual per second than the oracle calls did. There is nothing to set, but the
        /// clock steers the run, so it does not repeat bit by bit.
        Auto = "auto",
        /// Every visit calls its oracle. Four times in a pass, all blocks then move between their
        /// remembered corners, one by one and together, until these are worth no more. This takes the
        /// fewest oracle calls.
        Exhaust = "exhaust",
    }
}
