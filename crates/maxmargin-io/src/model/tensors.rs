//! Converts a model to tensors and back.

use super::check_sum::opened;
use super::pack::Tensor;
use super::weights::{push_group, read_group};
use super::{LAYOUT, Model, ModelError, ModelMeta, OLDEST_LAYOUT};
use crate::held_out::HeldOut;
use crate::names::Names;
use crate::spec::Spec;
use crate::standardise::Scaling;
use maxmargin::kernel::Support;
use maxmargin::{Block, DualPoint, SparseVec};
use safetensors::tensor::{Dtype, SafeTensorError, SafeTensors, TensorView};
use std::ops::{Range, RangeInclusive};

/// Keys of our metadata in the header: of models, and of path files.
pub(super) const META: &str = "maxmargin";
pub(crate) const PATH_META: &str = "maxmargin-path";

/// The tensor of multipliers.
const MULTIPLIERS: &str = "multipliers";

/// The tensors of a model.
pub(super) fn tensors_of(model: &Model) -> Vec<Tensor<'_>> {
    let mut tensors = Vec::new();
    for group in model.meta.spec.groups() {
        push_group(group, &model.weights, &mut tensors);
    }
    push_alphabets(&model.labels, &model.attributes, &mut tensors);
    if let Some(kernel) = model.meta.spec.kernel() {
        push_support(&kernel.support, &mut tensors);
    }
    let multipliers = model.meta.spec.soft().map_or(&[][..], |soft| &soft.multipliers);
    if !multipliers.is_empty() {
        let values = multipliers.iter().copied();
        tensors.push(Tensor::f64(MULTIPLIERS, vec![multipliers.len()], values));
    }
    if let Some(dual) = &model.dual {
        push_dual(dual, &mut tensors);
    }
    tensors
}

/// The names of labels and attributes.
pub(crate) fn push_alphabets(labels: &Names, attributes: &Names, tensors: &mut Vec<Tensor<'_>>) {
    push_names("labels", "labels.ends", labels, tensors);
    push_names("attributes", "attributes.ends", attributes, tensors);
}

fn push_names(
    name: &'static str,
    ends: &'static str,
    names: &Names,
    tensors: &mut Vec<Tensor<'_>>,
) {
    let offsets = names.iter().scan(0, |end, name| {
        *end += name.len() as u64;
        Some(*end)
    });
    tensors.push(Tensor::u64(ends, offsets));
    tensors.push(Tensor::text(name, names.iter().collect()));
}

/// The inputs of a model with a kernel: attributes and values of one after the other.
fn push_support(support: &Support, tensors: &mut Vec<Tensor<'_>>) {
    let ends = support.iter().scan(0, |end, input| {
        *end += input.attributes.len() as u64;
        Some(*end)
    });
    let pairs = || support.iter().flat_map(|input| input.pairs());
    tensors.push(Tensor::u64("support.ends", ends));
    tensors.push(Tensor::u32("support.attributes", pairs().map(|(attribute, _)| attribute)));
    let values = pairs().map(|(_, value)| value);
    tensors.push(Tensor::f64("support.values", vec![pairs().count()], values));
}

fn push_dual<'a>(dual: &'a DualPoint, tensors: &mut Vec<Tensor<'a>>) {
    let blocks = &dual.blocks;
    let ends = move || {
        blocks.iter().scan(0, |end, block| {
            *end += block.parts.len() as u64;
            Some(*end)
        })
    };
    let entries = move || blocks.iter().flat_map(|block| block.parts.iter());
    let (n, count) = (blocks.len(), ends().last().unwrap_or(0) as usize);
    tensors.push(Tensor::u64("dual.ends", ends()));
    tensors.push(Tensor::many_whole("dual.parts", count, move || entries().map(|(id, _)| id)));
    let masses = move || entries().map(|(_, mass)| mass);
    tensors.push(Tensor::many_f64s("dual.masses", count, masses));
    tensors.push(Tensor::many_f64s("dual.losses", n, || blocks.iter().map(|block| block.loss)));
}

pub(super) fn read(bytes: &[u8]) -> Result<Model, ModelError> {
    let mut meta: ModelMeta = read_meta(bytes, META, OLDEST_LAYOUT..=LAYOUT)?;
    check_meta(&meta)?;
    // It will be written again in the current layout.
    meta.layout = LAYOUT;
    let file = File::open(bytes)?;
    if let Some(kernel) = meta.spec.kernel_mut() {
        kernel.support = file.support()?;
    }
    if let Some(soft) = meta.spec.soft_mut() {
        soft.multipliers = file.multipliers()?;
    }
    let (labels, attributes) = file.alphabets(&meta.spec, meta.d)?;
    let mut weights = Vec::new();
    for group in meta.spec.groups() {
        read_group(&file, &group, &mut weights)?;
    }
    if let Some(feature) = weights.iter().position(|w| !w.is_finite()) {
        return Err(ModelError::content(format!("weight {feature} is not a finite number")));
    }
    let dual = file.dual(meta.spec.blocks(meta.n))?;
    Ok(Model { meta, labels, attributes, weights, dual })
}

