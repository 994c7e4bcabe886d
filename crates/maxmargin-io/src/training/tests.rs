//! Rounds of a training.

use super::*;
use crate::spec::{FactorGraphSpec, FactorTraining, MultilabelSpec, Rescaling, SoftSpec};
use crate::{Fingerprinter, Format, Names};
use maxmargin::Trainer;
use maxmargin::inference::Inference;
use maxmargin::model::LabelledRows;
use maxmargin::model::chain::Hamming;
use maxmargin::model::factor_graph::Graphs;
use maxmargin::model::multilabel::MultilabelShape;
use maxmargin::observe::{Control, Event};

type Anything = Box<dyn std::error::Error>;

/// Sets of two labels, to be trained with soft constraints.
fn training() -> Training {
    let mut rows = LabelledRows::new();
    for (value, labels) in [(1.0, &[0][..]), (-1.0, &[1]), (2.0, &[0, 1]), (-0.5, &[])] {
        rows.push([(0, value)], labels, 1.0).unwrap();
    }
    let spec = MultilabelSpec {
        shape: MultilabelShape::complete(2, 1),
        loss: Hamming::default(),
        inference: Inference::Auto,
        partial: false,
        rescaling: Rescaling::Margin,
        kernel: None,
        training: FactorTraining::from(SoftSpec { lambda: 0.1, ..SoftSpec::new(1.0) }),
    };
    let origin = Origin {
        labels: Names::from_iter(["a", "b"]),
        attributes: Names::from_iter(["x"]),
        format: Format::Multilabel,
        fingerprint: Fingerprinter::new().finish(),
        template: None,
    };
    Training { spec: spec.into(), examples: rows.into(), origin }
}

fn settings() -> Settings {
    Settings { lambda: Some(0.1), tolerance: 1e-6, ..Settings::default() }
}

/// Trains in up to three rounds, which an observer stops or an interrupt ends if they are told to: the model, and
/// the number and the ρ of each round that was begun.
fn rounds(stop: bool, interrupt: bool) -> (Model, Vec<(usize, f64)>) {
    let rounds = SoftRounds { rhos: vec![1.0, 0.5, 0.25], most: 0 };
    let plan = TrainingPlan { rounds, ..TrainingPlan::default() };
    let mut begun = Vec::new();
    let run = |round: Round<'_>| -> Result<Solution, Anything> {
        begun.push((round.number, round.spec.soft().unwrap().rho));
        assert_eq!(round.start.is_some(), round.number > 1);
        let mut watch = |event: Event<'_>| match event {
            Event::Pass { .. } if stop => Control::Stop,
            _ => Control::Continue,
        };
        let handle = maxmargin::Interrupt::new();
        if interrupt {
            handle.raise();
        }
        let mut trainer = Trainer::new(settings()).interrupt(handle).observe(&mut watch);
        if let Some(point) = round.start {
            trainer = trainer.start_from(point);
        }
        Ok(trainer.train(round.problem)?)
    };
    let model = training().train(&plan, &settings(), run).unwrap();
    (model, begun)
}

#[test]
fn every_round_has_its_own_rho_and_starts_where_the_last_one_ended() {
    let (model, begun) = rounds(false, false);
    assert_eq!(begun, [(1, 1.0), (2, 0.5), (3, 0.25)]);
    assert_eq!(model.meta.spec.soft().unwrap().rho, 0.25);
    assert_eq!((model.meta.n, model.meta.status), (4, Status::Converged));
    let training = training();
    let verdict = model.verify(training.examples, training.origin.fingerprint, "rows", 1).unwrap();
    assert!(verdict.findings.is_empty(), "{:?}", verdict.findings);
}

fn findings_of(model: &Model) -> Vec<String> {
    let Training { examples, origin, .. } = training();
    model.verify(examples, origin.fingerprint, "rows", 1).unwrap().findings
}

/// Attributes were scaled before training, and the weights of the model have the units of the data.
#[test]
fn soft_training_on_scaled_attributes_is_confirmed() {
    let mut scaled = training();
    let scaling = Scaling::of(&scaled.examples).unwrap();
    assert_ne!(scaling.factors(), [1.0]);
    scaled.examples = scaling.apply(&scaled.examples).unwrap();
    let plan = TrainingPlan { scaling: Some(scaling), ..TrainingPlan::default() };
    let run = |round: Round<'_>| -> Result<Solution, Anything> {
        Ok(Trainer::new(settings()).train(round.problem)?)
    };
    let mut model = scaled.train(&plan, &settings(), run).unwrap();
    assert_eq!(findings_of(&model), [""; 0]);
    model.meta.spec.soft_mut().unwrap().hard_objective += 0.01;
    assert!(findings_of(&model)[0].starts_with("the hard objective is claimed to be"));
}

