//! DLPW: messages by block minimisation, weights by stochastic subgradient steps (Meshi, Sontag,
//! Jaakkola and Globerson, 2010), and its smoothed form (Hazan and Urtasun, 2010).

use super::layout::Block;
use super::problem::{SoftError, SoftGraph};
use crate::observe::Control;
use crate::util::rng::Rng;
use std::ops::Range;
use std::time::Instant;

/// How DLPW is run.
///
/// ```
/// use maxmargin::model::soft::DlpwSettings;
/// assert_eq!(DlpwSettings::default().temperature, None);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct DlpwSettings {
    /// Passes over the examples. Default: 50.
    pub epochs: u64,
    /// Seconds after which no pass begins. Default: none.
    pub max_seconds: Option<f64>,
    /// Replaces every maximum by a soft one, ε·log Σ exp(·/ε), if it is given. Default: no.
    pub temperature: Option<f64>,
    /// Seed of the order of examples. Default: 1.
    pub seed: u64,
}

impl DlpwSettings {
    /// Passes, unless told otherwise.
    pub const PASSES: u64 = 50;
}

impl Default for DlpwSettings {
    fn default() -> Self {
        Self { epochs: Self::PASSES, max_seconds: None, temperature: None, seed: 1 }
    }
}

/// What DLPW has come to after a pass.
///
/// ```
/// let row = maxmargin::model::soft::DlpwRow { epoch: 1, seconds: 0.5, hard_objective: 0.25 };
/// assert_eq!(row.epoch, 1);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DlpwRow {
    /// Passes so far.
    pub epoch: u64,
    /// Seconds so far, without those for the objective.
    pub seconds: f64,
    /// g(w, δ).
    pub hard_objective: f64,
}

/// What DLPW has found.
///
/// ```
/// # use maxmargin::doc::soft_pictures;
/// use maxmargin::model::soft::{DlpwSettings, dlpw};
/// let found = dlpw(&soft_pictures(0.05), &DlpwSettings::default())?;
/// assert_eq!(found.history.len(), 50);
/// # Ok::<(), maxmargin::model::soft::SoftError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Dlpw {
    /// The weights, without messages.
    pub weights: Vec<f64>,
    /// The messages δ.
    pub messages: Vec<f64>,
    /// One row per pass.
    pub history: Vec<DlpwRow>,
}

/// Minimises the hard objective g(w, δ) over w and δ in turns: for each example the messages of one
/// variable after the other are set to their best, then w takes a subgradient step of length 1/(λt).
/// There is no ρ in it; that of the problem does not matter.
///
/// ```
/// # use maxmargin::doc::soft_pictures;
/// use maxmargin::model::soft::{DlpwSettings, dlpw};
///
/// let soft = soft_pictures(0.05);
/// let found = dlpw(&soft, &DlpwSettings { epochs: 200, ..DlpwSettings::default() })?;
/// let (first, last) = (found.history[0], found.history[199]);
/// assert!(last.hard_objective < first.hard_objective);
/// # Ok::<(), maxmargin::model::soft::SoftError>(())
/// ```
///
/// # Errors
/// A temperature that is not positive.
pub fn dlpw(problem: &SoftGraph, settings: &DlpwSettings) -> Result<Dlpw, SoftError> {
    dlpw_watched(problem, settings, |_| Control::Continue)
}

/// As [`dlpw`], with somebody who sees the row of each pass at once, and may end the training after it.
///
/// ```
/// # use maxmargin::doc::soft_pictures;
/// use maxmargin::model::soft::{DlpwSettings, dlpw_watched};
/// use maxmargin::observe::Control;
///
/// let found = dlpw_watched(&soft_pictures(0.05), &DlpwSettings::default(), |row| {
///     if row.epoch == 3 { Control::Stop } else { Control::Continue }
/// })?;
/// assert_eq!(found.history.len(), 3);
/// # Ok::<(), maxmargin::model::soft::SoftError>(())
/// ```
///
/// # Errors
/// A temperature that is not positive.
pub fn dlpw_watched(
    problem: &SoftGraph,
    settings: &DlpwSettings,
    mut watch: impl FnMut(&DlpwRow) -> Control,
) -> Result<Dlpw, SoftError> {
    if let Some(value) = settings.temperature
        && !(value > 0.0 && value.is_finite())
    {
        return Err(SoftError::NotPositive { name: "temperature", value });
    }
    let layout = &problem.layout;
    let mut state = State {
        problem,
        maximum: Maximum(settings.temperature),
        gradients: vec![0.0; layout.dim],
        steps: 0,
        messages: vec![0.0; layout.messages],
        scores: Vec::new(),
        incoming: Vec::new(),
        belief: Vec::new(),
    };
    let mut order: Vec<usize> = (0..layout.examples.len()).collect();
    let (mut rng, mut seconds, mut history) = (Rng::new(settings.seed), 0.0, Vec::new());
    for epoch in 1..=settings.epochs {
        if settings.max_seconds.is_some_and(|most| seconds >= most) {
            break;
        }
        let begin = Instant::now();
        rng.shuffle(&mut order);
        order.iter().for_each(|&m| state.visit(m));
        seconds += begin.elapsed().as_secs_f64();
        let hard_objective = problem.hard_objective_at(&state.weights(), &state.messages);
        let row = DlpwRow { epoch, seconds, hard_objective };
        history.push(row);
        if watch(&row) == Control::Stop {
            break;
        }
    }
    Ok(Dlpw { weights: state.weights(), messages: state.messages, history })
}

