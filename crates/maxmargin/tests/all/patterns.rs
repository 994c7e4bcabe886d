//! Factors that are given by patterns, against the same factors with their joint states written out in full.

use crate::common::factor_graphs::any_pattern_graphs;
use crate::common::{assert_certified, assert_close, bcfw, cases, qp};
use crate::factor_graph_relaxed::check_relaxed_optimum;
use crate::soft::{exactly, scaled, soft_optimum};
use maxmargin::inference::algorithms::{
    Enumerate, LocalPolytope, MaxProduct, MaxSum, MessageBound, check_consistency, dual_bound,
};
use maxmargin::inference::{Decoder, Inference, Labelling, SimplexMethod, Topology};
use maxmargin::model::factor_graph::{
    Counting, FactorGraph, Graphs, PatternError, Patterns, StateLoss,
};
use maxmargin::model::soft::{RhoScale, SoftGraph, anneal, train_augmented};
use maxmargin::problem::{CheckOptions, Law, check, check_enumerable};
use maxmargin::{Block, DualPoint, Problem, Quality, Rng, Settings, SparseVec, audit, train};
use proptest::prelude::*;

/// A graph with patterns, and the same graph with tables.
struct Twins {
    short: Topology,
    full: Topology,
    short_scores: Vec<f64>,
    full_scores: Vec<f64>,
    /// Whether patterns are over two variables only.
    is_small: bool,
}

/// Draws two to five variables in a chain or a ring of pairs, with one or two factors of patterns over some of them.
fn draw(seed: u64, is_forest: bool, whole: bool) -> Twins {
    let mut rng = Rng::new(seed);
    let n = 2 + rng.below(4);
    let states: Vec<usize> = (0..n).map(|_| 1 + rng.below(3)).collect();
    let number = |rng: &mut Rng| match whole {
        true => rng.below(9) as f64 - 4.0,
        false => 4.0 * rng.unit_f64() - 2.0,
    };
    let mut scopes: Vec<(Vec<u32>, Option<Patterns>)> = Vec::new();
    if is_forest {
        // One factor of patterns over the first variables, and a chain of pairs through the others.
        let k = 2 + rng.below(n - 1);
        scopes.push(((0..k as u32).collect(), None));
        scopes.extend((k..n).map(|v| (vec![v as u32 - 1, v as u32], None)));
    } else {
        scopes.extend((0..n as u32 - 1).map(|v| (vec![v, v + 1], None)));
        for _ in 0..1 + rng.below(2) {
            let mut all: Vec<u32> = (0..n as u32).collect();
            rng.shuffle(&mut all);
            all.truncate(2 + rng.below(n - 1));
            scopes.push((all, None));
        }
    }
    let pairs = if is_forest { 0..1 } else { n - 1..scopes.len() };
    for (scope, patterns) in &mut scopes[pairs] {
        let counts: Vec<usize> = scope.iter().map(|&v| states[v as usize]).collect();
        let mut rows: Vec<Vec<Option<u32>>> = Vec::new();
        for _ in 0..1 + rng.below(5) {
            let state = |rng: &mut Rng, count| (rng.below(4) > 0).then(|| rng.below(count) as u32);
            let row = counts.iter().map(|&count| state(&mut rng, count)).collect();
            if !rows.contains(&row) {
                rows.push(row);
            }
        }
        let counting = [Counting::All, Counting::First][rng.below(2)];
        *patterns = Some(Patterns::new(&counts, rows, counting).unwrap());
    }
    let short = Topology::with_patterns(
        states.iter().copied(),
        scopes.iter().map(|(scope, patterns)| (scope, patterns.as_ref())),
    );
    let short = short.unwrap();
    let full = Topology::new(states.iter().copied(), scopes.iter().map(|own| &own.0)).unwrap();
    let short_scores: Vec<f64> = (0..short.size()).map(|_| number(&mut rng)).collect();
    let mut full_scores = short_scores[..short.node(n - 1).end].to_vec();
    for (c, (scope, patterns)) in scopes.iter().enumerate() {
        let own = &short_scores[short.table(c)];
        let Some(patterns) = patterns else {
            full_scores.extend(own);
            continue;
        };
        for joint in 0..full.table(c).len() {
            let mut rest = joint;
            let mut y = vec![0; scope.len()];
            for (slot, &v) in scope.iter().enumerate().rev() {
                y[slot] = (rest % states[v as usize]) as u32;
                rest /= states[v as usize];
            }
            // From the definition, pattern by pattern.
            let fits = |row: &Vec<Option<u32>>| {
                row.iter().zip(&y).all(|(state, own)| state.is_none_or(|state| state == *own))
            };
            let mut sum = 0.0;
            for (row, score) in patterns.rows().iter().zip(own) {
                if fits(row) {
                    sum += score;
                    if patterns.counting() == Counting::First {
                        break;
                    }
                }
            }
            full_scores.push(sum);
        }
    }
    let is_small = scopes.iter().any(|(scope, patterns)| patterns.is_some() && scope.len() == 2);
    Twins { short, full, short_scores, full_scores, is_small }
}

