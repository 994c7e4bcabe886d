//! Training in shards: no round lowers the dual, the steps are the best there are, and whatever is lost or comes
//! twice leaves a point of the problem behind.

mod refused;

use crate::common::problems::{Enumerated, any_polytope};
use crate::common::qp::{csc, minimise, solve};
use crate::common::{assert_all_close, assert_close, cases, dot};
use crate::slack_search::rescaled;
use maxmargin::distributed::{
    Change, Coordinator, Effort, Mixture, Proposal, ShardSolver, Way, Whole,
};
use maxmargin::model::LabelledRows;
use maxmargin::model::binary::{Binary, BinaryShape};
use maxmargin::problem::Accuracy;
use maxmargin::{
    BlockCoordinate, BlockStep, Bounded, Bounds, Caching, Certificate, DualPoint, Interrupt, Order,
    Problem, ProblemExt as _, Quality, Settings, SlackRescaled, audit, doc, train,
};
use proptest::prelude::*;

/// The blocks of a problem, dealt out to so many shards.
fn shards_of(problem: &Enumerated, count: usize) -> Vec<Enumerated> {
    let count = count.clamp(1, problem.blocks.len());
    let own = |k: usize| {
        let n = problem.blocks.len();
        let blocks = problem.blocks[k * n / count..(k + 1) * n / count].to_vec();
        Enumerated { dim: problem.dim, blocks }
    };
    (0..count).map(own).collect()
}

fn whole(problem: &Enumerated, lambda: f64) -> Whole {
    Whole { lambda, total_weight: problem.blocks.iter().map(|block| block.weight).sum() }
}

/// Methods of all kinds.
fn methods() -> Vec<Settings> {
    let with = |order, step, cache| {
        let method = BlockCoordinate { order, step, cache, ..BlockCoordinate::default() };
        Settings { method: method.into(), threads: 1, ..Settings::default() }
    };
    vec![
        Settings { threads: 1, ..Settings::default() },
        with(Order::Permutation, BlockStep::default(), Caching::Off),
        with(Order::Gap, BlockStep::Corrective, Caching::On),
        with(Order::Gap, BlockStep::Staged, Caching::On),
        with(Order::Uniform, BlockStep::Pairwise, Caching::Off),
        with(Order::Gap, BlockStep::Corrective, Caching::Exhaust),
    ]
}

/// Shards and their coordinator, without any engine between them.
struct Cluster<'p> {
    shards: Vec<ShardSolver<'p>>,
    coordinator: Coordinator,
    round: u64,
}

impl<'p> Cluster<'p> {
    fn new<P: Problem>(problems: &'p [P], whole: Whole, settings: &Settings) -> Self {
        let shard =
            |problem: &'p P| ShardSolver::new(problem, whole, settings, Interrupt::new()).unwrap();
        let shards = problems.iter().map(shard).collect();
        let bounds = problems[0].bounds().cloned();
        let coordinator = Coordinator::new(whole.lambda, vec![0.0; problems[0].dim()], bounds);
        Self { shards, coordinator, round: 0 }
    }

    fn propose(&mut self, passes: usize) -> Vec<Proposal> {
        self.round += 1;
        let (round, sum) = (self.round, self.coordinator.sum());
        let effort = Effort::among(self.shards.len(), passes);
        self.shards.iter_mut().map(|shard| shard.propose(round, sum, effort).unwrap()).collect()
    }

    fn commit(&mut self, mixtures: &[Mixture]) {
        for (shard, mixture) in self.shards.iter_mut().zip(mixtures) {
            assert!(shard.commit(self.round, mixture).unwrap());
        }
    }

    fn go_round(&mut self, passes: usize) {
        let proposals = self.propose(passes);
        let mixtures = self.coordinator.step(&proposals).unwrap();
        self.commit(&mixtures);
    }

    fn add_up(&mut self) {
        let sums = self.shards.iter().map(|shard| (shard.sum(), shard.loss()));
        self.coordinator.add_up(sums).unwrap();
    }

    fn certificate(&mut self) -> Certificate {
        self.add_up();
        let sum = self.coordinator.sum();
        let readings: Vec<_> = self.shards.iter_mut().map(|s| s.check(sum).unwrap()).collect();
        self.coordinator.certificate(&readings).unwrap()
    }

