//! The common interface of all inference methods for factor graphs.

use super::enumerate::Enumerate;
use super::labelling::Labelling;
use super::local_polytope::LocalPolytope;
use super::local_search::LocalSearch;
use super::lp::{SimplexMethod, SolveLp};
use super::max_product::MaxProduct;
use super::max_sum::MaxSum;
use super::pattern_flow;
use super::roof_duality::{RoofDuality, both_on};
use super::topology::Topology;
use crate::problem::quality::Quality;
use crate::util::names::named_enum;
use std::sync::Arc;
use thiserror::Error;

/// `auto` enumerates graphs with at most this many labellings. Enumeration is exact, and takes about as long as a
/// small linear program.
const FEW_LABELLINGS: usize = 1 << 12;

/// `auto` uses a linear program only for graphs with at most this many scores (of the states of all variables and
/// factors, and of steps of patterns). A linear program takes from milliseconds to minutes; max-product takes less
/// than one millisecond.
const MOST_SCORES_OF_LP: usize = 512;

/// The largest number of labellings of a graph that can be enumerated.
const MOST_LABELLINGS: usize = 1 << 30;

named_enum! {
    /// The inference method for factor graphs.
    ///
    /// ```
    /// use maxmargin::Quality;
    /// use maxmargin::inference::{Inference, Topology};
    ///
    /// let tree = Topology::new([4; 30], (0..29).map(|v| [v, v + 1]))?;
    /// let triangle = Topology::new([2; 3], [[0, 1], [1, 2], [0, 2]])?;
    /// let ring = Topology::new([2; 30], (0..30).map(|v| [v, (v + 1) % 30]))?;
    /// let large = Topology::new([3; 30], (0..30).map(|v| [v, (v + 1) % 30]))?;
    /// let huge = Topology::new([9; 30], (0..30).map(|v| [v, (v + 1) % 30]))?;
    /// let choices = [&tree, &triangle, &ring, &large, &huge].map(|graph| Inference::Auto.resolve(graph));
    /// assert_eq!(choices[0], Ok(Inference::MaxSum));
    /// assert_eq!(choices[1], Ok(Inference::Enumerate));
    /// assert_eq!(choices[2], Ok(Inference::RoofDuality));
    /// assert_eq!(choices[3], Ok(Inference::Lp));
    /// assert_eq!(choices[4], Ok(Inference::MaxProduct));
    /// assert_eq!(Inference::Lp.quality(), Quality::UpperBound);
    ///
    /// let error = Inference::MaxSum.resolve(&ring).unwrap_err();
    /// assert_eq!(error.to_string(), "max-sum cannot decode this graph: it has a cycle");
    /// # Ok::<(), maxmargin::inference::TopologyError>(())
    /// ```
    #[derive(Default)]
    #[non_exhaustive]
    Inference("inference") {
        /// The best method that each graph allows: max-sum on forests; otherwise enumeration if there are
        /// few labellings (up to 4096); otherwise roof duality if the graph is binary and pairwise;
        /// otherwise the LP if the graph has at most 512 scores; otherwise max-product.
        #[default]
        Auto = "auto",
        /// Max-sum: exact, for graphs without cycles.
        MaxSum = "max-sum",
        /// Trying all labellings: exact, for small graphs.
        Enumerate = "enumerate",
        /// The LP relaxation of a graph with two states per variable and two variables per factor,
        /// by maximum flow.
        RoofDuality = "roof-duality",
        /// The LP relaxation over the local polytope, for all graphs.
        Lp = "lp",
        /// Max-product with damped messages: a heuristic, for all graphs.
        MaxProduct = "max-product",
    }
}

/// Why a graph does not allow an inference method.
///
/// ```
/// use maxmargin::inference::{Inference, Topology};
/// let ring = Topology::new([2; 3], [[0, 1], [1, 2], [2, 0]])?;
/// assert_eq!(Inference::MaxSum.resolve(&ring).unwrap_err().why, "it has a cycle");
/// # Ok::<(), maxmargin::inference::TopologyError>(())
/// ```
#[derive(Debug, Error, Clone, PartialEq, Eq)]
#[error("{inference} cannot decode this graph: {why}")]
#[non_exhaustive]
pub struct Unsuitable {
    /// The chosen method.
    pub inference: Inference,
    /// Why it is not possible.
    pub why: &'static str,
}

impl Inference {
    /// The method that is used for a graph. The result is never [`Auto`](Self::Auto).
    ///
    /// # Errors
    /// If the graph does not allow the method.
    #[cfg(feature = "unstable")]
    pub fn resolve(self, graph: &Topology) -> Result<Self, Unsuitable> {
        self.resolve_for(graph)
    }

