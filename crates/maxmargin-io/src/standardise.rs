//! Puts attributes into comparable units.
//!
//! If one attribute is in thousands and another one in hundredths, no λ fits both: a λ that lets the small one have
//! an effect leaves the large one without regularization. So every attribute is divided by its typical size before
//! training. If an attribute lies far from 0 in all rows or tokens, such as a year, its mean is subtracted first,
//! if there is a bias that can take it over. Nothing else is subtracted, so sparse data stay sparse. Scores are
//! linear in attributes, so weights can be converted to the units of the data. The weights of a model always are,
//! so predictions, measures and listings do not depend on scaling. Only a training and the check of its proof use
//! it.

use crate::examples::Examples;
use crate::spec::{ChainSpec, Spec};
use maxmargin::model::chain::Sequences;
use maxmargin::model::{LabelledRows, Row};
use serde::{Deserialize, Serialize};

/// Scales that differ by more than this factor cause a remark.
const WILD: f64 = 100.0;

/// Dense rows are scaled if scales differ by more than this factor. On subsets of the columns of four data sets,
/// scaling won 48 of 64 times from here to a hundredfold and lost 11 times; below, it lost on some data sets.
const UNEVEN: f64 = 10.0;

/// Other inputs, sparse rows and tokens, are scaled if the root mean square of their values, by which λ goes, is more than this
/// many times the typical size of a value. A few attributes in large units then hide all others: models of rows with
/// amounts of money among indicators, and of tokens with attributes a thousand times as large as the others, predicted
/// little more than the most frequent label.
const DOMINANT: f64 = 10.0;

/// An attribute lies far from 0 if its mean is this many times its deviation. A bias of value 1 that is regularized
/// like other weights makes up for less than that: with means of 50 deviations, the default model of two classes
/// predicted one of them for all rows.
const FAR: f64 = 10.0;

/// If a deviation is a smaller share of the size of values, it is due to rounding.
const LEAST_DEVIATION: f64 = 1e-7;

/// The numbers by which attributes are multiplied before training, and the numbers that are subtracted before that.
///
/// ```
/// use maxmargin::model::LabelledRows;
/// use maxmargin_io::{Examples, Scaling};
///
/// let mut rows = LabelledRows::new();
/// rows.push([(0, 1000.0), (1, 0.5)], &[0], 1.0)?;
/// rows.push([(0, 3000.0), (1, -0.5)], &[1], 1.0)?;
/// let examples = Examples::from(rows);
/// let scaling = Scaling::of(&examples).unwrap();
/// assert_eq!(scaling.factors(), [0.001, 2.0]);
/// assert_eq!(scaling.ratio(), 2000.0);
/// let scaled = scaling.apply(&examples).unwrap();
/// assert_eq!(scaled.rows().unwrap().row(1).values, [3.0, -1.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(from = "Stored", into = "Stored")]
pub struct Scaling {
    factors: Vec<f64>,
    /// Attributes that lie far from 0, in order, and their means.
    centres: Vec<(u32, f64)>,
}

/// The serialized form of a scaling.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(untagged)]
enum Stored {
    Factors(Vec<f64>),
    Centred { factors: Vec<f64>, centres: Vec<(u32, f64)> },
}

impl From<Stored> for Scaling {
    fn from(stored: Stored) -> Self {
        let (factors, centres) = match stored {
            Stored::Factors(factors) => (factors, Vec::new()),
            Stored::Centred { factors, centres } => (factors, centres),
        };
        Self { factors, centres }
    }
}

impl From<Scaling> for Stored {
    fn from(Scaling { factors, centres }: Scaling) -> Self {
        match centres.is_empty() {
            true => Self::Factors(factors),
            false => Self::Centred { factors, centres },
        }
    }
}

/// Sums over the values of an attribute.
#[derive(Debug, Clone, Copy, Default)]
struct Column {
    sum: f64,
    squares: f64,
    count: f64,
}

impl Column {
    /// The typical size of its values among this number of rows: their deviation from the mean, if at least half of
    /// the rows have a value that is not 0 and these values differ; otherwise the size of these values. So
    /// indicators keep their size, however few rows lack them.
    fn scale(&self, rows: f64) -> f64 {
        let size = (self.squares / self.count).sqrt();
        // The deviation of a constant is due to rounding.
        let differ = |count: f64| {
            let variance = self.squares / count - (self.sum / count).powi(2);
            Some(variance.max(0.0).sqrt()).filter(|deviation| *deviation > LEAST_DEVIATION * size)
        };
        let deviation = differ(rows).filter(|_| 2.0 * self.count >= rows);
        deviation.filter(|_| differ(self.count).is_some()).unwrap_or(size)
    }