struct State<'p> {
    problem: &'p SoftGraph,
    maximum: Maximum,
    /// The sum of all subgradients so far: with steps 1/(λt), w = −gradients/(λt).
    gradients: Vec<f64>,
    steps: u64,
    messages: Vec<f64>,
    scores: Vec<f64>,
    /// The messages from the factors of a variable, one row each.
    incoming: Vec<f64>,
    belief: Vec<f64>,
}

impl State<'_> {
    /// What the gradients have to be multiplied with to be weights.
    fn factor(&self) -> f64 {
        1.0 / (self.problem.lambda() * self.steps.max(1) as f64)
    }

    fn weights(&self) -> Vec<f64> {
        self.gradients.iter().map(|g| self.factor() * g).collect()
    }

    fn visit(&mut self, m: usize) {
        let layout = &self.problem.layout;
        let blocks = layout.examples[m].clone();
        for v in blocks.start..blocks.start + layout.variables[m] {
            self.update_messages(v, &blocks);
        }
        self.step(m, blocks);
    }

    /// θ̂ of a block, into `scores`.
    fn theta(&mut self, block: &Block) {
        let factor = self.factor();
        let theta = &mut self.scores;
        self.problem.scaled_theta(block, &self.gradients, factor, &self.messages, theta);
    }

    /// Sets the messages between a variable and its factors to their best, all others being fixed: all
    /// terms that they enter become equal.
    fn update_messages(&mut self, v: usize, blocks: &Range<usize>) {
        let layout = &self.problem.layout;
        let variable = &layout.blocks[v];
        let sides = layout.sides[variable.sides.clone()].to_vec();
        if sides.is_empty() {
            return;
        }
        let states = variable.states as usize;
        self.theta(variable);
        self.belief.clone_from(&self.scores);
        // Without the messages that are about to change.
        for side in &sides {
            for (y, belief) in self.belief.iter_mut().enumerate() {
                *belief -= self.messages[side.message + y];
            }
        }
        self.incoming.clear();
        let factors =
            blocks.start + layout.variables[layout.blocks[v].example as usize]..blocks.end;
        for side in &sides {
            let owner = layout.blocks[factors.clone()].iter().find_map(|factor| {
                let own = &layout.sides[factor.sides.clone()];
                own.iter().find(|own| own.message == side.message).map(|own| (factor, *own))
            });
            let Some((factor, own)) = owner else { continue };
            self.theta(factor);
            for y in 0..states {
                let matching = self.scores.iter().enumerate();
                let matching =
                    matching.filter(|(joint, _)| own.message_of(*joint) == side.message + y);
                let best = self.maximum.of(matching.map(|(_, score)| *score));
                let incoming = best + self.messages[side.message + y];
                self.incoming.push(incoming);
                self.belief[y] += incoming;
            }
        }
        let terms = (sides.len() + 1) as f64;
        for (side, incoming) in sides.iter().zip(self.incoming.chunks_exact(states)) {
            for (y, incoming) in incoming.iter().enumerate() {
                self.messages[side.message + y] = incoming - self.belief[y] / terms;
            }
        }
    }

    /// A subgradient step of w on one example.
    fn step(&mut self, m: usize, blocks: Range<usize>) {
        let problem = self.problem;
        let mut found = Vec::new();
        for i in blocks {
            let block = &problem.layout.blocks[i];
            self.theta(block);
            self.maximum.masses(&mut self.scores);
            found.push((i, self.scores.clone()));
        }
        let weight = problem.relative_weight(m);
        for (i, mut masses) in found {
            masses[problem.layout.blocks[i].truth as usize] -= 1.0;
            problem.scatter_features(i, -weight, &masses, &mut self.gradients);
        }
        self.steps += 1;
    }
}

/// A maximum, soft or not.
#[derive(Clone, Copy)]
struct Maximum(Option<f64>);

impl Maximum {
    fn of(self, values: impl Iterator<Item = f64> + Clone) -> f64 {
        let most = values.clone().fold(f64::NEG_INFINITY, f64::max);
        match self.0 {
            Some(t) if most.is_finite() => {
                most + t * values.map(|v| ((v - most) / t).exp()).sum::<f64>().ln()
            }
            _ => most,
        }
    }

    /// Replaces scores by the masses of their maximum.
    fn masses(self, scores: &mut [f64]) {
        let (best, most) = crate::inference::topology::argmax(scores);
        match self.0 {
            None => {
                scores.fill(0.0);
                scores[best] = 1.0;
            }
            Some(t) => {
                scores.iter_mut().for_each(|score| *score = ((*score - most) / t).exp());
                let sum: f64 = scores.iter().sum();
                scores.iter_mut().for_each(|mass| *mass /= sum);
            }
        }
    }
}
