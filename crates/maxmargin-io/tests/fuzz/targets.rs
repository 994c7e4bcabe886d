//! What is fuzzed: functions of bytes that must not panic, whatever the bytes are.
//!
//! The tests of this folder run them on mutated samples, and the programs in `fuzz/` on what libFuzzer finds.

#[path = "targets/agreement.rs"]
pub(crate) mod agreement;
#[path = "targets/draw.rs"]
mod draw;
#[path = "targets/tasks.rs"]
pub(crate) mod tasks;

use maxmargin::doc::toy;
use maxmargin::model::chain::{ChainShape, Hamming};
use maxmargin::model::factor_graph::StateLoss;
use maxmargin::model::multiclass::{ClassLoss, MulticlassShape};
use maxmargin::model::multilabel::MultilabelShape;
use maxmargin::{
    Checkpoint, CheckpointEvery, GroupBounds, Settings, SettingsRecord, Solution, TrainError,
    Trainer, train,
};
use maxmargin_io::{
    ChainSpec, Examples, FactorGraphReader, FactorGraphSpec, Fingerprint, Format, Lines, Model,
    MulticlassSpec, MultilabelSpec, Origin, PathFile, RawSequence, ReadSequences, Rescaling,
    Source, Spec, SuperpixelFeatures, Template, open_reader, open_row_reader, read_alignments,
    read_factor_graphs, read_poses, read_rows, read_superpixels, read_training, read_training_on,
    save_converted,
};
use serde_json::Value;
use std::io::Cursor;
use std::sync::OnceLock;
use xxhash_rust::xxh3::xxh3_64;

