//! Every inference method for factor graphs, against enumeration and an interior point method.

use crate::common::graphs::{
    KINDS, NeverSolves, Structure, any_binary_pairwise, any_forest, any_structure, magnitude,
    numbers,
};
use crate::common::{assert_close, cases};
use maxmargin::inference::Labelling;
use maxmargin::inference::algorithms::Enumerate;
use maxmargin::inference::algorithms::LocalSearch;
use maxmargin::inference::algorithms::MaxProduct;
use maxmargin::inference::algorithms::MaxSum;
use maxmargin::inference::algorithms::MessageBound;
use maxmargin::inference::algorithms::RoofDuality;
use maxmargin::inference::algorithms::{LocalPolytope, check_consistency, dual_bound};
use maxmargin::inference::{Decoder, Inference};
use maxmargin::inference::{LinearProgram, LpError, SimplexMethod, SolveLp};
use maxmargin::inference::{Topology, TopologyError};
use maxmargin::{Quality, SparseVec};
use proptest::prelude::*;

fn scores(structure: &Structure, kind: usize, seed: u64) -> Vec<f64> {
    numbers(kind, *structure.offsets().last().unwrap(), seed)
}

/// The score of a labelling or a fractional corner, which must be a point of the local polytope.
#[track_caller]
fn value(structure: &Structure, scores: &[f64], y: &Labelling) -> f64 {
    let mut parts = SparseVec::new();
    y.push_parts(&structure.topology(), &mut parts);
    assert!(parts.is_normalised());
    assert_eq!(check_consistency(&structure.topology(), &parts, 1e-13), Ok(()));
    parts.dot_dense(scores)
}

