//! Builders and doubles for tests, behind the feature `testing`.

use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;
use domain::fact::SINGLE;
use domain::{
    Currency, Effect, EventId, EventKey, EventKind, Fact, FactId, Money, NoEffect, PaymentChange,
    PaymentEvent, PaymentId, SourceName, Timestamp,
};

use crate::envelope::{Envelope, TraceContext};
use crate::ports::clock::Clock;
use crate::ports::outbox::{OutboxEntry, Standing};
use crate::ports::provider::{Provider, Sources};

pub mod dead_letters;

/// A clock that stands still.
#[derive(Debug, Clone, Copy)]
pub struct FixedClock(Timestamp);

impl FixedClock {
    /// Always says `micros` microseconds since the epoch.
    pub const fn at_micros(micros: i64) -> Self {
        Self(Timestamp::from_micros(micros))
    }
}

impl Clock for FixedClock {
    fn now(&self) -> Timestamp {
        self.0
    }
}

/// The source that tests use: `payment`.
///
/// # Panics
/// Never: the name is valid.
pub fn source_name() -> SourceName {
    SourceName::parse("payment").expect("a valid name")
}

/// One source, `payment`, with that provider.
pub fn sources_of(provider: impl Provider + 'static) -> Sources {
    let provider: Arc<dyn Provider> = Arc::new(provider);
    Sources::new(HashMap::from([(source_name(), provider)]))
}

/// The key of an event of the source `payment`.
///
/// # Panics
/// `event_id` is not a valid id.
pub fn event_key(event_id: &str) -> EventKey {
    EventKey { source: source_name(), event_id: EventId::parse(event_id).expect("a valid event id") }
}

/// An event that says that `payment` succeeded with `minor_units` US cents.
///
/// # Panics
/// An id is not valid.
pub fn succeeded(event_id: &str, payment: &str, minor_units: i64) -> PaymentEvent {
    PaymentEvent {
        key: event_key(event_id),
        kind: EventKind::parse("payment_intent.succeeded").expect("a valid kind"),
        effect: Effect::Change(PaymentChange {
            payment: PaymentId::parse(payment).expect("a valid payment id"),
            merchant: None,
            facts: vec![Fact::Captured {
                capture: FactId::parse(SINGLE).expect("a valid id"),
                amount: Money::new(minor_units, Currency::parse("USD").expect("a listed currency")),
                last: true,
            }],
        }),
        occurred_at: None,
        received_at: Timestamp::from_micros(1_700_000_000_000_000),
    }
}

/// An event that says that `minor_units` US cents of `payment` were refunded, by a refund of the event's id.
///
/// # Panics
/// An id is not valid.
pub fn refunded(event_id: &str, payment: &str, minor_units: i64) -> PaymentEvent {
    let mut event = succeeded(event_id, payment, minor_units);
    event.kind = EventKind::parse("refund.created").expect("a valid kind");
    if let Effect::Change(change) = &mut event.effect {
        change.facts = vec![Fact::Refunded {
            refund: FactId::parse(event_id).expect("a valid id"),
            amount: Money::new(minor_units, Currency::parse("USD").expect("a listed currency")),
        }];
    }
    event
}

/// An event of a kind that changes nothing.
///
/// # Panics
/// `event_id` is not a valid id.
pub fn without_effect(event_id: &str) -> PaymentEvent {
    PaymentEvent {
        kind: EventKind::parse("galaxy.exploded").expect("a valid kind"),
        effect: Effect::Nothing(NoEffect::Kind),
        ..succeeded(event_id, "unused", 0)
    }
}

/// The native payload of [`succeeded`].
pub fn succeeded_payload(event_id: &str, payment: &str, minor_units: i64) -> Bytes {
    Bytes::from(format!(
        r#"{{"id":"{event_id}","type":"payment_intent.succeeded","data":{{"payment_intent":"{payment}","amount_cents":{minor_units},"currency":"usd","status":"succeeded"}}}}"#
    ))
}

/// An envelope of the source `payment` with that payload.
///
/// # Panics
/// `event_id` is not a valid id.
pub fn envelope(event_id: &str, payload: impl Into<Bytes>) -> Envelope {
    Envelope {
        key: event_key(event_id),
        received_at: Timestamp::from_micros(1_700_000_000_000_000),
        queued_at: Timestamp::from_micros(1_700_000_000_000_000),
        content_type: Some("application/json".to_owned()),
        headers: Vec::new(),
        trace: TraceContext::default(),
        payload: payload.into(),
    }
}

/// A message of the outbox about a payment of the source `payment`, at that place.
pub fn outbox_entry(seq: i64, payment: &str) -> OutboxEntry {
    OutboxEntry {
        seq,
        id: format!("payment/{payment}/fact:{seq}"),
        kind: "payment.succeeded".to_owned(),
        source: "payment".to_owned(),
        payment_id: payment.to_owned(),
        account: "payment".to_owned(),
        fact: format!("fact:{seq}"),
        amount_minor: None,
        currency: None,
        occurred_at: Timestamp::from_micros(1_700_000_000_000_000 + seq),
        standing: Standing::New,
    }
}
