//! Which failure groups somebody was told of.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use adapters::clock::SystemClock;
use adapters::outbound::http::{HttpAlerts, HttpSettings};
use adapters::providers::standard_webhooks::{Bare, Verifier};
use application::dead_letter::{DeadLetterId, FailureGroup, LetterReason, NewDeadLetter};
use application::ports::alert_log::{AfterFailure, AlertClaim, ClaimedAlert};
use application::ports::alert_observer::MockAlertObserver;
use application::ports::clock::Clock;
use application::ports::provider::WebhookRequest;
use application::testing::dead_letters::{consumer, new_letter, order};
use application::testing::source_name;
use application::use_cases::{AlertFailures, AlertSettings};
use harness::endpoint::{Endpoint, Reply, Told};
use tokio_util::sync::CancellationToken;

use super::fixture::{LettersFixture, Store};

const SECRET: &str = "the secret of alerts";
const LONG: Duration = Duration::from_hours(1);
/// Over before the next statement.
const NONE: Duration = Duration::ZERO;

fn rules(owner: &str, lease: Duration, window: Duration) -> AlertClaim {
    AlertClaim { owner: owner.to_owned(), lease, window }
}

fn failed_of(event_id: &str, micros: i64, detail: &str) -> NewDeadLetter {
    let mut letter = new_letter(event_id, micros);
    letter.cause.detail = detail.to_owned();
    letter.group = FailureGroup::of(&consumer(), Some(&source_name()), LetterReason::Refused, detail);
    letter
}

async fn claim(store: &Store, rules: &AlertClaim) -> Option<ClaimedAlert> {
    store.alerts.claim(rules).await.unwrap()
}

fn told(alert: Option<ClaimedAlert>) -> (u64, DeadLetterId) {
    let alert = alert.expect("there is something to tell");
    (alert.new_letters, alert.newest)
}

pub async fn where_nothing_failed_there_is_nothing_to_tell(fixture: impl LettersFixture) {
    assert_eq!(claim(&fixture.store(), &rules("a", LONG, LONG)).await, None);
}

pub async fn each_group_has_an_alert_of_its_own_from_the_oldest_on(fixture: impl LettersFixture) {
    let store = fixture.store();
    let ids =
        store.keep(&[failed_of("e1", 1, "one"), failed_of("e2", 2, "two"), failed_of("e3", 3, "one")]).await;
    let rules = rules("a", LONG, LONG);
    let first = claim(&store, &rules).await.unwrap();
    assert_eq!((first.new_letters, first.newest, first.failures), (2, ids[2], 0));
    let second = claim(&store, &rules).await.unwrap();
    assert_eq!((second.new_letters, second.newest), (1, ids[1]));
    assert_ne!(first.group, second.group);
    assert_eq!(claim(&store, &rules).await, None);
}

pub async fn of_several_who_ask_at_once_one_has_the_alert(fixture: impl LettersFixture) {
    fixture.store().keep(&[new_letter("e1", 1)]).await;
    let asking = (0..8).map(|number| {
        let store = fixture.store();
        let rules = rules(&format!("worker-{number}"), LONG, LONG);
        tokio::spawn(async move { claim(&store, &rules).await })
    });
    let mut alerts = 0;
    for asked in asking.collect::<Vec<_>>() {
        alerts += usize::from(asked.await.unwrap().is_some());
    }
    assert_eq!(alerts, 1);
}

pub async fn a_lease_that_is_over_is_given_to_whoever_asks_and_the_alert_is_the_same(
    fixture: impl LettersFixture,
) {
    let store = fixture.store();
    store.keep(&[new_letter("e1", 1)]).await;
    let first = claim(&store, &rules("a", NONE, LONG)).await.unwrap();
    let second = claim(&store, &rules("b", LONG, LONG)).await.unwrap();
    assert_eq!((first.group, first.began), (second.group, second.began));
}

pub async fn what_was_told_is_not_told_again_and_what_is_new_waits_for_the_window(
    fixture: impl LettersFixture,
) {
    let store = fixture.store();
    store.keep(&[new_letter("e1", 1)]).await;
    let rules_of_a_long_window = rules("a", NONE, LONG);
    let alert = claim(&store, &rules_of_a_long_window).await.unwrap();
    store.alerts.sent(&alert).await.unwrap();
    store.keep(&[new_letter("e2", 2)]).await;
    assert_eq!(claim(&store, &rules_of_a_long_window).await, None);
}

