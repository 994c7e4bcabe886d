//! λ as users get it: by the scale, and by a search, from data to a model file.

use super::*;
use crate::model::Model;
use crate::spec::{MulticlassSpec, Rescaling, Spec};
use crate::training::TrainingPlan;
use crate::{Examples, Fingerprinter, Format, Names, Origin, Prune, Scaling, default_settings};
use maxmargin::model::LabelledRows;
use maxmargin::model::multiclass::{ClassLoss, MulticlassShape};
use maxmargin::{Interrupt, Rng, Settings, Trainer, TriedLambda};

/// Rows of two classes, which the second of two attributes tells apart; attributes come in units.
fn rows(n: usize, units: [f64; 2], seed: u64) -> LabelledRows {
    let (mut rng, mut rows) = (Rng::new(seed), LabelledRows::new());
    for _ in 0..n {
        let class = rng.below(2) as u32;
        let told = if class == 1 { 0.6 } else { -0.6 } + rng.unit_f64() - 0.5;
        rows.push([(0, units[0] * rng.unit_f64()), (1, units[1] * told)], &[class], 1.0).unwrap();
    }
    rows
}

fn training(data: LabelledRows) -> Training {
    let shape = MulticlassShape::new(2, 2);
    let rescaling = Rescaling::Margin;
    let spec = MulticlassSpec { shape, loss: ClassLoss::ZeroOne, rescaling, kernel: None };
    let names = |names: [&str; 2]| names.into_iter().collect::<Names>();
    let origin = Origin {
        labels: names(["no", "yes"]),
        attributes: names(["noise", "told"]),
        format: Format::Libsvm,
        fingerprint: Fingerprinter::new().finish(),
        template: None,
    };
    Training { spec: spec.into(), examples: data.into(), origin }
}

fn model(training: Training, plan: &TrainingPlan, lambda: f64) -> Model {
    let settings = Settings { lambda: Some(lambda), ..default_settings() };
    training
        .train(plan, &settings, |round| {
            let trained = Trainer::new(settings.clone()).train(round.problem);
            trained.map_err(Box::<dyn std::error::Error>::from)
        })
        .unwrap()
}

#[test]
fn the_scale_follows_units_and_the_number_of_examples() {
    let lambda = |n, unit| {
        let training = training(rows(n, [unit, unit], 3));
        training.scale_lambda(&GroupBounds::default(), 1).unwrap().lambda
    };
    // The bias keeps its unit, so that the square is not quite reached.
    let (one, ten) = (lambda(100, 100.0), lambda(100, 1000.0));
    assert!((ten / one / 100.0 - 1.0).abs() < 0.01, "{ten} and {one}");
    // 500 of 10,000 rows are looked at.
    let (few, many) = (lambda(500, 1.0), lambda(10_000, 1.0));
    assert!((few / many / 20.0).ln().abs() < 0.1, "{few} and {many}");
}

#[test]
fn means_do_not_count() {
    let shifted = |shift: f64| {
        let mut moved = LabelledRows::new();
        for (row, labels) in rows(200, [1.0, 1.0], 5).iter() {
            moved.push(row.pairs().map(|(a, v)| (a, v + shift)), labels, 1.0).unwrap();
        }
        training(moved).scale_lambda(&GroupBounds::default(), 1).unwrap()
    };
    let (here, there) = (shifted(0.0), shifted(100.0));
    assert!(there.length > 1000.0 * here.length && there.spread < 0.001 * here.spread);
    assert!((there.lambda / here.lambda).ln().abs() < 1.5, "{here:?} {there:?}");
}

