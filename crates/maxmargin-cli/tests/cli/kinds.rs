//! Models of all kinds, from training to predictions.

use crate::common::{Desk, examples};
use serde_json::Value;

/// Six rows with two labels, in LIBSVM's layout.
const PAIRS: &str = "\
+1 1:1 2:0.5
-1 1:-1 3:2
+1 2:1
-1 3:1
+1 1:0.5 2:2
-1 2:-1 3:0.5
";

/// Rows with three labels.
const THREE: &str = "\
1 1:1 4:0.2
2 2:1
3 3:1 4:-1
1 1:2
2 2:1 3:0.2
3 3:2
";

/// Rows with sets of labels.
const SETS: &str = "\
1,2 1:1 2:1 9:1
1 1:1 9:1
2,3 2:1 3:1 9:1
 3:0.5 9:1
3 3:1 9:1
";

/// A ring and a pair of variables.
const GRAPHS: &str = concat!(
    r#"{"variables": [{"states": 2, "truth": 0}, {"states": 2, "truth": 1}, {"states": 2, "truth": 1}], "#,
    r#""factors": [{"template": "pixel", "variables": [0], "attributes": {"dark": 1}}, "#,
    r#"{"template": "pixel", "variables": [1], "attributes": {"light": 1}}, "#,
    r#"{"template": "edge", "variables": [0, 1], "attributes": {"bias": 1}}, "#,
    r#"{"template": "edge", "variables": [1, 2], "attributes": {"bias": 1}}, "#,
    r#"{"template": "edge", "variables": [2, 0], "attributes": {"bias": 0.1}}]}"#,
    "\n",
    r#"{"variables": [{"states": 2, "truth": 0}, {"states": 2, "truth": 0}], "#,
    r#""factors": [{"template": "pixel", "variables": [0], "attributes": {"dark": 1}}, "#,
    r#"{"template": "edge", "variables": [0, 1], "attributes": {"bias": 1}}]}"#,
    "\n"
);

/// Three images of a few superpixels.
pub(crate) const REGIONS: &str = "\
G cow train 2 6 3 2
N 4 4 1 .5
N 4 3 .8 .1
N 4 0 0 .2
E 0 1 2 .05
E 1 2 2 .4
G calf train 2 4 2 1
N 4 4 .9 .3
N 4 0 .2 .6
E 0 1 2 .3
G bull test 2 4 2 1
N 4 4 .7 .1
N 4 1 .1 .9
E 0 1 2 .35
";

/// Sentences with links.
const LINKS: &str = "\
train\tthe house\tla maison\t1-1 2-2
train\tthe dog\tle chien\t1p1 2-2
test\tthe dog 's house\tla maison de le chien\t1-1 2-5 3p3 4-2
";

/// Two people with fourteen joints.
fn people() -> String {
    let mut text = String::new();
    for (name, slant) in [("ann", 1.0), ("bob", -1.0), ("cy", 0.5)] {
        text.push_str(name);
        for joint in 0..14 {
            let (x, y) = (10.0 + slant * f64::from(joint % 4) * 3.0, 40.0 - 2.5 * f64::from(joint));
            text.push_str(&format!("\t{x},{y},0"));
        }
        text.push('\n');
    }
    text
}

fn desk() -> Desk {
    let desk = Desk::new();
    for (name, text) in
        [("pairs.svm", PAIRS), ("three.svm", THREE), ("sets.svm", SETS), ("graphs.jsonl", GRAPHS)]
    {
        desk.write(name, text);
    }
    desk.write("regions.txt", REGIONS);
    desk.write("links.tsv", LINKS);
    desk.write("people.tsv", people());
    desk
}

#[test]
fn the_format_says_which_model_is_meant() {
    let desk = desk();
    for (data, kind) in [
        ("pets.crf", "chain"),
        ("pairs.svm", "binary"),
        ("three.svm", "multiclass"),
        ("sets.svm", "multilabel"),
        ("graphs.jsonl", "factor-graph"),
        ("regions.txt", "graph"),
        ("regions.txt:train", "graph"),
        ("links.tsv", "matching"),
        ("people.tsv:0..2", "tree"),
    ] {
        desk.run(&format!("train {data} -q -o x.model")).ok();
        assert_eq!(desk.model("x.model").meta.spec.kind(), kind);
        let verified = desk.run(&format!("verify x.model {data}"));
        assert_eq!(verified.code, 0, "{data}: {}", verified.transcript());
    }
}

