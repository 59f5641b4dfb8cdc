//! The store in a SQLite file.
//!
//! - [`settings`]: where the file is and how long anything may take
//! - [`connect`]: one connection, set up; [`mod@file`]: the file that it is to stay with
//! - [`writer`]: the one connection that writes, and its thread; [`readers`]: those that read
//! - [`store`]: both, shared by clones
//! - [`statement`]: statements over many rows; [`blocking`]: a connection for those that both databases share
//! - [`unit_of_work`]: the transaction that carries a batch; [`batch`]: what it does to the tables
//! - [`outbox`]: hands out what the rest of the company is to hear
//! - [`dead_letters`]: what was given up, the jobs that replay it, and what operators have done
//! - [`classify`]: what an error means to the caller
//! - [`admin`], [`migrations`]: the schema and the store's identity
//! - [`payment_reader`]: payments, their history and the balances; [`event_reader`]: any event, and its path
//! - [`event_retention`]: removes events that are old enough
//! - [`audit`], [`readiness`]: looking at it from outside

mod admin;
mod audit;
mod batch;
mod blocking;
pub(crate) mod classify;
pub(crate) mod connect;
mod dead_letters;
mod event_reader;
mod event_retention;
mod file;
mod migrations;
mod outbox;
mod payment_reader;
mod readers;
mod readiness;
mod settings;
mod statement;
mod store;
mod unit_of_work;
mod writer;

pub use admin::SqliteAdmin;
pub use audit::SqliteAudit;
pub use dead_letters::SqliteDeadLetters;
pub use event_reader::SqliteEventReader;
pub use event_retention::SqliteEventRetention;
pub use outbox::SqliteOutbox;
pub use payment_reader::SqlitePaymentReader;
pub use readiness::SqliteReadiness;
pub use settings::{SqliteSettings, SqliteSetupError};
pub use store::SqliteStore;
pub use unit_of_work::SqliteUnitOfWork;
