//! Compares the names of a model with its format and with data.

use crate::alignment::AlignmentFeatures;
use crate::constant::CONSTANT;
use crate::model::Model;
use crate::names::Names;
use crate::spec::{PottsSpec, Spec};
use maxmargin::model::chain::Sequences;
use maxmargin::model::segment::Segmentations;
use maxmargin::model::{LabelledRows, Row};
use std::fmt::Write as _;

/// Which names of a model occur in data that were read with these names.
///
/// ```
/// use maxmargin::model::LabelledRows;
/// use maxmargin_io::SeenNames;
///
/// let mut rows = LabelledRows::new();
/// rows.push([(2, 1.0)], &[1], 1.0)?;
/// let seen = SeenNames::in_rows(&rows);
/// assert!(seen.has_label(1) && !seen.has_label(0));
/// assert!(seen.has_attribute(2) && !seen.has_attribute(7));
/// # Ok::<(), maxmargin::model::InputError>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SeenNames {
    labels: Vec<bool>,
    attributes: Vec<bool>,
}

impl SeenNames {
    /// The names in labelled sequences.
    ///
    /// ```
    /// use maxmargin::model::chain::Sequences;
    /// use maxmargin_io::SeenNames;
    ///
    /// let mut data = Sequences::new();
    /// data.push_token([(2, 1.0)], 1)?;
    /// data.end_sequence(1.0)?;
    /// assert!(SeenNames::in_sequences(&data).has_attribute(2));
    /// # Ok::<(), maxmargin::model::InputError>(())
    /// ```
    pub fn in_sequences(sequences: &Sequences) -> Self {
        let mut seen = Self::default();
        for sequence in sequences.iter() {
            sequence.labels().iter().for_each(|&label| mark(&mut seen.labels, label));
            sequence.tokens().for_each(|token| seen.add_row(token));
        }
        seen
    }

    /// The names in labelled rows.
    pub fn in_rows(rows: &LabelledRows) -> Self {
        let mut seen = Self::default();
        for (row, labels) in rows.iter() {
            labels.iter().for_each(|&label| mark(&mut seen.labels, label));
            seen.add_row(row);
        }
        seen
    }

    /// The names in sequences that are divided into segments. Attributes are those of tokens.
    ///
    /// ```
    /// use maxmargin::model::segment::{Segment, Segmentations};
    /// use maxmargin_io::SeenNames;
    ///
    /// let mut data = Segmentations::new();
    /// data.push_token([(2, 1.0)])?;
    /// data.end_sequence(&[Segment { length: 1, label: 3 }], 1.0)?;
    /// let seen = SeenNames::in_segments(&data);
    /// assert!(seen.has_label(3) && seen.has_attribute(2));
    /// # Ok::<(), maxmargin::model::InputError>(())
    /// ```
    pub fn in_segments(data: &Segmentations) -> Self {
        let mut seen = Self::default();
        for i in 0..data.len() {
            data.truth(i).iter().for_each(|segment| mark(&mut seen.labels, segment.label));
            (0..data.tokens(i)).for_each(|t| seen.add_row(data.token(i, t)));
        }
        seen
    }

    fn add_row(&mut self, row: Row<'_>) {
        row.attributes.iter().for_each(|&attribute| mark(&mut self.attributes, attribute));
    }

    /// Whether a label occurs.
    pub fn has_label(&self, label: usize) -> bool {
        self.labels.get(label).copied().unwrap_or_default()
    }

    /// Whether an attribute occurs.
    pub fn has_attribute(&self, attribute: usize) -> bool {
        self.attributes.get(attribute).copied().unwrap_or_default()
    }
}

/// Marks a name as seen. A name that the model does not know has the number `u32::MAX`.
fn mark(seen: &mut Vec<bool>, name: u32) {
    if name == u32::MAX {
        return;
    }
    let at = name as usize;
    if at >= seen.len() {
        seen.resize(at + 1, false);
    }
    seen[at] = true;
}

