//! Converts a path to tensors and back.

use super::check::check;
use super::{PATH_LAYOUT, PathFile, PathMeta};
use crate::model::ModelError;
use crate::model::pack::{Packed, Tensor, pack};
use crate::model::tensors::{File, PATH_META, push_alphabets, read_meta};
use maxmargin::{Breakpoint, Certificate, Path, PathKind, Quality, Status};
use serde::{Deserialize, Serialize};

/// The metadata in the header.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    layout: u32,
    about: PathMeta,
    path: PathHeader,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PathHeader {
    kind: PathKind,
    epsilon: f64,
    d: usize,
    lowest: f64,
    audit_calls: u64,
    audit_seconds: f64,
    /// Why the training of each breakpoint ended.
    statuses: Vec<Status>,
    /// The quality of the oracle, or the weakest one if breakpoints differ.
    #[serde(default, skip_serializing_if = "Quality::is_exact")]
    quality: Quality,
    /// The quality of each breakpoint, if they differ.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    qualities: Vec<Quality>,
}

/// The qualities of breakpoints: the weakest one, and all of them if they differ.
fn qualities(breakpoints: &[Breakpoint]) -> (Quality, Vec<Quality>) {
    let all: Vec<Quality> = breakpoints.iter().map(|b| b.certificate.quality).collect();
    let weakest = all.iter().copied().max().unwrap_or_default();
    let differ = all.iter().any(|own| *own != weakest);
    (weakest, if differ { all } else { Vec::new() })
}

/// The name of a column of numbers, and its entry for a breakpoint.
type Column = (&'static str, fn(&Breakpoint) -> f64);

const COLUMNS: [Column; 7] = [
    ("lambda", |b| b.certificate.lambda),
    ("primal", |b| b.certificate.primal),
    ("dual", |b| b.certificate.dual),
    ("gap", |b| b.certificate.gap),
    ("growth", |b| b.growth),
    ("estimated_gap", |b| b.estimated_gap),
    ("seconds", |b| b.seconds),
];

/// The tensors of a path.
pub(super) fn tensors_of(file: &PathFile) -> Vec<Tensor<'_>> {
    let path = &file.path;
    let points = || path.breakpoints.iter();
    let mut tensors = Vec::new();
    for (name, value) in COLUMNS {
        tensors.push(Tensor::f64(name, vec![path.breakpoints.len()], points().map(value)));
    }
    tensors.push(Tensor::u64("oracle_calls", points().map(|b| b.oracle_calls)));
    let ends = points().scan(0, |end, b| {
        *end += b.changes.len() as u64;
        Some(*end)
    });
    let changes = || points().flat_map(|b| b.changes.iter().copied());
    tensors.push(Tensor::u64("changes.ends", ends));
    tensors.push(Tensor::u32("changes.features", changes().map(|(feature, _)| feature)));
    let shape = vec![changes().count()];
    tensors.push(Tensor::f64("changes.weights", shape, changes().map(|(_, weight)| weight)));
    push_alphabets(&file.labels, &file.attributes, &mut tensors);
    tensors
}

/// Packs these tensors into a file, together with its metadata.
pub(super) fn pack_with<'t, 'a>(
    file: &PathFile,
    tensors: &'t [Tensor<'a>],
) -> Result<Packed<'t, 'a>, ModelError> {
    let path = &file.path;
    let points = || path.breakpoints.iter();
    let (quality, qualities) = qualities(&path.breakpoints);
    let header = Header {
        layout: PATH_LAYOUT,
        about: file.meta.clone(),
        path: PathHeader {
            kind: path.kind,
            epsilon: path.epsilon,
            d: path.dim,
            lowest: path.lowest,
            audit_calls: path.audit_calls,
            audit_seconds: path.audit_seconds,
            statuses: points().map(|b| b.status).collect(),
            quality,
            qualities,
        },
    };
    pack(PATH_META, &header, tensors)
}

pub(super) fn read(bytes: &[u8]) -> Result<PathFile, ModelError> {
    let Header { about, path, .. } = read_meta(bytes, PATH_META, PATH_LAYOUT..=PATH_LAYOUT)?;
    let file = File::open(bytes)?;
    let (labels, attributes) = file.alphabets(&about.spec, path.d)?;
    let breakpoints = breakpoints(&file, &path)?;
    let path = Path {
        kind: path.kind,
        epsilon: path.epsilon,
        dim: path.d,
        breakpoints,
        lowest: path.lowest,
        audit_calls: path.audit_calls,
        audit_seconds: path.audit_seconds,
    };
    let file = PathFile { meta: about, labels, attributes, path };
    check(&file)?;
    Ok(file)
}

fn breakpoints(file: &File<'_>, path: &PathHeader) -> Result<Vec<Breakpoint>, ModelError> {
    let count = path.statuses.len();
    let mut columns = Vec::new();
    for (name, _) in COLUMNS {
        let column = file.f64s(name, &[count])?;
        if let Some(at) = column.iter().position(|value| !value.is_finite()) {
            let reason = format!("`{name}` of breakpoint {at} is not a finite number");
            return Err(ModelError::content(reason));
        }
        columns.push(column);
    }
    let calls = file.u64s("oracle_calls")?;
    let features = file.u32s("changes.features")?;
    let weights = file.f64s("changes.weights", &[features.len()])?;
    let ranges = file.ranges("changes.ends", features.len())?;
    let (given, shared) = (&path.qualities, path.quality);
    for (name, found) in [
        ("oracle_calls", calls.len()),
        ("changes.ends", ranges.len()),
        ("qualities", if given.is_empty() { count } else { given.len() }),
    ] {
        if found != count {
            let reason =
                format!("{found} entries in `{name}`, where {count} breakpoints are stated");
            return Err(ModelError::content(reason));
        }
    }
    let point = |(at, range): (usize, std::ops::Range<usize>)| {
        let [lambda, primal, dual, gap, growth, estimated_gap, seconds] =
            std::array::from_fn(|column: usize| columns[column][at]);
        let quality = given.get(at).copied().unwrap_or(shared);
        let changes = features[range.clone()].iter().copied().zip(weights[range].iter().copied());
        Breakpoint {
            certificate: Certificate { lambda, primal, dual, gap, quality, missed: None },
            growth,
            estimated_gap,
            oracle_calls: calls[at],
            seconds,
            status: path.statuses[at],
            changes: changes.collect(),
        }
    };
    Ok(ranges.into_iter().enumerate().map(point).collect())
}
