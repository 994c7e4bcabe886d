use super::*;
use crate::{ChainSpec, Lines, open_reader, read_training};
use maxmargin::model::chain::{Chain, ChainShape, Hamming};
use maxmargin::train;
use safetensors::tensor::{Dtype, TensorView};

pub(super) fn model() -> Model {
    let text = "noun\tcat\tend:0.25\nverb\tpurrs\n\nnoun\tdög\n\n@weight:2\nverb\n";
    let lines = Lines::from_reader("pets.txt", text.as_bytes()).unwrap();
    let data = read_training(open_reader(lines, Some(Format::Crfsuite)).unwrap()).unwrap();
    let shape = ChainShape::new(data.labels.len(), data.attributes.len());
    let chain = Chain::new(shape, data.sequences.clone(), &Hamming::default()).unwrap();
    let settings = Settings { lambda: Some(0.1), ..Settings::default() };
    let solution = train(&chain, &settings).unwrap();
    Model::new(
        &data,
        ChainSpec { shape, loss: Hamming::default(), kernel: None, rescaling: Default::default() },
        settings,
        solution,
    )
}

/// Sentences with many words, most of whose weights are zero: each word has one label.
fn wordy_model() -> (Model, crate::Dataset) {
    let lines = (0..40).map(|at| format!("{}\tword{at}\n\n", ["noun", "verb", "other"][at % 3]));
    let text: String = lines.collect();
    let lines = Lines::from_reader("words.txt", std::io::Cursor::new(text)).unwrap();
    let data = read_training(open_reader(lines, Some(Format::Crfsuite)).unwrap()).unwrap();
    let shape = ChainShape::new(data.labels.len(), data.attributes.len());
    let chain = Chain::new(shape, data.sequences.clone(), &Hamming::default()).unwrap();
    let settings = Settings { lambda: Some(0.1), ..Settings::default() };
    let mut model = Model::new(
        &data,
        ChainSpec { shape, loss: Hamming::default(), kernel: None, rescaling: Default::default() },
        settings.clone(),
        train(&chain, &settings).unwrap(),
    );
    model.weights[shape.emission()].iter_mut().skip(10).for_each(|w| *w = 0.0);
    model.weights[11] = -0.0;
    (model, data)
}

fn tensor_names(bytes: &[u8]) -> Vec<String> {
    let file = safetensors::SafeTensors::deserialize(bytes).unwrap();
    file.names().into_iter().map(ToString::to_string).collect()
}

#[test]
fn zeros_are_not_stored_and_come_back_with_the_same_bits() {
    let (model, _) = wordy_model();
    let bytes = model.to_bytes().unwrap();
    let names = tensor_names(&bytes);
    assert!(names.iter().any(|name| name == "emission.at"), "{names:?}");
    assert!(!names.iter().any(|name| name == "emission"), "{names:?}");
    let back = Model::from_bytes(&bytes).unwrap();
    let bits = |model: &Model| model.weights.iter().map(|w| w.to_bits()).collect::<Vec<_>>();
    assert_eq!(bits(&back), bits(&model));
    assert_eq!(back.weights[11].to_bits(), (-0.0f64).to_bits(), "a negative zero is a weight");
    assert_eq!(back.to_bytes().unwrap(), bytes);
    for end in 0..bytes.len() {
        refusal(&bytes[..end]);
    }
    for at in 0..bytes.len() {
        let mut changed = bytes.clone();
        changed[at] ^= 0x55;
        let _ = Model::from_bytes(&changed);
    }
}

/// The file with another tensor in place of its own, and without the check sum, as an earlier version wrote it.
fn with_tensor(bytes: &[u8], name: &str, data: &[u8]) -> Vec<u8> {
    let (_, header) = safetensors::SafeTensors::read_metadata(bytes).unwrap();
    let mut entries = header.metadata().clone().unwrap();
    let mut meta: serde_json::Value = serde_json::from_str(&entries["maxmargin"]).unwrap();
    meta.as_object_mut().unwrap().remove("check_sum");
    entries.insert("maxmargin".to_owned(), meta.to_string());
    let file = safetensors::SafeTensors::deserialize(bytes).unwrap();
    let tensors = file.iter().map(|(own, view)| match own == name {
        true => (own, TensorView::new(view.dtype(), view.shape().to_vec(), data).unwrap()),
        false => (own, view),
    });
    safetensors::serialize(tensors, Some(entries)).unwrap()
}

