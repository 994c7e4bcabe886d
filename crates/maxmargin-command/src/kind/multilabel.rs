//! Multi-label models: sets of labels.

mod tested;

use super::draw::MOST_HEATMAP_LABELS;
use super::json_lines::{write_one, write_ranked};
use super::kernel::{kernel, with_kernel};
use super::options::{check, hamming};
use super::tested::{Look, Tested};
use super::{
    Kind, Labelled, LargestWeights, Measures, PairWeights, Vocabulary, label_name, largest, of_kind,
};
use super::{rows, soft};
use crate::args::{ModelArgs, Pairs, PredictArgs};
use crate::tally;
use anyhow::{Result, bail};
use maxmargin::evaluate::{LabelSetScores, Tally};
use maxmargin::model::LabelledRows;
use maxmargin::model::multilabel::{MultilabelShape, SetScores};
use maxmargin::{Problem as _, Quality};
use maxmargin_io::Spec;
use maxmargin_io::{
    CONSTANT, Examples, Format, KernelSpec, LabelPairs, LabelRule, Model, MultilabelSpec, Origin,
    Rescaling, RowData, Training, Unknown, with_constant,
};
use maxmargin_report::{Heatmap, Section};
use serde_json::json;
use std::fmt::Write as _;
use std::io::Write;

pub(super) const KNOWN: [&str; 10] = [
    "--pairs",
    "--bias",
    "--inference",
    "--loss",
    "--label-weight",
    "--lower",
    "--upper",
    "--frequent-labels",
    "--kernel",
    "--training",
];

/// With more labels, the pairs alone have more weights than any model may have.
const MOST_COMPLETE: usize = 32_768;

pub(super) fn training(mut data: RowData, name: &str, args: &ModelArgs) -> Result<Training> {
    check(args, "multilabel", &KNOWN)?;
    if data.labels.is_empty() {
        bail!("{name}: no row has a label; there is nothing to learn");
    }
    if let Some(count) = args.frequent_labels {
        data = data.with_most_frequent_labels(count);
    }
    let pairs = args.pairs.unwrap_or_else(|| default_pairs(data.labels.len()));
    if has_constant(args, pairs)? {
        data.attributes.intern(CONSTANT);
        data.rows = with_constant(data.rows, &data.attributes);
    }
    let (labels, attributes) = (data.labels.len(), data.attributes.len());
    let shape = match pairs {
        Pairs::None => MultilabelShape::independent(labels, attributes),
        Pairs::Tree => MultilabelShape::tree(labels, attributes, &data.rows),
        Pairs::Complete if labels > MOST_COMPLETE => bail!(
            "too many weights: {labels} labels have {} pairs\nhint: --pairs tree has a weight for few of them, \
             and --frequent-labels N keeps the most frequent labels",
            labels as u128 * (labels as u128 - 1) / 2
        ),
        Pairs::Complete => MultilabelShape::complete(labels, attributes),
    };
    let loss = hamming(args, &data.labels, true)?;
    let (training, inference) = soft::training(args)?;
    let partial = args.frequent_labels.is_some();
    let rescaling = args.rescaling;
    let kernel = kernel(args, data.rows.iter().map(|(row, _)| row), attributes)?;
    let spec = MultilabelSpec { shape, loss, inference, partial, rescaling, kernel, training };
    let quality = spec.problem(LabelledRows::new())?.quality();
    soft::check_exact(args, quality)?;
    let tries_all = labels <= SetScores::MOST_LABELS;
    if rescaling == Rescaling::Slack && !tries_all && quality == Quality::UpperBound {
        bail!(
            "--rescaling slack needs a decoder that tries out all sets of labels, or finds the best one, and {labels} \
             labels have too many of them\nhint: --pairs tree has a decoder that finds the best one, and --frequent-labels N \
             keeps the most frequent labels"
        );
    }
    Ok(Training { origin: Origin::from(&data), examples: data.rows.into(), spec: spec.into() })
}

