use super::*;
use crate::{RawSequence, ReadSequences};

fn lines(text: &str) -> Lines {
    Lines::from_reader("f", std::io::Cursor::new(text.to_owned())).unwrap()
}

fn template(text: &str) -> Template {
    Template::read(lines(text)).unwrap()
}

fn refusal(text: &str) -> String {
    Template::read(lines(text)).unwrap_err().to_string()
}

fn data_refusal(template: &Template, text: &str) -> String {
    let mut reader = TemplateReader::new(lines(text), template.clone());
    let mut sequence = RawSequence::new();
    loop {
        match reader.read(&mut sequence) {
            Ok(true) => {}
            Ok(false) => panic!("nothing was refused in {text:?}"),
            Err(error) => return error.to_string(),
        }
    }
}

#[test]
fn columns_are_found_on_both_sides_and_beyond() {
    let template = template("# comment\n\nU00:%x[-2,0]|%x[2,1]\nU01\nB\n");
    let mut reader = TemplateReader::new(lines("a A x\nb B y\n"), template);
    let mut sequence = RawSequence::new();
    assert!(reader.read(&mut sequence).unwrap());
    let names: Vec<Vec<&str>> =
        sequence.tokens().map(|token| token.attributes().map(|(name, _)| name).collect()).collect();
    assert_eq!(names, [["U00:_B-2|_B+1", "U01"], ["U00:_B-1|_B+2", "U01"]]);
    assert!(!reader.read(&mut sequence).unwrap());
}

#[test]
fn labels_may_be_absent_where_the_number_of_columns_is_known() {
    let template = template("U:%x[0,0]\n").for_columns(3);
    let mut reader = TemplateReader::new(lines("a A\n\nb B y\n"), template);
    let mut sequence = RawSequence::new();
    assert!(reader.read(&mut sequence).unwrap());
    assert_eq!(sequence.token(0).label(), None);
    assert!(reader.read(&mut sequence).unwrap());
    assert_eq!(sequence.token(0).label(), Some("y"));
}

#[test]
fn templates_that_make_no_sense_are_refused() {
    assert_eq!(
        refusal("U0:%x[0,0]\nC:%x[0,0]\n"),
        "f:2:1: expected a line that begins with U, B or #, found `C:%x[0,0]`"
    );
    assert_eq!(
        refusal("B1:%x[0,0]\n"),
        "f:1:1: expected `B` without columns, for transitions (others are not supported), \
         found `B1:%x[0,0]`"
    );
    for (text, column) in [("U:%x[0,0", 3), ("Uä:%x[a,0]", 4), ("U:%x[0,0]/%x[1]", 11)] {
        let expected = format!("f:1:{column}: expected %x[row,column] with two whole numbers");
        assert!(refusal(text).starts_with(&expected), "{}", refusal(text));
    }
    assert_eq!(refusal("# nothing\n"), "f: no templates in 1 line");
}

#[test]
fn data_that_do_not_fit_the_template_are_refused() {
    let template = template("U:%x[0,2]\n");
    assert_eq!(
        data_refusal(&template, "a b c\n"),
        "f:1:6: expected at least 4 columns: the template looks at column 2 in its line \
         `U:%x[0,2]`, and the label comes last, found `3`"
    );
    assert_eq!(
        data_refusal(&template, "a b c x\na b\n"),
        "f:2:4: expected 4 columns, as in the lines before or in training, found `2`"
    );
}

#[test]
fn a_template_survives_storage() {
    let template = template("# c\nU0:%x[0,0]/%x[-1,1]\nB\n").for_columns(3);
    let text = serde_json::to_string(&template).unwrap();
    assert_eq!(serde_json::from_str::<Template>(&text).unwrap(), template);
    assert!(serde_json::from_str::<Template>(r#"{"lines": ["X"], "columns": 3}"#).is_err());
}

#[test]
fn places_far_away_are_refused() {
    for (place, at) in
        [("0,18446744073709551615", 2), ("9223372036854775807,0", 2), ("-9223372036854775808,0", 2)]
    {
        let lines =
            Lines::from_reader("t", std::io::Cursor::new(format!("U:%x[{place}]\n"))).unwrap();
        let text = Template::read(lines).unwrap_err().to_string();
        assert!(
            text.starts_with(&format!("t:1:{}: expected a row and a column of at most", at + 1)),
            "{text}"
        );
    }
    let stored = r#"{"lines": ["U:%x[0,0]"], "columns": 18446744073709551615}"#;
    assert!(serde_json::from_str::<Template>(stored).is_err());
}