impl Twins {
    fn labellings(&self) -> Vec<Vec<u32>> {
        let mut all = vec![Vec::new()];
        for v in 0..self.short.variables() {
            let longer = |y: &Vec<u32>| {
                let y = y.clone();
                (0..self.short.states(v) as u32)
                    .map(move |state| y.iter().copied().chain([state]).collect::<Vec<u32>>())
            };
            all = all.iter().flat_map(longer).collect();
        }
        all
    }
}

proptest! {
    #![proptest_config(cases(128))]

    #[test]
    fn patterns_have_the_values_of_their_tables(seed in any::<u64>(), is_forest in any::<bool>()) {
        let twins = draw(seed, is_forest, false);
        for y in twins.labellings() {
            let own = twins.short.value(&twins.short_scores, &y);
            assert_close(own, twins.full.value(&twins.full_scores, &y), 1e-12, 1.0);
            let mut parts = SparseVec::new();
            twins.short.push_parts(&y, &mut parts);
            prop_assert!(parts.is_normalised());
            assert_close(own, parts.dot_dense(&twins.short_scores), 1e-12, 1.0);
            prop_assert_eq!(check_consistency(&twins.short, &parts, 0.0), Ok(()));
        }
    }

    /// Scores are whole numbers in half of the cases, so that sums are exact and ties are common.
    #[test]
    fn patterns_are_decoded_as_their_tables(
        seed in any::<u64>(), is_forest in any::<bool>(), whole in any::<bool>()
    ) {
        let Twins { short, full, short_scores, full_scores, is_small } = draw(seed, is_forest, whole);
        let (mut a, mut b) = (Vec::new(), Vec::new());
        let best = Enumerate::default().maximise(&short, &short_scores, &mut a);
        assert_close(best, Enumerate::default().maximise(&full, &full_scores, &mut b), 1e-12, 1.0);
        prop_assert_eq!(&a, &b);
        if is_forest {
            let found = MaxSum::default().maximise(&short, &short_scores, &mut a);
            assert_close(found, best, 1e-12, 1.0);
            assert_close(short.value(&short_scores, &a), best, 1e-12, 1.0);
        }
        let found = MaxProduct::default().maximise(&short, &short_scores, &mut a);
        let other = MaxProduct::default().maximise(&full, &full_scores, &mut b);
        assert_close(found, short.value(&short_scores, &a), 1e-12, 1.0);
        if !whole {
            assert_close(found, other, 1e-9, 1.0);
        }
        let bound = MessageBound::default().bound(&short, &short_scores);
        prop_assert!(bound >= best - 1e-9);
        // Tables over two variables are shared out otherwise.
        if !is_small {
            assert_close(bound, MessageBound::default().bound(&full, &full_scores), 1e-9, 1.0);
        }
    }

    /// The flows make the relaxation as tight as that of the whole table, and repair what the solver leaves.
    #[test]
    fn patterns_have_the_relaxation_of_their_tables(seed in any::<u64>(), is_forest in any::<bool>()) {
        let Twins { short, full, short_scores, full_scores, .. } = draw(seed, is_forest, false);
        let (mut corner, mut other) = (Labelling::default(), Labelling::default());
        let mut polytope = LocalPolytope::default();
        let own = polytope.maximise(&SimplexMethod, &short, &short_scores, &mut corner).unwrap();
        let value = polytope.maximise(&SimplexMethod, &full, &full_scores, &mut other).unwrap();
        assert_close(own, value, 1e-7, 1.0);
        let mut parts = SparseVec::new();
        corner.push_parts(&short, &mut parts);
        prop_assert!(parts.is_normalised());
        prop_assert_eq!(check_consistency(&short, &parts, 1e-9), Ok(()));
        assert_close(own, parts.dot_dense(&short_scores), 1e-9, 1.0);
        let bound = polytope.bound(&SimplexMethod, &short, &short_scores).unwrap();
        prop_assert!(bound >= own - 1e-9 && bound <= own + 1e-6, "{bound} against {own}");
        // The dual at any messages.
        let mut rng = Rng::new(seed);
        let count: usize = (0..full.factors())
            .flat_map(|c| full.scope(c).iter().map(|&v| full.states(v as usize))).sum();
        let deltas: Vec<f64> = (0..count).map(|_| 2.0 * rng.unit_f64() - 1.0).collect();
        let bound = dual_bound(&short, &short_scores, &deltas);
        assert_close(bound, dual_bound(&full, &full_scores, &deltas), 1e-12, 1.0);
    }

    /// A score that is not finite shows in what is decoded, if any labelling has it.
    #[test]
    fn a_score_that_is_not_finite_shows(seed in any::<u64>(), at in any::<prop::sample::Index>()) {
        let mut twins = draw(seed, false, false);
        let at = at.index(twins.short_scores.len());
        twins.short_scores[at] = f64::NAN;
        let is_nan = |y: &Vec<u32>| twins.short.value(&twins.short_scores, y).is_nan();
        let mut y = Labelling::default();
        Decoder::default().decode(Inference::MaxProduct, &twins.short, &twins.short_scores, &mut y);
        prop_assert_eq!(is_nan(&y.states), twins.labellings().iter().any(is_nan));
    }
}

