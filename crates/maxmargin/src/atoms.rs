//! The corners a block remembers: those that carry its mass, and, with a cache, others besides.

use crate::dual::Block;
use crate::problem::Problem;
use crate::sparse::SparseVec;

/// A corner with its mass αᵢ(y).
#[derive(Debug, Clone)]
pub(crate) struct Atom {
    pub(crate) parts: SparseVec,
    pub(crate) loss: f64,
    pub(crate) mass: f64,
    /// L + ⟨w, Bp⟩ at the current w; differences of these are differences of H.
    pub(crate) value: f64,
    /// ‖B(p − p′)‖² to each atom before this one; NaN until it is asked for.
    distances: Vec<f64>,
}

impl Atom {
    /// Memory it takes, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        size_of::<Self>() + self.parts.len() * size_of::<(u64, f64)>() + self.distances.len() * 8
    }
}

/// The atoms of one block. Their masses sum to one.
#[derive(Debug, Clone)]
pub(crate) struct Atoms {
    pub(crate) list: Vec<Atom>,
}

/// What is needed to measure a block's atoms.
pub(crate) struct Ruler<'a, P: Problem> {
    pub(crate) problem: &'a P,
    pub(crate) i: usize,
    pub(crate) workspace: &'a mut P::Workspace,
    /// For differences of parts.
    pub(crate) difference: &'a mut SparseVec,
}

impl Atoms {
    /// All mass on one point: the truth, or wherever a run starts from.
    pub(crate) fn at(block: &Block) -> Self {
        let (parts, loss) = (block.parts.clone(), block.loss);
        Self { list: vec![Atom { parts, loss, mass: 1.0, value: 0.0, distances: Vec::new() }] }
    }

    /// Computes the values of all atoms at `w`, for which the workspace has been prepared.
    pub(crate) fn evaluate<P: Problem>(
        &mut self,
        problem: &P,
        i: usize,
        w: &[f64],
        workspace: &P::Workspace,
    ) {
        for atom in &mut self.list {
            atom.value = atom.loss + problem.score(i, w, workspace, &atom.parts);
        }
    }

    /// The value of the block's own point.
    pub(crate) fn own_value(&self) -> f64 {
        self.list.iter().map(|atom| atom.mass * atom.value).sum()
    }

    /// The first atom of the largest value.
    pub(crate) fn best(&self) -> usize {
        let mut best = 0;
        for (at, atom) in self.list.iter().enumerate() {
            if atom.value > self.list[best].value {
                best = at;
            }
        }
        best
    }

    /// The first atom of the smallest value among those with mass.
    pub(crate) fn worst_active(&self) -> usize {
        let active = self.list.iter().enumerate().filter(|(_, atom)| atom.mass > 0.0);
        active
            .reduce(|worst, next| if next.1.value < worst.1.value { next } else { worst })
            .map_or(0, |(at, _)| at)
    }

    /// The atom with these parts and this loss, which is added without mass if it is new.
    pub(crate) fn insert(&mut self, parts: &SparseVec, loss: f64, value: f64) -> usize {
        let same = |atom: &Atom| atom.loss == loss && atom.parts == *parts;
        if let Some(at) = self.list.iter().position(same) {
            return at;
        }
        let distances = vec![f64::NAN; self.list.len()];
        self.list.push(Atom { parts: parts.clone(), loss, mass: 0.0, value, distances });
        self.list.len() - 1
    }

    /// The squared distance of two atoms in feature space, computed once.
    pub(crate) fn distance<P: Problem>(
        &mut self,
        a: usize,
        b: usize,
        ruler: &mut Ruler<'_, P>,
    ) -> f64 {
        let (low, high) = (a.min(b), a.max(b));
        if low == high {
            return 0.0;
        }
        let known = self.list[high].distances[low];
        if !known.is_nan() {
            return known;
        }
        ruler.difference.assign_difference(&self.list[low].parts, &self.list[high].parts);
        let distance = ruler.problem.norm_sq(ruler.i, ruler.workspace, ruler.difference);
        self.list[high].distances[low] = distance;
        distance
    }

