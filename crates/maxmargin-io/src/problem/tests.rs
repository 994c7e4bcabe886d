//! Problems of every kind, and what their weights have to do with those of their models.

use super::*;
use crate::spec::{BinarySpec, ChainSpec, FactorTraining, MulticlassSpec, SoftSpec};
use crate::{AlignmentFeatures, Alignments, Lines, PoseKinds, PoseSimulation};
use crate::{SuperpixelFeatures, read_alignments, read_poses, read_superpixels};
use maxmargin::inference::Inference;
use maxmargin::kernel::{Kernel, Support};
use maxmargin::model::binary::BinaryShape;
use maxmargin::model::chain::{ChainShape, Hamming, Sequences};
use maxmargin::model::matching::{LinkLoss, MatchingShape};
use maxmargin::model::multiclass::{ClassLoss, MulticlassShape};
use maxmargin::model::multilabel::MultilabelShape;
use maxmargin::model::potts::{NodeLoss, PottsInference, PottsShape};
use maxmargin::{Quality, Settings, train};

fn rows(labels: [&[u32]; 4]) -> Examples {
    let mut rows = LabelledRows::new();
    for (value, labels) in [1.0, -1.0, 2.0, -0.5].into_iter().zip(labels) {
        rows.push([(0, value)], labels, 1.0).unwrap();
    }
    rows.into()
}

fn single() -> Examples {
    rows([&[0], &[1], &[0], &[1]])
}

fn sets() -> Examples {
    rows([&[0], &[1], &[0, 1], &[]])
}

fn sequences() -> Examples {
    let mut data = Sequences::new();
    for label in [0, 1] {
        data.push_token([(label, 1.0)], label).unwrap();
        data.end_sequence(1.0).unwrap();
    }
    data.into()
}

fn lines(text: &'static str) -> Lines {
    Lines::from_reader("data", text.as_bytes()).unwrap()
}

fn kernel() -> Option<KernelSpec> {
    let (kernel, bytes) = (Kernel::Rbf { gamma: 0.5 }, 1 << 20);
    Some(KernelSpec { kernel, bytes, support: Support::default() })
}

fn chain(kernel: Option<KernelSpec>) -> Spec {
    ChainSpec {
        shape: ChainShape::new(2, 2),
        loss: Hamming::default(),
        kernel,
        rescaling: Default::default(),
    }
    .into()
}

fn binary(rescaling: Rescaling) -> Spec {
    BinarySpec { shape: BinaryShape::new(1), positive: 1, rescaling }.into()
}

fn multiclass(rescaling: Rescaling, kernel: Option<KernelSpec>) -> Spec {
    let (shape, loss) = (MulticlassShape::new(2, 1), ClassLoss::ZeroOne);
    MulticlassSpec { shape, loss, rescaling, kernel }.into()
}

fn multilabel(rescaling: Rescaling, kernel: Option<KernelSpec>, training: FactorTraining) -> Spec {
    let (shape, loss) = (MultilabelShape::complete(2, 1), Hamming::default());
    let (inference, partial) = (Inference::Auto, false);
    MultilabelSpec { shape, loss, inference, partial, rescaling, kernel, training }.into()
}

fn superpixels() -> (Spec, Examples) {
    let text = "G cow train 2 4 2 1\nN 4 4 .5 1\nN 4 1 .25 0\nE 0 1 2 .1\n";
    let features = SuperpixelFeatures { widths: vec![0.1], bias: true };
    let data = read_superpixels(lines(text), None, &features).unwrap();
    let (loss, inference) = (NodeLoss::default(), PottsInference::Auto);
    let spec = PottsSpec {
        shape: PottsShape::new(2, 3, 1),
        loss,
        inference,
        widths: None,
        training: FactorTraining::default(),
        rescaling: Rescaling::Margin,
    };
    (spec.into(), data.into())
}

fn poses() -> (Spec, Examples) {
    let people = read_poses(lines("a\t0,0,0\t10,30,0\nb\t0,0,0\t-10,30,0\n")).unwrap();
    let simulation = PoseSimulation::default();
    let kinds = PoseKinds::fit(&people, &[None, Some(0)], 2, &simulation);
    let data = simulation.simulate(&people, &kinds, (0, 1), 4.0).unwrap();
    let (shape, loss) = (kinds.shape(4.0), Default::default());
    let spec = TreeSpec {
        shape,
        loss,
        kinds: Some(kinds),
        simulation: Some(simulation),
        rescaling: Default::default(),
    };
    (spec.into(), data.into())
}

