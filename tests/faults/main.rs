//! A service goes away and comes back under load; afterwards the audit must be clean.
//!
//! These tests stop the private services that the other tests share, so they run alone.

mod broker;
mod broker_queues;
mod broker_settings;
mod cache;
mod store;
