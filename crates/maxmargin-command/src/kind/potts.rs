//! Labelled graphs: images cut into superpixels.

mod draw;

use super::json_lines::write_json;
use super::options::check;
use super::rows::refuse_sequence_options;
use super::soft;
use super::tested::{Look, Tested};
use super::{
    Kind, Labelled, LargestWeights, Measures, Vocabulary, features_from_elsewhere, largest,
    of_kind, refuse_format,
};
use crate::args::{Loss, ModelArgs, PredictArgs, TrainingName};
use anyhow::{Context as _, Result, bail};
use maxmargin::evaluate::Segmentation;
use maxmargin::model::potts::{NodeLabels, NodeLoss, PottsInference, PottsShape};
use maxmargin::{Problem as _, ProblemExt as _, Quality};
use maxmargin_io::{
    ErrorCounts, Examples, Format, LabelRule, Model, Origin, PottsSpec, Rescaling, Source,
    SuperpixelFeatures, Superpixels, Training, Unknown, answer_examples, read_superpixels,
};
use serde_json::json;
use std::fmt::Write as _;
use std::io::Write;

pub(super) const KNOWN: [&str; 7] =
    ["--graph-inference", "--loss", "--lower", "--upper", "--widths", "--free-pairs", "--training"];

fn features(widths: &[Option<f64>]) -> SuperpixelFeatures {
    let widths = widths.iter().map(|width| width.unwrap_or(f64::INFINITY)).collect();
    SuperpixelFeatures { widths, bias: true }
}

pub(super) fn training(data: &str, format: Option<Format>, args: &ModelArgs) -> Result<Training> {
    check(args, "graph", &KNOWN)?;
    let widths: Vec<Option<f64>> = match &args.widths {
        Some(widths) => widths.iter().map(|width| width.is_finite().then_some(*width)).collect(),
        None => {
            let widths = SuperpixelFeatures::default().widths.into_iter();
            widths.map(|width| width.is_finite().then_some(width)).collect()
        }
    };
    let examples = read(data, format, &widths)?;
    let (nodes, edges) =
        (examples.graphs.node_attribute_bound(), examples.graphs.edge_attribute_bound());
    let shape = PottsShape::new(2, nodes, edges.max(widths.len()));
    let shape = if args.free_pairs { shape.free() } else { shape };
    let loss = match args.loss {
        None | Some(Loss::Balanced) => NodeLoss::default(),
        Some(Loss::NormalisedHamming) => NodeLoss::HAMMING,
        Some(Loss::Hamming) => bail!(
            "--loss hamming has no meaning with --model graph; there are normalised-hamming and \
             balanced"
        ),
    };
    let inference = args.graph_inference.unwrap_or_default();
    inference.resolve(&shape).map_err(|why| anyhow::anyhow!("--graph-inference: {why}"))?;
    let (training, _) = soft::training(args)?;
    if matches!(args.soft.training, Some(TrainingName::Exact | TrainingName::Lp)) {
        bail!(
            "--training of labelled graphs is soft, or with the decoder that --graph-inference names\n\
             hint: --graph-inference lp trains over linear programs, and max-flow is exact"
        );
    }
    if args.rescaling == Rescaling::Slack && inference.quality(&shape) == Quality::UpperBound {
        bail!(
            "--rescaling slack does not go with --graph-inference {inference}: a relaxation finds mixtures of labels, \
             whose losses and scores must not be multiplied\n\
             hint: max-flow is exact, and max-product and icm find labels"
        );
    }
    let spec = PottsSpec {
        shape,
        loss,
        inference,
        widths: Some(widths),
        training,
        rescaling: args.rescaling,
    };
    let (labels, attributes) = spec.names().unwrap_or_default();
    let origin = Origin {
        labels,
        attributes,
        format: Format::Superpixels,
        fingerprint: examples.fingerprint(),
        template: None,
    };
    Ok(Training { origin, examples: examples.into(), spec: spec.into() })
}

fn read(data: &str, format: Option<Format>, widths: &[Option<f64>]) -> Result<Superpixels> {
    refuse_format(format, format == Some(Format::Superpixels), "graph")?;
    let (source, part) = Source::resolve_part(data)?;
    Ok(read_superpixels(source.open_lines("superpixels")?, part.as_deref(), &features(widths))?)
}

/// The images that were cut into superpixels.
fn images_of(examples: &Examples) -> Result<&Superpixels> {
    of_kind(if let Examples::Superpixels(data) = examples { Some(data) } else { None })
}

