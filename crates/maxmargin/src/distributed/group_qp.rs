//! A small quadratic program over a product of simplices.
//!
//! Maximises bᵀθ − ½ θᵀGθ over θ ≥ 0 with Σ θ ≤ 1 in every group. The rest of a group's mass lies on a point
//! of value 0, where all of it is at the start. A round moves mass within one group after another, as
//! sequential minimal optimisation does, and then climbs the face of all places with mass by conjugate gradients: moves
//! alone take very many rounds along long and narrow ridges. Both raise the value, so the answer is never worse
//! than the start, whenever the work ends.

/// Work goes on until at most this share of what has been gained can still be gained.
const ENOUGH: f64 = 1e-11;

/// Less than this share of the largest number in the program is rounding.
const ROUNDING: f64 = 1e-16;
const ROUNDING_OF_SLOPES: f64 = 1e-15;

/// Less mass than this is rounding.
const ROUNDING_OF_MASSES: f64 = 1e-14;

/// The most rounds, and the most steps of conjugate gradients in each.
const MOST_ROUNDS: usize = 1000;
const MOST_STEPS: usize = 100;

/// A step ends at all places whose mass lasts for at most so many times its length.
const AT_THE_END: f64 = 1.0 + 1e-12;

/// The program: `linear` is b, `products` is G, row by row, and `groups` has the group of each variable, all of
/// them from 0 to the largest.
pub(super) struct GroupQp<'a> {
    pub(super) linear: &'a [f64],
    pub(super) products: &'a [Vec<f64>],
    pub(super) groups: &'a [usize],
}

/// Where mass can be in a group: on a variable, or on the rest.
type Place = Option<usize>;

