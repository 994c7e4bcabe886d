//! What a case is made of: random data, a decoder, and wrappers.

use crate::data::{Data, draw_data};
use maxmargin::inference::Inference;
use maxmargin::kernel::Kernel;
use maxmargin::model::potts::{PottsInference, PottsShape};
use maxmargin::{Bounds, Rng};

/// What solves linear programs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Lp {
    Simplex,
    /// It gives up on every program.
    Never,
    /// It gives up on some programs.
    Sometimes,
}

/// Everything that a problem is built from.
#[derive(Debug, Clone)]
pub(crate) struct Recipe {
    pub(crate) data: Data,
    pub(crate) inference: Inference,
    pub(crate) graph_inference: PottsInference,
    pub(crate) lp: Lp,
    pub(crate) kernel: Option<Kernel>,
    pub(crate) slack: bool,
    /// Whether slack rescaling searches among the outputs that the decoder finds, rather than try them all.
    pub(crate) search: bool,
    pub(crate) bounds: Option<Bounds>,
    /// Whether the bounds are put on by the wrapper, not by the model.
    pub(crate) bounded: bool,
    /// Whether the engine sees the required methods only.
    pub(crate) via_psi: bool,
}

pub(crate) fn pick<T: Copy>(rng: &mut Rng, all: &[T]) -> T {
    all[rng.below(all.len())]
}

pub(crate) fn pick_name<T: std::str::FromStr<Err: std::fmt::Debug>>(
    rng: &mut Rng,
    names: &[&str],
) -> T {
    pick(rng, names).parse().expect("a name that is known")
}

/// Between 10^least and 10^most, every order of magnitude alike.
pub(crate) fn log_uniform(rng: &mut Rng, least: f64, most: f64) -> f64 {
    10f64.powf(least + (most - least) * rng.unit_f64())
}

pub(crate) fn draw_kernel(rng: &mut Rng) -> Kernel {
    match rng.below(3) {
        0 => Kernel::Linear,
        1 => Kernel::Polynomial {
            degree: 1 + rng.below(3) as u32,
            gamma: log_uniform(rng, -1.0, 0.3),
            constant: pick(rng, &[0.0, 0.5, 1.0]),
        },
        _ => Kernel::Rbf { gamma: log_uniform(rng, -2.0, 1.0) },
    }
}

/// Free weights, signs, boxes, and now and then one that excludes 0 or leaves one value.
pub(crate) fn draw_bounds(rng: &mut Rng, dim: usize) -> Bounds {
    let strange = rng.below(4) == 0;
    let (mut lower, mut upper) = (Vec::new(), Vec::new());
    let size = log_uniform(rng, -2.0, 0.5);
    for _ in 0..dim {
        let (a, b) = (size * rng.unit_f64(), size * rng.unit_f64());
        let (low, high) = match rng.below(if strange { 7 } else { 5 }) {
            0 => (f64::NEG_INFINITY, f64::INFINITY),
            1 => (0.0, f64::INFINITY),
            2 => (f64::NEG_INFINITY, 0.0),
            3 => (-a, b),
            4 => (0.0, b),
            5 => (a, a + b),
            _ => (0.5 - a, 0.5 - a),
        };
        lower.push(low);
        upper.push(high);
    }
    Bounds::new(lower, upper).expect("lower bounds below upper ones")
}

