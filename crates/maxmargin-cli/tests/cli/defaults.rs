//! What a run does that nobody has told anything: λ, tolerance, loss, pairs of labels, and scales.

use crate::common::{Desk, Run, SETS};
use maxmargin_io::Spec;
use std::fmt::Write as _;

/// Rows of two labels, which an attribute in hundredths tells apart, beside one in thousands.
fn wild() -> String {
    let mut text = String::new();
    for i in 0..40u32 {
        let (label, told) = if i % 2 == 0 { ("1", 0.01) } else { ("-1", -0.01) };
        let noise = f64::from(i * 37 % 41);
        let told = told + 0.0004 * (noise - 20.0) / 20.0;
        writeln!(text, "{label} 1:{} 2:{told}", 1000.0 + 100.0 * noise).unwrap();
    }
    text
}

#[test]
fn lambda_follows_the_scale_and_says_so() {
    let desk = Desk::new();
    let run = desk.run("train pets.crf -o pets.model").ok();
    assert!(run.stderr.contains(" by scale: a change of loss 1 has length² "), "{}", run.stderr);
    assert!(run.stderr.contains("tolerance 1%"), "{}", run.stderr);
    let meta = desk.model("pets.model").meta;
    assert_eq!(meta.lambda_source.as_ref().unwrap().name(), "scale");
    let Spec::Chain(chain) = &meta.spec else { panic!("{:?}", meta.spec) };
    assert!(!chain.loss.normalised);
    desk.run("verify pets.model pets.crf").ok();

    let json = desk.run("train pets.crf -q --json").ok().json();
    assert_eq!(json["lambda_source"]["rule"], "scale");
    assert_eq!(json["lambda_source"]["lambda"], json["lambda"]);
    assert!(json.get("lambda_curve").is_none());
    assert!(json["gap"].as_f64().unwrap() <= 0.01 * json["primal"].as_f64().unwrap());
    // The seed draws nothing where there are so few.
    assert_eq!(desk.run("train pets.crf -q --json --seed 7").ok().json()["lambda"], json["lambda"]);
}

/// The value of constant features that a model keeps.
fn transition_scale(desk: &Desk, model: &str) -> f64 {
    desk.model(model).meta.spec.transition_scale().unwrap()
}

#[test]
fn transitions_have_the_value_that_fits_attributes() {
    let desk = Desk::new();
    let run = desk.run("train pets.crf -o pets.model").ok();
    assert!(run.stderr.contains("transitions have the value "), "{}", run.stderr);
    let value = transition_scale(&desk, "pets.model");
    assert!(value > 0.1 && value != 1.0, "{value}");
    desk.run("verify pets.model pets.crf").ok();
    // All attributes ten times as long: the same problem in other units.
    let text: String = desk.read("pets.crf").lines().fold(String::new(), |text, line| {
        let mut fields = line.split('\t');
        let label = fields.next().unwrap_or_default();
        let longer = |field: &str| match field.split_once(':') {
            Some((name, value)) => format!("\t{name}:{}", 10.0 * value.parse::<f64>().unwrap()),
            None => format!("\t{field}:10"),
        };
        let rest: String = fields.map(longer).collect();
        format!("{text}{label}{rest}\n")
    });
    desk.write("long.crf", text);
    let run = desk.run("train long.crf -o long.model --json -q").ok().json();
    assert!((transition_scale(&desk, "long.model") / value - 10.0).abs() < 1e-9);
    let plain = desk.run("train pets.crf --json -q").ok().json();
    for figure in ["primal", "dual"] {
        let of = |run: &serde_json::Value| run[figure].as_f64().unwrap();
        assert!((of(&run) - of(&plain)).abs() < 1e-3 * of(&plain), "{figure}");
    }

    // It stays with the model, whatever is done with it.
    desk.run("train pets.crf --transition-scale 3 -o three.model").ok();
    assert_eq!(transition_scale(&desk, "three.model"), 3.0);
    desk.run("verify three.model pets.crf").ok();
    desk.run("train pets.crf --transition-scale 3 --warm-start pets.model -o warm.model").ok();
    desk.run("verify warm.model pets.crf").ok();
    desk.run("train pets.crf --transition-scale 3 --rescaling slack -o slack.model").ok();
    desk.run("verify slack.model pets.crf").ok();
    desk.run("train pets.crf --transition-scale 3 --kernel rbf -o kernel.model").ok();
    desk.run("verify kernel.model pets.crf").ok();
    desk.run("train pets.crf --kernel rbf -o plain.model").ok();
    assert_eq!(transition_scale(&desk, "plain.model"), 1.0);
    desk.run("train pets.crf --lambda auto --validation pets.crf -o auto.model").ok();
    desk.run("verify auto.model pets.crf").ok();
    desk.run("path pets.crf --transition-scale 3 --path-file pets.path").ok();
    desk.run("pick pets.path --lambda 0.5 -o picked.model").ok();
    assert_eq!(transition_scale(&desk, "picked.model"), 3.0);
}