    /// The mean, if all rows have a value and lie far from 0.
    fn centre(&self, rows: f64) -> Option<f64> {
        let mean = self.sum / rows;
        let is_far = self.count == rows && mean.abs() > FAR * self.scale(rows);
        (is_far && mean.is_finite()).then_some(mean)
    }
}

struct Columns {
    rows: f64,
    columns: Vec<Column>,
    /// The row that is counted.
    row: Vec<(u32, f64)>,
}

impl Columns {
    /// The columns of rows or of tokens.
    fn of(examples: &Examples) -> Option<Self> {
        let mut own = Self { rows: 0.0, columns: Vec::new(), row: Vec::new() };
        match examples {
            Examples::Rows(data) => data.iter().for_each(|(row, _)| own.add(row)),
            Examples::Sequences(data) => {
                data.iter().flat_map(|sequence| sequence.tokens()).for_each(|token| own.add(token));
            }
            _ => return None,
        }
        Some(own)
    }

    fn add(&mut self, row: Row<'_>) {
        self.rows += 1.0;
        row.merge_into(&mut self.row);
        for &(attribute, value) in &self.row {
            let at = attribute as usize;
            if at >= self.columns.len() {
                self.columns.resize(at + 1, Column::default());
            }
            let column = &mut self.columns[at];
            column.sum += value;
            column.squares += value * value;
            column.count += f64::from(u8::from(value != 0.0));
        }
    }
}

impl Columns {
    /// How many times the typical size of a value their root mean square is: half of all values are in attributes of
    /// at most that size.
    fn dominance(&self) -> f64 {
        let known = self.columns.iter().filter(|column| column.count > 0.0);
        let mut sizes: Vec<(f64, f64)> =
            known.map(|column| (column.scale(self.rows), column.count)).collect();
        sizes.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        let values: f64 = sizes.iter().map(|(_, count)| count).sum();
        let squares: f64 = sizes.iter().map(|(size, count)| size * size * count).sum();
        let mut rest = 0.5 * values;
        let is_past_half = |(_, count): &&(f64, f64)| {
            rest -= count;
            rest <= 0.0
        };
        match sizes.iter().find(is_past_half) {
            Some((typical, _)) if *typical > 0.0 => (squares / values).sqrt() / typical,
            _ => 1.0,
        }
    }
}

impl Scaling {
    /// The scaling that gives every attribute of rows or tokens the size 1. Returns `None` for other examples.
    pub fn of(examples: &Examples) -> Option<Self> {
        let Columns { rows, columns, .. } = Columns::of(examples)?;
        let factor = |column: &Column| {
            let scale = column.scale(rows);
            // Sizes whose squares overflow or vanish cannot be used, and such an attribute keeps its units. A
            // factor of 0 would delete it, and could not be undone.
            if (1.0 / scale).is_normal() { 1.0 / scale } else { 1.0 }
        };
        Some(Self { factors: columns.iter().map(factor).collect(), centres: Vec::new() })
    }