/// Refuses metadata that no model can have.
fn check_meta(meta: &ModelMeta) -> Result<(), ModelError> {
    let lambda = meta.certificate.lambda;
    if !(lambda > 0.0 && lambda.is_finite()) {
        let reason = format!("its lambda is {lambda}, which is not a positive finite number");
        return Err(ModelError::content(reason));
    }
    if meta.n == 0 {
        return Err(ModelError::content("it is stated to be trained on 0 examples"));
    }
    if !meta.scaling.as_ref().is_none_or(Scaling::is_sound) {
        return Err(ModelError::content(
            "a factor of its scaling is not a positive number, or a mean not a number",
        ));
    }
    match meta.held_out {
        Some(HeldOut { one_in, .. }) if one_in < 2 => Err(ModelError::content(format!(
            "one example in {one_in} is stated to be held out, where one in 2 is the most"
        ))),
        _ => Ok(()),
    }
}

/// Returns the metadata under `key`. First checks that this is one of our files.
pub(crate) fn read_meta<M: serde::de::DeserializeOwned>(
    bytes: &[u8],
    key: &str,
    known: RangeInclusive<u32>,
) -> Result<M, ModelError> {
    let (_, header) = SafeTensors::read_metadata(bytes).map_err(|error| match error {
        _ if bytes.is_empty() => ModelError::content("the file is empty"),
        SafeTensorError::MetadataIncompleteBuffer | SafeTensorError::InvalidHeaderLength => {
            ModelError::content("the tensors do not fit the file; is it truncated?")
        }
        _ => ModelError::content(format!("it has no safetensors header ({error})")),
    })?;
    let entry = |key: &str| header.metadata().as_ref().and_then(|map| map.get(key));
    let text = entry(key).ok_or_else(|| {
        let other = if key == META { PATH_META } else { META };
        ModelError::content(match entry(other).is_some() {
            true if key == META => "it holds a regularization path",
            true => "it holds a single model",
            false => "it is a safetensors file, but without maxmargin's metadata",
        })
    })?;
    #[derive(serde::Deserialize)]
    struct LayoutOnly {
        layout: u32,
    }
    let metadata = |e: serde_json::Error| ModelError::content(format!("its metadata: {e}"));
    let LayoutOnly { layout } = serde_json::from_str(text).map_err(metadata)?;
    if !known.contains(&layout) {
        let (first, last) = known.into_inner();
        let versions = if first == last {
            format!("version {last}")
        } else {
            format!("versions {first} to {last}")
        };
        return Err(ModelError::content(format!(
            "its layout has the version {layout}; this program reads {versions}"
        )));
    }
    let text = opened(text, &File::open(bytes)?.0)?;
    serde_json::from_str(&text).map_err(metadata)
}

/// A file of tensors being read.
pub(crate) struct File<'a>(SafeTensors<'a>);

impl<'a> File<'a> {
    pub(crate) fn open(bytes: &'a [u8]) -> Result<Self, ModelError> {
        let tensors = SafeTensors::deserialize(bytes);
        let truncated = "the tensors do not fit the file; is it truncated?";
        tensors.map(Self).map_err(|_| ModelError::content(truncated))
    }

    /// The names of labels and attributes. The model must have the same numbers of them, and `d` features.
    pub(crate) fn alphabets(&self, spec: &Spec, d: usize) -> Result<(Names, Names), ModelError> {
        spec.check_stated_size()?;
        spec.check()?;
        let labels = self.names("labels", "labels.ends")?;
        let attributes = self.names("attributes", "attributes.ends")?;
        for (what, found, stated) in [
            ("labels", labels.len(), spec.labels()),
            ("attributes", attributes.len(), spec.attributes()),
            ("features", spec.dim(), d),
        ] {
            if found != stated {
                let reason = format!("{found} {what}, where {stated} are stated");
                return Err(ModelError::content(reason));
            }
        }
        Ok((labels, attributes))
    }

