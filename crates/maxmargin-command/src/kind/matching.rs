//! Matchings: words of two sentences linked to each other.

mod tested;

use super::json_lines::{write_json, write_ranked};
use super::options::check;
use super::rows::{largest_attributes, refuse_sequence_options};
use super::tested::{Look, Tested};
use super::{
    Kind, Labelled, LargestWeights, Measures, Vocabulary, features_from_elsewhere, of_kind,
    refuse_format,
};
use crate::args::{ModelArgs, PredictArgs};
use anyhow::{Result, bail};
use maxmargin::model::matching::{LinkLoss, Matcher, MatchingShape};
use maxmargin_io::{
    AlignmentFeatures, Alignments, DataError, Examples, Format, LabelRule, MatchingSpec, Model,
    Names, Origin, RawAlignment, Source, Training, Unknown, WordCounts, alignment_fingerprint,
    alignment_scores, answer_examples, read_alignments,
};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::io::Write;

/// How often two words must be linked to get a weight of their own, unless told otherwise.
const LEXICON: u64 = 3;

pub(super) const KNOWN: [&str; 5] =
    ["--links", "--missing-cost", "--min-count", "--lower", "--upper"];

/// Reads training data, and puts them in index form on so many threads.
pub(super) fn training(
    data: &str,
    format: Option<Format>,
    args: &ModelArgs,
    threads: usize,
) -> Result<Training> {
    if args.loss.is_some() {
        bail!(
            "--loss has no meaning with --model matching\nhint: --missing-cost weighs the mistakes"
        );
    }
    check(args, "matching", &KNOWN)?;
    let pairs = read(data, format)?;
    need_links(data, &pairs)?;
    let least = u32::try_from(args.min_count.unwrap_or(LEXICON)).unwrap_or(u32::MAX);
    let features = AlignmentFeatures::new(WordCounts::of(&pairs)).with_lexicon(&pairs, least);
    let (most, attributes) = (args.links.unwrap_or(1), features.attributes());
    let shape = MatchingShape { attributes, most_per_row: most, most_per_column: most };
    let loss = LinkLoss { missing: args.missing_cost.unwrap_or(1.0), ..LinkLoss::default() };
    let origin = Origin {
        labels: Names::new(),
        attributes: features.names(),
        format: Format::Alignment,
        fingerprint: alignment_fingerprint(&pairs),
        template: None,
    };
    let examples = Alignments::on_threads(pairs, &features, threads)?.into();
    let features = Some(features);
    let spec = MatchingSpec { shape, loss, features, rescaling: args.rescaling };
    Ok(Training { origin, examples, spec: spec.into() })
}

fn read(data: &str, format: Option<Format>) -> Result<Vec<RawAlignment>> {
    refuse_format(format, format == Some(Format::Alignment), "matching")?;
    let (source, part) = Source::resolve_part(data)?;
    let mut pairs = read_alignments(source.open_lines("aligned sentences")?)?;
    let mut what = "pairs of sentences".to_owned();
    if let Some(part) = part {
        pairs.retain(|pair| pair.part.as_deref() == Some(part.as_str()));
        what = format!("pairs of the part `{part}`");
    }
    if pairs.is_empty() {
        return Err(DataError::Nothing { file: source.to_string(), what }.into());
    }
    Ok(pairs)
}

/// Refuses pairs without a single link: they are there to be predicted, not to be learned from.
fn need_links(data: &str, pairs: &[RawAlignment]) -> Result<()> {
    if pairs.iter().all(|pair| pair.links.is_empty()) {
        bail!(
            "{data}: expected links such as `1-1`, which training and evaluation need, found none"
        );
    }
    Ok(())
}

/// The sentences, with the links that are possible between their words.
fn sentences_of(examples: &Examples) -> Result<&Alignments> {
    of_kind(if let Examples::Alignments(data) = examples { Some(data) } else { None })
}

fn in_words(links: &[(u32, u32)]) -> String {
    let links: Vec<String> = links.iter().map(|(i, j)| format!("{}-{}", i + 1, j + 1)).collect();
    links.join(" ")
}

