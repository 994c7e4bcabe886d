//! Checkpoint files: the state of a run, and a note that describes the run.

use crate::atomic::{SaveError, atomic_write};
use maxmargin::{Checkpoint, CheckpointError};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Writes a checkpoint and a note to a file in one step. The note is for data that are compared or needed again
/// when the run is resumed.
///
/// ```
/// # use maxmargin::doc::toy;
/// use maxmargin::{Checkpoint, CheckpointEvery, Settings, Trainer};
/// use maxmargin_io::{load_checkpoint, save_checkpoint};
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("run.ckpt");
/// let mut keep = |checkpoint: &Checkpoint<'_>| save_checkpoint(&path, checkpoint, &"toys");
/// let trainer = Trainer::new(Settings::default());
/// trainer.checkpoint(CheckpointEvery::Seconds(60.0), &mut keep).train(&toy())?;
///
/// let (checkpoint, note) = load_checkpoint::<String>(&path)?;
/// assert_eq!(note, "toys");
/// Trainer::new(Settings::default()).resume(checkpoint).train(&toy())?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If the file cannot be written. An old file is then unchanged.
pub fn save_checkpoint(
    path: impl AsRef<Path>,
    checkpoint: &Checkpoint<'_>,
    note: &impl Serialize,
) -> io::Result<()> {
    let path = path.as_ref();
    let bytes = checkpoint.to_bytes(&serde_json::to_string(note)?);
    atomic_write(path, |to| {
        to.write_all(&bytes).map_err(|reason| SaveError { path: path.into(), reason })
    })?;
    Ok(())
}

/// Reads a checkpoint and its note from a file that [`save_checkpoint`] has written.
///
/// # Errors
/// If there is no such file, or if it is damaged or does not contain a checkpoint with such a note.
pub fn load_checkpoint<T: DeserializeOwned>(
    path: impl AsRef<Path>,
) -> Result<(Checkpoint<'static>, T), CheckpointFileError> {
    let path = path.as_ref();
    let bytes =
        read(path).map_err(|reason| CheckpointFileError::Read { path: path.into(), reason })?;
    let checkpoint = Checkpoint::from_bytes(&bytes)
        .map_err(|reason| CheckpointFileError::Content { path: path.into(), reason })?;
    let note = serde_json::from_str(checkpoint.note())
        .map_err(|reason| CheckpointFileError::Note { path: path.into(), reason })?;
    Ok((checkpoint, note))
}

/// Reads the content of a file. If it is not a checkpoint, it reads only the head, because a device may be endless.
fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    let mut bytes = Vec::new();
    file.by_ref().take(HEAD).read_to_end(&mut bytes)?;
    if !matches!(Checkpoint::from_bytes(&bytes), Err(CheckpointError::Foreign)) {
        file.read_to_end(&mut bytes)?;
    }
    Ok(bytes)
}

/// The number of bytes that are enough to recognise a checkpoint.
const HEAD: u64 = 64;

/// What is wrong with a checkpoint file. The message names the file.
///
/// ```
/// use maxmargin_io::load_checkpoint;
///
/// let error = load_checkpoint::<String>("no/such/file").unwrap_err();
/// assert!(error.to_string().starts_with("no/such/file: "));
/// ```
#[derive(Debug, Error)]
pub enum CheckpointFileError {
    /// The file cannot be read.
    #[error("{}: {reason}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why not.
        reason: io::Error,
    },
    /// The content is not a checkpoint, or a damaged one.
    #[error("{}: {reason}", path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: CheckpointError,
    },
    /// The note was written by someone else.
    #[error("{}: a checkpoint of another kind of run ({reason})", path.display())]
    Note {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: serde_json::Error,
    },
}

#[cfg(test)]
mod tests {
    use super::*;
    use maxmargin::doc::toy;
    use maxmargin::{CheckpointEvery, Settings, Trainer};

    #[test]
    fn a_failure_to_write_names_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("nosuch").join("run.ckpt");
        let mut keep = |checkpoint: &Checkpoint<'_>| save_checkpoint(&path, checkpoint, &());
        let trainer = Trainer::new(Settings::default());
        let trainer = trainer.checkpoint(CheckpointEvery::Passes(1), &mut keep);
        let error = trainer.train(&toy()).unwrap_err().to_string();
        assert!(error.starts_with("the checkpoint could not be kept: "), "{error}");
        assert!(error.contains("run.ckpt: cannot be written: "), "{error}");
    }

    #[test]
    fn a_note_of_another_kind_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.ckpt");
        let mut keep = |checkpoint: &Checkpoint<'_>| save_checkpoint(&path, checkpoint, &"text");
        let trainer = Trainer::new(Settings::default());
        trainer.checkpoint(CheckpointEvery::Passes(1), &mut keep).train(&toy()).unwrap();
        assert!(load_checkpoint::<String>(&path).is_ok());
        let error = load_checkpoint::<u64>(&path).unwrap_err().to_string();
        assert!(error.contains("run.ckpt: a checkpoint of another kind of run"), "{error}");
    }
}
