//! Random things to learn: a specification of every kind, with tiny data.

use super::draw::Draw;
use super::{Task, lines};
use maxmargin::GroupBounds;
use maxmargin::inference::Inference;
use maxmargin::kernel::Kernel;
use maxmargin::model::binary::BinaryShape;
use maxmargin::model::chain::{ChainShape, Hamming};
use maxmargin::model::factor_graph::{StateLoss, Tie};
use maxmargin::model::matching::{LinkLoss, MatchingShape};
use maxmargin::model::multiclass::{ClassLoss, CostMatrix, MulticlassShape};
use maxmargin::model::multilabel::MultilabelShape;
use maxmargin::model::potts::{NodeLoss, PottsInference, PottsShape};
use maxmargin::model::segment::SegmentShape;
use maxmargin::model::soft::RhoScale;
use maxmargin_io::{
    AlignmentFeatures, Alignments, BinarySpec, ChainSpec, Dataset, Examples, FactorGraphReader,
    FactorGraphSpec, FactorTraining, Format, KernelSpec, Lines, MatchingSpec, MulticlassSpec,
    MultilabelSpec, Names, Origin, PoseKinds, PoseSimulation, PottsSpec, Rescaling, RowData,
    SegmentDataset, SegmentSpec, SoftSpec, Spec, SuperpixelFeatures, TreeSpec, WordCounts,
    alignment_fingerprint, open_reader, open_row_reader, pose_fingerprint, read_alignments,
    read_factor_graphs, read_poses, read_rows, read_superpixels, read_training,
    segment_fingerprint,
};

/// What is learned. Every one of them is drawn as often as the others.
pub(crate) const KINDS: [&str; 13] = [
    "chain",
    "chain with a kernel",
    "segment",
    "binary",
    "multiclass",
    "multiclass with a kernel",
    "multilabel",
    "multilabel with a kernel",
    "soft multilabel",
    "factor graph",
    "graph",
    "matching",
    "tree",
];

/// A random task.
pub(super) fn draw_task(draw: &mut Draw<'_>, kind: &str) -> Task {
    match kind {
        "chain" => chain(draw, false),
        "chain with a kernel" => chain(draw, true),
        "segment" => segment(draw),
        "binary" => binary(draw),
        "multiclass" => multiclass(draw, false),
        "multiclass with a kernel" => multiclass(draw, true),
        "multilabel" => multilabel(draw, false, FactorTraining::Decoding),
        "multilabel with a kernel" => multilabel(draw, true, FactorTraining::Decoding),
        "soft multilabel" => {
            let training = soft(draw);
            multilabel(draw, false, training)
        }
        "factor graph" => factor_graph(draw),
        "graph" => graph(draw),
        "matching" => matching(draw),
        "tree" => tree(draw),
        other => panic!("no task is drawn for {other}"),
    }
}

/// Bounds on all weights, now and then.
pub(super) fn draw_bounds(draw: &mut Draw<'_>) -> GroupBounds {
    let mut bounds = GroupBounds::default();
    let size = |draw: &mut Draw<'_>| draw.pick(&[0.0, 0.0, 0.01, 0.3, 2.0]);
    if draw.once_in(8) {
        bounds.lower.insert("all".to_owned(), -size(draw));
    }
    if draw.once_in(8) {
        bounds.upper.insert("all".to_owned(), size(draw));
    }
    bounds
}

fn rescaling(draw: &mut Draw<'_>) -> Rescaling {
    if draw.once_in(4) { Rescaling::Slack } else { Rescaling::Margin }
}

fn kernel(draw: &mut Draw<'_>, asked: bool) -> Option<KernelSpec> {
    let kernel = match draw.below(3) {
        0 => Kernel::Linear,
        1 => Kernel::Polynomial { degree: 2, gamma: 0.5, constant: draw.pick(&[0.0, 1.0]) },
        _ => Kernel::Rbf { gamma: draw.pick(&[0.1, 1.0]) },
    };
    let bytes = draw.pick(&[1 << 20, 64]);
    asked.then(|| KernelSpec { kernel, bytes, support: Default::default() })
}

fn soft(draw: &mut Draw<'_>) -> FactorTraining {
    let rho_scale = draw.pick(&[RhoScale::Example, RhoScale::Sum]);
    let smoothing = draw.once_in(4).then_some(0.1);
    SoftSpec { rho_scale, smoothing, ..SoftSpec::new(draw.pick(&[0.1, 1.0])) }.into()
}

