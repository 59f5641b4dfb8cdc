//! What a unit of work does to the tables, on a connection that is in a transaction. Blocks its thread.

use std::collections::{HashMap, HashSet};

use application::ports::unit_of_work::{Claim, RecordedEvent, StoreError};
use diesel::{RunQueryDsl, SqliteConnection};
use domain::{ConsumerName, Currency, Fingerprint, Payment, PaymentEvent, PaymentKey};

use super::classify::classify;
use super::rows;
use super::statement::groups;
use super::statements::{
    ChangePayments, ClaimEvents, CreatePayments, KnownEvent, LoadPayments, MarkRecorded, PaymentNow,
    StoreRecorded, StoredFingerprints,
};
use crate::outbound::payment_row::{self, PaymentRow};

/// Event id and source.
type Key = (String, String);

/// Claims events: element `i` answers `events[i]`.
pub(super) fn claim(
    connection: &mut SqliteConnection,
    consumer: &ConsumerName,
    events: &[PaymentEvent],
) -> Result<Vec<Claim>, StoreError> {
    let fingerprints: Vec<Fingerprint> = events.iter().map(PaymentEvent::fingerprint).collect();
    let new: Vec<_> = events
        .iter()
        .zip(&fingerprints)
        .map(|(event, fingerprint)| rows::new_event(consumer, event, fingerprint.as_bytes()))
        .collect();
    let mut fresh: HashSet<Key> = HashSet::with_capacity(events.len());
    for group in groups(&new) {
        let inserted: Vec<Key> = ClaimEvents(group).load(connection).map_err(classify)?;
        fresh.extend(inserted);
    }
    if fresh.len() == events.len() {
        return Ok(vec![Claim::Fresh; events.len()]);
    }
    let known: Vec<_> = events
        .iter()
        .filter(|event| !fresh.contains(&key(event)))
        .map(|event| rows::known_event(consumer, event))
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
                None => Err(lost("the meaning of an event that is stored cannot be read")),
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

fn key(event: &PaymentEvent) -> Key {
    (event.key.event_id.as_str().to_owned(), event.key.source.as_str().to_owned())
}

/// The payments that exist of `keys`, in key order.
pub(super) fn payments(
    connection: &mut SqliteConnection,
    keys: &[PaymentKey],
) -> Result<Vec<Payment>, StoreError> {
    let known: Vec<_> = keys.iter().map(rows::known_payment).collect();
    let mut payments = Vec::with_capacity(keys.len());
    for group in groups(&known) {
        let found: Vec<PaymentRow> = LoadPayments(group).load(connection).map_err(classify)?;
        for row in found {
            payments.push(payment_row::payment(row)?);
        }
    }
    payments.sort_by(|one, other| one.key.cmp(&other.key));
    Ok(payments)
}

/// Stores payments as they are now.
pub(super) fn save(connection: &mut SqliteConnection, payments: &[Payment]) -> Result<(), StoreError> {
    let currencies: Vec<Currency> = payments.iter().map(|payment| payment.amount.currency()).collect();
    let (created, changed): (Vec<PaymentNow<'_>>, Vec<PaymentNow<'_>>) = payments
        .iter()
        .zip(&currencies)
        .map(|(payment, currency)| rows::payment_now(payment, currency))
        .partition(|payment| payment.revision == 1);
    for group in groups(&created) {
        let count = CreatePayments(group).execute(connection).map_err(classify)?;
        expect(count, group.len(), "another unit has created a payment meanwhile")?;
    }
    for group in groups(&changed) {
        let count = ChangePayments(group).execute(connection).map_err(classify)?;
        expect(count, group.len(), "another unit has changed a payment meanwhile")?;
    }
    Ok(())
}

/// Stores that claimed events had no effect.
pub(super) fn record(
    connection: &mut SqliteConnection,
    consumer: &ConsumerName,
    recorded: &[RecordedEvent],
) -> Result<(), StoreError> {
    let expected_applied: Vec<_> = recorded
        .iter()
        .filter(|recorded| recorded.event.change.is_some())
        .map(|recorded| rows::known_event(consumer, &recorded.event))
        .collect();
    for group in groups(&expected_applied) {
        let count = MarkRecorded(group).execute(connection).map_err(classify)?;
        expect(count, group.len(), "an event to record is not claimed")?;
    }
    let unapplied: Vec<_> = recorded.iter().map(|recorded| rows::unapplied(consumer, recorded)).collect();
    for group in groups(&unapplied) {
        StoreRecorded(group).execute(connection).map_err(classify)?;
    }
    Ok(())
}

fn expect(found: usize, expected: usize, otherwise: &'static str) -> Result<(), StoreError> {
    if found == expected { Ok(()) } else { Err(lost(otherwise)) }
}

fn lost(what: &'static str) -> StoreError {
    StoreError::Transient(what.into())
}
