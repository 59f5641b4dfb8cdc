//! What the use cases need from the outside, one trait a file.
//!
//! Adding a port: write the trait here with its obligations, its mock comes by `automock` (before
//! `async_trait`); write the behaviours once in `tests/contract`; then one adapter a technology, each
//! stamped with the suite.

pub mod alert_channel;
pub mod alert_log;
pub mod alert_observer;
pub mod clock;
pub mod dead_letter_observer;
pub mod dead_letter_queue;
pub mod dead_letters;
pub mod destination;
pub mod event_publisher;
pub mod event_queue;
pub mod event_reader;
pub mod event_retention;
pub mod observer;
pub mod operator_actions;
pub mod outbox;
pub mod payment_reader;
pub mod provider;
pub mod quarantine;
pub mod readiness;
pub mod relay_observer;
pub mod replay_jobs;
pub mod seen_events;
pub mod store_admin;
pub mod store_audit;
pub mod unit_of_work;

/// Whatever an adapter's technology reports, kept whole as the cause.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;
