//! Labels of sequences.

use crate::side_by_side::map_side_by_side;
use crate::spec::{ChainSpec, KernelSpec};
use maxmargin::kernel::Expander;
use maxmargin::model::chain::{ChainDecoder, Rules, Sequence, Sequences};

/// Predicts with a trained chain, with or without a kernel.
///
/// ```
/// use maxmargin::model::chain::{ChainShape, Hamming, Sequences};
/// use maxmargin_io::{ChainPredictor, ChainSpec};
///
/// let shape = ChainShape::new(2, 1);
/// let mut w = vec![0.0; shape.dim()];
/// w[shape.emission()].copy_from_slice(&[-1.0, 1.0]); // attribute 0 speaks for label 1
/// let mut data = Sequences::new();
/// data.push_token([(0, 1.0)], 0)?;
/// data.push_token([(0, -0.25)], 0)?;
/// data.end_sequence(1.0)?;
///
/// let spec = ChainSpec { shape, loss: Hamming::default(), kernel: None, rescaling: Default::default() };
/// let mut predictor = ChainPredictor::new(&spec, &w);
/// assert_eq!(predictor.predict(data.sequence(0)), [1, 0]);
/// assert_eq!(predictor.fill(data.sequence(0)).margins(), [2.0, 0.5]);
/// # Ok::<(), maxmargin::model::InputError>(())
/// ```
#[derive(Debug, Clone)]
pub struct ChainPredictor<'a> {
    decoder: ChainDecoder<'a>,
    expander: Option<Expander>,
}

impl<'a> ChainPredictor<'a> {
    /// A predictor for the model with the weights `w`.
    ///
    /// # Panics
    /// If `w` is shorter than the specification says.
    pub fn new(spec: &ChainSpec, w: &'a [f64]) -> Self {
        let decoder = ChainDecoder::new(&spec.scoring_shape(), w);
        Self { decoder, expander: spec.kernel.as_ref().map(KernelSpec::expander) }
    }

    /// The same predictor with rules that all labellings must keep.
    ///
    /// # Panics
    /// If the rules are for another number of labels.
    #[must_use]
    pub fn with_rules(self, rules: &'a Rules) -> Self {
        Self { decoder: self.decoder.with_rules(rules), ..self }
    }

    /// Fills the decoder with a sequence and returns it.
    pub fn fill(&mut self, sequence: Sequence<'_>) -> &mut ChainDecoder<'a> {
        match &mut self.expander {
            None => self.decoder.fill(sequence),
            Some(own) => self.decoder.fill(own.expand_sequence(sequence).sequence(0)),
        }
        &mut self.decoder
    }

    /// The best labels of a sequence. If no labelling keeps all rules, they break some.
    pub fn predict(&mut self, sequence: Sequence<'_>) -> &[u32] {
        let decoder = self.fill(sequence);
        decoder.best();
        decoder.labels()
    }
}

impl ChainSpec {
    /// The predicted labels of all sequences, on as many threads as [`thread_count`](crate::thread_count) says.
    ///
    /// ```
    /// use maxmargin::model::chain::{ChainShape, Hamming, Sequences};
    /// use maxmargin_io::ChainSpec;
    ///
    /// let shape = ChainShape::new(2, 1);
    /// let mut w = vec![0.0; shape.dim()];
    /// w[shape.emission()].copy_from_slice(&[-1.0, 1.0]); // attribute 0 speaks for label 1
    /// let mut data = Sequences::new();
    /// data.push_token([(0, 1.0)], 0)?;
    /// data.push_token([(0, -0.25)], 0)?;
    /// data.end_sequence(1.0)?;
    /// let spec = ChainSpec { shape, loss: Hamming::default(), kernel: None, rescaling: Default::default() };
    /// assert_eq!(spec.predict(&w, &data, 0), [[1, 0]]);
    /// # Ok::<(), maxmargin::model::InputError>(())
    /// ```
    ///
    /// # Panics
    /// If `w` is shorter than the specification says.
    pub fn predict(&self, w: &[f64], sequences: &Sequences, threads: usize) -> Vec<Vec<u32>> {
        let start = || ChainPredictor::new(self, w);
        map_side_by_side(sequences.len(), threads, start, |predictor, i| {
            predictor.predict(sequences.sequence(i)).to_vec()
        })
    }
}
