//! The measures by which λ is chosen.

use crate::examples::Examples;
use crate::names::Names;
use crate::problem::ProblemError;
use crate::spec::Spec;
use maxmargin::HeldOutError;
use maxmargin::evaluate::{LabelSetScores, Segmentation, Tally, is_bio};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// A measure of predictions, by which λ can be chosen. All are turned into errors: 0 is perfect.
///
/// ```
/// use maxmargin_io::Measure;
///
/// assert_eq!("chunk-f1".parse(), Ok(Measure::ChunkF1));
/// assert_eq!(Measure::ChunkF1.to_string(), "chunk-f1");
/// assert_eq!(
///     "f2".parse::<Measure>().unwrap_err(),
///     "unknown measure \"f2\"; known are error, subset, chunk-f1, micro-f1, aer, iou, pdj"
/// );
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Measure {
    /// The share of labels, links or joints that are wrong.
    Error,
    /// The share of examples in which anything is wrong.
    Subset,
    /// F1 of chunks, of sequences with BIO tags.
    #[serde(rename = "chunk-f1")]
    ChunkF1,
    /// F1 of all labels together, of sets of labels.
    #[serde(rename = "micro-f1")]
    MicroF1,
    /// The alignment error rate, of matchings.
    Aer,
    /// The intersection over union of the foreground, of graphs.
    Iou,
    /// The share of detected joints, of poses.
    Pdj,
}

impl Measure {
    /// All measures.
    pub const ALL: [Self; 7] =
        [Self::Error, Self::Subset, Self::ChunkF1, Self::MicroF1, Self::Aer, Self::Iou, Self::Pdj];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Subset => "subset",
            Self::ChunkF1 => "chunk-f1",
            Self::MicroF1 => "micro-f1",
            Self::Aer => "aer",
            Self::Iou => "iou",
            Self::Pdj => "pdj",
        }
    }

    /// The usual measure for a task in its field. It is used unless another one is asked for.
    ///
    /// ```
    /// use maxmargin::model::chain::{ChainShape, Hamming};
    /// use maxmargin_io::{ChainSpec, Measure, Names, Spec};
    ///
    /// let (shape, loss) = (ChainShape::new(2, 3), Hamming::default());
    /// let spec = Spec::from(ChainSpec { shape, loss, kernel: None, rescaling: Default::default() });
    /// let names = |names: [&str; 2]| names.into_iter().collect::<Names>();
    /// assert_eq!(Measure::of(&spec, &names(["O", "B-NP"])), Measure::ChunkF1);
    /// assert_eq!(Measure::of(&spec, &names(["noun", "verb"])), Measure::Error);
    /// ```
    pub fn of(spec: &Spec, labels: &Names) -> Self {
        match spec {
            Spec::Chain(_) if is_bio(labels.iter()) => Self::ChunkF1,
            Spec::Segment(_) => Self::ChunkF1,
            Spec::Multilabel(_) => Self::MicroF1,
            Spec::Matching(_) => Self::Aer,
            Spec::Potts(_) => Self::Iou,
            Spec::Tree(_) => Self::Pdj,
            Spec::Chain(_) | Spec::Binary(_) | Spec::Multiclass(_) | Spec::FactorGraph(_) => {
                Self::Error
            }
        }
    }

    /// What it measures, if the specification does not predict that.
    pub fn misfit(self, spec: &Spec) -> Option<&'static str> {
        let (fits, what) = match self {
            Self::Error | Self::Subset => (true, ""),
            Self::ChunkF1 => (matches!(spec, Spec::Chain(_) | Spec::Segment(_)), "sequences"),
            Self::MicroF1 => (matches!(spec, Spec::Multilabel(_)), "sets of labels"),
            Self::Aer => (matches!(spec, Spec::Matching(_)), "matchings"),
            Self::Iou => (matches!(spec, Spec::Potts(_)), "graphs"),
            Self::Pdj => (matches!(spec, Spec::Tree(_)), "trees"),
        };
        (!fits).then_some(what)
    }

    /// The error of the weights `w` of a model on labelled examples, which are decoded on as many threads as
    /// [`thread_count`](crate::thread_count) says.
    ///
    /// # Errors
    /// Examples that do not fit the specification.
    pub fn error(
        self,
        spec: &Spec,
        w: &[f64],
        examples: &Examples,
        labels: &Names,
        threads: usize,
    ) -> Result<HeldOutError, ProblemError> {
        let own = match (self, spec) {
            (Self::ChunkF1, Spec::Chain(_)) => chunk_error(spec, w, examples, labels, threads),
            (Self::ChunkF1, Spec::Segment(_)) => segment_error(spec, w, examples, labels, threads)?,
            (Self::MicroF1, Spec::Multilabel(_)) => micro_error(spec, w, examples, threads)?,
            (Self::Iou, Spec::Potts(_)) => overlap_error(spec, w, examples, threads)?,
            _ => None,
        };
        if let Some(found) = own {
            return Ok(found);
        }
        let errors = spec.errors(w, examples, threads)?;
        let counted = if self == Self::Subset { errors.examples } else { errors.parts };
        Ok(HeldOutError { error: counted.share(), of: counted.all })
    }
}

