//! Blocks that are simplices: their gap and their best point.

use crate::problem::{Simplices, SparseVec};

/// Curvature below this counts as 0: dividing by it could overflow.
pub(crate) const LEAST_CURVATURE: f64 = 1e-150;

/// How far the value of the best corner is above that of the point μ, given the values of all parts.
pub(crate) fn gap(simplices: &dyn Simplices, mu: &SparseVec, values: &[f64]) -> f64 {
    let truth = if simplices.truth_has_part() { f64::NEG_INFINITY } else { 0.0 };
    let best = values.iter().copied().fold(truth, f64::max);
    // Since masses sum to one, a point at the best corner has a gap of exactly 0.
    let (mut own, mut rest) = (0.0, 1.0);
    for &(part, mass) in mu.entries() {
        own += mass * (best - values[part as usize]);
        rest -= mass;
    }
    if simplices.truth_has_part() { own } else { own + rest.max(0.0) * best }
}

/// Finds the point μ′ that maximises ⟨values, μ′⟩ − ½·`curvature`·‖μ′ − μ‖². Writes it to `parts`, which
/// must be empty, and returns its loss and ⟨values, μ′ − μ⟩.
///
/// `values` and `masses` are scratch memory.
pub(crate) fn optimum(
    simplices: &dyn Simplices,
    i: usize,
    curvature: f64,
    mu: &SparseVec,
    values: &mut [f64],
    masses: &mut Vec<f64>,
    parts: &mut SparseVec,
) -> (f64, f64) {
    if simplices.truth_has_part() {
        // Masses sum to one, so only differences matter. Small ones must not drown in rounding.
        let largest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        values.iter_mut().for_each(|value| *value -= largest);
    }
    let scale = 1.0 / curvature.max(LEAST_CURVATURE);
    masses.clear();
    masses.extend(values.iter().map(|value| value * scale));
    for &(part, mass) in mu.entries() {
        masses[part as usize] += mass;
    }
    let nearest = if simplices.truth_has_part() { project } else { project_below };
    nearest(masses);
    let (mut loss, mut slope) = (0.0, 0.0);
    for &(part, mass) in mu.entries() {
        slope -= mass * values[part as usize];
    }
    for (part, &mass) in (0..).zip(masses.iter()).filter(|(_, mass)| **mass > 0.0) {
        parts.push(part, mass);
        loss += mass * simplices.loss(i, part);
        slope += mass * values[part as usize];
    }
    (loss, slope)
}

/// Moves x to the nearest point with entries ≥ 0 of sum 1: x ← max(x − τ, 0) with the fitting τ.
///
/// Michelot's method finds τ from below. Each round takes the mean excess of all entries that may stay positive, and
/// then leaves out those that this would bring to zero. A round takes one pass, and few rounds are needed.
pub(crate) fn project(x: &mut [f64]) {
    // Far from zero, masses would drown in rounding; only differences matter.
    let largest = x.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    x.iter_mut().for_each(|x| *x -= largest);
    // The largest entry keeps at most 1, so entries that are lower by 1 keep nothing.
    let mut threshold = -1.0;
    loop {
        let (mut sum, mut count) = (0.0, 0.0);
        for &x in x.iter() {
            let stays = x > threshold;
            sum += if stays { x } else { 0.0 };
            count += f64::from(u8::from(stays));
        }
        let higher = (sum - 1.0) / count;
        // NaN must end this too.
        if higher <= threshold || higher.is_nan() {
            break;
        }
        threshold = higher;
    }
    x.iter_mut().for_each(|x| *x = (*x - threshold).max(0.0));
}