/// The masses of a dual point are rounded, and the weights are their sums over λ.
#[test]
fn rounding_explains_how_weights_at_a_tiny_lambda_differ() {
    let (lambda, mut plain) = (1e-13, triangles());
    let Spec::FactorGraph(own) = &mut plain.spec else { panic!() };
    own.inference = Inference::Enumerate;
    let settings = Settings { lambda: Some(lambda), ..settings() };
    let run = |round: Round<'_>| -> Result<Solution, Anything> {
        Ok(Trainer::new(settings.clone()).train(round.problem)?)
    };
    let model = plain.clone().train(&TrainingPlan::default(), &settings, run).unwrap();
    let findings = |model: &Model| {
        let (examples, origin) = (plain.examples.clone(), &plain.origin);
        model.verify(examples, origin.fingerprint, "graphs", 1).unwrap().findings
    };
    // The last digit of a mass, which a sum in another order may change.
    let mut shaken = model.clone();
    shaken.weights[0] += 0.25 * f64::EPSILON / lambda;
    assert!(shaken.weights[0] - model.weights[0] > 1e-4);
    let told = findings(&shaken);
    assert!(!told.iter().any(|text| text.starts_with("the weights differ")), "{told:?}");
    shaken.weights[0] += 1e3 * f64::EPSILON / lambda;
    let told = findings(&shaken);
    assert!(told.iter().any(|text| text.starts_with("the weights differ")), "{told:?}");
}

#[test]
fn a_run_may_claim_less_than_is_found_if_its_oracle_has_failed() {
    let mut model = rounds(false, false).0;
    assert_eq!(model.meta.certificate.quality, maxmargin::Quality::Exact);
    model.meta.certificate.quality = maxmargin::Quality::Heuristic;
    assert_eq!(findings_of(&model), ["the certificate is claimed to be heuristic, but is exact"]);
    model.meta.totals.oracle_failures = 1;
    assert_eq!(findings_of(&model), [""; 0]);
}

#[test]
fn no_round_follows_one_that_was_stopped() {
    let (model, begun) = rounds(true, false);
    assert_eq!((begun.len(), model.meta.status), (1, Status::Stopped));
    assert_eq!(model.meta.spec.soft().unwrap().rho, 1.0);
}

#[test]
fn no_round_follows_one_that_was_interrupted() {
    let (model, begun) = rounds(false, true);
    assert_eq!((begun.len(), model.meta.status), (1, Status::Interrupted));
}

#[test]
fn rounds_share_their_time() {
    let rounds = SoftRounds { rhos: vec![1.0, 0.5, 0.25, 0.125], most: 0 };
    let plan = TrainingPlan { rounds, ..TrainingPlan::default() };
    let settings = Settings { max_seconds: Some(60.0), ..settings() };
    let mut left = Vec::new();
    let run = |round: Round<'_>| -> Result<Solution, Anything> {
        left.extend(round.settings.max_seconds);
        let trained = Trainer::new(Settings { max_seconds: None, ..round.settings });
        let mut solution = trained.train(round.problem)?;
        // As if it had taken this long.
        solution.totals.seconds = 25.0;
        solution.status = if left.len() == 3 { Status::MaxSeconds } else { Status::MaxPasses };
        Ok(solution)
    };
    let model = training().train(&plan, &settings, run).unwrap();
    assert_eq!(left, [60.0, 35.0, 10.0]);
    assert_eq!((model.meta.status, model.meta.totals.seconds), (Status::MaxSeconds, 75.0));
    assert_eq!(model.meta.settings.max_seconds, Some(60.0));
}