proptest! {
    #![proptest_config(cases(128))]

    #[test]
    fn a_topology_is_laid_out_as_it_says(structure in any_structure(), seed in any::<u64>()) {
        let graph = structure.topology();
        let offsets = structure.offsets();
        prop_assert_eq!(graph.size(), *offsets.last().unwrap());
        for v in 0..graph.variables() {
            prop_assert_eq!(graph.node(v), offsets[v]..offsets[v + 1]);
        }
        for c in 0..graph.factors() {
            let at = graph.variables() + c;
            prop_assert_eq!(graph.table(c), offsets[at]..offsets[at + 1]);
        }
        let scores = scores(&structure, 0, seed);
        for y in structure.labellings() {
            let mut parts = SparseVec::new();
            graph.push_parts(&y, &mut parts);
            let places: Vec<usize> = parts.entries().iter().map(|e| e.0 as usize).collect();
            prop_assert_eq!(places, structure.places(&y));
            assert_close(graph.value(&scores, &y), structure.value(&scores, &y), 1e-12, 1.0);
        }
        prop_assert_eq!(graph.labellings(10_000), Some(structure.labellings().len()));
    }

    #[test]
    fn enumeration_finds_the_best(
        structure in any_structure(), kind in KINDS, seed in any::<u64>()
    ) {
        let scores = scores(&structure, kind, seed);
        let mut y = vec![9; 3];
        let found = Enumerate::default().maximise(&structure.topology(), &scores, &mut y);
        let scale = magnitude(&scores);
        assert_close(found, structure.best(&scores), 1e-14, scale);
        assert_close(found, structure.value(&scores, &y), 1e-14, scale);
        if kind == 2 {
            // Whole numbers have exact sums, so the result is the first of the best labellings.
            let best = structure.best(&scores);
            let all = structure.labellings();
            let first = all.iter().find(|y| structure.value(&scores, y) == best);
            prop_assert_eq!(Some(&y), first);
        }
    }

    #[test]
    fn max_sum_finds_the_best_of_a_forest(
        structure in any_forest(), kind in KINDS, seed in any::<u64>()
    ) {
        let (graph, scores) = (structure.topology(), scores(&structure, kind, seed));
        prop_assert!(graph.is_forest());
        let mut y = vec![9; 3];
        let found = MaxSum::default().maximise(&graph, &scores, &mut y);
        let scale = magnitude(&scores);
        assert_close(found, structure.best(&scores), 1e-14, scale);
        assert_close(found, structure.value(&scores, &y), 1e-14, scale);
    }

    #[test]
    fn the_relaxation_of_a_forest_is_exact(
        structure in any_forest(), kind in KINDS, seed in any::<u64>()
    ) {
        let (graph, scores) = (structure.topology(), scores(&structure, kind, seed));
        let mut corner = Labelling::default();
        let found =
            LocalPolytope::default().maximise(&SimplexMethod, &graph, &scores, &mut corner).unwrap();
        let scale = magnitude(&scores);
        assert_close(found, structure.best(&scores), 1e-11, scale);
        assert_close(found, value(&structure, &scores, &corner), 1e-14, scale);
        prop_assert!(!corner.is_fractional());
    }

    #[test]
    fn the_relaxation_is_what_an_interior_point_method_finds(
        structure in any_structure(), kind in KINDS, seed in any::<u64>()
    ) {
        let (graph, scores) = (structure.topology(), scores(&structure, kind, seed));
        let (mut polytope, mut corner) = (LocalPolytope::default(), Labelling::default());
        let found = polytope.maximise(&SimplexMethod, &graph, &scores, &mut corner).unwrap();
        let scale = magnitude(&scores);
        assert_close(found, value(&structure, &scores, &corner), 1e-14, scale);
        assert_close(found, structure.relaxed(&scores), 1e-7, scale);
        prop_assert!(found >= structure.best(&scores) - 1e-11 * scale);
        let bound = polytope.bound(&SimplexMethod, &graph, &scores).unwrap();
        prop_assert!(bound >= found - 1e-14 * scale, "{bound} is below {found}");
        assert_close(bound, found, 1e-8, scale);
    }

    #[test]
    fn any_deltas_give_an_upper_bound(
        structure in any_structure(), kind in KINDS, seed in any::<u64>()
    ) {
        let (graph, scores) = (structure.topology(), scores(&structure, kind, seed));
        let count = structure.factors.iter().flatten().map(|&v| structure.states[v as usize]).sum();
        let deltas = numbers(0, count, seed ^ 1);
        let bound = dual_bound(&graph, &scores, &deltas);
        prop_assert!(bound >= structure.best(&scores) - 1e-13 * magnitude(&scores));
    }

    #[test]
    fn messages_bound_the_relaxation(
        structure in any_structure(), kind in KINDS, seed in any::<u64>()
    ) {
        let (graph, scores) = (structure.topology(), scores(&structure, kind, seed));
        let bound = MessageBound::default().bound(&graph, &scores);
        let scale = magnitude(&scores);
        let mut corner = Labelling::default();
        let relaxed = LocalPolytope::default().maximise(&SimplexMethod, &graph, &scores, &mut corner);
        prop_assert!(bound >= structure.best(&scores) - 1e-12 * scale);
        prop_assert!(bound >= relaxed.unwrap() - 1e-12 * scale);
        // It is never worse than what no messages give, and a second call gives the same.
        let first = dual_bound(&graph, &scores, &vec![0.0; 10_000]);
        prop_assert!(bound <= first + 1e-12 * scale, "{bound} is above {first}");
        prop_assert_eq!(MessageBound::default().bound(&graph, &scores), bound);
    }

    #[test]
    fn messages_are_tight_on_chains(states in 2usize..4, seed in any::<u64>()) {
        let graph = Topology::new([states; 5], (0..4u32).map(|v| [v, v + 1])).unwrap();
        let scores = numbers(0, graph.size(), seed);
        let mut y = Vec::new();
        let best = Enumerate::default().maximise(&graph, &scores, &mut y);
        let bound = MessageBound::default().bound(&graph, &scores);
        assert_close(bound, best, 1e-3, magnitude(&scores));
    }

    #[test]
    fn roof_duality_is_the_relaxation(
        structure in any_binary_pairwise(), kind in KINDS, seed in any::<u64>()
    ) {
        let (graph, scores) = (structure.topology(), scores(&structure, kind, seed));
        prop_assert!(graph.is_binary_pairwise());
        let (mut decoder, mut corner) = (Decoder::default(), Labelling::default());
        let quality = decoder.decode(Inference::RoofDuality, &graph, &scores, &mut corner);
        prop_assert_eq!(quality, Quality::UpperBound);
        let (found, scale) = (value(&structure, &scores, &corner), magnitude(&scores));
        let halves = |&(_, mass): &(u64, f64)| mass == 0.5 || mass == 1.0;
        prop_assert!(corner.marginals.entries().iter().all(halves));
        prop_assert!(found >= structure.best(&scores) - 1e-12 * scale);
        let mut other = Labelling::default();
        let by_simplex =
            LocalPolytope::default().maximise(&SimplexMethod, &graph, &scores, &mut other).unwrap();
        assert_close(found, by_simplex, 1e-11, scale);

        // Persistency: some best labelling has all the states that are not fractional.
        let whole = |v: usize| !corner.is_fractional() || {
            let own = graph.node(v);
            corner.marginals.entries().iter().any(|&(at, mass)| own.contains(&(at as usize)) && mass == 1.0)
        };
        let agrees = |y: &&Vec<u32>| (0..y.len()).all(|v| !whole(v) || y[v] == corner.states[v]);
        let all = structure.labellings();
        let best = all.iter().filter(agrees).map(|y| structure.value(&scores, y));
        assert_close(best.fold(f64::NEG_INFINITY, f64::max), structure.best(&scores), 1e-12, scale);
    }

    #[test]
    fn the_flow_proves_the_roof_dual(
        n in 1usize..8, kind in KINDS, seed in any::<u64>()
    ) {
        let pairs: Vec<(u32, u32)> =
            (0..n as u32).flat_map(|i| (0..i).map(move |j| (i, j))).collect();
        let linear = numbers(kind, n, seed);
        let quadratic = numbers(kind, pairs.len(), seed ^ 1);
        let (mut roof, mut x) = (RoofDuality::default(), vec![7.0]);
        let found = roof.maximise(&linear, &pairs, &quadratic, &mut x);
        prop_assert!(x.iter().all(|&x| x == 0.0 || x == 0.5 || x == 1.0));
        let scale = magnitude(&linear) + magnitude(&quadratic);
        assert_close(found, roof.bound(), 1e-13, scale);
        let f = |bits: u32| {
            let x = |i: u32| f64::from(bits >> i & 1);
            let ones: f64 = linear.iter().zip(0..).map(|(c, i)| c * x(i)).sum();
            ones + pairs.iter().zip(&quadratic).map(|(&(i, j), c)| c * x(i) * x(j)).sum::<f64>()
        };
        let best = (0..1 << n).map(f).fold(f64::NEG_INFINITY, f64::max);
        prop_assert!(found >= best - 1e-13 * scale);
        if quadratic.iter().all(|&c| c >= 0.0) {
            assert_close(found, best, 1e-13, scale); // a plain minimum cut: no relaxation
        }
    }

    #[test]
    fn heuristics_find_labellings_and_claim_no_more(
        structure in any_structure(), kind in KINDS, seed in any::<u64>()
    ) {
        let (graph, scores) = (structure.topology(), scores(&structure, kind, seed));
        let (best, scale) = (structure.best(&scores), magnitude(&scores));
        let mut y = vec![9; 3];
        let found = MaxProduct::default().maximise(&graph, &scores, &mut y);
        assert_close(found, structure.value(&scores, &y), 1e-14, scale);
        prop_assert!(found <= best + 1e-14 * scale);
        for start in structure.labellings() {
            let mut y = start.clone();
            let improved = LocalSearch::default().improve(&graph, &scores, &mut y);
            prop_assert!(improved >= structure.value(&scores, &start) - 1e-13 * scale);
            assert_close(improved, structure.value(&scores, &y), 1e-14, scale);
        }
    }

    /// Without ties and cycles, messages converge to the true values.
    #[test]
    fn max_product_is_exact_on_forests(structure in any_forest(), seed in any::<u64>()) {
        let (graph, scores) = (structure.topology(), scores(&structure, 0, seed));
        let found = MaxProduct::default().maximise(&graph, &scores, &mut Vec::new());
        assert_close(found, structure.best(&scores), 1e-12, magnitude(&scores));
    }

    /// One decoder can be used for all graphs: the memory of one does not affect the next.
    #[test]
    fn a_decoder_can_be_used_again(
        a in any_binary_pairwise(), b in any_structure(), kind in KINDS, seed in any::<u64>()
    ) {
        let mut used = Decoder::default();
        for structure in [&a, &b, &a] {
            let (graph, scores) = (structure.topology(), scores(structure, kind, seed));
            for name in Inference::NAMES {
                let inference: Inference = name.parse().unwrap();
                let Ok(inference) = inference.resolve(&graph) else { continue };
                let (mut y, mut z) = (Labelling::from(vec![7]), Labelling::default());
                let quality = used.decode(inference, &graph, &scores, &mut y);
                Decoder::default().decode(inference, &graph, &scores, &mut z);
                prop_assert_eq!(&y, &z);
                prop_assert_eq!(quality, inference.quality());
                used.polish(&graph, &scores, &mut y);
                prop_assert!(y.marginals == z.marginals);
                let rounded = structure.value(&scores, &y.states);
                prop_assert!(rounded >= structure.value(&scores, &z.states) - 1e-13 * magnitude(&scores));
                if inference.quality() == Quality::Exact {
                    assert_close(rounded, structure.best(&scores), 1e-14, magnitude(&scores));
                }
            }
        }
    }

    /// Every method must reveal scores that are not finite, so that training can stop.
    #[test]
    fn non_finite_scores_are_noticed(
        structure in any_structure(), at in any::<prop::sample::Index>(), seed in any::<u64>()
    ) {
        let graph = structure.topology();
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let mut scores = scores(&structure, 0, seed);
            let at = at.index(scores.len());
            scores[at] = bad;
            for name in Inference::NAMES {
                let inference: Inference = name.parse().unwrap();
                let Ok(inference) = inference.resolve(&graph) else { continue };
                let mut y = Labelling::default();
                Decoder::default().decode(inference, &graph, &scores, &mut y);
                prop_assert!(!structure.value(&scores, &y.states).is_finite());
            }
        }
    }
}

