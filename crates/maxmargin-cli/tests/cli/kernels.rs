//! Models with kernels, from training to predictions.

use crate::common::{Desk, PETS};
use maxmargin::kernel::{Kernel, Support};
use maxmargin_io::Model;

/// Rows whose label is whether two signs agree: no linear model can tell.
const SIGNS: &str = "\
+1 1:1 2:1
+1 1:-1 2:-1
-1 1:1 2:-1
-1 1:-1 2:1
+1 1:1 2:1
+1 1:0.9 2:1
";

/// The same as sets of labels, and of two more.
const SETS: &str = "\
1,2 1:1 2:1
1 1:-1 2:-1
3 1:1 2:-1
2,3 1:-1 2:1
";

/// So that no choice is left to the clock.
const BY_NAME: &str = "--solver bcfw --order permutation --direction corrective --cache off";

fn desk() -> Desk {
    let desk = Desk::new();
    desk.write("signs.svm", SIGNS);
    desk.write("sets.svm", SETS);
    desk
}

#[test]
fn kernels_see_what_linear_models_do_not() {
    let desk = desk();
    let train = format!("{BY_NAME} --lambda 0.01");
    insta::assert_snapshot!(desk.session(&format!(
        "train signs.svm --kernel rbf {train} --test signs.svm -o s.model
         evaluate s.model signs.svm
         predict s.model signs.svm
         predict s.model signs.svm --n-best 2
         predict s.model signs.svm --confidence
         verify s.model signs.svm
         dump s.model --top 1
         train signs.svm --kernel poly --degree 2 --gamma 0.5 --coef0 0 {train} --test signs.svm -q -o p.model
         dump p.model --top 1
         train sets.svm --kernel rbf --gamma 0.5 {train} --test sets.svm -o m.model
         predict m.model sets.svm
         predict m.model sets.svm --n-best 2
         predict m.model sets.svm --confidence
         dump m.model --top 1
         verify m.model sets.svm
         train pets.crf --kernel rbf --gamma 0.2 {train} --test pets.crf -o c.model
         evaluate c.model pets.crf
         predict c.model pets.crf
         predict c.model pets.crf --n-best 2
         predict c.model pets.crf --confidence
         dump c.model --top 1
         verify c.model pets.crf"
    )));
}

#[test]
fn the_linear_kernel_is_the_linear_model() {
    let desk = desk();
    let train = format!("{BY_NAME} --tolerance 1e-5 --lambda 0.05 -q");
    for data in ["pets.crf", "sets.svm", "signs.svm"] {
        let model = match data {
            "signs.svm" => "--model multiclass --bias 1",
            "pets.crf" => "--transition-scale 3",
            _ => "",
        };
        desk.run(&format!("train {data} {model} {train} -o a.model")).ok();
        desk.run(&format!("train {data} {model} --kernel linear {train} -o b.model")).ok();
        let (a, b) = (desk.model("a.model").meta, desk.model("b.model").meta);
        let (a, b) = (a.certificate, b.certificate);
        // Each lies between its dual and its primal, where the optimum of both is.
        assert!(a.dual <= b.primal + 1e-9 && b.dual <= a.primal + 1e-9, "{data}: {a:?}, {b:?}");
        assert!(a.gap < 1e-3 && b.gap < 1e-3, "{data}: {a:?}, {b:?}");
        if data == "pets.crf" {
            let of = |model: &str| desk.run(&format!("predict {model} {data}")).ok().stdout;
            assert_eq!(of("a.model"), of("b.model"));
        }
    }
}

