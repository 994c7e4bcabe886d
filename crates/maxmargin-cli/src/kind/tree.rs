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
use maxmargin::model::tree::{State, Tree, TreeExamples, TreeLoss, TreeShape};
use maxmargin_io::{
    Fingerprint, Fingerprinter, Format, LabelRule, Model, Names, Origin, Pose, PoseKinds,
    PoseSimulation, SimulatedPoses, Source, TreeSpec, Unknown, lsp_joints, lsp_parents, lsp_torso,
    pose_fingerprint, read_poses,
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
    let (first, people) = read(data, format)?;
    let simulation = PoseSimulation::default();
    let kinds = args.joint_kinds.unwrap_or(KINDS);
    if kinds > people.len() && args.joint_kinds.is_some() {
        bail!(
            "--joint-kinds {kinds}: there are only {} people to tell kinds apart by",
            people.len()
        );
    }
    let kinds = PoseKinds::fit(&people, &lsp_parents(), kinds, &simulation);
    let (shape, loss) = (kinds.shape(UNIT), TreeLoss::default());
    let spec = TreeSpec { shape, loss, kinds: Some(kinds), simulation: Some(simulation) };
    let origin = Origin {
        labels: Names::new(),
        attributes: Names::new(),
        format: Format::Pose,
        fingerprint: fingerprint(first, &people),
        template: None,
    };
    Ok(Training { origin, examples: simulate(&spec, first, &people)?, spec })
}

/// Reads people, and the number of the first; `FILE:100..200` are those from the 101st to the 200th.
fn read(data: &str, format: Option<Format>) -> Result<(usize, Vec<Pose>)> {
    refuse_format(format, format == Some(Format::Pose), "tree")?;
    let (source, part) = Source::resolve_part(data)?;
    let people = read_poses(source.open_lines("poses")?)?;
    let joints = lsp_parents().len();
    if let Some(pose) = people.iter().find(|pose| pose.joints.len() != joints) {
        let found = pose.joints.len();
        bail!("{source}: `{}` has {found} joints, and a pose needs {joints}", pose.name);
    }
    let Some(part) = part else { return Ok((0, people)) };
    let ends = part.split_once("..").map(|(from, to)| {
        (
            from.parse().ok().or(from.is_empty().then_some(0)),
            to.parse().ok().or(to.is_empty().then_some(people.len())),
        )
    });
    match ends {
        Some((Some(from), Some(to))) if from < to && to <= people.len() => {
            Ok((from, people[from..to].to_vec()))
        }
        _ => bail!("{data}: expected a part of `0..{}`, all people of the file", people.len()),
    }
}

/// Where people stand in their file belongs to the data, since their maps depend on it.
fn fingerprint(first: usize, people: &[Pose]) -> Fingerprint {
    match first {
        0 => pose_fingerprint(people),
        _ => {
            let mut fingerprinter = Fingerprinter::for_records("part of poses");
            let own = pose_fingerprint(people).to_string();
            fingerprinter.add_record([own.as_str()], [first as f64]);
            fingerprinter.finish()
        }
    }
}

fn simulate(spec: &TreeSpec, first: usize, people: &[Pose]) -> Result<People> {
    let unit = spec.shape.unit();
    let (Some(simulation), Some(kinds)) = (&spec.simulation, &spec.kinds) else {
        return Err(features_from_elsewhere());
    };
    let SimulatedPoses { examples, torsos, frames } =
        simulation.simulate_from(first, people, kinds, lsp_torso(), unit)?;
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

/// What a joint is called; of trees that are no people, its number.
fn joint_name(spec: &TreeSpec, joint: usize) -> String {
    let names = lsp_joints();
    match names.get(joint).filter(|_| spec.shape.nodes().len() == names.len()) {
        Some(name) => (*name).to_owned(),
        None => (joint + 1).to_string(),
    }
}

/// The weights of a node, and what they are called; kinds and maps are counted from 1.
fn weight_names(shape: &TreeShape, node: usize) -> Vec<(usize, String)> {
    let own = &shape.nodes()[node];
    let above = own.parent.map_or(1, |parent| shape.nodes()[parent].kinds);
    let mut names = Vec::new();
    for (at, place) in shape.unary(node).enumerate() {
        let (kind, map) = (at / own.maps + 1, at % own.maps + 1);
        names.push((place, format!("kind {kind}, map {map}")));
    }
    for (at, place) in shape.bias(node).enumerate() {
        names.push((place, format!("kind {}", at + 1)));
    }
    for (at, place) in shape.table(node).enumerate() {
        let (kind, parent) = (at / above + 1, at % above + 1);
        names.push((place, format!("kind {kind} below kind {parent}")));
    }
    for (at, place) in shape.deformation(node).enumerate() {
        let way = ["δx²", "δy²", "δx", "δy"][at % 4];
        names.push((place, format!("kind {}, {way}", at / 4 + 1)));
    }
    names
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
        let (first, people) = read(data, format)?;
        let fingerprint = fingerprint(first, &people);
        let examples = simulate(spec, first, &people).with_context(|| data.to_owned())?;
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
            let _ = writeln!(text, "{:<14}        {share:.4}", joint_name(spec, joint));
        }
        let json = json!({
            "hamming": e.hamming(), "zero_one": e.zero_one(), "pdj": found.share(),
            "joints": joints, "people": e.sequences,
        });
        Measures { text, json }
    }

    fn largest_weights(model: &Model, spec: &TreeSpec, top: usize) -> LargestWeights {
        let of = |node: usize| {
            let named: Vec<(String, f64)> = weight_names(&spec.shape, node)
                .into_iter()
                .map(|(at, name)| (name, model.weights[at]))
                .collect();
            (joint_name(spec, node), largest(named, top))
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
            let sections = draw::people(model, spec, people).into_iter();
            sections.for_each(|section| report.push(section));
        }
        report
    }
}