/// A corner whose masses have no small common denominator is made consistent as well.
#[test]
fn answers_of_imprecise_solvers_are_made_consistent() {
    /// A point of the polytope, and noise.
    #[derive(Debug)]
    struct Noisy(f64);

    impl SolveLp for Noisy {
        fn solve(&self, lp: &LinearProgram, x: &mut Vec<f64>) -> Result<(), LpError> {
            let share = std::f64::consts::FRAC_1_PI;
            let noise = numbers(0, lp.objective.len(), 5);
            // Two labellings of three variables with three states, and factors of 9 and 27.
            let masses = [[share, 1.0 - share, 0.0]; 3].concat();
            x.clear();
            x.extend(masses);
            for size in [9, 27] {
                x.extend((0..size).map(|at| match at {
                    0 => share,
                    at if at == (size - 1) / 2 => 1.0 - share,
                    _ => 0.0,
                }));
            }
            x.iter_mut().zip(noise).for_each(|(x, noise)| *x += self.0 * noise);
            Ok(())
        }
        fn solve_dual(&self, _: &LinearProgram, _: &mut Vec<f64>) -> Result<(), LpError> {
            Err(LpError { solver: "noisy", why: "it has none".into() })
        }
    }

    let structure = Structure { states: vec![3; 3], factors: vec![vec![0, 1], vec![0, 1, 2]] };
    let graph = structure.topology();
    let scores = scores(&structure, 0, 3);
    let mut clean = Labelling::default();
    let mut polytope = LocalPolytope::default();
    let expected = polytope.maximise(&Noisy(0.0), &graph, &scores, &mut clean).unwrap();
    assert_eq!(clean.marginals.len(), 3 * 2 + 2 + 2);
    for noise in [1e-15, 1e-10, 1e-8, 1e-6] {
        let mut corner = Labelling::default();
        let found = polytope.maximise(&Noisy(noise), &graph, &scores, &mut corner).unwrap();
        assert!(corner.is_fractional());
        assert_close(found, value(&structure, &scores, &corner), 1e-14, 1.0);
        assert_close(found, expected, 100.0 * noise + 1e-14, 1.0);
    }
    assert!(polytope.bound(&Noisy(0.0), &graph, &scores).is_err());
}

