//! The events that were given up and are not settled: each by its last dead letter.

use super::rows::select_events;
use super::search::Search;
use crate::outbound::dead_letter_sql::Composed;

/// The newest of them that are searched for.
pub(super) fn select_given_up(search: &Search<'_>) -> Composed {
    let statement = select_events("e.dead_lettered_at").sql(
        "CAST(0 AS smallint) AS outcome, e.kind AS kind, e.reason AS reason, e.id AS letter, e.state AS state \
         FROM dead_letters AS e WHERE e.linked_to IS NULL AND e.event_id IS NOT NULL AND e.consumer = ",
    );
    let statement = restrict(statement.text(search.consumer.as_str()), search);
    statement
        .sql(
            // Counted rather than NOT EXISTS, for which PostgreSQL may read all events instead of one by its key;
            // and with CASE, since SQLite would search for later letters of any event by a plain comparison.
            " AND (SELECT count(*) FROM processed_events AS p WHERE p.event_id = e.event_id \
               AND p.source = e.source AND p.consumer = e.consumer) = 0 \
             AND NOT EXISTS (SELECT 1 FROM dead_letters AS n WHERE n.consumer = e.consumer \
               AND n.source = e.source AND n.event_id = e.event_id AND n.linked_to IS NULL \
               AND CASE WHEN (n.dead_lettered_at, n.id) > (e.dead_lettered_at, e.id) THEN 1 ELSE 0 END = 1) \
             ORDER BY e.dead_lettered_at DESC, e.event_id DESC, e.source DESC LIMIT ",
        )
        .number(search.limit)
}

fn restrict(mut statement: Composed, search: &Search<'_>) -> Composed {
    let filter = search.filter;
    if let Some(event_id) = &filter.event_id {
        statement = statement.sql(" AND e.event_id = ").text(event_id.as_str());
    }
    if let Some(payment) = &filter.payment {
        statement = statement.sql(" AND e.payment_id = ").text(payment.as_str());
    }
    let by_key = filter.event_id.is_some() || filter.payment.is_some();
    statement = match &filter.source {
        Some(source) if by_key => statement.sql(" AND e.source = ").text(source.as_str()),
        // The same, but nothing to search an index for: the one over the moments is to be read.
        Some(source) => statement.sql(" AND e.source || '' = ").text(source.as_str()),
        None if by_key => any_source(statement, search.consumer.as_str()),
        None => statement,
    };
    if let Some(from) = filter.from {
        statement = statement.sql(" AND e.dead_lettered_at >= ").moment(from);
    }
    if let Some(until) = filter.until {
        statement = statement.sql(" AND e.dead_lettered_at < ").moment(until);
    }
    if let Some(after) = search.after {
        statement = statement
            .sql(" AND e.dead_lettered_at <= ")
            .moment(after.at)
            .sql(" AND (e.dead_lettered_at, e.event_id, e.source) < (")
            .moment(after.at)
            .sql(", ")
            .text(after.key.event_id.as_str())
            .sql(", ")
            .text(after.key.source.as_str())
            .sql(")");
    }
    statement
}

/// From source to source by the index, of which there are few, instead of all letters.
fn any_source(statement: Composed, consumer: &str) -> Composed {
    statement
        .sql(
            " AND e.source IN (WITH RECURSIVE known (source) AS \
               (SELECT min(source) FROM dead_letters WHERE source IS NOT NULL AND consumer = ",
        )
        .text(consumer)
        .sql(
            " UNION ALL SELECT (SELECT min(source) FROM dead_letters WHERE source IS NOT NULL AND consumer = ",
        )
        .text(consumer)
        .sql(" AND source > known.source) FROM known WHERE known.source IS NOT NULL) SELECT source FROM known)")
}
