//! Model and path files of which one thing was changed: each is refused, or `verify` says what is wrong.

use crate::common::Desk;
use maxmargin::{PackedVec, Quality, Status};
use maxmargin_io::{Fingerprint, HeldOut, Model, Names, PathFile};

/// What to change in a file, and what is then said of it.
type Change<F> = (&'static str, fn(&mut F), &'static str);

/// Names with one of them replaced.
fn renamed(names: &Names, old: &str, new: &str) -> Names {
    assert!(names.get(old).is_some(), "{old}");
    names.iter().map(|name| if name == old { new } else { name }.to_owned()).collect()
}

/// Names of which two have changed places.
fn swapped(names: &Names, one: usize, two: usize) -> Names {
    let mut all: Vec<String> = names.iter().map(str::to_owned).collect();
    all.swap(one, two);
    all.into_iter().collect()
}

/// Everything that can be changed in a model of the pets that was trained with λ = 0.1.
const CHANGES: [Change<Model>; 30] = [
    (
        "lambda",
        |m| m.meta.certificate.lambda = 0.2,
        "the settings say lambda 0.1, but the certificate is for lambda 0.2",
    ),
    (
        "lambda of the settings",
        |m| m.meta.settings.lambda = Some(0.2),
        "the settings say lambda 0.2, but the certificate is for lambda 0.1",
    ),
    (
        "no lambda in the settings",
        |m| m.meta.settings.lambda = None,
        "(1/n for 3 examples), but the certificate is for lambda 0.1",
    ),
    ("negative lambda", |m| m.meta.certificate.lambda = -0.1, "its lambda is -0.1"),
    ("gap", |m| m.meta.certificate.gap /= 2.0, "but primal − dual is"),
    ("negative gap", |m| m.meta.certificate.gap *= -1.0, "but primal − dual is"),
    ("primal", |m| m.meta.certificate.primal -= 1e-4, "the primal is claimed to be"),
    ("dual", |m| m.meta.certificate.dual += 1e-4, "the dual is claimed to be"),
    (
        "dual above primal",
        |m| m.meta.certificate.dual = m.meta.certificate.primal + 1.0,
        "is below the dual",
    ),
    (
        "primal, dual and gap together",
        |m| {
            let c = &mut m.meta.certificate;
            (c.primal, c.dual, c.gap) = (c.primal / 2.0, c.dual / 2.0, c.gap / 2.0);
        },
        "the gap is claimed to be",
    ),
    (
        "quality",
        |m| m.meta.certificate.quality = Quality::Heuristic,
        "the certificate is claimed to be heuristic, but is exact",
    ),
    ("status", |m| m.meta.status = Status::MaxSeconds, "the status is max-seconds, but the gap"),
    (
        "tolerance",
        |m| m.meta.settings.tolerance = 1e-7,
        "the gap is claimed to be within 0.0000001, but is",
    ),
    ("examples", |m| m.meta.n += 1, "3 dual blocks, where 4 are stated"),
    ("no examples", |m| m.meta.n = 0, "trained on 0 examples"),
    ("features", |m| m.meta.d += 1, "features, where"),
    (
        "fingerprint",
        |m| m.meta.fingerprint = "00112233445566778899aabbccddeeff".parse::<Fingerprint>().unwrap(),
        "the data are not those the model was trained on",
    ),
    ("labels swapped", |m| m.labels = swapped(&m.labels, 0, 1), "the dual point is not feasible"),
    (
        "label renamed",
        |m| m.labels = renamed(&m.labels, "VB", "VP"),
        "expected one of the 3 labels of the model, found `VB`",
    ),
    (
        "label added",
        |m| {
            m.labels.intern("JJ");
        },
        "4 labels, where 3 are stated",
    ),
    (
        "attributes swapped",
        |m| m.attributes = swapped(&m.attributes, 0, 2),
        "the weights differ by",
    ),
    (
        "attribute renamed",
        |m| m.attributes = renamed(&m.attributes, "w=dog", "w=dgo"),
        "the model has weights of attributes that are not in the data: `w=dgo`",
    ),
    (
        "attribute added",
        |m| {
            m.attributes.intern("w=cow");
        },
        "attributes, where",
    ),
    ("weight", |m| m.weights[4] += 1e-4, "the weights differ by"),
    ("weight that is no number", |m| m.weights[4] = f64::NAN, "weight 4 is not a finite number"),
    (
        "dual block",
        |m| m.dual.as_mut().unwrap().blocks[1].parts = PackedVec::new(),
        "the dual point is not feasible: in example 1",
    ),
    (
        "dual block left out",
        |m| {
            m.dual.as_mut().unwrap().blocks.pop();
        },
        "2 dual blocks, where 3 are stated",
    ),
    (
        "bounds",
        |m| m.meta.bounds.lower = [("emission".to_owned(), 0.5)].into(),
        "outside its bounds from 0.5 to inf",
    ),
    (
        "bounds of nothing",
        |m| m.meta.bounds.upper = [("emision".to_owned(), 0.5)].into(),
        "there is no group `emision`",
    ),
    (
        "part held out",
        |m| m.meta.held_out = Some(HeldOut { seed: 1, one_in: 3 }),
        "the data are not those the model was trained on: 2 sequences",
    ),
];

