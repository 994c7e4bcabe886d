//! `maxmargin-lab reproduce`

use crate::common::{Desk, keys};

#[test]
fn lists_the_experiments() {
    let desk = Desk::new();
    insta::assert_snapshot!(desk.run("reproduce").ok().stdout);
    let listed = desk.run("reproduce --json").ok().json();
    let all = listed["experiments"].as_array().unwrap();
    assert_eq!(all.len(), 18);
    assert!(all.iter().all(|one| keys(one) == ["hours", "name", "paper", "what"]));
    assert_eq!(desk.files(""), ["pets.crf", "tags.hmm"]);
}

#[test]
fn refuses_what_it_does_not_know_and_skips_what_is_not_there() {
    let desk = Desk::new();
    std::fs::create_dir(desk.path("empty")).unwrap();
    insta::assert_snapshot!(desk.session(
        "reproduce fig1
         reproduce soft-fig3 --data nosuch
         reproduce soft-fig3 --data pets.crf
         reproduce soft-fig3 --quick
         reproduce gaps-fig6 --data empty --out six"
    ));
    assert_eq!(desk.files("six"), ["claims.md", "figures", "report.html", "table.md"]);
    assert_eq!(desk.files("reproduce"), ["soft-fig3"]);
}

#[test]
fn puts_claims_beside_what_is_measured() {
    let desk = Desk::new();
    let run = desk.run("reproduce gaps-fig2 --quick --out two --json").ok();
    let result = run.json();
    assert_eq!(keys(&result), ["claims", "experiment", "notes", "paper", "quick"]);
    let claims = result["claims"].as_array().unwrap();
    assert_eq!(claims.len(), 3);
    for claim in claims {
        assert_eq!(keys(claim), ["claim", "measured", "on", "source", "verdict"]);
        assert_ne!(claim["verdict"], "not-measured", "{claim}");
    }
    assert!(run.stderr.contains("A quick look"), "{}", run.stderr);
    let table = desk.read("two/table.md");
    assert!(table.contains("| The paper says | On | Measured here | Holds here |"));
    assert!(table.contains("`maxmargin-lab reproduce gaps-fig2 --quick`"));
    let page = desk.read("two/report.html");
    for text in ["Claims", "Share of visits that the cache serves", "Evolution of the gap"] {
        assert!(page.contains(text), "{text}");
    }
    assert!(desk.files("two/figures").iter().all(|name| name.starts_with("2b")));
    // The traces are kept: nothing is run again.
    assert_eq!(desk.files("two/ocr-small/traces").len(), 9);
}

/// Two experiments side by side, cut after some of their runs, shown as far as they have come, and gone on with.
#[test]
fn goes_on_where_it_was_cut_and_tells_what_is_finished() {
    let desk = Desk::new();
    std::fs::write(desk.path("claims.md"), "# Mine\n\n## Why\n\nBecause.\n").unwrap();
    let line = "gaps-fig2 gaps-memory --quick --out all --claims claims.md";
    let none = desk.run(&format!("reproduce {line} --finished")).ok();
    assert!(none.stderr.contains("OCR small: no run is finished."), "{}", none.stderr);

    desk.run(&format!("reproduce {line} --jobs 2")).ok();
    let whole = desk.read("claims.md");
    assert!(
        whole.starts_with("# Mine\n\n## Why\n\nBecause.\n\n## gaps-fig2: the cache at F"),
        "{whole}"
    );
    assert!(
        whole.contains("\n## gaps-memory: the memory") && !whole.contains("not measured"),
        "{whole}"
    );

    // Nothing is run again.
    let traces = desk.files("all/gaps-memory/ocr-small/traces");
    let before: Vec<String> = traces
        .iter()
        .map(|name| desk.read(&format!("all/gaps-memory/ocr-small/traces/{name}")))
        .collect();
    desk.run(&format!("reproduce {line}")).ok();
    assert_eq!(desk.read("claims.md"), whole);
    let after =
        traces.iter().map(|name| desk.read(&format!("all/gaps-memory/ocr-small/traces/{name}")));
    assert!(after.eq(before));

    // As if it had been cut before its last run.
    let last = traces.last().unwrap();
    std::fs::remove_file(desk.path(&format!("all/gaps-memory/ocr-small/traces/{last}"))).unwrap();
    let cut = desk.run(&format!("reproduce {line} --finished --json")).ok().json();
    let notes = cut["experiments"][1]["notes"].to_string();
    assert!(notes.contains("what was finished so far: 1 runs are missing"), "{notes}");
    assert_eq!(desk.files("all/gaps-memory/ocr-small/traces").len(), traces.len() - 1);
    desk.run(&format!("reproduce {line}")).ok();
    assert_eq!(desk.files("all/gaps-memory/ocr-small/traces"), traces);
}
