//! Random data of every kind.
//!
//! The names in `KINDS` stand in the order of the numbers that `Data::kind` gives; the first `DRAWN` of them are drawn.

use crate::common::chains::{ChainCase, any_chain};
use crate::common::factor_graphs::{
    GraphCase, any_binary_graphs, any_forests, any_graphs, frustrated_graphs,
};
use crate::common::matchings::{MatchingCase, any_matchings};
use crate::common::multilabels::{LabelCase, any_labels};
use crate::common::potts::{PottsCase, any_potts};
use crate::common::problems::{Enumerated, any_polytope};
use crate::common::rows::{RowsCase, any_rows};
use crate::common::segments::{SegmentCase, any_segments};
use crate::common::trees::{TreeCase, any_tree};
use crate::joint::JointCase;
use crate::recipe::{draw_kernel, log_uniform, pick};
use maxmargin::Rng;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

/// Outputs of all examples together, at most.
const MOST_OUTPUTS: usize = 64;

/// Data of some kind.
#[derive(Debug, Clone)]
pub(crate) enum Data {
    Chain(ChainCase),
    Binary(RowsCase),
    Multiclass(RowsCase),
    Labels(LabelCase),
    Graphs(GraphCase),
    Potts(PottsCase),
    Tree(TreeCase),
    Matching(MatchingCase),
    Soft(SoftCase),
    Segments(SegmentCase),
    /// A problem of a user's own, with nothing but the required methods.
    Plain(Enumerated),
    /// The same with an oracle that overlooks outputs, and says so.
    Careless(Enumerated),
    /// The same with an oracle that finds a share of what there is to find, and knows what it has missed.
    Spoiled(Enumerated, f64),
    /// The outputs of such a problem, compared by a joint kernel.
    Joint(JointCase),
}

pub(crate) const KINDS: [&str; 14] = [
    "chain",
    "binary",
    "multiclass",
    "multilabel",
    "factor graph",
    "potts",
    "tree",
    "matching",
    "soft",
    "plain",
    "careless",
    "segment",
    "spoiled",
    "joint kernel",
];

/// Kinds that data are drawn of; the others are [made of](Data::remade) these.
const DRAWN: usize = 12;

/// What a kind of data can do beside training.
#[derive(Debug, Clone, Copy, Default)]
struct Abilities {
    enumerable: bool,
    inputs: bool,
    takes_bounds: bool,
    own_bounds: bool,
}

/// A soft problem of factor graphs.
#[derive(Debug, Clone)]
pub(crate) struct SoftCase {
    pub(crate) graphs: GraphCase,
    pub(crate) lambda: f64,
    pub(crate) rho: f64,
    pub(crate) smoothing: Option<f64>,
    /// What multipliers are drawn from, if there are any.
    pub(crate) multipliers: Option<u64>,
}

/// A draw of a strategy.
fn draw<S: Strategy>(strategy: S, rng: &mut Rng) -> S::Value {
    let mut seed = [0; 32];
    seed.iter_mut().for_each(|byte| *byte = rng.below(256) as u8);
    let chance = TestRng::from_seed(RngAlgorithm::ChaCha, &seed);
    let mut runner = TestRunner::new_with_rng(Config::default(), chance);
    strategy.new_tree(&mut runner).expect("strategies that reject nothing").current()
}

pub(crate) fn draw_data(rng: &mut Rng, lambda: f64) -> Data {
    let kind = pick(rng, &KINDS[..DRAWN]);
    loop {
        let mut data = match kind {
            "chain" => {
                let mut case = draw(any_chain(), rng);
                let most = 1 + rng.below(3);
                case.sequences.iter_mut().for_each(|sequence| sequence.tokens.truncate(most));
                Data::Chain(case)
            }
            "binary" => Data::Binary(draw(any_rows(2..=3), rng)),
            "multiclass" => Data::Multiclass(draw(any_rows(2..=5), rng)),
            "multilabel" => Data::Labels(draw(any_labels(), rng)),
            "factor graph" => Data::Graphs(match rng.below(4) {
                0 => draw(any_forests(), rng),
                1 => draw(any_binary_graphs(), rng),
                2 => draw(frustrated_graphs(), rng),
                _ => draw(any_graphs(), rng),
            }),
            "potts" => {
                let mut case = draw(any_potts(2..=4), rng);
                if rng.below(2) == 0 {
                    case.shape = case.shape.free();
                }
                Data::Potts(case)
            }
            "tree" => Data::Tree(draw(any_tree(3, 3), rng)),
            "matching" => Data::Matching(draw(any_matchings(), rng)),
            "soft" => {
                let graphs = match rng.below(2) {
                    0 => draw(any_binary_graphs(), rng),
                    _ => draw(any_graphs(), rng),
                };
                let rho = log_uniform(rng, -2.0, 1.0);
                let smoothing = (rng.below(3) == 0).then(|| log_uniform(rng, -3.0, 0.0));
                let multipliers = (rng.below(3) == 0).then(|| rng.below(1 << 30) as u64);
                Data::Soft(SoftCase { graphs, lambda, rho, smoothing, multipliers })
            }
            "segment" => Data::Segments(draw(any_segments(3), rng)),
            "plain" => Data::Plain(draw(any_polytope(), rng)),
            "careless" => Data::Careless(draw(any_polytope(), rng)),
            other => panic!("no data are drawn for {other}"),
        };
        if data.fits() {
            return data;
        }
    }
}

