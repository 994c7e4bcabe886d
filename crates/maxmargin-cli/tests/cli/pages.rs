//! What report pages tell of a model on test data.

use crate::common::{Desk, GRAPHS, SETS, examples, tiles};
use serde_json::Value;

/// Chunks to train on.
const CHUNKS: &str = "\
B-NP\tw=the
I-NP\tw=dog
B-VP\tw=barks
O\tw=.

B-NP\tw=a
I-NP\tw=cat
B-VP\tw=sleeps
O\tw=.
";

/// Chunks to test on, with words and a label that the model does not know.
const TEST: &str = "\
B-NP\tw=the
I-NP\tw=zebra
B-VP\tw=sleeps
O\tw=.

B-NP\tw=<b>Zürich</b>
B-VP\tw=barks
B-XX\tw=loudly

O\tw=.
";

/// Rows with three labels.
const THREE: &str = "1 1:1 4:0.2\n2 2:1\n3 3:1 4:-1\n1 1:2\n2 2:1 3:0.2\n3 3:2\n";

fn desk() -> Desk {
    let desk = Desk::new();
    desk.write("chunks.crf", CHUNKS);
    desk.write("test.crf", TEST);
    desk.write("sets.svm", SETS);
    desk.write("three.svm", THREE);
    desk.write("two.svm", "+1 1:1 2:0.5\n-1 1:-1 3:2\n+1 2:1\n-1 3:1\n");
    desk.write("graphs.jsonl", GRAPHS);
    desk.write("links.tsv", "the house\tla maison\t1-1 2-2\nthe dog\tle chien\t1p1 2-2\n");
    desk
}

/// A number of a JSON object as a tile shows it.
fn percent(json: &Value, path: &str) -> String {
    format!("{:.2} %", 100.0 * json.pointer(path).and_then(Value::as_f64).unwrap())
}

/// The tiles say what `evaluate --json` says, which works them out on its own.
#[test]
fn tiles_are_the_measures_of_the_task() {
    let desk = desk();
    for (data, test, expected) in [
        (
            "chunks.crf",
            "test.crf",
            vec![
                ("Chunk F1", "/chunks/all/f1"),
                ("Chunk precision", "/chunks/all/precision"),
                ("Chunk recall", "/chunks/all/recall"),
            ],
        ),
        ("three.svm", "three.svm", vec![("Accuracy", "/accuracy"), ("Macro F1", "/macro_f1")]),
        ("two.svm", "two.svm", vec![("Accuracy", "/accuracy"), ("Error", "/zero_one")]),
        (
            "sets.svm",
            "sets.svm",
            vec![
                ("Micro F1", "/micro_f1"),
                ("Macro F1", "/macro_f1"),
                ("F1 by row", "/example_f1"),
                ("Subset accuracy", "/subset_accuracy"),
                ("Hamming error", "/hamming"),
            ],
        ),
        ("links.tsv", "links.tsv", vec![("AER", "/aer"), ("Precision", "/precision")]),
    ] {
        desk.run(&format!("train {data} --test {test} -q -o m.model --report r.html")).ok();
        let page = desk.read("r.html");
        let json = desk.run(&format!("evaluate m.model {test} --json --report e.html")).ok().json();
        for (tile, path) in expected {
            let wanted = (tile.to_owned(), percent(&json, path));
            assert!(tiles(&page).contains(&wanted), "{data}: {wanted:?} of {:?}", tiles(&page));
            assert!(tiles(&desk.read("e.html")).contains(&wanted), "{data}: {wanted:?}");
        }
    }
}

#[test]
fn every_kind_of_model_has_a_full_page() {
    let desk = desk();
    for (data, heading) in [
        ("chunks.crf", "Chunks by kind"),
        ("three.svm", "Labels one by one"),
        ("two.svm", "Labels one by one"),
        ("three.svm --kernel rbf", "Labels one by one"),
        ("sets.svm", "Labels one by one"),
        ("graphs.jsonl", "States one by one"),
        ("links.tsv", "Links of the test"),
    ] {
        let test = data.split(' ').next().unwrap_or(data);
        desk.run(&format!("train {data} --test {test} -q --report r.html")).ok();
        let page = desk.read("r.html");
        for text in [
            heading,
            "On the test data",
            "Examples of the test",
            "The heaviest weights",
            "Convergence",
            "Settings",
        ] {
            assert!(page.contains(text), "{data}: {text}");
        }
        assert_eq!(page.contains("What is taken for what"), data != "links.tsv", "{data}");
        assert!(!examples(&page).is_empty(), "{data}");
    }
}

