//! `maxmargin path`, and warm starts.

use crate::common::{Desk, keys};
use serde_json::Value;

const KEYS: [&str; 11] = [
    "audit_oracle_calls",
    "audit_seconds",
    "best",
    "breakpoints",
    "epsilon",
    "guaranteed",
    "kind",
    "largest_gap",
    "lowest",
    "oracle_calls",
    "seconds",
];

fn number(value: &Value, key: &str) -> f64 {
    value[key].as_f64().unwrap_or_else(|| panic!("no number `{key}` in {value}"))
}

fn points(result: &Value) -> &Vec<Value> {
    result["breakpoints"].as_array().unwrap()
}

#[test]
fn follows_the_path_and_keeps_the_best_model() {
    let desk = Desk::new();
    let run = desk
        .run(
            "path pets.crf --validation pets.crf --epsilon 0.05 -o best.model --report p.html \
              --figures plots --json -q",
        )
        .ok();
    let result = run.json();
    assert_eq!(keys(&result), KEYS);
    assert_eq!((&result["guaranteed"], &result["kind"]), (&true.into(), &"exact".into()));
    assert_eq!(result["audit_oracle_calls"], 0);
    assert!(number(&result, "largest_gap") <= 0.05 * (1.0 + 1e-9));
    for point in points(&result) {
        assert!(number(point, "gap") <= 0.05);
        assert_eq!(point["gap"], point["estimated_gap"]);
        assert_eq!(point["status"], "converged");
        assert!(number(point, "validation") >= 0.0);
    }
    let falls = |pair: &[Value]| number(&pair[0], "lambda") > number(&pair[1], "lambda");
    assert!(points(&result).windows(2).all(falls));
    let page = desk.read("p.html");
    for heading in ["Validation error", "Duality gap", "Oracle calls so far", "Breakpoints"] {
        assert!(page.contains(heading), "{heading}");
    }
    let figures = desk.files("plots");
    assert!(figures.contains(&"duality-gap_gap-lambda.svg".to_owned()), "{figures:?}");
    assert!(figures.contains(&"validation-error_error-lambda.svg".to_owned()), "{figures:?}");
    let best = desk.model("best.model");
    assert_eq!(best.meta.certificate.lambda, number(&result["best"], "lambda"));
    desk.run("verify best.model pets.crf").ok();
}

#[test]
fn says_in_words_what_is_guaranteed() {
    let desk = Desk::new();
    let run = desk.run("path pets.crf --lambda-min 0.1").ok();
    assert!(run.stdout.contains("breakpoints: the duality gap is at most 0.1 for every lambda"));
    assert!(run.stderr.contains("lambda"));
    let run = desk.run("path pets.crf -q").ok();
    assert_eq!((run.stdout.as_str(), run.stderr.as_str()), ("", ""));
}

#[test]
fn the_heuristic_guarantees_nothing_and_says_so() {
    let desk = Desk::new();
    let options = "--heuristic --epsilon 0.05 -o last.model -p h.path --report h.html";
    let run = desk.run(&format!("path pets.crf {options}")).ok();
    assert!(run.stdout.contains("breakpoints by the heuristic, which guarantees nothing."));
    assert!(run.stdout.contains("more oracle calls in "), "{}", run.stdout);
    assert!(run.stdout.contains("epsilon = 0.05."), "{}", run.stdout);
    assert!(desk.read("h.html").contains("What the solver took it for"));
    desk.run("verify last.model pets.crf").ok();

    let result = desk.run("path pets.crf --heuristic --epsilon 0.05 --json -q").ok().json();
    assert_eq!(keys(&result), KEYS);
    assert_eq!((&result["guaranteed"], &result["kind"]), (&false.into(), &"heuristic".into()));
    assert!(number(&result, "audit_oracle_calls") > 0.0);
    let largest = points(&result).iter().flat_map(|p| [number(p, "gap"), number(p, "gap_at_end")]);
    assert_eq!(largest.fold(0.0, f64::max), number(&result, "largest_gap"));
    // 0.7 of epsilon is what it stops at.
    assert!(points(&result).iter().all(|p| number(p, "estimated_gap") <= 0.035 * (1.0 + 1e-9)));
}

