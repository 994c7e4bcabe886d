use super::*;
use crate::error::DataError;
use crate::fingerprint::Fingerprinter;
use crate::lines::Lines;
use crate::mapping::LabelRule;
use maxmargin::model::factor_graph::{Counting, Patterns, Tie};
use proptest::collection::vec;
use proptest::prelude::*;
use std::fs;
use std::path::Path;

fn reader(text: &str) -> FactorGraphReader {
    let bytes = std::io::Cursor::new(text.as_bytes().to_vec());
    FactorGraphReader::new(Lines::from_reader("g.jsonl", bytes).unwrap())
}

fn read_all(text: &str) -> Result<Vec<RawFactorGraph>, DataError> {
    let (mut reader, mut graph, mut all) = (reader(text), RawFactorGraph::default(), Vec::new());
    while reader.read(&mut graph)? {
        all.push(graph.clone());
    }
    Ok(all)
}

fn error(text: &str) -> String {
    read_all(text).unwrap_err().to_string()
}

const SMALL: &str = r#"{"variables": [{"states": 2, "truth": 1}, {"states": 3, "truth": 0, "cost": 2.5}], "factors": [{"template": "u", "variables": [0], "attributes": {"a": 1, "b": -0.5}}, {"template": "p", "variables": [1, 0], "attributes": {}}], "weight": 2}"#;

#[test]
fn a_graph_is_read_as_it_stands() {
    let graphs = read_all(&format!("\n{SMALL}\r\n  \n{SMALL}")).unwrap();
    assert_eq!(graphs.len(), 2);
    let graph = &graphs[0];
    assert_eq!(graph, &graphs[1]);
    assert_eq!(graph.weight, 2.0);
    assert_eq!(graph.variables[0], RawVariable { states: 2, truth: Some(1), cost: 1.0 });
    assert_eq!(graph.variables[1], RawVariable { states: 3, truth: Some(0), cost: 2.5 });
    assert_eq!(graph.factors[0].template, "u");
    assert_eq!(graph.factors[0].attributes, [("a".to_owned(), 1.0), ("b".to_owned(), -0.5)]);
    assert_eq!(graph.factors[1].variables, [1, 0]);
}

/// The sample in the description of the format is in the format.
#[test]
fn the_documentation_is_true() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    if !docs.is_dir() {
        eprintln!("skipped: the documents are in the repository, and this is its package");
        return;
    }
    let page = fs::read_to_string(docs.join("reference/factor-graph-format.md")).unwrap();
    let sample = page.split("```json\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let data = read_factor_graphs(reader(sample)).unwrap();
    assert_eq!((data.graphs.len(), data.names.templates.len()), (2, 2));
    assert_eq!((data.graphs.weight(1), data.graphs.graph(1).cost(0)), (0.5, 2.5));
}

