//! What holds for whatever a pack makes of a payload.

use std::collections::HashMap;

use application::Envelope;
use application::ports::provider::Provider;
use domain::id::ID_BYTES_MAX;
use domain::{Currency, Decision, Effect, EventId, Fact, PaymentChange, PaymentEvent, decide};

/// Translates the envelope, and checks that the same means the same, that ids are within their limits, and that no
/// amount below zero has an effect.
pub fn check(parser: &str, provider: &dyn Provider, envelope: &Envelope) -> Option<PaymentEvent> {
    let first = provider.translate(envelope);
    assert_eq!(first, provider.translate(envelope), "{parser}: the same payload means another thing");
    let event = first.ok()?;
    assert_eq!(event.key, envelope.key, "{parser}: the key is not the envelope's");
    assert_eq!(event.received_at, envelope.received_at, "{parser}: it did not arrive then");
    check_id(parser, event.kind.as_str());
    if let Effect::Change(change) = &event.effect {
        check_change(parser, change);
    }
    check_decision(parser, &event);
    Some(event)
}

/// That an id of a request can be an id, everywhere.
pub fn check_ids(parser: &str, ids: &[EventId]) {
    for id in ids {
        check_id(parser, id.as_str());
    }
}

fn check_id(parser: &str, id: &str) {
    let bytes = id.len();
    assert!((1..=ID_BYTES_MAX).contains(&bytes), "{parser}: an id has {bytes} bytes");
    assert!(!id.contains(char::is_control), "{parser}: an id has a control character: {id:?}");
}

fn check_change(parser: &str, change: &PaymentChange) {
    assert!(!change.facts.is_empty(), "{parser}: an effect without a fact");
    check_id(parser, change.payment.as_str());
    if let Some(merchant) = &change.merchant {
        check_id(parser, merchant.as_str());
    }
}

/// The domain refuses what is below zero, and what it applies sums to zero.
fn check_decision(parser: &str, event: &PaymentEvent) {
    let decision = decide(None, |_| None, event);
    let facts = event.change().map(|change| change.facts.as_slice()).unwrap_or_default();
    if facts.iter().filter_map(Fact::amount).any(|amount| amount.minor_units() < 0) {
        assert!(decision.is_err(), "{parser}: an amount below zero has an effect");
    }
    let Ok(Decision::Apply(change)) = decision else { return };
    let mut sums: HashMap<Currency, i128> = HashMap::new();
    for entry in &change.entries {
        *sums.entry(entry.amount.currency()).or_default() += i128::from(entry.amount.minor_units());
    }
    assert!(sums.values().all(|sum| *sum == 0), "{parser}: entries do not sum to zero: {sums:?}");
}
