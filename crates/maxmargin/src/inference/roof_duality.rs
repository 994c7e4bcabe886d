//! The LP relaxation of a quadratic function of binary variables, by one maximum flow.
//!
//! To maximise
//!
//! ```text
//! f(x) = Σᵢ cᵢ xᵢ + Σ_{ij} c_ij xᵢ xⱼ,     xᵢ ∈ {0, 1}
//! ```
//!
//! is hard in general. Its LP relaxation (the *roof dual*) replaces each product by the best value that
//! is consistent with 0 ≤ xᵢ ≤ 1,
//!
//! ```text
//! xᵢ xⱼ → m_ij = min(xᵢ, xⱼ)  where c_ij > 0,     m_ij = max(0, xᵢ + xⱼ − 1)  where c_ij < 0
//! ```
//!
//! which is easy: its corners are half-integral, xᵢ ∈ {0, ½, 1}, and a minimum cut yields a best one, in
//! a graph with two nodes per variable, one for xᵢ and one for 1 − xᵢ, which may disagree. Its value is
//! an upper bound of max f. The relaxation is also *persistent*: some maximum of f has the same values
//! wherever they are not ½.
//!
//! Every function of binary variables with terms of one and two variables can be written like f, up to a
//! constant. The m_ij are then the masses of "both on", and the relaxation is that over the local
//! polytope.

use super::max_flow::{MaxFlow, Quantum};

/// Solves relaxations by roof duality. It reuses its memory.
///
/// ```
/// use maxmargin::inference::algorithms::RoofDuality;
///
/// let (mut roof, mut x) = (RoofDuality::default(), Vec::new());
/// // Two variables that like to be on, and each other.
/// let value = roof.maximise(&[1.0, -0.5], &[(0, 1)], &[2.0], &mut x);
/// assert_eq!((value, x.as_slice()), (2.5, &[1.0, 1.0][..]));
///
/// // Three that like to be on, but only one at a time: on one half each, at no cost.
/// let pairs = [(0, 1), (0, 2), (1, 2)];
/// let value = roof.maximise(&[1.0; 3], &pairs, &[-2.0; 3], &mut x);
/// assert_eq!((value, x.as_slice()), (1.5, &[0.5; 3][..])); // the true maximum is 1
/// ```
#[derive(Debug, Clone, Default)]
pub struct RoofDuality {
    network: MaxFlow,
    /// Coefficients of the variables to be minimised, including their shares of the pairs.
    costs: Vec<f64>,
    paired: Vec<bool>,
    bound: f64,
}

impl RoofDuality {
    /// Finds x ∈ {0, ½, 1}ⁿ that maximises the relaxation of Σᵢ `linear`ᵢ xᵢ + Σ `quadratic`ₚ xᵢ xⱼ with
    /// (i, j) = `pairs`ₚ, and returns its value. At ties a variable is ½, or 0 if it is in no pair.
    ///
    /// Pairs may be repeated. `x` is overwritten.
    ///
    /// ```
    /// let mut roof = maxmargin::inference::algorithms::RoofDuality::default();
    /// let mut x = Vec::new();
    /// assert_eq!(roof.maximise(&[3.0, -1.0, 0.0], &[(0, 1)], &[0.5], &mut x), 3.0);
    /// assert_eq!(x, [1.0, 0.0, 0.0]);
    /// ```
    ///
    /// # Panics
    /// If a pair names a variable that does not exist or one variable twice, a number is NaN or
    /// infinite, or `quadratic` is shorter than `pairs`.
    pub fn maximise(
        &mut self,
        linear: &[f64],
        pairs: &[(u32, u32)],
        quadratic: &[f64],
        x: &mut Vec<f64>,
    ) -> f64 {
        let n = linear.len();
        self.build(linear, pairs, quadratic);
        let flow = self.network.solve();
        let all: f64 = self.costs.iter().map(|cost| (-cost).max(0.0)).sum();
        self.bound = all - 0.5 * flow;

        x.clear();
        for (i, c) in linear.iter().enumerate() {
            let on = self.network.is_on_source_side(i);
            let off = self.network.is_on_source_side(n + i);
            x.push(match (on, off) {
                (true, false) => 1.0,
                (false, true) => 0.0,
                _ if !self.paired[i] => f64::from(*c > 0.0),
                _ => 0.5,
            });
        }
        let ones: f64 = linear.iter().zip(x.iter()).map(|(c, x)| c * x).sum();
        let both =
            |(&(i, j), &c): (&(u32, u32), &f64)| c * both_on(x[i as usize], x[j as usize], c);
        ones + pairs.iter().zip(quadratic).map(both).sum::<f64>()
    }

