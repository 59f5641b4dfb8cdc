//! The idempotency keys, and the events that had no effect.

use std::collections::HashSet;

use application::ports::unit_of_work::{Claim, RecordedEvent, StoreError};
use diesel::pg::data_types::PgTimestamp;
use diesel::sql_types::{Array, BigInt, Binary, Nullable, SmallInt, Text, Timestamptz};
use domain::{Fingerprint, PaymentEvent};

use crate::outbound::postgres::rows::{self, OUTCOME_APPLIED, OUTCOME_RECORDED};
use crate::outbound::postgres::session::Session;
use crate::outbound::postgres::statement::statement;

statement! {
    /// Stores the events whose key is new, and gives their keys. Waits for other units that store the same key.
    ClaimEvents<'a> -> (Text, Text) {
        "INSERT INTO processed_events \
           (consumer, event_id, source, fingerprint, outcome, payment_id, received_at) \
         SELECT " consumer: &'a str => Text,
        ", unnest(" event_ids: Vec<&'a str> => Array<Text>,
        "), unnest(" sources: Vec<&'a str> => Array<Text>,
        "), unnest(" fingerprints: Vec<&'a [u8]> => Array<Binary>,
        "), unnest(" outcomes: Vec<i16> => Array<SmallInt>,
        "), unnest(" payment_ids: Vec<Option<&'a str>> => Array<Nullable<Text>>,
        "), unnest(" received_at: Vec<PgTimestamp> => Array<Timestamptz>,
        ") ON CONFLICT (event_id, source, consumer) DO NOTHING \
         RETURNING event_id, source"
    }
}

statement! {
    /// The meaning that is stored for keys, each with the ordinal number of its key.
    StoredFingerprints<'a> -> (BigInt, Binary) {
        "SELECT given.ordinality, stored.fingerprint \
         FROM unnest(" event_ids: Vec<&'a str> => Array<Text>,
        ", " sources: Vec<&'a str> => Array<Text>,
        ") WITH ORDINALITY AS given (event_id, source, ordinality) CROSS JOIN LATERAL \
           (SELECT fingerprint FROM processed_events AS e \
            WHERE e.event_id = given.event_id AND e.source = given.source \
              AND e.consumer = " consumer: &'a str => Text,
        " LIMIT 1) AS stored"
    }
}

statement! {
    /// Turns claimed events into recorded ones.
    MarkRecorded<'a> -> () {
        "UPDATE processed_events AS stored SET outcome = 2 \
         FROM unnest(" event_ids: Vec<&'a str> => Array<Text>,
        ", " sources: Vec<&'a str> => Array<Text>,
        ") AS given (event_id, source) \
         WHERE stored.event_id = given.event_id AND stored.source = given.source \
           AND stored.consumer = " consumer: &'a str => Text,
        ""
    }
}

statement! {
    /// Stores why events had no effect, and their bytes.
    StoreRecorded<'a> -> () {
        "INSERT INTO recorded_events (consumer, event_id, source, kind, reason, payment_id, payload) \
         SELECT " consumer: &'a str => Text,
        ", unnest(" event_ids: Vec<&'a str> => Array<Text>,
        "), unnest(" sources: Vec<&'a str> => Array<Text>,
        "), unnest(" kinds: Vec<&'a str> => Array<Text>,
        "), unnest(" reasons: Vec<&'a str> => Array<Text>,
        "), unnest(" payment_ids: Vec<Option<&'a str>> => Array<Nullable<Text>>,
        "), unnest(" payloads: Vec<&'a [u8]> => Array<Binary>,
        ")"
    }
}

impl<'a> ClaimEvents<'a> {
    fn of(consumer: &'a str, events: &'a [PaymentEvent], fingerprints: &'a [Fingerprint]) -> Self {
        let mut given: Vec<(&PaymentEvent, &Fingerprint)> = events.iter().zip(fingerprints).collect();
        given.sort_unstable_by_key(|(event, _)| (event_id(event), source(event)));
        Self {
            consumer,
            event_ids: given.iter().map(|(event, _)| event_id(event)).collect(),
            sources: given.iter().map(|(event, _)| source(event)).collect(),
            fingerprints: given.iter().map(|(_, print)| print.as_bytes().as_slice()).collect(),
            outcomes: given.iter().map(|(event, _)| outcome(event)).collect(),
            payment_ids: given.iter().map(|(event, _)| payment_id(event)).collect(),
            received_at: given.iter().map(|(event, _)| rows::moment(event.received_at)).collect(),
        }
    }
}

