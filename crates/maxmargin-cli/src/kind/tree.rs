//! Trees of parts: joints of people on simulated score maps.

mod draw;

use super::options::check;
use super::rows::refuse_sequence_options;
use super::{
    Kind, Labelled, LargestWeights, Measures, Nouns, Training, UseProblem, Vocabulary,
    features_from_elsewhere, largest, refuse_format,
};
use crate::args::{ModelArgs, Pictures, PredictArgs};
use anyhow::{Context as _, Result, bail};
use maxmargin::Bounds;
use maxmargin::evaluate::{DetectedJoints, SequenceErrors};
use maxmargin::model::tree::{State, Tree, TreeExamples, TreeLoss};
use maxmargin_io::{
    Format, LabelRule, Model, Names, Origin, Pose, PoseKinds, PoseSimulation, SimulatedPoses,
    Source, TreeSpec, Unknown, lsp_parents, lsp_torso, pose_fingerprint, read_poses,
};
use maxmargin_report::Report;
use serde_json::json;
use std::fmt::Write as _;
use std::io::Write;

pub(crate) struct TreeKind;

/// Kinds of each joint, unless told otherwise.
const KINDS: usize = 3;

/// Steps of the grid that make a deformation of 1.
const UNIT: f64 = 8.0;

/// A joint is found if it is at most this share of the torso away.
const NEAR: f64 = 0.2;

/// People on score maps.
#[derive(Clone)]
pub(crate) struct People {
    examples: TreeExamples,
    torsos: Vec<f64>,
    frames: Vec<(f64, f64, f64)>,
}

pub(super) fn training(
    data: &str,
    format: Option<Format>,
    args: &ModelArgs,
) -> Result<Training<TreeKind>> {
    check(args, "tree", &["--joint-kinds", "--lower", "--upper"])?;
    let people = read(data, format)?;
    let simulation = PoseSimulation::default();
    let kinds = args.joint_kinds.unwrap_or(KINDS);
    let kinds = PoseKinds::fit(&people, &lsp_parents(), kinds, &simulation);
    let (shape, loss) = (kinds.shape(UNIT), TreeLoss::default());
    let spec = TreeSpec { shape, loss, kinds: Some(kinds), simulation: Some(simulation) };
    let origin = Origin {
        labels: Names::new(),
        attributes: Names::new(),
        format: Format::Pose,
        fingerprint: pose_fingerprint(&people),
        template: None,
    };
    Ok(Training { origin, examples: simulate(&spec, &people)?, spec })
}

/// Reads people; `FILE:100..200` are those from the 101st to the 200th.
fn read(data: &str, format: Option<Format>) -> Result<Vec<Pose>> {
    refuse_format(format, format == Some(Format::Pose), "tree")?;
    let (source, part) = Source::resolve_part(data)?;
    let people = read_poses(source.open_lines("poses")?)?;
    let joints = lsp_parents().len();
    if let Some(pose) = people.iter().find(|pose| pose.joints.len() != joints) {
        let found = pose.joints.len();
        bail!("{source}: `{}` has {found} joints, and a pose needs {joints}", pose.name);
    }
    let Some(part) = part else { return Ok(people) };
    let ends = part.split_once("..").map(|(from, to)| {
        (
            from.parse().ok().or(from.is_empty().then_some(0)),
            to.parse().ok().or(to.is_empty().then_some(people.len())),
        )
    });
    match ends {
        Some((Some(from), Some(to))) if from < to && to <= people.len() => {
            Ok(people[from..to].to_vec())
        }
        _ => bail!("{data}: expected a part such as `0..200` of {} people", people.len()),
    }
}

fn simulate(spec: &TreeSpec, people: &[Pose]) -> Result<People> {
    let unit = spec.shape.unit();
    let (Some(simulation), Some(kinds)) = (&spec.simulation, &spec.kinds) else {
        return Err(features_from_elsewhere());
    };
    let SimulatedPoses { examples, torsos, frames } =
        simulation.simulate(people, kinds, lsp_torso(), unit)?;
    Ok(People { examples, torsos, frames })
}

fn problem(spec: &TreeSpec, people: &People) -> Result<Tree> {
    Ok(Tree::new(people.examples.clone(), spec.loss)?)
}

fn predict_states(spec: &TreeSpec, w: &[f64], people: &People) -> Vec<Vec<State>> {
    // What is simulated for a model fits it.
    problem(spec, people).map(|problem| problem.predict(w)).unwrap_or_default()
}

fn detected(spec: &TreeSpec, w: &[f64], people: &People) -> (DetectedJoints, u64) {
    let mut found = DetectedJoints::new(spec.shape.nodes().len(), NEAR);
    let mut complete = 0;
    for (i, states) in predict_states(spec, w, people).iter().enumerate() {
        let mut all = true;
        for (joint, (state, truth)) in states.iter().zip(people.examples.truth(i)).enumerate() {
            let away = |a: u32, b: u32| f64::from(a) - f64::from(b);
            let distance = away(state.x, truth.x).hypot(away(state.y, truth.y));
            found.add(joint, distance, people.torsos[i]);
            all &= distance <= NEAR * people.torsos[i];
        }
        complete += u64::from(all);
    }
    (found, complete)
}

impl Kind for TreeKind {
    type Spec = TreeSpec;
    type Examples = People;
    const NOUNS: Nouns = Nouns { labels: "joints", examples: "people" };

