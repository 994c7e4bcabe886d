//! Chooses the value of the constant features of chains to fit the length of attributes.
//!
//! Transitions, biases and the weights of ends have no attributes: their features have one value κ everywhere. λ
//! fits the length of the attributes of tokens; the longer they are, the more λ holds back transitions with κ = 1.
//! A wrong label changes the attributes of one token and the two transitions beside it. So with κ² = m/2, where m
//! is the mean squared length of a token's attributes, both changes are equally long, in any units. A constant is
//! at least as long as a single attribute: if tokens have only one, κ² = m.
//! `benchmarks/results/2026-11-18-transition-scale.md` has the measurements behind this choice.

use crate::lambda::Moments;
use crate::model::Model;
use crate::spec::{ChainSpec, Spec};
use crate::training::Training;
use maxmargin::model::chain::Sequences;
use std::borrow::Cow;

/// The number of transitions beside a token.
const BESIDE: f64 = 2.0;

/// The mean of about this many sequences is close enough to the mean of all.
const SAMPLE: usize = 2000;

impl ChainSpec {
    /// Gives constant features the value that fits the attributes of sequences; see [`transition_scale`]. With a
    /// kernel, or without weights of attributes, the value is not changed.
    pub fn fit_transition_scale(&mut self, data: &Sequences) {
        if self.kernel.is_none() && self.shape.groups.emission {
            self.shape.transition_scale = transition_scale(data);
        }
    }
}

impl Training {
    /// Gives constant features of a chain the value that fits the attributes of its examples; see
    /// [`transition_scale`]. Other specifications are not changed.
    pub fn fit_transition_scale(&mut self) {
        if let (Spec::Chain(spec), Some(data)) = (&mut self.spec, self.examples.sequences()) {
            spec.fit_transition_scale(data);
        }
    }
}

impl Model {
    /// The amounts that its weights add to scores; see [`Spec::scoring_weights`].
    pub fn scoring_weights(&self) -> Cow<'_, [f64]> {
        self.meta.spec.scoring_weights(&self.weights)
    }
}

impl Spec {
    /// The factor of the weights of constant features in scores, for models in which it may differ from 1.
    pub const fn transition_scale(&self) -> Option<f64> {
        match self {
            Self::Chain(own) => Some(own.shape.transition_scale),
            _ => None,
        }
    }

    /// The amounts that weights add to scores: those of constant features times their
    /// [value](Self::transition_scale), and all others as they are.
    ///
    /// ```
    /// use maxmargin::model::chain::{ChainShape, Hamming};
    /// use maxmargin_io::{ChainSpec, Spec};
    ///
    /// let shape = ChainShape { transition_scale: 2.0, ..ChainShape::new(2, 1) };
    /// let spec = ChainSpec { shape, loss: Hamming::default(), kernel: None, rescaling: Default::default() };
    /// let scores = Spec::from(spec).scoring_weights(&[0.5; 12]).into_owned();
    /// assert_eq!((&scores[shape.emission()], &scores[shape.last()]), (&[0.5; 2][..], &[1.0; 2][..]));
    /// ```
    pub fn scoring_weights<'w>(&self, weights: &'w [f64]) -> Cow<'w, [f64]> {
        let Self::Chain(own) = self else { return Cow::Borrowed(weights) };
        let shape = own.scoring_shape();
        if shape.transition_scale == 1.0 {
            return Cow::Borrowed(weights);
        }
        let mut weights = weights.to_vec();
        let constants = &mut weights[shape.emission().end..];
        constants.iter_mut().for_each(|weight| *weight *= shape.transition_scale);
        Cow::Owned(weights)
    }
}

/// Whether constant features can have this value.
pub(crate) fn is_scale(value: f64) -> bool {
    value > 0.0 && (value * value).is_normal()
}

