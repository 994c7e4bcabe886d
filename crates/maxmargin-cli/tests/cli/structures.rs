//! What is special about graphs, trees and matchings on the command line.

use crate::common::{Desk, examples};

/// Two tiny images whose pixels are nodes, row by row.
const PIXELS: &str = "\
G left train 2 2 4 4
N 1 1 .9
N 1 0 .2
N 1 1 .8
N 1 0 .1
E 0 1 1 .7
E 2 3 1 .7
E 0 2 1 .1
E 1 3 1 .1
G right test 1 3 3 2
N 1 0 .1
N 1 1 .7
N 1 1 .9
E 0 1 1 .6
E 1 2 1 .2
";

/// The same things as regions of several pixels, with a place each as features 2 and 3.
const REGIONS: &str = "\
G cow train 2 4 2 1
N 4 4 .9 0 .5
N 4 0 .2 .75 .5
E 0 1 2 .3
G bull test 2 4 2 1
N 4 4 .7 .25 .5
N 4 1 .1 .75 1
E 0 1 2 .35
";

const LINKS: &str = "\
the house\tla maison\t1-1 2-2
the dog\tle chien\t1-1 2-2
the dog 's house\tla maison de le chien\t1-1 2-5 3p3 4-2
";

/// People who stand more or less upright, with fourteen joints each.
fn people(count: usize) -> String {
    let mut text = String::new();
    for person in 0..count {
        text.push_str(&format!("p{person}"));
        for joint in 0..14 {
            let slant = (person % 3) as f64 - 1.0;
            let (x, y) = (10.0 + slant * f64::from(joint % 4) * 3.0, 40.0 - 2.5 * f64::from(joint));
            text.push_str(&format!("\t{x},{y},0"));
        }
        text.push('\n');
    }
    text
}

fn desk() -> Desk {
    let desk = Desk::new();
    desk.write("pixels.txt", PIXELS);
    desk.write("regions.txt", REGIONS);
    desk.write("links.tsv", LINKS);
    desk.write("people.tsv", people(5));
    desk
}

/// A model that bounds its weights itself promises nothing about weights beyond.
#[test]
fn claims_are_about_weights_in_bounds() {
    let desk = desk();
    for (train, claim) in [
        ("train regions.txt", "No weights in bounds"),
        ("train people.tsv:0..2 --max-passes 2", "No weights in bounds"),
        ("train links.tsv", "No weights whatsoever"),
        ("train links.tsv --upper 1", "No weights in bounds"),
    ] {
        let run = desk.run(train).ok();
        assert!(run.stdout.contains(claim), "{}", run.transcript());
    }
}

#[test]
fn pixels_are_drawn_where_they_are() {
    let desk = desk();
    let train = "train pixels.txt:train --test pixels.txt:test -q --report r.html";
    desk.run(train).ok();
    let page = desk.read("r.html");
    assert!(examples(&page).contains(&"right".to_owned()));
    assert!(!page.contains("around their centres"));
    // Who names centres means it, pixels or not.
    desk.run(&format!("{train} --centres 1,1")).ok();
    assert!(desk.read("r.html").contains("around their centres"));
    // Features without places: the report says what is missing.
    let train = "train regions.txt:train --test regions.txt:test -q --report r.html";
    desk.run(train).ok();
    assert!(desk.read("r.html").contains("it is not known where superpixels lie"));
    desk.run(&format!("{train} --centres 2,3")).ok();
    let page = desk.read("r.html");
    assert!(examples(&page) == ["bull"] && page.contains("around their centres"));
    let run = desk.run(&format!("{train} --centres 2,3 --images nowhere"));
    assert!(run.stderr.contains("--images nowhere: there is no such folder"), "{}", run.stderr);
    std::fs::create_dir(desk.path("empty")).unwrap();
    desk.run(&format!("{train} --centres 2,3 --images empty")).ok();
    assert!(desk.read("r.html").contains("not in the folder of --images"));
}

#[test]
fn links_are_needed_to_learn_and_to_measure() {
    let desk = desk();
    desk.write("plain.tsv", "the house\tla maison\n");
    desk.write("blank.tsv", "\n\n");
    desk.run("train links.tsv -q -o m.model").ok();
    desk.run("predict m.model plain.tsv").ok();
    insta::assert_snapshot!(desk.session(
        "train plain.tsv --format alignment
         evaluate m.model plain.tsv
         train links.tsv --test plain.tsv
         train blank.tsv --format alignment"
    ));
}

