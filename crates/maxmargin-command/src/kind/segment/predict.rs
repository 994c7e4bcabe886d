//! Segments for new sequences.

use super::super::json_lines::write_json;
use super::Vocabulary;
use crate::args::PredictArgs;
use anyhow::{Context as _, Result, bail};
use maxmargin::model::chain::Sequences;
use maxmargin::model::segment::{Segment, Segmentations};
use maxmargin::{Problem as _, ProblemExt as _};
use maxmargin_io::{
    CONSTANT, LabelRule, Mapping, Model, Names, ReadSequences as _, SegmentSpec, TagNames, Unknown,
    answer_sequences, cut_into_segments, write_predictions,
};
use serde_json::{Value, json};
use std::borrow::Cow;
use std::io::Write;

/// Cuts sequences in the order of the data; returns what was not known.
pub(super) fn predict(
    model: &Model,
    spec: &SegmentSpec,
    args: &PredictArgs,
    out: &mut (dyn Write + Send),
) -> Result<Unknown> {
    for (given, option, why) in [
        (args.n_best.is_some(), "--n-best", "the best segments alone are found"),
        (args.confidence, "--confidence", "the best segments alone are found"),
        (args.rules.is_some(), "--rules", "segments keep them anyway"),
        (args.keep_labels, "--keep-labels", "all of a sequence is cut"),
    ] {
        if given {
            bail!("{option} is not known for segments: {why}");
        }
    }
    let mut reader = Vocabulary::of(model).open_sequences(&args.data, args.format)?;
    let format = reader.format();
    if args.columns && !reader.keep_lines() {
        bail!("--columns repeats words in columns, and {} has the format {format}", reader.file());
    }
    let tags = spec.tag_names(&model.labels);
    let (nothing, constant) = (Names::new(), model.attributes.get(CONSTANT));
    // Scratch memory has the size of the weights, so that it is made once for each thread.
    let none = spec.problem(Segmentations::new()).context("the model")?;
    let start = || (none.workspace(), Vec::new());
    answer_sequences(reader, args.answering(), out, start, |(workspace, found), asked, out| {
        let mut mapping = Mapping::new(&nothing, &model.attributes, LabelRule::Ignore);
        let mut sequences = Sequences::new();
        mapping.add(asked.file, asked.sequence, &mut sequences)?;
        let data = cut_into_segments(&sequences, &tags, constant)?;
        let problem = spec.problem(data.without_truth())?;
        problem.prepare(0, &model.weights, workspace);
        problem.decode(0, &model.weights, workspace, found);
        if args.json {
            write_json(out, &in_json(found, &tags, &model.labels))?;
            return Ok(mapping.unknown());
        }
        let labels: Vec<Cow<'_, str>> = tags.tags(found).collect();
        match asked.kept_lines {
            Some(kept) => kept.write(out, labels.iter().map(AsRef::as_ref))?,
            None => write_predictions(out, format, labels.iter().map(AsRef::as_ref))?,
        }
        Ok(mapping.unknown())
    })
}

/// The tags of tokens, and the segments themselves: `stop` is the token after the last one, from 0.
fn in_json(segments: &[Segment], tags: &TagNames, names: &Names) -> Value {
    let mut start = 0;
    let one = |segment: &Segment| {
        let stop = start + segment.length;
        let own = json!({ "start": start, "stop": stop, "label": names.name(segment.label) });
        start = stop;
        own
    };
    let spans: Vec<Value> = segments.iter().map(one).collect();
    json!({ "labels": tags.tags(segments).collect::<Vec<_>>(), "segments": spans })
}
