//! Files of words in columns, from training to predictions on raw columns.

use crate::common::{Desk, Run};

const TAGS: &str = "\
word\ttag
the\tDT
cat\tNN
sleeps\tVB

a\tDT
dog\tNN
barks\tVB

dogs\tNN
bark\tVB
";

/// CoNLL-2003: the last column is the label.
const ENTITIES: &str = "\
-DOCSTART- -X- -X- O

EU NNP B-NP B-ORG
rejects VBZ B-VP O
German JJ B-NP B-MISC
calls NNS I-NP O

Peter NNP B-NP B-PER
Blackburn NNP I-NP I-PER
rejects VBZ B-VP O

-DOCSTART- -X- -X- O

BRUSSELS NNP B-NP B-LOC
";

const CONLLU: &str = "\
# sent_id = 1
# text = Du vin
1-2\tDu\t_\t_\t_\t_\t_\t_\t_\t_
1\tDe\tde\tADP\tP\t_\t3\tcase\t_\t_
2\tle\tle\tDET\tD\tDefinite=Def\t3\tdet\t_\t_
3\tvin\tvin\tNOUN\tN\t_\t0\troot\t_\t_
3.1\tbu\tboire\tVERB\tV\t_\t_\t_\t_\t_

# sent_id = 2
1\tOui\toui\tINTJ\tI\t_\t0\troot\t_\t_
";

const CHUNKS: &str = "the DT B-NP\ncat NN I-NP\nsleeps VB B-VP\n\ndogs NN B-NP\n";
const RAW_CHUNKS: &str = "the DT\ncat NN\nsleeps VB\n\ndogs NN\n";

fn desk() -> Desk {
    let desk = Desk::new();
    desk.write("tags.tsv", TAGS);
    desk.write("entities.txt", ENTITIES);
    desk.write("wine.conllu", CONLLU);
    desk.write("chunks.txt", CHUNKS);
    desk.write("rows.svm", "cat 1:0.5 3:1\ndog 2:1\ncat 1:1\n");
    desk
}

const TRAIN: &str = "--lambda 0.01 --tolerance 0.001";

/// Trains on a file; the first line says how it is read.
fn train(desk: &Desk, data: &str, options: &str) -> String {
    let run = desk.run(&format!("train {data} {TRAIN} {options} -o x.model")).ok();
    desk.run(&format!("verify x.model {data}")).ok();
    run.stderr.lines().next().unwrap().to_owned()
}

fn predict(desk: &Desk, text: &str, options: &str) -> String {
    desk.write("new.txt", text);
    desk.run(&format!("predict x.model new.txt -q {options}")).ok().stdout
}

fn refusal(run: Run) -> String {
    assert_eq!(run.code, 1, "{}", run.transcript());
    run.stderr
}

#[test]
fn words_and_labels_in_two_columns() {
    let desk = desk();
    // With long transitions, all that three sentences know of the last word is that it is a verb.
    let line = train(&desk, "tags.tsv", "--transition-scale 1");
    assert_eq!(line, "columns `word tag` between tabs; attributes by --template words");
    let run = desk.run("evaluate x.model tags.tsv").ok();
    assert!(run.stdout.contains("labels            8   error 0.0000"), "{}", run.stdout);
    // The missing column is the label; so is that of the header.
    assert_eq!(predict(&desk, "the\ncat\nbarks\n\ndogs\n", ""), "DT\nNN\nVB\n\nNN\n\n");
    assert_eq!(predict(&desk, "word\nthe\ncat\n", ""), "DT\nNN\n\n");
    assert_eq!(predict(&desk, "the x\r\ncat y\r\n", ""), "DT\nNN\n\n");
    assert_eq!(predict(&desk, "\u{feff}the\ncat", "--columns"), "the DT\ncat NN\n");
    assert_eq!(
        predict(&desk, "word\ttag\nthe\tDT\n\n\ncat\tVB\n", "--columns"),
        "word\ttag\tpredicted\nthe\tDT\tDT\n\n\ncat\tVB\tNN\n"
    );
    assert_eq!(desk.run_on("dogs\nbark\n\n", "predict x.model -").ok().stdout, "NN\nVB\n\n");
    let run = desk.run("predict x.model entities.txt");
    assert_eq!(
        refusal(run),
        "error: entities.txt:3:1: expected 2 columns as in training (word tag), or 1 without the \
         label, found 4 columns\n"
    );
}

#[test]
fn entities_in_four_columns() {
    let desk = desk();
    let line = train(&desk, "entities.txt", "");
    assert_eq!(
        line,
        "columns `word pos column3 label` between blanks; attributes by --template words+pos"
    );
    let labels: Vec<String> = desk.model("x.model").labels.iter().map(str::to_owned).collect();
    assert_eq!(labels, ["B-ORG", "O", "B-MISC", "B-PER", "I-PER", "B-LOC"]);
    let raw = "-DOCSTART- -X- -X-\n\nPeter NNP B-NP\nBlackburn NNP I-NP\n";
    assert_eq!(predict(&desk, raw, ""), "B-PER\nI-PER\n\n");
    assert_eq!(
        predict(&desk, raw, "--columns --rules bio"),
        "-DOCSTART- -X- -X-\n\nPeter NNP B-NP B-PER\nBlackburn NNP I-NP I-PER\n"
    );
    let run = desk.run("evaluate x.model entities.txt").ok();
    assert!(run.stdout.contains("sequences         3   error 0.0000"), "{}", run.stdout);
    assert!(run.stdout.contains("PER"), "chunks are counted: {}", run.stdout);
    let two = predict(&desk, "BRUSSELS NNP B-NP O\n", "--columns --n-best 2");
    assert!(two.starts_with("# 1 ") && two.contains("\nBRUSSELS NNP B-NP O B-LOC\n# 2 "), "{two}");
    let sure = predict(&desk, "BRUSSELS NNP B-NP\n", "--columns --confidence");
    assert!(sure.starts_with("BRUSSELS NNP B-NP B-LOC\t"), "{sure}");
}

