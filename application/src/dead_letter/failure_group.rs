//! Which letters failed alike.

use std::fmt;

use domain::{ConsumerName, Digest, SourceName};

use super::normalise::normalise;
use super::reason::LetterReason;

/// Letters of one consumer and source that failed for one reason with alike messages are in one group, so that
/// one cause is one line however many events it hit.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FailureGroup([u8; FailureGroup::BYTES]);

impl FailureGroup {
    /// How many bytes a group's fingerprint has.
    pub const BYTES: usize = 16;

    /// The group of a letter that failed with `detail`.
    pub fn of(
        consumer: &ConsumerName,
        source: Option<&SourceName>,
        reason: LetterReason,
        detail: &str,
    ) -> Self {
        let message = normalise(detail);
        let parts =
            [consumer.as_str(), source.map_or("", SourceName::as_str), reason.as_str(), message.as_str()];
        let digest = Digest::of(parts.iter().map(|part| part.as_bytes()));
        let mut short = [0; Self::BYTES];
        for (short, byte) in short.iter_mut().zip(digest.as_bytes()) {
            *short = *byte;
        }
        Self(short)
    }

    /// From stored bytes; `None` when there are not [`Self::BYTES`] of them.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }

    /// From the text that it is shown as: 32 hexadecimal digits.
    pub fn parse(text: &str) -> Option<Self> {
        let (pairs, []) = text.as_bytes().as_chunks::<2>() else {
            return None;
        };
        let bytes: Option<Vec<u8>> =
            pairs.iter().map(|[high, low]| Some(digit(*high)? << 4 | digit(*low)?)).collect();
        Self::from_bytes(&bytes?)
    }

    /// The bytes to store.
    pub const fn as_bytes(&self) -> &[u8; Self::BYTES] {
        &self.0
    }
}

fn digit(character: u8) -> Option<u8> {
    let digit = char::from(character).to_digit(16)?;
    u8::try_from(digit).ok()
}

impl fmt::Display for FailureGroup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for FailureGroup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FailureGroup({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn consumer(name: &str) -> ConsumerName {
        ConsumerName::parse(name).unwrap()
    }

    fn group(detail: &str) -> FailureGroup {
        FailureGroup::of(&consumer("payments"), None, LetterReason::Refused, detail)
    }

    #[test]
    fn alike_failures_are_one_group() {
        assert_eq!(group("payment pi_1 has no capture"), group("payment pi_2 has no capture"));
    }

    #[test]
    fn another_message_reason_source_or_consumer_is_another_group() {
        let base = group("a");
        let source = SourceName::parse("stripe").unwrap();
        for other in [
            group("b"),
            FailureGroup::of(&consumer("payments"), None, LetterReason::Conflict, "a"),
            FailureGroup::of(&consumer("payments"), Some(&source), LetterReason::Refused, "a"),
            FailureGroup::of(&consumer("billing"), None, LetterReason::Refused, "a"),
        ] {
            assert_ne!(base, other);
        }
    }

    #[test]
    fn what_is_shown_can_be_read_again() {
        let group = group("a");
        assert_eq!(FailureGroup::parse(&group.to_string()), Some(group));
        for text in ["", "00", "zz112233445566778899aabbccddeeff", "00112233445566778899aabbccddeeff0"] {
            assert_eq!(FailureGroup::parse(text), None, "{text}");
        }
    }
}
