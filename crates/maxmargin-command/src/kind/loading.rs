//! Model files that are read to be used.

use anyhow::{Result, anyhow, bail};
use maxmargin::inference::Inference;
use maxmargin_io::{Model, PathFile};
use std::path::Path;

/// Reads a model.
pub(crate) fn load(path: &Path) -> Result<Model> {
    Model::load(path).map_err(|error| {
        let hint = match PathFile::load(path) {
            Ok(_) => "`maxmargin pick PATH --lambda NUMBER -o MODEL` takes a model out of it",
            Err(_) => "a model is a file that `maxmargin train DATA -o MODEL` has written",
        };
        anyhow!("{error}\nhint: {hint}")
    })
}

/// Reads a model whose outputs are to be found in another way than in training, perhaps.
pub(crate) fn load_for(path: &Path, inference: Option<Inference>) -> Result<Model> {
    let mut model = load(path)?;
    if let Some(inference) = inference {
        let kind = model.meta.spec.kind();
        match model.meta.spec.inference_mut() {
            Some(own) => *own = inference,
            None => bail!("--inference has no meaning for a {kind} model"),
        }
    }
    Ok(model)
}