#[test]
fn a_search_is_kept_with_the_model_and_is_never_worse_than_where_it_began() {
    for (n, folds) in [(40, 3), (2, 2), (2500, 1)] {
        let training = training(rows(n, [1.0, 1.0], 11));
        let (interrupt, bounds) = (Interrupt::new(), GroupBounds::default());
        let mut seen = 0;
        let watch = |_: &TriedLambda| seen += 1;
        let settings = default_settings();
        let (lambda, search) = training
            .choose_lambda(&bounds, None, Measure::Error, &settings, &interrupt, watch)
            .unwrap();
        assert_eq!((search.folds, seen), (folds, search.curve.len()));
        let error = |at: f64| search.curve.iter().find(|tried| tried.lambda == at).unwrap().error;
        assert!(error(lambda) <= error(search.scale.lambda));
        let lambda_source = Some(LambdaSource::Auto(search));
        let plan = TrainingPlan { lambda_source, ..TrainingPlan::default() };
        let model = model(training, &plan, lambda);
        assert_eq!(Model::from_bytes(&model.to_bytes().unwrap()).unwrap(), model);
        assert_eq!(model.meta.lambda_source.unwrap().name(), "auto");
    }
    let one = training(rows(1, [1.0, 1.0], 11)).choose_lambda(
        &GroupBounds::default(),
        None,
        Measure::Error,
        &default_settings(),
        &Interrupt::new(),
        |_| {},
    );
    assert!(matches!(one, Err(LambdaError::TooFew)));
}

#[test]
fn measures_have_meaning_for_their_own_kind_only() {
    let spec = training(rows(2, [1.0, 1.0], 1)).spec;
    for measure in Measure::ALL {
        let fits = matches!(measure, Measure::Error | Measure::Subset);
        assert_eq!(measure.misfit(&spec).is_none(), fits, "{measure}");
        assert_eq!(measure.name().parse(), Ok(measure));
        assert_eq!(serde_json::to_value(measure).unwrap(), measure.name());
    }
}

/// A model that was trained with scaled attributes predicts from raw ones, and its proof holds on them.
#[test]
fn standardised_models_are_in_the_units_of_the_data() {
    let raw = Examples::from(rows(150, [3000.0, 0.02], 7));
    let scaling = Scaling::of(&raw).unwrap();
    assert!(scaling.is_wild() && scaling.is_needed(&raw));
    let mut training = training(raw.rows().unwrap().clone());
    training.examples = scaling.apply(&raw).unwrap();
    let plan = TrainingPlan { scaling: Some(scaling.clone()), ..TrainingPlan::default() };
    let scaled = training.examples.clone();
    let model = model(training, &plan, 0.01);
    assert!(model.meta.spec.errors(&model.weights, &raw, 0).unwrap().parts.share() < 0.1);
    // An independent route: the weights for scaled attributes on scaled examples.
    let mut inner = model.weights.clone();
    scaling.from_raw(&model.meta.spec, &mut inner);
    let errors = |w: &[f64], on| model.meta.spec.errors(w, on, 1).unwrap().parts.wrong;
    assert_eq!(errors(&model.weights, &raw), errors(&inner, &scaled));
    assert!(errors(&inner, &raw) > errors(&model.weights, &raw));

    let again = Model::from_bytes(&model.to_bytes().unwrap()).unwrap();
    assert_eq!(again, model);
    let verdict = again.verify(raw.clone(), model.meta.fingerprint, "rows", 1).unwrap();
    assert_eq!(verdict.findings, Vec::<String>::new());
    let mut forged = again;
    forged.weights[0] += 1.0;
    let verdict = forged.verify(raw, model.meta.fingerprint, "rows", 1).unwrap();
    assert!(!verdict.findings.is_empty());
}