impl Model {
    /// How the data contradict the names of the model, which come from its training data.
    ///
    /// If the model learns its labels from the data, every label must occur. An attribute that does not occur must
    /// have no weights; it may still exist, as a column of an array that is 0 everywhere. Data may have other
    /// attributes, which were too rare for the model. The certificate checks that names are in the right order,
    /// because in another order the weights no longer fit the data.
    ///
    /// ```
    /// # use maxmargin::model::chain::{Chain, ChainShape, Hamming, Sequences};
    /// # use maxmargin::{Settings, train};
    /// # use maxmargin_io::{ChainSpec, Format, Lines, Model, open_reader, read_training};
    /// # let lines = Lines::from_reader("pets.txt", "noun\tcat\nverb\tpurrs\n".as_bytes())?;
    /// # let data = read_training(open_reader(lines, Some(Format::Crfsuite))?)?;
    /// # let shape = ChainShape::new(data.labels.len(), data.attributes.len());
    /// # let loss = Hamming::default();
    /// # let chain = Chain::new(shape, data.sequences.clone(), &loss)?;
    /// # let settings = Settings::default();
    /// # let solution = train(&chain, &settings)?;
    /// use maxmargin_io::SeenNames;
    ///
    /// let model = Model::new(&data, ChainSpec { shape, loss, kernel: None, rescaling: Default::default() }, settings, solution);
    /// assert!(model.name_findings(&SeenNames::in_sequences(&data.sequences)).is_empty());
    /// let findings = model.name_findings(&SeenNames::default());
    /// assert!(findings[0].starts_with("the model has labels that are not in the data: `noun`"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn name_findings(&self, seen: &SeenNames) -> Vec<String> {
        let mut findings = Vec::new();
        let spec = &self.meta.spec;
        if spec.has_each_label_in_data() && self.meta.format.fixed_labels().is_empty() {
            let unseen = self.labels.iter().enumerate().filter(|(at, _)| !seen.has_label(*at));
            findings
                .extend(listed("labels that are not in the data", unseen.map(|(_, name)| name)));
        }
        let rows = spec.attribute_weights();
        let has_weights = |attribute: usize| {
            let own = rows.as_ref().and_then(|(start, width)| {
                let start = start + attribute * width;
                self.weights.get(start..start + width)
            });
            own.is_some_and(|own| own.iter().any(|w| *w != 0.0))
        };
        let unseen = self.attributes.iter().enumerate();
        let unseen = unseen.filter(|(at, _)| !seen.has_attribute(*at) && has_weights(*at));
        let what = "weights of attributes that are not in the data";
        findings.extend(listed(what, unseen.map(|(_, name)| name)));
        findings
    }

    /// Names that differ from those of the format or of the features that the model states.
    pub(crate) fn name_contradictions(&self) -> Vec<String> {
        let format = self.meta.format;
        let (labels, attributes) = match &self.meta.spec {
            Spec::Potts(spec) => spec.names().unzip(),
            Spec::Matching(spec) => (None, spec.features.as_ref().map(AlignmentFeatures::names)),
            Spec::Chain(_) | Spec::Multiclass(_) => (Some(format.fixed_labels()), None),
            Spec::Binary(_)
            | Spec::Multilabel(_)
            | Spec::FactorGraph(_)
            | Spec::Tree(_)
            | Spec::Segment(_) => (None, None),
        };
        let mut all = Vec::new();
        for (what, own, expected) in
            [("label", &self.labels, labels), ("attribute", &self.attributes, attributes)]
        {
            let Some(expected) = expected.filter(|names| !names.is_empty()) else { continue };
            all.extend(first_difference(what, own, &expected));
        }
        // Rare attributes may have been left out.
        let known = format.fixed_attributes();
        if !known.is_empty() {
            let is_foreign = |name: &&str| known.get(name).is_none() && *name != CONSTANT;
            let what = format!("attributes that the format {format} does not know");
            all.extend(listed(&what, self.attributes.iter().filter(is_foreign)));
        }
        all
    }
}