    pub(crate) fn resolve_for(self, graph: &Topology) -> Result<Self, Unsuitable> {
        let unsuitable = |why| Err(Unsuitable { inference: self, why });
        match self {
            Self::Auto if graph.is_forest() => Ok(Self::MaxSum),
            Self::Auto if graph.labellings(FEW_LABELLINGS).is_some() => Ok(Self::Enumerate),
            Self::Auto if graph.is_binary_pairwise() => Ok(Self::RoofDuality),
            Self::Auto if graph.size() + pattern_flow::size(graph) <= MOST_SCORES_OF_LP => {
                Ok(Self::Lp)
            }
            Self::Auto => Ok(Self::MaxProduct),
            Self::MaxSum if !graph.is_forest() => unsuitable("it has a cycle"),
            Self::Enumerate if graph.labellings(MOST_LABELLINGS).is_none() => {
                unsuitable("it has too many labellings")
            }
            Self::RoofDuality if !graph.is_binary_pairwise() => {
                unsuitable("it is not binary and pairwise")
            }
            _ => Ok(self),
        }
    }

    /// What the method promises. [`Auto`](Self::Auto) promises only as much as the weakest method that it
    /// may choose.
    ///
    /// ```
    /// use maxmargin::{Quality, inference::Inference};
    /// assert_eq!(Inference::MaxSum.quality(), Quality::Exact);
    /// assert_eq!(Inference::Auto.quality(), Quality::Heuristic);
    /// ```
    pub fn quality(self) -> Quality {
        match self {
            Self::MaxSum | Self::Enumerate => Quality::Exact,
            Self::RoofDuality | Self::Lp => Quality::UpperBound,
            Self::Auto | Self::MaxProduct => Quality::Heuristic,
        }
    }
}

/// Decodes factor graphs with any inference method. It reuses its memory.
///
/// ```
/// use maxmargin::inference::{Decoder, Inference, Labelling, Topology};
///
/// let graph = Topology::new([2, 2], [[0, 1]])?;
/// let scores = [0.0, 1.0,  0.0, 0.0,  0.0, 0.0, 0.0, 3.0];
/// let (mut decoder, mut y) = (Decoder::default(), Labelling::default());
/// decoder.decode(Inference::MaxSum, &graph, &scores, &mut y);
/// assert_eq!(y.states, [1, 1]);
/// # Ok::<(), maxmargin::inference::TopologyError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Decoder {
    solver: Arc<dyn SolveLp>,
    enumerate: Enumerate,
    max_sum: MaxSum,
    max_product: MaxProduct,
    polytope: LocalPolytope,
    roof: Roof,
    search: LocalSearch,
}

impl Default for Decoder {
    fn default() -> Self {
        Self::new(Arc::new(SimplexMethod))
    }
}

impl Decoder {
    /// Creates a decoder that solves linear programs with `solver`.
    pub fn new(solver: Arc<dyn SolveLp>) -> Self {
        Self {
            solver,
            enumerate: Enumerate::default(),
            max_sum: MaxSum::default(),
            max_product: MaxProduct::default(),
            polytope: LocalPolytope::default(),
            roof: Roof::default(),
            search: LocalSearch::default(),
        }
    }

    /// Writes the best labelling, or the best corner of the relaxation, to `y`, and returns its quality.
    /// It is the quality that `inference` promises, unless an LP solver has failed and a heuristic was
    /// used instead.
    ///
    /// If a score is not finite, the result is some labelling whose score is not finite either.
    ///
    /// ```
    /// use maxmargin::Quality;
    /// use maxmargin::inference::{Decoder, Inference, Labelling, Topology};
    ///
    /// // No two of three variables like to be in the same state.
    /// let triangle = Topology::new([2; 3], [[0, 1], [1, 2], [2, 0]])?;
    /// let scores = [vec![0.0; 6], [0.0, 1.0, 1.0, 0.0].repeat(3)].concat();
    /// let (mut decoder, mut y) = (Decoder::default(), Labelling::default());
    /// let quality = decoder.decode(Inference::RoofDuality, &triangle, &scores, &mut y);
    /// assert_eq!((quality, y.is_fractional()), (Quality::UpperBound, true));
    /// # Ok::<(), maxmargin::inference::TopologyError>(())
    /// ```
    ///
    /// # Panics
    /// If there are too few scores, or if the graph does not allow the method (see
    /// [`resolve`](Inference::resolve)).
    pub fn decode(
        &mut self,
        inference: Inference,
        graph: &Topology,
        scores: &[f64],
        y: &mut Labelling,
    ) -> Quality {
        y.marginals.clear();
        // A labelling that contains a score that is not finite reveals it.
        if let Some(bad) = scores[..graph.size()].iter().position(|score| !score.is_finite()) {
            y.best_of_each(graph, scores);
            graph.touch(bad, &mut y.states);
            return inference.quality();
        }
        let inference = if inference == Inference::Auto {
            inference.resolve_for(graph).unwrap_or(Inference::Lp)
        } else {
            inference
        };
        match inference {
            Inference::MaxSum => {
                self.max_sum.maximise(graph, scores, &mut y.states);
            }
            Inference::Enumerate => {
                self.enumerate.maximise(graph, scores, &mut y.states);
            }
            Inference::RoofDuality => self.roof.maximise(graph, scores, y),
            Inference::MaxProduct => {
                self.max_product.maximise(graph, scores, &mut y.states);
            }
            Inference::Auto | Inference::Lp => {
                if self.polytope.maximise(&*self.solver, graph, scores, y).is_err() {
                    y.marginals.clear();
                    self.max_product.maximise(graph, scores, &mut y.states);
                    return Quality::Heuristic;
                }
            }
        }
        inference.quality()
    }