/// A name, the function, and whether thousands of calls take less than a second.
pub(crate) type Target = (&'static str, fn(&[u8]), bool);

/// All of them.
pub(crate) const TARGETS: [Target; 9] = [
    ("readers", readers, true),
    ("templates", templates, true),
    ("settings", settings, true),
    ("tensors", tensors, true),
    ("models", models, true),
    ("paths", paths, true),
    ("checkpoints", checkpoints, true),
    ("converted", converted, false),
    ("agreement", agreement, false),
];

fn lines(text: &[u8]) -> Option<Lines> {
    Lines::from_reader("fuzz", Cursor::new(text.to_vec())).ok()
}

/// All readers of data. The first byte names the format, or asks for a guess.
pub(crate) fn readers(bytes: &[u8]) {
    let Some((&choice, text)) = bytes.split_first() else { return };
    let Some(input) = lines(text) else { return };
    let format = Format::ALL.get(usize::from(choice) % (Format::ALL.len() + 1)).copied();
    let is_rows = choice >= 128;
    match format {
        Some(Format::FactorGraph) => {
            let _ = read_factor_graphs(FactorGraphReader::new(input));
        }
        Some(Format::Superpixels) => {
            let _ = read_superpixels(input, None, &SuperpixelFeatures::default());
        }
        Some(Format::Alignment) => {
            let _ = read_alignments(input);
        }
        Some(Format::Pose) => {
            let _ = read_poses(input);
        }
        _ if is_rows => {
            let _ = open_row_reader(input, format).and_then(read_rows);
        }
        _ => sequences(text, format),
    }
}

/// Sequences are the same on any number of threads, and so are complaints.
fn sequences(text: &[u8], format: Option<Format>) {
    let open = || open_reader(lines(text)?, format).ok();
    let read =
        |threads| open().map(|reader| read_training_on(reader, threads).map_err(|e| e.to_string()));
    assert_eq!(read(1), read(3));
    if let Some(mut reader) = open() {
        let mut sequence = RawSequence::new();
        while reader.read(&mut sequence).unwrap_or(false) {}
    }
}

/// A template, a NUL byte, and columns for it.
pub(crate) fn templates(bytes: &[u8]) {
    let mut parts = bytes.splitn(2, |byte| *byte == 0);
    let (template, data) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    let Some(Ok(template)) = lines(template).map(Template::read) else { return };
    if let Ok(text) = serde_json::to_string(&template) {
        assert_eq!(serde_json::from_str::<Template>(&text).ok().as_ref(), Some(&template));
    }
    let Some(data) = lines(data) else { return };
    let mut reader = template.open(data);
    let mut sequence = RawSequence::new();
    while reader.read(&mut sequence).unwrap_or(false) {}
}

/// Settings by name, as files and checkpoints have them. What is accepted comes back as it was.
pub(crate) fn settings(bytes: &[u8]) {
    let Ok(record) = serde_json::from_slice::<SettingsRecord>(bytes) else { return };
    if let Ok(settings) = record.settings() {
        let again = settings.record().settings();
        assert_eq!(again.ok().as_ref(), Some(&settings));
    }
}

/// Files of tensors as they come.
pub(crate) fn tensors(bytes: &[u8]) {
    let _ = Model::from_bytes(bytes);
    let _ = PathFile::from_bytes(bytes);
}

/// A model with its data.
struct Trained {
    model: Model,
    bytes: Vec<u8>,
    examples: Examples,
    fingerprint: Fingerprint,
}

type Training = Result<Trained, TrainError>;

/// What is to be learned, and from what.
type Task = (Origin, Spec, Examples);

fn trained((origin, spec, examples): &Task, settings: &Settings) -> Training {
    let (origin, spec, examples) = (origin.clone(), spec.clone(), examples.clone());
    let fingerprint = origin.fingerprint;
    let problem = spec.problem(examples.clone(), &GroupBounds::default()).expect("data that fit");
    let solution = train(problem.blocks(), settings)?;
    let model = Model::new(origin, spec, settings.clone(), solution);
    let bytes = model.to_bytes().expect("a model");
    Ok(Trained { model, bytes, examples, fingerprint })
}

const SEQUENCES: &str = "DT\tw=the\tcap\nNN\tw=dog\nVB\tw=barks\n\nDT\tw=a\nNN\tw=cat\n\nNN\tw=dogs\tlen:0.5\nVB\tw=bark\n";
const ROWS: &str = "a 1:1 2:0.5\nb 1:-1 3:2\nc 2:1\na 1:2\n";
const SETS: &str = "1,2 1:1 2:1\n1 1:1\n2,3 2:1 3:1\n 3:0.5\n";
const GRAPHS: &str = concat!(
    r#"{"variables": [{"states": 2, "truth": 0}, {"states": 2, "truth": 1}], "factors": ["#,
    r#"{"template": "node", "variables": [0], "attributes": {"dark": 1}}, "#,
    r#"{"template": "edge", "variables": [0, 1], "attributes": {"bias": 1}}]}"#,
    "\n"
);

fn chain() -> Task {
    let reader = open_reader(lines(SEQUENCES.as_bytes()).expect("text"), Some(Format::Crfsuite))
        .expect("sequences");
    let data = read_training(reader).expect("sequences");
    let shape = ChainShape::new(data.labels.len(), data.attributes.len());
    let spec =
        ChainSpec { shape, loss: Hamming::default(), kernel: None, rescaling: Default::default() };
    ((&data).into(), spec.into(), data.sequences.clone().into())
}

fn classes(rescaling: Rescaling) -> Task {
    let reader =
        open_row_reader(lines(ROWS.as_bytes()).expect("text"), Some(Format::Libsvm)).expect("rows");
    let data = read_rows(reader).expect("rows");
    let shape = MulticlassShape::new(data.labels.len(), data.attributes.len());
    let spec = MulticlassSpec { shape, loss: ClassLoss::ZeroOne, rescaling, kernel: None };
    ((&data).into(), spec.into(), data.rows.clone().into())
}

fn sets(rescaling: Rescaling) -> Task {
    let reader = open_row_reader(lines(SETS.as_bytes()).expect("text"), Some(Format::Multilabel))
        .expect("rows");
    let data = read_rows(reader).expect("rows");
    let shape = MultilabelShape::complete(data.labels.len(), data.attributes.len());
    let (loss, inference, partial) = (Hamming::default(), Default::default(), false);
    let (kernel, training) = (None, Default::default());
    let spec = MultilabelSpec { shape, loss, inference, partial, rescaling, kernel, training };
    ((&data).into(), spec.into(), data.rows.clone().into())
}

fn graphs() -> Task {
    let data = read_factor_graphs(FactorGraphReader::new(lines(GRAPHS.as_bytes()).expect("text")))
        .expect("graphs");
    let (shape, loss, inference) = (data.names.shape(), StateLoss::default(), Default::default());
    let (training, rescaling) = (Default::default(), Default::default());
    let (states, labels) = Default::default();
    let spec = FactorGraphSpec { shape, loss, inference, training, rescaling, states, labels };
    ((&data).into(), spec.into(), data.graphs.clone().into())
}

fn all(settings: &Settings) -> Vec<Trained> {
    let (margin, slack) = (Rescaling::Margin, Rescaling::Slack);
    let all = [chain(), classes(margin), classes(slack), sets(margin), sets(slack), graphs()];
    all.iter().map(|task| trained(task, settings).expect("a problem to be trained")).collect()
}

fn one_thread() -> Settings {
    Settings { lambda: Some(0.1), threads: 1, max_passes: 20, ..Settings::default() }
}

/// Models of which some numbers were changed, without a check sum as in files of earlier versions. What can still be
/// read is verified and measured.
pub(crate) fn models(bytes: &[u8]) {
    static KNOWN: OnceLock<Vec<Trained>> = OnceLock::new();
    let known = KNOWN.get_or_init(|| all(&one_thread()));
    let Some((&choice, changes)) = bytes.split_first() else { return };
    let base = &known[usize::from(choice) % known.len()];
    let Ok(model) = Model::from_bytes(&changed(&base.bytes, changes)) else { return };
    let (examples, fingerprint) = (base.examples.clone(), base.fingerprint);
    if let Ok(verdict) = model.verify(examples, fingerprint, "examples", 1)
        && verdict.findings.is_empty()
    {
        // Only what a certificate does not speak of may have changed.
        let (stated, true_one) = (model.meta.certificate, base.model.meta.certificate);
        let is_near = |a: f64, b: f64| (a - b).abs() <= 1e-8 * (1.0 + a.abs() + b.abs());
        let same_problem =
            model.meta.spec == base.model.meta.spec && stated.lambda == true_one.lambda;
        assert!(
            !same_problem
                || is_near(stated.dual, true_one.dual)
                || stated.gap >= true_one.gap - 1e-8
        );
    }
    let _ = model.meta.spec.errors(&model.weights, &base.examples, 1);
}

/// Path files of which some numbers were changed.
pub(crate) fn paths(bytes: &[u8]) {
    static KNOWN: OnceLock<Vec<u8>> = OnceLock::new();
    let known = KNOWN.get_or_init(|| {
        let Trained { model, examples, .. } = trained(&chain(), &one_thread()).expect("a chain");
        let problem =
            model.meta.spec.problem(examples, &GroupBounds::default()).expect("data that fit");
        let settings =
            maxmargin::PathSettings { epsilon: 0.1, training: one_thread(), ..Default::default() };
        let path = maxmargin::regularization_path(problem.blocks(), &settings).expect("a path");
        let Model { meta, labels, attributes, .. } = model;
        let origin = Origin {
            labels,
            attributes,
            format: meta.format,
            fingerprint: meta.fingerprint,
            template: None,
        };
        let file = PathFile::new(origin, meta.spec, meta.n, one_thread(), path);
        file.to_bytes().expect("a path")
    });
    let Ok(file) = PathFile::from_bytes(&changed(known, bytes)) else { return };
    for breakpoint in &file.path.breakpoints {
        let _ = file.model_at(breakpoint.certificate.lambda);
    }
}

/// Numbers that are more often wrong than others.
const ODD: [u64; 12] =
    [0, 1, 2, 255, 1 << 16, 1 << 31, u32::MAX as u64, 1 << 32, 1 << 53, 1 << 60, 1 << 63, u64::MAX];

/// Reads one change after the other: what kind it is, where, and a number.
fn each_change(changes: &[u8], mut change: impl FnMut(u8, usize, u64)) {
    for bytes in changes.chunks(12).take(8) {
        let byte = |at: usize| bytes.get(at).copied().unwrap_or(0);
        let place = u32::from_le_bytes([byte(1), byte(2), byte(3), 0]) as usize;
        let number = u64::from_le_bytes(std::array::from_fn(|at| byte(4 + at)));
        let number = if byte(0) & 64 == 0 { ODD[(number % 12) as usize] } else { number };
        change(byte(0) & 63, place, number);
    }
}

/// A file of tensors with changes in its metadata, its table of tensors and its numbers.
fn changed(bytes: &[u8], changes: &[u8]) -> Vec<u8> {
    let length = u64::from_le_bytes(bytes[..8].try_into().expect("eight bytes")) as usize;
    let (header, tensors) = bytes[8..].split_at(length);
    let (mut header, mut tensors): (Value, Vec<u8>) =
        (serde_json::from_slice(header).expect("a header"), tensors.into());
    let (_, text) =
        header["__metadata__"].as_object_mut().expect("metadata").iter_mut().next().expect("ours");
    let mut meta: Value = serde_json::from_str(text.as_str().expect("text")).expect("JSON");
    meta.as_object_mut().expect("an object").remove("check_sum");
    each_change(changes, |kind, place, number| match kind % 4 {
        0 => {
            let mut leaves = Vec::new();
            collect(&mut meta, &mut leaves);
            let at = place % leaves.len();
            *leaves.swap_remove(at) = leaf(kind, number);
        }
        1 if !tensors.is_empty() => {
            let at = place % tensors.len();
            tensors[at] ^= 1 << (number % 8);
        }
        _ => {
            let words = tensors.len() / 8;
            if words > 0 {
                let at = place % words * 8;
                let value = if kind & 8 == 0 { number } else { (number as f64).to_bits() };
                tensors[at..at + 8].copy_from_slice(&value.to_le_bytes());
            }
        }
    });
    *header["__metadata__"].as_object_mut().expect("metadata").values_mut().next().expect("ours") =
        Value::String(meta.to_string());
    let mut header = header.to_string().into_bytes();
    header.resize(header.len().next_multiple_of(8), b' ');
    [&(header.len() as u64).to_le_bytes()[..], &header, &tensors].concat()
}

/// What a number in JSON is replaced by.
fn leaf(kind: u8, number: u64) -> Value {
    match kind >> 2 & 7 {
        0 => Value::Null,
        1 => Value::from(-(number as f64)),
        2 => Value::from(1.0 / (1.0 + number as f64)),
        3 => Value::from(f64::from_bits(number)),
        4 => Value::from(number.to_string()),
        _ => Value::from(number),
    }
}

/// All numbers, texts and truths of a value.
fn collect<'a>(value: &'a mut Value, leaves: &mut Vec<&'a mut Value>) {
    match value {
        Value::Object(fields) => fields.values_mut().for_each(|field| collect(field, leaves)),
        Value::Array(items) => items.iter_mut().for_each(|item| collect(item, leaves)),
        leaf => leaves.push(leaf),
    }
}