    /// The same scaling with the means of attributes that lie far from 0 in all rows or tokens, if the model has a bias
    /// that can take them over.
    ///
    /// ```
    /// use maxmargin::model::LabelledRows;
    /// use maxmargin::model::binary::BinaryShape;
    /// use maxmargin_io::{BinarySpec, Examples, Rescaling, Scaling, Spec};
    ///
    /// let mut rows = LabelledRows::new();
    /// rows.push([(0, 1999.0), (1, 0.5)], &[0], 1.0)?;
    /// rows.push([(0, 2001.0), (1, -0.5)], &[1], 1.0)?;
    /// let examples = Examples::from(rows);
    /// let shape = BinaryShape { bias: Some(1.0), ..BinaryShape::new(2) };
    /// let spec = Spec::from(BinarySpec { shape, positive: 1, rescaling: Rescaling::Margin });
    /// let scaling = Scaling::of(&examples).unwrap().centred(&examples, &spec);
    /// assert_eq!(scaling.centres(), [(0, 2000.0)]);
    /// let scaled = scaling.apply(&examples).unwrap();
    /// assert_eq!(scaled.rows().unwrap().row(1).values, [1.0, -1.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn centred(mut self, examples: &Examples, spec: &Spec) -> Self {
        if Biases::of(spec).is_some()
            && let Some(Columns { rows, columns, .. }) = Columns::of(examples)
        {
            let centre = |(at, column): (u32, &Column)| Some((at, column.centre(rows)?));
            self.centres = (0..).zip(&columns).filter_map(centre).collect();
        }
        self
    }

    /// The attributes that lie far from 0, and the numbers that are subtracted from them.
    pub fn centres(&self) -> &[(u32, f64)] {
        &self.centres
    }

    /// The factor of each attribute. Attributes beyond the last one keep their units.
    pub fn factors(&self) -> &[f64] {
        &self.factors
    }

    /// Whether every factor can be multiplied and divided by, and every mean can be subtracted.
    pub(crate) fn is_sound(&self) -> bool {
        let is_ordered = self.centres.is_sorted_by(|a, b| a.0 < b.0);
        let is_known =
            |centre: &(u32, f64)| centre.1.is_finite() && (centre.0 as usize) < self.factors.len();
        self.factors.iter().all(|factor| *factor > 0.0 && factor.is_normal())
            && is_ordered
            && self.centres.iter().all(is_known)
    }

    /// The ratio of the sizes of the largest and the smallest attribute.
    pub fn ratio(&self) -> f64 {
        let least = self.factors.iter().copied().fold(f64::INFINITY, f64::min);
        let most = self.factors.iter().copied().fold(0.0, f64::max);
        if most > 0.0 { most / least } else { 1.0 }
    }

    /// Whether attributes have wildly different scales.
    pub fn is_wild(&self) -> bool {
        self.ratio() > WILD
    }

    /// Whether scaling is worth it by default. In rows most of whose attributes are not 0, it is if scales differ
    /// more than tenfold or attributes lie far from 0. In other rows and in sequences, it is if a few attributes
    /// are so large that they hide the others. In sequences, it also is if all tokens have an attribute that lies
    /// far from 0.
    ///
    /// ```
    /// use maxmargin::model::LabelledRows;
    /// use maxmargin_io::{Examples, Scaling};
    ///
    /// let mut rows = LabelledRows::new();
    /// rows.push([(0, 1000.0), (1, 0.5)], &[0], 1.0)?;
    /// rows.push([(0, 3000.0), (1, -0.5)], &[1], 1.0)?;
    /// let dense = Examples::from(rows.clone());
    /// assert!(Scaling::of(&dense).unwrap().is_needed(&dense));
    /// for attribute in 2..9 {
    ///     rows.push([(attribute, 1.0)], &[0], 1.0)?;
    /// }
    /// let sparse = Examples::from(rows);
    /// assert!(Scaling::of(&sparse).unwrap().is_needed(&sparse));
    /// let mut rows = LabelledRows::new();
    /// for attribute in 0..9 {
    ///     rows.push([(attribute, 1.0), (9, 3.0 * f64::from(attribute))], &[0], 1.0)?;
    /// }
    /// let even = Examples::from(rows);
    /// assert!(!Scaling::of(&even).unwrap().is_needed(&even));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn is_needed(&self, examples: &Examples) -> bool {
        let Some(columns) = Columns::of(examples) else { return false };
        if let Some(rows) = examples.rows()
            && 2 * rows.entries() >= rows.len() * self.factors.len()
        {
            return self.ratio() > UNEVEN || !self.centres.is_empty();
        }
        let has_far_tokens = examples.sequences().is_some() && !self.centres.is_empty();
        has_far_tokens || columns.dominance() > DOMINANT
    }

    /// The examples with scaled attributes. `None` if they are neither rows nor sequences.
    pub fn apply(&self, examples: &Examples) -> Option<Examples> {
        const VALID: &str = "it was valid before, and factors are finite";
        match examples {
            Examples::Rows(data) => {
                let mut rows = LabelledRows::new();
                for (i, (row, labels)) in data.iter().enumerate() {
                    rows.push(self.scaled(row), labels, data.weight(i)).expect(VALID);
                }
                Some(rows.into())
            }
            Examples::Sequences(data) => {
                let mut sequences = Sequences::new();
                for (i, sequence) in data.iter().enumerate() {
                    for (t, token) in sequence.tokens().enumerate() {
                        let (label, cost) = (sequence.labels()[t], sequence.cost(t));
                        let scaled = self.scaled(token);
                        sequences.push_weighted_token(scaled, label, cost).expect(VALID);
                    }
                    sequences.end_sequence(data.weight(i)).expect(VALID);
                }
                Some(sequences.into())
            }
            _ => None,
        }
    }

    /// The scaled attributes of a row or a token. An absent attribute has the value 0, from which its mean is
    /// subtracted too.
    fn scaled(&self, row: Row<'_>) -> Vec<(u32, f64)> {
        let mut pairs = Vec::new();
        if self.centres.is_empty() {
            pairs.extend(row.pairs());
        } else {
            // A mean is subtracted once, in whatever order attributes are named, and however often.
            row.merge_into(&mut pairs);
            let present = pairs.len();
            for &(at, _) in &self.centres {
                if pairs[..present].binary_search_by_key(&at, |pair| pair.0).is_err() {
                    pairs.push((at, 0.0));
                }
            }
        }
        for (attribute, value) in &mut pairs {
            let factor = self.factors.get(*attribute as usize).copied().unwrap_or(1.0);
            // Only factors that were tampered with exceed the largest number.
            *value = ((*value - self.centre(*attribute)) * factor).clamp(f64::MIN, f64::MAX);
        }
        pairs
    }

    /// The number that is subtracted from an attribute.
    fn centre(&self, attribute: u32) -> f64 {
        let found = self.centres.binary_search_by_key(&attribute, |centre| centre.0);
        found.map_or(0.0, |at| self.centres[at].1)
    }

    /// Converts weights for scaled attributes to weights for attributes as they are.
    pub fn to_raw(&self, spec: &Spec, weights: &mut [f64]) {
        self.for_each_weight(spec, weights, |weight, factor| *weight *= factor);
        self.move_biases(spec, weights, -1.0);
    }

    /// Converts weights for attributes as they are to weights for scaled ones.
    pub fn from_raw(&self, spec: &Spec, weights: &mut [f64]) {
        self.move_biases(spec, weights, 1.0);
        self.for_each_weight(spec, weights, |weight, factor| *weight /= factor);
    }

    /// Adds the scores of the means, at weights for attributes as they are, to the biases: `sign` times.
    fn move_biases(&self, spec: &Spec, weights: &mut [f64], sign: f64) {
        let Some(Biases { first, labels, value }) = Biases::of(spec) else { return };
        for label in 0..labels {
            let score = |&(at, mean): &(u32, f64)| mean * weights[at as usize * labels + label];
            let moved: f64 = self.centres.iter().map(score).sum();
            weights[first + label] += sign * moved / value;
        }
    }

    fn for_each_weight(&self, spec: &Spec, weights: &mut [f64], change: impl Fn(&mut f64, f64)) {
        // The weights of an attribute are side by side, one for each label.
        let labels = match spec {
            Spec::Chain(own) if own.shape.groups.emission => own.shape.labels,
            Spec::Binary(_) => 1,
            Spec::Multiclass(own) => own.shape.classes,
            Spec::Multilabel(own) => own.shape.labels,
            Spec::Chain(_)
            | Spec::FactorGraph(_)
            | Spec::Potts(_)
            | Spec::Tree(_)
            | Spec::Matching(_)
            | Spec::Segment(_) => return,
        };
        for (row, &factor) in weights.chunks_exact_mut(labels.max(1)).zip(&self.factors) {
            row.iter_mut().for_each(|weight| change(weight, factor));
        }
    }
}

