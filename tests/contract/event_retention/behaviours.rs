//! What is removed, and what is kept.

use std::time::Duration;

use application::ports::store_audit::StoreTotals;
use domain::PaymentEvent;
use tokio::task::JoinSet;

use crate::store_audit::books::{APPLIED, RECORDED, events, fill};
use crate::unit_of_work::effects::{apply, captured, event, usd};
use crate::unit_of_work::fixture::{CONSUMER, StoreFixture};

const MONTH: Duration = Duration::from_hours(24 * 30);
const DAY: Duration = Duration::from_hours(24);

/// As many as there are, and more.
const ALL: u32 = 1_000;

/// Has everything have happened two months ago, but for the events of these ids.
async fn age(store: &impl StoreFixture, but: &[&str]) {
    let long_ago = store.ago(MONTH * 2);
    let kept: Vec<String> = but.iter().map(|event_id| format!("'{event_id}'")).collect();
    let kept = if kept.is_empty() { "''".to_owned() } else { kept.join(", ") };
    let statements = format!(
        "UPDATE processed_events SET processed_at = {long_ago} WHERE event_id NOT IN ({kept}); \
         UPDATE payment_facts SET established_at = {long_ago} WHERE event_id NOT IN ({kept})"
    );
    store.execute(&statements).await.unwrap();
}

async fn purge(store: &impl StoreFixture) -> u64 {
    store.retention_of(CONSUMER).purge(MONTH, ALL).await.unwrap()
}

async fn ids(store: &impl StoreFixture) -> Vec<String> {
    store.processed().await.into_iter().map(|(id, _)| id).collect()
}

/// What events have done, in lines.
async fn effects(store: &impl StoreFixture) -> Vec<Vec<String>> {
    let payments = store.payments().await.into_iter().map(|payment| format!("{payment:?}")).collect();
    vec![payments, store.facts().await, store.entries().await, store.balances().await, store.messages().await]
}

pub async fn old_events_are_removed_the_oldest_first_and_a_few_at_a_time(store: impl StoreFixture) {
    let paid = |number: u64| event(&format!("evt_{number}"), &format!("pi_{number}"), &[captured(usd(5))]);
    apply(&*store.unit_of_work(1), &(0..6).map(paid).collect::<Vec<PaymentEvent>>()).await;
    for (event_id, days) in [("evt_3", 33), ("evt_1", 32), ("evt_4", 31), ("evt_0", 29)] {
        let at = store.ago(DAY * days);
        let statement =
            format!("UPDATE processed_events SET processed_at = {at} WHERE event_id = '{event_id}'");
        store.execute(&statement).await.unwrap();
    }
    let retention = store.retention_of(CONSUMER);
    assert_eq!(retention.purge(MONTH, 2).await.unwrap(), 2);
    assert_eq!(ids(&store).await, ["evt_0", "evt_2", "evt_4", "evt_5"]);
    assert_eq!(retention.purge(MONTH, 2).await.unwrap(), 1);
    assert_eq!(retention.purge(MONTH, 2).await.unwrap(), 0);
    assert_eq!(ids(&store).await, ["evt_0", "evt_2", "evt_5"]);
}

pub async fn what_events_have_done_stays(store: impl StoreFixture) {
    fill(&store).await;
    age(&store, &[]).await;
    let before = effects(&store).await;
    assert_eq!(purge(&store).await, APPLIED + RECORDED);
    assert_eq!(ids(&store).await, [""; 0]);
    // The bytes of those without effect go with them.
    assert_eq!(store.recorded().await, []);
    assert_eq!(effects(&store).await, before);
}

pub async fn everything_that_was_accepted_stays_accounted_for(store: impl StoreFixture) {
    fill(&store).await;
    age(&store, &["evt_1", "other_1"]).await;
    let audit = store.audit_of(CONSUMER);
    let all = StoreTotals { applied: APPLIED, recorded: RECORDED, dead_letters: 0 };
    // In several steps, which add up.
    let retention = store.retention_of(CONSUMER);
    for _ in 0..4 {
        retention.purge(MONTH, 3).await.unwrap();
        assert_eq!(audit.totals(None).await.unwrap(), all);
    }
    assert_eq!(ids(&store).await, ["evt_1", "other_1"]);
    assert_eq!(store.audit_of("other").totals(None).await.unwrap(), StoreTotals::default());
    // By their ids only those can be counted that are there.
    let there = StoreTotals { applied: 1, recorded: 0, dead_letters: 0 };
    assert_eq!(audit.totals(Some("evt_")).await.unwrap(), there);
}