/// Settings of runs whose checkpoints are changed: every method that has a state of its own.
fn methods() -> Vec<Settings> {
    use maxmargin::{Average, Caching, Order, Solver};
    let base = Settings {
        lambda: Some(0.1),
        tolerance: 0.0,
        max_passes: 4,
        threads: 1,
        ..Settings::default()
    };
    let with = |change: fn(&mut SettingsRecord)| {
        let mut record = base.record();
        record.solver = Solver::BlockCoordinate;
        change(&mut record);
        record.settings().expect("settings that go together")
    };
    vec![
        base.clone(),
        with(|_| {}),
        with(|s| (s.order, s.cache, s.average) = (Order::Gap, Caching::On, Average::Weighted)),
        with(|s| (s.order, s.cache) = (Order::MaxGap, Caching::Exhaust)),
        with(|s| (s.order, s.average) = (Order::Lazy, Average::Uniform)),
        with(|s| s.order = Order::Uniform),
        with(|s| s.solver = Solver::FrankWolfe),
        with(|s| s.solver = Solver::NSlack),
        with(|s| s.solver = Solver::OneSlack),
        with(|s| s.solver = Solver::Subgradient),
        with(|s| s.solver = Solver::AdaGrad),
        with(|s| s.solver = Solver::Perceptron),
        with(|s| s.solver = Solver::ExponentiatedGradient),
    ]
}

