//! Model files: the weights, the dual point, and everything one needs to know about them.
//!
//! A model is one [safetensors](https://docs.rs/safetensors) file. The weights are `f64` tensors, one per group of
//! features (of a chain `emission`, `transition`, `bias`, `first`, `last`), so that any tool that knows the format can
//! read them. A group with many zeros has `emission.at` and `emission.values` instead: the places and the values of the
//! weights that are not zero. The names are UTF-8 tensors (`labels`, `attributes`) cut at the byte offsets in
//! `labels.ends` and `attributes.ends`; a model with a kernel has `coefficients` of its inputs, which lie in
//! `support.*`; the dual point, if it is kept, lies in `dual.*`. Everything else is JSON under the key `maxmargin` of
//! the header's metadata, whose last entry is a check sum of the whole file.

mod check_sum;
mod error;
pub(crate) mod pack;
pub(crate) mod tensors;
mod weights;

pub use error::ModelError;

use crate::atomic::atomic_write;
use crate::fingerprint::Fingerprint;
use crate::format::Format;
use crate::held_out::HeldOut;
use crate::lambda::LambdaSource;
use crate::names::Names;
use crate::origin::Origin;
use crate::path_file::FromPath;
use crate::prune::Pruning;
use crate::spec::Spec;
use crate::standardise::Scaling;
use crate::template::Template;
use maxmargin::kernel::Support;
use maxmargin::observe::{Choice, Theory, Totals};
use maxmargin::{Certificate, DualPoint, GroupBounds, Settings, Status, Validation};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// The version of the layout. Files with a later version are refused. In version 2 all weights were stored, and all
/// parts of the dual point were stored as `u64`.
pub(crate) const LAYOUT: u32 = 3;

/// The oldest layout that is still read.
pub(crate) const OLDEST_LAYOUT: u32 = 2;

/// A trained model with its names, its history and its proof.
///
/// ```
/// use maxmargin::model::chain::{Chain, ChainShape, Hamming};
/// use maxmargin::{Settings, train};
/// use maxmargin_io::{ChainSpec, Format, Lines, Model, open_reader, read_training};
///
/// let text = "noun\tcat\nverb\tpurrs\n\nnoun\tdog\nverb\tbarks\n";
/// let data = {
///     let lines = Lines::from_reader("pets.txt", text.as_bytes())?;
///     read_training(open_reader(lines, Some(Format::Crfsuite))?)?
/// };
/// let shape = ChainShape::new(data.labels.len(), data.attributes.len());
/// let chain = Chain::new(shape, data.sequences.clone(), &Hamming::default())?;
/// let solution = train(&chain, &Settings::default())?;
///
/// let model = Model::new(&data, ChainSpec { shape, loss: Hamming::default(), kernel: None, rescaling: Default::default() }, Settings::default(), solution);
/// let bytes = model.to_bytes()?;
/// assert_eq!(Model::from_bytes(&bytes)?, model); // bit for bit
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    /// Its description, apart from names and numbers.
    pub meta: ModelMeta,
    /// Names of the labels.
    pub labels: Names,
    /// Names of the attributes.
    pub attributes: Names,
    /// The weights, laid out as `meta.spec` says.
    pub weights: Vec<f64>,
    /// The dual point behind the weights, if it was kept.
    pub dual: Option<DualPoint>,
}