pub async fn nothing_is_missed_that_was_removed_on_purpose(store: impl StoreFixture) {
    fill(&store).await;
    age(&store, &["evt_9"]).await;
    // A unit of work that took its time: the facts came after the event.
    let later = store.ago(Duration::from_mins(30 * 24 * 60 - 10));
    store
        .execute(&format!("UPDATE payment_facts SET established_at = {later} WHERE event_id = 'evt_8'"))
        .await
        .unwrap();
    assert_eq!(purge(&store).await, APPLIED + RECORDED - 1);
    assert_eq!(store.audit_of(CONSUMER).violations(10).await.unwrap(), []);
}

pub async fn what_is_lost_is_missed_all_the_same(store: impl StoreFixture) {
    fill(&store).await;
    age(&store, &["evt_9"]).await;
    purge(&store).await;
    store.tamper("DELETE FROM processed_events WHERE event_id = 'evt_9'").await;
    let violations = store.audit_of(CONSUMER).violations(10).await.unwrap();
    assert_eq!(violations.len(), 1, "{violations:?}");
    assert_eq!(violations[0].invariant, "every fact was established by an applied event");
}

pub async fn an_event_that_comes_again_after_that_has_no_second_effect(store: impl StoreFixture) {
    fill(&store).await;
    age(&store, &[]).await;
    let before = effects(&store).await;
    purge(&store).await;
    // All of them, and in another order.
    let mut again = events();
    again.reverse();
    apply(&*store.unit_of_work(1), &again).await;
    assert_eq!(effects(&store).await, before);
    let outcomes: Vec<&str> = store.processed().await.into_iter().map(|(_, outcome)| outcome).collect();
    assert_eq!(outcomes, ["recorded"; 14]);
    assert_eq!(store.audit_of(CONSUMER).violations(10).await.unwrap(), []);
    // And a third time, when they are duplicates again.
    apply(&*store.unit_of_work(1), &again).await;
    assert_eq!(effects(&store).await, before);
}

pub async fn another_consumers_events_are_kept(store: impl StoreFixture) {
    apply(&*store.unit_of_work_of("other", 1), &events()).await;
    age(&store, &[]).await;
    assert_eq!(purge(&store).await, 0);
    assert_eq!(ids(&store).await.len(), 14);
    assert_eq!(store.texts("SELECT purged FROM purges").await, [""; 0]);
}

pub async fn a_purge_beside_workers_removes_each_event_once(store: impl StoreFixture) {
    let paid = |number: u32| event(&format!("old_{number}"), &format!("pi_{number}"), &[captured(usd(5))]);
    apply(&*store.unit_of_work(1), &(0..60).map(paid).collect::<Vec<PaymentEvent>>()).await;
    age(&store, &[]).await;
    let mut purges = JoinSet::new();
    for _ in 0..3 {
        let retention = store.retention_of(CONSUMER);
        purges.spawn(async move {
            let mut removed = 0;
            for _ in 0..20 {
                removed += retention.purge(MONTH, 7).await.unwrap();
            }
            removed
        });
    }
    let new = |number: u32| event(&format!("new_{number}"), &format!("pn_{number}"), &[captured(usd(5))]);
    apply(&*store.unit_of_work(1), &(0..30).map(new).collect::<Vec<PaymentEvent>>()).await;
    assert_eq!(purges.join_all().await.iter().sum::<u64>(), 60);
    let totals = StoreTotals { applied: 90, recorded: 0, dead_letters: 0 };
    assert_eq!(store.audit_of(CONSUMER).totals(None).await.unwrap(), totals);
    assert_eq!(store.audit_of(CONSUMER).violations(10).await.unwrap(), []);
}