#[test]
fn a_dump_and_bounds_are_about_what_is_added_to_scores() {
    let desk = Desk::new();
    desk.run("train pets.crf --transition-scale 4 -o four.model").ok();
    let model = desk.model("four.model");
    let Spec::Chain(chain) = &model.meta.spec else { panic!("{:?}", model.meta.spec) };
    let raw = &model.weights[chain.shape.transition()];
    let largest = raw.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let dump = desk.run("dump four.model --json").ok().json();
    let shown = dump["transitions"].as_array().unwrap().iter();
    let shown = shown.map(|entry| entry["weight"].as_f64().unwrap()).fold(f64::MIN, f64::max);
    assert_eq!(shown, 4.0 * largest);
    assert!(largest > 0.1 / 4.0);
    desk.run("train pets.crf --transition-scale 4 --upper transition=0.1 -o low.model").ok();
    desk.run("verify low.model pets.crf").ok();
    let low = desk.model("low.model").weights;
    assert!(low[chain.shape.transition()].iter().all(|w| 4.0 * w <= 0.1));
}

#[test]
fn the_papers_are_one_option_away() {
    let desk = Desk::new();
    let papers = "train pets.crf -q --json --lambda 1/n --loss normalised-hamming --tolerance 0.01 \
                  --transition-scale 1 -o papers.model";
    let json = desk.run(papers).ok().json();
    assert_eq!(transition_scale(&desk, "papers.model"), 1.0);
    assert_eq!(
        (&json["lambda"], &json["lambda_source"]["rule"]),
        (&(1.0 / 3.0).into(), &"1/n".into())
    );
    let given = desk.run("train pets.crf -q --json --lambda 0.5").ok().json();
    assert_eq!((&given["lambda"], &given["lambda_source"]["rule"]), (&0.5.into(), &"given".into()));
}

#[test]
fn settings_files_keep_their_tolerances() {
    let desk = Desk::new();
    for (text, expected) in [
        ("seed = 2", "tolerance 1%"),
        ("tolerance = 0.25", "tolerance 0.25"),
        ("relative_tolerance = 0.05", "tolerance 5%"),
    ] {
        desk.write("own.toml", text);
        let run = desk.run("train pets.crf --settings own.toml").ok();
        assert!(run.stderr.contains(expected), "{text}: {}", run.stderr);
        let run = desk.run("train pets.crf --settings own.toml --tolerance 3%").ok();
        assert!(run.stderr.contains("tolerance 3%"), "{text}: {}", run.stderr);
    }
}