#[test]
fn errors_name_the_line_and_the_field() {
    let with = |old: &str, new: &str| {
        assert!(SMALL.contains(old), "{old}");
        error(&format!("{SMALL}\n\n{}", SMALL.replacen(old, new, 1)))
    };
    for (old, new, expected) in [
        (
            r#""states": 2"#,
            r#""states": 0"#,
            "variables[0].states: expected at least one state, found 0",
        ),
        (
            r#""states": 2"#,
            r#""states": -2"#,
            "variables[0].states: expected a whole number from 0, found -2",
        ),
        (
            r#""states": 2"#,
            r#""states": 2.5"#,
            "variables[0].states: expected a whole number from 0, found 2.5",
        ),
        (
            r#""states": 2"#,
            r#""states": "2""#,
            "variables[0].states: expected a whole number from 0, found `2`",
        ),
        (
            r#""states": 2"#,
            r#""states": 99999999999"#,
            "variables[0].states: expected a whole number from 0, found 99999999999",
        ),
        (r#""states": 2, "#, "", "variables[0].states: expected a number of states, found nothing"),
        (r#""truth": 1"#, r#""truth": 2"#, "variables[0].truth: expected a state below 2, found 2"),
        (
            r#""truth": 1"#,
            r#""truth": null"#,
            "variables[0].truth: expected a whole number from 0, found null",
        ),
        (
            r#""truth": 1"#,
            r#""Truth": 1"#,
            "variables[0]: expected no fields but `states`, `truth` and `cost`, found `Truth`",
        ),
        (
            r#""cost": 2.5"#,
            r#""cost": -1"#,
            "variables[1].cost: expected a finite number, at least 0, found -1",
        ),
        (r#""cost": 2.5"#, r#""cost": [1]"#, "variables[1].cost: expected a number, found a list"),
        (r#"{"states": 2, "truth": 1}"#, "7", "variables[0]: expected an object, found 7"),
        (
            r#""template": "u""#,
            r#""template": 5"#,
            "factors[0].template: expected the name of a template, found 5",
        ),
        (
            r#""template": "u", "#,
            "",
            "factors[0].template: expected the name of a template, found nothing",
        ),
        (
            r#""variables": [0]"#,
            r#""variables": []"#,
            "factors[0].variables: expected at least one variable, found none",
        ),
        (
            r#""variables": [0]"#,
            r#""variables": [2]"#,
            "factors[0].variables[0]: expected a variable below 2, found 2",
        ),
        (
            r#""variables": [1, 0]"#,
            r#""variables": [1, 1]"#,
            "factors[1].variables[1]: expected each variable once, found 1",
        ),
        (
            r#""variables": [1, 0]"#,
            r#""variables": [1, true]"#,
            "factors[1].variables[1]: expected a whole number from 0, found true",
        ),
        (
            r#""variables": [1, 0]"#,
            r#""variables": 1"#,
            "factors[1].variables: expected a list of variables, found 1",
        ),
        (
            r#", "attributes": {}"#,
            "",
            "factors[1].attributes: expected an object of names and numbers, found nothing",
        ),
        (
            r#""attributes": {}"#,
            r#""attributes": ["a"]"#,
            "factors[1].attributes: expected an object of names and numbers, found a list",
        ),
        (r#""b": -0.5"#, r#""b": "x""#, "factors[0].attributes.`b`: expected a number, found `x`"),
        (r#""weight": 2"#, r#""weight": 0"#, "weight: expected a positive finite number, found 0"),
        (
            r#""weight": 2"#,
            r#""wieght": 2"#,
            "expected no fields but `variables`, `factors` and `weight`, found `wieght`",
        ),
    ] {
        assert_eq!(with(old, new), format!("g.jsonl:3: {expected}"));
    }
    assert_eq!(error("[]"), "g.jsonl:1: expected an object, found a list");
    assert_eq!(error("{}"), "g.jsonl:1: variables: expected a list of variables, found nothing");
    let none = r#"{"variables": [], "factors": []}"#;
    assert_eq!(error(none), "g.jsonl:1: variables: expected at least one variable, found none");
}

#[test]
fn invalid_json_is_refused_with_its_place() {
    for (text, expected) in [
        ("{\"variables\": [}", "g.jsonl:1:16: not valid JSON: expected value"),
        ("{\"ä\": 1,}", "g.jsonl:1:9: not valid JSON: trailing comma"),
        ("{} {}", "g.jsonl:1:4: not valid JSON: trailing characters"),
        ("{\"a\": 1e999}", "g.jsonl:1:11: not valid JSON: number out of range"),
        ("{\"a\": NaN}", "g.jsonl:1:7: not valid JSON: expected value"),
        ("{\"a\": 1, \"a\": 2}", "g.jsonl:1:16: not valid JSON: the field `a` appears twice"),
    ] {
        assert_eq!(error(text), expected, "{text}");
    }
    let cut = error(&SMALL[..40]);
    assert!(cut.starts_with("g.jsonl:1:40: not valid JSON: EOF while parsing"), "{cut}");
    let deep = "[".repeat(100_000);
    assert!(error(&deep).contains("recursion limit exceeded"));
    assert!(error("{\"a\": \u{1}}").starts_with("g.jsonl:1:"));
    assert_eq!(error("\0"), "g.jsonl:1:1: expected text, found a NUL byte");
}

#[test]
fn inputs_without_graphs_are_refused() {
    for (text, why) in [("", "(the input is empty)"), ("\n\n", "in 2 lines")] {
        let error = read_factor_graphs(reader(text)).unwrap_err().to_string();
        assert_eq!(error, format!("g.jsonl: no factor graphs {why}"));
    }
}

#[test]
fn names_become_numbers_in_the_order_they_come() {
    let data = read_factor_graphs(reader(SMALL)).unwrap();
    assert_eq!(data.names.templates.iter().collect::<Vec<_>>(), ["u", "p"]);
    assert_eq!(data.names.attributes[0].iter().collect::<Vec<_>>(), ["a", "b"]);
    assert_eq!(data.names.states, [vec![2], vec![3, 2]]);
    assert_eq!(data.names.shape().dim(), 4);
    assert_eq!((data.graphs.len(), data.graphs.weight(0)), (1, 2.0));
    let graph = data.graphs.graph(0);
    assert_eq!((graph.truth(), graph.cost(1)), (&[1, 0][..], 2.5));
    assert_eq!(data.graphs.shape().unwrap().templates[1].states, [3, 2]);

    // Other data in the names of these.
    let other = SMALL.replace(r#""b": -0.5"#, r#""c": 3, "b": 2"#).replace(r#", "truth": 1"#, "");
    let mapped = read_factor_graphs_with(reader(&other), &data.names, LabelRule::Ignore).unwrap();
    assert_eq!((mapped.unknown_attributes, mapped.attributes), (1, 3));
    let factor = mapped.graphs.graph(0).factors().next().unwrap();
    assert_eq!(factor.attributes.pairs().collect::<Vec<_>>(), [(0, 1.0), (1, 2.0)]);
    assert_eq!(mapped.graphs.graph(0).truth(), [0, 0]);
    let refused = |text: &str, rule| {
        read_factor_graphs_with(reader(text), &data.names, rule).unwrap_err().to_string()
    };
    assert_eq!(
        refused(&other, LabelRule::Count),
        "g.jsonl:1: variables[0].truth: expected the true state, which training and evaluation need, found nothing"
    );
    let unknown = SMALL.replace(r#""template": "p""#, r#""template": "q""#);
    assert_eq!(
        refused(&unknown, LabelRule::Strict),
        "g.jsonl:1: factors[1].template: expected one of the 2 templates of the model, found `q`"
    );
    let swapped = SMALL.replace("[1, 0]", "[0, 1]");
    let expected = "g.jsonl:1: factors[1].variables: expected variables with [3, 2] states, as template `p` has elsewhere, found [2, 3]";
    assert_eq!(refused(&swapped, LabelRule::Strict), expected);
    let both = format!("{SMALL}\n{swapped}");
    let error = read_factor_graphs(reader(&both)).unwrap_err().to_string();
    assert_eq!(error, expected.replace(":1:", ":2:"));
    assert_eq!(
        read_factor_graphs(reader("\n")).unwrap_err().to_string(),
        "g.jsonl: no factor graphs in 1 line"
    );
}

#[test]
fn graphs_that_could_not_be_read_are_not_written() {
    let good = &read_all(SMALL).unwrap()[0];
    let refused = |change: &dyn Fn(&mut RawFactorGraph)| {
        let (mut graph, mut output) = (good.clone(), Vec::new());
        change(&mut graph);
        let error = write_factor_graph(&mut output, &graph).unwrap_err().to_string();
        assert!(output.is_empty());
        error
    };
    assert_eq!(
        refused(&|g| g.factors[0].attributes[1].1 = f64::NAN),
        "the graph cannot be written: factors[0].attributes.`b`: expected a finite number, found NaN"
    );
    let twice = |g: &mut RawFactorGraph| g.factors[0].attributes[1].0 = "a".into();
    assert!(refused(&twice).contains("each attribute once"));
    assert!(refused(&|g| g.weight = -1.0).contains("weight"));
    assert!(refused(&|g| g.variables.clear()).contains("at least one variable"));
    assert!(refused(&|g| g.variables[0].truth = Some(7)).contains("variables[0].truth"));
}

#[test]
fn fingerprints_tell_graphs_apart() {
    let of = |text: &str| {
        let mut all = Fingerprinter::for_factor_graphs();
        read_all(text).unwrap().iter().for_each(|graph| all.add_factor_graph(graph));
        all.finish()
    };
    let same = SMALL.replace(": ", ":").replace(", ", " ,").replace("2.5", "25e-1");
    assert_eq!(of(SMALL), of(&same));
    let mut seen = vec![of(SMALL), of(&format!("{SMALL}\n{SMALL}"))];
    for (old, new) in [
        (r#""truth": 1"#, r#""truth": 0"#),
        (r#", "truth": 1"#, ""),
        ("2.5", "2"),
        ("[1, 0]", "[0, 1]"),
        (r#""u""#, r#""v""#),
        (r#""a": 1"#, r#""a": 2"#),
        (r#""weight": 2"#, r#""weight": 3"#),
        (r#""states": 3"#, r#""states": 4"#),
    ] {
        let fingerprint = of(&SMALL.replacen(old, new, 1));
        assert!(!seen.contains(&fingerprint), "{old}");
        seen.push(fingerprint);
    }
}

fn any_graph() -> impl Strategy<Value = RawFactorGraph> {
    let number =
        prop_oneof![any::<f64>().prop_filter("finite", |x| x.is_finite()), Just(1.0), Just(-0.0)];
    let positive = prop_oneof![Just(1.0), 1e-300..1e300f64];
    let name = "[a-c\\PC\"\\\\]{0,4}";
    vec((1u32..5, any::<Option<u32>>(), positive.clone()), 1..5).prop_flat_map(move |variables| {
        let n = variables.len();
        let variables: Vec<RawVariable> = variables
            .into_iter()
            .map(|(states, truth, cost)| RawVariable {
                states,
                truth: truth.map(|y| y % states),
                cost,
            })
            .collect();
        let scope =
            proptest::sample::subsequence((0..n as u32).collect::<Vec<_>>(), 1..=n).prop_shuffle();
        let attributes = proptest::collection::btree_map(name, number.clone(), 0..4);
        let factor = (name, scope, attributes).prop_map(|(template, variables, attributes)| {
            (template, variables, attributes.into_iter().collect::<Vec<_>>())
        });
        // A half of all factors have patterns.
        let states: Vec<u32> = variables.iter().map(|variable| variable.states).collect();
        let states_of = move |own: &[u32]| own.iter().map(|&v| states[v as usize]).collect();
        let numbers = vec(vec(any::<Option<u32>>(), n), 0..3);
        let factor = (factor, numbers, any::<bool>()).prop_map(move |(own, rows, first)| {
            let (template, variables, attributes) = own;
            let patterns = any_patterns(states_of(&variables), &rows, first);
            RawFactor { template, variables, attributes, patterns }
        });
        (Just(variables), vec(factor, 0..4), positive.clone())
            .prop_map(|(variables, factors, weight)| RawFactorGraph { weight, variables, factors })
    })
}

fn any_patterns(states: Vec<u32>, rows: &[Vec<Option<u32>>], first: bool) -> Option<Patterns> {
    let row = |own: &Vec<Option<u32>>| -> Vec<Option<u32>> {
        own.iter().zip(&states).map(|(state, states)| state.map(|y| y % states)).collect()
    };
    let mut rows: Vec<_> = rows.iter().map(row).collect();
    rows.sort();
    rows.dedup();
    let counting = if first { Counting::First } else { Counting::All };
    let states: Vec<usize> = states.iter().map(|&states| states as usize).collect();
    Patterns::new(&states, rows, counting).ok()
}

#[test]
fn patterns_are_read_as_they_stand() {
    let text = r#"{"variables": [{"states": 2, "truth": 1}, {"states": 3, "truth": 0}], "factors": [{"template": "p", "variables": [1, 0], "attributes": {"a": 1}, "patterns": [[0, 1], [null, 0]], "counting": "first"}, {"template": "p", "variables": [0], "attributes": {"a": 1, "b": 2}, "patterns": [[0], [1]]}]}"#;
    let data = read_factor_graphs(reader(text)).unwrap();
    assert_eq!((data.names.patterns.clone(), data.names.shape().dim()), (vec![2], 4));
    let raw = &read_all(text).unwrap()[0].factors;
    let first = raw[0].patterns.as_ref().unwrap();
    assert_eq!(first.rows(), [vec![Some(0), Some(1)], vec![None, Some(0)]]);
    assert_eq!(first.counting(), Counting::First);
    assert_eq!(raw[1].patterns.as_ref().unwrap().counting(), Counting::All);
    // What they are is part of the fingerprint.
    let other = read_factor_graphs(reader(&text.replace("first", "all"))).unwrap();
    assert_ne!(data.fingerprint, other.fingerprint);
    let other = read_factor_graphs(reader(&text.replace("null", "2"))).unwrap();
    assert_ne!(data.fingerprint, other.fingerprint);
    // All factors of a template have as many.
    let fewer = text.replace("[[0], [1]]", "[[0]]");
    let error = read_factor_graphs(reader(&fewer)).unwrap_err().to_string();
    let expected = "g.jsonl:1: factors[1].patterns: expected 2 patterns, as template `p` has elsewhere, found 1";
    assert_eq!(error, expected);
    assert!(data.names.tied_shape(&[("p".to_owned(), Tie::Agree)]).is_err());
}

#[test]
fn wrong_patterns_are_refused_by_name() {
    let with = |fields: &str| {
        error(&format!(
            r#"{{"variables": [{{"states": 2}}], "factors": [{{"template": "t", "variables": [0], "attributes": {{}}, {fields}}}]}}"#
        ))
    };
    assert_eq!(
        with(r#""patterns": [[2]]"#),
        "g.jsonl:1: factors[0].patterns: expected patterns for its variables, found pattern 0 has the state 2 for its \
         variable 0, which has 2 states"
    );
    assert_eq!(
        with(r#""patterns": [[0], [1.5]]"#),
        "g.jsonl:1: factors[0].patterns[1][0]: expected a whole number from 0, found 1.5"
    );
    assert_eq!(
        with(r#""counting": "all""#),
        "g.jsonl:1: factors[0].patterns: expected patterns, of which `counting` speaks, found nothing"
    );
    assert_eq!(
        with(r#""patterns": [[0]], "counting": "last""#),
        "g.jsonl:1: factors[0].counting: expected \"all\" or \"first\", found `last`"
    );
    assert_eq!(
        with(r#""patterns": [0]"#),
        "g.jsonl:1: factors[0].patterns[0]: expected a list of states, found 0"
    );
}

proptest! {
    #[test]
    fn graphs_come_back_as_they_were_written(graphs in vec(any_graph(), 1..4)) {
        let mut output = Vec::new();
        for graph in &graphs {
            write_factor_graph(&mut output, graph).unwrap();
        }
        let text = String::from_utf8(output).unwrap();
        prop_assert_eq!(text.lines().count(), graphs.len());
        let back = read_all(&text).unwrap();
        prop_assert_eq!(&back, &graphs);
        let bits = |graphs: &[RawFactorGraph]| -> Vec<u64> {
            let values = graphs.iter().flat_map(|g| &g.factors).flat_map(|f| &f.attributes);
            values.map(|(_, value)| value.to_bits()).collect()
        };
        prop_assert_eq!(bits(&back), bits(&graphs));
    }

    /// Whatever the text: an answer, not a panic.
    #[test]
    fn no_text_makes_the_reader_panic(
        text in "[\\{\\}\\[\\]\",:0-9a-z \\n-]{0,60}", cut in 0usize..400, junk in "\\PC{0,3}"
    ) {
        let _ = read_all(&text);
        let cut = cut.min(SMALL.len());
        let _ = read_all(&format!("{}{junk}{}", &SMALL[..cut], &SMALL[cut..]));
    }
}