#[test]
fn every_kind_is_trained_tested_and_shown() {
    let desk = desk();
    insta::assert_snapshot!(desk.session(
        "train pairs.svm --test pairs.svm -o pairs.model
         evaluate pairs.model pairs.svm
         predict pairs.model pairs.svm
         predict pairs.model pairs.svm --confidence
         dump pairs.model --top 2
         train three.svm --test three.svm -q -o three.model
         evaluate three.model three.svm
         predict three.model three.svm --n-best 2
         train sets.svm --lambda 0.01 --direction corrective --test sets.svm -q -o sets.model
         evaluate sets.model sets.svm
         predict sets.model sets.svm
         predict sets.model sets.svm --n-best 2
         predict sets.model sets.svm --confidence
         dump sets.model --top 1
         train graphs.jsonl --lambda 0.01 --order gap -q -o graphs.model
         evaluate graphs.model graphs.jsonl
         predict graphs.model graphs.jsonl
         predict graphs.model graphs.jsonl --n-best 2
         predict graphs.model graphs.jsonl --confidence
         dump graphs.model --top 1"
    ));
}

/// The same text again and again, with names of its own each time where examples have names.
fn repeated(text: &str, times: usize, name: Option<&str>) -> String {
    let again = |at: usize| match name {
        Some(name) => text.replace(name, &format!("{name}{at}")),
        None => text.to_owned(),
    };
    (0..times).map(again).collect()
}

#[test]
fn answers_and_measures_do_not_depend_on_the_number_of_threads() {
    let desk = desk();
    desk.write("columns.txt", "the DT\ndog NN\nbarks VB\n\na DT\ncat NN\n\n");
    let many_pets = repeated(&format!("{}\n", crate::common::PETS), 300, None);
    for (train, text, name, options) in [
        ("pets.crf", many_pets.as_str(), None, vec!["--n-best 3", "--confidence", "--keep-labels"]),
        ("columns.txt", "the DT\ncat NN\n\ndog NN\n\n", None, vec!["--columns", "--rules bio"]),
        ("tags.hmm", crate::common::TAGS, Some("qid:"), vec!["--n-best 2"]),
        ("pairs.svm", PAIRS, None, vec!["--confidence"]),
        ("three.svm", THREE, None, vec!["--n-best 2"]),
        ("sets.svm", SETS, None, vec!["--n-best 2", "--confidence"]),
        (
            "graphs.jsonl",
            GRAPHS,
            None,
            vec!["--n-best 2", "--confidence", "--inference max-product"],
        ),
        ("regions.txt", REGIONS, Some("bull"), vec![]),
        ("links.tsv", LINKS, None, vec!["--n-best 2"]),
        ("people.tsv", &people(), None, vec!["--n-best 2"]),
    ] {
        let times = if train == "people.tsv" { 5 } else { 40 };
        let extension = train.rsplit('.').next().unwrap();
        let data = format!("many.{extension}");
        desk.write(&data, repeated(text, times, name));
        desk.run(&format!("train {train} -q -o any.model")).ok();
        let on = |verb: &str, threads: usize| {
            let run = desk.run(&format!("{verb} --threads {threads}"));
            assert!(run.code == 0 || !run.stderr.is_empty(), "{}", run.transcript());
            (run.code, run.stdout, run.stderr)
        };
        for option in [""].into_iter().chain(options) {
            let verb = format!("predict any.model {data} {option}");
            let expected = on(&verb, 1);
            assert!(expected.0 == 0 && !expected.1.is_empty(), "{train} {option}: {expected:?}");
            for threads in [0, 2, 5] {
                assert_eq!(on(&verb, threads), expected, "{train} {option} {threads}");
            }
        }
        let verb = format!("evaluate any.model {data} --json");
        let expected = on(&verb, 1);
        assert_eq!(expected.0, 0, "{train}: {expected:?}");
        assert_eq!(on(&verb, 3), expected, "{train}");
    }
}

#[test]
fn graphs_matchings_and_trees_have_parts() {
    let desk = desk();
    insta::assert_snapshot!(desk.session(
        "train regions.txt:train --order gap --lambda 0.01 --test regions.txt:test -q -o r.model
         evaluate r.model regions.txt:test
         predict r.model regions.txt
         dump r.model --top 1
         train links.tsv:train --order gap --lambda 0.01 --links 2 --test links.tsv:test -q -o l.model
         evaluate l.model links.tsv:test
         predict l.model links.tsv:test
         predict l.model links.tsv:train --n-best 2
         train links.tsv:train --order gap --lambda 0.01 -q -o one.model
         predict one.model links.tsv:train --n-best 2
         train people.tsv:0..2 --order gap --joint-kinds 1 -q -o p.model
         evaluate p.model people.tsv:..2
         train regions.txt:dev
         train links.tsv:dev
         train people.tsv:2..9
         train people.tsv:few
         train regions.txt --loss hamming
         train regions.txt --graph-inference max-flow --free-pairs
         train links.tsv --loss hamming
         train pairs.svm:train
         train links.tsv --pairs tree
         predict l.model links.tsv --confidence
         predict p.model regions.txt"
    ));
}