#[test]
fn a_search_keeps_its_curve() {
    let desk = Desk::new();
    desk.write("sets.svm", SETS.repeat(4));
    let train = "train sets.svm --format multilabel --lambda auto -o sets.model";
    let run = desk.run(&format!("{train} --json")).ok();
    let json = run.json();
    assert_eq!(
        (&json["lambda_source"]["rule"], &json["lambda_source"]["measure"]),
        (&"auto".into(), &"micro-f1".into())
    );
    let curve = json["lambda_curve"].as_array().unwrap();
    assert!(curve.len() >= 3, "{json}");
    let error = |lambda: &serde_json::Value| {
        let tried = curve.iter().find(|tried| tried["lambda"] == *lambda).unwrap();
        tried["error"].as_f64().unwrap()
    };
    assert!(error(&json["lambda"]) <= error(&json["lambda_source"]["scale"]["lambda"]));
    assert!(run.stderr.contains("by micro-f1 on the rows, held out in 3 parts"), "{}", run.stderr);
    desk.run("verify sets.model sets.svm").ok();
    let run = desk.run("train sets.svm --format multilabel --lambda auto --measure subset").ok();
    assert!(run.stderr.contains("share of wrong examples"), "{}", run.stderr);
}

#[test]
fn measures_and_tolerances_that_make_no_sense_are_refused() {
    let desk = Desk::new();
    for (options, why) in [
        ("--measure error", "--measure has no meaning here"),
        ("--lambda auto --measure aer", "--measure aer is for matchings, not for chain"),
        ("--lambda auto --measure best", "invalid value 'best' for '--measure"),
        ("--tolerance 100%", "a percentage below 100 is needed"),
        ("--tolerance some%", "a percentage below 100 is needed"),
        ("--tolerance=-1%", "a percentage below 100 is needed"),
        ("--tolerance some", "or `1%`"),
        ("--lambda some", "or `scale`, `auto` or `1/n`"),
        ("--transition-scale 0", "it must be `auto` or a positive number"),
        ("--transition-scale many", "it must be `auto` or a positive number"),
        ("--transition-scale 1e-200", "the scale of transitions must be a positive number"),
        ("--standardise --kernel rbf", "--standardise does not go with --kernel"),
        ("--standardise --lower 0", "--standardise does not go with --lower and --upper"),
    ] {
        let run = desk.run(&format!("train pets.crf {options}"));
        assert_ne!(run.code, 0, "{options}");
        assert!(run.stderr.contains(why), "{options}: {}", run.stderr);
    }
}

#[test]
fn paths_and_comparisons_refuse_to_standardise() {
    let desk = Desk::new();
    for verb in ["path pets.crf -o x.model", "compare pets.crf"] {
        let run = desk.run(&format!("{verb} --standardise"));
        assert_ne!(run.code, 0);
        assert!(run.stderr.contains("takes attributes as they are"), "{}", run.stderr);
    }
}

#[test]
fn wild_scales_are_standardised_and_the_model_works_on_raw_rows() {
    let desk = Desk::new();
    desk.write("wild.svm", wild());
    let run = desk.run("train wild.svm -o wild.model --test wild.svm").ok();
    assert!(run.stderr.contains("-fold in size and are standardised"), "{}", run.stderr);
    assert!(run.stdout.contains("On the test data 0.00 %"), "{}", run.stdout);
    let error = |model: &str| {
        desk.run(&format!("evaluate {model} wild.svm --json")).ok().json()["hamming"].clone()
    };
    assert_eq!(error("wild.model"), 0.0);
    desk.run("verify wild.model wild.svm").ok();
    // Weights are told in the units of the data: a hundredth of the second attribute counts as much as a thousand
    // of the first would.
    let model = desk.model("wild.model");
    assert!(model.weights[1].abs() > 1000.0 * model.weights[0].abs(), "{:?}", model.weights);
    let predicted = desk.run("predict wild.model wild.svm").ok().stdout;
    assert_eq!(predicted.lines().filter(|line| line.starts_with('1')).count(), 20);

    desk.run("train wild.svm -o raw.model --standardise never").ok();
    assert!(desk.model("raw.model").meta.scaling.is_none());
    assert!(error("raw.model").as_f64().unwrap() > 0.1);
    // Held-out rows are scaled alike, and a warm start goes on from the dual point.
    desk.run("train wild.svm -o held.model --patience 3").ok();
    desk.run("verify held.model wild.svm").ok();
    let run = desk.run("train wild.svm --warm-start wild.model").ok();
    assert!(run.stderr.contains("warm start: "), "{}", run.stderr);
    desk.run("train wild.svm --lambda auto --validation wild.svm --json").ok();
}

