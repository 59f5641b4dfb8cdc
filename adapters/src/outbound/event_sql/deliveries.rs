//! How messages stand with their destinations.

use application::ports::event_reader::{Delivery, DeliveryState, EventMessage};
use application::ports::unit_of_work::StoreError;
use diesel::QueryableByName;
use diesel::sql_types::{BigInt, Nullable, Text};
use domain::{ConsumerName, Timestamp};

use crate::outbound::dead_letter_sql::Composed;
use crate::outbound::payment_row::unreadable;

/// A message and a destination, or a message alone where there is none.
#[derive(QueryableByName)]
pub(super) struct DeliveryRow {
    #[diesel(sql_type = BigInt)]
    seq: i64,
    #[diesel(sql_type = Text)]
    id: String,
    #[diesel(sql_type = Text)]
    kind: String,
    #[diesel(sql_type = BigInt)]
    created_us: i64,
    #[diesel(sql_type = Nullable<Text>)]
    destination: Option<String>,
    #[diesel(sql_type = Nullable<BigInt>)]
    position: Option<i64>,
    #[diesel(sql_type = Nullable<Text>)]
    gaps: Option<String>,
    #[diesel(sql_type = Nullable<Text>)]
    state: Option<String>,
    #[diesel(sql_type = Nullable<BigInt>)]
    attempts: Option<i64>,
    #[diesel(sql_type = Nullable<BigInt>)]
    next_us: Option<i64>,
    #[diesel(sql_type = Nullable<Text>)]
    last_error: Option<String>,
}

/// The messages of these ids, which are some, each with every destination of the consumer. `gaps` is the column
/// of a destination `d` with the places that may still come.
pub(super) fn select_deliveries(consumer: &ConsumerName, ids: &[String], gaps: &'static str) -> Composed {
    let mut statement = Composed::new("SELECT o.seq AS seq, o.id AS id, o.kind AS kind, ")
        .micros("o.created_at")
        .sql(" AS created_us, d.destination AS destination, d.position AS position, ")
        .sql(gaps)
        .sql(" AS gaps, r.state AS state, CAST(r.attempts AS bigint) AS attempts, ")
        .micros("r.next_at")
        .sql(
            " AS next_us, r.last_error AS last_error FROM outbox AS o \
             LEFT JOIN outbox_destinations AS d ON d.consumer = o.consumer \
             LEFT JOIN outbox_retries AS r ON r.consumer = o.consumer AND r.destination = d.destination \
               AND r.seq = o.seq \
             WHERE o.consumer = ",
        )
        .text(consumer.as_str())
        .sql(" AND o.id IN (");
    for (place, id) in ids.iter().enumerate() {
        statement = statement.sql(if place == 0 { "" } else { ", " }).text(id);
    }
    statement.sql(") ORDER BY o.seq, d.destination")
}

/// The messages of rows, which are in order.
pub(super) fn messages(rows: Vec<DeliveryRow>) -> Result<Vec<EventMessage>, StoreError> {
    let mut messages: Vec<EventMessage> = Vec::new();
    for row in rows {
        let delivery = row.delivery()?;
        if messages.last().is_none_or(|message| message.id != row.id) {
            messages.push(EventMessage {
                id: row.id,
                kind: row.kind,
                created_at: Timestamp::from_micros(row.created_us),
                deliveries: Vec::new(),
            });
        }
        if let Some(message) = messages.last_mut() {
            message.deliveries.extend(delivery);
        }
    }
    Ok(messages)
}

impl DeliveryRow {
    fn delivery(&self) -> Result<Option<Delivery>, StoreError> {
        let Some(destination) = self.destination.clone() else { return Ok(None) };
        let attempts = u32::try_from(self.attempts.unwrap_or_default()).unwrap_or(u32::MAX);
        let state = match self.state.as_deref() {
            Some("waiting") => DeliveryState::Waiting {
                attempts,
                next_at: self.next_us.map(Timestamp::from_micros),
                error: self.last_error.clone(),
            },
            Some("failed") => DeliveryState::Failed { attempts, error: self.last_error.clone() },
            Some(other) => {
                return Err(unreadable("a delivery", &format!("unknown state {other:?}").into()));
            }
            None if self.is_to_come()? => DeliveryState::Queued,
            None => DeliveryState::Done,
        };
        Ok(Some(Delivery { destination, state }))
    }

    /// Whether the destination has not come to this place: it is beyond the position, or was not there yet when
    /// the position moved past it.
    fn is_to_come(&self) -> Result<bool, StoreError> {
        if self.position.is_none_or(|position| self.seq > position) {
            return Ok(true);
        }
        let gaps: Vec<(i64, i64, i64)> = serde_json::from_str(self.gaps.as_deref().unwrap_or("[]"))
            .map_err(|error| unreadable("the gaps of a destination", &error.into()))?;
        Ok(gaps.iter().any(|(first, last, _)| (*first..=*last).contains(&self.seq)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(seq: i64, position: i64, gaps: &str, state: Option<&str>) -> DeliveryRow {
        DeliveryRow {
            seq,
            id: "payment/pi_1/captured:single".to_owned(),
            kind: "payment.succeeded".to_owned(),
            created_us: 1,
            destination: Some("shop".to_owned()),
            position: Some(position),
            gaps: Some(gaps.to_owned()),
            state: state.map(str::to_owned),
            attempts: Some(2),
            next_us: None,
            last_error: None,
        }
    }

    fn state(row: &DeliveryRow) -> DeliveryState {
        row.delivery().unwrap().unwrap().state
    }

    #[test]
    fn a_place_up_to_the_position_is_done_unless_it_is_in_a_gap() {
        for (seq, done) in [(4, true), (5, false), (7, false), (8, true), (9, true), (10, false)] {
            let expected = if done { DeliveryState::Done } else { DeliveryState::Queued };
            assert_eq!(state(&row(seq, 9, "[[5,7,700]]", None)), expected, "{seq}");
        }
    }

    #[test]
    fn what_is_set_aside_says_how_often_it_was_tried() {
        let waiting = DeliveryState::Waiting { attempts: 2, next_at: None, error: None };
        assert_eq!(state(&row(4, 9, "[]", Some("waiting"))), waiting);
        let failed = DeliveryState::Failed { attempts: 2, error: None };
        assert_eq!(state(&row(4, 9, "[]", Some("failed"))), failed);
    }

    #[test]
    fn a_state_that_this_release_does_not_know_is_not_read() {
        let unknown = row(4, 9, "[]", Some("parked")).delivery();
        assert!(matches!(unknown, Err(StoreError::Transient(_))), "{unknown:?}");
    }
}
