//! Random small factor graphs with features, and dense versions of everything about them from the
//! formulas.

use super::graphs::{Structure, any_binary_pairwise, any_forest, any_structure};
use super::problems::{Enumerated, EnumeratedBlock};
use super::qp::{self, Optimum};
use super::{dot, minus, norm_sq};
use maxmargin::Rng;
use maxmargin::inference::Inference;
use maxmargin::model::InputError;
use maxmargin::model::factor_graph::{Counting, FactorGraph, Graphs, Patterns, StateLoss, Tie};
use proptest::collection::vec;
use proptest::prelude::*;

/// Factor graphs before they are built, in the simplest form.
#[derive(Debug, Clone)]
pub struct GraphCase {
    pub normalised: bool,
    pub templates: Vec<CaseTemplate>,
    pub graphs: Vec<CaseGraph>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct CaseTemplate {
    pub states: Vec<usize>,
    pub variant: usize,
    pub attributes: usize,
    pub tie: Tie,
    /// If its factors are given by patterns, these and which of them count.
    pub patterns: Option<(Vec<Vec<Option<u32>>>, Counting)>,
}

impl CaseTemplate {
    /// Number of joint states or patterns.
    fn joint(&self) -> usize {
        self.patterns.as_ref().map_or(self.states.iter().product(), |own| own.0.len())
    }

    /// The patterns that count for the states of its variables, from the definition.
    fn counted(&self, own: &[usize]) -> Vec<usize> {
        let Some((rows, counting)) = &self.patterns else { return Vec::new() };
        let fits = |row: &Vec<Option<u32>>| {
            row.iter().zip(own).all(|(state, own)| state.is_none_or(|state| state as usize == *own))
        };
        let all = (0..rows.len()).filter(|&at| fits(&rows[at]));
        all.take(if *counting == Counting::First { 1 } else { usize::MAX }).collect()
    }
}

/// Template, variables, attributes.
pub type CaseFactor = (usize, Vec<u32>, Vec<(u32, f64)>);

#[derive(Debug, Clone)]
pub struct CaseGraph {
    pub weight: f64,
    /// States, true state, cost.
    pub variables: Vec<(usize, u32, f64)>,
    /// All factors, including those over one variable.
    pub factors: Vec<CaseFactor>,
}

/// Whether two factors are over the same two variables, in either order.
fn is_same_pair(a: &[u32], b: &[u32]) -> bool {
    a.len() == 2 && (a == b || (b.len() == 2 && a[0] == b[1] && a[1] == b[0]))
}

impl GraphCase {
    pub fn data(&self) -> Graphs {
        let mut data = Graphs::new();
        for graph in &self.graphs {
            for &(states, truth, cost) in &graph.variables {
                data.push_weighted_variable(states as u32, truth, cost).unwrap();
            }
            for (template, variables, attributes) in &graph.factors {
                let (number, row) = (*template as u32, attributes.iter().copied());
                let CaseTemplate { states, patterns, .. } = &self.templates[*template];
                match patterns {
                    None => data.push_factor(number, variables, row).unwrap(),
                    Some((rows, counting)) => {
                        let patterns = Patterns::new(states, rows, *counting).unwrap();
                        data.push_pattern_factor(number, variables, &patterns, row).unwrap();
                    }
                }
            }
            data.end_graph(graph.weight).unwrap();
        }
        data
    }

    pub fn build(&self, inference: Inference) -> FactorGraph {
        self.try_build(inference).unwrap()
    }

    pub fn try_build(&self, inference: Inference) -> Result<FactorGraph, InputError> {
        let templates = self.templates.iter().map(|t| maxmargin::model::factor_graph::Template {
            states: if t.patterns.is_some() { Vec::new() } else { t.states.clone() },
            patterns: t.patterns.as_ref().map_or(0, |own| own.0.len()),
            attributes: t.attributes,
            tie: t.tie,
        });
        let shape = maxmargin::model::factor_graph::GraphShape { templates: templates.collect() };
        let loss = StateLoss { normalised: self.normalised };
        FactorGraph::new(shape, self.data(), loss, inference)
    }

