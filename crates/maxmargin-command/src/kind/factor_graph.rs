//! Factor graphs: states of variables.

mod tested;

use super::json_lines::{write_json, write_ranked};
use super::options::check;
use super::rows::refuse_sequence_options;
use super::soft;
use super::tested::{Look, Tested};
use super::{
    Kind, Labelled, LargestWeights, Measures, Vocabulary, largest, of_kind, refuse_format,
};
use crate::args::{Loss, ModelArgs, PredictArgs};
use anyhow::{Context as _, Result, bail};
use maxmargin::model::factor_graph::{FactorGraph, Labelling, StateLoss, Tie};
use maxmargin::{Problem as _, ProblemExt as _, Quality};
use maxmargin_io::{
    ErrorCounts, Examples, FactorGraphEvalData, FactorGraphNames, FactorGraphSpec, Format,
    LabelRule, Model, Names, Origin, Rescaling, Source, Training, Unknown, answer_examples,
    read_factor_graphs, read_factor_graphs_with,
};
use serde_json::json;
use std::fmt::Write as _;
use std::io::Write;

pub(super) const KNOWN: [&str; 6] =
    ["--inference", "--loss", "--lower", "--upper", "--training", "--tie"];

pub(super) fn training(
    source: &Source,
    format: Option<Format>,
    args: &ModelArgs,
) -> Result<Training> {
    check(args, "factor-graph", &KNOWN)?;
    refuse_format(format, format == Some(Format::FactorGraph), "factor-graph")?;
    let data = read_factor_graphs(source.open_factor_graphs()?)?;
    let shape = data.names.tied_shape(&args.tie)?;
    if shape.dim() == 0 {
        bail!("{source}: no factor has an attribute; there is nothing to learn");
    }
    if args.loss == Some(Loss::Balanced) {
        bail!("--loss balanced is for --model graph");
    }
    let loss = StateLoss { normalised: args.loss != Some(Loss::Hamming) };
    let (training, inference) = soft::training(args)?;
    let (rescaling, states, labels) = (args.rescaling, Vec::new(), Vec::new());
    let spec = FactorGraphSpec { shape, loss, inference, training, rescaling, states, labels };
    let tried = spec.problem(data.graphs.clone()).with_context(|| source.to_string())?;
    soft::check_exact(args, tried.quality())?;
    let relaxed = tried.quality() == Quality::UpperBound;
    if let (Rescaling::Slack, true, Some(i)) = (args.rescaling, relaxed, tried.too_large_to_rank())
    {
        bail!(
            "--rescaling slack needs a decoder that tries out all labellings, or finds the best one, and graph {} has more \
             than {} of them",
            i + 1,
            FactorGraph::MOST_RANKED
        );
    }
    Ok(Training { origin: Origin::from(&data), examples: data.graphs.into(), spec: spec.into() })
}

fn names(spec: &FactorGraphSpec, labels: &Names, attributes: &Names) -> Result<FactorGraphNames> {
    spec.names(labels, attributes).context("the names of the model do not fit its templates")
}

impl Kind for FactorGraphSpec {
    fn read(
        &self,
        vocabulary: &Vocabulary<'_>,
        data: &str,
        format: Option<Format>,
        rule: LabelRule,
    ) -> Result<Labelled> {
        refuse_format(format, format == Some(Format::FactorGraph), "factor-graph")?;
        let reader = Source::resolve(data)?.open_factor_graphs()?;
        let names = names(self, vocabulary.labels, vocabulary.attributes)?;
        let FactorGraphEvalData { graphs, unknown_attributes, attributes, fingerprint } =
            read_factor_graphs_with(reader, &names, rule)?;
        // Graphs can be too large for the inference of the model.
        self.problem(graphs.clone()).with_context(|| data.to_owned())?;
        let variables = graphs.iter().map(|graph| graph.variables() as u64).sum();
        let unknown = Unknown {
            attributes: unknown_attributes,
            all_attributes: attributes,
            labels: 0,
            tokens: variables,
        };
        Ok(Labelled::new(graphs.into(), unknown, fingerprint))
    }

    fn write_predictions(
        &self,
        model: &Model,
        args: &PredictArgs,
        out: &mut (dyn Write + Send),
    ) -> Result<Unknown> {
        refuse_sequence_options(args)?;
        let names = Vocabulary::of(model);
        let data = self.read(&names, &args.data, args.format, LabelRule::Ignore)?;
        let graphs = of_kind(data.examples.factor_graphs())?;
        let (problem, w) = (self.problem(graphs.clone())?, &model.weights);
        let is_ranked = args.n_best.is_some() || args.confidence;
        let start = || (problem.workspace(), Labelling::default());
        answer_examples(graphs.len(), args.answering(), out, start, |(workspace, y), i, out| {
            if is_ranked {
                return rank(&problem, i, w, args, out);
            }
            problem.prepare(i, w, workspace);
            problem.decode(i, w, workspace, y);
            match args.json {
                true => write_json(out, &json!({ "states": y.states }))?,
                false => writeln!(out, "{}", serde_json::to_string(&y.states)?)?,
            }
            Ok(())
        })?;
        Ok(data.unknown)
    }

