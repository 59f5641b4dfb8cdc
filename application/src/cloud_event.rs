//! A message of the outbox as the rest of the company gets it: a `CloudEvent` 1.0 in JSON, in structured mode.
//!
//! It says nothing that depends on the order in which events came, and nothing of how often it was tried: the
//! same fact is always the same message.

use bytes::Bytes;
use domain::Timestamp;
use serde::Serialize;

use crate::ports::outbox::OutboxEntry;

/// The media type of what [`render`] gives.
pub const CONTENT_TYPE: &str = "application/cloudevents+json";

/// The envelope, whose attributes are the specification's.
#[derive(Serialize)]
struct CloudEvent<'a> {
    specversion: &'static str,
    id: &'a str,
    source: String,
    #[serde(rename = "type")]
    kind: &'a str,
    subject: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    time: Option<String>,
    datacontenttype: &'static str,
    data: Data<'a>,
}

/// What is ours.
#[derive(Serialize)]
struct Data<'a> {
    payment: &'a str,
    source: &'a str,
    account: &'a str,
    fact: &'a str,
    amount_minor: Option<i64>,
    currency: Option<&'a str>,
}

/// `entry` as a `CloudEvent`: the bytes that are sent, and signed where they are signed.
///
/// # Panics
/// Never: there is nothing in it that JSON could not say.
pub fn render(entry: &OutboxEntry) -> Bytes {
    let event = CloudEvent {
        specversion: "1.0",
        id: &entry.id,
        source: format!("/payonce/{}", entry.source),
        kind: &entry.kind,
        subject: &entry.payment_id,
        time: rfc3339(entry.occurred_at),
        datacontenttype: "application/json",
        data: Data {
            payment: &entry.payment_id,
            source: &entry.source,
            account: &entry.account,
            fact: &entry.fact,
            amount_minor: entry.amount_minor,
            currency: entry.currency.as_deref(),
        },
    };
    Bytes::from(serde_json::to_vec(&event).expect("text and numbers are JSON"))
}

/// `None` for a moment that RFC 3339, whose years have four digits, cannot tell. The attribute is optional.
pub(crate) fn rfc3339(moment: Timestamp) -> Option<String> {
    /// 0000-01-01T00:00:00Z
    const EARLIEST_MICROS: i64 = -62_167_219_200_000_000;
    let micros = moment.as_micros();
    let told = jiff::Timestamp::from_microsecond(micros).ok()?;
    (micros >= EARLIEST_MICROS).then(|| told.to_string())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::testing::outbox_entry;

    fn rendered(entry: &OutboxEntry) -> Value {
        serde_json::from_slice(&render(entry)).unwrap()
    }

    #[test]
    fn it_is_a_cloud_event_with_every_part_where_the_specification_has_it() {
        let entry = OutboxEntry {
            amount_minor: Some(4999),
            currency: Some("USD".to_owned()),
            ..outbox_entry(7, "pi_1")
        };
        assert_eq!(
            rendered(&entry),
            json!({
                "specversion": "1.0",
                "id": "payment/pi_1/fact:7",
                "source": "/payonce/payment",
                "type": "payment.succeeded",
                "subject": "pi_1",
                "time": "2023-11-14T22:13:20.000007Z",
                "datacontenttype": "application/json",
                "data": {
                    "payment": "pi_1",
                    "source": "payment",
                    "account": "payment",
                    "fact": "fact:7",
                    "amount_minor": 4999,
                    "currency": "USD",
                },
            })
        );
    }

    #[test]
    fn a_fact_without_an_amount_says_null() {
        let event = rendered(&outbox_entry(1, "pi_1"));
        assert!(event["data"]["amount_minor"].is_null() && event["data"]["currency"].is_null());
        assert!(event["data"].as_object().unwrap().contains_key("amount_minor"));
    }

    #[test]
    fn amounts_are_exact_to_the_last_minor_unit() {
        for amount in [i64::MAX, i64::MIN, 9_007_199_254_740_993] {
            let entry = OutboxEntry { amount_minor: Some(amount), ..outbox_entry(1, "pi_1") };
            assert_eq!(rendered(&entry)["data"]["amount_minor"].as_i64(), Some(amount));
        }
    }

    #[test]
    fn how_often_it_was_tried_and_where_it_stands_change_nothing() {
        use std::time::Duration;

        use crate::ports::outbox::Standing;

        let first = outbox_entry(1, "pi_1");
        let retried = OutboxEntry {
            seq: 900,
            standing: Standing::Waiting { attempts: 4, tried_for: Duration::from_hours(1) },
            ..first.clone()
        };
        assert_eq!(render(&first), render(&retried));
    }

    #[test]
    fn a_moment_that_cannot_be_told_is_left_out() {
        for micros in [i64::MAX, i64::MIN, -62_167_219_200_000_001] {
            let entry =
                OutboxEntry { occurred_at: Timestamp::from_micros(micros), ..outbox_entry(1, "pi_1") };
            assert_eq!(rendered(&entry).get("time"), None, "{micros}");
        }
        let entry = OutboxEntry {
            occurred_at: Timestamp::from_micros(-62_167_219_200_000_000),
            ..outbox_entry(1, "pi_1")
        };
        assert_eq!(rendered(&entry)["time"], "0000-01-01T00:00:00Z");
    }

    #[test]
    fn ids_are_told_as_they_are() {
        let entry = OutboxEntry { payment_id: "é\"\\ \u{1F600}".to_owned(), ..outbox_entry(1, "pi_1") };
        assert_eq!(rendered(&entry)["subject"], "é\"\\ \u{1F600}");
    }
}
