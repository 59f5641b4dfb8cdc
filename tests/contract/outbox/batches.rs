//! What is handed out.

use std::time::Duration;

use application::ports::outbox::{DestinationDepth, LeaseClaim, OutboxEntry, Standing, Start, Verdict};
use domain::Timestamp;

use super::fixture::{LONG, OutboxFixture, again, claim, failed, lease, payments, settle_next};

pub async fn messages_come_in_order_and_each_once(store: impl OutboxFixture) {
    store.add(&["pi_1", "pi_2", "pi_1"]).await;
    let outbox = store.outbox();
    let mut lease = lease(&*outbox, "shop").await;
    assert_eq!(settle_next(&mut *lease, |_| Verdict::Done).await, ["pi_1", "pi_2", "pi_1"]);
    assert!(payments(&mut *lease).await.is_empty());
    store.add(&["pi_3"]).await;
    assert_eq!(settle_next(&mut *lease, |_| Verdict::Done).await, ["pi_3"]);
    assert!(payments(&mut *lease).await.is_empty());
}

pub async fn what_is_not_settled_comes_again_and_to_the_next_relay(store: impl OutboxFixture) {
    store.add(&["pi_1", "pi_2"]).await;
    let outbox = store.outbox();
    let mut first = lease(&*outbox, "shop").await;
    assert_eq!(payments(&mut *first).await, ["pi_1", "pi_2"]);
    store.add(&["pi_3"]).await;
    assert_eq!(payments(&mut *first).await, ["pi_1", "pi_2", "pi_3"]);
    let mut second = lease(&*store.outbox(), "shop").await;
    assert_eq!(settle_next(&mut *second, |_| Verdict::Done).await, ["pi_1", "pi_2", "pi_3"]);
}

pub async fn a_message_comes_as_it_was_stored(store: impl OutboxFixture) {
    let at = store.ago(Duration::from_hours(1));
    let insert = "INSERT INTO outbox (consumer, id, kind, source, payment_id, account, fact, amount_minor, \
                  currency, occurred_at, event_id) VALUES";
    store
        .run(&format!(
            "{insert} ('payments', 'shop/é/captured:1', 'payment.captured', 'shop', 'é', 'shop:acct_1', \
             'captured:1', 9223372036854775807, 'USD', {at}, 'evt_1')"
        ))
        .await;
    let mut lease = lease(&*store.outbox(), "shop").await;
    let mut entries = lease.next(10).await.unwrap().entries;
    let entry = entries.pop().unwrap();
    assert!(entry.occurred_at > Timestamp::from_micros(1_700_000_000_000_000), "{entry:?}");
    let expected = OutboxEntry {
        seq: entry.seq,
        id: "shop/é/captured:1".to_owned(),
        kind: "payment.captured".to_owned(),
        source: "shop".to_owned(),
        payment_id: "é".to_owned(),
        account: "shop:acct_1".to_owned(),
        fact: "captured:1".to_owned(),
        amount_minor: Some(i64::MAX),
        currency: Some("USD".to_owned()),
        occurred_at: entry.occurred_at,
        standing: Standing::New,
    };
    assert_eq!((entry, entries.len()), (expected, 0));
}

pub async fn another_consumers_messages_are_passed_over(store: impl OutboxFixture) {
    store.add_for("other", &["pi_1"]).await;
    store.add(&["pi_2"]).await;
    store.add_for("other", &["pi_3", "pi_4"]).await;
    let outbox = store.outbox();
    let mut lease = lease(&*outbox, "shop").await;
    assert_eq!(settle_next(&mut *lease, |_| Verdict::Done).await, ["pi_2"]);
    assert_eq!(outbox.depths().await.unwrap()[0].behind, 0);
    store.add_for("other", &["pi_5"]).await;
    assert!(payments(&mut *lease).await.is_empty());
    // There is nothing to settle, and still it does not look as if it were behind for ever.
    lease.renew().await.unwrap();
    assert_eq!(outbox.depths().await.unwrap()[0].behind, 0);
}

pub async fn a_new_destination_begins_where_it_is_told_to(store: impl OutboxFixture) {
    store.add(&["pi_1"]).await;
    let outbox = store.outbox();
    let newest = LeaseClaim { start: Start::Newest, ..claim("one", LONG) };
    let mut from_now = outbox.lease(&newest).await.unwrap().unwrap();
    let oldest = LeaseClaim { destination: "books".to_owned(), ..claim("one", LONG) };
    let mut from_then = outbox.lease(&oldest).await.unwrap().unwrap();
    store.add(&["pi_2"]).await;
    assert_eq!(payments(&mut *from_now).await, ["pi_2"]);
    assert_eq!(payments(&mut *from_then).await, ["pi_1", "pi_2"]);
    // Once it has begun it goes on where it is.
    from_then.release().await.unwrap();
    let again = LeaseClaim { start: Start::Newest, ..oldest };
    let mut from_then = outbox.lease(&again).await.unwrap().unwrap();
    assert_eq!(payments(&mut *from_then).await, ["pi_1", "pi_2"]);
}

pub async fn a_batch_that_was_cut_says_that_there_is_more(store: impl OutboxFixture) {
    store.add(&["pi_1", "pi_2", "pi_3"]).await;
    let mut lease = lease(&*store.outbox(), "shop").await;
    let batch = lease.next(2).await.unwrap();
    assert_eq!((batch.entries.len(), batch.more), (2, true));
    let batch = lease.next(4).await.unwrap();
    assert_eq!((batch.entries.len(), batch.more), (3, false));
}

pub async fn how_far_a_destination_has_come_is_told(store: impl OutboxFixture) {
    let outbox = store.outbox();
    assert_eq!(outbox.depths().await.unwrap(), []);
    store.add(&["pi_1", "pi_2", "pi_3"]).await;
    let (mut shop, _books) = (lease(&*outbox, "shop").await, lease(&*outbox, "books").await);
    settle_next(&mut *shop, |payment| match payment {
        "pi_1" => again(LONG),
        "pi_2" => failed(),
        _ => Verdict::Done,
    })
    .await;
    store.add_old(&["pi_4"]).await;
    let depths = outbox.depths().await.unwrap();
    let told: Vec<_> =
        depths.iter().map(|d| (d.destination.as_str(), d.behind, d.waiting, d.failed)).collect();
    assert_eq!(told, [("books", 4, 0, 0), ("shop", 1, 1, 1)]);
    let age = |depth: &DestinationDepth| depth.oldest_age >= Duration::from_hours(24);
    assert!(age(&depths[1]) && !age(&depths[0]), "{depths:?}");
}
