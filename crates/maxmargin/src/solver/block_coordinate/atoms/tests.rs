use super::*;
use crate::doc::toy;
use crate::problem::{Blocks, Problem, ProblemExt};

fn point(id: u64) -> SparseVec {
    [(id, 1.0)].into_iter().collect()
}

#[test]
fn distances_survive_removals_and_growth() {
    let chain = toy();
    let (blocks, mut difference): (&dyn Blocks, _) = (&chain, SparseVec::new());
    let (mut worker, mut workspace) = (blocks.worker(), chain.workspace());
    let labelling = |code: u32| -> SparseVec {
        let mut parts = SparseVec::new();
        let labels = [code & 1, code >> 1 & 1, code >> 2 & 1].to_vec();
        chain.parts(0, &labels, &mut parts);
        parts
    };
    let mut atoms = Atoms::at(labelling(0), 0.0);
    let mut ruler = Ruler { i: 0, worker: &mut *worker, difference: &mut difference };
    let mut check = |atoms: &mut Atoms, ruler: &mut Ruler<'_>| {
        for (a, b) in (0..atoms.len()).flat_map(|a| (0..a).map(move |b| (a, b))) {
            ruler.difference.assign_difference(&atoms.parts[b], &atoms.parts[a]);
            let true_one = chain.norm_sq(0, &mut workspace, ruler.difference);
            assert!((atoms.distance(a, b, ruler) - true_one).abs() < 1e-12);
        }
    };
    for (added, removed) in [(1, None), (2, Some(1)), (3, None), (4, Some(2)), (5, Some(1))] {
        atoms.insert((blocks, 0), &labelling(added), 0.0, 0.0);
        // Removal both before and after the new one has been measured.
        if added % 2 == 0 {
            check(&mut atoms, &mut ruler);
        }
        if let Some(at) = removed {
            atoms.remove(at);
        }
        check(&mut atoms, &mut ruler);
    }
}

#[test]
fn an_atom_is_kept_once() {
    let (mut atoms, chain) = (Atoms::at(point(1), 0.0), toy());
    assert_eq!(atoms.insert((&chain, 0), &point(2), 0.5, 0.0), 1);
    assert_eq!(atoms.insert((&chain, 0), &point(1), 0.0, 0.0), 0);
    assert_eq!(atoms.insert((&chain, 0), &point(2), 0.5, 0.0), 1);
}

#[test]
fn a_negligible_rest_is_not_split_off() {
    for (mass, atoms_left) in [(1.0, 1), (1.0 - 1e-15, 1), (0.5, 2), (1e-15, 2), (0.0, 1)] {
        let mut atoms = Atoms::at(SparseVec::new(), 0.0);
        let part: f64 = (1.0 - mass) * (1.0 + 1e-16);
        let point: SparseVec = [(1, -part), (2, part)].into_iter().collect();
        atoms.start_from(mass, point.clone(), 0.5 * part);
        assert_eq!(atoms.len(), atoms_left);
        let mut found = SparseVec::new();
        atoms.write_relative(&mut found);
        found.add_scaled(-1.0, &point);
        assert!(found.entries().iter().all(|(_, x)| x.abs() <= 1e-15));
        let sizes = atoms.parts().iter().flat_map(SparseVec::entries);
        assert!(sizes.map(|(_, x)| x.abs()).all(|x| x <= 1.0 + 1e-12));
    }
}

#[test]
fn the_point_is_the_mean_of_the_atoms() {
    // The truth has part 1; one atom is the truth, one has part 2 in its place.
    let minus_truth: SparseVec = [(1, -1.0)].into_iter().collect();
    let mut atoms = Atoms::at(SparseVec::new(), 0.0);
    let parts: SparseVec = [(1, -1.0), (2, 1.0)].into_iter().collect();
    atoms.insert((&toy(), 0), &parts, 0.5, 0.0);
    let (mut whole, mut point) = (SparseVec::new(), SparseVec::new());
    for (masses, parts) in [([0.25, 0.75], &[(1, 0.25), (2, 0.75)][..]), ([0.0, 1.0], &[(2, 1.0)])]
    {
        atoms.masses.copy_from_slice(&masses);
        let loss = atoms.write_to(&mut whole, &minus_truth, &mut point);
        assert_eq!((whole.entries(), loss), (parts, 0.5 * masses[1]));
        atoms.write_relative(&mut point);
        assert_eq!(point.entries(), [(1, -masses[1]), (2, masses[1])]);
    }
}