#[test]
fn words_are_shown_as_they_stand_in_the_data() {
    let desk = desk();
    desk.run("train chunks.crf --test test.crf -q --report r.html").ok();
    let page = desk.read("r.html");
    assert!(page.contains(">zebra<small>I-NP</small>"), "a word that no model knows");
    assert!(page.contains(">&lt;b&gt;Zürich&lt;/b&gt;<small>"));
    assert!(page.contains("<small>(unknown)</small>"), "a label that the model does not know");
    // From a pipe as well, which can be read only once.
    let model = "train chunks.crf -q -o m.model";
    desk.run(model).ok();
    desk.run_on(TEST, "evaluate m.model - --report p.html").ok();
    assert!(desk.read("p.html").contains(">zebra<small>I-NP</small>"));
    // Words of SVM-HMM files are comments.
    desk.run("train tags.hmm --test tags.hmm -q --report t.html").ok();
    assert!(desk.read("t.html").contains(">the<small>1</small>"));
}

#[test]
fn pages_name_no_folders_and_have_the_command_to_copy() {
    let desk = desk();
    std::fs::create_dir(desk.path("secret")).unwrap();
    desk.write("secret/c.crf", CHUNKS);
    let files = "--test secret/c.crf -o secret/m.model --report secret/r.html";
    desk.run(&format!("train ./secret/c.crf -q --seed 17 --max-passes 9 {files}")).ok();
    let page = desk.read("secret/r.html");
    assert!(page.contains("<h1>maxmargin on c.crf</h1>") && page.contains("Measured on c.crf."));
    let folder = desk.path("secret").display().to_string();
    assert!(!page.contains("secret") && !page.contains(&folder));
    let code = page.split("<pre><code>").nth(1).and_then(|rest| rest.split_once("</code>"));
    let command = code.map(|(code, _)| code.replace("<span>", "").replace("</span>", ""));
    let wanted =
        "maxmargin train c.crf -q --seed 17 --max-passes 9 --test c.crf -o m.model --report r.html";
    assert_eq!(command.as_deref(), Some(wanted));
    assert!(
        page.contains("<th scope=\"row\" class=\"tight\">seed</th><td class=\"tight\">17</td>")
    );
    desk.run("path secret/c.crf -q --report secret/p.html").ok();
    assert!(!desk.read("secret/p.html").contains("secret"));
    desk.run("compare secret/c.crf -q --methods fw --seeds 1 --budget 3 --out secret/out").ok();
    assert!(!desk.read("secret/out/report.html").contains("secret"));
}

/// Labels, attributes and words are text, whatever is in them.
#[test]
fn hostile_names_stay_names() {
    let desk = desk();
    let label = "</script><img/src=x>\"'&amp;\u{1b}";
    let hostile = CHUNKS.replace("B-NP", label).replace("w=dog", "w=<!--<script>");
    desk.write("evil.crf", &hostile);
    desk.run("train evil.crf --test evil.crf -q -o e.model --report r.html").ok();
    desk.run("evaluate e.model evil.crf --report e.html").ok();
    desk.write("mild.crf", CHUNKS);
    desk.run("train mild.crf --test mild.crf -q --report m.html").ok();
    let count = |page: &str, text: &str| page.matches(text).count();
    let (evil, mild) = (desk.read("r.html"), desk.read("m.html"));
    for text in ["<script", "</script", "<img", "<!--"] {
        assert_eq!(count(&evil, text), count(&mild, text), "{text}");
    }
    for page in [&evil, &desk.read("e.html")] {
        assert!(page.contains("&lt;/script&gt;&lt;img/src=x&gt;") && !page.contains('\u{1b}'));
    }
}

#[test]
fn evaluate_writes_the_same_page_for_the_same_seed() {
    let desk = desk();
    desk.run("train three.svm -q -o m.model").ok();
    let page = |options: &str| {
        let mut command =
            desk.command(&format!("evaluate m.model three.svm {options} --report r.html"));
        let run = command.env("SOURCE_DATE_EPOCH", "951782400").output().unwrap();
        assert!(run.status.success());
        desk.read("r.html")
    };
    assert_eq!(page(""), page(""));
    assert!(page("").contains("2000-02-29 00:00 UTC") && page("").contains("m.model on three.svm"));
    assert!(page("--seed 5").contains("drawn by seed 5"));
    insta::assert_snapshot!(desk.session(
        "evaluate m.model three.svm --report m.model
         evaluate m.model three.svm --report three.svm
         evaluate m.model three.svm --report nosuch/r.html
         evaluate m.model three.svm --seed 5
         evaluate m.model three.svm --report r.html --images ."
    ));
}

#[test]
fn the_search_for_lambda_is_drawn() {
    let desk = desk();
    desk.run("train pets.crf --lambda auto -q --report r.html").ok();
    assert!(desk.read("r.html").contains("The search for λ"));
    desk.run("train pets.crf -q --report r.html").ok();
    assert!(!desk.read("r.html").contains("The search for λ"));
}