/// Whether labels have constant weights. The model of the literature has none where all pairs of labels have
/// weights, but predictions are better with them on most data sets (`benchmarks/results`). A kernel knows the
/// inputs only as they are, so there the weights of all pairs have to make up for it. How weights are found does
/// not change the model.
fn has_constant(args: &ModelArgs, pairs: Pairs) -> Result<bool> {
    let all_pairs = pairs == Pairs::Complete;
    match args.bias {
        None => Ok(!all_pairs || args.kernel.kernel.is_none()),
        Some(bias) if bias == 0.0 || bias == 1.0 => Ok(bias == 1.0),
        Some(bias) => bail!("--bias of a multi-label model is 0 or 1, not {bias}"),
    }
}

/// The pairs of labels that have a weight unless the user says which.
fn default_pairs(labels: usize) -> Pairs {
    match LabelPairs::for_labels(labels) {
        LabelPairs::Complete => Pairs::Complete,
        LabelPairs::Tree => Pairs::Tree,
        LabelPairs::None => Pairs::None,
    }
}

/// Which pairs of labels have a weight, for people, where the user has not said it and it is not all of them.
pub(crate) fn pairs_in_words(spec: &Spec, args: &ModelArgs) -> Option<String> {
    let Spec::Multilabel(own) = spec else { return None };
    let labels = own.shape.labels;
    let which = match (args.pairs, default_pairs(labels)) {
        (Some(_), _) | (None, Pairs::Complete) => return None,
        (None, Pairs::Tree) => "the pairs of a tree have",
        (None, Pairs::None) => "no pairs of them have",
    };
    Some(format!("{labels} labels, so that {which} weights; --pairs says otherwise"))
}

/// The rows with some of their labels.
fn with_labels(rows: &LabelledRows, keep: impl Fn(u32) -> bool) -> LabelledRows {
    let mut some = LabelledRows::new();
    for (i, (row, labels)) in rows.iter().enumerate() {
        let kept: Vec<u32> = labels.iter().copied().filter(|&label| keep(label)).collect();
        some.push(row.pairs(), &kept, rows.weight(i)).expect("it was valid before");
    }
    some
}

impl Kind for MultilabelSpec {
    fn read(
        &self,
        names: &Vocabulary<'_>,
        data: &str,
        format: Option<Format>,
        rule: LabelRule,
    ) -> Result<Labelled> {
        self.problem(LabelledRows::new())?;
        let rule = if self.partial { LabelRule::Count } else { rule };
        let mut data = names.read_rows(data, format, rule)?;
        data.rows = with_constant(data.rows, names.attributes);
        if self.partial {
            data.rows = with_labels(&data.rows, |label| (label as usize) < self.shape.labels);
            data.unknown.labels = 0;
        }
        Ok(data.into())
    }

    fn write_predictions(
        &self,
        model: &Model,
        args: &PredictArgs,
        out: &mut (dyn Write + Send),
    ) -> Result<Unknown> {
        rows::refuse_sequence_options(args)?;
        let ranked = args.n_best.is_some() || args.confidence;
        if ranked && self.shape.labels > SetScores::MOST_LABELS {
            bail!(
                "--n-best and --confidence try out all sets of labels, and {} labels have too many \
                 of them",
                self.shape.labels
            );
        }
        self.problem(LabelledRows::new())?;
        let shape = self.scoring_shape();
        let start = || self.kernel.as_ref().map(KernelSpec::expander);
        rows::predict(model, args, out, start, |expander, out, row| {
            let names = |set: &[u32]| -> Vec<&str> {
                set.iter().map(|&label| model.labels.name(label)).collect()
            };
            let in_json = |set: &[u32]| json!({ "labels": names(set) });
            let mut one = LabelledRows::new();
            one.push(row.pairs(), &[], 1.0)?;
            let one = with_constant(one, &model.attributes);
            if ranked {
                let row = one.row(0);
                let seen = expander.as_mut().map_or(row, |own| own.expand(row));
                let Some(scores) = SetScores::new(&shape, &model.weights, seen) else {
                    bail!("there are too many labels");
                };
                let best = scores.n_best(args.n_best.map_or(2, |n| n as usize));
                if args.confidence {
                    let second = best.get(1).map_or(f64::NEG_INFINITY, |(_, score)| *score);
                    let (set, margin) = (&best[0].0, best[0].1 - second);
                    write_one(out, args.json, in_json(set), &names(set).join(","), Some(margin))?;
                } else if args.json {
                    write_ranked(out, best.iter().map(|(set, score)| (*score, in_json(set))))?;
                } else {
                    for (rank, (set, score)) in best.iter().enumerate() {
                        writeln!(out, "# {} {score}\n{}", rank + 1, names(set).join(","))?;
                    }
                }
                return Ok(());
            }
            let sets = self.predict(&model.weights, &one, 1)?;
            sets.iter().try_for_each(|set| {
                Ok(write_one(out, args.json, in_json(set), &names(set).join(","), None)?)
            })
        })
    }

