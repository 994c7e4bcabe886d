//! The blocks of a shard, and the work on them at a copy of w.

use super::MEMORY;
use super::change::Change;
use super::coordinator::Mixture;
use super::local::{local, share_of};
use super::mix::mix;
use crate::certificate::{BlockReading, check_readings, exact_pass_until};
#[cfg(feature = "checkpoint")]
use crate::dual::Workers;
use crate::dual::{Block, DualPoint, Shares, add_weights};
use crate::error::TrainError;
use crate::problem::{Blocks, Quality};
use crate::run::drive::PassEnd;
use crate::run::session::Method as _;
use crate::run::{Beginning, Interrupt, Run, RunHooks};
use crate::settings::Settings;
use crate::solver::BlockCoordinate;
use std::collections::VecDeque;

/// What a shard has to know of the whole.
///
/// ```
/// // 1000 examples of weight 1 in all shards together.
/// let whole = maxmargin::distributed::Whole { lambda: 0.001, total_weight: 1000.0 };
/// assert_eq!(whole.lambda * whole.total_weight, 1.0);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Whole {
    /// The regularization strength λ.
    pub lambda: f64,
    /// The weights of the examples of all shards, added up.
    pub total_weight: f64,
}

/// What a shard would like to change.
///
/// ```
/// let nothing = maxmargin::distributed::Proposal::default();
/// assert!(nothing.change.values.is_empty() && nothing.loss == 0.0);
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Proposal {
    /// Δwₖ, in the scale of the whole.
    pub change: Change,
    /// Δℓₖ, in the scale of the whole.
    pub loss: f64,
    /// The shard's part of the gap, as far as its visits know it: a guess.
    pub known_gap: Option<f64>,
    /// The oracle calls of the shard so far.
    pub oracle_calls: u64,
}

/// What an exact pass has read of a shard, in the scale of the whole.
///
/// ```
/// assert!(!maxmargin::distributed::ShardReading::default().is_whole);
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ShardReading {
    /// Σ cᵢ/C max_y Hᵢ(y; w).
    pub risk: f64,
    /// The gaps of the blocks, added up.
    pub gap: f64,
    /// The size of losses and scores, to which rounding errors are relative.
    pub size: f64,
    /// How often the oracle has failed so far.
    pub failures: u64,
    /// What the oracle promises.
    pub quality: Quality,
    /// Whether all blocks were read. They were not if the shard was interrupted.
    pub is_whole: bool,
}

/// Some of the examples of a training, with their blocks of the dual; see [the module](super).
///
/// A shard is a problem of its own. With cᵢ/C = sₖ·cᵢ/Cₖ, where sₖ = Cₖ/C, its part of the dual is sₖ times
/// the dual of its examples at λ/sₖ, in which the weights of the other shards are a constant. So the engine
/// works on it as on any other problem.
///
/// Commits are numbered by rounds and made once: a commit that comes twice, or after a later round has begun,
/// changes nothing.
pub struct ShardSolver<'p> {
    pub(super) problem: &'p dyn Blocks,
    run: Run<'p, 'static>,
    method: BlockCoordinate,
    interrupt: Interrupt,
    /// sₖ.
    share: f64,
    /// The blocks as they were committed, their weights, and their part of ℓ.
    pub(super) present: Vec<Block>,
    sum: Vec<f64>,
    loss: f64,
    /// The round of the last commit, and the first one that may be committed.
    pub(super) committed: u64,
    fence: u64,
    proposed: Option<(u64, Vec<Block>)>,
    /// The proposals of earlier rounds, the latest first.
    earlier: VecDeque<Vec<Block>>,
    /// Passes since the gaps of all blocks were known.
    passes_since_look: u64,
    /// The least share that a block ever had of its starting point; see `go_on_from`.
    least: Vec<f64>,
}

impl std::fmt::Debug for ShardSolver<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (examples, committed) = (self.present.len(), self.committed);
        f.debug_struct("ShardSolver")
            .field("examples", &examples)
            .field("committed", &committed)
            .finish_non_exhaustive()
    }
}

impl<'p> ShardSolver<'p> {
    /// A shard at the truth. Of `settings`, the method, the seed and the threads count; λ is that of the whole,
    /// and there are no limits.
    ///
    /// # Errors
    /// Settings or a problem that make no sense, a problem with a kernel, or a method without blocks to propose.
    pub fn new(
        problem: &'p dyn Blocks,
        whole: Whole,
        settings: &Settings,
        interrupt: Interrupt,
    ) -> Result<Self, TrainError> {
        Self::start(problem, whole, settings, interrupt, DualPoint::at_truth(problem).blocks)
    }

