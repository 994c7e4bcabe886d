//! `maxmargin dump` and `maxmargin data`

use crate::common::{Desk, mask_json};

#[test]
fn dumps_a_model_for_people() {
    let desk = Desk::with_model("-q");
    insta::assert_snapshot!(desk.session(
        "dump pets.model
         dump pets.model --top 1"
    ));
    let all = desk.run(&format!("dump pets.model --top {}", usize::MAX)).ok().stdout;
    assert!(all.starts_with("model         chain"), "{all}");
}

#[test]
fn dumps_a_model_for_programs() {
    let desk = Desk::with_model("-q --no-dual --label-weight NN=2");
    let run = desk.run("dump pets.model --json --top 2").ok();
    assert_eq!(run.stderr, "");
    let mut json = run.json();
    mask_json(&mut json);
    insta::assert_snapshot!(serde_json::to_string_pretty(&json).unwrap());
}

#[test]
fn lists_the_built_in_data() {
    insta::assert_snapshot!(Desk::new().session("data"));
}

#[test]
fn lists_the_built_in_data_for_programs() {
    let json = Desk::new().run("data --json").ok().json();
    insta::assert_snapshot!(serde_json::to_string_pretty(&json).unwrap());
}
