//! Writes tensors to a file.
//!
//! The tensors of a dual point are as large as the memory of a training. So they are not created in memory. Their
//! numbers are read from the point once for the check sum, and a second time when the file is written.

use super::ModelError;
use super::check_sum::{Pieces, Summed, sealed};
use maxmargin::sort;
use safetensors::tensor::{Dtype, Metadata, TensorInfo};
use std::borrow::Cow;
use std::collections::HashMap;
use std::io::{self, Write};

/// The number of bytes that are passed on at once.
const PIECE: usize = 1 << 16;

/// A tensor to be written.
pub(crate) struct Tensor<'a> {
    name: Cow<'static, str>,
    dtype: Dtype,
    shape: Vec<usize>,
    content: Content<'a>,
}

enum Content<'a> {
    Bytes(Vec<u8>),
    /// Bytes that are created whenever they are needed.
    Made(Pieces<'a>),
}

impl<'a> Tensor<'a> {
    pub(crate) fn f64(
        name: impl Into<Cow<'static, str>>,
        shape: Vec<usize>,
        values: impl IntoIterator<Item = f64>,
    ) -> Self {
        let bytes = values.into_iter().flat_map(f64::to_le_bytes).collect();
        Self { name: name.into(), dtype: Dtype::F64, shape, content: Content::Bytes(bytes) }
    }

    pub(crate) fn u64(name: &'static str, values: impl IntoIterator<Item = u64>) -> Self {
        let bytes: Vec<u8> = values.into_iter().flat_map(u64::to_le_bytes).collect();
        Self::list(name.into(), Dtype::U64, bytes)
    }

    pub(crate) fn u32(
        name: impl Into<Cow<'static, str>>,
        values: impl IntoIterator<Item = u32>,
    ) -> Self {
        let bytes: Vec<u8> = values.into_iter().flat_map(u32::to_le_bytes).collect();
        Self::list(name.into(), Dtype::U32, bytes)
    }

    pub(super) fn text(name: &'static str, text: String) -> Self {
        Self::list(name.into(), Dtype::U8, text.into_bytes())
    }

    fn list(name: Cow<'static, str>, dtype: Dtype, bytes: Vec<u8>) -> Self {
        let shape = vec![bytes.len() / size_of(dtype)];
        Self { name, dtype, shape, content: Content::Bytes(bytes) }
    }

    /// A tensor of `count` numbers. `values` returns the same numbers every time.
    pub(super) fn many_f64s<I: Iterator<Item = f64>>(
        name: &'static str,
        count: usize,
        values: impl Fn() -> I + 'a,
    ) -> Self {
        let content = Content::Made(pieces(values, f64::to_le_bytes));
        Self { name: name.into(), dtype: Dtype::F64, shape: vec![count], content }
    }

    /// A tensor of `count` whole numbers, which are stored as `u32` if all of them fit. `values` returns the same
    /// numbers every time.
    pub(super) fn many_whole<I: Iterator<Item = u64>>(
        name: &'static str,
        count: usize,
        values: impl Fn() -> I + 'a,
    ) -> Self {
        let (dtype, content) = match values().all(|value| u32::try_from(value).is_ok()) {
            true => (Dtype::U32, pieces(move || values().map(|x| x as u32), u32::to_le_bytes)),
            false => (Dtype::U64, pieces(values, u64::to_le_bytes)),
        };
        Self { name: name.into(), dtype, shape: vec![count], content: Content::Made(content) }
    }

    fn length(&self) -> usize {
        self.shape.iter().product::<usize>() * size_of(self.dtype)
    }

    /// Calls `take` with all bytes, piece by piece.
    fn each_piece(&self, take: &mut dyn FnMut(&[u8])) {
        match &self.content {
            Content::Bytes(bytes) => take(bytes),
            Content::Made(make) => make(take),
        }
    }
}

/// Bytes of a number.
fn size_of(dtype: Dtype) -> usize {
    dtype.bitsize() / 8
}

/// The bytes of numbers, in pieces.
fn pieces<'a, T, const N: usize, I: Iterator<Item = T>>(
    values: impl Fn() -> I + 'a,
    bytes: impl Fn(T) -> [u8; N] + 'a,
) -> Pieces<'a> {
    Box::new(move |take| {
        let mut piece = Vec::with_capacity(PIECE);
        for value in values() {
            if piece.len() + N > PIECE {
                take(&piece);
                piece.clear();
            }
            piece.extend_from_slice(&bytes(value));
        }
        take(&piece);
    })
}