    /// The upper bound that the flow of the last call proves. Up to rounding, it is the value of the
    /// relaxation.
    ///
    /// ```
    /// let mut roof = maxmargin::inference::algorithms::RoofDuality::default();
    /// let value = roof.maximise(&[1.0, 2.0], &[(0, 1)], &[-4.0], &mut Vec::new());
    /// assert_eq!((value, roof.bound()), (2.0, 2.0));
    /// ```
    pub fn bound(&self) -> f64 {
        self.bound
    }

    /// Builds the graph whose minimum cuts are the minima of −f if variables and their complements may
    /// disagree. Node i stands for xᵢ and node n + i for 1 − xᵢ; nodes on the source's side are 1. Every
    /// term occurs twice, once for each node of a variable, so a cut costs 2(−f).
    fn build(&mut self, linear: &[f64], pairs: &[(u32, u32)], quadratic: &[f64]) {
        let n = linear.len();
        let Self { network, costs, paired, .. } = self;
        network.reset(2 * n);
        costs.clear();
        paired.clear();
        paired.resize(n, false);
        let quadratic = &quadratic[..pairs.len()];
        // Round the numbers to multiples of a quantum first, so that all sums of the flow are exact.
        let total: f64 = linear.iter().chain(quadratic).map(|c| c.abs()).sum();
        let quantum = Quantum::of(total);
        costs.extend(linear.iter().map(|c| -quantum.round(*c)));
        for (&(i, j), &c) in pairs.iter().zip(quadratic) {
            let (i, j) = (i as usize, j as usize);
            assert!(i != j, "a pair needs two variables, not {i} twice");
            if c == 0.0 {
                continue;
            }
            (paired[i], paired[j]) = (true, true);
            let c = 2.0 * quantum.round(0.5 * c);
            if c > 0.0 {
                // −c xᵢxⱼ = −½c xᵢ − ½c xⱼ + ½c [xᵢ ≠ xⱼ]
                network.connect(i, j, 0.5 * c, 0.5 * c);
                network.connect(n + i, n + j, 0.5 * c, 0.5 * c);
                costs[i] -= 0.5 * c;
                costs[j] -= 0.5 * c;
            } else {
                // |c| xᵢxⱼ: a cost if xᵢ is 1 and the complement of xⱼ is 0, and vice versa.
                network.connect(i, n + j, -c, 0.0);
                network.connect(j, n + i, -c, 0.0);
            }
        }
        for (i, &cost) in costs.iter().enumerate() {
            network.tie(i, (-cost).max(0.0), cost.max(0.0));
            network.tie(n + i, cost.max(0.0), (-cost).max(0.0));
        }
    }
}

/// The mass of "both on" that is best for a term `c`·xᵢxⱼ, if xᵢ and xⱼ are on with the masses `x` and
/// `y`: the largest possible one if c > 0, otherwise the smallest.
///
/// ```
/// use maxmargin::inference::algorithms::both_on;
/// assert_eq!((both_on(0.5, 0.5, 1.0), both_on(0.5, 0.5, -1.0)), (0.5, 0.0));
/// ```
pub fn both_on(x: f64, y: f64, c: f64) -> f64 {
    if c > 0.0 { x.min(y) } else { (x + y - 1.0).max(0.0) }
}
