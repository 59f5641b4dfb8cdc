use application::testing::{envelope, event_key, succeeded};
use domain::{EventId, PaymentEvent};

use super::*;

mod signed;

const NOW: Timestamp = Timestamp::from_micros(1_700_000_000_000_000);

fn intake(body: &[u8]) -> Result<Vec<EventId>, IntakeRefusal> {
    let request = WebhookRequest { body, headers: &[], query: "" };
    NativeProvider::unsigned().intake(&request, NOW).map(|intake| intake.events)
}

fn accepted(body: &str) -> String {
    match intake(body.as_bytes()) {
        Ok(ids) => ids[0].as_str().to_owned(),
        Err(refusal) => panic!("{body}: {refusal:?}"),
    }
}

/// The pointers and codes of what is wrong.
fn wrong(body: &[u8]) -> Vec<(String, &'static str)> {
    match intake(body) {
        Err(IntakeRefusal::Malformed(problems)) => {
            assert!(!problems.is_empty());
            problems.into_iter().map(|p| (p.pointer, p.code)).collect()
        }
        other => panic!("{}: {other:?}", String::from_utf8_lossy(body)),
    }
}

fn is_wrong(body: impl AsRef<[u8]>, expected: &[(&str, &str)]) {
    let found = wrong(body.as_ref());
    let found: Vec<_> = found.iter().map(|(pointer, code)| (pointer.as_str(), *code)).collect();
    assert_eq!(found, expected, "{}", String::from_utf8_lossy(body.as_ref()));
}

fn with_amount(amount: &str) -> String {
    format!(
        r#"{{"id":"evt_1","type":"payment_intent.succeeded","data":{{"payment_intent":"pi_1","amount_cents":{amount},"currency":"usd","status":"succeeded"}}}}"#
    )
}

fn translated(body: &str) -> Result<PaymentEvent, Untranslatable> {
    NativeProvider::unsigned().translate(&envelope("evt_1", body.to_owned()))
}

#[test]
fn the_documented_event_is_accepted_and_translated() {
    assert_eq!(accepted(&with_amount("4999")), "evt_1");
    assert_eq!(translated(&with_amount("4999")).unwrap(), succeeded("evt_1", "pi_1", 4999));
}

#[test]
fn order_spacing_escapes_and_unknown_members_do_not_matter() {
    let odd = "\n{ \"data\" :{\"status\":\"succeeded\",\t\"extra\":[1.0,{}],\"currency\":\"USD\",\"amount_cents\": 4999 ,\"payment_intent\":\"pi\\u005f1\"},\r\n \"\\u0069d\":\"evt_1\",\"type\":\"payment_intent.succeeded\",\"livemode\":false}\n";
    assert_eq!(accepted(odd), "evt_1");
    assert_eq!(translated(odd).unwrap(), succeeded("evt_1", "pi_1", 4999));
}

#[test]
fn another_type_is_accepted_and_has_no_change() {
    let body = r#"{"id":"evt_1","type":"galaxy.exploded","data":{"amount_cents":null}}"#;
    assert_eq!(accepted(body), "evt_1");
    let event = translated(body).unwrap();
    assert_eq!((event.kind.as_str(), event.effect), ("galaxy.exploded", Effect::Nothing(NoEffect::Kind)));
}

#[test]
fn everything_that_is_wrong_is_told_at_once() {
    is_wrong(
        r#"{"id":7,"type":"payment_intent.succeeded","data":{"payment_intent":"","amount_cents":"4999","currency":"zzz","status":"failed"}}"#,
        &[
            ("/id", "wrong_type"),
            ("/data/payment_intent", "invalid"),
            ("/data/amount_cents", "wrong_type"),
            ("/data/currency", "invalid"),
            ("/data/status", "invalid"),
        ],
    );
    is_wrong("{}", &[("/id", "missing"), ("/type", "missing"), ("/data", "missing")]);
    is_wrong(
        r#"{"id":"evt_1","type":"payment_intent.succeeded","data":{}}"#,
        &[
            ("/data/payment_intent", "missing"),
            ("/data/amount_cents", "missing"),
            ("/data/currency", "missing"),
            ("/data/status", "missing"),
        ],
    );
}

