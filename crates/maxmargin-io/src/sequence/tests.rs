use super::*;

#[test]
fn parts_of_neighbouring_tokens_do_not_mix() {
    let mut s = RawSequence::new();
    s.push_token(Some("x"));
    s.push_attribute("a", 1.0);
    s.push_attribute("", -0.0);
    s.set_comment("first");
    s.push_token(None);
    s.push_token(Some(""));
    s.push_attribute("b", 2.0);
    s.set_comment("");
    s.set_comment("third");
    let labels: Vec<_> = s.tokens().map(|t| t.label()).collect();
    assert_eq!(labels, [Some("x"), None, Some("")]);
    let comments: Vec<_> = s.tokens().map(|t| t.comment()).collect();
    assert_eq!(comments, [Some("first"), None, Some("third")]);
    assert_eq!(s.token(0).attributes().collect::<Vec<_>>(), [("a", 1.0), ("", 0.0)]);
    assert_eq!(s.token(1).attributes().len(), 0);
    assert_eq!(s.token(2).attributes().collect::<Vec<_>>(), [("b", 2.0)]);
}

#[test]
fn equality_is_about_content() {
    let make = |label, value, line| {
        let mut s = RawSequence::new();
        s.push_token(label);
        s.push_attribute("a", value);
        s.set_place(line, 1);
        s
    };
    assert_eq!(make(Some("x"), 0.0, 1), make(Some("x"), 0.0, 9));
    assert_ne!(make(Some("x"), 0.0, 1), make(Some("x"), -0.0, 1));
    assert_ne!(make(Some(""), 0.0, 1), make(None, 0.0, 1));
}

#[test]
#[should_panic(expected = "fewer labels than tokens")]
fn too_few_labels() {
    let mut s = RawSequence::new();
    s.push_token(None);
    s.relabel([]);
}
