//! Outputs: refused before the work begins, and never half written.

use crate::common::Desk;
use std::fs;

#[test]
fn outputs_that_cannot_be_written_are_noticed_before_the_training() {
    let desk = Desk::with_model("-q");
    fs::create_dir(desk.path("folder")).unwrap();
    desk.write("kept.model", "precious");
    let mut permissions = fs::metadata(desk.path("kept.model")).unwrap().permissions();
    permissions.set_readonly(true);
    fs::set_permissions(desk.path("kept.model"), permissions).unwrap();
    // Training would not end, and is never begun.
    let endless = "--tolerance 0 --max-passes 1000000000000";
    insta::assert_snapshot!(desk.session(&format!(
        "train pets.crf {endless} -o folder
         train pets.crf {endless} -o nosuch/x.model
         train pets.crf {endless} -o kept.model
         train pets.crf {endless} --trace folder
         train pets.crf {endless} --report nosuch/r.html
         train pets.crf {endless} -o x.model --trace ./x.model
         train pets.crf {endless} -o ./pets.crf
         train pets.crf {endless} --test tags.hmm --trace tags.hmm
         predict pets.model pets.crf -o folder
         predict pets.model pets.crf -o nosuch/labels.txt
         predict pets.model pets.crf -o pets.crf
         demo --out pets.crf"
    )));
    assert_eq!(desk.files(""), ["folder", "kept.model", "pets.crf", "pets.model", "tags.hmm"]);
    assert_eq!(desk.files("folder").len(), 0);
    assert_eq!(desk.read("kept.model"), "precious");
    assert_eq!(desk.read("pets.crf"), crate::common::PETS);
}

#[test]
fn a_dash_is_standard_output_for_labels_alone() {
    let desk = Desk::with_model("-q");
    let labels = desk.run("predict pets.model pets.crf -q").ok().stdout;
    assert_eq!(desk.run("predict pets.model pets.crf -q -o -").ok().stdout, labels);
    for command in ["train pets.crf -o -", "path pets.crf -p -", "train pets.crf --report -"] {
        let run = desk.run(command);
        assert_eq!((run.code, run.stdout.as_str()), (1, ""));
        assert!(run.stderr.contains("this cannot go to standard output"), "{}", run.stderr);
    }
    assert_eq!(desk.files(""), ["pets.crf", "pets.model", "tags.hmm"]);
}

#[test]
fn a_failure_leaves_nothing_behind() {
    let desk = Desk::with_model("-q");
    fs::create_dir(desk.path("out")).unwrap();
    desk.write("bad.crf", "DT\tw=the\n\nNN\tw=cat\tlen:much\n");
    desk.write("huge.crf", "DT\tw:1e200\nNN\tw:-1e200\n");
    for command in [
        "train bad.crf -o out/x.model --trace out/t.jsonl --report out/r.html",
        "train huge.crf -o out/x.model --trace out/t.jsonl --report out/r.html",
        "train pets.crf --test bad.crf -o out/x.model --trace out/t.jsonl --report out/r.html",
        "train pets.crf --label-weight X=1 -o out/x.model --trace out/t.jsonl",
        "predict pets.model bad.crf -o out/labels.txt",
    ] {
        let run = desk.run(command);
        assert_eq!(run.code, 1, "{command}\n{}", run.transcript());
        assert!(run.stderr.contains("error: ") && run.stdout.is_empty(), "{command}");
        assert_eq!(desk.files("out").len(), 0, "{command}");
    }
}

#[test]
fn a_failure_leaves_the_old_model_as_it_was() {
    let desk = Desk::with_model("-q");
    desk.write("bad.crf", "DT\tw=the\n\nNN\tw=cat\tlen:much\n");
    let before = desk.model("pets.model");
    assert_eq!(desk.run("train bad.crf -o pets.model").code, 1);
    assert_eq!(desk.model("pets.model"), before);
}

#[test]
fn devices_take_whatever_comes() {
    let desk = Desk::new();
    let run = desk.run("train pets.crf -q -o /dev/null --trace /dev/null --report /dev/null").ok();
    assert_eq!((run.stdout.as_str(), run.stderr.as_str()), ("", ""));
}
