use super::*;
use crate::{ChainSpec, Lines, open_reader, read_training};
use maxmargin::model::chain::{Chain, ChainShape, Hamming};
use maxmargin::{
    Breakpoint, GridSettings, PathKind, PathSettings, audit, lambda_grid, regularization_path,
};
use safetensors::tensor::{Dtype, TensorView};

const TEXT: &str = "noun\tcat\tend:0.25\nverb\tpurrs\n\nnoun\tdög\n\n@weight:2\nverb\n";

fn data() -> (crate::Dataset, Chain) {
    let lines = Lines::from_reader("pets.txt", TEXT.as_bytes()).unwrap();
    let data = read_training(open_reader(lines, Some(Format::Crfsuite)).unwrap()).unwrap();
    let shape = ChainShape::new(data.labels.len(), data.attributes.len());
    let chain = Chain::new(shape, data.sequences.clone(), &Hamming::default()).unwrap();
    (data, chain)
}

fn spec(chain: &Chain) -> ChainSpec {
    ChainSpec {
        shape: *chain.shape(),
        loss: Hamming::default(),
        kernel: None,
        rescaling: Default::default(),
    }
}

fn file(heuristic: bool) -> PathFile {
    let (data, chain) = data();
    let training = Settings { threads: 1, ..Settings::default() };
    let settings = PathSettings { epsilon: 0.05, heuristic, training, ..PathSettings::default() };
    let path = regularization_path(&chain, &settings).unwrap();
    PathFile::new(&data, spec(&chain), chain.data().len(), settings.training, path)
}

fn refusal(bytes: &[u8]) -> String {
    PathFile::from_bytes(bytes).unwrap_err().to_string()
}

/// The refusal of a path that was changed.
fn changed(change: impl FnOnce(&mut PathFile)) -> String {
    let mut file = file(false);
    change(&mut file);
    refusal(&file.to_bytes().unwrap())
}

/// All numbers, bit by bit.
fn bits(file: &PathFile) -> Vec<u64> {
    let mut all = Vec::new();
    for b in &file.path.breakpoints {
        let c = &b.certificate;
        let numbers = [c.lambda, c.primal, c.dual, c.gap, b.growth, b.estimated_gap, b.seconds];
        all.extend(numbers.map(f64::to_bits));
        all.extend(b.changes.iter().flat_map(|&(at, w)| [u64::from(at), w.to_bits()]));
    }
    all.extend([file.path.epsilon, file.path.lowest, file.path.audit_seconds].map(f64::to_bits));
    all
}

#[test]
fn a_path_round_trips_bit_for_bit() {
    for heuristic in [false, true] {
        let file = file(heuristic);
        let bytes = file.to_bytes().unwrap();
        let back = PathFile::from_bytes(&bytes).unwrap();
        assert_eq!(back, file);
        assert_eq!(bits(&back), bits(&file));
        assert_eq!(back.to_bytes().unwrap(), bytes);
        let last = file.path.breakpoints.last().unwrap().certificate.lambda;
        assert_eq!(back.path.weights_at(last), file.path.weights_at(last));
    }
}

/// What kind of bound the gaps are is kept, and exact paths look as they did before that was said.
#[test]
fn the_quality_is_kept() {
    let mut file = file(false);
    let text = |file: &PathFile| String::from_utf8_lossy(&file.to_bytes().unwrap()).into_owned();
    assert!(!text(&file).contains("quality"));
    for b in &mut file.path.breakpoints {
        b.certificate.quality = maxmargin::Quality::UpperBound;
    }
    assert!(text(&file).contains("upper-bound"));
    assert_eq!(PathFile::from_bytes(&file.to_bytes().unwrap()).unwrap(), file);
    assert!(file.path.is_guaranteed());
    file.path.breakpoints[0].certificate.quality = maxmargin::Quality::Heuristic;
    assert!(!file.path.is_guaranteed());
    // Each breakpoint keeps its own.
    assert_eq!(PathFile::from_bytes(&file.to_bytes().unwrap()).unwrap(), file);
}

#[test]
fn a_grid_round_trips_too() {
    let (data, chain) = data();
    let settings = GridSettings::default();
    let grid = lambda_grid(&chain, &settings).unwrap();
    let file = PathFile::new(&data, spec(&chain), chain.data().len(), settings.training, grid);
    let back = PathFile::from_bytes(&file.to_bytes().unwrap()).unwrap();
    assert_eq!((back.path.kind, &back), (PathKind::GridCold, &file));
    assert!(back.model_at(0.25).is_some() && back.model_at(0.3).is_none());
}

