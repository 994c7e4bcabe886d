//! The training methods with what can be set in each of them.
//!
//! Each variant of [`Method`] holds the choices that its method has, and no others, so that a combination
//! without a meaning cannot be written in Rust. Files, the command line and Python name the choices
//! one by one; [`SettingsRecord`](crate::SettingsRecord) turns names into a method or says why not.

use crate::settings::{Average, Caching, Direction, Order, Solver, Step};

/// See [`Method::AdaGrad`].
pub(crate) const DEFAULT_RATE: f64 = 0.1;

/// A training method and its choices.
///
/// ```
/// use maxmargin::{BlockCoordinate, Method, Order, Settings, Solver, train};
/// # use maxmargin::doc::toy;
///
/// let gaps = BlockCoordinate { order: Order::Gap, ..BlockCoordinate::default() };
/// let settings = Settings { method: gaps.into(), ..Settings::default() };
/// assert!(train(&toy(), &settings)?.certificate.gap <= 0.01);
///
/// // Every solver has defaults.
/// assert_eq!(Method::from(Solver::OneSlack), Method::OneSlack);
/// # Ok::<(), maxmargin::TrainError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Method {
    /// [`Solver::Auto`], which chooses order, direction and cache.
    Auto(Auto),
    /// [`Solver::FrankWolfe`].
    FrankWolfe {
        /// How far all blocks move.
        step: Step,
    },
    /// [`Solver::BlockCoordinate`].
    BlockCoordinate(BlockCoordinate),
    /// [`Solver::Subgradient`].
    Subgradient {
        /// The order of the visits. With `uniform`, the weights are not those of a dual point, and the best point
        /// of the corners that were seen bounds them instead.
        order: BlindOrder,
        /// What the run returns.
        average: Average,
    },
    /// [`Solver::AdaGrad`].
    AdaGrad {
        /// The order of the visits.
        order: PassOrder,
        /// What the run returns.
        average: Average,
        /// The learning rate, relative to √(2H₀/(λd)), where H₀ is the hinge of the first example at
        /// w = 0: if all examples are like that one, weights with a larger mean square are worse than
        /// w = 0. Default: 0.1, which did best on the training objective of OCR at λ = 1/n, 10/n and
        /// 100/n.
        rate: f64,
    },
    /// [`Solver::Perceptron`], always averaged.
    Perceptron {
        /// The order of the visits.
        order: BlindOrder,
    },
    /// [`Solver::NSlack`].
    NSlack,
    /// [`Solver::OneSlack`].
    OneSlack,
    /// [`Solver::ExponentiatedGradient`].
    ExponentiatedGradient {
        /// The order of the visits.
        order: BlindOrder,
    },
}

/// The choices of [`Solver::Auto`].
///
/// ```
/// use maxmargin::{Auto, BlockAverage, Settings};
///
/// let averaged = Auto { average: BlockAverage::Weighted, ..Auto::default() };
/// let settings = Settings { method: averaged.into(), ..Settings::default() };
/// assert_eq!(settings.record().average.to_string(), "weighted");
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Auto {
    /// Whether the returned weights are an average over all steps. Default: `None`.
    pub average: BlockAverage,
    /// The exponent on block gaps when blocks are drawn. Default: 1.
    pub gap_power: f64,
    /// When a remembered corner is good enough. Default: see [`Reuse`].
    pub reuse: Reuse,
    /// As [`BlockCoordinate::batch`]. Default: 0, but 1 if oracle calls turn out to be too short to share
    /// out.
    pub batch: usize,
}

/// The choices of [`Solver::BlockCoordinate`]; they combine freely.
///
/// ```
/// use maxmargin::{BlockCoordinate, BlockStep, Caching, Method, Order, Settings};
///
/// let pairwise = BlockCoordinate {
///     order: Order::Gap,
///     step: BlockStep::Pairwise,
///     cache: Caching::On,
///     ..BlockCoordinate::default()
/// };
/// let settings = Settings { method: pairwise.into(), ..Settings::default() };
/// assert!(settings.check().is_ok());
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct BlockCoordinate {
    /// In which order blocks are visited. Default: `permutation`.
    pub order: Order,
    /// The exponent on block gaps in the orders that follow them. Default: 1.
    pub gap_power: f64,
    /// Where a visited block moves, and how far. Default: Frank-Wolfe steps with line search.
    pub step: BlockStep,
    /// Whether corners that oracles have found are kept and used again. Default: `off`.
    pub cache: Caching,
    /// When a remembered corner is good enough. Default: see [`Reuse`].
    pub reuse: Reuse,
    /// Whether the returned weights are an average over all steps. Default: `None`.
    pub average: BlockAverage,
    /// Whether a batch Frank-Wolfe step goes with every gap pass: all its corners are known, and one line search of the
    /// whole point towards them costs no oracle call. For plain Frank-Wolfe steps without a cache and an average.
    /// Default: no.
    pub gap_steps: bool,
    /// How much of the maximum a visit asks its oracle for, if the problem can be
    /// [asked](crate::problem::OracleWithin). Exact passes ask for all of it. Default: `Exact`.
    pub accuracy: OracleAccuracy,
    /// How many blocks are visited as one batch: their oracles run side by side, on all threads, at one
    /// w, and then each block takes its own step. With 0, the size adapts to how well that works. The
    /// result depends on this number and not on the number of threads. Blocks that are
    /// [simplices](crate::Simplices) are always visited one by one. Default: 1.
    pub batch: usize,
}

