//! The blocks of a soft problem, with their features and messages.

use super::joint::Joint;
use super::problem::SoftError;
use crate::model::factor_graph::{Factor, GraphShape, Graphs, Template, Weighting};
use crate::model::multilabel::MultilabelShape;
use crate::model::potts::Potts;
use crate::model::rows::{NotFinite, Row, Rows};
use crate::model::{LabelledRows, factor_graph};
use crate::problem::sparse::SparseVec;
use crate::util::sort;
use std::ops::Range;

/// A variable or a factor of an example.
#[derive(Debug, Clone)]
pub(super) struct Block {
    pub(super) example: u32,
    /// Number of states, or of joint states for a factor, or of parts for a factor that is given by patterns.
    pub(super) states: u32,
    /// Number of states that have features: all states, but only the patterns in a block of patterns.
    pub(super) scored: u32,
    /// The true state. It has no meaning for patterns.
    pub(super) truth: u32,
    /// The index of its patterns, if it is given by some.
    pub(super) joint: Option<u32>,
    /// The index of the first loss of its states, and of its first coordinate for smoothing.
    pub(super) first: usize,
    pub(super) terms: Range<usize>,
    pub(super) sides: Range<usize>,
}

/// Which states of a block have features of a term, and with which weights.
#[derive(Debug, Clone, Copy)]
pub(super) enum States {
    /// Every state has a weight of its own.
    Every,
    /// One state has a weight, and the others have none.
    Only(u32),
    /// The states with a mark share a weight, and the others have none. This is the index of the marks.
    Marked(u32),
    /// Attribute k is a feature of state k only.
    Diagonal,
}

/// Features of a block: the attributes of a row, with weights for some states.
#[derive(Debug, Clone)]
pub(super) struct Term {
    pub(super) row: usize,
    /// The weights of attribute a begin at `start` + a·`stride`.
    pub(super) start: usize,
    pub(super) stride: usize,
    pub(super) states: States,
    /// The squared length of the row.
    pub(super) norm_sq: f64,
}

/// The meeting of a factor and one of its variables, seen from one of the two.
#[derive(Debug, Clone, Copy)]
pub(super) struct Side {
    /// The index of its first message. There is one per state of the variable.
    pub(super) message: usize,
    /// In a joint state, the variable has the state (joint / `stride`) % `states`.
    pub(super) stride: u32,
    pub(super) states: u32,
    /// 1 for the variable, −1 for the factor.
    pub(super) sign: f64,
}

impl Side {
    #[inline]
    pub(super) fn message_of(&self, state: usize) -> usize {
        self.message + state / self.stride as usize % self.states as usize
    }
}

/// The blocks of all examples.
#[derive(Debug, Clone)]
pub(super) struct Layout {
    /// Number of weights without messages.
    pub(super) dim: usize,
    pub(super) messages: usize,
    pub(super) blocks: Vec<Block>,
    pub(super) terms: Vec<Term>,
    pub(super) sides: Vec<Side>,
    pub(super) rows: Rows,
    /// Marks of states; see [`States::Marked`].
    pub(super) marks: Vec<Vec<bool>>,
    /// Factors that are given by patterns.
    pub(super) joints: Vec<Joint>,
    /// The losses of all states of all blocks.
    pub(super) losses: Vec<f64>,
    /// The weights of the examples.
    pub(super) weights: Vec<f64>,
    /// The blocks of each example, variables first.
    pub(super) examples: Vec<Range<usize>>,
    /// For each example, the number of blocks that are variables.
    pub(super) variables: Vec<usize>,
    /// For each example, the end of its messages, which follow those of the example before.
    pub(super) message_ends: Vec<usize>,
}

impl Layout {
    fn new(dim: usize) -> Self {
        Self {
            dim,
            messages: 0,
            blocks: Vec::new(),
            terms: Vec::new(),
            sides: Vec::new(),
            rows: Rows::default(),
            marks: Vec::new(),
            joints: Vec::new(),
            losses: Vec::new(),
            weights: Vec::new(),
            examples: Vec::new(),
            variables: Vec::new(),
            message_ends: Vec::new(),
        }
    }

    /// The messages of an example.
    pub(super) fn messages_of(&self, example: usize) -> Range<usize> {
        let start = example.checked_sub(1).map_or(0, |last| self.message_ends[last]);
        start..self.message_ends[example]
    }

    /// Adds a row, and returns its index and its squared length.
    fn push_row(
        &mut self,
        pairs: impl IntoIterator<Item = (u32, f64)>,
    ) -> Result<(usize, f64), SoftError> {
        // Repeated attributes are added up, so that the squared length is a sum of squares.
        let mut sum = SparseVec::new();
        pairs.into_iter().for_each(|(a, value)| sum.push(u64::from(a), value));
        sum.normalise();
        let row = sum.entries().iter().map(|&(a, value)| (a as u32, value));
        let refuse = |NotFinite { attribute, value }| SoftError::NotFinite { attribute, value };
        self.rows.push(row).map_err(refuse)?;
        Ok((self.rows.len() - 1, sum.norm_sq()))
    }

