//! The store on PostgreSQL.
//!
//! - [`settings`]: where the database is and how long anything may take; [`tls`]: how it is spoken to
//! - [`connect`]: one session, set up; [`pool`]: the sessions of a process
//! - [`session`]: a borrowed session, which is given back only when it is known to be in order
//! - [`statement`], [`statements`]: the statements, each prepared once a session
//! - [`rows`], [`payment_columns`]: between the domain and what the statements take and give
//! - [`unit_of_work`]: the transaction that carries a batch
//! - [`classify`]: what an error means to the caller
//! - [`admin`], [`migrations`]: the schema and the store's identity
//! - [`audit`], [`readiness`]: looking at it from outside

mod admin;
mod audit;
mod classify;
mod connect;
mod migrations;
mod payment_columns;
mod pool;
mod readiness;
mod rows;
mod session;
mod settings;
mod statement;
mod statements;
mod tls;
mod unit_of_work;

pub use admin::PostgresAdmin;
pub use audit::PostgresAudit;
pub use pool::PostgresPool;
pub use readiness::PostgresReadiness;
pub use settings::{PostgresSettings, PostgresSetupError};
pub use unit_of_work::PostgresUnitOfWork;
