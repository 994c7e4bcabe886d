//! The search for the best set of labels, with the chosen inference.

use super::labels::LabelSet;
use super::shape::MultilabelShape;
use crate::inference::decoder::{Decoder, Inference, Unsuitable};
use crate::inference::labelling::Labelling;
use crate::inference::lp::SolveLp;
use crate::inference::roof_duality::{RoofDuality, both_on};
use crate::inference::subsets::{MOST_VARIABLES, Subsets};
use crate::inference::sum_product::SumProduct;
use crate::inference::topology::Topology;
use crate::problem::quality::Quality;
use crate::problem::sparse::SparseVec;
use std::sync::Arc;

/// Up to this many labels, `auto` tries all sets, which takes at most a millisecond.
const FEW_LABELS: usize = 20;

/// Appends the masses of labels and pairs that are on, given the masses of all states of the factor graph
/// of `n` labels.
fn push_parts(n: usize, masses: impl Iterator<Item = (usize, f64)>, parts: &mut SparseVec) {
    for (at, mass) in masses {
        // A label has the states off and on. The last of the four states of a pair is both on.
        if at < 2 * n && at % 2 == 1 {
            parts.push((at / 2) as u64, mass);
        } else if at >= 2 * n && at % 4 == (2 * n + 3) % 4 {
            parts.push((n + (at - 2 * n) / 4) as u64, mass);
        }
    }
}

/// How sets of labels are decoded, which is the same for all examples.
#[derive(Debug, Clone)]
pub(super) struct Plan {
    pub(super) inference: Inference,
    /// The labels as a factor graph, for inference methods that need one.
    topology: Topology,
}

impl Plan {
    pub(super) fn new(shape: &MultilabelShape, inference: Inference) -> Result<Self, Unsuitable> {
        let scopes = shape.pairs.iter().map(|&(i, j)| [i, j]);
        let topology = Topology::new(vec![2; shape.labels], scopes);
        let topology = topology.expect("pairs were checked");
        let inference = match inference {
            Inference::Auto if topology.is_forest() => Inference::MaxSum,
            Inference::Auto if shape.labels <= FEW_LABELS => Inference::Enumerate,
            Inference::Auto => Inference::RoofDuality,
            Inference::Enumerate if shape.labels > MOST_VARIABLES => {
                return Err(Unsuitable { inference, why: "there are too many labels" });
            }
            _ => inference.resolve_for(&topology)?,
        };
        Ok(Self { inference, topology })
    }

    /// Whether the pairs form a forest.
    pub(super) fn is_forest(&self) -> bool {
        self.topology.is_forest()
    }
}

/// The memory of searches for sets of labels, which is reused.
#[derive(Debug, Clone)]
pub(super) struct Search {
    subsets: Subsets,
    roof: RoofDuality,
    x: Vec<f64>,
    decoder: Decoder,
    scores: Vec<f64>,
    labelling: Labelling,
    marginals: SumProduct,
    open: Vec<u32>,
    open_pairs: Vec<(u32, u32)>,
    open_linear: Vec<f64>,
    open_quadratic: Vec<f64>,
}

impl Search {
    pub(super) fn new(solver: Arc<dyn SolveLp>) -> Self {
        Self {
            subsets: Subsets::default(),
            roof: RoofDuality::default(),
            x: Vec::new(),
            decoder: Decoder::new(solver),
            scores: Vec::new(),
            labelling: Labelling::default(),
            marginals: SumProduct::default(),
            open: Vec::new(),
            open_pairs: Vec::new(),
            open_linear: Vec::new(),
            open_quadratic: Vec::new(),
        }
    }

    /// Finds the best set, or the best corner of the relaxation, for the scores of labels and pairs.
    /// Returns the quality of the answer.
    pub(super) fn run(
        &mut self,
        plan: &Plan,
        pairs: &[(u32, u32)],
        linear: &[f64],
        quadratic: &[f64],
        y: &mut LabelSet,
    ) -> Quality {
        let n = linear.len();
        if linear.iter().chain(quadratic).any(|score| !score.is_finite()) {
            // Return all labels, so that the score of the answer is not finite either.
            y.assign(n, |_| true);
            return plan.inference.quality();
        }
        if pairs.is_empty() && plan.inference != Inference::Lp {
            y.assign(n, |k| linear[k] > 0.0);
            return plan.inference.quality();
        }
        match plan.inference {
            Inference::Enumerate => {
                let (_, bits) = self.subsets.maximise(linear, pairs, quadratic);
                y.assign_bits(bits);
                Quality::Exact
            }
            Inference::RoofDuality => {
                self.roof.maximise(linear, pairs, quadratic, &mut self.x);
                let x = &self.x;
                y.assign(n, |k| x[k] == 1.0);
                if x.contains(&0.5) {
                    let on = x.iter().enumerate().filter(|(_, x)| **x > 0.0);
                    on.for_each(|(k, &x)| y.marginals.push(k as u64, x));
                    for (p, (&(i, j), &c)) in pairs.iter().zip(quadratic).enumerate() {
                        let both = both_on(x[i as usize], x[j as usize], c);
                        if both > 0.0 {
                            y.marginals.push((n + p) as u64, both);
                        }
                    }
                }
                Quality::UpperBound
            }
            _ => self.run_graph(plan, linear, quadratic, y),
        }
    }

