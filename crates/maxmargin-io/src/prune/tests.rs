use super::*;
use crate::{ChainSpec, Dataset, Format, HeldOut, Lines, TrainingPlan, open_reader, read_training};
use crate::{Origin, Scaling, Training};
use maxmargin::model::chain::{Chain, ChainShape, Hamming};
use maxmargin::{GroupBounds, Problem as _, Settings, SparseVec, Trainer};

/// Short sentences of words that are drawn by a fixed rule.
fn data() -> Dataset {
    let (words, labels) = (["ant", "bee", "cat", "dog", "elk"], ["noun", "verb", "other"]);
    let mut text = String::new();
    for sentence in 0..12usize {
        for token in 0..1 + sentence % 3 {
            let drawn = sentence * 7 + token * 3;
            let (label, word) = (labels[(drawn / 2) % 3], words[drawn % 5]);
            text += &format!("{label}\t{word}\tlength:0.{}\n", 1 + drawn % 9);
        }
        text.push('\n');
    }
    let lines = Lines::from_reader("words.txt", std::io::Cursor::new(text)).unwrap();
    read_training(open_reader(lines, Some(Format::Crfsuite)).unwrap()).unwrap()
}

fn spec(data: &Dataset) -> ChainSpec {
    let shape = ChainShape::new(data.labels.len(), data.attributes.len());
    ChainSpec { shape, loss: Hamming::default(), kernel: None, rescaling: Default::default() }
}

fn trained(data: &Dataset, bounds: GroupBounds, scaling: Option<Scaling>) -> Model {
    let mut examples = Examples::from(data.sequences.clone());
    if let Some(scaled) = scaling.as_ref().and_then(|own| own.apply(&examples)) {
        examples = scaled;
    }
    let training = Training { spec: spec(data).into(), examples, origin: Origin::from(data) };
    let settings = Settings { lambda: Some(0.05), ..Settings::default() };
    let plan = TrainingPlan { bounds, scaling, ..TrainingPlan::default() };
    training
        .train(&plan, &settings, |round| {
            let trained = Trainer::new(settings.clone()).train(round.problem);
            trained.map_err(Box::<dyn std::error::Error>::from)
        })
        .unwrap()
}

/// λ/2 ‖w‖² + the mean hinge loss over all labellings, one by one.
fn objective(data: &Dataset, lambda: f64, w: &[f64]) -> f64 {
    let own = spec(data);
    let chain = Chain::new(own.shape, data.sequences.clone(), &own.loss).unwrap();
    let (k, n, mut hinges) = (own.shape.labels, data.sequences.len(), 0.0);
    for i in 0..n {
        let tokens = data.sequences.sequence(i).len() as u32;
        let mut worst = f64::NEG_INFINITY;
        for number in 0..k.pow(tokens) {
            let y: Vec<u32> = (0..tokens).map(|t| (number / k.pow(t) % k) as u32).collect();
            let mut psi = SparseVec::new();
            chain.psi(i, &y, &mut psi);
            let ahead: f64 = psi.entries().iter().map(|&(at, v)| w[at as usize] * v).sum();
            worst = worst.max(chain.loss(i, &y) - ahead);
        }
        hinges += worst;
    }
    lambda / 2.0 * w.iter().map(|w| w * w).sum::<f64>() + hinges / n as f64
}

fn prune(model: &Model, data: &Dataset, rule: Prune) -> Result<Model, PruneError> {
    model.prune(data.sequences.clone().into(), data.fingerprint, "sequences", rule, 1)
}

fn findings(model: &Model, data: &Dataset) -> Vec<String> {
    model.verify(data.sequences.clone().into(), data.fingerprint, "sequences", 1).unwrap().findings
}

fn nonzero(model: &Model) -> usize {
    model.weights.iter().filter(|w| **w != 0.0).count()
}