#[test]
fn a_grid_is_shown_as_a_path_is() {
    let desk = Desk::new();
    for start in ["cold", "warm-primal", "warm-dual"] {
        let options = format!("--grid {start} --validation pets.crf --epsilon 0.02");
        let result = desk.run(&format!("path pets.crf {options} --json -q")).ok().json();
        assert_eq!(keys(&result), KEYS);
        assert_eq!(result["kind"], format!("grid-{start}"));
        let points = points(&result);
        assert_eq!(points.len(), 31);
        assert_eq!(number(&points[0], "lambda"), 32768.0);
        assert_eq!(number(&points[30], "lambda"), 1.0 / 32768.0);
        assert!(points.iter().all(|p| number(p, "gap") <= 0.02));
        let grows =
            |pair: &[Value]| pair[0]["oracle_calls"].as_u64() < pair[1]["oracle_calls"].as_u64();
        assert!(points.windows(2).all(grows));
    }
    let options = "--grid warm-primal --lambda-max 4 --lambda-min 0.3 -o g.model --report g.html";
    let run = desk.run(&format!("path pets.crf {options}")).ok();
    insta::assert_snapshot!(run.stdout, @r"
    4 values of lambda, each with a duality gap of at most 0.1; between them
    nothing is promised.
    ");
    assert!(desk.read("g.html").contains("Grid, weights kept from λ to λ, of pets.crf"));
    assert_eq!(desk.model("g.model").meta.certificate.lambda, 0.5);
    desk.run("verify g.model pets.crf").ok();
}

#[test]
fn models_are_picked_from_a_path_file() {
    let desk = Desk::new();
    let followed = desk
        .run("path pets.crf --epsilon 0.05 --validation pets.crf -p pets.path --json -q")
        .ok()
        .json();
    let listed = desk.run("pick pets.path --json").ok().json();
    assert_eq!(keys(&listed), KEYS);
    for key in ["kind", "epsilon", "lowest", "largest_gap", "oracle_calls"] {
        assert_eq!(listed[key], followed[key], "{key}");
    }
    assert!(desk.run("pick pets.path").ok().stdout.contains("the duality gap is at most 0.05"));

    let first = number(&points(&followed)[0], "lambda");
    for lambda in [1e-3, 0.05, 0.7, first, 3.0 * first] {
        let run = desk.run(&format!("pick pets.path --lambda {lambda} -o a.model --json -q")).ok();
        let picked = run.json();
        assert!(number(&picked, "gap") <= 0.05 * (1.0 + 1e-9));
        assert_eq!(number(&picked, "lambda"), lambda);
        let model = desk.model("a.model");
        assert_eq!(model.meta.certificate.gap, number(&picked, "gap"));
        assert_eq!((model.meta.certificate.lambda, model.meta.n), (lambda, 3));
        assert!(model.dual.is_none());
        desk.run("predict a.model pets.crf").ok();
        desk.run("dump a.model").ok();
        let verified = desk.run("verify a.model pets.crf");
        let from = "models taken out of a path file never have a dual point";
        assert!(verified.stderr.contains(from), "{}", verified.stderr);
        assert_eq!(model.contradictions(), [""; 0]);
        assert_eq!(picked["has_dual"], false);
        // Training at the same λ cannot do better by more than ε.
        let train = format!("train pets.crf --lambda {lambda} --tolerance 1e-7 --json -q");
        let best = number(&desk.run(&train).ok().json(), "dual");
        assert!(
            number(&picked, "primal") - best <= 0.05 * (1.0 + 1e-6)
                && number(&picked, "dual") <= best + 1e-7
        );
    }
    let words = desk.run("pick pets.path --lambda 0.05 -o a.model").ok();
    assert!(
        words
            .stdout
            .starts_with("From the regularization path, at lambda 0.05.\nThe objective is ")
    );
    assert!(words.stdout.contains("This is the bound of the path at this lambda."));
    assert_eq!(words.stderr, "model written to a.model\n");
    let dump = desk.run("dump a.model").ok().stdout;
    assert!(dump.contains("taken out of  an exact path, from its breakpoint at lambda "), "{dump}");
    assert!(
        dump.contains("proven        the gap is the bound of the path at lambda 0.05\n"),
        "{dump}"
    );
    assert!(dump.contains("dual point    left out\n"), "{dump}");
    let run = desk.run(&format!("pick pets.path --lambda {}", 2.0 * first)).ok();
    assert!(run.stdout.contains("the distance are upper bounds"), "{}", run.stdout);

    let run = desk.run("pick pets.path --validation pets.crf -o v.model").ok();
    assert!(run.stderr.contains("The least validation error is "), "{}", run.stderr);
    let best = desk.model("v.model").meta.certificate.lambda;
    assert_eq!(best, number(&followed["best"], "lambda"));
}

#[test]
fn a_lambda_off_the_path_cannot_be_picked() {
    let desk = Desk::with_model("-q");
    // Two words that contradict each other: no path over these ends by itself.
    desk.write("torn.crf", "NN\tw=a\n\nVB\tw=a\n");
    desk.run("path torn.crf --lambda-min 0.25 -p torn.path -q").ok();
    desk.run("path pets.crf --grid cold --lambda-max 4 --lambda-min 0.25 -p grid.path -q").ok();
    let bytes = std::fs::read(desk.path("grid.path")).unwrap();
    desk.write("cut.path", &bytes[..bytes.len() - 10]);
    desk.write("stub.path", &bytes[..20]);
    desk.write("empty.path", "");
    let run = desk.run("pick torn.path --lambda 0.001");
    assert!(run.stderr.starts_with("error: the path ends at lambda "), "{}", run.stderr);
    assert!(run.stderr.contains("hint: follow it further with --lambda-min"));
    insta::assert_snapshot!(desk.session(
        "pick grid.path --lambda 0.3
         pick grid.path --lambda 0
         pick grid.path --lambda NaN
         pick grid.path --lambda much
         pick grid.path --lambda 1 --validation pets.crf
         pick grid.path -o x.model
         pick grid.path --lambda 1 -o grid.path
         pick grid.path --validation nosuch.crf
         pick cut.path
         pick stub.path
         pick empty.path
         pick nosuch.path
         pick pets.model
         pick pets.crf
         dump grid.path
         predict grid.path pets.crf"
    ));
    assert!(!desk.path("x.model").exists());
}

#[test]
fn refuses_what_makes_no_sense() {
    let desk = Desk::new();
    insta::assert_snapshot!(desk.session(
        "path
         path pets.crf --epsilon 0
         path pets.crf --epsilon -1
         path pets.crf --epsilon small
         path pets.crf --kappa 1.5
         path pets.crf --lambda-min -1
         path pets.crf --lambda-max 4
         path pets.crf --heuristic --kappa 0
         path pets.crf --heuristic --grid cold
         path pets.crf --grid cold --kappa 0.5
         path pets.crf --grid warm
         path pets.crf --grid cold --lambda-min 2 --lambda-max 1
         path pets.crf --grid cold --lambda-min nan
         path pets.crf --validation nosuch.crf
         path pets.crf -o x -p ./x
         path pets.crf -p pets.crf
         path pets.crf -p nosuch/x.path
         path pets.crf --seed -1
         path - --validation -
         path nosuch.crf"
    ));
    assert_eq!(desk.files(""), ["pets.crf", "tags.hmm"]);
}

#[test]
fn help_tells_what_paths_can_do() {
    insta::assert_snapshot!(Desk::new().session(
        "path --help
         pick --help"
    ));
}

#[test]
fn a_warm_start_goes_on_from_a_model_of_the_same_data() {
    let desk = Desk::new();
    desk.run("train pets.crf -q --lambda 0.1 --tolerance 1e-6 -o first.model").ok();
    let calls = |name: &str| desk.model(name).meta.totals.oracle_calls;
    for lambda in ["0.1", "0.05", "0.3"] {
        let options = format!("--lambda {lambda} --tolerance 1e-6 -o next.model");
        desk.run(&format!("train pets.crf -q --warm-start first.model {options}")).ok();
        desk.run("verify next.model pets.crf").ok();
        if lambda == "0.1" {
            assert!(calls("next.model") < calls("first.model"));
        }
    }
    let run = desk.run("train tags.hmm --warm-start first.model");
    assert!(run.stderr.contains("the model was trained on other data"), "{}", run.stderr);
    desk.run("train pets.crf -q --no-dual -o slim.model").ok();
    let run = desk.run("train pets.crf --warm-start slim.model");
    assert!(run.stderr.contains("without its dual point"), "{}", run.stderr);
}

#[test]
fn lambda_is_chosen_on_data_held_out() {
    let desk = Desk::new();
    let run = desk.run("train ocr-small --lambda auto --max-passes 1 -o a.model").ok();
    assert!(run.stderr.contains("on the sequences, held out in 3 parts"), "{}", run.stderr);
    assert!(run.stderr.contains("lambda auto: "), "{}", run.stderr);
    let lambda = desk.model("a.model").meta.certificate.lambda;
    assert!((1e-3..1.0).contains(&lambda), "{lambda}");
    let run = desk.run("train pets.crf -q --lambda auto --validation pets.crf --json").ok();
    assert!(run.json()["lambda"].as_f64().unwrap() > 0.0);
}
