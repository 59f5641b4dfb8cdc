//! Connected accounts, thin events, modes and times.

use super::*;
use crate::providers::harness::changed;

const THIN: &str = r#"{"id":"evt_1","object":"v2.core.event","type":"v1.charge.refunded","livemode":false,"created":"2025-05-01T11:00:00.500Z","context":null,"related_object":{"id":"ch_1","type":"charge","url":"/v1/charges/ch_1"}}"#;

fn of_account(member: &str) -> String {
    SUCCEEDED.replace("\"object\":\"event\"", &format!("\"object\":\"event\",\"{member}\":\"acct_9\""))
}

#[test]
fn a_connected_accounts_event_and_payment_carry_the_account() {
    let provider = build(&settings(&[SECRET], &[])).unwrap();
    for payload in [of_account("account"), of_account("context")] {
        assert_eq!(ids(&*provider, &payload, &[]), Ok(vec!["acct_9|evt_1".to_owned()]));
        let translation = pack(&[SECRET]).translate(&envelope("acct_9|evt_1", payload)).unwrap();
        let Effect::Change(change) = translation.effect else { panic!("it has an effect") };
        assert_eq!(change.payment.as_str(), "acct_9|pi_1");
        assert_eq!(change.merchant.unwrap().as_str(), "acct_9");
    }
}

#[test]
fn an_event_of_ones_own_account_has_no_merchant() {
    for payload in [
        SUCCEEDED.to_owned(),
        SUCCEEDED.replace("\"created\":1746093600", "\"account\":null,\"context\":null"),
    ] {
        let change = changed(&pack(&[SECRET]), &payload);
        assert_eq!((change.payment.as_str(), change.merchant), ("pi_1", None));
    }
}

#[test]
fn a_thin_event_is_recorded_and_credits_nothing() {
    let provider = build(&settings(&[SECRET], &[])).unwrap();
    assert_eq!(ids(&*provider, THIN, &[]), Ok(vec!["evt_1".to_owned()]));
    let in_context = THIN.replace("\"context\":null", "\"context\":\"acct_9\"");
    assert_eq!(ids(&*provider, &in_context, &[]), Ok(vec!["acct_9|evt_1".to_owned()]));
    let translation = translated(&pack(&[SECRET]), THIN);
    assert_eq!(translation.kind.as_str(), "v1.charge.refunded");
    assert_eq!(translation.effect, Effect::Nothing(NoEffect::Kind));
    assert_eq!(translation.live, Some(false));
    assert_eq!(translation.occurred_at, Some(Timestamp::from_micros(1_746_097_200_500_000)));
}

#[test]
fn the_mode_and_the_time_are_the_events() {
    let translation = translated(&pack(&[SECRET]), SUCCEEDED);
    assert_eq!(translation.live, Some(true));
    assert_eq!(translation.occurred_at, Some(Timestamp::from_micros(1_746_093_600_000_000)));
    let neither = r#"{"id":"evt_1","type":"ping","created":"soon","livemode":"yes"}"#;
    let translation = translated(&pack(&[SECRET]), neither);
    assert_eq!((translation.live, translation.occurred_at), (None, None));
}

#[test]
fn an_event_of_the_other_mode_moves_nothing() {
    let provider = build(&settings(&[SECRET], &[])).unwrap();
    let test = SUCCEEDED.replace("\"livemode\":true", "\"livemode\":false");
    let event = provider.translate(&envelope("evt_1", test)).unwrap();
    assert_eq!(event.effect, Effect::Nothing(NoEffect::OtherMode));
}

#[test]
fn the_shape_of_other_versions_does_not_matter() {
    for (from, to) in [
        (r#""request":{"id":"req_1","idempotency_key":null}"#, r#""request":"req_1""#),
        (r#""request":{"id":"req_1","idempotency_key":null}"#, r#""request":null"#),
        (r#""api_version":"2025-03-31.basil""#, r#""api_version":"2016-03-07; orders_beta=v3""#),
        (
            r#""latest_charge":"ch_1""#,
            r#""charges":{"object":"list","data":[{"id":"ch_1","amount_received":1}]}"#,
        ),
        (r#""metadata":{"id":"m","amount_received":"1"}"#, r#""metadata":[]"#),
        (r#""object":"event","#, ""),
        (r#"{"object":{"#, r#"{"previous_attributes":{"amount_received":0},"object":{"#),
        (r#""livemode":true,"metadata""#, r#""note":"\u0000\ud83d\ude00\udc00","\ud83d":1e999,"metadata""#),
    ] {
        assert!(SUCCEEDED.contains(from), "{from}");
        assert_eq!(
            told_by(&SUCCEEDED.replace(from, to)),
            that("pi_1", &["captured:single 2000 USD"]),
            "{to}"
        );
    }
}

#[test]
fn an_unknown_type_or_an_odd_shape_of_one_is_an_event_without_effect() {
    for payload in [
        event("galaxy.exploded", r#"{"id":7,"amount":"x"}"#),
        event("payment_intent.some_future_state", r#"{"id":"pi_1","amount_received":2000}"#),
        event("customer.created", r#"{"id":"cus_1","amount":1e999}"#),
        event("ping", "null"),
        event("ping", "[]"),
        r#"{"id":"evt_1","type":"ping","data":7}"#.to_owned(),
        r#"{"id":"evt_1","type":["payment_intent.succeeded"]}"#.to_owned(),
        r#"{"id":"evt_1"}"#.to_owned(),
    ] {
        assert_eq!(told_by(&payload), None, "{payload}");
    }
    assert_eq!(translated(&pack(&[SECRET]), r#"{"id":"evt_1"}"#).kind.as_str(), "unknown");
}