#[test]
fn places_of_weights_are_checked() {
    let (model, _) = wordy_model();
    let bytes = model.to_bytes().unwrap();
    let file = safetensors::SafeTensors::deserialize(&bytes).unwrap();
    let at = file.tensor("emission.at").unwrap().data();
    assert_eq!(Model::from_bytes(&with_tensor(&bytes, "emission.at", at)).unwrap(), model);
    for (which, value) in [(0, 7u32), (at.len() / 4 - 1, u32::MAX)] {
        let mut changed = at.to_vec();
        changed[4 * which..][..4].copy_from_slice(&value.to_le_bytes());
        let text = refusal(&with_tensor(&bytes, "emission.at", &changed));
        assert!(text.contains("the places `emission.at` are not in order below 120"), "{text}");
    }
}

#[test]
fn a_small_file_cannot_ask_for_absurd_amounts_of_memory() {
    let (mut model, _) = wordy_model();
    let many = 1 << 14;
    let Spec::Chain(spec) = &mut model.meta.spec else { unreachable!() };
    spec.shape.labels = many;
    model.labels = Names::new();
    (0..many).for_each(|at| {
        model.labels.intern(&at.to_string());
    });
    model.meta.d = model.meta.spec.dim();
    let mut all = Vec::new();
    for group in ["emission", "transition"] {
        all.push(pack::Tensor::u32(format!("{group}.at"), []));
        all.push(pack::Tensor::f64(format!("{group}.values"), vec![0], []));
    }
    tensors::push_alphabets(&model.labels, &model.attributes, &mut all);
    let bytes = pack::pack("maxmargin", &model.meta, &all).unwrap().into_bytes().unwrap();
    let text = refusal(&bytes);
    assert!(text.contains("a file of this size has no 268435456 weights"), "{text}");
}

#[test]
fn files_of_the_layout_before_still_load_and_verify() {
    let old =
        Model::from_bytes(include_bytes!("../../tests/samples/layout-2.safetensors")).unwrap();
    let new = model();
    assert_eq!((&old.labels, &old.attributes), (&new.labels, &new.attributes));
    assert_eq!(old.meta.fingerprint, new.meta.fingerprint);
    let text = "noun\tcat\tend:0.25\nverb\tpurrs\n\nnoun\tdög\n\n@weight:2\nverb\n";
    let lines = Lines::from_reader("pets.txt", text.as_bytes()).unwrap();
    let data = read_training(open_reader(lines, Some(Format::Crfsuite)).unwrap()).unwrap();
    let verdict = old.verify(data.sequences.into(), data.fingerprint, "sequences", 1).unwrap();
    assert_eq!(verdict.findings, Vec::<String>::new());
    let again = Model::from_bytes(&old.to_bytes().unwrap()).unwrap();
    assert_eq!(again, old);
}

fn refusal(bytes: &[u8]) -> String {
    Model::from_bytes(bytes).unwrap_err().to_string()
}

#[test]
fn a_model_round_trips_bit_for_bit() {
    let model = model();
    let bytes = model.to_bytes().unwrap();
    let back = Model::from_bytes(&bytes).unwrap();
    assert_eq!(back, model);
    assert_eq!(back.to_bytes().unwrap(), bytes);
    let bits = |model: &Model| model.weights.iter().map(|w| w.to_bits()).collect::<Vec<_>>();
    assert_eq!(bits(&back), bits(&model));
    assert_eq!(back.meta.certificate.gap.to_bits(), model.meta.certificate.gap.to_bits());
}

#[test]
fn a_model_may_leave_out_its_dual_point() {
    let slim = Model { dual: None, ..model() };
    assert_eq!(Model::from_bytes(&slim.to_bytes().unwrap()).unwrap(), slim);
}

#[test]
fn every_truncation_is_refused_without_panic() {
    let bytes = model().to_bytes().unwrap();
    for end in 0..bytes.len() {
        refusal(&bytes[..end]);
    }
    assert_eq!(refusal(b""), "not a maxmargin model: the file is empty");
    assert!(refusal(&bytes[..bytes.len() - 1]).contains("truncated"));
}

