//! The problem that a model's certificate is about.

use crate::model::Model;
use crate::spec::{Rescaling, Spec};
use maxmargin::Quality;

impl Spec {
    /// How losses and margins are combined.
    ///
    /// ```
    /// use maxmargin::model::chain::{ChainShape, Hamming};
    /// use maxmargin_io::{ChainSpec, Rescaling, Spec};
    ///
    /// let chain = ChainSpec { shape: ChainShape::new(2, 3), loss: Hamming::default(), kernel: None, rescaling: Default::default() };
    /// assert_eq!(Spec::from(chain).rescaling(), Rescaling::Margin);
    /// ```
    pub const fn rescaling(&self) -> Rescaling {
        match self {
            Self::Binary(spec) => spec.rescaling,
            Self::Multiclass(spec) => spec.rescaling,
            Self::Multilabel(spec) => spec.rescaling,
            Self::FactorGraph(spec) => spec.rescaling,
            Self::Chain(spec) => spec.rescaling,
            Self::Potts(spec) => spec.rescaling,
            Self::Tree(spec) => spec.rescaling,
            Self::Matching(spec) => spec.rescaling,
            Self::Segment(spec) => spec.rescaling,
        }
    }
}

impl Model {
    /// A short description of the problem that primal, dual and gap of the model belong to.
    ///
    /// ```
    /// # use maxmargin::model::chain::{Chain, ChainShape, Hamming};
    /// # use maxmargin::{Settings, train};
    /// # use maxmargin_io::{ChainSpec, Format, Lines, Model, open_reader, read_training};
    /// # let lines = Lines::from_reader("pets.txt", "noun\tcat\nverb\tpurrs\n".as_bytes())?;
    /// # let data = read_training(open_reader(lines, Some(Format::Crfsuite))?)?;
    /// # let shape = ChainShape::new(data.labels.len(), data.attributes.len());
    /// # let loss = Hamming::default();
    /// # let chain = Chain::new(shape, data.sequences.clone(), &loss)?;
    /// # let settings = Settings::default();
    /// # let solution = train(&chain, &settings)?;
    /// let model = Model::new(&data, ChainSpec { shape, loss, kernel: None, rescaling: Default::default() }, settings, solution);
    /// assert_eq!(model.solved_problem(), "structured SVM with margin rescaling");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn solved_problem(&self) -> String {
        let (spec, quality) = (&self.meta.spec, self.meta.certificate.quality);
        if let Some(own) = spec.soft() {
            return format!("structured SVM with soft constraints, {}", own.rho_in_words());
        }
        let rescaling = match spec.rescaling() {
            Rescaling::Margin => "margin rescaling",
            Rescaling::Slack => "slack rescaling",
        };
        match quality {
            Quality::UpperBound => format!("relaxation of the structured SVM with {rescaling}"),
            _ => format!("structured SVM with {rescaling}"),
        }
    }
}
