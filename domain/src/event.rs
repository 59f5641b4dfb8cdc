//! A payment event: what a provider says has happened, in our words.

use std::fmt;

use sha2::{Digest, Sha256};

use crate::fact::Fact;
use crate::id::{EventId, EventKind, MerchantId, PaymentId, SourceName};
use crate::payment::PaymentKey;
use crate::timestamp::Timestamp;

/// The full identity of an event. An id alone is unique only within its source.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EventKey {
    /// Where it came in.
    pub source: SourceName,
    /// Its id there.
    pub event_id: EventId,
}

impl fmt::Display for EventKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.source, self.event_id)
    }
}

/// What an event says about a payment or a payout.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PaymentChange {
    /// Which one, by the provider's id.
    pub payment: PaymentId,
    /// Whose money it is; `None` for the account that the source itself stands for.
    pub merchant: Option<MerchantId>,
    /// What became true of it, at least one fact.
    pub facts: Vec<Fact>,
}

/// What an event does here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// It changes a payment or a payout.
    Change(PaymentChange),
    /// It is authentic and changes nothing, for this reason.
    Nothing(NoEffect),
}

/// Why an authentic event changes nothing by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum NoEffect {
    /// Its kind, or its version, says nothing about money that we act on.
    Kind,
    /// Its signature does not bind what it says, so it is a hint until the provider has confirmed it.
    Unconfirmed,
    /// It belongs to the provider's test mode and the source to live mode, or the other way round.
    OtherMode,
}

/// One event, translated. Only a translator makes one, from an envelope that was verified on arrival.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PaymentEvent {
    /// Its identity.
    pub key: EventKey,
    /// The provider's name of what happened.
    pub kind: EventKind,
    /// What it does.
    pub effect: Effect,
    /// When it happened, as the provider says; `None` where it does not say.
    pub occurred_at: Option<Timestamp>,
    /// When it arrived, which is when its age was judged.
    pub received_at: Timestamp,
}

impl PaymentEvent {
    /// What it changes, where it changes anything.
    pub const fn change(&self) -> Option<&PaymentChange> {
        match &self.effect {
            Effect::Change(change) => Some(change),
            Effect::Nothing(_) => None,
        }
    }

    /// The payment that it is about, where it is about one.
    pub fn payment_key(&self) -> Option<PaymentKey> {
        self.change()
            .map(|change| PaymentKey { source: self.key.source.clone(), payment_id: change.payment.clone() })
    }

    /// The fingerprint of what this event means. Redeliveries of one event have one fingerprint even when
    /// their bytes differ (providers change counters and spacing); another amount is another fingerprint.
    pub fn fingerprint(&self) -> Fingerprint {
        let mut hash = Sha256::new();
        let mut part = |bytes: &[u8]| {
            // Length first, so that no two lists of parts run together into the same bytes.
            hash.update((bytes.len() as u64).to_be_bytes());
            hash.update(bytes);
        };
        part(self.kind.as_str().as_bytes());
        if let Some(PaymentChange { payment, merchant, facts }) = self.change() {
            part(payment.as_str().as_bytes());
            part(merchant.as_ref().map_or("", MerchantId::as_str).as_bytes());
            for fact in facts {
                part(fact.key(self.occurred_at).as_str().as_bytes());
                if let Some(amount) = fact.amount() {
                    part(&amount.minor_units().to_be_bytes());
                    part(amount.currency().code().as_bytes());
                }
            }
        }
        let digest = hash.finalize();
        let mut short = [0; Fingerprint::BYTES];
        short.copy_from_slice(&digest[..Fingerprint::BYTES]);
        Fingerprint(short)
    }
}

/// The first 128 bits of a SHA-256 over an event's meaning.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Fingerprint([u8; Fingerprint::BYTES]);

impl Fingerprint {
    /// How many bytes a fingerprint has: enough that two meanings never meet, few enough for the hot table.
    pub const BYTES: usize = 16;

    /// From stored bytes; `None` when there are not [`Self::BYTES`] of them.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }

    /// The bytes to store.
    pub const fn as_bytes(&self) -> &[u8; Self::BYTES] {
        &self.0
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Fingerprint({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fact::SINGLE;
    use crate::id::FactId;
    use crate::money::{Currency, Money};

    fn succeeded(payment: &str, minor_units: i64, currency: &str) -> PaymentEvent {
        let amount = Money::new(minor_units, Currency::parse(currency).unwrap());
        PaymentEvent {
            key: EventKey {
                source: SourceName::parse("payment").unwrap(),
                event_id: EventId::parse("evt_1").unwrap(),
            },
            kind: EventKind::parse("payment_intent.succeeded").unwrap(),
            effect: Effect::Change(PaymentChange {
                payment: PaymentId::parse(payment).unwrap(),
                merchant: None,
                facts: vec![Fact::Captured { capture: FactId::parse(SINGLE).unwrap(), amount, last: true }],
            }),
            occurred_at: None,
            received_at: Timestamp::from_micros(0),
        }
    }

    #[test]
    fn the_same_meaning_has_the_same_fingerprint_whenever_it_arrives() {
        let first = succeeded("pi_1", 4999, "usd");
        let again = PaymentEvent { received_at: Timestamp::from_micros(99), ..first.clone() };
        assert_eq!(first.fingerprint(), again.fingerprint());
    }

    #[test]
    fn another_amount_currency_payment_or_kind_has_another_fingerprint() {
        let base = succeeded("pi_1", 4999, "usd");
        let other_kind = PaymentEvent { kind: EventKind::parse("charge.succeeded").unwrap(), ..base.clone() };
        let without_effect = PaymentEvent { effect: Effect::Nothing(NoEffect::Kind), ..base.clone() };
        for other in [
            succeeded("pi_1", 5000, "usd"),
            succeeded("pi_1", 4999, "eur"),
            succeeded("pi_2", 4999, "usd"),
            other_kind,
            without_effect,
        ] {
            assert_ne!(base.fingerprint(), other.fingerprint(), "{other:?}");
        }
    }

    #[test]
    fn stored_bytes_come_back_as_the_same_fingerprint() {
        let fingerprint = succeeded("pi_1", 1, "usd").fingerprint();
        assert_eq!(Fingerprint::from_bytes(fingerprint.as_bytes()), Some(fingerprint));
        assert_eq!(Fingerprint::from_bytes(&[0; 15]), None);
    }
}
