//! The store in a SQLite file.
//!
//! - [`settings`]: where the file is and how long anything may take
//! - [`connect`]: one connection, set up; [`mod@file`]: the file that it is to stay with
//! - [`writer`]: the one connection that writes, and its thread; [`readers`]: those that read
//! - [`store`]: both, shared by clones
//! - [`statement`], [`statements`]: the statements over many rows
//! - [`rows`]: between the domain and what the statements take and give
//! - [`unit_of_work`]: the transaction that carries a batch; [`batch`]: what it does to the tables
//! - [`classify`]: what an error means to the caller
//! - [`admin`], [`migrations`]: the schema and the store's identity
//! - [`audit`], [`readiness`]: looking at it from outside

mod admin;
mod audit;
mod batch;
pub(crate) mod classify;
pub(crate) mod connect;
mod file;
mod migrations;
mod readers;
mod readiness;
mod rows;
mod settings;
mod statement;
mod statements;
mod store;
mod unit_of_work;
mod writer;

pub use admin::SqliteAdmin;
pub use audit::SqliteAudit;
pub use readiness::SqliteReadiness;
pub use settings::{SqliteSettings, SqliteSetupError};
pub use store::SqliteStore;
pub use unit_of_work::SqliteUnitOfWork;