#[test]
fn flipped_bytes_never_panic() {
    let bytes = model().to_bytes().unwrap();
    for at in 0..bytes.len() {
        let mut changed = bytes.clone();
        changed[at] ^= 0x55;
        let _ = Model::from_bytes(&changed);
    }
}

#[test]
fn foreign_files_are_told_apart() {
    assert!(refusal(b"word POS chunk and other text").contains("no safetensors header"));
    let view = TensorView::new(Dtype::F64, vec![1], &[0; 8]).unwrap();
    let foreign = safetensors::serialize([("x", view)], None).unwrap();
    assert!(refusal(&foreign).contains("without maxmargin's metadata"));
}

#[test]
fn later_layouts_are_refused_by_name() {
    let mut model = model();
    model.meta.layout = 99;
    let text = refusal(&model.to_bytes().unwrap());
    assert!(text.contains("version 99; this program reads versions 2 to 3"), "{text}");
}

#[test]
fn inconsistent_numbers_are_refused() {
    let mut wrong = model();
    wrong.weights[3] = f64::NAN;
    assert!(refusal(&wrong.to_bytes().unwrap()).contains("weight 3 is not a finite number"));
    let mut wrong = model();
    wrong.meta.n += 1;
    assert!(refusal(&wrong.to_bytes().unwrap()).contains("3 dual blocks, where 4 are stated"));
    let mut wrong = model();
    (wrong.meta.n, wrong.dual) = (0, None);
    assert!(refusal(&wrong.to_bytes().unwrap()).contains("trained on 0 examples"));
    let mut wrong = model();
    wrong.meta.d += 1;
    assert!(refusal(&wrong.to_bytes().unwrap()).contains("features, where"));
    let mut wrong = model();
    wrong.meta.certificate.lambda = -0.5;
    assert!(refusal(&wrong.to_bytes().unwrap()).contains("its lambda is -0.5"));
    let mut wrong = model();
    wrong.meta.held_out = Some(HeldOut { seed: 1, one_in: 1 });
    assert!(refusal(&wrong.to_bytes().unwrap()).contains("one example in 1 is stated"));
    let mut wrong = model();
    wrong.labels.intern("adverb");
    assert!(refusal(&wrong.to_bytes().unwrap()).contains("3 labels, where 2 are stated"));
}

#[test]
fn errors_name_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.bin");
    let missing = Model::load(&path).unwrap_err().to_string();
    assert!(missing.contains("model.bin"), "{missing}");
    std::fs::write(&path, b"nonsense that is long enough").unwrap();
    let foreign = Model::load(&path).unwrap_err().to_string();
    assert!(foreign.contains("model.bin: not a maxmargin model"), "{foreign}");
    let model = model();
    model.save(&path).unwrap();
    assert_eq!(Model::load(&path).unwrap(), model);
}

#[test]
fn specifications_may_say_that_features_were_made_elsewhere() {
    let read = |json: &str| serde_json::from_str::<Spec>(json).unwrap();
    let shape = r#""shape":{"attributes":2,"most_per_row":1,"most_per_column":1}"#;
    let matching = format!(r#"{{"kind":"matching",{shape},"loss":{{}}"#);
    let spec = read(&format!("{matching}}}"));
    assert_eq!(spec, read(&format!(r#"{matching},"features":null}}"#)));
    assert!(matches!(&spec, Spec::Matching(spec) if spec.features.is_none()));
    assert_eq!(read(&serde_json::to_string(&spec).unwrap()), spec);
    let node = r#"{"parent":null,"kinds":1,"maps":1,"deforms":false,"anchors":[]}"#;
    let tree = format!(r#"{{"kind":"tree","shape":{{"nodes":[{node}],"unit":1.0}},"loss":{{}}"#);
    assert!(read(&format!("{tree}}}")).check().is_ok());
    let half = format!(r#"{tree},"kinds":{{"parents":[null],"anchors":[[[0.0,0.0]]]}}}}"#);
    assert!(read(&half).check().unwrap_err().to_string().contains("come together"));
}
