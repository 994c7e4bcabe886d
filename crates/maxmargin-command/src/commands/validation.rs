//! Data that training does not see: to choose λ by, and to stop early by.

use super::train::read_other;
use crate::args::TrainArgs;
use crate::kind::Labelled;
use anyhow::{Result, bail};
use maxmargin_io::{Examples, HeldOut, Training, Unknown};

/// One example in this many is held out where no other data are named.
const ONE_IN: usize = 10;

/// Labelled data to validate on, and how they were taken out of the training data if they were.
pub(super) struct Validation {
    pub(super) data: Labelled,
    pub(super) held_out: Option<HeldOut>,
}

/// The data that are named, or, if there is to be patience, a part of the training data, which is
/// taken out of them.
pub(super) fn prepare(
    args: &TrainArgs,
    patience: Option<u64>,
    seed: u64,
    data: &mut Training,
) -> Result<Option<Validation>> {
    if let Some(data) = read_other(args.validation.as_ref(), args, data)? {
        return Ok(Some(Validation { data, held_out: None }));
    }
    if patience.is_none() {
        return Ok(None);
    }
    let held_out = HeldOut { seed, one_in: ONE_IN };
    let (rest, out) = split(data, seed, "--patience")?;
    data.examples = rest;
    Ok(Some(Validation { data: out, held_out: Some(held_out) }))
}

/// A random part of the examples, held out for `option`, and before it the rest.
pub(super) fn split(data: &Training, seed: u64, option: &str) -> Result<(Examples, Labelled)> {
    if data.examples.len() < 2 {
        bail!("{option} needs at least two {}, or --validation DATA", data.spec.nouns().examples);
    }
    let (rest, examples) = data.examples.split(HeldOut { seed, one_in: ONE_IN });
    let fingerprint = data.origin.fingerprint;
    Ok((rest, Labelled::new(examples, Unknown::default(), fingerprint)))
}
