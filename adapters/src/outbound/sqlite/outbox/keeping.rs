//! Keeps what a destination did not take, over any number of messages. Blocks its thread.

use diesel::sql_types::{BigInt, Integer, Nullable, Text};
use diesel::{QueryResult, RunQueryDsl, SqliteConnection};

use super::statements::Target;
use crate::outbound::outbox_settlement::Settlement;
use crate::outbound::sqlite::statement::{groups, row, statement};

row! {
    /// A message to keep.
    KeptMessage<'a> {
        consumer: &'a str => Text,
        destination: &'a str => Text,
        seq: i64 => BigInt,
        source: &'a str => Text,
        payment_id: &'a str => Text,
        state: &'a str => Text,
        attempts: i32 => Integer,
        wait_ms: Option<i64> => Nullable<BigInt>,
        last_error: Option<&'a str> => Nullable<Text>,
    }
}

row! {
    /// A message that waits, by its key.
    WaitingMessage<'a> {
        consumer: &'a str => Text,
        destination: &'a str => Text,
        seq: i64 => BigInt,
    }
}

row! {
    /// A payment, for one destination.
    WaitingPayment<'a> {
        consumer: &'a str => Text,
        destination: &'a str => Text,
        source: &'a str => Text,
        payment_id: &'a str => Text,
    }
}

statement! {
    /// Keeps messages that were not taken: how often they were tried, when they are next (null: never by
    /// themselves), and why.
    KeepMessages over KeptMessage -> () {
        "WITH given (consumer, destination, seq, source, payment_id, state, attempts, wait_ms, last_error) \
           AS (VALUES ",
        ") INSERT INTO outbox_retries (consumer, destination, seq, source, payment_id, state, attempts, \
             next_at, first_tried_at, last_error) \
           SELECT consumer, destination, seq, source, payment_id, state, attempts, \
             CAST(unixepoch('subsec') * 1000000 AS INTEGER) + wait_ms * 1000, \
             iif(last_error IS NULL, NULL, CAST(unixepoch('subsec') * 1000000 AS INTEGER)), last_error \
           FROM given WHERE true \
           ON CONFLICT (consumer, destination, seq) DO UPDATE \
           SET state = excluded.state, attempts = excluded.attempts, next_at = excluded.next_at, \
             first_tried_at = coalesce(first_tried_at, excluded.first_tried_at), \
             last_error = excluded.last_error"
    }
}

statement! {
    /// Forgets messages that are delivered.
    ForgetMessages over WaitingMessage -> () {
        "WITH given (consumer, destination, seq) AS (VALUES ",
        ") DELETE FROM outbox_retries \
         WHERE (consumer, destination, seq) IN (SELECT consumer, destination, seq FROM given)"
    }
}

statement! {
    /// Has the first message that waits of each payment be tried at once, unless it has a time of its own.
    PromoteMessages over WaitingPayment -> () {
        "WITH given (consumer, destination, source, payment_id) AS (VALUES ",
        ") UPDATE outbox_retries SET next_at = CAST(unixepoch('subsec') * 1000000 AS INTEGER) \
         WHERE next_at IS NULL AND (consumer, destination, seq) IN \
           (SELECT w.consumer, w.destination, min(w.seq) FROM given CROSS JOIN outbox_retries AS w \
            WHERE w.consumer = given.consumer AND w.destination = given.destination \
              AND w.source = given.source AND w.payment_id = given.payment_id AND w.state = 'waiting' \
            GROUP BY w.consumer, w.destination, w.source, w.payment_id)"
    }
}

/// Stores what a settlement says besides the position.
pub(super) fn keep(
    connection: &mut SqliteConnection,
    target: &Target,
    settlement: &Settlement<'_>,
) -> QueryResult<()> {
    let (consumer, destination) = (target.consumer.as_str(), target.destination.as_str());
    let kept: Vec<KeptMessage<'_>> = settlement
        .kept
        .iter()
        .map(|kept| KeptMessage {
            consumer,
            destination,
            seq: kept.seq,
            source: kept.source,
            payment_id: kept.payment_id,
            state: kept.state,
            attempts: kept.attempts,
            wait_ms: kept.wait_ms,
            last_error: kept.error,
        })
        .collect();
    for group in groups(&kept) {
        KeepMessages(group).execute(connection)?;
    }
    let forgotten: Vec<WaitingMessage<'_>> =
        settlement.forgotten.iter().map(|seq| WaitingMessage { consumer, destination, seq: *seq }).collect();
    for group in groups(&forgotten) {
        ForgetMessages(group).execute(connection)?;
    }
    let payments: Vec<WaitingPayment<'_>> = settlement
        .payments
        .iter()
        .map(|(source, payment_id)| WaitingPayment { consumer, destination, source, payment_id })
        .collect();
    for group in groups(&payments) {
        PromoteMessages(group).execute(connection)?;
    }
    Ok(())
}