    /// A shard at a point of its problem.
    pub(super) fn start(
        problem: &'p dyn Blocks,
        whole: Whole,
        settings: &Settings,
        interrupt: Interrupt,
        blocks: Vec<Block>,
    ) -> Result<Self, TrainError> {
        let share = share_of(problem, whole)?;
        let settings = Settings { lambda: Some(whole.lambda / share), ..local(problem, settings)? };
        let hooks = RunHooks { interrupt: interrupt.clone(), ..RunHooks::default() };
        let point = Some(DualPoint { blocks: blocks.clone() });
        let beginning = Beginning { point, follows_own_run: true, ..Beginning::default() };
        let mut run = Run::start(problem, settings.checked()?, hooks, beginning)?;
        let method = BlockCoordinate::new(&run);
        run.state.set_elsewhere(vec![0.0; problem.dim()]);
        let mut shard = Self {
            problem,
            run,
            method,
            interrupt,
            share,
            present: blocks,
            sum: Vec::new(),
            loss: 0.0,
            committed: 0,
            fence: 0,
            proposed: None,
            earlier: VecDeque::new(),
            passes_since_look: 0,
            least: Vec::new(),
        };
        shard.add_up();
        Ok(shard)
    }

    /// wₖ, which the blocks of this shard add to the weights: Σ cᵢ/(λC)·Bᵢ(pᵢ(yᵢ) − μᵢ).
    pub fn sum(&self) -> &[f64] {
        &self.sum
    }

    /// What they add to ℓ.
    pub fn loss(&self) -> f64 {
        self.loss
    }

    /// The blocks as they were committed last.
    pub fn point(&self) -> DualPoint {
        DualPoint { blocks: self.present.clone() }
    }

    /// The round of the last commit; 0 before the first one.
    pub fn round(&self) -> u64 {
        self.committed
    }

    /// Works on the blocks for some passes, where all shards together have the weights `sum` (with bounds, what
    /// the weights are clipped from), and proposes what has come of it. Nothing is changed before it is
    /// [committed](Self::commit).
    ///
    /// # Errors
    /// Weights of another size, numbers that are not finite, or a round that is over.
    pub fn propose(
        &mut self,
        round: u64,
        sum: &[f64],
        passes: usize,
    ) -> Result<Proposal, TrainError> {
        if round <= self.committed || round < self.fence {
            let (over, least) = (round, self.fence.max(self.committed + 1));
            let why = format!("round {over} is over; the next one is {least} or later");
            return Err(TrainError::Shard { why });
        }
        self.check_size(sum)?;
        let Self { run, method, .. } = self;
        run.state.set_elsewhere(sum.iter().zip(&self.sum).map(|(all, own)| all - own).collect());
        method.write_blocks(run);
        method.go_on_from(run, &self.present, &mut self.least);
        run.rebuild();
        self.work(passes)?;
        let Self { run, method, .. } = self;
        method.write_blocks(run);
        let blocks = run.state.blocks.clone();
        let (new, loss) = self.weights_of(&blocks);
        let change = Change::between(&self.sum, &new);
        let known_gap = self.method.known_gap().map(|gap| self.share * gap);
        let oracle_calls = self.run.totals.oracle_calls;
        let loss = loss - self.loss;
        self.proposed = Some((round, blocks));
        Ok(Proposal { change, loss, known_gap, oracle_calls })
    }

    /// Makes some passes. As in a run on one machine, an exact pass refreshes what is known of the gaps now and then;
    /// also if no block seems to have a gap any more, for the others may have moved w since the blocks were visited.
    fn work(&mut self, passes: usize) -> Result<(), TrainError> {
        let (mut left, mut looked) = (passes, false);
        while left > 0 && !self.interrupt.is_raised() {
            let is_early = self.method.pass(&mut self.run, 0)? == PassEnd::Early;
            left -= usize::from(!is_early);
            self.passes_since_look += 1;
            if is_early && looked {
                return Ok(());
            }
            if is_early || self.passes_since_look >= self.run.settings.gap_every {
                self.look_at_all()?;
                looked = true;
            }
        }
        Ok(())
    }

    /// Lets the method know the gaps of all blocks where it stands.
    fn look_at_all(&mut self) -> Result<(), TrainError> {
        let Self { run, method, interrupt, problem, .. } = self;
        method.write_blocks(run);
        run.rebuild();
        let (state, workers) = run.state_and_workers();
        let at = (&state.shares, &*state.blocks, &*state.w);
        let mut readings = Vec::new();
        let is_over = || interrupt.is_raised();
        if exact_pass_until(*problem, workers, at, &mut readings, &is_over) {
            check_readings(&readings)?;
            let gaps: Vec<f64> = readings.iter().map(|reading| reading.gap).collect();
            method.note_gaps(&gaps);
        }
        self.passes_since_look = 0;
        run.totals.oracle_calls += readings.iter().filter(|reading| reading.is_read).count() as u64;
        Ok(())
    }

