//! The ops listener: metrics, whether the process lives and is ready, and what operators see and do.
//!
//! - `/health/live` is 200 as long as the process answers: an outage of something else is no reason to
//!   restart it.
//! - `/health/ready` is 200 when every required part answers, and says which does not.
//! - [`services`]: what the API and the page show and do, which is the same
//! - [`access`]: who may; [`masking`]: what is not shown
//! - [`api`]: the same for programs; [`page`]: for people

pub mod access;
pub mod api;
pub mod masking;
pub mod page;
mod quarantine_orders;
mod raw_payload;
mod readiness;
mod server;
pub mod services;

pub use server::{Metrics, OpsListener, serve};