/// A point of the program.
struct Point {
    /// θ, and the rest of each group.
    theta: Vec<f64>,
    rest: Vec<f64>,
    /// The slopes b − Gθ; that of a rest is 0.
    slopes: Vec<f64>,
    /// How much higher it is than the start.
    gained: f64,
}

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
        let n = self.linear.len();
        let groups = self.groups.iter().max().map_or(0, |last| last + 1);
        let diagonal = self.products.iter().enumerate().map(|(at, row)| row[at]);
        let largest = diagonal.chain(self.linear.iter().copied()).map(f64::abs).fold(0.0, f64::max);
        let (theta, rest, slopes) = (vec![0.0; n], vec![1.0; groups], self.linear.to_vec());
        let mut point = Point { theta, rest, slopes, gained: 0.0 };
        let mut best = Vec::new();
        for _ in 0..MOST_ROUNDS {
            for _ in 0..n {
                // Stop where little is left to gain.
                let left = self.find_best(&point, &mut best);
                if left <= (ENOUGH * point.gained).max(ROUNDING * largest) {
                    return Some(point.theta);
                }
                let Some(chosen) = self.best_move(&point, &best) else { break };
                self.go(&mut point, &chosen);
            }
            self.climb(&mut point, largest);
            self.remove_rounding(&mut point);
        }
        Some(point.theta)
    }

    fn product(&self, a: Place, b: Place) -> f64 {
        match (a, b) {
            (Some(a), Some(b)) => self.products[a][b],
            _ => 0.0,
        }
    }

    /// Writes the highest slope of each group and where it is. Returns the gap: no θ is higher by more than that.
    fn find_best(&self, point: &Point, best: &mut Vec<(f64, Place)>) -> f64 {
        best.clear();
        best.resize(point.rest.len(), (0.0, None));
        let mut own = 0.0;
        for (at, (&slope, &group)) in point.slopes.iter().zip(self.groups).enumerate() {
            own += point.theta[at] * slope;
            if slope > best[group].0 {
                best[group] = (slope, Some(at));
            }
        }
        best.iter().map(|(slope, _)| slope).sum::<f64>() - own
    }

    /// The move to the best place of a group that gains most, over all groups and all places with mass.
    fn best_move(&self, point: &Point, best: &[(f64, Place)]) -> Option<Move> {
        let rests = point.rest.iter().enumerate().map(|(group, &mass)| (group, None, mass, 0.0));
        let variables = self.groups.iter().zip(&point.theta).zip(&point.slopes).enumerate();
        let variables =
            variables.map(|(at, ((&group, &mass), &slope))| (group, Some(at), mass, slope));
        let mut chosen: Option<Move> = None;
        for (group, from, mass, slope) in rests.chain(variables) {
            let (highest, to) = best[group];
            let ascent = highest - slope;
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

    /// Moves the mass, and updates the slopes.
    fn go(&self, point: &mut Point, &Move { group, to, from, gamma, is_all, gain }: &Move) {
        for (at, slope) in point.slopes.iter_mut().enumerate() {
            *slope -= gamma * (self.product(Some(at), to) - self.product(Some(at), from));
        }
        let mut shift = |place: Place, by: f64, is_all: bool| {
            let mass = place.map_or(&mut point.rest[group], |at| &mut point.theta[at]);
            *mass = if is_all { 0.0 } else { *mass + by };
        };
        shift(to, gamma, false);
        shift(from, -gamma, is_all);
        point.gained += gain;
    }

    /// Climbs the face of all places with mass by conjugate gradients. `largest` is the largest number of the program.
    fn climb(&self, point: &mut Point, largest: f64) {
        let mut direction = vec![0.0; self.linear.len()];
        let (mut last, mut image) = (0.0, Vec::new());
        for _ in 0..MOST_STEPS.min(2 * self.linear.len()) {
            // Turn: the slopes along the face, conjugate to the direction before.
            let residual = self.along_face(point);
            let rests = self.rests(point, &residual);
            let squares = dot(&residual, &residual) + dot(&rests, &rests);
            if squares <= (ROUNDING_OF_SLOPES * largest).powi(2) {
                return;
            }
            let beta = if last > 0.0 { squares / last } else { 0.0 };
            direction.iter_mut().zip(&residual).for_each(|(d, r)| *d = r + beta * *d);
            self.balance(point, &mut direction);
            last = squares;
            // How far it rises, and how far the masses last.
            image.clear();
            image.extend(self.products.iter().map(|row| dot(row, &direction)));
            let (ascent, curvature) = (dot(&point.slopes, &direction), dot(&direction, &image));
            let rests = self.rests(point, &direction);
            let masses = point.theta.iter().chain(&point.rest);
            let changes = direction.iter().chain(&rests);
            let ends = masses.zip(changes).filter(|(_, change)| **change < 0.0);
            // No mass can change by more than 1.
            let most = 1.0 / direction.iter().fold(0.0, |most: f64, change| most.max(change.abs()));
            let longest = ends.map(|(mass, change)| -mass / change).fold(most, f64::min);
            if !(ascent > 0.0 && longest > 0.0 && longest.is_finite()) {
                return;
            }
            let is_all = curvature * longest <= ascent;
            let gamma = if is_all { longest } else { ascent / curvature };
            // Go there. Places that block the way have no mass left, and climbing begins anew without them.
            let follow = |mass: &mut f64, change: f64| {
                let is_empty = is_all && change < 0.0 && -*mass / change <= longest * AT_THE_END;
                *mass = if is_empty { 0.0 } else { (*mass + gamma * change).max(0.0) };
            };
            point.theta.iter_mut().zip(&direction).for_each(|(mass, &d)| follow(mass, d));
            point.rest.iter_mut().zip(&rests).for_each(|(mass, &d)| follow(mass, d));
            point.slopes.iter_mut().zip(&image).for_each(|(slope, q)| *slope -= gamma * q);
            point.gained += gamma * (ascent - 0.5 * gamma * curvature.max(0.0));
            if is_all {
                (last, direction) = (0.0, vec![0.0; direction.len()]);
            }
        }
    }

    /// The slopes of the places with mass, less their mean in each group; 0 elsewhere. What the rests have is minus
    /// the sum of these.
    fn along_face(&self, point: &Point) -> Vec<f64> {
        let mut means: Vec<(f64, f64)> =
            point.rest.iter().map(|&rest| (0.0, f64::from(u8::from(rest > 0.0)))).collect();
        let has_mass = |at: usize| point.theta[at] > 0.0;
        for (at, (&slope, &group)) in point.slopes.iter().zip(self.groups).enumerate() {
            if has_mass(at) {
                means[group].0 += slope;
                means[group].1 += 1.0;
            }
        }
        let slopes = point.slopes.iter().zip(self.groups).enumerate();
        let along = slopes.map(|(at, (slope, &group))| match has_mass(at) {
            true => slope - means[group].0 / means[group].1,
            false => 0.0,
        });
        along.collect()
    }

    /// Lets the place with most mass balance the changes in each group whose rest is empty. They add up to 0 but for
    /// rounding, which long steps would make visible.
    fn balance(&self, point: &Point, changes: &mut [f64]) {
        let mut pivots: Vec<(f64, usize, f64)> = vec![(0.0, 0, 0.0); point.rest.len()];
        for (at, (&group, &mass)) in self.groups.iter().zip(&point.theta).enumerate() {
            let (most, pivot, sum) = &mut pivots[group];
            *sum += changes[at];
            if mass > *most {
                (*most, *pivot) = (mass, at);
            }
        }
        for ((most, pivot, sum), rest) in pivots.into_iter().zip(&point.rest) {
            if most > 0.0 && *rest == 0.0 {
                changes[pivot] -= sum;
            }
        }
    }

    /// What the rests with mass lose where the variables gain `changes`.
    fn rests(&self, point: &Point, changes: &[f64]) -> Vec<f64> {
        let mut rests = vec![0.0; point.rest.len()];
        for (&group, change) in self.groups.iter().zip(changes) {
            if point.rest[group] > 0.0 {
                rests[group] -= change;
            }
        }
        rests
    }

    /// Computes the rests and the slopes again from the masses, which sum to one at most.
    fn remove_rounding(&self, point: &mut Point) {
        let mut sums = vec![0.0; point.rest.len()];
        self.groups.iter().zip(&point.theta).for_each(|(&group, mass)| sums[group] += mass);
        for (mass, &group) in point.theta.iter_mut().zip(self.groups) {
            *mass /= sums[group].max(1.0);
        }
        for (rest, sum) in point.rest.iter_mut().zip(&sums) {
            // A rest that a move or a climb has emptied stays empty.
            let least = if *rest > 0.0 { 0.0 } else { ROUNDING_OF_MASSES };
            *rest = if 1.0 - sum > least { 1.0 - sum } else { 0.0 };
        }
        for ((slope, row), b) in point.slopes.iter_mut().zip(self.products).zip(self.linear) {
            *slope = b - dot(row, &point.theta);
        }
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn no_point_is_higher_by_more_than_rounding(
            vectors in proptest::collection::vec(
                (prop_oneof![Just([0.0, 0.0]), [-2.0..2.0f64, -2.0..2.0]], -1.0..2.0f64, 0usize..3), 1..14,
            ),
            scale in prop_oneof![Just(1.0), 1e-4..1e4f64],
        ) {
            let product = |a: &[f64; 2], b: &[f64; 2]| scale * (a[0] * b[0] + a[1] * b[1]);
            let row = |a| vectors.iter().map(|(b, ..)| product(a, b)).collect();
            let products: Vec<Vec<f64>> = vectors.iter().map(|(a, ..)| row(a)).collect();
            let linear: Vec<f64> = vectors.iter().map(|(_, b, _)| *b).collect();
            let groups: Vec<usize> = vectors.iter().map(|(.., group)| *group).collect();
            let theta = GroupQp { linear: &linear, products: &products, groups: &groups }.solve();
            let theta = theta.unwrap();
            let (mut value, mut best, mut sums) = (0.0, [0.0f64; 3], [0.0; 3]);
            for (at, &group) in groups.iter().enumerate() {
                let image = dot(&products[at], &theta);
                best[group] = best[group].max(linear[at] - image);
                value += theta[at] * (linear[at] - 0.5 * image);
                sums[group] += theta[at];
                prop_assert!(theta[at] >= 0.0);
            }
            let own: f64 = (0..groups.len()).map(|at| theta[at] * (linear[at] - dot(&products[at], &theta))).sum();
            let gap = best.iter().sum::<f64>() - own;
            prop_assert!(gap <= 1e-10 * value + 1e-13 * (1.0 + scale), "{gap} {value} {theta:?}");
            prop_assert!(sums.iter().all(|sum| *sum <= 1.0 + 1e-12), "{sums:?}");
        }
    }

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

    /// The products of vectors in the plane that are nearly parallel, so that the value is a narrow ridge.
    #[test]
    fn narrow_ridges_are_climbed_to_the_end() {
        let vectors: Vec<[f64; 2]> = (0..12).map(|k| [1.0, 1e-4 * f64::from(k)]).collect();
        let product = |a: &[f64; 2], b: &[f64; 2]| a[0] * b[0] + a[1] * b[1];
        let products: Vec<Vec<f64>> =
            vectors.iter().map(|a| vectors.iter().map(|b| product(a, b)).collect()).collect();
        // The best sum of the vectors is that of numbers 3 and 4, which can be had.
        let sum = [2.0, 7e-4];
        let linear: Vec<f64> = vectors.iter().map(|v| product(v, &sum)).collect();
        let groups: Vec<usize> = (0..12).map(|k| k % 4).collect();
        let theta = GroupQp { linear: &linear, products: &products, groups: &groups }.solve();
        let theta = theta.unwrap();
        let value = |theta: &[f64]| {
            let at = |c: usize| theta.iter().zip(&vectors).map(|(t, v)| t * v[c]).sum::<f64>();
            dot(&linear, theta) - 0.5 * (at(0) * at(0) + at(1) * at(1))
        };
        let best = 0.5 * product(&sum, &sum);
        assert!((value(&theta) - best).abs() <= 1e-11 * best, "{} {best}", value(&theta));
    }

    #[test]
    fn numbers_that_are_not_finite_are_refused() {
        let products = vec![vec![f64::NAN]];
        assert!(GroupQp { linear: &[1.0], products: &products, groups: &[0] }.solve().is_none());
    }
}