    fn read(
        _: &Vocabulary<'_>,
        spec: &TreeSpec,
        data: &str,
        format: Option<Format>,
        _: LabelRule,
    ) -> Result<Labelled<People>> {
        let people = read(data, format)?;
        let fingerprint = pose_fingerprint(&people);
        let examples = simulate(spec, &people).with_context(|| data.to_owned())?;
        Ok(Labelled { examples, unknown: Unknown::default(), fingerprint })
    }

    fn count(people: &People) -> usize {
        people.examples.len()
    }

    fn select(people: &People, keep: &dyn Fn(usize) -> bool) -> People {
        let kept = || (0..people.torsos.len()).filter(|i| keep(*i));
        People {
            examples: people.examples.select(keep),
            torsos: kept().map(|i| people.torsos[i]).collect(),
            frames: kept().map(|i| people.frames[i]).collect(),
        }
    }

    fn with_problem<U: UseProblem>(
        spec: &TreeSpec,
        people: People,
        bounds: Option<Bounds>,
        user: U,
    ) -> Result<U::Result> {
        user.go(&Tree::new(people.examples, spec.loss)?.with_bounds(bounds)?)
    }

    /// A joint is wrong if it is not near its place.
    fn errors(spec: &TreeSpec, w: &[f64], people: &People) -> SequenceErrors {
        let (found, complete) = detected(spec, w, people);
        let tokens = (people.examples.len() * spec.shape.nodes().len()) as u64;
        let right = (found.share() * tokens as f64).round() as u64;
        let sequences = people.examples.len() as u64;
        let (wrong_tokens, wrong_sequences) = (tokens - right, sequences - complete);
        SequenceErrors { tokens, wrong_tokens, sequences, wrong_sequences }
    }

    fn predict(
        model: &Model,
        spec: &TreeSpec,
        args: &PredictArgs,
        out: &mut dyn Write,
    ) -> Result<Unknown> {
        refuse_sequence_options(args)?;
        if args.confidence {
            bail!("--confidence is not known for trees\nhint: --n-best shows what is close");
        }
        let names = Vocabulary::of(model);
        let data = Self::read(&names, spec, &args.data, args.format, LabelRule::Ignore)?;
        let people = &data.examples;
        let problem = problem(spec, people)?;
        let best = problem.predict(&model.weights);
        for (i, states) in best.iter().enumerate() {
            let (step, left, top) = people.frames[i];
            let write = |out: &mut dyn Write, states: &[State]| {
                let place = |state: &State| {
                    let (x, y) = (f64::from(state.x), f64::from(state.y));
                    format!("{:.2},{:.2}", left + step * x, top + step * y)
                };
                let places: Vec<String> = states.iter().map(place).collect();
                writeln!(out, "{}", places.join("\t"))
            };
            let Some(n) = args.n_best else {
                write(out, states)?;
                continue;
            };
            for (rank, found) in problem.n_best(i, &model.weights, n as usize).iter().enumerate() {
                writeln!(out, "# {} {}", rank + 1, found.score)?;
                write(out, &found.states)?;
            }
        }
        out.flush()?;
        Ok(data.unknown)
    }

    fn measure(model: &Model, spec: &TreeSpec, people: &People) -> Measures {
        let (found, _) = detected(spec, &model.weights, people);
        let e = Self::errors(spec, &model.weights, people);
        let joints: Vec<f64> =
            (0..spec.shape.nodes().len()).map(|joint| found.share_of(joint)).collect();
        let mut text = String::new();
        let _ = writeln!(text, "people     {:>8}   error {:.4}", e.sequences, e.zero_one());
        let _ = writeln!(
            text,
            "joints     {:>8}   PDJ at {NEAR} torsos {:.4}",
            e.tokens,
            found.share()
        );
        for (joint, share) in joints.iter().enumerate() {
            let _ = writeln!(text, "joint {:>2}              {share:.4}", joint + 1);
        }
        let json = json!({
            "hamming": e.hamming(), "zero_one": e.zero_one(), "pdj": found.share(),
            "joints": joints, "people": e.sequences,
        });
        Measures { text, json }
    }

    fn largest_weights(model: &Model, spec: &TreeSpec, top: usize) -> LargestWeights {
        let of = |node: usize| {
            let groups = [
                ("map", spec.shape.unary(node)),
                ("bias", spec.shape.bias(node)),
                ("pair of kinds", spec.shape.table(node)),
                ("deformation", spec.shape.deformation(node)),
            ];
            let named = groups.into_iter().flat_map(|(name, range)| {
                let weights = model.weights[range].iter().enumerate();
                weights
                    .map(move |(at, &weight)| (format!("{name} {at}"), weight))
                    .collect::<Vec<_>>()
            });
            (format!("{}", node + 1), largest(named.collect(), top))
        };
        let labels = (0..spec.shape.nodes().len()).map(of).collect();
        LargestWeights { heading: "joint", labels, pairs: None }
    }

    fn describe(spec: &TreeSpec) -> String {
        format!("Trees of {} joints", spec.shape.nodes().len())
    }

    fn draw(
        model: &Model,
        spec: &TreeSpec,
        test: Option<&People>,
        _: &Pictures,
        mut report: Report,
    ) -> Report {
        if let Some(people) = test {
            report.push(draw::people(model, spec, people));
        }
        report
    }
}
