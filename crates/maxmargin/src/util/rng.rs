//! Random numbers whose meaning is fixed here.
//!
//! The generator (xoshiro256++, seeded through SplitMix64) is a published algorithm. The functions that
//! turn its bits into indices, fractions and shuffles are written out below, so that a seed means the same
//! on every machine and with every version of every dependency.

use rand_core::{Rng as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;

/// A seeded generator. The same seed gives the same numbers on every machine and in every version.
///
/// ```
/// use maxmargin::Rng;
/// let (mut a, mut b) = (Rng::new(1), Rng::new(1));
/// assert_eq!(a.below(100), b.below(100));
/// assert!(a.unit_f64() < 1.0);
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Rng(Xoshiro256PlusPlus);

impl Rng {
    /// The generator that belongs to `seed`, at the start of its stream. Every seed is valid.
    pub fn new(seed: u64) -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    /// A uniform index below `bound`, without bias (Lemire's multiplication with rejection).
    ///
    /// ```
    /// let mut rng = maxmargin::Rng::new(1);
    /// assert_eq!([rng.below(626), rng.below(626), rng.below(626)], [508, 467, 62]); // for ever
    /// ```
    ///
    /// # Panics
    /// If `bound` is 0.
    pub fn below(&mut self, bound: usize) -> usize {
        assert!(bound > 0, "no index lies below 0");
        let bound = bound as u64;
        loop {
            let wide = u128::from(self.0.next_u64()) * u128::from(bound);
            let low = wide as u64;
            // The first test nearly always avoids the division.
            if low >= bound || low >= bound.wrapping_neg() % bound {
                return (wide >> 64) as usize;
            }
        }
    }

    /// A uniform number in [0, 1) with 53 random bits.
    ///
    /// ```
    /// let mut rng = maxmargin::Rng::new(1);
    /// assert!((0..100).all(|_| (0.0..1.0).contains(&rng.unit_f64())));
    /// ```
    pub fn unit_f64(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Brings `items` into a uniformly random order (Fisher and Yates, from the back).
    ///
    /// ```
    /// let mut cards = [1, 2, 3, 4, 5];
    /// maxmargin::Rng::new(1).shuffle(&mut cards);
    /// cards.sort();
    /// assert_eq!(cards, [1, 2, 3, 4, 5]); // nothing is lost
    /// ```
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// These numbers are part of the contract: if they change, every published seed changes meaning.
    #[test]
    fn the_stream_is_pinned() {
        let mut rng = Rng::new(1);
        let indices: Vec<_> = (0..8).map(|_| rng.below(626)).collect();
        assert_eq!(indices, PINNED);
        let mut order: Vec<u8> = (0..6).collect();
        rng.shuffle(&mut order);
        assert_eq!(order, PINNED_SHUFFLE);
    }

    const PINNED: [usize; 8] = [508, 467, 62, 467, 115, 369, 617, 327];
    const PINNED_SHUFFLE: [u8; 6] = [2, 4, 1, 3, 5, 0];

    #[test]
    fn below_reaches_every_index_about_equally() {
        let mut rng = Rng::new(7);
        let mut seen = [0u32; 7];
        for _ in 0..7000 {
            seen[rng.below(7)] += 1;
        }
        assert!(seen.iter().all(|&c| (850..1150).contains(&c)), "{seen:?}");
    }

    #[test]
    fn unit_numbers_stay_below_one() {
        let mut rng = Rng::new(3);
        let mean = (0..10_000).map(|_| rng.unit_f64()).inspect(|x| assert!((0.0..1.0).contains(x)));
        assert!((mean.sum::<f64>() / 10_000.0 - 0.5).abs() < 0.02);
    }
}
