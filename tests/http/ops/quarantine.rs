//! Rejected requests by the API.

use std::sync::Arc;

use adapters::clock::SystemClock;
use adapters::outbound::quarantine::{MemoryQuarantine, QuarantineLimits};
use adapters::providers::native::NativeProvider;
use application::ports::event_publisher::{EventPublisher, MockEventPublisher};
use application::ports::observer::MockObserver;
use application::ports::quarantine::{Quarantine, RejectedRequest};
use application::testing::{source_name, sources_of, succeeded_payload};
use application::use_cases::{AcceptEvent, ReviewQuarantine};
use bytes::Bytes;
use serde_json::{Value, json};

use super::listener::{Ops, START, Setup, TestStore};

fn request(body: impl Into<Bytes>) -> RejectedRequest {
    RejectedRequest {
        source: source_name(),
        received_at: START,
        reason: "wrong_signature".to_owned(),
        headers: vec![
            ("content-type".to_owned(), b"application/json".to_vec()),
            ("x-secret-signature".to_owned(), b"canary".to_vec()),
        ],
        query: "key=canary".to_owned(),
        body: body.into(),
    }
}

/// A source that takes everything now: its secret was mended.
fn review(requests: Vec<RejectedRequest>) -> Arc<ReviewQuarantine> {
    let quarantine = MemoryQuarantine::new(QuarantineLimits { entries_max: 100, bytes_max: 1_000_000 });
    for request in requests {
        quarantine.keep(request);
    }
    let mut publisher = MockEventPublisher::new();
    publisher.expect_publish().returning(|envelopes| envelopes.iter().map(|_| Ok(())).collect());
    let publisher: Arc<dyn EventPublisher> = Arc::new(publisher);
    let mut observer = MockObserver::new();
    observer.expect_request_answered().return_const(());
    observer.expect_events_accepted().return_const(());
    observer.expect_signature_matched().return_const(());
    observer.expect_signature_refused().return_const(());
    let sources = sources_of(NativeProvider::unsigned());
    let accept = AcceptEvent::new(sources.clone(), publisher, Arc::new(SystemClock), Arc::new(observer));
    Arc::new(ReviewQuarantine::new(Arc::new(quarantine), sources, accept))
}

fn listen(store: &TestStore, requests: Vec<RejectedRequest>) -> Ops {
    Ops::start(Setup {
        store: Some(store.services()),
        quarantine: Some(review(requests)),
        ..Setup::default()
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn rejected_requests_are_listed_with_what_their_source_says_now() {
    let store = TestStore::create().await;
    let ops = listen(&store, vec![request("not an event"), request(succeeded_payload("evt_1", "pi_1", 1))]);
    let first = ops.read("/api/quarantine?limit=1").await;
    assert_eq!(first["requests"][0]["reason"], "wrong_signature");
    assert_eq!(
        first["requests"][0]["now"],
        json!({"verdict": "genuine", "reason": null, "events": ["evt_1"]})
    );
    let next = first["next"].as_str().expect("more");
    let second = ops.read(&format!("/api/quarantine?limit=1&cursor={next}")).await;
    assert_eq!(second["requests"][0]["now"]["verdict"], "refused");
    assert_eq!(ops.get("/api/quarantine?limit=101").await.status, 400);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rejected_request_is_shown_without_its_signature_and_its_query() {
    let store = TestStore::create().await;
    let ops = listen(&store, vec![request(r#"{"email":"canary"}"#)]);
    let id = &ops.read("/api/quarantine").await["requests"][0]["id"];
    let document = ops.read(&format!("/api/quarantine/{id}")).await;
    assert!(!document.to_string().contains("canary"), "{document}");
    assert_eq!(document["headers"][0], json!({"name": "content-type", "value": "application/json"}));
    assert_eq!(document["headers"][1]["value"], "••• (6 bytes)");
    assert_eq!(ops.get("/api/quarantine/99").await.status, 404);
    assert_eq!(ops.get("/api/quarantine/x").await.status, 404);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_genuine_request_is_taken_in_and_any_other_stays() {
    let store = TestStore::create().await;
    let ops = listen(&store, vec![request("not an event"), request(succeeded_payload("evt_1", "pi_1", 1))]);
    let listed = ops.read("/api/quarantine").await;
    let ids: Vec<i64> =
        (0..2).map(|place| listed["requests"][place]["id"].as_i64().expect("a number")).collect();
    let why = json!({"why": "the secret was mended"});
    let admitted = ops.post(&format!("/api/quarantine/{}/admit", ids[0]), &why).await;
    assert_eq!((admitted.status, admitted.json()), (200, json!({"events": ["evt_1"]})));
    let refused = ops.post(&format!("/api/quarantine/{}/admit", ids[1]), &why).await;
    assert_eq!(
        (refused.status, refused.json()["type"].as_str()),
        (409, Some("urn:payonce:problem:conflict"))
    );
    assert_eq!(ops.post(&format!("/api/quarantine/{}/admit", ids[0]), &why).await.status, 404);
    assert_eq!(ops.read("/api/quarantine").await["requests"].as_array().map(Vec::len), Some(1));
    let actions = ops.actions().await;
    assert_eq!((actions.len(), actions[0][1].as_str()), (1, "admit rejected request"));
    assert_eq!(actions[0][3], "the secret was mended");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rejected_request_is_let_go_with_a_reason() {
    let store = TestStore::create().await;
    let ops = listen(&store, vec![request("forged")]);
    let id = ops.read("/api/quarantine").await["requests"][0]["id"].clone();
    let path = format!("/api/quarantine/{id}/discard");
    assert_eq!(ops.post(&path, &json!({"why": ""})).await.status, 400);
    assert_eq!(ops.post(&path, &json!({"why": "forged"})).await.status, 200);
    assert_eq!(ops.post(&path, &json!({"why": "forged"})).await.status, 404);
    assert_eq!(ops.read("/api/quarantine").await, json!({"requests": [], "next": Value::Null}));
    assert_eq!(ops.actions().await[0][1], "discard rejected request");
}
