//! Options that only some kinds of models know.

use crate::args::{Loss, ModelArgs};
use anyhow::{Context as _, Result, bail};
use maxmargin::model::chain::Hamming;
use maxmargin_io::Names;

/// Refuses options that have no meaning for a kind of model, which knows those in `known`.
pub(super) fn check(args: &ModelArgs, model: &str, known: &[&str]) -> Result<()> {
    for (given, option) in [
        (args.template.is_some(), "--template"),
        (args.label_column.is_some(), "--label-column"),
        (args.min_count.is_some(), "--min-count"),
        (args.longest.is_some(), "--longest"),
        (!args.without.is_empty(), "--without"),
        (args.loss.is_some(), "--loss"),
        (!args.label_weight.is_empty(), "--label-weight"),
        (args.transition_scale.is_some(), "--transition-scale"),
        (!args.lower.is_empty(), "--lower"),
        (!args.upper.is_empty(), "--upper"),
        (!args.tie.is_empty(), "--tie"),
        (args.costs.is_some(), "--costs"),
        (args.positive.is_some(), "--positive"),
        (args.bias.is_some(), "--bias"),
        (args.pairs.is_some(), "--pairs"),
        (args.inference.is_some(), "--inference"),
        (args.frequent_labels.is_some(), "--frequent-labels"),
        (args.graph_inference.is_some(), "--graph-inference"),
        (args.widths.is_some(), "--widths"),
        (args.free_pairs, "--free-pairs"),
        (args.links.is_some(), "--links"),
        (args.missing_cost.is_some(), "--missing-cost"),
        (args.joint_kinds.is_some(), "--joint-kinds"),
        (args.arc_maps, "--arc-maps"),
        (args.kernel.is_given(), "--kernel"),
        (args.soft.is_given(), "--training"),
    ] {
        if given && !known.contains(&option) {
            if option == "--training" {
                bail!(
                    "--training and its options are for --model multilabel, factor-graph and graph"
                );
            }
            if option == "--kernel" {
                bail!("--model {model} has no kernels; chain, multiclass and multilabel have them");
            }
            bail!("{option} has no meaning with --model {model}");
        }
    }
    Ok(())
}

/// Hamming loss over named labels, normalised unless told otherwise if `normalised`.
pub(super) fn hamming(args: &ModelArgs, labels: &Names, normalised: bool) -> Result<Hamming> {
    if args.loss == Some(Loss::Balanced) {
        bail!("--loss balanced is for --model graph");
    }
    let mut label_weights = Vec::new();
    for (name, weight) in &args.label_weight {
        let label = find(labels, name, "--label-weight")?;
        label_weights.resize(labels.len(), 1.0);
        label_weights[label as usize] = *weight;
    }
    let normalised = args.loss.map_or(normalised, |loss| loss == Loss::NormalisedHamming);
    Ok(Hamming { normalised, label_weights })
}

/// A label that an option names.
pub(super) fn find(labels: &Names, name: &str, option: &str) -> Result<u32> {
    labels.get(name).with_context(|| {
        let known: Vec<&str> = labels.iter().take(30).collect();
        format!(
            "{option}: the data have no label `{name}`\nhint: there are {}{}",
            known.join(", "),
            if labels.len() > known.len() { ", …" } else { "" }
        )
    })
}

/// The constant attribute of rows: 1 unless another is asked for, none if it is 0. Where none is asked for, the length of
/// attributes decides later.
pub(super) fn bias(args: &ModelArgs) -> Option<f64> {
    Some(args.bias.unwrap_or(1.0)).filter(|bias| *bias != 0.0)
}