fn hamming(draw: &mut Draw<'_>, labels: usize) -> Hamming {
    let label_weights = match draw.once_in(4) {
        true => (0..labels).map(|_| draw.pick(&[0.0, 1.0, 3.0])).collect(),
        false => Vec::new(),
    };
    Hamming { normalised: !draw.once_in(3), label_weights }
}

fn text(text: String) -> Lines {
    lines(text.as_bytes()).expect("text")
}

fn sequences(draw: &mut Draw<'_>, labels: &[&str]) -> Dataset {
    let reader = open_reader(text(draw.sequences(labels)), Some(Format::Crfsuite));
    reader.and_then(read_training).expect("sequences")
}

fn rows(text_of_rows: String, format: Format) -> RowData {
    let reader = open_row_reader(text(text_of_rows), Some(format));
    reader.and_then(read_rows).expect("rows")
}

fn chain(draw: &mut Draw<'_>, has_kernel: bool) -> Task {
    let data = sequences(draw, &["A", "B", "C"]);
    let shape = ChainShape::new(data.labels.len(), data.attributes.len());
    let (loss, kernel) = (hamming(draw, data.labels.len()), kernel(draw, has_kernel));
    let rescaling = if has_kernel { Rescaling::Margin } else { rescaling(draw) };
    let spec = ChainSpec { shape, loss, kernel, rescaling };
    ((&data).into(), spec.into(), data.sequences.into())
}

fn segment(draw: &mut Draw<'_>) -> Task {
    let data = sequences(draw, &["O", "B-X", "I-X", "B-Y"]);
    let SegmentDataset { segments, labels, attributes, tags } =
        SegmentDataset::of(&data).expect("segments");
    let shape = SegmentShape {
        labels: labels.len(),
        token_attributes: attributes.len(),
        segment_attributes: 0,
        longest: segments.longest() + draw.below(2),
        firsts: draw.once_in(2),
    };
    let Hamming { normalised, label_weights } = hamming(draw, labels.len());
    let rescaling = rescaling(draw);
    let spec = SegmentSpec { shape, normalised, label_weights, tags, rescaling };
    let (format, fingerprint) = (data.format, segment_fingerprint(&segments));
    let origin = Origin { labels, attributes, format, fingerprint, template: None };
    (origin, spec.into(), segments.into())
}

fn binary(draw: &mut Draw<'_>) -> Task {
    let data = rows(draw.rows(&["a", "b"]), Format::Libsvm);
    let bias = draw.pick(&[None, Some(1.0), Some(0.1)]);
    let shape = BinaryShape { attributes: data.attributes.len(), bias };
    let (positive, rescaling) = (draw.pick(&[0, 1]), rescaling(draw));
    let spec = BinarySpec { shape, positive, rescaling };
    ((&data).into(), spec.into(), data.rows.into())
}

fn multiclass(draw: &mut Draw<'_>, has_kernel: bool) -> Task {
    let data = rows(draw.rows(&["a", "b", "c"]), Format::Libsvm);
    let shape = MulticlassShape::new(data.labels.len(), data.attributes.len());
    let costs = vec![vec![0.0, 1.0, 3.0], vec![0.5, 0.0, 1.0], vec![0.0, 2.0, 0.0]];
    let loss = match draw.once_in(3) {
        true => ClassLoss::Costs(CostMatrix::new(costs).expect("costs")),
        false => ClassLoss::ZeroOne,
    };
    let kernel = kernel(draw, has_kernel);
    let rescaling = if has_kernel { Rescaling::Margin } else { rescaling(draw) };
    let spec = MulticlassSpec { shape, loss, rescaling, kernel };
    ((&data).into(), spec.into(), data.rows.into())
}

fn multilabel(draw: &mut Draw<'_>, has_kernel: bool, training: FactorTraining) -> Task {
    let data = rows(draw.sets(), Format::Multilabel);
    let (labels, attributes) = (data.labels.len(), data.attributes.len());
    let shape = match draw.below(3) {
        0 => MultilabelShape::independent(labels, attributes),
        1 => MultilabelShape::tree(labels, attributes, &data.rows),
        _ => MultilabelShape::complete(labels, attributes),
    };
    let loss = Hamming { normalised: !draw.once_in(3), ..Hamming::default() };
    let inference = draw.pick_name(Inference::NAMES);
    let is_plain = !has_kernel && training.is_decoding();
    let rescaling = if is_plain { rescaling(draw) } else { Rescaling::Margin };
    let (kernel, partial) = (kernel(draw, has_kernel), false);
    let spec = MultilabelSpec { shape, loss, inference, partial, rescaling, kernel, training };
    ((&data).into(), spec.into(), data.rows.into())
}

