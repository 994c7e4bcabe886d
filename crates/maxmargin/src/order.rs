//! Which block comes next.

use crate::names::named_enum;
use crate::rng::Rng;

named_enum! {
    /// The order in which blocks are visited.
    #[derive(Default)]
    Order("order") {
        /// Each visit draws a block uniformly, with replacement. The convergence theory is for this.
        Uniform = "uniform",
        /// Each pass visits every block once, in a fresh random order.
        #[default]
        Permutation = "permutation",
        /// Each pass visits every block once, in the order of the data.
        Cyclic = "cyclic",
    }
}

/// An [`Order`] at work.
#[derive(Debug, Clone)]
pub(crate) enum Picker {
    /// `ahead` is drawn one visit early, so that it can be peeked at.
    Uniform {
        n: usize,
        ahead: Option<usize>,
    },
    /// `order[at..]` is what remains of the current pass.
    Permutation {
        order: Vec<u32>,
        at: usize,
    },
    Cyclic {
        n: usize,
        at: usize,
    },
}

impl Picker {
    pub(crate) fn new(order: Order, n: usize) -> Self {
        match order {
            Order::Uniform => Self::Uniform { n, ahead: None },
            Order::Permutation => Self::Permutation { order: (0..n as u32).collect(), at: n },
            Order::Cyclic => Self::Cyclic { n, at: 0 },
        }
    }

    /// The block that [`next`](Self::next) will return, where that is known already.
    pub(crate) fn peek(&self) -> Option<usize> {
        match self {
            Self::Uniform { ahead, .. } => *ahead,
            Self::Permutation { order, at } => order.get(*at).map(|&i| i as usize),
            Self::Cyclic { at, .. } => Some(*at),
        }
    }

    /// The next block to visit.
    pub(crate) fn next(&mut self, rng: &mut Rng) -> usize {
        match self {
            Self::Uniform { n, ahead } => {
                let i = ahead.take().unwrap_or_else(|| rng.below(*n));
                *ahead = Some(rng.below(*n));
                i
            }
            Self::Permutation { order, at } => {
                if *at == order.len() {
                    rng.shuffle(order);
                    *at = 0;
                }
                *at += 1;
                order[*at - 1] as usize
            }
            Self::Cyclic { n, at } => {
                let i = *at;
                *at = (i + 1) % *n;
                i
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picks(order: Order, n: usize, count: usize) -> Vec<usize> {
        let (mut picker, mut rng) = (Picker::new(order, n), Rng::new(1));
        (0..count).map(|_| picker.next(&mut rng)).collect()
    }

    #[test]
    fn a_permutation_visits_every_block_once_a_pass() {
        let picks = picks(Order::Permutation, 9, 27);
        for pass in picks.chunks(9) {
            let mut seen = pass.to_vec();
            seen.sort_unstable();
            assert_eq!(seen, (0..9).collect::<Vec<_>>());
        }
        assert_ne!(picks[..9], picks[9..18]);
    }

    #[test]
    fn cyclic_wraps_around() {
        assert_eq!(picks(Order::Cyclic, 3, 7), [0, 1, 2, 0, 1, 2, 0]);
    }

    #[test]
    fn uniform_stays_in_range() {
        assert!(picks(Order::Uniform, 5, 100).iter().all(|&i| i < 5));
    }
}
