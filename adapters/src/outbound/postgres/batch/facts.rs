//! What is known of payments.

use application::ports::unit_of_work::{NewFact, StoreError};
use diesel::sql_types::{Array, BigInt, Nullable, Text};
use domain::{Currency, EstablishedFact, FactKey, Money, PaymentKey};

use crate::outbound::payment_row;
use crate::outbound::postgres::rows;
use crate::outbound::postgres::session::Session;
use crate::outbound::postgres::statement::statement;

statement! {
    /// The amounts of the facts that are known, each with the ordinal number of its fact.
    KnownFacts<'a> -> (BigInt, Nullable<BigInt>, Nullable<Text>) {
        "SELECT given.ordinality, stored.amount_minor, stored.currency \
         FROM unnest(" sources: Vec<&'a str> => Array<Text>,
        ", " payment_ids: Vec<&'a str> => Array<Text>,
        ", " facts: Vec<&'a str> => Array<Text>,
        ") WITH ORDINALITY AS given (source, payment_id, fact, ordinality) CROSS JOIN LATERAL \
           (SELECT amount_minor, currency FROM payment_facts AS f \
            WHERE f.payment_id = given.payment_id AND f.source = given.source AND f.fact = given.fact \
              AND f.consumer = " consumer: &'a str => Text,
        " LIMIT 1) AS stored"
    }
}

statement! {
    /// Stores facts, in the order in which they are given. One that is known is an error: their payments are
    /// locked or new, so nobody else has established any since.
    EstablishFacts<'a> -> () {
        "INSERT INTO payment_facts \
           (consumer, source, payment_id, fact, event_id, amount_minor, currency) \
         SELECT " consumer: &'a str => Text,
        ", unnest(" sources: Vec<&'a str> => Array<Text>,
        "), unnest(" payment_ids: Vec<&'a str> => Array<Text>,
        "), unnest(" facts: Vec<&'a str> => Array<Text>,
        "), unnest(" event_ids: Vec<&'a str> => Array<Text>,
        "), unnest(" amounts_minor: Vec<Option<i64>> => Array<Nullable<BigInt>>,
        "), unnest(" currencies: Vec<Option<&'a str>> => Array<Nullable<Text>>,
        ")"
    }
}

/// Those of `facts` that are known.
pub(in crate::outbound::postgres) async fn known(
    session: &mut Session,
    consumer: &str,
    facts: &[(PaymentKey, FactKey)],
) -> Result<Vec<(PaymentKey, EstablishedFact)>, StoreError> {
    let query = KnownFacts {
        sources: facts.iter().map(|(payment, _)| payment.source.as_str()).collect(),
        payment_ids: facts.iter().map(|(payment, _)| payment.payment_id.as_str()).collect(),
        facts: facts.iter().map(|(_, fact)| fact.as_str()).collect(),
        consumer,
    };
    let found: Vec<(i64, Option<i64>, Option<String>)> = session.rows(query).await?;
    let mut known = Vec::with_capacity(found.len());
    for (ordinal, minor, currency) in found {
        let Some((payment, key)) = rows::place(ordinal).and_then(|place| facts.get(place)) else { continue };
        let amount = payment_row::amount(minor, currency.as_deref()).map_err(|error| session.fail(error))?;
        known.push((payment.clone(), EstablishedFact { key: key.clone(), amount }));
    }
    Ok(known)
}

/// Stores facts that were not known.
pub(in crate::outbound::postgres) async fn establish(
    session: &mut Session,
    consumer: &str,
    facts: &[NewFact],
) -> Result<(), StoreError> {
    let mut facts: Vec<&NewFact> = facts.iter().collect();
    facts.sort_unstable_by_key(|new| (&new.payment, &new.fact.key));
    let currencies: Vec<Option<Currency>> =
        facts.iter().map(|new| new.fact.amount.map(Money::currency)).collect();
    let establish = EstablishFacts {
        consumer,
        sources: facts.iter().map(|new| new.payment.source.as_str()).collect(),
        payment_ids: facts.iter().map(|new| new.payment.payment_id.as_str()).collect(),
        facts: facts.iter().map(|new| new.fact.key.as_str()).collect(),
        event_ids: facts.iter().map(|new| new.event.event_id.as_str()).collect(),
        amounts_minor: facts.iter().map(|new| new.fact.amount.map(Money::minor_units)).collect(),
        currencies: currencies.iter().map(|currency| currency.as_ref().map(Currency::code)).collect(),
    };
    session.change(establish).await?;
    Ok(())
}