#[test]
fn a_model_taken_out_states_its_true_gap() {
    let (_, chain) = data();
    for heuristic in [false, true] {
        let file = PathFile::from_bytes(&file(heuristic).to_bytes().unwrap()).unwrap();
        let first = file.path.breakpoints[0].certificate.lambda;
        for lambda in [1e-4, 0.01, 0.1, 0.5, 1.0, first, 2.0 * first] {
            let model = file.model_at(lambda).unwrap();
            let stated = model.meta.certificate;
            assert_eq!((stated.lambda, model.meta.settings.lambda), (lambda, Some(lambda)));
            assert_eq!(model.meta.settings.tolerance, file.path.epsilon);
            // With the truth for the dual point, the primal is still that of the weights.
            let truth = maxmargin::DualPoint::at_truth(&chain);
            let found = audit(&chain, lambda, &model.weights, &truth, 1e-9, 1).unwrap();
            let primal = found.certificate.primal;
            match lambda <= first {
                true => assert!((primal - stated.primal).abs() <= 1e-9, "{primal} {stated:?}"),
                false => assert!(primal <= stated.primal + 1e-9, "{primal} {stated:?}"),
            }
            let within = stated.gap <= file.path.epsilon * (1.0 + 1e-9);
            assert!(within || model.meta.status == Status::Estimated);
            assert!(within || heuristic);
            let bytes = model.to_bytes().unwrap();
            assert_eq!(Model::from_bytes(&bytes).unwrap(), model);
        }
        for nowhere in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(file.model_at(nowhere).is_none());
        }
    }
}

#[test]
fn every_truncation_is_refused_without_panic() {
    let bytes = file(false).to_bytes().unwrap();
    for end in 0..bytes.len() {
        refusal(&bytes[..end]);
    }
    assert_eq!(refusal(b""), "not a maxmargin path: the file is empty");
    assert!(refusal(&bytes[..bytes.len() - 1]).contains("truncated"));
}

#[test]
fn flipped_bytes_never_panic() {
    let bytes = file(false).to_bytes().unwrap();
    for at in 0..bytes.len() {
        let mut changed = bytes.clone();
        changed[at] ^= 0x55;
        if let Ok(file) = PathFile::from_bytes(&changed) {
            let _ = (file.model_at(0.1), file.path.largest_gap());
        }
    }
}

#[test]
fn models_and_foreign_files_are_told_apart() {
    let model = file(false).model_at(0.1).unwrap().to_bytes().unwrap();
    assert_eq!(refusal(&model), "not a maxmargin path: it holds a single model");
    let path = file(false).to_bytes().unwrap();
    let error = Model::from_bytes(&path).unwrap_err().to_string();
    assert_eq!(error, "not a maxmargin model: it holds a regularization path");
    let view = TensorView::new(Dtype::F64, vec![1], &[0; 8]).unwrap();
    let foreign = safetensors::serialize([("x", view)], None).unwrap();
    assert!(refusal(&foreign).contains("without maxmargin's metadata"));
    assert!(refusal(b"word POS chunk and other text").contains("no safetensors header"));
}

#[test]
fn inconsistent_numbers_are_refused() {
    let text = changed(|file| file.path.breakpoints[1].certificate.gap = f64::NAN);
    assert!(text.contains("`gap` of breakpoint 1 is not a finite number"), "{text}");
    let text = changed(|file| file.path.breakpoints.swap(0, 1));
    assert!(text.contains("its lambdas do not fall"), "{text}");
    let text = changed(|file| file.path.breakpoints.clear());
    assert!(text.contains("it has no breakpoints"), "{text}");
    let text = changed(|file| file.path.lowest = 1e9);
    assert!(text.contains("does not end where"), "{text}");
    let text = changed(|file| file.path.epsilon = -1.0);
    assert!(text.contains("epsilon"), "{text}");
    let text = changed(|file| file.path.dim += 1);
    assert!(text.contains("features, where"), "{text}");
    let text = changed(|file| file.path.breakpoints[0].changes[0].0 = 1_000_000);
    assert!(text.contains("the weights of breakpoint 0 are not in order"), "{text}");
    let text = changed(|file| file.path.breakpoints[0].changes[0].1 = f64::INFINITY);
    assert!(text.contains("of breakpoint 0 is not a finite number"), "{text}");
}

/// What to change at a breakpoint, and what is then said.
type Change = (fn(&mut Breakpoint), &'static str);

#[test]
fn a_gap_is_primal_minus_dual_or_the_file_is_refused() {
    let changes: [Change; 9] = [
        (|b| b.certificate.gap /= 2.0, "the gap is claimed to be"),
        (|b| b.certificate.gap = -1e-3, "the gap is claimed to be -0.001, but primal − dual is"),
        (|b| b.certificate.gap = 0.0, "the gap is claimed to be 0, but primal − dual is"),
        (|b| b.certificate.primal -= 1e-3, "but primal − dual is"),
        (|b| b.certificate.dual -= 1e-3, "but primal − dual is"),
        (|b| b.certificate.dual += 1.0, "is below the dual"),
        // Another gap that agrees with the rest, and not with ε.
        (
            |b| {
                b.certificate.primal += 0.5;
                b.certificate.gap = b.certificate.primal - b.certificate.dual;
            },
            "where 0.05 is stated to be the most",
        ),
        // A gap that grows more slowly than that of the weights.
        (|b| b.growth /= 2.0, "the growth of the gap is stated as"),
        (|b| b.changes[0].1 += 0.5, "but that of the weights is"),
    ];
    let gaps: Vec<f64> = file(false).path.breakpoints.iter().map(|b| b.certificate.gap).collect();
    let (at, _) = gaps.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1)).unwrap();
    let place = format!("at breakpoint {at} (lambda ");
    for (change, expected) in changes {
        let text = changed(|file| change(&mut file.path.breakpoints[at]));
        assert!(text.contains(&place) && text.contains(expected), "{text}");
    }
}

