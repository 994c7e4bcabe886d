//! DLPW: messages by block minimisation, weights by stochastic subgradient steps (Meshi, Sontag,
//! Jaakkola and Globerson, 2010), and its smoothed form (Hazan and Urtasun, 2010). Meshi, Srebro and Hazan
//! (2015) compare soft constraints with it. It has no dual point and no certificate.

use anyhow::{Result, ensure};
use maxmargin::Rng;
use maxmargin::model::soft::{SoftBlocks, SoftGraph};
use maxmargin::observe::Control;
use std::time::Instant;

/// How DLPW is run.
///
/// ```
/// use maxmargin_lab::dlpw::DlpwSettings;
/// assert_eq!(DlpwSettings::default().temperature, None);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct DlpwSettings {
    /// Passes over the examples. Default: 50.
    pub passes: u64,
    /// Seconds after which no pass begins. Default: no limit.
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
        Self { passes: Self::PASSES, max_seconds: None, temperature: None, seed: 1 }
    }
}

/// The state of DLPW after a pass.
///
/// ```
/// let row = maxmargin_lab::dlpw::DlpwRow { pass: 1, seconds: 0.5, hard_objective: 0.25 };
/// assert_eq!(row.pass, 1);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DlpwRow {
    /// Passes so far.
    pub pass: u64,
    /// Seconds so far, without those for the objective.
    pub seconds: f64,
    /// g(w, δ).
    pub hard_objective: f64,
}

/// What DLPW has found.
///
/// ```
/// # use maxmargin::doc::soft_pictures;
/// use maxmargin_lab::dlpw::{DlpwSettings, dlpw};
/// let found = dlpw(&soft_pictures(0.05), &DlpwSettings::default())?;
/// assert_eq!(found.history.len(), 50);
/// # Ok::<(), anyhow::Error>(())
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
/// The method has no ρ; that of the problem does not matter.
///
/// ```
/// # use maxmargin::doc::soft_pictures;
/// use maxmargin_lab::dlpw::{DlpwSettings, dlpw};
///
/// let soft = soft_pictures(0.05);
/// let found = dlpw(&soft, &DlpwSettings { passes: 200, ..DlpwSettings::default() })?;
/// let (first, last) = (found.history[0], found.history[199]);
/// assert!(last.hard_objective < first.hard_objective);
/// # Ok::<(), anyhow::Error>(())
/// ```
///
/// # Errors
/// A temperature that is not positive.
pub fn dlpw(problem: &SoftGraph, settings: &DlpwSettings) -> Result<Dlpw> {
    dlpw_watched(problem, settings, |_| Control::Continue)
}

/// Like [`dlpw`], but `watch` sees the row of each pass at once, and may end the training after it.
///
/// ```
/// # use maxmargin::doc::soft_pictures;
/// use maxmargin::observe::Control;
/// use maxmargin_lab::dlpw::{DlpwSettings, dlpw_watched};
///
/// let found = dlpw_watched(&soft_pictures(0.05), &DlpwSettings::default(), |row| {
///     if row.pass == 3 { Control::Stop } else { Control::Continue }
/// })?;
/// assert_eq!(found.history.len(), 3);
/// # Ok::<(), anyhow::Error>(())
/// ```
///
/// # Errors
/// A temperature that is not positive.
pub fn dlpw_watched(
    problem: &SoftGraph,
    settings: &DlpwSettings,
    mut watch: impl FnMut(&DlpwRow) -> Control,
) -> Result<Dlpw> {
    if let Some(value) = settings.temperature {
        ensure!(
            value > 0.0 && value.is_finite(),
            "the temperature is {value}; a positive finite number is needed"
        );
    }
    let blocks = problem.blocks();
    let mut state = State {
        blocks,
        lambda: problem.lambda(),
        maximum: Maximum(settings.temperature),
        gradients: vec![0.0; blocks.dim()],
        steps: 0,
        messages: vec![0.0; blocks.messages()],
        scores: Vec::new(),
        incoming: Vec::new(),
        belief: Vec::new(),
    };
    let mut order: Vec<usize> = (0..blocks.examples()).collect();
    let (mut rng, mut seconds, mut history) = (Rng::new(settings.seed), 0.0, Vec::new());
    for pass in 1..=settings.passes {
        if settings.max_seconds.is_some_and(|most| seconds >= most) {
            break;
        }
        let begin = Instant::now();
        rng.shuffle(&mut order);
        order.iter().for_each(|&example| state.visit(example));
        seconds += begin.elapsed().as_secs_f64();
        let hard_objective = blocks.hard_objective(&state.weights(), &state.messages);
        let row = DlpwRow { pass, seconds, hard_objective };
        history.push(row);
        if watch(&row) == Control::Stop {
            break;
        }
    }
    Ok(Dlpw { weights: state.weights(), messages: state.messages, history })
}

