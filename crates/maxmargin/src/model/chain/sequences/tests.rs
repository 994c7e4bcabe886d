use super::*;

#[test]
fn a_refused_token_leaves_no_trace() {
    let mut data = Sequences::new();
    data.push_token([(0, 1.0)], 0).unwrap();
    let before = data.clone();
    assert!(matches!(
        data.push_token([(1, 1.0), (2, f64::NAN)], 0),
        Err(InputError::Value { attribute: 2, .. })
    ));
    assert_eq!(data, before);
    assert!(data.push_token([(1, 2.0), (2, f64::NAN)], 0).is_err());
    assert_eq!(data, before);
}

#[test]
fn weights_and_empty_sequences_are_checked() {
    let mut data = Sequences::new();
    let refused = |error: Result<(), InputError>| error.unwrap_err().to_string();
    assert_eq!(refused(data.end_sequence(1.0)), "a sequence needs at least one token");
    data.push_token([], 0).unwrap();
    let weight = "the example weight is 0; a positive finite number is needed";
    assert_eq!(refused(data.end_sequence(0.0)), weight);
    assert!(data.end_sequence(f64::INFINITY).is_err());
    data.end_sequence(1.0).unwrap();
    data.push_token([], 0).unwrap();
    data.end_sequence(2.0).unwrap();
    assert_eq!((data.weight(0), data.weight(1)), (1.0, 2.0));
}
