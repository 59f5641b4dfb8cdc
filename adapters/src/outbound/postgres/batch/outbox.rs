//! What the rest of the company is to hear.

use application::ports::unit_of_work::{OutboxMessage, StoreError};
use diesel::pg::data_types::PgTimestamp;
use diesel::sql_types::{Array, BigInt, Nullable, Text, Timestamptz};
use domain::{Currency, Money};

use crate::outbound::postgres::rows;
use crate::outbound::postgres::session::Session;
use crate::outbound::postgres::statement::statement;

statement! {
    /// Stores messages in the order in which they are given. One that is there is an error: units that store the
    /// same message have met at its payment already, so the order of the keys does not matter either.
    EnqueueMessages<'a> -> () {
        "INSERT INTO outbox \
           (consumer, id, kind, source, payment_id, account, fact, amount_minor, currency, occurred_at, event_id) \
         SELECT " consumer: &'a str => Text,
        ", unnest(" ids: Vec<&'a str> => Array<Text>,
        "), unnest(" kinds: Vec<&'a str> => Array<Text>,
        "), unnest(" sources: Vec<&'a str> => Array<Text>,
        "), unnest(" payment_ids: Vec<&'a str> => Array<Text>,
        "), unnest(" accounts: Vec<&'a str> => Array<Text>,
        "), unnest(" facts: Vec<&'a str> => Array<Text>,
        "), unnest(" amounts_minor: Vec<Option<i64>> => Array<Nullable<BigInt>>,
        "), unnest(" currencies: Vec<Option<&'a str>> => Array<Nullable<Text>>,
        "), unnest(" occurred_at: Vec<PgTimestamp> => Array<Timestamptz>,
        "), unnest(" event_ids: Vec<&'a str> => Array<Text>,
        ")"
    }
}

/// Puts messages into the outbox.
pub(in crate::outbound::postgres) async fn enqueue(
    session: &mut Session,
    consumer: &str,
    messages: &[OutboxMessage],
) -> Result<(), StoreError> {
    let said = || messages.iter().map(|message| &message.announcement);
    let ids: Vec<String> = said().map(domain::Announcement::id).collect();
    let accounts: Vec<String> = said().map(|announcement| announcement.account.to_string()).collect();
    let currencies: Vec<Option<Currency>> =
        said().map(|announcement| announcement.amount.map(Money::currency)).collect();
    let enqueue = EnqueueMessages {
        consumer,
        ids: ids.iter().map(String::as_str).collect(),
        kinds: said().map(|announcement| announcement.kind).collect(),
        sources: said().map(|announcement| announcement.payment.source.as_str()).collect(),
        payment_ids: said().map(|announcement| announcement.payment.payment_id.as_str()).collect(),
        accounts: accounts.iter().map(String::as_str).collect(),
        facts: said().map(|announcement| announcement.fact.as_str()).collect(),
        amounts_minor: said().map(|announcement| announcement.amount.map(Money::minor_units)).collect(),
        currencies: currencies.iter().map(|currency| currency.as_ref().map(Currency::code)).collect(),
        occurred_at: said().map(|announcement| rows::moment(announcement.at)).collect(),
        event_ids: messages.iter().map(|message| message.event.event_id.as_str()).collect(),
    };
    session.change(enqueue).await?;
    Ok(())
}
