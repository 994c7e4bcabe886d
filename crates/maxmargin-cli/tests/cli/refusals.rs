//! What is refused, and in which words.

use crate::common::Desk;

#[test]
fn command_lines_without_a_meaning() {
    let desk = Desk::new();
    insta::assert_snapshot!(desk.session(
        "trian pets.crf
         train
         train pets.crf --lamda 1
         train pets.crf --solver sgd
         train pets.crf --order best
         train pets.crf --format csv
         train pets.crf --without everything
         train pets.crf --lambda much
         train pets.crf --max-passes -5
         train pets.crf --seed 1.5
         dump pets.model --top -1
         predict pets.model
         demo folder"
    ));
}

#[test]
fn values_out_of_range() {
    let desk = Desk::new();
    insta::assert_snapshot!(desk.session(
        "train pets.crf --lambda -1
         train pets.crf --lambda NaN
         train pets.crf --lambda 0
         train pets.crf --lambda inf
         train pets.crf --tolerance -0.5
         train pets.crf --max-passes 0
         train pets.crf --max-oracle-calls 0
         train pets.crf --max-seconds 0
         train pets.crf --gap-every 0"
    ));
}

#[test]
fn combinations_without_a_meaning() {
    let desk = Desk::new();
    insta::assert_snapshot!(desk.session(
        "train pets.crf --solver fw --order cyclic
         train pets.crf --solver fw --average weighted
         train pets.crf --solver fw --gap-every 5
         train pets.crf --label-weight nosuch=2
         train pets.crf --label-weight NN
         train pets.crf --label-weight NN=-2
         train pets.crf --without emission,transition,bias,first,last
         train ocr-small --format crfsuite
         train - --test -"
    ));
}

#[test]
fn data_that_cannot_be_read() {
    let desk = Desk::new();
    std::fs::create_dir(desk.path("folder")).unwrap();
    desk.write("empty.crf", "");
    desk.write("value.crf", "DT\tw=the\nNN\tw=cat\tlen:much\n");
    desk.write("unlabelled.crf", "DT\tw=the\n\tw=cat\n");
    desk.write("qid.hmm", "1 qid:1 1:1\n2 1:1\n");
    desk.write("order.hmm", "1 qid:1 3:1 2:1\n");
    desk.write("words.txt", "the\ncat\n");
    desk.write("one.crf", "NN\tw=cat\nNN\tw=dog\n");
    desk.write("latin1.crf", b"NN\tw=caf\xe9\nVB\tw=x\n");
    desk.write("rows.svm", "+1 1:0.5 3:1\n-1 2:1\n");
    insta::assert_snapshot!(desk.session(
        "train nosuch.crf
         train ./nosuch.crf
         train ocr-smal
         train folder
         train empty.crf
         train value.crf
         train unlabelled.crf
         train qid.hmm
         train order.hmm
         train words.txt
         train one.crf
         train latin1.crf
         train rows.svm
         train rows.svm --format multilabel
         train pets.crf --test rows.svm
         train pets.crf --test nosuch.crf
         train pets.crf --test value.crf"
    ));
}

#[test]
fn files_that_are_no_models() {
    let desk = Desk::with_model("-q");
    let bytes = std::fs::read(desk.path("pets.model")).unwrap();
    desk.write("torn.model", &bytes[..bytes.len() - 10]);
    desk.write("header.model", &bytes[..100]);
    desk.write("stub.model", &bytes[..5]);
    desk.write("empty.model", "");
    // A file of the same family, from another program.
    desk.write("foreign.model", [&[2, 0, 0, 0, 0, 0, 0, 0][..], b"{}"].concat());
    insta::assert_snapshot!(desk.session(
        "dump nosuch.model
         dump torn.model
         predict header.model pets.crf
         evaluate stub.model pets.crf
         verify empty.model pets.crf
         dump foreign.model
         predict pets.crf pets.model
         predict pets.model nosuch.crf"
    ));
}

#[test]
fn standard_output_carries_no_talk() {
    let desk = Desk::new();
    for command in
        ["train nosuch.crf --json", "dump nosuch.model --json", "demo --json --out pets.crf"]
    {
        let run = desk.run(command);
        assert_eq!((run.code, run.stdout.as_str()), (1, ""), "{command}");
        assert!(run.stderr.starts_with("error: "), "{command}: {}", run.stderr);
    }
}
