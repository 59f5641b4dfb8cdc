//! The ops listener: metrics, and whether the process lives and is ready.
//!
//! - `/health/live` is 200 as long as the process answers: an outage of something else is no reason to
//!   restart it.
//! - `/health/ready` is 200 when every required part answers, and says which does not.

mod readiness;
mod server;

pub use server::{Metrics, serve};
