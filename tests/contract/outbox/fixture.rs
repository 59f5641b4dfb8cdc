//! A store with an outbox, and an independent hand in it.

use std::sync::Arc;
use std::time::Duration;

use application::ports::outbox::{LeaseClaim, Outbox, OutboxLease, Settled, Start, Verdict};
use async_trait::async_trait;

/// The consumer whose messages are relayed.
pub const CONSUMER: &str = "payments";

/// Long enough not to run out while a test goes on.
pub const LONG: Duration = Duration::from_mins(10);

/// A fresh store.
#[async_trait]
pub trait OutboxFixture: Send + Sync + 'static {
    async fn create() -> Self;

    /// An outbox of its own, as another process would have it, for the events of `consumer`.
    fn outbox_of(&self, consumer: &str) -> Arc<dyn Outbox>;

    /// Runs SQL that both dialects know.
    async fn run(&self, sql: &str);

    /// What a query with one text column finds.
    async fn texts(&self, query: &str) -> Vec<String>;

    /// This long ago, in SQL.
    fn ago(&self, time: Duration) -> String;

    /// That of [`CONSUMER`].
    fn outbox(&self) -> Arc<dyn Outbox> {
        self.outbox_of(CONSUMER)
    }

    /// Adds a message about each of these payments, in their order and in one transaction.
    async fn add(&self, payments: &[&str]) {
        self.add_for(CONSUMER, payments).await;
    }

    async fn add_for(&self, consumer: &str, payments: &[&str]) {
        let rows: Vec<String> =
            payments.iter().map(|payment| row(consumer, payment, &self.ago(Duration::ZERO))).collect();
        self.run(&format!("{INSERT} {}", rows.join(", "))).await;
    }

    /// The same, a day ago.
    async fn add_old(&self, payments: &[&str]) {
        let yesterday = self.ago(Duration::from_hours(24));
        let rows: Vec<String> = payments.iter().map(|payment| row(CONSUMER, payment, &yesterday)).collect();
        self.run(&format!("{INSERT} {}", rows.join(", "))).await;
    }

    /// The payments of the messages that are in the outbox, in order.
    async fn stored(&self) -> Vec<String> {
        self.texts("SELECT payment_id FROM outbox ORDER BY seq").await
    }

    /// What is kept apart for a destination: places, states and attempts.
    async fn kept(&self, destination: &str) -> Vec<String> {
        let query = format!(
            "SELECT o.payment_id || ' ' || r.state || ' ' || r.attempts FROM outbox_retries AS r \
             JOIN outbox AS o ON o.seq = r.seq WHERE r.destination = '{destination}' ORDER BY r.seq"
        );
        self.texts(&query).await
    }
}

/// The columns of a message's row.
pub const INSERT: &str = "INSERT INTO outbox (consumer, id, kind, source, payment_id, account, fact, occurred_at, event_id, created_at) VALUES";

/// A message's row, with an id that no other has.
pub fn row(consumer: &str, payment: &str, at: &str) -> String {
    use std::sync::atomic::{AtomicU32, Ordering};
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    format!(
        "('{consumer}', 'payment/{payment}/{number}', 'payment.succeeded', 'payment', '{payment}', 'payment', \
         '{number}', {at}, 'evt_{number}', {at})"
    )
}

/// A claim to the destination `shop`.
pub fn claim(owner: &str, lease: Duration) -> LeaseClaim {
    LeaseClaim { destination: "shop".to_owned(), owner: owner.to_owned(), lease, start: Start::Oldest }
}

/// A lease that must be had.
pub async fn lease(outbox: &dyn Outbox, destination: &str) -> Box<dyn OutboxLease> {
    let claim = LeaseClaim { destination: destination.to_owned(), ..claim("relay", LONG) };
    outbox.lease(&claim).await.expect("the store is there").expect("nobody else has the lease")
}

/// The payments of the next batch, in order.
pub async fn payments(lease: &mut dyn OutboxLease) -> Vec<String> {
    let batch = lease.next(100).await.expect("the store is there");
    batch.entries.into_iter().map(|entry| entry.payment_id).collect()
}

/// Takes the next batch and settles it; `verdict` judges by the payment. Gives the payments.
pub async fn settle_next(lease: &mut dyn OutboxLease, verdict: impl Fn(&str) -> Verdict) -> Vec<String> {
    let batch = lease.next(100).await.expect("the store is there");
    let settled: Vec<Settled> = batch
        .entries
        .into_iter()
        .map(|entry| {
            let verdict = verdict(&entry.payment_id);
            Settled { entry, verdict }
        })
        .collect();
    let payments = settled.iter().map(|settled| settled.entry.payment_id.clone()).collect();
    lease.settle(settled).await.expect("the lease holds");
    payments
}

/// Tried once, to be tried again after this long.
pub fn again(after: Duration) -> Verdict {
    Verdict::TryAgain { after, attempts: 1, error: "HTTP 500".to_owned() }
}

/// Given up.
pub fn failed() -> Verdict {
    Verdict::Failed { attempts: 3, error: "HTTP 400".to_owned() }
}