#[test]
fn universal_dependencies() {
    let desk = desk();
    let line = train(&desk, "wine.conllu", "");
    assert_eq!(line, "CoNLL-U with the label UPOS; attributes by --template words");
    let unlabelled = CONLLU.replace("\tDET\t", "\t_\t").replace("\tNOUN\t", "\t_\t");
    assert_eq!(predict(&desk, &unlabelled, ""), "ADP\nDET\nNOUN\n\nINTJ\n\n");
    assert_eq!(predict(&desk, &unlabelled, "--columns"), CONLLU);
    assert_eq!(predict(&desk, "le\nvin\n", "--columns"), "le DET\nvin NOUN\n");
    let line = train(&desk, "wine.conllu", "--label-column deprel --template words+pos");
    assert_eq!(line, "CoNLL-U with the label DEPREL; attributes by --template words+pos");
    assert_eq!(predict(&desk, CONLLU, ""), "case\ndet\nroot\n\nroot\n\n");
}

#[test]
fn chunks_in_three_columns() {
    let desk = desk();
    let line = train(&desk, "chunks.txt", "");
    assert_eq!(line, "columns `word pos label` between blanks; attributes by --template words+pos");
    assert_eq!(predict(&desk, "the DT\ncat NN\nsleeps VB\n", ""), "B-NP\nI-NP\nB-VP\n\n");
    for options in ["--template chunking", "--format conll"] {
        let line = train(&desk, "chunks.txt", options);
        assert!(line.ends_with("attributes by --template chunking"), "{line}");
        assert_eq!(predict(&desk, RAW_CHUNKS, "--columns"), CHUNKS);
    }
}

#[test]
fn models_that_have_kept_no_template_make_the_attributes_of_chunking() {
    let desk = desk();
    train(&desk, "chunks.txt", "--template chunking");
    let mut model = desk.model("x.model");
    assert!(model.meta.template.take().is_some());
    model.save(desk.path("old.model")).unwrap();
    desk.run("verify old.model chunks.txt").ok();
    let (old, new) =
        (desk.run("evaluate old.model chunks.txt"), desk.run("evaluate x.model chunks.txt"));
    assert_eq!(old.ok().stdout, new.ok().stdout);
    desk.write("new.txt", RAW_CHUNKS);
    assert_eq!(desk.run("predict old.model new.txt -q --columns").ok().stdout, CHUNKS);
}

#[test]
fn columns_serve_models_of_single_tokens() {
    let desk = desk();
    desk.run(&format!("train tags.tsv --model multiclass {TRAIN} -q -o x.model")).ok();
    assert_eq!(predict(&desk, "the\ncat\n", ""), "DT\nNN\n");
    let run = desk.run("evaluate x.model tags.tsv").ok();
    assert!(run.stdout.contains("error 0.0000"), "{}", run.stdout);
}

#[test]
fn rows_may_have_names_as_labels() {
    let desk = desk();
    desk.run(&format!("train rows.svm {TRAIN} -q -o x.model")).ok();
    assert_eq!(predict(&desk, "1:1\n2:1\n", ""), "cat\ndog\n");
    assert_eq!(desk.model("x.model").meta.spec.kind(), "binary");
}

#[test]
fn what_cannot_be_read_is_refused_in_words() {
    let desk = desk();
    desk.write("ragged.txt", "a DT\nb NN\nc DT\nd NN\ne\nf NN\n");
    desk.write("mixed.txt", "New York\tA\nb\tB\nc\tA\nd e\nf\tB\n");
    desk.write("shapes.txt", "# names\n\nthe DT O\ncat NN\nis VBZ O\na DT\nbird NN B-X\n");
    desk.write("single.txt", "the\ncat\n");
    desk.write("reversed.txt", "DT\tthe\nNN\tcat\n");
    desk.write("empty.txt", "");
    desk.write("typo.tpl", "U0:%x[0,0]\nU1:%X[1,0]\n");
    desk.write("forgotten.tpl", "U0:x[0,0]\n");
    insta::assert_snapshot!(desk.session(
        "train ragged.txt
         train mixed.txt
         train shapes.txt
         train single.txt
         train reversed.txt
         train empty.txt
         train tags.tsv --template chunking
         train entities.txt --template chunking
         train entities.txt --label-column 7
         train entities.txt --label-column ner
         train wine.conllu --label-column upso
         train wine.conllu --template words+pos
         train tags.tsv --template wrods
         train tags.tsv --template typo.tpl
         train tags.tsv --template forgotten.tpl
         train wine.conllu --format conllu --template typo.tpl
         train pets.crf --format crfsuite --label-column 1
         train rows.svm --label-column 1
         train ocr-small --template words
         train ocr-smal
         train pets.crf -q -o pets.model
         predict pets.model pets.crf --columns
         train wine.conllu -q -o wine.model
         predict wine.model wine.conllu --columns --confidence
         predict wine.model entities.txt"
    ));
}
