//! Path files: a whole regularization path, from which a model can be taken at any λ.
//!
//! A path file is a [safetensors](https://docs.rs/safetensors) file, like a model. The numbers of the breakpoints
//! are stored in columns, with one entry per breakpoint: `lambda`, `primal`, `dual`, `gap`, `growth`,
//! `estimated_gap`, `oracle_calls`, `seconds`. The weights are stored as differences: those that change at a
//! breakpoint are in `changes.features` and `changes.weights`, divided at the offsets in `changes.ends`. Names are
//! stored as in a model, and everything else is JSON under the key `maxmargin-path` of the header's metadata.

mod check;
mod columns;
mod from_path;

pub use from_path::FromPath;

use crate::fingerprint::Fingerprint;
use crate::format::Format;
use crate::model::{LAYOUT, Model, ModelError, ModelMeta, load_bytes, save};
use crate::names::Names;
use crate::origin::Origin;
use crate::spec::Spec;
use crate::template::Template;
use maxmargin::observe::Totals;
use maxmargin::{GroupBounds, Path as LambdaPath, Settings, Status};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The version of the layout. Files with a later version are refused.
const PATH_LAYOUT: u32 = 2;

/// A regularization path (or a grid), with its names and its history.
///
/// ```
/// use maxmargin::model::chain::{Chain, ChainShape, Hamming};
/// use maxmargin::{PathSettings, regularization_path};
/// use maxmargin_io::{ChainSpec, Format, Lines, PathFile, open_reader, read_training};
///
/// let text = "noun\tcat\nverb\tpurrs\n\nnoun\tdog\nverb\tbarks\n";
/// let data = {
///     let lines = Lines::from_reader("pets.txt", text.as_bytes())?;
///     read_training(open_reader(lines, Some(Format::Crfsuite))?)?
/// };
/// let shape = ChainShape::new(data.labels.len(), data.attributes.len());
/// let chain = Chain::new(shape, data.sequences.clone(), &Hamming::default())?;
/// let settings = PathSettings::default();
/// let path = regularization_path(&chain, &settings)?;
///
/// let spec = ChainSpec { shape, loss: Hamming::default(), kernel: None, rescaling: Default::default() };
/// let file = PathFile::new(&data, spec, 1, settings.training, path);
/// let back = PathFile::from_bytes(&file.to_bytes()?)?;
/// assert_eq!(back, file); // bit for bit
/// let model = back.model_at(0.05).unwrap();
/// assert!(model.meta.certificate.gap <= 0.1); // whatever λ was asked for
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct PathFile {
    /// Its description, apart from names and numbers.
    pub meta: PathMeta,
    /// Names of the labels.
    pub labels: Names,
    /// Names of the attributes.
    pub attributes: Names,
    /// The path.
    pub path: LambdaPath,
}

/// What a path file states about the data and the model.
///
/// ```
/// # use maxmargin::model::chain::{Chain, ChainShape, Hamming};
/// # use maxmargin::{PathSettings, regularization_path};
/// # use maxmargin_io::{ChainSpec, Format, Lines, PathFile, open_reader, read_training};
/// # let lines = Lines::from_reader("pets.txt", "noun\tcat\nverb\tpurrs\n".as_bytes())?;
/// # let data = read_training(open_reader(lines, Some(Format::Crfsuite))?)?;
/// # let shape = ChainShape::new(data.labels.len(), data.attributes.len());
/// # let loss = Hamming::default();
/// # let chain = Chain::new(shape, data.sequences.clone(), &loss)?;
/// # let settings = PathSettings::default();
/// # let path = regularization_path(&chain, &settings)?;
/// let spec = ChainSpec { shape, loss, kernel: None, rescaling: Default::default() };
/// let meta = PathFile::new(&data, spec.clone(), 1, settings.training, path).meta;
/// assert_eq!((meta.n, meta.spec), (1, spec.into()));
/// assert_eq!(meta.fingerprint, data.fingerprint);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PathMeta {
    /// Version of the program that wrote it.
    pub version: String,
    /// The kind of structure, the shape of the weights, and the loss it was trained for.
    pub spec: Spec,
    /// The format of the training data.
    pub format: Format,
    /// Number of training examples.
    pub n: usize,
    /// The settings of each training. λ and the tolerance are set by the path.
    pub settings: Settings,
    /// Fingerprint of the training data.
    pub fingerprint: Fingerprint,
    /// The template that made the attributes, if it was not the format's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub template: Option<Template>,
    /// Bounds on the weights, by group.
    #[serde(default, skip_serializing_if = "GroupBounds::is_empty")]
    pub bounds: GroupBounds,
}

impl PathFile {
    /// Creates the file of a path over the `n` examples of `origin`; see [`PathFile`]. `spec` and `settings` must
    /// be those of the training.
    pub fn new(
        origin: impl Into<Origin>,
        spec: impl Into<Spec>,
        n: usize,
        settings: Settings,
        path: LambdaPath,
    ) -> Self {
        let Origin { labels, attributes, format, fingerprint, template } = origin.into();
        let meta = PathMeta {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            spec: spec.into(),
            format,
            n,
            settings,
            fingerprint,
            template,
            bounds: GroupBounds::default(),
        };
        Self { meta, labels, attributes, path }
    }