/// If the solver fails, a heuristic is used instead, and the quality says so.
#[test]
fn a_solver_that_fails_is_replaced_and_reported() {
    let structure = Structure { states: vec![3; 3], factors: vec![vec![0, 1], vec![0, 1, 2]] };
    let (graph, scores) = (structure.topology(), scores(&structure, 0, 3));
    let (mut decoder, mut y) =
        (Decoder::new(std::sync::Arc::new(NeverSolves)), Labelling::default());
    assert_eq!(decoder.decode(Inference::Lp, &graph, &scores, &mut y), Quality::Heuristic);
    assert!(structure.value(&scores, &y.states) <= structure.best(&scores));
    assert_eq!(decoder.decode(Inference::Enumerate, &graph, &scores, &mut y), Quality::Exact);
}

#[test]
fn invalid_structures_are_rejected() {
    let refused = |states: &[usize], factors: &[&[u32]]| {
        Topology::new(states.iter().copied(), factors).unwrap_err()
    };
    assert_eq!(refused(&[2, 0], &[]), TopologyError::NoStates { variable: 1 });
    assert_eq!(refused(&[2, 2], &[&[0]]), TopologyError::Arity { factor: 0, arity: 1 });
    assert_eq!(refused(&[2, 2], &[&[0, 1], &[]]), TopologyError::Arity { factor: 1, arity: 0 });
    assert_eq!(refused(&[2, 2], &[&[1, 1]]), TopologyError::Twice { factor: 0, variable: 1 });
    let unknown = TopologyError::Variable { factor: 0, variable: 2, variables: 2 };
    assert_eq!(refused(&[2, 2], &[&[0, 2]]), unknown);
    assert_eq!(refused(&[5000, 5000], &[&[0, 1]]), TopologyError::Size { factor: 0 });
    let many: Vec<u32> = (0..70).collect();
    assert_eq!(refused(&[2; 70], &[&many]), TopologyError::Size { factor: 0 });
}

