//! Data that training does not see: to choose λ by, and to stop early by.

use super::train::read_other;
use crate::args::TrainArgs;
use anyhow::{Result, bail};
use maxmargin::model::chain::Sequences;
use maxmargin_io::{Dataset, EvalData, HeldOut, Unknown};

/// One sequence in this many is held out where no other data are named.
const ONE_IN: usize = 10;

/// Labelled data to validate on, and how they were taken out of the training data if they were.
pub(super) struct Validation {
    pub(super) data: EvalData,
    pub(super) held_out: Option<HeldOut>,
}

/// The data that are named, or, if there is to be patience, a part of the training data, which is
/// taken out of them.
pub(super) fn prepare(
    args: &TrainArgs,
    patience: Option<u64>,
    seed: u64,
    data: &mut Dataset,
) -> Result<Option<Validation>> {
    if let Some(data) = read_other(args.validation.as_ref(), args, data)? {
        return Ok(Some(Validation { data, held_out: None }));
    }
    if patience.is_none() {
        return Ok(None);
    }
    let held_out = HeldOut { seed, one_in: ONE_IN };
    let (rest, out) = split(data, seed, "--patience")?;
    data.sequences = rest;
    Ok(Some(Validation { data: out, held_out: Some(held_out) }))
}

/// A random part of the sequences, held out for `option`, and before it the rest.
pub(super) fn split(data: &Dataset, seed: u64, option: &str) -> Result<(Sequences, EvalData)> {
    if data.sequences.len() < 2 {
        bail!("{option} needs at least two sequences, or --validation DATA");
    }
    let out = HeldOut { seed, one_in: ONE_IN }.marks(data.sequences.len());
    let held_out = EvalData {
        sequences: data.sequences.select(|i| out[i]),
        unknown: Unknown::default(),
        fingerprint: data.fingerprint,
        format: data.format,
    };
    Ok((data.sequences.select(|i| !out[i]), held_out))
}