    /// The first index of each template in w, and the end of all.
    pub fn offsets(&self) -> Vec<usize> {
        let mut offsets = vec![0];
        for template in &self.templates {
            let free = template.joint();
            let size = template.attributes * if template.tie == Tie::Free { free } else { 1 };
            offsets.push(offsets[offsets.len() - 1] + size);
        }
        offsets
    }

    /// The weights of an attribute of a template in a joint state.
    fn features(&self, template: usize, attribute: u32, joint: usize) -> Vec<usize> {
        let CaseTemplate { states, tie, .. } = &self.templates[template];
        let (first, attribute) = (self.offsets()[template], attribute as usize);
        let number = self.templates[template].joint();
        let all: usize = states.iter().product();
        // The state of each variable, the last of which changes fastest.
        let (mut stride, mut own) = (all, Vec::new());
        for count in states {
            stride /= count;
            own.push(joint / stride % count);
        }
        if self.templates[template].patterns.is_some() {
            let counted = self.templates[template].counted(&own);
            return match tie {
                Tie::Diagonal if counted.contains(&attribute) => vec![first + attribute],
                Tie::Diagonal => vec![],
                _ => counted.into_iter().map(|p| first + attribute * number + p).collect(),
            };
        }
        let agree = own.iter().all(|state| *state == own[0]);
        let found = match tie {
            Tie::Free => Some(first + attribute * all + joint),
            Tie::Agree => agree.then_some(first + attribute),
            Tie::Differ => (!agree).then_some(first + attribute),
            Tie::Diagonal => (attribute == joint).then_some(first + attribute),
        };
        found.into_iter().collect()
    }

    pub fn dim(&self) -> usize {
        *self.offsets().last().unwrap()
    }

    pub fn truth(&self, i: usize) -> Vec<u32> {
        self.graphs[i].variables.iter().map(|variable| variable.1).collect()
    }

    /// The variables of example `i` and its tables over two or more of them. Factors over the same two
    /// variables share a table.
    pub fn structure(&self, i: usize) -> Structure {
        let mut structure = self.structure_apart(i);
        let mut shared: Vec<Vec<u32>> = Vec::new();
        for scope in structure.factors {
            if shared.iter().all(|other| !is_same_pair(other, &scope)) {
                shared.push(scope);
            }
        }
        structure.factors = shared;
        structure
    }

    /// The variables of example `i` and its factors over two or more of them, each with its own table, as
    /// in soft training.
    pub fn structure_apart(&self, i: usize) -> Structure {
        let graph = &self.graphs[i];
        let large = graph.factors.iter().filter(|factor| factor.1.len() > 1);
        Structure {
            states: graph.variables.iter().map(|variable| variable.0).collect(),
            factors: large.map(|factor| factor.1.clone()).collect(),
        }
    }

    /// The joint feature map φ(xᵢ, y), term by term from the formula.
    pub fn phi(&self, i: usize, y: &[u32]) -> Vec<f64> {
        let mut phi = vec![0.0; self.dim()];
        for (template, variables, attributes) in &self.graphs[i].factors {
            let states = &self.templates[*template].states;
            let joint = variables
                .iter()
                .zip(states)
                .fold(0, |joint, (&v, states)| joint * states + y[v as usize] as usize);
            for &(attribute, value) in attributes {
                for at in self.features(*template, attribute, joint) {
                    phi[at] += value;
                }
            }
        }
        phi
    }

    /// The features that each part of example `i` adds to φ, in the layout of the topology, states first.
    pub fn part_features(&self, i: usize) -> Vec<Vec<f64>> {
        self.part_features_in(i, &self.structure(i))
    }

    /// The same if each factor has its own table.
    pub fn part_features_apart(&self, i: usize) -> Vec<Vec<f64>> {
        self.part_features_in(i, &self.structure_apart(i))
    }

