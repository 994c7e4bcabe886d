//! Files that were changed on purpose, with the check sum left out as in files of earlier versions.

use crate::{Model, PathFile};
use maxmargin::GroupBounds;
use maxmargin::kernel::{Kernel, Support};
use maxmargin::model::LabelledRows;
use maxmargin::model::multiclass::{ClassLoss, MulticlassShape};
use serde_json::{Value, json};

use super::tests::model;

/// The same file with other metadata, and without a check sum.
pub(crate) fn with_meta(bytes: &[u8], change: impl FnOnce(&mut Value)) -> Vec<u8> {
    let length = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    let (header, tensors) = bytes[8..].split_at(length);
    let mut header: Value = serde_json::from_slice(header).unwrap();
    let (_, text) = header["__metadata__"].as_object_mut().unwrap().iter_mut().next().unwrap();
    let mut meta: Value = serde_json::from_str(text.as_str().unwrap()).unwrap();
    meta.as_object_mut().unwrap().remove("check_sum");
    change(&mut meta);
    *text = Value::String(meta.to_string());
    let mut header = header.to_string().into_bytes();
    header.resize(header.len().next_multiple_of(8), b' ');
    [&(header.len() as u64).to_le_bytes()[..], &header, tensors].concat()
}

fn refusal(bytes: &[u8]) -> String {
    Model::from_bytes(bytes).unwrap_err().to_string()
}

const COUNTS: [u64; 7] = [1 << 32, 1 << 40, 1 << 60, 1 << 62, 1 << 63, u64::MAX - 1, u64::MAX];

#[test]
fn a_file_of_an_earlier_version_without_a_check_sum_is_read() {
    let model = model();
    let old = with_meta(&model.to_bytes().unwrap(), |_| {});
    assert_eq!(Model::from_bytes(&old).unwrap(), model);
}

