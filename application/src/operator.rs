//! What an operator orders, and that it is written down: who, when, what, and why.

use std::fmt;

use domain::Timestamp;

use crate::dead_letter::text::storable;

/// The most bytes of an operator's name.
pub const ACTOR_BYTES_MAX: usize = 255;

/// The most bytes of an explanation.
pub const WHY_BYTES_MAX: usize = 1024;

/// The most bytes of what an action was done to.
pub const TARGET_BYTES_MAX: usize = 4 * 1024;

/// Why a text is not the name of an operator, or not an explanation.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OperatorError {
    /// Nothing there.
    #[error("is empty; say who it is, and why")]
    Blank,
    /// More bytes than are kept.
    #[error("has {bytes} bytes; at most {max} are allowed")]
    TooLong {
        /// How many bytes came.
        bytes: usize,
        /// How many are allowed.
        max: usize,
    },
}

fn parse(text: &str, max: usize) -> Result<String, OperatorError> {
    let text = storable(text.trim(), usize::MAX);
    if text.chars().all(|c| c.is_whitespace() || c.is_control()) {
        return Err(OperatorError::Blank);
    }
    if text.len() > max {
        return Err(OperatorError::TooLong { bytes: text.len(), max });
    }
    Ok(text)
}

macro_rules! said {
    ($(#[$doc:meta])* $name:ident, $max:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub struct $name(String);

        impl $name {
            /// Parses a text that says something, without the white space around it.
            pub fn parse(text: &str) -> Result<Self, OperatorError> {
                parse(text, $max).map(Self)
            }

            /// The text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

said!(
    /// An operator, by name.
    Actor,
    ACTOR_BYTES_MAX
);
said!(
    /// Why an operator did it, in words. Never blank.
    Why,
    WHY_BYTES_MAX
);

/// Who orders something, when, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OperatorOrder {
    /// Who.
    pub actor: Actor,
    /// When.
    pub at: Timestamp,
    /// Why.
    pub why: Why,
}

/// What an operator has done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OperatorAction {
    /// Who, when and why.
    pub order: OperatorOrder,
    /// What, from the small set of things that can be done, such as `replay` or `discard`.
    pub what: String,
    /// To what, in words.
    pub target: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_explanation_must_say_something() {
        for text in ["", "  ", "\n\t", " \u{a0} ", "\u{7}"] {
            assert_eq!(Why::parse(text), Err(OperatorError::Blank), "{text:?}");
        }
        assert_eq!(Why::parse(" refunded by hand \n").unwrap().as_str(), "refunded by hand");
    }

    #[test]
    fn a_name_is_bounded() {
        assert!(Actor::parse(&"x".repeat(ACTOR_BYTES_MAX)).is_ok());
        assert_eq!(
            Actor::parse(&"x".repeat(ACTOR_BYTES_MAX + 1)),
            Err(OperatorError::TooLong { bytes: ACTOR_BYTES_MAX + 1, max: ACTOR_BYTES_MAX })
        );
    }

    #[test]
    fn an_explanation_can_be_stored() {
        assert_eq!(Why::parse("a\0b").unwrap().as_str(), "a\u{fffd}b");
    }
}
