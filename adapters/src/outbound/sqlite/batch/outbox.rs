//! What the rest of the company is to hear.

use application::ports::unit_of_work::{OutboxMessage, StoreError};
use diesel::sql_types::{BigInt, Nullable, Text};
use diesel::{RunQueryDsl, SqliteConnection};
use domain::{ConsumerName, Currency, Money};

use super::expect_rows;
use crate::outbound::sqlite::classify::classify;
use crate::outbound::sqlite::statement::{groups, row, statement};

row! {
    /// A message.
    MessageNow<'a> {
        consumer: &'a str => Text,
        id: &'a str => Text,
        kind: &'a str => Text,
        source: &'a str => Text,
        payment_id: &'a str => Text,
        account: &'a str => Text,
        fact: &'a str => Text,
        amount_minor: Option<i64> => Nullable<BigInt>,
        currency: Option<&'a str> => Nullable<Text>,
        occurred_at: i64 => BigInt,
        event_id: &'a str => Text,
    }
}

statement! {
    /// Stores messages in the order in which they are given, except those that are there.
    EnqueueMessages over MessageNow -> () {
        "INSERT INTO outbox \
           (consumer, id, kind, source, payment_id, account, fact, amount_minor, currency, occurred_at, event_id) \
         VALUES ",
        " ON CONFLICT (consumer, id) DO NOTHING"
    }
}

/// Puts messages into the outbox.
pub(in crate::outbound::sqlite) fn enqueue(
    connection: &mut SqliteConnection,
    consumer: &ConsumerName,
    messages: &[OutboxMessage],
) -> Result<(), StoreError> {
    let said = || messages.iter().map(|message| &message.announcement);
    let texts: Vec<(String, String, Option<Currency>)> = said()
        .map(|announcement| {
            let currency = announcement.amount.map(Money::currency);
            (announcement.id(), announcement.account.to_string(), currency)
        })
        .collect();
    let rows: Vec<MessageNow<'_>> = messages
        .iter()
        .zip(&texts)
        .map(|(OutboxMessage { announcement, event }, (id, account, currency))| MessageNow {
            consumer: consumer.as_str(),
            id,
            kind: announcement.kind,
            source: announcement.payment.source.as_str(),
            payment_id: announcement.payment.payment_id.as_str(),
            account,
            fact: announcement.fact.as_str(),
            amount_minor: announcement.amount.map(Money::minor_units),
            currency: currency.as_ref().map(Currency::code),
            occurred_at: announcement.at.as_micros(),
            event_id: event.event_id.as_str(),
        })
        .collect();
    for group in groups(&rows) {
        let count = EnqueueMessages(group).execute(connection).map_err(classify)?;
        expect_rows(count, group.len(), "another unit has enqueued a message meanwhile")?;
    }
    Ok(())
}