/// Decoding does not panic if there is nothing to decide.
#[test]
fn graphs_without_variables_or_choices_are_decoded() {
    for structure in [
        Structure { states: vec![], factors: vec![] },
        Structure { states: vec![1], factors: vec![] },
        Structure { states: vec![1, 1, 1], factors: vec![vec![0, 1], vec![1, 2], vec![2, 0]] },
    ] {
        let graph = structure.topology();
        let scores = scores(&structure, 0, 1);
        for name in Inference::NAMES {
            let inference: Inference = name.parse().unwrap();
            let Ok(inference) = inference.resolve(&graph) else { continue };
            let mut y = Labelling::default();
            Decoder::default().decode(inference, &graph, &scores, &mut y);
            assert_eq!(y.states, vec![0; structure.states.len()], "{inference}");
            assert!(!y.is_fractional());
        }
    }
}

/// Deep trees do not overflow the stack.
#[test]
fn a_chain_of_a_hundred_thousand_variables_is_decoded() {
    let n = 100_000u32;
    let graph = Topology::new(vec![2; n as usize], (1..n).map(|v| [v - 1, v])).unwrap();
    let mut scores = vec![0.0; graph.size()];
    scores[graph.node(0)].copy_from_slice(&[0.0, 0.5]);
    for factor in 0..graph.factors() {
        scores[graph.table(factor)].copy_from_slice(&[1.0, 0.0, 0.0, 1.0]);
    }
    let mut y = Vec::new();
    let found = MaxSum::default().maximise(&graph, &scores, &mut y);
    assert_eq!((found, y), (f64::from(n - 1) + 0.5, vec![1; n as usize]));
}
