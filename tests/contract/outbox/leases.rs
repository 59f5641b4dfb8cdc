//! Who may relay.

use std::time::Duration;

use application::ports::outbox::{LeaseClaim, OutboxError, Settled};

use super::fixture::{LONG, OutboxFixture, again, claim, lease, settle_next};
use application::ports::outbox::Verdict;

const SHORT: Duration = Duration::from_millis(300);

pub async fn one_relay_has_the_lease_and_the_others_stand_by(store: impl OutboxFixture) {
    let (one, other) = (store.outbox(), store.outbox());
    assert!(one.lease(&claim("one", LONG)).await.unwrap().is_some());
    assert!(other.lease(&claim("other", LONG)).await.unwrap().is_none());
}

pub async fn a_lease_that_is_over_is_given_to_whoever_asks(store: impl OutboxFixture) {
    let outbox = store.outbox();
    let _dead = outbox.lease(&claim("one", SHORT)).await.unwrap().unwrap();
    tokio::time::sleep(SHORT).await;
    assert!(outbox.lease(&claim("other", LONG)).await.unwrap().is_some());
}

pub async fn a_lease_that_was_given_back_is_free_at_once(store: impl OutboxFixture) {
    let outbox = store.outbox();
    outbox.lease(&claim("one", LONG)).await.unwrap().unwrap().release().await.unwrap();
    assert!(outbox.lease(&claim("other", LONG)).await.unwrap().is_some());
}

pub async fn its_owner_has_a_lease_again_at_once(store: impl OutboxFixture) {
    let outbox = store.outbox();
    let mut lost = outbox.lease(&claim("one", LONG)).await.unwrap().unwrap();
    let mut found = outbox.lease(&claim("one", LONG)).await.unwrap().unwrap();
    assert!(matches!(lost.renew().await, Err(OutboxError::LeaseLost)));
    found.renew().await.unwrap();
}

pub async fn a_renewed_lease_holds_on(store: impl OutboxFixture) {
    let outbox = store.outbox();
    let mut lease = outbox.lease(&claim("one", Duration::from_secs(3))).await.unwrap().unwrap();
    for _ in 0..8 {
        tokio::time::sleep(Duration::from_millis(500)).await;
        lease.renew().await.unwrap();
    }
    assert!(outbox.lease(&claim("other", LONG)).await.unwrap().is_none());
}

pub async fn whoever_has_lost_the_lease_changes_nothing(store: impl OutboxFixture) {
    store.add(&["pi_1", "pi_2"]).await;
    let outbox = store.outbox();
    let mut lost = outbox.lease(&claim("one", SHORT)).await.unwrap().unwrap();
    let batch = lost.next(100).await.unwrap();
    tokio::time::sleep(SHORT).await;
    let mut holder = outbox.lease(&claim("other", LONG)).await.unwrap().unwrap();
    let mut verdicts = [Verdict::Done, again(LONG)].into_iter();
    let settled =
        batch.entries.into_iter().map(|entry| Settled { entry, verdict: verdicts.next().unwrap() }).collect();
    assert!(matches!(lost.settle(settled).await, Err(OutboxError::LeaseLost)));
    assert!(matches!(lost.renew().await, Err(OutboxError::LeaseLost)));
    assert!(matches!(lost.release().await, Err(OutboxError::LeaseLost)));
    assert!(outbox.lease(&claim("third", LONG)).await.unwrap().is_none());
    assert!(store.kept("shop").await.is_empty());
    assert_eq!(settle_next(&mut *holder, |_| Verdict::Done).await, ["pi_1", "pi_2"]);
}

pub async fn destinations_and_consumers_have_leases_of_their_own(store: impl OutboxFixture) {
    store.add(&["pi_1"]).await;
    store.add_for("other", &["pi_2"]).await;
    let outbox = store.outbox();
    let (mut shop, mut books) = (lease(&*outbox, "shop").await, lease(&*outbox, "books").await);
    let claim = LeaseClaim { owner: "somebody else".to_owned(), ..claim("one", LONG) };
    let mut others = store.outbox_of("other").lease(&claim).await.unwrap().unwrap();
    assert_eq!(settle_next(&mut *shop, |_| Verdict::Done).await, ["pi_1"]);
    assert_eq!(settle_next(&mut *books, |_| Verdict::Done).await, ["pi_1"]);
    assert_eq!(settle_next(&mut *others, |_| Verdict::Done).await, ["pi_2"]);
}