    /// The model for `lambda`, or `None` if the path has no weights there (see
    /// [`Path::weights_at`](LambdaPath::weights_at)).
    ///
    /// Its certificate is that of [`Path::certificate_at`](LambdaPath::certificate_at): the gap is the bound that
    /// the path proves there. The model has no dual point, so it cannot be verified.
    /// [`from_path`](ModelMeta::from_path) states the path from which it was taken. Its tolerance is the path's ε.
    /// Its status is `estimated` if the gap is larger than ε, which is possible on a heuristic path.
    ///
    /// ```
    /// # use maxmargin::model::chain::{Chain, ChainShape, Hamming};
    /// # use maxmargin::{PathSettings, regularization_path};
    /// # use maxmargin_io::{ChainSpec, Format, Lines, PathFile, open_reader, read_training};
    /// # let lines = Lines::from_reader("pets.txt", "noun\tcat\nverb\tpurrs\n".as_bytes())?;
    /// # let data = read_training(open_reader(lines, Some(Format::Crfsuite))?)?;
    /// # let shape = ChainShape::new(data.labels.len(), data.attributes.len());
    /// # let loss = Hamming::default();
    /// # let chain = Chain::new(shape, data.sequences.clone(), &loss)?;
    /// # let settings = PathSettings::default();
    /// # let path = regularization_path(&chain, &settings)?;
    /// let file = PathFile::new(&data, ChainSpec { shape, loss, kernel: None, rescaling: Default::default() }, 1, settings.training, path);
    /// let model = file.model_at(0.1).unwrap();
    /// assert_eq!((model.meta.certificate.lambda, model.dual.is_none()), (0.1, true));
    /// assert!(file.model_at(-1.0).is_none());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn model_at(&self, lambda: f64) -> Option<Model> {
        let (path, about) = (&self.path, &self.meta);
        let weights = path.weights_at(lambda)?;
        let certificate = path.certificate_at(lambda)?;
        let breakpoint = path.breakpoints.get(path.piece(lambda)?)?;
        let within = check::is_within(path, breakpoint, certificate.gap);
        let settings = Settings {
            lambda: Some(lambda),
            tolerance: path.epsilon,
            relative_tolerance: 0.0,
            ..about.settings.clone()
        };
        let mut totals = Totals::default();
        (totals.oracle_calls, totals.seconds) = (breakpoint.oracle_calls, breakpoint.seconds);
        let meta = ModelMeta {
            layout: LAYOUT,
            version: about.version.clone(),
            spec: about.spec.clone(),
            format: about.format,
            n: about.n,
            d: path.dim,
            settings,
            // The tolerance is now ε, which is larger than the tolerance of the training of each breakpoint.
            status: match breakpoint.status {
                Status::Converged if !within => Status::Estimated,
                Status::Estimated => Status::Estimated,
                _ if certificate.gap <= path.epsilon => Status::Converged,
                status => status,
            },
            certificate,
            totals,
            fingerprint: about.fingerprint,
            template: about.template.clone(),
            bounds: about.bounds.clone(),
            choice: None,
            validation: None,
            theory: None,
            held_out: None,
            lambda_source: None,
            scaling: None,
            pruned: None,
            from_path: Some(FromPath {
                kind: path.kind,
                epsilon: path.epsilon,
                breakpoint: breakpoint.certificate.lambda,
                is_guaranteed: path.is_guaranteed(),
            }),
        };
        let (labels, attributes) = (self.labels.clone(), self.attributes.clone());
        Some(Model { meta, labels, attributes, weights, dual: None })
    }

    /// Writes the path to a file: under a temporary name first, then renamed.
    ///
    /// ```no_run
    /// # fn example(file: maxmargin_io::PathFile) -> Result<(), maxmargin_io::ModelError> {
    /// file.save("tags.path")?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// If the file cannot be written. An old file is then unchanged.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), ModelError> {
        let tensors = columns::tensors_of(self);
        save(path.as_ref(), &columns::pack_with(self, &tensors)?)
    }

    /// Reads a path from a file. It checks that every gap is primal − dual, grows as the weights make it grow, and
    /// is within ε where this is promised. The file does not show whether primal and dual are true.
    ///
    /// ```
    /// use maxmargin_io::PathFile;
    ///
    /// let error = PathFile::load("no/such/file").unwrap_err().to_string();
    /// assert!(error.starts_with("no/such/file: "));
    /// ```
    ///
    /// # Errors
    /// If the file cannot be read, is not a path, or is damaged. The message says what is wrong with it.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, ModelError> {
        let path = path.as_ref();
        Self::from_bytes(&load_bytes(path)?).map_err(|error| error.in_file(path))
    }

    /// The content of a path file; see [`PathFile`]. The same path gives the same bytes.
    ///
    /// # Errors
    /// A path that was made by [`new`](Self::new) causes no errors.
    pub fn to_bytes(&self) -> Result<Vec<u8>, ModelError> {
        columns::pack_with(self, &columns::tensors_of(self))?.into_bytes()
    }

    /// Reads the content of a path file, as [`load`](Self::load) does.
    ///
    /// ```
    /// use maxmargin_io::PathFile;
    ///
    /// let error = PathFile::from_bytes(b"").unwrap_err();
    /// assert_eq!(error.to_string(), "not a maxmargin path: the file is empty");
    /// ```
    ///
    /// # Errors
    /// If it is not a path, or is damaged.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, ModelError> {
        columns::read(bytes).map_err(ModelError::of_a_path)
    }
}

#[cfg(test)]
mod tests;
