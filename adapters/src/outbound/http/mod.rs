//! HTTP endpoints of the company, which are told of changes by webhooks of our own.
//!
//! - [`destination`]: sends, several payments at a time and each payment's messages one after the other
//! - [`answer`]: what an answer means
//! - [`signature`]: signs by Standard Webhooks

mod answer;
mod destination;
mod signature;

pub use destination::{HttpDestination, HttpSettings, HttpSetupError};
