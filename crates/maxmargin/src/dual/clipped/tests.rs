//! Line searches held against the dual itself, added up from its definition.

use super::*;
use crate::problem::Sink as _;
use crate::settings::Step;
use crate::util::rng::Rng;

/// What the dual has besides the losses: λ/2 ‖w‖² − λ⟨v, w⟩ with w = clip(v).
fn value(bounds: &Bounds, lambda: f64, v: &[f64]) -> f64 {
    let term = |(j, &v): (usize, &f64)| {
        let w = v.max(bounds.lower()[j]).min(bounds.upper()[j]);
        lambda * (0.5 * w * w - v * w)
    };
    v.iter().enumerate().map(term).sum()
}

/// A place, a way from there, and how fast the loss grows on it.
struct Case {
    bounds: Bounds,
    lambda: f64,
    v: Vec<f64>,
    way: Vec<f64>,
    loss: f64,
}

impl Case {
    fn draw(rng: &mut Rng) -> Self {
        let dim = 1 + rng.below(5);
        let mut number = || 4.0 * rng.unit_f64() - 2.0;
        let (v, way): (Vec<f64>, Vec<f64>) = (0..dim).map(|_| (number(), number())).unzip();
        let (mut lower, mut upper) = (Vec::new(), Vec::new());
        for _ in 0..dim {
            let (a, b) = (number(), number());
            lower.push(if a < -1.0 { f64::NEG_INFINITY } else { a.min(b) });
            upper.push(if b > 1.0 { f64::INFINITY } else { a.max(b) });
        }
        let lambda = 0.1 + number().abs();
        let loss = 4.0 * number();
        Self { bounds: Bounds::new(lower, upper).expect("in order"), lambda, v, way, loss }
    }

    fn at(&self, gamma: f64) -> Vec<f64> {
        self.v.iter().zip(&self.way).map(|(v, change)| v + gamma * change).collect()
    }

    fn slope(&self) -> f64 {
        let w = (0..).zip(&self.v).map(|(j, &v)| self.bounds.clip(j, v));
        self.loss - self.lambda * w.zip(&self.way).map(|(w, change)| w * change).sum::<f64>()
    }

    /// By how much the dual rises up to `gamma`.
    fn gain(&self, gamma: f64) -> f64 {
        let rise = value(&self.bounds, self.lambda, &self.at(gamma));
        gamma * self.loss + rise - value(&self.bounds, self.lambda, &self.v)
    }

    fn search(&self, longest: f64, pace: Pace) -> (Clipped<'_>, Option<Stride>) {
        let mut clipped = Clipped::new(&self.bounds);
        clipped.v.clone_from(&self.v);
        let sink = clipped.new_way();
        self.way.iter().enumerate().for_each(|(j, &change)| sink.add(j, change));
        let stride = clipped.stride(self.lambda, self.slope(), longest, pace);
        (clipped, stride)
    }
}

#[test]
fn no_place_on_the_way_is_better_than_that_of_a_line_search() {
    let (mut rng, mut inside, mut at_the_end, mut rests) = (Rng::new(1), 0, 0, 0);
    for _ in 0..2000 {
        let case = Case::draw(&mut rng);
        let longest = [1.0, 0.25, 3.0][rng.below(3)];
        let stride = case.search(longest, Pace::EXACT).1.expect("finite numbers");
        assert!((0.0..=longest).contains(&stride.gamma));
        let best = case.gain(stride.gamma);
        assert!((stride.gain - best).abs() < 1e-12 * (1.0 + best), "{stride:?}, but it is {best}");
        for step in 0..=200 {
            let other = case.gain(longest * f64::from(step) / 200.0);
            assert!(other <= best + 1e-12, "{other} is better than {stride:?}");
        }
        match stride.gamma {
            0.0 => rests += 1,
            gamma if gamma < longest => inside += 1,
            _ => at_the_end += 1,
        }
    }
    assert!(inside > 200 && at_the_end > 200 && rests > 200, "{inside} {at_the_end} {rests}");
}