/// As [`project`], for entries ≥ 0 of sum at most 1.
fn project_below(x: &mut [f64]) {
    let sum: f64 = x.iter().map(|x| x.max(0.0)).sum();
    if sum > 1.0 {
        project(x);
    } else {
        x.iter_mut().for_each(|x| *x = x.max(0.0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn point() -> impl Strategy<Value = Vec<f64>> {
        let scale = proptest::sample::select(&[1.0, 1e-6, 1e3, 1e12][..]);
        (proptest::collection::vec(-3.0..3.0f64, 1..12), scale)
            .prop_map(|(x, scale)| x.iter().map(|x| scale * x).collect())
    }

    /// A block of any size whose corners all have the same loss.
    struct Plain {
        truth_has_part: bool,
    }

    impl Simplices for Plain {
        fn truth_has_part(&self) -> bool {
            self.truth_has_part
        }

        fn length_sq(&self, _i: usize) -> f64 {
            1.0
        }

        fn loss(&self, _i: usize, _part: u64) -> f64 {
            1.0
        }

        fn score(&self, _i: usize, _w: &[f64], _part: u64) -> f64 {
            0.0
        }

        fn values(&self, _i: usize, _w: &[f64], _values: &mut Vec<f64>) {}
    }

    /// The nearest point is the one from which the way to x makes no acute angle with the way to any
    /// corner.
    fn check_nearest(x: &[f64], p: &[f64], corner_at_zero: bool) {
        let size = x.iter().fold(1.0f64, |m, x| m.max(x.abs()));
        let own: f64 = p.iter().zip(x).map(|(p, x)| p * (x - p)).sum();
        let ahead = x.iter().zip(p).map(|(x, p)| x - p).fold(f64::NEG_INFINITY, f64::max);
        let ahead = if corner_at_zero { ahead.max(0.0) } else { ahead };
        assert!(ahead - own <= 1e-11 * size, "{x:?} to {p:?}: {:e}", ahead - own);
        assert!(p.iter().all(|p| *p >= 0.0));
    }

    proptest! {
        #[test]
        fn projections_are_the_nearest_points(x in point()) {
            let mut p = x.clone();
            project(&mut p);
            prop_assert!((p.iter().sum::<f64>() - 1.0).abs() < 1e-12);
            check_nearest(&x, &p, false);
            let mut p = x.clone();
            project_below(&mut p);
            prop_assert!(p.iter().sum::<f64>() < 1.0 + 1e-12);
            check_nearest(&x, &p, true);
        }

        #[test]
        fn a_gap_is_the_largest_slope_towards_a_corner(
            values in proptest::collection::vec(-3.0..3.0f64, 1..8),
            masses in proptest::collection::vec(0u8..4, 8),
            left in 0u8..4,
        ) {
            let masses = &masses[..values.len()];
            let sum: f64 = masses.iter().map(|&mass| f64::from(mass)).sum();
            for truth_has_part in [false, true] {
                let all = if truth_has_part { sum } else { sum + f64::from(left) };
                prop_assume!(all > 0.0);
                let some = (0..).zip(masses).filter(|(_, mass)| **mass > 0);
                let mu: SparseVec = some.map(|(part, &mass)| (part, f64::from(mass) / all)).collect();
                let own: f64 = mu.entries().iter().map(|&(p, mass)| mass * values[p as usize]).sum();
                let truth = (!truth_has_part).then_some(0.0);
                let slopes = values.iter().copied().chain(truth).map(|value| value - own);
                let found = gap(&Plain { truth_has_part }, &mu, &values);
                prop_assert!((found - slopes.fold(f64::NEG_INFINITY, f64::max)).abs() < 1e-12);
                prop_assert!(found >= 0.0);
            }
        }

        #[test]
        fn a_point_of_the_simplex_stays(x in proptest::collection::vec(0u8..5, 1..12)) {
            let sum: f64 = x.iter().map(|&x| f64::from(x)).sum();
            prop_assume!(sum > 0.0);
            let x: Vec<f64> = x.iter().map(|&x| f64::from(x) / sum).collect();
            for project in [project, project_below] {
                let mut p = x.clone();
                project(&mut p);
                prop_assert!(p.iter().zip(&x).all(|(p, x)| (p - x).abs() < 1e-15));
            }
        }
    }

    /// Values that overflow have a gap that is not finite, by which a visit refuses them before it projects.
    #[test]
    fn an_infinite_value_has_no_finite_gap() {
        let mu: SparseVec = [(1, 1.0)].into_iter().collect();
        for truth_has_part in [true, false] {
            let block = Plain { truth_has_part };
            assert!(!gap(&block, &mu, &[f64::INFINITY, 1.0]).is_finite());
            assert!(!gap(&block, &mu, &[1.0, f64::NAN]).is_finite());
            assert_eq!(gap(&block, &mu, &[f64::NEG_INFINITY, 1.0]), 0.0);
        }
    }

    /// Projections of anything come to an end, at a point of the simplex or at something that is not finite.
    #[test]
    fn projections_of_non_finite_numbers_end() {
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            for nearest in [project, project_below] {
                let mut x = [bad, 0.25, 1.0];
                nearest(&mut x);
                let sum: f64 = x.iter().sum();
                let is_point = x.iter().all(|x| *x >= 0.0) && sum <= 1.0 + 1e-12;
                assert!(is_point || !sum.is_finite(), "{bad} leads to {x:?}");
            }
        }
        let mut x = [f64::NEG_INFINITY, 0.25, 1.0];
        project(&mut x);
        assert_eq!(x, [0.0, 0.125, 0.875], "nothing is left for what is infinitely far below");
    }
}
