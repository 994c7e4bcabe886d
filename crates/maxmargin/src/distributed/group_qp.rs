//! A small quadratic program over a product of simplices, by sequential minimal optimisation.
//!
//! Maximises bᵀθ − ½ θᵀGθ over θ ≥ 0 with Σ θ ≤ 1 in every group. The rest of a group's mass lies on a point
//! of value 0, where all of it is at the start. Every move of mass raises the value, so the answer is never
//! worse than the start, whenever the work ends.

/// Work goes on until this share of what could be gained at the start is left.
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

/// The best value of a group and where it is, the lowest value with mass and where, and the value of the group's point.
type Found = (f64, Place, f64, Place, f64);

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
        let (mut first, mut found) = (None, Vec::new());
        let diagonal = self.products.iter().enumerate().map(|(at, row)| row[at]);
        let largest = diagonal.chain(self.linear.iter().copied()).map(f64::abs).fold(0.0, f64::max);
        for _ in 0..(MOST_MOVES * self.linear.len()).min(MOST_MOVES_OF_ALL) {
            let (best, gap) = self.worst_group(&theta, &rest, &values, &mut found);
            let enough = (ENOUGH * *first.get_or_insert(gap)).max(ROUNDING * largest);
            let Some((group, to, from)) = best.filter(|_| gap > enough) else { break };
            // How much mass to move: to the best point of the line, or all there is.
            let value = |place: Place| place.map_or(0.0, |at| values[at]);
            let ascent = value(to) - value(from);
            let curvature =
                self.product(to, to) - 2.0 * self.product(to, from) + self.product(from, from);
            let longest = from.map_or(rest[group], |at| theta[at]);
            let gamma = if curvature > 0.0 { (ascent / curvature).min(longest) } else { longest };
            // Update the values, and move the mass.
            for (at, value) in values.iter_mut().enumerate() {
                *value -= gamma * (self.product(Some(at), to) - self.product(Some(at), from));
            }
            let mut shift = |place: Place, by: f64, all: bool| {
                let mass = place.map_or(&mut rest[group], |at| &mut theta[at]);
                *mass = if all { 0.0 } else { *mass + by };
            };
            shift(to, gamma, false);
            shift(from, -gamma, gamma == longest);
        }
        Some(theta)
    }

    fn product(&self, a: Place, b: Place) -> f64 {
        match (a, b) {
            (Some(a), Some(b)) => self.products[a][b],
            _ => 0.0,
        }
    }

    /// The move that promises most, as a group and where its mass goes and comes from; and how much there is
    /// left to gain at most. `found` is scratch memory.
    fn worst_group(
        &self,
        theta: &[f64],
        rest: &[f64],
        values: &[f64],
        found: &mut Vec<Found>,
    ) -> (Option<(usize, Place, Place)>, f64) {
        let start =
            |&rest: &f64| (0.0, None, if rest > 0.0 { 0.0 } else { f64::INFINITY }, None, 0.0);
        found.clear();
        found.extend(rest.iter().map(start));
        for (at, (&value, &group)) in values.iter().zip(self.groups).enumerate() {
            let (best, to, lowest, from, own) = &mut found[group];
            if value > *best {
                (*best, *to) = (value, Some(at));
            }
            if theta[at] > 0.0 {
                *own += theta[at] * value;
                if value < *lowest {
                    (*lowest, *from) = (value, Some(at));
                }
            }
        }
        let gap = found.iter().map(|(best, .., own)| best - own).sum();
        let mut worst = None;
        let mut most = 0.0;
        for (group, &mut (best, to, lowest, from, _)) in found.iter_mut().enumerate() {
            if best - lowest > most {
                most = best - lowest;
                worst = Some((group, to, from));
            }
        }
        (worst, gap)
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