/// Checkpoints of every method after two passes, with their settings.
fn kept() -> &'static [(Settings, Vec<u8>)] {
    static KNOWN: OnceLock<Vec<(Settings, Vec<u8>)>> = OnceLock::new();
    KNOWN.get_or_init(|| {
        let checkpoint = |settings: Settings| {
            let mut kept = Vec::new();
            let mut keep = |checkpoint: &Checkpoint<'_>| {
                kept.push(checkpoint.to_bytes(""));
                Ok(())
            };
            let trainer = Trainer::new(settings.clone());
            trainer.checkpoint(CheckpointEvery::Passes(2), &mut keep).train(&toy()).expect("a run");
            (settings, kept.swap_remove(0))
        };
        methods().into_iter().map(checkpoint).collect()
    })
}

/// Goes on with a checkpoint for a few passes.
fn resumed(settings: &Settings, checkpoint: Checkpoint<'static>) -> Result<Solution, TrainError> {
    let settings = Settings { max_passes: 6, ..settings.clone() };
    Trainer::new(settings).resume(checkpoint).train(&toy())
}

/// The checks of a checkpoint must not stand in the way of what a run has left.
pub(crate) fn resume_unchanged() {
    for (settings, bytes) in kept() {
        let checkpoint = Checkpoint::from_bytes(bytes).expect("a checkpoint");
        let whole = train(&toy(), &Settings { max_passes: 6, ..settings.clone() }).expect("a run");
        let solution =
            resumed(settings, checkpoint).unwrap_or_else(|error| panic!("{settings:?}: {error}"));
        assert_eq!(solution.weights, whole.weights, "{settings:?}");
    }
}