/// Claims events: element `i` answers `events[i]`.
pub(in crate::outbound::postgres) async fn claim(
    session: &mut Session,
    consumer: &str,
    events: &[PaymentEvent],
) -> Result<Vec<Claim>, StoreError> {
    let fingerprints: Vec<Fingerprint> = events.iter().map(PaymentEvent::fingerprint).collect();
    let claim = ClaimEvents::of(consumer, events, &fingerprints);
    let inserted: Vec<(String, String)> = session.rows(claim).await?;
    if inserted.len() == events.len() {
        return Ok(vec![Claim::Fresh; events.len()]);
    }
    let fresh: HashSet<(&str, &str)> =
        inserted.iter().map(|(event_id, source)| (event_id.as_str(), source.as_str())).collect();
    let is_fresh = |event: &PaymentEvent| fresh.contains(&(event_id(event), source(event)));
    let known: Vec<&PaymentEvent> = events.iter().filter(|event| !is_fresh(event)).collect();
    let mut stored = stored_fingerprints(session, consumer, &known).await?.into_iter();
    let mut claims = Vec::with_capacity(events.len());
    for (event, claimed) in events.iter().zip(&fingerprints) {
        if is_fresh(event) {
            claims.push(Claim::Fresh);
            continue;
        }
        claims.push(match stored.next().flatten() {
            Some(stored) if stored == *claimed => Claim::Duplicate,
            Some(stored) => Claim::Conflict { stored },
            // It was there when it stood in the way, so it was removed since.
            None => return Err(session.lost_race("an event was removed while it was claimed")),
        });
    }
    Ok(claims)
}

/// Element `i` is what is stored for `events[i]`.
async fn stored_fingerprints(
    session: &mut Session,
    consumer: &str,
    events: &[&PaymentEvent],
) -> Result<Vec<Option<Fingerprint>>, StoreError> {
    let mut stored = vec![None; events.len()];
    if events.is_empty() {
        return Ok(stored);
    }
    let query = StoredFingerprints {
        consumer,
        event_ids: events.iter().map(|event| event_id(event)).collect(),
        sources: events.iter().map(|event| source(event)).collect(),
    };
    let found: Vec<(i64, Vec<u8>)> = session.rows(query).await?;
    for (ordinal, fingerprint) in found {
        if let Some(place) = rows::place(ordinal).and_then(|place| stored.get_mut(place)) {
            *place = Fingerprint::from_bytes(&fingerprint);
        }
    }
    Ok(stored)
}

/// Stores that claimed events had no effect.
pub(in crate::outbound::postgres) async fn record(
    session: &mut Session,
    consumer: &str,
    recorded: &[RecordedEvent],
) -> Result<(), StoreError> {
    let events = || recorded.iter().map(|recorded| &recorded.event);
    let expected_applied: Vec<&PaymentEvent> = events().filter(|event| event.change().is_some()).collect();
    if !expected_applied.is_empty() {
        let mark = MarkRecorded {
            consumer,
            event_ids: expected_applied.iter().map(|event| event_id(event)).collect(),
            sources: expected_applied.iter().map(|event| source(event)).collect(),
        };
        let count = session.change(mark).await?;
        session.expect_rows(count, expected_applied.len(), "an event to record is not claimed")?;
    }
    let store = StoreRecorded {
        consumer,
        event_ids: events().map(event_id).collect(),
        sources: events().map(source).collect(),
        kinds: events().map(|event| event.kind.as_str()).collect(),
        reasons: recorded.iter().map(|recorded| recorded.reason.as_str()).collect(),
        payment_ids: events().map(payment_id).collect(),
        payloads: recorded.iter().map(|recorded| recorded.payload.as_ref()).collect(),
    };
    session.change(store).await?;
    Ok(())
}

fn event_id(event: &PaymentEvent) -> &str {
    event.key.event_id.as_str()
}

fn source(event: &PaymentEvent) -> &str {
    event.key.source.as_str()
}

fn outcome(event: &PaymentEvent) -> i16 {
    if event.change().is_some() { OUTCOME_APPLIED } else { OUTCOME_RECORDED }
}

fn payment_id(event: &PaymentEvent) -> Option<&str> {
    event.change().map(|change| change.payment.as_str())
}