/// A file to be written.
pub(crate) struct Packed<'t, 'a> {
    header: Vec<u8>,
    /// In the order of the file.
    tensors: Vec<&'t Tensor<'a>>,
}

/// A file of tensors, with metadata under `key` of its header.
pub(crate) fn pack<'t, 'a>(
    key: &str,
    meta: &impl serde::Serialize,
    tensors: &'t [Tensor<'a>],
) -> Result<Packed<'t, 'a>, ModelError> {
    let damaged = |error: &dyn std::fmt::Display| ModelError::content(error.to_string());
    let meta = serde_json::to_string(meta).map_err(|error| damaged(&error))?;
    let meta = sealed(
        &meta,
        tensors.iter().map(|tensor| Summed {
            name: tensor.name.as_ref(),
            dtype: tensor.dtype,
            shape: &tensor.shape,
            length: tensor.length(),
            each_piece: Box::new(|take| tensor.each_piece(take)),
        }),
    );
    // The format requires this order: the widest numbers come first, so that all numbers are aligned.
    let mut tensors: Vec<&Tensor<'a>> = tensors.iter().collect();
    sort::by(&mut tensors, |a, b| b.dtype.cmp(&a.dtype).then(a.name.cmp(&b.name)));
    let mut end = 0;
    let places = tensors.iter().map(|tensor| {
        let start = end;
        end += tensor.length();
        let (dtype, shape) = (tensor.dtype, tensor.shape.clone());
        (tensor.name.to_string(), TensorInfo { dtype, shape, data_offsets: (start, end) })
    });
    let about = HashMap::from([(key.to_owned(), meta)]);
    let header = Metadata::new(Some(about), places.collect()).map_err(|error| damaged(&error))?;
    let mut header = serde_json::to_vec(&header).map_err(|error| damaged(&error))?;
    header.resize(header.len().next_multiple_of(8), b' ');
    Ok(Packed { header, tensors })
}

impl Packed<'_, '_> {
    /// Writes the file.
    pub(crate) fn write(&self, to: &mut dyn Write) -> io::Result<()> {
        to.write_all(&(self.header.len() as u64).to_le_bytes())?;
        to.write_all(&self.header)?;
        let mut outcome = Ok(());
        for tensor in &self.tensors {
            tensor.each_piece(&mut |piece| {
                if outcome.is_ok() {
                    outcome = to.write_all(piece);
                }
            });
        }
        outcome
    }

    /// The content of the file.
    pub(crate) fn into_bytes(self) -> Result<Vec<u8>, ModelError> {
        let length: usize = self.tensors.iter().map(|tensor| tensor.length()).sum();
        let mut bytes = Vec::with_capacity(8 + self.header.len() + length);
        self.write(&mut bytes).map_err(|error| ModelError::content(error.to_string()))?;
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use safetensors::tensor::{SafeTensors, TensorView};

    /// What is made piece by piece is the file that the format's own library makes of the same tensors.
    #[test]
    fn files_are_those_of_the_format() {
        let many = 3 * PIECE as u64 / 8 + 5;
        let number = |at: u64| 1.0 / (1.0 + at as f64);
        let tensors = [
            Tensor::text("words", "so and so".to_owned()),
            Tensor::many_f64s("masses", many as usize, || (0..many).map(number)),
            Tensor::many_whole("small", many as usize, || 0..many),
            Tensor::many_whole("large", many as usize, || (0..many).map(|at| at << 33)),
            Tensor::u64("ends", [1, 2, 3]),
            Tensor::f64("table", vec![2, 2], [1.0, 2.0, 3.0, 4.0]),
            Tensor::many_f64s("nothing", 0, std::iter::empty),
        ];
        let bytes = pack("key", &serde_json::json!({"a": 1}), &tensors).unwrap();
        let bytes = bytes.into_bytes().unwrap();
        let (_, header) = SafeTensors::read_metadata(&bytes).unwrap();
        let contents: Vec<Vec<u8>> = tensors
            .iter()
            .map(|tensor| {
                let mut content = Vec::new();
                tensor.each_piece(&mut |piece| content.extend_from_slice(piece));
                content
            })
            .collect();
        let views = tensors.iter().zip(&contents).map(|(tensor, content)| {
            let view = TensorView::new(tensor.dtype, tensor.shape.clone(), content).unwrap();
            (tensor.name.as_ref(), view)
        });
        let expected = safetensors::serialize(views, header.metadata().clone()).unwrap();
        assert!(bytes == expected, "{} and {} bytes", bytes.len(), expected.len());
        let small = SafeTensors::deserialize(&bytes).unwrap().tensor("small").unwrap().dtype();
        assert_eq!(small, Dtype::U32);
    }
}