proptest! {
    #![proptest_config(cases(24))]

    #[test]
    fn training_with_patterns_ends_at_the_optimum_of_all_outputs(
        case in any_pattern_graphs(), lambda in 0.1..1.0f64
    ) {
        let problem = case.build(Inference::Enumerate);
        let optimum = qp::solve(&case.enumerate(), lambda);
        for settings in [exactly(lambda), Settings { max_passes: 200, ..exactly(lambda) }] {
            let solution = train(&problem, &settings).unwrap();
            assert_certified(&problem, &solution);
            let c = solution.certificate;
            prop_assert_eq!(c.quality, Quality::Exact);
            prop_assert!(c.dual <= optimum.above + 1e-6 && optimum.below <= c.primal + 1e-6, "{c:?}");
        }
        let mut broken = check_enumerable(&problem, &CheckOptions::default());
        broken.retain(|broken| broken.law != Law::OnlyTruth); // where variables have one state each
        prop_assert_eq!(broken, []);
    }

    #[test]
    fn patterns_train_to_the_relaxed_optimum_of_their_tables(
        case in any_pattern_graphs(), lambda in 0.1..1.0f64
    ) {
        let mut case = case;
        case.graphs.truncate(2);
        check_relaxed_optimum(&case, lambda, &[Inference::Lp]);
    }

    #[test]
    fn the_soft_optimum_of_patterns_is_that_of_their_tables(
        case in any_pattern_graphs(), lambda in 0.1..2.0f64, rho in 0.1..3.0f64, is_sum in any::<bool>()
    ) {
        let scale = if is_sum { RhoScale::Sum } else { RhoScale::Example };
        let problem = scaled(&case, lambda, rho, scale);
        let optimum = soft_optimum(&case, lambda, rho, scale);
        let plain = Settings { tolerance: 1e-3, max_passes: 3000, ..exactly(lambda) };
        for settings in [exactly(lambda), plain] {
            let solution = train(&problem, &settings).unwrap();
            assert_certified(&problem, &solution);
            let c = solution.certificate;
            prop_assert!(c.dual <= optimum + 1e-6 && optimum <= c.primal + 1e-6, "{c:?}, {optimum}");
            // The hard objective is an upper bound of the relaxed optimum.
            let hard = problem.hard_objective(&solution.weights);
            prop_assert!(hard >= case.relaxed_optimum_apart(lambda).below - 1e-6);
        }
        let mut broken = check(&problem, &CheckOptions::default());
        broken.retain(|broken| broken.law != Law::OnlyTruth); // where variables have one state each
        prop_assert_eq!(broken, []);
    }

    /// Multipliers are losses of parts; with them the constraints hold.
    #[test]
    fn multipliers_make_patterns_agree_with_their_variables(case in any_pattern_graphs()) {
        let mut case = case;
        case.graphs.truncate(1);
        let (lambda, settings) = (0.5, Settings { tolerance: 1e-7, max_passes: 2000, ..exactly(0.5) });
        let optimum = case.relaxed_optimum_apart(lambda);
        let soft = scaled(&case, lambda, 0.2, RhoScale::Example);
        let found = train_augmented(soft, &settings, 60, 1e-4).unwrap();
        let hard = found.problem.hard_objective(&found.solution.weights);
        prop_assert!(hard >= optimum.below - 1e-5, "{hard} is below {optimum:?}");
        if found.violation <= 1e-4 {
            prop_assert!(hard <= optimum.above + 1e-2, "{hard} is above {optimum:?}");
        }
    }
}

