//! A binary tree over numbers: draws in proportion to them, and finds the largest, in O(log n).
//!
//! The leaves are stored as they are set, and every inner node is computed from its two children
//! whenever one of them changes, so nothing drifts, and a leaf set to zero weighs exactly zero.

/// What an inner node holds of its two children.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) enum Fold {
    Sum,
    Max,
}

/// The tree; node 1 is the root, node k has the children 2k and 2k + 1.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct SumTree {
    nodes: Vec<f64>,
    leaves: usize,
    fold: Fold,
}

impl SumTree {
    /// `n` leaves, all zero.
    pub(crate) fn new(n: usize, fold: Fold) -> Self {
        let leaves = n.next_power_of_two();
        Self { nodes: vec![0.0; 2 * leaves], leaves, fold }
    }

    /// Whether it is a tree of `n` numbers, none of them below 0.
    pub(crate) fn fits(&self, n: usize, fold: Fold) -> bool {
        let leaves = n.next_power_of_two();
        self.leaves == leaves
            && self.nodes.len() == 2 * leaves
            && self.fold == fold
            && self.nodes.iter().all(|node| *node >= 0.0)
            && self.nodes[leaves..].iter().skip(n).all(|leaf| *leaf == 0.0)
            && (1..leaves).all(|node| self.nodes[node] == self.combine(node))
    }

    fn combine(&self, node: usize) -> f64 {
        let (left, right) = (self.nodes[2 * node], self.nodes[2 * node + 1]);
        match self.fold {
            Fold::Sum => left + right,
            Fold::Max => left.max(right),
        }
    }

    /// Sets a leaf to a number ≥ 0.
    pub(crate) fn set(&mut self, i: usize, value: f64) {
        let mut node = self.leaves + i;
        self.nodes[node] = value;
        while node > 1 {
            node /= 2;
            self.nodes[node] = self.combine(node);
        }
    }

    /// Sets a leaf to a number ≥ 0, and returns what it was.
    pub(crate) fn replace(&mut self, i: usize, value: f64) -> f64 {
        let old = self.nodes[self.leaves + i];
        self.set(i, value);
        old
    }

    /// Sets all leaves.
    pub(crate) fn set_all(&mut self, values: impl Iterator<Item = f64>) {
        for (leaf, value) in self.nodes[self.leaves..].iter_mut().zip(values) {
            *leaf = value;
        }
        for node in (1..self.leaves).rev() {
            self.nodes[node] = self.combine(node);
        }
    }

    /// The first `n` leaves.
    pub(crate) fn leaves(&self, n: usize) -> &[f64] {
        &self.nodes[self.leaves..][..n]
    }

    /// The sum, or the largest, of all leaves.
    pub(crate) fn root(&self) -> f64 {
        self.nodes[1]
    }

    /// The leaf at `share` ∈ [0, 1) of the sum; never one of weight zero while another has weight.
    pub(crate) fn draw(&self, share: f64) -> usize {
        let mut rest = share * self.root();
        let mut node = 1;
        while node < self.leaves {
            let (left, right) = (self.nodes[2 * node], self.nodes[2 * node + 1]);
            // Rounding can push `rest` past the end; what weighs nothing is still not taken.
            let go_right = right > 0.0 && (rest >= left || left <= 0.0);
            if go_right {
                rest -= left;
            }
            node = 2 * node + usize::from(go_right);
        }
        node - self.leaves
    }

    /// The first leaf that is as large as any.
    pub(crate) fn largest(&self) -> usize {
        let mut node = 1;
        while node < self.leaves {
            node = 2 * node + usize::from(self.nodes[2 * node] < self.nodes[2 * node + 1]);
        }
        node - self.leaves
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::util::rng::Rng;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn draws_follow_the_weights(weights in proptest::collection::vec(0u8..4, 1..40)) {
            let mut tree = SumTree::new(weights.len(), Fold::Sum);
            weights.iter().enumerate().for_each(|(i, &w)| tree.set(i, f64::from(w)));
            let total: u32 = weights.iter().map(|&w| u32::from(w)).sum();
            prop_assert_eq!(tree.root(), f64::from(total));
            // Every unit of weight in turn: whole numbers, so that nothing is rounded.
            let mut drawn = vec![0u8; weights.len()];
            for unit in 0..total {
                drawn[tree.draw((f64::from(unit) + 0.5) / f64::from(total))] += 1;
            }
            if total > 0 {
                prop_assert_eq!(drawn, weights);
            }
        }

        #[test]
        fn the_largest_is_the_first_largest(weights in proptest::collection::vec(0u8..9, 1..40)) {
            let mut tree = SumTree::new(weights.len(), Fold::Max);
            tree.set_all(weights.iter().map(|&w| f64::from(w)));
            let most = weights.iter().max().unwrap();
            prop_assert_eq!(tree.largest(), weights.iter().position(|w| w == most).unwrap());
        }
    }

    #[test]
    fn a_leaf_of_weight_zero_is_never_drawn() {
        let mut tree = SumTree::new(5, Fold::Sum);
        tree.set_all([0.1, 0.0, 1e-300, 0.0, 0.0].into_iter());
        let mut rng = Rng::new(1);
        assert!((0..1000).all(|_| tree.draw(rng.unit_f64()) == 0));
        tree.set(0, 0.0);
        assert_eq!(tree.draw(0.999_999), 2);
    }
}
