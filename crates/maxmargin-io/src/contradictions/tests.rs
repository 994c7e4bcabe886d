use super::*;
use crate::{ChainSpec, Format, Lines, ProblemRole, SeenNames, open_reader, read_training};
use maxmargin::model::chain::{Chain, ChainShape, Hamming};
use maxmargin::{Block, PackedVec, Settings, SettingsRecord, Solver, train};

const TEXT: &str = "noun\tcat\tend:0.25\nverb\tpurrs\n\nnoun\tdog\n\n@weight:2\nverb\n";

fn trained(settings: Settings) -> (Model, Chain) {
    let lines = Lines::from_reader("pets.txt", TEXT.as_bytes()).unwrap();
    let data = read_training(open_reader(lines, Some(Format::Crfsuite)).unwrap()).unwrap();
    let shape = ChainShape::new(data.labels.len(), data.attributes.len());
    let chain = Chain::new(shape, data.sequences.clone(), &Hamming::default()).unwrap();
    let solution = train(&chain, &settings).unwrap();
    let spec =
        ChainSpec { shape, loss: Hamming::default(), kernel: None, rescaling: Default::default() };
    (Model::new(&data, spec, settings, solution), chain)
}

/// Plain steps stop at a gap that is within the tolerance and well above rounding.
fn settings() -> Settings {
    let method = Solver::BlockCoordinate.into();
    Settings { method, lambda: Some(0.1), tolerance: 1e-3, threads: 1, ..Settings::default() }
}

fn certificate(primal: f64, dual: f64, gap: f64, quality: Quality) -> Certificate {
    Certificate { lambda: 0.1, primal, dual, gap, quality, missed: None }
}

#[test]
fn a_certificate_agrees_with_itself() {
    let (exact, found) = (Quality::Exact, Quality::Heuristic);
    for good in [
        certificate(0.5, 0.25, 0.25, exact),
        certificate(0.5, 0.25, 0.25 + 1e-11, exact),
        certificate(0.5, 0.5 + 1e-12, 0.0, exact),
        certificate(0.0, 0.0, 0.0, exact),
        certificate(1e9, 1e9 - 0.5, 0.6, exact),
        certificate(0.25, 0.5, 0.0, found),
        Certificate { missed: Some(0.5), ..certificate(0.5, 0.25, 0.25, found) },
    ] {
        assert_eq!(certificate_contradiction(&good), None, "{good:?}");
    }
    let wrong = |certificate| certificate_contradiction(&certificate).unwrap();
    assert_eq!(
        wrong(certificate(0.5, 0.25, 0.125, exact)),
        "the gap is claimed to be 0.125, but primal − dual is 0.25"
    );
    assert_eq!(wrong(certificate(0.25, 0.5, 0.0, exact)), "the primal 0.25 is below the dual 0.5");
    for bad in [
        certificate(0.5, 0.25, -0.25, exact),
        certificate(0.25, 0.5, -0.25, found),
        certificate(0.25, 0.5, -0.25, exact),
        certificate(f64::NAN, 0.25, 0.25, exact),
        certificate(0.5, 0.25, f64::NAN, exact),
        certificate(f64::INFINITY, 0.25, f64::INFINITY, exact),
        Certificate { lambda: 0.0, ..certificate(0.5, 0.25, 0.25, exact) },
        Certificate { lambda: f64::INFINITY, ..certificate(0.5, 0.25, 0.25, exact) },
        Certificate { missed: Some(0.5), ..certificate(0.5, 0.25, 0.25, exact) },
        Certificate { missed: Some(-0.5), ..certificate(0.5, 0.25, 0.25, found) },
        Certificate { missed: Some(f64::NAN), ..certificate(0.5, 0.25, 0.25, found) },
    ] {
        assert!(certificate_contradiction(&bad).is_some(), "{bad:?}");
    }
}

#[test]
fn true_models_have_no_findings() {
    for settings in [
        settings(),
        Settings { lambda: None, ..settings() },
        Settings { max_passes: 1, tolerance: 1e-9, ..settings() },
        Settings { tolerance: 0.0, max_passes: 3, ..settings() },
    ] {
        let (model, chain) = trained(settings);
        assert_eq!(model.contradictions(), [""; 0]);
        assert_eq!(model.verify_on(&chain, ProblemRole::Plain, 1).unwrap().findings, [""; 0]);
        let seen = SeenNames::in_sequences(chain.data());
        assert_eq!(model.name_findings(&seen), [""; 0]);
        let slim = Model { dual: None, ..model };
        assert_eq!(slim.contradictions(), [""; 0]);
        assert_eq!(slim.verify_on(&chain, ProblemRole::Plain, 1).unwrap().findings.len(), 1);
    }
}