pub async fn after_the_window_only_what_is_new_is_told_under_another_id(fixture: impl LettersFixture) {
    let store = fixture.store();
    store.keep(&[new_letter("e1", 1)]).await;
    let rules = rules("a", NONE, NONE);
    let first = claim(&store, &rules).await.unwrap();
    store.alerts.sent(&first).await.unwrap();
    assert_eq!(claim(&store, &rules).await, None);
    let ids = store.keep(&[new_letter("e2", 2), new_letter("e3", 3)]).await;
    let second = claim(&store, &rules).await.unwrap();
    assert_eq!((second.new_letters, second.newest), (2, ids[1]));
    assert!(second.began > first.began);
}

pub async fn what_failed_is_tried_again_after_its_wait_and_counted(fixture: impl LettersFixture) {
    let store = fixture.store();
    store.keep(&[new_letter("e1", 1)]).await;
    let rules = rules("a", LONG, LONG);
    let alert = claim(&store, &rules).await.unwrap();
    store.alerts.failed(&alert, "a", AfterFailure::TryAgain(LONG)).await.unwrap();
    assert_eq!(claim(&store, &rules).await, None);
    // Whoever had it before says so too late.
    store.alerts.failed(&alert, "a", AfterFailure::TryAgain(NONE)).await.unwrap();
    assert_eq!(claim(&store, &rules).await, None);
}

pub async fn what_failed_keeps_its_id_and_takes_what_is_new_along(fixture: impl LettersFixture) {
    let store = fixture.store();
    store.keep(&[new_letter("e1", 1)]).await;
    let rules = rules("a", LONG, LONG);
    let first = claim(&store, &rules).await.unwrap();
    store.alerts.failed(&first, "a", AfterFailure::TryAgain(NONE)).await.unwrap();
    let ids = store.keep(&[new_letter("e2", 2)]).await;
    let again = claim(&store, &rules).await.unwrap();
    assert_eq!((again.began, again.failures), (first.began, 1));
    assert_eq!(told(Some(again)), (2, ids[0]));
}

pub async fn what_was_given_up_is_told_with_the_next_window(fixture: impl LettersFixture) {
    let store = fixture.store();
    let ids = store.keep(&[new_letter("e1", 1)]).await;
    let alert = claim(&store, &rules("a", LONG, LONG)).await.unwrap();
    store.alerts.failed(&alert, "a", AfterFailure::GiveUp).await.unwrap();
    assert_eq!(claim(&store, &rules("a", LONG, LONG)).await, None);

    let other = fixture.store_of("analytics");
    let mut letter = new_letter("e1", 1);
    letter.consumer = domain::ConsumerName::parse("analytics").unwrap();
    letter.arrival = domain::Digest::of([b"another".as_slice()]);
    assert_eq!(other.letters.store(vec![letter]).await.unwrap(), 1);
    let alert = claim(&other, &rules("a", LONG, NONE)).await.unwrap();
    other.alerts.failed(&alert, "a", AfterFailure::GiveUp).await.unwrap();
    let next = claim(&other, &rules("a", LONG, NONE)).await.unwrap();
    assert_eq!((next.new_letters, next.failures), (1, 0));
    assert!(next.began > alert.began && next.newest > ids[0]);
}

pub async fn who_has_lost_the_lease_fails_for_nobody_else(fixture: impl LettersFixture) {
    let store = fixture.store();
    store.keep(&[new_letter("e1", 1)]).await;
    let first = claim(&store, &rules("a", NONE, LONG)).await.unwrap();
    let second = claim(&store, &rules("b", LONG, LONG)).await.unwrap();
    store.alerts.failed(&first, "a", AfterFailure::TryAgain(NONE)).await.unwrap();
    assert_eq!(claim(&store, &rules("a", LONG, LONG)).await, None);
    // That it was sent is true whoever says so.
    store.alerts.sent(&second).await.unwrap();
    store.alerts.sent(&first).await.unwrap();
    assert_eq!(claim(&store, &rules("a", LONG, LONG)).await, None);
}

pub async fn letters_that_somebody_has_dealt_with_are_not_told(fixture: impl LettersFixture) {
    let store = fixture.store();
    let ids = store.keep(&[new_letter("e1", 1)]).await;
    store.letters.discard(&ids, &order("ann")).await.unwrap();
    store.keep(&[new_letter("e2", 2)]).await;
    store.replayed().await;
    assert_eq!(claim(&store, &rules("a", LONG, LONG)).await, None);
}