#[test]
fn every_verb_knows_kernels() {
    let desk = desk();
    // A bound on kernel values, patience, lambda, a report, a checkpoint.
    desk.run(
        "train ocr-small --kernel rbf --max-passes 1 --kernel-bytes 1000000 --patience 3 \
         -q -o o.model --report o.html",
    )
    .ok();
    let page = desk.read("o.html");
    assert!(page.contains("support parts") && !page.contains("Letter templates"));
    desk.run("verify o.model ocr-small").ok();
    desk.run("train signs.svm --kernel rbf --lambda auto -q -o a.model").ok();
    desk.run("verify a.model signs.svm").ok();

    let common = format!("train signs.svm --kernel rbf -q --lambda 0.01 {BY_NAME}");
    desk.run(&format!("{common} --tolerance 1e-6 -o whole.model")).ok();
    desk.run(&format!("{common} --tolerance 0 --max-passes 1 --checkpoint c.ckpt")).ok();
    desk.run(&format!("{common} --tolerance 1e-6 --resume c.ckpt -o resumed.model")).ok();
    assert_eq!(desk.model("resumed.model").weights, desk.model("whole.model").weights);
    desk.run(&format!("{common} --tolerance 0 --max-passes 1 --checkpoint d.ckpt")).ok();
    let other = desk.run(&format!("{common} --gamma 3 --resume d.ckpt"));
    assert!(other.stderr.contains("begun with another option for the model"), "{}", other.stderr);
    let warm = desk.run(&format!("{common} --warm-start whole.model --tolerance 1e-5 --json")).ok();
    assert!(warm.json()["support"]["parts"].as_u64().unwrap() > 0);
}

#[test]
fn options_without_meaning_are_refused() {
    let desk = desk();
    desk.run("train pets.crf -q -o plain.model").ok();
    insta::assert_snapshot!(desk.session(
        "train pets.crf --kernel cubic
         train pets.crf --kernel rbf --gamma nan
         train pets.crf --kernel rbf --gamma -1
         train pets.crf --kernel rbf --gamma inf
         train pets.crf --kernel rbf --degree 2
         train pets.crf --kernel poly --degree 0
         train pets.crf --kernel poly --coef0 -1
         train pets.crf --kernel linear --gamma 1
         train pets.crf --gamma 1
         train pets.crf --kernel rbf --lower 0
         train pets.crf --kernel rbf --without emission
         train signs.svm --kernel rbf --model binary
         train signs.svm --kernel rbf --rescaling slack
         train signs.svm --model binary --gamma 1
         path pets.crf --kernel rbf"
    ));
    let large = PETS.replace("len:0.5", "len:1e200");
    desk.write("large.crf", large);
    let run = desk.run("train large.crf --kernel poly -q");
    assert!(run.stderr.contains("scale the inputs down"), "{}", run.stderr);
}

/// Attributes and values of inputs.
type Inputs = Vec<Vec<(u32, f64)>>;

#[test]
fn tampering_is_noticed() {
    let desk = desk();
    desk.run("train pets.crf --kernel rbf -q -o k.model").ok();
    let change = |change: &dyn Fn(&mut Model)| {
        let mut model = desk.model("k.model");
        change(&mut model);
        model.save(desk.path("changed.model")).unwrap();
        let run = desk.run("verify changed.model pets.crf");
        assert_eq!(run.code, 1, "{}", run.transcript());
        run.stdout + &run.stderr
    };
    let own = |model: &mut Model, to: Kernel| model.meta.spec.kernel_mut().unwrap().kernel = to;
    let inputs = |model: &mut Model, change: &dyn Fn(&mut Inputs)| {
        let kernel = model.meta.spec.kernel_mut().unwrap();
        let mut inputs = kernel.support.iter().map(|input| input.pairs().collect()).collect();
        change(&mut inputs);
        kernel.support = Support::new(inputs).unwrap();
    };
    for (text, found) in [
        ("gamma is 0", change(&|model| own(model, Kernel::Rbf { gamma: 0.0 }))),
        ("is claimed to be", change(&|model| own(model, Kernel::Rbf { gamma: 0.001 }))),
        ("the weights differ", change(&|model| model.weights[0] += 0.1)),
        ("not in the data", change(&|model| inputs(model, &|all| all[0] = vec![(0, 7.0)]))),
        ("the attribute 99", change(&|model| inputs(model, &|all| all[0] = vec![(99, 1.0)]))),
        ("features, where", change(&|model| inputs(model, &|all| all.truncate(1)))),
    ] {
        assert!(found.contains(text), "{text:?} is not in {found}");
    }
}