#[test]
fn one_changed_byte_is_noticed_anywhere_behind_the_layout() {
    let bytes = model().to_bytes().unwrap();
    let length = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    for at in (8 + length)..bytes.len() {
        let mut changed = bytes.clone();
        changed[at] ^= 1;
        assert!(refusal(&changed).contains("its check sum is wrong"), "byte {at}");
    }
    let text = String::from_utf8(bytes[8..8 + length].to_vec()).unwrap();
    let start = text.find(r#"\"primal\":"#).unwrap() + r#"\"primal\":"#.len();
    let digit = text[start..].find(|c: char| ('1'..='8').contains(&c)).unwrap() + start + 8;
    let mut changed = bytes.clone();
    changed[digit] += 1;
    assert!(refusal(&changed).contains("its check sum is wrong"));
}

#[test]
fn metadata_that_another_program_has_written_anew_are_noticed() {
    let bytes = model().to_bytes().unwrap();
    let length = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    let header = String::from_utf8(bytes[8..8 + length].to_vec()).unwrap();
    let spaced = header.replace(r#"\"check_sum\":"#, r#"\"check_sum\": "#).into_bytes();
    let length = (spaced.len() as u64).to_le_bytes();
    let changed = [&length[..], &spaced, &bytes[8 + header.len()..]].concat();
    assert!(refusal(&changed).contains("its check sum is not where it was written"));
}

#[test]
fn absurd_counts_are_refused_before_memory_is_reserved() {
    let bytes = model().to_bytes().unwrap();
    for place in ["/spec/shape/labels", "/spec/shape/attributes", "/d", "/n"] {
        for count in COUNTS {
            for with_d in [false, true] {
                let changed = with_meta(&bytes, |meta| {
                    *meta.pointer_mut(place).unwrap() = json!(count);
                    if with_d {
                        meta["d"] = json!(count);
                    }
                });
                refusal(&changed);
            }
        }
    }
}

#[test]
fn absurd_states_and_messages_of_factor_graphs_are_refused() {
    let bytes = model().to_bytes().unwrap();
    let spec = |states: Value, attributes: u64, messages: u64| {
        json!({
            "kind": "factor-graph", "loss": {"normalised": true}, "inference": "auto", "rescaling": "margin",
            "shape": {"templates": [{"states": states, "attributes": attributes}]},
            "training": {"soft": {
                "rho": 1.0, "lambda": 0.1, "blocks": 1u64 << 60, "messages": messages,
                "hard_objective": 0.0, "violation": [0.0, 0.0],
            }},
        })
    };
    for spec in [
        spec(json!([2]), 1, 1 << 60),
        spec(json!([1u64 << 31]), 1, 0),
        spec(json!([1u64 << 20, 1u64 << 20, 1u64 << 20, 1u64 << 20]), 1, 0),
        spec(json!([2]), u64::MAX, u64::MAX),
    ] {
        let changed = with_meta(&bytes, |meta| meta["spec"] = spec);
        let text = refusal(&changed);
        assert!(text.contains("too many weights"), "{text}");
    }
}

#[test]
fn absurd_simulations_and_trees_are_refused() {
    let bytes = model().to_bytes().unwrap();
    let tree = |side: u64, kinds: u64| {
        let mut simulation = serde_json::to_value(crate::PoseSimulation::default()).unwrap();
        simulation["side"] = json!(side);
        json!({
            "kind": "tree", "loss": {}, "simulation": simulation,
            "shape": {"unit": 4.0, "nodes": [
                {"parent": null, "kinds": kinds, "maps": kinds, "deforms": true, "anchors": []},
            ]},
            "kinds": {"parents": [null], "anchors": [[[0.0, 0.0]]]},
        })
    };
    for (side, kinds, why) in [
        (1_000_000_000, 1, "a grid of 1000000000 places, not 1 to 1024"),
        (0, 1, "a grid of 0 places"),
        (32, u64::MAX, "node 0 has more weights than can be counted"),
        (32, 1 << 16, "too many weights"),
    ] {
        let text = refusal(&with_meta(&bytes, |meta| meta["spec"] = tree(side, kinds)));
        assert!(text.contains(why), "{text}");
    }
}

#[test]
fn the_attributes_of_a_support_need_names() {
    let support = Support::new([vec![(0, 1.0)], vec![(1, 0.5)]]).unwrap();
    let kernel = crate::KernelSpec { kernel: Kernel::Linear, bytes: 0, support };
    let (shape, loss) = (MulticlassShape::new(2, 2), ClassLoss::ZeroOne);
    let rescaling = crate::Rescaling::Margin;
    let spec = crate::MulticlassSpec { shape, loss, rescaling, kernel: Some(kernel) };
    let mut model = Model { dual: None, ..model() };
    model.meta.spec = spec.into();
    model.meta.d = model.meta.spec.dim();
    model.weights = vec![0.5; model.meta.d];
    model.labels = ["a", "b"].map(str::to_owned).into_iter().collect();
    model.attributes = ["x", "y"].map(str::to_owned).into_iter().collect();
    let bytes = with_meta(&model.to_bytes().unwrap(), |_| {});
    assert!(Model::from_bytes(&bytes).is_ok());
    let attributes = [0u32, 1].map(u32::to_le_bytes).concat();
    let at = bytes.windows(8).rposition(|window| window == attributes).unwrap();
    for bit in 1..8 {
        let mut changed = bytes.clone();
        changed[at + 7] ^= 1 << bit;
        assert!(refusal(&changed).contains("an input has the attribute"), "bit {bit}");
    }
}

#[test]
fn factors_of_a_scaling_can_be_divided_by() {
    let bytes = model().to_bytes().unwrap();
    for factor in [0.0, -1.0, 1e-310] {
        let text = refusal(&with_meta(&bytes, |meta| meta["scaling"] = json!([factor])));
        assert!(text.contains("a factor of its scaling"), "{text}");
    }
    let mut model =
        Model::from_bytes(&with_meta(&bytes, |meta| meta["scaling"] = json!([1e308]))).unwrap();
    model.meta.bounds = GroupBounds::default();
    // Values beyond the largest number are no reason to panic.
    let mut rows = LabelledRows::new();
    rows.push([(0, 1e300)], &[0], 1.0).unwrap();
    assert!(model.meta.scaling.unwrap().apply(&rows.into()).is_some());
}

#[test]
fn data_that_ask_for_too_many_weights_are_told_so() {
    let mut model = model();
    if let crate::Spec::Chain(own) = &mut model.meta.spec {
        own.shape.labels = 30_000;
    }
    let sequences = maxmargin::model::chain::Sequences::new();
    let error = model.meta.spec.problem(sequences.into(), &GroupBounds::default()).unwrap_err();
    let text = error.to_string();
    assert!(text.starts_with("too many weights: 900"), "{text}");
}

#[test]
#[cfg(target_os = "linux")]
fn endless_files_are_refused_by_their_head() {
    for device in ["/dev/zero", "/dev/urandom"] {
        let text = Model::load(device).unwrap_err().to_string();
        assert!(text.starts_with(&format!("{device}: not a maxmargin model: ")), "{text}");
        assert!(PathFile::load(device).is_err());
        assert!(crate::load_checkpoint::<String>(device).is_err());
    }
}

#[test]
fn bytes_behind_the_tensors_are_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model");
    let mut bytes = model().to_bytes().unwrap();
    std::fs::write(&path, &bytes).unwrap();
    assert!(Model::load(&path).is_ok());
    bytes.extend([0; 100]);
    std::fs::write(&path, &bytes).unwrap();
    assert!(Model::load(&path).is_err());
}
