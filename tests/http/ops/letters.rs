//! Dead letters by the API.

use application::RetryClass;
use application::retry_policy::AttemptFailure;
use application::testing::dead_letters::{new_letter, unreadable_letter};
use bytes::Bytes;
use domain::Timestamp;
use serde_json::{Value, json};

use super::listener::{Ops, START, TestStore};

async fn with_letters(count: i64) -> (TestStore, Ops) {
    let store = TestStore::create().await;
    let letters = (1..=count).map(|n| new_letter(&format!("evt_{n}"), n * 1_000_000)).collect();
    store.keep(letters).await;
    let ops = store.listen();
    (store, ops)
}

fn event_ids(document: &Value) -> Vec<&str> {
    let letters = document["letters"].as_array().expect("letters");
    letters.iter().map(|letter| letter["event"]["event_id"].as_str().expect("an id")).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn letters_are_listed_page_by_page_the_newest_first() {
    let (_store, ops) = with_letters(5).await;
    let first = ops.read("/api/dead-letters?limit=2").await;
    assert_eq!(event_ids(&first), ["evt_5", "evt_4"]);
    let next = first["next"].as_str().expect("more");
    let second = ops.read(&format!("/api/dead-letters?limit=2&cursor={next}")).await;
    assert_eq!(event_ids(&second), ["evt_3", "evt_2"]);
    let next = second["next"].as_str().expect("more");
    let last = ops.read(&format!("/api/dead-letters?limit=2&cursor={next}")).await;
    assert_eq!((event_ids(&last), &last["next"]), (vec!["evt_1"], &Value::Null));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_letter_in_a_list_says_what_it_is_about() {
    let (_store, ops) = with_letters(1).await;
    let document = ops.read("/api/dead-letters").await;
    let letter = &document["letters"][0];
    assert_eq!(letter["event"], json!({"source": "payment", "event_id": "evt_1"}));
    assert_eq!(letter["amount"], json!({"minor_units": "100", "currency": "USD", "decimal": "1.00"}));
    assert_eq!(letter["reason"], "refused");
    assert_eq!(letter["state"], "open");
    assert_eq!(letter["dead_lettered_at"], "1970-01-01T00:00:01Z");
}

#[tokio::test(flavor = "multi_thread")]
async fn every_filter_leaves_out_what_is_not_asked_for() {
    let (_store, ops) = with_letters(3).await;
    let group = ops.read("/api/dead-letters?limit=1").await["letters"][0]["group"].clone();
    let group = group.as_str().expect("a group");
    for (query, found) in [
        ("source=payment", 3),
        ("source=other", 0),
        ("event_id=evt_2", 1),
        ("payment=pi_evt_2", 1),
        ("kind=payment_intent.succeeded", 3),
        ("kind=other", 0),
        ("reason=refused", 3),
        ("reason=conflict", 0),
        ("account=acct_1", 0),
        ("state=open", 3),
        ("state=discarded", 0),
        ("from=1970-01-01T00:00:02Z", 2),
        ("until=1970-01-01T00:00:02Z", 1),
        ("from=1970-01-01T01:00:02%2B01:00&until=1970-01-01T00:00:03Z", 1),
        ("copies_of=1", 0),
        (&format!("group={group}"), 3),
        ("group=00000000000000000000000000000000", 0),
    ] {
        let document = ops.read(&format!("/api/dead-letters?{query}")).await;
        assert_eq!(event_ids(&document).len(), found, "{query}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_query_that_cannot_be_answered_is_refused_with_pointers() {
    let (_store, ops) = with_letters(1).await;
    let answer = ops
        .get("/api/dead-letters?reason=nothing&from=yesterday&limit=501&cursor=x&state=gone&group=1")
        .await;
    assert_eq!(answer.status, 400);
    let mut errors = answer.errors();
    errors.sort_unstable();
    assert_eq!(
        errors,
        [
            "?cursor invalid",
            "?from invalid",
            "?group invalid",
            "?limit invalid",
            "?reason invalid",
            "?state invalid"
        ]
    );
    for (query, pointer) in [("sauce=payment", "?sauce"), ("source=A", "?source"), ("limit=0", "?limit")] {
        let answer = ops.get(&format!("/api/dead-letters?{query}")).await;
        assert_eq!((answer.status, answer.errors()), (400, vec![format!("{pointer} invalid")]), "{query}");
    }
    assert_eq!(ops.get("/api/dead-letters/groups?state=open").await.status, 400, "groups have no state");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_letter_is_shown_with_its_timeline_and_its_masked_payload() {
    let store = TestStore::create().await;
    let mut letter = new_letter("evt_1", START.as_micros());
    letter.content.payload = Bytes::from_static(br#"{"amount":12.50,"customer":{"email":"a@b.example"}}"#);
    letter.content.headers = vec![("x-topic".to_owned(), "paid".to_owned())];
    letter.history = vec![AttemptFailure {
        at: Timestamp::from_micros(START.as_micros() - 1_000_000),
        class: RetryClass::Transient.as_str().to_owned(),
        error: "the store failed for now: deadlock".to_owned(),
    }];
    store.keep(vec![letter]).await;
    let ops = store.listen();
    let answer = ops.get("/api/dead-letters/1").await;
    let text = String::from_utf8(answer.body.clone()).expect("text");
    assert!(text.contains("12.50") && !text.contains("a@b.example"), "{text}");
    let document = answer.json();
    assert_eq!(document["payload"]["json"]["customer"]["email"], "•••");
    assert_eq!(document["headers"], json!([{"name": "x-topic", "value": "paid"}]));
    let steps = document["timeline"].as_array().expect("a timeline");
    let what: Vec<_> = steps.iter().map(|step| step["what"].as_str().expect("what")).collect();
    assert_eq!(what, ["received", "attempt_failed", "dead_lettered"]);
    assert_eq!(steps[1]["detail"], "the store failed for now: deadlock");
    assert_eq!(document["copies"], json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_payload_that_nobody_can_read_is_not_shown() {
    let store = TestStore::create().await;
    store.keep(vec![unreadable_letter(&b"\xff\x00 card 4242"[..], 1)]).await;
    let ops = store.listen();
    let document = ops.read("/api/dead-letters/1").await;
    assert_eq!(document["payload"]["bytes"], 12);
    assert!(document["payload"]["hidden_because"].is_string());
    assert!(!document.to_string().contains("4242"));
    assert_eq!(document["letter"]["event"], Value::Null);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_raw_payload_is_an_attachment_and_it_is_written_down_who_had_it() {
    let store = TestStore::create().await;
    store.keep(vec![unreadable_letter(&b"\xff\x00<script>"[..], 1)]).await;
    let ops = store.listen();
    let answer = ops.get("/api/dead-letters/1/payload").await;
    assert_eq!((answer.status, answer.body.as_slice()), (200, &b"\xff\x00<script>"[..]));
    assert_eq!(answer.header("content-type"), Some("application/octet-stream"));
    assert_eq!(answer.header("content-disposition"), Some(r#"attachment; filename="dead-letter-1.bin""#));
    assert_eq!(ops.actions().await[0][..3], ["local", "download payload", "dead letter 1"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_letter_that_is_not_there_is_not_found() {
    let (_store, ops) = with_letters(1).await;
    for path in
        ["/api/dead-letters/2", "/api/dead-letters/2/payload", "/api/dead-letters/x", "/api/dead-letters/-1"]
    {
        let answer = ops.get(path).await;
        assert_eq!(
            (answer.status, answer.json()["type"].as_str()),
            (404, Some("urn:payonce:problem:not-found"))
        );
    }
    assert!(ops.actions().await.is_empty(), "nothing was handed out");
}

#[tokio::test(flavor = "multi_thread")]
async fn groups_and_counts_tell_the_money() {
    let (_store, ops) = with_letters(3).await;
    let usd = json!([{"minor_units": "300", "currency": "USD", "decimal": "3.00"}]);
    let groups = ops.read("/api/dead-letters/groups").await;
    let group = &groups["groups"][0];
    assert_eq!((&group["letters"], &group["by_state"][0]["money"]), (&json!(3), &usd));
    assert_eq!(group["first_seen"], "1970-01-01T00:00:01Z");
    assert_eq!(group["last_seen"], "1970-01-01T00:00:03Z");
    let counts = ops.read("/api/dead-letters/counts?source=payment").await;
    assert_eq!(counts["states"][0], json!({"state": "open", "letters": 3, "money": usd}));
    assert_eq!(counts["states"].as_array().map(Vec::len), Some(4), "each state once");
}

#[tokio::test(flavor = "multi_thread")]
async fn letters_are_discarded_by_number_with_a_reason_and_once() {
    let (_store, ops) = with_letters(2).await;
    let body = json!({"ids": [1, 99], "why": "refunded by hand"});
    let answer = ops.post("/api/dead-letters/discard", &body).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    assert_eq!(answer.json()["ids"], json!([1]));
    assert_eq!(answer.json()["money"][0]["decimal"], "1.00");
    let again = ops.post("/api/dead-letters/discard", &body).await;
    assert_eq!((again.status, &again.json()["ids"]), (200, &json!([])));
    let letter = ops.read("/api/dead-letters/1").await;
    assert_eq!(letter["letter"]["state"], "discarded");
    assert_eq!(letter["letter"]["discard_reason"], "refunded by hand");
    assert_eq!(
        letter["timeline"].as_array().expect("a timeline").last().expect("steps")["what"],
        "discarded"
    );
    let actions = ops.actions().await;
    assert_eq!((actions[0][0].as_str(), actions[0][3].as_str()), ("local", "refunded by hand"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_discard_without_a_reason_or_without_letters_is_refused() {
    let (_store, ops) = with_letters(1).await;
    for (body, pointer) in [
        (json!({"ids": [1], "why": " \n"}), "/why"),
        (json!({"ids": [], "why": "x"}), "/ids"),
        (json!({"ids": [1], "why": "x", "filter": {}}), "/filter"),
        (json!({"ids": ["1"], "why": "x"}), "/ids/0"),
        (json!({"ids": [1]}), ""),
    ] {
        let answer = ops.post("/api/dead-letters/discard", &body).await;
        assert_eq!((answer.status, answer.errors()), (400, vec![format!("{pointer} invalid")]), "{body}");
    }
    assert_eq!(ops.read("/api/dead-letters/1").await["letter"]["state"], "open");
    assert!(ops.actions().await.is_empty());
}
