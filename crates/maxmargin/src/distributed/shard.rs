//! The blocks of a shard, and the work on them at a copy of w.

use super::change::Change;
use super::local::{local, share_of};
use super::mix::{Rest, is_mixture, mix};
use super::proposal::{Effort, Mixture, Proposal, ShardReading, Way, Whole};
use crate::certificate::{Answer, Readings, exact_pass_until, read_answers};
#[cfg(feature = "checkpoint")]
use crate::dual::Workers;
use crate::dual::{Block, DualPoint, Shares, add_weights};
use crate::error::TrainError;
use crate::problem::sparse_accumulator::SparseAccumulator;
use crate::problem::{Blocks, Sink as _};
use crate::run::drive::PassEnd;
use crate::run::session::Method as _;
use crate::run::{Beginning, Interrupt, Run, RunHooks};
use crate::settings::Settings;
use crate::solver::BlockCoordinate;
use std::collections::VecDeque;

/// A shard works on while it could gain this share of what it could gain at the start of a round. The rest would be of
/// little worth, because the weights of the others move too, and where remembered corners are exhausted it takes long.
const ENOUGH_OF_GAP: f64 = 0.01;

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
    /// sₖ, and λ/sₖ.
    share: f64,
    lambda: f64,
    /// The blocks as they were committed, their weights, and their part of ℓ.
    pub(super) present: Vec<Block>,
    sum: SparseAccumulator,
    loss: f64,
    /// Room for the way to another point.
    way: SparseAccumulator,
    /// The round of the last commit, and the first one that may be committed.
    pub(super) committed: u64,
    fence: u64,
    proposed: Option<(u64, Vec<Vec<Block>>)>,
    /// The points that were proposed in earlier rounds, the latest first.
    earlier: VecDeque<Vec<Block>>,
    /// Passes since the gaps of all blocks were known.
    passes_since_look: u64,
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
    /// A shard at the truth. Of `settings`, only the method, the seed and the threads are used. λ is that of the whole,
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
            lambda: whole.lambda / share,
            present: blocks,
            sum: SparseAccumulator::new(problem.dim()),
            loss: 0.0,
            way: SparseAccumulator::new(problem.dim()),
            committed: 0,
            fence: 0,
            proposed: None,
            earlier: VecDeque::new(),
            passes_since_look: 0,
        };
        shard.add_up();
        Ok(shard)
    }

    /// wₖ, which the blocks of this shard add to the weights: Σ cᵢ/(λC)·Bᵢ(pᵢ(yᵢ) − μᵢ).
    pub fn sum(&self) -> &[f64] {
        &self.sum.change
    }

    /// What the blocks of this shard add to ℓ.
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

    /// Calls all oracles at the weights `sum` of all shards together (with bounds, what the weights are clipped from),
    /// works on the blocks for some passes, and proposes the points that both have found. Nothing changes before the
    /// proposal is [committed](Self::commit).
    ///
    /// # Errors
    /// Weights of another size, numbers that are not finite, or a round that is over.
    pub fn propose(
        &mut self,
        round: u64,
        sum: &[f64],
        effort: Effort,
    ) -> Result<Proposal, TrainError> {
        if round <= self.committed || round < self.fence {
            let (over, least) = (round, self.fence.max(self.committed + 1));
            let why = format!("round {over} is over; the next one is {least} or later");
            return Err(TrainError::Shard { why });
        }
        self.check_size(sum)?;
        let Effort { passes, caution } = effort;
        if !(caution >= 1.0 && caution.is_finite()) {
            let why = format!("the caution is {caution}; it must be a number of at least 1");
            return Err(TrainError::Shard { why });
        }
        // At λ/σ′ the own weights count σ′ times, so the others are what is left of `sum`.
        let Self { run, method, .. } = self;
        run.state.lambda = self.lambda / caution;
        let mut others = sum.to_vec();
        let own = self.sum.touched.iter();
        own.for_each(|&place| others[place] -= caution * self.sum.change[place]);
        run.state.set_elsewhere(others);
        method.write_blocks(run);
        method.go_on_from(run, &self.present);
        let (reading, corner) = self.look_at_all(true)?;
        // Work on until this is left to gain at the weights of the others, which are about to move too.
        let enough = ENOUGH_OF_GAP * (reading.gap / self.share).max(0.0);
        self.run.settings.set_tolerance(enough);
        self.work(passes)?;
        let Self { run, method, .. } = self;
        method.write_blocks(run);
        let mut points = vec![run.state.blocks.clone()];
        points.extend(corner);
        let ways = points.iter().map(|blocks| self.way_to(blocks)).collect();
        let oracle_calls = self.run.totals.oracle_calls;
        self.proposed = Some((round, points));
        Ok(Proposal { ways, reading, oracle_calls })
    }

    /// Makes some passes. As in a run on one machine, an exact pass refreshes what is known of the gaps now and then,
    /// and whenever no block seems to have a gap any more.
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
                self.look_at_all(false)?;
                looked = true;
            }
        }
        Ok(())
    }

    /// Calls all oracles at the point of the method, and tells the method the gaps of all blocks. If the corner is
    /// wanted and nothing has interrupted the pass, also returns the point at which every block is at its best
    /// corner. There, a block without a gap stays where it is.
    fn look_at_all(
        &mut self,
        wants_corner: bool,
    ) -> Result<(ShardReading, Option<Vec<Block>>), TrainError> {
        let Self { run, method, interrupt, problem, .. } = self;
        let problem = *problem;
        method.write_blocks(run);
        run.rebuild();
        let (state, workers) = run.state_and_workers();
        let (blocks, mut answers) = (&state.blocks, Vec::<Answer>::new());
        let mut readings = Readings::default();
        let at = (&state.shares, &**blocks, &*state.w);
        let into = (&mut answers, &mut readings);
        let is_whole = read_answers(problem, workers, at, into, &|| interrupt.is_raised());
        let corner = (wants_corner && is_whole).then(|| {
            let best = answers.into_iter().zip(blocks).map(|(answer, block)| {
                match answer.reading.gap > 0.0 {
                    true => Block { parts: answer.corner.parts.into(), loss: answer.corner.loss },
                    false => block.clone(),
                }
            });
            best.collect()
        });
        Ok((self.sum_up(&readings)?, corner))
    }

    /// What readings of all blocks come to; the method learns the gaps if all were read.
    fn sum_up(&mut self, readings: &Readings) -> Result<ShardReading, TrainError> {
        readings.check()?;
        let (risk, size) = (self.share * readings.risk(), self.share * readings.size());
        let gap = self.share * readings.gaps().iter().sum::<f64>();
        let missed = readings.missed().map(|missed| self.share * missed);
        let is_whole = readings.are_whole();
        if is_whole {
            self.method.note_gaps(readings.gaps());
            self.passes_since_look = 0;
        }
        let totals = &mut self.run.totals;
        totals.oracle_calls += readings.calls();
        totals.oracle_failures += readings.failures();
        let failures = totals.oracle_failures;
        let quality = self.problem.quality();
        Ok(ShardReading { risk, gap, size, failures, quality, is_whole, missed })
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
        let Some((_, points)) = self.proposed.take_if(|(own, _)| *own == round) else {
            let why = format!("there is no proposal of round {round} to commit");
            return Err(TrainError::Shard { why });
        };
        if !is_mixture(&mixture.shares, points.len() + self.earlier.len()) {
            self.proposed = Some((round, points));
            let why = format!("the shares {mixture:?} are not those of a mixture");
            return Err(TrainError::Shard { why });
        }
        points.into_iter().rev().for_each(|point| self.earlier.push_front(point));
        self.go_to(&mixture.shares);
        self.earlier.truncate(mixture.keep);
        self.committed = round;
        self.add_up();
        Ok(true)
    }

    /// Moves every block to a mixture of the points that are known. The method stands at the first of them: what it
    /// remembers of the corners there keeps that point's share, and the rest becomes a corner of its own.
    fn go_to(&mut self, shares: &[f64]) {
        let Self { run, method, earlier, present, .. } = self;
        let Some(proposed) = earlier.front() else { return };
        let Rest { newest, others } = Rest::of(shares);
        let others = others.into_iter().zip(earlier.iter().skip(1));
        let others: Vec<(f64, &Vec<Block>)> = others.filter(|(share, _)| *share > 0.0).collect();
        for (i, block) in present.iter_mut().enumerate() {
            if newest == 1.0 {
                block.clone_from(&proposed[i]);
                continue;
            }
            mix(block, &others, i);
            if newest > 0.0 && *block != proposed[i] {
                let rest = block.clone();
                mix(block, &[(newest, proposed)], i);
                method.mix(run, i, newest, (&rest, block));
            }
        }
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
        let mut readings = Readings::default();
        let at = (&shares, &*self.present, &*w);
        exact_pass_until(problem, self.run.workers(), at, &mut readings, &|| interrupt.is_raised());
        self.sum_up(&readings)
    }

    /// The blocks, and the threads to look at them.
    #[cfg(feature = "checkpoint")]
    pub(super) fn present_and_workers(&mut self) -> (&[Block], &mut Workers<'p>) {
        (&self.present, self.run.workers())
    }

    fn check_size(&self, sum: &[f64]) -> Result<(), TrainError> {
        let (found, expected) = (sum.len(), self.problem.dim());
        if found != expected {
            return Err(TrainError::Size { what: "weights", found, expected });
        }
        match sum.iter().position(|w| !w.is_finite()) {
            Some(feature) => Err(TrainError::Weight { feature }),
            None => Ok(()),
        }
    }

    fn add_up(&mut self) {
        let Self { problem, run, present, sum, share, lambda, .. } = self;
        sum.clear();
        self.loss = *share * add_to(sum, *problem, &run.state.shares, *lambda, present);
    }

    /// The way from the present point to other blocks.
    fn way_to(&mut self, blocks: &[Block]) -> Way {
        let Self { problem, run, sum, way, share, lambda, .. } = self;
        let loss = *share * add_to(way, *problem, &run.state.shares, *lambda, blocks);
        sum.touched.iter().for_each(|&place| way.add(place, -sum.change[place]));
        Way { change: Change::taken_from(way), loss: loss - self.loss }
    }
}

/// Adds the weights of blocks to a sum, and returns their part of ℓ among the examples of the shard.
fn add_to(
    sum: &mut SparseAccumulator,
    problem: &dyn Blocks,
    shares: &Shares,
    lambda: f64,
    blocks: &[Block],
) -> f64 {
    add_weights(problem, shares, lambda, blocks, 0..blocks.len(), sum);
    shares.iter().zip(blocks).map(|(share, block)| share * block.loss).sum()
}
