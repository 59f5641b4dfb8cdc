//! What pages are made of: small pieces of HTML, each a type with its template, so that whatever comes from
//! outside is escaped in one place.
//!
//! - [`when`]: a moment, in UTC and in words
//! - [`money`]: amounts by their currency's decimals
//! - [`number`]: counts and sizes
//! - [`badge`]: the state of something
//! - [`reason`]: why, and what to do about it
//! - [`payload`]: what came, masked or as a hex dump
//! - [`spark`], [`share`]: pictures of numbers
//! - [`step`]: what happened, one thing after another

pub mod badge;
pub mod link;
pub mod money;
pub mod number;
pub mod payload;
pub mod reason;
pub mod share;
pub mod spark;
pub mod step;
pub mod when;

pub use badge::Badge;
pub use link::{account_path, event_path, payment_path};
pub use money::{Amount, Moneys};
pub use number::{count, size, things};
pub use payload::PayloadView;
pub use reason::Advice;
pub use share::Share;
pub use spark::Spark;
pub use step::{Step, Tone};
pub use when::When;
