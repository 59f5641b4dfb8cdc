//! Replays by the API.

use application::testing::dead_letters::{new_letter, unreadable_letter};
use application::testing::succeeded_payload;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::listener::{Ops, TestStore};

async fn with_letters(count: i64) -> (TestStore, Ops) {
    let store = TestStore::create().await;
    let letters = (1..=count).map(|n| new_letter(&format!("evt_{n}"), n)).collect();
    store.keep(letters).await;
    let ops = store.listen();
    (store, ops)
}

/// The number of the letter of that event.
async fn id_of(ops: &Ops, event_id: &str) -> i64 {
    let document = ops.read(&format!("/api/dead-letters?event_id={event_id}")).await;
    document["letters"][0]["id"].as_i64().expect("a letter")
}

fn errors(pointer: &str) -> (u16, Vec<String>) {
    (400, vec![format!("{pointer} invalid")])
}

#[tokio::test(flavor = "multi_thread")]
async fn a_preview_tells_what_a_replay_would_take_and_changes_nothing() {
    let (_store, ops) = with_letters(3).await;
    for select in
        [json!({"ids": [1, 2]}), json!({"filter": {"reason": "refused"}}), json!({"everything": true})]
    {
        let answer = ops.post("/api/replays/preview", &json!({"select": select})).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        let state = &answer.json()["states"][0];
        assert_eq!(state["state"], "open");
        let letters = state["letters"].as_u64().expect("a number");
        assert_eq!(letters, if select["ids"].is_array() { 2 } else { 3 });
        assert_eq!(state["money"][0]["minor_units"], (letters * 100).to_string());
    }
    assert_eq!(ops.read("/api/replays").await, json!({"jobs": [], "next": null}));
    assert!(ops.actions().await.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_replay_is_a_job_of_what_is_open_now() {
    let (_store, ops) = with_letters(2).await;
    let body = json!({
        "select": {"ids": [1, 2, 77]}, "why": "the handler is mended", "ramp": [2, 5], "rate_per_second": 7
    });
    let answer = ops.post("/api/replays", &body).await;
    assert_eq!((answer.status, answer.header("location")), (201, Some("/api/replays/1")), "{answer:?}");
    let frozen = answer.json();
    assert_eq!((&frozen["job"], &frozen["members"]), (&json!(1), &json!(2)));
    assert_eq!(frozen["money"][0]["decimal"], "2.00");
    assert_eq!(frozen["skipped"]["unknown"], 1);
    let job = ops.read("/api/replays/1").await;
    assert_eq!((job["state"].as_str(), job["actor"].as_str()), (Some("running"), Some("local")));
    assert_eq!((job["ramp"].as_str(), &job["rate_per_second"]), (Some("2,5"), &json!(7)));
    assert_eq!(
        job["progress"],
        json!({"members": 2, "waiting": 2, "replayed": 0, "failed": 0, "released": 0})
    );
    assert_eq!(ops.read("/api/dead-letters/1").await["letter"]["state"], "replaying");
    assert_eq!(ops.actions().await[0][3], "the handler is mended");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_replay_ordered_again_takes_nothing() {
    let (_store, ops) = with_letters(1).await;
    let body = json!({"select": {"everything": true}, "why": "again"});
    assert_eq!(ops.post("/api/replays", &body).await.status, 201);
    let again = ops.post("/api/replays", &body).await;
    assert_eq!(
        (again.status, &again.json()["job"], &again.json()["members"]),
        (200, &Value::Null, &json!(0))
    );
    assert!(again.header("location").is_none());
}

#[tokio::test(flavor = "multi_thread")]
async fn everything_is_selected_by_its_name_only() {
    let (_store, ops) = with_letters(1).await;
    for select in [
        json!({}),
        json!({"filter": {}}),
        json!({"ids": []}),
        json!({"everything": false}),
        json!({"everything": true, "ids": [1]}),
        json!({"filter": {"source": null}}),
    ] {
        for path in ["/api/replays", "/api/replays/preview"] {
            let mut body = json!({"select": select});
            if path == "/api/replays" {
                body["why"] = json!("a test");
            }
            let answer = ops.post(path, &body).await;
            assert_eq!(answer.status, 400, "{select}");
            assert!(answer.errors()[0].starts_with("/select"), "{select}: {answer:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_replay_that_cannot_be_ordered_so_is_refused_with_pointers() {
    let (_store, ops) = with_letters(1).await;
    let select = json!({"ids": [1]});
    for (body, pointer) in [
        (json!({"select": select, "why": ""}), "/why"),
        (json!({"select": select, "why": "x", "ramp": []}), "/ramp"),
        (json!({"select": select, "why": "x", "ramp": [0]}), "/ramp"),
        (json!({"select": select, "why": "x", "ramp": [-1]}), "/ramp/0"),
        (json!({"select": select, "why": "x", "rate_per_second": 0}), "/rate_per_second"),
        (json!({"select": select, "why": "x", "rate": 1}), "/rate"),
        (json!({"select": {"filter": {"kid": "x"}}, "why": "x"}), "/select/filter/kid"),
        (json!({"select": {"filter": {"reason": "x"}}, "why": "x"}), "/select/filter/reason"),
        (json!({"select": {"ids": (0..1001).collect::<Vec<i64>>()}, "why": "x"}), "/select"),
    ] {
        let answer = ops.post("/api/replays", &body).await;
        assert_eq!((answer.status, answer.errors()), errors(pointer), "{body}");
    }
    assert_eq!(ops.read("/api/dead-letters/1").await["letter"]["state"], "open");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_is_paused_resumed_and_canceled_with_a_reason() {
    let (_store, ops) = with_letters(1).await;
    ops.post("/api/replays", &json!({"select": {"ids": [1]}, "why": "a test"})).await;
    let why = json!({"why": "the provider asks for it"});
    for (command, state) in
        [("pause", "paused"), ("pause", "paused"), ("resume", "running"), ("cancel", "canceled")]
    {
        let answer = ops.post(&format!("/api/replays/1/{command}"), &why).await;
        assert_eq!((answer.status, answer.json()["state"].as_str()), (200, Some(state)), "{command}");
    }
    // What has ended stays so.
    assert_eq!(ops.post("/api/replays/1/resume", &why).await.json()["state"], "canceled");
    assert_eq!(ops.read("/api/dead-letters/1").await["letter"]["state"], "open");
    let what: Vec<_> = ops.actions().await.into_iter().map(|[_, what, _, _]| what).collect();
    assert_eq!(what[..3], ["cancel replay", "resume replay", "pause replay"]);
    let without = ops.post("/api/replays/1/pause", &json!({"why": " "})).await;
    assert_eq!((without.status, without.errors()), errors("/why"));
    assert_eq!(ops.post("/api/replays/2/pause", &why).await.status, 404);
    assert_eq!(ops.get("/api/replays/2").await.status, 404);
}

#[tokio::test(flavor = "multi_thread")]
async fn jobs_are_listed_page_by_page_and_by_state() {
    let (_store, ops) = with_letters(3).await;
    for id in 1..=3 {
        ops.post("/api/replays", &json!({"select": {"ids": [id]}, "why": "a test"})).await;
    }
    ops.post("/api/replays/2/cancel", &json!({"why": "a test"})).await;
    let ids = |document: &Value| -> Vec<i64> {
        let jobs = document["jobs"].as_array().expect("jobs");
        jobs.iter().map(|job| job["id"].as_i64().expect("a number")).collect()
    };
    let first = ops.read("/api/replays?limit=2").await;
    assert_eq!((ids(&first), first["next"].as_str()), (vec![3, 2], Some("2")));
    let last = ops.read("/api/replays?limit=2&cursor=2").await;
    assert_eq!((ids(&last), &last["next"]), (vec![1], &Value::Null));
    assert_eq!(ids(&ops.read("/api/replays?state=canceled").await), [2]);
    assert_eq!(ops.get("/api/replays?state=gone").await.status, 400);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_letter_is_replayed_with_other_bytes_by_a_linked_copy() {
    let (_store, ops) = with_letters(2).await;
    let (first, second) = (id_of(&ops, "evt_1").await, id_of(&ops, "evt_2").await);
    let payload = succeeded_payload("evt_1", "pi_1", 5);
    let text = std::str::from_utf8(&payload).expect("text");
    let body = json!({"payload": text, "why": "the amount was a fraction"});
    let answer = ops.post(&format!("/api/dead-letters/{first}/replay-edited"), &body).await;
    assert_eq!((answer.status, &answer.json()["members"]), (201, &json!(1)), "{answer:?}");
    let document = ops.read(&format!("/api/dead-letters/{first}")).await;
    assert_eq!(document["copies"][0]["copy_of"], first);
    let again = ops.post(&format!("/api/dead-letters/{first}/replay-edited"), &body).await;
    assert_eq!((again.status, again.json()["type"].as_str()), (409, Some("urn:payonce:problem:conflict")));
    let encoded = STANDARD.encode(succeeded_payload("evt_2", "pi_2", 5));
    let body = json!({"payload_base64": encoded, "why": "the amount was a fraction"});
    assert_eq!(ops.post(&format!("/api/dead-letters/{second}/replay-edited"), &body).await.status, 201);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_edited_letter_must_be_translatable_and_stay_the_same_event() {
    let (_store, ops) = with_letters(1).await;
    let other = succeeded_payload("evt_other", "pi_1", 5);
    let other = std::str::from_utf8(&other).expect("text");
    for (body, pointer) in [
        (json!({"payload": "{", "why": "x"}), "/payload"),
        (json!({"payload": other, "why": "x"}), "/payload"),
        (json!({"why": "x"}), "/payload"),
        (json!({"payload": "{}", "payload_base64": "e30=", "why": "x"}), "/payload"),
        (json!({"payload_base64": "***", "why": "x"}), "/payload_base64"),
        (json!({"payload": "{}", "event": {"source": "A", "event_id": "e"}, "why": "x"}), "/event/source"),
    ] {
        let answer = ops.post("/api/dead-letters/1/replay-edited", &body).await;
        assert_eq!((answer.status, answer.errors()), errors(pointer), "{body}");
    }
    let none = ops.post("/api/dead-letters/9/replay-edited", &json!({"payload": "{}", "why": "x"})).await;
    assert_eq!(none.status, 404);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_that_could_not_be_read_needs_to_be_told_which_event_it_is() {
    let store = TestStore::create().await;
    store.keep(vec![unreadable_letter(&b"\xff"[..], 1)]).await;
    let ops = store.listen();
    let payload = succeeded_payload("evt_1", "pi_1", 5);
    let mut body = json!({"payload": std::str::from_utf8(&payload).expect("text"), "why": "a test"});
    let without = ops.post("/api/dead-letters/1/replay-edited", &body).await;
    assert_eq!((without.status, without.errors()), errors("/event"));
    body["event"] = json!({"source": "payment", "event_id": "evt_1"});
    assert_eq!(ops.post("/api/dead-letters/1/replay-edited", &body).await.status, 201);
}
