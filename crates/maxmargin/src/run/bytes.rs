//! How states become bytes: the one place that knows the encoding of checkpoints.
//!
//! Without the feature `checkpoint` nothing can ask for a checkpoint, so nothing here is ever called; the
//! stand-ins keep the engine free of conditions.

#[cfg(feature = "checkpoint")]
mod encoding {
    use serde::{Serialize, de::DeserializeOwned};

    /// A state that checkpoints can hold.
    pub(crate) trait Saved: Serialize + DeserializeOwned {}

    impl<T: Serialize + DeserializeOwned> Saved for T {}

    /// A state as bytes.
    pub(crate) fn to_bytes(state: &impl Serialize) -> Vec<u8> {
        append(state, Vec::new())
    }

    /// Appends the bytes of a state to `bytes`.
    pub(crate) fn append(state: &impl Serialize, bytes: Vec<u8>) -> Vec<u8> {
        postcard::to_extend(state, bytes).expect("plain data")
    }

    /// Reads what [`to_bytes`] has written.
    pub(crate) fn from_bytes<T: DeserializeOwned>(bytes: &[u8]) -> Option<T> {
        postcard::from_bytes(bytes).ok()
    }

    /// A check sum, which reveals damaged bytes.
    pub(crate) fn check_sum(bytes: &[u8]) -> u64 {
        xxhash_rust::xxh3::xxh3_64(bytes)
    }

    pub(crate) use xxhash_rust::xxh3::Xxh3 as Hash;
}

#[cfg(not(feature = "checkpoint"))]
mod encoding {
    /// A state that checkpoints could hold.
    pub(crate) trait Saved {}

    impl<T> Saved for T {}

    pub(crate) fn to_bytes<T>(_: &T) -> Vec<u8> {
        Vec::new()
    }

    pub(crate) fn append<T>(_: &T, bytes: Vec<u8>) -> Vec<u8> {
        bytes
    }

    pub(crate) fn from_bytes<T>(_: &[u8]) -> Option<T> {
        None
    }

    pub(crate) fn check_sum(_: &[u8]) -> u64 {
        0
    }

    pub(crate) struct Hash;

    impl Hash {
        pub(crate) fn new() -> Self {
            Self
        }

        pub(crate) fn update(&mut self, _: &[u8]) {}

        pub(crate) fn digest(&self) -> u64 {
            0
        }
    }
}

pub(crate) use encoding::*;
