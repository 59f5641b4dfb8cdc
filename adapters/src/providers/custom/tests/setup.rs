//! Whatever is wrong with an option is told with its name.

use super::*;

fn error(further: &[(&'static str, Value)]) -> String {
    match Custom::new(&harness::settings(&[SECRET], &options(further))) {
        Err(SetupError::BadOption(text)) => text,
        Err(other) => panic!("{further:?}: {other:?}"),
        Ok(_) => panic!("{further:?} is accepted"),
    }
}

/// Options that make amounts complete.
fn price() -> Vec<(&'static str, Value)> {
    vec![("amount", json!("/a")), ("amount_unit", json!("minor")), ("currency", json!("/c"))]
}

#[test]
fn a_missing_option_is_named() {
    for (name, _) in LEAST {
        let mut all = options(&[]);
        all.retain(|(other, _)| *other != name);
        let error = Custom::new(&harness::settings(&[SECRET], &all)).err().unwrap();
        assert_eq!(error, SetupError::BadOption(format!("{name} is missing")));
    }
}

#[test]
fn a_wrong_option_is_named() {
    for (name, value) in [
        ("algorithm", json!("md5")),
        ("algorithm", json!(256)),
        ("encoding", json!("Hex")),
        ("signature_header", json!("X Sig")),
        ("signature_header", json!("")),
        ("signature_prefix", json!("")),
        ("signature_separator", json!(true)),
        ("secret_encoding", json!("utf8")),
        ("signed", json!("{body")),
        ("signed", json!("{payload}")),
        ("signed", json!("{id}{body}")),
        ("url", json!("https://a.example")),
        ("timestamp_header", json!("X-Time")),
        ("timestamp_prefix", json!("t=")),
        ("timestamp_format", json!("unix")),
        ("id", json!("id")),
        ("id", json!([])),
        ("id", json!([1])),
        ("id", json!("header:")),
        ("kind", json!("/~")),
        ("payment", json!(["/a"])),
        ("merchant", json!("account")),
        ("capture", json!("capture")),
        ("refund", json!("~0")),
        ("dispute", json!(7)),
        ("amount", json!("a.b")),
        ("amount_unit", json!("minor")),
        ("currency", json!("/c")),
        ("currency_code", json!("EUR")),
        ("occurred_at", json!("at")),
        ("time_format", json!("unix")),
        ("kinds", json!("paid")),
        ("kinds", json!({"paid": "payed"})),
        ("kinds", json!({"paid": 1})),
        ("answer_body", json!({})),
    ] {
        let text = error(&[(name, value.clone())]);
        assert!(text.starts_with(&format!("{name} ")), "{name} = {value}: {text}");
    }
}

#[test]
fn an_unknown_option_is_named() {
    assert_eq!(error(&[("curency", json!("/c"))]), "\"curency\" is not an option of \"custom\"");
}

#[test]
fn what_a_kind_needs_is_named() {
    let kinds = |meaning: &str| ("kinds", json!({ "theirs": meaning }));
    let payment = ("payment", json!("/p"));
    assert!(error(&[kinds("failed")]).starts_with("payment is missing"));
    assert!(error(&[kinds("captured"), payment.clone()]).starts_with("amount is missing"));
    for (meaning, part) in
        [("captured_partly", "capture"), ("refund_failed", "refund"), ("dispute_won", "dispute")]
    {
        let mut all = vec![kinds(meaning), payment.clone()];
        all.extend(price());
        assert!(error(&all).starts_with(&format!("{part} is missing")), "{meaning}");
    }
}

#[test]
fn an_amount_is_complete_or_not_there() {
    for (gone, named) in [("amount_unit", "amount_unit"), ("currency", "currency"), ("amount", "amount_unit")]
    {
        let mut all = price();
        all.retain(|(name, _)| *name != gone);
        assert!(error(&all).starts_with(named), "{gone}");
    }
    let mut all = price();
    all.push(("currency_code", json!("EUR")));
    assert!(error(&all).starts_with("currency_code is set beside currency"));
    let mut all = price();
    all.retain(|(name, _)| *name != "currency");
    all.push(("currency_code", json!("EURO")));
    assert!(error(&all).starts_with("currency_code is not"));
}

#[test]
fn a_time_is_signed_and_has_a_header_or_neither() {
    assert!(error(&[("signed", json!("{timestamp}{body}"))]).starts_with("timestamp_header is missing"));
    assert!(error(&[("occurred_at", json!("/at"))]).starts_with("time_format is missing"));
    let in_one_header = [("signed", json!("{timestamp}{body}")), ("timestamp_header", json!("x-SIG"))];
    assert!(error(&in_one_header).starts_with("timestamp_header is signature_header"));
}

#[test]
fn a_token_has_no_options_of_signatures() {
    for name in [
        "encoding",
        "signed",
        "url",
        "secret_encoding",
        "timestamp_header",
        "timestamp_prefix",
        "timestamp_format",
    ] {
        let text = error(&[("algorithm", json!("token")), (name, json!("hex"))]);
        assert_eq!(text, format!("{name} has no use with algorithm = \"token\""));
    }
}

#[test]
fn a_source_needs_a_secret() {
    for (secrets, algorithm) in
        [(&[][..], "hmac-sha256"), (&[], "token"), (&["a", " "], "hmac-sha1"), (&[""], "token")]
    {
        let settings = harness::settings(secrets, &options(&[("algorithm", json!(algorithm))]));
        let error = Custom::new(&settings).err().unwrap();
        assert!(matches!(error, SetupError::NoSecret(_) | SetupError::BlankSecret), "{algorithm}: {error:?}");
    }
}

#[test]
fn a_value_in_the_wrong_place_is_not_repeated() {
    for name in ["algorithm", "signature_header", "id", "signed", "amount_unit"] {
        assert!(!error(&[(name, json!("hunter2 {"))]).contains("hunter2"), "{name}");
    }
}
