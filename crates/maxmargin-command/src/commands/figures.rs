//! Still pictures as files.

use super::train::write_file;
use anyhow::{Context as _, Result};
use maxmargin_report::Figure;
use std::path::Path;

/// Makes a folder, unless it is there; to be asked for before the work.
pub fn make_folder(folder: &Path) -> Result<()> {
    std::fs::create_dir_all(folder)
        .with_context(|| format!("{}: the folder cannot be made", folder.display()))
}

/// Writes pictures into a folder, as SVG.
pub fn write_figures(folder: &Path, figures: &[Figure]) -> Result<()> {
    make_folder(folder)?;
    for figure in figures {
        write_file(&folder.join(format!("{}.svg", figure.name)), figure.svg().as_bytes())?;
    }
    Ok(())
}
