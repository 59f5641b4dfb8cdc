//! What a source can be set up with.

use super::*;

fn error(secrets: &[&str], options: &[(&str, Value)]) -> SetupError {
    match build(&harness::settings(secrets, options)) {
        Ok(_) => panic!("{options:?} is accepted"),
        Err(error) => error,
    }
}

fn bad_option(secrets: &[&str], options: &[(&str, Value)]) -> String {
    match error(secrets, options) {
        SetupError::BadOption(text) => text,
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_scheme_is_never_guessed() {
    assert!(bad_option(&["a"], &[]).contains("scheme"));
    assert!(bad_option(&["a"], &[("scheme", json!("nextgen"))]).starts_with("scheme must be"));
}

#[test]
fn an_option_of_the_other_scheme_or_of_none_is_refused() {
    let next_gen = ("scheme", json!("next-gen"));
    let classic = ("scheme", json!("classic"));
    let header = ("request_id_header", json!("x-request-id"));
    assert!(bad_option(&["a"], &[next_gen.clone(), header]).starts_with("request_id_header is only"));
    assert!(bad_option(&[], &[classic.clone(), ("counts", json!("payments"))]).starts_with("counts is only"));
    assert!(bad_option(&["a"], &[next_gen.clone(), ("counts", json!("all"))]).starts_with("counts must be"));
    assert!(
        bad_option(&[], &[classic, ("request_id_header", json!("x id"))]).starts_with("request_id_header")
    );
    assert!(bad_option(&["a"], &[next_gen, ("odd", json!("x"))]).contains("odd"));
}

#[test]
fn next_gen_needs_a_secret() {
    assert!(matches!(error(&[], &[("scheme", json!("next-gen"))]), SetupError::NoSecret(_)));
    assert!(matches!(error(&[" "], &[("scheme", json!("next-gen"))]), SetupError::BlankSecret));
}

#[test]
fn classic_takes_no_secret_and_is_never_trusted() {
    assert!(bad_option(&["a"], &[("scheme", json!("classic"))]).contains("secrets"));
    let mut settings = harness::settings(&[], &[("scheme", json!("classic"))]);
    assert_eq!(build(&settings).unwrap().describe().trust, Trust::Confirm);
    settings.trust = Some(Trust::Signature);
    assert!(matches!(build(&settings), Err(SetupError::BadOption(text)) if text.contains("trust")));
}