/// What a model file states about a model, apart from names and numbers: how it was made, how good it is, and on
/// which data it was trained.
///
/// ```
/// # use maxmargin::model::chain::{Chain, ChainShape, Hamming};
/// # use maxmargin::{Settings, train};
/// # use maxmargin_io::{ChainSpec, Format, Lines, open_reader, read_training};
/// # let lines = Lines::from_reader("pets.txt", "noun\tcat\nverb\tpurrs\n".as_bytes())?;
/// # let data = read_training(open_reader(lines, Some(Format::Crfsuite))?)?;
/// # let shape = ChainShape::new(data.labels.len(), data.attributes.len());
/// # let loss = Hamming::default();
/// # let chain = Chain::new(shape, data.sequences.clone(), &loss)?;
/// # let settings = Settings::default();
/// # let solution = train(&chain, &settings)?;
/// use maxmargin_io::Model;
///
/// let n = data.sequences.len();
/// let meta = Model::new(&data, ChainSpec { shape, loss, kernel: None, rescaling: Default::default() }, settings, solution).meta;
/// assert_eq!((meta.spec.kind(), meta.n, meta.d), ("chain", n, shape.dim()));
/// assert_eq!(meta.fingerprint, data.fingerprint);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelMeta {
    /// Version of the layout.
    pub layout: u32,
    /// Version of the program that wrote it.
    pub version: String,
    /// The kind of structure, the shape of the weights, and the loss it was trained for.
    pub spec: Spec,
    /// The format of the training data.
    pub format: Format,
    /// Number of training examples.
    pub n: usize,
    /// Number of features.
    pub d: usize,
    /// The settings it was trained with.
    pub settings: Settings,
    /// Why training ended.
    pub status: Status,
    /// The proof.
    pub certificate: Certificate,
    /// The totals of the training, such as passes, oracle calls and seconds.
    pub totals: Totals,
    /// Fingerprint of the training data.
    pub fingerprint: Fingerprint,
    /// The template that made the attributes, if it was not the format's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub template: Option<Template>,
    /// Bounds on the weights, by group.
    #[serde(default, skip_serializing_if = "GroupBounds::is_empty")]
    pub bounds: GroupBounds,
    /// The choice of the solver `auto`, and the reason for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub choice: Option<Choice>,
    /// Its results on the data on which it was validated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub validation: Option<Validation>,
    /// The constants of the rate theorems, if the training was asked for them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub theory: Option<Theory>,
    /// The part of the data that was held out from the training.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held_out: Option<HeldOut>,
    /// The path from which the model was taken, which proves its gap. Such a model has no dual point.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from_path: Option<FromPath>,
    /// Where its λ comes from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lambda_source: Option<LambdaSource>,
    /// The numbers by which attributes were multiplied in training. The weights are for attributes as they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scaling: Option<Scaling>,
    /// How its weights were pruned after the training, if they were pruned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pruned: Option<Pruning>,
}