    fn measure(&self, model: &Model, data: &Examples, threads: usize) -> Result<Measures> {
        let errors = model.meta.spec.errors(&model.weights, data, threads)?;
        let ErrorCounts { parts: variables, examples: graphs } = &errors;
        let mut text = String::new();
        let _ = writeln!(text, "variables  {:>8}   error {:.4}", variables.all, variables.share());
        let _ = writeln!(text, "graphs     {:>8}   error {:.4}", graphs.all, graphs.share());
        let json = json!({
            "hamming": variables.share(), "zero_one": graphs.share(),
            "variables": variables.all, "graphs": graphs.all,
        });
        Ok(Measures { text, json })
    }

    fn largest_weights(&self, model: &Model, top: usize) -> LargestWeights {
        let mut first = 0;
        let mut labels = Vec::new();
        for (t, (name, template)) in model.labels.iter().zip(&self.shape.templates).enumerate() {
            let is_free = template.tie == Tie::Free;
            let joint = if is_free { template.joint_states() } else { 1 };
            let own = model.weights[self.shape.block(t)].iter().copied().enumerate().collect();
            let named = largest(own, top).into_iter().map(|(at, weight)| {
                let attribute = model.attributes.name(first + (at / joint) as u32);
                let place = match template.tie {
                    Tie::Free if template.patterns > 0 => format!("pattern {}", at % joint),
                    Tie::Free => format!("{:?}", states(&template.states, at % joint)),
                    tie => tie.to_string(),
                };
                (format!("{attribute} at {place}"), weight)
            });
            labels.push((name.to_owned(), named.collect()));
            first += template.attributes as u32;
        }
        LargestWeights { heading: "template", labels, pairs: None }
    }

    fn describe(&self) -> String {
        format!("Factor graphs of {} templates", self.shape.templates.len())
    }

    /// States have colours, and templates have none.
    fn coloured(&self, _: &Model) -> Vec<String> {
        let counts = self.shape.templates.iter().flat_map(|template| &template.states);
        (0..counts.copied().max().unwrap_or(0)).map(|state| state.to_string()).collect()
    }

    fn tested(&self, model: &Model, test: &Labelled, look: &Look<'_>) -> Result<Tested> {
        let graphs = of_kind(test.examples.factor_graphs())?;
        let predicted = self.predict(&model.weights, graphs, look.threads)?;
        Ok(tested::tested(graphs, &predicted, &self.coloured(model), look))
    }
}

/// Writes the best labellings of every graph, or the best one and how far the next is behind.
fn rank(
    problem: &FactorGraph,
    i: usize,
    w: &[f64],
    args: &PredictArgs,
    out: &mut dyn Write,
) -> Result<()> {
    let n = args.n_best.map_or(2, |n| n as usize);
    let Some(best) = problem.n_best(i, w, n) else {
        bail!(
            "--n-best and --confidence try out all labellings, and graph {} has more than {}",
            i + 1,
            FactorGraph::MOST_RANKED
        );
    };
    if args.confidence {
        let score = |rank: usize| best.get(rank).map_or(f64::NEG_INFINITY, |one| one.0);
        let states = best.first().map_or(&[][..], |one| &one.1);
        let margin = score(0) - score(1);
        if args.json {
            return Ok(write_json(out, &json!({ "states": states, "confidence": margin }))?);
        }
        return Ok(writeln!(out, "{}\t{margin}", serde_json::to_string(states)?)?);
    }
    if args.json {
        let ranked = best.iter().map(|(score, states)| (*score, json!({ "states": states })));
        return Ok(write_ranked(out, ranked)?);
    }
    for (rank, (score, states)) in best.iter().enumerate() {
        writeln!(out, "# {} {score}\n{}", rank + 1, serde_json::to_string(states)?)?;
    }
    Ok(())
}

/// The states of the variables of a factor in its joint state `at`, in which the last varies fastest.
fn states(counts: &[usize], mut at: usize) -> Vec<usize> {
    let mut states: Vec<usize> = counts
        .iter()
        .rev()
        .map(|&count| {
            let state = at % count;
            at /= count;
            state
        })
        .collect();
    states.reverse();
    states
}