/// When a remembered corner is good enough, and how many are remembered.
///
/// ```
/// assert_eq!(maxmargin::Reuse::default().factor, 0.25);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reuse {
    /// F: a remembered corner must promise this share of the block's gap at its last oracle call.
    /// Default: 0.25.
    pub factor: f64,
    /// ν: a remembered corner must promise this share of the mean block gap at the last exact pass.
    /// Default: 0.01.
    pub nu: f64,
    /// Bytes that remembered corners may take in the whole run. Corners that carry mass are kept in any
    /// case. Default: 1 GiB.
    pub bytes: u64,
    /// The most idle corners, without mass, that a block remembers. Default: 10, since looking through more of them
    /// takes longer than it saves. (On OCR and CoNLL-2000, 100 save no calls, and take up to a fifth more time.)
    pub corners: usize,
}

impl Default for Reuse {
    fn default() -> Self {
        Self { factor: 0.25, nu: 0.01, bytes: 1 << 30, corners: 10 }
    }
}

impl Default for Auto {
    fn default() -> Self {
        Self { average: BlockAverage::None, gap_power: 1.0, reuse: Reuse::default(), batch: 0 }
    }
}

impl Default for BlockCoordinate {
    fn default() -> Self {
        Self {
            order: Order::default(),
            gap_power: 1.0,
            step: BlockStep::default(),
            cache: Caching::default(),
            reuse: Reuse::default(),
            average: BlockAverage::None,
            gap_steps: false,
            accuracy: OracleAccuracy::Exact,
            batch: 1,
        }
    }
}

/// How accurate the oracles of visits have to be.
///
/// The theorems hold for oracles that find less than the maximum, too. A search that can stop early takes less time
/// then, and the run takes more visits.
///
/// ```
/// use maxmargin::{BlockCoordinate, OracleAccuracy, Settings};
///
/// let half = BlockCoordinate { accuracy: OracleAccuracy::Share(0.5), ..BlockCoordinate::default() };
/// let settings = Settings { method: half.into(), ..Settings::default() };
/// assert_eq!(settings.record().oracle_share, 0.5);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub enum OracleAccuracy {
    /// The maximum.
    #[default]
    Exact,
    /// A corner that promises at least this share ν ∈ (0, 1] of the block's gap. The rate falls by 1/ν² at most
    /// (Lacoste-Julien et al., 2013, App. C).
    Share(f64),
    /// A corner whose value, as a share cᵢ/C of it, misses the maximum by at most δ/2·γₖ·Cᵢ in visit k, where γₖ =
    /// 2n/(k + 2n) and Cᵢ is the curvature 4cᵢ²Rᵢ²/(λC²) of the block, with Rᵢ the longest ‖ψᵢ(y)‖ that its visits have
    /// seen. The constants of the rate grow by 1 + δ at most. The schedule of 2012 is δ = 1, where the constant Cᵢ is
    /// defined as half of this one.
    Schedule(f64),
}

impl OracleAccuracy {
    /// The accuracy with these numbers; `None` if both ask for less than the maximum.
    pub(super) fn new(share: f64, slack: f64) -> Option<Self> {
        match (share == 1.0, slack == 0.0) {
            (true, true) => Some(Self::Exact),
            (false, true) => Some(Self::Share(share)),
            (true, false) => Some(Self::Schedule(slack)),
            (false, false) => None,
        }
    }

    pub(super) fn share_and_slack(self) -> (f64, f64) {
        match self {
            Self::Exact => (1.0, 0.0),
            Self::Share(share) => (share, 0.0),
            Self::Schedule(slack) => (1.0, slack),
        }
    }
}

/// The [direction](Direction) of the steps of one block. Only Frank-Wolfe steps have a choice of sizes.
///
/// ```
/// use maxmargin::{BlockStep, Step};
///
/// assert_eq!(BlockStep::default(), BlockStep::FrankWolfe(Step::LineSearch));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum BlockStep {
    /// See [`Direction::FrankWolfe`].
    FrankWolfe(Step),
    /// See [`Direction::Pairwise`].
    Pairwise,
    /// See [`Direction::Away`].
    Away,
    /// See [`Direction::Best`].
    Best,
    /// See [`Direction::Corrective`].
    Corrective,
    /// See [`Direction::Staged`].
    Staged,
}

impl Default for BlockStep {
    fn default() -> Self {
        Self::FrankWolfe(Step::LineSearch)
    }
}

impl BlockStep {
    /// The step with this direction and size; `None` for fixed sizes in other directions.
    pub(super) fn new(direction: Direction, size: Step) -> Option<Self> {
        let step = match direction {
            Direction::FrankWolfe => return Some(Self::FrankWolfe(size)),
            Direction::Pairwise => Self::Pairwise,
            Direction::Away => Self::Away,
            Direction::Best => Self::Best,
            Direction::Corrective => Self::Corrective,
            Direction::Staged => Self::Staged,
        };
        (size == Step::LineSearch).then_some(step)
    }