#[test]
fn scaling_keeps_what_is_sparse_and_what_is_constant() {
    let mut data = LabelledRows::new();
    for i in 0..20u32 {
        // A bias of 5, an attribute of 200 that only one row has, and one between 0.01 and 0.02.
        let rare = (i == 3).then_some((1, 200.0));
        let row = [(0, 5.0), (2, 0.01 + 0.0005 * f64::from(i))].into_iter().chain(rare);
        data.push(row, &[0], 1.0).unwrap();
    }
    let examples = Examples::from(data);
    let scaling = Scaling::of(&examples).unwrap();
    assert_eq!(scaling.factors()[..2], [0.2, 0.005]);
    let scaled = scaling.apply(&examples).unwrap();
    let (before, after) = (examples.rows().unwrap(), scaled.rows().unwrap());
    assert_eq!(before.entries(), after.entries());
    assert_eq!(after.row(3).pairs().map(|(a, _)| a).collect::<Vec<_>>(), [0, 1, 2]);
    let spec = Spec::from(MulticlassSpec {
        shape: MulticlassShape::new(2, 3),
        loss: ClassLoss::ZeroOne,
        rescaling: Rescaling::Margin,
        kernel: None,
    });
    let mut weights: Vec<f64> = (0..spec.dim()).map(|at| at as f64).collect();
    let original = weights.clone();
    scaling.to_raw(&spec, &mut weights);
    assert_ne!(weights, original);
    assert_eq!(weights[6..], original[6..], "biases stay");
    scaling.from_raw(&spec, &mut weights);
    for (a, b) in weights.iter().zip(&original) {
        assert!((a - b).abs() < 1e-12);
    }
}

/// Attributes that lie far from 0 are centred where a bias can take their means over; the model is told in the units of
/// the data, its proof holds on them, and it can be pruned.
#[test]
fn attributes_far_from_zero_are_centred_in_training_alone() {
    let mut far = LabelledRows::new();
    for (row, labels) in rows(150, [1.0, 1.0], 5).iter() {
        far.push(row.pairs().map(|(a, v)| (a, v + 500.0)), labels, 1.0).unwrap();
    }
    let raw = Examples::from(far.clone());
    let mut own = training(far);
    let without = Scaling::of(&raw).unwrap().centred(&raw, &own.spec);
    assert!(without.centres().is_empty() && !without.is_needed(&raw), "there is no bias");

    let Spec::Multiclass(spec) = &mut own.spec else { panic!("rows of classes") };
    spec.shape.bias = Some(2.0);
    let scaling = Scaling::of(&raw).unwrap().centred(&raw, &own.spec);
    assert!(scaling.centres().len() == 2 && scaling.is_needed(&raw));
    own.examples = scaling.apply(&raw).unwrap();
    let (scaled, fingerprint) = (own.examples.clone(), own.origin.fingerprint);
    let plan = TrainingPlan { scaling: Some(scaling.clone()), ..TrainingPlan::default() };
    let model = model(own, &plan, 0.01);
    let errors = |w: &[f64], on| model.meta.spec.errors(w, on, 1).unwrap().parts;
    assert!(errors(&model.weights, &raw).share() < 0.1);
    let mut inner = model.weights.clone();
    scaling.from_raw(&model.meta.spec, &mut inner);
    assert_eq!(errors(&model.weights, &raw), errors(&inner, &scaled));

    let again = Model::from_bytes(&model.to_bytes().unwrap()).unwrap();
    assert_eq!(again, model);
    let findings =
        |model: &Model| model.verify(raw.clone(), fingerprint, "rows", 1).unwrap().findings;
    assert_eq!(findings(&again), [""; 0]);
    let small = again.prune(raw.clone(), fingerprint, "rows", Prune::Keep(0.7), 1).unwrap();
    assert_eq!(findings(&small), [""; 0]);
    assert!(small.meta.certificate.primal >= model.meta.certificate.primal - 1e-9);

    // A row that lacks a value has the value 0.
    let mut lacking = LabelledRows::new();
    lacking.push([(1, 500.0)], &[0], 1.0).unwrap();
    let scaled = scaling.apply(&lacking.into()).unwrap();
    let values = scaled.rows().unwrap().row(0).values.to_vec();
    assert!((values[0] + scaling.centres()[0].1 * scaling.factors()[0]).abs() < 1e-9);

    let mut forged = serde_json::to_value(&scaling).unwrap();
    forged["centres"][0][0] = 7.into();
    assert!(!serde_json::from_value::<Scaling>(forged).unwrap().is_sound());
}
