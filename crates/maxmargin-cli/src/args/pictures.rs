//! What pictures in reports are made of.

use clap::Args;
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

fn two(text: &str) -> Result<(usize, usize), &'static str> {
    let number = |text: &str| text.parse().ok().filter(|number: &usize| *number > 0);
    let both = text.split_once(',').and_then(|(x, y)| Some((number(x)?, number(y)?)));
    both.ok_or("two numbers of features are needed, such as 40,41")
}
