//! The events that are settled.

use domain::{PaymentId, SourceName};

use super::rows::select_events;
use super::search::Search;
use crate::outbound::dead_letter_sql::Composed;

/// The newest of them that are searched for.
///
/// By id or payment, the few events there are of it are taken first, whenever they were settled, and then put
/// in order. Otherwise they are read in the order of the index over the moments, up to as many as are wanted.
pub(super) fn select_settled(search: &Search<'_>) -> Composed {
    let statement =
        select_events("e.processed_at").sql("e.outcome AS outcome, r.kind AS kind, r.reason AS reason, ");
    let statement = statement.sql(
        "CAST(NULL AS bigint) AS letter, CAST(NULL AS text) AS state FROM \
         (SELECT p.consumer, p.source, p.event_id, p.received_at, p.processed_at, p.payment_id, p.outcome FROM ",
    );
    let filter = search.filter;
    let statement = match (&filter.payment, &filter.event_id) {
        (Some(payment), _) => about(statement, search.consumer.as_str(), filter.source.as_ref(), payment),
        (None, Some(event_id)) => statement
            .sql("processed_events AS p WHERE ")
            .sql(OF_CONSUMER)
            .text(search.consumer.as_str())
            .sql(" AND p.event_id = ")
            .text(event_id.as_str()),
        (None, None) => {
            statement.sql("processed_events AS p WHERE p.consumer = ").text(search.consumer.as_str())
        }
    };
    let statement = newest(restrict(statement, search), search);
    statement.sql(
        ") AS e LEFT JOIN recorded_events AS r \
             ON r.event_id = e.event_id AND r.source = e.source AND r.consumer = e.consumer \
             ORDER BY at_us DESC, event_id DESC, source DESC",
    )
}

/// The same as `p.consumer =`, but nothing to search an index over moments for: SQLite would take that one, and
/// read all of a consumer's events, rather than the key, which begins with the event's id.
const OF_CONSUMER: &str = "p.consumer || '' = ";

/// `FROM` the events that have established facts of a payment, or were recorded as being about it.
fn about(statement: Composed, consumer: &str, source: Option<&SourceName>, payment: &PaymentId) -> Composed {
    let statement = statement.sql("(SELECT source, event_id FROM payment_facts");
    let statement = of_payment(statement, consumer, source, payment);
    let statement = statement.sql(" UNION SELECT source, event_id FROM recorded_events");
    of_payment(statement, consumer, source, payment)
        .sql(
            ") AS about JOIN processed_events AS p ON p.event_id = about.event_id AND p.source = about.source \
             WHERE ",
        )
        .sql(OF_CONSUMER)
        .text(consumer)
}

fn of_payment(
    statement: Composed,
    consumer: &str,
    source: Option<&SourceName>,
    payment: &PaymentId,
) -> Composed {
    let statement = statement.sql(" WHERE consumer = ").text(consumer).sql(" AND payment_id = ");
    let statement = statement.text(payment.as_str()).sql(" AND source ");
    match source {
        Some(source) => statement.sql("= ").text(source.as_str()),
        None => statement
            .sql(
                // From source to source by the index, of which there are few, instead of all payments.
                "IN (WITH RECURSIVE known (source) AS (SELECT min(source) FROM payments WHERE consumer = ",
            )
            .text(consumer)
            .sql(" UNION ALL SELECT (SELECT min(source) FROM payments WHERE consumer = ")
            .text(consumer)
            .sql(" AND source > known.source) FROM known WHERE known.source IS NOT NULL) SELECT source FROM known)"),
    }
}

/// What else is asked for.
fn restrict(mut statement: Composed, search: &Search<'_>) -> Composed {
    let filter = search.filter;
    if let (Some(event_id), Some(_)) = (&filter.event_id, &filter.payment) {
        statement = statement.sql(" AND p.event_id = ").text(event_id.as_str());
    }
    if let Some(source) = &filter.source {
        statement = statement.sql(" AND p.source = ").text(source.as_str());
    }
    if let Some(from) = filter.from {
        statement = statement.sql(" AND p.processed_at >= ").moment(from);
    }
    if let Some(until) = filter.until {
        statement = statement.sql(" AND p.processed_at < ").moment(until);
    }
    if let Some(after) = search.after {
        statement = statement
            .sql(" AND p.processed_at <= ")
            .moment(after.at)
            .sql(" AND (p.processed_at, p.event_id, p.source) < (")
            .moment(after.at)
            .sql(", ")
            .text(after.key.event_id.as_str())
            .sql(", ")
            .text(after.key.source.as_str())
            .sql(")");
    }
    statement
}

fn newest(statement: Composed, search: &Search<'_>) -> Composed {
    statement.sql(" ORDER BY p.processed_at DESC, p.event_id DESC, p.source DESC LIMIT ").number(search.limit)
}