#[test]
fn a_fixed_step_gains_what_the_dual_rises_or_falls_by() {
    let mut rng = Rng::new(2);
    for k in 0..2000 {
        let case = Case::draw(&mut rng);
        let pace = Pace { rule: Step::Fixed, k, blocks: 100 };
        let stride = case.search(1.0, pace).1.expect("finite numbers");
        if case.slope() <= 0.0 {
            assert_eq!(stride, Stride::default());
            continue;
        }
        assert_eq!(stride.gamma, 200.0 / (k as f64 + 200.0));
        let gain = case.gain(stride.gamma);
        assert!((stride.gain - gain).abs() < 1e-12 * (1.0 + gain.abs()), "{stride:?}, not {gain}");
    }
}

#[test]
fn a_short_step_is_the_quotient_of_all_weights_and_no_longer_than_a_line_search() {
    let (mut rng, mut shorter) = (Rng::new(4), 0);
    let pace = Pace { rule: Step::Short, ..Pace::EXACT };
    for _ in 0..2000 {
        let case = Case::draw(&mut rng);
        let longest = [1.0, 0.25, 3.0][rng.below(3)];
        let stride = case.search(longest, pace).1.expect("finite numbers");
        let best = case.search(longest, Pace::EXACT).1.expect("finite numbers");
        if case.slope() <= 0.0 {
            assert_eq!(stride, Stride::default());
            continue;
        }
        let curvature = case.lambda * case.way.iter().map(|change| change * change).sum::<f64>();
        let gamma = (case.slope() / curvature).min(longest);
        assert!((stride.gamma - gamma).abs() < 1e-12 * gamma, "{stride:?}, not {gamma}");
        let gain = case.gain(gamma);
        assert!((stride.gain - gain).abs() < 1e-12 * (1.0 + gain), "{stride:?}, not {gain}");
        assert!(
            gain >= -1e-12 && stride.gamma <= best.gamma * (1.0 + 1e-12),
            "{stride:?} {best:?}"
        );
        shorter += usize::from(stride.gamma < 0.999 * best.gamma);
    }
    assert!(shorter > 200, "{shorter}");
    // A step that changes the loss and no weight goes all the way.
    let bounds = Bounds::none(1).with(0..1, 0.0, 1.0).expect("in order");
    let mut clipped = Clipped::new(&bounds);
    clipped.new_way();
    assert_eq!(clipped.stride(1.0, 0.5, 1.0, pace), Some(Stride { gamma: 1.0, gain: 0.5 }));
}

#[test]
fn weights_follow_what_they_are_clipped_from() {
    let mut rng = Rng::new(3);
    for _ in 0..100 {
        let case = Case::draw(&mut rng);
        let (mut clipped, _) = case.search(1.0, Pace::EXACT);
        let mut w = vec![f64::NAN; case.v.len()];
        clipped.clip(&mut w);
        let within = |v: &[f64]| -> Vec<f64> {
            let clip =
                |(j, &v): (usize, &f64)| v.max(case.bounds.lower()[j]).min(case.bounds.upper()[j]);
            v.iter().enumerate().map(clip).collect()
        };
        assert_eq!(w, within(&case.v));
        clipped.go(0.5, &mut w);
        assert_eq!((&clipped.v, &w), (&case.at(0.5), &within(&case.at(0.5))));
    }
}

#[test]
fn numbers_that_are_not_finite_are_no_step() {
    let bounds = Bounds::none(1).with(0..1, 0.0, f64::INFINITY).expect("in order");
    let search = |slope: f64, change: f64| {
        let mut clipped = Clipped::new(&bounds);
        clipped.new_way().add(0, change);
        clipped.stride(1.0, slope, 1.0, Pace::WHOLE)
    };
    assert_eq!(search(1.0, 1.0), Some(Stride { gamma: 1.0, gain: 0.5 }));
    assert_eq!(search(f64::INFINITY, 1.0), None);
    assert_eq!(search(f64::NAN, 1.0), None);
    // The curvature is infinite, the slope is not.
    assert_eq!(search(1.0, 1e200), None);
}
