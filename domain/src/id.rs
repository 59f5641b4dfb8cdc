//! Identifiers, parsed once and valid ever after.
//!
//! The rule for ids that come from outside ([`EventId`], [`PaymentId`]): 1 to 255 bytes of UTF-8, no control
//! character (so no NUL, which a database refuses, and no line break, which would forge log lines), no white
//! space at either end. 255 bytes is what an AMQP short string holds and far below the 2,704 bytes at which
//! a PostgreSQL index entry fails. Ids are compared byte by byte, never normalised.

use std::fmt;
use std::sync::Arc;

/// The longest id that is accepted, in bytes.
pub const ID_BYTES_MAX: usize = 255;

/// The longest source or consumer name, in bytes; they become URL segments and metric labels.
pub const NAME_BYTES_MAX: usize = 64;

/// Why a text is not an identifier.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum IdError {
    /// Nothing there.
    #[error("is empty; an id has 1 to {ID_BYTES_MAX} bytes")]
    Empty,
    /// More bytes than an id may have.
    #[error("has {bytes} bytes; at most {max} are allowed")]
    TooLong {
        /// How many bytes came.
        bytes: usize,
        /// How many are allowed.
        max: usize,
    },
    /// A control character, such as NUL or a line break.
    #[error("contains a control character ({0:?})")]
    ControlCharacter(char),
    /// White space at the start or the end.
    #[error("starts or ends with white space")]
    SurroundingWhitespace,
    /// A character outside the alphabet of names.
    #[error("contains {0:?}; a name has lower-case letters, digits, '-' and '_'")]
    NotANameCharacter(char),
}

fn check_id(text: &str) -> Result<(), IdError> {
    if text.is_empty() {
        return Err(IdError::Empty);
    }
    if text.len() > ID_BYTES_MAX {
        return Err(IdError::TooLong { bytes: text.len(), max: ID_BYTES_MAX });
    }
    if let Some(control) = text.chars().find(|c| c.is_control()) {
        return Err(IdError::ControlCharacter(control));
    }
    if text.trim() != text {
        return Err(IdError::SurroundingWhitespace);
    }
    Ok(())
}

fn check_name(text: &str) -> Result<(), IdError> {
    if text.is_empty() {
        return Err(IdError::Empty);
    }
    if text.len() > NAME_BYTES_MAX {
        return Err(IdError::TooLong { bytes: text.len(), max: NAME_BYTES_MAX });
    }
    let in_alphabet = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '_';
    match text.chars().find(|c| !in_alphabet(*c)) {
        Some(stranger) => Err(IdError::NotANameCharacter(stranger)),
        None => Ok(()),
    }
}

macro_rules! identifier {
    ($(#[$doc:meta])* $name:ident, $check:ident) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(Arc<str>);

        impl $name {
            /// Parses `text` by the rule of the [module](self).
            pub fn parse(text: &str) -> Result<Self, IdError> {
                $check(text)?;
                Ok(Self(Arc::from(text)))
            }

            /// The text, exactly as it came.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}({:?})", stringify!($name), &*self.0)
            }
        }

        impl std::str::FromStr for $name {
            type Err = IdError;

            fn from_str(text: &str) -> Result<Self, IdError> {
                Self::parse(text)
            }
        }
    };
}

identifier!(
    /// What the provider keeps stable over redeliveries of one event.
    EventId,
    check_id
);
identifier!(
    /// The provider's id of a payment.
    PaymentId,
    check_id
);
identifier!(
    /// What tells a change apart from all others of its payment, such as `refund re_1`'s `re_1`.
    FactId,
    check_id
);
identifier!(
    /// Whose money it is at the provider: a merchant or connected account, by the provider's id.
    MerchantId,
    check_id
);
identifier!(
    /// The provider's own name of what happened, such as `payment_intent.succeeded`.
    EventKind,
    check_id
);
identifier!(
    /// A configured sender of webhooks, `POST /webhooks/{source}`: 1 to 64 of `a-z 0-9 - _`.
    SourceName,
    check_name
);
identifier!(
    /// Who processes events; the idempotency key is scoped to it. 1 to 64 of `a-z 0-9 - _`.
    ConsumerName,
    check_name
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_keeps_its_bytes() {
        assert_eq!(EventId::parse("evt_1|é|\u{1F600}").unwrap().as_str(), "evt_1|é|\u{1F600}");
    }

    #[test]
    fn an_empty_id_is_refused() {
        assert_eq!(EventId::parse(""), Err(IdError::Empty));
    }

    #[test]
    fn an_id_of_255_bytes_is_accepted_and_of_256_refused() {
        assert!(EventId::parse(&"x".repeat(255)).is_ok());
        assert_eq!(EventId::parse(&"x".repeat(256)), Err(IdError::TooLong { bytes: 256, max: 255 }));
    }

    #[test]
    fn length_counts_bytes_not_characters() {
        assert!(EventId::parse(&"é".repeat(127)).is_ok());
        assert!(EventId::parse(&"é".repeat(128)).is_err());
    }

    #[test]
    fn control_characters_are_refused() {
        for control in ['\0', '\n', '\r', '\t', '\u{7f}', '\u{85}'] {
            assert_eq!(PaymentId::parse(&format!("a{control}b")), Err(IdError::ControlCharacter(control)));
        }
    }

    #[test]
    fn white_space_at_the_ends_is_refused() {
        for text in [" a", "a ", "\u{a0}a"] {
            assert_eq!(EventId::parse(text), Err(IdError::SurroundingWhitespace));
        }
    }

    #[test]
    fn a_name_has_only_url_and_label_characters() {
        assert!(SourceName::parse("stripe-eu_2").is_ok());
        for text in ["Stripe", "a/b", "a b", "é", ""] {
            assert!(SourceName::parse(text).is_err(), "{text}");
        }
    }
}