/// Words that are linked once have a weight of their own only if that is asked for.
#[test]
fn rare_links_are_a_matter_of_choice() {
    let desk = desk();
    let features = |options: &str| {
        desk.run(&format!("train links.tsv -q {options} -o m.model")).ok();
        desk.model("m.model").meta.d
    };
    let (all, few) = (features("--min-count 1"), features(""));
    assert!(all > few);
    assert_eq!((features("--min-count 3"), features("--min-count 9")), (few, few));
    let run = desk.run("train regions.txt --min-count 1");
    assert!(run.stderr.contains("--min-count has no meaning"), "{}", run.stderr);
}

#[test]
fn people_have_the_same_maps_in_every_part() {
    let desk = desk();
    desk.run("train people.tsv:0..3 --max-passes 5 -q -o t.model").ok();
    let predict = |part: &str| desk.run(&format!("predict t.model people.tsv{part}")).ok().stdout;
    let whole = predict("");
    let lines: Vec<&str> = whole.lines().collect();
    assert_eq!(predict(":3..5").lines().collect::<Vec<_>>(), lines[3..]);
    desk.run("train people.tsv:2..5 --max-passes 5 -q -o u.model").ok();
    desk.run("verify u.model people.tsv:2..5").ok();
    // The same people in another place have other maps, and verify knows.
    let all = desk.read("people.tsv");
    let last: Vec<&str> = all.lines().skip(2).collect();
    desk.write("last.tsv", last.join("\n"));
    let run = desk.run("verify u.model last.tsv");
    assert!(run.stdout.contains("the data are not those"), "{}", run.transcript());
}

#[test]
fn joints_have_names() {
    let desk = desk();
    desk.run("train people.tsv --max-passes 5 -q -o t.model").ok();
    let run = desk.run("evaluate t.model people.tsv").ok();
    assert!(run.stdout.contains("left wrist "), "{}", run.stdout);
    let run = desk.run("dump t.model --top 100").ok();
    for name in ["joint right ankle", "kind 2, map 1", "kind 1, δx²", "kind 3 below kind 1"] {
        assert!(run.stdout.contains(name), "{name}: {}", run.stdout);
    }
    insta::assert_snapshot!(desk.session(
        "train people.tsv --joint-kinds 6
         train people.tsv:3..9
         train people.tsv:some"
    ));
}

#[test]
fn errors_are_told_in_the_words_of_the_model() {
    let desk = desk();
    let run = desk.run("train links.tsv --validation links.tsv").ok();
    assert!(run.stdout.contains("% of the links."), "{}", run.stdout);
    desk.run("train links.tsv -q --test links.tsv --report r.html").ok();
    let page = desk.read("r.html");
    assert!(page.contains("a sure link that was missed"));
    assert_eq!(examples(&page).len(), 3);
}

/// The examples with the largest errors come first, wherever they are in the test.
#[test]
fn the_worst_are_shown_first() {
    let desk = desk();
    let mut text = String::new();
    for at in 0..9 {
        let links = ["1-4", "1-4 2-3", "1-4 2-3 3-2 4-1"][at % 3];
        text.push_str(&format!("a b c d\tw x y z\t{links}\n"));
    }
    desk.write("straight.tsv", "a b c d\tw x y z\t1-1 2-2 3-3 4-4\n");
    desk.write("crossed.tsv", text);
    // Four links that are all wrong, besides those that are missing.
    let train = "train straight.tsv --test crossed.tsv --lambda 0.01 -q";
    desk.run(&format!("{train} --report r.html")).ok();
    let page = desk.read("r.html");
    let worst = [3, 6, 9, 2, 5, 8, 1, 4, 7].map(|at| format!("Pair {at}"));
    assert_eq!(examples(&page), worst);
    assert!(page.contains("4 wrong, 4 missed"));
    desk.write("many.tsv", people(40));
    let train = "train people.tsv --test many.tsv -q --max-passes 1";
    desk.run(&format!("{train} --report p.html")).ok();
    let page = desk.read("p.html");
    let found = page.split(" of 14 found").map(|before| before.rsplit('>').next().unwrap_or(""));
    let found: Vec<u32> = found.filter_map(|number| number.parse().ok()).collect();
    assert!(found.len() == 40 && found.is_sorted(), "{found:?}");
}
