//! Averages of the iterates wₜ = vₜ/t, at the cost of what each step adds.

use crate::run::fits::{Fitting, is_count};
use crate::settings::Average;

/// The average of the iterates wₜ = vₜ/t for t = 1 … k, where step t adds gₜ to v.
///
/// With H the harmonic numbers, and a the number of first iterates that are left out,
///
/// ```text
/// Σ_{a<t≤k} wₜ = (H_k − H_a)·v_k − Σ_{a<s≤k} (H_{s−1} − H_a)·g_s
/// Σ_{t≤k} t·wₜ = (k + 1)·v_k − Σ_{s≤k} s·g_s
/// ```
///
/// So each step adds another multiple of gₜ to a second vector, and nothing takes O(d) time until the average is
/// wanted.
#[derive(Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) enum LazyAverage {
    None,
    Weighted(Vec<f64>),
    /// `uniform` has one tail, from the beginning. `half` has two: the first is read, and the second
    /// replaces it in time.
    Tails {
        tails: Vec<Tail>,
        harmonic: f64,
        is_half: bool,
    },
}

/// The sum of all iterates after the first `after`.
#[derive(Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Tail {
    after: u64,
    /// The harmonic number of `after`.
    harmonic: f64,
    correction: Vec<f64>,
}

impl LazyAverage {
    pub(super) fn new(average: Average, dim: usize) -> Self {
        let tail = || Tail { after: 0, harmonic: 0.0, correction: vec![0.0; dim] };
        match average {
            Average::None => Self::None,
            Average::Weighted => Self::Weighted(vec![0.0; dim]),
            Average::Uniform => Self::Tails { tails: vec![tail()], harmonic: 0.0, is_half: false },
            Average::Half => {
                Self::Tails { tails: vec![tail(), tail()], harmonic: 0.0, is_half: true }
            }
        }
    }

    pub(super) fn fits(&self, to: &Fitting<'_>) -> bool {
        match self {
            Self::None => true,
            Self::Weighted(sum) => to.are_weights(sum),
            Self::Tails { tails, is_half, .. } => {
                let is_tail =
                    |tail: &Tail| to.are_weights(&tail.correction) && is_count(tail.after);
                tails.len() == 1 + usize::from(*is_half) && tails.iter().all(is_tail)
            }
        }
    }

    /// Called before step `t`, counted from 1, adds g; `add` adds a multiple of g to a vector.
    pub(super) fn step(&mut self, t: u64, mut add: impl FnMut(f64, &mut [f64])) {
        match self {
            Self::None => {}
            Self::Weighted(sum) => add(t as f64, sum),
            Self::Tails { tails, harmonic, is_half } => {
                for tail in tails.iter_mut() {
                    let factor = *harmonic - tail.harmonic;
                    if factor != 0.0 {
                        add(factor, &mut tail.correction);
                    }
                }
                *harmonic += 1.0 / t as f64;
                // The first tail begins after half of the largest power of two so far.
                if *is_half && t.is_power_of_two() {
                    tails.swap(0, 1);
                    let next = &mut tails[1];
                    (next.after, next.harmonic) = (t, *harmonic);
                    next.correction.fill(0.0);
                }
            }
        }
    }

    /// The average after `k` ≥ 1 steps, for the current v. Returns `None` without averaging.
    pub(super) fn weights(&self, k: u64, v: &[f64]) -> Option<Vec<f64>> {
        let (own, sum, correction) = match self {
            Self::None => return None,
            Self::Weighted(sum) => {
                let k = k as f64;
                (k + 1.0, 0.5 * k * (k + 1.0), sum)
            }
            Self::Tails { tails, harmonic, .. } => {
                let tail = &tails[0];
                (harmonic - tail.harmonic, (k - tail.after) as f64, &tail.correction)
            }
        };
        let average = |(v, c): (&f64, &f64)| (own * v - c) / sum;
        Some(v.iter().zip(correction).map(average).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Averages made the plain way, of iterates that are all kept.
    #[test]
    fn lazy_averages_are_the_plain_ones() {
        for average in [Average::Uniform, Average::Weighted, Average::Half] {
            let mut lazy = LazyAverage::new(average, 2);
            let (mut v, mut iterates) = ([0.0; 2], Vec::new());
            for t in 1u64..=40 {
                let g = [(t * t % 7) as f64 - 3.0, (t % 5) as f64];
                let add = |to: &mut [f64], factor: f64| {
                    to.iter_mut().zip(g).for_each(|(to, g)| *to += factor * g);
                };
                lazy.step(t, |factor, to| add(to, factor));
                add(&mut v, 1.0);
                iterates.push(v.map(|v| v / t as f64));

                let largest = (1..=t).filter(|t| t.is_power_of_two()).max().unwrap();
                let weight = |s: u64| match average {
                    Average::Weighted => s as f64,
                    Average::Half => f64::from(u8::from(s > largest / 2)),
                    _ => 1.0,
                };
                let total: f64 = (1..=t).map(weight).sum();
                for (at, found) in lazy.weights(t, &v).unwrap().into_iter().enumerate() {
                    let sum: f64 = (1..).zip(&iterates).map(|(s, w)| weight(s) * w[at]).sum();
                    assert!((found - sum / total).abs() < 1e-12, "{average} at {t}");
                }
            }
        }
    }
}
