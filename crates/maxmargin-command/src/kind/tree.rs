//! Trees of parts: joints of people on simulated score maps.

mod draw;

use super::json_lines::{write_json, write_ranked};
use super::options::check;
use super::rows::refuse_sequence_options;
use super::tested::{Look, Tested};
use super::{
    Kind, Labelled, LargestWeights, Measures, Vocabulary, features_from_elsewhere, largest,
    of_kind, refuse_format,
};
use crate::args::{ModelArgs, PredictArgs};
use anyhow::{Context as _, Result, bail};
use maxmargin::Problem as _;
use maxmargin::model::tree::{State, TreeLoss, TreeShape};
use maxmargin_io::{
    Examples, Fingerprint, Fingerprinter, Format, LabelRule, Model, Names, Origin, Pose, PoseKinds,
    PoseSimulation, SimulatedPoses, Source, Training, TreeSpec, Unknown, answer_examples,
    lsp_joints, lsp_parents, lsp_torso, pose_fingerprint, read_poses,
};
use serde_json::json;
use std::fmt::Write as _;
use std::io::Write;

/// Kinds of each joint, unless told otherwise.
const KINDS: usize = 3;

/// Steps of the grid that make a deformation of 1.
const UNIT: f64 = 8.0;

pub(super) const KNOWN: [&str; 4] = ["--joint-kinds", "--arc-maps", "--lower", "--upper"];

pub(super) fn training(data: &str, format: Option<Format>, args: &ModelArgs) -> Result<Training> {
    check(args, "tree", &KNOWN)?;
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
    let kinds = kinds.with_arc_maps(args.arc_maps);
    let (shape, loss) = (kinds.shape(UNIT), TreeLoss::default());
    let spec = TreeSpec {
        shape,
        loss,
        kinds: Some(kinds),
        simulation: Some(simulation),
        rescaling: args.rescaling,
    };
    let origin = Origin {
        labels: Names::new(),
        attributes: Names::new(),
        format: Format::Pose,
        fingerprint: fingerprint(first, &people),
        template: None,
    };
    let examples = simulate(&spec, first, &people)?;
    Ok(Training { origin, examples: examples.into(), spec: spec.into() })
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

fn simulate(spec: &TreeSpec, first: usize, people: &[Pose]) -> Result<SimulatedPoses> {
    let unit = spec.shape.unit();
    let (Some(simulation), Some(kinds)) = (&spec.simulation, &spec.kinds) else {
        return Err(features_from_elsewhere());
    };
    Ok(simulation.simulate_from(first, people, kinds, lsp_torso(), unit)?)
}

/// The people on score maps.
fn people_of(examples: &Examples) -> Result<&SimulatedPoses> {
    of_kind(if let Examples::Poses(data) = examples { Some(data) } else { None })
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

impl Kind for TreeSpec {
    fn read(
        &self,
        _: &Vocabulary<'_>,
        data: &str,
        format: Option<Format>,
        _: LabelRule,
    ) -> Result<Labelled> {
        let (first, people) = read(data, format)?;
        let fingerprint = fingerprint(first, &people);
        let examples = simulate(self, first, &people).with_context(|| data.to_owned())?;
        Ok(Labelled::new(examples.into(), Unknown::default(), fingerprint))
    }

    fn write_predictions(
        &self,
        model: &Model,
        args: &PredictArgs,
        out: &mut (dyn Write + Send),
    ) -> Result<Unknown> {
        refuse_sequence_options(args)?;
        if args.confidence {
            bail!("--confidence is not known for trees\nhint: --n-best shows what is close");
        }
        let names = Vocabulary::of(model);
        let data = self.read(&names, &args.data, args.format, LabelRule::Ignore)?;
        let people = people_of(&data.examples)?;
        let (problem, w) = (self.problem(people.examples.clone())?, &model.weights);
        let start = || (problem.workspace(), Vec::new());
        let all = people.examples.len();
        answer_examples(all, args.answering(), out, start, |(workspace, y), i, out| {
            let (step, left, top) = people.frames[i];
            let place = |state: &State| {
                let (x, y) = (f64::from(state.x), f64::from(state.y));
                [left + step * x, top + step * y]
            };
            let in_json = |states: &[State]| json!({ "places": states.iter().map(place).collect::<Vec<_>>() });
            let write = |out: &mut dyn Write, states: &[State]| {
                let places = states.iter().map(place);
                let places: Vec<String> = places.map(|[x, y]| format!("{x:.2},{y:.2}")).collect();
                writeln!(out, "{}", places.join("\t"))
            };
            let Some(n) = args.n_best else {
                problem.decode(i, w, workspace, y);
                return if args.json { write_json(out, &in_json(y)) } else { write(out, y) };
            };
            if args.json {
                let ranked = problem.n_best(i, w, n as usize);
                let ranked = ranked.iter().map(|one| (one.score, in_json(&one.states)));
                return write_ranked(out, ranked);
            }
            for (rank, found) in problem.n_best(i, w, n as usize).iter().enumerate() {
                writeln!(out, "# {} {}", rank + 1, found.score)?;
                write(out, &found.states)?;
            }
            Ok(())
        })?;
        Ok(data.unknown)
    }

    fn measure(&self, model: &Model, people: &Examples, threads: usize) -> Result<Measures> {
        let errors = model.meta.spec.errors(&model.weights, people, threads)?;
        let people = people_of(people)?;
        let found = people.detected(&self.predict(&model.weights, &people.examples, threads)?);
        let joints: Vec<f64> =
            (0..self.shape.nodes().len()).map(|joint| found.share_of(joint)).collect();
        let mut text = String::new();
        let all = &errors.examples;
        let _ = writeln!(text, "people     {:>8}   error {:.4}", all.all, all.share());
        let _ = writeln!(
            text,
            "joints     {:>8}   PDJ at {} torsos {:.4}",
            errors.parts.all,
            SimulatedPoses::NEAR,
            found.share()
        );
        for (joint, share) in joints.iter().enumerate() {
            let _ = writeln!(text, "{:<14}        {share:.4}", joint_name(self, joint));
        }
        let json = json!({
            "hamming": errors.parts.share(), "zero_one": all.share(), "pdj": found.share(),
            "joints": joints, "people": all.all,
        });
        Ok(Measures { text, json })
    }

    fn largest_weights(&self, model: &Model, top: usize) -> LargestWeights {
        let of = |node: usize| {
            let named: Vec<(String, f64)> = weight_names(&self.shape, node)
                .into_iter()
                .map(|(at, name)| (name, model.weights[at]))
                .collect();
            (joint_name(self, node), largest(named, top))
        };
        let labels = (0..self.shape.nodes().len()).map(of).collect();
        LargestWeights { heading: "joint", labels, pairs: None }
    }

    fn describe(&self) -> String {
        format!("Trees of {} joints", self.shape.nodes().len())
    }

    fn tested(&self, model: &Model, test: &Labelled, look: &Look<'_>) -> Result<Tested> {
        let people = people_of(&test.examples)?;
        let predicted = self.predict(&model.weights, &people.examples, look.threads)?;
        Ok(draw::tested(self, people, &predicted, look))
    }
}