#[test]
fn every_change_in_a_model_is_noticed() {
    let desk = Desk::with_model("-q --lambda 0.1 --tolerance 1e-3");
    let good = desk.model("pets.model");
    assert_eq!(good.meta.status, Status::Converged);
    assert!(good.meta.certificate.gap > 1e-6, "{:?}", good.meta.certificate);
    desk.run("verify pets.model pets.crf").ok();
    for (what, change, expected) in CHANGES {
        let mut model = good.clone();
        change(&mut model);
        model.save(desk.path("pets.model")).unwrap();
        let run = desk.run("verify pets.model pets.crf");
        let said = format!("{}{}", run.stdout, run.stderr);
        assert!(run.code == 1 && said.contains(expected), "{what}: {said}");
        let json = desk.run("verify pets.model pets.crf --json");
        assert_eq!(json.code, 1, "{what}");
        if run.stderr.is_empty() {
            assert_eq!(json.json()["holds"], false, "{what}");
        }
    }
}

/// Without a dual point, what the model says against itself is found all the same.
#[test]
fn a_model_without_a_dual_point_must_agree_with_itself() {
    let desk = Desk::with_model("-q --lambda 0.1 --no-dual");
    let mut model = desk.model("pets.model");
    model.meta.certificate.gap /= 2.0;
    model.save(desk.path("pets.model")).unwrap();
    let run = desk.run("verify pets.model pets.crf");
    assert!(run.code == 1 && run.stdout.contains("but primal − dual is"), "{}", run.transcript());
}

/// Letters that never occur have weights too, and a name that the data cannot tell.
#[test]
fn names_that_the_format_fixes_are_noticed() {
    let desk = Desk::new();
    desk.run("train ocr-small --max-passes 1 -q -o ocr.model").ok();
    let good = desk.model("ocr.model");
    for (what, change, expected) in [
        (
            "letter",
            (|m| m.labels = renamed(&m.labels, "q", "Q")) as fn(&mut Model),
            "label 16 of the model is `Q`, where its data have `q`",
        ),
        (
            "pixel",
            |m| {
                let first = m.attributes.name(0).to_owned();
                m.attributes = renamed(&m.attributes, &first, "corner");
            },
            "attributes that the format ocr does not know: `corner`",
        ),
    ] {
        let mut model = good.clone();
        change(&mut model);
        let found = model.contradictions();
        assert!(found.len() == 1 && found[0].contains(expected), "{what}: {found:?}");
    }
}

/// What can be changed in a path over the pets.
const PATH_CHANGES: [Change<PathFile>; 8] = [
    ("gap", |p| p.path.breakpoints[9].certificate.gap = 1e-3, "but primal − dual is"),
    ("negative gap", |p| p.path.breakpoints[9].certificate.gap = -1e-3, "but primal − dual is"),
    ("primal", |p| p.path.breakpoints[9].certificate.primal += 1e-3, "but primal − dual is"),
    ("dual", |p| p.path.breakpoints[9].certificate.dual += 1.0, "is below the dual"),
    ("growth", |p| p.path.breakpoints[9].growth += 1e-3, "the growth of the gap is stated as"),
    ("weight", |p| p.path.breakpoints[9].changes[0].1 += 0.5, "but that of the weights is"),
    ("order", |p| p.path.breakpoints.swap(9, 8), "its lambdas do not fall: breakpoint 9 has"),
    ("epsilon", |p| p.path.epsilon /= 2.0, "where 0.025 is stated to be the most"),
];

#[test]
fn every_change_in_a_path_file_is_refused() {
    let desk = Desk::new();
    desk.run("path pets.crf --epsilon 0.05 -p pets.path -q").ok();
    let good = PathFile::load(desk.path("pets.path")).unwrap();
    for (what, change, expected) in PATH_CHANGES {
        let mut file = good.clone();
        change(&mut file);
        file.save(desk.path("pets.path")).unwrap();
        for command in ["pick pets.path", "pick pets.path --lambda 0.1 -o x.model"] {
            let run = desk.run(command);
            let is_refused = run.stderr.starts_with("error: pets.path: not a maxmargin path: ");
            assert!(run.code == 1 && is_refused, "{what}: {}", run.transcript());
            assert!(run.stderr.contains(expected), "{what}: {}", run.stderr);
        }
        assert!(!desk.path("x.model").exists(), "{what}");
    }
}
