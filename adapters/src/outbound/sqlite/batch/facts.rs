//! What is known of payments.

use application::ports::unit_of_work::{NewFact, StoreError};
use diesel::sql_types::{BigInt, Nullable, Text};
use diesel::{RunQueryDsl, SqliteConnection};
use domain::{ConsumerName, Currency, EstablishedFact, FactKey, Money, PaymentKey};

use super::expect_rows;
use crate::outbound::payment_row;
use crate::outbound::sqlite::classify::classify;
use crate::outbound::sqlite::statement::{groups, row, statement};

row! {
    /// A fact by its key, and its place among those that are asked for.
    KnownFact<'a> {
        place: i64 => BigInt,
        consumer: &'a str => Text,
        source: &'a str => Text,
        payment_id: &'a str => Text,
        fact: &'a str => Text,
    }
}

row! {
    /// A fact to establish.
    FactNow<'a> {
        consumer: &'a str => Text,
        source: &'a str => Text,
        payment_id: &'a str => Text,
        fact: &'a str => Text,
        event_id: &'a str => Text,
        amount_minor: Option<i64> => Nullable<BigInt>,
        currency: Option<&'a str> => Nullable<Text>,
    }
}

statement! {
    /// The amounts of the facts that are known, each with the place of its fact.
    KnownFacts over KnownFact -> (BigInt, Nullable<BigInt>, Nullable<Text>) {
        "WITH given (place, consumer, source, payment_id, fact) AS (VALUES ",
        ") SELECT given.place, stored.amount_minor, stored.currency \
         FROM given CROSS JOIN payment_facts AS stored \
         WHERE stored.consumer = given.consumer AND stored.source = given.source \
           AND stored.payment_id = given.payment_id AND stored.fact = given.fact"
    }
}

statement! {
    /// Stores facts, except those that are known.
    EstablishFacts over FactNow -> () {
        "INSERT INTO payment_facts \
           (consumer, source, payment_id, fact, event_id, amount_minor, currency) \
         VALUES ",
        " ON CONFLICT (consumer, source, payment_id, fact) DO NOTHING"
    }
}

/// Those of `facts` that are known.
pub(in crate::outbound::sqlite) fn known(
    connection: &mut SqliteConnection,
    consumer: &ConsumerName,
    facts: &[(PaymentKey, FactKey)],
) -> Result<Vec<(PaymentKey, EstablishedFact)>, StoreError> {
    let asked: Vec<KnownFact<'_>> = (0..)
        .zip(facts)
        .map(|(place, (payment, fact))| KnownFact {
            place,
            consumer: consumer.as_str(),
            source: payment.source.as_str(),
            payment_id: payment.payment_id.as_str(),
            fact: fact.as_str(),
        })
        .collect();
    let mut known = Vec::new();
    for group in groups(&asked) {
        let found: Vec<(i64, Option<i64>, Option<String>)> =
            KnownFacts(group).load(connection).map_err(classify)?;
        for (place, minor, currency) in found {
            let place = usize::try_from(place).ok().and_then(|place| facts.get(place));
            let Some((payment, key)) = place else { continue };
            let amount = payment_row::amount(minor, currency.as_deref())?;
            known.push((payment.clone(), EstablishedFact { key: key.clone(), amount }));
        }
    }
    Ok(known)
}

/// Stores facts that were not known.
pub(in crate::outbound::sqlite) fn establish(
    connection: &mut SqliteConnection,
    consumer: &ConsumerName,
    facts: &[NewFact],
) -> Result<(), StoreError> {
    let currencies: Vec<Option<Currency>> =
        facts.iter().map(|new| new.fact.amount.map(Money::currency)).collect();
    let rows: Vec<FactNow<'_>> = facts
        .iter()
        .zip(&currencies)
        .map(|(new, currency)| FactNow {
            consumer: consumer.as_str(),
            source: new.payment.source.as_str(),
            payment_id: new.payment.payment_id.as_str(),
            fact: new.fact.key.as_str(),
            event_id: new.event.event_id.as_str(),
            amount_minor: new.fact.amount.map(Money::minor_units),
            currency: currency.as_ref().map(Currency::code),
        })
        .collect();
    for group in groups(&rows) {
        let count = EstablishFacts(group).execute(connection).map_err(classify)?;
        expect_rows(count, group.len(), "another unit has established a fact meanwhile")?;
    }
    Ok(())
}
