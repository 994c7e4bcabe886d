//! Writes files either completely or not at all.

use std::fs::{self, File, Permissions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use thiserror::Error;

/// Why a file was not written.
///
/// ```
/// use maxmargin_io::atomic_write;
/// let error = atomic_write("/", |to| to.write_all(b"x")).unwrap_err();
/// assert_eq!(error.to_string(), "/: cannot be written: it is a directory");
/// ```
#[derive(Debug, Error)]
#[error("{path}: cannot be written: {reason}", path = path.display())]
pub struct SaveError {
    /// The file.
    pub path: PathBuf,
    /// What the operating system says.
    pub reason: io::Error,
}

/// Allows closures that only write to use plain [`io::Error`]s.
impl From<SaveError> for io::Error {
    fn from(error: SaveError) -> Self {
        Self::new(error.reason.kind(), error)
    }
}

/// How many symbolic links are followed: as many as Linux does.
const LINKS: usize = 40;

/// Writes a file in one step. Readers always see either all of the old content or all of the new content.
///
/// `write` fills a temporary file in the same folder, which is then flushed to disk and renamed. If anything fails,
/// the temporary file is removed, and an old file at `path` stays as it was.
///
/// * A new file has the permissions of any other new file (those of the umask); an existing one
///   keeps its own. A file that is read-only stays as it is.
/// * If `path` is a symbolic link, the file it points to is written, and the link stays.
/// * A process that is killed leaves its temporary file behind. The next process that writes the same file removes
///   it.
/// * Devices and pipes, such as `/dev/stdout`, cannot be replaced. They are written to directly.
///
/// Returns the result of `write`.
///
/// # Errors
/// The errors of `write`, and a [`SaveError`] that names the file, for example if `path` is a directory, the folder
/// is missing, or the disk is full.
///
/// ```
/// use maxmargin_io::atomic_write;
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("model.txt");
/// atomic_write(&path, |to| to.write_all(b"first"))?;
///
/// let failed = atomic_write(&path, |to| {
///     to.write_all(b"sec")?;
///     Err::<(), _>(std::io::Error::other("out of ideas"))
/// });
/// assert_eq!(failed.unwrap_err().to_string(), "out of ideas");
/// assert_eq!(std::fs::read(&path)?, b"first");
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn atomic_write<T, E: From<SaveError>>(
    path: impl AsRef<Path>,
    write: impl FnOnce(&mut (dyn Write + Send)) -> Result<T, E>,
) -> Result<T, E> {
    let path = path.as_ref();
    let fail = |reason: io::Error| SaveError { path: path.into(), reason };
    // A device or a pipe is written to directly, even if the links to it lead to no path (`/dev/stdout`).
    let target = match fs::metadata(path) {
        Ok(found) if !found.is_file() => path.to_path_buf(),
        _ => follow_links(path).map_err(fail)?,
    };
    let existing = match fs::metadata(&target) {
        Ok(existing) => Some(existing),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(fail(error).into()),
    };
    if let Some(existing) = &existing {
        if existing.is_dir() {
            let reason = io::Error::new(io::ErrorKind::IsADirectory, "it is a directory");
            return Err(fail(reason).into());
        }
        if !existing.is_file() {
            let file = File::options().write(true).open(&target).map_err(fail)?;
            let mut file = BufWriter::new(file);
            let result = write(&mut file)?;
            file.flush().map_err(fail)?;
            return Ok(result);
        }
        if existing.permissions().readonly() {
            let reason = io::Error::new(io::ErrorKind::PermissionDenied, "it is read-only");
            return Err(fail(reason).into());
        }
    }
    let folder = match target.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let prefix = prefix_of(&target);
    clear_leftovers(folder, &prefix);
    let prefix = format!("{prefix}{}-", std::process::id());
    let mut builder = tempfile::Builder::new();
    builder.prefix(&prefix).suffix(SUFFIX);
    let usual = usual_permissions();
    if let Some(usual) = &usual {
        builder.permissions(usual.clone());
    }
    // From here on the temporary file is removed when `temporary` goes out of scope.
    let temporary = builder.tempfile_in(folder).map_err(fail)?;
    let mut file = BufWriter::new(temporary.as_file());
    let result = write(&mut file)?;
    file.flush().map_err(fail)?;
    drop(file);
    if let Some(existing) = existing {
        temporary.as_file().set_permissions(existing.permissions()).map_err(fail)?;
    }
    temporary.as_file().sync_all().map_err(fail)?;
    temporary.persist(&target).map_err(|error| fail(error.error))?;
    sync_folder(folder);
    Ok(result)
}

/// The end of the names of temporary files.
const SUFFIX: &str = ".tmp";

/// The beginning of the names of all temporary files for a target. The number of the process follows.
fn prefix_of(target: &Path) -> String {
    let name = target.file_name().unwrap_or_default();
    format!(".maxmargin-{:016x}-", xxhash_rust::xxh3::xxh3_64(name.as_encoded_bytes()))
}

/// Removes the temporary files that killed processes have left for the same target. Files that cannot be removed
/// stay; they do no harm.
fn clear_leftovers(folder: &Path, prefix: &str) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let rest = name.to_str().and_then(|name| name.strip_prefix(prefix)?.strip_suffix(SUFFIX));
        let process = rest.and_then(|rest| rest.split_once('-')?.0.parse().ok());
        if process.is_some_and(|process| has_ended(process, &entry)) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Whether the process that has made a temporary file is known to have ended.
#[cfg(target_os = "linux")]
fn has_ended(process: u32, _: &fs::DirEntry) -> bool {
    Path::new("/proc/self").exists() && !Path::new("/proc").join(process.to_string()).exists()
}

/// On other systems, the age of the file decides, because no file takes a day to write.
#[cfg(not(target_os = "linux"))]
fn has_ended(process: u32, entry: &fs::DirEntry) -> bool {
    const DAY: std::time::Duration = std::time::Duration::from_secs(24 * 60 * 60);
    let modified = entry.metadata().and_then(|found| found.modified()).ok();
    let age = modified.and_then(|modified| modified.elapsed().ok());
    process != std::process::id() && age.is_some_and(|age| age > DAY)
}

/// The file that a chain of symbolic links leads to, whether it exists or not.
fn follow_links(path: &Path) -> io::Result<PathBuf> {
    let mut target = path.to_path_buf();
    for _ in 0..LINKS {
        match fs::symlink_metadata(&target) {
            Ok(found) if found.is_symlink() => {
                let to = fs::read_link(&target)?;
                // A relative link starts from the folder it is in.
                target = target.parent().unwrap_or(Path::new("")).join(to);
            }
            Ok(_) => return Ok(target),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(target),
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::other("too many symbolic links"))
}

/// The permissions of a new file before the umask is applied. Temporary files are closed to other users by default.
#[cfg(unix)]
fn usual_permissions() -> Option<Permissions> {
    use std::os::unix::fs::PermissionsExt;
    Some(Permissions::from_mode(0o666))
}

#[cfg(not(unix))]
fn usual_permissions() -> Option<Permissions> {
    None
}

/// Makes the new name survive a power failure. Not every file system can do this, and the content is already safe,
/// so errors are ignored.
#[cfg(unix)]
fn sync_folder(folder: &Path) {
    let _ = File::open(folder).and_then(|folder| folder.sync_all());
}

#[cfg(not(unix))]
fn sync_folder(_: &Path) {}

#[cfg(test)]
mod tests;