    /// All blocks, in the order of the whole problem.
    fn point(&self) -> DualPoint {
        let blocks = self.shards.iter().flat_map(|shard| shard.point().blocks).collect();
        DualPoint { blocks }
    }
}

/// D where ways are gone with shares, straight from the definition.
fn value(lambda: f64, w: &[f64], loss: f64, ways: &[Way], shares: &[f64]) -> f64 {
    let (mut w, mut loss) = (w.to_vec(), loss);
    for (way, share) in ways.iter().zip(shares) {
        dense(&way.change, w.len()).iter().zip(&mut w).for_each(|(x, w)| *w += share * x);
        loss += share * way.loss;
    }
    loss - 0.5 * lambda * dot(&w, &w)
}

fn dense(change: &Change, d: usize) -> Vec<f64> {
    let Some(at) = &change.at else { return change.values.clone() };
    let mut dense = vec![0.0; d];
    at.iter().zip(&change.values).for_each(|(&at, &value)| dense[at as usize] = value);
    dense
}

proptest! {
    #![proptest_config(cases(60))]

    #[test]
    fn the_dual_never_falls_and_the_certificate_is_that_of_one_machine(
        problem in any_polytope(), count in 1usize..=6, passes in 1usize..=3,
        lambda in 0.02..2.0f64, method in 0usize..6,
    ) {
        let problems = shards_of(&problem, count);
        let settings = &methods()[method];
        let mut cluster = Cluster::new(&problems, whole(&problem, lambda), settings);
        let mut before = 0.0f64;
        for round in 0..12 {
            cluster.go_round(passes);
            let dual = cluster.coordinator.dual();
            prop_assert!(dual >= before - 1e-12 * (1.0 + before.abs()), "{before} {dual}");
            before = dual;
            if round % 4 != 3 {
                continue;
            }
            // w is the sum of the shards' weights, followed step by step as well as added up.
            let followed = cluster.coordinator.sum().to_vec();
            let certificate = cluster.certificate();
            assert_all_close(&followed, cluster.coordinator.sum(), 1e-10);
            assert_close(certificate.dual, dual, 1e-10, dual);
            // One machine that knows all blocks finds the same.
            let (w, point) = (cluster.coordinator.weights(), cluster.point());
            let found = audit(&problem, lambda, &w, &point, 1e-9, 1).unwrap();
            prop_assert_eq!(found.infeasible, None);
            prop_assert!(found.weight_residual < 1e-9);
            assert_close(found.certificate.primal, certificate.primal, 1e-9, certificate.primal);
            assert_close(found.certificate.dual, certificate.dual, 1e-9, certificate.primal);
            // So it is with any other weights, such as averages.
            let w: Vec<f64> = w.iter().map(|w| 0.7 * w + 0.1).collect();
            let readings: Vec<_> =
                cluster.shards.iter_mut().map(|shard| shard.check(&w).unwrap()).collect();
            let other = cluster.coordinator.certificate_of(&w, &readings).unwrap();
            let found = audit(&problem, lambda, &w, &point, 1e-9, 1).unwrap().certificate;
            assert_close(found.primal, other.primal, 1e-9, other.primal);
            assert_close(found.gap, other.gap, 1e-9, other.primal);
        }
    }

    #[test]
    fn shards_reach_the_optimum_of_a_quadratic_program(
        problem in any_polytope(), count in 2usize..=4, lambda in 0.1..2.0f64,
    ) {
        let problems = shards_of(&problem, count);
        let settings = &methods()[2];
        let mut cluster = Cluster::new(&problems, whole(&problem, lambda), settings);
        for _ in 0..60 {
            cluster.go_round(3);
        }
        let (found, best) = (cluster.certificate(), solve(&problem, lambda));
        prop_assert!(found.dual <= best.above + 1e-7, "{} {}", found.dual, best.above);
        // Rounds never lower the dual, but no rate is known: some problems are slow.
        prop_assert!(found.primal >= best.below - 1e-7, "{found:?} {best:?}");
        prop_assert!(found.dual >= best.below - 0.02 * (1.0 + best.below), "{found:?} {best:?}");
    }

    #[test]
    fn the_mixtures_of_a_round_are_the_best_of_all_hulls(
        problem in any_polytope(), count in 1usize..=5, lambda in 0.02..2.0f64, rounds in 0usize..6,
    ) {
        let problems = shards_of(&problem, count);
        let settings = &methods()[rounds % 3];
        let mut cluster = Cluster::new(&problems, whole(&problem, lambda), settings);
        // What each shard has proposed so far, as points of its own, the latest first.
        let mut points: Vec<Vec<(Vec<f64>, f64)>> = vec![Vec::new(); problems.len()];
        for round in 0..=rounds {
            let own: Vec<(Vec<f64>, f64)> =
                cluster.shards.iter().map(|shard| (shard.sum().to_vec(), shard.loss())).collect();
            let (w, before) = (cluster.coordinator.sum().to_vec(), cluster.coordinator.dual());
            let loss: f64 = own.iter().map(|(_, loss)| loss).sum();
            let proposals = cluster.propose(1);
            let mixtures = cluster.coordinator.step(&proposals).unwrap();
            for (k, (proposal, (sum, loss))) in proposals.iter().zip(&own).enumerate() {
                let new = proposal.ways.iter().map(|way| {
                    let change = dense(&way.change, w.len());
                    let point = sum.iter().zip(&change).map(|(a, b)| a + b).collect();
                    (point, loss + way.loss)
                });
                let new: Vec<_> = new.collect();
                points[k].splice(0..0, new);
            }
            if round == rounds {
                let (mut ways, mut groups, mut shares) = (Vec::new(), Vec::new(), Vec::new());
                for (k, (points, (sum, loss))) in points.iter().zip(&own).enumerate() {
                    for (point, own) in points {
                        let values = point.iter().zip(sum).map(|(to, from)| to - from).collect();
                        let change = Change { at: None, values };
                        ways.push(Way { change, loss: own - loss });
                        groups.push(k);
                    }
                    let mass: f64 = mixtures[k].shares.iter().sum();
                    prop_assert!(mass <= 1.0 + 1e-12 && mixtures[k].shares.iter().all(|s| *s >= 0.0));
                    prop_assert_eq!(mixtures[k].shares.len(), points.len());
                    shares.extend(&mixtures[k].shares);
                }
                // Following the shares leads where the coordinator says, and no masses lead higher.
                let after = cluster.coordinator.dual();
                let reached = value(lambda, &w, loss, &ways, &shares);
                assert_close(reached, after, 1e-9, after);
                let best = best_by_qp(lambda, &w, &ways, |at| groups[at]);
                let best = value(lambda, &w, loss, &ways, &best);
                prop_assert!(after >= best - 1e-7 * (1.0 + best.abs()), "{after} {best}");
                // One share η for all is never better, and averaging neither. Brute force over η.
                let first: Vec<Way> = proposals.iter().map(|p| p.ways[0].clone()).collect();
                for step in 0..=200 {
                    let eta = f64::from(step) / 200.0;
                    let all = value(lambda, &w, loss, &first, &vec![eta; first.len()]);
                    prop_assert!(after >= all - 1e-8 * (1.0 + all.abs()), "{eta}: {after} {all}");
                }
                prop_assert!(after >= before - 1e-12);
            }
            cluster.commit(&mixtures);
        }
    }

    #[test]
    fn proposals_read_the_gap_of_the_weights_that_were_sent(
        problem in any_polytope(), count in 1usize..=4, lambda in 0.05..2.0f64, method in 0usize..6,
    ) {
        let problems = shards_of(&problem, count);
        let mut cluster = Cluster::new(&problems, whole(&problem, lambda), &methods()[method]);
        for _ in 0..3 {
            let certificate = cluster.certificate();
            let proposals = cluster.propose(2);
            let readings: Vec<_> = proposals.iter().map(|proposal| proposal.reading).collect();
            let read = cluster.coordinator.certificate(&readings).unwrap();
            assert_close(read.primal, certificate.primal, 1e-10, certificate.primal);
            assert_close(read.gap, certificate.gap, 1e-9, certificate.primal);
            let gap: f64 = readings.iter().map(|reading| reading.gap).sum();
            assert_close(gap, certificate.gap, 1e-9, certificate.primal);
            let mixtures = cluster.coordinator.step(&proposals).unwrap();
            cluster.commit(&mixtures);
        }
    }

    #[test]
    fn shards_add_up_what_their_heuristics_may_have_missed(
        problem in any_polytope(), count in 1usize..=4, lambda in 0.05..2.0f64,
    ) {
        let by_search = |part: Enumerated| SlackRescaled::by_search(part).unwrap();
        let problems: Vec<_> = shards_of(&problem, count).into_iter().map(by_search).collect();
        let mut cluster = Cluster::new(&problems, whole(&problem, lambda), &methods()[2]);
        for _ in 0..3 {
            cluster.go_round(2);
            let found = cluster.certificate();
            let (missed, w) = (found.missed.unwrap(), cluster.coordinator.weights());
            prop_assert_eq!(found.quality, Quality::Heuristic);
            // All outputs, tried one by one, stay below what is proven.
            let truth = rescaled(&problem).primal(lambda, &w);
            prop_assert!(truth <= found.primal + missed + 1e-9, "{truth} {found:?}");
            prop_assert!(found.primal <= truth.max(found.dual) + 1e-9, "{truth} {found:?}");
            // One machine knows as much.
            let alone = by_search(problem.clone());
            let (mut workspace, mut y) = (alone.workspace(), 0);
            let mut missed_in = |i: usize| {
                alone.prepare(i, &w, &mut workspace);
                let own = alone.oracle_within(i, &w, Accuracy::Exact, &mut workspace, &mut y);
                problem.share(i) * own.unwrap()
            };
            let all: f64 = (0..problem.blocks.len()).map(&mut missed_in).sum();
            assert_close(missed, all, 1e-9, 1.0);
        }
    }

    #[test]
    fn with_bounds_the_dual_never_falls_either(
        problem in any_polytope(), count in 1usize..=4, lambda in 0.05..2.0f64, lower in -0.5..0.0f64,
    ) {
        let bounds = || Bounds::new(vec![lower; problem.dim], vec![0.4; problem.dim]).unwrap();
        let parts = shards_of(&problem, count);
        let problems: Vec<_> = parts.into_iter().map(|part| Bounded::new(part, bounds())).collect();
        let settings = &methods()[2];
        let mut cluster = Cluster::new(&problems, whole(&problem, lambda), settings);
        let mut before = 0.0f64;
        for _ in 0..10 {
            cluster.go_round(2);
            let dual = cluster.coordinator.dual();
            prop_assert!(dual >= before - 1e-12 * (1.0 + before.abs()), "{before} {dual}");
            before = dual;
        }
        let certificate = cluster.certificate();
        let (w, point) = (cluster.coordinator.weights(), cluster.point());
        let all = Bounded::new(problem.clone(), bounds());
        let found = audit(&all, lambda, &w, &point, 1e-9, 1).unwrap();
        prop_assert_eq!(found.infeasible, None);
        assert_close(found.certificate.gap, certificate.gap, 1e-9, certificate.primal);
    }

    #[test]
    fn any_mixture_of_ages_is_a_point_of_the_problem(
        problem in any_polytope(), count in 2usize..=4, lambda in 0.05..2.0f64, lost in 0usize..4,
    ) {
        let problems = shards_of(&problem, count);
        let (settings, whole) = (&methods()[2], whole(&problem, lambda));
        let mut cluster = Cluster::new(&problems, whole, settings);
        cluster.go_round(2);
        let lost = lost % problems.len();
        let saved = cluster.shards[lost].to_bytes();
        cluster.go_round(2);
        cluster.go_round(2);
        // A worker is lost and comes back with an old checkpoint. The next round was begun, and is aborted.
        cluster.propose(2);
        let interrupt = Interrupt::new();
        cluster.shards[lost] =
            ShardSolver::restore(&problems[lost], whole, settings, interrupt, &saved).unwrap();
        prop_assert_eq!(cluster.shards[lost].round(), 1);
        let next = cluster.round + 1;
        cluster.shards.iter_mut().for_each(|shard| shard.fence(next));
        cluster.coordinator.forget();
        cluster.certificate();
        let before = cluster.coordinator.dual();
        for _ in 0..5 {
            cluster.go_round(2);
        }
        prop_assert!(cluster.coordinator.dual() >= before - 1e-12);
        let certificate = cluster.certificate();
        let (w, point) = (cluster.coordinator.weights(), cluster.point());
        let found = audit(&problem, lambda, &w, &point, 1e-9, 1).unwrap();
        prop_assert_eq!(found.infeasible, None);
        assert_close(found.certificate.gap, certificate.gap, 1e-9, certificate.primal);
    }
}