/// Where a model has the weights of its bias, and the weights of attributes before these.
struct Biases {
    first: usize,
    labels: usize,
    /// The value that the weights are multiplied by.
    value: f64,
}

impl Biases {
    fn of(spec: &Spec) -> Option<Self> {
        let (attributes, labels, value) = match spec {
            Spec::Binary(own) => (own.shape.attributes, 1, own.shape.bias?),
            Spec::Multiclass(own) => (own.shape.attributes, own.shape.classes, own.shape.bias?),
            Spec::Chain(own) => return Self::of_chain(own),
            Spec::Multilabel(_)
            | Spec::FactorGraph(_)
            | Spec::Potts(_)
            | Spec::Tree(_)
            | Spec::Matching(_)
            | Spec::Segment(_) => return None,
        };
        (value != 0.0).then_some(Self { first: attributes * labels, labels, value })
    }

    /// Every token has the bias of its label, whatever its neighbours are.
    fn of_chain(spec: &ChainSpec) -> Option<Self> {
        let (shape, labels) = (&spec.shape, spec.shape.labels);
        let is_there = spec.kernel.is_none() && shape.groups.emission && shape.groups.bias;
        let (first, value) = (shape.bias().start, shape.transition_scale);
        is_there.then_some(Self { first, labels, value })
    }
}

#[cfg(test)]
mod tests;