pub async fn the_letters_of_other_consumers_are_told_by_their_own(fixture: impl LettersFixture) {
    fixture.store().keep(&[new_letter("e1", 1)]).await;
    assert_eq!(claim(&fixture.store_of("analytics"), &rules("a", LONG, LONG)).await, None);
    assert!(claim(&fixture.store(), &rules("a", LONG, LONG)).await.is_some());
}

/// The alerts of a worker, told to an endpoint.
fn worker(store: &Store, name: &str, endpoint: &Endpoint) -> AlertFailures {
    // Whoever is first; the others find it installed.
    rustls::crypto::aws_lc_rs::default_provider().install_default().ok();
    let http = HttpSettings {
        url: endpoint.url().into(),
        secrets: vec![SECRET.into()],
        timeout: Duration::from_secs(10),
        retry_after_max: Duration::ZERO,
        concurrency: 1,
    };
    let settings = AlertSettings {
        consumer: consumer(),
        claim: rules(name, Duration::from_mins(1), LONG),
        poll: Duration::from_millis(20),
        attempts_max: 10,
        retry_delay: Duration::from_millis(20),
        retry_delay_max: Duration::from_millis(20),
        link_base: "https://ops.example".to_owned(),
    };
    let mut observer = MockAlertObserver::new();
    observer.expect_alert().returning(|_| ());
    let channel = Arc::new(HttpAlerts::new(&http, Arc::new(SystemClock)).unwrap());
    AlertFailures::new(store.alerts.clone(), store.letters.clone(), channel, Arc::new(observer), settings)
}

/// Runs workers until so many requests were made, and a little longer.
async fn told_by(workers: Vec<AlertFailures>, endpoint: &Endpoint, requests: usize) -> Vec<Told> {
    let stop = CancellationToken::new();
    let running = workers.iter().map(|worker| worker.run(&stop));
    let watch = async {
        endpoint.wait_for(requests).await;
        // Whoever would send it once more does so within this time.
        tokio::time::sleep(Duration::from_millis(300)).await;
        stop.cancel();
    };
    tokio::join!(futures::future::join_all(running), watch);
    endpoint.told()
}

pub async fn several_workers_send_one_signed_alert_for_a_group(fixture: impl LettersFixture) {
    let ids = fixture
        .store()
        .keep(&[failed_of("e1", 1, "one"), failed_of("e2", 2, "two"), failed_of("e3", 3, "one")])
        .await;
    let endpoint = Endpoint::start().await;
    let workers = (0..3).map(|number| worker(&fixture.store(), &format!("worker-{number}"), &endpoint));
    let told = told_by(workers.collect(), &endpoint, 2).await;
    assert_eq!(told.len(), 2, "{told:?}");
    let event = told.iter().map(Told::event).find(|event| event["data"]["message"] == "one").unwrap();
    let data = &event["data"];
    assert_eq!((&data["new"], &data["open"], &data["newest"]), (&2.into(), &2.into(), &ids[2].0.into()));
    assert_eq!(data["money"], serde_json::json!([{"currency": "USD", "amount_minor": "200"}]));
    for told in &told {
        let headers = ["webhook-id", "webhook-timestamp", "webhook-signature"]
            .map(|name| (name.to_owned(), told.header(name).as_bytes().to_vec()));
        let request = WebhookRequest { body: &told.body, headers: &headers, query: "" };
        let verifier = Verifier::new(&[SECRET.into()], Bare::Text, Duration::from_mins(5)).unwrap();
        assert_eq!(verifier.verify(&request, SystemClock.now()), Ok(0));
        assert_eq!(told.header("webhook-id"), told.id());
    }
}

pub async fn an_alert_that_is_not_taken_comes_again_under_its_id(fixture: impl LettersFixture) {
    fixture.store().keep(&[new_letter("e1", 1)]).await;
    let endpoint = Endpoint::start().await;
    let left = AtomicU32::new(2);
    endpoint.answer_by(move |_| {
        let refuses =
            left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1)).is_ok();
        Reply::status(if refuses { 500 } else { 204 })
    });
    let told = told_by(vec![worker(&fixture.store(), "worker-1", &endpoint)], &endpoint, 3).await;
    let ids: BTreeSet<String> = told.iter().map(Told::id).collect();
    assert_eq!((told.len(), ids.len()), (3, 1), "{told:?}");
}
