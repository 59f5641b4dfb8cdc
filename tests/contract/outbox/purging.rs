//! What is removed, and what is kept.

use std::time::Duration;

use application::ports::outbox::Verdict;

use super::fixture::{LONG, OutboxFixture, again, failed, lease, settle_next};

const HOUR: Duration = Duration::from_hours(1);

pub async fn old_messages_that_everybody_has_are_removed_and_it_is_noted(store: impl OutboxFixture) {
    store.add_old(&["pi_1", "pi_2", "pi_3"]).await;
    store.add(&["pi_4", "pi_5"]).await;
    let outbox = store.outbox();
    settle_next(&mut *lease(&*outbox, "shop").await, |_| Verdict::Done).await;
    assert_eq!(outbox.purge(HOUR, 2).await.unwrap(), 2);
    assert_eq!(outbox.purge(HOUR, 2).await.unwrap(), 1);
    assert_eq!(outbox.purge(HOUR, 2).await.unwrap(), 0);
    assert_eq!(store.stored().await, ["pi_4", "pi_5"]);
    assert_eq!(store.texts("SELECT consumer || ' ' || purged FROM purges").await, ["payments outbox"]);
    let between = format!(
        "SELECT consumer FROM purges WHERE before < {} AND before > {}",
        store.ago(Duration::from_mins(59)),
        store.ago(Duration::from_mins(70)),
    );
    assert_eq!(store.texts(&between).await, ["payments"]);
}

pub async fn messages_that_a_destination_has_not_had_are_kept(store: impl OutboxFixture) {
    store.add_old(&["pi_1"]).await;
    let outbox = store.outbox();
    let (mut shop, _books) = (lease(&*outbox, "shop").await, lease(&*outbox, "books").await);
    settle_next(&mut *shop, |_| Verdict::Done).await;
    store.add_old(&["pi_2", "pi_3"]).await;
    assert_eq!(outbox.purge(HOUR, 10).await.unwrap(), 0);
    // Another consumer's destinations are of no concern, nor are its messages.
    store.add_for("other", &["pi_4"]).await;
    assert_eq!(store.outbox_of("other").purge(HOUR, 10).await.unwrap(), 0);
    assert_eq!(store.stored().await, ["pi_1", "pi_2", "pi_3", "pi_4"]);
    assert!(store.texts("SELECT purged FROM purges").await.is_empty());
}

pub async fn messages_that_wait_or_have_failed_are_kept(store: impl OutboxFixture) {
    store.add_old(&["pi_1", "pi_2", "pi_3", "pi_4"]).await;
    store.add(&["pi_5"]).await;
    let outbox = store.outbox();
    let mut lease = lease(&*outbox, "shop").await;
    settle_next(&mut *lease, |payment| match payment {
        "pi_1" => again(LONG),
        "pi_2" => failed(),
        _ => Verdict::Done,
    })
    .await;
    // What is kept does not stand in the way of what is behind it, however little is looked at.
    assert_eq!(outbox.purge(HOUR, 1).await.unwrap(), 1);
    assert_eq!(outbox.purge(HOUR, 1).await.unwrap(), 1);
    assert_eq!(store.stored().await, ["pi_1", "pi_2", "pi_5"]);
}

pub async fn a_destination_that_nobody_relays_to_any_more_keeps_nothing(store: impl OutboxFixture) {
    store.add_old(&["pi_1"]).await;
    store.add(&["pi_2"]).await;
    let outbox = store.outbox();
    lease(&*outbox, "shop").await.release().await.unwrap();
    assert_eq!(outbox.purge(HOUR, 10).await.unwrap(), 0);
    let long_ago = store.ago(Duration::from_hours(2));
    store.run(&format!("UPDATE outbox_destinations SET relayed_at = {long_ago}")).await;
    assert_eq!(outbox.purge(HOUR, 10).await.unwrap(), 1);
}

pub async fn places_are_not_used_again_after_a_purge(store: impl OutboxFixture) {
    store.add_old(&["pi_1", "pi_2"]).await;
    let outbox = store.outbox();
    let mut lease = lease(&*outbox, "shop").await;
    settle_next(&mut *lease, |_| Verdict::Done).await;
    outbox.purge(HOUR, 10).await.unwrap();
    store.run("DELETE FROM outbox").await;
    store.add(&["pi_3"]).await;
    assert_eq!(settle_next(&mut *lease, |_| Verdict::Done).await, ["pi_3"]);
}
