//! A small quadratic program over a product of simplices, by sequential minimal optimisation.
//!
//! Maximises bᵀθ − ½ θᵀGθ over θ ≥ 0 with Σ θ ≤ 1 in every group. The rest of a group's mass lies on a point
//! of value 0, where all of it is at the start. Every move of mass raises the value, so the answer is never
//! worse than the start, whenever the work ends. The move is the one that gains most: the steepest one gains
//! little along long and narrow ridges, and takes many times as many moves there.

/// Work goes on until at most this share of what has been gained can still be gained.
const ENOUGH: f64 = 1e-10;

/// Less than this share of the largest number in the program is rounding.
const ROUNDING: f64 = 1e-16;

/// The most moves for each variable, and of all.
const MOST_MOVES: usize = 20_000;
const MOST_MOVES_OF_ALL: usize = 1_000_000;

/// The program: `linear` is b, `products` is G, row by row, and `groups` has the group of each variable, all of
/// them from 0 to the largest.
pub(super) struct GroupQp<'a> {
    pub(super) linear: &'a [f64],
    pub(super) products: &'a [Vec<f64>],
    pub(super) groups: &'a [usize],
}

/// Where mass can be in a group: on a variable, or on the rest.
type Place = Option<usize>;

/// A move of mass within a group, and what it gains.
struct Move {
    group: usize,
    to: Place,
    from: Place,
    gamma: f64,
    /// Whether all mass of `from` moves.
    is_all: bool,
    gain: f64,
}

impl GroupQp<'_> {
    /// The best θ. Returns `None` if a number is not finite.
    pub(super) fn solve(&self) -> Option<Vec<f64>> {
        let numbers = self.linear.iter().chain(self.products.iter().flatten());
        if !numbers.into_iter().all(|number| number.is_finite()) {
            return None;
        }
        let groups = self.groups.iter().max().map_or(0, |last| last + 1);
        let mut theta = vec![0.0; self.linear.len()];
        let (mut rest, mut values) = (vec![1.0; groups], self.linear.to_vec());
        let (mut best, mut gained) = (Vec::new(), 0.0);
        let diagonal = self.products.iter().enumerate().map(|(at, row)| row[at]);
        let largest = diagonal.chain(self.linear.iter().copied()).map(f64::abs).fold(0.0, f64::max);
        for _ in 0..(MOST_MOVES * self.linear.len()).min(MOST_MOVES_OF_ALL) {
            // Stop where little is left to gain.
            let left = self.find_best(&theta, &values, groups, &mut best);
            if left <= (ENOUGH * gained).max(ROUNDING * largest) {
                break;
            }
            let Some(chosen) = self.best_move(&theta, &rest, &values, &best) else { break };
            // Move the mass, and update the values.
            let Move { group, to, from, gamma, is_all, gain } = chosen;
            for (at, value) in values.iter_mut().enumerate() {
                *value -= gamma * (self.product(Some(at), to) - self.product(Some(at), from));
            }
            let mut shift = |place: Place, by: f64, is_all: bool| {
                let mass = place.map_or(&mut rest[group], |at| &mut theta[at]);
                *mass = if is_all { 0.0 } else { *mass + by };
            };
            shift(to, gamma, false);
            shift(from, -gamma, is_all);
            gained += gain;
        }
        Some(theta)
    }

    fn product(&self, a: Place, b: Place) -> f64 {
        match (a, b) {
            (Some(a), Some(b)) => self.products[a][b],
            _ => 0.0,
        }
    }

    /// Writes the best value of each group and where it is. Returns the gap, which no θ can gain more than.
    fn find_best(
        &self,
        theta: &[f64],
        values: &[f64],
        groups: usize,
        best: &mut Vec<(f64, Place)>,
    ) -> f64 {
        best.clear();
        best.resize(groups, (0.0, None));
        let mut own = 0.0;
        for (at, (&value, &group)) in values.iter().zip(self.groups).enumerate() {
            own += theta[at] * value;
            if value > best[group].0 {
                best[group] = (value, Some(at));
            }
        }
        best.iter().map(|(value, _)| value).sum::<f64>() - own
    }

    /// The move to the best place of a group that gains most, over all groups and all places with mass.
    fn best_move(
        &self,
        theta: &[f64],
        rest: &[f64],
        values: &[f64],
        best: &[(f64, Place)],
    ) -> Option<Move> {
        let rests = rest.iter().enumerate().map(|(group, &mass)| (group, None, mass, 0.0));
        let variables = self.groups.iter().zip(theta).zip(values).enumerate();
        let variables =
            variables.map(|(at, ((&group, &mass), &value))| (group, Some(at), mass, value));
        let mut chosen: Option<Move> = None;
        for (group, from, mass, value) in rests.chain(variables) {
            let (highest, to) = best[group];
            let ascent = highest - value;
            if mass <= 0.0 || ascent <= 0.0 {
                continue;
            }
            // To the best point of the line, or all there is.
            let curvature =
                self.product(to, to) - 2.0 * self.product(to, from) + self.product(from, from);
            let is_all = curvature <= 0.0 || ascent >= curvature * mass;
            let gamma = if is_all { mass } else { ascent / curvature };
            let gain = gamma * (ascent - 0.5 * gamma * curvature.max(0.0));
            if chosen.as_ref().is_none_or(|chosen| gain > chosen.gain) {
                chosen = Some(Move { group, to, from, gamma, is_all, gain });
            }
        }
        chosen
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn independent_variables_are_clipped_quotients() {
        let products = vec![vec![2.0, 0.0], vec![0.0, 4.0]];
        let qp = GroupQp { linear: &[1.0, 9.0], products: &products, groups: &[0, 1] };
        assert_eq!(qp.solve().unwrap(), [0.5, 1.0]);
        let qp = GroupQp { linear: &[-1.0, 1.0], products: &products, groups: &[0, 1] };
        assert_eq!(qp.solve().unwrap(), [0.0, 0.25]);
    }

    #[test]
    fn a_group_has_one_unit_of_mass() {
        let products = vec![vec![1.0, 0.0], vec![0.0, 1.0]];
        let qp = GroupQp { linear: &[2.0, 2.0], products: &products, groups: &[0, 0] };
        assert_eq!(qp.solve().unwrap(), [0.5, 0.5]);
    }

    #[test]
    fn numbers_that_are_not_finite_are_refused() {
        let products = vec![vec![f64::NAN]];
        assert!(GroupQp { linear: &[1.0], products: &products, groups: &[0] }.solve().is_none());
    }
}