/// Pictures of 40 binary pixels, in which one factor likes all of them to be in the same state: 2^40 joint states.
fn pictures() -> Graphs {
    let n = 40;
    let mut rng = Rng::new(7);
    let rows = [vec![Some(0); n], vec![Some(1); n]];
    let same = Patterns::new(&vec![2; n], rows, Counting::All).unwrap();
    let mut data = Graphs::new();
    for picture in 0..6u32 {
        for v in 0..n as u32 {
            // The last picture is mixed.
            let truth = if picture == 5 { v % 2 } else { picture % 2 };
            data.push_variable(2, truth).unwrap();
            let hint = f64::from(truth) - 0.5 + 2.0 * (rng.unit_f64() - 0.5);
            data.push_factor(0, &[v], [(0, hint), (1, 1.0)]).unwrap();
        }
        let all: Vec<u32> = (0..n as u32).collect();
        data.push_pattern_factor(1, &all, &same, [(0, 1.0)]).unwrap();
        data.end_graph(1.0).unwrap();
    }
    data
}

/// Without cycles the relaxation is exact, so training through soft constraints approaches exact training.
#[test]
fn factors_over_many_variables_train() {
    let (data, lambda, loss) = (pictures(), 0.05, StateLoss::default());
    let shape = data.shape().unwrap();
    assert_eq!(shape.dim(), 4 + 2);
    let problem = FactorGraph::new(shape.clone(), data.clone(), loss, Inference::Auto).unwrap();
    assert_eq!((problem.inference(0), problem.quality()), (Inference::MaxSum, Quality::Exact));
    let solution = train(&problem, &exactly(lambda)).unwrap();
    assert_certified(&problem, &solution);
    let exact = solution.certificate;
    assert!(exact.gap <= 1e-8);

    // The oracle, by hand: the best states one by one, or all in one state with its score.
    let w = &solution.weights;
    for i in 0..data.len() {
        let graph = data.graph(i);
        let scores = problem.state_scores(i, w, &mut problem.workspace());
        let augmented = |v: usize, y: usize| {
            scores[v][y] + f64::from(graph.truth()[v] != y as u32) / scores.len() as f64
        };
        let sum = |of: &dyn Fn(usize) -> f64| (0..scores.len()).map(of).sum::<f64>();
        let apart = sum(&|v| augmented(v, 0).max(augmented(v, 1)));
        let same = [0, 1].map(|y| w[4 + y] + sum(&|v| augmented(v, y)));
        let best = same.into_iter().fold(apart, f64::max);
        // If the best states one by one are all the same, they have the score of the pattern, too.
        let truth = sum(&|v| scores[v][graph.truth()[v] as usize])
            + if i == 5 { 0.0 } else { w[4 + i % 2] };
        let hinge = problem.hinge_bound(i, w, &mut problem.workspace());
        assert_close(hinge, best - truth, 1e-9, 1.0);
    }

    let soft = SoftGraph::of_graphs(&shape, &data, loss, lambda, 1.0).unwrap();
    let settings = Settings { tolerance: 1e-6, max_passes: 20_000, ..exactly(lambda) };
    let (soft, solution) = anneal(soft, &[1.0, 0.1, 0.01], &settings).unwrap();
    assert_certified(&soft, &solution);
    let hard = soft.hard_objective(&solution.weights);
    assert!(hard >= exact.dual - 1e-9, "{hard} against {exact:?}");
    assert!(hard <= exact.primal + 0.02, "{hard} against {exact:?}");
}