impl Recipe {
    /// Draws data, a decoder and wrappers.
    pub(crate) fn draw(rng: &mut Rng, lambda: f64) -> Self {
        let data = draw_data(rng, lambda);
        let mut recipe = Self {
            inference: pick_name(rng, Inference::NAMES),
            graph_inference: pick_name(rng, PottsInference::NAMES),
            lp: pick(rng, &[Lp::Simplex, Lp::Simplex, Lp::Simplex, Lp::Never, Lp::Sometimes]),
            kernel: None,
            slack: false,
            search: false,
            bounds: None,
            bounded: false,
            via_psi: false,
            data,
        };
        let is_enumerable = recipe.data.is_enumerable();
        match rng.below(8) {
            0 | 1 => recipe.draw_bounds(rng),
            2 if is_enumerable => recipe.slack = true,
            3 if is_enumerable => {
                recipe.slack = true;
                recipe.draw_bounds(rng);
            }
            4 | 5 if recipe.data.has_inputs() => {
                recipe.kernel = Some(draw_kernel(rng));
                if rng.below(10) == 0 && recipe.data.takes_bounds() {
                    recipe.draw_bounds(rng);
                    recipe.bounded = false;
                }
            }
            6 => recipe.via_psi = recipe.data.goes_via_psi(),
            _ => {}
        }
        // Draws on the side, so that what later draws find stays the same.
        recipe.remake(&mut rng.clone());
        recipe
    }

    /// Searches for rescaled slacks, and kinds of data that are made of others.
    fn remake(&mut self, rng: &mut Rng) {
        let is_bare =
            !self.slack && self.bounds.is_none() && self.kernel.is_none() && !self.via_psi;
        if self.slack {
            self.search = rng.below(2) == 0;
        } else if is_bare && !matches!(self.data, Data::Soft(_)) && rng.below(6) == 0 {
            (self.slack, self.search) = (true, true);
        } else if is_bare {
            self.data = self.data.clone().remade(rng);
        }
    }

    /// Whether the oracle can be asked for less than the maximum.
    pub(crate) fn takes_accuracy(&self) -> bool {
        self.search || matches!(self.data, Data::Spoiled(..))
    }

    pub(crate) fn draw_bounds(&mut self, rng: &mut Rng) {
        let dim = self.dim();
        self.bounds = Some(draw_bounds(rng, dim));
        let by_model =
            self.data.takes_bounds() && (self.data.needs_own_bounds() || rng.below(2) == 0);
        self.bounded = !by_model;
    }

    /// What the wrappers are, in short.
    pub(crate) fn wrapper(&self) -> String {
        let names = [
            (self.kernel.is_some(), "kernel"),
            (self.slack && !self.search, "slack"),
            (self.slack && self.search, "search"),
            (self.bounds.is_some() && self.bounded, "bounded"),
            (self.bounds.is_some() && !self.bounded, "bounds"),
            (self.via_psi, "psi only"),
        ];
        let on: Vec<&str> = names.iter().filter(|(on, _)| *on).map(|(_, name)| *name).collect();
        if on.is_empty() { "none".to_owned() } else { on.join(" + ") }
    }

    /// The decoder, if there is a choice.
    pub(crate) fn decoder(&self) -> &'static str {
        match &self.data {
            Data::Labels(_) | Data::Graphs(_) => self.inference.name(),
            Data::Potts(_) => self.graph_inference.name(),
            _ => "its own",
        }
    }

    /// A recipe for the same data with something else.
    pub(crate) fn variant(&self, rng: &mut Rng) -> Self {
        let mut other = self.clone();
        match rng.below(7) {
            0 | 1 => {
                other.inference = pick_name(rng, Inference::NAMES);
                other.graph_inference = pick_name(rng, PottsInference::NAMES);
                other.lp = Lp::Simplex;
            }
            2 if other.data.is_enumerable() && other.kernel.is_none() && !other.via_psi => {
                other.slack ^= true;
            }
            3 => other.data.with_other_loss(rng),
            4 if other.kernel.is_some() => other.kernel = Some(draw_kernel(rng)),
            4 if other.bounds.is_some() && !other.data.needs_own_bounds() => other.bounds = None,
            5 => {
                if let Data::Potts(case) = &mut other.data {
                    case.shape = if case.shape.attractive {
                        case.shape.free()
                    } else {
                        let shape = case.shape;
                        PottsShape { attractive: true, ..shape }
                    };
                    other.via_psi &= other.data.goes_via_psi();
                    other.bounded &= !other.data.needs_own_bounds();
                }
            }
            _ => {}
        }
        other
    }
}