fn factor_graph(draw: &mut Draw<'_>) -> Task {
    let reader = FactorGraphReader::new(text(draw.graphs()));
    let data = read_factor_graphs(reader).expect("graphs");
    let ties: Vec<(String, Tie)> = match draw.once_in(3) {
        true => vec![(data.names.templates.name(0).to_owned(), Tie::Free)],
        false if data.names.templates.get("edge").is_some() => {
            vec![("edge".to_owned(), draw.pick(&[Tie::Agree, Tie::Differ, Tie::Free]))]
        }
        false => Vec::new(),
    };
    let shape = data.names.tied_shape(&ties).expect("templates that exist");
    let loss = StateLoss { normalised: !draw.once_in(3) };
    let training = if draw.once_in(3) { soft(draw) } else { FactorTraining::Decoding };
    let rescaling = if training.is_decoding() { rescaling(draw) } else { Rescaling::Margin };
    let inference = draw.pick_name(Inference::NAMES);
    let (states, labels) = Default::default();
    let spec = FactorGraphSpec { shape, loss, inference, training, rescaling, states, labels };
    ((&data).into(), spec.into(), data.graphs.into())
}

fn graph(draw: &mut Draw<'_>) -> Task {
    let widths = vec![0.2, f64::INFINITY];
    let features = SuperpixelFeatures { widths, bias: true };
    let data = read_superpixels(text(draw.superpixels()), None, &features).expect("images");
    let shape = PottsShape::new(2, data.graphs.node_attribute_bound(), 2);
    let shape = if draw.once_in(3) { shape.free() } else { shape };
    let loss = draw.pick(&[NodeLoss::default(), NodeLoss::HAMMING]);
    let inference = draw.pick_name(PottsInference::NAMES);
    let training = if draw.once_in(3) { soft(draw) } else { FactorTraining::Decoding };
    let rescaling = if training.is_decoding() { rescaling(draw) } else { Rescaling::Margin };
    let widths = Some(vec![Some(0.2), None]);
    let spec = PottsSpec { shape, loss, inference, widths, training, rescaling };
    let (labels, attributes) = spec.names().expect("names of a file's features");
    let (format, fingerprint) = (Format::Superpixels, data.fingerprint());
    let origin = Origin { labels, attributes, format, fingerprint, template: None };
    (origin, spec.into(), data.into())
}

fn matching(draw: &mut Draw<'_>) -> Task {
    let pairs = read_alignments(text(draw.alignments())).expect("pairs");
    let features = AlignmentFeatures::new(WordCounts::of(&pairs)).with_lexicon(&pairs, 1);
    let (most, attributes) = (1 + draw.below(2), features.attributes());
    let shape = MatchingShape { attributes, most_per_row: most, most_per_column: most };
    let loss = LinkLoss { missing: draw.pick(&[1.0, 0.0, 3.0]), ..LinkLoss::default() };
    let (labels, format) = (Names::new(), Format::Alignment);
    let (attributes, fingerprint) = (features.names(), alignment_fingerprint(&pairs));
    let origin = Origin { labels, attributes, format, fingerprint, template: None };
    let examples = Alignments::new(pairs, &features).expect("pairs that fit");
    let (features, rescaling) = (Some(features), rescaling(draw));
    let spec = MatchingSpec { shape, loss, features, rescaling };
    (origin, spec.into(), examples.into())
}

fn tree(draw: &mut Draw<'_>) -> Task {
    let people = read_poses(text(draw.poses())).expect("people");
    let distractors = draw.below(2);
    let simulation = PoseSimulation { side: 3, distractors, ..PoseSimulation::default() };
    let parents = [None, Some(0), Some(draw.below(2))];
    let parents = &parents[..people.first().map_or(1, |pose| pose.joints.len())];
    let kinds = PoseKinds::fit(&people, parents, 1 + draw.below(2), &simulation);
    let (shape, loss) = (kinds.shape(4.0), Default::default());
    let simulated = simulation.simulate(&people, &kinds, (0, 1), 4.0).expect("people that fit");
    let origin = Origin {
        labels: Names::new(),
        attributes: Names::new(),
        format: Format::Pose,
        fingerprint: pose_fingerprint(&people),
        template: None,
    };
    let (kinds, simulation, rescaling) = (Some(kinds), Some(simulation), rescaling(draw));
    let spec = TreeSpec { shape, loss, kinds, simulation, rescaling };
    (origin, spec.into(), Examples::Poses(simulated))
}

/// Whether no other λ, multipliers or messages are part of the problem.
pub(super) fn is_same_at_every_lambda(spec: &Spec) -> bool {
    spec.soft().is_none()
}