fn alignments() -> (Spec, Examples) {
    let pairs = read_alignments(lines("the house\tla maison\t2-2 1p1\na cat\tun chat\t2-2\n"));
    let features = AlignmentFeatures::default();
    let data = Alignments::new(pairs.unwrap(), &features).unwrap();
    let (shape, loss) = (MatchingShape::new(features.attributes()), LinkLoss::default());
    (
        MatchingSpec { shape, loss, features: Some(features), rescaling: Default::default() }
            .into(),
        data.into(),
    )
}

/// The same with slack rescaling.
fn slack(mut spec: Spec) -> Spec {
    *match &mut spec {
        Spec::Chain(own) => &mut own.rescaling,
        Spec::Binary(own) => &mut own.rescaling,
        Spec::Multiclass(own) => &mut own.rescaling,
        Spec::Multilabel(own) => &mut own.rescaling,
        Spec::FactorGraph(own) => &mut own.rescaling,
        Spec::Potts(own) => &mut own.rescaling,
        Spec::Tree(own) => &mut own.rescaling,
        Spec::Matching(own) => &mut own.rescaling,
        Spec::Segment(own) => &mut own.rescaling,
    } = Rescaling::Slack;
    spec
}

/// Every kind but factor graphs, with the role of its problem.
fn cases() -> Vec<(Spec, Examples, &'static str)> {
    let margin = Rescaling::Margin;
    let decoding = || FactorTraining::Decoding;
    let soft = FactorTraining::from(SoftSpec { lambda: 0.1, ..SoftSpec::new(1.0) });
    let mut cases = vec![
        (chain(None), sequences(), "plain"),
        (slack(chain(None)), sequences(), "plain"),
        (chain(kernel()), sequences(), "kernel"),
        (binary(margin), single(), "plain"),
        (slack(binary(margin)), single(), "plain"),
        (multiclass(margin, None), single(), "plain"),
        (slack(multiclass(margin, None)), single(), "plain"),
        (multiclass(margin, kernel()), single(), "kernel"),
        (multilabel(margin, None, decoding()), sets(), "plain"),
        (slack(multilabel(margin, None, decoding())), sets(), "plain"),
        (multilabel(margin, kernel(), decoding()), sets(), "kernel"),
        (multilabel(margin, None, soft), sets(), "soft"),
    ];
    for (spec, data) in [superpixels(), poses(), alignments()] {
        let plain = match &data {
            Examples::Superpixels(data) => Examples::from(data.graphs.clone()),
            Examples::Poses(data) => Examples::from(data.examples.clone()),
            Examples::Alignments(data) => Examples::from(data.links.clone()),
            _ => unreachable!("these are not among them"),
        };
        cases.push((spec.clone(), plain, "plain"));
        cases.push((slack(spec.clone()), data.clone(), "plain"));
        cases.push((spec, data, "plain"));
    }
    cases
}

#[test]
fn every_problem_can_be_trained_and_its_model_measured() {
    for (spec, examples, expected) in cases() {
        let problem = spec.problem(examples.clone(), &GroupBounds::default()).unwrap();
        let role = match problem.role() {
            ProblemRole::Plain => "plain",
            ProblemRole::Kernel(_) => "kernel",
            ProblemRole::Soft(_) => "soft",
        };
        assert_eq!(role, expected, "{spec:?}");
        let settings = Settings { lambda: Some(0.1), ..Settings::default() };
        let solution = train(problem.blocks(), &settings).unwrap();
        let errors = spec.errors_in(problem.role(), &solution.weights, &examples, 0).unwrap();
        assert_eq!(errors.examples.all, examples.len() as u64, "{spec:?}");
        assert!(errors.parts.wrong <= errors.parts.all && errors.parts.all > 0, "{spec:?}");
        assert_eq!(errors.parts.wrong == 0, errors.examples.wrong == 0, "{spec:?}: {errors:?}");
    }
}

