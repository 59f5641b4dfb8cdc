//! Who relays, and for how long.

use async_trait::async_trait;

use super::*;
use crate::ports::destination::RenderedMessage;
use crate::ports::unit_of_work::StoreError;

/// A destination that takes this long for a batch.
struct Slow(Duration);

#[async_trait]
impl Destination for Slow {
    async fn deliver(&self, messages: &[RenderedMessage]) -> Vec<DeliveryOutcome> {
        tokio::time::sleep(self.0).await;
        vec![DeliveryOutcome::Delivered; messages.len()]
    }
}

#[tokio::test(start_paused = true)]
async fn the_lease_is_renewed_while_a_slow_destination_is_sent_to() {
    let stop = CancellationToken::new();
    let batches = Mutex::new(VecDeque::from([batch(vec![outbox_entry(1, "pi_1")])]));
    let mut lease = MockOutboxLease::new();
    let done = stop.clone();
    lease.expect_next().returning(move |_| {
        Ok(batches.lock().unwrap().pop_front().unwrap_or_else(|| {
            done.cancel();
            OutboxBatch::default()
        }))
    });
    // Every five seconds of fifteen, in a minute.
    lease.expect_renew().times(11..=12).returning(|| Ok(()));
    lease.expect_settle().times(1).returning(|_| Ok(()));
    lease.expect_release().returning(|| Ok(()));
    relay(outbox_with(lease), Slow(Duration::from_mins(1)), observer()).run(&stop).await;
}

#[tokio::test(start_paused = true)]
async fn a_relay_that_has_lost_its_lease_stops_sending_and_settles_nothing() {
    let stop = CancellationToken::new();
    let mut lease = MockOutboxLease::new();
    lease.expect_next().times(1).returning(|_| Ok(batch(vec![outbox_entry(1, "pi_1")])));
    lease.expect_renew().times(1).returning(|| Err(OutboxError::LeaseLost));
    lease.expect_settle().never();
    lease.expect_release().never();
    let mut outbox = MockOutbox::new();
    let (first, done) = (Mutex::new(Some(lease)), stop.clone());
    outbox.expect_lease().times(2).returning(move |_| {
        if let Some(lease) = first.lock().unwrap().take() {
            return Ok(Some(Box::new(lease) as Box<dyn OutboxLease>));
        }
        done.cancel();
        Ok(None)
    });
    let started = Instant::now();
    relay(outbox, Slow(Duration::from_hours(1)), observer()).run(&stop).await;
    assert!(started.elapsed() < SETTINGS.lease, "{:?}", started.elapsed());
}

#[tokio::test(start_paused = true)]
async fn a_lease_that_cannot_be_renewed_is_believed_no_longer_than_it_lasts() {
    let stop = CancellationToken::new();
    let mut lease = MockOutboxLease::new();
    lease.expect_next().returning(|_| Ok(batch(vec![outbox_entry(1, "pi_1")])));
    lease.expect_renew().returning(|| Err(StoreError::Unavailable("gone".into()).into()));
    lease.expect_settle().never();
    let mut outbox = MockOutbox::new();
    let (first, done) = (Mutex::new(Some(lease)), stop.clone());
    outbox.expect_lease().returning(move |_| {
        if let Some(lease) = first.lock().unwrap().take() {
            return Ok(Some(Box::new(lease) as Box<dyn OutboxLease>));
        }
        done.cancel();
        Err(StoreError::Unavailable("gone".into()))
    });
    let started = Instant::now();
    relay(outbox, Slow(Duration::from_hours(1)), observer()).run(&stop).await;
    assert!(started.elapsed() <= SETTINGS.lease + SETTINGS.backoff_max, "{:?}", started.elapsed());
}

#[tokio::test(start_paused = true)]
async fn a_stop_waits_for_the_batch_in_hand_and_gives_the_lease_back() {
    let stop = CancellationToken::new();
    let (mut lease, settlements) = (MockOutboxLease::new(), Settlements::default());
    lease.expect_next().times(1).returning(|_| Ok(batch(vec![outbox_entry(1, "pi_1")])));
    lease.expect_renew().returning(|| Ok(()));
    let kept = settlements.0.clone();
    lease.expect_settle().times(1).returning(move |settled| {
        kept.lock().unwrap().push(settled);
        Ok(())
    });
    lease.expect_release().times(1).returning(|| Ok(()));
    let relay = relay(outbox_with(lease), Slow(Duration::from_secs(5)), observer());
    let stopping = async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        stop.cancel();
    };
    tokio::join!(relay.run(&stop), stopping);
    assert_eq!(settlements.told(), [[(1, Verdict::Done)]]);
}

#[tokio::test(start_paused = true)]
async fn a_stop_does_not_wait_for_a_destination_that_never_answers() {
    let stop = CancellationToken::new();
    let mut lease = MockOutboxLease::new();
    lease.expect_next().times(1).returning(|_| Ok(batch(vec![outbox_entry(1, "pi_1")])));
    lease.expect_renew().returning(|| Ok(()));
    lease.expect_settle().never();
    lease.expect_release().times(1).returning(|| Ok(()));
    let relay = relay(outbox_with(lease), Slow(Duration::from_hours(1)), observer());
    let stopping = async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        stop.cancel();
    };
    let started = Instant::now();
    tokio::join!(relay.run(&stop), stopping);
    assert_eq!(started.elapsed(), Duration::from_secs(1) + STOP_GRACE);
}

#[tokio::test(start_paused = true)]
async fn a_relay_stands_by_until_the_lease_is_to_be_had() {
    let stop = CancellationToken::new();
    let (lease, settlements) = lease_of(vec![batch(vec![outbox_entry(1, "pi_1")])], &stop);
    let mut outbox = MockOutbox::new();
    let (lease, asked) = (Mutex::new(Some(lease)), Mutex::new(0));
    outbox.expect_lease().returning(move |_| {
        *asked.lock().unwrap() += 1;
        match *asked.lock().unwrap() {
            1 => Ok(None),
            2 => Err(StoreError::Unavailable("gone".into())),
            _ => Ok(lease.lock().unwrap().take().map(|lease| Box::new(lease) as Box<dyn OutboxLease>)),
        }
    });
    relay(outbox, delivering_all(), observer()).run(&stop).await;
    assert_eq!(settlements.told(), [[(1, Verdict::Done)]]);
}