/// Checkpoints of which some bytes were changed and the check sum mended. What is accepted goes on.
pub(crate) fn checkpoints(bytes: &[u8]) {
    let known = kept();
    let _ = Checkpoint::from_bytes(bytes);
    let Some((&choice, changes)) = bytes.split_first() else { return };
    let (settings, base) = &known[usize::from(choice) % known.len()];
    let mut changed = base.clone();
    let end = changed.len() - 16;
    each_change(changes, |kind, place, number| {
        let at = 12 + place % (end - 12);
        match kind % 3 {
            0 => changed[at] ^= 1 << (number % 8),
            1 => changed[at] = number as u8,
            _ => {
                let last = (at + 8).min(end);
                changed[at..last].copy_from_slice(&number.to_le_bytes()[..last - at]);
            }
        }
    });
    let sum = xxh3_64(&changed[..end + 8]);
    changed[end + 8..].copy_from_slice(&sum.to_le_bytes());
    if let Ok(checkpoint) = Checkpoint::from_bytes(&changed) {
        let _ = resumed(settings, checkpoint);
    }
}

/// Converted files of which some bytes were changed and the check sums mended.
pub(crate) fn converted(bytes: &[u8]) {
    static KNOWN: OnceLock<(tempfile::TempDir, Vec<u8>)> = OnceLock::new();
    let (folder, base) = KNOWN.get_or_init(|| {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("base");
        let reader =
            open_reader(lines(SEQUENCES.as_bytes()).expect("text"), Some(Format::Crfsuite))
                .expect("sequences");
        save_converted(&path, maxmargin_io::read_by_name(reader).expect("sequences"))
            .expect("a file");
        let bytes = std::fs::read(path).expect("a file");
        (folder, bytes)
    });
    let path = folder.path().join(format!("{:?}", std::thread::current().id()));
    let read = |bytes: &[u8]| {
        std::fs::write(&path, bytes).expect("a file can be written");
        if let Ok(reader) = Source::File(path.clone()).open(None) {
            let _ = read_training(reader);
        }
    };
    let length = u64::from_le_bytes(base[16..24].try_into().expect("eight bytes")) as usize;
    let mut header: Value = serde_json::from_slice(&base[32..32 + length]).expect("a header");
    let mut arrays = base[32 + length..].to_vec();
    each_change(bytes, |kind, place, number| {
        if kind % 2 == 0 {
            let mut leaves = Vec::new();
            collect(&mut header, &mut leaves);
            let at = place % leaves.len();
            *leaves.swap_remove(at) = leaf(kind >> 1, number);
        } else {
            let at = place % (arrays.len() / 4) * 4;
            arrays[at..at + 4].copy_from_slice(&(number as u32).to_le_bytes());
        }
    });
    for array in header["arrays"].as_array_mut().into_iter().flatten() {
        let number = |value: &Value| value.as_u64().and_then(|number| usize::try_from(number).ok());
        let range = number(&array["start"]).zip(number(&array["length"]));
        let range = range.and_then(|(start, length)| arrays.get(start..start.checked_add(length)?));
        if let (Some(inside), Some(fields)) = (range, array.as_object_mut()) {
            fields.insert("sum".to_owned(), Value::from(format!("{:016x}", xxh3_64(inside))));
        }
    }
    let mut text = header.to_string().into_bytes();
    text.resize((32 + text.len()).next_multiple_of(64) - 32, b' ');
    let head =
        [&base[..16], &(text.len() as u64).to_le_bytes(), &xxh3_64(&text).to_le_bytes()].concat();
    read(&[&head[..], &text, &arrays].concat());
}

/// Draws a problem and settings, and trains in one of several ways: all who speak of the model agree. Returns what was
/// trained, if its parts go together.
pub(crate) fn agree(bytes: &[u8]) -> agreement::Came {
    agreement::agree(bytes)
}

/// As [`agree`].
pub(crate) fn agreement(bytes: &[u8]) {
    agree(bytes);
}