impl Model {
    /// Creates the model that results from training on the data of `origin`.
    ///
    /// `spec` and `settings` must be those of the training. If a part of the data was held out, set
    /// [`held_out`](ModelMeta::held_out); if the weights have bounds, set [`bounds`](ModelMeta::bounds). The model
    /// contains the dual point. To make the file smaller, set [`dual`](Self::dual) to `None`, but the model can
    /// then no longer be verified.
    ///
    /// ```
    /// # use maxmargin::model::chain::{Chain, ChainShape, Hamming};
    /// # use maxmargin::{Settings, train};
    /// # use maxmargin_io::{ChainSpec, Format, Lines, open_reader, read_training};
    /// # let lines = Lines::from_reader("pets.txt", "noun\tcat\nverb\tpurrs\n".as_bytes())?;
    /// # let data = read_training(open_reader(lines, Some(Format::Crfsuite))?)?;
    /// # let shape = ChainShape::new(data.labels.len(), data.attributes.len());
    /// # let loss = Hamming::default();
    /// # let chain = Chain::new(shape, data.sequences.clone(), &loss)?;
    /// # let settings = Settings::default();
    /// # let solution = train(&chain, &settings)?;
    /// use maxmargin_io::Model;
    ///
    /// let model = Model::new(&data, ChainSpec { shape, loss, kernel: None, rescaling: Default::default() }, settings, solution);
    /// let slim = Model { dual: None, ..model.clone() };
    /// assert!(slim.to_bytes()?.len() < model.to_bytes()?.len());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn new(
        origin: impl Into<Origin>,
        spec: impl Into<Spec>,
        settings: Settings,
        solution: maxmargin::Solution,
    ) -> Self {
        let Origin { labels, attributes, format, fingerprint, template } = origin.into();
        let spec = spec.into();
        let meta = ModelMeta {
            layout: LAYOUT,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            format,
            n: solution.dual.blocks.len(),
            d: spec.dim(),
            spec,
            settings,
            status: solution.status,
            certificate: solution.certificate,
            totals: solution.totals,
            fingerprint,
            template,
            bounds: GroupBounds::default(),
            choice: solution.choice,
            validation: solution.validation,
            theory: solution.theory,
            held_out: None,
            from_path: None,
            lambda_source: None,
            scaling: None,
            pruned: None,
        };
        Self { meta, labels, attributes, weights: solution.weights, dual: Some(solution.dual) }
    }

    /// The same model with weights of a problem with a kernel, as
    /// [`Kernelised::support`](maxmargin::kernel::Kernelised::support) returns them.
    ///
    /// ```
    /// use maxmargin::kernel::{Kernel, Kernelised, Support};
    /// use maxmargin::model::chain::{Chain, ChainShape, Hamming};
    /// use maxmargin::{Settings, train};
    /// use maxmargin_io::{ChainSpec, Format, KernelSpec, Lines, Model, open_reader, read_training};
    ///
    /// let lines = Lines::from_reader("pets.txt", "noun\tcat\nverb\tpurrs\n".as_bytes())?;
    /// let data = read_training(open_reader(lines, Some(Format::Crfsuite))?)?;
    /// let (shape, loss) = (ChainShape::new(2, data.attributes.len()), Hamming::default());
    /// let kernel = Kernel::Rbf { gamma: 0.5 };
    /// let chain = Chain::new(shape, data.sequences.clone(), &loss)?;
    /// let problem = Kernelised::new(chain, kernel, 1 << 20)?;
    /// let settings = Settings::default();
    /// let mut solution = train(&problem, &settings)?;
    ///
    /// let (support, weights) = problem.support(&solution.weights);
    /// solution.weights = weights;
    /// let kernel = Some(KernelSpec { kernel, bytes: 1 << 20, support: Support::default() });
    /// let model = Model::new(&data, ChainSpec { shape, loss, kernel, rescaling: Default::default() }, settings, solution);
    /// let model = model.with_support(support);
    /// assert_eq!(model.weights.len(), model.meta.d);
    /// assert_eq!(Model::from_bytes(&model.to_bytes()?)?, model);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn with_support(mut self, support: Support) -> Self {
        if let Some(kernel) = self.meta.spec.kernel_mut() {
            kernel.support = support;
        }
        self.meta.d = self.meta.spec.dim();
        self
    }

    /// Writes the model to a file: under a temporary name first, then renamed.
    ///
    /// ```
    /// # use maxmargin::model::chain::{Chain, ChainShape, Hamming};
    /// # use maxmargin::{Settings, train};
    /// # use maxmargin_io::{ChainSpec, Format, Lines, open_reader, read_training};
    /// # let lines = Lines::from_reader("pets.txt", "noun\tcat\nverb\tpurrs\n".as_bytes())?;
    /// # let data = read_training(open_reader(lines, Some(Format::Crfsuite))?)?;
    /// # let shape = ChainShape::new(data.labels.len(), data.attributes.len());
    /// # let loss = Hamming::default();
    /// # let chain = Chain::new(shape, data.sequences.clone(), &loss)?;
    /// # let settings = Settings::default();
    /// # let solution = train(&chain, &settings)?;
    /// # let model = maxmargin_io::Model::new(&data, ChainSpec { shape, loss, kernel: None, rescaling: Default::default() }, settings, solution);
    /// use maxmargin_io::Model;
    ///
    /// let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("model.safetensors");
    /// model.save(&path)?;
    /// assert_eq!(Model::load(&path)?, model);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the file cannot be written. An old file is then unchanged.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), ModelError> {
        let tensors = tensors::tensors_of(self);
        save(path.as_ref(), &pack::pack(tensors::META, &self.meta, &tensors)?)
    }

    /// Reads a model from a file. It checks that names and counts fit the shape, and that the weights are finite.
    /// It does not check whether the certificate is true; [`verify_on`](Self::verify_on) does.
    ///
    /// ```
    /// use maxmargin_io::Model;
    ///
    /// let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("notes.txt");
    /// std::fs::write(&path, "just some text, nothing like a model")?;
    /// assert!(Model::load(&path).unwrap_err().to_string().contains("not a maxmargin model"));
    /// # Ok::<(), std::io::Error>(())
    /// ```
    ///
    /// # Errors
    /// If the file cannot be read, is not a model, or is damaged. The message says what is wrong with it.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, ModelError> {
        let path = path.as_ref();
        Self::from_bytes(&load_bytes(path)?).map_err(|error| error.in_file(path))
    }

    /// The content of a model file. The same model gives the same bytes.
    ///
    /// ```
    /// # use maxmargin::model::chain::{Chain, ChainShape, Hamming};
    /// # use maxmargin::{Settings, train};
    /// # use maxmargin_io::{ChainSpec, Format, Lines, open_reader, read_training};
    /// # let lines = Lines::from_reader("pets.txt", "noun\tcat\nverb\tpurrs\n".as_bytes())?;
    /// # let data = read_training(open_reader(lines, Some(Format::Crfsuite))?)?;
    /// # let shape = ChainShape::new(data.labels.len(), data.attributes.len());
    /// # let loss = Hamming::default();
    /// # let chain = Chain::new(shape, data.sequences.clone(), &loss)?;
    /// # let settings = Settings::default();
    /// # let solution = train(&chain, &settings)?;
    /// # let model = maxmargin_io::Model::new(&data, ChainSpec { shape, loss, kernel: None, rescaling: Default::default() }, settings, solution);
    /// let bytes = model.to_bytes()?;
    /// assert_eq!(bytes, model.clone().to_bytes()?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// A model that was made by [`new`](Self::new) causes no errors.
    ///
    /// # Panics
    /// If there are fewer weights than the shape requires.
    pub fn to_bytes(&self) -> Result<Vec<u8>, ModelError> {
        let tensors = tensors::tensors_of(self);
        pack::pack(tensors::META, &self.meta, &tensors)?.into_bytes()
    }

    /// Reads the content of a model file, as [`load`](Self::load) does.
    ///
    /// ```
    /// # use maxmargin::model::chain::{Chain, ChainShape, Hamming};
    /// # use maxmargin::{Settings, train};
    /// # use maxmargin_io::{ChainSpec, Format, Lines, open_reader, read_training};
    /// # let lines = Lines::from_reader("pets.txt", "noun\tcat\nverb\tpurrs\n".as_bytes())?;
    /// # let data = read_training(open_reader(lines, Some(Format::Crfsuite))?)?;
    /// # let shape = ChainShape::new(data.labels.len(), data.attributes.len());
    /// # let loss = Hamming::default();
    /// # let chain = Chain::new(shape, data.sequences.clone(), &loss)?;
    /// # let settings = Settings::default();
    /// # let solution = train(&chain, &settings)?;
    /// # let model = maxmargin_io::Model::new(&data, ChainSpec { shape, loss, kernel: None, rescaling: Default::default() }, settings, solution);
    /// use maxmargin_io::Model;
    ///
    /// let bytes = model.to_bytes()?;
    /// assert_eq!(Model::from_bytes(&bytes)?, model);
    /// assert!(Model::from_bytes(&bytes[1..]).is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If it is not a model, or is damaged.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, ModelError> {
        tensors::read(bytes)
    }
}