    /// Removes an atom, which must not carry mass; the last one takes its place.
    pub(crate) fn remove(&mut self, at: usize) -> Atom {
        debug_assert!(self.list[at].mass == 0.0, "an atom with mass cannot be forgotten");
        let removed = self.list.swap_remove(at);
        if at < self.list.len() {
            let moved = std::mem::take(&mut self.list[at].distances);
            for (later, &distance) in moved.iter().enumerate().skip(at + 1) {
                self.list[later].distances[at] = distance;
            }
            self.list[at].distances = moved;
            self.list[at].distances.truncate(at);
            // Those between have lost the entry of the removed atom to the moved one's.
        }
        removed
    }

    /// Makes the masses sum to one again if rounding has moved them.
    pub(crate) fn normalise(&mut self) {
        let sum: f64 = self.list.iter().map(|atom| atom.mass).sum();
        if (sum - 1.0).abs() > 1e-13 {
            self.list.iter_mut().for_each(|atom| atom.mass /= sum);
        }
    }

    /// The block's point: Σ mass · atom.
    pub(crate) fn write_to(&self, block: &mut Block) {
        block.parts.clear();
        block.loss = 0.0;
        for atom in self.list.iter().filter(|atom| atom.mass > 0.0) {
            block.parts.add_scaled(atom.mass, &atom.parts);
            block.loss += atom.mass * atom.loss;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doc::toy;

    fn point(id: u64) -> SparseVec {
        [(id, 1.0)].into_iter().collect()
    }

    #[test]
    fn distances_survive_removals() {
        let chain = toy();
        let (mut workspace, mut difference) = (chain.workspace(), SparseVec::new());
        let labellings = [[0, 0, 0], [0, 1, 0], [1, 1, 1], [1, 0, 0], [0, 1, 1]];
        let mut atoms = Atoms::at(&Block::default());
        chain.parts(0, &labellings[0].to_vec(), &mut atoms.list[0].parts);
        for labels in &labellings[1..] {
            let mut parts = SparseVec::new();
            chain.parts(0, &labels.to_vec(), &mut parts);
            atoms.insert(&parts, 0.0, 0.0);
        }
        let mut ruler =
            Ruler { problem: &chain, i: 0, workspace: &mut workspace, difference: &mut difference };
        let all = |atoms: &mut Atoms, ruler: &mut Ruler<'_, _>| {
            let n = atoms.list.len();
            let mut table = Vec::new();
            for (a, b) in (0..n).flat_map(|a| (0..n).map(move |b| (a, b))) {
                let distance = atoms.distance(a, b, ruler);
                table.push((atoms.list[a].parts.clone(), atoms.list[b].parts.clone(), distance));
            }
            table
        };
        let before = all(&mut atoms, &mut ruler);
        for at in [1, 3, 1] {
            atoms.remove(at);
            for (a, b, distance) in all(&mut atoms, &mut ruler) {
                let old = before.iter().find(|(x, y, _)| *x == a && *y == b).unwrap();
                assert_eq!(old.2, distance);
            }
        }
    }

    #[test]
    fn an_atom_is_kept_once() {
        let mut atoms = Atoms::at(&Block { parts: point(1), loss: 0.0 });
        assert_eq!(atoms.insert(&point(2), 0.5, 0.0), 1);
        assert_eq!(atoms.insert(&point(1), 0.0, 0.0), 0);
        assert_eq!(atoms.insert(&point(2), 0.5, 0.0), 1);
    }

    #[test]
    fn the_point_is_the_mean_of_the_atoms() {
        let mut atoms = Atoms::at(&Block { parts: point(1), loss: 0.0 });
        atoms.insert(&point(2), 0.5, 0.0);
        (atoms.list[0].mass, atoms.list[1].mass) = (0.25, 0.75);
        let mut block = Block::default();
        atoms.write_to(&mut block);
        assert_eq!(block.parts.entries(), [(1, 0.25), (2, 0.75)]);
        assert_eq!(block.loss, 0.375);
    }
}