    pub(super) fn direction_and_size(self) -> (Direction, Step) {
        let direction = match self {
            Self::FrankWolfe(size) => return (Direction::FrankWolfe, size),
            Self::Pairwise => Direction::Pairwise,
            Self::Away => Direction::Away,
            Self::Best => Direction::Best,
            Self::Corrective => Direction::Corrective,
            Self::Staged => Direction::Staged,
        };
        (direction, Step::LineSearch)
    }
}

/// The [orders](Order) of methods that make whole passes, which their bounds rely on.
///
/// ```
/// assert_eq!(maxmargin::PassOrder::default(), maxmargin::PassOrder::Permutation);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PassOrder {
    /// See [`Order::Permutation`].
    #[default]
    Permutation,
    /// See [`Order::Cyclic`].
    Cyclic,
}

/// The [orders](Order) of methods that know no block gaps.
///
/// ```
/// assert_eq!(maxmargin::BlindOrder::default(), maxmargin::BlindOrder::Permutation);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum BlindOrder {
    /// See [`Order::Permutation`].
    #[default]
    Permutation,
    /// See [`Order::Cyclic`].
    Cyclic,
    /// See [`Order::Uniform`].
    Uniform,
}

/// The [averages](Average) of block-coordinate methods.
///
/// ```
/// assert_eq!(maxmargin::BlockAverage::default(), maxmargin::BlockAverage::None);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum BlockAverage {
    /// See [`Average::None`].
    #[default]
    None,
    /// See [`Average::Uniform`].
    Uniform,
    /// See [`Average::Weighted`].
    Weighted,
}

/// Converts between an enumeration and the part of it that some methods have.
macro_rules! part_of {
    ($wide:ident: $name:ident { $($variant:ident),+ }) => {
        impl $name {
            pub(super) fn of(wide: $wide) -> Option<Self> {
                match wide {
                    $( $wide::$variant => Some(Self::$variant), )+
                    _ => None,
                }
            }
        }

        impl From<$name> for $wide {
            fn from(part: $name) -> Self {
                match part { $( $name::$variant => Self::$variant, )+ }
            }
        }
    };
}

part_of!(Order: PassOrder { Permutation, Cyclic });
part_of!(Order: BlindOrder { Permutation, Cyclic, Uniform });
part_of!(Average: BlockAverage { None, Uniform, Weighted });

impl From<Auto> for Method {
    fn from(choices: Auto) -> Self {
        Self::Auto(choices)
    }
}

impl From<BlockCoordinate> for Method {
    fn from(choices: BlockCoordinate) -> Self {
        Self::BlockCoordinate(choices)
    }
}

impl Default for Method {
    fn default() -> Self {
        Self::Auto(Auto::default())
    }
}

/// The method with its defaults.
impl From<Solver> for Method {
    fn from(solver: Solver) -> Self {
        let (order, average) = (PassOrder::default(), Average::default());
        let blind = BlindOrder::default();
        match solver {
            Solver::Auto => Self::default(),
            Solver::FrankWolfe => Self::FrankWolfe { step: Step::default() },
            Solver::BlockCoordinate => Self::BlockCoordinate(BlockCoordinate::default()),
            Solver::Subgradient => Self::Subgradient { order: blind, average },
            Solver::AdaGrad => Self::AdaGrad { order, average, rate: DEFAULT_RATE },
            Solver::Perceptron => Self::Perceptron { order: blind },
            Solver::NSlack => Self::NSlack,
            Solver::OneSlack => Self::OneSlack,
            Solver::ExponentiatedGradient => Self::ExponentiatedGradient { order: blind },
        }
    }
}

impl Method {
    /// The name of the method.
    ///
    /// ```
    /// use maxmargin::{Method, Solver};
    ///
    /// assert_eq!(Method::default().solver(), Solver::Auto);
    /// ```
    pub fn solver(&self) -> Solver {
        match self {
            Self::Auto(_) => Solver::Auto,
            Self::FrankWolfe { .. } => Solver::FrankWolfe,
            Self::BlockCoordinate(_) => Solver::BlockCoordinate,
            Self::Subgradient { .. } => Solver::Subgradient,
            Self::AdaGrad { .. } => Solver::AdaGrad,
            Self::Perceptron { .. } => Solver::Perceptron,
            Self::NSlack => Solver::NSlack,
            Self::OneSlack => Solver::OneSlack,
            Self::ExponentiatedGradient { .. } => Solver::ExponentiatedGradient,
        }
    }

    /// What the run returns: the last iterate or an average.
    ///
    /// ```
    /// use maxmargin::{Average, Method};
    ///
    /// assert_eq!(Method::default().average(), Average::None);
    /// ```
    pub fn average(&self) -> Average {
        match self {
            Self::Auto(choices) => choices.average.into(),
            Self::BlockCoordinate(choices) => choices.average.into(),
            Self::Subgradient { average, .. } | Self::AdaGrad { average, .. } => *average,
            _ => Average::None,
        }
    }
}