/// Writes a file: under a temporary name first, then renamed.
pub(crate) fn save(path: &Path, file: &pack::Packed<'_, '_>) -> Result<(), ModelError> {
    atomic_write(path, |to| {
        file.write(to).map_err(|reason| ModelError::Io { path: path.into(), reason })
    })
}

/// Reads a file of tensors. It reads the header first, and then no more than the length that the header states and
/// one byte, so an endless device or pipe is not read forever.
pub(crate) fn load_bytes(path: &Path) -> Result<Vec<u8>, ModelError> {
    let fail = |reason| ModelError::Io { path: path.into(), reason };
    let mut file = File::open(path).map_err(fail)?;
    let mut bytes = Vec::new();
    file.by_ref().take(HEAD).read_to_end(&mut bytes).map_err(fail)?;
    let Some(header) = header_length(&bytes) else { return Ok(bytes) };
    file.by_ref().take(header).read_to_end(&mut bytes).map_err(fail)?;
    if let Some(tensors) = tensors_length(&bytes[HEAD as usize..]) {
        file.take(tensors.saturating_add(1)).read_to_end(&mut bytes).map_err(fail)?;
    }
    Ok(bytes)
}

/// The number of bytes before the header. They contain its length.
const HEAD: u64 = 8;

/// The length of the longest header that the format itself allows.
const LONGEST_HEADER: u64 = 100_000_000;

/// The length of the header, if the first bytes can be one.
fn header_length(head: &[u8]) -> Option<u64> {
    let length = u64::from_le_bytes(head.try_into().ok()?);
    (length <= LONGEST_HEADER).then_some(length)
}

/// The length of the tensors, as the header states it.
fn tensors_length(header: &[u8]) -> Option<u64> {
    #[derive(Deserialize)]
    struct Place {
        #[serde(default)]
        data_offsets: (u64, u64),
    }
    let places: HashMap<String, Place> = serde_json::from_slice(header).ok()?;
    Some(places.values().map(|place| place.data_offsets.1).max().unwrap_or(0))
}

#[cfg(test)]
pub(crate) mod hostile_tests;
#[cfg(test)]
mod tests;