fn power(base: usize, exponent: usize) -> usize {
    base.saturating_pow(exponent as u32)
}

/// Removes examples from the end until those that are left have few outputs; whether they have.
fn shorten<T>(examples: &mut Vec<T>, outputs: impl Fn(&T) -> usize) -> bool {
    let total = |all: &[T]| all.iter().map(&outputs).fold(0usize, usize::saturating_add);
    while examples.len() > 1 && total(examples) > MOST_OUTPUTS {
        examples.pop();
    }
    total(examples) <= MOST_OUTPUTS
}

impl Data {
    pub(crate) fn kind(&self) -> &'static str {
        let at = match self {
            Self::Chain(_) => 0,
            Self::Binary(_) => 1,
            Self::Multiclass(_) => 2,
            Self::Labels(_) => 3,
            Self::Graphs(_) => 4,
            Self::Potts(_) => 5,
            Self::Tree(_) => 6,
            Self::Matching(_) => 7,
            Self::Soft(_) => 8,
            Self::Plain(_) => 9,
            Self::Careless(_) => 10,
            Self::Segments(_) => 11,
            Self::Spoiled(..) => 12,
            Self::Joint(_) => 13,
        };
        KINDS[at]
    }

    /// Data of a kind that is made of another one, now and then.
    pub(crate) fn remade(self, rng: &mut Rng) -> Self {
        match self {
            Self::Plain(inner) if rng.below(3) == 0 => {
                Self::Joint(JointCase { inner, kernel: draw_kernel(rng) })
            }
            Self::Careless(inner) if rng.below(2) == 0 => {
                Self::Spoiled(inner, pick(rng, &[0.3, 0.7, 1.0]))
            }
            other => other,
        }
    }

    /// Whether its oracle overlooks outputs, so that nobody knows what else there is.
    pub(crate) fn is_careless(&self) -> bool {
        matches!(self, Self::Careless(_) | Self::Spoiled(..))
    }

    /// Makes it small enough by leaving out examples; whether that was enough.
    fn fits(&mut self) -> bool {
        match self {
            Self::Chain(case) => {
                let labels = case.labels;
                shorten(&mut case.sequences, |sequence| power(labels, sequence.tokens.len()))
            }
            Self::Binary(_) | Self::Multiclass(_) | Self::Plain(_) | Self::Careless(_) => true,
            Self::Spoiled(..) | Self::Joint(_) => true,
            Self::Labels(case) => {
                let labels = case.shape.labels;
                shorten(&mut case.rows, |_| power(2, labels))
            }
            Self::Graphs(case) => shorten(&mut case.graphs, |graph| {
                graph.variables.iter().map(|v| v.0).fold(1, usize::saturating_mul)
            }),
            Self::Potts(case) => {
                let labels = case.shape.labels;
                shorten(&mut case.graphs, |graph| power(labels, graph.nodes.len()))
            }
            Self::Tree(case) => {
                let outputs = |i: usize| {
                    let (width, height) = case.data.grid(i);
                    let states = case.shape.nodes().iter().map(|node| node.kinds * width * height);
                    states.fold(1, usize::saturating_mul)
                };
                let total: usize = (0..case.data.len()).map(outputs).sum();
                total <= MOST_OUTPUTS && case.shape.dim() > 0
            }
            Self::Matching(case) => {
                let total: usize = (0..case.data.len()).map(|i| case.outputs(i).len() + 1).sum();
                total <= MOST_OUTPUTS
            }
            Self::Segments(case) => {
                let outputs: Vec<usize> =
                    (0..case.sequences.len()).map(|i| case.outputs(i).len()).collect();
                let mut outputs = outputs.into_iter();
                let mut left = MOST_OUTPUTS;
                let kept = case.sequences.iter().take_while(|_| {
                    let next = outputs.next().and_then(|own| left.checked_sub(own));
                    left = next.unwrap_or(0);
                    next.is_some()
                });
                let kept = kept.count();
                case.sequences.truncate(kept);
                kept > 0
            }
            Self::Soft(case) => shorten(&mut case.graphs.graphs, |graph| {
                let states = |v: &u32| graph.variables[*v as usize].0;
                let large = graph.factors.iter().filter(|factor| factor.1.len() > 1);
                let tables = large.map(|factor| factor.1.iter().map(states).product::<usize>());
                graph.variables.iter().map(|v| v.0).sum::<usize>() + tables.sum::<usize>()
            }),
        }
    }

    /// What the kind can do. A new kind says here which tests it takes part in.
    fn abilities(&self) -> Abilities {
        let none = Abilities::default();
        match self {
            Self::Chain(_) | Self::Labels(_) => {
                Abilities { enumerable: true, inputs: true, takes_bounds: true, ..none }
            }
            Self::Binary(_) => Abilities { enumerable: true, ..none },
            Self::Multiclass(_) => Abilities { enumerable: true, inputs: true, ..none },
            Self::Graphs(_) => Abilities { enumerable: true, takes_bounds: true, ..none },
            Self::Potts(case) => {
                Abilities { takes_bounds: true, own_bounds: case.shape.attractive, ..none }
            }
            Self::Tree(_) => Abilities { takes_bounds: true, own_bounds: true, ..none },
            Self::Matching(_) | Self::Segments(_) => Abilities { takes_bounds: true, ..none },
            Self::Soft(_)
            | Self::Plain(_)
            | Self::Careless(_)
            | Self::Spoiled(..)
            | Self::Joint(_) => none,
        }
    }

    /// Whether the model implements `Enumerable`.
    pub(crate) fn is_enumerable(&self) -> bool {
        self.abilities().enumerable
    }

    /// Whether the model implements `NodeInputs`, so that it can have a kernel.
    pub(crate) fn has_inputs(&self) -> bool {
        self.abilities().inputs
    }

    /// Whether the model takes bounds itself.
    pub(crate) fn takes_bounds(&self) -> bool {
        self.abilities().takes_bounds
    }

    /// Whether the required methods tell all that training needs to know.
    pub(crate) fn goes_via_psi(&self) -> bool {
        let has_signed_losses = matches!(self, Self::Soft(case) if case.multipliers.is_some());
        !self.needs_own_bounds() && !has_signed_losses
    }

    /// Whether the model has bounds of its own, which the wrapper would replace.
    pub(crate) fn needs_own_bounds(&self) -> bool {
        self.abilities().own_bounds
    }

    /// The same with another loss.
    pub(crate) fn with_other_loss(&mut self, rng: &mut Rng) {
        match self {
            Self::Chain(case) => case.loss.normalised ^= true,
            Self::Binary(_) => {}
            Self::Multiclass(case) => {
                let other = |truth, y| f64::from(truth != y) * (0.5 + rng.unit_f64());
                let classes = case.classes;
                let mut other = other;
                case.costs = Some(
                    (0..classes).map(|t| (0..classes).map(|y| other(t, y)).collect()).collect(),
                );
            }
            Self::Labels(case) => case.loss.normalised ^= true,
            Self::Graphs(case) => case.normalised ^= true,
            Self::Soft(case) => case.graphs.normalised ^= true,
            Self::Potts(case) => match rng.below(2) {
                0 => case.loss.weighted ^= true,
                _ => case.loss.balanced ^= true,
            },
            Self::Tree(case) => case.loss.kind_cost = rng.unit_f64(),
            Self::Matching(case) => case.loss.normalise ^= true,
            Self::Segments(case) => case.normalised ^= true,
            Self::Plain(case)
            | Self::Careless(case)
            | Self::Spoiled(case, _)
            | Self::Joint(JointCase { inner: case, .. }) => {
                let factor = 0.5 + rng.unit_f64();
                let corners = case.blocks.iter_mut().flat_map(|block| &mut block.corners);
                corners.for_each(|corner| corner.1 *= factor);
            }
        }
    }
}
