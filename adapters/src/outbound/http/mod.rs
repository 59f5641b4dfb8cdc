//! HTTP endpoints of the company, which are told of changes by webhooks of our own.
//!
//! - [`destination`]: sends, several payments at a time and each payment's messages one after the other
//! - [`alerts`]: the same for alerts
//! - [`answer`]: what an answer means
//! - [`signature`]: signs by Standard Webhooks

mod alerts;
mod answer;
mod destination;
mod signature;

pub use alerts::HttpAlerts;
pub use destination::{HttpDestination, HttpSettings, HttpSetupError};
