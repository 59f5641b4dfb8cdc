//! Why an event became a dead letter, from a closed set.

/// The class of the reason: what [`DeadLetterReason::label`](crate::DeadLetterReason::label) says, and what
/// the broker says of messages that it gave up itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LetterReason {
    /// The message was not an envelope of ours.
    Unreadable,
    /// Its source was not configured, or its payload could not be translated.
    Untranslatable,
    /// The key was used before for an event that means something else.
    Conflict,
    /// The event is impossible for its payment.
    Refused,
    /// The store refused it.
    StoreRefused,
    /// It failed as often as an event may.
    AttemptsExhausted,
    /// What it waited for did not come.
    NeverReady,
    /// The broker gave up: it was handed out too often without an answer, as when it ends the process.
    DeliveryLimit,
    /// A reason that this release does not know; the letter's detail begins with it.
    Unknown,
}

impl LetterReason {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::Unreadable,
        Self::Untranslatable,
        Self::Conflict,
        Self::Refused,
        Self::StoreRefused,
        Self::AttemptsExhausted,
        Self::NeverReady,
        Self::DeliveryLimit,
        Self::Unknown,
    ];

    /// The label under which it is stored and shown, and by which it is counted.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Unreadable => "unreadable",
            Self::Untranslatable => "untranslatable",
            Self::Conflict => "conflict",
            Self::Refused => "refused",
            Self::StoreRefused => "store_refused",
            Self::AttemptsExhausted => "attempts_exhausted",
            Self::NeverReady => "never_ready",
            Self::DeliveryLimit => "delivery_limit",
            Self::Unknown => "unknown",
        }
    }

    /// The reason of that label; `None` for one that this release does not know.
    pub fn from_label(label: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|reason| reason.as_str() == label)
    }
}

#[cfg(test)]
mod tests {
    use domain::{PaymentId, Refusal};

    use super::*;
    use crate::disposition::DeadLetterReason;
    use crate::testing::succeeded;

    #[test]
    fn every_label_that_a_dead_letter_is_given_is_known() {
        let text = String::new;
        let reasons = [
            DeadLetterReason::Unreadable(text()),
            DeadLetterReason::Untranslatable(text()),
            DeadLetterReason::Conflict { stored: None, claimed: succeeded("evt_1", "pi_1", 1).fingerprint() },
            DeadLetterReason::Refused(Refusal::OtherMerchant { payment: PaymentId::parse("pi_1").unwrap() }),
            DeadLetterReason::StoreRefused(text()),
            DeadLetterReason::AttemptsExhausted(text()),
            DeadLetterReason::NeverReady(text()),
        ];
        for reason in reasons {
            let label = reason.label();
            assert_eq!(LetterReason::from_label(label).map(LetterReason::as_str), Some(label));
        }
    }
}
