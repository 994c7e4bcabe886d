//! What pictures in reports are made of.

use anyhow::{Result, bail};
use clap::Args;
use maxmargin_io::Spec;
use std::path::PathBuf;

/// Pictures of labelled images.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct Pictures {
    /// Folder with the images of superpixels (NAME.jpg or NAME.png, or in a folder of their split), to
    /// draw predictions on in the report
    #[arg(long, value_name = "FOLDER", requires = "report")]
    pub(crate) images: Option<PathBuf>,
    /// The two features of a superpixel that say where it lies, as shares of width and height
    /// [default: 40,41; none where every pixel is a node, row by row]
    #[arg(long, value_name = "X,Y", value_parser = two)]
    pub(crate) centres: Option<(usize, usize)>,
}

impl Pictures {
    /// Refuses pictures for models that have none, and folders that are not there.
    pub(crate) fn check(&self, spec: &Spec) -> Result<()> {
        if self.images.is_some() && !matches!(spec, Spec::Potts(_)) {
            bail!(
                "--images has no meaning here: only the superpixels of --model graph have images"
            );
        }
        if let Some(folder) = self.images.as_deref().filter(|folder| !folder.is_dir()) {
            bail!("--images {}: there is no such folder", folder.display());
        }
        Ok(())
    }
}

fn two(text: &str) -> std::result::Result<(usize, usize), &'static str> {
    let number = |text: &str| text.parse().ok().filter(|number: &usize| *number > 0);
    let both = text.split_once(',').and_then(|(x, y)| Some((number(x)?, number(y)?)));
    both.ok_or("two numbers of features are needed, such as 40,41")
}
