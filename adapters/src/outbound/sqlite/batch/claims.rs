//! The idempotency keys, and the events that had no effect.

use std::collections::{HashMap, HashSet};

use application::ports::unit_of_work::{Claim, RecordedEvent, StoreError};
use diesel::sql_types::{BigInt, Binary, Nullable, Text};
use diesel::{RunQueryDsl, SqliteConnection};
use domain::{ConsumerName, Fingerprint, PaymentEvent};

use super::{expect_rows, lost_race};
use crate::outbound::sqlite::classify::classify;
use crate::outbound::sqlite::statement::{groups, row, statement};

/// An event with an effect, in `processed_events.outcome`.
const OUTCOME_APPLIED: i64 = 1;
/// An event without one.
const OUTCOME_RECORDED: i64 = 2;

row! {
    /// An event to claim.
    NewEvent<'a> {
        event_id: &'a str => Text,
        source: &'a str => Text,
        consumer: &'a str => Text,
        fingerprint: &'a [u8] => Binary,
        outcome: i64 => BigInt,
        payment_id: Option<&'a str> => Nullable<Text>,
        received_at: i64 => BigInt,
    }
}

row! {
    /// An event by its key.
    KnownEvent<'a> {
        event_id: &'a str => Text,
        source: &'a str => Text,
        consumer: &'a str => Text,
    }
}

row! {
    /// An event without effect.
    Unapplied<'a> {
        event_id: &'a str => Text,
        source: &'a str => Text,
        consumer: &'a str => Text,
        kind: &'a str => Text,
        reason: &'a str => Text,
        payment_id: Option<&'a str> => Nullable<Text>,
        payload: &'a [u8] => Binary,
    }
}

statement! {
    /// Stores the events whose key is new, and gives their keys.
    ClaimEvents over NewEvent -> (Text, Text) {
        "INSERT INTO processed_events \
           (event_id, source, consumer, fingerprint, outcome, payment_id, received_at) \
         VALUES ",
        " ON CONFLICT (event_id, source, consumer) DO NOTHING \
         RETURNING event_id, source"
    }
}

statement! {
    /// Keys and the meaning that is stored for them.
    StoredFingerprints over KnownEvent -> (Text, Text, Binary) {
        "WITH given (event_id, source, consumer) AS (VALUES ",
        ") SELECT stored.event_id, stored.source, stored.fingerprint \
         FROM given CROSS JOIN processed_events AS stored \
         WHERE stored.event_id = given.event_id AND stored.source = given.source \
           AND stored.consumer = given.consumer"
    }
}

statement! {
    /// Says of claimed events that they have no effect after all.
    MarkRecorded over KnownEvent -> () {
        "WITH given (event_id, source, consumer) AS (VALUES ",
        ") UPDATE processed_events SET outcome = 2 FROM given \
         WHERE processed_events.event_id = given.event_id AND processed_events.source = given.source \
           AND processed_events.consumer = given.consumer"
    }
}

statement! {
    /// Stores why events had no effect, and their bytes.
    StoreRecorded over Unapplied -> () {
        "INSERT INTO recorded_events \
           (event_id, source, consumer, kind, reason, payment_id, payload) \
         VALUES ",
        ""
    }
}

/// Event id and source.
type Key = (String, String);