/// Relaxations say that what they prove is an upper bound, and predict labels all the same.
#[test]
fn graphs_are_relaxed() {
    let desk = desk();
    let how = "--solver bcfw --order gap --direction corrective --lambda 0.01";
    insta::assert_snapshot!(desk.session(&format!(
        "train regions.txt:train {how} --free-pairs --graph-inference roof-duality -o roof.model
         evaluate roof.model regions.txt:test
         predict roof.model regions.txt
         verify roof.model regions.txt:train
         train regions.txt:train {how} --free-pairs --graph-inference lp -q -o lp.model
         predict lp.model regions.txt
         verify lp.model regions.txt:train
         train regions.txt:train {how} --graph-inference lp -q -o whole.model
         verify whole.model regions.txt:train"
    )));
}

#[test]
fn options_of_other_kinds_are_refused() {
    let desk = desk();
    desk.write("costs.txt", "1 2 5\n2 7 1\n");
    desk.run("train pairs.svm -q -o pairs.model").ok();
    desk.run("train sets.svm -q -o sets.model").ok();
    insta::assert_snapshot!(desk.session(
        "train pairs.svm --template chunking
         train pairs.svm --pairs tree
         train pairs.svm --lower emission=0
         train pairs.svm --model chain
         train pairs.svm --positive maybe
         train pairs.svm --bias inf
         train three.svm --model binary
         train three.svm --costs costs.txt
         train three.svm --costs missing.txt
         train pets.crf --model factor-graph
         train pets.crf --rescaling slack --kernel rbf
         train regions.txt --rescaling slack --training soft
         train regions.txt --rescaling slack --graph-inference lp
         train sets.svm --inference max-sum
         train sets.svm --frequent-labels 0
         train graphs.jsonl --label-weight a=1
         train graphs.jsonl --format libsvm
         predict pairs.model pairs.svm --rules bio
         evaluate pairs.model graphs.jsonl
         train sets.svm --model multiclass"
    ));
}

#[test]
fn a_model_keeps_its_options() {
    let desk = desk();
    desk.write("costs.txt", "# a mistake that hurts\n1 2 5\n\n3 1 0.5\n");
    for (data, options) in [
        ("pairs.svm", "--positive -1 --bias 0"),
        ("pairs.svm", "--model multiclass"),
        ("three.svm", "--costs costs.txt --rescaling slack --bias 2"),
        ("three.svm", "--lambda auto --patience 3"),
        ("three.svm", "--lower 0 --upper bias=0.5"),
        ("three.svm", "--lower 0 --costs costs.txt --rescaling slack"),
        ("pairs.svm", "--lower weights=-0.1 --direction corrective"),
        ("sets.svm", "--pairs tree --loss hamming --label-weight 1=2"),
        ("sets.svm", "--pairs none --frequent-labels 2"),
        ("sets.svm", "--rescaling slack"),
        ("sets.svm", "--inference lp --lower pairs=0 --average weighted"),
        ("graphs.jsonl", "--inference lp --loss hamming --upper template.0=0.5"),
        ("graphs.jsonl", "--rescaling slack"),
        ("ocr-small", "--model multiclass --tolerance 0.1"),
        ("regions.txt", "--free-pairs --widths 0.1,inf --loss normalised-hamming"),
        ("links.tsv", "--links 2 --missing-cost 2 --min-count 2 --lower 0"),
        ("people.tsv", "--joint-kinds 2 --max-passes 3"),
        ("pets.crf", "--rescaling slack"),
        ("pets.crf", "--rescaling slack --lower 0"),
        ("regions.txt", "--rescaling slack"),
        ("links.tsv", "--rescaling slack --links 2"),
        ("people.tsv:0..2", "--rescaling slack --joint-kinds 2 --max-passes 1"),
    ] {
        desk.run(&format!("train {data} -q -o x.model {options}")).ok();
        for verb in ["verify", "evaluate", "predict"] {
            let run = desk.run(&format!("{verb} x.model {data}"));
            assert_eq!(run.code, 0, "{data} {options}: {}", run.transcript());
        }
    }
    insta::assert_snapshot!(desk.session(
        "train sets.svm --frequent-labels 2 -q -o some.model
         evaluate some.model sets.svm
         train sets.svm --inference lp --order gap -o lp.model
         verify lp.model sets.svm"
    ));
}