/// An exact pass that was cut claims lower bounds, and these hold however little they say.
#[test]
fn an_unfinished_certificate_claims_no_more_than_it_knows() {
    let (mut model, chain) = trained(Settings { max_passes: 1, tolerance: 1e-9, ..settings() });
    let whole = model.meta.certificate;
    model.meta.status = Status::Interrupted;
    let with_gap = |gap: f64| {
        let primal = whole.dual + gap;
        certificate(primal, whole.dual, primal - whole.dual, Quality::Unfinished)
    };
    for gap in [0.0, 0.5 * whole.gap, whole.gap] {
        model.meta.certificate = with_gap(gap);
        assert_eq!(model.contradictions(), [""; 0]);
        assert_eq!(model.verify_on(&chain, ProblemRole::Plain, 1).unwrap().findings, [""; 0]);
    }
    model.meta.certificate = with_gap(1.5 * whole.gap);
    let found = model.verify_on(&chain, ProblemRole::Plain, 1).unwrap().findings;
    assert!(found[0].starts_with("the primal is claimed to be at least "), "{found:?}");
    model.meta.certificate = Certificate { dual: whole.dual + 1e-3, ..with_gap(0.0) };
    let found = model.verify_on(&chain, ProblemRole::Plain, 1).unwrap().findings;
    assert!(found[0].starts_with("the dual is claimed to be "), "{found:?}");
    model.meta.certificate = with_gap(0.0);
    model.meta.status = Status::Converged;
    let text = "the status is converged, but the certificate is unfinished";
    assert_eq!(model.contradictions(), [text]);
}