    fn measure(&self, model: &Model, data: &Examples, threads: usize) -> Result<Measures> {
        let labels = self.shape.labels;
        let (mut scores, mut tally) = (LabelSetScores::new(labels), Tally::default());
        let names = |set: &[u32]| -> Vec<&str> {
            set.iter().map(|&label| label_name(&model.labels, label)).collect()
        };
        let data = of_kind(data.rows())?;
        for (i, predicted) in self.predict(&model.weights, data, threads)?.iter().enumerate() {
            let known: Vec<u32> =
                data.labels(i).iter().copied().filter(|l| (*l as usize) < labels).collect();
            scores.add(&known, predicted);
            tally.add_sets(&names(&known), &names(predicted));
        }
        let (micro, s) = (scores.micro(), &scores);
        let mut text = String::new();
        let _ = writeln!(text, "rows            {:>8}   labels {labels}", s.examples);
        let _ = writeln!(text, "Hamming error     {:.4}", s.hamming());
        let _ = writeln!(text, "subset accuracy   {:.4}", s.subset_accuracy());
        let _ = writeln!(
            text,
            "F1                {:.4} micro, {:.4} macro, {:.4} by row",
            micro.f1(),
            s.macro_f1(),
            s.example_f1()
        );
        tally::table(&mut text, "label", &tally);
        let json = json!({
            "hamming": s.hamming(), "zero_one": 1.0 - s.subset_accuracy(),
            "subset_accuracy": s.subset_accuracy(), "micro_f1": micro.f1(),
            "macro_f1": s.macro_f1(), "example_f1": s.example_f1(), "rows": s.examples,
            "labels": tally::to_json(&tally),
        });
        Ok(Measures { text, json })
    }

    fn largest_weights(&self, model: &Model, top: usize) -> LargestWeights {
        let (shape, w) = (&self.scoring_shape(), &model.weights);
        let name = |label: u32| model.labels.name(label).to_owned();
        let labels = model.labels.iter().enumerate().map(|(y, label)| {
            let weight = |a| w[a * shape.labels + y];
            (label.to_owned(), rows::largest_attributes(model, top, weight, None))
        });
        let pairs = shape.pairs.iter().copied().zip(w[shape.pair_weights()].iter().copied());
        let pairs = largest(pairs.collect(), top.saturating_mul(2)).into_iter();
        let weights = pairs.map(|((a, b), weight)| (name(a), name(b), weight)).collect();
        let pairs = PairWeights { name: "pairs", between: '+', weights };
        LargestWeights { heading: "label", labels: labels.collect(), pairs: Some(pairs) }
    }

    fn describe(&self) -> String {
        let (labels, pairs) = (self.shape.labels, self.shape.pairs.len());
        let kernel = with_kernel(self.kernel.as_ref());
        format!("Sets of {labels} labels, {pairs} pairs of them{kernel}")
    }

    fn draw(&self, model: &Model) -> Vec<Section> {
        let (shape, k) = (&self.scoring_shape(), self.shape.labels);
        if shape.pairs.is_empty() || k > MOST_HEATMAP_LABELS {
            return Vec::new();
        }
        let mut weights = vec![0.0; k * k];
        for (&(a, b), &weight) in shape.pairs.iter().zip(&model.weights[shape.pair_weights()]) {
            weights[a as usize * k + b as usize] = weight;
            weights[b as usize * k + a as usize] = weight;
        }
        let labels = || model.labels.iter().map(str::to_owned);
        let map = Heatmap::new("Weights of pairs", labels(), labels(), weights)
            .axes("label", "label")
            .note("Positive: the two labels like to come together.");
        vec![map.into()]
    }

    fn tested(&self, model: &Model, test: &Labelled, look: &Look<'_>) -> Result<Tested> {
        tested::tested(model, self, test, look)
    }
}