/// 1 − F1 of chunks.
fn chunk_error(
    spec: &Spec,
    w: &[f64],
    examples: &Examples,
    labels: &Names,
    threads: usize,
) -> Option<HeldOutError> {
    let Spec::Chain(own) = spec else { return None };
    let name = |&label: &u32| match (label as usize) < labels.len() {
        true => labels.name(label),
        false => "(unknown)",
    };
    let (sequences, mut chunks) = (examples.sequences()?, Tally::default());
    for (sequence, predicted) in sequences.iter().zip(&own.predict(w, sequences, threads)) {
        let truth: Vec<&str> = sequence.labels().iter().map(name).collect();
        let predicted: Vec<&str> = predicted.iter().map(name).collect();
        chunks.add_chunks(&truth, &predicted);
    }
    let total = chunks.total();
    Some(HeldOutError { error: 1.0 - total.f1(), of: total.truth.max(total.predicted) })
}

/// 1 − F1 of segments.
fn segment_error(
    spec: &Spec,
    w: &[f64],
    examples: &Examples,
    labels: &Names,
    threads: usize,
) -> Result<Option<HeldOutError>, ProblemError> {
    let (Spec::Segment(own), Examples::Segments(data)) = (spec, examples) else { return Ok(None) };
    let (tags, mut chunks) = (own.tag_names(labels), Tally::default());
    for (i, predicted) in own.predict(w, data, threads)?.iter().enumerate() {
        tags.count(data.truth(i), predicted, &mut chunks);
    }
    let total = chunks.total();
    let of = total.truth.max(total.predicted);
    Ok(Some(HeldOutError { error: 1.0 - total.f1(), of }))
}

/// 1 − F1 of all labels together.
fn micro_error(
    spec: &Spec,
    w: &[f64],
    examples: &Examples,
    threads: usize,
) -> Result<Option<HeldOutError>, ProblemError> {
    let (Spec::Multilabel(own), Some(rows)) = (spec, examples.rows()) else { return Ok(None) };
    let labels = own.shape.labels;
    let mut scores = LabelSetScores::new(labels);
    for (i, predicted) in own.predict(w, rows, threads)?.iter().enumerate() {
        let truth = rows.labels(i).iter().copied().filter(|label| (*label as usize) < labels);
        scores.add(&truth.collect::<Vec<_>>(), predicted);
    }
    let micro = scores.micro();
    Ok(Some(HeldOutError { error: 1.0 - micro.f1(), of: micro.truth.max(micro.predicted) }))
}

/// 1 − the intersection over union of the second label: in pixels if they are known, otherwise in nodes.
fn overlap_error(
    spec: &Spec,
    w: &[f64],
    examples: &Examples,
    threads: usize,
) -> Result<Option<HeldOutError>, ProblemError> {
    let (Spec::Potts(own), Some(graphs)) = (spec, examples.potts()) else { return Ok(None) };
    if own.shape.labels != 2 {
        return Ok(None);
    }
    let (mut scores, mut nodes) = (Segmentation::new(2), 0);
    let predicted = own.predict(w, graphs, threads)?;
    for (i, (graph, labels)) in graphs.iter().zip(&predicted).enumerate() {
        nodes += labels.len() as u64;
        match examples {
            Examples::Superpixels(images) => {
                for (&(size, foreground), &label) in images.images[i].pixels.iter().zip(labels) {
                    scores.add(1, label, foreground);
                    scores.add(0, label, size - foreground);
                }
            }
            _ => graph.labels().iter().zip(labels).for_each(|(&t, &p)| scores.add(t, p, 1)),
        }
    }
    Ok(Some(HeldOutError { error: 1.0 - scores.iou(1), of: nodes }))
}

impl fmt::Display for Measure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Measure {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL.into_iter().find(|measure| measure.name() == text).ok_or_else(|| {
            let known = Self::ALL.map(Self::name).join(", ");
            format!("unknown measure {text:?}; known are {known}")
        })
    }
}