/// Claims events: element `i` answers `events[i]`.
pub(in crate::outbound::sqlite) fn claim(
    connection: &mut SqliteConnection,
    consumer: &ConsumerName,
    events: &[PaymentEvent],
) -> Result<Vec<Claim>, StoreError> {
    let fingerprints: Vec<Fingerprint> = events.iter().map(PaymentEvent::fingerprint).collect();
    let new: Vec<NewEvent<'_>> = events
        .iter()
        .zip(&fingerprints)
        .map(|(event, fingerprint)| new_event(consumer, event, fingerprint.as_bytes()))
        .collect();
    let mut fresh: HashSet<Key> = HashSet::with_capacity(events.len());
    for group in groups(&new) {
        let inserted: Vec<Key> = ClaimEvents(group).load(connection).map_err(classify)?;
        fresh.extend(inserted);
    }
    if fresh.len() == events.len() {
        return Ok(vec![Claim::Fresh; events.len()]);
    }
    let known: Vec<KnownEvent<'_>> = events
        .iter()
        .filter(|event| !fresh.contains(&key(event)))
        .map(|event| known_event(consumer, event))
        .collect();
    let stored = stored_fingerprints(connection, &known)?;
    events
        .iter()
        .zip(&fingerprints)
        .map(|(event, claimed)| {
            let key = key(event);
            if fresh.contains(&key) {
                return Ok(Claim::Fresh);
            }
            match stored.get(&key) {
                Some(stored) if stored == claimed => Ok(Claim::Duplicate),
                Some(stored) => Ok(Claim::Conflict { stored: *stored }),
                None => Err(lost_race("the meaning of an event that is stored cannot be read")),
            }
        })
        .collect()
}

fn stored_fingerprints(
    connection: &mut SqliteConnection,
    known: &[KnownEvent<'_>],
) -> Result<HashMap<Key, Fingerprint>, StoreError> {
    let mut stored = HashMap::with_capacity(known.len());
    for group in groups(known) {
        let found: Vec<(String, String, Vec<u8>)> =
            StoredFingerprints(group).load(connection).map_err(classify)?;
        stored.extend(found.into_iter().filter_map(|(event_id, source, fingerprint)| {
            Some(((event_id, source), Fingerprint::from_bytes(&fingerprint)?))
        }));
    }
    Ok(stored)
}

/// Stores that claimed events had no effect.
pub(in crate::outbound::sqlite) fn record(
    connection: &mut SqliteConnection,
    consumer: &ConsumerName,
    recorded: &[RecordedEvent],
) -> Result<(), StoreError> {
    let expected_applied: Vec<KnownEvent<'_>> = recorded
        .iter()
        .filter(|recorded| recorded.event.change().is_some())
        .map(|recorded| known_event(consumer, &recorded.event))
        .collect();
    for group in groups(&expected_applied) {
        let count = MarkRecorded(group).execute(connection).map_err(classify)?;
        expect_rows(count, group.len(), "an event to record is not claimed")?;
    }
    let unapplied: Vec<Unapplied<'_>> =
        recorded.iter().map(|recorded| unapplied(consumer, recorded)).collect();
    for group in groups(&unapplied) {
        StoreRecorded(group).execute(connection).map_err(classify)?;
    }
    Ok(())
}

fn key(event: &PaymentEvent) -> Key {
    (event.key.event_id.as_str().to_owned(), event.key.source.as_str().to_owned())
}

fn new_event<'a>(consumer: &'a ConsumerName, event: &'a PaymentEvent, fingerprint: &'a [u8]) -> NewEvent<'a> {
    NewEvent {
        event_id: event.key.event_id.as_str(),
        source: event.key.source.as_str(),
        consumer: consumer.as_str(),
        fingerprint,
        outcome: if event.change().is_some() { OUTCOME_APPLIED } else { OUTCOME_RECORDED },
        payment_id: payment_id(event),
        received_at: event.received_at.as_micros(),
    }
}

fn known_event<'a>(consumer: &'a ConsumerName, event: &'a PaymentEvent) -> KnownEvent<'a> {
    KnownEvent {
        event_id: event.key.event_id.as_str(),
        source: event.key.source.as_str(),
        consumer: consumer.as_str(),
    }
}

fn unapplied<'a>(consumer: &'a ConsumerName, recorded: &'a RecordedEvent) -> Unapplied<'a> {
    Unapplied {
        event_id: recorded.event.key.event_id.as_str(),
        source: recorded.event.key.source.as_str(),
        consumer: consumer.as_str(),
        kind: recorded.event.kind.as_str(),
        reason: recorded.reason.as_str(),
        payment_id: payment_id(&recorded.event),
        payload: &recorded.payload,
    }
}

fn payment_id(event: &PaymentEvent) -> Option<&str> {
    event.change().map(|change| change.payment.as_str())
}