#[test]
fn sparse_rows_are_standardised_where_a_few_attributes_hide_the_others() {
    let desk = Desk::new();
    // Every row has one attribute. Those that `is_large` are in other units.
    let rows = |is_large: fn(usize) -> bool| -> String {
        let value = |i: usize| if is_large(i) { 5000.0 } else { 0.5 };
        (0..30).map(|i| format!("{} {}:{}\n", i % 2, i + 1, value(i))).collect()
    };
    desk.write("hidden.svm", rows(|i| i % 2 == 0));
    let run = desk.run("train hidden.svm -o hidden.model").ok();
    let says = "attributes differ 10000-fold in size and are standardised";
    assert!(run.stderr.contains(says), "{}", run.stderr);
    assert!(desk.model("hidden.model").meta.scaling.is_some());
    desk.run("verify hidden.model hidden.svm").ok();
    desk.run("train hidden.svm -o raw.model --standardise never").ok();
    assert!(desk.model("raw.model").meta.scaling.is_none());

    // Where most attributes are large, they stay as they are.
    desk.write("sparse.svm", rows(|i| i % 3 != 0));
    let run = desk.run("train sparse.svm -o sparse.model").ok();
    assert!(run.stderr.contains("hint: attributes differ 10000-fold"), "{}", run.stderr);
    assert!(desk.model("sparse.model").meta.scaling.is_none());
    desk.run("train sparse.svm -o scaled.model --standardise").ok();
    assert!(desk.model("scaled.model").meta.scaling.is_some());
    desk.run("verify scaled.model sparse.svm").ok();
    desk.run("train pets.crf --standardise -o pets.model").ok();
    desk.run("verify pets.model pets.crf").ok();
}

#[test]
fn many_labels_have_fewer_pairs() {
    let desk = Desk::new();
    let sets = |labels: u32| -> String {
        (0..labels)
            .map(|label| format!("{label},{} 1:1 {}:1\n", (label + 1) % labels, label + 2))
            .collect()
    };
    for (labels, pairs, says) in [
        (15, 105, None),
        (16, 15, Some("the pairs of a tree have weights")),
        (101, 0, Some("no pairs of them have weights")),
    ] {
        desk.write("sets.svm", sets(labels));
        let run = desk.run("train sets.svm --format multilabel --max-passes 2 -o sets.model").ok();
        assert_eq!(run.stderr.contains("--pairs says otherwise"), says.is_some(), "{}", run.stderr);
        assert!(says.is_none_or(|says| run.stderr.contains(says)), "{}", run.stderr);
        let Spec::Multilabel(own) = desk.model("sets.model").meta.spec else { panic!() };
        assert_eq!(own.shape.pairs.len(), pairs, "{labels} labels");
    }
}

/// Two classes that two attributes tell apart, whose values lie around 500.
#[test]
fn attributes_far_from_zero_are_centred_and_the_model_works_on_raw_rows() {
    let desk = Desk::new();
    let row = |i: usize| {
        let (class, noise) = (i % 2, (i * 7 % 11) as f64 / 20.0);
        let x = 500.0 + class as f64 + noise;
        format!("{class} 1:{x} 2:{}\n", 501.0 - x + 500.0 + noise)
    };
    desk.write("far.svm", (0..60).map(row).collect::<String>());
    let run = desk.run("train far.svm -o far.model --test far.svm").ok();
    assert!(run.stderr.contains("2 attributes lie far from 0, so that all are"), "{}", run.stderr);
    assert!(run.stdout.contains("On the test data 0.00 %"), "{}", run.stdout);
    desk.run("verify far.model far.svm").ok();
    let raw = desk.run("train far.svm --standardise never -o raw.model --test far.svm").ok();
    assert!(!raw.stderr.contains("standardised"), "{}", raw.stderr);
}

