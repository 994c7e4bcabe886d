//! `maxmargin verify`: what is true passes, whatever is tampered with does not.

use crate::common::{Desk, PETS, chain, keys};
use maxmargin::{Block, SparseVec, Status};
use maxmargin_io::Model;

/// Verifies the pets' model after `change`; returns what does not hold.
fn verdict(change: impl FnOnce(&mut Model)) -> String {
    let desk = Desk::with_model("-q");
    let mut model = desk.model("pets.model");
    change(&mut model);
    model.save(desk.path("pets.model")).unwrap();

    let run = desk.run("verify pets.model pets.crf");
    assert_eq!((run.code, run.stderr.as_str()), (1, ""), "{}", run.stdout);
    let (_, findings) = run.stdout.split_once("The claim does NOT hold:\n").unwrap();

    let json = desk.run("verify pets.model pets.crf --json");
    assert_eq!((json.code, &json.json()["holds"]), (1, &false.into()));
    assert_eq!(json.json()["findings"].as_array().unwrap().len(), findings.lines().count());
    findings.to_owned()
}

fn first_block(model: &mut Model) -> &mut Block {
    &mut model.dual.as_mut().unwrap().blocks[0]
}

#[test]
fn a_true_claim_holds() {
    let desk = Desk::with_model("-q");
    insta::assert_snapshot!(desk.session("verify pets.model pets.crf --threads 1"));
    let json = desk.run("verify pets.model pets.crf --json").ok().json();
    let promised = [
        "claimed",
        "findings",
        "holds",
        "point",
        "problem",
        "proven",
        "quality",
        "recomputed",
        "weight_residual",
    ];
    assert_eq!(keys(&json), promised);
    assert_eq!((&json["proven"], &json["point"]), (&true.into(), &"feasible".into()));
    assert_eq!(json["holds"], true);
    assert_eq!(json["findings"].as_array().unwrap().len(), 0);
    assert_eq!(keys(&json["recomputed"]), ["dual", "gap", "lambda", "primal"]);
}

#[test]
fn ocr_holds_under_all_its_names() {
    let desk = Desk::new();
    desk.run("train ocr-small --max-passes 2 -q -o ocr.model").ok();
    for data in ["ocr-small", "ocr-small:train", "ocr-large:test"] {
        desk.run(&format!("verify ocr.model {data}")).ok();
    }
}

#[test]
fn other_data_are_noticed() {
    let desk = Desk::with_model("-q");
    desk.write("value.crf", PETS.replace("len:0.5", "len:0.25"));
    desk.write("label.crf", PETS.replace("VB\tw=bark\n", "NN\tw=bark\n"));
    desk.write("shorter.crf", "DT\tw=the\n\nDT\tw=a\nNN\tw=cat\n\nNN\tw=dogs\n");
    desk.write("fewer.crf", "DT\tw=the\n");
    desk.write("unknown.crf", PETS.replace("VB", "VP"));
    insta::assert_snapshot!(desk.session(
        "verify pets.model value.crf
         verify pets.model label.crf
         verify pets.model shorter.crf
         verify pets.model fewer.crf
         verify pets.model fewer.crf --json
         verify pets.model unknown.crf
         verify pets.model tags.hmm
         verify pets.model ocr-small"
    ));
}

#[test]
fn a_changed_weight_is_noticed() {
    let findings = verdict(|model| model.weights[3] += 1e-3);
    assert!(findings.contains("the weights differ by "), "{findings}");
    assert!(findings.contains("the primal is claimed to be "), "{findings}");
}

#[test]
fn a_changed_claim_is_noticed() {
    let gap = verdict(|model| model.meta.certificate.gap /= 2.0);
    assert!(gap.starts_with("- the gap is claimed to be "), "{gap}");
    let primal = verdict(|model| model.meta.certificate.primal -= 1e-3);
    assert!(primal.starts_with("- the primal is claimed to be "), "{primal}");
    let dual = verdict(|model| model.meta.certificate.dual += 1e-3);
    assert!(dual.starts_with("- the dual is claimed to be "), "{dual}");
    let lambda = verdict(|model| model.meta.certificate.lambda *= 2.0);
    assert!(lambda.contains("the weights differ by "), "{lambda}");
    let converged = verdict(|model| {
        model.meta.status = Status::Converged;
        model.meta.settings.tolerance = 1e-6;
        model.meta.settings.relative_tolerance = 0.0;
    });
    assert!(converged.starts_with("- the gap is claimed to be within "), "{converged}");
}

#[test]
fn a_changed_dual_point_is_noticed() {
    let mass = verdict(|model| {
        let block = first_block(model);
        let mut parts = SparseVec::new();
        for (at, (part, mass)) in block.parts.iter().enumerate() {
            parts.push(part, if at == 0 { mass / 2.0 } else { mass });
        }
        block.parts = parts.into();
    });
    assert!(mass.starts_with("- the dual point is not feasible: in example 0, "), "{mass}");
    let loss = verdict(|model| first_block(model).loss += 0.1);
    assert!(loss.contains("its loss is stated as "), "{loss}");
    let swapped = verdict(|model| model.dual.as_mut().unwrap().blocks.swap(0, 1));
    assert!(swapped.contains("the weights differ by "), "{swapped}");
}

#[test]
fn a_dual_point_with_foreign_parts_is_noticed() {
    let foreign = verdict(|model| {
        let block = first_block(model);
        let mut parts = block.parts.unpacked();
        parts.push(u64::MAX, 0.0);
        block.parts = parts.into();
    });
    assert!(foreign.contains("a part that does not exist"), "{foreign}");
    let longer = verdict(|model| model.dual.as_mut().unwrap().blocks.swap(0, 2));
    assert!(longer.contains("in example 0, "), "{longer}");
}

#[test]
fn a_changed_model_of_the_data_is_noticed() {
    let loss = verdict(|model| chain(model).loss.normalised = true);
    assert!(loss.contains("its loss is stated as "), "{loss}");
}

#[test]
fn without_the_dual_point_nothing_can_be_verified() {
    let desk = Desk::with_model("-q --no-dual");
    insta::assert_snapshot!(desk.session("verify pets.model pets.crf"), @r"
    $ maxmargin verify pets.model pets.crf
    error: pets.model: the model was saved without its dual point, so its gap cannot be checked
    hint: train without --no-dual
    [exit code 1]
    ");
    desk.run("predict pets.model pets.crf").ok();
}

/// Bounds turn equations of the search for outputs into inequalities, along which rounding once ended it: the point stayed
/// unproven.
#[test]
fn points_of_sets_of_labels_are_proven_within_bounds() {
    let desk = Desk::new();
    let samples = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/samples/films-train.svm");
    desk.write("films.svm", std::fs::read_to_string(samples).unwrap());
    let train = "train films.svm --pairs complete --lambda 0.1 -q -o films.model";
    for bounds in ["--lower all=0", "--upper all=0", "--lower all=0 --max-passes 3"] {
        desk.run(&format!("{train} {bounds}")).ok();
        let shown = desk.run("verify films.model films.svm").ok().stdout;
        assert!(shown.contains("quality exact"), "{bounds}: {shown}");
    }
}