    pub(super) fn row(&self, term: &Term) -> Row<'_> {
        self.rows.row(term.row)
    }

    fn push_block(&mut self, states: u32, truth: u32, cost: f64) {
        let (terms, sides) = (self.terms.len(), self.sides.len());
        let first = self.losses.len();
        let example = self.examples.len() as u32;
        self.losses.extend((0..states).map(|y| if y == truth { 0.0 } else { cost }));
        let (terms, sides) = (terms..terms, sides..sides);
        let (scored, joint) = (states, None);
        self.blocks.push(Block { example, states, scored, truth, joint, first, terms, sides });
    }

    /// Adds a block that is given by patterns.
    fn push_joint(&mut self, joint: Joint) {
        self.push_block(joint.size() as u32, 0, 0.0);
        if let Some(block) = self.blocks.last_mut() {
            block.scored = joint.patterns.len() as u32;
            block.joint = Some(self.joints.len() as u32);
        }
        self.joints.push(joint);
    }

    fn push_term(&mut self, term: Term) {
        self.terms.push(term);
        if let Some(block) = self.blocks.last_mut() {
            block.terms.end = self.terms.len();
        }
    }

    /// Ends an example. `factors` lists the variables of its factors, in the order of their blocks, which
    /// come last.
    fn end_example(&mut self, start: usize, variables: usize, factors: &[Vec<u32>], weight: f64) {
        // Number the messages of each factor, then list them for each variable.
        let mut of_variable = vec![Vec::new(); variables];
        let states = |layout: &Self, v: u32| layout.blocks[start + v as usize].states;
        for (c, scope) in factors.iter().enumerate() {
            let at = self.sides.len();
            // Strides are for tables; patterns may have very many joint states.
            let all = scope.iter().map(|&v| u64::from(states(self, v)));
            let mut stride = all.fold(1, u64::saturating_mul);
            for &v in scope {
                let states = states(self, v);
                stride /= u64::from(states);
                let message = self.messages;
                self.messages += states as usize;
                let own = u32::try_from(stride).unwrap_or(u32::MAX);
                self.sides.push(Side { message, stride: own, states, sign: -1.0 });
                of_variable[v as usize].push(Side { message, stride: 1, states, sign: 1.0 });
            }
            self.blocks[start + variables + c].sides = at..self.sides.len();
        }
        for (v, sides) in of_variable.into_iter().enumerate() {
            let at = self.sides.len();
            self.sides.extend(sides);
            self.blocks[start + v].sides = at..self.sides.len();
        }
        self.examples.push(start..self.blocks.len());
        self.variables.push(variables);
        self.message_ends.push(self.messages);
        self.weights.push(weight);
    }

    /// The blocks of factor graphs. Factors over one variable belong to the block of the variable.
    pub(super) fn of_graphs(
        shape: &GraphShape,
        graphs: &Graphs,
        loss: factor_graph::StateLoss,
    ) -> Result<Self, SoftError> {
        let mut layout = Self::new(shape.dim());
        let weights: Vec<(usize, usize, States)> = (0..shape.templates.len())
            .map(|t| layout.weights_of(&shape.templates[t], shape.block(t).start))
            .collect();
        let weights = |template: u32| weights[template as usize];
        for i in 0..graphs.len() {
            factor_graph::check_fit(shape, graphs, i)?;
            let graph = graphs.graph(i);
            let start = layout.blocks.len();
            let costs: f64 = (0..graph.variables()).map(|v| graph.cost(v)).sum();
            let scale = if loss.normalised && costs > 0.0 { 1.0 / costs } else { 1.0 };
            // Variables, with the factors over each of them alone.
            for (v, (&states, &truth)) in graph.states().iter().zip(graph.truth()).enumerate() {
                layout.push_block(states, truth, scale * graph.cost(v));
                let is_own = |factor: &Factor<'_>| {
                    factor.variables == [v as u32] && factor.patterns.is_none()
                };
                let mut own: Vec<_> = graph.factors().filter(is_own).collect();
                sort::by_key(&mut own, |factor| factor.template);
                for same in own.chunk_by(|a, b| a.template == b.template) {
                    let template = same[0].template;
                    let pairs = same.iter().flat_map(|factor| factor.attributes.pairs());
                    let (row, norm_sq) = layout.push_row(pairs.collect::<Vec<_>>())?;
                    let (start, stride, states) = weights(template);
                    layout.push_term(Term { row, start, stride, states, norm_sq });
                }
            }
            // Factors over several variables.
            let mut scopes = Vec::new();
            let is_large = |f: &Factor<'_>| f.variables.len() > 1 || f.patterns.is_some();
            for factor in graph.factors().filter(is_large) {
                let of = |v: &u32| (graph.states()[*v as usize], graph.truth()[*v as usize]);
                let joint = factor.variables.iter().map(of);
                if let Some(patterns) = factor.patterns {
                    layout.push_joint(Joint::new(patterns, joint.map(|own| own.1).collect()));
                } else {
                    let (states, truth) = joint.fold((1, 0), |(all, at), (states, truth)| {
                        (all * states, at * states + truth)
                    });
                    layout.push_block(states, truth, 0.0);
                }
                let (row, norm_sq) = layout.push_row(factor.attributes.pairs())?;
                let (start, stride, states) = weights(factor.template);
                layout.push_term(Term { row, start, stride, states, norm_sq });
                scopes.push(factor.variables.to_vec());
            }
            layout.end_example(start, graph.variables(), &scopes, graphs.weight(i));
        }
        Ok(layout)
    }

    /// The first weight of a template, the number of weights of each attribute, and the states with features.
    fn weights_of(&mut self, template: &Template, start: usize) -> (usize, usize, States) {
        match Weighting::of(template) {
            Weighting::Free => (start, template.joint_states(), States::Every),
            Weighting::Marked(marks) => (start, 1, self.push_marks(marks)),
            Weighting::Diagonal => (start, 1, States::Diagonal),
        }
    }

    fn push_marks(&mut self, marks: Vec<bool>) -> States {
        self.marks.push(marks);
        States::Marked(self.marks.len() as u32 - 1)
    }

    /// The blocks of labelled graphs: nodes, and edges with the cost of disagreement.
    pub(super) fn of_potts(potts: &Potts) -> Result<Self, SoftError> {
        let (shape, data) = (potts.shape(), potts.data());
        let (mut layout, labels) = (Self::new(shape.dim()), shape.labels as u32);
        let joint = 0..labels * labels;
        let differ = layout.push_marks(joint.map(|y| y / labels != y % labels).collect());
        for (i, graph) in data.iter().enumerate() {
            let first = layout.blocks.len();
            let share = potts.share(graph);
            let scaled = |row: Row<'_>, by: f64| -> Vec<(u32, f64)> {
                row.pairs().map(|(a, value)| (a, by * value)).collect()
            };
            for (v, (&label, cost)) in graph.labels().iter().zip(potts.costs(i)).enumerate() {
                layout.push_block(labels, label, *cost);
                let (row, norm_sq) = layout.push_row(scaled(graph.node(v), share))?;
                let (start, stride) = (shape.unary().start, shape.labels);
                layout.push_term(Term { row, start, stride, states: States::Every, norm_sq });
            }
            let edges = if shape.edge_attributes == 0 { &[] } else { graph.edges() };
            for (e, &(a, b)) in edges.iter().enumerate() {
                let label = |v: u32| graph.labels()[v as usize];
                layout.push_block(labels * labels, label(a) * labels + label(b), 0.0);
                let (row, norm_sq) = layout.push_row(scaled(graph.edge(e), -share))?;
                let start = shape.pairwise().start;
                layout.push_term(Term { row, start, stride: 1, states: differ, norm_sq });
            }
            let scopes: Vec<Vec<u32>> = edges.iter().map(|&(a, b)| vec![a, b]).collect();
            layout.end_example(first, graph.nodes(), &scopes, data.weight(i));
        }
        Ok(layout)
    }

    /// The blocks of sets of labels. A label that is off and a pair that is not on together have no
    /// features.
    pub(super) fn of_labels(
        shape: &MultilabelShape,
        data: &LabelledRows,
        costs: impl Fn(u32) -> f64,
    ) -> Result<Self, SoftError> {
        let mut layout = Self::new(shape.dim());
        let (constant, _) = layout.push_row([(0, 1.0)])?;
        for (i, (row, on)) in data.iter().enumerate() {
            let start = layout.blocks.len();
            let (row, norm_sq) = layout.push_row(row.pairs())?;
            let is_on = |label: u32| u32::from(on.contains(&label));
            for label in 0..shape.labels as u32 {
                layout.push_block(2, is_on(label), costs(label));
                let (start, stride) = (shape.single().start + label as usize, shape.labels);
                layout.push_term(Term { row, start, stride, states: States::Only(1), norm_sq });
            }
            for (p, &(a, b)) in shape.pairs.iter().enumerate() {
                layout.push_block(4, 2 * is_on(a) + is_on(b), 0.0);
                let start = shape.pair_weights().start + p;
                let states = States::Only(3);
                layout.push_term(Term { row: constant, start, stride: 1, states, norm_sq: 1.0 });
            }
            let scopes: Vec<Vec<u32>> = shape.pairs.iter().map(|&(a, b)| vec![a, b]).collect();
            layout.end_example(start, shape.labels, &scopes, data.weight(i));
        }
        Ok(layout)
    }
}