/// What to change, and what is then said.
type Change = (fn(&mut Model), &'static str);

#[test]
fn contradictions_within_a_model_are_found_without_data() {
    let changes: [Change; 12] = [
        (
            |m| m.meta.certificate.lambda = 0.2,
            "the settings say lambda 0.1, but the certificate is for lambda 0.2",
        ),
        (
            |m| m.meta.settings.lambda = Some(0.3),
            "the settings say lambda 0.3, but the certificate is for lambda 0.1",
        ),
        (
            |m| m.meta.settings.lambda = None,
            "(1/n for 3 examples), but the certificate is for lambda 0.1",
        ),
        (|m| m.meta.certificate.gap /= 2.0, "but primal − dual is"),
        (|m| m.meta.certificate.primal += 0.25, "but primal − dual is"),
        (|m| m.meta.certificate.dual -= 0.25, "but primal − dual is"),
        (|m| m.meta.certificate.dual += 0.25, "is below the dual"),
        (|m| m.meta.settings.tolerance = 1e-6, "the gap is claimed to be within 0.000001, but is"),
        (|m| m.meta.status = Status::MaxPasses, "the status is max-passes, but the gap"),
        (
            |m| m.meta.bounds.lower = [("emission".to_owned(), 5.0)].into(),
            "outside its bounds from 5 to inf",
        ),
        (
            |m| m.meta.bounds.upper = [("emision".to_owned(), 5.0)].into(),
            "there is no group `emision`",
        ),
        (|m| m.meta.format = Format::Ocr, "the model has 2 labels, where its data have 26"),
    ];
    let (good, _) = trained(settings());
    // The gap must be one that can be halved.
    assert!(good.meta.certificate.gap > 1e-5, "{:?}", good.meta.certificate);
    for (change, expected) in changes {
        let mut model = good.clone();
        change(&mut model);
        let found = model.contradictions();
        assert!(found.iter().any(|text| text.contains(expected)), "{expected}: {found:?}");
        let again = Model::from_bytes(&model.to_bytes().unwrap()).unwrap();
        assert_eq!(again.contradictions(), found);
    }
}

fn first_block(model: &mut Model) -> &mut Block {
    &mut model.dual.as_mut().unwrap().blocks[0]
}

#[test]
fn every_change_is_found_on_the_data() {
    let changes: [Change; 14] = [
        (|m| m.meta.certificate.lambda = 0.2, "the settings say lambda 0.1"),
        (|m| m.meta.settings.lambda = Some(0.3), "the settings say lambda 0.3"),
        (|m| m.meta.certificate.gap /= 2.0, "the gap is claimed to be"),
        (|m| m.meta.certificate.primal += 0.25, "the primal is claimed to be"),
        (|m| m.meta.certificate.dual -= 0.25, "the dual is claimed to be"),
        (
            |m| m.meta.certificate.quality = Quality::UpperBound,
            "the certificate is claimed to be upper-bound, but is exact",
        ),
        (|m| m.meta.settings.tolerance = 1e-6, "the gap is claimed to be within 0.000001"),
        (|m| m.meta.status = Status::MaxPasses, "the status is max-passes"),
        (|m| m.weights[2] += 1e-3, "the weights differ by"),
        (|m| first_block(m).loss += 0.1, "its loss is stated as"),
        (|m| first_block(m).parts = PackedVec::new(), "the dual point is not feasible"),
        (|m| m.dual.as_mut().unwrap().blocks.swap(0, 2), "the dual point is not feasible"),
        (|m| m.dual = None, "the model has no dual point"),
        // Right numbers that belong to another λ.
        (
            |m| {
                let c = &mut m.meta.certificate;
                (c.lambda, c.primal, c.dual) = (0.2, c.primal * 2.0, c.dual * 2.0);
                (c.gap, m.meta.settings.lambda) = (c.primal - c.dual, Some(0.2));
            },
            "the weights differ by",
        ),
    ];
    let (good, chain) = trained(settings());
    for (change, expected) in changes {
        let mut model = good.clone();
        change(&mut model);
        let found = model.verify_on(&chain, ProblemRole::Plain, 1).unwrap().findings;
        assert!(found.iter().any(|text| text.contains(expected)), "{expected}: {found:?}");
    }
}

#[test]
fn weights_out_of_bounds_are_found_whether_or_not_they_come_from_the_dual_point() {
    for solver in ["auto", "adagrad"] {
        let (model, chain) = trained(
            SettingsRecord { solver: solver.parse().unwrap(), ..settings().record() }
                .settings()
                .unwrap(),
        );
        let bounds = Bounds::none(model.meta.d).with(0..2, 5.0, 6.0).unwrap();
        let bounded = chain.with_bounds(Some(bounds));
        let found = model.verify_on(&bounded, ProblemRole::Plain, 1).unwrap().findings;
        let text = "outside its bounds from 5 to 6";
        assert!(found.iter().any(|finding| finding.contains(text)), "{found:?}");
    }
}

#[test]
fn names_that_are_not_in_the_data_are_found() {
    let (good, _) = trained(settings());
    let renamed = |names: &crate::Names, old: &str, new: &str| {
        names.iter().map(|name| if name == old { new } else { name }.to_owned()).collect()
    };
    let read = |model: &Model| {
        let lines = Lines::from_reader("pets.txt", TEXT.as_bytes()).unwrap();
        let reader = open_reader(lines, Some(Format::Crfsuite)).unwrap();
        let (labels, attributes) = (&model.labels, &model.attributes);
        let data = crate::read_with(reader, labels, attributes, crate::LabelRule::Count).unwrap();
        model.name_findings(&SeenNames::in_sequences(&data.sequences))
    };
    assert_eq!(read(&good), [""; 0]);
    let mut model = good.clone();
    model.labels = renamed(&good.labels, "verb", "adverb");
    assert_eq!(read(&model), ["the model has labels that are not in the data: `adverb`"]);
    model.meta.format = Format::Ocr;
    assert_eq!(read(&model), [""; 0]); // which has all its labels anyway
    let mut model = good.clone();
    model.attributes = renamed(&good.attributes, "dog", "dgo");
    let text = "the model has weights of attributes that are not in the data: `dgo`";
    assert_eq!(read(&model), [text]);
    // Without weights it is a column that happens to be empty.
    model.weights.fill(0.0);
    assert_eq!(read(&model), [""; 0]);
    let nothing = good.name_findings(&SeenNames::default());
    assert_eq!(nothing[0], "the model has labels that are not in the data: `noun`, `verb`");
    let names = ["a", "b", "c", "d", "e"].into_iter();
    let five = crate::seen_names::listed("letters", names).unwrap();
    assert_eq!(five, "the model has letters: `a`, `b`, `c` and 2 more");
}

#[test]
fn bounds_hold_for_what_weights_add_to_scores() {
    for scale in [0.1, 0.7, 3.0, 1.0 / 3.0, 2.6286] {
        for bound in [0.1, 0.3, 1e-300, 7.0, 1e300, f64::INFINITY] {
            let (lower, upper) = divided((-bound, bound), scale);
            assert!(upper * scale <= bound && lower * scale >= -bound, "{bound} over {scale}");
            let exact = bound / scale;
            assert!(upper == exact || (upper / exact - 1.0).abs() < 1e-15, "{bound} over {scale}");
            let (lower, upper) = divided((bound, bound), scale);
            assert!(lower <= upper, "{bound} over {scale} leaves a number");
        }
        assert_eq!(divided((0.0, f64::INFINITY), scale), (0.0, f64::INFINITY));
    }
}