    /// Improves the states of a fractional corner by local search. A labelling that is not fractional is
    /// not changed.
    ///
    /// ```
    /// use maxmargin::inference::{Decoder, Inference, Labelling, Topology};
    ///
    /// let triangle = Topology::new([2; 3], [[0, 1], [1, 2], [2, 0]])?;
    /// let scores = [vec![0.0; 6], [0.0, 1.0, 1.0, 0.0].repeat(3)].concat();
    /// let (mut decoder, mut y) = (Decoder::default(), Labelling::default());
    /// decoder.decode(Inference::Lp, &triangle, &scores, &mut y);
    /// decoder.polish(&triangle, &scores, &mut y);
    /// assert_eq!(triangle.value(&scores, &y.states), 2.0); // the best there is
    /// # Ok::<(), maxmargin::inference::TopologyError>(())
    /// ```
    ///
    /// # Panics
    /// If there are too few scores.
    pub fn polish(&mut self, graph: &Topology, scores: &[f64], y: &mut Labelling) {
        if y.is_fractional() {
            self.search.improve(graph, scores, &mut y.states);
        }
    }
}

/// Roof duality on a factor graph.
#[derive(Debug, Clone, Default)]
struct Roof {
    roof: RoofDuality,
    linear: Vec<f64>,
    quadratic: Vec<f64>,
    pairs: Vec<(u32, u32)>,
    x: Vec<f64>,
}

impl Roof {
    fn maximise(&mut self, graph: &Topology, scores: &[f64], y: &mut Labelling) {
        // Up to a constant, a table is a₀xᵢ + a₁xⱼ + c xᵢxⱼ. Variables without factors may have any
        // number of states and are decoded separately.
        y.best_of_each(graph, scores);
        self.linear.clear();
        for v in 0..graph.variables() {
            let binary = !graph.links(v).is_empty();
            let node = &scores[graph.node(v)];
            self.linear.push(if binary { node[1] - node[0] } else { 0.0 });
        }
        self.pairs.clear();
        self.quadratic.clear();
        for factor in 0..graph.factors() {
            let (scope, t) = (graph.scope(factor), &scores[graph.table(factor)]);
            self.linear[scope[0] as usize] += t[2] - t[0];
            self.linear[scope[1] as usize] += t[1] - t[0];
            self.pairs.push((scope[0], scope[1]));
            self.quadratic.push((t[3] - t[2]) - (t[1] - t[0]));
        }
        self.roof.maximise(&self.linear, &self.pairs, &self.quadratic, &mut self.x);
        for v in (0..graph.variables()).filter(|&v| !graph.links(v).is_empty()) {
            y.states[v] = u32::from(self.x[v] == 1.0);
        }
        if self.x.iter().all(|&x| x != 0.5) {
            return;
        }
        for v in 0..graph.variables() {
            let start = graph.node(v).start as u64;
            if graph.links(v).is_empty() {
                y.marginals.push(start + u64::from(y.states[v]), 1.0);
            } else {
                push_positive(&mut y.marginals, start, [1.0 - self.x[v], self.x[v]]);
            }
        }
        for (factor, (&(i, j), &c)) in self.pairs.iter().zip(&self.quadratic).enumerate() {
            let (a, b) = (self.x[i as usize], self.x[j as usize]);
            let both = both_on(a, b, c);
            let table = [1.0 - a - b + both, b - both, a - both, both];
            push_positive(&mut y.marginals, graph.table(factor).start as u64, table);
        }
    }
}

fn push_positive<const N: usize>(to: &mut crate::problem::SparseVec, start: u64, masses: [f64; N]) {
    for (at, mass) in masses.into_iter().enumerate().filter(|(_, mass)| *mass > 0.0) {
        to.push(start + at as u64, mass);
    }
}