#[test]
fn reports_have_pictures_of_what_was_predicted() {
    let desk = desk();
    let png = b"\x89PNG\r\n\x1a\nnot much of a picture";
    std::fs::create_dir(desk.path("test")).unwrap();
    desk.write("test/bull.png", png);
    let train = "train regions.txt:train --test regions.txt:test -q --report r.html";
    desk.run(&format!("{train} --images . --centres 1,2")).ok();
    let page = desk.read("r.html");
    assert!(page.contains("data:image/png;base64,iVBORw0KGgpub3Q"));
    assert_eq!(examples(&page), ["bull"]);
    // On paper; and not at all, but for a word of why, where no features are centres.
    desk.run(&format!("{train} --centres 1,2")).ok();
    let page = desk.read("r.html");
    assert_eq!(examples(&page), ["bull"]);
    assert!(!page.contains("data:image/png;base64,iVBORw0KGgpub3Q"));
    desk.run(train).ok();
    assert_eq!(examples(&desk.read("r.html")), [""; 0]);

    desk.run("train people.tsv --test people.tsv:0..2 -q --max-passes 2 --report p.html").ok();
    let page = desk.read("p.html");
    assert_eq!(examples(&page).len(), 2);
    assert!(page.contains("of 14 found</small>") && page.contains("stroke-dasharray=\"3 3\""));

    for (options, message) in [
        ("pairs.svm --report x.html --images .", "--images has no meaning here"),
        ("regions.txt --images .", "--report <FILE.html>"),
        ("regions.txt --centres 0,1", "two numbers of features are needed"),
    ] {
        let run = desk.run(&format!("train {options}"));
        assert!(run.code != 0 && run.stderr.contains(message), "{}", run.transcript());
    }
}

#[test]
fn mistakes_cost_what_the_data_say() {
    let desk = desk();
    let costly = crate::common::PETS.replace("VB\tw=bark\n", "VB\tw=bark\t@cost:9\n");
    desk.write("costly.crf", &costly);
    desk.run("train pets.crf -q --tolerance 1e-6 -o plain.model").ok();
    desk.run("train costly.crf -q --tolerance 1e-6 -o costly.model").ok();
    let (plain, costly) = (desk.model("plain.model"), desk.model("costly.model"));
    assert_eq!(plain.attributes, costly.attributes);
    assert_ne!(plain.weights, costly.weights);
    desk.run("verify costly.model costly.crf").ok();
    assert_eq!(desk.run("verify costly.model pets.crf").code, 1);
}

#[test]
fn checkpoints_and_paths_know_all_kinds() {
    let desk = desk();
    desk.run("train three.svm -q --max-passes 2 --tolerance 0 --checkpoint c.ckpt").ok();
    desk.run("train three.svm -q --tolerance 1e-4 --resume c.ckpt -o resumed.model").ok();
    desk.run("train three.svm -q --tolerance 1e-4 -o whole.model").ok();
    let (resumed, whole) = (desk.model("resumed.model"), desk.model("whole.model"));
    assert_eq!(resumed.weights, whole.weights);
    desk.run("train three.svm -q --max-passes 2 --tolerance 0 --checkpoint d.ckpt").ok();
    let other = desk.run("train three.svm -q --tolerance 1e-4 --bias 0 --resume d.ckpt");
    assert!(other.stderr.contains("begun with another option for the model"), "{}", other.stderr);

    desk.run("path sets.svm -q -p sets.path --validation sets.svm").ok();
    desk.run("pick sets.path --lambda 0.5 -q -o picked.model").ok();
    assert_eq!(desk.model("picked.model").meta.spec.kind(), "multilabel");
}

#[test]
fn labels_have_constant_weights_unless_they_are_left_out() {
    let desk = desk();
    let attributes = |options: &str| {
        desk.run(&format!("train sets.svm -q -o x.model {options}")).ok();
        desk.run("verify x.model sets.svm").ok();
        desk.run("predict x.model sets.svm").ok();
        let model = desk.model("x.model");
        model.attributes.iter().any(|name| name == "(constant)")
    };
    assert!(attributes(""));
    assert!(attributes("--bias 1"));
    assert!(!attributes("--bias 0"));
    assert!(!attributes("--kernel rbf"));
    assert!(attributes("--pairs none"));
    assert!(!attributes("--pairs none --bias 0"));
    assert!(attributes("--training soft"));
    let refused = desk.run("train sets.svm --bias 2 -o y.model");
    assert!(refused.transcript().contains("--bias of a multi-label model is 0 or 1, not 2"));
    assert_ne!(refused.code, 0);
}