    fn tensor(&self, name: &str, dtype: Dtype) -> Result<TensorView<'a>, ModelError> {
        let missing = || ModelError::content(format!("the tensor `{name}` is missing"));
        let tensor = self.0.tensor(name).map_err(|_| missing())?;
        if tensor.dtype() != dtype {
            let found = tensor.dtype();
            let reason = format!("the tensor `{name}` holds {found:?}, not {dtype:?}");
            return Err(ModelError::content(reason));
        }
        Ok(tensor)
    }

    pub(crate) fn u32s(&self, name: &str) -> Result<Vec<u32>, ModelError> {
        let tensor = self.tensor(name, Dtype::U32)?;
        Ok(tensor.data().as_chunks::<4>().0.iter().map(|&b| u32::from_le_bytes(b)).collect())
    }

    pub(crate) fn u64s(&self, name: &str) -> Result<Vec<u64>, ModelError> {
        let tensor = self.tensor(name, Dtype::U64)?;
        Ok(tensor.data().as_chunks::<8>().0.iter().map(|&b| u64::from_le_bytes(b)).collect())
    }

    /// Whole numbers of either width.
    fn whole(&self, name: &str) -> Result<Vec<u64>, ModelError> {
        match self.0.tensor(name) {
            Ok(tensor) if tensor.dtype() == Dtype::U32 => {
                Ok(self.u32s(name)?.into_iter().map(u64::from).collect())
            }
            _ => self.u64s(name),
        }
    }

    /// The bytes of all tensors together.
    pub(crate) fn size(&self) -> usize {
        self.0.iter().map(|(_, tensor)| tensor.data().len()).sum()
    }

    /// Whether the file has a tensor of this name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.tensor(name).is_ok()
    }

    pub(crate) fn f64s(&self, name: &str, shape: &[usize]) -> Result<Vec<f64>, ModelError> {
        let tensor = self.tensor(name, Dtype::F64)?;
        if tensor.shape() != shape {
            let found = tensor.shape();
            let reason = format!("the tensor `{name}` has the shape {found:?}, not {shape:?}");
            return Err(ModelError::content(reason));
        }
        Ok(tensor.data().as_chunks::<8>().0.iter().map(|&b| f64::from_le_bytes(b)).collect())
    }

    /// Offsets that ascend from 0 to `total`, as ranges.
    pub(crate) fn ranges(&self, name: &str, total: usize) -> Result<Vec<Range<usize>>, ModelError> {
        let mut start = 0;
        let mut ranges = Vec::new();
        for end in self.u64s(name)? {
            let end = usize::try_from(end).unwrap_or(usize::MAX);
            if end < start || end > total {
                return Err(ModelError::content(format!("the offsets `{name}` are not in order")));
            }
            ranges.push(start..end);
            start = end;
        }
        match start == total {
            true => Ok(ranges),
            false => Err(ModelError::content(format!("the offsets `{name}` end too early"))),
        }
    }

    fn names(&self, name: &str, ends: &str) -> Result<Names, ModelError> {
        let text = std::str::from_utf8(self.tensor(name, Dtype::U8)?.data())
            .map_err(|_| ModelError::content(format!("the names in `{name}` are not UTF-8")))?;
        let mut names = Names::new();
        for (at, range) in self.ranges(ends, text.len())?.into_iter().enumerate() {
            let entry = text.get(range).ok_or_else(|| {
                ModelError::content(format!("the offsets `{ends}` cut a letter in two"))
            })?;
            if names.intern(entry) as usize != at {
                return Err(ModelError::content(format!("`{entry}` is twice in `{name}`")));
            }
        }
        Ok(names)
    }

    /// The inputs of a model with a kernel.
    fn support(&self) -> Result<Support, ModelError> {
        let attributes = self.u32s("support.attributes")?;
        // Inputs reserve memory up to their last attribute, so this attribute must have a name.
        let known = self.u64s("attributes.ends")?.len();
        if let Some(at) = attributes.iter().find(|at| **at as usize >= known) {
            let reason = format!("an input has the attribute {at}, where {known} are stated");
            return Err(ModelError::content(reason));
        }
        let values = self.f64s("support.values", &[attributes.len()])?;
        let ranges = self.ranges("support.ends", attributes.len())?;
        let input = |range: Range<usize>| range.map(|at| (attributes[at], values[at])).collect();
        Support::new(ranges.into_iter().map(input))
            .map_err(|error| ModelError::content(format!("in its support, {error}")))
    }

    /// The multipliers of soft constraints. They are empty if the file has none.
    fn multipliers(&self) -> Result<Vec<f64>, ModelError> {
        match self.0.tensor(MULTIPLIERS) {
            Err(_) => Ok(Vec::new()),
            Ok(tensor) => self.f64s(MULTIPLIERS, &[tensor.shape().iter().product()]),
        }
    }

    /// The dual point, if the file has one.
    fn dual(&self, n: usize) -> Result<Option<DualPoint>, ModelError> {
        if !self.has("dual.ends") {
            return Ok(None);
        }
        let parts = self.whole("dual.parts")?;
        let masses = self.f64s("dual.masses", &[parts.len()])?;
        let ranges = self.ranges("dual.ends", parts.len())?;
        if ranges.len() != n {
            let reason = format!("{} dual blocks, where {n} are stated", ranges.len());
            return Err(ModelError::content(reason));
        }
        let losses = self.f64s("dual.losses", &[n])?;
        let (mut blocks, mut own) = (Vec::with_capacity(n), SparseVec::new());
        for (range, loss) in ranges.into_iter().zip(losses) {
            own.clear();
            range.for_each(|at| own.push(parts[at], masses[at]));
            if !own.is_normalised() {
                return Err(ModelError::content("the parts of a dual block are not in order"));
            }
            blocks.push(Block { parts: (&own).into(), loss });
        }
        Ok(Some(DualPoint { blocks }))
    }
}
