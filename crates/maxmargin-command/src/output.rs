//! What is asked of output files before the work begins.

use anyhow::{Result, bail};
use std::fs;
use std::path::{Path, PathBuf};

/// Notices before the work, not after it, that a result could not be written, or would be written
/// over an input or over another result.
pub fn check<'a>(
    inputs: impl IntoIterator<Item = &'a Path>,
    outputs: impl IntoIterator<Item = &'a Path>,
) -> Result<()> {
    let inputs: Vec<PathBuf> =
        inputs.into_iter().filter_map(|p| fs::canonicalize(p).ok()).collect();
    let mut taken = Vec::new();
    for path in outputs {
        let name = path.display();
        if path == Path::new("-") {
            bail!(
                "-: this cannot go to standard output\nhint: name a file, or ./- if that is its name"
            );
        }
        // What is no regular file, such as /dev/null, takes whatever comes.
        if fs::metadata(path).is_ok_and(|found| !found.is_file() && !found.is_dir()) {
            continue;
        }
        check_writable(path)?;
        let place = place(path);
        if inputs.contains(&place) {
            bail!("{name}: this is an input\nhint: name another file for the output");
        }
        if taken.contains(&place) {
            bail!("{name}: two outputs cannot go to the same file");
        }
        taken.push(place);
    }
    Ok(())
}

fn check_writable(path: &Path) -> Result<()> {
    let name = path.display();
    if let Ok(found) = fs::metadata(path) {
        if found.is_dir() {
            bail!("{name}: cannot be written: it is a directory");
        }
        if found.permissions().readonly() {
            bail!("{name}: cannot be written: it is read-only");
        }
    }
    let folder = folder(path);
    if !folder.is_dir() {
        bail!("{name}: cannot be written: there is no folder {}", folder.display());
    }
    if tempfile::tempfile_in(folder).is_err() {
        bail!("{name}: cannot be written: no file can be made in the folder {}", folder.display());
    }
    Ok(())
}

fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// One name for each file, whether it exists or not.
fn place(path: &Path) -> PathBuf {
    let made = || Some(fs::canonicalize(folder(path)).ok()?.join(path.file_name()?));
    fs::canonicalize(path).ok().or_else(made).unwrap_or_else(|| path.to_owned())
}