/// The best shares of ways by another QP solver; `group` names the sums that are at most 1.
fn best_by_qp(lambda: f64, w: &[f64], ways: &[Way], group: impl Fn(usize) -> usize) -> Vec<f64> {
    let count = ways.len();
    let changes: Vec<Vec<f64>> = ways.iter().map(|way| dense(&way.change, w.len())).collect();
    let groups: Vec<usize> = (0..count).map(group).collect();
    let most = groups.iter().max().map_or(0, |last| last + 1);
    // One variable for each share, and one for the rest of each group.
    let quadratic =
        csc(count + most, count + most, |row, column| match row <= column && column < count {
            true => lambda * dot(&changes[row], &changes[column]),
            false => 0.0,
        });
    let slope = |k: usize| ways[k].loss - lambda * dot(w, &changes[k]);
    let linear: Vec<f64> =
        (0..count + most).map(|at| if at < count { -slope(at) } else { 0.0 }).collect();
    let sums: Vec<_> = (0..most)
        .map(|own| {
            let mine = (0..count).filter(|&k| groups[k] == own).map(|k| (k, 1.0));
            (mine.chain([(count + own, 1.0)]).collect(), 1.0)
        })
        .collect();
    let found = minimise(&quadratic, &linear, &sums, 1e-11);
    found[..count].iter().map(|share| share.clamp(0.0, 1.0)).collect()
}

