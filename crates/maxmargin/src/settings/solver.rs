//! The training methods and their names.

use crate::util::names::named_enum;

named_enum! {
    /// The training method.
    ///
    /// The Frank-Wolfe methods come first; the others are the baselines they are measured against,
    /// under the same limits, events and certificate.
    ///
    /// ```
    /// use maxmargin::Solver;
    ///
    /// assert_eq!("fw".parse::<Solver>()?, Solver::FrankWolfe);
    /// assert_eq!("1-slack".parse::<Solver>()?, Solver::OneSlack);
    /// assert_eq!(Solver::default().to_string(), "auto");
    /// # Ok::<(), maxmargin::UnknownName>(())
    /// ```
    #[derive(Default)]
    #[non_exhaustive]
    Solver("solver") {
        /// Block-coordinate Frank-Wolfe with the direction `staged`, the order `gap` and a cache; if the
        /// first pass shows that oracles are what takes the time, with the direction `corrective` from
        /// there on. Where blocks are [simplices](crate::Simplices), with the direction
        /// `corrective` and the order `lazy`. Right nearly always.
        #[default]
        Auto = "auto",
        /// Batch Frank-Wolfe: all oracles at one w, then one step for all blocks. Every pass knows
        /// its gap.
        FrankWolfe = "fw",
        /// Block-coordinate Frank-Wolfe: a step after every oracle, with the order, the direction and
        /// the cache that are set.
        BlockCoordinate = "bcfw",
        /// The stochastic subgradient method with the steps of Pegasos (Shalev-Shwartz et al., 2011):
        /// w ← (1 − 1/t)·w + n·cᵢ/C·ψᵢ(y*)/(λt) at visit t, with y* the oracle's answer at w. After
        /// each pass w is Aα with αᵢ the mean of the corners that example i has seen, so that it has
        /// a true gap like any other dual point; ended within a pass, the run returns the weights of
        /// these means. With an [`Average`](crate::Average) the weights are the average, and the
        /// bound is that of the best point between the truth and these means.
        Subgradient = "ssg",
        /// Subgradient steps whose size adapts to each weight (Duchi et al., 2011):
        /// wⱼ ← wⱼ − η·gⱼ/√Gⱼ with g the subgradient of the visited example's hinge and Gⱼ the sum of
        /// all gⱼ² so far, and then wⱼ ← wⱼ·√Gⱼ/(√Gⱼ + ηλ), the composite step for λ/2 ‖w‖². See
        /// [`Method::AdaGrad`](crate::Method::AdaGrad) for η. Where features are many, the second step
        /// is taken once for many visits. The weights are those of no dual point; their bound is that
        /// of the best point between the truth and the means of the corners seen.
        AdaGrad = "adagrad",
        /// The averaged structured perceptron (Collins, 2002): w ← w + n·cᵢ/C·ψᵢ(ŷ) where plain
        /// decoding ŷ is wrong, and the mean of w over all visits in the end. It knows neither λ nor
        /// the loss, and has no dual: its certificate is the exact objective against the trivial
        /// bound 0, so it hardly ever converges by its gap.
        Perceptron = "perceptron",
        /// Cutting planes with one slack variable per example (Joachims et al., 2009): all oracles at one
        /// w add a plane to each example that has a gap. A QP over all planes so far is then solved by
        /// shifting mass between the planes of each example, from the last solution on. Planes without
        /// mass in the last 50 rounds are dropped.
        NSlack = "n-slack",
        /// Cutting planes with one slack variable for all examples together (Joachims et al., 2009):
        /// a plane is one output for every example. Before all oracles are called, the best outputs
        /// among those that planes remember are tried as a plane.
        OneSlack = "1-slack",
        /// Online exponentiated gradient on the dual (Collins et al., 2008):
        /// αᵢ(y) ∝ exp θᵢ(y) with θᵢ ← θᵢ + ηᵢ·Hᵢ(·; w), by expectations in place of maxima, for
        /// problems that have [`Expectations`](crate::Expectations). A step that would not raise the
        /// dual is not taken and halves ηᵢ; one that is taken makes ηᵢ larger by 5 %.
        ExponentiatedGradient = "eg",
    }
}

impl Solver {
    /// Whether its runs can [start](crate::Trainer::start_from) from any point of the dual, as warm
    /// starts and paths need.
    ///
    /// ```
    /// use maxmargin::Solver;
    ///
    /// assert!(Solver::OneSlack.starts_anywhere() && !Solver::Perceptron.starts_anywhere());
    /// ```
    pub fn starts_anywhere(self) -> bool {
        matches!(
            self,
            Self::Auto | Self::FrankWolfe | Self::BlockCoordinate | Self::NSlack | Self::OneSlack
        )
    }

    /// Whether every pass calls all oracles at one w, so that the method knows its exact gap.
    ///
    /// ```
    /// use maxmargin::Solver;
    ///
    /// assert!(Solver::NSlack.is_batch() && !Solver::Subgradient.is_batch());
    /// ```
    pub fn is_batch(self) -> bool {
        matches!(self, Self::FrankWolfe | Self::NSlack | Self::OneSlack)
    }
}
