use std::collections::VecDeque;
use std::sync::Mutex;

use tokio::time::Instant;

use super::*;
use crate::ports::destination::{DeliveryOutcome, MockDestination};
use crate::ports::outbox::{
    MockOutbox, MockOutboxLease, OutboxBatch, OutboxEntry, OutboxLease, Settled, Start, Verdict,
};
use crate::ports::relay_observer::MockRelayObserver;
use crate::testing::outbox_entry;

mod lease;

const SETTINGS: RelaySettings = RelaySettings {
    batch_max: 100,
    lease: Duration::from_secs(15),
    poll: Duration::from_millis(200),
    backoff_max: Duration::from_secs(30),
};

fn route() -> Route {
    Route {
        name: "shop".to_owned(),
        kinds: KindFilter::default(),
        start: Start::Oldest,
        attempts_max: 3,
        max_age: Duration::from_hours(72),
        retry_delay: Duration::from_secs(5),
    }
}

fn batch(entries: Vec<OutboxEntry>) -> OutboxBatch {
    OutboxBatch { entries, more: false }
}

fn observer() -> MockRelayObserver {
    let mut observer = MockRelayObserver::new();
    observer.expect_leading().return_const(());
    observer.expect_delivered().return_const(());
    observer.expect_retried().return_const(());
    observer.expect_failed().return_const(());
    observer.expect_away().return_const(());
    observer
}

/// A lease that hands out `batches`, says what was settled, and cancels `stop` when there is no more.
fn lease_of(batches: Vec<OutboxBatch>, stop: &CancellationToken) -> (MockOutboxLease, Settlements) {
    let (batches, settlements) = (Mutex::new(VecDeque::from(batches)), Settlements::default());
    let (stop, kept) = (stop.clone(), settlements.0.clone());
    let mut lease = MockOutboxLease::new();
    lease.expect_next().returning(move |_| {
        let next = batches.lock().unwrap().pop_front();
        Ok(next.unwrap_or_else(|| {
            stop.cancel();
            OutboxBatch::default()
        }))
    });
    lease.expect_settle().returning(move |settled| {
        kept.lock().unwrap().push(settled);
        Ok(())
    });
    lease.expect_renew().returning(|| Ok(()));
    lease.expect_release().returning(|| Ok(()));
    (lease, settlements)
}

#[derive(Default, Clone)]
struct Settlements(Arc<Mutex<Vec<Vec<Settled>>>>);

impl Settlements {
    /// Places and verdicts, a list for each settlement.
    fn told(&self) -> Vec<Vec<(i64, Verdict)>> {
        let settled = self.0.lock().unwrap();
        let place = |settled: &Settled| (settled.entry.seq, settled.verdict.clone());
        settled.iter().map(|batch| batch.iter().map(place).collect()).collect()
    }
}

fn outbox_with(lease: MockOutboxLease) -> MockOutbox {
    let mut outbox = MockOutbox::new();
    let lease = Mutex::new(Some(lease));
    outbox.expect_lease().returning(move |claim| {
        assert_eq!((claim.destination.as_str(), claim.owner.as_str()), ("shop", "relay-1"));
        Ok(lease.lock().unwrap().take().map(|lease| Box::new(lease) as Box<dyn OutboxLease>))
    });
    outbox
}

fn relay(
    outbox: MockOutbox,
    destination: impl Destination + 'static,
    observer: MockRelayObserver,
) -> RelayOutbox {
    let (outbox, destination, observer) = (Arc::new(outbox), Arc::new(destination), Arc::new(observer));
    RelayOutbox::new(outbox, destination, observer, route(), "relay-1".to_owned(), SETTINGS)
}

fn delivering_all() -> MockDestination {
    let mut destination = MockDestination::new();
    destination.expect_deliver().returning(|messages| vec![DeliveryOutcome::Delivered; messages.len()]);
    destination
}

#[tokio::test(start_paused = true)]
async fn every_message_is_sent_rendered_and_settled_after_it_was_sent() {
    let stop = CancellationToken::new();
    let entries = vec![outbox_entry(1, "pi_1"), outbox_entry(2, "pi_2")];
    let (lease, settlements) = lease_of(vec![batch(entries.clone())], &stop);
    let mut destination = MockDestination::new();
    let unsettled = settlements.clone();
    destination.expect_deliver().times(1).returning(move |messages| {
        assert!(unsettled.told().is_empty(), "settled before it was sent");
        assert_eq!(messages[0].id, "payment/pi_1/fact:1");
        assert_eq!(messages[0].payment, ("payment".to_owned(), "pi_1".to_owned()));
        assert_eq!(messages[1].body, cloud_event_of(&entries[1]));
        vec![DeliveryOutcome::Delivered; 2]
    });
    relay(outbox_with(lease), destination, observer()).run(&stop).await;
    assert_eq!(settlements.told(), [[(1, Verdict::Done), (2, Verdict::Done)]]);
}

