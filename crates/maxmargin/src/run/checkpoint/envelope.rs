//! Bytes with a version and a check sum.

use super::CheckpointError;
use crate::run::bytes::check_sum;

/// What surrounds the content: magic bytes and a version before it, its length and a check sum after it.
pub(crate) struct Envelope {
    pub(crate) magic: [u8; 8],
    /// Increased with every change of what the content holds.
    pub(crate) layout: u32,
}

/// Bytes before and after the content.
pub(crate) const HEAD: usize = 8 + size_of::<u32>();
pub(crate) const TAIL: usize = 2 * size_of::<u64>();

impl Envelope {
    /// Writes what comes before the content.
    pub(crate) fn begin(&self, bytes: &mut Vec<u8>) {
        bytes.extend(self.magic);
        bytes.extend(self.layout.to_le_bytes());
    }

    /// Adds what comes after the content.
    pub(crate) fn seal(&self, mut bytes: Vec<u8>) -> Vec<u8> {
        bytes.extend(((bytes.len() - HEAD) as u64).to_le_bytes());
        bytes.extend(check_sum(&bytes).to_le_bytes());
        bytes
    }

    /// The content, if everything around it is right.
    pub(crate) fn open<'a>(&self, bytes: &'a [u8]) -> Result<&'a [u8], CheckpointError> {
        let rest = bytes.strip_prefix(&self.magic).ok_or(CheckpointError::Foreign)?;
        let (version, rest) = rest.split_first_chunk().ok_or(CheckpointError::Damaged)?;
        let (found, reads) = (u32::from_le_bytes(*version), self.layout);
        if found != reads {
            return Err(CheckpointError::Layout { found, reads });
        }
        let (rest, sum) = rest.split_last_chunk().ok_or(CheckpointError::Damaged)?;
        let (content, length) = rest.split_last_chunk().ok_or(CheckpointError::Damaged)?;
        let whole = u64::from_le_bytes(*length) == content.len() as u64;
        let summed = &bytes[..bytes.len() - size_of::<u64>()];
        if !whole || u64::from_le_bytes(*sum) != check_sum(summed) {
            return Err(CheckpointError::Damaged);
        }
        Ok(content)
    }
}