    fn part_features_in(&self, i: usize, structure: &Structure) -> Vec<Vec<f64>> {
        let places = structure.offsets();
        let mut parts = vec![vec![0.0; self.dim()]; *places.last().unwrap()];
        let (variables, mut apart) = (structure.states.len(), 0);
        let is_shared = structure.factors.len() < self.structure_apart(i).factors.len();
        for (template, scope, attributes) in &self.graphs[i].factors {
            let mut is_flipped = false;
            let table = match scope[..] {
                [v] => v as usize,
                _ if is_shared => {
                    let own = |other: &Vec<u32>| is_same_pair(other, scope) || other == scope;
                    let found = match scope.len() {
                        2 => structure.factors.iter().position(own).unwrap(),
                        // The tables of larger factors are in the order of these factors.
                        _ => {
                            let large = structure.factors.iter().enumerate();
                            apart += 1;
                            large.filter(|(_, other)| other.len() > 2).nth(apart - 1).unwrap().0
                        }
                    };
                    is_flipped = structure.factors[found] != *scope;
                    variables + found
                }
                _ => {
                    apart += 1;
                    variables + apart - 1
                }
            };
            let states = &self.templates[*template].states;
            let width = states.iter().product::<usize>();
            for joint in 0..width {
                let place = match is_flipped {
                    true => joint % states[1] * states[0] + joint / states[1],
                    false => joint,
                };
                for &(attribute, value) in attributes {
                    for feature in self.features(*template, attribute, joint) {
                        parts[places[table] + place][feature] += value;
                    }
                }
            }
        }
        parts
    }

    /// The loss of each part of example `i`.
    pub fn part_losses(&self, i: usize) -> Vec<f64> {
        self.part_losses_in(i, &self.structure(i))
    }

    /// The same if each factor has its own table.
    pub fn part_losses_apart(&self, i: usize) -> Vec<f64> {
        self.part_losses_in(i, &self.structure_apart(i))
    }

    fn part_losses_in(&self, i: usize, structure: &Structure) -> Vec<f64> {
        let places = structure.offsets();
        let mut losses = vec![0.0; *places.last().unwrap()];
        let costs = self.costs(i);
        for (v, &(states, truth, _)) in self.graphs[i].variables.iter().enumerate() {
            for state in (0..states).filter(|&state| state != truth as usize) {
                losses[places[v] + state] = costs[v];
            }
        }
        losses
    }

    fn costs(&self, i: usize) -> Vec<f64> {
        let costs: Vec<f64> = self.graphs[i].variables.iter().map(|v| v.2).collect();
        let sum: f64 = costs.iter().sum();
        if self.normalised && sum > 0.0 { costs.iter().map(|c| c / sum).collect() } else { costs }
    }

    /// ψᵢ(y) = φ(xᵢ, yᵢ) − φ(xᵢ, y).
    pub fn psi(&self, i: usize, y: &[u32]) -> Vec<f64> {
        minus(&self.phi(i, &self.truth(i)), &self.phi(i, y))
    }

    /// The loss, from the formula in its documentation.
    pub fn loss(&self, i: usize, y: &[u32]) -> f64 {
        let (truth, costs) = (self.truth(i), self.costs(i));
        (0..y.len()).filter(|&v| y[v] != truth[v]).map(|v| costs[v]).sum()
    }

    /// Hᵢ(y; w).
    pub fn augmented(&self, i: usize, y: &[u32], w: &[f64]) -> f64 {
        self.loss(i, y) - dot(w, &self.psi(i, y))
    }

    /// The same problem with every ψ and loss written out.
    pub fn enumerate(&self) -> Enumerated {
        let block = |i: usize| {
            let all = self.structure(i).labellings();
            let corners = all.iter().map(|y| (self.psi(i, y), self.loss(i, y))).collect();
            EnumeratedBlock { weight: self.graphs[i].weight, corners }
        };
        Enumerated { dim: self.dim(), blocks: (0..self.graphs.len()).map(block).collect() }
    }

    fn share(&self, i: usize) -> f64 {
        self.graphs[i].weight / self.graphs.iter().map(|graph| graph.weight).sum::<f64>()
    }

    /// The relaxed primal objective: the hinge is a maximum over the local polytope, found by an
    /// interior point method.
    pub fn relaxed_primal(&self, lambda: f64, w: &[f64]) -> f64 {
        let hinge = |i: usize| {
            let features = self.part_features(i);
            let losses = self.part_losses(i);
            let scores: Vec<f64> =
                features.iter().zip(&losses).map(|(part, loss)| dot(part, w) + loss).collect();
            self.structure(i).relaxed(&scores) - dot(w, &self.phi(i, &self.truth(i)))
        };
        let risk: f64 = (0..self.graphs.len()).map(|i| self.share(i) * hinge(i)).sum();
        0.5 * lambda * norm_sq(w) + risk
    }