impl Kind for PottsSpec {
    fn read(
        &self,
        _: &Vocabulary<'_>,
        data: &str,
        format: Option<Format>,
        _: LabelRule,
    ) -> Result<Labelled> {
        let widths = self.widths.as_ref().ok_or_else(features_from_elsewhere)?;
        let examples = read(data, format, widths)?;
        self.problem(examples.graphs.clone()).with_context(|| data.to_owned())?;
        let fingerprint = examples.fingerprint();
        Ok(Labelled::new(examples.into(), Unknown::default(), fingerprint))
    }

    fn write_predictions(
        &self,
        model: &Model,
        args: &PredictArgs,
        out: &mut (dyn Write + Send),
    ) -> Result<Unknown> {
        refuse_sequence_options(args)?;
        if args.n_best.is_some() || args.confidence {
            bail!("--n-best and --confidence are not known for labelled graphs");
        }
        let names = Vocabulary::of(model);
        let data = self.read(&names, &args.data, args.format, LabelRule::Ignore)?;
        let images = images_of(&data.examples)?;
        let (problem, w) = (self.problem(images.graphs.clone())?, &model.weights);
        let start = || (problem.workspace(), NodeLabels::default());
        let all = images.images.len();
        answer_examples(all, args.answering(), out, start, |(workspace, y), i, out| {
            problem.prepare(i, w, workspace);
            problem.decode(i, w, workspace, y);
            let name = &images.images[i].name;
            if args.json {
                return write_json(out, &json!({ "name": name, "labels": y.labels }));
            }
            let labels: Vec<String> = y.labels.iter().map(u32::to_string).collect();
            writeln!(out, "{name} {}", labels.join(" "))
        })?;
        Ok(data.unknown)
    }

    fn measure(&self, model: &Model, data: &Examples, threads: usize) -> Result<Measures> {
        let mut pixels = Segmentation::new(2);
        let images = images_of(data)?;
        let predicted = self.predict(&model.weights, &images.graphs, threads)?;
        for (image, labels) in images.images.iter().zip(&predicted) {
            for (&(size, foreground), &label) in image.pixels.iter().zip(labels) {
                pixels.add(1, label, foreground);
                pixels.add(0, label, size - foreground);
            }
        }
        let errors = model.meta.spec.errors(&model.weights, data, threads)?;
        let ErrorCounts { parts, examples } = &errors;
        let mut text = String::new();
        let _ = writeln!(text, "superpixels {:>8}   error {:.4}", parts.all, parts.share());
        let _ = writeln!(text, "images      {:>8}", examples.all);
        let _ = writeln!(
            text,
            "pixels         accuracy {:.4}   balanced accuracy {:.4}   IoU of the foreground {:.4}",
            pixels.accuracy(),
            pixels.balanced_accuracy(),
            pixels.iou(1)
        );
        let json = json!({
            "hamming": parts.share(), "zero_one": examples.share(), "superpixels": parts.all,
            "images": examples.all, "pixel_accuracy": pixels.accuracy(),
            "balanced_accuracy": pixels.balanced_accuracy(), "iou": pixels.iou(1),
        });
        Ok(Measures { text, json })
    }

    fn largest_weights(&self, model: &Model, top: usize) -> LargestWeights {
        let (shape, w) = (&self.shape, &model.weights);
        let (k, nodes) = (shape.labels, shape.node_attributes);
        let named = |weights: Vec<(u32, f64)>| {
            let top = largest(weights, top).into_iter();
            top.map(|(at, weight)| (model.attributes.name(at).to_owned(), weight)).collect()
        };
        let unary = &w[shape.unary()];
        let mut labels: Vec<(String, Vec<(String, f64)>)> = (0..k)
            .map(|y| {
                let own = (0..nodes).map(|a| (a as u32, unary[a * k + y])).collect();
                (model.labels.name(y as u32).to_owned(), named(own))
            })
            .collect();
        let pairs = w[shape.pairwise()].iter().zip(nodes as u32..).map(|(&w, at)| (at, w));
        labels.push(("(edges between different labels)".to_owned(), named(pairs.collect())));
        LargestWeights { heading: "label", labels, pairs: None }
    }

    fn describe(&self) -> String {
        let how = self.inference.resolve(&self.shape).unwrap_or(PottsInference::Auto);
        format!("Labelled graphs by {how}")
    }

    fn tested(&self, model: &Model, test: &Labelled, look: &Look<'_>) -> Result<Tested> {
        let images = images_of(&test.examples)?;
        let predicted = self.predict(&model.weights, &images.graphs, look.threads)?;
        Ok(draw::tested(model, images, &predicted, look))
    }
}