/// The same answers as in text, one object a line, for every kind of model.
#[test]
fn answers_in_json_say_what_the_text_says() {
    let desk = desk();
    for (data, key, options) in [
        ("pets.crf", "labels", "--n-best 2"),
        ("pairs.svm", "label", "--n-best 2"),
        ("three.svm", "label", "--n-best 2"),
        ("sets.svm", "labels", "--n-best 2"),
        ("graphs.jsonl", "states", "--n-best 2"),
        ("regions.txt", "labels", ""),
        ("links.tsv", "links", "--n-best 2"),
        ("people.tsv", "places", "--n-best 2"),
    ] {
        desk.run(&format!("train {data} -q -o any.model")).ok();
        let predict = |options: &str| desk.run(&format!("predict any.model {data} {options}")).ok();
        let lines = |options: &str| -> Vec<Value> {
            let text = predict(options).stdout;
            text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
        };
        let best = lines("--json");
        // Letters and digits of both layouts, without their punctuation.
        let bare =
            |text: &str| -> String { text.chars().filter(|c| c.is_alphanumeric()).collect() };
        let in_json: String = best.iter().map(flat).collect();
        if key != "places" {
            assert_eq!(bare(&in_json), bare(&predict("").stdout), "{data}");
        }
        assert!(best.iter().all(|line| line.get(key).is_some()), "{data}: {best:?}");
        if options.is_empty() {
            continue;
        }
        let ranked = lines(&format!("--json {options}"));
        assert_eq!(ranked.len(), best.len(), "{data}");
        for (ranked, best) in ranked.iter().zip(&best) {
            let ranked = ranked["n_best"].as_array().unwrap();
            assert_eq!(ranked[0][key], best[key], "{data}");
            let scores: Vec<f64> =
                ranked.iter().map(|one| one["score"].as_f64().unwrap()).collect();
            assert!(scores.is_sorted_by(|a, b| a >= b), "{data}: {scores:?}");
        }
    }
    for (data, margins) in [("pets.crf", 3), ("three.svm", 1), ("sets.svm", 1), ("graphs.jsonl", 1)]
    {
        desk.run(&format!("train {data} -q -o any.model")).ok();
        let text = desk.run(&format!("predict any.model {data} --json --confidence")).ok().stdout;
        let first: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
        let confidence = &first["confidence"];
        let count = confidence.as_array().map_or(usize::from(confidence.is_f64()), Vec::len);
        assert_eq!(count, margins, "{data}: {first}");
    }
    let refused = desk.run("predict any.model pets.crf --json --columns");
    assert_eq!(refused.code, 2, "{}", refused.transcript());
}

/// All strings and numbers of a value, one after the other.
fn flat(value: &Value) -> String {
    match value {
        Value::Array(items) => items.iter().map(flat).collect(),
        Value::Object(fields) => fields.values().map(flat).collect(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Where outputs cannot all be tried, slack rescaling searches, and says what that proves.
#[test]
fn slack_rescaling_by_search_says_what_it_proves() {
    let desk = desk();
    let run = desk.run("train pets.crf --rescaling slack -o slack.model --json").ok();
    let told = run.json();
    let number = |key: &str| told[key].as_f64().unwrap_or_else(|| panic!("{key} in {told}"));
    assert_eq!(told["quality"], "heuristic", "{told}");
    assert!(number("missed") >= 0.0 && number("dual") <= number("primal") + number("missed"));
    let run = desk.run("train pets.crf --rescaling slack --lambda 0.1 -o slack.model").ok();
    let all = format!("{}{}", run.stdout, run.stderr).replace('\n', " ");
    assert!(all.contains("the objective is at least") && all.contains("and at most"), "{all}");
    let verified = desk.run("verify slack.model pets.crf --json").ok().json();
    assert_eq!((&verified["proven"], &verified["point"]), (&true.into(), &"feasible".into()));
    assert_eq!(verified["claimed"]["missed"], verified["recomputed"]["missed"], "{verified}");
    let verified = desk.run("verify slack.model pets.crf").ok().stdout;
    assert!(verified.contains("missed ") && verified.contains("The claim holds"), "{verified}");
    let dumped = desk.run("dump slack.model --top 1").ok().stdout;
    assert!(dumped.contains("structured SVM with slack rescaling"), "{dumped}");
}