#[test]
fn a_path_keeps_what_it_guarantees() {
    let text = changed(|file| file.path.epsilon = 0.04);
    assert!(text.contains("the gap grows to 0.0"), "{text}");
    assert!(text.contains("where at most 0.04 is guaranteed"), "{text}");
    // A path that ends later than its last weights are good for.
    let text = changed(|file| {
        file.path.breakpoints.truncate(2);
        file.path.lowest = 0.0;
    });
    assert!(text.contains("at breakpoint 1 (lambda "), "{text}");
    assert!(text.contains("at lambda 0, where at most 0.05 is guaranteed"), "{text}");
    // One that did not converge everywhere guarantees nothing.
    let mut free = file(false);
    free.path.breakpoints[0].status = Status::MaxPasses;
    free.path.epsilon = 0.048; // above all gaps at breakpoints, and below those between them
    assert_eq!(PathFile::from_bytes(&free.to_bytes().unwrap()).unwrap(), free);
}

#[test]
fn bounds_and_counts_of_a_path_are_checked() {
    let bounds = |lower: f64| [("emission".to_owned(), lower)].into();
    let text = changed(|file| file.meta.bounds.lower = bounds(1e3));
    assert!(text.contains("outside its bounds from 1000 to inf"), "{text}");
    let text = changed(|file| file.meta.bounds.lower = [("emision".to_owned(), 0.0)].into());
    assert!(text.contains("there is no group `emision`"), "{text}");
    let text = changed(|file| file.meta.n = 0);
    assert!(text.contains("over 0 examples"), "{text}");
    let text = changed(|file| file.path.breakpoints[0].certificate.lambda = f64::INFINITY);
    assert!(text.contains("`lambda` of breakpoint 0 is not a finite number"), "{text}");
    let text = changed(|file| {
        let last = file.path.breakpoints.len() - 1;
        file.path.breakpoints[last].certificate.lambda = -1.0;
        file.path.lowest = -1.0;
    });
    assert!(text.contains("it does not end where"), "{text}");
}

#[test]
fn a_model_taken_out_agrees_with_itself_and_says_where_it_comes_from() {
    for heuristic in [false, true] {
        let file = file(heuristic);
        let first = file.path.breakpoints[0].certificate.lambda;
        for lambda in [1e-4, 0.01, 0.1, 0.5, first, 2.0 * first, 1e6] {
            let model = file.model_at(lambda).unwrap();
            assert_eq!(model.contradictions(), [""; 0]);
            let certificate = model.meta.certificate;
            assert_eq!(certificate.gap, (certificate.primal - certificate.dual).max(0.0));
            let from = model.meta.from_path.unwrap();
            let piece = file.path.piece(lambda).unwrap();
            let breakpoint = file.path.breakpoints[piece].certificate.lambda;
            assert_eq!((from.kind, from.breakpoint), (file.path.kind, breakpoint));
            assert_eq!((from.epsilon, from.is_guaranteed), (0.05, !heuristic));
            assert!(model.dual.is_none());
        }
    }
}

#[test]
fn errors_name_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pets.path");
    assert!(PathFile::load(&path).unwrap_err().to_string().contains("pets.path"));
    std::fs::write(&path, b"nonsense that is long enough").unwrap();
    let foreign = PathFile::load(&path).unwrap_err().to_string();
    assert!(foreign.contains("pets.path: not a maxmargin path"), "{foreign}");
    let file = file(false);
    file.save(&path).unwrap();
    assert_eq!(PathFile::load(&path).unwrap(), file);
}

#[test]
fn absurd_counts_and_changed_bytes_are_refused() {
    use crate::model::hostile_tests::with_meta;
    use serde_json::json;
    let bytes = file(false).to_bytes().unwrap();
    assert!(PathFile::from_bytes(&with_meta(&bytes, |_| {})).is_ok());
    for place in ["/path/d", "/about/n", "/about/spec/shape/labels", "/about/spec/shape/attributes"]
    {
        for count in [1u64 << 33, 1 << 60, u64::MAX] {
            let change =
                |meta: &mut serde_json::Value| *meta.pointer_mut(place).unwrap() = json!(count);
            let changed = with_meta(&bytes, change);
            // How many examples there were, nothing else in the file tells.
            assert!(PathFile::from_bytes(&changed).is_err() || place == "/about/n");
        }
    }
    let mut changed = bytes.clone();
    *changed.last_mut().unwrap() ^= 1;
    assert!(refusal(&changed).contains("its check sum is wrong"));
}
