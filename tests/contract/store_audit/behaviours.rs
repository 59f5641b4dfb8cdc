//! What an audit looks at, and how much it tells.

use application::dead_letter::{LetterFilter, LetterReason, NewDeadLetter};
use application::ports::store_audit::{StoreTotals, Violation};
use application::testing::dead_letters::{new_letter, order, unreadable_letter};

use super::books::{APPLIED, RECORDED, events, fill};
use crate::unit_of_work::effects::apply;
use crate::unit_of_work::fixture::{CONSUMER, StoreFixture};

async fn violations(store: &impl StoreFixture, consumer: &str) -> Vec<Violation> {
    store.audit_of(consumer).violations(10).await.unwrap()
}

pub async fn a_store_in_order_has_no_violation(store: impl StoreFixture) {
    fill(&store).await;
    let audit = store.audit_of(CONSUMER);
    assert_eq!(audit.violations(10).await.unwrap(), []);
    // And again: the session was left in order.
    assert_eq!(audit.violations(10).await.unwrap(), []);
}

pub async fn violations_are_limited_for_each_invariant(store: impl StoreFixture) {
    fill(&store).await;
    store.tamper("DELETE FROM recorded_events; UPDATE payments SET revision = revision + 1").await;
    let audit = store.audit_of(CONSUMER);
    // Two events without bytes and six payments with a revision too much.
    assert_eq!(audit.violations(10).await.unwrap().len(), 8);
    assert_eq!(audit.violations(1).await.unwrap().len(), 2);
}

pub async fn totals_are_counted_by_outcome_and_by_prefix(store: impl StoreFixture) {
    fill(&store).await;
    let audit = store.audit_of(CONSUMER);
    let totals = |applied, recorded| StoreTotals { applied, recorded, dead_letters: 0 };
    assert_eq!(audit.totals(None).await.unwrap(), totals(APPLIED, RECORDED));
    assert_eq!(audit.totals(Some("evt")).await.unwrap(), totals(APPLIED, RECORDED - 1));
    assert_eq!(audit.totals(Some("evt_2")).await.unwrap(), totals(1, 0));
    assert_eq!(audit.totals(Some("other_1")).await.unwrap(), totals(0, 1));
    // Not a wild card, and not in any case.
    for prefix in ["evt%", "e_t", "EVT"] {
        assert_eq!(audit.totals(Some(prefix)).await.unwrap(), totals(0, 0), "{prefix}");
    }
}

async fn give_up(store: &impl StoreFixture, letters: Vec<NewDeadLetter>) {
    store.letters_of(CONSUMER).store(letters).await.unwrap();
}

pub async fn an_event_that_is_given_up_is_counted_once(store: impl StoreFixture) {
    fill(&store).await;
    give_up(&store, vec![new_letter("late_1", 1), new_letter("late_1", 2), new_letter("late_2", 3)]).await;
    let audit = store.audit_of(CONSUMER);
    assert_eq!(audit.totals(None).await.unwrap().dead_letters, 2);
    assert_eq!(audit.totals(Some("late_2")).await.unwrap().dead_letters, 1);
    assert_eq!(store.audit_of("other").totals(None).await.unwrap().dead_letters, 0);
}

pub async fn a_dead_letter_of_an_event_that_is_settled_is_not_counted_but_a_conflict_is(
    store: impl StoreFixture,
) {
    fill(&store).await;
    give_up(&store, vec![new_letter("evt_1", 1)]).await;
    let audit = store.audit_of(CONSUMER);
    assert_eq!(audit.totals(None).await.unwrap().dead_letters, 0);
    let mut conflict = new_letter("evt_1", 2);
    conflict.cause.reason = LetterReason::Conflict;
    give_up(&store, vec![conflict]).await;
    assert_eq!(audit.totals(None).await.unwrap().dead_letters, 1);
}

pub async fn a_message_that_could_not_be_read_is_counted_where_no_id_is_asked_for(store: impl StoreFixture) {
    give_up(&store, vec![unreadable_letter("a", 1), unreadable_letter("b", 2)]).await;
    let audit = store.audit_of(CONSUMER);
    assert_eq!(audit.totals(None).await.unwrap().dead_letters, 2);
    assert_eq!(audit.totals(Some("a")).await.unwrap().dead_letters, 0);
}

pub async fn a_discarded_letter_is_still_accounted_for(store: impl StoreFixture) {
    give_up(&store, vec![new_letter("late_1", 1)]).await;
    let letters = store.letters_of(CONSUMER);
    let kept = letters.page(&LetterFilter::default(), None, None, 1).await.unwrap().letters;
    letters.discard(&[kept[0].id], &order("ann")).await.unwrap();
    assert_eq!(store.audit_of(CONSUMER).totals(None).await.unwrap().dead_letters, 1);
}

pub async fn another_consumers_events_are_not_looked_at(store: impl StoreFixture) {
    fill(&store).await;
    assert_eq!(store.audit_of("other").totals(None).await.unwrap(), StoreTotals::default());
    assert_eq!(violations(&store, "other").await, []);
}

pub async fn a_broken_row_is_told_to_its_own_consumer_only(store: impl StoreFixture) {
    fill(&store).await;
    apply(&*store.unit_of_work_of("other", 1), &events()).await;
    store
        .tamper(
            "UPDATE payments SET captured_minor = captured_minor + 1, revision = revision + 1, \
               last_event_id = 'evt_x', standing_stage = 30 WHERE consumer = 'other'; \
             DELETE FROM outbox WHERE consumer = 'other'; \
             DELETE FROM processed_events WHERE consumer = 'other'; \
             UPDATE account_balances SET balance_minor = balance_minor + 1 WHERE consumer = 'other'",
        )
        .await;
    assert_eq!(violations(&store, CONSUMER).await, []);
    assert!(!violations(&store, "other").await.is_empty());
}

/// Says that what belongs to facts from before the one of `event_id` may be missing from `table`.
fn purged_until(table: &str, event_id: &str) -> String {
    format!(
        "INSERT INTO purges (consumer, purged, before) \
         SELECT consumer, '{table}', max(established_at) FROM payment_facts \
         WHERE event_id = '{event_id}' GROUP BY consumer"
    )
}

pub async fn what_was_purged_by_age_is_not_missed(store: impl StoreFixture) {
    fill(&store).await;
    for table in ["processed_events", "outbox"] {
        store.execute(&purged_until(table, "evt_9")).await.unwrap();
    }
    store.tamper("DELETE FROM processed_events WHERE event_id = 'evt_1'").await;
    store.execute("DELETE FROM outbox WHERE event_id = 'evt_1'").await.unwrap();
    assert_eq!(violations(&store, CONSUMER).await, []);
}

pub async fn what_is_younger_than_a_purge_is_missed(store: impl StoreFixture) {
    fill(&store).await;
    for table in ["processed_events", "outbox"] {
        store.execute(&purged_until(table, "evt_1")).await.unwrap();
    }
    store.tamper("DELETE FROM processed_events WHERE event_id = 'evt_9'").await;
    store.execute("DELETE FROM outbox WHERE event_id = 'evt_9'").await.unwrap();
    assert_eq!(violations(&store, CONSUMER).await.len(), 2);
}