/// Tokens with a year, which tells the label together with the word.
#[test]
fn attributes_of_tokens_far_from_zero_are_centred_and_the_model_works_on_raw_tokens() {
    let desk = Desk::new();
    let token = |i: usize| {
        let (year, word) = (1900 + i * 37 % 100, i % 3);
        let label = if year >= 1950 { "new" } else { "old" };
        format!("{label}\tyear:{year}\tword={word}\n{}", if i % 4 == 3 { "\n" } else { "" })
    };
    desk.write("years.crf", (0..200).map(token).collect::<String>());
    let run = desk.run("train years.crf -o years.model --test years.crf").ok();
    assert!(run.stderr.contains("an attribute lies far from 0, so that all are"), "{}", run.stderr);
    let errors = |run: &Run| -> f64 {
        let (_, rest) = run.stdout.split_once("On the test data ").unwrap();
        rest.split_once(' ').unwrap().0.parse().unwrap()
    };
    assert!(errors(&run) < 3.0, "{}", run.stdout);
    desk.run("verify years.model years.crf").ok();
    desk.run("convert years.crf years.mmdata --format crfsuite").ok();
    desk.run("verify years.model years.mmdata").ok();
    let converted = desk.run("train years.mmdata -o converted.model --test years.crf").ok();
    assert_eq!(desk.model("years.model").weights, desk.model("converted.model").weights);
    assert_eq!(errors(&run), errors(&converted));

    let raw = desk.run("train years.crf --standardise never --test years.crf").ok();
    assert!(errors(&raw) > errors(&run), "{}", raw.stdout);
    // Without a bias, nothing can take the mean over.
    let run = desk.run("train years.crf --without bias --max-passes 5 -o free.model").ok();
    assert!(!run.stderr.contains("far from 0"), "{}", run.stderr);
}

/// A model without a template says so when it meets words in columns.
#[test]
fn tokens_without_attributes_are_remarked_on() {
    let desk = Desk::new();
    desk.run("train pets.crf -o pets.model").ok();
    desk.write("bare.crf", "noun\nverb\n");
    let run = desk.run("predict pets.model bare.crf").ok();
    assert!(run.stderr.contains("No token has any attribute"), "{}", run.stderr);
    assert!(run.stderr.contains("hint: are these the right data"), "{}", run.stderr);
}

/// `path` and `compare` take attributes as they are, and say so where `train` does not.
#[test]
fn paths_and_comparisons_say_that_train_would_standardise() {
    let desk = Desk::new();
    desk.write("wild.svm", wild());
    let told =
        |verb: &str| format!("`train` would standardise them, so that the lambdas of `{verb}`");
    let run = desk.run("path wild.svm -o wild.path --epsilon 0.5").ok();
    assert!(run.stderr.contains(&told("path")), "{}", run.stderr);
    let run = desk.run("compare wild.svm --budget 2").ok();
    assert!(run.stderr.contains(&told("compare")), "{}", run.stderr);
    // Pets have attributes that are 0 or 1.
    let run = desk.run("compare pets.crf --budget 2").ok();
    assert!(!run.stderr.contains("standardise"), "{}", run.stderr);
}

#[test]
fn files_between_commas_and_rows_without_labels_are_told_so() {
    let desk = Desk::new();
    desk.write("words.csv", "word,label\nthe,DT\ncat,NN\n");
    let run = desk.run("train words.csv");
    assert!(
        run.stderr.contains("`,` does not separate columns, blanks and tabs do"),
        "{}",
        run.stderr
    );
    desk.write("bare.svm", " 1:0.5\n 2:1\n");
    let run = desk.run("train bare.svm --model multilabel");
    assert!(run.stderr.contains("bare.svm: no row has a label"), "{}", run.stderr);
}
