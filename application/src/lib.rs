//! What payonce does, without how the outside is reached.
//!
//! Use cases (in):
//! - [`use_cases::accept_event`]: a webhook becomes a durably queued envelope, or a refusal
//! - [`use_cases::process_events`]: a batch of envelopes becomes one transaction and a disposition for each
//! - [`use_cases::consume_events`]: takes batches from the queue, processes them, settles them after the commit
//! - [`use_cases::review_quarantine`]: an operator takes in what was refused by mistake
//! - [`use_cases::relay_outbox`]: what events have changed is told to the destinations, in order
//! - [`use_cases::purge_outbox`], [`use_cases::purge_events`]: what is old is removed
//! - [`use_cases::dead_letters`]: what was given up is kept in the store, and replayed or discarded from there
//! - [`use_cases::alert_failures`]: people are told what fails, once for each group of failures and window
//! - [`use_cases::audit`]: the invariants on a live store
//!
//! Ports (out) are in [`ports`], one file each; every trait says what an implementation MUST do.

#![deny(missing_docs)]

pub mod alert;
mod backoff;
pub mod cloud_event;
pub mod dead_letter;
pub mod disposition;
pub mod envelope;
pub mod error_chain;
pub mod operator;
pub mod ports;
pub mod replay;
pub mod retry_policy;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
pub mod use_cases;

pub use disposition::{DeadLetterReason, Disposition, DuplicateLayer, RetryClass};
pub use envelope::{Envelope, TraceContext};
pub use retry_policy::{AttemptFailure, Next, RetryPolicy};