/// The first place where names differ from the expected ones.
fn first_difference(what: &str, own: &Names, expected: &Names) -> Option<String> {
    if own.len() != expected.len() {
        let (found, stated) = (own.len(), expected.len());
        return Some(format!("the model has {found} {what}s, where its data have {stated}"));
    }
    let mut pairs = own.iter().zip(expected.iter()).enumerate().filter(|(_, (a, b))| a != b);
    pairs.next().map(|(at, (own, expected))| {
        format!("{what} {at} of the model is `{own}`, where its data have `{expected}`")
    })
}

/// The number of names that are listed.
const LISTED: usize = 3;

pub(crate) fn listed<'a>(what: &str, mut names: impl Iterator<Item = &'a str>) -> Option<String> {
    let mut text = format!("the model has {what}: `{}`", names.next()?);
    names.by_ref().take(LISTED - 1).for_each(|name| {
        let _ = write!(text, ", `{name}`");
    });
    match names.count() {
        0 => {}
        more => {
            let _ = write!(text, " and {more} more");
        }
    }
    Some(text)
}

impl Spec {
    /// Whether a model learns its labels from the data, so that each of them must occur there. In sets of labels, a
    /// label may be absent from all sets.
    const fn has_each_label_in_data(&self) -> bool {
        match self {
            Self::Chain(_) | Self::Binary(_) | Self::Multiclass(_) | Self::Segment(_) => true,
            Self::Multilabel(_)
            | Self::FactorGraph(_)
            | Self::Potts(_)
            | Self::Tree(_)
            | Self::Matching(_) => false,
        }
    }

    /// Where the weights of the first attribute begin, and how many each attribute has, in models that read data by
    /// names. `None` for other models and for models with a kernel.
    fn attribute_weights(&self) -> Option<(usize, usize)> {
        let has_rows = match self {
            Self::Chain(_) | Self::Binary(_) | Self::Multiclass(_) | Self::Multilabel(_) => true,
            Self::FactorGraph(_)
            | Self::Potts(_)
            | Self::Tree(_)
            | Self::Matching(_)
            | Self::Segment(_) => false,
        };
        let first = self.groups().into_iter().next()?;
        let width = first.shape.iter().skip(1).product();
        (has_rows && self.kernel().is_none() && !first.range.is_empty())
            .then_some((first.range.start, width))
    }
}

impl PottsSpec {
    /// The names of labels and of attributes of superpixels. The file only numbers the features of regions, which
    /// come first; those of boundaries follow. `None` if features were made elsewhere.
    ///
    /// ```
    /// use maxmargin::model::potts::{PottsInference, NodeLoss, PottsShape};
    /// use maxmargin_io::PottsSpec;
    ///
    /// let (shape, loss, inference) = (PottsShape::new(2, 3, 2), NodeLoss::default(), PottsInference::Auto);
    /// let (widths, training) = (Some(vec![Some(0.1), None]), Default::default());
    /// let spec = PottsSpec { shape, loss, inference, widths, training, rescaling: Default::default() };
    /// let (labels, attributes) = spec.names().unwrap();
    /// assert_eq!(labels.name(1), "foreground");
    /// let names = ["f1", "f2", "bias", "boundary at 0.1", "boundary"];
    /// assert_eq!(attributes.iter().collect::<Vec<_>>(), names);
    /// ```
    pub fn names(&self) -> Option<(Names, Names)> {
        let own = (1..self.shape.node_attributes).map(|at| format!("f{at}"));
        let edges = self.widths.as_ref()?.iter().map(|width| match width {
            Some(width) => format!("boundary at {width}"),
            None => "boundary".to_owned(),
        });
        let attributes = own.chain(["bias".to_owned()]).chain(edges).collect();
        Some((Names::from_iter(["background", "foreground"]), attributes))
    }
}