#[test]
fn slack_rescaling_states_what_it_proves_or_is_refused() {
    for (spec, examples, role) in cases() {
        let problem = slack(spec.clone()).problem(examples, &GroupBounds::default());
        if role != "plain" {
            let error = problem.expect_err("a refusal").to_string();
            assert!(error.starts_with("slack rescaling does not go with"), "{spec:?}: {error}");
            continue;
        }
        let problem = problem.unwrap();
        let settings = Settings { lambda: Some(0.1), ..Settings::default() };
        let c = train(problem.blocks(), &settings).unwrap().certificate;
        // Few outputs are all tried.
        let tries_all = matches!(spec, Spec::Binary(_) | Spec::Multiclass(_) | Spec::Multilabel(_));
        let expected = if tries_all { Quality::Exact } else { Quality::Heuristic };
        assert_eq!((c.quality, c.missed.is_some()), (expected, !tries_all), "{spec:?}");
    }
    let (spec, data) = superpixels();
    let Spec::Potts(mut own) = slack(spec) else { unreachable!("it is a graph") };
    own.inference = PottsInference::Lp;
    let error = Spec::from(own).problem(data, &GroupBounds::default()).unwrap_err().to_string();
    assert!(error.contains("a search needs corners that are outputs"), "{error}");
}

#[test]
fn bounds_hold_wherever_weights_have_groups() {
    for (spec, examples, role) in cases() {
        let mut bounds = GroupBounds::default();
        bounds.lower.insert(spec.groups()[0].name.clone(), -0.25);
        let problem = spec.problem(examples, &bounds);
        match role {
            "plain" => assert!(problem.unwrap().blocks().bounds().is_some(), "{spec:?}"),
            // Trained weights of these have other groups.
            _ => drop(problem),
        }
        bounds.lower.insert("nothing".to_owned(), 0.0);
        let error = spec.problem(single(), &bounds).unwrap_err();
        assert!(matches!(error, ProblemError::Bounds(_)), "{error}");
    }
}

#[test]
fn data_of_another_kind_are_refused() {
    for (spec, _, _) in cases() {
        let other = if matches!(spec, Spec::Chain(_)) { single() } else { sequences() };
        let error = spec.problem(other.clone(), &GroupBounds::default()).unwrap_err();
        let kind = spec.kind();
        let expected = format!("these data do not fit a model of the kind {kind}");
        assert_eq!(error.to_string(), expected);
        assert_eq!(spec.errors(&[], &other, 1).unwrap_err().to_string(), expected);
    }
}

#[test]
fn data_of_another_tree_are_refused() {
    let (spec, _) = poses();
    let Spec::Tree(spec) = spec else { unreachable!("it is a tree") };
    let people = read_poses(lines("a\t0,0,0\t10,30,0\nb\t0,0,0\t-10,30,0\n")).unwrap();
    let simulation = PoseSimulation::default();
    let kinds = PoseKinds::fit(&people, &[None, Some(0)], 1, &simulation);
    let other = simulation.simulate(&people, &kinds, (0, 1), 4.0).unwrap();
    let error = spec.problem(other.examples).map(drop).unwrap_err();
    assert_eq!(error.to_string(), "these data are for another tree");
}

#[test]
fn wrong_links_are_counted_by_the_alignment_error_rate() {
    let (spec, examples) = alignments();
    let w: Vec<f64> = (0..spec.dim()).map(|at| (at as f64 * 0.7).sin()).collect();
    let errors = spec.errors(&w, &examples, 2).unwrap();
    let Spec::Matching(own) = &spec else { unreachable!("it is a matching") };
    let pairs = examples.pairs().unwrap();
    let aer = crate::alignment_scores(pairs, &own.predict(&w, pairs, 2)).aer();
    assert!((errors.parts.share() - aer).abs() < 1e-12);
}

#[test]
fn bounds_beside_a_kernel_are_refused_whatever_the_model() {
    let mut bounds = GroupBounds::default();
    bounds.upper.insert("all".to_owned(), 0.5);
    let (margin, decoding) = (Rescaling::Margin, FactorTraining::Decoding);
    for (spec, examples) in [
        (chain(kernel()), sequences()),
        (multiclass(margin, kernel()), single()),
        (multilabel(margin, kernel(), decoding), sets()),
    ] {
        let error = spec.problem(examples, &bounds).unwrap_err().to_string();
        assert_eq!(error, "weights with bounds and a kernel do not go together");
    }
}