    /// Finds the best set by decoding a factor graph.
    fn run_graph(
        &mut self,
        plan: &Plan,
        linear: &[f64],
        quadratic: &[f64],
        y: &mut LabelSet,
    ) -> Quality {
        let (graph, n) = (&plan.topology, linear.len());
        self.fill(graph, linear, quadratic);
        let quality = self.decoder.decode(plan.inference, graph, &self.scores, &mut self.labelling);
        let states = &self.labelling.states;
        y.assign(n, |k| states[k] == 1);
        let masses = self.labelling.marginals.entries().iter();
        push_parts(n, masses.map(|&(at, mass)| (at as usize, mass)), &mut y.marginals);
        quality
    }

    /// Appends the expected parts, if the probability of a set is ∝ exp of the scores of its labels and
    /// pairs.
    ///
    /// # Panics
    /// If the pairs do not form a forest.
    pub(super) fn expect(
        &mut self,
        plan: &Plan,
        linear: &[f64],
        quadratic: &[f64],
        parts: &mut SparseVec,
    ) {
        self.fill(&plan.topology, linear, quadratic);
        self.marginals.run(&plan.topology, &self.scores);
        let masses = self.marginals.marginals().iter().copied().enumerate();
        push_parts(linear.len(), masses.filter(|(_, mass)| *mass > 0.0), parts);
    }

    fn fill(&mut self, graph: &Topology, linear: &[f64], quadratic: &[f64]) {
        self.scores.clear();
        self.scores.resize(graph.size(), 0.0);
        for (k, score) in linear.iter().enumerate() {
            self.scores[2 * k + 1] = *score;
        }
        for (p, score) in quadratic.iter().enumerate() {
            self.scores[2 * linear.len() + 4 * p + 3] = *score;
        }
    }

    /// Rounds a fractional corner to as good a set as possible.
    ///
    /// A label that roof duality has put fully on or off has this state in some best set. If few other
    /// labels are left, all sets of them are tried, and the result is exact. Otherwise, and for other
    /// relaxations, the corner is rounded and improved by local search.
    pub(super) fn round(
        &mut self,
        plan: &Plan,
        pairs: &[(u32, u32)],
        linear: &[f64],
        quadratic: &[f64],
        y: &mut LabelSet,
    ) {
        if !y.is_fractional() {
            return;
        }
        let n = linear.len();
        let mut masses = vec![0.0; n];
        for &(at, mass) in y.marginals.entries().iter().filter(|(at, _)| (*at as usize) < n) {
            masses[at as usize] = mass;
        }
        self.open.clear();
        // Find the labels that are neither on nor off.
        let between = |k: &u32| masses[*k as usize] > 0.0 && masses[*k as usize] < 1.0;
        self.open.extend((0..n as u32).filter(between));
        // Too many for all sets: round each label and improve by local search.
        if plan.inference != Inference::RoofDuality || self.open.len() > FEW_LABELS {
            self.fill(&plan.topology, linear, quadratic);
            self.labelling.states.clear();
            self.labelling.states.extend(masses.iter().map(|&mass| u32::from(mass > 0.5)));
            self.labelling.marginals.assign(&y.marginals);
            self.decoder.polish(&plan.topology, &self.scores, &mut self.labelling);
            let on = self.labelling.states.iter().enumerate().filter(|(_, state)| **state == 1);
            y.labels.clear();
            y.labels.extend(on.map(|(k, _)| k as u32));
            return;
        }
        // Try all sets of the open labels, with the others fixed.
        self.open_pairs.clear();
        self.open_quadratic.clear();
        self.open_linear.clear();
        self.open_linear.extend(self.open.iter().map(|&k| linear[k as usize]));
        for (&(i, j), &c) in pairs.iter().zip(quadratic) {
            match (self.open.binary_search(&i), self.open.binary_search(&j)) {
                (Ok(a), Ok(b)) => {
                    self.open_pairs.push((a as u32, b as u32));
                    self.open_quadratic.push(c);
                }
                (Ok(a), Err(_)) => self.open_linear[a] += c * masses[j as usize],
                (Err(_), Ok(b)) => self.open_linear[b] += c * masses[i as usize],
                (Err(_), Err(_)) => {}
            }
        }
        let (_, bits) =
            self.subsets.maximise(&self.open_linear, &self.open_pairs, &self.open_quadratic);
        for (at, &k) in self.open.iter().enumerate() {
            masses[k as usize] = f64::from(bits >> at & 1);
        }
        y.labels.clear();
        y.labels.extend((0..n as u32).filter(|&k| masses[k as usize] == 1.0));
    }
}
