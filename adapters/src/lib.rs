//! How the outside is reached: one folder per technology, `inbound` what drives the use cases, `outbound`
//! what they drive. Sibling folders carry the same file names for the same port.

pub mod clock;
#[cfg(any(test, feature = "fuzzing"))]
pub mod fuzzing;
pub mod inbound;
pub mod outbound;
pub mod providers;
pub mod trace;