/// A file may say anything: points that no joint states make up are found out.
#[test]
fn masses_of_patterns_are_checked() {
    let data = pictures();
    let loss = StateLoss::default();
    let problem = FactorGraph::new(data.shape().unwrap(), data, loss, Inference::Auto).unwrap();
    let settings = Settings { lambda: Some(0.05), max_passes: 3, ..bcfw() };
    let solution = train(&problem, &settings).unwrap();
    let check =
        |point: &DualPoint| audit(&problem, 0.05, &solution.weights, point, 1e-9, 1).unwrap();
    let good = check(&solution.dual);
    assert_eq!((good.certificate.quality, good.infeasible), (Quality::Exact, None));
    // Half of all pixels in each state: either half of the pictures are all the same in one state and the others in the
    // other, or fewer, but as many of both.
    let mut point = solution.dual.clone();
    for (first, second, is_point) in [
        (0.0, 0.0, true),
        (0.2, 0.2, true),
        (0.5, 0.5, true),
        (0.5, 0.0, false),
        (0.5, 0.4, false),
        (0.6, 0.6, false),
    ] {
        let mut parts: SparseVec = (0..80).map(|at| (at, 0.5)).collect();
        let masses = [(80, first), (81, second)];
        masses.into_iter().filter(|own| own.1 > 0.0).for_each(|(at, mass)| parts.push(at, mass));
        point.blocks[0] = Block { parts: parts.into(), loss: 0.5 };
        assert_eq!(check(&point).infeasible.is_none(), is_point, "masses {first}, {second}");
    }
}

#[test]
fn patterns_that_make_no_sense_are_refused() {
    let new = |states: &[usize], rows: &[&[Option<u32>]]| {
        Patterns::new(states, rows, Counting::All).unwrap_err()
    };
    assert_eq!(new(&[], &[&[]]), PatternError::NoVariables);
    assert_eq!(new(&[2], &[]), PatternError::Number { found: 0 });
    let length = PatternError::Length { pattern: 1, found: 1, variables: 2 };
    assert_eq!(new(&[2, 2], &[&[None, None], &[None]]), length);
    let state = PatternError::State { pattern: 0, variable: 1, state: 3, states: 3 };
    assert_eq!(new(&[2, 3], &[&[Some(1), Some(3)]]), state);
    let twice = PatternError::Twice { first: 0, second: 2 };
    assert_eq!(new(&[2], &[&[None], &[Some(0)], &[None]]), twice);
    // Each of 40 patterns is about one variable of its own, so any set of them may fit.
    let rows: Vec<Vec<Option<u32>>> =
        (0..40).map(|p| (0..40).map(|v| (v == p).then_some(0)).collect()).collect();
    assert_eq!(Patterns::new(&[2; 40], rows, Counting::All), Err(PatternError::Overlaps));

    let mut data = Graphs::new();
    data.push_variable(2, 0).unwrap();
    data.push_variable(3, 0).unwrap();
    let patterns = Patterns::new(&[3, 2], [[Some(0), Some(1)]], Counting::All).unwrap();
    assert!(data.push_pattern_factor(0, &[0, 1], &patterns, []).is_err());
    data.push_pattern_factor(0, &[1, 0], &patterns, [(0, 1.0)]).unwrap();
    data.end_graph(1.0).unwrap();
    // A template is for tables or for patterns.
    data.push_variable(1, 0).unwrap();
    data.push_factor(0, &[0], [(0, 1.0)]).unwrap();
    data.end_graph(1.0).unwrap();
    let error = data.shape().unwrap_err().to_string();
    let expected =
        "template 0 is used for variables with [1] states, and before that for 1 patterns";
    assert_eq!(error, expected);
}