fn cloud_event_of(entry: &OutboxEntry) -> bytes::Bytes {
    crate::cloud_event::render(entry)
}

#[tokio::test(start_paused = true)]
async fn what_is_not_wanted_is_passed_over_without_being_sent() {
    let stop = CancellationToken::new();
    let unwanted = OutboxEntry { kind: "payout.paid".to_owned(), ..outbox_entry(1, "po_1") };
    let (lease, settlements) = lease_of(vec![batch(vec![unwanted, outbox_entry(2, "pi_2")])], &stop);
    let mut destination = MockDestination::new();
    destination
        .expect_deliver()
        .withf(|messages| messages.len() == 1)
        .returning(|_| vec![DeliveryOutcome::Delivered]);
    let mut relay = relay(outbox_with(lease), destination, observer());
    relay.route.kinds = KindFilter::parse(&["payment.*".to_owned()]).unwrap();
    relay.run(&stop).await;
    assert_eq!(settlements.told(), [[(1, Verdict::Done), (2, Verdict::Done)]]);
}

#[tokio::test(start_paused = true)]
async fn while_the_destination_takes_nothing_nothing_is_settled_and_it_is_tried_again() {
    let stop = CancellationToken::new();
    let entries = vec![outbox_entry(1, "pi_1")];
    let batches = vec![batch(entries.clone()), batch(entries.clone()), batch(entries)];
    let (lease, settlements) = lease_of(batches, &stop);
    let mut destination = MockDestination::new();
    let mut answers = VecDeque::from([away(), away(), vec![DeliveryOutcome::Delivered]]);
    destination.expect_deliver().times(3).returning(move |_| answers.pop_front().unwrap());
    let mut observer = MockRelayObserver::new();
    observer.expect_leading().return_const(());
    let mut sequence = mockall::Sequence::new();
    for is_away in [true, false] {
        observer
            .expect_away()
            .withf(move |name, away| name == "shop" && *away == is_away)
            .times(1)
            .in_sequence(&mut sequence)
            .return_const(());
    }
    observer.expect_delivered().withf(|name, count| name == "shop" && *count == 1).times(1).return_const(());
    relay(outbox_with(lease), destination, observer).run(&stop).await;
    assert_eq!(settlements.told(), [[(1, Verdict::Done)]]);
}

fn away() -> Vec<DeliveryOutcome> {
    vec![DeliveryOutcome::Unavailable { error: "refused".to_owned(), retry_after: None }]
}

#[tokio::test(start_paused = true)]
async fn a_wait_that_is_asked_for_is_waited() {
    let stop = CancellationToken::new();
    let entries = vec![outbox_entry(1, "pi_1")];
    let (lease, _) = lease_of(vec![batch(entries.clone()), batch(entries)], &stop);
    let sent_at = Arc::new(Mutex::new(Vec::new()));
    let times = sent_at.clone();
    let mut destination = MockDestination::new();
    destination.expect_deliver().returning(move |_| {
        times.lock().unwrap().push(Instant::now());
        let retry_after = Some(Duration::from_mins(2));
        vec![DeliveryOutcome::Unavailable { error: "HTTP 429".to_owned(), retry_after }]
    });
    relay(outbox_with(lease), destination, observer()).run(&stop).await;
    let times = sent_at.lock().unwrap();
    assert!(times[1] - times[0] >= Duration::from_mins(2));
}

#[tokio::test(start_paused = true)]
async fn a_destination_that_is_away_is_tried_with_a_few_messages() {
    let stop = CancellationToken::new();
    let (limits, kept) = (Arc::new(Mutex::new(Vec::new())), stop.clone());
    let mut lease = MockOutboxLease::new();
    let asked = limits.clone();
    lease.expect_next().returning(move |limit| {
        let mut limits = asked.lock().unwrap();
        limits.push(limit);
        if limits.len() == 4 {
            kept.cancel();
            return Ok(OutboxBatch::default());
        }
        Ok(batch(vec![outbox_entry(1, "pi_1")]))
    });
    lease.expect_settle().times(1).returning(|_| Ok(()));
    lease.expect_renew().returning(|| Ok(()));
    lease.expect_release().returning(|| Ok(()));
    let mut destination = MockDestination::new();
    let mut answers = VecDeque::from([away(), away(), vec![DeliveryOutcome::Delivered]]);
    destination.expect_deliver().returning(move |_| answers.pop_front().unwrap());
    relay(outbox_with(lease), destination, observer()).run(&stop).await;
    let (all, few) = (SETTINGS.batch_max, PROBE_MESSAGES);
    assert_eq!(*limits.lock().unwrap(), [all, few, few, all]);
}
