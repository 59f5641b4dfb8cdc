//! Events, payments, balances and the overview by the API.

use std::sync::Arc;
use std::time::Duration;

use adapters::inbound::ops::access::Deadlines;
use adapters::inbound::ops::services::StoreServices;
use adapters::outbound::memory::NoSeenEvents;
use adapters::providers::native::NativeProvider;
use application::operator::OperatorAction;
use application::ports::dead_letters::MockDeadLetters;
use application::ports::operator_actions::{OperatorActions, RecordedAction};
use application::ports::readiness::{MockReadinessCheck, ReadinessCheck};
use application::ports::unit_of_work::StoreError;
use application::testing::dead_letters::new_letter;
use application::testing::{envelope, sources_of, succeeded_payload};
use application::use_cases::ProcessEvents;
use serde_json::{Value, json};

use super::listener::{Ops, Setup, TestStore};

/// Applies `payment_intent.succeeded` of 5,000 cents, and records an event without effect.
async fn with_events() -> (TestStore, Ops) {
    let store = TestStore::create().await;
    let process = ProcessEvents::new(
        sources_of(NativeProvider::unsigned()),
        Arc::new(store.unit_of_work()),
        Arc::new(NoSeenEvents),
    );
    let bodies = [
        ("evt_1", succeeded_payload("evt_1", "pi/1", 5_000)),
        ("evt_2", r#"{"id":"evt_2","type":"galaxy.exploded","data":{}}"#.into()),
    ];
    process.run(&bodies.map(|(event_id, body)| envelope(event_id, body))).await;
    let ops = store.listen();
    (store, ops)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_payment_is_shown_with_what_every_event_meant_for_it() {
    let (_store, ops) = with_events().await;
    let payment = ops.read("/api/payments/payment/pi%2F1").await;
    assert_eq!((payment["id"].as_str(), payment["state"].as_str()), (Some("pi/1"), Some("succeeded")));
    assert_eq!(payment["captured"]["decimal"], "50.00");
    assert_eq!(payment["timeline"][0]["event_id"], "evt_1");
    assert_eq!(payment["timeline"][0]["what"], "fact");
    for path in ["/api/payments/payment/pi_2", "/api/payments/other/pi%2F1", "/api/payments/A/x"] {
        assert_eq!(ops.get(path).await.status, 404, "{path}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_accounts_balances_sum_to_zero() {
    let (_store, ops) = with_events().await;
    let account = ops.read("/api/accounts/payment/balance").await;
    let balances = account["balances"].as_array().expect("balances");
    let sum: i64 = balances
        .iter()
        .map(|balance| {
            balance["amount"]["minor_units"].as_str().expect("text").parse::<i64>().expect("a number")
        })
        .sum();
    assert_eq!((balances.len(), sum), (2, 0));
    assert_eq!(ops.get("/api/accounts/nobody/balance").await.status, 404);
}

#[tokio::test(flavor = "multi_thread")]
async fn events_are_found_and_their_paths_are_told() {
    let (store, ops) = with_events().await;
    store.keep(vec![new_letter("evt_3", 1)]).await;
    let outcomes = |document: &Value| -> Vec<String> {
        let events = document["events"].as_array().expect("events");
        events.iter().map(|event| event["outcome"].as_str().expect("an outcome").to_owned()).collect()
    };
    let mut all = outcomes(&ops.read("/api/events").await);
    all.sort_unstable();
    assert_eq!(all, ["applied", "given_up", "recorded"]);
    assert_eq!(outcomes(&ops.read("/api/events?payment=pi/1").await), ["applied"]);
    assert_eq!(outcomes(&ops.read("/api/events?event_id=evt_2").await), ["recorded"]);
    let page = ops.read("/api/events?limit=1").await;
    let next = page["next"].as_str().expect("more");
    assert_eq!(outcomes(&ops.read(&format!("/api/events?limit=2&cursor={next}")).await).len(), 2);

    let path = ops.read("/api/events/payment/evt_1").await;
    assert_eq!(path["event"]["outcome"], "applied");
    assert_eq!(path["facts"].as_array().expect("facts").len(), 1);
    assert_eq!(path["entries"].as_array().expect("entries").len(), 2);
    assert_eq!(path["messages"][0]["kind"], "payment.succeeded");
    let given_up = ops.read("/api/events/payment/evt_3").await;
    assert_eq!(
        (&given_up["event"]["letter"], given_up["letters"][0]["state"].as_str()),
        (&json!(1), Some("open"))
    );
    assert_eq!(ops.get("/api/events/payment/evt_4").await.status, 404);
    let bad = ops.get("/api/events?cursor=1&limit=x&from=1&colour=red").await;
    assert_eq!((bad.status, bad.errors()), (400, vec!["?colour invalid".to_owned()]));
}

fn down() -> Arc<dyn ReadinessCheck> {
    let mut part = MockReadinessCheck::new();
    part.expect_component().return_const("broker");
    part.expect_required().return_const(true);
    part.expect_check().returning(|| Err("gone".to_owned()));
    Arc::new(part)
}

#[tokio::test(flavor = "multi_thread")]
async fn the_overview_tells_how_things_are() {
    let (store, _) = with_events().await;
    store.keep(vec![new_letter("evt_3", 1)]).await;
    let ops = Ops::start(Setup { store: Some(store.services()), checks: vec![down()], ..Setup::default() });
    let overview = ops.read("/api/overview").await;
    assert_eq!(overview["settled"], json!({"applied": 1, "recorded": 1}));
    assert_eq!(overview["dead_letters"]["open_groups"], 1);
    assert_eq!(overview["dead_letters"]["states"][0]["money"][0]["decimal"], "1.00");
    assert_eq!(overview["queue"], json!({"main": 3, "retry": 2, "dead_letters": 1}));
    let broker = json!({"name": "broker", "is_up": false, "is_required": true, "detail": "gone"});
    assert_eq!(overview["dependencies"], json!([broker]));
    assert_eq!(overview["untold"], json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_process_says_what_it_does_not_have_and_who_has_it() {
    let receiver = Ops::start(Setup::default());
    for path in
        ["/api/dead-letters", "/api/replays/1", "/api/events", "/api/payments/a/b", "/api/operator-actions"]
    {
        let answer = receiver.get(path).await;
        assert_eq!(answer.json()["type"], "urn:payonce:problem:not-in-this-process", "{path}");
        assert!(answer.json()["detail"].as_str().expect("a detail").contains("worker"), "{path}");
    }
    let overview = receiver.read("/api/overview").await;
    assert_eq!(overview["settled"], Value::Null);
    assert_eq!(overview["untold"].as_array().expect("a list").len(), 4);
    let answer = receiver.get("/api/quarantine").await;
    assert_eq!(
        (answer.status, answer.json()["type"].as_str()),
        (404, Some("urn:payonce:problem:not-in-this-process"))
    );
}

/// A store that blocks for as long as a lost host would.
struct Silent;

#[async_trait::async_trait]
impl OperatorActions for Silent {
    async fn record(&self, _: &OperatorAction) -> Result<(), StoreError> {
        std::future::pending().await
    }

    async fn page(&self, _: Option<i64>, _: u32) -> Result<Vec<RecordedAction>, StoreError> {
        std::future::pending().await
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_that_does_not_answer_is_told_as_such() {
    let store = TestStore::create().await;
    let services = StoreServices { actions: Arc::new(Silent), ..store.services() };
    let soon = Duration::from_millis(50);
    let deadlines = Deadlines { answer: soon, change: soon };
    let ops = Ops::start(Setup { store: Some(services), deadlines, ..Setup::default() });
    for path in ["/api/operator-actions", "/actions"] {
        let answer = ops.get(path).await;
        assert_eq!(
            (answer.status, answer.json()["type"].as_str()),
            (503, Some("urn:payonce:problem:too-slow"))
        );
        assert!(answer.header("content-security-policy").is_some(), "{path}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_that_is_away_is_told_as_such_and_the_overview_still_answers() {
    let store = TestStore::create().await;
    let mut letters = MockDeadLetters::new();
    letters.expect_get().returning(|_| Err(StoreError::Unavailable("canary".into())));
    letters.expect_counts().returning(|_| Err(StoreError::Unavailable("canary".into())));
    let services = StoreServices { letters: Arc::new(letters), ..store.services() };
    let ops = Ops::start(Setup { store: Some(services), ..Setup::default() });
    let answer = ops.get("/api/dead-letters/1").await;
    assert_eq!(
        (answer.status, answer.json()["type"].as_str()),
        (503, Some("urn:payonce:problem:unavailable"))
    );
    assert!(answer.header("retry-after").is_some());
    assert!(!answer.json().to_string().contains("canary"), "the cause is for the log");
    let overview = ops.read("/api/overview").await;
    assert_eq!((&overview["dead_letters"], &overview["settled"]["applied"]), (&Value::Null, &json!(0)));
    assert_eq!(overview["untold"][0]["member"], "dead_letters");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_document_is_served() {
    let ops = Ops::start(Setup::default());
    let document = ops.read("/api/openapi.json").await;
    assert!(document["openapi"].as_str().expect("a version").starts_with("3."));
    assert!(document["paths"]["/api/dead-letters/{id}"]["get"]["responses"]["404"].is_object());
}