/// Links as pairs of words, counted from 1 as in the data.
fn in_json(links: &[(u32, u32)]) -> Value {
    let links: Vec<[u32; 2]> = links.iter().map(|&(i, j)| [i + 1, j + 1]).collect();
    json!({ "links": links })
}

impl Kind for MatchingSpec {
    fn read(
        &self,
        _: &Vocabulary<'_>,
        data: &str,
        format: Option<Format>,
        rule: LabelRule,
    ) -> Result<Labelled> {
        let features = self.features.as_ref().ok_or_else(features_from_elsewhere)?;
        let pairs = read(data, format)?;
        if rule != LabelRule::Ignore {
            need_links(data, &pairs)?;
        }
        let fingerprint = alignment_fingerprint(&pairs);
        let examples = Alignments::on_threads(pairs, features, 0)?.into();
        Ok(Labelled::new(examples, Unknown::default(), fingerprint))
    }

    fn write_predictions(
        &self,
        model: &Model,
        args: &PredictArgs,
        out: &mut (dyn Write + Send),
    ) -> Result<Unknown> {
        refuse_sequence_options(args)?;
        if args.confidence {
            bail!("--confidence is not known for matchings\nhint: --n-best shows what is close");
        }
        let names = Vocabulary::of(model);
        let data = self.read(&names, &args.data, args.format, LabelRule::Ignore)?;
        let pairs = &sentences_of(&data.examples)?.links;
        let start = || Matcher::new(self.shape, &model.weights);
        answer_examples(pairs.len(), args.answering(), out, start, |matcher, i, out| {
            let pair = pairs.pair(i);
            let Some(n) = args.n_best else {
                matcher.best(&pair);
                let links = matcher.links(&pair);
                return match args.json {
                    true => write_json(out, &in_json(&links)),
                    false => writeln!(out, "{}", in_words(&links)),
                };
            };
            if args.json {
                let ranked = matcher.n_best(&pair, n as usize);
                return write_ranked(
                    out,
                    ranked.iter().map(|one| (one.score, in_json(&one.links))),
                );
            }
            for (rank, found) in matcher.n_best(&pair, n as usize).iter().enumerate() {
                writeln!(out, "# {} {}\n{}", rank + 1, found.score, in_words(&found.links))?;
            }
            Ok(())
        })?;
        Ok(data.unknown)
    }

    fn measure(&self, model: &Model, data: &Examples, threads: usize) -> Result<Measures> {
        let errors = model.meta.spec.errors(&model.weights, data, threads)?;
        let links = &sentences_of(data)?.links;
        let s = alignment_scores(links, &self.predict(&model.weights, links, threads));
        let mut text = String::new();
        let _ = writeln!(text, "pairs      {:>8}   error {:.4}", s.pairs, errors.examples.share());
        let _ = writeln!(
            text,
            "links      {:>8}   AER {:.4}   precision {:.4}   recall {:.4}",
            s.predicted,
            s.aer(),
            s.precision(),
            s.recall()
        );
        let json = json!({
            "hamming": errors.parts.share(), "zero_one": errors.examples.share(), "aer": s.aer(),
            "precision": s.precision(), "recall": s.recall(), "pairs": s.pairs,
            "links": s.predicted, "sure": s.sure,
        });
        Ok(Measures { text, json })
    }

    fn largest_weights(&self, model: &Model, top: usize) -> LargestWeights {
        let weights = largest_attributes(model, top, |a| model.weights[a], None);
        let labels = vec![("of links".to_owned(), weights)];
        LargestWeights { heading: "weights", labels, pairs: None }
    }

    fn describe(&self) -> String {
        match self.shape.most_per_row {
            1 => "Matchings of at most one link per word".to_owned(),
            most => format!("Matchings of at most {most} links per word"),
        }
    }

    fn tested(&self, model: &Model, test: &Labelled, look: &Look<'_>) -> Result<Tested> {
        let sentences = sentences_of(&test.examples)?;
        let predicted = self.predict(&model.weights, &sentences.links, look.threads);
        Ok(tested::tested(sentences, &predicted, look))
    }
}