#[test]
fn rounds_share_their_oracle_calls() {
    let rhos = vec![1.0, 0.5, 0.25, 0.125];
    // How many rounds are begun with so many calls, and how many calls each of them may make.
    let begun = |most: u64, end: Status| {
        let rounds = SoftRounds { rhos: rhos.clone(), most: 0 };
        let plan = TrainingPlan { rounds, ..TrainingPlan::default() };
        let settings = Settings { max_oracle_calls: Some(most), ..settings() };
        let mut left = Vec::new();
        let run = |round: Round<'_>| -> Result<Solution, Anything> {
            left.extend(round.settings.max_oracle_calls);
            let trained = Trainer::new(Settings { max_oracle_calls: None, ..round.settings });
            let mut solution = trained.train(round.problem)?;
            // As if it had made so many.
            solution.totals.oracle_calls = 25;
            solution.status = end;
            Ok(solution)
        };
        let model = training().train(&plan, &settings, run).unwrap();
        assert_eq!(model.meta.totals.oracle_calls, 25 * left.len() as u64);
        assert_eq!((model.meta.settings.max_oracle_calls, model.meta.status), (Some(most), end));
        left
    };
    assert_eq!(begun(60, Status::MaxOracleCalls), [60, 35, 10]);
    assert_eq!(begun(1000, Status::Converged), [1000, 975, 950, 925]);
    // A round that would have no call left does not begin, however the one before it ended.
    assert_eq!(begun(50, Status::Converged), [50, 25]);
}

#[test]
fn rounds_with_multipliers_end_when_the_oracle_calls_are_used_up() {
    let plan = TrainingPlan {
        rounds: SoftRounds { rhos: vec![1.0], most: usize::MAX },
        ..TrainingPlan::default()
    };
    let settings = Settings { max_oracle_calls: Some(300), tolerance: 1e-3, ..settings() };
    let mut rounds = 0;
    let model = training().train(&plan, &settings, |round| -> Result<Solution, Anything> {
        rounds += 1;
        let trainer = Trainer::new(round.settings);
        let trainer = match round.start {
            Some(start) => trainer.start_from(start),
            None => trainer,
        };
        Ok(trainer.train(round.problem)?)
    });
    let model = model.unwrap();
    // The last exact pass is made beyond the limit.
    let calls = model.meta.totals.oracle_calls;
    assert!(rounds > 1 && (300..400).contains(&calls), "{rounds} rounds, {calls} calls");
}

/// Triangles of three states, which max-product decodes without a promise.
fn triangles() -> Training {
    let mut data = Graphs::new();
    for truth in [[0, 1, 2], [1, 1, 0], [2, 0, 0], [0, 0, 1]] {
        for state in truth {
            data.push_variable(3, state).unwrap();
        }
        for (a, b) in [(0, 1), (1, 2), (2, 0)] {
            data.push_factor(0, &[a, b], [(0, 1.0)]).unwrap();
        }
        data.end_graph(1.0).unwrap();
    }
    let spec = FactorGraphSpec {
        shape: data.shape().unwrap(),
        loss: Default::default(),
        inference: Inference::MaxProduct,
        training: Default::default(),
        rescaling: Rescaling::Margin,
        states: Vec::new(),
        labels: Vec::new(),
    };
    let origin = Origin { format: Format::FactorGraph, ..training().origin };
    Training { spec: spec.into(), examples: Examples::FactorGraphs(data), origin }
}

#[test]
fn heuristics_of_graphs_state_what_they_may_have_missed_and_no_less() {
    let run = |round: Round<'_>| -> Result<Solution, Anything> {
        Ok(Trainer::new(settings()).train(round.problem)?)
    };
    let mut model = triangles().train(&TrainingPlan::default(), &settings(), run).unwrap();
    let c = model.meta.certificate;
    assert_eq!(c.quality, maxmargin::Quality::Heuristic);
    let missed = c.missed.unwrap();
    assert_eq!(c.proven_gap(), Some(c.gap + missed));

    let findings = |model: &Model| {
        let Training { examples, origin, .. } = triangles();
        model.verify(examples, origin.fingerprint, "graphs", 1).unwrap().findings
    };
    assert_eq!(findings(&model), [""; 0]);
    // A weaker claim holds too, and so does none at all.
    for claimed in [Some(missed + 1.0), None] {
        model.meta.certificate.missed = claimed;
        assert_eq!(findings(&model), [""; 0]);
    }
    model.meta.certificate.missed = Some(missed - 0.01);
    let found = findings(&model);
    assert!(
        found.iter().any(|text| text.starts_with("decoding is claimed to have missed")),
        "{found:?}"
    );
}
