//! The store on PostgreSQL.
//!
//! - [`settings`]: where the database is and how long anything may take; [`tls`]: how it is spoken to
//! - [`connect`]: one session, set up; [`pool`]: the sessions of a process
//! - [`session`]: a borrowed session, which is given back only when it is known to be in order
//! - [`statement`]: fixed statements, each prepared once a session; [`rows`]: what they take and give
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
mod classify;
mod connect;
mod dead_letters;
mod event_reader;
mod event_retention;
mod migrations;
mod outbox;
mod payment_reader;
mod pool;
mod readiness;
mod rows;
mod session;
mod settings;
mod statement;
mod tls;
mod unit_of_work;

pub use admin::PostgresAdmin;
pub use audit::PostgresAudit;
pub use dead_letters::PostgresDeadLetters;
pub use event_reader::PostgresEventReader;
pub use event_retention::PostgresEventRetention;
pub use outbox::PostgresOutbox;
pub use payment_reader::PostgresPaymentReader;
pub use pool::PostgresPool;
pub use readiness::PostgresReadiness;
pub use settings::{PostgresSettings, PostgresSetupError};
pub use unit_of_work::PostgresUnitOfWork;
