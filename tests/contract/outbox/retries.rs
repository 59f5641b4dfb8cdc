//! What was not taken.

use std::time::Duration;

use application::ports::outbox::{OutboxEntry, OutboxLease, Settled, Standing, Verdict};

use super::fixture::{LONG, OutboxFixture, again, failed, lease, payments, settle_next};

const SHORT: Duration = Duration::from_millis(300);

/// The entries of the next batch, as soon as there are some.
async fn wait_for_entries(lease: &mut dyn OutboxLease) -> Vec<OutboxEntry> {
    for _ in 0..200 {
        let entries = lease.next(100).await.unwrap().entries;
        if !entries.is_empty() {
            return entries;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("nothing comes");
}

pub async fn a_message_that_was_not_taken_comes_again_after_its_time_and_counts(store: impl OutboxFixture) {
    store.add(&["pi_1"]).await;
    let outbox = store.outbox();
    let mut first = lease(&*outbox, "shop").await;
    settle_next(&mut *first, |_| again(LONG)).await;
    assert!(payments(&mut *first).await.is_empty(), "not before its time");
    store.run("UPDATE outbox_retries SET next_at = created_at").await;
    // Another relay knows of it as well.
    let mut second = lease(&*outbox, "shop").await;
    let entry = wait_for_entries(&mut *second).await.remove(0);
    let Standing::Waiting { attempts: 1, tried_for } = entry.standing else {
        panic!("{entry:?}");
    };
    let verdict = Verdict::TryAgain { after: SHORT, attempts: 2, error: "HTTP 502".to_owned() };
    second.settle(vec![Settled { entry, verdict }]).await.unwrap();
    let entry = wait_for_entries(&mut *second).await.remove(0);
    let Standing::Waiting { attempts: 2, tried_for: then } = entry.standing else {
        panic!("{entry:?}");
    };
    assert!(then >= tried_for + SHORT, "counted from the first attempt: {tried_for:?}, {then:?}");
    second.settle(vec![Settled { entry, verdict: Verdict::Done }]).await.unwrap();
    assert!(payments(&mut *second).await.is_empty());
    assert!(store.kept("shop").await.is_empty());
}

pub async fn messages_of_a_payment_wait_behind_one_that_was_not_taken(store: impl OutboxFixture) {
    store.add(&["pi_1", "pi_1", "pi_2"]).await;
    let mut lease = lease(&*store.outbox(), "shop").await;
    let batch = lease.next(100).await.unwrap();
    let mut verdicts = [again(LONG), Verdict::Behind, Verdict::Done].into_iter();
    let settled = batch.entries.into_iter().map(|entry| Settled { entry, verdict: verdicts.next().unwrap() });
    lease.settle(settled.collect()).await.unwrap();
    store.add(&["pi_1", "pi_2"]).await;
    let entries = lease.next(100).await.unwrap().entries;
    let told: Vec<_> = entries.iter().map(|entry| (entry.payment_id.as_str(), entry.standing)).collect();
    assert_eq!(told, [("pi_1", Standing::Behind), ("pi_2", Standing::New)]);
}

/// Three messages of `pi_1`, of which the first was not taken, and the others wait behind it.
async fn three_that_wait(store: &impl OutboxFixture) -> Box<dyn OutboxLease> {
    store.add(&["pi_1", "pi_1"]).await;
    let mut lease = lease(&*store.outbox(), "shop").await;
    let batch = lease.next(100).await.unwrap();
    let mut verdicts = [again(SHORT), Verdict::Behind].into_iter();
    let settled = batch.entries.into_iter().map(|entry| Settled { entry, verdict: verdicts.next().unwrap() });
    lease.settle(settled.collect()).await.unwrap();
    store.add(&["pi_1"]).await;
    let batch = lease.next(100).await.unwrap();
    assert_eq!(batch.entries[0].standing, Standing::Behind);
    let settled = batch.entries.into_iter().map(|entry| Settled { entry, verdict: Verdict::Behind });
    lease.settle(settled.collect()).await.unwrap();
    lease
}

pub async fn what_waited_behind_comes_at_once_and_in_order_when_the_first_is_delivered(
    store: impl OutboxFixture,
) {
    let mut lease = three_that_wait(&store).await;
    let entries = wait_for_entries(&mut *lease).await;
    let places: Vec<i64> = entries.iter().map(|entry| entry.seq).collect();
    assert!(places.len() == 3 && places.is_sorted(), "{places:?}");
    // The first is delivered, and then the batch is cut short.
    let mut verdicts = [Verdict::Done, Verdict::Behind, Verdict::Behind].into_iter();
    let settled = entries.into_iter().map(|entry| Settled { entry, verdict: verdicts.next().unwrap() });
    lease.settle(settled.collect()).await.unwrap();
    let entries = lease.next(100).await.unwrap().entries;
    assert_eq!(entries.iter().map(|entry| entry.seq).collect::<Vec<_>>(), places[1..]);
    let never_tried = Standing::Waiting { attempts: 0, tried_for: Duration::ZERO };
    assert!(entries.iter().all(|entry| entry.standing == never_tried), "{entries:?}");
}

pub async fn what_waited_behind_comes_when_the_first_is_given_up(store: impl OutboxFixture) {
    let mut lease = three_that_wait(&store).await;
    let entries = wait_for_entries(&mut *lease).await;
    let mut verdicts = [failed(), Verdict::Behind, Verdict::Behind].into_iter();
    let settled = entries.into_iter().map(|entry| Settled { entry, verdict: verdicts.next().unwrap() });
    lease.settle(settled.collect()).await.unwrap();
    assert_eq!(settle_next(&mut *lease, |_| Verdict::Done).await, ["pi_1", "pi_1"]);
    assert_eq!(store.kept("shop").await, ["pi_1 failed 3"]);
}

pub async fn a_message_that_was_given_up_is_kept_and_comes_no_more(store: impl OutboxFixture) {
    store.add(&["pi_1"]).await;
    let mut lease = lease(&*store.outbox(), "shop").await;
    settle_next(&mut *lease, |_| failed()).await;
    assert!(payments(&mut *lease).await.is_empty());
    assert_eq!(store.kept("shop").await, ["pi_1 failed 3"]);
    assert_eq!(store.texts("SELECT last_error FROM outbox_retries").await, ["HTTP 400"]);
    // Nothing new of its payment waits for it.
    store.add(&["pi_1"]).await;
    let entries = lease.next(100).await.unwrap().entries;
    assert_eq!(entries[0].standing, Standing::New);
    let settled = entries.into_iter().map(|entry| Settled { entry, verdict: Verdict::Done });
    lease.settle(settled.collect()).await.unwrap();
    // An operator may have it tried once more.
    store.run("UPDATE outbox_retries SET state = 'waiting', attempts = 0, next_at = created_at").await;
    assert_eq!(settle_next(&mut *lease, |_| Verdict::Done).await, ["pi_1"]);
    assert!(store.kept("shop").await.is_empty());
}

pub async fn a_destination_with_too_many_that_wait_is_handed_nothing_new(store: impl OutboxFixture) {
    store.add(&["pi_1"]).await;
    let mut lease = lease(&*store.outbox(), "shop").await;
    settle_next(&mut *lease, |_| again(LONG)).await;
    // Ten thousand that wait, by squaring.
    let many = "WITH digits (n) AS (VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9)) \
                INSERT INTO outbox_retries (consumer, destination, seq, source, payment_id, state) \
                SELECT 'payments', 'shop', 1000000 + a.n * 1000 + b.n * 100 + c.n * 10 + d.n, 'payment', 'pi_1', \
                  'waiting' FROM digits AS a, digits AS b, digits AS c, digits AS d";
    store.run(many).await;
    store.add(&["pi_2"]).await;
    let mut next = lease_again(&store).await;
    assert!(payments(&mut *next).await.is_empty());
    store.run("DELETE FROM outbox_retries WHERE seq >= 1000000").await;
    assert_eq!(payments(&mut *next).await, ["pi_2"]);
}

async fn lease_again(store: &impl OutboxFixture) -> Box<dyn OutboxLease> {
    lease(&*store.outbox(), "shop").await
}

pub async fn each_destination_has_retries_of_its_own(store: impl OutboxFixture) {
    store.add(&["pi_1"]).await;
    let outbox = store.outbox();
    let (mut shop, mut books) = (lease(&*outbox, "shop").await, lease(&*outbox, "books").await);
    settle_next(&mut *shop, |_| again(LONG)).await;
    settle_next(&mut *books, |_| Verdict::Done).await;
    store.add(&["pi_1"]).await;
    let standing = |entries: Vec<OutboxEntry>| entries[0].standing;
    assert_eq!(standing(shop.next(10).await.unwrap().entries), Standing::Behind);
    assert_eq!(standing(books.next(10).await.unwrap().entries), Standing::New);
}