#[test]
fn an_array_is_not_taken_for_an_object() {
    is_wrong(r#"["evt_1","payment_intent.succeeded",{"payment_intent":"pi_1"}]"#, &[("", "wrong_type")]);
    is_wrong(
        r#"{"id":"evt_1","type":"payment_intent.succeeded","data":["pi_1",4999,"usd","succeeded"]}"#,
        &[("/data", "wrong_type")],
    );
}

#[test]
fn what_is_not_an_object_is_told() {
    for body in ["null", "[]", "\"x\"", "42", "true", "1e3"] {
        is_wrong(body, &[("", "wrong_type")]);
    }
    for body in ["", " ", "{", "nul", "{\"id\":}", "{}{}", "\u{feff}{}", "a=b"] {
        is_wrong(body, &[("", "not_json")]);
    }
    is_wrong(b"{\"id\":\"\xff\"}", &[("", "not_json")]);
    is_wrong([0; 64], &[("", "not_json")]);
}

#[test]
fn deep_nesting_neither_overflows_nor_panics() {
    let deep = format!(
        r#"{{"id":"evt_1","type":"t","data":{{"x":{}{}}}}}"#,
        "[".repeat(200_000),
        "]".repeat(200_000)
    );
    let _either = intake(deep.as_bytes());
    assert!(intake("[".repeat(200_000).as_bytes()).is_err());
    assert!(intake("{\"a\":".repeat(200_000).as_bytes()).is_err());
}

#[test]
fn a_member_that_is_there_twice_is_refused() {
    is_wrong(r#"{"id":"evt_1","id":"evt_2","type":"t","data":{}}"#, &[("/id", "invalid")]);
    is_wrong(r#"{"id":"evt_1","\u0069d":"evt_1","type":"t","data":{}}"#, &[("/id", "invalid")]);
    let twice = with_amount("1,\"amount_cents\":4999");
    is_wrong(twice, &[("/data/amount_cents", "invalid")]);
    accepted(r#"{"id":"evt_1","x":1,"x":2,"type":"t","data":{}}"#);
}

#[test]
fn amounts_are_exact_or_refused() {
    for (amount, minor_units) in
        [("0", 0), ("-0", 0), ("9007199254740993", 9_007_199_254_740_993), ("9223372036854775807", i64::MAX)]
    {
        let event = translated(&with_amount(amount)).unwrap();
        assert_eq!(event, succeeded("evt_1", "pi_1", minor_units));
    }
    for (amount, code) in [
        ("9223372036854775808", "out_of_range"),
        ("100000000000000000000000000000000000000", "out_of_range"),
        ("-1", "out_of_range"),
        ("49.99", "wrong_type"),
        ("4999.0", "wrong_type"),
        ("5e3", "wrong_type"),
        ("5E3", "wrong_type"),
        ("\"4999\"", "wrong_type"),
        ("null", "wrong_type"),
        ("true", "wrong_type"),
        ("[4999]", "wrong_type"),
    ] {
        is_wrong(with_amount(amount), &[("/data/amount_cents", code)]);
    }
    is_wrong(with_amount("049"), &[("", "not_json")]);
}

#[test]
fn a_nul_or_half_a_surrogate_pair_matters_only_where_it_is_used() {
    for odd in [r"\u0000", r"\ud83d", r"\udc00x"] {
        accepted(&format!(
            r#"{{"id":"evt_1","type":"t","data":{{"note":"{odd}","{odd}":1}},"{odd}":"{odd}"}}"#
        ));
        is_wrong(
            format!(r#"{{"id":"evt_{odd}","type":"t{odd}","data":{{}}}}"#),
            &[("/id", "invalid"), ("/type", "invalid")],
        );
    }
    assert_eq!(accepted(r#"{"id":"evt_\ud83d\ude00","type":"t","data":{}}"#), "evt_\u{1F600}");
}

#[test]
fn ids_that_an_index_could_not_hold_are_refused() {
    let random: String = (0_u32..4_096)
        .map(|n| char::from(b'a' + u8::try_from(n.wrapping_mul(2_654_435_761) >> 28).unwrap()))
        .collect();
    for id in ["x".repeat(300), random, "ab".repeat(50_000)] {
        is_wrong(format!(r#"{{"id":"{id}","type":"t","data":{{}}}}"#), &[("/id", "invalid")]);
    }
}

#[test]
fn a_problem_never_repeats_what_the_body_says() {
    let body = r#"{"id":["s3cret"],"type":"payment_intent.succeeded","data":{"payment_intent":" s3cret","amount_cents":"s3cret","currency":"s3cret","status":"s3cret"}} s3cret"#;
    for body in [body, body.trim_end_matches(" s3cret"), "s3cret", "\"s3cret\""] {
        let told = format!("{:?}", intake(body.as_bytes()));
        assert!(!told.contains("s3cret"), "{told}");
    }
}

#[test]
fn a_payload_is_translated_only_under_its_own_id() {
    let provider = NativeProvider::unsigned();
    assert!(provider.translate(&envelope("evt_2", with_amount("4999"))).is_err());
    assert_eq!(event_key("evt_1"), translated(&with_amount("1")).unwrap().key);
}

#[test]
fn an_untranslatable_payload_says_everything_that_is_wrong() {
    let error = translated(r#"{"id":"evt_1","type":"payment_intent.succeeded","data":{}}"#).unwrap_err();
    for part in ["/data/payment_intent is missing", "/data/status is missing"] {
        assert!(error.0.contains(part), "{error}");
    }
}

#[test]
fn random_bytes_never_panic() {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    for length in 0..2_000_usize {
        let body: Vec<u8> = (0..length % 97)
            .map(|_| {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                b"{}[]\",:\\u0019eE.-truefalsnid\xff\x00 "[usize::try_from(state % 31).unwrap()]
            })
            .collect();
        assert!(intake(&body).is_err());
    }
}
