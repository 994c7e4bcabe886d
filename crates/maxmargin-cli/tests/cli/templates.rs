//! Templates that make attributes from columns.

use crate::common::{Desk, chain};

const COLUMNS: &str = "the DT B-NP\ncat NN I-NP\nsleeps VB B-VP\n\na DT B-NP\ndog NN I-NP\n";

#[test]
fn a_template_stays_with_its_model() {
    let desk = Desk::new();
    desk.write("t.tpl", "# words and tags\nU0:%x[0,0]\nU1:%x[-1,1]/%x[0,1]\nB\n");
    desk.write("train.txt", COLUMNS);
    desk.write("new.txt", "a DT\ncat NN\n");
    desk.run("train train.txt --template t.tpl -q -o x.model").ok();
    let mut model = desk.model("x.model");
    assert!(model.attributes.iter().any(|name| name == "U1:_B-1/DT"));
    assert!(chain(&mut model).shape.groups.transition);
    desk.run("verify x.model train.txt").ok();
    let run = desk.run("predict x.model new.txt -q").ok();
    assert_eq!(run.stdout, "B-NP\nI-NP\n\n");

    desk.write("alone.tpl", "U0:%x[0,0]\n");
    desk.run("train train.txt --template alone.tpl --min-count 1 -q -o y.model").ok();
    let mut model = desk.model("y.model");
    assert!(!chain(&mut model).shape.groups.transition, "only B asks for transitions");
}

#[test]
fn rare_attributes_are_left_out() {
    let desk = Desk::new();
    desk.write("train.txt", COLUMNS);
    desk.run("train train.txt --template chunking --min-count 2 -q -o x.model").ok();
    let model = desk.model("x.model");
    let names: Vec<&str> = model.attributes.iter().collect();
    assert!(names.contains(&"pos[0]=DT") && !names.contains(&"w[0]=cat"), "{names:?}");
    desk.run("verify x.model train.txt").ok();
    for model in ["chain", "segment"] {
        let run = desk.run(&format!("train train.txt --model {model} --min-count 99 -o y.model"));
        assert_eq!(run.code, 1);
        assert!(run.stderr.contains("--min-count 99 leaves none of the "), "{}", run.stderr);
    }
}

#[test]
fn wrong_templates_are_refused() {
    let desk = Desk::new();
    desk.write("train.txt", COLUMNS);
    desk.write("b.tpl", "U0:%x[0,0]\nB0:%x[0,0]\n");
    desk.write("far.tpl", "U0:%x[0,2]\n");
    desk.write("empty.tpl", "");
    insta::assert_snapshot!(desk.session(
        "train train.txt --template b.tpl
         train train.txt --template far.tpl
         train train.txt --template empty.tpl
         train train.txt --template nosuch.tpl
         train train.txt --template chunking --format crfsuite
         train ocr-small --template far.tpl"
    ));
}
