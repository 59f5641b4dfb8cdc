use std::sync::Arc;

use adapters::providers::native::NativeProvider;
use application::Envelope;
use application::ports::provider::{Provider, Untranslatable};
use domain::{Effect, Fact, NoEffect, PaymentEvent};

use super::{OLD_SECRET, SECRET, header, post_signed, server, stripe};
use crate::EVENT;
use crate::client::send;
use crate::server::TestServer;

/// A payment of that amount, which is JSON; `more` are further members of the payment.
fn succeeded(amount: &str, more: &str) -> String {
    format!(
        r#"{{"id":"evt_case","object":"event","type":"payment_intent.succeeded","livemode":false,"created":1700000000,"data":{{"object":{{"id":"pi_case","object":"payment_intent","currency":"eur","amount":{amount},"amount_received":{amount}{more}}}}}}}"#
    )
}

/// What becomes of a body that is answered 200.
async fn translated(body: &str) -> Result<PaymentEvent, Untranslatable> {
    let server = server();
    let answer = post_signed(&server, body).await;
    assert_eq!(answer.status, 200, "{body}");
    let published = server.publisher.published();
    assert_eq!(published[0].payload, body.as_bytes());
    stripe(&[SECRET]).translate(&published[0])
}

fn captured(event: &PaymentEvent) -> i64 {
    let Effect::Change(change) = &event.effect else { panic!("no change: {event:?}") };
    match change.facts.as_slice() {
        [Fact::Captured { amount, .. }] => amount.minor_units(),
        facts => panic!("not one capture: {facts:?}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_authentic_body_without_a_usable_id_is_refused_for_good_and_counted() {
    let server = server();
    let bodies = [
        "null",
        "[]",
        "\"evt_1\"",
        "42",
        "{}",
        r#"{"id":null,"type":"x"}"#,
        r#"{"id":"","type":"x"}"#,
        r#"{"id":5,"type":"x"}"#,
        r#"{"id":"evt_1""#,
        "not json",
    ];
    for body in bodies {
        let answer = post_signed(&server, body).await;
        assert_eq!(answer.status, 400, "{body}");
        assert!(!answer.errors().is_empty(), "{body}");
    }
    assert_eq!(*server.outcomes.lock().unwrap(), ["malformed"; 10]);
    assert!(server.bodies().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unknown_kind_is_accepted_and_has_no_effect() {
    let event = translated(r#"{"id":"evt_case","type":"galaxy.exploded","data":{"object":{}}}"#).await;
    assert_eq!(event.unwrap().effect, Effect::Nothing(NoEffect::Kind));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_known_kind_without_what_it_needs_is_accepted_and_told_as_unreadable() {
    assert!(translated(r#"{"id":"evt_case","type":"payment_intent.succeeded"}"#).await.is_err());
}

#[tokio::test(flavor = "multi_thread")]
async fn odd_escapes_in_members_that_do_not_matter_do_not_matter() {
    for more in [
        r#","description":"cut \ud83d""#,
        r#","description":"whole \ud83d\ude00""#,
        r#","description":"a\u0000b""#,
        r#","k\u0000ey":"v""#,
    ] {
        let event = translated(&succeeded("1999", more)).await;
        assert_eq!(captured(&event.unwrap()), 1999, "{more}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_amount_is_taken_exactly_or_not_at_all() {
    for (amount, wanted) in [
        ("9007199254740993", Some(9_007_199_254_740_993)),
        ("9223372036854775807", Some(i64::MAX)),
        ("9223372036854775808", None),
        ("19.99", None),
        ("1e3", None),
        ("null", None),
        ("true", None),
        // Stripe writes amounts as numbers, so a text is a sender's mistake.
        ("\"1999\"", None),
    ] {
        let event = translated(&succeeded(amount, "")).await;
        assert_eq!(event.as_ref().ok().map(captured), wanted, "{amount}: {event:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_id_from_two_sources_is_two_events() {
    let native: Arc<dyn Provider> = Arc::new(NativeProvider::unsigned());
    let sources = [("payment", native), ("shop", stripe(&[SECRET])), ("other-shop", stripe(&[OLD_SECRET]))];
    let server = TestServer::of(&sources);
    assert_eq!(send(server.address, "POST", "/webhooks/payment", &[], EVENT.as_bytes()).await.status, 200);
    for (path, secret, status) in [
        ("/webhooks/shop", SECRET, 200),
        ("/webhooks/other-shop", OLD_SECRET, 200),
        // One source's secret is nothing to the other.
        ("/webhooks/shop", OLD_SECRET, 401),
        ("/webhooks/other-shop", SECRET, 401),
    ] {
        let signature = header(secret, EVENT.as_bytes());
        let headers = [("Stripe-Signature", signature.as_str())];
        assert_eq!(send(server.address, "POST", path, &headers, EVENT.as_bytes()).await.status, status);
    }
    let keys: Vec<_> = server.publisher.published().iter().map(|e: &Envelope| e.key.to_string()).collect();
    assert_eq!(keys, ["payment/evt_1", "shop/evt_1", "other-shop/evt_1"]);
}