/// The value of the constant features of a chain that fits the attributes of these sequences: the square root of half
/// the mean squared length of a token's attributes, or of the mean squared length of an attribute if that is more.
/// Attributes are centred for that, as they are for λ; those that are the same for all tokens count in full. A sequence
/// counts as many times as its weight says. It is 1 if the tokens have no attributes.
///
/// ```
/// use maxmargin::model::chain::Sequences;
/// use maxmargin_io::transition_scale;
///
/// let tokens = |unit: f64| {
///     let mut data = Sequences::new();
///     for (a, b) in [(1.0, 3.0), (-1.0, -3.0)] {
///         data.push_token([(0, unit * a), (1, unit * b)], 0)?;
///     }
///     data.end_sequence(1.0)?;
///     Ok::<_, maxmargin::model::InputError>(data)
/// };
/// assert_eq!(transition_scale(&tokens(1.0)?), 5f64.sqrt()); // half of 1 + 9
/// assert_eq!(transition_scale(&tokens(2.0)?), 20f64.sqrt());
/// # Ok::<(), maxmargin::model::InputError>(())
/// ```
pub fn transition_scale(data: &Sequences) -> f64 {
    let mut moments = Moments::default();
    for i in (0..data.len()).step_by(data.len().div_ceil(SAMPLE).max(1)) {
        data.sequence(i).tokens().for_each(|token| moments.add(token, data.weight(i)));
    }
    let square = moments.mean_left() / moments.mean_count().min(BESIDE);
    // Lengths that overflow or vanish cannot be used.
    if square.is_normal() { square.sqrt() } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use maxmargin::model::chain::{ChainShape, Hamming};

    fn data(tokens: &[&[(u32, f64)]]) -> Sequences {
        let mut data = Sequences::new();
        for token in tokens {
            data.push_token(token.iter().copied(), 0).unwrap();
            data.end_sequence(1.0).unwrap();
        }
        data
    }

    #[test]
    fn what_all_tokens_have_in_common_counts_only_if_it_is_constant() {
        // The variance of 9 and 11 is 1; a constant of 3 counts in full.
        assert!((transition_scale(&data(&[&[(0, 9.0)], &[(0, 11.0)]])) - 1.0).abs() < 1e-12);
        let constant = data(&[&[(0, 9.0), (1, 3.0)], &[(0, 11.0), (1, 3.0)]]);
        assert!((transition_scale(&constant) - 5f64.sqrt()).abs() < 1e-12);
    }

    #[test]
    fn a_constant_is_at_least_as_long_as_one_attribute() {
        // Without a mean, so that nothing is lost by centring.
        let token = |count: u32, sign: f64| (0..count).map(move |a| (a, sign)).collect::<Vec<_>>();
        for (count, square) in [(1, 1.0), (2, 1.0), (3, 1.5)] {
            let found = transition_scale(&data(&[&token(count, 1.0), &token(count, -1.0)]));
            assert!((found * found - square).abs() < 1e-12, "{count}: {found}");
        }
    }

    #[test]
    fn an_attribute_that_is_named_twice_has_the_sum_of_its_values() {
        let once = data(&[&[(0, 2.0), (1, 5.0)], &[(0, -1.0)], &[(1, 3.0)]]);
        let twice = data(&[&[(1, 4.0), (0, 2.0), (1, 1.0)], &[(0, -3.0), (0, 2.0)], &[(1, 3.0)]]);
        assert_eq!(transition_scale(&once), transition_scale(&twice));
    }

    #[test]
    fn a_sequence_of_weight_three_counts_three_times() {
        let make = |copies: usize, weight: f64| {
            let mut data = data(&[&[(0, 2.0), (1, 5.0)], &[(0, -1.0), (1, 5.0)]]);
            for _ in 0..copies {
                data.push_token([(0, 17.0), (1, 5.0)], 0).unwrap();
                data.end_sequence(weight).unwrap();
            }
            transition_scale(&data)
        };
        assert!((make(1, 3.0) - make(3, 1.0)).abs() < 1e-12);
        assert!((make(1, 3.0) - make(1, 1.0)).abs() > 0.1);
    }

    #[test]
    fn lengths_that_say_nothing_leave_one() {
        assert_eq!(transition_scale(&data(&[])), 1.0);
        assert_eq!(transition_scale(&data(&[&[]])), 1.0);
        for value in [0.0, 1e200, 1e-200] {
            assert_eq!(transition_scale(&data(&[&[(0, value)]])), 1.0, "{value:e}");
        }
    }

    #[test]
    fn chains_without_attributes_keep_their_scale() {
        let (shape, loss) = (ChainShape::new(2, 1), Hamming::default());
        let mut spec = ChainSpec { shape, loss, kernel: None, rescaling: Default::default() };
        spec.fit_transition_scale(&data(&[&[(0, 4.0)]]));
        assert_eq!(spec.shape.transition_scale, 4.0);
        spec.shape = ChainShape::new(2, 1);
        spec.shape.groups.emission = false;
        spec.fit_transition_scale(&data(&[&[(0, 4.0)]]));
        assert_eq!(Spec::from(spec).transition_scale(), Some(1.0));
    }
}