    /// The optimum of the relaxed dual, in which each example has a point of its local polytope. It is an
    /// ordinary QP over the masses of all parts of all examples.
    pub fn relaxed_optimum(&self, lambda: f64) -> Optimum {
        self.relaxed_optimum_in(lambda, |i| self.structure(i))
    }

    /// The same if each factor has its own table, as in soft problems. Where factors share their variables, that
    /// relaxation is weaker.
    pub fn relaxed_optimum_apart(&self, lambda: f64) -> Optimum {
        self.relaxed_optimum_in(lambda, |i| self.structure_apart(i))
    }

    fn relaxed_optimum_in(&self, lambda: f64, structure: impl Fn(usize) -> Structure) -> Optimum {
        let (mut columns, mut equations) = (Vec::new(), Vec::new());
        let mut truth = vec![0.0; self.dim()];
        for i in 0..self.graphs.len() {
            let (first, share, structure) = (columns.len(), self.share(i), structure(i));
            let parts = self.part_features_in(i, &structure);
            for (features, loss) in parts.iter().zip(self.part_losses_in(i, &structure)) {
                let column: Vec<f64> = features.iter().map(|x| -share * x / lambda).collect();
                columns.push((column, share * loss));
            }
            for (row, right) in structure.equations() {
                equations.push((row.iter().map(|&(at, c)| (first + at, c)).collect(), right));
            }
            super::add_scaled(&mut truth, share / lambda, &self.phi(i, &self.truth(i)));
        }
        // w = truth + Σ mass · column, and D = Σ mass · loss − λ/2 ‖w‖².
        let quadratic = qp::csc(columns.len(), columns.len(), |row, column| {
            if row <= column { lambda * dot(&columns[row].0, &columns[column].0) } else { 0.0 }
        });
        let linear: Vec<f64> =
            columns.iter().map(|(column, loss)| lambda * dot(column, &truth) - loss).collect();
        let masses = qp::minimise(&quadratic, &linear, &equations, 1e-10);
        let (mut w, mut l) = (truth, 0.0);
        for (mass, (column, loss)) in masses.iter().zip(&columns) {
            super::add_scaled(&mut w, *mass, column);
            l += mass * loss;
        }
        Optimum { below: l - 0.5 * lambda * norm_sq(&w), above: self.relaxed_primal(lambda, &w) }
    }
}

/// Adds features, costs and truths to structures. With `tieless`, every factor has real-valued attributes
/// and every mistake has a cost.
fn dress(structures: Vec<Structure>, seed: u64, tieless: bool) -> GraphCase {
    let mut rng = Rng::new(seed);
    let mut case =
        GraphCase { normalised: rng.below(2) == 0, templates: Vec::new(), graphs: Vec::new() };
    let weighted = rng.below(3) == 0;
    for structure in structures {
        let weight = if weighted { 0.2 + rng.unit_f64() } else { 1.0 };
        let variables = structure.states.iter().map(|&states| {
            let cost = match rng.below(4) {
                0 if !tieless => 0.0,
                1 => 0.5 + rng.unit_f64(),
                _ => 1.0,
            };
            (states, rng.below(states) as u32, cost)
        });
        let variables: Vec<_> = variables.collect();
        let mut scopes: Vec<Vec<u32>> = structure.factors.clone();
        for v in 0..structure.states.len() as u32 {
            let count = if tieless { 1 } else { [0, 1, 1, 2][rng.below(4)] };
            scopes.extend((0..count).map(|_| vec![v]));
        }
        rng.shuffle(&mut scopes);
        let mut factors = Vec::new();
        for scope in scopes {
            let states: Vec<usize> = scope.iter().map(|&v| structure.states[v as usize]).collect();
            let attributes = 1 + states.len() % 3;
            let variant = rng.below(2);
            // Some templates have joint states that share weights.
            let tie = match states.len() + variant {
                _ if tieless => Tie::Free,
                1 if attributes > 1 => Tie::Diagonal,
                3 => [Tie::Differ, Tie::Agree][states[0] % 2],
                _ => Tie::Free,
            };
            let kind = CaseTemplate { states, variant, attributes, tie, patterns: None };
            let known = case.templates.iter().position(|template| *template == kind);
            let template = known.unwrap_or_else(|| {
                case.templates.push(kind);
                case.templates.len() - 1
            });
            let count = if tieless { attributes } else { rng.below(4) };
            let draw = |at: usize| {
                let attribute = if tieless { at } else { rng.below(attributes) } as u32;
                let value = match rng.below(4) {
                    0 if !tieless => [0.0, 1.0, -1.0][rng.below(3)],
                    _ => 4.0 * rng.unit_f64() - 2.0,
                };
                (attribute, value)
            };
            factors.push((template, scope, (0..count).map(draw).collect()));
        }
        case.graphs.push(CaseGraph { weight, variables, factors });
    }
    if case.dim() == 0 {
        // At least one factor must have features.
        let states = case.graphs[0].variables[0].0;
        let (states, tie) = (vec![states], Tie::Free);
        let template = CaseTemplate { states, variant: 9, attributes: 1, tie, patterns: None };
        case.templates.push(template);
        let last = case.templates.len() - 1;
        case.graphs[0].factors.push((last, vec![0], vec![(0, 1.0)]));
    }
    case
}

/// Any factor graphs: with and without cycles, weighted, with ties, with parts that have no features.
pub fn any_graphs() -> impl Strategy<Value = GraphCase> {
    (vec(any_structure(), 1..=3), any::<u64>())
        .prop_map(|(structures, seed)| dress(structures, seed, false))
}

/// Graphs without cycles.
pub fn any_forests() -> impl Strategy<Value = GraphCase> {
    (vec(any_forest(), 1..=3), any::<u64>())
        .prop_map(|(structures, seed)| dress(structures, seed, false))
}

/// Binary and pairwise graphs, most with cycles.
pub fn any_binary_graphs() -> impl Strategy<Value = GraphCase> {
    (vec(any_binary_pairwise(), 1..=3), any::<u64>())
        .prop_map(|(structures, seed)| dress(structures, seed, false))
}

/// Small graphs with cycles and many features. The relaxation has fractional corners, and its optimum
/// lies above the true one.
pub fn frustrated_graphs() -> impl Strategy<Value = GraphCase> {
    (1usize..=3, any::<u64>()).prop_map(|(count, seed)| {
        let factors = vec![vec![0, 1], vec![1, 2], vec![2, 0]];
        let triangle = Structure { states: vec![2; 3], factors };
        dress(vec![triangle; count], seed, true)
    })
}

/// Any graphs whose factors over three variables are given by patterns. Their relaxation is that with whole tables, as
/// `relaxed_optimum` has it.
pub fn any_pattern_graphs() -> impl Strategy<Value = GraphCase> {
    (any_graphs(), any::<u64>())
        .prop_map(|(case, seed)| give_patterns(case, seed))
        .prop_filter("patterns", |case| case.templates.iter().any(|t| t.patterns.is_some()))
}

fn give_patterns(mut case: GraphCase, seed: u64) -> GraphCase {
    let mut rng = Rng::new(seed);
    for template in case.templates.iter_mut().filter(|template| template.states.len() == 3) {
        let mut rows: Vec<Vec<Option<u32>>> = Vec::new();
        for _ in 0..1 + rng.below(5) {
            let row = template.states.iter().map(|&states| match rng.below(4) {
                0 => None,
                _ => Some(rng.below(states) as u32),
            });
            let row = row.collect();
            if !rows.contains(&row) {
                rows.push(row);
            }
        }
        let counting = [Counting::All, Counting::First][rng.below(2)];
        template.attributes = template.attributes.min(rows.len());
        template.tie = [Tie::Free, Tie::Diagonal][rng.below(2)];
        template.patterns = Some((rows, counting));
    }
    let attributes: Vec<usize> = case.templates.iter().map(|t| t.attributes).collect();
    for (template, _, row) in case.graphs.iter_mut().flat_map(|graph| &mut graph.factors) {
        row.retain(|(attribute, _)| (*attribute as usize) < attributes[*template]);
    }
    case
}