    /// Moves the blocks as far as the coordinator says. Returns false if the round was committed before.
    ///
    /// # Errors
    /// A round for which there is no proposal, because another one has begun or because the shard was started
    /// anew; or shares that are not those of a mixture.
    pub fn commit(&mut self, round: u64, mixture: &Mixture) -> Result<bool, TrainError> {
        if round <= self.committed {
            return Ok(false);
        }
        let Some((_, blocks)) = self.proposed.take_if(|(own, _)| *own == round) else {
            let why = format!("there is no proposal of round {round} to commit");
            return Err(TrainError::Shard { why });
        };
        let Mixture { newest, earlier } = mixture;
        let shares = || std::iter::once(newest).chain(earlier);
        let whole: f64 = shares().sum();
        let known = self.earlier.len() >= earlier.len();
        if !(known && shares().all(|share| *share >= 0.0) && whole <= 1.0 + 1e-9) {
            self.proposed = Some((round, blocks));
            let why = format!("the shares {mixture:?} are not those of a mixture");
            return Err(TrainError::Shard { why });
        }
        let points = std::iter::once(&blocks).chain(&self.earlier);
        let points: Vec<(f64, &Vec<Block>)> =
            shares().copied().zip(points).filter(|(share, _)| *share > 0.0).collect();
        for (i, block) in self.present.iter_mut().enumerate() {
            mix(block, &points, i);
        }
        self.earlier.push_front(blocks);
        self.earlier.truncate(MEMORY);
        self.committed = round;
        self.add_up();
        Ok(true)
    }

    /// Refuses all commits of rounds before this one from now on, and forgets the proposals so far.
    pub fn fence(&mut self, round: u64) {
        self.fence = self.fence.max(round);
        if self.proposed.as_ref().is_some_and(|(own, _)| *own < self.fence) {
            self.proposed = None;
        }
        self.earlier.clear();
    }

    /// Calls all oracles at the weights that all shards together have (with bounds, what they are clipped from).
    ///
    /// # Errors
    /// Weights of another size, or numbers that are not finite.
    pub fn check(&mut self, sum: &[f64]) -> Result<ShardReading, TrainError> {
        self.check_size(sum)?;
        let mut w = sum.to_vec();
        if let Some(bounds) = self.problem.bounds() {
            w.iter_mut().enumerate().for_each(|(at, w)| *w = bounds.clip(at, *w));
        }
        let shares = Shares::new(self.problem);
        let (problem, interrupt) = (self.problem, &self.interrupt);
        let mut readings = Vec::new();
        let at = (&shares, &*self.present, &*w);
        let is_whole = exact_pass_until(problem, self.run.workers(), at, &mut readings, &|| {
            interrupt.is_raised()
        });
        check_readings(&readings)?;
        let total = |part: fn(&BlockReading) -> f64| -> f64 {
            let parts = shares.iter().zip(&readings);
            self.share * parts.map(|(share, reading)| share * part(reading)).sum::<f64>()
        };
        let (risk, size) = (total(|reading| reading.hinge), total(BlockReading::size));
        let gap = self.share * readings.iter().map(|reading| reading.gap).sum::<f64>();
        let failed = readings.iter().filter(|reading| reading.failed).count() as u64;
        let totals = &mut self.run.totals;
        totals.oracle_calls += readings.iter().filter(|reading| reading.is_read).count() as u64;
        totals.oracle_failures += failed;
        let failures = totals.oracle_failures;
        if is_whole {
            let gaps: Vec<f64> = readings.iter().map(|reading| reading.gap).collect();
            self.method.note_gaps(&gaps);
            self.passes_since_look = 0;
        }
        Ok(ShardReading { risk, gap, size, failures, quality: problem.quality(), is_whole })
    }

    /// The blocks, and the threads to look at them.
    #[cfg(feature = "checkpoint")]
    pub(super) fn present_and_workers(&mut self) -> (&[Block], &mut Workers<'p>) {
        (&self.present, self.run.workers())
    }

    fn check_size(&self, sum: &[f64]) -> Result<(), TrainError> {
        let (found, expected) = (sum.len(), self.sum.len());
        if found != expected {
            return Err(TrainError::Size { what: "weights", found, expected });
        }
        match sum.iter().position(|w| !w.is_finite()) {
            Some(feature) => Err(TrainError::Weight { feature }),
            None => Ok(()),
        }
    }

    fn add_up(&mut self) {
        (self.sum, self.loss) = self.weights_of(&self.present);
    }

    /// The weights of blocks, and their part of ℓ.
    fn weights_of(&self, blocks: &[Block]) -> (Vec<f64>, f64) {
        let mut w = vec![0.0; self.problem.dim()];
        let (shares, lambda) = (&self.run.state.shares, self.run.state.lambda);
        add_weights(self.problem, shares, lambda, blocks, 0..blocks.len(), &mut w);
        let loss: f64 = shares.iter().zip(blocks).map(|(share, block)| share * block.loss).sum();
        (w, self.share * loss)
    }
}