#[test]
fn the_cost_of_pruning_is_that_of_the_objective_by_enumeration() {
    let data = data();
    let model = trained(&data, GroupBounds::default(), None);
    let lambda = model.meta.certificate.lambda;
    for rule in [Prune::Keep(0.5), Prune::Below(0.3), Prune::Cost(0.1), Prune::Keep(0.0)] {
        let small = prune(&model, &data, rule).unwrap();
        let (certificate, pruning) = (small.meta.certificate, small.meta.pruned.unwrap());
        let close = |a: f64, b: f64| (a - b).abs() < 1e-9;
        assert!(close(certificate.primal, objective(&data, lambda, &small.weights)), "{rule:?}");
        assert!(close(pruning.primal, objective(&data, lambda, &model.weights)), "{rule:?}");
        assert!(close(certificate.gap, certificate.primal - model.meta.certificate.dual));
        assert_eq!(nonzero(&small), pruning.kept);
        assert_eq!(nonzero(&model) - pruning.zeroed, pruning.kept);
        // Of weights of the same size, some may be kept.
        let mut kept = small.weights.iter().filter(|w| **w != 0.0);
        assert!(kept.all(|w| w.abs().next_up() >= pruning.below), "{rule:?}");
        assert_eq!(findings(&small, &data), Vec::<String>::new(), "{rule:?}");
        let back = Model::from_bytes(&small.to_bytes().unwrap()).unwrap();
        assert_eq!(back, small);
        assert!(back.contradictions().is_empty());
    }
}

#[test]
fn a_cost_is_kept_and_a_share_is_a_share() {
    let data = data();
    let model = trained(&data, GroupBounds::default(), None);
    let before = model.meta.certificate.primal;
    for share in [0.0, 0.01, 0.2, 10.0] {
        let small = prune(&model, &data, Prune::Cost(share)).unwrap();
        assert!(small.meta.certificate.primal <= before * (1.0 + share) + 1e-12, "{share}");
    }
    let half = prune(&model, &data, Prune::Keep(0.5)).unwrap();
    assert_eq!(nonzero(&half), nonzero(&model).div_ceil(2));
    // Pruning again counts from the first objective.
    let less = prune(&half, &data, Prune::Keep(0.5)).unwrap();
    let (first, second) = (half.meta.pruned.unwrap(), less.meta.pruned.unwrap());
    assert_eq!(first.primal, second.primal);
    assert_eq!(second.zeroed, nonzero(&model) - nonzero(&less));
    assert_eq!(findings(&less, &data), Vec::<String>::new());
}

#[test]
fn a_pruned_model_that_lies_is_found_out() {
    let data = data();
    let small = prune(&trained(&data, GroupBounds::default(), None), &data, Prune::Keep(0.5));
    let mut small = small.unwrap();
    small.meta.certificate.primal -= 0.1;
    small.meta.certificate.gap -= 0.1;
    assert!(findings(&small, &data)[0].contains("the primal is claimed to be"));
    let refused = prune(&small, &data, Prune::Keep(0.5)).unwrap_err().to_string();
    assert!(refused.contains("does not hold on these data"), "{refused}");
}

#[test]
fn scaled_attributes_and_bounds_are_kept() {
    let data = data();
    let examples = Examples::from(data.sequences.clone());
    let scaled = trained(&data, GroupBounds::default(), Scaling::of(&examples));
    let small = prune(&scaled, &data, Prune::Keep(0.3)).unwrap();
    assert_eq!(findings(&small, &data), Vec::<String>::new());

    let mut bounds = GroupBounds::default();
    bounds.lower.insert("transition".to_owned(), 0.05);
    let bounded = trained(&data, bounds, None);
    let small = prune(&bounded, &data, Prune::Keep(0.0)).unwrap();
    let transitions = &small.weights[spec(&data).shape.transition()];
    assert!(transitions.iter().all(|w| *w >= 0.05 - 1e-9), "zero is not allowed there");
    assert_eq!(findings(&small, &data), Vec::<String>::new());
}

#[test]
fn what_cannot_be_pruned_is_refused_by_name() {
    let data = data();
    let model = trained(&data, GroupBounds::default(), None);
    let text = |model: &Model, rule| prune(model, &data, rule).unwrap_err().to_string();
    assert_eq!(text(&model, Prune::Keep(1.5)), "keep is 1.5; it must be a share from 0 to 1");
    assert!(text(&model, Prune::Cost(f64::NAN)).contains("cost is NaN"));
    assert!(text(&model, Prune::Below(-1.0)).contains("below is -1"));
    let slim = Model { dual: None, ..model.clone() };
    assert!(text(&slim, Prune::Keep(0.5)).contains("needs the dual point"));
    let mut other = model;
    other.meta.held_out = Some(HeldOut { seed: 1, one_in: 2 });
    assert!(text(&other, Prune::Keep(0.5)).contains("are not those the model was trained on"));
}