struct State<'p> {
    blocks: SoftBlocks<'p>,
    lambda: f64,
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
        1.0 / (self.lambda * self.steps.max(1) as f64)
    }

    fn weights(&self) -> Vec<f64> {
        self.gradients.iter().map(|g| self.factor() * g).collect()
    }

    fn visit(&mut self, example: usize) {
        for variable in self.blocks.variables(example) {
            self.update_messages(variable, example);
        }
        self.step(example);
    }

    /// θ̂ of a block, into `scores`.
    fn score(&mut self, block: usize) {
        let factor = self.factor();
        self.blocks.scores(block, &self.gradients, factor, &self.messages, &mut self.scores);
    }

    /// Sets the messages between a variable and its factors to their best, all others being fixed: all
    /// terms that they enter become equal.
    fn update_messages(&mut self, variable: usize, example: usize) {
        let blocks = self.blocks;
        let meetings: Vec<_> =
            blocks.meetings(variable).map(|meeting| meeting.messages()).collect();
        if meetings.is_empty() {
            return;
        }
        self.score(variable);
        self.belief.clone_from(&self.scores);
        // Without the messages that are about to change.
        for messages in &meetings {
            let own = &self.messages[messages.clone()];
            self.belief.iter_mut().zip(own).for_each(|(belief, message)| *belief -= message);
        }
        self.incoming.clear();
        for messages in &meetings {
            let owner = blocks.factors(example).find_map(|factor| {
                let own = blocks.meetings(factor).find(|own| own.messages() == *messages);
                own.map(|own| (factor, own))
            });
            let Some((factor, own)) = owner else { continue };
            self.score(factor);
            for (state, message) in messages.clone().enumerate() {
                let matching = self.scores.iter().enumerate();
                let matching = matching.filter(|(joint, _)| own.message_of(*joint) == message);
                let best = self.maximum.of(matching.map(|(_, score)| *score));
                let incoming = best + self.messages[message];
                self.incoming.push(incoming);
                self.belief[state] += incoming;
            }
        }
        let terms = (meetings.len() + 1) as f64;
        let states = self.belief.len();
        for (messages, incoming) in meetings.iter().zip(self.incoming.chunks_exact(states)) {
            let own = &mut self.messages[messages.clone()];
            for ((message, incoming), belief) in own.iter_mut().zip(incoming).zip(&self.belief) {
                *message = incoming - belief / terms;
            }
        }
    }

    /// A subgradient step of w on one example.
    fn step(&mut self, example: usize) {
        let blocks = self.blocks;
        let mut found = Vec::new();
        for block in blocks.variables(example).start..blocks.factors(example).end {
            self.score(block);
            self.maximum.masses(&mut self.scores);
            found.push((block, self.scores.clone()));
        }
        let weight = blocks.weight(example);
        for (block, mut masses) in found {
            masses[blocks.truth(block)] -= 1.0;
            blocks.add_features(block, -weight, &masses, &mut self.gradients);
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
        let (best, most) = argmax(scores);
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

/// The first of the largest, and its value.
fn argmax(scores: &[f64]) -> (usize, f64) {
    let better = |best: (usize, f64), (at, &score): (usize, &f64)| {
        if score > best.1 { (at, score) } else { best }
    };
    scores.iter().enumerate().fold((0, f64::NEG_INFINITY), better)
}