/// Equal rows on machines of their own: each moves as far as is best for it alone.
fn equal_rows<const K: usize>() -> [Binary; K] {
    let row = || {
        let mut data = LabelledRows::new();
        data.push([(0, 1.0)], &[1], 1.0).unwrap();
        Binary::new(BinaryShape::new(1), data, 1).unwrap()
    };
    std::array::from_fn(|_| row())
}

#[test]
fn taking_every_step_in_full_can_lower_the_dual() {
    let problems = equal_rows::<3>();
    let whole = Whole { lambda: 0.25, total_weight: 3.0 };
    let mut cluster = Cluster::new(&problems, whole, &Settings::default());
    // Each shard alone goes to its best point, and all together go too far.
    let mut added = Vec::new();
    for _ in 0..6 {
        let sum = cluster.coordinator.sum().to_vec();
        cluster.round += 1;
        for shard in &mut cluster.shards {
            let effort = Effort { passes: 3, caution: 1.0 }; // as if the others stood still
            shard.propose(cluster.round, &sum, effort).unwrap();
        }
        let all = vec![Mixture { shares: vec![1.0], keep: 0 }; 3];
        cluster.commit(&all);
        cluster.add_up();
        added.push((sum, cluster.coordinator.dual()));
    }
    assert!(added.windows(2).any(|pair| pair[1].1 < pair[0].1 - 1e-3), "{added:?}");
    // The best shares of the same proposals never do that.
    let mut cluster = Cluster::new(&problems, whole, &Settings::default());
    let mut before = 0.0;
    for _ in 0..6 {
        cluster.go_round(3);
        assert!(cluster.coordinator.dual() >= before);
        before = cluster.coordinator.dual();
    }
    assert!(cluster.certificate().gap < 1e-9);
}

#[test]
fn one_shard_reaches_the_optimum() {
    let problem = doc::toy();
    let lambda = 0.05;
    let settings = Settings { lambda: Some(lambda), tolerance: 1e-9, ..Settings::default() };
    let alone = train(&problem, &settings).unwrap();
    let whole = Whole { lambda, total_weight: 4.0 };
    let problems = [problem];
    let mut cluster = Cluster::new(&problems, whole, &settings);
    for _ in 0..40 {
        cluster.go_round(5);
    }
    let certificate = cluster.certificate();
    assert!(certificate.gap < 1e-6, "{certificate:?}");
    assert_close(certificate.dual, alone.certificate.dual, 1e-6, 1.0);
}
